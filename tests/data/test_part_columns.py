import csv
import datetime

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises

from mechdesign.data.compound import count_cells
from mechdesign.data.counts import count_column
from mechdesign.data.joint_counts import count_pairs
from mechdesign.data.part_columns import check_folder_values, read_columns

WAYS = ["bus", "car"]
RECORDS = [("bus", "m"), ("car", "f"), ("bus", "f"), ("walk", "m"), ("bus", "m"), ("car", "m")]


def written(path, records, names=("commute", "sex")):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *records])


@pytest.fixture
def weeks(tmp_path):
    """One file, and the same records in a folder of files for each week."""
    written(tmp_path / "all.csv", RECORDS)
    written(tmp_path / "weeks/week=1/a.csv", RECORDS[:2])
    written(tmp_path / "weeks/week=1/empty.csv", [])
    written(tmp_path / "weeks/week=2/a.csv", RECORDS[2:])
    return tmp_path


def test_a_folder_is_counted_as_one_file(weeks):
    whole, parts, some = weeks / "all.csv", weeks / "weeks", f"{weeks}/weeks/*/*.csv"
    for source in (parts, some):
        assert count_column(source, "commute") == count_column(whole, "commute")
        assert count_cells(source, ["sex", "commute"]) == count_cells(whole, ["sex", "commute"])
        assert count_pairs(source, "sex", "commute") == count_pairs(whole, "sex", "commute")


@given(st.lists(st.lists(st.sampled_from(RECORDS), max_size=4), min_size=1, max_size=4))
def test_any_division_into_parquet_files_counts_alike(tmp_path_factory, parts):
    folder = tmp_path_factory.mktemp("parts")
    expected = {}
    for number, records in enumerate(parts):
        columns = {name: [record[place] for record in records] for place, name in enumerate(("commute", "sex"))}
        table = pyarrow.table(columns, schema=pyarrow.schema([(name, pyarrow.string()) for name in columns]))
        pyarrow.parquet.write_table(table, folder / f"{number}.parquet")
        for record in records:
            expected[record[0]] = expected.get(record[0], 0) + 1
    if expected:
        assert count_column(folder, "commute") == expected
    else:
        with raises("nothing-given", "has no records"):
            count_column(folder, "commute")


def test_names_of_folders_are_a_column(weeks):
    found = count_pairs(weeks / "weeks", "week", "commute", about="group")
    assert found.values == ("1", "2")
    assert dict(zip(found.labels, found.counts[0], strict=True)) == {"bus": 1, "car": 1, "walk": 0}
    with raises("unknown-column", "'week'", "names of folders"):
        count_column(weeks / "weeks", "week")


def test_columns_stand_in_the_order_in_which_they_were_asked_for(weeks):
    (first,) = read_columns(weeks / "all.csv", ["sex", "commute"])
    assert [tuple(column.to_pylist()) for column in first.columns] == [
        tuple(zip(*RECORDS, strict=True))[i] for i in (1, 0)
    ]
    (first,) = read_columns(weeks / "all.csv", ["01", "0"], header=False)
    assert first.columns[0][0].as_py() == "sex"


def test_a_record_is_named_in_its_own_file(weeks):
    written(weeks / "weeks/week=2/b.csv", [("bus", "f"), ("", "m")])
    with raises("missing-value", "week=2/b.csv, record 2"):
        count_column(weeks / "weeks", "commute")
    with raises("missing-value", "week=2/b.csv, record 2"):
        count_cells(weeks / "weeks", ["sex", "commute"])
    with raises("bad-label", "week=2/b.csv, record 2"):
        count_pairs(weeks / "weeks", "sex", "commute")
    written(weeks / "weeks/week=2/c.csv", [("bus",)], names=("way",))
    with raises("unknown-column", "week=2/c.csv", "'commute'"):
        list(read_columns(weeks / "weeks", ["commute"]))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_that_hold_the_column_of_their_folder_agree_with_it(weeks, ending):
    def put(values, folder="week=1"):
        path = weeks / f"both/{folder}/a.{ending}"
        if ending == "csv":
            written(path, [(value, way) for value, way in zip(values, WAYS, strict=False)], names=("week", "commute"))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            pyarrow.parquet.write_table(pa.table({"week": values, "commute": WAYS[: len(values)]}), path)

    put(["1", "1"])
    put(["2"], "week=2")
    found = count_pairs(weeks / "both", "week", "commute", about="group")
    assert found.values == ("1", "2")
    put(["1", "2"])
    with raises("conflicting-arguments", "week=1/a", "record 2", "'week'", "'1'"):
        count_pairs(weeks / "both", "week", "commute", about="group")
    put([""])
    with raises("conflicting-arguments", "record 1"):
        count_pairs(weeks / "both", "week", "commute", about="group")
    assert count_column(weeks / "both", "commute") == {"bus": 2}, "the column is not asked for"


@pytest.mark.parametrize(
    ("values", "said", "row"),
    [
        (pa.array([1, 1]), "01", None),
        (pa.array([1, 2]), "01", 1),
        (pa.array([1, None]), "1", 1),
        (pa.array([1]), "one", 0),
        (pa.array(["1"]), "01", 0),
        (pa.array(["a", "a"]).dictionary_encode(), "a", None),
        (pa.array(["a", "b"]).dictionary_encode(), "a", 1),
        (pa.array([None, "a"]), None, 1),
        (pa.array([None, None]).cast(pa.string()), None, None),
        (pa.array([None]), None, None),
        (pa.array([None]), "a", 0),
        (pa.array([datetime.date(2026, 5, 1)]), "2026-05-01", None),
        (pa.array([datetime.date(2026, 5, 1)]), "2026-05-02", 0),
        (pa.array([1.5, float("nan")]), "1.5", 1),
    ],
)
def test_values_are_compared_in_the_type_of_the_column(tmp_path, values, said, row):
    pyarrow.parquet.write_table(pa.table({"k": values}), tmp_path / "a.parquet")
    if row is None:
        check_folder_values(tmp_path / "a.parquet", {"k": said})
    else:
        with raises("conflicting-arguments", f"record {row + 1}:"):
            check_folder_values(tmp_path / "a.parquet", {"k": said})


def test_a_column_without_a_name_is_compared_by_its_index(tmp_path):
    (tmp_path / "a.csv").write_text("x,1\nx,2\n")
    check_folder_values(tmp_path / "a.csv", {"0": "x", "2": "y"}, header=False)
    with raises("conflicting-arguments", "record 2:", "'1'"):
        check_folder_values(tmp_path / "a.csv", {"1": "1"}, header=False)
