"""Files that are written: which may be, how they come about unseen, and how they get their names, all or none.

A file is written under a hidden name beside its place, readable by its owner only and locked while its run lives. Then
all files of a run get their names together: without ``force`` by a hard link, which never replaces anything. A run that
is killed leaves hidden files without a lock; the next run that writes to the same folder removes them, and names in a
warning those that it cannot remove, or of which it cannot tell whether their run is over.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import warnings
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from indistinct.errors import DataError, PolicyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    Identity = tuple[int, int]

_HIDDEN = re.compile(r"\.indistinct\.[0-9a-f]{16}(\..*)?", re.DOTALL)
# hidden files that this process has begun: where the system has no locks, it knows at least its own
_OWN: set[Path] = set()
_FULL = (errno.ENOSPC, errno.EDQUOT)
# what file systems without hard links answer
_NO_LINKS = (errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL)


@dataclass(frozen=True, slots=True)
class Origin:
    """A file (or folder) that something is made from, by its place and by what lies there: ``what`` is for messages."""

    what: str
    place: Path
    identity: Identity | None


@dataclass(frozen=True, slots=True)
class Output:
    """A file to be written; ``what`` is for messages. A ``precious`` one replaces nothing, not even with ``force``.

    ``private``: it stays readable by its owner only, under its name too.
    """

    path: Path
    what: str = "output"
    precious: bool = False
    private: bool = False


@dataclass(frozen=True, slots=True)
class Staged:
    """A file under its hidden temporary ``path``, beside the place of its ``output``; locked as long as it is open.

    As a context manager it is discarded on leaving, unless it got its name.
    """

    path: Path
    output: Output
    mode: int
    lock: IO[bytes]

    @property
    def target(self) -> Path:
        """The place that the file is meant for."""
        return self.output.path

    def discard(self) -> None:
        """Remove the temporary file; nothing happens when it has its name or is gone."""
        with suppress(FileNotFoundError):
            self.path.unlink()
        self.lock.close()
        _OWN.discard(self.path.absolute())

    def publish(self, origins: Sequence[Origin] = (), *, force: bool = False) -> Path:
        """Give the file its name by itself (``publish``); return the name."""
        publish([self], origins, force=force)
        return self.target

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()


def origin(path: str | os.PathLike[str], what: str = "the source") -> Origin:
    """Remember a file that is read, so that it is known again under any of its names."""
    place = Path(path)
    return Origin(what, place.resolve(), _identity(place))


def check_outputs(outputs: Iterable[Output], origins: Sequence[Origin] = (), *, force: bool = False) -> None:
    """Say whether these files may be written, all in one run: the one place that is asked, before anything is computed.

    Raises PolicyError for a file that something is made from, under any of its names, even with ``force``; for one that
    exists (``force`` replaces it unless it is precious), for two outputs at one place, a directory, a device; DataError
    for a folder that is missing or may not be written, and for a name that the file system refuses.

    >>> check_outputs([Output(Path("there-is-no-such-directory/out.csv"))])
    Traceback (most recent call last):
    indistinct.errors.DataError: the directory of out.csv does not exist; make it first
    """
    taken: dict[Path | Identity | None, str] = {}
    for output in outputs:
        if str(output.path) == "-":  # who uses pipes means standard output, and would look for a table in vain
            raise PolicyError(f'the {output.what} cannot go to standard output ("-"); name a file', file="-")
        _check(output, origins, force=force)
        marks = {output.path.resolve(), _identity(output.path)} - {None}
        for mark in marks & taken.keys():
            name = output.path.name
            raise PolicyError(f"the {output.what} {name} is also another output: the {taken[mark]}", file=name)
        taken |= dict.fromkeys(marks, output.what)


def _check(output: Output, origins: Sequence[Origin], *, force: bool) -> None:
    path, what, name = output.path, output.what, output.path.name or str(output.path)
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        found = None
    except (OSError, ValueError) as error:  # a name that is too long, or holds a null
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise DataError(f"the {what} {name!r} cannot be written: {reason}; name another file") from None
    if path.is_dir():
        raise PolicyError(f"the {what} {name} is a directory; move it away, or name another file", file=name)
    if (read := _origin_of(path, origins)) is not None:
        raise PolicyError(
            f"the {what} {name} is {read.what}; a source is never overwritten, name another file", file=name
        )
    if found is not None and output.precious:
        raise PolicyError(f"the {what} {name} exists, and is never overwritten; move it, or name another", file=name)
    if found is not None and not force:
        raise PolicyError(f"the {what} {name} exists; name another file, or use --force (force=True)", file=name)
    if path.exists() and not path.is_file():
        raise PolicyError(f"the {what} {name} is a device or a pipe; name a file", file=name)
    if not path.parent.is_dir():
        raise DataError(f"the directory of {name} does not exist; make it first", file=name)
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise DataError(f"the directory of {name} may not be written; choose another", file=name)


def _origin_of(path: Path, origins: Sequence[Origin]) -> Origin | None:
    """Return what a place is the source of: itself, or the folder that it lies in."""
    real = path.resolve()
    for place in (real, real.parent):
        own = _identity(place)
        for read in origins:
            if read.place == place or (own is not None and own == read.identity):
                return read
    return None


def _identity(path: Path) -> Identity | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


# --- unseen ---------------------------------------------------------------------------------------------------------


@contextmanager
def staging(output: Output) -> Iterator[Staged]:
    """Begin a hidden empty file beside the place of an output; the body fills it. If it fails, the file is gone.

    What runs that were killed left in the folder is removed first, or named in a warning. Raises DataError when the
    file system refuses.
    """
    _clear(output)
    try:
        staged = _begin(output)
    except OSError as error:
        raise refused(output, error) from None
    try:
        yield staged
    except OSError as error:
        staged.discard()
        raise refused(output, error) from None
    except BaseException:
        staged.discard()
        raise


def stage_bytes(output: Output, content: bytes) -> Staged:
    """Write a small file under a hidden name. Raises DataError when the file system refuses."""
    with staging(output) as staged:
        staged.path.write_bytes(content)
        return staged


def write_bytes(output: Output, content: bytes, origins: Sequence[Origin] = (), *, force: bool = False) -> None:
    """Write a small file, whole or not at all; raises what ``check_outputs`` and ``publish`` do."""
    check_outputs([output], origins, force=force)
    with stage_bytes(output, content) as staged:
        publish([staged], origins, force=force)


def refused(output: Output, error: OSError) -> DataError:
    """Return the error for a file that the file system did not take."""
    what, name = output.what, output.path.name
    if error.errno in _FULL:
        message = f"the disk is full: the {what} {name} was not written; free some space or choose another place"
    else:
        reason = os.strerror(error.errno) if error.errno else "the file system refuses"
        message = f"the {what} {name} was not written: {reason.lower()}; choose another place"
    return DataError(message, file=name)


def _begin(output: Output) -> Staged:
    while True:
        path = _hidden(output.path)
        lock = path.open("x+b", buffering=0)
        _OWN.add(path.absolute())
        try:
            # while it is empty it has the permissions of any new file, which it gets back with its name
            mode = 0o600 if output.private else stat.S_IMODE(os.fstat(lock.fileno()).st_mode)
            os.chmod(lock.fileno() if os.chmod in os.supports_fd else path, 0o600)  # noqa: PTH101
            claim(lock, wait=True)  # another run may just look whether this newborn file is a leftover
            if os.fstat(lock.fileno()).st_nlink:  # else it was taken for one, and is gone
                return Staged(path, output, mode, lock)
        except BaseException:
            with suppress(FileNotFoundError):
                path.unlink()
            lock.close()
            raise
        lock.close()


def _hidden(target: Path) -> Path:
    return target.with_name(f".indistinct.{secrets.token_hex(8)}{target.suffix}")


def claim(file: IO[bytes] | int, *, wait: bool = False) -> bool | None:
    """Lock an open file until it is closed or the process ends; False where another one has it, None where none can."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def _clear(output: Output) -> None:
    """Remove hidden files that no living run has locked; name in a warning those that stay and may be leftovers."""
    left = []
    with suppress(OSError), os.scandir(output.path.parent) as entries:
        for entry in entries:
            path = Path(entry.path)
            hidden = _HIDDEN.fullmatch(entry.name) is not None
            if not (hidden or _is_of_old(path, output.path)) or not entry.is_file(follow_symlinks=False):
                continue
            if path.absolute() not in _OWN and not (hidden and _removed(path)):
                left.append(entry.name)
    if left:
        names = ", ".join(sorted(left))
        them = "it" if len(left) == 1 else "them"
        warnings.warn(
            f"{names} beside {output.path.name} may be left from a run that was killed, may hold rows of a table and "
            f"could not be removed; remove {them} yourself when no other run is at work there",
            RuntimeWarning,
            stacklevel=2,
        )


