"""Texts have the same codes, or the same refusal, whether they are dictionary-encoded or not."""

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


@pytest.mark.parametrize("kind", ["string", "large_string", "int64", "binary", "bool", "float64", "string_view"])
def test_only_texts_of_a_parquet_file_are_encoded(tmp_path, kind):
    values = {"int64": [1, 2, 1], "bool": [True, False, True], "float64": [0.5, 1.0, 0.5]}.get(kind, ["a", "b", "a"])
    column = pa.array(values).cast(kind)
    pq.write_table(pa.table({"x": column, "kept": column}), tmp_path / "records.parquet")
    opened = open_columns(tmp_path / "records.parquet", ["x", "kept"], encoded=["x"])
    (batch,) = opened.batches
    plain = pq.read_table(tmp_path / "records.parquet").schema.field("kept").type
    assert opened.schema.types == batch.schema.types
    assert opened.schema.field("kept").type == plain
    encoded = pa.dictionary(pa.int32(), pa.string()) if kind in {"string", "large_string"} else plain
    assert opened.schema.field("x").type == encoded
    assert batch.column("x").to_pylist() == batch.column("kept").to_pylist() == column.to_pylist()
