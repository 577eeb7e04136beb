"""Arrays in NPY and NPZ files from strangers: checked before they are unpacked, and never pickled."""

from __future__ import annotations

import io
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError, shorten

MOST_BYTES = 192 * 2**20
"""The most bytes of a member, unpacked: ten million integers of 52 bits as text."""

_MOST_MEMBERS = 100
_ENTRY = b"PK\x01\x02"  # every entry of the directory of an archive begins with these bytes


def members(content: bytes, source: str, accepted: str, wanted: str) -> list[str]:
    """Return the names of the arrays of an archive, sorted, after checking how large they are.

    Parameters
    ----------
    content : bytes
        Of an NPZ file.
    source : str
        The file, for messages.
    accepted : str
        What the archive may hold, in words.
    wanted : str
        What to give instead, for messages: ``"a mechanism file"``.

    Raises
    ------
    InputError
        If it is not an archive, or a member is too large or compressed in an unknown way.
    """
    if content.count(_ENTRY) > _MOST_MEMBERS:
        raise InputError.file_too_large(f"{source} holds very many files; accepted: {accepted}")
    with _refusing(source, "an NPZ file", wanted), zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = archive.infolist()
    for member in found:
        if member.file_size > MOST_BYTES:
            name = shorten(member.filename)
            raise InputError.file_too_large(
                f"{source}: {name} unpacks to {member.file_size} bytes; accepted: at most {MOST_BYTES}"
            )
        if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise InputError.damaged_file(
                f"{source}: {shorten(member.filename)} is compressed in another way than as saved"
            )
    return sorted(member.filename.removesuffix(".npy") for member in found)


def member(content: bytes, name: str, source: str, accepted: str, wanted: str) -> NDArray[Any]:
    """Return an array of an archive whose `members` have been checked.

    Raises
    ------
    InputError
        If it is not an array, or damaged.
    """
    with _refusing(source, "an NPZ file", wanted), np.load(io.BytesIO(content), allow_pickle=False) as archive:
        found = archive[name]
    if not isinstance(found, np.ndarray):  # bytes, where there is no header
        raise InputError.damaged_file(f"{source}: {shorten(name)} is not an array; accepted: {accepted}")
    return found


def array(content: bytes, source: str, wanted: str) -> NDArray[Any]:
    """Return the array of an NPY file.

    Raises
    ------
    InputError
        If it is damaged.
    """
    with _refusing(source, "an NPY file", wanted):
        found: NDArray[Any] = np.load(io.BytesIO(content), allow_pickle=False)
    return found


@contextmanager
def _refusing(source: str, kind: str, wanted: str) -> Iterator[None]:
    """Turn the errors of a damaged file into one of the input."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        zlib.error,
        ValueError,
        TypeError,
        OverflowError,
        OSError,
        EOFError,
        KeyError,
        MemoryError,
        RuntimeError,  # encrypted; a header nested too deeply
        SyntaxError,  # numpy raises this and the next error for a header that is not valid Python
        tokenize.TokenError,
    ) as error:
        raise InputError.wrong_file_format(f"{source} is not {kind} ({shorten(str(error))}); give {wanted}") from None
