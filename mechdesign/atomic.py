"""Files that are either whole or absent."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mechdesign.errors import InputError


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a place that cannot be written, before work is spent on what would go there.

    Raises
    ------
    InputError
        If its folder does not exist or is not writable, or the place is a folder itself.
    """
    target = Path(path)
    try:
        if stat.S_ISDIR(target.stat().st_mode):
            raise InputError(f"cannot write {target}: it is a folder; give the path of a file")
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise InputError(f"cannot write {target}: there is no folder {target.parent}; give a path in one") from None
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}; give a path in a writable folder") from error
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"cannot write {target}: {target.parent} is not writable; give a path in a writable folder")


@contextlib.contextmanager
def written_atomically(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file beside its place, and rename it at the end, so that no half of it is ever seen.

    Where the block is left by an error the file is removed.

    Raises
    ------
    InputError
        If the folder does not exist or cannot be written, or the disk is full; what stood at ``path`` is
        untouched.
    """
    # A link stays a link, and an existing file keeps who may read it.
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            beside.chmod(stat.S_IMODE(target.stat().st_mode))
        beside.replace(target)
    except OSError as error:
        raise InputError(
            f"cannot write {target}: {error.strerror or error}; give a path in a writable folder with room for it"
        ) from error
    finally:
        with contextlib.suppress(OSError):  # where it could not be made it cannot be removed
            beside.unlink()


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a whole file at once, by `written_atomically`."""
    with written_atomically(path) as file:
        file.write(content)
