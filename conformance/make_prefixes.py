"""What `make.py` writes for windows of prefixes, the mechanisms by whose reports frequent strings are found."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import mechdesign as md
from conformance import make, make_windows
from mechdesign.windows import PrefixWindows, SeparateCounts, design_prefix_windows
from mechdesign.windows.prefix_files import prefix_json
from mechdesign.windows.strings import normal

COUNTS = {
    "the": 900, "then": 400, "they": 300, "them": 200, "of": 800, "often": 90, "a b c": 70, "Straße": 60, "Straßen": 50,
    "日本語": 40, "日本": 30, "🂡🂢🂣🂤": 20, "🂡🂢": 15, "e\u0301te\u0301": 12, "th…": 9, "__proto__": 5, "x": 4,
}  # fmt: skip
STRINGS = (*COUNTS, "tha", "TH", "th", "strass", "STRASSE", " of ", "a  c", "\u0301a", "a\tb", "🂡🂢🂥", "x" * 200, "été")


def designed() -> dict[str, PrefixWindows]:
    """Return mechanisms of windows of prefixes by the names of their files; each is proved when it is made."""
    before = SeparateCounts({name: n + k for k, (name, n) in enumerate(COUNTS.items())}, "a sample of the year before")
    learnt: dict[str, Any] = {"delta": "1e-6", "seeds": 4, "buckets": 30}
    known: dict[str, Any] = {"known": True, "seeds": 3, "buckets": 20}
    designs = {
        "light": design_prefix_windows(COUNTS, "1.5", (2, 3, 100), **learnt),
        "capped": design_prefix_windows(COUNTS, 1, (1, 2, 4), cap=3, heavy=before, one_layer="0.5", **learnt),
        "folded": design_prefix_windows(COUNTS, 1, (3,), form="nfc-casefold", master="Wörter", **known),
    }
    return {name: design.mechanism for name, design in designs.items()}


def refused(capped: bytes) -> tuple[dict[str, bytes], list[dict[str, str]]]:
    """Return files to be refused, and the list of them; each is a small change of a mechanism."""
    contents: dict[str, bytes] = {}
    rows: list[dict[str, str]] = []
    levels = json.loads(capped)["levels"]
    folded = {**levels[1], "form": "nfc-casefold"}
    other = {key: value for key, value in levels[1].items() if key not in {"cap", "floor"}}
    changed: dict[str, tuple[str, dict[str, Any]]] = {
        "another-schema": ("the schema is another", {"schema": "mechdesign/prefix-windows/2"}),
        "another-form": ("the form is another", {"form": "nfkc"}),
        "no-form": ("the form is missing", {"form": ...}),
        "no-lengths": ("there are no lengths", {"lengths": [], "levels": []}),
        "length-0": ("a length is not from 1", {"lengths": [0, 2, 4]}),
        "length-long": ("a length is above 1,000", {"lengths": [1, 2, 1_001]}),
        "length-fraction": ("a length is not whole", {"lengths": [1, 2.5, 4]}),
        "length-text": ("a length is not a number", {"lengths": [1, "2", 4]}),
        "lengths-equal": ("the lengths do not rise", {"lengths": [1, 2, 2]}),
        "lengths-falling": ("the lengths do not rise", {"lengths": [2, 1, 4]}),
        "few-levels": ("there is not one level for each length", {"levels": levels[:2]}),
        "few-lengths": ("there is not one level for each length", {"lengths": [1, 2]}),
        "many-levels": ("there are more than 32 levels", {"lengths": [*range(1, 34)], "levels": [{}] * 33}),
        "no-levels": ("the levels are missing", {"levels": ...}),
        "level-of-another-form": ("the form of a level is not nfc", {"levels": [levels[0], folded, levels[2]]}),
        "level-without-cap": ("a level has another floor", {"levels": [levels[0], other, levels[2]]}),
        "level-text": ("a level is not a table", {"levels": [levels[0], "none", levels[2]]}),
        "level-refused": ("a level is to be refused", {"levels": [levels[0], {**levels[1], "seeds": 5}, levels[2]]}),
    }
    for name, (reason, changes) in changed.items():
        table = {key: value for key, value in {**json.loads(capped), **changes}.items() if value is not ...}
        contents[f"prefixes-refused/{name}.json"] = json.dumps(table).encode() + b"\n"
        rows.append({"file": f"prefixes-refused/{name}.json", "by": "consumer", "reason": reason})
    return contents, rows


def streams() -> list[dict[str, Any]]:
    """Return the hashes of a thousand reports, fresh and permanent, through every mechanism."""
    return [
        stream(f"prefixes/{name}.json", mechanism, attribute)
        for name, mechanism in designed().items()
        for attribute in (None, "word")
    ]


def stream(name: str, mechanism: PrefixWindows, attribute: str | None) -> dict[str, Any]:
    """Return the hash of many reports; without an attribute they are fresh ones, by words of SplitMix64."""
    strings = [STRINGS[i % len(STRINGS)] for i in range(make.SHORT)]
    case: dict[str, Any] = {"mechanism": name, "draws": make.SHORT}
    if attribute is None:
        words = make.words()
        draw = mechanism.drawing(
            lambda size: b"".join(next(words).to_bytes(8, "little") for _ in range(size // 8)), None
        )
        codes = mechanism.alphabet().codes([normal(string, mechanism.form) for string in strings])
        reports = [int(draw(codes[i : i + 1], None)[0]) + mechanism.outputs.first for i in range(make.SHORT)]
    else:
        key = md.Key(make.KEY).for_attribute(attribute)
        reports = mechanism.privatize(strings, key=key, ids=[f"id {i}" for i in range(make.SHORT)]).tolist()
        case |= {"key": make.KEY.hex(), "attribute": attribute}
    text = "".join(f"{report}\n" for report in reports)
    return {**case, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def small_files() -> dict[str, bytes]:
    """Return all files by their paths in the kit."""
    made = designed()
    files = {
        f"prefixes/{name}.json": prefix_json(mechanism, evidence=name == "capped") for name, mechanism in made.items()
    }
    contents, rows = refused(files["prefixes/capped.json"])
    cases = [(f"prefixes/{name}.json", each, k) for k, (name, each) in enumerate(made.items())]
    attributes = ["", "word", "été 🂡"]
    fresh = [make_windows.fresh_case(path, each, 60 + k, STRINGS) for path, each, k in cases]
    keyed = [make_windows.keyed_case(path, each, attributes[k], STRINGS) for path, each, k in cases]
    return {
        **files,
        **contents,
        "prefixes.json": make.listing([{"file": path, "fingerprint": each.fingerprint} for path, each, _ in cases]),
        "prefixes-refused.json": make.listing(rows),
        "prefixes-fresh.json": make.listing(fresh, only_ascii=True),
        "prefixes-keyed.json": make.listing(keyed, only_ascii=True),
    }
