"""The views of the conformance kit are what its page says: here by a consumer of the standard library alone."""

import bisect
import copy
import hashlib
import io
import itertools
import json
import re
import subprocess
from pathlib import Path

import pytest

import mechdesign as md
from conformance import make, make_records
from mechdesign.errors import GuaranteeError, InputError
from mechdesign.records import RecordMechanism
from tests.examples.test_conformance_windows import EXAMPLES, NODE, PAGE, needs_node

KIT = Path(make.__file__).parent
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


@pytest.fixture
def reader(monkeypatch):
    """Return the consumer of windows of the standard library."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import report_windows

    return report_windows


def rows(name):
    return json.loads((KIT / name).read_text(encoding="utf-8"))


def text(value):
    return len(value.encode()).to_bytes(8, "little") + value.encode()


class Consumer:
    """Reads a file that the package wrote, and reports as the page says; views of windows by `report_windows.py`."""

    def __init__(self, file, reader):
        self.table, self.made = rows(file), RecordMechanism.load(KIT / file)
        self.parts = self.table["parts"]
        tables = {part["name"]: part["mechanism"] for part in self.parts if "seeds" in part["mechanism"]}
        self.windows = {name: reader.Windows(json.dumps(table).encode()) for name, table in tables.items()}
        self.sums = list(itertools.accumulate(part["weight"] for part in self.parts))
        assert self.sums[-1] == 2 ** self.table["weight_bits"]

    def symbols(self, record):
        """Return the symbol of each view."""
        record = dict(record)
        for name, edges in self.table.get("bins", {}).items():
            if NUMBER.fullmatch(record[name]):
                bins = [label for label in self.labels(name) if " or more" in label or "under " in label]
                order = sorted(bins, key=lambda label: float("-inf" if label[:5] == "under" else label.split()[0]))
                record[name] = order[bisect.bisect_right(edges, float(record[name]))]
        return [self.symbol(part, [record[name] for name in part["attributes"]]) for part in self.parts]

    def symbol(self, part, labels):
        if part["name"] in self.windows:
            (string,) = labels
            self.windows[part["name"]].prints([string])
            return string
        inputs, symbol = part["mechanism"]["inputs"], " & ".join(labels)
        if symbol not in inputs:
            known = [set(column) for column in zip(*(label.split(" & ") for label in inputs), strict=True)]
            if "merged" not in part or not all(label in own for label, own in zip(labels, known, strict=True)):
                raise LookupError(part["name"])
            return part["merged"]
        return symbol

    def labels(self, name):
        views = [part for part in self.parts if name in part["attributes"]]
        part = min(views, key=lambda part: len(part["attributes"]))
        return {label.split(" & ")[part["attributes"].index(name)] for label in part["mechanism"]["inputs"]}

    def view(self, word):
        return self.parts[bisect.bisect_right(self.sums, word >> 64 - self.table["weight_bits"])]

    def drawn(self, part, symbol, word):
        """Return the output of a matrix."""
        own = part["mechanism"]
        row = list(itertools.accumulate(own["numerators"][own["inputs"].index(symbol)]))
        return own["outputs"][bisect.bisect_right(row, word >> 64 - own["bits"])]

    def fresh(self, record, source):
        symbols = self.symbols(record)
        part = self.view(int.from_bytes(source(8), "little"))
        symbol = symbols[self.parts.index(part)]
        if part["name"] in self.windows:
            return part["name"], *self.windows[part["name"]].fresh_reports([symbol], source)
        return part["name"], self.drawn(part, symbol, int.from_bytes(source(8), "little"))

    def permanent(self, record, name, secret, attribute, fingerprint):
        symbols = self.symbols(record)
        part = self.view(hashed(secret, b"mechdesign-view1", fingerprint, text(attribute), name.encode()))
        symbol = symbols[self.parts.index(part)]
        windows = self.windows.get(part["name"])
        own = self.made.part(part["name"]).mechanism.fingerprint
        whose = hashlib.sha256(text("mechdesign/records/part/1") + bytes.fromhex(own) + text(part["name"])).digest()
        if windows is None:
            word = hashed(secret, b"mechdesign-key-1", whose, text(attribute), text(symbol), name.encode())
            return part["name"], self.drawn(part, symbol, word)
        renamed, first = copy.copy(windows), windows.first()
        renamed.fingerprint, renamed.first = lambda: whose, lambda: first
        return part["name"], *renamed.permanent_reports(secret, [(name, symbol)], attribute)


def hashed(secret, person, *parts):
    found = hashlib.blake2b(b"".join(parts), key=secret, digest_size=8, person=person).digest()
    return int.from_bytes(found, "little")


def test_the_fingerprints_are_those_of_the_files():
    for row in rows("records.json"):
        made = RecordMechanism.load(KIT / row["file"])
        assert made.fingerprint == row["fingerprint"]


@pytest.mark.parametrize("row", rows("records-fresh.json"), ids=lambda row: Path(row["mechanism"]).stem)
def test_fresh_reports_follow_from_the_bytes(row, reader):
    consumer, rest = Consumer(row["mechanism"], reader), io.BytesIO(bytes.fromhex(row["bytes"]))
    found = [consumer.fresh(record, rest.read) for record in row["records"]]
    assert found == list(zip(row["views"], row["reports"], strict=True))
    assert not rest.read()
    made = RecordMechanism.load(KIT / row["mechanism"])
    assert set(row["views"]) == {part.name for part in made.parts}
    for record in row["refused"]:
        with pytest.raises((LookupError, reader.RecordError)):
            consumer.symbols(record)
        with pytest.raises(InputError):
            made.privatize({name: [value] for name, value in record.items()})


@pytest.mark.parametrize("row", rows("records-keyed.json"), ids=lambda row: Path(row["mechanism"]).stem)
def test_permanent_reports_are_hashes_of_key_file_view_value_and_id(row, reader):
    consumer, secret = Consumer(row["mechanism"], reader), bytes.fromhex(row["key"])
    prints = {entry["file"]: bytes.fromhex(entry["fingerprint"]) for entry in rows("records.json")}
    made = RecordMechanism.load(KIT / row["mechanism"])
    for place, (name, record) in enumerate(zip(row["ids"], row["records"], strict=True)):
        found = consumer.permanent(record, name, secret, row["attribute"], prints[row["mechanism"]])
        assert found == (row["views"][place], row["reports"][place])
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


def test_there_are_streams_of_every_mechanism():
    assert {"bins", "merged", *LONG} == set(make_records.designed())
    names = {f"records/{name}.json" for name in make_records.designed()}
    assert {row["mechanism"] for row in rows("records-streams.json")} == names


LONG = ("mixed", "one-view", "rare-views", "strings", "secret")


@pytest.mark.parametrize("name", ["bins", "merged", *(pytest.param(x, marks=pytest.mark.slow) for x in LONG)])
def test_the_streams_are_those_of_the_package(name):
    path = f"records/{name}.json"
    kept = [row for row in rows("records-streams.json") if row["mechanism"] == path]
    assert kept == make_records.two_streams(path, make_records.designed()[name])


def test_the_order_of_attributes_with_bins_tells_orders_of_letters_apart():
    names = list(rows("records/bins.json")["bins"])
    assert len({tuple(sorted(names, key=key)) for key in (str, lambda name: name.encode("utf-16-be"))}) == 2


@needs_node
@pytest.mark.parametrize(
    "name", ["mixed", *(pytest.param(name, marks=pytest.mark.slow) for name in ("strings", "merged"))]
)
def test_the_command_in_javascript_gives_the_reports_of_the_package(name, tmp_path):
    path, key = KIT / f"records/{name}.json", md.Key(bytes(range(32)))
    key.write(tmp_path / "k")
    (row,) = (row for row in rows("records-fresh.json") if row["mechanism"] == f"records/{name}.json")
    lines = [json.dumps({"more": 1, **record}) for record in row["records"]]

    def run(lines, *arguments):
        command = [NODE, str(EXAMPLES / "js" / "command.js"), str(path), *arguments]
        text = "".join(f"{line}\n" for line in lines)
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    made = RecordMechanism.load(path)
    columns = {name: [record[name] for record in row["records"]] for name in made.attributes}
    ids = [f"a\t{k}" for k in range(len(lines))]
    reports = made.privatize(columns, key=key.for_attribute("survey"), ids=ids)
    expected = "".join(f"{view}\t{each}\n" for view, each in zip(reports["view"], reports["report"], strict=True))
    given = [f"{name}\t{line}" for name, line in zip(ids, lines, strict=True)]
    assert run(given, str(tmp_path / "k"), "survey") == (0, expected, "")
    status, out, err = run(lines)
    assert (status, err) == (0, "")
    assert {tuple(line.split("\t")) for line in out.splitlines()} <= set(zip(*made.named_outputs, strict=True))
    number = {**row["records"][0], made.attributes[-1]: 41}
    for wrong in ("f", "{}", "[]", "null", '{"sex": "f"}', json.dumps(number)):
        status, out, err = run([lines[0], wrong])
        assert (status, out) == (2, ""), wrong
        assert err.startswith("Error: line 2: ")


SCRIPT = """
import { Records } from "./records.js";
const mechanism = await Records.read(content);
const record = { sex: "f", level: "__proto__", age: "41" };
const [report] = await mechanism.permanentReports(new Uint8Array(32), [["ann", record]]);
console.log(report.join(" "), (await mechanism.freshReports([record])).length);
"""


@needs_node
def test_a_browser_needs_nothing_but_the_files():
    path = KIT / "records/mixed.json"
    options = ["--no-warnings", "--experimental-vm-modules"]
    command = [NODE, *options, "-e", PAGE, (EXAMPLES / "js").as_posix(), SCRIPT, str(path)]
    done = subprocess.run(command, capture_output=True, check=True)
    record = {"sex": ["f"], "level": ["__proto__"], "age": ["41"]}
    expected = RecordMechanism.load(path).privatize(record, key=md.Key(bytes(32)), ids=["ann"])
    assert done.stdout.decode() == f"{expected['view'][0]} {expected['report'][0]} 1\n"
