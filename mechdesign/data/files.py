"""Outputs: files that are either complete or absent, and standard output, which is ``-``."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from mechdesign.errors import InputError, shorten

Place = str | os.PathLike[str]

STANDARD = "-"
_MOST_LINKS = 40  # as Linux follows
_MOST_WAITS, _WAIT = 50, 0.02  # for a process that renames a file
_HIDDEN = re.compile(r"\.[0-9a-f]{16}\.(tmp|json)")
_DESCRIPTORS = re.compile(r"/dev/fd|/proc/\d+(/task/\d+)?/fd")


def check_path(path: object) -> None:
    """Refuse what is not a path, such as None. It may be a key, so that the message names its type alone.

    Raises
    ------
    InputError
        If it is neither text nor a path object.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError.wrong_type(f"the path is of type {type(path).__name__}; give text or a pathlib.Path")


def accepted_ending(path: Place, endings: Iterable[str]) -> str:
    """Return the ending of a name, in lower case; for ``-``, standard output, the first accepted ending.

    Raises
    ------
    InputError
        If it is not among the endings that are accepted.

    Examples
    --------
    >>> accepted_ending("out.CSV", [".csv", ".parquet"])
    '.csv'
    """
    check_path(path)
    accepted = list(endings)
    if str(path) == STANDARD:
        return accepted[0]
    ending = Path(path).suffix.lower()
    if ending not in accepted:
        found = f"ends in {shorten(ending)}" if ending else "has no ending"
        raise InputError.wrong_file_ending(
            f"the file {shorten(str(path))} {found}; accepted: {', '.join(accepted)}, or {STANDARD} for standard output"
        )
    return ending


def check_places(
    outputs: Iterable[Place | None], inputs: Iterable[Place | None] = (), data: Place | None = None
) -> None:
    """Refuse outputs that cannot be written, or that are an input or another output, before they are computed.

    Two names denote the same file if they lead to the same path or the same inode, through links of either kind.
    ``-`` is standard output among the outputs, and standard input among the inputs; None is skipped. Where ``data`` is
    a folder, all in it is read as records.

    Raises
    ------
    InputError
        As `check_writable` does; for two names of one file; for two inputs that are both standard input; and for an
        output in the folder ``data``.
    """
    sources = [_Place.of(path, sys.stdin) for path in inputs if path is not None]
    if sum(source.name == STANDARD for source in sources) > 1:
        raise InputError.same_file(
            f"two inputs are {STANDARD}, and standard input can be read once; give the path of one"
        )
    targets: list[_Place] = []
    for path in outputs:
        if path is None:
            continue
        check_writable(path)
        target = _Place.of(path, sys.stdout)
        for others, what in ((sources, "the input"), (targets, "another output")):
            same = next((other for other in others if target.is_same(other)), None)
            if same is not None:
                also = "" if same.name == target.name else f", {same.description}"
                raise InputError.same_file(f"the output {target.description} is {what}{also}; give another name")
        if data is not None and target.is_in(data):
            raise InputError.same_file(
                f"the output {target.description} lies in the input {data}; give a name outside of this folder"
            )
        targets.append(target)


class _Place:
    """A path or a stream, with its real path and inode, by which two names of one file are recognised."""

    def __init__(self, name: str, description: str, path: str | None, status: os.stat_result | None) -> None:
        self.name, self.description, self.path = name, description, path
        # Two names of one terminal, or of one pipe, do not overwrite each other.
        self.status = status if status is not None and stat.S_ISREG(status.st_mode) else None

    @classmethod
    def of(cls, path: Place, stream: Any) -> _Place:
        """Return the place of a path; for ``-`` that of the file that a stream reads or writes."""
        if str(path) == STANDARD:
            description = f"{STANDARD} (standard {'input' if stream is sys.stdin else 'output'})"
            return cls(STANDARD, description, description, _status(stream))
        real, status = None, None
        with contextlib.suppress(OSError, ValueError):  # an input whose status cannot be read is refused by its reader
            real = os.path.realpath(path)
            status = Path(path).stat()
        return cls(str(path), str(path), real, status)

    def is_in(self, folder: Place) -> bool:
        """Return whether this lies in a folder, or in one within it."""
        return self.path is not None and Path(os.path.realpath(folder)) in Path(self.path).parents

    def is_same(self, other: _Place) -> bool:
        """Return whether both are the same file."""
        if self.path is not None and self.path == other.path:
            return True
        if self.status is None or other.status is None:
            return False
        return os.path.samestat(self.status, other.status)


