"""What `make.py` writes for views of whole records."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

import mechdesign as md
from conformance import make, make_windows
from mechdesign.records import RecordMechanism, RecordPart
from mechdesign.records.number_bins import NumberBins, is_number
from mechdesign.records.record_mechanism_files import record_json
from mechdesign.records.record_views import MERGED, join

TEXTS = (
    "-1", "0", "17.999", "18", "+18.0", "1.8e1", "64", ".5", "5.", "1e400", "-1e400", "-1.49e-300", "1e-324",
    "0.00009990", "1.3E+300", "9999999999999998", "0.1", "0.30000000000000004", "", "?", "1_000", " 18", "18 ", "0x10",
    "nan", "inf", "１８", "1e", "--1", "1,5",
)  # fmt: skip
EDGES = (
    (18.0, 65.0), (-0.5, 0.1, 0.3), (0.1 + 0.2, 1e16, 1e22), (0.0,), (-1.5e-300, 5e-324, 0.0000999, 0.0001, 1.25e300),
    (-123456789012345680.0, 9999999999999998.0, 1.7976931348623157e308),
    (0.3125, 723603357349057.25, 1059417961032637.25),
)  # fmt: skip


def mechanism_of(labels: tuple[str, ...], size: int, bits: int, seed: int) -> md.Mechanism:
    """Return a mechanism of some labels at their uniform prior, where no lift is above their number."""
    rows = np.array(make.cut_rows(len(labels), size, bits, seed), dtype=np.int64)
    known = md.L1Ball([f"1/{len(labels)}"] * len(labels), 0, labels)
    return md.Mechanism(rows, bits, md.Guarantee(f"log({len(labels)})", known))


def capped(labels: tuple[str, ...]) -> md.Mechanism:
    """Return a mechanism of two outputs, whose probabilities given any two labels have at most the ratio 9/7."""
    rows = np.array([[8 + (-1) ** (i + j) for j in range(2)] for i in range(len(labels))])
    known = md.L1Ball([f"1/{len(labels)}"] * len(labels), 0, labels)
    return md.Mechanism(rows, 4, md.Guarantee("log(9/7)", known, cap="log(9/7)"))


def several_bins() -> RecordMechanism:
    """Return a mechanism whose attributes with bins have another order by code points than by halves of pairs."""
    bins = {name: NumberBins(EDGES[k]) for name, k in (("\ufb00", 4), ("🂡", 2), ("10", 5), ("9", 3))}
    alphabets = {name: (*each.labels, "?") for name, each in bins.items()}
    parts = [RecordPart(f"v{name}", (name,), 1, capped(labels)) for name, labels in alphabets.items()]
    pair = join((one, other) for one in alphabets["9"] for other in alphabets["\ufb00"])
    parts.append(RecordPart("pair", ("9", "\ufb00"), 4, capped(pair)))
    return RecordMechanism(parts, weight_bits=3, bins=bins)


def with_strings() -> RecordMechanism:
    """Return a mechanism two views of which are of any strings, of both normal forms, one with a floor."""
    windows = make_windows.designed()
    parts = [
        RecordPart("word", ("word",), 3, windows["capped"]),
        RecordPart("sex", ("sex",), 1, mechanism_of(("f", "m"), 3, 2, 3)),
        RecordPart("ville 🂡", ("town",), 4, windows["folded"]),
    ]
    return RecordMechanism(parts, weight_bits=3)


def with_merged() -> RecordMechanism:
    """Return a mechanism that merges combinations, also of numbers in bins."""
    age = NumberBins(EDGES[0])
    seen = [("never", "none"), ("never", "__proto__"), ("日本語", "none"), ("daily", "__proto__"), (MERGED, MERGED)]
    old = [("in", age.labels[0]), ("in", age.labels[2]), ("else", "else too"), ("out", age.labels[1]), ("out", "?")]
    parts = [
        RecordPart("smokes+sports", ("smokes", "sports"), 3, mechanism_of(join(seen), 4, 20, 8), join(seen)[-1]),
        RecordPart("town", ("town",), 1, make_windows.designed()["light"]),
        RecordPart("home+age", ("home", "age"), 4, mechanism_of(join(old), 5, 52, 9), join(old)[2]),
    ]
    return RecordMechanism(parts, weight_bits=3, bins={"age": age})


def about_a_secret() -> RecordMechanism:
    """Return a mechanism whose promise is about one attribute alone: one view keeps it, the other promises more."""
    counts = {"f": {"low": 1, "middle": 2, "high": 3}, "m": {"low": 3, "middle": 2, "high": 1}}
    about = md.SecretPromise(counts, secret="sex", useful="level", known=True)
    rows = np.array(make.cut_rows(3, 4, 10, 12), dtype=np.int64)
    made = md.Mechanism(rows, 10, md.Guarantee("log(2)", about))
    parts = [
        RecordPart("level", ("level",), 5, made),
        RecordPart("sex", ("sex",), 3, mechanism_of(("f", "m"), 3, 2, 3)),
    ]
    return RecordMechanism(parts, weight_bits=3, secret="sex")


def designed() -> dict[str, RecordMechanism]:
    """Return mechanisms of whole records by the names of their files; each is proved when it is made."""
    sexes, levels = ("f", "m"), ("日本語", '"low", or so', "__proto__")
    pairs = join((sex, level) for sex in sexes for level in levels)
    age = NumberBins(EDGES[0])
    parts = [
        RecordPart("sex", ("sex",), 5, mechanism_of(sexes, 3, 2, 3)),
        RecordPart("level+sex", ("level", "sex"), 2, mechanism_of(tuple(
            join((level, sex) for level in levels for sex in sexes if (level, sex) != ("__proto__", "m"))
        ), 4, 20, 4)),
        RecordPart("années 🂡", ("age",), 1, mechanism_of((*age.labels, "?"), 5, 52, 5)),
    ]  # fmt: skip
    one = [RecordPart("view", ("sex", "level"), 1 << 52, mechanism_of(pairs, 7, 48, 6))]
    many = [
        RecordPart(f"a{k}", (f"a{k}",), weight, mechanism_of(("0", "1"), 3, 10, 7 + k))
        for k, weight in enumerate((1, (1 << 51) - 2, 1, 1 << 51))
    ]
    return {
        "mixed": RecordMechanism(parts, weight_bits=3, bins={"age": age}),
        "one-view": RecordMechanism(one, weight_bits=52),
        "rare-views": RecordMechanism(many, weight_bits=52),
        "bins": several_bins(),
        "strings": with_strings(),
        "merged": with_merged(),
        "secret": about_a_secret(),
    }


# Files to be refused


def refused(
    mixed: bytes, strings: bytes, merged: bytes, secret: bytes
) -> tuple[dict[str, bytes], list[dict[str, str]]]:
    """Return files to be refused, and the list of them; each is a small change of a mechanism."""
    contents: dict[str, bytes] = {}
    rows: list[dict[str, str]] = []

    def add(name: str, reason: str, content: bytes, by: str = "consumer") -> None:
        path = f"records-refused/{name}.json"
        contents[path] = content
        rows.append({"file": path, "by": by, "reason": reason})

    def change(
        title: str, reason: str, at: int | None = None, by: str = "consumer", of: bytes = mixed, **changes: Any
    ) -> None:
        table = json.loads(of)
        changed = table if at is None else table["parts"][at]
        changed.update(changes)
        for key in [key for key, value in changed.items() if value is ...]:
            del changed[key]
        add(title, reason, json.dumps(table, ensure_ascii=False).encode() + b"\n", by)

    add("not-json", "not JSON", mixed[:-4])
    for title, reason, changes in wholes_changed():
        change(title, reason, **changes)
    for title, reason, at, changes in views_changed():
        change(title, reason, at, **changes)
    for title, reason, at, changes in merging_changed(json.loads(merged)["parts"]):
        change(title, reason, at, of=merged, **changes)
    for title, reason, at, changes in strings_changed(json.loads(strings)["parts"]):
        change(title, reason, at, of=strings, **changes)
    change("bins-of-strings", "there are bins of an attribute of any strings", of=strings, bins={"town": [1]})
    add("edges-infinite", "an edge is not finite", mixed.replace(b"65.0", b"1e400", 1))
    mechanisms = [part["mechanism"] for part in json.loads(mixed)["parts"]]
    for title, (reason, label) in COMBINATIONS.items():
        change(title, reason, 1, mechanism={**mechanisms[1], "inputs": [label, *mechanisms[1]["inputs"][1:]]})
    (first, *more), *others = mechanisms[0]["numerators"]
    false = {**mechanisms[0], "numerators": [[first + 1, *more], *others]}
    change("false-row", "a row of a view does not sum to 2^bits", 0, mechanism=false)
    above = {**mechanisms[0], "schema": make.SECOND, "guarantee": {**mechanisms[0]["guarantee"], "cap": "1"}}
    change("false-cap", "the cap of a view is false", 0, by="cap", mechanism=above)
    change("false-epsilon", "epsilon is below that of a view", by="verify", epsilon="0.1")
    change("false-delta", "a delta is stated that no view has", by="verify", delta="1e-9")
    change("unknown-key", "a key is unknown", by="verify", comment="hello")
    windows = json.loads(strings)["parts"][0]["mechanism"]
    change(
        "false-windows", "windows promise what is false", 0, "verify", strings, mechanism={**windows, "epsilon": "0.9"}
    )
    change(
        "secret-not-stated", "a view promises about a secret, and the file does not", by="verify", of=secret, secret=...
    )
    change("secret-of-none", "a secret is stated that no view has", by="verify", secret="sex")
    return contents, rows


COMBINATIONS = {
    "label-of-two": ("a label can be read in two ways", "a & & f"),
    "label-of-and": ("a label can be read in two ways", "& & f"),
    "label-and-before": ("a label can be read in two ways", "& a & f"),
    "label-and-after": ("a label can be read in two ways", "f & a &"),
    "label-part": ("a part of a label begins with white space", "a &  f"),
}


def wholes_changed() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield names and reasons of files, and what is changed in the table of a mechanism."""
    yield "another-schema", "the schema is another", {"schema": "mechdesign/records/2"}
    yield "no-parts", "there are no views", {"parts": []}
    yield "a-text-for-a-view", "a view is not a table", {"parts": ["sex"]}
    yield "other-bits", "the weights do not sum to 2^weight_bits", {"weight_bits": 4}
    yield "bits-53", "weight_bits is above 52", {"weight_bits": 53}
    yield "bits-text", "weight_bits is not a number", {"weight_bits": "3"}
    yield "no-weight-bits", "weight_bits is missing", {"weight_bits": ...}
    yield "edges-falling", "edges of bins do not increase", {"bins": {"age": [65, 18]}}
    yield "edges-equal", "edges of bins do not increase", {"bins": {"age": [65, 65]}}
    yield "edges-other", "no view has the labels of the bins", {"bins": {"age": [18, 66]}}
    yield "edges-text", "an edge is not a number", {"bins": {"age": ["18", 65]}}
    yield "no-edges", "there are no edges", {"bins": {"age": []}}
    yield "bins-unknown", "bins are of no attribute", {"bins": {"age": [18, 65], "weight": [1]}}
    yield "bins-a-list", "the bins are not a table", {"bins": [18, 65]}


