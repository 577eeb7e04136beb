"""Files in, files out: every row, the right columns, whole or absent."""

import csv
import datetime
import decimal
import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from chi_square import NEVER_FLAKES, p_value
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises

import mechdesign as md
from mechdesign.data import tables
from mechdesign.data.counts import count_column
from mechdesign.deploy import stream
from mechdesign.deploy.report_counts import count_reports
from mechdesign.deploy.stream import RecordFile, ReportFile, privatize_file

LABELS = ("a", "b c", 'd"e', "f,g", "ü ☂")


@pytest.fixture
def told():
    """A mechanism that reports what it is told, with labels that need quotes."""
    ball = md.L1Ball([1 / 5] * 5, labels=LABELS)
    promise = md.Guarantee(md.Epsilon.of("log(5)"), ball)
    return md.Mechanism(np.diag([4] * 5).astype(np.int64), 2, promise, ("y,1", 'y"2', "y 3", "ÿ4", "y5"))


OUT = dict(zip(LABELS, ("y,1", 'y"2', "y 3", "ÿ4", "y5"), strict=True))
ROWS = [(str(i), LABELS[i % 5], f"note {i}") for i in range(23)]


def write_csv(path, rows, *, header=("id", "kind", "note"), opener=open):
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if header:
            writer.writerow(header)
        writer.writerows(rows)
    return path


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_a_column_becomes_reports_and_the_others_are_dropped(tmp_path, told):
    source = write_csv(tmp_path / "in.csv", ROWS)
    assert privatize_file(RecordFile(source, "kind"), told, tmp_path / "out.csv").records == 23
    assert read_csv(tmp_path / "out.csv") == [["kind"]] + [[OUT[kind]] for _, kind, _ in ROWS]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv"]


def test_kept_columns_stay_in_the_order_of_the_file(tmp_path, told):
    rows = [(f"{i}", LABELS[i % 5], note) for i, note in enumerate(['a "quoted" note', "two\nlines", "", "x,y"])]
    source = write_csv(tmp_path / "in.csv", rows)
    privatize_file(RecordFile(source, "kind"), told, ReportFile(tmp_path / "out.csv", keep=["note", "id"]))
    assert read_csv(tmp_path / "out.csv") == [["id", "kind", "note"]] + [[i, OUT[kind], note] for i, kind, note in rows]


def test_without_a_header_columns_are_counted_from_0(tmp_path, told):
    source = write_csv(tmp_path / "in.csv", ROWS, header=None)
    privatize_file(RecordFile(source, "1", header=False), told, ReportFile(tmp_path / "out.csv", keep=["0"]))
    assert read_csv(tmp_path / "out.csv") == [[i, OUT[kind]] for i, kind, _ in ROWS]
    privatize_file(RecordFile(source, "01", header=False), told, tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == {"1": [OUT[kind] for _, kind, _ in ROWS]}


def test_spaces_are_stripped_and_nothing_is_inferred(tmp_path):
    ball = md.L1Ball([1 / 4] * 4, labels=["007", "7", "NA", "true"])
    told = md.Mechanism(np.diag([4] * 4).astype(np.int64), 2, md.Guarantee(md.Epsilon.of("log(4)"), ball), list("wxyz"))
    source = tmp_path / "in.csv"
    source.write_bytes("\ufeff id , kind \r\n1, 007\r\n\r\n2 ,7 \r\n3,NA\r\n4,  true".encode())
    privatize_file(RecordFile(source, "kind"), told, ReportFile(tmp_path / "out.csv", keep=["id"]))
    assert read_csv(tmp_path / "out.csv") == [["id", "kind"], ["1", "w"], ["2", "x"], ["3", "y"], ["4", "z"]]


def test_a_header_may_come_late_and_take_lines(tmp_path, told):
    source = tmp_path / "in.csv"
    source.write_text('\n\nid,"kind\nof"\n1,a\n2,"b c"\n')
    assert privatize_file(RecordFile(source, "kind\nof"), told, tmp_path / "out.csv").records == 2
    assert read_csv(tmp_path / "out.csv") == [["kind\nof"], [OUT["a"]], [OUT["b c"]]]


def test_parquet_keeps_the_types_of_kept_columns(tmp_path, told):
    kinds = pa.array([kind for _, kind, _ in ROWS])
    table = pa.table({"id": pa.array(range(23), pa.int16()), "kind": kinds.dictionary_encode(), "x": [0.5] * 23})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=7)
    privatize_file(RecordFile(tmp_path / "in.parquet", "kind"), told, ReportFile(tmp_path / "out.parquet", keep=["id"]))
    out = pq.read_table(tmp_path / "out.parquet")
    assert out.schema == pa.schema([("id", pa.int16()), ("kind", pa.string())])
    assert out.to_pydict() == {"id": list(range(23)), "kind": [OUT[kind] for _, kind, _ in ROWS]}
    columns = [pq.read_metadata(tmp_path / "out.parquet").row_group(0).column(place) for place in range(2)]
    assert [column.statistics is None for column in columns] == [False, True]  # those of reports tell nothing
    privatize_file(
        RecordFile(tmp_path / "in.parquet", "kind"), told, ReportFile(tmp_path / "out.csv", keep=["id", "x"])
    )
    assert read_csv(tmp_path / "out.csv")[:2] == [["id", "kind", "x"], ["0", "y,1", "0.5"]]


