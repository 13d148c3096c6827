"""What a command loads before it answers: nothing that it does not need."""

import subprocess
import sys

import pytest
import typer

from cli_bench import POLICY, TABLE, run
from indistinct.cli.app import COMMANDS, GROUPS, application
from indistinct.loading import hidden

# other commands; libraries that others load only because they are installed; rooms of questions that were not asked
SPARED = (
    "indistinct.cli.compare", "indistinct.cli.policy", "pandas", "scipy.linalg", "scipy.sparse", "indistinct.reports",
    "indistinct.attacks", "indistinct.risk", "indistinct.utility", "indistinct.studio",
)  # fmt: skip


def python(code, *words, cwd=None):
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=cwd, capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()[-1]


@pytest.mark.slow
def test_anonymizing_and_verifying_loads_nothing_else(tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "policy.toml").write_text(POLICY)
    code = f"""
import sys
from indistinct.cli.app import run
code = run(sys.argv[1:], alone=True)
print(code, "pyarrow" in sys.modules, [name for name in {SPARED} if name in sys.modules])
"""
    words = ("anonymize", "table.csv", "--policy", "policy.toml", "--output", "out.csv")
    assert python(code, *words, cwd=tmp_path) == "0 True []"


@pytest.mark.slow
def test_pandas_is_spared_and_serves_whoever_asks_for_it():
    code = """
import sys
from indistinct.loading import spare_pandas
spare_pandas()
import pyarrow as pa
texts, spared = pa.array(["a", None]).to_pylist(), "pandas" not in sys.modules
frame = pa.table({"a": [1, 2]}).to_pandas()
import pandas as pd
back = pa.Table.from_pandas(pd.DataFrame({"a": ["x", None]})).to_pydict()
print(texts, spared, list(frame["a"]), back, pa.array(pd.Series([1.0, None])).null_count)
"""
    assert python(code) == "['a', None] True [1, 2] {'a': ['x', None]} 1"


def test_a_hidden_package_fails_with_what_lies_in_it_and_is_there_afterwards():
    assert "xmlrpc" not in sys.modules
    with hidden("xmlrpc"), pytest.raises(ModuleNotFoundError, match="xmlrpc"):
        import xmlrpc.client
    import xmlrpc.client  # now it is there

    with hidden("xmlrpc"):  # what is loaded stays
        import xmlrpc.client

        assert xmlrpc.client.Fault


def options(command):
    return {parameter.name: (parameter.opts, parameter.default) for parameter in command.params}


def test_a_command_made_alone_is_the_one_among_all():
    among = typer.main.get_command(application()).commands
    assert list(among) == [*COMMANDS, *GROUPS]
    for name in ("audit", "anonymize", "releases"):
        alone = typer.main.get_command(application(name)).commands
        assert list(alone) == [name]
        assert (alone[name].help, options(alone[name])) == (among[name].help, options(among[name]))


@pytest.mark.parametrize("words", [("anonymise", "table.csv"), ("--loud", "audit")])
def test_words_that_are_no_command_are_answered_with_all_commands_at_hand(words):
    code, _, err = run(*words)
    assert (code, words[0] in err) == (2, True)
