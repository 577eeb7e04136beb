"""A folder of results, each a file of its own, found by what it is a result of.

``designs/KEY.json`` is a record of one design, and names ``mechanisms/HASH.json``, an ordinary mechanism file whose
name is the SHA-256 of its content. The mechanism is written first, and either file is whole or absent. So a record
never names half a mechanism, also where two sweeps share the folder, or one is killed.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from mechdesign.data.fields import Number, Record, checked_record
from mechdesign.data.files import check_path, write_atomically
from mechdesign.data.reading import read_bounded
from mechdesign.errors import InputError, printable, shorten
from mechdesign.mechanism.mechanism_files import read_content
from mechdesign.optimize.kept.design_keys import DesignKey
from mechdesign.optimize.kept.kept_proof import Stored

SCHEMA = "mechdesign/sweep-result/1"
_DESIGNS, _MECHANISMS = "designs", "mechanisms"
_MOST_BYTES = 64 * 2**20  # of a record, which repeats the problem
_BY_TIME = "time limit"  # as `Design.stopped` says it


Seconds = Annotated[Number, Field(ge=0, json_schema_extra={"minimum": 0})]


class ResultRecord(Record):
    """A file of `designs`."""

    schema_name: Annotated[Literal["mechdesign/sweep-result/1"], Field(alias="schema")]
    mechanism: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    seconds: Seconds
    stopped: Annotated[str, Field(max_length=200)]
    time_limit: Seconds | None = None
    problem: dict[str, Any]


@dataclass(frozen=True)
class ResultFolder:
    """A folder of results.

    Attributes
    ----------
    path : Path
        The folder.
    """

    path: Path

    @classmethod
    def opened(cls, path: str | os.PathLike[str]) -> ResultFolder:
        """Return the folder at a path, which is made if it does not exist.

        Raises
        ------
        InputError
            If it cannot be made, or cannot be written.
        """
        check_path(path)
        if not os.fspath(path):
            raise InputError.cannot_write("the path of the folder is empty; give a path in a writable folder")
        folder = cls(Path(path))
        try:
            for part in (folder.path, folder.path / _DESIGNS, folder.path / _MECHANISMS):
                part.mkdir(exist_ok=True)
                if not os.access(part, os.W_OK | os.X_OK):
                    raise InputError.cannot_write(
                        f"cannot write into {printable(str(part))}; give a folder that is writable"
                    )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError.cannot_write(
                f"cannot make the folder {printable(str(path))}: {reason}; give a path in a writable folder"
            ) from error
        return folder

    def find(self, key: DesignKey, time_limit: float | None) -> tuple[Stored | None, str]:
        """Return a result that may serve, and otherwise why one that is there does not.

        A result that a time limit stopped serves only for the same limit. What is returned is not proved.
        """
        for limit in (None, time_limit):
            place = self._record_path(key, limit)
            if place.exists():
                try:
                    return self._read(place, key), ""
                except InputError as error:
                    return None, f"{error}; solved again"
            if time_limit is None:
                break
        return None, ""

    def put(self, key: DesignKey, content: bytes, seconds: float, stopped: str, time_limit: float | None) -> None:
        """Write the file of a mechanism, and the record of its design.

        Raises
        ------
        InputError
            If a file cannot be written; what was there before is as it was.
        """
        name = hashlib.sha256(content).hexdigest()
        limit = time_limit if stopped == _BY_TIME else None
        record = {
            "schema": SCHEMA,
            "mechanism": name,
            "seconds": seconds,
            "stopped": stopped,
            **({} if limit is None else {"time_limit": limit}),
            "problem": json.loads(key.text),
        }
        write_atomically(self._mechanism_path(name), content)
        write_atomically(self._record_path(key, limit), json.dumps(record, indent=1).encode() + b"\n")

    def place_of(self, content: bytes) -> str:
        """Return the path within the folder of a mechanism file with some content."""
        return f"{_MECHANISMS}/{hashlib.sha256(content).hexdigest()}.json"

    def _record_path(self, key: DesignKey, limit: float | None) -> Path:
        within = "" if limit is None else f"-within-{float(limit)!r}-s"
        return self.path / _DESIGNS / f"{key.name}{within}.json"

    def _mechanism_path(self, name: str) -> Path:
        return self.path / _MECHANISMS / f"{name}.json"

    def _read(self, place: Path, key: DesignKey) -> Stored:
        source = printable(str(place))
        try:
            table = json.loads(read_bounded(place, _MOST_BYTES, "a record of a design"))
        except (ValueError, RecursionError) as error:  # also bytes that are not UTF-8
            if isinstance(error, InputError):
                raise
            raise InputError.wrong_file_format(f"{source} is not JSON ({shorten(str(error))})") from None
        record = checked_record(ResultRecord, table, source)
        if record.problem != json.loads(key.text):
            raise InputError.damaged_file(f"{source} is about another problem")
        mechanism = self._mechanism_path(record.mechanism)
        content = read_content(mechanism)
        if hashlib.sha256(content).hexdigest() != record.mechanism:
            raise InputError.damaged_file(f"{printable(str(mechanism))} was changed after it was written")
        return Stored(content, printable(str(mechanism)), record.seconds, record.stopped)
