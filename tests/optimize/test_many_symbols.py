"""Ties for the bound and bins for the mechanism, against lists of rays and proofs over all symbols."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from clocks import Clock
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples
from strategies import F_INFORMATIONS, balls
from tolerances import CERTIFIED

import mechdesign as md
from mechdesign.optimize import many_symbols
from mechdesign.optimize.column_generation import ColumnGeneration
from mechdesign.optimize.orbits import SORTS, Orbits, binned, dividing, merged_ball, tied_groups
from mechdesign.optimize.pricing import ListedPricing, check_listable
from mechdesign.optimize.pricing.by_counts import CountPricing
from mechdesign.optimize.pricing.price import averaged, equal_groups

seeds = st.integers(0, 2**32)


def random_groups(rng, size):
    """Return two groups of symbols or more, of any probability."""
    names = rng.integers(0, rng.integers(1, size + 1), size)
    names[rng.integers(size)] = size
    if (names == size).all():
        names[0] = 0
    return [np.flatnonzero(names == name).tolist() for name in np.unique(names)]


def silent(line):
    pass


# Symbols of a bin have one row


@given(balls(2, 7), st.booleans(), seeds)
def test_columns_that_are_constant_on_bins_have_the_support_of_the_merged_ball(ball, within_simplex, seed):
    """In rationals: zero counts, every radius, and the ball as printed among them."""
    rng = np.random.default_rng(seed)
    if not within_simplex:
        ball = ball.as_printed()
    bins = Orbits.tied(random_groups(rng, ball.size), ball.prior)
    merged = merged_ball(ball, bins)
    for _ in range(4):
        rows = rng.integers(0, 30, len(bins.groups)).tolist()
        copied = [rows[position] for position in bins.positions]
        assert merged.exact_support(rows) == ball.exact_support(copied)


@given(balls(2, 7), st.sampled_from(F_INFORMATIONS), seeds)
def test_columns_that_are_constant_on_bins_have_the_utility_of_the_merged_prior(ball, utility, seed):
    rng = np.random.default_rng(seed)
    bins = Orbits.tied(random_groups(rng, ball.size), ball.prior)
    rows = rng.integers(0, 4, (len(bins.groups), 3)).astype(float)
    before = utility.mu(rows, merged_ball(ball, bins).prior)
    np.testing.assert_allclose(utility.mu(rows[bins.positions], ball.prior), before, rtol=0, atol=1e-12)


def test_a_gain_that_tells_symbols_apart_is_not_that_of_the_merged_prior():
    """Merging is for f-informations: a gain of a merged prior has no meaning."""
    ball = md.L1Ball(["0.5", "0.25", "0.25"])
    gain = md.ExpectedGain([[0, 1, 0], [1, 0, 0]])
    with raises("needless-argument"):
        md.design(md.DesignProblem(ball, 1, gain), merge=True)


@given(balls(3, 30), st.floats(0.05, 1), st.sampled_from([2, 4, 8]), st.booleans())
def test_bins_hold_each_symbol_once_and_zeros_apart(ball, mass, parts, fine):
    for sort in SORTS:
        bins = binned(ball, mass, parts, sort, fine=fine)
        if bins is None:
            continue
        assert sorted(symbol for group in bins.groups for symbol in group) == list(range(ball.size))
        assert 1 < len(bins.groups) < ball.size
        for group in bins.groups:
            assert len({ball.center[symbol] == 0 for symbol in group}) == 1


def test_bins_that_divide_a_mass_come_close_to_it():
    """Sums of bins reach the mass of the best sets, which bins of equal mass need not."""
    ball = md.L1Ball.from_counts(range(1, 301), known=True)
    for parts in (2, 4):
        bins = binned(ball, 0.3678, parts, dividing, fine=False)
        masses = np.sort([ball.prior[list(group)].sum() for group in bins.groups])[::-1]
        left = 0.3678
        for mass in masses:
            left -= mass if mass <= left else 0
        assert left < 2e-3


@given(balls(2, 12), st.integers(0, 3), st.integers(0, 3), st.integers(1, 4))
def test_tied_groups_keep_symbols_of_equal_probability_together(ball, lightest, heaviest, classes):
    equal = equal_groups(ball.center)
    tied = tied_groups(equal, ball.prior, (lightest, heaviest, classes))
    assert sorted(symbol for group in tied for symbol in group) == list(range(ball.size))
    assert all(any(set(group) <= set(some) for some in tied) for group in equal)
    assert len(tied) <= lightest + heaviest + classes


# Tied multipliers


def listed(problem, pricing):
    """Return the bound and the value that a list of all rays gives."""
    solution = ColumnGeneration(problem, pricing, silent).solve(1e-9, None)
    value = problem.utility.value(solution.matrix, problem.uncertainty.prior)
    return md.optimize.certify(problem, solution.multipliers, pricing).upper_bound, value


@pytest.mark.combined
@pytest.mark.parametrize("rounds", [2, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("printed", [False, True], ids=["exact", "as printed"])
@pytest.mark.parametrize("utility", F_INFORMATIONS, ids=lambda u: u.name)
def test_bounds_of_tied_multipliers_hold_and_are_those_of_the_list(utility, printed, rounds):
    """Five problems each and round, 320 in eight rounds: every radius, zero counts, 3 to 7 symbols."""
    rng = np.random.default_rng([F_INFORMATIONS.index(utility), printed])
    for radius in ("0", "0.01", "0.1", "0.5", "1.3") * rounds:
        size = int(rng.integers(3, 8))
        counts = rng.integers(0 if radius != "0" else 1, 60, size)
        counts[0] += 5
        ball = md.L1Ball.from_counts(counts.tolist(), radius=radius, within_simplex=not printed)
        epsilon = str(rng.choice(["0.1", "0.7", "2"]))
        problem = md.DesignProblem(ball, epsilon, utility)
        exp_epsilon = float(problem.epsilon.exp_up)
        rays = ListedPricing(check_listable(ball, exp_epsilon), utility)
        bound, value = listed(problem, rays)
        rows = Orbits.tied(random_groups(rng, size), ball.prior)
        tied = ColumnGeneration(
            problem, CountPricing(ball, exp_epsilon, utility), silent, rows=rows, start=np.ones((size, 1))
        )
        tied.begin([np.zeros(size)], None)
        tied.run(1e-9, None)
        assert tied.bound >= value - 1e-12
        assert tied.value >= value - CERTIFIED  # a relaxation
        assert tied.bound >= bound - CERTIFIED
        # Tables average multipliers over symbols of equal count.
        center, _ = averaged(tied.center, equal_groups(ball.weights))
        again = md.optimize.certify(problem, center, rays).upper_bound
        np.testing.assert_allclose(min(tied.bound, again), again, rtol=0, atol=CERTIFIED)


# Designs


COUNTS = [int(900 / k) + 3 for k in range(1, 26)]
KNOWN = ({"radius": 0}, {"delta": "1e-9"}, {"radius": 2}, {"delta": "1e-3", "within_simplex": False})


def alike_rows(design):
    """Return the groups of labels whose rows are equal."""
    rows = {}
    for label, row in zip(design.mechanism.inputs, design.mechanism.numerators.tolist(), strict=True):
        rows.setdefault(tuple(row), []).append(label)
    return {tuple(group) for group in rows.values() if len(group) > 1}


@pytest.mark.combined
@pytest.mark.parametrize("known", KNOWN, ids=["known", "delta", "LDP", "as printed"])
@pytest.mark.parametrize("utility", F_INFORMATIONS, ids=lambda u: u.name)
def test_a_merged_mechanism_is_proved_over_all_symbols(utility, known, tmp_path):
    problem = md.DesignProblem(md.L1Ball.from_counts(COUNTS, **known), 1, utility)
    merged, own = md.design(problem, tol=0.05, merge=True), md.design(problem, tol=1e-3, merge=False)
    assert own.merged == ()
    assert merged.certified
    assert merged.merged
    assert set(merged.merged) == alike_rows(merged)
    assert "merged categories" in merged.method
    assert merged.mechanism.proof.holds
    assert merged.mechanism.guarantee.uncertainty == problem.uncertainty.exact_set
    assert merged.value <= own.upper_bound
    assert own.value <= merged.upper_bound
    merged.mechanism.save(tmp_path / "m.json")
    verified = md.verify(md.Mechanism.load(tmp_path / "m.json"))
    assert verified.certificate.upper_bound <= merged.upper_bound
    assert verified.value == merged.value


def test_unseen_symbols_are_merged_with_each_other_only():
    ball = md.L1Ball.from_counts([*COUNTS, 0, 0, 0], delta="1e-3")
    merged = md.design(md.DesignProblem(ball, 1), tol=0.05, merge=True)
    assert merged.certified
    unseen = set(ball.labels[-3:])
    assert unseen in [set(group) for group in merged.merged]
    assert all(not unseen & set(group) or unseen == set(group) for group in merged.merged)


def test_symbols_are_not_merged_where_all_of_them_are_certified():
    design = md.design(md.DesignProblem(md.L1Ball.from_counts(COUNTS, known=True), 1))
    assert (design.certified, design.merged) == (True, ())
    assert design.value == md.design(design.problem, merge=False).value


def stuck(monkeypatch):
    """Let the program over all symbols be given up after its first solution."""
    patience = many_symbols._Patience

    class Impatient(patience):
        def __call__(self):
            return patience.__call__(self) or (many_symbols._STUCK if self._search.columns.shape[0] == 25 else "")

    monkeypatch.setattr(many_symbols, "_Patience", Impatient)


def test_symbols_are_merged_where_the_program_over_all_of_them_is_stuck(monkeypatch):
    stuck(monkeypatch)
    problem = md.DesignProblem(md.L1Ball.from_counts(COUNTS, delta="1e-3"), "0.5")
    told = []
    design = md.design(problem, tol=2e-3, progress=told.append)
    assert design.certified
    assert design.merged
    assert any("bins: column generation" in line for line in told)
    other = md.design(problem, tol=2e-3, merge=False)
    assert other.certified
    assert other.merged == ()
    assert abs(other.value - design.value) <= 2e-3 * max(other.upper_bound, design.upper_bound)


def test_bins_that_cannot_do_it_are_followed_by_the_program_over_all_symbols():
    """Twenty-five symbols have few bins; at a fine tolerance none of them is good enough."""
    design = md.design(md.DesignProblem(md.L1Ball.from_counts(COUNTS, known=True), "0.3"), tol=1e-9, merge=True)
    assert design.certified
    assert design.stopped == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "limit", [0, pytest.param(0.02, marks=pytest.mark.slow), pytest.param(0.1, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("merge", [None, *(pytest.param(x, marks=pytest.mark.slow) for x in (True, False))])
def test_at_the_time_limit_the_gap_is_true(limit, merge):
    problem = md.DesignProblem(md.L1Ball.from_counts(range(1, 61), delta="1e-9"), "0.4")
    early, whole = md.design(problem, tol=1e-7, time_limit=limit, merge=merge), md.design(problem, tol=1e-4)
    assert early.stopped == "time limit" or early.certified
    assert early.value <= whole.upper_bound
    assert early.upper_bound >= whole.value
    assert early.gap == early.upper_bound - early.value
    assert early.mechanism.proof.holds
    assert math.isclose(md.verify(early.mechanism).value, early.value)


@pytest.mark.combined
@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("limit", [2, 8])
def test_a_design_that_is_stopped_reports_its_true_gap(merge, limit, monkeypatch):
    """The value is that of the matrix, and the bound holds by a list of all rays too."""
    ball = md.L1Ball.from_counts([211, 97, 83, 71, 59, 47, 41, 37, 31, 29, 23, 19, 17, 13], delta="1e-3")
    problem = md.DesignProblem(ball, "0.4")
    whole = md.design(problem, tol=1e-9)
    assert whole.certified
    monkeypatch.setattr(time, "monotonic", Clock())
    early = md.design(problem, tol=1e-4, time_limit=limit, merge=merge)
    assert early.stopped == "time limit"
    assert not early.certified
    assert bool(early.merged) == merge
    assert early.mechanism.proof.holds
    # The gap is that of this mechanism and of these multipliers, and the optimum lies between.
    assert early.gap == early.upper_bound - early.value
    assert math.isclose(problem.utility.value(early.mechanism.matrix, ball.center), early.value, rel_tol=1e-12)
    assert early.value <= whole.upper_bound
    assert early.upper_bound >= whole.value
    rays = ListedPricing(check_listable(ball, float(problem.epsilon.exp_up)), problem.utility)
    assert md.optimize.certify(problem, early.certificate.multipliers, rays).upper_bound <= early.upper_bound + 1e-12
    assert md.verify(early.mechanism).certificate.upper_bound <= early.upper_bound


def test_an_interrupt_among_the_bins_leaves_a_proved_mechanism(monkeypatch):
    begun = ColumnGeneration.begin

    def interrupted(self, centers, deadline):
        begun(self, centers, deadline)
        if len(self.columns) < 25:
            raise KeyboardInterrupt

    monkeypatch.setattr(ColumnGeneration, "begin", interrupted)
    design = md.design(md.DesignProblem(md.L1Ball.from_counts(COUNTS, known=True), 1), tol=1e-3, merge=True)
    assert design.stopped == "interrupted"
    assert design.mechanism.proof.holds
    assert not design.certified


@pytest.mark.parametrize("merge", [1, 0, "yes", "no"])
def test_merge_is_a_choice(merge):
    with raises("wrong-type"):
        md.design(md.DesignProblem(md.L1Ball(["0.5", "0.5"]), 1), merge=merge)


def test_a_hull_cannot_be_merged():
    hull = md.ConvexHull([["0.5", "0.5"], ["0.4", "0.6"]])
    with raises("needless-argument"):
        md.design(md.DesignProblem(hull, 1), merge=True)


def test_the_merged_ball_keeps_its_radius_and_sums_its_masses():
    ball = md.L1Ball(["0.4", "0.3", "0.2", "0.1"], "0.3").as_printed()
    merged = merged_ball(ball, Orbits.tied([[0], [1, 3], [2]], ball.prior))
    assert merged.center == (Fraction(2, 5), Fraction(2, 5), Fraction(1, 5))
    assert (merged.radius, merged.within_simplex) == (Fraction(3, 10), False)


@settings(max_examples=examples(40))
@given(balls(2, 8), seeds)
def test_tied_means_and_spread_multipliers_keep_products(ball, seed):
    rng = np.random.default_rng(seed)
    tied = Orbits.tied(random_groups(rng, ball.size), ball.prior)
    columns, multipliers = rng.random((ball.size, 3)), rng.standard_normal(len(tied.groups))
    np.testing.assert_allclose(tied.spread(multipliers) @ columns, multipliers @ tied.fold(columns), atol=1e-12)
    np.testing.assert_allclose(tied.sums(tied.spread(multipliers)), multipliers, atol=1e-12)
