"""Reports say which mechanism made them, and an estimate with another is refused in one line that names both."""

import hashlib
import itertools
import json
import pickle
import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import raises, without_steps

import mechdesign as md
from mechdesign.cli.entry_point import run
from mechdesign.deploy import RecordFile, count_reports, privatize_file
from mechdesign.deploy.dataset import privatize_dataset
from mechdesign.deploy.dataset_counts import count_dataset

MONTHS, AIRPORTS = ("may", "june", "july"), ("EWR", "JFK", "LGA")
ROWS = np.array([[6, 1, 1], [1, 6, 1], [1, 1, 6]])


def mechanism(inputs=MONTHS, rows=ROWS, bits=3, outputs=(), promise="log(6)"):
    return md.Mechanism(rows, bits, md.Guarantee(promise, md.L1Ball([0.5, 0.3, 0.2], radius=2, labels=inputs)), outputs)


def tag(made):
    (found,) = {name.partition("-")[2] for name in made.outputs}
    return found


OTHERS = {
    "another epsilon": {"rows": np.array([[4, 2, 2], [2, 4, 2], [2, 2, 4]])},
    "another column": {"inputs": AIRPORTS},
    "a file of an earlier version": {"outputs": ("y1", "y2", "y3")},
}


def test_the_tag_is_the_beginning_of_the_documented_hash():
    # By the words of docs/file-format.md, without the functions of the package.
    def text(value):
        return struct.pack("<Q", len(value.encode())) + value.encode()

    content = b"mechdesign/fingerprint/1"
    for labels in (MONTHS, ("y1", "y2", "y3")):
        content += struct.pack("<Q", 3) + b"".join(map(text, labels))
    content += struct.pack("<Q", 3) + struct.pack("<9Q", 6, 1, 1, 1, 6, 1, 1, 1, 6)
    expected = hashlib.sha256(content).hexdigest()[:6]
    assert mechanism().outputs == tuple(f"y{j}-{expected}" for j in (1, 2, 3))


def test_all_that_reports_depend_on_changes_the_tag_and_nothing_else(tmp_path):
    made = mechanism()
    made.save(tmp_path / "m.json")
    same = [mechanism(promise="3"), md.Mechanism.load(tmp_path / "m.json"), pickle.loads(pickle.dumps(made))]
    assert {other.outputs for other in same} == {made.outputs}
    assert {other.fingerprint for other in same} == {made.fingerprint}
    others = [made, mechanism(AIRPORTS), mechanism(rows=2 * ROWS, bits=4), mechanism(rows=ROWS[:, [1, 0, 2]])]
    assert len({tag(other) for other in others}) == len(others)


def test_files_of_earlier_versions_keep_their_names_and_their_permanent_reports(tmp_path):
    made = mechanism()
    made.save(tmp_path / "m.json")
    table = json.loads((tmp_path / "m.json").read_bytes())
    table["outputs"] = ["y1", "y2", "y3"]
    (tmp_path / "old.json").write_text(json.dumps(table))
    old = md.Mechanism.load(tmp_path / "old.json")
    assert old.outputs == ("y1", "y2", "y3")
    # This number was drawn before names had tags.
    assert old.fingerprint == "1446d6a3d26517f6818585daafa612a33a4f8a21eb20f2a09d642668662c1a18"
    assert md.estimate_frequencies(["y1"] * 40 + ["y3"] * 40, old).reports == 80


def in_memory(reports, made, folder):
    md.estimate_frequencies(reports, made)


