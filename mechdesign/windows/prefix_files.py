"""Files of windows of prefixes: the lengths, the normal form, and a file of windows for each length."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from mechdesign.data.fields import Record, checked_record
from mechdesign.data.files import accepted_ending, write_atomically
from mechdesign.data.reading import read_bounded
from mechdesign.errors import InputError, printable
from mechdesign.windows.strings import Form
from mechdesign.windows.window_files import MOST_BYTES, WindowFileRecord, from_record, parsed_windows, record_of
from mechdesign.windows.windows_mechanism import WindowMechanism

PREFIX_SCHEMA = "mechdesign/prefix-windows/1"
Made = TypeVar("Made")


class PrefixFileRecord(Record):
    """A file of windows of prefixes."""

    schema_name: Annotated[Literal["mechdesign/prefix-windows/1"], Field(alias="schema")]
    form: Form
    lengths: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1, max_length=32)]
    levels: Annotated[list[WindowFileRecord], Field(min_length=1, max_length=32)]


def save(mechanism: Any, path: str | os.PathLike[str], *, evidence: Any = True) -> None:
    """Write windows of prefixes as JSON, with their evidence or with the digests of it alone."""
    accepted_ending(path, (".json",))
    write_atomically(path, prefix_json(mechanism, evidence=evidence))


def prefix_json(mechanism: Any, *, evidence: Any = True) -> bytes:
    """Return the content of a file of windows of prefixes."""
    levels = [record_of(level, evidence=evidence) for level in mechanism.levels]
    record = {"schema": PREFIX_SCHEMA, "form": mechanism.form, "lengths": list(mechanism.lengths), "levels": levels}
    checked = checked_record(PrefixFileRecord, record, "the mechanism").model_dump(by_alias=True, exclude_none=True)
    return json.dumps(checked, indent=1, ensure_ascii=False).encode() + b"\n"


def load(path: str | os.PathLike[str], kind: Callable[..., Made]) -> Made:
    """Return the mechanism of a file, made by its class, of which nothing is proved yet.

    Raises
    ------
    InputError
        For a file that cannot be read, or whose windows are not windows of its circles.
    """
    source = printable(str(path))
    content = read_bounded(path, MOST_BYTES, "a file of windows of prefixes")
    record = checked_record(PrefixFileRecord, parsed_windows(content, source), source)
    levels = [
        from_record(level, f"{source}: levels[{number}]", WindowMechanism) for number, level in enumerate(record.levels)
    ]
    try:
        return kind(tuple(record.lengths), tuple(levels), record.form)
    except InputError as error:
        raise error.reworded(f"{source}: {error}") from None