def test_kept_columns_of_every_type_are_written_or_refused(tmp_path, told):
    kinds = {
        "encoded": pa.array(["x,y", None]).dictionary_encode(),
        "large": pa.array(["two\nlines", ""], pa.large_string()),
        "day": pa.array([datetime.date(2020, 1, 2), None]),
        "money": pa.array([decimal.Decimal("1.50"), None]),
        "flag": pa.array([True, None]),
    }
    table = pa.table({"kind": ["a", "b c"], **kinds, "bytes": [b"a", b"b"], "span": [datetime.timedelta(1)] * 2})
    pq.write_table(table, tmp_path / "in.parquet")
    source = RecordFile(tmp_path / "in.parquet", "kind")
    privatize_file(source, told, ReportFile(tmp_path / "out.csv", keep=list(kinds)))
    rows = read_csv(tmp_path / "out.csv")
    assert rows[0] == ["kind", *kinds]
    assert rows[1] == [OUT["a"], "x,y", "two\nlines", "2020-01-02", "1.50", "true"]
    assert rows[2] == [OUT["b c"], "", "", "", "", ""]
    for name in ("bytes", "span"):
        privatize_file(source, told, ReportFile(tmp_path / "out.parquet", keep=[name], overwrite=True))
        assert pq.read_table(tmp_path / "out.parquet").column(name).equals(table.column(name))
        if name == "bytes":
            with raises("wrong-column-type", "'bytes'", "binary"):
                privatize_file(source, told, ReportFile(tmp_path / "no.csv", keep=[name]))
    assert not (tmp_path / "no.csv").exists()


def test_kept_string_views_are_written_as_text(tmp_path, told):
    table = pa.table({"kind": ["a", "b c"], "view": pa.array(["x,y", "z"], pa.string_view())})
    try:
        pq.write_table(table, tmp_path / "in.parquet")
    except pa.ArrowNotImplementedError:
        pytest.skip("this version of pyarrow writes no string views to Parquet")
    privatize_file(RecordFile(tmp_path / "in.parquet", "kind"), told, ReportFile(tmp_path / "out.csv", keep=["view"]))
    assert [row[1] for row in read_csv(tmp_path / "out.csv")] == ["view", "x,y", "z"]


def test_integers_in_parquet_are_the_labels_they_print_as(tmp_path):
    ball = md.L1Ball([0.5, 0.5], labels=[17, 90])
    ages = md.Mechanism(np.array([[2, 0], [0, 2]]), 1, md.Guarantee(md.Epsilon.of("log(2)"), ball), ("lo", "hi"))
    pq.write_table(pa.table({"age": pa.array([90, 17], pa.int8())}), tmp_path / "in.parquet")
    privatize_file(RecordFile(tmp_path / "in.parquet", "age"), ages, tmp_path / "out.csv")
    assert read_csv(tmp_path / "out.csv") == [["age"], ["hi"], ["lo"]]


def test_compressed_csv(tmp_path, told):
    source = write_csv(tmp_path / "in.csv.gz", ROWS, opener=gzip.open)
    assert privatize_file(RecordFile(source, "kind"), told, tmp_path / "out.csv").records == 23


