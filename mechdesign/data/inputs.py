"""Inputs from a path or from standard input, which is ``-`` and can be read only once."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from mechdesign.errors import InputError

_STANDARD = "-"
_DESCRIPTORS = Path("/proc/self/fd")
_PIECE = 1 << 20


@dataclass(frozen=True)
class Spool:
    """A file that holds the content of standard input: it has a path for readers and a name for messages."""

    place: str

    def __fspath__(self) -> str:
        return self.place

    def __str__(self) -> str:
        return "standard input"


@contextmanager
def readable(path: str, most: int | None = None) -> Iterator[str | Spool]:
    """Yield the file to read: the path itself, or for ``-`` a temporary file that holds all of standard input.

    A file is needed because readers open it more than once, and Parquet files are read from their end. It lies in the
    folder for temporary files, readable by its owner alone, and is removed at the end; on Linux it has no name there.

    Parameters
    ----------
    path : str
        A path, or ``-``.
    most : int, optional
        Bytes of standard input that are accepted.

    Raises
    ------
    InputError
        If standard input is closed, cannot be read, is longer than accepted, or does not fit into the folder.

    Examples
    --------
    >>> with readable("records.csv") as place:
    ...     place
    'records.csv'
    """
    if path != _STANDARD:
        yield path
        return
    source = getattr(sys.stdin, "buffer", None)
    if source is None:
        raise InputError.cannot_read(
            "cannot read standard input: it is closed, or holds no bytes; give the path of a file"
        )
    if _DESCRIPTORS.is_dir():
        with tempfile.TemporaryFile() as file:
            _fill(file, source, most)
            yield Spool(f"{_DESCRIPTORS}/{file.fileno()}")
    else:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "input")
            with place.open("xb") as file:
                _fill(file, source, most)
            yield Spool(str(place))


def _fill(file: BinaryIO, source: BinaryIO, most: int | None) -> None:
    try:
        if most is None:
            shutil.copyfileobj(source, file, _PIECE)
        else:
            file.write(source.read(most + 1))
        file.flush()
    except OSError as error:
        raise InputError.cannot_read(
            f"cannot keep standard input in {tempfile.gettempdir()}: {error.strerror or error}; give the path of a file"
        ) from error
    if most is not None and os.fstat(file.fileno()).st_size > most:
        raise InputError.file_too_large(f"standard input has more than {most} bytes; accepted: at most {most}")