def views_changed() -> Iterator[tuple[str, str, int, dict[str, Any]]]:
    """Yield names and reasons of files, the index of a view, and what is changed in its table."""
    yield "weights-low", "the weights do not sum to 2^weight_bits", 0, {"weight": 4}
    yield "weights-high", "the weights do not sum to 2^weight_bits", 0, {"weight": 6}
    yield "weight-fraction", "a weight is not whole", 0, {"weight": 5.5}
    yield "weight-0", "a weight is not from 1", 0, {"weight": 0}
    yield "weight-negative", "a weight is not from 1", 0, {"weight": -1}
    yield "no-weight", "a weight is missing", 0, {"weight": ...}
    yield "name-twice", "two views have one name", 2, {"name": "sex"}
    yield "name-empty", "a view has no name", 2, {"name": ""}
    yield "name-number", "the name of a view is not text", 0, {"name": 7}
    yield "name-space", "white space at the end of a name", 0, {"name": "sex "}
    yield "attributes-twice", "two views show the same attributes", 0, {"attributes": ["age"]}
    yield "attribute-twice", "an attribute occurs twice in a view", 1, {"attributes": ["sex", "sex"]}
    yield "attribute-control", "a control character in an attribute", 0, {"attributes": ["s\tex"]}
    yield "attributes-text", "the attributes are not a list", 0, {"attributes": "sex"}
    yield "no-attributes", "a view shows nothing", 0, {"attributes": []}
    yield "more-attributes", "labels are not of so many attributes", 1, {"attributes": ["level", "sex", "age"]}
    yield "no-mechanism", "a view has no mechanism", 0, {"mechanism": ...}