@pytest.mark.sampled
@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
def test_many_batches_are_one_file(tmp_path, told, monkeypatch, output):
    monkeypatch.setattr(tables, "BLOCK_BYTES", 256)
    rows = [(str(i), LABELS[i * i % 5], "x" * (i % 50)) for i in range(5_000)]
    source = write_csv(tmp_path / "in.csv", rows)
    steps = []
    done = privatize_file(
        RecordFile(source, "kind"), told, ReportFile(tmp_path / output, keep=["id", "note"]), progress=steps.append
    )
    assert done.records == 5_000
    assert len(steps) > 100
    assert steps[-1] == "privatizing: 5,000 records"
    counts = count_reports(RecordFile(tmp_path / output, "kind"), told.outputs)
    np.testing.assert_array_equal(counts, np.bincount([i * i % 5 for i in range(5_000)], minlength=5))
    if output.endswith("csv"):
        assert read_csv(tmp_path / output)[1:] == [[i, OUT[kind], note] for i, kind, note in rows]


def test_a_file_without_records(tmp_path, told):
    source = write_csv(tmp_path / "in.csv", [])
    for name in ("out.csv", "out.parquet"):
        assert privatize_file(RecordFile(source, "kind"), told, tmp_path / name).records == 0
        assert count_reports(RecordFile(tmp_path / name, "kind"), told.outputs).sum() == 0


def test_the_reports_of_a_file_have_the_probabilities_proved(tmp_path):
    ball = md.L1Ball([0.5, 0.3, 0.2], radius=0.1, labels=["a", "b", "c"])
    mechanism = md.design(md.DesignProblem(ball, epsilon=1)).mechanism
    source = write_csv(tmp_path / "in.csv", [("b",)] * 100_000, header=["kind"])
    privatize_file(RecordFile(source, "kind"), mechanism, tmp_path / "out.csv")
    counts = count_reports(RecordFile(tmp_path / "out.csv", "kind"), mechanism.outputs)
    assert p_value(counts, mechanism.matrix[1]) > NEVER_FLAKES


def test_a_generator_makes_an_experiment_repeatable(tmp_path, told):
    ball = md.L1Ball([0.5, 0.5], radius=2, labels=["n", "y"])
    noisy = md.Mechanism(np.array([[3, 1], [1, 3]]), 2, md.Guarantee(md.Epsilon.of("log(3)"), ball))
    source = write_csv(tmp_path / "in.csv", [("y",), ("n",)] * 100, header=["kind"])
    texts = []
    for seed in (1, 1, None):
        rng = None if seed is None else np.random.default_rng(seed)
        privatize_file(RecordFile(source, "kind"), noisy, ReportFile(tmp_path / "out.csv", overwrite=True), rng=rng)
        texts.append((tmp_path / "out.csv").read_text())
    assert texts[0] == texts[1] != texts[2]


# Nothing is changed but the column, and nothing else of the file comes through


@pytest.fixture
def plain():
    """A mechanism that reports what it is told, in labels that need no quotes."""
    ball = md.L1Ball([1 / 3] * 3, labels=["a", "b", "?"])
    return md.Mechanism(np.diag([4] * 3).astype(np.int64), 2, md.Guarantee(md.Epsilon.of("log(3)"), ball), list("xyz"))


