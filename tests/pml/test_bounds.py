import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from strategies import balls, random_ball, random_mechanism
from tolerances import ALGEBRA

import mechdesign as md
from mechdesign.pml import (
    epsilon_max,
    epsilon_min,
    leakage_bound_elsewhere,
    leakage_sensitivity,
    lipschitz_bound,
    output_sensitivity,
    privacy_region,
    sensitivity_bound,
    sensitivity_bound_any_region,
    sensitivity_bound_first_region,
    worst_case_leakage,
)

EXAMPLE_1 = [
    [0.325, 0.225, 0.225, 0.225],
    [0.45, 0.1, 0.225, 0.225],
    [0.45, 0.225, 0.1, 0.225],
    [0.45, 0.225, 0.225, 0.1],
]
PRIOR_1 = ["0.4", "0.2", "0.2", "0.2"]


def exact_problem(rng, size, outputs=4):
    """A prior of full support and a mechanism of fractions, some of them 0, with exp(epsilon_min) exactly."""
    found = (1 + rng.integers(0, 30, size)).tolist()
    P = [Fraction(n, sum(found)) for n in found]
    rows = rng.integers(0, 9, (size, outputs)) * (rng.random((size, outputs)) < 0.8)
    rows[:, 0] += 1
    matrix = [[Fraction(int(x), int(row.sum())) for x in row] for row in rows]
    ratios = []
    for v in zip(*matrix, strict=True):
        mean = sum(p * x for p, x in zip(P, v, strict=True))
        ratios += [max(v) / mean] if mean else []
    return P, matrix, max(ratios)


def high_privacy(P, e):
    """GSO Theorem 3."""
    return [[1 - e * (1 - p) if i == j else e * p for j, p in enumerate(P)] for i in range(len(P))]


@given(st.integers(2, 5), st.integers(0, 2**32), st.fractions(0, 2, max_denominator=200))
def test_theorem_4_bounds_both_sensitivities_at_every_radius(size, seed, radius):
    P, matrix, e = exact_problem(np.random.default_rng(seed), size)
    D = output_sensitivity(matrix, P, md.L1Ball(P, radius)).value
    S = leakage_sensitivity(matrix, P, md.L1Ball(P, radius)).value
    first = sensitivity_bound_first_region(f"log({e})", radius, min(P))
    any_region = sensitivity_bound_any_region(f"log({e})", radius)
    best = sensitivity_bound(f"log({e})", radius, P)
    assert S <= D <= best == min(first, any_region)
    in_first = privacy_region(P, f"log({e})") == 1
    assert (first if in_first else any_region) == best
    if radius < 2 * min(P):
        assert math.isfinite(best)


@given(st.integers(2, 5), st.integers(0, 2**32), st.fractions(0, 2, max_denominator=200), st.integers(1, 60))
def test_theorem_4_holds_for_a_larger_epsilon_than_the_mechanism_needs(size, seed, radius, more):
    P, matrix, e = exact_problem(np.random.default_rng(seed), size)
    e *= 1 + Fraction(more, 20)
    D = output_sensitivity(matrix, P, md.L1Ball(P, radius)).value
    assert sensitivity_bound_first_region(f"log({e})", radius, min(P)) >= D
    assert sensitivity_bound_any_region(f"log({e})", radius) >= D
    assert sensitivity_bound(f"log({e})", radius, P) >= D


@given(st.integers(2, 5), st.integers(0, 2**32), st.fractions(0, 1, max_denominator=100))
def test_the_high_privacy_mechanism_reaches_the_bound_of_the_first_region(size, seed, share):
    P, _, _ = exact_problem(np.random.default_rng(seed), size)
    p = min(P)
    radius = share * 2 * (1 - p)  # far beyond 2 p_min
    for e in (1 + (1 / (1 - p) - 1) / 3, 1 / (1 - p)):
        matrix, ball = high_privacy(P, e), md.L1Ball(P, radius)
        bound = sensitivity_bound_first_region(f"log({e})", radius, p)
        assert leakage_sensitivity(matrix, P, ball).value == bound
        assert output_sensitivity(matrix, P, ball).value == bound
    # Both cases of (32) meet at the end of the first region.
    assert bound == sensitivity_bound_any_region(f"log({e})", radius)