def merging_changed(parts: list[dict[str, Any]]) -> Iterator[tuple[str, str, int, dict[str, Any]]]:
    """Yield changes of views of a file that merges combinations, as `views_changed` does."""
    yield "merged-no-input", "the merged combination is no input", 0, {"merged": "never & daily"}
    yield "merged-part", "the merged combination is a part of an input", 0, {"merged": "never"}
    yield "merged-seen", "the merged combination shares a label with another input", 0, {"merged": "never & none"}
    yield "merged-number", "the merged combination is not text", 0, {"merged": 4}
    yield "merged-list", "the merged combination is not text", 0, {"merged": [parts[0]["merged"]]}
    yield "merged-empty", "the merged combination is empty", 0, {"merged": ""}
    one = {"attributes": ["home"], "merged": "else & else too"}
    yield "merged-of-one", "a view of one attribute merges combinations", 2, one
    yield "merged-shared", "a view that merges combinations shares an attribute", 0, {"attributes": ["smokes", "town"]}
    yield "merged-strings", "a view of windows merges combinations", 1, {"merged": "s1"}


def strings_changed(parts: list[dict[str, Any]]) -> Iterator[tuple[str, str, int, dict[str, Any]]]:
    """Yield changes of views of a file with views of windows, as `views_changed` does."""
    windows, matrix = parts[0]["mechanism"], parts[1]["mechanism"]
    pairs = {**matrix, "inputs": ["f & a", "m & b"]}
    yield "strings-two", "a view of windows shows two attributes", 0, {"attributes": ["word", "place"]}
    shared = {"attributes": ["sex", "word"], "mechanism": pairs}
    yield "strings-shared", "another view shows the attribute of any strings", 1, shared
    yield "strings-0", "the windows of a view have no seeds", 0, {"mechanism": {**windows, "seeds": 0}}
    yield "strings-form", "the form of windows is another", 2, {"mechanism": {**parts[2]["mechanism"], "form": "nfkc"}}
    later = {**windows, "schema": "mechdesign/windows/2"}
    yield "strings-schema", "the schema of windows is another", 0, {"mechanism": later}
    prefixes = {"schema": "mechdesign/prefix-windows/1", "form": "nfc", "lengths": [1], "levels": [windows]}
    yield "strings-prefixes", "a view is of windows of prefixes", 0, {"mechanism": prefixes}


