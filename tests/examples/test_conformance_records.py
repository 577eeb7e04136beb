"""The views of the conformance kit are what its page says: here by a consumer of the standard library alone."""

import bisect
import hashlib
import itertools
import json
import re
from pathlib import Path

import pytest

import mechdesign as md
from conformance import make
from mechdesign.errors import GuaranteeError, InputError
from mechdesign.records import RecordMechanism

KIT = Path(make.__file__).parent
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def rows(name):
    return json.loads((KIT / name).read_text(encoding="utf-8"))


def text(value):
    return len(value.encode()).to_bytes(8, "little") + value.encode()


class Consumer:
    """Reads a file that the package wrote, and reports as the page says."""

    def __init__(self, file):
        self.table = rows(file)
        self.parts = self.table["parts"]
        self.sums = list(itertools.accumulate(part["weight"] for part in self.parts))
        assert self.sums[-1] == 2 ** self.table["weight_bits"]

    def symbols(self, record):
        """Return the symbol of each view."""
        record = dict(record)
        for name, edges in self.table.get("bins", {}).items():
            if NUMBER.fullmatch(record[name]):
                bins = [label for label in self.labels(name) if " or more" in label or "under " in label]
                order = sorted(bins, key=lambda label: "under" not in label[:5] and float(label.split()[0]))
                record[name] = order[bisect.bisect_right(edges, float(record[name]))]
        found = [" & ".join(record[name] for name in part["attributes"]) for part in self.parts]
        for part, symbol in zip(self.parts, found, strict=True):
            if symbol not in part["mechanism"]["inputs"]:
                raise LookupError(part["name"])
        return found

    def labels(self, name):
        return next(part["mechanism"]["inputs"] for part in self.parts if part["attributes"] == [name])

    def report(self, record, word_of_view, word_of_report):
        symbols = self.symbols(record)
        place = bisect.bisect_right(self.sums, word_of_view >> 64 - self.table["weight_bits"])
        part = self.parts[place]
        own = part["mechanism"]
        row = list(itertools.accumulate(own["numerators"][own["inputs"].index(symbols[place])]))
        number = word_of_report(part, symbols[place]) >> 64 - own["bits"]
        return part["name"], own["outputs"][bisect.bisect_right(row, number)]


def hashed(secret, person, *parts):
    found = hashlib.blake2b(b"".join(parts), key=secret, digest_size=8, person=person).digest()
    return int.from_bytes(found, "little")


def test_the_fingerprints_are_those_of_the_files():
    for row in rows("records.json"):
        made = RecordMechanism.load(KIT / row["file"])
        assert made.fingerprint == row["fingerprint"]


@pytest.mark.parametrize("row", rows("records-fresh.json"), ids=lambda row: Path(row["mechanism"]).stem)
def test_fresh_reports_follow_from_the_bytes(row):
    consumer, given = Consumer(row["mechanism"]), bytes.fromhex(row["bytes"])
    words = [int.from_bytes(given[k : k + 8], "little") for k in range(0, len(given), 8)]
    assert len(words) == 2 * len(row["records"])
    pairs = zip(row["records"], words[::2], words[1::2], strict=True)
    found = [consumer.report(record, first, lambda *_, word=second: word) for record, first, second in pairs]
    assert found == list(zip(row["views"], row["reports"], strict=True))
    made = RecordMechanism.load(KIT / row["mechanism"])
    assert set(row["views"]) == {part.name for part in made.parts}
    for record in row["refused"]:
        with pytest.raises(LookupError):
            consumer.symbols(record)
        with pytest.raises(InputError):
            made.privatize({name: [value] for name, value in record.items()})


@pytest.mark.parametrize("row", rows("records-keyed.json"), ids=lambda row: Path(row["mechanism"]).stem)
def test_permanent_reports_are_hashes_of_key_file_view_value_and_id(row):
    consumer, secret = Consumer(row["mechanism"]), bytes.fromhex(row["key"])
    prints = {entry["file"]: bytes.fromhex(entry["fingerprint"]) for entry in rows("records.json")}
    made = RecordMechanism.load(KIT / row["mechanism"])
    attribute = text(row["attribute"])
    for place, (name, record) in enumerate(zip(row["ids"], row["records"], strict=True)):

        def of_report(part, symbol, name=name):
            own = bytes.fromhex(made.part(part["name"]).mechanism.fingerprint)
            whose = hashlib.sha256(text("mechdesign/records/part/1") + own + text(part["name"])).digest()
            return hashed(secret, b"mechdesign-key-1", whose, attribute, text(symbol), name.encode())

        view = hashed(secret, b"mechdesign-view1", prints[row["mechanism"]], attribute, name.encode())
        assert consumer.report(record, view, of_report) == (row["views"][place], row["reports"][place])
    key = md.Key(secret).for_attribute(row["attribute"]) if row["attribute"] else md.Key(secret)
    columns = {name: [record[name] for record in row["records"]] for name in made.attributes}
    assert made.privatize(columns, key=key, ids=row["ids"]) == {"view": row["views"], "report": row["reports"]}


@pytest.mark.parametrize("row", rows("records-refused.json"), ids=lambda row: Path(row["file"]).stem)
def test_the_package_refuses_every_file_that_is_to_be_refused(row):
    with pytest.raises((InputError, GuaranteeError)):
        RecordMechanism.load(KIT / row["file"])


def test_texts_fall_into_bins_by_their_floats():
    for row in rows("records-bins.json"):
        for given, label in zip(row["texts"], row["labelled"], strict=True):
            is_number = NUMBER.fullmatch(given) is not None
            expected = row["labels"][bisect.bisect_right(row["edges"], float(given))] if is_number else given
            assert label == expected
