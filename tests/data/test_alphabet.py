"""Texts have the same codes, or the same refusal, whether they are dictionary-encoded or not."""

from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechdesign.data.alphabet import Alphabet
from mechdesign.data.tables import open_columns
from mechdesign.errors import InputError

LABELS = ("no", "yes", "perhaps")
TEXTS = st.lists(st.sampled_from([*LABELS, "", "other", None]), max_size=30)
REPLACED = st.sampled_from([None, *LABELS])


def told(alphabet, records):
    try:
        return alphabet.codes_of_arrow(records).tolist()
    except InputError as error:
        return str(error)


@given(texts=TEXTS, unknown=REPLACED, missing=REPLACED, kind=st.sampled_from([pa.string(), pa.large_string()]))
def test_codes_do_not_depend_on_the_encoding(texts, unknown, missing, kind):
    alphabet = Alphabet(LABELS, unknown, missing, show_values=True)
    plain = pa.array(texts, kind)
    assert told(alphabet, plain.dictionary_encode()) == told(alphabet, plain)
    # A dictionary may hold a text twice, texts that no record has, and nulls.
    dictionary = pa.array([*LABELS, "", "other", None, "no", "unused"], kind)
    again = {text: place for place, text in reversed(list(enumerate(dictionary.to_pylist())))}
    indices = [again[text] if place % 2 or text != "no" else 6 for place, text in enumerate(texts)]
    assert told(alphabet, pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), dictionary)) == told(
        alphabet, plain
    )


def test_records_that_are_replaced_do_not_change_the_array_that_came():
    records = pa.array(["no", "other", "yes"]).dictionary_encode()
    assert Alphabet(LABELS, unknown="perhaps").codes_of_arrow(records).tolist() == [0, 2, 1]
    assert records.to_pylist() == ["no", "other", "yes"]


@given(texts=TEXTS, cuts=st.lists(st.integers(0, 30), max_size=3), unknown=REPLACED, missing=REPLACED)
def test_codes_of_chunks_are_those_of_one_array(texts, cuts, unknown, missing):
    alphabet = Alphabet(LABELS, unknown, missing, show_values=True)
    places = [0, *sorted(min(cut, len(texts)) for cut in cuts), len(texts)]
    chunks = [pa.array(texts[start:end], pa.string()) for start, end in pairwise(places)]
    one = told(alphabet, pa.array(texts, pa.string()))
    assert told(alphabet, pa.chunked_array(chunks)) == one
    encoded = pa.chunked_array([chunk.dictionary_encode() for chunk in chunks])  # each by a dictionary of its own
    assert told(alphabet, encoded) == one


def test_no_chunk_has_no_code():
    assert Alphabet(LABELS).codes_of_arrow(pa.chunked_array([], pa.dictionary(pa.int8(), pa.string()))).size == 0


@pytest.mark.parametrize("indices", [pa.int8(), pa.uint8(), pa.int64()])
def test_a_dictionary_may_hold_string_views(indices):
    dictionary = pa.array(["yes", "other", "no"]).cast(pa.string_view())
    records = pa.DictionaryArray.from_arrays(pa.array([0, None, 2, 1], indices), dictionary)
    assert Alphabet(LABELS, "perhaps", "no").codes_of_arrow(records).tolist() == [1, 0, 0, 2]


def test_records_without_a_value_come_after_a_dictionary_of_all_its_indices():
    texts = [str(number) for number in range(256)]
    dictionary = pa.array(texts)
    records = pa.DictionaryArray.from_arrays(pa.array([255, None, *range(256)], pa.uint8()), dictionary)
    assert Alphabet(tuple(texts), missing="7").codes_of_arrow(records).tolist() == [255, 7, *range(256)]


def test_only_texts_that_records_have_are_looked_up(monkeypatch):
    looked_up = []
    found_texts = Alphabet._found_texts
    monkeypatch.setattr(
        Alphabet, "_found_texts", lambda self, texts: looked_up.append(len(texts)) or found_texts(self, texts)
    )
    dictionary = pa.array([f"text {number}" for number in range(1000)] + ["no"])
    records = pa.DictionaryArray.from_arrays(pa.array([1000, 3, None, 3]), dictionary)
    assert Alphabet(LABELS, "yes", "perhaps").codes_of_arrow(records).tolist() == [0, 1, 2, 1]
    assert looked_up == [2]


