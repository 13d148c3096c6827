"""Write docs/register.md: each algorithm, model and loss with its file, its source and the golden cases that it passes.

    python docs/register.py

Sources stand in the docstrings of the files. Golden cases are files of expected values; where their folder is not
beside the checkout, the page keeps those that it names.
"""

import json
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

from indistinct.algorithms import named
from indistinct.formats.contract import Format
from indistinct.formats.registry import FORMATS
from indistinct.losses import LOSSES
from indistinct.losses.registry import FILES
from indistinct.models import MODELS
from indistinct.policy import ALGORITHMS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "register.md"
GOLDEN = ROOT / "tests" / "golden"
SOURCE = re.compile(r"^Source[^:\n]*:.*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
ROW = re.compile(r"^\| `(\w+)` \| .* \| ([^|]*) \|$", re.MULTILINE)
DIVERSITY = ("distinct_l", "entropy_l", "recursive_cl")
# what checks the cases of a target in tests/test_golden.py and tests/golden_*.py
EXERCISED = {
    "alpha_k_anonymity": ("alpha_k",),
    "anatomy": ("anatomy",),
    "beta_likeness": ("beta_likeness",),
    "clustering.k_member": ("k_member",),
    "delta_disclosure": ("delta_disclosure",),
    "delta_presence": ("delta_presence",),
    "dp.safepub": ("safepub",),
    "dp.safepub_real": ("safepub",),
    "em_anonymity": ("eps_m_anonymity",),
    "emd.tree_distance": ("t_closeness",),
    "emd.vectors": ("t_closeness",),
    "epsk.algorithm": ("largest_bucket_first",),
    "epsk.group_check": ("eps_i_k_anonymity",),
    "epsk.intervals": ("eps_i_k_anonymity",),
    "game.profitability": ("profitability",),
    "graded_l_diversity": ("graded_l",),
    "hilbert.order": ("hilbert",),
    "k_anonymity": ("k_anonymity",),
    "k_anonymity.missing": ("k_anonymity",),
    "k_anonymity.suppression_policy": ("k_anonymity",),
    "k_map": ("k_map",),
    "ke_anonymity": ("ke_anonymity",),
    "l_diversity": DIVERSITY,
    "l_diversity.counts": DIVERSITY,
    "l_diversity.grassberger": ("entropy_l",),
    "l_diversity.pd_recursive": ("pd_recursive", "npd_recursive"),
    "lattice.k_anonymity": ("optimal", "samarati", "incognito", "ola", "flash"),
    "m_invariance": ("m_invariance",),
    "microaggregation.t_closeness_bound": ("t_closeness_first",),
    "microaggregation.univariate": ("univariate_microaggregation", "mdav"),
    "mondrian": ("mondrian",),
    "nt_closeness": ("n_t_closeness",),
    "p_sensitive_k": ("p_sensitive_k",),
    "t_closeness": ("t_closeness",),
    "t_closeness.merge": ("t_closeness",),
    "tds.score": ("top_down_specialization",),
}


def golden_cases() -> dict[str, list[str]]:
    """Identifiers of the cases that exercise each name: those of the folder, else those that the page has."""
    found: dict[str, list[str]] = {}
    if not GOLDEN.is_dir():
        for name, cases in ROW.findall(PAGE.read_text(encoding="utf-8")):
            found[name] = re.findall(r"\w+", cases)
        return found
    for path in sorted(GOLDEN.glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        for name in EXERCISED.get(case["target"], ()):
            found.setdefault(name, []).append(case["id"].partition("_")[0])
    return found


def source_of(module: ModuleType) -> str:
    """The source that a docstring names, on one line."""
    found = SOURCE.search(module.__doc__ or "")
    return "" if found is None else " ".join(found[0].partition(":")[2].split()).rstrip(".").replace("|", "\\|")


def lines_of(path: Path) -> int:
    """Lines of a file, or of all files of a folder."""
    files = sorted(path.glob("*.py")) if path.is_dir() else [path]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def place_of(folder: str, name: str) -> str:
    """The module of an algorithm, a model or a loss."""
    if folder == "losses":
        name = next(file for file in FILES if LOSSES[name] in import_module(f"indistinct.losses.{file}").LOSSES)
    return named(name).decide.__module__ if folder == "algorithms" else f"indistinct.{folder}.{name}"


def row(folder: str, name: str, cases: dict[str, list[str]]) -> str:
    """One line of a table."""
    module = import_module(place_of(folder, name))
    path = Path(module.__file__ or "")
    path = path.parent if path.name == "__init__.py" else path  # an algorithm in several files
    lines = lines_of(path)
    source = source_of(module) or source_of(import_module(place_of(folder, name.removeprefix("n"))))
    return f"| `{name}` | {path.relative_to(ROOT).as_posix()} | {lines} | {source} | {', '.join(cases.get(name, []))} |"


def format_row(one: Format) -> str:
    """One line of the table of formats."""
    suffixes = ", ".join(f"`.{suffix}`" for suffix in one.suffixes)
    needs = "nothing more" if one.extra is None else f"`pip install '.[{one.extra}]'`"
    return f"| {one.name} | {suffixes} | {'no' if one.write is None else f'as `.{one.suffixes[0]}`'} | {needs} |"


def page() -> str:
    """The whole page."""
    cases = golden_cases()
    head = ["| name | file | lines | source | golden cases |", "| --- | --- | --- | --- | --- |"]
    return "\n".join(
        [
            "# The register",
            "",
            "Made by `docs/register.py` from the docstrings of the files. *Lines* are those of the file (or",
            "folder) alone, at the last run of the script; what several share stands in files of its own. *Golden",
            "cases* are the identifiers of the expected values that tests check it against",
            "(`tests/test_golden.py`); a name without one is tested against slow twins and by properties. The",
            "exact definition of each stands in its file.",
            "",
            "## Algorithms",
            "",
            *head,
            *(row("algorithms", name, cases) for name in ALGORITHMS),
            "",
            "`km` is a [transform](transforms.md#km) too. What each holds and loses: [Algorithms](algorithms.md).",
            "",
            "## Models",
            "",
            *head,
            *(row("models", name, cases) for name in MODELS),
            "",
            "`m_invariance` is judged over [successive releases](releases.md).",
            "",
            "## Losses",
            "",
            *head,
            *(row("losses", name, cases) for name in LOSSES),
            "",
            "A search can make "
            + ", ".join(f"`{name}`" for name, loss in LOSSES.items() if loss.prices is not None)
            + " small; the others are measured.",
            "",
            "## Formats",
            "",
            "| format | suffixes | written | needs |",
            "| --- | --- | --- | --- |",
            *map(format_row, FORMATS),
            "",
            "A folder of Parquet files is a table, and so is a database (by its URL) and a frame in memory.",
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
