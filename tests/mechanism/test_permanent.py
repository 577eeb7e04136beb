"""Permanent reports: the same for the same id and value, by the documented bytes, with the probabilities proved."""

import hashlib
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from chi_square import NEVER_FLAKES, p_value
from containers import CONTAINERS
from refusals import raises

import mechdesign as md
from mechdesign.data.ids import Ids
from mechdesign.mechanism.reporting import PermanentReports
from mechdesign.mechanism.sampler import Sampler

KEY = md.Key(bytes(range(32)))
LABELS = ("no", "ja, später", "日本")
RNG = np.random.default_rng(20)


def mechanism(bits=3, outputs=("u", "v", "w"), labels=LABELS):
    numerators = np.array([[5, 2, 1], [2, 5, 1], [2, 2, 4]]) << (bits - 3)
    return md.Mechanism(numerators, bits, md.Guarantee("log(4)", md.L1Ball(["1/3"] * 3, 2, labels)), outputs)


def records(size):
    return [LABELS[code] for code in RNG.integers(0, 3, size)]


def documented():
    page = (Path(__file__).parents[2] / "docs" / "file-format.md").read_text(encoding="utf-8")
    source = next(block for block in re.findall("```python\n(.*?)```", page, re.DOTALL) if "permanent" in block)
    names = {}
    exec(source, names)  # noqa: S102 - the code of the documentation
    return names["permanent_report"]


@pytest.mark.parametrize("attribute", ["", "smokes", "été"])
def test_reports_are_those_of_the_documentation(attribute, tmp_path):
    made = mechanism(52)
    made.save(tmp_path / "m.json")
    file = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    ids = ["ann", "Ann", "a\0b", "é", "e\u0301", "x" * 1000, 7, -7, 10**40, "a b", "日本語"] * 3
    values = records(len(ids))
    key = KEY.for_attribute(attribute) if attribute else KEY
    expected = [
        documented()(file, made.fingerprint, KEY.secret, name, value, attribute)
        for name, value in zip(ids, values, strict=True)
    ]
    assert made.privatize(values, key=key, ids=ids) == expected


def test_a_fixed_vector():
    # It must never change: a new report about the same value would be a second one.
    reports = mechanism(52).permanent_reports(KEY)
    integers = reports.integers(np.array([0, 1, 2, 0]), [b"ann", b"ann", b"ann", "é".encode()])
    assert integers.tolist() == [3526915949770747, 3778362018456199, 3363804578017207, 3330580901853809]


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_of_ids_gives_the_same_reports(container):
    ids = ["ann", "naïve ☂", "7", "ann"]
    values = [LABELS[0], LABELS[1], LABELS[2], LABELS[0]]
    expected = mechanism().privatize(values, key=KEY, ids=ids)
    assert mechanism().privatize(values, key=KEY, ids=container(ids)) == expected
    assert expected[0] == expected[3]


@pytest.mark.parametrize(
    "container",
    [
        list,
        np.array,
        lambda i: np.array(i, dtype=object),
        lambda i: np.array(i, dtype=np.uint8),
        pd.Series,
        pl.Series,
        pa.array,
        lambda i: list(map(str, i)),
        lambda i: [str(i[0]), *i[1:]],
        lambda i: pd.Series([str(i[0]), *i[1:]], dtype=object),
    ],
)
def test_integers_are_the_text_of_their_digits(container):
    ids = list(range(100))
    values = records(100)
    expected = mechanism().privatize(values, key=KEY, ids=[f"{i}" for i in ids])
    assert mechanism().privatize(values, key=KEY, ids=container(ids)) == expected


def test_codes_have_the_reports_of_their_labels():
    codes = RNG.integers(0, 3, 50)
    found = mechanism().privatize(codes, key=KEY, ids=range(50))
    labels = mechanism().privatize([LABELS[code] for code in codes], key=KEY, ids=range(50))
    assert [mechanism().outputs[code] for code in found] == labels