def in_groups(reports, made, folder):
    md.estimate_frequencies(reports, made, by=["north", "south"] * (len(reports) // 2))


def as_series(reports, made, folder):
    md.estimate_frequencies(pd.Series(reports), made)


def as_polars(reports, made, folder):
    md.estimate_frequencies(pl.Series(reports), made)


def counted(reports, made, folder):
    md.estimate_frequencies(Counter(reports), made)


def in_csv(reports, made, folder):
    pd.DataFrame({"when": reports, "g": "a"}).to_csv(folder / "r.csv", index=False)
    count_reports(RecordFile(folder / "r.csv", "when"), made)


def in_csv_by_groups(reports, made, folder):
    pd.DataFrame({"when": reports, "g": "a"}).to_csv(folder / "r.csv", index=False)
    count_reports(RecordFile(folder / "r.csv", "when"), made, by=["g"])


def in_parquet(reports, made, folder):
    pd.DataFrame({"when": reports}).to_parquet(folder / "r.parquet")
    count_reports(RecordFile(folder / "r.parquet", "when"), made)


def in_a_folder(reports, made, folder):
    (folder / "parts").mkdir()
    pd.DataFrame({"when": reports}).to_csv(folder / "parts" / "1.csv", index=False)
    count_dataset(RecordFile(folder / "parts", "when"), made)


PLACES = [in_memory, in_groups, as_series, as_polars, counted, in_csv, in_csv_by_groups, in_parquet, in_a_folder]


@pytest.mark.combined
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("which", OTHERS)
@pytest.mark.parametrize("turned", [False, True])
def test_reports_of_another_mechanism_are_refused_in_one_line_that_names_both(place, which, turned, tmp_path):
    made, other = (mechanism(**OTHERS[which]), mechanism()) if turned else (mechanism(), mechanism(**OTHERS[which]))
    reports = made.privatize(["may", "june"] * 20 if made.inputs == MONTHS else ["EWR", "JFK"] * 20)
    with raises("wrong-mechanism") as refused:
        place(reports, other, tmp_path)
    told = str(refused.value)
    assert "\n" not in told
    assert "give the mechanism that made the reports" in told
    for side in (made, other):
        assert (tag(side) or "y and a number" if side is made else tag(side) or "y1, y2, y3") in told


def test_the_mechanism_that_made_them_is_accepted_everywhere(tmp_path):
    for made in (mechanism(), *(mechanism(**given) for given in OTHERS.values())):
        for number, place in enumerate(PLACES):
            (tmp_path / f"{tag(made)}{number}").mkdir()
            place(made.privatize([made.inputs[0], made.inputs[1]] * 20), made, tmp_path / f"{tag(made)}{number}")


def test_a_series_of_counts_by_another_mechanism_is_not_taken_for_codes():
    names = mechanism().outputs
    with raises("wrong-record-type"):
        md.estimate_frequencies(pd.Series([1, 2, 0], index=names), mechanism(AIRPORTS))


def test_counts_by_groups_of_another_mechanism_are_refused(tmp_path):
    made, other = mechanism(), mechanism(**OTHERS["another epsilon"])
    pd.DataFrame({"when": made.privatize(["may"] * 9), "g": "a"}).to_csv(tmp_path / "r.csv", index=False)
    found = count_reports(RecordFile(tmp_path / "r.csv", "when"), made, by=["g"])
    with raises("wrong-mechanism", match=f"of other outputs: .* ends in {tag(made)}.* in {tag(other)}; give the"):
        md.estimate_frequencies(found, other)


# Outputs with names of their own


@pytest.fixture
def twins():
    """Two mechanisms whose outputs have the same names."""
    return mechanism(outputs=MONTHS), mechanism(rows=mechanism(**OTHERS["another epsilon"]).numerators, outputs=MONTHS)


def test_parquet_files_carry_the_fingerprint(tmp_path, twins):
    made, other = twins
    pd.DataFrame({"when": ["may", "june"] * 30, "g": ["a", "b"] * 30}).to_parquet(tmp_path / "records.parquet")
    reports = tmp_path / "reports.parquet"
    records = RecordFile(tmp_path / "records.parquet", "when")
    privatize_file(records, made, md.deploy.ReportFile(reports, keep=["g"]))
    field = pq.read_schema(reports).field("when")
    assert field.metadata == {b"mechdesign.fingerprint": made.fingerprint.encode()}
    for by in ((), ("g",)):
        count_reports(RecordFile(reports, "when"), made, by=by)
        with pytest.raises(md.InputError, match=f"'{made.fingerprint[:16]}', .* with '{other.fingerprint[:16]}';"):
            count_reports(RecordFile(reports, "when"), other, by=by)
    # Whoever writes the table again may lose the metadata; what is left are the names.
    pq.write_table(
        pq.read_table(reports)
        .replace_schema_metadata(None)
        .cast(pa.schema([("when", pa.string()), ("g", pa.string())])),
        reports,
    )
    assert count_reports(RecordFile(reports, "when"), other).sum() == 60


def test_a_column_that_is_kept_is_not_said_to_be_by_the_mechanism_of_another(tmp_path):
    when, where = mechanism(), mechanism(AIRPORTS)
    pd.DataFrame({"when": ["may"] * 5, "where": ["JFK"] * 5}).to_parquet(tmp_path / "0.parquet")
    for step, (column, kept, made) in enumerate((("when", "where", when), ("where", "when", where))):
        source, target = tmp_path / f"{step}.parquet", tmp_path / f"{step + 1}.parquet"
        privatize_file(RecordFile(source, column), made, md.deploy.ReportFile(target, keep=[kept]))
    for column, made in (("when", when), ("where", where)):
        assert count_reports(RecordFile(tmp_path / "2.parquet", column), made).sum() == 5


def test_the_manifest_of_a_folder_carries_it(tmp_path, twins):
    made, other = twins
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "1.csv").write_text("when\nmay\njune\n")
    privatize_dataset(RecordFile(tmp_path / "records", "when"), made, tmp_path / "reports")
    assert json.loads((tmp_path / "reports/_manifest.json").read_bytes())["fingerprint"] == made.fingerprint
    assert count_dataset(RecordFile(tmp_path / "reports", "when"), made).counts.sum() == 2
    with pytest.raises(md.InputError, match=f"'{made.fingerprint[:16]}', .* with '{other.fingerprint[:16]}';"):
        count_dataset(RecordFile(tmp_path / "reports", "when"), other)


# The command line


@pytest.mark.combined
@pytest.mark.parametrize(("ending", "options"), list(itertools.product(["csv", "parquet", "d"], [[], ["--by", "g"]])))
def test_the_command_refuses_it_with_status_2(ending, options, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made, other = mechanism(), mechanism(**OTHERS["another epsilon"])
    made.save("m.json")
    other.save("other.json")
    Path("records.d").mkdir()
    records = pd.DataFrame({"when": ["may", "june"] * 30, "g": ["a", "b"] * 30})
    for name in ("records.csv", "records.d/1.csv"):
        records.to_csv(name, index=False)
    records.to_parquet("records.parquet")
    common = ["--column", "when", "--mechanism"]
    assert run(["privatize", f"records.{ending}", *common, "m.json", "--keep", "g", "-o", f"out.{ending}"]) == 0
    assert run(["estimate", f"out.{ending}", *common, "m.json", *options]) == 0
    capsys.readouterr()
    assert run(["estimate", f"out.{ending}", *common, "other.json", *options, "-o", "table.csv"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert not Path("table.csv").exists()
    assert len(without_steps(err.encode())) == 1
    assert "give the mechanism that made the reports" in err
    names = [tag(made), tag(other)] if ending == "csv" else [made.fingerprint[:12], other.fingerprint[:12]]
    assert all(name in err for name in names)