def _status(stream: Any) -> os.stat_result | None:
    """Return the status of the file that a stream reads or writes; None if there is no such file."""
    try:
        return os.fstat(stream.fileno())
    except (AttributeError, OSError, ValueError):  # closed, or in the memory of a program
        return None


def check_writable(path: Place) -> None:
    """Refuse a place that cannot be written, before its content is computed.

    Raises
    ------
    InputError
        If its folder does not exist or is not writable; if the path is, or is a link to, a device, a pipe, a socket or
        a folder; if it is another name of an open stream, such as ``/dev/stdout``.
    """
    check_path(path)
    if str(path) == STANDARD:
        return
    target = Path(path)
    try:
        status = target.stat()
    except FileNotFoundError:
        folder = (_real(target) if target.is_symlink() else target).parent
        if not folder.is_dir():
            raise InputError.cannot_write(
                f"cannot write {target}: there is no folder {folder}; give a path in one"
            ) from None
    except OSError as error:
        raise InputError.cannot_write(
            f"cannot write {target}: {error.strerror}; give a path in a writable folder"
        ) from error
    except ValueError as error:  # a name with a NUL
        raise InputError.cannot_write(
            f"cannot write {shorten(str(target))}: {error}; give the path of a file"
        ) from error
    else:
        _check_kind(target, status)
    folder = _real(target).parent
    if not os.access(folder, os.W_OK):
        raise InputError.cannot_write(
            f"cannot write {target}: {folder} is not writable; give a path in a writable folder"
        )


def _real(path: Place) -> Path:
    """Return a path with all links followed."""
    try:
        return Path(os.path.realpath(path))
    except FileNotFoundError:
        raise InputError.cannot_write(
            f"cannot write {path}: the working folder is gone; give a path from the root"
        ) from None


def check_absent(path: Place, why: str, otherwise: str) -> None:
    """Refuse a path that exists, since its file must not be replaced unless the user says so.

    Parameters
    ----------
    path : path
        ``-`` is never refused.
    why : str
        What a second draw tells.
    otherwise : str
        The option that allows it, as the user writes it.
    """
    if str(path) != STANDARD and os.path.lexists(_real(path)):
        raise InputError.file_exists(
            f"{path} exists, and an earlier draw is replaced only on request: {why}; give another name, or {otherwise}"
        )


