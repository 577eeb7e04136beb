"""The least utility over a set: held against every extreme prior, every decoder, and what is proved in between."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from extreme_priors import extreme_priors
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples
from strategies import balls, counts, hulls
from tolerances import ALGEBRA

import mechdesign as md
from mechdesign import uncertainty
from mechdesign.utility import least
from mechdesign.utility.decoders import greatest_least_gain
from mechdesign.utility.least import certain_prior, holds_one_prior, least_utility, priors_below

INFORMATION = md.MutualInformation()


@st.composite
def limited(draw):
    """Boxes, lower limits and event sets on few symbols."""
    seen = draw(counts(2, 4))
    kind = draw(st.sampled_from([uncertainty.Box, uncertainty.LowerLimits, uncertainty.EventSet]))
    return kind.from_counts(seen, draw(st.sampled_from(["0.3", "0.05"])))


sets = st.one_of(balls(2, 4), hulls(2, 4), limited())


def matrices(size, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 9, (size, rng.integers(1, 5))) * (rng.random((size, 1)) < 0.9) + 0.0
    matrix[:, 0] += 1
    return matrix / matrix.sum(axis=1, keepdims=True)


@settings(max_examples=8)
@given(sets, st.integers(0, 2**32 - 1))
def test_the_least_information_is_at_the_worst_corner(known, seed):
    matrix = matrices(known.size, seed)
    found = least_utility(INFORMATION, matrix, known)
    smallest = min(INFORMATION.value(matrix, Q) for Q in extreme_priors(known))
    assert found.value == pytest.approx(smallest, abs=ALGEBRA)
    assert found.bound == pytest.approx(smallest, abs=ALGEBRA)
    assert found.bound <= found.value
    assert known.contains(found.prior)
    assert found.value == pytest.approx(INFORMATION.value(matrix, found.prior), abs=ALGEBRA)


@settings(max_examples=examples(20))
@given(balls(2, 4), st.integers(0, 2**32 - 1))
def test_other_concave_utilities_are_looked_at_in_every_corner(known, seed):
    class Unbounded(md.MutualInformation):
        """Without a linear function below it."""

        def minorant(self, matrix, least, greatest):
            return None

    matrix = matrices(known.size, seed)
    found = least_utility(Unbounded(), matrix, known)
    assert found.bound == pytest.approx(least_utility(INFORMATION, matrix, known).bound, abs=ALGEBRA)


def test_more_corners_than_are_looked_at_leave_a_lower_bound(monkeypatch):
    known = uncertainty.Box.from_counts([30, 25, 20, 15, 9, 8], "0.01")
    matrix = np.random.default_rng(3).dirichlet(np.ones(5), 6)
    true = least_utility(INFORMATION, matrix, known)
    monkeypatch.setattr(least, "_MOST_BRANCHES", 5)
    found = least_utility(INFORMATION, matrix, known)
    assert 0.5 * true.bound < found.bound < true.bound - 1e-6
    assert found.value >= true.value


def test_without_a_bound_more_corners_than_are_looked_at_are_refused(monkeypatch):
    monkeypatch.setattr(md.MutualInformation, "minorant", lambda *_: None)
    monkeypatch.setattr(least, "_MOST_BRANCHES", 5)
    known = uncertainty.Box.from_counts([30, 25, 20, 15, 9, 8], "0.01")
    with raises("too-much-work", "mutual-information"):
        least_utility(INFORMATION, np.eye(6), known)


@pytest.mark.parametrize(
    "known",
    [
        md.L1Ball(["0.4", "0.3", "0.2", "0.1"], "0.3"),
        md.ConvexHull([["0.4", "0.3", "0.2", "0.1"], ["0.1", "0.2", "0.3", "0.4"], ["0.4", "0.4", "0.1", "0.1"]]),
    ],
)
def test_priors_below_a_level_are_found_if_there_are_any(known):
    matrix = np.random.default_rng(1).dirichlet(np.ones(4), 4)
    corners = extreme_priors(known)
    values = sorted(INFORMATION.value(matrix, Q) for Q in corners)
    for most in (1, 3):
        for level in (values[0] - 1e-9, values[0] + 1e-9, (values[1] + values[2]) / 2, math.inf):
            found = priors_below(INFORMATION, matrix, known, level, most)
            assert all(INFORMATION.value(matrix, Q) < level and Q in corners for Q in found)
            assert len(found) == len(set(found)) == min(most, sum(value < level for value in values))


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_the_information_is_concave_in_the_prior_and_above_its_minorant(seed, size):
    rng = np.random.default_rng(seed)
    matrix, priors = matrices(size, seed), rng.dirichlet(np.full(size, 0.5), 8)
    values = [INFORMATION.value(matrix, Q) for Q in priors]
    for Q, R, at_Q, at_R in zip(priors, priors[1:], values, values[1:], strict=False):
        share = rng.random()
        assert INFORMATION.value(matrix, share * Q + (1 - share) * R) >= share * at_Q + (1 - share) * at_R - ALGEBRA
    means = priors @ matrix
    constant, slope = INFORMATION.minorant(matrix, means.min(axis=0), means.max(axis=0))
    for Q, value in zip(priors, values, strict=True):
        assert constant + slope @ Q <= value + ALGEBRA
    # Where the masses are known, it is the utility itself.
    constant, slope = INFORMATION.minorant(matrix, means[0], means[0])
    assert constant + slope @ priors[0] == pytest.approx(values[0], abs=ALGEBRA)


@pytest.mark.parametrize(
    ("utility", "column", "ends", "values"),
    [
        (md.ChiSquare(), [0, 0.2, 1], ([1, 18, 1], [19, 0, 1]), (0.1869000564652738, 1.0, 0.4019933554817276)),
        (md.TotalVariation(), [0, 0.5, 1], ([0, 15, 5], [7, 12, 1]), (0.1875, 0.245, 0.170625)),
        (md.SquaredHellinger(), [0, 0.1, 1], ([1, 18, 1], [16, 0, 4]), (0.07327751, 0.39003106, 0.22732741)),
    ],
)
def test_the_other_informations_are_not_concave_in_the_prior(utility, column, ends, values):
    """Half way between two priors there is less than the mean of both: the examples of docs/mathematics.md."""
    matrix = np.column_stack([column, 1 - np.array(column)])
    Q, R = (np.array(end) / 20 for end in ends)
    found = [utility.value(matrix, prior) for prior in (Q, R, (Q + R) / 2)]
    assert found == pytest.approx(values, abs=1e-8)
    assert found[2] < (found[0] + found[1]) / 2 - 0.004
    assert not utility.concave_in_prior
    with raises("wrong-objective", match=f"{utility.name}.* is not known to be concave in the prior"):
        md.WorstCaseUtility(utility)


@settings(max_examples=6)
@given(sets, st.integers(0, 2**32 - 1))
def test_the_least_gain_is_that_of_the_best_decoder_for_all_priors(known, seed):
    matrix = matrices(known.size, seed)
    rng = np.random.default_rng(seed)
    gains = rng.integers(-3, 5, (3, known.size))
    utility = md.ExpectedGain(gains.tolist())
    found = least_utility(utility, matrix, known)
    # No deterministic decoder has more.
    for guesses in product(range(3), repeat=matrix.shape[1]):
        means = (matrix * gains[list(guesses)].T).sum(axis=1)
        assert float(known.support((means + 3)[:, None])[0]) - 3 <= found.bound + ALGEBRA
    # At no prior is the gain of the best guesses less; at mixtures of corners it is nearly attained.
    corners = np.array([[float(q) for q in Q] for Q in extreme_priors(known)])
    weights = rng.dirichlet(np.full(len(corners), 0.5), 40)
    assert min(utility.value(matrix, Q) for Q in [*corners, *(weights @ corners)]) >= found.bound - ALGEBRA
    assert known.convex_hull is not None or known.contains(found.prior)
    assert found.value >= found.bound


def test_a_decoder_for_all_priors_has_to_guess_at_random():
    """A report that tells nothing: whoever guesses one symbol for sure is wrong under the other prior."""
    hull = md.ConvexHull([["0.9", "0.1"], ["0.1", "0.9"]])
    found, _ = greatest_least_gain(md.HammingAccuracy(), np.ones((2, 1)), hull)
    assert found == pytest.approx(0.5, abs=ALGEBRA)


def test_sets_of_one_prior_and_with_a_certain_symbol_need_no_search():
    thirty = np.full((30, 2), 0.5)
    known = md.L1Ball([Fraction(1, 30)] * 30)
    assert holds_one_prior(known)
    assert least_utility(INFORMATION, thirty, known).prior == known.center
    every = md.L1Ball([Fraction(1, 30)] * 30, 2)
    assert least_utility(INFORMATION, np.eye(30), every).bound == 0
    assert certain_prior(every)[0] == 1
    assert certain_prior(md.ConvexHull([["0.5", "0.5"], ["1", "0"]])) == (1, 0)


@pytest.mark.parametrize(
    ("known", "code"),
    [
        (md.L1Ball([Fraction(1, 17)] * 17, "0.1"), "too-much-work"),
        (md.ProductSet(*[md.L1Ball(["0.5", "0.5"], "0.1")] * 2), "no-method"),
        (
            uncertainty.LowerFunction(lambda S: Fraction(1, 9), ["1/3"] * 3, supermodular=False),
            "no-method",
        ),
    ],
)
def test_sets_without_known_corners_are_refused_by_name(known, code):
    with raises(code):
        least_utility(INFORMATION, np.full((known.size, 2), 0.5), known)
