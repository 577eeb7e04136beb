"""What holds for all mechanisms of whole records: leakage of the whole in rationals, symbols of records, weights."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import examples

import mechdesign as md
from mechdesign.errors import InputError
from mechdesign.numerics.exact import log_up
from mechdesign.records import RecordMechanism, RecordPart
from mechdesign.records.number_bins import NumberBins
from mechdesign.records.record_columns import RecordColumns, alphabets_of, view_tables
from mechdesign.records.record_views import join, split

WORDS = st.text("ab &+é", min_size=1, max_size=3).filter(lambda text: text == text.strip())
LABELS = st.lists(WORDS, min_size=2, max_size=3, unique=True)


def parts_of(rng, P):
    """Views of two attributes and of their pair, each at its law under P, with random integers that leave zeros."""
    names = [["x0", "x1", "x2"][: P.shape[0]], ["y0", "y1"][: P.shape[1]]]
    laws = [P.sum(axis=1), P.sum(axis=0), P.ravel()]
    labels = [*names, join(product(*names))]
    parts = []
    for attributes, law, own in zip((("a",), ("b",), ("a", "b")), laws, labels, strict=True):
        rows = rng.integers(0, 9, size=(len(own), 2))
        numerators = np.column_stack([rows, 16 - rows.sum(axis=1)])
        center = [Fraction(int(mass), int(P.sum())) for mass in law]
        promise = md.Guarantee("log(1000)", md.L1Ball(center, 0, own))
        parts.append(
            RecordPart("+".join(attributes), attributes, int(rng.integers(1, 9)), md.Mechanism(numerators, 4, promise))
        )
    total = sum(part.weight for part in parts)
    last = RecordPart(parts[2].name, parts[2].attributes, parts[2].weight + 32 - total, parts[2].mechanism)
    return RecordMechanism([*parts[:2], last], weight_bits=5), names


@pytest.mark.parametrize("seed", range(15))
def test_the_leakage_is_that_of_the_matrix_over_whole_records_in_rationals(seed):
    """The whole is one matrix with a row for each record and a column for each pair of a view and a report."""
    rng = np.random.default_rng(seed)
    P = rng.integers(1, 20, size=(3, 2))
    made, names = parts_of(rng, P)
    records = list(product(*names))
    codes = np.array([[names[0].index(a), names[1].index(b)] for a, b in records])
    law = [Fraction(int(P[a, b]), int(P.sum())) for a, b in codes]
    ratios = []
    for part, table in zip(made.parts, made.tables, strict=True):
        rows = table.values(codes)
        for column in part.mechanism.numerators.T.tolist():
            whole = [Fraction(part.weight * column[row], 32 * 16) for row in rows]
            ratios.append(max(whole) / sum(p * k for p, k in zip(law, whole, strict=True)))
    assert made.leakage == log_up(max(ratios))


@settings(max_examples=examples(40), deadline=None)
@given(LABELS, LABELS, st.data())
def test_a_symbol_is_the_combination_of_the_labels_or_the_record_is_refused(first, second, data):
    combinations = list(product(first, second))
    try:
        labels = join(combinations)
    except InputError:
        assert any(" & " in f" {label} " for label in (*first, *second))
        return
    assert [split(label, 2) for label in labels] == combinations
    known = data.draw(st.lists(st.sampled_from(labels), min_size=1, unique=True))
    views = [("one", ("a",), first), ("other", ("b",), second), ("both", ("a", "b"), known)]
    columns = RecordColumns(alphabets_of(views), view_tables(views), {})
    import pyarrow as pa

    for record, label in zip(combinations, labels, strict=True):
        given_columns = [pa.array([value]) for value in record]
        if label in known:
            codes = columns.codes_of_columns(given_columns)
            found = [table.values(codes)[0] for table in columns.tables]
            assert [view[2][symbol] for view, symbol in zip(views, found, strict=True)] == [*record, label]
        else:
            with pytest.raises(InputError, match="the view 'both'"):
                columns.codes_of_columns(given_columns)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5, unique=True), st.floats(-1e7, 1e7))
def test_a_number_lies_in_the_same_bin_as_a_number_and_as_text(edges, number):
    import pyarrow as pa

    bins = NumberBins(sorted({edge + 0.0 for edge in edges}))
    found = {bins.labelled(column).to_pylist()[0] for column in (pa.array([number]), pa.array([repr(number)]))}
    assert found == {bins.labels[sum(edge <= number for edge in bins.edges)]}
    assert len(set(bins.labels)) == len(bins.labels)


def test_bins_of_equal_counts_hold_about_equally_many():
    rng = np.random.default_rng(3)
    numbers = np.round(rng.gamma(3, 10, 5_000))
    bins = NumberBins.of_equal_counts(numbers.tolist(), 15)
    counts = np.bincount(np.searchsorted(bins.edges, numbers, side="right"))
    assert len(counts) == 15
    assert counts.max() < 2 * counts.min()
    with pytest.raises(InputError):
        NumberBins.of_equal_counts([1.0, 1.0], 3)
    for number in (1, 10_001, 10**22):
        with pytest.raises(InputError, match="at most 10,000"):
            NumberBins.of_equal_counts(numbers.tolist(), number)