def _check_kind(target: Path, status: os.stat_result) -> None:
    """Refuse a file that is not regular, or that a standard stream has open."""
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        raise InputError.cannot_write(f"cannot write {target}: it is a folder; give the path of a file")
    streams = {"output": sys.stdout, "error": sys.stderr}
    found = {name: _status(stream) for name, stream in streams.items()}
    open_as = next((name for name, own in found.items() if own is not None and os.path.samestat(own, status)), None)
    if not stat.S_ISREG(mode) or open_as is not None or _is_descriptor(target):
        kinds = {stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket", stat.S_ISCHR: "a device", stat.S_ISBLK: "a device"}
        kind = next((name for is_kind, name in kinds.items() if is_kind(mode)), "an open stream")
        kind = f"where standard {open_as} goes" if open_as is not None else kind
        raise InputError.cannot_write(
            f"cannot write {target}: it is {kind}; give the path of a regular file, or {STANDARD} for standard output"
        )


def _is_descriptor(target: Path) -> bool:
    """Return whether a name leads, by links, through a folder of open files such as ``/dev/fd``."""
    place = os.path.abspath(target)  # noqa: PTH100 - links are followed one by one
    for _ in range(_MOST_LINKS):
        folder, name = os.path.realpath(os.path.dirname(place)), os.path.basename(place)  # noqa: PTH119, PTH120
        if _DESCRIPTORS.fullmatch(folder):
            return True
        link = Path(folder, name)
        if not link.is_symlink():
            return False
        place = os.path.join(folder, os.readlink(link))  # noqa: PTH115, PTH118
    return False


def hidden_name(ending: str = ".tmp") -> str:
    """Return a new name for a file that is not an output, or not yet: no reader takes it for one."""
    return f".{secrets.token_hex(8)}{ending}"


def is_leftover(name: str) -> bool:
    """Return whether `hidden_name` made a name: if nobody writes the file, whoever did was killed.

    Examples
    --------
    >>> is_leftover(hidden_name()), is_leftover(".profile")
    (True, False)
    """
    return _HIDDEN.fullmatch(name) is not None


@contextlib.contextmanager
def written_atomically(path: Place, *, overwrite: bool = True, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a temporary file in the same folder, and rename it at the end, so that the output is complete or absent.

    If the block ends with an error, the file is removed. From the start it has the permissions of the file that it
    replaces, and its owner and group if the system allows that. ``-`` is standard output, where written bytes cannot be
    taken back: an error may leave a part there.

    Parameters
    ----------
    path : path
        The path of the output.
    overwrite : bool
        Whether it may replace a file that exists there at the end.
    mode : int
        The permissions of a file that replaces none, which the umask reduces.

    Raises
    ------
    InputError
        If the folder does not exist or cannot be written, the file at ``path`` may not be replaced, or the disk is
        full; the file at ``path`` is then unchanged.
    """
    if str(path) == STANDARD:
        with _standard_output() as file:
            yield file
        return
    check_writable(path)
    # A link stays a link, and an existing file keeps its permissions.
    target = _real(path)
    beside = target.with_name(hidden_name())
    try:
        with _made(beside, target, mode) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_writable(path)  # the place may have changed meanwhile
        if overwrite:
            beside.replace(target)
        else:
            _place_new(beside, target)
    except OSError as error:
        raise InputError.cannot_write(
            f"cannot write {target}: {error.strerror or error}; give a path in a writable folder with room for it"
        ) from error
    finally:
        with contextlib.suppress(OSError):  # it may never have been made
            beside.unlink()


def _made(beside: Path, target: Path, mode: int) -> BinaryIO:
    """Return a new file, open for writing, that can be read only by those who can read the target."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        old = target.stat()
    except FileNotFoundError:
        return os.fdopen(os.open(beside, flags, mode), "wb")  # reduced by the umask
    file = os.fdopen(os.open(beside, flags, 0o600), "wb")
    try:
        if hasattr(os, "fchown"):
            _take_over(file.fileno(), old)
        else:  # Windows, where a file has no owner to keep and is closed before it can be renamed
            beside.chmod(stat.S_IMODE(old.st_mode))
    except BaseException:
        file.close()
        raise
    return file


def _take_over(descriptor: int, old: os.stat_result) -> None:
    """Give an open file the owner, the group and the permissions of another, as far as the system allows."""
    for owner, group in ((old.st_uid, -1), (-1, old.st_gid)):
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, owner, group)
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if os.fstat(descriptor).st_gid != old.st_gid:
        # The permissions of the old group must not pass to another group, which gets those of all others.
        mode = (mode & 0o707) | ((mode & 0o007) << 3)
    os.fchmod(descriptor, mode)


def _place_new(beside: Path, target: Path) -> None:
    """Rename a file to a path that does not exist; refuse if a file was put there meanwhile."""
    try:
        try:
            os.link(beside, target)  # unlike a renaming, it replaces nothing
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            _place_by_claim(beside, target)
    except FileExistsError:
        raise InputError.file_exists(
            f"cannot write {target}: a file was put there meanwhile; give another name"
        ) from None


def _place_by_claim(beside: Path, target: Path) -> None:
    """Rename a file to a path that does not exist, while no other process does: each makes the same file first."""
    claim = target.with_name(f".{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}.tmp")
    for _ in range(_MOST_WAITS):
        try:
            os.close(os.open(claim, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            break
        except FileExistsError:
            time.sleep(_WAIT)
    else:
        raise InputError.cannot_write(
            f"cannot write {target}: another process is doing so, or was killed as it did; if none is, remove {claim}"
        )
    try:
        if os.path.lexists(target):
            raise FileExistsError
        beside.replace(target)
    finally:
        claim.unlink(missing_ok=True)


@contextlib.contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    """Open standard output for bytes, beside its text stream, which stays open."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
        with _bytes_of(sys.stdout) as file:
            yield file
            file.flush()
    except BrokenPipeError:
        raise  # the reader closed the pipe, which is not an error of the output
    except OSError as error:
        raise InputError.cannot_write(
            f"cannot write standard output: {error.strerror or error}; give the path of a file"
        ) from error


@contextlib.contextmanager
def _bytes_of(stream: Any) -> Iterator[BinaryIO]:
    try:
        descriptor = os.dup(stream.fileno())
    except (AttributeError, OSError, ValueError):  # in the memory of a program, as notebooks have it
        buffer = getattr(stream, "buffer", None)
        if buffer is None:
            raise InputError.cannot_write("standard output takes no bytes here; give the path of a file") from None
        yield buffer
        return
    with os.fdopen(descriptor, "wb") as file:
        yield file


def write_atomically(path: Place, content: bytes, *, overwrite: bool = True) -> None:
    """Write a whole file at once, by `written_atomically`."""
    with written_atomically(path, overwrite=overwrite) as file:
        file.write(content)
