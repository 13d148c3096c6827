"""The folder in which the commands run."""

import pytest

from cli_bench import POLICY, TABLE


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path
