"""Several columns as one: joined labels are parted in one way."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises

from mechdesign.data.compound import SEPARATOR, check_compound, count_cells, joined_column, parted_column

LABELS = st.text("ab& ", min_size=1, max_size=6).filter(
    lambda text: text == text.strip() and SEPARATOR not in f" {text} "
)


@given(st.lists(st.tuples(LABELS, LABELS, LABELS), min_size=1, max_size=6))
def test_columns_come_back_from_their_joined_labels(cells):
    columns = [pa.array(column) for column in zip(*cells, strict=True)]
    joined = joined_column(columns)
    check_compound(joined.to_pylist(), ["a", "b", "c"])
    assert [part.to_pylist() for part in parted_column(joined, 3)] == [column.to_pylist() for column in columns]


def test_combinations_that_occur_are_counted(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("x,y\na,1\nb,1\na,1\na,2\n")
    assert count_cells(path, ["x", "y"]) == {"a & 1": 2, "a & 2": 1, "b & 1": 1}
    assert count_cells(path, ["y", "x"]) == {"1 & a": 2, "1 & b": 1, "2 & a": 1}
    assert count_cells(path, ["1", "0"], header=False)["1 & a"] == 2


@pytest.mark.parametrize(
    ("code", "text", "columns", "shown"),
    [
        ("missing-value", "x,y\na,1\n,1\n", ["x", "y"], "record 2"),
        ("ambiguous-labels", "x,y\na & b,1\n", ["x", "y"], "'a & b'"),
        ("ambiguous-labels", "x,y\na &,1\n", ["x", "y"], "'a &'"),
        ("ambiguous-labels", "x,y\na,& 1\n", ["x", "y"], "'& 1'"),
        ("ambiguous-labels", "x,y\na,&\n", ["x", "y"], "'&'"),
        ("column-twice", "x,y\na,1\n", ["x", "x"], "'x'"),
        ("nothing-given", "x,y\n", ["x", "y"], "no records"),
        ("unknown-column", "x,y\na,1\n", ["x", "z"], "z"),
    ],
)
def test_what_is_no_compound_is_refused(tmp_path, code, text, columns, shown):
    path = tmp_path / "f.csv"
    path.write_text(text)
    with raises(code, shown):
        count_cells(path, columns)
