"""What tests cost in processor time, which a busy machine does not change as it changes the time on the wall.

``pytest --cpu FILE`` writes one line a test: seconds of its set-up, its own and of its end, children counted, and its
name; set-up holds the fixtures that it was the first to use, so that a shared one is charged once.
"""

import os

import pytest


class ProcessorTime:
    """Measures in whichever process runs the test; the process that reports writes."""

    def __init__(self, path):
        self.path = path
        self.spent = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        now = sum(os.times()[:4])
        report.user_properties = [("cpu", now - item.config.stash.get(BEFORE, now))]
        item.config.stash[BEFORE] = now
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        item.config.stash[BEFORE] = sum(os.times()[:4])
        return (yield)

    def pytest_runtest_logreport(self, report):
        parts = self.spent.setdefault(report.nodeid, {})
        parts[report.when] = dict(report.user_properties).get("cpu", 0.0)
        if report.when == "teardown" and self.path is not None:
            with self.path.open("a", encoding="utf-8") as lines:
                lines.write("\t".join(f"{parts.get(when, 0):.3f}" for when in ("setup", "call", "teardown")))
                lines.write(f"\t{report.nodeid}\n")


BEFORE = pytest.StashKey()
