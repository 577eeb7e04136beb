"""Report labels through an exported mechanism, with the standard library alone.

python report.py mechanism.json < labels > reports
python report.py mechanism.json KEY [ATTRIBUTE] < lines > reports

The first reads one label a line, in UTF-8, and draws fresh reports. The second draws permanent reports from the key
file KEY, which `mechdesign key` makes: it reads an id, a tab and a label on each line, and the same id and label always
get the same report, which is that of `mechdesign privatize --key-file`. The probabilities are precisely those that
`mechdesign verify` proves.
"""

import hashlib
import json
import os
import re
import secrets
import stat
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn

# The second adds a promise to the guarantee; sampling is the same.
SCHEMAS = ("mechdesign/mechanism/1", "mechdesign/mechanism/2")
MOST_BITS = 52
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
KEY_FILE = re.compile(rb"mechdesign-key-1 ([0-9a-f]{64})(?:\r?\n)?")
BYTES = 8  # of a random word, and of every number that is hashed
MOST_KEY_BYTES = 1024


class RecordError(ValueError):
    """A record is refused, by its position from 0; nothing was reported."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(message)
        self.position = position


class Mechanism:
    """What reports depend on, from the bytes of a mechanism file. Its guarantee is not proved here.

    Raises
    ------
    ValueError
        Saying what is wrong with the file.
    """

    def __init__(self, content: bytes, name: str = "the mechanism") -> None:
        table = json.loads(content.decode("utf-8-sig"))
        check(isinstance(table, dict), "it is not a table")
        check(table.get("schema") in SCHEMAS, f"its schema is not {' or '.join(SCHEMAS)}")
        self.name = name
        self.inputs = checked_labels(table.get("inputs"), "inputs")
        self.outputs = checked_labels(table.get("outputs"), "outputs")
        self.bits, self.numerators = table.get("bits"), table.get("numerators")
        whole = is_whole(self.bits) and 1 <= self.bits <= MOST_BITS
        check(whole, f"bits are not a whole number from 1 to {MOST_BITS}")
        rows = self.numerators
        check(isinstance(rows, list) and len(rows) == len(self.inputs), "there is not one row for each input")
        for number, row in enumerate(rows, 1):
            check(
                isinstance(row, list) and len(row) == len(self.outputs),
                f"row {number} does not have one numerator for each output",
            )
            check(all(is_whole(each) and each >= 0 for each in row), f"row {number} holds other than whole numbers")
            check(sum(row) == 2**self.bits, f"row {number} does not sum to 2^{self.bits}")
        check(all(map(any, zip(*rows, strict=True))), "an output is never reported")
        self.cumulative = dict(zip(self.inputs, (list(accumulate(row)) for row in rows), strict=True))

    def fresh_reports(self, labels: Sequence[str], source: Callable[[int], bytes] = secrets.token_bytes) -> list[str]:
        """Return one fresh report for each label; each takes 8 bytes of a secure source."""
        self.check_labels(labels)
        return [self.output_at(label, source(BYTES)) for label in labels]

    def permanent_reports(self, key: bytes, records: Sequence[tuple[str, str]], attribute: str = "") -> list[str]:
        """Return one permanent report for each pair of an id and a label."""
        if attribute:
            check_label(attribute)
        self.check_labels([label for _, label in records])
        for position, (name, _) in enumerate(records):
            if not name or name != name.strip() or not has_utf8(name):
                raise RecordError(position, "the id is empty, not UTF-8, or has white space around it")
        start = hashlib.blake2b(
            self.fingerprint() + text_bytes(attribute), key=key, digest_size=BYTES, person=b"mechdesign-key-1"
        )
        reports = []
        for name, label in records:
            function = start.copy()
            function.update(text_bytes(label) + name.encode())
            reports.append(self.output_at(label, function.digest()))
        return reports

    def fingerprint(self) -> bytes:
        """Return the SHA-256 hash of what reports depend on."""
        canonical = [b"mechdesign/fingerprint/1"]
        for labels in (self.inputs, self.outputs):
            canonical += [number_bytes(len(labels)), *map(text_bytes, labels)]
        canonical += [number_bytes(self.bits), *(number_bytes(each) for row in self.numerators for each in row)]
        return hashlib.sha256(b"".join(canonical)).digest()

    def check_labels(self, labels: Sequence[str]) -> None:
        """Check that all labels are inputs, before anything is reported."""
        for position, label in enumerate(labels):
            if label not in self.cumulative:
                raise RecordError(position, f"{label!r} is not an input of {self.name}")

    def output_at(self, label: str, word: bytes) -> str:
        """Return the first output whose cumulative numerator exceeds the first bits of a word."""
        integer = int.from_bytes(word, "little") >> (8 * BYTES - self.bits)
        return self.outputs[bisect_right(self.cumulative[label], integer)]


def key_of(content: bytes) -> bytes:
    """Return the key of the content of a key file. No message shows any of it."""
    found = KEY_FILE.fullmatch(content)
    check(found is not None, "it is not a key file")
    return bytes.fromhex(found[1].decode())


def checked_labels(labels: Any, kind: str) -> list[str]:
    """Return labels, after checking each of them."""
    check(isinstance(labels, list) and labels != [], f"the {kind} are not a list of labels")
    for label in labels:
        check_label(label)
    check(len(set(labels)) == len(labels), f"the {kind} hold a label twice")
    return labels


def check_label(label: Any) -> None:
    """Check that a value is text that a line of a file can hold."""
    check(isinstance(label, str), "a label is not text")
    # str.strip takes away the white space that conformance/README.md lists.
    check(label != "" and label == label.strip(), "a label is empty, or has white space around it")
    check(CONTROL.search(label) is None and has_utf8(label), "a label holds a control character, or has no UTF-8")


def check(holds: bool, message: str) -> None:  # noqa: FBT001 - as assert has it
    """Raise an error where something does not hold."""
    if not holds:
        raise ValueError(message)


def is_whole(value: Any) -> bool:
    """Return whether a value of JSON is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def has_utf8(value: str) -> bool:
    """Return whether a text holds no half of a surrogate pair."""
    return not any("\ud800" <= sign <= "\udfff" for sign in value)


