import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises

from mechdesign import InputError
from mechdesign.data.counts import checked_counts, count_column, read_counts, tally


@pytest.fixture
def csv_file(tmp_path):
    def write(content):
        path = tmp_path / "table.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# checked_counts


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"b": 1, "a": 3}, (("b", "a"), (1, 3))),
        ({1: 2, "x": 0}, (("1", "x"), (2, 0))),
        ([5, 0, 1], (("x1", "x2", "x3"), (5, 0, 1))),
        ((1, 1), (("x1", "x2"), (1, 1))),
        (np.array([2, 3]), (("x1", "x2"), (2, 3))),
        ({"a": np.int64(4), "b": 10**15}, (("a", "b"), (4, 10**15))),
    ],
)
def test_counts_keep_their_order_and_become_integers(counts, expected):
    labels, values = checked_counts(counts)
    assert (labels, values) == expected
    assert {type(value) for value in values} == {int}


@pytest.mark.parametrize(
    ("counts", "part"),
    [
        ({}, "no category"),
        ([], "no category"),
        ({"only": 5}, "one category ('only')"),
        ([5], "one category ('x1')"),
        ({"a": 0, "b": 0}, "all counts are 0"),
        ({"a": -1, "b": 2}, "the count of 'a' is -1"),
        ({"a": 1.5, "b": 2}, "the count of 'a' is 1.5"),
        ({"a": 1.0, "b": 2}, "the count of 'a' is 1.0"),
        ({"a": 1, "b": float("nan")}, "the count of 'b' is nan"),
        ({"a": "3", "b": 2}, "a count is a str; accepted: whole numbers"),
        ({"a": None, "b": 2}, "a count is a NoneType"),
        ({"a": True, "b": 2}, "a count is a bool"),
        ({"a": np.True_, "b": 2}, "a count is a bool"),
        ({"a": 10**15 + 1, "b": 2}, "from 0 to 10^15"),
        pytest.param({"a": 10**5_000, "b": 2}, "from 0 to 10^15", id="5001 digits"),
        (np.array([1.0, 2.0]), "a count is not a whole number"),
        ({1: 2, "1": 3}, "'1' occurs twice"),
        ({"": 2, "b": 3}, "a label is empty"),
        ({1.5: 2, "b": 3}, "the label 1.5"),
        ("ab", "the counts are of type str"),
        (7, "the counts are of type int"),
        ({1, 2}, "the counts are of type set"),
    ],
)
def test_counts_of_no_distribution_are_refused(counts, part):
    with pytest.raises(InputError) as caught:
        checked_counts(counts)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


# tally


def test_categories_come_by_falling_count_then_by_label():
    assert list(tally(["b", "c", "a", "c", "10", "9"]).items()) == [("c", 2), ("9", 1), ("10", 1), ("a", 1), ("b", 1)]


def test_categories_that_are_integers_come_as_numbers():
    assert list(tally([12, 1, 10, 2, 10]).items()) == [("1", 1), ("2", 1), ("10", 2), ("12", 1)]


@given(st.lists(st.sampled_from(["a", "b", "c", 1, 2, "?"])))
def test_a_tally_counts_every_record_once(records):
    counts = tally(iter(records))
    assert sum(counts.values()) == len(records)
    assert all(counts[str(record)] == records.count(record) for record in records)
    numbers = not {"a", "b", "c", "?"} & set(counts)
    wanted = sorted(counts, key="12?abc".index)
    assert list(counts) == (wanted if numbers else sorted(wanted, key=lambda label: -counts[label]))


def test_a_given_alphabet_keeps_its_order_and_its_unseen_symbols():
    assert list(tally(["b", "b", 1], labels=["z", 1, "b"]).items()) == [("z", 0), ("1", 1), ("b", 2)]


@pytest.mark.parametrize("records", [np.array([3, 1, 3]), np.array(["3", "1", "3"])])
def test_arrays_are_records_too(records):
    assert tally(records) == {"3": 2, "1": 1}


