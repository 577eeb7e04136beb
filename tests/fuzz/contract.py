"""The contract of the command line, as a judge: what a result and two looks at a folder say that is wrong.

Exit status 0, 1, 2 or 3; one line on standard error where a command fails, and none where it does not, but for
progress and notes about an input; inputs as they were; outputs old, absent or whole; JSON that is one object in UTF-8.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from .room import Case, Result, Room, Snapshot, snapshot

STATUSES = {0, 1, 2, 3}
_CLAIMANTS = {
    "verify",
    "privatize",
    "estimate",
    "audit",
    "report",
    "analyze",
    "--with",
}  # commands that read a claim, which may be false
_NOTES = ("Note: p.toml: nothing says what the counts are", "Note: the categories are the ")
_PROGRESS = re.compile(r" *[0-9]+\.[0-9] s  ")
_LONGEST_LINE = 2_000
_HELP = "Error: Usage: mechdesign"
_NOT_REPLACED = {"privatize", "histogram"}  # without --overwrite
_ASKED = {"-h", "--help", "--version"}  # these answer, and do nothing else
STANDARD = "-"


def judge(room: Room, case: Case) -> list[str]:
    """Run a case and return what is wrong; empty if nothing is."""
    with room.folder(case) as folder:
        before = snapshot(folder)
        result = room.run(case, folder)
        after = snapshot(folder) if folder.exists() else {}
        wrong = [*of_result(case, result), *([] if case.gone else of_files(case, result, before, after))]
        if case.check is not None and result.status in STATUSES:
            try:
                wrong += case.check(folder, result, lambda arguments: room.command(arguments, folder))
            except Exception as error:  # noqa: BLE001 - a reader failed in an unexpected way
                wrong.append(f"what was written cannot be read ({type(error).__name__}: {error})")
    return wrong


def of_result(case: Case, result: Result) -> Iterator[str]:
    """Yield what is wrong with a status and with what was printed."""
    if result.ended:
        yield result.ended.strip().splitlines()[-1] if "Traceback" in result.ended else result.ended
        return
    arguments = list(case.arguments)
    try:
        lines = result.stderr.decode().splitlines()
    except UnicodeDecodeError:
        yield f"standard error is not UTF-8: {result.stderr[:200]!r}"
        lines = result.stderr.decode(errors="replace").splitlines()
    errors = [line for line in lines if line.startswith("Error:")]
    others = [line for line in lines if not line.startswith(("Error:", *_NOTES)) and not _PROGRESS.match(line)]
    if result.status not in STATUSES:
        yield f"the exit status is {result.status}: {' / '.join(lines)[-400:]}"
    elif result.status == 0:
        if errors or (others and STANDARD not in arguments):
            yield f"the exit status is 0, with {lines[:3]} on standard error"
    elif errors[:1] and errors[0].startswith(_HELP):
        pass  # a command without a word gets its help
    elif len(errors) != 1 or others:
        yield f"the exit status is {result.status}, with {len(lines)} lines on standard error: {lines[:3]}"
    yield from _of_line("".join(errors[:1]))
    if result.status == 1 and not _CLAIMANTS & set(arguments):
        yield f"the exit status is 1, where nothing was claimed: {errors}"
    as_json = "--json" in arguments  # then an error is JSON, which _of_output reads
    if result.status == 2 and result.stdout and not as_json and STANDARD not in case.outputs:
        yield f"the exit status is 2, with {result.stdout[:200]!r} on standard output"
    yield from _of_output(case, arguments, result)


def _of_line(line: str) -> Iterator[str]:
    if len(line) > _LONGEST_LINE:
        yield f"a line of {len(line)} characters on standard error: {line[:100]}"
    if not line.isprintable():
        yield f"a line that is not printable on standard error: {line[:300]!r}"


def _of_output(case: Case, arguments: Sequence[str], result: Result) -> Iterator[str]:
    """Yield what is wrong with standard output."""
    if case.stdout:
        return
    try:
        text = result.stdout.decode(case.environment.get("PYTHONIOENCODING", "utf-8"))
    except UnicodeDecodeError:
        yield f"standard output is not UTF-8, or what the terminal takes: {result.stdout[:200]!r}"
        return
    if "--json" in arguments and STANDARD not in case.outputs and not _ASKED & set(arguments):
        try:
            found = json.loads(text, parse_constant=_refuse)
        except ValueError as error:
            yield f"--json printed what is not JSON ({error}) with status {result.status}: {text[:200]!r}"
            return
        if not isinstance(found, dict) or not isinstance(found.get("schema"), str):
            yield f"--json printed JSON that is not an object with a schema: {text[:200]!r}"
        elif ("error" in found) != (result.status != 0):
            yield f"the exit status is {result.status}, and --json printed {text[:200]!r}"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def of_files(case: Case, result: Result, before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Yield what is wrong with the files that a command left."""
    targets = _targets(case, before)
    for name, entry in before.items():
        if name not in after:
            yield f"{name!r} is gone"
        elif after[name] != entry:
            kind = entry[0]
            if name not in targets:
                yield f"{name!r}, a {kind}, was changed, and is not an output"
            elif kind != "file" or after[name][0] != "file":
                yield f"{name!r}, a {kind}, was replaced by a {after[name][0]}"
            elif result.status not in {0, 3} and not case.stdout:
                yield f"{name!r} was changed, with exit status {result.status}"
            elif name in _read(case, before):
                yield f"the input {name!r} was overwritten"
            elif _NOT_REPLACED & set(case.arguments) and "--overwrite" not in case.arguments:
                yield f"{name!r} was there, and was replaced without --overwrite"
            elif after[name][1] != entry[1]:
                yield f"{name!r} has other permissions: {after[name][1]:o}"
    for name in after.keys() - before.keys():
        if name not in targets:
            yield f"{name!r} was left behind"
        elif result.status not in {0, 3} and not case.stdout:  # facts that cannot be printed leave a whole file
            yield f"{name!r} was written, with exit status {result.status}"
    if result.status == 0 and not _ASKED & set(case.arguments):
        for name in targets:
            if after.get(name, ("absent",))[0] != "file":
                yield f"the exit status is 0, and the output {name!r} is {after.get(name, ('absent',))[0]}"


def _targets(case: Case, before: Snapshot) -> set[str]:
    """Return the names that outputs lead to, through links."""
    return {_followed(name, before) for name in case.outputs if name != STANDARD}


def _read(case: Case, before: Snapshot) -> set[str]:
    """Return the names that the command may read: all of its arguments that name a file, but for outputs."""
    arguments, read = list(case.arguments), []
    for index, argument in enumerate(arguments):
        if index and arguments[index - 1] in {"-o", "--output", "--record", "--plot"}:
            continue
        read.append(_followed(argument, before))
    return set(read) & before.keys()


def _followed(name: str, before: Snapshot) -> str:
    seen = set()
    name = os.path.normpath(name)
    while name in before and before[name][0] == "link" and name not in seen:
        seen.add(name)
        name = os.path.normpath(os.fsdecode(before[name][2]))
    return name


def is_json_of(path: Path, schema: str) -> bool:
    """Return whether a file holds one JSON object of a schema."""
    found = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
    return isinstance(found, dict) and found.get("schema") == schema
