"""Report any strings through a file of windows, with the standard library alone; report.py stands beside this file.

python report_windows.py words.json < strings > reports
python report_windows.py words.json KEY [ATTRIBUTE] < lines > reports

The first reads one string a line, in UTF-8, and draws fresh reports. The second draws permanent reports from the key
file KEY: each line holds an id, one tab and a string. They are those of `mechdesign privatize --key-file`.
"""

import base64
import hashlib
import json
import secrets
import sys
import unicodedata
import zlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from report import (
    RecordError,
    check,
    check_label,
    fail,
    has_utf8,
    is_whole,
    lines,
    number_bytes,
    read_key,
    text_bytes,
)

WORD = 1 << 64
FLOOR = 1 << 60
FORMS = ("nfc", "nfc-casefold")
MOST_SIGNS = 1_000_000
Draw = Callable[[int, int], int]  # which of the four draws of a record, and below what


class Windows:
    """What reports depend on, from the bytes of a file of windows. What it promises is not proved here.

    Raises
    ------
    ValueError
        Saying what is wrong with the file.
    """

    def __init__(self, content: bytes) -> None:
        table = json.loads(content.decode("utf-8-sig"))
        check(isinstance(table, dict), "it is not a table")
        check(table.get("schema") == "mechdesign/windows/1", "its schema is not mechdesign/windows/1")
        self.master, self.form = table.get("master"), table.get("form")
        check(is_text(self.master) and len(self.master) <= 1_000, "the master word is not text")
        check(self.form in FORMS, f"the form is not {' or '.join(FORMS)}")
        self.seeds = whole(table, "seeds", 1, 100_000)
        self.buckets = whole(table, "buckets", 2, 1 << 16)
        check(self.seeds * self.buckets <= 1 << 27, "there are too many seeds and buckets")
        self.floor = checked_floor(table)
        self.read_heavy(table.get("heavy"))
        packed = table.get("windows")
        check(isinstance(packed, dict), "the windows are missing")
        counts = [count + 1 for count in unpacked(packed.get("counts"), self.seeds)]
        self.starts = unpacked(packed.get("starts"), self.seeds)
        check(max(counts) <= self.buckets > max(self.starts), "a number is above the number of buckets")
        lengths = [length + 1 for length in unpacked(packed.get("lengths"), sum(counts))]
        check(max(lengths) <= self.buckets, "a window is longer than the circle")
        self.before = [0, *accumulate(counts)]
        self.ends = [list(accumulate(lengths[a : a + k])) for a, k in zip(self.before, counts, strict=False)]
        closed = all(ends[-1] % self.buckets == 0 for ends in self.ends)
        check(closed, "windows do not go round the circle a whole number of times")
        self.circle = cache(self.made_circle)

    def read_heavy(self, heavy: Any) -> None:
        """Read the heavy strings, if there are any."""
        self.strings, self.units, self.light, self.one_layer = [], [], 0, 0
        if heavy is not None:
            check(isinstance(heavy, dict), "heavy is not a table")
            self.strings, self.units = heavy.get("strings"), heavy.get("units")
            listed = isinstance(self.strings, list) and all(is_text(each) and each for each in self.strings)
            check(
                listed and 0 < len(set(self.strings)) == len(self.strings) <= 200,
                "heavy strings are not a list of such",
            )
            fits = isinstance(self.units, list) and all(is_whole(each) and 1 <= each <= 1 << 31 for each in self.units)
            check(fits and len(self.units) == len(self.strings), "there are not units for each heavy string")
            self.light = whole(heavy, "light_units", 1, 1 << 32)
            self.one_layer = whole(heavy, "one_layer", 1, self.seeds)
        self.index = {print_of(string): i for i, string in enumerate(self.strings)}

    def fresh_reports(self, strings: Sequence[str], source: Callable[[int], bytes] = secrets.token_bytes) -> list[str]:
        """Return one fresh report for each string; each takes 24 bytes of a secure source, 32 with a floor, or more."""

        def draw(_: int, limit: int) -> int:
            while (word := int.from_bytes(source(8), "little")) >= WORD - WORD % limit:
                pass  # in the last, incomplete round
            return word % limit

        return [str(self.first() + self.window(print_, draw)) for print_ in self.prints(strings)]

    def permanent_reports(self, key: bytes, records: Sequence[tuple[str, str]], attribute: str = "") -> list[str]:
        """Return one permanent report for each pair of an id and a string."""
        if attribute:
            check_label(attribute)
        prints = self.prints([string for _, string in records])
        for position, (name, _) in enumerate(records):
            if not name or name != name.strip() or not has_utf8(name):
                raise RecordError(position, "the id is empty, not UTF-8, or has white space around it")
        start = self.fingerprint() + text_bytes(attribute)
        reports = []
        for (name, _), print_ in zip(records, prints, strict=True):
            window, counter = None, 0
            while window is None:
                message = start + number_bytes(print_) + number_bytes(counter) + name.encode()
                digest = hashlib.blake2b(message, key=key, digest_size=32, person=b"mechdesign-key-w").digest()
                window, counter = self.keyed_window(print_, digest), counter + 1
            reports.append(str(self.first() + window))
        return reports

    def keyed_window(self, print_: int, digest: bytes) -> int | None:
        """Return the window that the words of a hash choose; None if a word lies in the last, incomplete round."""
        kept = []

        def draw(which: int, limit: int) -> int:
            word = int.from_bytes(digest[8 * which : 8 * which + 8], "little")
            kept.append(word < WORD - WORD % limit)
            return word % limit

        window = self.window(print_, draw)
        return window if all(kept) else None

    def window(self, print_: int, draw: Draw) -> int:
        """Return the number of the window that a string reports."""
        uniform = self.floor and draw(0, FLOOR) < self.floor
        seed, heavy = draw(1, self.seeds), self.index.get(print_)
        unit = draw(2, 1 if heavy is None else self.units[heavy])
        ends, q = self.ends[seed], self.buckets
        if uniform:
            return self.before[seed] + draw(3, len(ends))
        bucket = self.bucket(seed, print_) if heavy is None else self.heavy_bucket(seed, heavy, unit)
        place = (bucket - self.starts[seed]) % q + draw(3, ends[-1] // q) * q
        return self.before[seed] + bisect_right(ends, place)

    def bucket(self, seed: int, print_: int) -> int:
        """Return the bucket of a light string."""
        words, _, above, shifts, size = self.circle(seed)
        z = place_of(words, print_)
        if not above:
            return scaled(z, self.buckets)
        point = scaled(z, self.light)
        return (point + shifts[bisect_right(above, point)]) * self.buckets // size

    def heavy_bucket(self, seed: int, heavy: int, unit: int) -> int:
        """Return the bucket of a unit of a heavy string."""
        _, firsts, _, _, size = self.circle(seed)
        return (firsts[heavy] + unit) % size * self.buckets // size

    def made_circle(self, seed: int) -> tuple[tuple[int, int], list[int], list[int], list[int], int]:
        """Return the words of a seed, the first unit of each heavy string, and where arcs are put in."""
        digest = hashed(self.master.encode() + number_bytes(seed), 16)
        words = int.from_bytes(digest[:8], "little") | 1, int.from_bytes(digest[8:], "little")
        places = [place_of(words, print_of(string)) for string in self.strings]
        order, total, one = sorted(range(len(places)), key=places.__getitem__), sum(self.units), seed < self.one_layer
        shifts = [0, *accumulate(self.units[i] for i in order)]
        above = [scaled(places[i], self.light) for i in order] if one else []
        firsts = [0] * len(places)
        for k, i in enumerate(order):
            firsts[i] = above[k] + shifts[k] if one else (shifts[k] + (words[1] >> 17)) % total
        return words, firsts, above, shifts, total + self.light if one else total

    @cache  # noqa: B019 - a command reads one file
    def fingerprint(self) -> bytes:
        """Return the SHA-256 hash of what reports depend on."""
        parts = [b"mechdesign/windows/fingerprint/1", text_bytes(self.master), text_bytes(self.form)]
        numbers = [self.seeds, self.buckets, self.floor]
        if self.strings:
            parts += [*map(number_bytes, numbers), *map(text_bytes, self.strings)]
            numbers = [*self.units, len(self.strings), self.light, self.one_layer]
        numbers += map(len, self.ends)
        for ends, start in zip(self.ends, self.starts, strict=True):
            numbers += [*ends, start]
        return hashlib.sha256(b"".join([*parts, *map(number_bytes, numbers)])).digest()

    def first(self) -> int:
        """Return the number of the first report: 2^52, and the first 20 bits of the fingerprint times 2^32."""
        return (1 << 52) + (int.from_bytes(self.fingerprint()[:3], "big") >> 4 << 32)

    def prints(self, strings: Sequence[str]) -> list[int]:
        """Return the fingerprints of all strings, before anything is reported."""
        found = []
        for position, string in enumerate(strings):
            name = normal(string, self.form)
            if not name:
                raise RecordError(position, "it is empty, too long, or not text")
            found.append(print_of(name))
        return found


def normal(string: str, form: str) -> str:
    """Return the normal form of a string; an empty text for what is empty, too long, or has no UTF-8."""
    if len(string) > MOST_SIGNS or not has_utf8(string):
        return ""
    found = unicodedata.normalize("NFC", string).strip()
    return found if form == "nfc" else unicodedata.normalize("NFC", found.casefold())


def hashed(content: bytes, size: int) -> bytes:
    """Return the hash that strings and seeds are hashed with."""
    return hashlib.blake2b(content, digest_size=size, person=b"windows1").digest()


def print_of(string: str) -> int:
    """Return the fingerprint of a string in its normal form."""
    return int.from_bytes(hashed(string.encode(), 8), "little")


def place_of(words: tuple[int, int], print_: int) -> int:
    """Return where a seed puts a fingerprint."""
    z = (words[0] * print_ + words[1]) % WORD
    return (z ^ z >> 33) * 0xFF51AFD7ED558CCD % WORD


def scaled(place: int, size: int) -> int:
    """Return the upper half of a place, times a size, over 2^32."""
    return (place >> 32) * size >> 32


def is_text(value: Any) -> bool:
    """Return whether a value of JSON is text that UTF-8 has."""
    return isinstance(value, str) and has_utf8(value)


def whole(table: dict[str, Any], key: str, low: int, high: int) -> int:
    """Return a whole number of a table, after checking its range."""
    value = table.get(key)
    check(is_whole(value) and low <= value <= high, f"{key} is not a whole number from {low} to {high}")
    return int(value)


def checked_floor(table: dict[str, Any]) -> int:
    """Return the probability of a uniform window, in units of 2^-60; 0 without a cap."""
    cap, floor = table.get("cap"), table.get("floor")
    check((cap is None) == (floor is None), "it has a cap without a floor, or a floor without a cap")
    if floor is None:
        return 0
    digits = isinstance(floor, str) and floor.isascii() and floor.isdecimal() and floor[0] != "0"
    check(digits and int(floor) <= FLOOR, "the floor is not a whole number of at most 2^60, as text")
    return int(floor)


def unpacked(text: Any, size: int) -> list[int]:
    """Return so many numbers of 16 bits, the lowest byte first, compressed with zlib and written in base64."""
    check(isinstance(text, str), "packed numbers are not text")
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(base64.b64decode(text, validate=True), 2 * size + 1)
    except zlib.error:
        content = b""
    check(len(content) == 2 * size and reader.eof, f"packed numbers are damaged, or not {size}")
    return [content[i] + 256 * content[i + 1] for i in range(0, 2 * size, 2)]


def main(path: str, key_path: str = "", attribute: str = "") -> None:
    """Write one report for each line of standard input, or none at all."""
    place = path
    try:
        windows, place = Windows(Path(path).read_bytes()), key_path
        key = read_key(key_path) if key_path else b""
    except OSError as error:
        fail(f"cannot read {place}: {error.strerror}")
    except (ValueError, RecursionError) as error:
        fail(f"{place} is refused: {error}")
    given = list(lines())
    try:
        if key:
            for position, line in enumerate(given):
                if line.count("\t") != 1:
                    raise RecordError(position, "it is not an id, one tab and a string")
            reports = windows.permanent_reports(key, [tuple(line.split("\t")) for line in given], attribute)
        else:
            reports = windows.fresh_reports(given)
    except RecordError as error:
        fail(f"line {error.position + 1}: {error}; nothing was reported")
    except ValueError as error:
        fail(str(error))
    sys.stdout.write("".join(f"{report}\n" for report in reports))


if __name__ == "__main__":
    if len(sys.argv) not in {2, 3, 4}:
        fail("usage: python report_windows.py words.json [KEY [ATTRIBUTE]] < strings (with a key: id, tab, string)")
    main(*sys.argv[1:])