def test_what_the_identity_reports_is_what_was_recorded(tmp_path_factory):
    labels = ("a", "b c", 'd"e', "f,g", "ü ☂", '"', ",", "?")
    ball = md.L1Ball([1 / 8] * 8, labels=labels)
    same = md.Mechanism(np.diag([8] * 8).astype(np.int64), 3, md.Guarantee(md.Epsilon.of("log(8)"), ball), labels)
    folder = tmp_path_factory.mktemp("identity")
    words = st.sampled_from([*labels, ""])
    notes = st.text(st.sampled_from('ab",\n\r é'), max_size=6)
    modes = st.sampled_from(["csv", "csv.gz", "one.csv", "parquet"])

    @given(st.lists(st.tuples(words, notes), max_size=25), modes, st.sampled_from(["\n", "\r\n"]), st.integers(30, 90))
    def holds(rows, mode, end, size):
        source = folder / f"in.{mode}"
        if mode == "parquet":
            table = {"kind": [word or None for word, _ in rows], "note": [note for _, note in rows]}
            kinds = pa.schema([("kind", pa.string()), ("note", pa.string())])
            pq.write_table(pa.table(table, schema=kinds), source, row_group_size=max(size % 7, 1))
        else:
            with (gzip.open if mode == "csv.gz" else open)(source, "wt", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator=end)
                keys = ["kind"] if mode == "one.csv" else ["kind", "note"]
                quoting = csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL)
                writer.writerow(keys)
                for word, note in rows:
                    if mode == "one.csv" and not word:
                        file.write(end)
                    else:
                        # The csv module leaves a carriage return bare where it does not end lines with one.
                        (quoting if "\r" in note else writer).writerow([word, note][: len(keys)])
        keep = [] if mode == "one.csv" else ["note"]
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(tables, "BLOCK_BYTES", size)
            patched.setattr(stream, "BATCH_ROWS", 4)
            done = privatize_file(
                RecordFile(source, "kind"),
                same,
                ReportFile(folder / "out.parquet", keep=keep, overwrite=True),
                missing="?",
            )
        out = pq.read_table(folder / "out.parquet").to_pydict()
        assert done.records == len(rows)
        assert out["kind"] == [word or "?" for word, _ in rows]
        if keep:
            assert out["note"] == [note if mode == "parquet" else note.strip() for _, note in rows]

    holds()


def test_an_empty_line_is_a_missing_record_and_rows_stay_aligned(tmp_path, plain):
    pl.DataFrame({"kind": ["a", None, "b", None]}).write_csv(tmp_path / "in.csv")
    source = RecordFile(tmp_path / "in.csv", "kind")
    assert privatize_file(source, plain, tmp_path / "out.csv", missing="?").records == 4
    assert (tmp_path / "out.csv").read_text() == "kind\nx\nz\ny\nz\n"
    for refuse in (
        lambda: privatize_file(source, plain, tmp_path / "other.csv"),
        lambda: count_reports(source, ("a", "b")),
        lambda: count_column(tmp_path / "in.csv", "kind"),
    ):
        with raises("missing-value", "record 2"):
            refuse()


