"""Permanent reports from files: those from memory, for every format and order, and no id where none is kept."""

import io
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.deploy import RecordFile, ReportFile, privatize_dataset, privatize_file
from mechdesign.engine import SerialExecutor

KEY = md.Key(bytes(range(32)))
INPUTS = ("no", "yes", "é")
SIZE = 300
RNG = np.random.default_rng(5)
VALUES = [INPUTS[code] for code in RNG.integers(0, 3, SIZE)]
IDS = RNG.permutation(10 * SIZE)[:SIZE].tolist()


@cache
def mechanism():
    promise = md.Guarantee("log(4)", md.L1Ball(["1/3"] * 3, 2, INPUTS))
    return md.Mechanism(np.array([[5, 2, 1], [2, 5, 1], [2, 2, 4]]), 3, promise, ("u", "v", "w"))


def expected():
    return mechanism().privatize(VALUES, key=KEY, ids=IDS)


def table():
    return pa.table({"person": IDS, "other": ["x"] * SIZE, "answer": VALUES})


def csv_file(path, names=("person", "other", "answer"), header=True):
    rows = zip(*(table()[name].to_pylist() for name in names), strict=True)
    lines = [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join([",".join(names)] * header + lines) + "\n", encoding="utf-8")
    return path


def parquet_file(path, ids):
    pq.write_table(table().set_column(0, "person", ids), path, row_group_size=77)
    return path


@pytest.fixture
def source(tmp_path):
    return csv_file(tmp_path / "records.csv")


def reports_in(path):
    if path.suffix == ".parquet":
        return pq.read_table(path)["answer"].to_pylist()
    header, *lines = path.read_text().splitlines()
    return [line.split(",")[header.split(",").index("answer")] for line in lines]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_csv_file_has_the_reports_of_its_records(ending, source, tmp_path):
    output = tmp_path / f"reports.{ending}"
    assert privatize_file(RecordFile(source, "answer"), mechanism(), output, key=KEY, ids="person").records == SIZE
    assert reports_in(output) == expected()


@pytest.mark.parametrize(
    "ids",
    [
        pa.array(IDS),
        pa.array(IDS, pa.uint16()),
        pa.array(map(str, IDS)),
        pa.array(map(str, IDS), pa.large_string()),
        pa.array(map(str, IDS)).dictionary_encode(),
    ],
    ids=lambda ids: str(ids.type)[:12],
)
def test_a_parquet_file_too_whatever_the_type_of_its_ids(ids, tmp_path):
    source = parquet_file(tmp_path / "records.parquet", ids)
    privatize_file(RecordFile(source, "answer"), mechanism(), tmp_path / "reports.csv", key=KEY, ids="person")
    assert reports_in(tmp_path / "reports.csv") == expected()


def test_a_file_without_a_header_names_columns_by_index(tmp_path):
    source = csv_file(tmp_path / "records.csv", header=False)
    output = ReportFile(tmp_path / "reports.csv", keep=["00"])
    privatize_file(RecordFile(source, "2", header=False), mechanism(), output, key=KEY, ids="0")
    lines = [line.split(",") for line in (tmp_path / "reports.csv").read_text().splitlines()]
    assert lines == [[str(name), report] for name, report in zip(IDS, expected(), strict=True)]


def test_the_order_of_columns_does_not_matter(tmp_path):
    source = csv_file(tmp_path / "records.csv", names=("answer", "person"))
    privatize_file(RecordFile(source, "answer"), mechanism(), tmp_path / "reports.csv", key=KEY, ids="person")
    assert (tmp_path / "reports.csv").read_text().splitlines() == ["answer", *expected()]


@pytest.mark.parametrize("keep", [[], ["person"], ["other"], ["other", "person"]])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_ids_are_written_only_where_they_are_kept(keep, ending, source, tmp_path):
    output = tmp_path / f"reports.{ending}"
    privatize_file(RecordFile(source, "answer"), mechanism(), ReportFile(output, keep), key=KEY, ids="person")
    content = output.read_bytes()
    is_parquet = ending == "parquet"
    names = pq.read_schema(output).names if is_parquet else content.decode().splitlines()[0].split(",")
    assert names == [name for name in ("person", "other", "answer") if name in [*keep, "answer"]]
    assert reports_in(output) == expected()
    if "person" not in keep:
        assert not any(str(name).encode() in content for name in IDS if name >= 1000)


def test_the_column_of_ids_may_have_a_type_that_csv_does_not_hold_only_if_it_is_no_id(tmp_path):
    source = parquet_file(tmp_path / "records.parquet", pa.array([b"x"] * SIZE))
    with raises("bad-id", "parquet, record 1: the id", "binary"):
        privatize_file(RecordFile(source, "answer"), mechanism(), tmp_path / "reports.csv", key=KEY, ids="person")
    assert not (tmp_path / "reports.csv").exists()