@given(st.integers(2, 5), st.integers(0, 2**32), st.fractions(0, 1, max_denominator=100))
def test_zeros_in_every_column_reach_the_other_bound_at_the_least_epsilon_only(size, seed, share):
    P, _, _ = exact_problem(np.random.default_rng(seed), size)
    radius = share * 2 * min(P)
    identity, ball = np.eye(size, dtype=int), md.L1Ball(P, radius)
    e = 1 / min(P)
    for sensitivity in (leakage_sensitivity, output_sensitivity):
        assert sensitivity(identity, P, ball).value == sensitivity_bound_any_region(f"log({e})", radius)
    # ED asks for no more than the zeros; with an epsilon that is not needed, they are not enough.
    weak = np.vstack([identity[:2, :2], np.full((size - 2, 2), Fraction(1, 2))]) if size > 2 else None
    if weak is not None:
        ratio = 1 / (min(P[:2]) + sum(P[2:]) / 2)
        found = output_sensitivity(weak, P, ball).value
        assert found == sensitivity_bound_any_region(f"log({ratio})", radius)
        if radius > 0:
            assert found < sensitivity_bound_any_region(f"log({ratio * Fraction(11, 10)})", radius)


@pytest.mark.parametrize("e", ["9/8", "1"])
def test_a_constant_mechanism_is_a_vertex_of_the_polytope_and_far_from_the_bound(e):
    ball = md.L1Ball(PRIOR_1, "0.3")
    found = output_sensitivity([[1, 0]] * 4, PRIOR_1, ball).value
    assert found == 0
    assert (found < sensitivity_bound(f"log({e})", "0.3", PRIOR_1)) == (e != "1")


@pytest.mark.parametrize("radius", ["0", "0.1", "0.2", "0.3", "0.399999", "1.6"])
def test_example_1(radius):
    """epsilon = log(9/8), p_min = 1/5: the bound is -log(1 - 5 beta / 16)."""
    ball = md.L1Ball(PRIOR_1, radius)
    expected = -math.log1p(-5 * float(radius) / 16)
    assert sensitivity_bound("log(9/8)", radius, PRIOR_1) == pytest.approx(expected, abs=ALGEBRA)
    assert leakage_sensitivity(EXAMPLE_1, PRIOR_1, ball).value == pytest.approx(expected, abs=ALGEBRA)
    assert output_sensitivity(EXAMPLE_1, PRIOR_1, ball).value == pytest.approx(expected, abs=ALGEBRA)


@pytest.mark.parametrize("radius", ["0", "0.05", "0.1", "0.19999"])
def test_example_2(radius):
    """2-singular, N = 10, epsilon = log(5): the bound is -log(1 - 5 beta / 2)."""
    matrix = np.kron(np.eye(5), np.full((2, 2), 0.5))
    ball = md.L1Ball(["0.1"] * 10, radius)
    expected = -math.log1p(-2.5 * float(radius))
    assert sensitivity_bound("log(5)", radius, ["0.1"] * 10) == pytest.approx(expected, abs=ALGEBRA)
    assert leakage_sensitivity(matrix, ["0.1"] * 10, ball).value == pytest.approx(expected, abs=ALGEBRA)
    assert output_sensitivity(matrix, ["0.1"] * 10, ball).value == pytest.approx(expected, abs=ALGEBRA)


@pytest.mark.parametrize("matrix", [EXAMPLE_1, np.eye(4).tolist()])
def test_random_distributions_stay_below_the_bound_as_in_figure_2(matrix):
    rng = np.random.default_rng(2)
    P, V = np.array([0.4, 0.2, 0.2, 0.2]), np.array(matrix)
    e = md.Epsilon.of("log(9/8)" if matrix is EXAMPLE_1 else "log(5)")
    Q = P + rng.uniform(0, 0.3, (300, 1)) * (rng.dirichlet(np.ones(4), 300) - P)
    true = np.log((P @ V) / (Q @ V)).max(axis=1)
    bounds = [sensitivity_bound(e, beta, PRIOR_1) for beta in np.abs(Q - P).sum(axis=1)]
    assert (true <= np.array(bounds) + ALGEBRA).all()
    assert (true / np.maximum(bounds, 1e-3)).max() > 0.5


