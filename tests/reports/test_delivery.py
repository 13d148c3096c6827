"""A release and its documents: all files get their names, or none does."""

import errno
from pathlib import Path

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.reports.report import stage_report

TABLE = pa.table({"age": [20, 21, 40, 41], "name": list("abcd"), "ill": ["x", "y", "x", "y"]})

PSEUDONYM = {"action": "pseudonym", "key_env": "NAMES_KEY"}


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("NAMES_KEY", "0123456789abcdef" * 4)


def policy(**changes):
    return ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
            "name": {"role": "identifying", **changes},
            "ill": {"role": "sensitive"},
        },
        privacy=[ind.KAnonymity(2)],
    )


def publish(folder, beside, **more):
    return ind.anonymize(TABLE, policy(**more), output=folder / "out.csv", beside=beside, force=True)


def test_documents_get_their_names_with_the_release(tmp_path):
    seen = []

    def beside(release):
        seen.append(sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith(".")))
        yield stage_report(release, tmp_path / "r.json")

    release = publish(tmp_path, beside)
    assert seen == [[]]  # nothing had a name when the report was made
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.csv.manifest.json", "r.json"]
    # the report knows the hash of the file before it has its name
    assert release.document["sha256"]["out.csv"] in (tmp_path / "r.json").read_text()
    assert release.document["sha256"]["out.csv"] in (tmp_path / "out.csv.manifest.json").read_text()


def test_a_document_that_fails_takes_the_release_with_it(tmp_path):
    def beside(release):
        yield stage_report(release, tmp_path / "r.json")
        message = "the second report cannot be written: no space left"
        raise ind.DataError(message, file="q.json")

    with pytest.raises(ind.DataError, match="no space left; nothing was delivered") as caught:
        publish(tmp_path, beside, **PSEUDONYM, mapping_file=str(tmp_path / "names.csv"))
    assert caught.value.where == {"file": "q.json"}
    assert not list(tmp_path.iterdir())


def test_an_unforeseen_fault_of_a_report_takes_the_release_with_it(tmp_path):
    with pytest.raises(ZeroDivisionError):
        publish(tmp_path, lambda _: [1 / 0])
    assert not list(tmp_path.iterdir())


def test_a_name_that_cannot_be_given_takes_all_others_back(tmp_path, monkeypatch):
    replace = Path.replace

    def refuse(self, target):
        if Path(target).name == "r.json":
            raise PermissionError(errno.EACCES, "refused")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(ind.DataError, match=r"r\.json was not written: permission denied"):
        publish(tmp_path, lambda release: [stage_report(release, tmp_path / "r.json")],
                **PSEUDONYM, mapping_file=str(tmp_path / "names.csv"))  # fmt: skip
    assert not list(tmp_path.iterdir())


def test_a_public_report_that_must_not_be_takes_the_release_with_it(tmp_path):
    given = ind.Policy.model_validate(
        policy().plain()
        | {"privacy": [{"model": "safepub", "epsilon": 2, "delta": 0.1, "levels": {"age": 1}}],
           "recoding": {"algorithm": "safepub"}, "suppression": {"limit": 1},
           "attributes": {"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "intervals", "widths": [50]}},
                          "name": {"role": "identifying"}, "ill": {"role": "identifying"}}}
    )  # fmt: skip
    table = pa.table({"age": [20] * 400, "name": ["a"] * 400, "ill": ["x"] * 400})
    with pytest.raises(ind.UnsupportedError, match="no public report"):
        ind.anonymize(table, given, output=tmp_path / "out.csv",
                      beside=lambda release: [stage_report(release, tmp_path / "q.html", public=True)])  # fmt: skip
    assert not list(tmp_path.iterdir())


def test_the_report_of_a_written_release_names_its_hash(tmp_path):
    release = ind.anonymize(TABLE, policy())
    assert release.document["sha256"] == {}
    release.write(tmp_path / "out.parquet")
    page = ind.report(release, tmp_path / "r.md").read_text()
    assert release.document["sha256"]["out.parquet"] in page
    assert {Path(path).name for path in release.document["outputs"]} == {"out.parquet"}
