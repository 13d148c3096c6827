"""Jobs ask the engine of a table for its four verbs, and nothing else reads arrays with an entry for each row."""

import re
from pathlib import Path

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.decision.decide import apply, decide, layout_of
from indistinct.proof.release import verify_written
from indistinct.publish.deliver import deliver
from indistinct.publish.document import document_of
from indistinct.session.prepare import prepare
from indistinct.tables.engine import Engine
from indistinct.tables.local import LOCAL

SOURCE = Path(ind.__file__).parent
VERBS = ("count", "apply", "write", "recount")
# what still reads them outside the rooms of the engine, and for what
READ_ROWS = {
    "assess/risk.py": "risks of single rows, which it gives back row by row",
    "session/restates.py": "values side by side in rows",
}


class Spy:
    """The local engine, with the verbs that were asked of it."""

    name = LOCAL.name

    def __init__(self):
        self.asked = []

    def __getattr__(self, verb):
        self.asked.append(verb)
        return getattr(LOCAL, verb)


@pytest.fixture
def policy():
    age = {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}}
    return ind.Policy(attributes={"age": age, "ill": {"role": "sensitive"}}, privacy=[ind.KAnonymity(2)])


def test_the_protocol_has_the_four_verbs():
    assert tuple(name for name in vars(Engine) if not name.startswith("_")) == VERBS
    assert all(callable(getattr(LOCAL, verb)) for verb in VERBS)


def test_jobs_ask_the_engine_of_the_table(tmp_path, policy):
    engine = Spy()
    prepared = prepare(pa.table({"age": [20, 22, 40, 41], "ill": ["a", "b", "a", "b"]}), policy, engine=engine)
    assert engine.asked == ["count"]
    decision = apply(prepared, decide(prepared), layout_of(prepared))
    assert engine.asked == ["count", "apply"]
    assert verify_written(decision, None)["satisfied"]
    assert engine.asked == ["count", "apply", "recount"]
    document = document_of(decision, None)
    deliver(decision, document, tmp_path / "out.csv", origins=(), force=False)
    assert engine.asked == ["count", "apply", "recount", "write", "recount"]
    assert (tmp_path / "out.csv").read_text() == 'age,ill\n"[20, 22]",a\n"[20, 22]",b\n"[40, 41]",a\n"[40, 41]",b\n'


def test_rows_stay_inside_the_engine():
    rows = re.compile(r"\.(cell_of_row|person_of_row)\b|\bcolumn_codes\(|carried\.(items|values|get)\(\)?.*codes")
    found = {
        name
        for file in SOURCE.rglob("*.py")
        if not (name := file.relative_to(SOURCE).as_posix()).startswith("tables/")
        and rows.search(file.read_text(encoding="utf-8"))
    }
    assert found == READ_ROWS.keys()