def test_edges_of_theorem_4():
    p = "0.2"
    assert sensitivity_bound_first_region(0, "1.9", p) == 0  # a constant mechanism
    assert sensitivity_bound_first_region("log(9/8)", 0, p) == sensitivity_bound_any_region("3", 0) == 0
    just_below, beyond = Fraction(4, 10) - Fraction(1, 10**12), Fraction(4, 10)
    # epsilon = epsilon_max: the term in the logarithm vanishes at beta = 2 p_min, and not before.
    assert math.log(10**11) < sensitivity_bound_any_region("log(5)", just_below) < math.log(10**13)
    assert sensitivity_bound_any_region("log(5)", beyond) == math.inf
    assert sensitivity_bound_first_region("log(9/8)", "1.6", p) == pytest.approx(math.log(2), abs=ALGEBRA)
    assert sensitivity_bound_first_region("log(2)", "0.4", p) == math.inf
    assert sensitivity_bound_any_region(700, "1e-9") == math.inf
    # Above epsilon_max nothing changes: every mechanism keeps that.
    assert sensitivity_bound(700, "0.3", PRIOR_1) == sensitivity_bound("log(5)", "0.3", PRIOR_1) < math.inf
    # A symbol of probability 0 leaves the bound that needs no p_min.
    assert sensitivity_bound(1, "0.1", [0.5, 0.5, 0]) == sensitivity_bound_any_region(1, "0.1")


def test_the_bound_of_the_first_region_stays_valid_above_it_and_is_weaker():
    P = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
    assert privacy_region(P, "log(3/2)") == 2
    first = sensitivity_bound_first_region("log(3/2)", "0.1", "0.2")
    assert sensitivity_bound_any_region("log(3/2)", "0.1") == sensitivity_bound("log(3/2)", "0.1", P) < first < math.inf


@given(st.integers(2, 5), st.integers(0, 2**32), st.fractions(0, 2, max_denominator=200))
def test_epsilon_max_and_the_bound_contain_the_capacity(size, seed, radius):
    P, matrix, e = exact_problem(np.random.default_rng(seed), size)
    capacity = worst_case_leakage(matrix, md.L1Ball(P, radius)).value
    for epsilon in (f"log({e})", "log(1000000)"):
        kept = min(float(md.Epsilon.of(epsilon)), epsilon_max(P))
        assert capacity <= kept + sensitivity_bound(epsilon, radius, P) + ALGEBRA


@pytest.mark.parametrize(
    ("bound", "exactly"),
    [
        (lambda x: sensitivity_bound_any_region(x, "0.1"), lambda x: -(1 - x.exp() / 20).log()),
        (lambda x: sensitivity_bound_first_region(x, "0.1", "0.2"), lambda x: -(1 - (x.exp() - 1) / 4).log()),
        (lambda x: leakage_bound_elsewhere(x, "0.1"), lambda x: x - (1 - x.exp() / 20).log()),
    ],
)
def test_bounds_are_the_least_floats_that_are_not_below_their_formulas(bound, exactly):
    from flint import arb, ctx

    for numerator in range(1, 130, 7):
        with ctx.workprec(300):
            true = exactly(arb(numerator) / 100)
            found = bound(Fraction(numerator, 100))
            assert arb(math.nextafter(found, 0)) < true <= arb(found)


def test_exp_epsilon_is_rounded_up_and_exact_where_it_is_rational():
    from flint import arb, ctx, fmpq

    for value in ("0.1", "1", "2.5", "700"):
        epsilon = md.Epsilon.of(value)
        e = epsilon.exp_up
        with ctx.workprec(300):
            assert arb(fmpq(e.numerator, e.denominator)) > arb(fmpq(*epsilon.exponent.as_integer_ratio())).exp()
        assert e < epsilon.exp_down * (1 + Fraction(1, 2**100))
    assert md.Epsilon.of("log(9/8)").exp_up == Fraction(9, 8)
    assert md.Epsilon.of(0).exp_up == 1


@given(balls(), st.integers(0, 2**32))
def test_theorem_3_and_half_of_it_hold_between_all_members(ball, seed):
    rng = np.random.default_rng(seed)
    matrix = random_mechanism(rng, ball.size, 3)
    constant = lipschitz_bound(matrix, ball)
    assert constant >= 1
    capacity = md.leakage_capacity(matrix, ball)
    if math.isinf(constant):
        assert capacity == math.inf or capacity > 30
        return
    assert constant == pytest.approx(math.exp(capacity), rel=1e-9)
    V = matrix[:, matrix.any(axis=0)]
    sharp = ((V.max(axis=0) - V.min(axis=0)) / (2 * ball.support(V))).max()
    assert sharp <= constant / 2 * (1 + 1e-9)
    members = np.array([ball.member_near(Q) for Q in rng.dirichlet(np.full(ball.size, 0.4), 20)])
    leaked = epsilon_min(matrix, members)
    distances = np.abs(members[:, None] - members[None]).sum(axis=2)
    assert (np.abs(leaked[:, None] - leaked[None]) <= sharp * distances + 1e-9).all()