# Records and reports


def records_of(mechanism: RecordMechanism, count: int) -> list[dict[str, str]]:
    """Return records that every view knows, in which all labels occur."""
    numbers = ("17", "18", "64.9", "65", "?")
    numbers += tuple(text for text in TEXTS if is_number(text)) if len(mechanism.bins) > 1 else ()
    found = []
    for k in range(4 * count):
        record = {}
        for place, name in enumerate(mechanism.attributes):
            known = numbers if name in mechanism.bins else mechanism.alphabets.get(name, make_windows.STRINGS)
            is_label = name in mechanism.alphabets and name not in mechanism.bins
            record[name] = known[(k // (place + 1) if is_label else k + place) % len(known)]
        if record.get("level") != "__proto__" or record["sex"] == "f" or len(mechanism.parts) == 1:
            found.append(record)
    return found[:count]


def columns_of(mechanism: RecordMechanism, records: list[dict[str, str]]) -> dict[str, list[str]]:
    """Return the columns of records."""
    return {name: [record[name] for record in records] for name in mechanism.attributes}


def fresh_case(name: str, mechanism: RecordMechanism, seed: int) -> dict[str, Any]:
    """Return the words for each record, some at the edges of the views, and the views and reports of them."""
    unused, more = 64 - mechanism.weight_bits, make.words(seed)
    edges = np.cumsum([0, *(part.weight for part in mechanism.parts)], dtype=object).tolist()
    firsts = [edge << unused for edge in edges[:-1]] + [(edge << unused) - 1 for edge in edges[1:]]
    firsts += [next(more) for _ in range(40)]
    records, used, both = records_of(mechanism, len(firsts)), [], []
    for record, first in zip(records, firsts, strict=True):
        used.append(first)
        both.append(drawn(mechanism, record, first, noted(more, used)))
    given = b"".join(word.to_bytes(8, "little") for word in used)
    facts = {"mechanism": name, "bytes": given.hex(), "records": records}
    views, reports = map(list, zip(*both, strict=True))
    return {**facts, "views": views, "reports": reports, "refused": strangers(mechanism, records[0])}


def noted(more: Iterator[int], used: list[int]) -> Iterator[int]:
    """Yield words, and keep them; of windows, which ask for several, every seventh or so is one that may be refused."""
    before = len(used)
    while True:
        odd = len(used) > before and len(used) % 7 == 3 and used[-1] != 2**64 - 1
        used.append(2**64 - 1 if odd else next(more))
        yield used[-1]


def drawn(mechanism: RecordMechanism, record: dict[str, str], first: int, words: Iterator[int]) -> tuple[str, str]:
    """Return the view that one word draws of a record, and its report by the words after it."""
    place = int(
        np.searchsorted(np.cumsum([p.weight for p in mechanism.parts]), first >> 64 - mechanism.weight_bits, "right")
    )
    codes = mechanism.alphabet().codes_of_columns(arrow(mechanism, [record]))
    values = mechanism.tables[place].values(codes)
    part = mechanism.parts[place]
    if not part.is_open:
        return part.name, make.at(part.mechanism, [int(values[0])], [next(words)])[0]
    found = part.mechanism.drawing(lambda _: next(words).to_bytes(8, "little"), None)(values, None)
    return part.name, part.mechanism.outputs[int(found[0])]


def arrow(mechanism: RecordMechanism, records: list[dict[str, str]]) -> list[Any]:
    """Return the columns of records as pyarrow arrays."""
    import pyarrow as pa

    return [pa.array(column, pa.string()) for column in columns_of(mechanism, records).values()]


def strangers(mechanism: RecordMechanism, record: dict[str, str]) -> list[dict[str, str]]:
    """Return records that must be refused, whichever view is drawn."""
    found = [
        {**record, name: value}
        for name in record
        for value in (("", "nobody", "toString") if name in mechanism.alphabets else ("", " \u3000"))
    ]
    if "level" in record and len(mechanism.parts) == 3:
        found.append({**record, "sex": "m", "level": "__proto__"})
    return found


def keyed_case(name: str, mechanism: RecordMechanism, attribute: str) -> dict[str, Any]:
    """Return permanent views and reports."""
    key = md.Key(make.KEY).for_attribute(attribute) if attribute else md.Key(make.KEY)
    records = records_of(mechanism, len(make.IDS))
    found = mechanism.privatize(columns_of(mechanism, records), key=key, ids=list(make.IDS))
    facts = {"mechanism": name, "key": make.KEY.hex(), "attribute": attribute, "ids": list(make.IDS)}
    return {**facts, "records": records, "views": found["view"], "reports": found["report"]}


def bins_rows() -> list[dict[str, Any]]:
    """Return edges, the names of their bins, and what becomes of texts: a bin, or the text itself."""
    import pyarrow as pa

    rows = []
    for edges in EDGES:
        bins = NumberBins(edges)
        labelled = bins.labelled(pa.array(TEXTS)).to_pylist()
        rows.append({"edges": list(edges), "labels": list(bins.labels), "texts": list(TEXTS), "labelled": labelled})
    return rows


def streams() -> list[dict[str, Any]]:
    """Return the hashes of a thousand reports, fresh and permanent, through every mechanism."""
    return [case for name, mechanism in designed().items() for case in two_streams(f"records/{name}.json", mechanism)]


def two_streams(name: str, mechanism: RecordMechanism) -> list[dict[str, Any]]:
    """Return the hash of a thousand fresh reports, by words of SplitMix64, and of a thousand permanent ones."""
    given = fresh_case(name, mechanism, 0)["records"]
    records = [given[i % len(given)] for i in range(make.SHORT)]
    words = make.words()
    fresh = [drawn(mechanism, record, next(words), words) for record in records]
    ids = [f"id {i}" for i in range(make.SHORT)]
    found = mechanism.privatize(columns_of(mechanism, records), key=md.Key(make.KEY), ids=ids)
    keyed = zip(found["view"], found["report"], strict=True)
    case = {"mechanism": name, "draws": make.SHORT}
    return [
        {**case, **key, "sha256": hashlib.sha256("".join(f"{a}\t{b}\n" for a, b in pairs).encode()).hexdigest()}
        for key, pairs in (({}, fresh), ({"key": make.KEY.hex(), "attribute": ""}, keyed))
    ]


# Files


def small_files() -> dict[str, bytes]:
    """Return all files by their paths in the kit."""
    made = designed()
    files = {f"records/{name}.json": record_json(mechanism) for name, mechanism in made.items()}
    contents, rows = refused(*(files[f"records/{name}.json"] for name in ("mixed", "strings", "merged", "secret")))
    attributes = ["", "survey", "été 🂡", "9", "word", "", "level"]
    keyed = [keyed_case(f"records/{name}.json", made[name], attributes[k]) for k, name in enumerate(made)]
    fresh = [fresh_case(f"records/{name}.json", made[name], 20 + k) for k, name in enumerate(made)]
    prints = [{"file": f"records/{name}.json", "fingerprint": made[name].fingerprint} for name in made]
    return {
        **files,
        **contents,
        "records.json": make.listing(prints),
        "records-refused.json": make.listing(rows),
        "records-fresh.json": make.listing(fresh, only_ascii=True),
        "records-keyed.json": make.listing(keyed, only_ascii=True),
        "records-bins.json": make.listing(bins_rows(), only_ascii=True),
    }
