"""Settings for all tests."""

import os

from hypothesis import HealthCheck, settings

# a busy machine is no fault of the code
settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("project")


def pytest_configure(config):
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        # hashing wraps around on purpose; compiled code does it silently, numpy scalars warn
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered in scalar:RuntimeWarning")
