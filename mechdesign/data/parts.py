"""Data in parts: a folder, a glob or one file as an ordered list of files that are read alike.

* Folders are read with all folders in them. As for Spark and Arrow, a name that begins with ``.`` or ``_`` is skipped
  (``_SUCCESS``, ``_metadata``, leftovers), except that a folder ``_column=value`` holds records, as for Spark.
* A folder ``key=value`` is a hive partition: its name says a column of all records in it.
* All parts are CSV files, compressed or not, or all are Parquet files, which their endings say.
* A file that is found by two names is refused, since its records would be read twice.
"""

from __future__ import annotations

import contextlib
import glob
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import unquote_to_bytes

from mechdesign.data.csv_blocks import COMPRESSIONS
from mechdesign.data.tables import is_parquet
from mechdesign.errors import InputError, printable, shorten

Inode = tuple[int, int]
Keys = tuple[tuple[str, str | None], ...]

CSV, PARQUET = ".csv", ".parquet"
_PARQUET_ENDINGS = (PARQUET, ".parq", ".pq")
_NULL = "__HIVE_DEFAULT_PARTITION__"
_ACCEPTED = f"{CSV} (also with {', '.join(sorted(COMPRESSIONS))}) and {PARQUET}"


@dataclass(frozen=True)
class Part:
    """A file of a data set.

    Attributes
    ----------
    name : str
        Its path from the root of the data set, with slashes.
    path : str
        Its path.
    keys : tuple of (str, str or None)
        Hive partitions that it lies in, from the outside in: the name of the column, and its value as text, None for a
        missing one.

    Examples
    --------
    >>> Part("year=2024/a.csv", "records/year=2024/a.csv").keys
    (('year', '2024'),)
    """

    name: str
    path: str

    @property
    def keys(self) -> Keys:
        """The hive partitions."""
        return tuple(_pair(folder, self.path) for folder in self.name.split("/")[:-1] if _is_key(folder))

    @property
    def stem(self) -> str:
        """The name without the ending that says the format."""
        lower = self.name.lower()
        for ending in (*_PARQUET_ENDINGS, CSV, *(CSV + packed for packed in COMPRESSIONS)):
            if lower.endswith(ending):
                return self.name[: -len(ending)]
        return self.name


@dataclass(frozen=True)
class Parts:
    """The files of a data set, in the order of their names.

    Attributes
    ----------
    root : str
        The folder that names begin from.
    files : tuple of Part
        At least one.
    kind : str
        ``".csv"`` or ``".parquet"``.
    folders : frozenset of (int, int)
        The devices and inodes of the folders that were read: all that lies in them belongs to the data set.
    """

    root: str
    files: tuple[Part, ...]
    kind: str
    folders: frozenset[Inode] = field(default=frozenset(), repr=False)

    def __iter__(self) -> Iterator[Part]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that names of folders say."""
        return tuple(key for key, _ in self.files[0].keys)

    def check_apart(self, folder: str | os.PathLike[str]) -> None:
        """Refuse a folder for outputs, which exists, if it lies in the data set or a part of the data set in it.

        Raises
        ------
        InputError
            Whatever links lead there.
        """
        if any(inode in self.folders for inode in _inodes_around(folder)):
            raise InputError.same_file(
                f"the output {printable(str(folder))} is the input, or lies in it; give a folder beside the input"
            )
        own = _inodes_around(folder)[0]
        for around in {str(Path(part.path).parent) for part in self.files}:
            if own in _inodes_around(around):
                raise InputError.same_file(
                    f"the input {printable(around)} lies in the output {printable(str(folder))}; give a folder beside "
                    "the input"
                )


def has_parts(source: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder or, if there is nothing of this name, a glob.

    Examples
    --------
    >>> has_parts("records.csv"), has_parts("records/*.csv"), has_parts("/")
    (False, True, True)
    """
    return _is_folder(source) or _is_glob(os.fspath(source))


def find_parts(source: str | os.PathLike[str]) -> Parts:
    """Return the files of a data set.

    Parameters
    ----------
    source : path
        A folder, a file, or a glob, in which ``**`` stands for any number of folders. A path that exists is no glob.

    Raises
    ------
    InputError
        If no file is found; if one of the files or folders cannot be read, is found twice, or leads back to a folder
        around it by a link; if files are neither CSV nor Parquet, or some are of one kind and some of the other; if
        files lie in hive partitions by different columns, or in one whose name is not UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("day=1/a.csv", "day=2/a.csv", "_SUCCESS"):
    ...         Path(folder, name).parent.mkdir(exist_ok=True)
    ...         _ = Path(folder, name).write_text("answer")
    ...     [part.name for part in find_parts(folder)]
    ['day=1/a.csv', 'day=2/a.csv']
    """
    text = os.fspath(source)
    search = _PartSearch()
    if _is_glob(text):
        root = _root_of_glob(text)
        for found in sorted(glob.iglob(text, recursive=True)):  # noqa: PTH207 - links are followed
            name = Path(found).relative_to(root).as_posix()
            if not any(map(_is_skipped, name.split("/"))):
                search.add(str(Path(found)), name)  # without a slash at its end
    elif _is_folder(text):
        root = text
        search.add(text, "")
    else:
        file = Part(Path(text).name, text)
        return Parts(str(Path(text).parent), (file,), PARQUET if is_parquet(text) else CSV)
    if not search.files:
        what = f"no file matches {printable(text)}" if _is_glob(text) else f"there is no file in {printable(text)}"
        raise InputError.cannot_read(f"{what}, besides names that begin with . or _; accepted: {_ACCEPTED}")
    files = tuple(sorted(search.files, key=lambda part: part.name.split("/")))
    _check_keys(files)
    return Parts(root, files, _kind_of_all(files), frozenset(search.folders))