def test_a_long_text_that_many_records_have_is_held_once():
    dictionary = pa.array(["no", "x" * 100_000])
    records = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 500), dictionary)
    whole, counted = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(counted)
    try:
        codes = Alphabet(LABELS, unknown="yes").codes_of_arrow(records)
    finally:
        pa.set_memory_pool(whole)
    assert codes.tolist() == [0, 1] * 500
    assert counted.max_memory() < 1_000_000  # decoded, they would take 50 MB


@pytest.mark.parametrize("kind", ["string", "large_string", "int64", "binary", "bool", "float64", "string_view"])
def test_only_texts_of_a_parquet_file_are_encoded(tmp_path, kind):
    values = {"int64": [1, 2, 1], "bool": [True, False, True], "float64": [0.5, 1.0, 0.5]}.get(kind, ["a", "b", "a"])
    column = pa.array(values * 8192).cast(kind)
    pq.write_table(pa.table({"x": column, "kept": column}), tmp_path / "records.parquet")
    opened = open_columns(tmp_path / "records.parquet", ["x", "kept"], encoded=["x"])
    (batch,) = opened.batches
    plain = pq.read_table(tmp_path / "records.parquet").schema.field("kept").type
    assert opened.schema.types == batch.schema.types
    assert opened.schema.field("kept").type == plain
    encoded = pa.dictionary(pa.int32(), pa.string()) if kind in {"string", "large_string"} else plain
    assert opened.schema.field("x").type == encoded
    assert batch.column("x").to_pylist() == batch.column("kept").to_pylist() == column.to_pylist()


ROWS = 1 << 15
FEW = ["no", "yes"] * (ROWS // 2)


@pytest.mark.parametrize(
    ("texts", "written", "encoded"),
    [
        (FEW, {}, True),
        (["no", None] * (ROWS // 2), {"data_page_version": "2.0", "compression": "zstd"}, True),
        (FEW, {"row_group_size": 100}, False),
        (FEW, {"use_dictionary": False}, False),
        (
            ["0", "1"] * (ROWS // 2),
            {"use_dictionary": False, "column_encoding": {"x": "DELTA_LENGTH_BYTE_ARRAY"}},
            False,
        ),
        (["", "1"] * (ROWS // 2), {"use_dictionary": False, "column_encoding": {"x": "DELTA_BYTE_ARRAY"}}, False),
        ([str(number) for number in range(ROWS)], {}, False),
        ([str(number) for number in range(ROWS)], {"dictionary_pagesize_limit": 64, "data_page_size": 64}, False),
    ],
)
def test_texts_are_read_encoded_where_the_file_has_few_and_as_they_are_elsewhere(tmp_path, texts, written, encoded):
    pq.write_table(pa.table({"x": texts}), tmp_path / "records.parquet", **written)
    opened = open_columns(tmp_path / "records.parquet", ["x"], encoded=["x"])
    assert pa.types.is_dictionary(opened.schema.field("x").type) == encoded
    assert [text for batch in opened.batches for text in batch.column("x").to_pylist()] == texts


def test_one_row_group_of_many_texts_keeps_all_from_being_encoded(tmp_path):
    table = pa.table({"x": FEW})
    with pq.ParquetWriter(tmp_path / "records.parquet", table.schema) as writer:
        writer.write_table(table)
        writer.write_table(table.slice(0, 0))
        writer.write_table(pa.table({"x": [str(number) for number in range(ROWS)]}))
    opened = open_columns(tmp_path / "records.parquet", ["x"], encoded=["x"])
    assert opened.schema.types == [pa.string()]


def test_a_column_with_a_dot_is_not_that_of_a_structure(tmp_path):
    table = pa.table({"a": [{"b": "x"}] * ROWS, "a.b": FEW})
    pq.write_table(table, tmp_path / "records.parquet")
    opened = open_columns(tmp_path / "records.parquet", ["a.b"], encoded=["a.b"])
    assert [text for batch in opened.batches for text in batch.column("a.b").to_pylist()] == FEW
    assert opened.names == ("a.b",)
