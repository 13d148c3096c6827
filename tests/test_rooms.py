"""The rooms of the code: no circles, the contracts of imports, a picture that is current, files of a readable size."""

import ast
from pathlib import Path

import grimp
import pytest
from importlinter.cli import lint_imports

import indistinct as ind
from scripts import load

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path(ind.__file__).parent
MOST_LINES, MOST_LINES_OF_FUNCTION = 400, 60  # docstrings of functions apart
COMPILED = "a compiled loop is written out: every call in it would be inlined, and one large function compiles once"
OPTIONS = "Typer reads the options of a command from its signature"
DOCUMENT = "one document, key by key, in the order of docs/contract.md"
LONG_FILES = {
    "algorithms/literature/top_down_specialization.py": "one algorithm of the literature, with its own bookkeeping",
    "assess/risk.py": "one question, with what its measures take from the table: weights, households, a population",
    "formats/delimited.py": "one dialect, from its first lines to its last record; the fast and the exact reader agree",
    "hierarchies/labels.py": "the reader of labels shares nothing with their writer, so all kinds of labels stand here",
    "hierarchies/values.py": "all spellings of numbers, dates and moments, which must agree with each other",
    "outputs.py": "staging, locking, naming and taking back are one protocol, in which each step relies on the others",
    "policy/document.py": "what must hold between sections of a policy is checked in one pass",
    "session/prepare.py": "from a table and a policy to counts, with what a column is refused or warned of on the way",
    "tables/records.py": "the records that move, which hold one another, with their symbols said once",
    "utility/private.py": "each mechanism with its noise and its proof, and the budget that they share",
}
LONG_FUNCTIONS = {
    "algorithms/full_domain/lattice.py:build_lattice": "arrays of one lattice, each from those before it",
    "assess/audit.py:audit": DOCUMENT,
    "assess/explain.py:explain": DOCUMENT,
    "assess/utility.py:utility": DOCUMENT,
    "attacks/run.py:attack": "the one list of attackers, each with what it needs",
    "cli/risk.py:risk": OPTIONS,
    "cli/utility.py:utility": OPTIONS,
    "history/succession.py:_document": DOCUMENT,
    "kernels/annealing.py:anneal": COMPILED,
    "kernels/crowding.py:cut": COMPILED,
    "kernels/grouping.py:form_groups": COMPILED,
    "kernels/leftovers.py:place_leftovers": COMPILED,
    "kernels/moves.py:improve": COMPILED,
    "kernels/rebuild.py:_attempt": COMPILED,
    "kernels/splitting.py:split": COMPILED,
    "proof/verify.py:_verify_groups": DOCUMENT,
    "proof/verify.py:prove": DOCUMENT,
    "proof/verify_invariance.py:verify_invariance": DOCUMENT,
    "publish/anonymize.py:_release": "the order in which a release comes about, with the clock of its phases",
    "publish/document.py:document_of": DOCUMENT,
    "tables/count.py:tally": "three threads that share what they read",
    "session/suitability.py:suitability": "one warning after the other, each with its condition",
}


@pytest.fixture(scope="module")
def imports():
    graph = grimp.build_graph("indistinct", cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def in_circles(imported):
    """Peel off what imports nothing that is left; circles, and what imports them, stay."""
    left = {name: set(own) for name, own in imported.items()}
    while free := [name for name, own in left.items() if not own & left.keys()]:
        for name in free:
            del left[name]
    return left


def test_circles_are_found():
    assert in_circles({"a": {"b"}, "b": set()}) == {}
    assert in_circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}).keys() == {"a", "b", "c"}


def test_no_modules_import_each_other_in_a_circle(imports):
    assert in_circles(imports) == {}


def test_no_rooms_import_each_other_in_a_circle(imports):
    rooms = {}
    for module, own in imports.items():
        room = module.split(".")[1] if "." in module else ""
        rooms.setdefault(room, set()).update({other.split(".")[1] for other in own if "." in other} - {room})
    assert len(rooms) > 20
    del rooms[""]  # the list of public names
    assert in_circles(rooms) == {}


@pytest.mark.slow
def test_the_contracts_of_imports_hold(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert lint_imports(no_cache=True) == 0, capsys.readouterr().out


@pytest.fixture(scope="module")
def drawing():
    return load(ROOT / "docs" / "rooms.py")


@pytest.mark.slow
def test_the_picture_of_the_rooms_is_current(drawing):
    assert drawing.picture() == drawing.PICTURE.read_text(encoding="utf-8"), "run: python docs/rooms.py"


def test_the_page_names_every_room(drawing):
    page = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    table = page.split("| package | what lives there |")[1].split("\n\n")[0]
    named = [name for line in table.splitlines()[2:] for name in line.split("|")[1].replace("`", "").split(",")]
    rooms = {path.stem for path in SOURCE.iterdir() if not path.name.startswith("_") and path.suffix in ("", ".py")}
    assert sorted(map(str.strip, named)) == sorted(rooms)
    assert sorted(room for floor in drawing.floors() for room in floor) == sorted(rooms)


def lengths():
    for file in sorted(SOURCE.rglob("*.py")):
        text, name = file.read_text(encoding="utf-8"), file.relative_to(SOURCE).as_posix()
        yield name, len(text.splitlines())
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0]
                told = first.end_lineno - first.lineno + 1 if ast.get_docstring(node) is not None else 0
                yield f"{name}:{node.name}", node.end_lineno - node.lineno + 1 - told


@pytest.mark.slow
def test_what_is_long_says_why():
    found = dict(lengths())
    long = {name for name, lines in found.items() if lines > (MOST_LINES_OF_FUNCTION if ":" in name else MOST_LINES)}
    allowed = LONG_FILES.keys() | LONG_FUNCTIONS.keys()
    assert long - allowed == set(), "part it, or say here why it is long"
    assert allowed - long == set(), "no longer long: take it off the list"