class _PartSearch:
    """What was found so far, by inode."""

    def __init__(self) -> None:
        self.files: list[Part] = []
        self.folders: dict[Inode, str] = {}
        self._names: dict[Inode, str] = {}

    def add(self, path: str, name: str, around: tuple[Inode, ...] = ()) -> None:
        """Add a file, or all files of a folder that is not skipped."""
        try:
            status = os.stat(path)  # noqa: PTH116 - a path is made for each of many files
            inside = sorted(os.listdir(path)) if stat.S_ISDIR(status.st_mode) else None  # noqa: PTH208
        except OSError as error:
            raise InputError.cannot_read(
                f"cannot read {printable(path)}: {error.strerror or error}; give a folder, a glob or a file"
            ) from error
        inode = (status.st_dev, status.st_ino)
        if inode in around:
            raise InputError.stray_file(
                f"the link {printable(path)} leads back to the folder {printable(self.folders[inode])}, which it lies "
                "in; remove the link"
            )
        seen = self.folders if inside is not None else self._names
        if path == seen.get(inode):
            return  # a glob finds a folder and what is in it
        if inode in seen:
            raise InputError.stray_file(
                f"{printable(path)} is {printable(seen[inode])} by another name, so that its records would be read "
                "twice; remove one of them"
            )
        seen[inode] = path
        if inside is None:
            self._add_file(path, name, status)
            return
        for each in inside:
            if not _is_skipped(each):
                self.add(os.path.join(path, each), f"{name}/{each}".lstrip("/"), (*around, inode))  # noqa: PTH118

    def _add_file(self, path: str, name: str, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise InputError.cannot_read(
                f"cannot read {printable(path)}: it is a device or a pipe; accepted: {_ACCEPTED}"
            )
        if not os.access(path, os.R_OK):
            raise InputError.cannot_read(
                f"cannot read {printable(path)}: Permission denied; allow it, or leave the file out"
            )
        self.files.append(Part(name, path))


def _inodes_around(folder: str | os.PathLike[str]) -> list[Inode]:
    """Return the inodes of a folder and of all folders around it, from the inside out."""
    real = Path(os.path.realpath(folder))
    found = [real.stat()]
    for each in real.parents:
        with contextlib.suppress(OSError):  # a folder that may not be looked at
            found.append(each.stat())
    return [(status.st_dev, status.st_ino) for status in found]


def _is_folder(path: str | os.PathLike[str]) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - false for names that no file can have


def _is_glob(text: str) -> bool:
    return glob.has_magic(text) and "\0" not in text and not os.path.lexists(text)


def _root_of_glob(text: str) -> str:
    """Return the folder before the first component with a sign of globs."""
    fixed = []
    for component in Path(text).parts[:-1]:
        if glob.has_magic(component):
            break
        fixed.append(component)
    return str(Path(*fixed))


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and not _is_key(name))


def _is_key(name: str) -> bool:
    """Return whether the name of a folder says a column."""
    return "=" in name[1:]


def _pair(folder: str, path: str) -> tuple[str, str | None]:
    """Return the column and the value that the name of a folder says."""
    name = os.fsencode(folder)
    try:
        unquote_to_bytes(name).decode()
    except UnicodeDecodeError as error:
        raise InputError.not_utf8(
            f"{printable(path)}: the folder {shorten(folder)} says a value that is not UTF-8 (byte "
            f"0x{error.object[error.start]:02x} at position {error.start + 1} of the name, each %xx decoded); rename it"
        ) from None
    key, _, value = name.partition(b"=")
    return unquote_to_bytes(key).decode(), None if value == _NULL.encode() else unquote_to_bytes(value).decode()


def _check_keys(files: tuple[Part, ...]) -> None:
    """Refuse files in partitions by different columns."""
    first = files[0]
    names = [key for key, _ in first.keys]
    for part in files:
        if (found := [key for key, _ in part.keys]) != names:
            raise InputError.parts_differ(
                f"the folders of {printable(part.path)} say {_listed(found)}, and those of {printable(first.path)} "
                f"say {_listed(names)}; accepted: the same columns for all files"
            )
    if len(set(names)) < len(names):
        raise InputError.column_twice(
            f"the folders of {printable(first.path)} say {_listed(names)}; accepted: each column once"
        )


def _listed(keys: list[str]) -> str:
    return f"the columns {shorten(', '.join(keys))}" if keys else "no column"


def _kind_of_all(files: tuple[Part, ...]) -> str:
    """Return the kind that all files have by their endings."""
    kinds = [_kind(part) for part in files]
    other = next((part for part, kind in zip(files, kinds, strict=True) if kind != kinds[0]), None)
    if other is not None:
        raise InputError.parts_differ(
            f"{printable(files[0].path)} is a {kinds[0][1:]} file, and {printable(other.path)} is a "
            f"{_kind(other)[1:]} file; accepted: one kind, which a glob can choose"
        )
    return kinds[0]


def _kind(part: Part) -> str:
    name = PurePosixPath(part.name)
    endings = [ending.lower() for ending in name.suffixes]
    if endings and endings[-1] in COMPRESSIONS:
        endings.pop()
    elif endings and endings[-1] in _PARQUET_ENDINGS:
        return PARQUET
    if endings and endings[-1] == CSV:
        return CSV
    raise InputError.stray_file(
        f"{printable(part.path)} is in the data set; accepted: {_ACCEPTED}; remove it, or choose files by a glob"
    )