def test_a_run_again_gives_the_same_bytes(source, tmp_path):
    for name in ("one.csv", "two.csv", "one.parquet", "two.parquet"):
        privatize_file(RecordFile(source, "answer"), mechanism(), tmp_path / name, key=KEY, ids="person")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_one_id_with_two_values_and_one_twice(tmp_path):
    (tmp_path / "r.csv").write_text("id,a\n7,no\n7,yes\n7,no\n 7 ,no\n")
    found = []
    for seed in range(40):
        output = tmp_path / f"o{seed}.csv"
        privatize_file(
            RecordFile(tmp_path / "r.csv", "a"), mechanism(), output, key=md.Key(bytes([seed] * 32)), ids="id"
        )
        found.append(output.read_text().split()[1:])
    assert all(first == third == fourth for first, _, third, fourth in found)
    assert any(first != second for first, second, *_ in found)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("id,a\n1,no\n,yes\n", "record 2: the id is missing; give an id for each record"),
        ('id,a\n1,no\n" ",yes\n', "record 2: the id is missing; give an id for each record"),
        ("id,a\n1,no\n2,perhaps\n", "record 2 is not among the categories"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_written(content, told, tmp_path):
    (tmp_path / "r.csv").write_text(content)
    with pytest.raises(md.InputError) as caught:
        privatize_file(RecordFile(tmp_path / "r.csv", "a"), mechanism(), tmp_path / "o.csv", key=KEY, ids="id")
    assert str(caught.value).startswith(f"{tmp_path}/r.csv, {told}")
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


def test_reports_that_exist_are_refused_for_the_reason_that_is_true(tmp_path):
    (tmp_path / "r.csv").write_text("id,a\n1,no\n2,yes\n")
    records, path = RecordFile(tmp_path / "r.csv", "a"), tmp_path / "o.csv"
    privatize_file(records, mechanism(), path, key=KEY, ids="id")
    before = path.read_bytes()
    with raises("file-exists") as refused:
        privatize_file(records, mechanism(), path, key=KEY, ids="id")
    assert str(refused.value) == (
        f"{path} exists, and an earlier draw is replaced only on request: with the same mechanism, key, attribute and "
        "ids a value gets the same report again, and otherwise a second one, which leaks more; give another name, or "
        "allow it (overwrite=True)"
    )
    privatize_file(records, mechanism(), ReportFile(path, overwrite=True), key=KEY, ids="id")
    assert path.read_bytes() == before
    with raises("file-exists"):
        privatize_file(records, mechanism(), path)


@pytest.mark.parametrize("gone", [None, ""])
def test_a_missing_id_of_a_parquet_file_is_named_among_all_rows(gone, tmp_path, monkeypatch):
    monkeypatch.setattr("mechdesign.data.tables.BATCH_ROWS", 50)
    names = [str(name) for name in IDS]
    names[200] = gone
    source = parquet_file(tmp_path / "records.parquet", pa.array(names))
    with raises("missing-value", "parquet, record 201: the id"):
        privatize_file(RecordFile(source, "answer"), mechanism(), tmp_path / "o.csv", key=KEY, ids="person")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"key": KEY}, "a key is given without ids"),
        ({"ids": "person"}, "ids are given without a key"),
        ({"key": KEY, "ids": "person", "rng": np.random.default_rng(1)}, "a key and rng are given"),
        ({"key": KEY, "ids": "answer"}, "the column 'answer' is that of the records and that of the ids"),
        ({"key": KEY, "ids": "nobody"}, "the column 'nobody' is missing in the first line"),
        ({"key": KEY, "ids": ["person"]}, "ids is ['person']; give the name of the column of ids"),
        ({"key": "absent.key", "ids": "person"}, "cannot read absent.key"),
    ],
)
def test_what_does_not_fit_together_is_refused(given, told, source, tmp_path):
    with pytest.raises(md.InputError) as caught:
        privatize_file(RecordFile(source, "answer"), mechanism(), tmp_path / "o.csv", **given)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "o.csv").exists()


def test_long_ids_are_read_from_files(tmp_path):
    long = ["x" * 2**20 + end for end in "ab"]
    (tmp_path / "r.csv").write_text("".join(["id,a\n", *(f"{name},no\n" for name in long)]))
    privatize_file(RecordFile(tmp_path / "r.csv", "a"), mechanism(), tmp_path / "o.csv", key=KEY, ids="id")
    expected = mechanism().privatize(["no", "no"], key=KEY, ids=long)
    assert (tmp_path / "o.csv").read_text().split()[1:] == expected


def test_progress_is_told(source, tmp_path):
    said = io.StringIO()
    privatize_file(
        RecordFile(source, "answer"), mechanism(), tmp_path / "o.csv", key=KEY, ids="person", progress=said.write
    )
    assert said.getvalue() == "privatizing: 300 records"


class SwapsTheKey(SerialExecutor):
    """Puts another key under the same path when the second task begins, as another machine may have one there."""

    def __init__(self, path):
        self.path, self.tasks = path, 0

    def submit(self, fn, /, *args, **kwargs):
        self.tasks += 1
        if self.tasks == 2:
            self.path.unlink()
            md.Key(bytes(32)).write(self.path)
        return super().submit(fn, *args, **kwargs)


@pytest.mark.parametrize("given", [str, lambda path: md.KeyFile(path, "answer")])
def test_no_part_is_drawn_by_a_key_that_is_not_the_one_in_the_manifest(given, tmp_path):
    for name in ("a.csv", "b.csv"):
        csv_file(tmp_path / name)
    KEY.write(tmp_path / "key")
    records = RecordFile(tmp_path / "*.csv", "answer")
    with raises("second-report"):
        privatize_dataset(
            records,
            mechanism(),
            tmp_path / "out",
            SwapsTheKey(tmp_path / "key"),
            key=given(tmp_path / "key"),
            ids="person",
        )
    assert [path.name for path in (tmp_path / "out").glob("*.csv")] == ["a.csv"]