@pytest.mark.parametrize(
    ("records", "labels", "part"),
    [
        ("abba", None, "give a list of records"),
        (["a", ""], None, "records[1]: a label is empty"),
        (["a", 1.5], None, "records[1]: the label 1.5 is a float"),
        (["a", None], None, "NoneType"),
        (np.array([1.0, 2.0]), None, "float"),
        (np.ma.array([1, 2], mask=[False, True]), None, "records[1]: the label None"),
        (["a", "c"], ["a", "b"], "records[1] is not among the 2 labels given: 'c'"),
        (["a"], ["a", "a"], "'a' occurs twice"),
    ],
)
def test_records_of_no_category_are_refused(records, labels, part):
    with pytest.raises(InputError) as caught:
        tally(records, labels, show_values=True)
    assert part in str(caught.value)


# read_counts


@pytest.mark.parametrize(
    ("content", "header"),
    [
        ("label,count\nb,1\na,3\n", True),
        ("b,1\na,3\n", False),
        ("b,1\na,3", False),
        ("b,1\r\na,3\r\n", False),
        ("\ufefflabel,count\nb,1\na,3\n", True),
        ("\ufeffb,1\na,3\n", False),
        ('"label","count"\n"b","1"\n"a",3\n', True),
        ("  label , count \n b ,  1\n\ta\t, 3 \n", True),
        ("\n\nlabel,count\n\nb,1\n  ,  \na,3\n\n", True),
    ],
)
def test_a_table_of_counts_is_read_in_its_order(csv_file, content, header):
    assert list(read_counts(csv_file(content), header=header).items()) == [("b", 1), ("a", 3)]


def test_nothing_is_inferred_from_the_text_of_a_label(csv_file):
    content = 'label,count\n007,1\n7,2\n1.0,3\ntrue,4\nNA,5\n?,6\n"a, ""b""",7\nd\u00e9j\u00e0,8\n'
    assert list(read_counts(csv_file(content))) == ["007", "7", "1.0", "true", "NA", "?", 'a, "b"', "déjà"]


@pytest.mark.parametrize(
    ("content", "header", "part"),
    [
        ("a,3\nb,1\n", True, "the first line is data: 'a,3', not a header"),
        ("label,count\na,-1\n", True, "line 2: the second field is not a count: '-1'"),
        ("a,1.5\n", False, "line 1: the second field is not a count: '1.5'"),
        ("a,1e3\n", False, "the second field is not a count: '1e3'"),
        ("a,nan\n", False, "the second field is not a count: 'nan'"),
        ("a,\n", False, "the second field is not a count: ''"),
        ("a,²\n", False, "the second field is not a count: '²'"),
        ("a,١\n", False, "the second field is not a count: '١'"),
        (f"a,{10**18}\n", False, "the second field is not a count: '1000000000000000000'"),
        ('a,"1,000"\n', False, "the second field is not a count: '1,000'"),
        ("label,count\na,1\nb,2,3\n", True, "line 3: 3 fields"),
        ("label,count\na,1\nb\n", True, "line 3: 1 field: 'b'"),
        ("a;1\n", False, "line 1: 1 field: 'a;1'; accepted: two, a label and its count, separated by a comma"),
        ("label,count\na,1\n\nb,2\na,3\n", True, "line 5: the label occurs twice: 'a'"),
        (",1\n", False, "a label is empty"),
        ('a,1\n"b,2\n', False, "malformed, line 2: a quote that is not closed"),
        ('"a"b,1\n', False, "malformed, line 1: text after a closing quote"),
        ('a,1\nb"c,1\n', False, "malformed, line 2: a quote within a field without quotes"),
        ("a,1\rb,2\n", False, "malformed, line 1: a carriage return that ends no line"),
        ("a,1\nb\0,2\n", False, "malformed, line 2: a NUL character"),
        (b"label,count\nd\xe9j\xe0,1\n", True, "not UTF-8"),
        ("label,count\na,1\n".encode("utf-16"), True, "not UTF-8"),
    ],
)
def test_a_bad_table_of_counts_is_refused_with_its_line(csv_file, content, header, part):
    path = csv_file(content)
    with pytest.raises(InputError) as caught:
        read_counts(path, header=header, show_values=True)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["", "\n\n", "label,count\n"])
def test_an_empty_table_has_no_counts(csv_file, content):
    with raises("nothing-given", "label"):
        read_counts(csv_file(content))


def test_a_missing_file_is_refused(tmp_path):
    with raises("cannot-read"):
        read_counts(tmp_path / "absent.csv")
    with raises("cannot-read"):
        count_column(tmp_path / "absent.csv", "a")


