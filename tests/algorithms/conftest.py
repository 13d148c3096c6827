"""What several tests of algorithms ask for."""

import pytest

from partition_tables import AREA


@pytest.fixture(scope="module")
def area_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("hierarchies") / "area.csv"
    path.write_text("".join(";".join(labels) + "\n" for labels in AREA.values()), encoding="utf-8")
    return {"file": str(path)}
