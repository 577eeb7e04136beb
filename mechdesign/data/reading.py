"""Read input files: only regular files, and only up to a given size."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from mechdesign.data.files import check_path
from mechdesign.errors import InputError, printable


def check_regular(path: str | os.PathLike[str], wanted: str, most: int | None = None) -> None:
    """Refuse a path that is not a regular file, or a file that is too long, before it is opened.

    A device or a pipe may never end, and opening a pipe waits until another process opens it for writing.

    Parameters
    ----------
    path : path
        The file to be read.
    wanted : str
        What to give instead, for the message: ``"a CSV file"``.
    most : int, optional
        The greatest number of bytes that is accepted.

    Raises
    ------
    InputError
        If it does not exist, has more bytes, or is (or is a link to) a directory, a device, a pipe or a socket.

    Examples
    --------
    >>> check_regular(__file__, "a file")
    """
    check_path(path)
    try:
        status = Path(path).stat()
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise _refusal(path, getattr(error, "strerror", None) or str(error), wanted) from error
    if not stat.S_ISREG(status.st_mode):
        raise _refusal(path, "it is a directory, a device or a pipe", wanted)
    if most is not None and status.st_size > most:
        raise _too_long(path, most)


def read_bounded(path: str | os.PathLike[str], most: int, wanted: str) -> bytes:
    """Return the content of a regular file, after checking that it is not too long.

    Parameters
    ----------
    path : path
        The file.
    most : int
        The greatest number of bytes that is accepted.
    wanted : str
        What to give instead, for the message.

    Raises
    ------
    InputError
        As `check_regular` does, and if the file cannot be read or has more bytes.

    Examples
    --------
    >>> len(read_bounded(__file__, 2**20, "a file")) > 0
    True
    """
    check_regular(path, wanted, most)
    try:
        with Path(path).open("rb") as file:
            content = file.read(most + 1)  # the file may have grown
    except OSError as error:
        raise _refusal(path, error.strerror or str(error), wanted) from error
    if len(content) > most:
        raise _too_long(path, most)
    return content


def _too_long(path: str | os.PathLike[str], most: int) -> InputError:
    return InputError.file_too_large(f"{printable(str(path))} has more than {most} bytes; accepted: at most {most}")


def _refusal(path: str | os.PathLike[str], reason: str, wanted: str) -> InputError:
    return InputError.cannot_read(f"cannot read {printable(str(path))}: {reason}; give {wanted}")