def test_a_replaced_value_has_the_report_of_its_label():
    found = mechanism().privatize(
        ["other", "", LABELS[0]], key=KEY, ids=[1, 1, 1], unknown=LABELS[0], missing=LABELS[0]
    )
    assert len(set(found)) == 1


def test_order_and_blocks_change_nothing(monkeypatch):
    ids, values = [f"id {i}" for i in range(1000)], records(1000)
    whole = mechanism().privatize(values, key=KEY, ids=ids)
    order = RNG.permutation(1000)
    shuffled = mechanism().privatize([values[i] for i in order], key=KEY, ids=[ids[i] for i in order])
    assert [whole[i] for i in order] == shuffled
    monkeypatch.setattr("mechdesign.mechanism.reporting._BLOCK", 7)
    assert mechanism().privatize(values, key=KEY, ids=ids) == whole
    assert mechanism().privatize(values, key=KEY, ids=pa.chunked_array([ids[:500], ids[500:]])) == whole
    assert [
        mechanism().privatize([v], key=KEY, ids=[i])[0] for v, i in zip(values[:50], ids[:50], strict=True)
    ] == whole[:50]


def integers(key=KEY, made=None, code=0, size=4000, ids=None):
    drawn = (mechanism(52) if made is None else made).permanent_reports(key)
    names = [b"%d" % i for i in range(size)] if ids is None else ids
    return drawn.integers(np.full(len(names), code), names)


def test_another_key_attribute_mechanism_or_value_draws_independently():
    draws = [
        integers(),
        integers(md.Key(bytes(32))),
        integers(KEY.for_attribute("smokes")),
        integers(KEY.for_attribute("drinks")),
        integers(made=mechanism(52, outputs=("u", "v", "x"))),
        integers(made=mechanism(52, labels=("no", "a", "b"))),
        integers(code=1),
        integers(ids=[b"0%d" % i for i in range(4000)]),
    ]
    uniform = np.array(draws) / 2.0**52
    for one in uniform:  # each is uniform on 16 cells
        assert p_value(np.bincount((16 * one).astype(int), minlength=16), np.full(16, 1 / 16)) > NEVER_FLAKES
    for one, other in itertools.combinations(uniform, 2):  # and each two are uniform on 4 by 4
        cells = 4 * (4 * one).astype(int) + (4 * other).astype(int)
        assert p_value(np.bincount(cells, minlength=16), np.full(16, 1 / 16)) > NEVER_FLAKES


def test_parts_cannot_be_moved_from_one_text_to_the_next():
    # The attribute "ab" and the label "c" are not the attribute "a" and the label "bc", and so on with the id.
    made = [mechanism(52, labels=(label, "x", "y")) for label in ("c", "bc")]
    sampler = made[0].sampler
    found = {
        int(
            PermanentReports(sampler, bytes(32), one.inputs, 52, KEY.for_attribute(attribute)).integers(
                np.array([0]), [name]
            )[0]
        )
        for one in made
        for attribute in ("ab", "a")
        for name in (b"d", b"cd")
    }
    assert len(found) == 8


@pytest.mark.sampled
@pytest.mark.parametrize("bits", [3, 4, 16, 17, 31, 32, 33, 52])
def test_reports_have_the_probabilities_of_the_integers(bits):
    size = 30_000
    for code, row in enumerate(mechanism(bits).matrix):
        found = mechanism(bits).privatize(np.full(size, code), key=KEY, ids=np.arange(size))
        assert p_value(np.bincount(found, minlength=3), row) > NEVER_FLAKES


def test_every_integer_has_its_output():
    rows = np.array([[3, 0, 1, 0, 4], [0, 0, 8, 0, 0], [1, 1, 1, 1, 4]])
    expected = [np.repeat(np.arange(5), row) for row in rows]
    found = [Sampler(rows, 3).outputs_at(np.full(8, code), np.arange(8)) for code in range(3)]
    np.testing.assert_array_equal(found, expected)


