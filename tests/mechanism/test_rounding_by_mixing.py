"""Rounding for promises that raising an entry may break; promises from below are such."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import balls, random_mechanism

import mechdesign as md
from mechdesign.mechanism.rounding import neighbours, round_to_integers

both = st.sampled_from([("0.01", "0.02"), ("1", "0.5"), ("log(2)", "log(2)"), ("3", "0.001")])


def keeps(numerators, bits, guarantee):
    return md.mechanism.prove(numerators, bits, guarantee).holds


@given(balls(), both, st.integers(1, 52), st.integers(0, 2**32))
def test_any_matrix_becomes_a_mechanism_that_is_proved(ball, levels, bits, seed):
    promise = md.Guarantee(levels[0], ball, lower=levels[1])
    matrix = random_mechanism(np.random.default_rng(seed), ball.size, 4)
    assert keeps(round_to_integers(matrix, bits, promise), bits, promise)


@pytest.mark.parametrize(("epsilon", "lower"), [("1", "0.5"), ("0.05", "1"), ("1", "0.001")])
@pytest.mark.parametrize("mass", [1.0, 1e-9])
def test_a_mechanism_on_the_border_moves_by_a_few_units_over_the_room(epsilon, lower, mass):
    """Raising an entry below the greatest would break the promise from below at once; the rare output is as cheap."""
    prior = np.array([0.5, 0.3, 0.2])
    promise = md.Guarantee(epsilon, md.L1Ball(["0.5", "0.3", "0.2"]), lower=lower)
    below, above = math.exp(-float(lower)), math.exp(float(epsilon))
    assert not promise.kept_by_raising
    lifts = 1 + min((above - 1) / 0.8, (1 - below) / 0.2) * np.array([-0.2, -0.2, 0.8])
    assert math.isclose(lifts.max(), above, rel_tol=1e-12) or math.isclose(lifts.min(), below, rel_tol=1e-12)
    assert math.isclose(prior @ lifts, 1, rel_tol=1e-12)
    tight = mass / 40 * lifts
    matrix = np.column_stack([tight, 1 - tight])
    numerators = round_to_integers(matrix, 48, promise)
    assert keeps(numerators, 48, promise)
    assert np.abs(numerators / 2.0**48 - matrix).max() <= 2.0**-48 * (10 + 20 / float(promise.room))


def test_columns_that_kept_the_promise_by_luck_do_not_break_it_round_after_round(monkeypatch):
    """Another share rounds every column anew; with all on the border some would break the promise in most rounds."""
    rng, size, level = np.random.default_rng(0), 60, 0.001
    promise = md.Guarantee(level, md.L1Ball([f"1/{size}"] * size, 2), cap=1)
    sets = rng.random((size, 400)) < 0.5
    columns = np.hstack([sets, ~sets])  # of sets and their complements, so that rows have one sum
    matrix = (1 + (math.exp(level) - 1) * columns) / (1 + math.exp(level)) / 400
    proofs = 0
    kept = md.Guarantee.is_kept_by

    def counted(self, column):
        nonlocal proofs
        proofs += 1
        return kept(self, column)

    monkeypatch.setattr(md.Guarantee, "is_kept_by", counted)
    numerators = round_to_integers(matrix, 40, promise)
    assert proofs <= 800 * 8  # log4 of what rounding needs, 2,001 units, and a few
    assert keeps(numerators, 40, promise)


def test_columns_that_never_break_a_promise_about_a_secret_keep_their_zeros():
    """Extreme columns have as many entries above 0 as the secret has values; those that rounding breaks are mixed."""
    counts = np.random.default_rng(0).integers(1, 50, (2, 12)).tolist()
    secret = md.SecretPromise(counts, secret="s", useful="u", known=True)
    design = md.design(md.DesignProblem(secret, 0.5, md.MutualInformation()))
    zeros = (design.mechanism.numerators == 0).sum(axis=0)
    assert (zeros >= 10).sum() > (zeros < 10).sum() > 0


def test_an_output_without_zeros_keeps_a_promise_from_below():
    """A zero is a lift of 0: the column that has it is mixed, and the others are not."""
    promise = md.Guarantee(2, md.L1Ball(["0.5", "0.5"]), lower="log(4)")
    numerators = round_to_integers(np.array([[0.5, 0.5, 0.0], [0.5, 0.4, 0.1]]), 20, promise)
    assert keeps(numerators, 20, promise)
    assert numerators.min() > 0


def test_without_room_only_the_constant_mechanism_is_left():
    promise = md.Guarantee(1, md.L1Ball(["0.5", "0.5"]), lower=0)
    assert promise.room == 0
    np.testing.assert_array_equal(round_to_integers(np.eye(2), 10, promise), [[2**10], [2**10]])


@given(st.integers(1, 52), st.integers(1, 9), st.integers(0, 2**32))
def test_each_entry_is_rounded_to_a_neighbour(bits, outputs, seed):
    rng = np.random.default_rng(seed)
    matrix = random_mechanism(rng, 5, outputs)
    integers = neighbours(matrix, bits)
    assert (integers.sum(axis=1) == 2**bits).all()
    # At 52 bits the sums of floats are off by units themselves.
    assert np.abs(integers - matrix * 2.0**bits).max() <= 1 + outputs * 2.0 ** (bits - 50)
    if bits <= 46:
        assert (integers[matrix == 0] == 0).all()


def test_a_matrix_on_the_border_is_taken_and_what_is_beyond_is_repaired():
    promise = md.Guarantee("log(2)", md.L1Ball(["0.5", "0.5"]), lower="log(2)")
    third = np.array([[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    taken = md.Mechanism.from_matrix(third, promise)
    assert np.abs(taken.matrix - third).max() < 1e-13
    repaired = md.Mechanism.repaired(np.array([[0.9, 0.1], [0.1, 0.9]]), promise)
    assert repaired.mechanism.proof.holds
    # Mixtures with the constant mechanism have the lifts 1 + d and 1 - d, of which the second may be 1/2.
    np.testing.assert_allclose(repaired.mechanism.matrix, [[0.75, 0.25], [0.25, 0.75]], atol=1e-9)