def test_a_folder_is_refused(tmp_path):
    with raises("cannot-read"):
        read_counts(tmp_path)
    with raises("cannot-read"):
        count_column(tmp_path, "a")


# count_column


@pytest.mark.parametrize(
    ("content", "column", "header"),
    [
        ("id,kind\n1,b\n2,a\n3,b\n", "kind", True),
        ("\ufeffkind,id\nb,1\na,2\nb,3\n", "kind", True),
        ('"id","kind"\n"1","b"\n2, "a"\n3,b\n', "kind", True),
        (" id , kind \n1 , b \n\n2,a\n\n3,b", "kind", True),
        ("1,b\n2,a\n3,b\n", "1", False),
        ("\ufeffb\na\nb\n", "0", False),
    ],
)
def test_a_column_is_counted_by_name_or_index(csv_file, content, column, header):
    assert list(count_column(csv_file(content), column, header=header).items()) == [("b", 2), ("a", 1)]


def test_a_counted_column_comes_by_count_then_by_label(csv_file):
    counts = count_column(csv_file("kind\nb\nc\na\nc\n?\n007\n7\n"), "kind")
    assert list(counts.items()) == [("c", 2), ("007", 1), ("7", 1), ("?", 1), ("a", 1), ("b", 1)]


@pytest.mark.parametrize(
    ("content", "column", "header", "part"),
    [
        ("id,kind\n1,b\n", "sort", True, "the column 'sort' is missing"),
        ("id,kind\n1,b\n", "sort", True, "'id', 'kind'"),
        ("id,kind\n1,b\n", "1", True, "the column '1' is missing"),
        ("kind,kind\n1,b\n", "kind", True, "the column 'kind' occurs twice"),
        ("1,b\n", "kind", False, "without a header give its index"),
        ("1,b\n", "-1", False, "without a header give its index"),
        ("1,b\n", "2", False, "the first line has 2 fields, so there is no column 2"),
        ("id,kind\n1,b\n2\n", "kind", True, "malformed, line 3: 1 field"),
        ("id,kind\n1,b\n2,a,more\n3,b\n", "kind", True, "malformed, line 3: 3 fields"),
        ("id,kind\n1,b\n , \n", "kind", True, "record 2 is missing"),
        ("id,kind\n1,b\n2,\n", "kind", True, "record 2 is missing"),
        ('id,kind\n1,b\n2,"  "\n', "kind", True, "record 2 is missing"),
        ('id,kind\n1,"b\n', "kind", True, "malformed, line 2: a quote that is not closed"),
        ('id,kind\n1,b"c\n', "kind", True, "malformed, line 2: a quote within a field without quotes"),
        (b"kind\nd\xe9j\xe0\n", "kind", True, "not UTF-8"),
        pytest.param("kind\n" + "x" * 1_001, "kind", True, "1001 characters", id="long label"),
        pytest.param("kind\n" + "x" * 200_000, "kind", True, "200000 characters", id="long field"),
    ],
)
def test_a_bad_column_is_refused(csv_file, content, column, header, part):
    path = csv_file(content)
    with pytest.raises(InputError) as caught:
        count_column(path, column, header=header, show_values=True)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
def test_a_parquet_column_is_counted(tmp_path, kind):
    pq.write_table(pa.table({"kind": pa.array(["b", "a", "b"], kind)}), tmp_path / "t.parquet", row_group_size=2)
    assert list(count_column(tmp_path / "t.parquet", "kind").items()) == [("b", 2), ("a", 1)]


def test_parquet_integers_are_labels_and_other_values_none(tmp_path):
    pq.write_table(pa.table({"i": [7, 7], "f": [0.5, 1.0], "n": ["a", None]}), tmp_path / "t.parquet")
    assert count_column(tmp_path / "t.parquet", "i") == {"7": 2}
    for column, part in (
        ("f", "record 1 is a float that"),
        ("n", "record 2 is missing"),
        ("x", "the column 'x' is missing"),
    ):
        with pytest.raises(InputError, match=part):
            count_column(tmp_path / "t.parquet", column)
    with raises("needless-argument"):
        count_column(tmp_path / "t.parquet", "0", header=False)


@pytest.mark.parametrize("records", [{"a": 812, "b": 150}, np.array([["a", "b"], ["c", "d"]]), 5])
def test_what_is_no_list_of_records_is_not_counted(records):
    with raises("wrong-record-type"):
        tally(records)