def test_half_of_the_constant_of_theorem_3_is_reached_where_a_column_has_a_zero():
    ball = md.L1Ball(["0.5", "0.3", "0.2"], "0.3")
    matrix = np.array([[0.9, 0.1], [1.0, 0.0], [0.4, 0.6]])
    worst = worst_case_leakage(matrix, ball)
    step = np.zeros(3)
    step[[matrix[:, worst.output].argmax(), matrix[:, worst.output].argmin()]] = 1e-7, -1e-7
    nearby = worst.prior + step
    assert np.abs(nearby - ball.prior).sum() < 0.3
    slope = (epsilon_min(matrix, worst.prior) - epsilon_min(matrix, nearby)) / np.abs(step).sum()
    assert slope == pytest.approx(lipschitz_bound(matrix, ball) / 2, rel=1e-5)


def test_lipschitz_bound_is_exact_and_infinite_with_the_capacity():
    assert lipschitz_bound([[3, 1], [1, 3]], md.L1Ball([0.5, 0.5], 2)) == 3
    assert lipschitz_bound(np.eye(2), md.L1Ball([0.5, 0.5], 1)) == math.inf
    assert lipschitz_bound([[1], [1]], md.L1Ball([0.5, 0.5], 1)) == 1


@given(st.integers(2, 5), st.integers(0, 2**32))
def test_lipschitz_bound_is_rounded_up(size, seed):
    P, matrix, e = exact_problem(np.random.default_rng(seed), size)
    found = Fraction(lipschitz_bound(matrix, md.L1Ball(P)))
    assert e <= found <= e * (1 + Fraction(1, 2**52))


def test_corollary_2_bounds_the_leakage_at_every_other_prior():
    rng = np.random.default_rng(8)
    for _ in range(60):
        ball = random_ball(rng, 4, 0)
        matrix, Q = random_mechanism(rng, 4, 3), rng.dirichlet(np.ones(4))
        shrink = rng.random() ** 3
        Q = ball.prior + shrink * (Q - ball.prior)
        epsilon, distance = epsilon_min(matrix, ball.prior), float(np.abs(Q - ball.prior).sum())
        assert epsilon_min(matrix, Q) <= leakage_bound_elsewhere(epsilon, distance) + ALGEBRA


@given(st.integers(2, 5), st.integers(0, 2**32), st.fractions(0, 2, max_denominator=200))
def test_corollary_2_is_epsilon_plus_the_bound_for_any_region(size, seed, distance):
    _, _, e = exact_problem(np.random.default_rng(seed), size)
    found = leakage_bound_elsewhere(f"log({e})", distance)
    other = math.log(e) + sensitivity_bound_any_region(f"log({e})", distance)
    assert found == pytest.approx(other, abs=1e-9)
    assert math.isinf(found) == (distance * e >= 2)


def test_edges_of_corollary_2():
    for epsilon in ("0", "0.1", "1", "700"):
        assert leakage_bound_elsewhere(epsilon, 0) == float(epsilon)
    assert leakage_bound_elsewhere("log(5)", "0.4") == leakage_bound_elsewhere("log(5)", 2) == math.inf
    assert leakage_bound_elsewhere("log(5)", "0.39999999999999") > 30
    assert leakage_bound_elsewhere(700, "1e-300") == math.inf
    assert leakage_bound_elsewhere(0, "1.9") == pytest.approx(math.log(20), abs=ALGEBRA)
    # ED eq. (38).
    radius = md.weissman_radius(10**6, 20, 1e-5)
    expected = math.log(5) - math.log1p(-2.5 * radius)
    assert leakage_bound_elsewhere("log(5)", radius) == pytest.approx(expected, abs=ALGEBRA)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: sensitivity_bound_first_region(1, "0.1", 0), "out-of-range"),
        (lambda: sensitivity_bound_first_region(1, "0.1", "0.6"), "out-of-range"),
        (lambda: sensitivity_bound_any_region(1, -1), "radius-out-of-range"),
        (lambda: sensitivity_bound_any_region(1, 2.5), "radius-out-of-range"),
        (lambda: sensitivity_bound_any_region(-1, 1), "epsilon-out-of-range"),
        (lambda: sensitivity_bound(1, 1, [0.5, 0.6]), "wrong-sum"),
        (lambda: leakage_bound_elsewhere(1, 2.5), "out-of-range"),
        (lambda: leakage_bound_elsewhere(1, math.nan), "not-a-number"),
        (lambda: leakage_bound_elsewhere("log(1/2)", 1), "epsilon-out-of-range"),
    ],
)
def test_bad_arguments_are_refused(call, code):
    with raises(code):
        call()