def test_a_stray_quote_swallows_no_record(tmp_path, plain):
    (tmp_path / "in.csv").write_text('id,kind\n1,a\n2"x,a\n3,"b"\n4,a\n')
    with raises("malformed-table", "line 3"):
        privatize_file(RecordFile(tmp_path / "in.csv", "kind"), plain, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


TEXT = {
    "plain": pa.array(["p", "q", 'say "r"']),
    "large": pa.array(["p", "q", "two\nlines"], pa.large_string()),
    "encoded": pa.array(["p", "q", "r,s"]).dictionary_encode(),
}


@pytest.mark.parametrize("name", TEXT)
def test_kept_text_is_quoted_where_it_needs_it_though_no_report_does(tmp_path, plain, name):
    table = pa.table({"n": [1, 2, 3], "kind": ["a", "b", "?"], **TEXT})
    pq.write_table(table, tmp_path / "in.parquet")
    source = RecordFile(tmp_path / "in.parquet", "kind")
    privatize_file(source, plain, ReportFile(tmp_path / "out.csv", keep=["n", name]))
    assert read_csv(tmp_path / "out.csv") == [
        ["n", "kind", name],
        *([str(i + 1), "xyz"[i], text] for i, text in enumerate(TEXT[name].to_pylist())),
    ]
    privatize_file(source, plain, ReportFile(tmp_path / "out.csv", keep=["n"], overwrite=True))
    assert (tmp_path / "out.csv").read_text() == "n,kind\n1,x\n2,y\n3,z\n"


@pytest.mark.parametrize("mode", ["parquet", "csv"])
def test_row_groups_of_the_output_tell_nothing_of_the_input(tmp_path, plain, monkeypatch, mode):
    monkeypatch.setattr(stream, "BATCH_ROWS", 8)
    monkeypatch.setattr(tables, "BLOCK_BYTES", 200)
    sizes = []
    for group in (3, 20):
        notes = ["x" * (50 if i % 9 < group else 0) for i in range(37)]
        table = pa.table({"kind": ["a"] * 37, "note": notes, "kept": pa.array(notes).dictionary_encode()})
        source = tmp_path / f"in.{mode}"
        if mode == "parquet":
            pq.write_table(table, source, row_group_size=group)
        else:
            write_csv(source, zip(*table.to_pydict().values(), strict=True), header=table.column_names)
        for keep in ([], ["kept"]):
            privatize_file(
                RecordFile(source, "kind"), plain, ReportFile(tmp_path / "out.parquet", keep=keep, overwrite=True)
            )
            found = pq.ParquetFile(tmp_path / "out.parquet").metadata
            sizes.append([found.row_group(i).num_rows for i in range(found.num_row_groups)])
            if keep:
                assert pq.read_table(tmp_path / "out.parquet").column("kept").to_pylist() == notes
    assert sizes == [[8, 8, 8, 8, 5]] * 4


def test_metadata_of_parquet_files_is_dropped_and_a_kept_index_stays(tmp_path, plain):
    frame = pd.DataFrame({"kind": ["a", "b"], "secret": [1, 2]}, index=[70, 80])
    table = pa.Table.from_pandas(frame)
    fields = [field.with_metadata({"told": "MYSSN"}) for field in table.schema]
    pq.write_table(
        table.cast(pa.schema(fields, metadata={**table.schema.metadata, b"x": b"MYSSN"})), tmp_path / "in.parquet"
    )
    source = RecordFile(tmp_path / "in.parquet", "kind")
    privatize_file(source, plain, ReportFile(tmp_path / "out.parquet", keep=["__index_level_0__"]))
    out = pq.read_table(tmp_path / "out.parquet")
    assert out.schema.metadata is None
    assert not any(b"told" in (field.metadata or {}) for field in out.schema)
    assert b"MYSSN" not in (tmp_path / "out.parquet").read_bytes()
    assert out.to_pydict() == {"kind": ["x", "y"], "__index_level_0__": [70, 80]}


# What goes wrong


@pytest.mark.parametrize(
    ("content", "column", "part"),
    [
        ("id,kind\n1,a\n2,b\n", "kind", "record 2 is not among the categories (show_values prints it); accepted: 'a'"),
        ("id,kind\n1,a\n2,\n", "kind", "record 2 is missing"),
        (
            "id,kind\n1,a\n",
            "sort",
            "the column 'sort' is missing in the first line; accepted: 'id', 'kind', or",
        ),
        ("id,id\n1,a\n", "id", "the column 'id' occurs twice"),
        ("id,kind\n1,a\n2\n", "kind", "malformed"),
        ("id,kind\n1,a\n2,a,a\n", "kind", "malformed"),
        ('id,kind\n1,"a\n', "kind", "malformed"),
        (b"id,kind\n1,a\n2,\xff\n", "kind", "is not UTF-8"),
        (b"\xff\xfei\0d\0,\0k\0i\0n\0d\0", "kind", "is not UTF-8"),
        ("", "kind", "is empty"),
        ("\n\n", "kind", "is empty"),
        (b"PAR1 nothing", "kind", "malformed"),
        (gzip.compress(b"id,kind\n1,a\n", mtime=0), "kind", "is not UTF-8"),
        ("id,kind\n" + "a" * (5 << 20) + ",a\n", "kind", "malformed"),
    ],
)
def test_bad_files_are_refused_and_leave_nothing(tmp_path, told, content, column, part):
    source = tmp_path / "in.csv"
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "out.csv").write_text("what stood here")
    with pytest.raises(md.InputError) as caught:
        privatize_file(RecordFile(source, column), told, ReportFile(tmp_path / "out.csv", overwrite=True))
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)
    assert (tmp_path / "out.csv").read_text() == "what stood here"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv"]


