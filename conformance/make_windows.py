"""What `make.py` writes for windows, the mechanisms that report about any string."""

from __future__ import annotations

import base64
import hashlib
import json
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import mechdesign as md
from conformance import make
from mechdesign.windows import PrefixWindows, SeparateCounts, WindowMechanism, design_windows, window_files
from mechdesign.windows.hashing import fingerprints
from mechdesign.windows.strings import FORMS, normal

COUNTS = {f"s{k}": n for k, n in enumerate((575, 513, 300, 211, 150, 120, 90, 77, 60, 44, 30, 21, 17, 9, 5, 2))}
LETTERS = {
    "Straße": 500,
    "ÉCLAIR": 400,
    "ΣΊΣΥΦΟΣ": 300,
    "日本語": 200,
    "e\u0301t\u00e9": 100,
    "🂡": 90,
    "x": 80,
    "__proto__": 70,
}
STREAM = 1_009  # the string of record i is s and the square of i modulo this prime

STRINGS = (
    *COUNTS, "s16", "never seen", "strasse", "STRASSE", "Straße", "straẞe", "éclair", "e\u0301clair", "ÉCLAIR",
    "E\u0301CLAIR ", "Σίσυφος", "ΣΊΣΥΦΟΣ", "日本語", " 日本語\u3000", "été", "e\u0301te\u0301", "🂡", "__proto__",
    "a\tb", "\ufeffmark", "\0", "07", "7", "x" * 119, "x" * 120, "x" * 128, "x" * 129, "é" * 300,
)  # fmt: skip
"""What is reported; some are the same in a normal form, and some only once case is folded."""
NORMALIZED = (
    "cafe\u0301", "Ω", "\u212b", "\u1e9b\u0323", "\u0344", "a\u0323\u0307", "a\u0307\u0323",
    "\u1100\u1161\u11a8", "\uac00\u11a8", "\u1100\u1161\u11a7", "\u0958", "\U0001d15e", "\uf900", "\u0f43",
    "\u0f71\u0f72\u0f73\u0f80", "a\u0300\u0301", "\u0300a", "a\u0334\u0301", "\U000114b9\U000114ba",
    "\U00011935\U00011930", "  both ends\t", "\u2003x\u0085", "\x1cx\x1f", "\ufeffx", "\u200bx", "x\u00a0y",
    "İI\u0131i", "ẞß", "ŉ", "ΐ", "ᾳᾼ", "ς", "Ω", "K", "\u1c80", "ﬃ", "և", "Ꭰꭰ\u13f8", "ǅ", "\u0345", "Ⅷⓐ", "𐐀",
    "ſ",
)  # fmt: skip
REFUSED_STRINGS = {
    "it is empty": b"",
    "it is white space alone": "\u3000 \t".encode(),
    "it is not UTF-8": b"a\xff",
    "half of a surrogate pair is not UTF-8": b"a\xed\xa0\x80",
    "it has more than 1,000,000 characters": ("é".encode(), 1_000_001),
}


# Mechanisms