def number_bytes(value: int) -> bytes:
    """Return a number as it is hashed: 8 bytes, lowest first."""
    return value.to_bytes(BYTES, "little")


def text_bytes(value: str) -> bytes:
    """Return a text as it is hashed: the number of its bytes in UTF-8, and these bytes."""
    return number_bytes(len(value.encode())) + value.encode()


def fail(message: str) -> NoReturn:
    """Print an error and exit with status 2."""
    print(f"Error: {message}", file=sys.stderr)
    sys.exit(2)


def read_key(path: str) -> bytes:
    """Return the key of a file that nobody else can read."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        status = os.fstat(descriptor)
        check(stat.S_ISREG(status.st_mode), "it is not a key file")
        if os.name == "posix":
            check(
                not status.st_mode & 0o077,
                "it can be read or written by others; make another key, or, if nobody has read it: chmod 600 " + path,
            )
            check(os.geteuid() == 0 or status.st_uid in {0, os.geteuid()}, "it belongs to another user")
        return key_of(os.read(descriptor, MOST_KEY_BYTES))
    finally:
        os.close(descriptor)


def lines() -> Iterator[str]:
    """Yield the lines of standard input."""
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            yield line.removesuffix(b"\n").removesuffix(b"\r").decode()
        except UnicodeDecodeError:
            fail(f"line {number}: it is not UTF-8; nothing was reported")


def main(path: str, key_path: str = "", attribute: str = "") -> None:
    """Write one report for each line of standard input, or none at all.

    All lines are checked first: a second run over the same records would be a second report about each.
    """
    place = path
    try:
        mechanism = Mechanism(Path(path).read_bytes(), path)
        place = key_path
        key = read_key(key_path) if key_path else b""
    except OSError as error:
        fail(f"cannot read {place}: {error.strerror}")
    except (ValueError, RecursionError) as error:
        fail(f"{place} is refused: {error}")
    try:
        if key:
            # Labels hold no tabs, so the last one ends the id.
            records = [(line.rpartition("\t")[0], line.rpartition("\t")[2]) for line in lines()]
            reports = mechanism.permanent_reports(key, records, attribute)
        else:
            reports = mechanism.fresh_reports(list(lines()))
    except RecordError as error:
        fail(f"line {error.position + 1}: {error}; nothing was reported")
    except ValueError as error:
        fail(str(error))
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.writelines(f"{report}\n" for report in reports)


if __name__ == "__main__":
    if len(sys.argv) not in {2, 3, 4}:
        fail("usage: python report.py mechanism.json [KEY [ATTRIBUTE]] < labels (with a key: id, tab, label) > reports")
    main(*sys.argv[1:])
