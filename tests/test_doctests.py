"""Examples in docstrings: all of them run, and print what they say."""

import doctest
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import indistinct

MODULES = [module.name for module in walk_packages(indistinct.__path__, "indistinct.") if "__main__" not in module.name]
ROOMS = sorted({name.split(".")[1] for name in MODULES})


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_examples_in_docstrings_print_what_they_say(room, capsys):
    names = [name for name in MODULES if name.split(".")[1] == room]
    results = {name: doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS) for name in names}
    assert {name: result for name, result in results.items() if result.failed} == {}, capsys.readouterr().out


def test_every_room_is_among_them_and_has_examples():
    files = list(Path(indistinct.__file__).parent.rglob("*.py"))
    assert len(MODULES) > len(files) - 5
    assert sum(">>> " in file.read_text(encoding="utf-8") for file in files) > 150