def designed() -> dict[str, WindowMechanism]:
    """Return mechanisms of windows by the names of their files; each is proved when it is made."""
    large = {f"s{k}": 10**9 // (k + 1) for k in range(500)}
    before = SeparateCounts({name: n + k for k, (name, n) in enumerate(COUNTS.items())}, "a sample of the year before")
    learnt = {"delta": "1e-6", "seeds": 5, "buckets": 50}
    designs = {
        "light": design_windows({**COUNTS, "x": 900}, 1, **learnt),
        "heavy": design_windows(
            COUNTS, "log(3)", known=True, seeds=40, buckets=64, one_layer="0.3", master="reference"
        ),
        "learnt": design_windows(COUNTS, "0.4", heavy=before, one_layer="0.3", master="", any_seed=True, **learnt),
        "capped": design_windows(COUNTS, 1, cap=3, heavy=before, one_layer="1", **learnt),
        "capped-light": design_windows({**COUNTS, "x": 900}, "0.5", cap="log(10)", master="Wörter 🂡", **learnt),
        "folded": design_windows(LETTERS, 1, known=True, seeds=7, buckets=100, one_layer="0.3", form="nfc-casefold"),
        "one-seed": design_windows(LETTERS, 1, known=True, seeds=1, buckets=7, one_layer="1"),
        "many": design_windows(large, 2, delta="1e-9", seeds=700, buckets=256),
    }
    return {name: design.mechanism for name, design in designs.items()}


# Files to be refused


def packed(values: list[int], more: bytes = b"") -> str:
    """Return numbers of 16 bits as files hold them."""
    return base64.b64encode(zlib.compress(np.array(values, dtype="<u2").tobytes(), 9) + more).decode()


def unpacked(text: str) -> list[int]:
    """Return the numbers of 16 bits that a file holds."""
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<u2").tolist()


def refused(light: bytes, heavy: bytes, capped: bytes) -> tuple[dict[str, bytes], list[dict[str, str]]]:
    """Return files to be refused, and the list of them; each is a small change of a mechanism."""
    contents: dict[str, bytes] = {}
    rows: list[dict[str, str]] = []

    def add(name: str, content: bytes, reason: str, by: str = "consumer") -> None:
        path = f"windows-refused/{name}.json"
        contents[path] = content
        rows.append({"file": path, "by": by, "reason": reason})

    def change(name: str, reason: str, by: str = "consumer", *, of: bytes = light, **changes: Any) -> None:
        table = {key: value for key, value in {**json.loads(of), **changes}.items() if value is not ...}
        add(name, json.dumps(table, indent=1).encode() + b"\n", reason, by)

    add("not-json", light[:-3], "not JSON")
    add("not-utf-8", light.replace(b'"windows"', b'"w\xff"', 1), "not UTF-8")
    add("utf-16", light.decode().encode("utf-16"), "not UTF-8")
    add("a-list", b"[]\n", "not a table")
    add("key-twice", light.replace(b'"master"', b'"form": "nfc", "master"', 1), "a key occurs twice", "verify")
    for name, reason, changes in tables_changed(json.loads(light)):
        change(name, reason, **changes)
    for name, reason, changes in heavy_changed(json.loads(heavy)["heavy"]):
        change(name, reason, of=heavy, heavy=changes)
    floor = json.loads(capped)["floor"]
    change("floor-number", "the floor is not text", of=capped, floor=int(floor))
    change("floor-zero", "the floor begins with zero", of=capped, floor="0" + floor)
    change("floor-large", "the floor is above 2^60", of=capped, floor=str(2**60 + 1))
    change("floor-alone", "there is a floor without a cap", of=capped, cap=...)
    change("no-floor", "an earlier file, which states the cap alone", "consumer alone", of=capped, floor=...)
    change("false-floor", "the floor is another", "verify", of=capped, floor=str(int(floor) + 1))
    facts = json.loads(light)["evidence"]
    change("no-evidence", "the evidence is missing", "verify", evidence=...)
    change(
        "false-threshold", "the threshold is another", "verify", evidence={**facts, "threshold": facts["threshold"] - 1}
    )
    change("large-threshold", "no samples have so many units", "verify", evidence={**facts, "threshold": 2**64})
    change("false-epsilon", "the promise is false", "verify", epsilon="0.9")
    change("unknown-key", "a key is unknown", "verify", comment="hello")
    lengths = json.loads(light)["windows"]
    more = base64.b64encode(base64.b64decode(lengths["lengths"]) + b"more").decode()
    change("more-bytes", "bytes follow what is compressed", "verify", windows={**lengths, "lengths": more})
    return contents, rows


def tables_changed(table: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield names and reasons of files, and what is changed in the table of a mechanism without heavy strings."""
    yield "another-schema", "the schema is another", {"schema": "mechdesign/windows/2"}
    yield "no-schema", "the schema is missing", {"schema": ...}
    for key in ("master", "seeds", "buckets", "form", "windows"):
        yield f"no-{key}", f"{key} is missing", {key: ...}
    yield "number-master", "the master word is not text", {"master": 7}
    yield "long-master", "the master word has more than 1,000 characters", {"master": "m" * 1_001}
    yield "seeds-0", "there are no seeds", {"seeds": 0}
    yield "seeds-fraction", "seeds are not whole", {"seeds": 5.5}
    yield "seeds-text", "seeds are not a number", {"seeds": "5"}
    yield "seeds-true", "seeds are not a number", {"seeds": True}
    yield "more-seeds", "the windows are not those of so many seeds", {"seeds": table["seeds"] + 1}
    yield "fewer-seeds", "the windows are not those of so many seeds", {"seeds": table["seeds"] - 1}
    yield "buckets-1", "there is one bucket", {"buckets": 1}
    yield "many-buckets", "there are more than 65,536 buckets", {"buckets": 65_537}
    yield "many-cells", "there are more than 2^27 seeds times buckets", {"seeds": 100_000, "buckets": 65_536}
    yield "another-form", "the form is another", {"form": "nfkc"}
    windows = table["windows"]
    counts, starts, lengths = (unpacked(windows[key]) for key in ("counts", "starts", "lengths"))
    changed: dict[str, tuple[str, dict[str, Any]]] = {
        "no-counts": ("counts are missing", {"counts": None}),
        "not-base64": ("starts are not base64", {"starts": "@@@@"}),
        "not-zlib": ("starts are not compressed", {"starts": "AAAA"}),
        "cut-zlib": ("what is compressed is cut off", {"lengths": windows["lengths"][:-8]}),
        "wrong-sum": ("the checksum of zlib is wrong", {"lengths": windows["lengths"][:-8] + "AAAAAAAA"}),
        "few-lengths": ("a length is missing", {"lengths": packed(lengths[:-1])}),
        "more-lengths": ("there is a length too many", {"lengths": packed([*lengths, 0])}),
        "many-lengths": ("there are a million lengths too many", {"lengths": packed(lengths + [0] * 10**6)}),
        "few-counts": ("a count is missing", {"counts": packed(counts[:-1])}),
        "start-outside": ("a start is no bucket", {"starts": packed([table["buckets"], *starts[1:]])}),
        "not-closed": ("windows do not go round the circle", {"lengths": packed([lengths[0] + 1, *lengths[1:]])}),
        "moved-cut": (
            "windows of two seeds do not close",
            {"counts": packed([counts[0] + 1, counts[1] - 1, *counts[2:]])},
        ),
        "long-window": ("a window is longer than the circle", {"lengths": packed([lengths[0] + 50, *lengths[1:]])}),
    }
    for name, (reason, parts) in changed.items():
        yield name, reason, {"windows": {**windows, **parts}}
    yield "text-windows", "the windows are not a table", {"windows": "none"}
    yield "text-heavy", "heavy is not a table", {"heavy": "none"}


def heavy_changed(heavy: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield names and reasons of files, and other tables of heavy strings."""
    strings, units = heavy["strings"], heavy["units"]
    yield "heavy-twice", "a heavy string occurs twice", {**heavy, "strings": [strings[1], *strings[1:]]}
    yield "heavy-empty", "a heavy string is empty", {**heavy, "strings": ["", *strings[1:]]}
    yield "heavy-number", "a heavy string is not text", {**heavy, "strings": [7, *strings[1:]]}
    yield "no-heavy", "there are no heavy strings", {**heavy, "strings": [], "units": []}
    yield "few-units", "units are missing", {**heavy, "units": units[1:]}
    yield "units-0", "a heavy string has no units", {**heavy, "units": [0, *units[1:]]}
    yield "units-large", "units are above 2^31", {**heavy, "units": [2**31 + 1, *units[1:]]}
    yield "units-fraction", "units are not whole", {**heavy, "units": [1.5, *units[1:]]}
    yield "light-0", "the light strings have no units", {**heavy, "light_units": 0}
    yield "light-large", "the light strings have more than 2^32 units", {**heavy, "light_units": 2**32 + 1}
    yield "one-layer-0", "no seed has one layer", {**heavy, "one_layer": 0}
    yield "one-layer-many", "more seeds than there are have one layer", {**heavy, "one_layer": 41}


# Strings and reports


def string_rows() -> list[dict[str, Any]]:
    """Return strings in UTF-8 with their normal forms, and strings to be refused."""
    old = unicodedata.ucd_3_2_0  # of all later versions too, so that any Python writes the same
    signs = [chr(k) for k in range(0x30000) if old.decomposition(chr(k))[:1] not in ("", "<") or old.combining(chr(k))]
    draw = make.words(77)
    mixed = ["x" + "".join(signs[next(draw) % len(signs)] for _ in range(12)) + "x" for _ in range(300)]
    rows: list[dict[str, Any]] = [
        {"form": form, "bytes": string.encode().hex(), "normal": normal(string, form).encode().hex()}
        for form in FORMS
        for string in (*NORMALIZED, *(mixed if form == "nfc" else mixed[:50]))
    ]
    for reason, given in REFUSED_STRINGS.items():
        content, times = given if isinstance(given, tuple) else (given, 1)
        rows.append({"form": "nfc", "bytes": content.hex(), "times": times, "reason": reason})
    return rows


def fresh_case(
    name: str, mechanism: WindowMechanism | PrefixWindows, seed: int, strings: Sequence[str] = STRINGS
) -> dict[str, Any]:
    """Return reports of strings one after the other, and the random bytes that they took; some words are refused."""
    drawn, words = [], make.words(seed)

    def source(size: int) -> bytes:
        before = len(drawn)
        for _ in range(size // 8):
            drawn.append(2**64 - 1 if len(drawn) % 7 == 3 and drawn[-1] != 2**64 - 1 else next(words))
        return b"".join(word.to_bytes(8, "little") for word in drawn[before:])

    draw = mechanism.drawing(source, None)
    codes = mechanism.alphabet().codes([normal(string, mechanism.form) for string in strings])
    found = [int(draw(codes[i : i + 1], None)[0]) for i in range(len(strings))]
    return {
        "mechanism": name,
        "bytes": b"".join(word.to_bytes(8, "little") for word in drawn).hex(),
        "strings": list(strings),
        "reports": [str(number + mechanism.outputs.first) for number in found],
    }


def keyed_case(
    name: str, mechanism: WindowMechanism | PrefixWindows, attribute: str, strings: Sequence[str] = STRINGS
) -> dict[str, Any]:
    """Return permanent reports."""
    ids = [make.IDS[k % len(make.IDS)] for k in range(len(strings))]
    key = md.Key(make.KEY).for_attribute(attribute) if attribute else md.Key(make.KEY)
    reports = mechanism.privatize(strings, key=key, ids=ids).tolist()
    facts = {"mechanism": name, "key": make.KEY.hex(), "attribute": attribute}
    return {**facts, "ids": ids, "strings": list(strings), "reports": [str(report) for report in reports]}


def stream(name: str, mechanism: WindowMechanism, draws: int, attribute: str | None) -> dict[str, Any]:
    """Return the hash of many reports; without an attribute they are fresh ones, by words of SplitMix64."""
    strings = [f"s{i * i % STREAM}" for i in range(draws)]
    case: dict[str, Any] = {"mechanism": name, "draws": draws}
    if attribute is None:
        wanted = 4 if mechanism.promise.floor else 3
        columns = iter(make.many_words(wanted * draws).reshape(-1, wanted).T)

        def source(size: int) -> bytes:
            column = next(columns)  # a word that is refused would ask for more, and fail
            if size != column.nbytes:
                raise ValueError(size)
            return bytes(column.astype("<u8").tobytes())

        drawn = mechanism.drawing(source, None)(fingerprints(strings), None) + mechanism.outputs.first
    else:
        key = md.Key(make.KEY).for_attribute(attribute) if attribute else md.Key(make.KEY)
        drawn = mechanism.privatize(strings, key=key, ids=[f"id {i}" for i in range(draws)])
        case |= {"key": make.KEY.hex(), "attribute": attribute}
    text = "".join(f"{report}\n" for report in drawn.tolist())
    return {**case, "sha256": hashlib.sha256(text.encode()).hexdigest()}


# Files


def small_files() -> dict[str, bytes]:
    """Return all files but the list of streams, by their paths in the kit."""
    made = designed()
    proved = ("light", "heavy", "capped")  # changes of these are to be refused, so they have their evidence
    files = {
        f"windows/{name}.json": window_files.to_json(mechanism, evidence=name in proved)
        for name, mechanism in made.items()
    }
    files["windows/capped-rewritten.json"] = make.other_writing(files["windows/capped.json"])
    prints = [(path, made[Path(path).stem.removesuffix("-rewritten")].fingerprint) for path in sorted(files)]
    contents, rows = refused(*(files[f"windows/{name}.json"] for name in proved))
    attributes = ["", "word", "été 🂡"]
    keyed = [keyed_case(f"windows/{name}.json", made[name], attributes[k % 3]) for k, name in enumerate(made)]
    fresh = [fresh_case(f"windows/{name}.json", made[name], 9 + k) for k, name in enumerate(made)]
    return {
        **files,
        **contents,
        "windows.json": make.listing([{"file": path, "fingerprint": each} for path, each in prints]),
        "windows-refused.json": make.listing(rows),
        "windows-fresh.json": make.listing(fresh, only_ascii=True),
        "windows-keyed.json": make.listing(keyed, only_ascii=True),
        "strings.json": make.listing(string_rows()),
    }


def short_streams() -> list[dict[str, Any]]:
    """Return the rows of a thousand draws each, fresh and permanent through every mechanism."""
    return [
        stream(f"windows/{name}.json", mechanism, make.SHORT, attribute)
        for name, mechanism in designed().items()
        for attribute in (None, "word")
    ]


def long_streams() -> list[dict[str, Any]]:
    """Return the rows of a million draws each."""
    made = designed()
    wanted = (("many", None), ("capped", None), ("heavy", ""))
    return [stream(f"windows/{name}.json", made[name], make.DRAWS, attribute) for name, attribute in wanted]