def _is_of_old(path: Path, target: Path) -> bool:
    """Tell a hidden file as earlier versions named it for this place, without a lock."""
    code = re.compile(r"\.[0-9a-f]{16}")
    return any(
        path.name.startswith(f".{stem}.")
        and path.name.endswith(end)
        and code.fullmatch(path.name[len(stem) + 1 : len(path.name) - len(end)])
        for stem, end in ((target.name, ""), (target.stem, target.suffix))
    )


def _removed(path: Path) -> bool:
    """Remove a leftover; whether nothing is left to tell of it: it is gone, or its run lives."""
    try:
        with path.open("rb") as file:
            held = claim(file)
            if held:
                path.unlink()
            return held is not None
    except FileNotFoundError:
        return True
    except OSError:
        return False


# --- names ----------------------------------------------------------------------------------------------------------


def publish(staged: Sequence[Staged], origins: Sequence[Origin] = (), *, force: bool = False) -> None:
    """Give files their names in their order: all, or none, and then what stood there before stands there again.

    Without ``force`` a name is taken only if it is free at that moment; of two runs on one place one gets all its
    names, and the other an error. The last file vouches for the others: an older one is gone before they change.

    Raises PolicyError as ``check_outputs`` does, DataError when the file system refuses; the hidden files are then
    gone.
    """
    with ExitStack() as stack:
        for file in staged:
            stack.callback(file.discard)
        for folder in sorted({file.target.parent.resolve() for file in staged}):
            stack.enter_context(_alone(folder))
        check_outputs([file.output for file in staged], origins, force=force)
        aside: list[Staged] = []
        try:
            for file in staged:
                with _explained(file.output):
                    os.fsync(file.lock.fileno())
                    file.path.chmod(file.mode)
                    if file.target.exists():
                        aside.append(stack.enter_context(_set_aside(file)))
            if len(staged) > 1:
                staged[-1].target.unlink(missing_ok=True)
            for file in staged:
                with _explained(file.output):
                    _name(file, exclusive=file.output.precious or not force)
                    _sync(file.target.parent)
        except BaseException:
            _take_back(staged, aside)
            raise


