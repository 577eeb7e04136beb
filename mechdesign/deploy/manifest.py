"""The manifest of a folder of reports: what they are drawn from, and which parts are published.

It is fixed before the first report is drawn, so that whoever goes on in the folder draws what is missing and nothing
else. It says nothing of the source besides the names of its parts, which those of the reports repeat.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from mechdesign.data.fields import Record, checked_record
from mechdesign.data.files import is_leftover, write_atomically
from mechdesign.data.reading import read_bounded
from mechdesign.errors import InputError, printable, shorten

NAME = "_manifest.json"
SCHEMA = "mechdesign/dataset/1"
_MOST_BYTES = 1 << 28
_SECOND = "a second report about a record leaks more than one"


class _PartRecord(Record):
    """A part, and whether its reports are published."""

    source: str
    reports: str
    published: bool


class ManifestRecord(Record):
    """The file."""

    schema_: Annotated[Literal["mechdesign/dataset/1"], Field(alias="schema")]
    fingerprint: str
    column: str
    header: bool
    keep: list[str]
    unknown: str | None
    missing: str | None
    ids: str | None
    key: str | None
    complete: bool
    parts: list[_PartRecord]


@dataclass(frozen=True)
class Terms:
    """What reports are drawn by; each part of a folder by the same.

    Attributes
    ----------
    fingerprint : str
        Of the mechanism.
    column : str
        The column of records, which becomes that of reports.
    header : bool
        Whether CSV files have a line of column names.
    keep : tuple of str
        The columns that are copied, sorted.
    unknown, missing : str or None
        The inputs that replace values outside the categories, and missing values.
    ids, key : str or None
        For permanent reports, the column of ids and the fingerprint of the key.
    """

    fingerprint: str
    column: str
    header: bool
    keep: tuple[str, ...]
    unknown: str | None
    missing: str | None
    ids: str | None = None
    key: str | None = None

    def difference(self, other: Terms) -> str:
        """Return what differs from the terms of reports that are there, in words; empty if nothing does.

        A replacement may be named later: without it, parts with such values were refused.
        """
        words = {
            "fingerprint": "another mechanism (by its fingerprint)",
            "header": "another --no-header",
            "ids": "another column of ids",
            "key": "another key or attribute (by the fingerprint of both)",
        }
        for name, own in asdict(self).items():
            theirs = getattr(other, name)
            is_named_later = name in {"unknown", "missing"} and theirs is None
            if own != theirs and not is_named_later:
                what = words.get(name, f"another {name}")
                return f"{what}: {_shown(theirs)} there, {_shown(own)} here"
        return ""


@dataclass(frozen=True)
class Manifest:
    """What a folder of reports is.

    Attributes
    ----------
    terms : Terms
        What its reports are drawn by.
    parts : dict of str to str
        For each part of the source the file of its reports: names from the roots of both.
    published : frozenset of str
        Parts of which it is known that their reports are published, by the names of the reports. There may be more:
        a process may end after it published a part and before it wrote this down.
    """

    terms: Terms
    parts: dict[str, str]
    published: frozenset[str] = field(default=frozenset())

    @property
    def complete(self) -> bool:
        """Whether all parts are published."""
        return self.published.issuperset(self.parts.values())

    def there(self, folder: Path) -> frozenset[str]:
        """Return the names of the reports that are published: a part that is there is whole."""
        return frozenset(name for name in self.parts.values() if os.path.lexists(folder / name))

    def check(self, folder: Path) -> None:
        """Refuse a folder in which something else is.

        Raises
        ------
        InputError
            If there is no manifest and the folder is not empty; if its reports are drawn by other terms or from other
            parts; if fresh reports that were published are gone, since what would be drawn here would be a second
            report. Permanent reports that are gone are drawn again, and are the same for the same values.
        """
        if not has_manifest(folder):
            _check_empty(folder)
            return
        found = read_manifest(folder)
        if difference := self.terms.difference(found.terms) or self._other_parts(found):
            raise InputError.second_report(
                f"the reports in {printable(str(folder))} are drawn with {difference}; {_SECOND}, so give what that "
                "run was given, or other records and a new folder"
            )
        gone = [] if self.terms.key is not None else sorted(found.published - found.there(folder))
        if gone:
            raise InputError.second_report(
                f"{printable(str(folder / gone[0]))}{_more(gone)} is gone, and its reports were published; {_SECOND}, "
                "so put it back"
            )

    def agreed(self, folder: Path) -> Manifest:
        """Write the manifest and what is published into a folder, after checking that there is none or the same.

        Raises
        ------
        InputError
            As `check` does.
        """
        if not has_manifest(folder):
            try:
                write_atomically(folder / NAME, self._bytes(), overwrite=False)
            except InputError:
                if not has_manifest(folder):
                    raise  # else another run has just begun in this folder
        self.check(folder)
        # A run that was killed did not write down all that it published.
        return self.write(folder, self.there(folder))

    def _other_parts(self, other: Manifest) -> str:
        if self.parts == other.parts:
            return ""
        ours, theirs = self.parts.items(), other.parts.items()
        added, lost = sorted(dict(ours - theirs)), sorted(dict(theirs - ours))
        lines = [
            f"{shorten(names[0])}{_more(names)} is only {where}"
            for names, where in ((lost, "there"), (added, "here"))
            if names
        ]
        return f"other parts of the source: {', '.join(lines)}"

    def write(self, folder: Path, published: Collection[str]) -> Manifest:
        """Write down that reports are published, beside what is written down already."""
        known = replace(self, published=self.published | read_manifest(folder).published | frozenset(published))
        for last in (False, True):
            try:
                write_atomically(folder / NAME, known._bytes())
                break
            except InputError:  # another run that ends may take the file that is being written for a leftover
                if last:
                    raise
        return known

    def _bytes(self) -> bytes:
        parts = [
            _PartRecord(source=source, reports=name, published=name in self.published)
            for source, name in self.parts.items()
        ]
        terms = {"schema": SCHEMA, **asdict(self.terms), "keep": list(self.terms.keep)}
        record = ManifestRecord(**terms, complete=self.complete, parts=parts)
        return json.dumps(record.model_dump(by_alias=True), indent=1).encode() + b"\n"


def has_manifest(folder: str | os.PathLike[str]) -> bool:
    """Return whether a folder holds reports with a manifest."""
    return os.path.lexists(Path(folder, NAME))


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a folder.

    Raises
    ------
    InputError
        If it is unreadable or malformed.
    """
    path = folder / NAME
    source = printable(str(path))
    try:
        data = json.loads(read_bounded(path, _MOST_BYTES, "a folder of reports with its manifest"))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError.damaged_file(
            f"{source} is malformed ({shorten(str(error), 80)}); accepted: a manifest of reports"
        ) from None
    record = checked_record(ManifestRecord, data, source)
    terms = Terms(**{name: getattr(record, name) for name in Terms.__dataclass_fields__} | {"keep": tuple(record.keep)})
    published = frozenset(part.reports for part in record.parts if part.published)
    return Manifest(terms, {part.source: part.reports for part in record.parts}, published)


def _check_empty(folder: Path) -> None:
    for name in sorted(os.listdir(folder)):  # noqa: PTH208 - names are all that is asked
        if not is_leftover(name):
            raise InputError.stray_file(
                f"the folder {printable(str(folder))} holds {shorten(name)} and no manifest of reports; give an empty "
                "folder, or the path of a new one"
            )


def _more(names: Collection[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""


def _shown(value: Any) -> str:
    return "none" if value in {None, ()} else shorten(value, 24)
