import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from scipy.optimize import linprog
from strategies import counts, epsilons
from tolerances import ALGEBRA

import mechdesign as md
from mechdesign.pml import epsilon_max, most_zeros_in_a_column, privacy_region, privacy_regions

PRIOR_1 = [0.4, 0.2, 0.2, 0.2]


def shares(found):
    return [Fraction(n, sum(found)) for n in found]


@given(counts(zeros=False))
def test_regions_begin_at_the_greatest_mass_of_each_size(found):
    prior = shares(found)
    N = len(prior)
    greatest = [max(sum(S) for S in combinations(prior, N - k)) for k in range(N)]
    begins = privacy_regions(prior)
    np.testing.assert_allclose(begins, [-math.log(mass) for mass in greatest], atol=ALGEBRA)
    assert begins[0] == 0
    assert (np.diff(begins) > 0).all()
    for k, mass in enumerate(greatest):
        assert privacy_region(prior, f"log({1 / mass})") == k + 1
        if k:
            below = (1 / mass) - (1 / mass - 1) / 10**9
            assert privacy_region(prior, f"log({below})") == k


@given(counts(zeros=True), epsilons)
def test_the_most_zeros_are_those_of_the_best_column_over_all_supports(found, epsilon):
    """By brute force: a column with support S exists exactly when its indicator does."""
    prior, e = shares(found), md.Epsilon.of(epsilon).exp_down
    N = len(prior)
    sizes = [size for size in range(1, N + 1) if any(e * sum(S) >= 1 for S in combinations(prior, size))]
    assert most_zeros_in_a_column(prior, epsilon) == N - min(sizes)
    assert privacy_region(prior, epsilon) == N - min(sizes) + 1


def test_no_column_of_a_linear_program_has_more_zeros():
    """GSO Lemma 2: the greatest mean of a column with entries up to 1, zero off a support."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        prior = rng.multinomial(200, rng.dirichlet(np.ones(4)) * 0.9 + 0.025) / 200
        if not (prior > 0).all():
            continue
        epsilon = float(np.round(rng.uniform(0, epsilon_max(prior)), 3))
        zeros = []
        for size in range(1, 5):
            for S in combinations(range(4), size):
                bounds = [(0, 1) if i in S else (0, 0) for i in range(4)]
                mean = -linprog(-prior, bounds=bounds, method="highs").fun
                zeros += [4 - size] if math.exp(epsilon) * mean >= 1 else []
        assert most_zeros_in_a_column(prior, epsilon) == max(zeros)


def test_designs_keep_to_their_region():
    for epsilon in ("0.1", "0.5", "log(5/4)", "1", "2"):
        matrix = md.design(md.DesignProblem(md.L1Ball(PRIOR_1), epsilon)).mechanism.matrix
        assert (matrix == 0).sum(axis=0).max() <= most_zeros_in_a_column(PRIOR_1, epsilon)


def test_ends_of_regions_are_decided_exactly():
    assert privacy_region(PRIOR_1, "log(9/8)") == 1
    assert privacy_region(PRIOR_1, "log(5/4)") == 2
    assert privacy_region(PRIOR_1, "log(1249999/1000000)") == 1
    assert 0.7 + 0.2 < 0.9  # which floats would take for the mass of the two most probable
    assert privacy_region([0.7, 0.2, 0.1], "log(10/9)") == 2


@pytest.mark.parametrize("N", [2, 3, 7, 10, 49])
def test_a_uniform_prior_changes_region_at_the_singular_mechanisms(N):
    for k in range(1, N + 1):
        for prior in ([f"1/{N}"] * N, [1 / N] * N):
            assert privacy_region(prior, f"log({Fraction(N, k)})") == N - k + 1
    assert most_zeros_in_a_column([1 / N] * N, 0) == 0
    np.testing.assert_allclose(privacy_regions([1 / N] * N)[-1], math.log(N), atol=ALGEBRA)


def test_example_2_has_as_many_zeros_as_its_region_allows():
    assert most_zeros_in_a_column(["0.1"] * 10, "log(5)") == 8
    assert most_zeros_in_a_column(["0.1"] * 10, "log(49999/10000)") == 7


def test_the_regions_of_definition_4_end_below_epsilon_max():
    assert privacy_regions(PRIOR_1)[-1] == pytest.approx(math.log(5 / 2), abs=ALGEBRA)
    assert epsilon_max(PRIOR_1) == pytest.approx(math.log(5), abs=ALGEBRA)
    for epsilon in ("log(5/2)", "log(5)", "700"):
        assert privacy_region(PRIOR_1, epsilon) == 4
    # There a column may be zero everywhere but at the most probable symbol: it leaks log(5/2).
    assert md.epsilon_min([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]], PRIOR_1) == pytest.approx(math.log(5 / 2))


@given(counts(zeros=False))
def test_epsilon_max_is_the_leakage_of_the_data_and_bounds_all(found):
    prior = shares(found)
    assert epsilon_max(prior) == pytest.approx(md.epsilon_min(np.eye(len(prior)), prior), abs=ALGEBRA)
    rng = np.random.default_rng(sum(found))
    assert md.epsilon_min(rng.dirichlet(np.ones(3), len(prior)), prior) <= epsilon_max(prior)


def test_probability_0_makes_regions_empty_and_epsilon_max_infinite():
    assert privacy_regions([0.5, 0.5, 0.0]).tolist()[:2] == [0, 0]
    assert most_zeros_in_a_column([0.5, 0.5, 0.0], 0) == 1
    assert epsilon_max([0.5, 0.5, 0.0]) == math.inf


@given(counts(zeros=False))
def test_ends_are_rounded_up(found):
    from flint import arb, ctx, fmpq

    prior = sorted(shares(found), reverse=True)
    with ctx.workprec(300):
        for k, begin in enumerate(privacy_regions(prior)):
            mass = sum(prior[: len(prior) - k])
            assert arb(float(begin)) >= -arb(fmpq(mass.numerator, mass.denominator)).log()
        assert arb(epsilon_max(prior)) >= -arb(fmpq(prior[-1].numerator, prior[-1].denominator)).log()


@pytest.mark.parametrize("function", [privacy_region, most_zeros_in_a_column])
def test_bad_arguments_are_refused(function):
    with raises("epsilon-out-of-range", "epsilon", "is -1"):
        function(PRIOR_1, -1)
    with raises("wrong-sum", "the prior", "to 2"):
        function([1, 1], 1)


@given(counts(zeros=False), st.integers(0, 30))
def test_regions_are_those_of_the_sorted_prior(found, turns):
    prior = shares(found)
    turned = prior[turns % len(prior) :] + prior[: turns % len(prior)]
    np.testing.assert_array_equal(privacy_regions(turned), privacy_regions(prior))