def _take_back(staged: Sequence[Staged], aside: Sequence[Staged]) -> None:
    for file in staged:
        found = os.fstat(file.lock.fileno())
        if _identity(file.target) == (found.st_dev, found.st_ino):
            file.target.unlink()
    for old in aside:
        old.path.replace(old.target)


@contextmanager
def _explained(output: Output) -> Iterator[None]:
    """Say what the file system refuses; that a name is not free any more means that another run took it."""
    try:
        yield
    except FileExistsError:
        message = f"the {output.what} {output.path.name} exists by now: another run took the name; name another file"
        raise PolicyError(message, file=output.path.name) from None
    except OSError as error:
        raise refused(output, error) from None


def _name(file: Staged, *, exclusive: bool) -> None:
    if not exclusive:
        file.path.replace(file.target)
        return
    try:
        os.link(file.path, file.target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # an empty file holds the name until it is replaced
        file.target.touch(0o600, exist_ok=False)
        try:
            file.path.replace(file.target)
        except BaseException:
            file.target.unlink()
            raise


def _set_aside(file: Staged) -> Staged:
    """Keep a second name of the file that stands at the place, for the case that others cannot get theirs."""
    path, lock = _hidden(file.target), file.target.open("rb")
    claim(lock)
    try:
        os.link(file.target, path)
    except OSError:
        lock.close()
        copy = _begin(file.output)
        shutil.copy2(file.target, copy.path)
        return copy
    return Staged(path, file.output, file.mode, lock)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let no other run give names in a folder meanwhile, where the system can lock a folder."""
    handle = os.open(folder, os.O_RDONLY) if os.name == "posix" else None
    try:
        if handle is not None:
            claim(handle, wait=True)
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _sync(folder: Path) -> None:
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