def test_a_truncated_gzip_file_is_refused(tmp_path, told):
    rng = np.random.default_rng(1)
    rows = [(str(x), "a") for x in rng.integers(0, 10**12, size=20_000)]
    write_csv(tmp_path / "whole.csv.gz", rows, header=["id", "kind"], opener=gzip.open)
    content = (tmp_path / "whole.csv.gz").read_bytes()
    (tmp_path / "in.csv.gz").write_bytes(content[: len(content) // 2])
    with raises("cannot-read", "in.csv.gz"):
        privatize_file(RecordFile(tmp_path / "in.csv.gz", "kind"), told, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_the_record_that_is_refused_is_counted_over_all_batches(tmp_path, told, monkeypatch):
    monkeypatch.setattr(tables, "BLOCK_BYTES", 256)
    source = write_csv(tmp_path / "in.csv", [("a",)] * 1_233 + [("z",)] + [("a",)] * 99, header=["kind"])
    with raises("unknown-label", "record 1234"):
        privatize_file(RecordFile(source, "kind"), told, tmp_path / "out.csv")
    with raises("unknown-label", "record 1234"):
        count_reports(RecordFile(source, "kind"), LABELS)


def test_unknown_and_missing_values_are_taken_for_labels(tmp_path, told):
    source = write_csv(tmp_path / "in.csv", [("a",), ("z",), ("",)], header=None)
    source.write_text('kind,id\na,1\nz,2\n"",3\n')
    privatize_file(RecordFile(source, "kind"), told, tmp_path / "out.csv", unknown="b c", missing="ü ☂")
    assert read_csv(tmp_path / "out.csv") == [["kind"], ["y,1"], ['y"2'], ["y5"]]
    with raises("unknown-label", "unknown", "for 'q'"):
        privatize_file(RecordFile(source, "kind"), told, ReportFile(tmp_path / "out.csv", overwrite=True), unknown="q")


def test_a_path_is_a_file_of_reports_without_other_columns_that_replaces_nothing(tmp_path, told):
    source = RecordFile(write_csv(tmp_path / "in.csv", ROWS), "kind")
    privatize_file(source, told, ReportFile(tmp_path / "out.csv"))
    assert read_csv(tmp_path / "out.csv")[0] == ["kind"]
    for output in (tmp_path / "out.csv", ReportFile(tmp_path / "out.csv")):
        with raises("file-exists", "allow it (overwrite=True)"):
            privatize_file(source, told, output)


@pytest.mark.parametrize(
    ("output", "options", "part"),
    [
        ("out.txt", {}, "accepted: .csv, .parquet"),
        ("out", {}, "accepted: .csv, .parquet"),
        ("in.csv", {}, "is the input"),
        ("nowhere/out.csv", {}, "there is no folder"),
        ("out.csv", {"keep": ["kind"]}, "asked for twice"),
        ("out.csv", {"keep": ["id", "id"]}, "asked for twice"),
        ("out.csv", {"keep": ["absent"]}, "the column 'absent' is missing"),
        ("out.csv", {"rng": 7}, "accepted: None for secure randomness"),
    ],
)
def test_bad_requests_are_refused(tmp_path, told, output, options, part):
    source = write_csv(tmp_path / "in.csv", ROWS)
    with pytest.raises(md.InputError) as caught:
        privatize_file(
            RecordFile(source, "kind"),
            told,
            ReportFile(tmp_path / output, keep=options.get("keep", ())),
            rng=options.get("rng"),
        )
    assert part in str(caught.value)
    assert read_csv(source)[1:] == [list(row) for row in ROWS]


@pytest.mark.parametrize(
    "make",
    [
        lambda: ReportFile("out.csv", keep="week"),
        lambda: ReportFile("out.csv", keep=3),
        lambda: ReportFile("out.csv", overwrite="no"),
        lambda: RecordFile("in.csv", "kind", header="no"),
        lambda: count_reports("in.csv", ("a", "b")),
        lambda: md.deploy.count_dataset("in", None),
    ],
)
def test_a_text_in_place_of_what_it_names_is_refused(make):
    """A text is a sequence of letters and true, so that it would pass for a list of columns and for a yes."""
    with raises("wrong-type"):
        make()


def test_an_index_written_in_two_ways_is_one_column(tmp_path, told):
    source = write_csv(tmp_path / "in.csv", ROWS, header=None)
    with raises("column-twice"):
        privatize_file(RecordFile(source, "1", header=False), told, ReportFile(tmp_path / "out.csv", keep=["01"]))


@pytest.mark.parametrize("column", ["kind", "3", "-1"])
def test_bad_indices_are_refused(tmp_path, told, column):
    source = write_csv(tmp_path / "in.csv", ROWS, header=None)
    with raises("unknown-column"):
        privatize_file(RecordFile(source, column, header=False), told, tmp_path / "out.csv")


def test_parquet_that_does_not_fit_is_refused(tmp_path, told):
    pq.write_table(pa.table({"kind": [1.5], "list": [[1]], "when": [None]}), tmp_path / "in.parquet")
    for column, part in (("kind", "of type double"), ("list", "accepted: flat columns"), ("when", "is missing")):
        with pytest.raises(md.InputError, match=part):
            privatize_file(RecordFile(tmp_path / "in.parquet", column), told, tmp_path / "out.csv")
    with raises("needless-argument"):
        privatize_file(RecordFile(tmp_path / "in.parquet", "0", header=False), told, tmp_path / "out.csv")


@pytest.mark.parametrize("path", ["absent.csv", "."])
def test_unreadable_input(tmp_path, told, path):
    with raises("cannot-read"):
        privatize_file(RecordFile(tmp_path / path, "kind"), told, tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


class Fault(BaseException):
    """Comes between two writes."""


@pytest.mark.parametrize("fault", [Fault, KeyboardInterrupt, MemoryError])
def test_a_fault_between_writes_leaves_nothing_and_the_next_run_succeeds(tmp_path, told, monkeypatch, fault):
    monkeypatch.setattr(tables, "BLOCK_BYTES", 64)
    source = write_csv(tmp_path / "in.csv", ROWS)
    done = []

    def fail_at_third(step):
        done.append(step)
        if len(done) == 3:
            raise fault

    with pytest.raises(fault):
        privatize_file(RecordFile(source, "kind"), told, tmp_path / "out.csv", progress=fail_at_third)
    assert len(done) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]
    assert privatize_file(RecordFile(source, "kind"), told, tmp_path / "out.csv").records == 23


@pytest.mark.slow
def test_a_process_killed_between_writes_leaves_nothing_under_the_name(tmp_path, told):
    write_csv(tmp_path / "in.csv", ROWS * 10)
    told.save(tmp_path / "m.json")
    script = """
import os, signal, sys
import mechdesign as md
from mechdesign.data import tables
from mechdesign.deploy.stream import RecordFile, privatize_file
tables.BLOCK_BYTES = 64
steps = []
def kill(step):
    steps.append(step)
    if len(steps) == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
print(privatize_file(RecordFile("in.csv", "kind"), md.Mechanism.load("m.json"), "out.csv", progress=kill).records)
"""
    killed = subprocess.run([sys.executable, "-c", script, "3"], cwd=tmp_path, capture_output=True, check=False)
    assert killed.returncode == -9, killed.stderr
    assert not (tmp_path / "out.csv").exists()
    again = subprocess.run([sys.executable, "-c", script, "0"], cwd=tmp_path, capture_output=True, check=True)
    assert again.stdout.split() == [b"230"]
    assert len(read_csv(tmp_path / "out.csv")) == 231


@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("room", [0, 40])
def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path, told, monkeypatch, output, room):
    source = write_csv(tmp_path / "in.csv", ROWS)
    plain = stream.written_atomically

    class Full:
        def __init__(self, file):
            self.file, self.left = file, room

        def write(self, content):
            self.left -= len(content)
            if self.left < 0:
                raise OSError(28, os.strerror(28))
            return self.file.write(content)

        def __getattr__(self, name):
            return getattr(self.file, name)

    class Wrapped:
        def __init__(self, path, **options):
            self.context = plain(path, **options)

        def __enter__(self):
            return Full(self.context.__enter__())

        def __exit__(self, *details):
            return self.context.__exit__(*details)

    monkeypatch.setattr(stream, "written_atomically", Wrapped)
    with raises("cannot-write", "No space left on device"):
        privatize_file(RecordFile(source, "kind"), told, tmp_path / output)
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_output_to_a_device_is_refused(tmp_path, told):
    source = write_csv(tmp_path / "in.csv", ROWS)
    (tmp_path / "out.csv").symlink_to("/dev/full")
    with raises("cannot-write", "out.csv", "a device", "or -"):
        privatize_file(RecordFile(source, "kind"), told, ReportFile(tmp_path / "out.csv", overwrite=True))


def test_a_report_outside_the_outputs_is_named(tmp_path, told):
    source = write_csv(tmp_path / "in.csv", [("y 3",), ("y9",)], header=["kind"])
    with raises("unknown-label", "in.csv, record 2", ": 'y9'"):
        count_reports(RecordFile(source, "kind", show_values=True), told.outputs)
