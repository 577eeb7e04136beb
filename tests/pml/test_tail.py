import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from strategies import counts
from tolerances import ALGEBRA

import mechdesign as md
from mechdesign.pml import epsilon_at, leakage_tail

EXAMPLE_1 = [
    [0.325, 0.225, 0.225, 0.225],
    [0.45, 0.1, 0.225, 0.225],
    [0.45, 0.225, 0.1, 0.225],
    [0.45, 0.225, 0.225, 0.1],
]
PRIOR_1 = [0.4, 0.2, 0.2, 0.2]


@st.composite
def integer_mechanisms(draw):
    """A prior without zeros and numerators over 60, some of them 0."""
    weights = draw(counts(zeros=False))
    rows = []
    for _ in weights:
        cuts = sorted(draw(st.lists(st.integers(0, 60), min_size=3, max_size=3)))
        rows.append(np.diff([0, *cuts, 60]).tolist())
    return rows, [Fraction(w, sum(weights)) for w in weights]


def exact_leakages(rows, prior):
    """exp(leakage) and probability of each output that occurs, in fractions."""
    outputs = []
    for v in zip(*rows, strict=True):
        mean = sum(p * x for p, x in zip(prior, v, strict=True))
        if mean:
            outputs.append((max(v) / mean, mean / 60))
    return outputs


@given(integer_mechanisms(), st.integers(0, 40), st.integers(1, 12))
def test_the_tail_is_the_mass_of_the_outputs_that_leak_more(mechanism, numerator, denominator):
    rows, prior = mechanism
    ratio = 1 + Fraction(numerator, denominator)
    expected = sum((mass for r, mass in exact_leakages(rows, prior) if r > ratio), Fraction(0))
    found = leakage_tail(rows, prior, f"log({ratio})")
    assert expected <= Fraction(found) <= expected * (1 + Fraction(1, 2**52))


@given(integer_mechanisms())
def test_the_tail_falls_from_each_leakage_to_the_next_and_is_0_at_the_last(mechanism):
    rows, prior = mechanism
    outputs = sorted(exact_leakages(rows, prior))
    at_the_leakages = leakage_tail(rows, prior, [f"log({ratio})" for ratio, _ in outputs])
    assert (np.diff(at_the_leakages) <= 0).all()
    assert at_the_leakages[-1] == 0
    np.testing.assert_allclose(
        at_the_leakages, [sum(float(m) for r, m in outputs if r > ratio) for ratio, _ in outputs], atol=ALGEBRA
    )


@given(integer_mechanisms(), st.fractions(0, 1, max_denominator=30))
def test_epsilon_at_is_the_least_leakage_with_that_tail(mechanism, delta):
    rows, prior = mechanism
    outputs = exact_leakages(rows, prior)
    candidates = [Fraction(1), *(ratio for ratio, _ in outputs)]
    least = min(c for c in candidates if sum((m for r, m in outputs if r > c), Fraction(0)) <= delta)
    found = epsilon_at(rows, prior, delta)
    assert found == pytest.approx(math.log(least), abs=ALGEBRA)
    assert Fraction(leakage_tail(rows, prior, found)) <= delta * (1 + Fraction(1, 2**52))
    if least > 1:
        assert leakage_tail(rows, prior, found - 1e-9 if found > 1e-9 else 0) > delta


def test_an_optimal_mechanism_leaks_exactly_epsilon_where_floats_cannot_tell():
    """GSO Theorem 3 at epsilon = log(6/5): in floats the first two outputs seem to leak more."""
    prior = [0.3, 0.3, 0.4]
    matrix = [[0.16, 0.36, 0.48], [0.36, 0.16, 0.48], [0.36, 0.36, 0.28]]
    assert (md.leakage(matrix, prior) > math.log(6 / 5)).any()
    assert leakage_tail(matrix, prior, "log(6/5)") == 0
    assert leakage_tail(matrix, prior, "log(119999/100000)") == 1


