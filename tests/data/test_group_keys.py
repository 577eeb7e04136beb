import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from refusals import raises

from mechdesign.data.group_keys import as_plain, key_type, keys_of_arrow, named, order

NOON = datetime.datetime.fromisoformat("2026-05-01T12:00")


@pytest.mark.parametrize(
    ("column", "keys"),
    [
        (pa.array(["b", None, "a", "", "b"]), ["b", None, "a", None]),
        (pa.array(["b", "a", None]).dictionary_encode(), ["b", "a", None]),
        (pa.array(["b", None], pa.large_string()), ["b", None]),
        (pa.array([None, None]), [None]),
        (pa.array([3, -1, None], pa.int8()), [3, -1, None]),
        (pa.array([2**63], pa.uint64()), [2**63]),
        (pa.array([True, False, None]), [True, False, None]),
        (pa.array([datetime.date(2026, 5, 1), None]), [datetime.date(2026, 5, 1), None]),
        (pa.array([NOON], pa.timestamp("ns")), [NOON]),
        (pa.array([datetime.time(7, 30)], pa.time32("s")), [datetime.time(7, 30)]),
        (pa.array([Decimal("1.50")]), [Decimal("1.50")]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_keys_of_columns(column, keys):
    kind = key_type(column.type, "x")
    found, places = keys_of_arrow(column, kind, "x")
    assert found == keys or sorted(map(str, found)) == sorted(map(str, [*keys, None]))  # two kinds of missing text
    assert [found[place] for place in places.tolist()] == [
        value or None if value == "" else value for value in column.to_pylist()
    ]
    assert pa.array(found, kind).to_pylist() == found
    assert sorted(found, key=lambda key: order((key,)))[-1] == (None if None in found else max(found))


@pytest.mark.parametrize("kind", [pa.float64(), pa.float16(), pa.binary(), pa.list_(pa.int8()), pa.duration("s")])
def test_types_that_do_not_group(kind):
    with raises("wrong-column-type", "the column x"):
        key_type(kind, "the column x")


def test_texts_and_times_beyond_the_limits():
    with raises("wrong-column-type", "x", "1,001", "1,000"):
        keys_of_arrow(pa.array(["a" * 1001]), pa.string(), "x")
    fine = pa.array([1], pa.int64()).cast(pa.timestamp("ns"))
    with raises("wrong-column-type", "x"):
        keys_of_arrow(fine, key_type(fine.type, "x"), "x")


def test_names():
    assert named(["a", "b"]) == ("a", "b")
    for wrong in ("a", [], ["a", ""], ["a", 1]):
        with raises("wrong-type"):
            named(wrong)
    with raises("column-twice", "column 'a'"):
        named(["a", "b", "a"])


def test_keys_as_json():
    assert as_plain(datetime.datetime(2026, 5, 1, 12, tzinfo=datetime.UTC)) == "2026-05-01T12:00:00+00:00"
    assert as_plain(Decimal("1.50")) == "1.50"
    assert as_plain(None) is None
