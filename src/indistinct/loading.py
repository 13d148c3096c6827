"""What libraries load of other libraries, only because these are installed too."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class _Absence(MetaPathFinder):
    """Answers for a module that it is not there."""

    def __init__(self, module: str) -> None:
        self.module = module

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002  # the signature is Python's
        target: ModuleType | None = None,  # noqa: ARG002  # as above
    ) -> ModuleSpec | None:
        """Raise ModuleNotFoundError for the module, leave others to who comes next."""
        if fullname == self.module:
            message = f"No module named {fullname!r}"
            raise ModuleNotFoundError(message, name=fullname)
        return None


@contextmanager
def hidden(module: str) -> Iterator[None]:
    """Make the import of ``module`` fail, unless it was imported before; afterwards it can be imported.

    What lies in a package fails with it; to hide it alone would import the package.

    >>> with hidden("this"):
    ...     import this
    Traceback (most recent call last):
    ModuleNotFoundError: No module named 'this'
    """
    absence = _Absence(module)
    sys.meta_path.insert(0, absence)
    try:
        yield
    finally:
        sys.meta_path.remove(absence)


def spare_pandas() -> None:
    """Let pyarrow find that there is no pandas: for processes that hand it no frame of pandas.

    At the first value of Python that it converts, pyarrow imports pandas wherever that is installed: 0.3 to 0.5 s of
    processor time. It looks once. Conversions from and to pandas that are asked for by name import it all the same.
    """
    import pyarrow as pa

    with hidden("pandas"):
        pa.scalar(None)
