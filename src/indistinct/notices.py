"""Things a person should know that are no errors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning: ``kind`` is a stable word, ``column`` the place or None, ``message`` one sentence."""

    kind: str
    column: str | None
    message: str

    def document(self) -> dict[str, str | None]:
        """Return the warning as it stands in JSON documents."""
        return {"kind": self.kind, "column": self.column, "message": self.message}
