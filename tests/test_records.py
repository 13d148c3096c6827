"""One record per thing: complete where it stands, and nothing else knows its name."""

import ast
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

import indistinct
import records
from indistinct.algorithms.registry import algorithms
from indistinct.attacks.registry import ATTACKS
from indistinct.attacks.registry import FILES as ATTACK_FILES
from indistinct.losses import LOSSES
from indistinct.losses.registry import FILES as LOSS_FILES
from indistinct.losses.registry import require_words
from indistinct.models import MODELS
from indistinct.reports.catalogue import LANGUAGES, catalogue

SOURCE = Path(indistinct.__file__).parent
ROOT = Path(__file__).resolve().parents[1]
# where parameters and options are declared, and where words are
DECLARED = ("policy/privacy/", "policy/recoding.py", "sentences/", "losses/registry.py", "attacks/registry.py")
# the same word for something else
HOMONYMS = {
    "algorithms/largest_bucket_first.py": {"proximity"},  # why a row was suppressed
    "session/suitability.py": {"proximity"},  # the kind of a notice
    "risk/": {"sample_uniqueness", "population_uniqueness"},  # measures of risk
    "assess/risk.py": {"sample_uniqueness"},
    "reports/learn.py": {"sample_uniqueness", "population_uniqueness"},
    "policy/releases.py": {"m_invariance"},  # what a ledger may require
    "policy/run.py": {"local"},  # an engine
    "tables/local.py": {"local"},
    "policy/transforms.py": {"km"},  # a transform
    "transforms/": {"km"},
}
# the figure of merit is part of the form of the documents
WORDS_OF_DOCUMENTS = {"lm"}


def own_files():
    """The files in which each name may stand."""
    found = {}

    def add(name, module):
        found.setdefault(name, set()).add(module)

    for name in MODELS:
        add(name, f"indistinct.models.{name}")
    for algorithm in algorithms():
        add(algorithm.name, algorithm.decide.__module__)
    for file in LOSS_FILES:
        for loss in import_module(f"indistinct.losses.{file}").LOSSES:
            add(loss.name, f"indistinct.losses.{file}")
    for file in ATTACK_FILES:
        add(file, f"indistinct.attacks.{file}")
    return {name: found.get(name, set()) for name in found.keys() - WORDS_OF_DOCUMENTS}


def texts(tree):
    """Strings of a module that are no documentation and no list of what it exports."""
    skipped = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            skipped |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node


def strays(source, names):
    """Names that stand as strings outside their own file, with the place."""
    for path in sorted(source.rglob("*.py")):
        place = path.relative_to(source).as_posix()
        if place.startswith(DECLARED):
            continue
        allowed = {word for start, words in HOMONYMS.items() if place.startswith(start) for word in words}
        module = "indistinct." + place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for node in texts(ast.parse(path.read_text(encoding="utf-8"))):
            if node.value in names and module not in names[node.value] and node.value not in allowed:
                yield f"{place}:{node.lineno}: {node.value}"


@pytest.mark.slow
def test_nothing_but_a_record_knows_a_name():
    assert list(strays(SOURCE, own_files())) == []


def test_a_stray_name_is_found(tmp_path):
    (tmp_path / "assess").mkdir()
    (tmp_path / "assess" / "new.py").write_text('"""k_anonymity in words."""\nif model == "k_anonymity":\n    pass\n')
    assert list(strays(tmp_path, own_files())) == ["assess/new.py:2: k_anonymity"]


@pytest.mark.slow
def test_every_homonym_is_met():
    bare = {name: set() for name in own_files()}
    for start, words in HOMONYMS.items():
        paths = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).as_posix().startswith(start)]
        found = {node.value for path in paths for node in texts(ast.parse(path.read_text(encoding="utf-8")))}
        assert words <= found, start
        assert words <= bare.keys()


def test_every_record_has_its_words_its_name_and_its_place():
    assert records.problems(ROOT) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_words_are_left_of_what_is_gone(language):
    for key in catalogue(language).messages:
        kind, _, name = key.partition(".")
        known = records.KINDS.get("model" if kind == "promise" else kind)
        assert known is None or name in known, key


def test_incomplete_records_are_refused():
    model, loss, attack = MODELS["k_anonymity"], LOSSES["discernibility"], ATTACKS["linkage"]
    with pytest.raises(TypeError, match="title"):
        replace(model, title="")
    with pytest.raises(TypeError, match="scope"):
        replace(model, scope="classes")
    for record, left in ((model, "promises"), (loss, "of_domains"), (attack, "of_the_file")):
        kept = {name: getattr(record, name) for name in type(record).__dataclass_fields__ if name != left}
        with pytest.raises(TypeError, match=left):
            type(record)(**kept)
    with pytest.raises(TypeError, match="tells of no domain"):
        replace(loss, of_domains=True)
    with pytest.raises(TypeError, match="MEASURED_ONLY"):
        require_words({"new": replace(loss, name="new")})
    with pytest.raises(TypeError, match=r"recoding\.LOSSES"):
        require_words({"new": replace(LOSSES["gcp"], name="new")})
    with pytest.raises(TypeError, match="no context has"):
        replace(attack, needs={"luck": "needs luck"})
