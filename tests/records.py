"""What every record must have elsewhere: its words in each language, its public name, its place in the documents."""

import ast
from pathlib import Path

import indistinct as ind
from indistinct.algorithms.registry import algorithms
from indistinct.attacks.registry import ATTACKS
from indistinct.formats.registry import FORMATS
from indistinct.losses import LOSSES
from indistinct.models import MODELS
from indistinct.policy import privacy
from indistinct.reports.catalogue import LANGUAGES, catalogue

KINDS = {"model": MODELS, "loss": LOSSES, "attack": ATTACKS}


def lacking_words():
    """Messages that a catalogue lacks: they would be missed after all the work, when the report is written."""
    for language in LANGUAGES:
        words = catalogue(language)
        keys = [f"{kind}.{name}" for kind, records in KINDS.items() for name in records]
        keys += [f"declares.{algorithm.declares}" for algorithm in algorithms()]
        yield from (f"messages/{language}.json lacks {key}" for key in dict.fromkeys(keys) if not words.has(key))


def lacking_names():
    """Parameter classes that cannot be had from the package, at run time or by a type checker."""
    tree = ast.parse(Path(ind.__file__).read_text(encoding="utf-8"))
    typed = {name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names}
    for model in MODELS.values():
        name = model.options.__name__
        if not (hasattr(ind, name) and name in ind.__all__ and name in typed):
            yield f"indistinct lacks the public name {name}"
        if name not in privacy.__all__:
            yield f"policy/privacy/__init__.py lacks {name} in __all__"


def lacking_documents(root: Path):
    """Records that the documents do not name."""
    names = [*MODELS, *(algorithm.name for algorithm in algorithms())]
    pages = {
        "README.md": names,
        "README.zh-CN.md": names,
        "docs/policy.md": names,
        "docs/register.md": [*names, *LOSSES, *(f".{suffix}" for one in FORMATS for suffix in one.suffixes)],
        "docs/attacks.md": list(ATTACKS),
    }
    for page, wanted in pages.items():
        text = (root / page).read_text(encoding="utf-8")
        yield from (f"{page} does not name {name}" for name in wanted if f"`{name}`" not in text)


def problems(root: Path):
    """All that is missing."""
    return [*lacking_words(), *lacking_names(), *lacking_documents(root)]