def test_example_1_has_no_tail_at_its_epsilon_and_nothing_else_below():
    assert leakage_tail(EXAMPLE_1, PRIOR_1, "log(9/8)") == 0
    assert leakage_tail(EXAMPLE_1, PRIOR_1, "log(1124/1000)") == 1
    assert epsilon_at(EXAMPLE_1, PRIOR_1, 0) == pytest.approx(math.log(9 / 8), abs=1e-15)
    assert epsilon_at(EXAMPLE_1, PRIOR_1, "0.999") == epsilon_at(EXAMPLE_1, PRIOR_1, 0)
    assert epsilon_at(EXAMPLE_1, PRIOR_1, 1) == 0


def test_many_values_of_epsilon_at_once():
    values = [0, "0.1", Decimal("0.2"), "log(9/8)", md.Epsilon.of("log(2)")]
    expected = [leakage_tail(EXAMPLE_1, PRIOR_1, value) for value in values]
    assert leakage_tail(EXAMPLE_1, PRIOR_1, values).tolist() == expected == [1, 1, 0, 0, 0]
    grid = np.linspace(0, 1, 5)
    np.testing.assert_array_equal(leakage_tail(EXAMPLE_1, PRIOR_1, grid), [1, 0, 0, 0, 0])
    assert leakage_tail(EXAMPLE_1, PRIOR_1, grid[0]) == 1


def test_the_tail_of_a_simulation():
    rng = np.random.default_rng(11)
    matrix, prior = rng.dirichlet(np.ones(6), 4), np.array([0.4, 0.3, 0.2, 0.1])
    outputs = (rng.random((100_000, 1)) > matrix.cumsum(axis=1)[rng.choice(4, 100_000, p=prior)]).sum(axis=1)
    observed = (md.leakage(matrix, prior)[outputs] > 0.8).mean()
    expected = leakage_tail(matrix, prior, 0.8)
    assert 0.05 < expected < 0.95
    assert observed == pytest.approx(expected, abs=6 * math.sqrt(expected * (1 - expected) / 100_000))


def test_outputs_of_probability_0_do_not_count_although_their_leakage_is_infinite():
    matrix, prior = [[1.0, 0.0], [0.0, 1.0]], [1, 0]
    assert md.epsilon_min(matrix, prior) == math.inf
    assert epsilon_at(matrix, prior, 0) == 0
    assert leakage_tail(matrix, prior, 0) == 0


def test_numerators_of_a_mechanism_keep_their_guarantee_exactly():
    mechanism = md.design(md.DesignProblem(md.L1Ball(["0.5", "0.3", "0.2"]), "1")).mechanism
    assert leakage_tail(mechanism.numerators, ["0.5", "0.3", "0.2"], 1) == 0
    assert epsilon_at(mechanism.numerators, ["0.5", "0.3", "0.2"], 0) == pytest.approx(mechanism.leakage, abs=1e-15)


def test_rows_that_miss_1_in_the_last_place_have_masses_that_sum_to_1():
    third = [[1 / 3, 1 / 3, 1 / 3]] * 2 + [[1.0, 0.0, 0.0]]
    assert leakage_tail(third, [0.5, 0.25, 0.25], 0) == 1


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: leakage_tail([[1.0]], [0.5, 0.5], 1), "wrong-size"),
        (lambda: leakage_tail([[0.9, 0.2], [0.5, 0.5]], [0.5, 0.5], 1), "wrong-sum"),
        (lambda: leakage_tail(np.eye(2), [0.5, 0.6], 1), "wrong-sum"),
        (lambda: leakage_tail(np.eye(2), [0.5, 0.5], -1), "epsilon-out-of-range"),
        (lambda: leakage_tail(np.eye(2), [0.5, 0.5], [1, math.nan]), "not-a-number"),
        (lambda: leakage_tail(np.eye(2, dtype=bool), [0.5, 0.5], 1), "not-a-number"),
        (lambda: epsilon_at(np.eye(2), [0.5, 0.5], 1.5), "delta-out-of-range"),
        (lambda: epsilon_at(np.eye(2), [0.5, 0.5], -0.1), "delta-out-of-range"),
        (lambda: epsilon_at(np.eye(2), [0.5, 0.5], "x"), "not-a-number"),
    ],
)
def test_bad_arguments_are_refused(call, code):
    with raises(code):
        call()
