"""What `make.py` writes for views of whole records."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import mechdesign as md
from conformance import make
from mechdesign.records import RecordMechanism, RecordPart
from mechdesign.records.number_bins import NumberBins
from mechdesign.records.record_mechanism_files import record_json
from mechdesign.records.record_views import join

TEXTS = (
    "-1", "0", "17.999", "18", "+18.0", "1.8e1", "64", ".5", "5.", "1e400", "-1e400", "0.1", "0.30000000000000004",
    "", "?", "1_000", " 18", "18 ", "0x10", "nan", "inf", "１８", "1e", "--1", "1,5",
)  # fmt: skip
EDGES = ((18.0, 65.0), (-0.5, 0.1, 0.3), (0.1 + 0.2, 1e16, 1e22), (0.0,))


def mechanism_of(labels: tuple[str, ...], size: int, bits: int, seed: int) -> md.Mechanism:
    """Return a mechanism of some labels at their uniform prior, where no lift is above their number."""
    rows = np.array(make.cut_rows(len(labels), size, bits, seed), dtype=np.int64)
    known = md.L1Ball([f"1/{len(labels)}"] * len(labels), 0, labels)
    return md.Mechanism(rows, bits, md.Guarantee(f"log({len(labels)})", known))


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
    one = [RecordPart("view", ("sex", "level"), 1 << 32, mechanism_of(pairs, 7, 48, 6))]
    many = [
        RecordPart(f"a{k}", (f"a{k}",), weight, mechanism_of(("0", "1"), 3, 10, 7 + k))
        for k, weight in enumerate((1, (1 << 51) - 2, 1, 1 << 51))
    ]
    return {
        "mixed": RecordMechanism(parts, weight_bits=3, bins={"age": age}),
        "one-view": RecordMechanism(one),
        "rare-views": RecordMechanism(many, weight_bits=52),
    }


# Files to be refused


def refused(mixed: bytes) -> tuple[dict[str, bytes], list[dict[str, str]]]:
    """Return files to be refused, and the list of them; each is a small change of a mechanism."""
    contents: dict[str, bytes] = {}
    rows: list[dict[str, str]] = []

    def add(name: str, reason: str, content: bytes, by: str = "consumer") -> None:
        path = f"records-refused/{name}.json"
        contents[path] = content
        rows.append({"file": path, "by": by, "reason": reason})

    def change(title: str, reason: str, at: int | None = None, by: str = "consumer", **changes: Any) -> None:
        table = json.loads(mixed)
        (table if at is None else table["parts"][at]).update(changes)
        kept = {key: value for key, value in table.items() if value is not ...}
        add(title, reason, json.dumps(kept, ensure_ascii=False).encode() + b"\n", by)

    add("not-json", "not JSON", mixed[:-4])
    change("another-schema", "the schema is another", schema="mechdesign/records/2")
    change("no-parts", "there are no views", parts=[])
    change("weights-low", "the weights do not sum to 2^weight_bits", 0, weight=4)
    change("weights-high", "the weights do not sum to 2^weight_bits", 0, weight=6)
    change("other-bits", "the weights do not sum to 2^weight_bits", weight_bits=4)
    change("bits-53", "weight_bits is above 52", weight_bits=53)
    change("weight-fraction", "a weight is not whole", 0, weight=5.5)
    change("name-twice", "two views have one name", 2, name="sex")
    change("name-empty", "a view has no name", 2, name="")
    change("attributes-twice", "two views show the same attributes", 0, attributes=["age"])
    change("attribute-twice", "an attribute occurs twice in a view", 1, attributes=["sex", "sex"])
    change("no-attributes", "a view shows nothing", 0, attributes=[])
    change("more-attributes", "labels are not of so many attributes", 1, attributes=["level", "sex", "age"])
    change("edges-falling", "edges of bins do not increase", bins={"age": [65, 18]})
    change("edges-other", "no view has the labels of the bins", bins={"age": [18, 66]})
    change("bins-unknown", "bins are of no attribute", bins={"age": [18, 65], "weight": [1]})
    ambiguous = json.loads(mixed)["parts"][1]["mechanism"]
    ambiguous["inputs"][0] = "a & & f"
    change("label-of-two", "a label can be read in two ways", 1, mechanism=ambiguous)
    empty = json.loads(mixed)["parts"][1]["mechanism"]
    empty["inputs"][0] = "a &  f"
    change("label-part", "a part of a label begins with white space", 1, mechanism=empty)
    false = json.loads(mixed)["parts"][0]["mechanism"]
    false["numerators"][0][0] += 1
    change("false-row", "a row of a view does not sum to 2^bits", 0, mechanism=false)
    change("false-epsilon", "epsilon is below that of a view", by="verify", epsilon="0.1")
    change("false-delta", "a delta is stated that no view has", by="verify", delta="1e-9")
    change("unknown-key", "a key is unknown", by="verify", comment="hello")
    return contents, rows


# Records and reports


def records_of(mechanism: RecordMechanism, count: int) -> list[dict[str, str]]:
    """Return records that every view knows, in which all labels occur."""
    numbers = ("17", "18", "64.9", "65", "?")
    found = []
    for k in range(4 * count):
        record = {
            name: numbers[k % len(numbers)] if name in mechanism.bins else labels[(k // (place + 1)) % len(labels)]
            for place, (name, labels) in enumerate(mechanism.alphabets.items())
        }
        if record.get("level") != "__proto__" or record["sex"] == "f" or len(mechanism.parts) == 1:
            found.append(record)
    return found[:count]


def columns_of(mechanism: RecordMechanism, records: list[dict[str, str]]) -> dict[str, list[str]]:
    """Return the columns of records."""
    return {name: [record[name] for record in records] for name in mechanism.attributes}


def fresh_case(name: str, mechanism: RecordMechanism, seed: int) -> dict[str, Any]:
    """Return two words for each record, some at the edges of the views, and the views and reports of them."""
    unused, more = 64 - mechanism.weight_bits, make.words(seed)
    edges = np.cumsum([0, *(part.weight for part in mechanism.parts)], dtype=object).tolist()
    drawn = [edge << unused for edge in edges[:-1]] + [(edge << unused) - 1 for edge in edges[1:]]
    drawn += [next(more) for _ in range(40)]
    records, views, reports, used = records_of(mechanism, len(drawn)), [], [], b""
    for record, word in zip(records, drawn, strict=True):
        place = sum(word >> unused >= edge for edge in edges[1:])
        part, second = mechanism.parts[place], next(more)
        codes = mechanism.alphabet().codes_of_columns(arrow(mechanism, [record]))
        value = int(mechanism.tables[place].values(codes)[0])
        views.append(part.name)
        reports += make.at(part.mechanism, [value], [second])
        used += word.to_bytes(8, "little") + second.to_bytes(8, "little")
    facts = {"mechanism": name, "bytes": used.hex(), "records": records, "views": views, "reports": reports}
    return {**facts, "refused": strangers(mechanism, records[0])}


def arrow(mechanism: RecordMechanism, records: list[dict[str, str]]) -> list[Any]:
    """Return the columns of records as pyarrow arrays."""
    import pyarrow as pa

    return [pa.array(column, pa.string()) for column in columns_of(mechanism, records).values()]


def strangers(mechanism: RecordMechanism, record: dict[str, str]) -> list[dict[str, str]]:
    """Return records that must be refused, whichever view is drawn."""
    found = [{**record, name: value} for name in record for value in ("", "nobody", "toString")]
    if len(mechanism.parts) == 3:
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


# Files


def small_files() -> dict[str, bytes]:
    """Return all files by their paths in the kit."""
    made = designed()
    files = {f"records/{name}.json": record_json(mechanism) for name, mechanism in made.items()}
    contents, rows = refused(files["records/mixed.json"])
    attributes = ["", "survey", "été 🂡"]
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