def test_integers_of_many_bits_have_the_outputs_of_bisection():
    cuts = np.sort(RNG.integers(0, 2**52, (4, 30)), axis=1)
    rows = np.diff(cuts, axis=1, prepend=0, append=2**52)
    codes = np.repeat(np.arange(4), 90)
    draws = np.clip(np.concatenate([cuts, cuts - 1, cuts + 1], axis=1), 0, 2**52 - 1).ravel()
    found = Sampler(rows, 52).outputs_at(codes, draws)
    sums = np.cumsum(rows, axis=1)
    assert found.tolist() == [int((sums[code] <= draw).sum()) for code, draw in zip(codes, draws, strict=True)]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"key": KEY}, "a key is given without ids; permanent reports need an id for each record"),
        ({"ids": ["a"]}, "ids are given without a key; give the key of permanent reports too, or leave ids out"),
        (
            {"key": KEY, "ids": ["a"], "rng": np.random.default_rng(1)},
            "a key and rng are given; permanent reports take no randomness but the key: leave rng out",
        ),
        ({"key": b"secret" * 6, "ids": ["a"]}, "key is a bytes; accepted: a Key, or the path of a key file"),
        ({"key": KEY, "ids": ["a", "b"]}, "there are 2 ids for 1 records; give one id a record"),
        ({"key": KEY, "ids": []}, "there are 0 ids for 1 records; give one id a record"),
        ({"key": KEY, "ids": "a"}, "the ids are a str; accepted: a list"),
        ({"key": KEY, "ids": {"a": 1}}, "the ids are a dict; accepted: a list"),
        ({"key": KEY, "ids": np.array([["a"]])}, "the ids have shape (1, 1); accepted: a list"),
        ({"key": KEY, "ids": pd.DataFrame({"a": ["x"]})}, "the ids are a DataFrame; accepted: a list"),
        ({"key": KEY, "ids": 7}, "the ids are a int; accepted: a list"),
    ],
)
def test_what_does_not_fit_together_is_refused(given, told):
    with pytest.raises(md.InputError) as caught:
        mechanism().privatize([LABELS[0]], **given)
    assert str(caught.value).startswith(told)
    assert "secret" not in str(caught.value)


MISSING = "is missing; give an id for each record"
SPACES = "begins or ends with white space, which fields of CSV files lose; strip it"


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (["a", None], MISSING),
        (["a", ""], MISSING),
        ([1, None], MISSING),
        (["a", float("nan")], MISSING),
        (["a", pd.NA], MISSING),
        (pd.Series(["a", None]), MISSING),
        (pd.Series([1, None], dtype="Int64"), MISSING),
        (pl.Series([1, None]), MISSING),
        (pa.array(["a", ""]), MISSING),
        (pa.chunked_array([["a"], [None]]), MISSING),
        (pa.array(["a", None]).dictionary_encode(), MISSING),
        (np.ma.array([1, 2], mask=[False, True]), MISSING),
        (["a", " b"], SPACES),
        (["a", "b\n"], SPACES),
        (["a", "é\u3000"], SPACES),
        (pa.array(["a", "b "]), SPACES),
        (["a", 1.0], "is a float; accepted: text or integers, as int(id) gives them"),
        (["a", True], "is a bool; accepted: text or integers"),
        ([1, True], "is a bool; accepted: text or integers"),
        (["a", b"b"], "is a bytes; accepted: text or integers"),
        (["a", ["b"]], "is a list; accepted: text or integers"),
        (["a", "\ud800"], "cannot be written as UTF-8; accepted: text"),
        (np.array(["a", "\udfff"]), "cannot be written as UTF-8; accepted: text"),
        ([1, 10**1000], "has too many digits; accepted: at most 1000"),
        ([1, -(10**5000)], "has too many digits; accepted: at most 1000"),
        ([True, 10**5000], None),
    ],
)
def test_an_id_that_is_refused_is_named_by_position_alone(ids, told):
    with pytest.raises(md.InputError) as caught:
        mechanism().privatize([LABELS[0]] * 2, key=KEY, ids=ids)
    assert str(caught.value).startswith("ids[0] is a bool" if told is None else f"ids[1] {told}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        (pd.Series([1, None]), "double"),
        (pa.array([1.0, 2.0]), "double"),
        (pa.array([True, False]), "bool"),
        (pa.array([b"a", b"b"]), "binary"),
        (pl.Series([1.5, 2.5]), "double"),
        (pl.Series(["a", 1], dtype=pl.Object), "fixed_size_binary"),  # addresses of objects
    ],
)
def test_columns_of_another_type_are_refused(ids, kind):
    with raises("bad-id", match=rf"^ids\[0\] is of type {kind}.*; accepted: text or integers"):
        mechanism().privatize([LABELS[0]] * 2, key=KEY, ids=ids)


