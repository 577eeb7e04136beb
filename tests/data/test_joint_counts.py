"""Counts of pairs, from records and from files of counts."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import raises

from mechdesign.data.joint_counts import JointCounts, count_pairs, read_joint_counts


@pytest.fixture
def csv_file(tmp_path):
    def write(content):
        path = tmp_path / "table.csv"
        path.write_text(content)
        return path

    return write


RECORDS = "sex,age,job\nm,3,b\nf,4,a\nm,5,a\nm,6,b\nf,7,c\n"


def test_pairs_are_counted_with_rows_and_columns_by_falling_count(csv_file):
    expected = JointCounts(((2, 1, 0), (0, 1, 1)), ("m", "f"), ("a", "b", "c"))
    counted = count_pairs(csv_file(RECORDS), "sex", "job")
    assert counted.total == 5
    assert counted.values == expected.values
    assert counted.labels == expected.labels
    assert counted.counts == ((1, 2, 0), (1, 0, 1))
    assert count_pairs(csv_file(RECORDS.partition("\n")[2]), "0", "2", header=False) == counted
    turned = count_pairs(csv_file(RECORDS), "job", "sex")
    assert (turned.values, turned.labels) == (counted.labels, counted.values)
    assert turned.counts == tuple(zip(*counted.counts, strict=True))


def test_parquet_is_counted_alike(tmp_path, csv_file):
    path = tmp_path / "records.parquet"
    pq.write_table(pa.table({"job": ["b", "a", "a", "b", "c"], "sex": ["m", "f", "m", "m", "f"]}), path)
    assert count_pairs(path, "sex", "job") == count_pairs(csv_file(RECORDS), "sex", "job")


@pytest.mark.parametrize(
    ("content", "secret", "column", "code"),
    [
        (RECORDS, "job", "job", "column-twice"),
        (RECORDS, "race", "job", "unknown-column"),
        ("sex,job\nm,a\nf,\n", "sex", "job", "bad-label"),
        ("sex,job\n", "sex", "job", "nothing-given"),
        ("sex,job\nm,a\nm,b\n", "sex", "job", "too-few-categories"),
        ("sex,job\nm,a\nf,a\n", "sex", "job", "too-few-categories"),
    ],
)
def test_records_that_are_refused(csv_file, content, secret, column, code):
    with raises(code):
        count_pairs(csv_file(content), secret, column)


def test_refused_values_are_printed_on_request_alone(csv_file):
    path = csv_file("sex,job\nm,a\n,hidden\n")
    with raises("bad-label", "show_values prints it") as quiet:
        count_pairs(path, "sex", "job")
    assert "hidden" not in str(quiet.value)
    with raises("bad-label", "record 2"):
        count_pairs(path, "sex", "job", show_values=True)


COUNTS = "job,sex,count\na,f,1\na,m,1\n\nb,m,2\nc,f,1\n"


def test_a_file_of_joint_counts(csv_file):
    joint, column = read_joint_counts(csv_file(COUNTS), "sex")
    assert column == "job"
    assert joint == count_pairs(csv_file(RECORDS), "sex", "job")
    other, column = read_joint_counts(csv_file(COUNTS.partition("\n")[2]), "1", header=False)
    assert (other, column) == (joint, "0")
    turned, column = read_joint_counts(csv_file(COUNTS), "job")
    assert (turned.values, column) == (joint.labels, "sex")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("job,sex\na,f\n", "malformed-table"),
        ("job,race,count\na,f,1\n", "unknown-column"),
        ("sex,sex,count\na,f,1\n", "unknown-column"),
        ("job,sex,count\na,f,x\n", "not-counts"),
        ("job,sex,count\na,f,-1\n", "not-counts"),
        ("job,sex,count\na,f,1\na,f,2\n", "label-twice"),
        ("job,sex,count\na,,1\n", "bad-label"),
        ("job,sex,count\n", "nothing-given"),
        ("", "nothing-given"),
        ("sex,a,5\nm,a,3\nf,b,2\n", "first-line-is-data"),
    ],
)
def test_files_of_joint_counts_that_are_refused(csv_file, content, code):
    with raises(code):
        read_joint_counts(csv_file(content), "sex")
