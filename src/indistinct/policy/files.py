"""The files that a policy names."""

from __future__ import annotations

from typing import Any, NamedTuple


class NamedFile(NamedTuple):
    """A file that a policy names: the text, where it stands in the plain policy, and what it is."""

    text: str
    section: dict[str, Any]
    key: str
    what: str

    @property
    def is_read(self) -> bool:
        """Whether it is a file that is read: not the URL of a database, and nothing that is written."""
        return "://" not in self.text and self.key not in ("mapping_file", "temp_dir")


def files_of(plain: dict[str, Any]) -> list[NamedFile]:
    """Return the files that a plain policy names.

    >>> [(file.text, file.what) for file in files_of({"table": {"source": "people.csv"}, "attributes": {}})]
    [('people.csv', 'the source')]
    """
    releases = plain.get("releases", {})
    found = [
        (plain.get("table", {}), "source", "the source"),
        (plain.get("run", {}), "temp_dir", "the folder for temporary files"),
        (releases, "ledger", "the ledger"),
        (releases, "key_file", "the key of the ledger"),
        (plain.get("release", {}), "key_file", "the key of the fingerprint of the source"),
        *((model, "population", "the population") for model in plain.get("privacy", [])),
    ]
    for name, attribute in plain["attributes"].items():
        found += [
            (attribute, "key_file", f'the key of "{name}"'),
            (attribute, "mapping_file", f'the mapping of "{name}"'),
            (attribute.get("hierarchy", {}), "file", f'the hierarchy of "{name}"'),
        ]
    return [NamedFile(section[key], section, key, what) for section, key, what in found if section.get(key)]