def test_columns_of_nulls_are_missing():
    with raises("missing-value", "ids[0]"):
        mechanism().privatize([LABELS[0]] * 2, key=KEY, ids=pa.nulls(2))


def test_the_position_is_that_among_all_ids(monkeypatch):
    monkeypatch.setattr("mechdesign.mechanism.reporting._BLOCK", 3)
    for ids in ([*"abcdefg", None, "h"], pa.array([*"abcdefg", None, "h"]), [*"abcdefg", " ", "h"]):
        with pytest.raises(md.InputError, match=r"^ids\[7\] "):
            mechanism().privatize([LABELS[0]] * 9, key=KEY, ids=ids)


def test_series_of_pandas_must_have_the_same_index():
    values = pd.Series(records(4), index=list("abcd"))
    ids = pd.Series(["1", "2", "3", "4"], index=list("abcd"))
    expected = mechanism().privatize(values.tolist(), key=KEY, ids=ids.tolist())
    assert mechanism().privatize(values, key=KEY, ids=ids).tolist() == expected
    with raises("labels-differ"):
        mechanism().privatize(values, key=KEY, ids=ids[::-1])


def test_no_records_have_no_reports():
    assert mechanism().privatize([], key=KEY, ids=[]) == []
    assert mechanism().privatize(pa.array([], pa.string()), key=KEY, ids=pa.array([], pa.string())).to_pylist() == []
    assert mechanism().privatize([], key=KEY, ids=pa.nulls(0)) == []


def test_long_ids_are_read_whole():
    long = "x" * 2**20
    found = integers(ids=[f"{long}{end}".encode() for end in "abc"])
    assert len(set(found.tolist())) == 3
    expected = hashlib.blake2b(
        bytes.fromhex(mechanism(52).fingerprint) + bytes(8) + b"\2" + bytes(7) + b"no" + long.encode() + b"a",
        key=KEY.secret,
        digest_size=8,
        person=b"mechdesign-key-1",
    ).digest()
    assert found[0] == int.from_bytes(expected, "little") >> 12


def test_bytes_that_are_not_text_in_a_column_of_text_are_refused():
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"a\xff"]).buffers())
    with raises("bad-id", "ids[0]"):
        Ids(broken).texts(0, 1)


def test_a_path_stands_for_its_key(tmp_path):
    KEY.write(tmp_path / "key")
    values = records(20)
    expected = mechanism().privatize(values, key=KEY, ids=range(20))
    assert mechanism().privatize(values, key=tmp_path / "key", ids=range(20)) == expected
    assert mechanism().privatize(values, key=str(tmp_path / "key"), ids=range(20)) == expected


def test_reports_of_more_outputs_than_a_byte_counts():
    sampler = Sampler(np.ones((2, 512), dtype=np.int64), 9)
    permanent = PermanentReports(sampler, bytes(32), ("no", "yes"), 9, KEY)
    codes, ids = np.arange(2_000) % 2, [str(k).encode() for k in range(2_000)]
    drawn = permanent.draw(codes, Ids(pa.array(range(2_000)), str))
    assert drawn.tolist() == permanent.integers(codes, ids).tolist()  # each output has one of the 512 integers
    assert drawn.max() > 500
