"""Settings for all tests, and where the Adult table lies."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from processor_time import ProcessorTime

ROOT = Path(__file__).resolve().parents[1]

# a busy machine is no fault of the code
settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("project")


def pytest_addoption(parser):
    parser.addoption(
        "--adult",
        type=Path,
        default=next((at for at in (ROOT / "data/adult", ROOT.parent / "shared/data/adult") if at.is_dir()), None),
        help="the folder that `python benchmarks/prepare_adult.py` makes; default data/adult",
    )
    parser.addoption("--cpu", type=Path, help="write the processor time of each test to this file")


def pytest_configure(config):
    if (path := config.getoption("--cpu")) is not None:
        # a worker measures and sends; the process that it sends to writes
        config.pluginmanager.register(ProcessorTime(None if hasattr(config, "workerinput") else path))
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        # hashing wraps around on purpose; compiled code does it silently, numpy scalars warn
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered in scalar:RuntimeWarning")


@pytest.fixture(scope="session")
def adult_folder(request):
    """The folder of the Adult table and its hierarchies."""
    folder = request.config.getoption("--adult")
    if folder is None:
        pytest.fail("the Adult table is not at hand: see benchmarks/prepare_adult.py, then `make test-adult`")
    return folder


# where the search itself is looked at, or what it publishes is compared with what is written down
SEARCHED = (
    "algorithms",
    "examples",
    "faults",
    "kernels",
    "losses",
    "test_cases",
    "test_docs",
    "test_golden",
    "test_readme",
)


@pytest.fixture(autouse=True)
def _searched_once(request, monkeypatch):
    """Let ``local`` search small tables once, not up to twenty times: other tests need a release, not the best one."""
    place = request.path.relative_to(ROOT / "tests").as_posix()
    if not place.startswith(SEARCHED):
        monkeypatch.setattr("indistinct.algorithms.local.plan.MOST_TURNS", 1)
