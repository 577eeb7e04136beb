import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from extreme_priors import extreme_priors
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples
from strategies import balls, hulls
from tolerances import ALGEBRA

import mechdesign as md
from mechdesign import baselines
from mechdesign.additive_noise import (
    laplace_epsilon,
    laplace_scale,
    noise_epsilon_min,
    noise_leakage,
    ordered_geometric_epsilon,
    ordered_geometric_ratio,
    ordered_laplace_epsilon,
    ordered_laplace_matrix,
    ordered_laplace_scale,
)
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.pml import worst_case_leakage
from mechdesign.problem_file import read_problem

SETS = st.one_of(balls(most=4), hulls(most=4))


@st.composite
def numbers(draw, known, whole=False):
    """Numbers in any order, at unequal distances, one for each symbol."""
    found = draw(st.lists(st.integers(-40, 40), min_size=known.size, max_size=known.size, unique=True))
    return found if whole else [Fraction(x, 7) for x in found]


def at_numbers(scale, positions, priors):
    """The formula with 60 digits, at each prior that is given."""
    with mpmath.workdps(60):
        b = mpmath.mpf(scale)
        x = [mpmath.mpf(v.numerator) / v.denominator for v in map(Fraction, positions)]
        return max(
            -mpmath.log(
                sum(q.numerator * mpmath.exp(-abs(u - v) / b) / q.denominator for q, u in zip(Q, x, strict=True))
            )
            if any(Q)
            else mpmath.inf
            for Q in priors
            for v in x
        )


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_no_output_leaks_more_than_the_numbers(data):
    known = data.draw(SETS)
    positions, scale = data.draw(numbers(known)), data.draw(st.floats(0.05, 50))
    found = ordered_laplace_epsilon(scale, positions, known)
    x = np.array([float(v) for v in positions])
    ends = (x.min() - 3 * scale, x.max() + 3 * scale)
    corners = extreme_priors(known)
    for Q in corners:
        y = np.linspace(*ends, 997)
        assert noise_leakage(lambda t: -np.abs(t) / scale, x, Q, y).max() <= found * (1 + ALGEBRA) + ALGEBRA
    exact = at_numbers(scale, positions, corners)
    assert exact * (1 - mpmath.mpf(2) ** -50) <= found <= exact * (1 + mpmath.mpf(2) ** -50) + mpmath.mpf(2) ** -1000


def test_a_numerical_search_over_outputs_finds_the_same():
    prior, x = [0.05, 0.5, 0.15, 0.3], [0.0, 1.0, 1.5, 4.0]
    searched = noise_epsilon_min(lambda t: -np.abs(t) / 0.7, x, prior, (-3, 7))
    assert ordered_laplace_epsilon(0.7, x, prior) == pytest.approx(searched, rel=1e-9)


@pytest.mark.parametrize(("p", "radius"), [("0.3", "0"), ("0.3", "0.25"), ("0.1", "0.4"), ("0.5", "2")])
@pytest.mark.parametrize("scale", ["0.3", "2", "40"])
def test_two_numbers_have_the_closed_form_of_the_paper(p, radius, scale):
    ball = md.L1Ball([p, 1 - Fraction(p)], radius)
    printed = laplace_epsilon(scale, p, radius)
    assert printed <= ordered_laplace_epsilon(scale, [-1, 1], ball) <= math.nextafter(printed, 100)
    expected = laplace_scale("0.25", p, radius)
    assert ordered_laplace_scale("0.25", [-1, 1], ball) == pytest.approx(expected, rel=1e-10)


def test_over_all_priors_it_is_local_differential_privacy():
    everything = md.L1Ball(["1/4"] * 4, 2)
    assert 2 <= ordered_laplace_epsilon(5, [3, 0, 1, 10], everything) <= math.nextafter(2, 3)
    assert ordered_laplace_scale(2, [3, 0, 1, 10], everything) == pytest.approx(5, rel=1e-11)
    assert ordered_laplace_scale(2, [3, 0, 1, 10], everything) >= 5


@settings(max_examples=examples(25), deadline=None)
@given(st.data())
def test_the_scale_keeps_the_promise_and_hardly_a_smaller_one_does(data):
    known = data.draw(SETS)
    positions, epsilon = data.draw(numbers(known)), data.draw(st.sampled_from(["0.01", "0.4", "log(9/8)", "1.7"]))
    target = float(Epsilon.of(epsilon))
    scale = ordered_laplace_scale(epsilon, positions, known)
    least = min(min(Q) for Q in extreme_priors(known))
    if scale == 0:
        assert least >= math.exp(-target) * (1 - ALGEBRA)
        return
    assert ordered_laplace_epsilon(scale, positions, known) <= target * (1 + 1e-15)
    smaller = scale - 2e-12 * float(max(positions) - min(positions)) / target
    if smaller > 0:
        assert at_numbers(smaller, positions, extreme_priors(known)) > target * (1 - 1e-14)


@settings(max_examples=examples(25), deadline=None)
@given(st.data())
def test_the_mechanism_that_reports_numbers_leaks_as_much(data):
    known = data.draw(SETS)
    positions, scale = data.draw(numbers(known)), data.draw(st.floats(0.2, 50))
    matrix = ordered_laplace_matrix(scale, positions)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=ALGEBRA)
    leaked = worst_case_leakage(matrix, known).value
    assert leaked == pytest.approx(ordered_laplace_epsilon(scale, positions, known), rel=1e-9, abs=1e-12)


def test_the_noisy_number_comes_of_that_report():
    from scipy.integrate import quad

    scale, x = 0.8, np.array([0.0, 1.0, 3.0, 3.5])
    matrix = ordered_laplace_matrix(scale, x)
    weights = np.diag(matrix)

    def columns(y):
        """Return the weights of the columns of both neighbours, by solving for them."""
        k = int(np.clip(np.searchsorted(x, y) - 1, 0, x.size - 2))
        v = np.exp(-np.abs(y - x) / scale)
        mixed = np.zeros(x.size)
        if x[0] <= y <= x[-1]:
            pair = np.exp(-np.abs(x[:, None] - x[[k, k + 1]]) / scale)
            mixed[[k, k + 1]] = np.linalg.lstsq(pair, v, rcond=None)[0]
        else:
            end = 0 if y < x[0] else x.size - 1
            mixed[end] = v[end]
        np.testing.assert_allclose(np.exp(-np.abs(x[:, None] - x) / scale) @ mixed, v, atol=ALGEBRA)
        assert mixed.min() >= 0
        return mixed / (2 * scale)

    # The density of y given the report k is columns(y)[k] / weights[k], and must have the mass 1.
    for k in range(x.size):
        mass = quad(lambda y, k=k: columns(y)[k], x[0] - 30, x[-1] + 30, points=x.tolist(), limit=200)[0]
        assert mass == pytest.approx(weights[k], rel=1e-7)


def test_extreme_scales_and_numbers_have_a_mechanism_of_whole_reports():
    for scale, x in (("1e-300", [0, 1]), ("1e300", [0, 1]), ("1e-400", [0, 1]), (1, ["1e400", 0]), ("1e400", [0, 1])):
        matrix = ordered_laplace_matrix(scale, x)
        expected = np.eye(2) if scale in {"1e-300", "1e-400", 1} else np.full((2, 2), 0.5)
        np.testing.assert_allclose(matrix, expected, atol=ALGEBRA)
    assert ordered_laplace_epsilon(1, ["1e400", 0], [0.5, 0.5]) == math.nextafter(math.log(2), 1)


def test_at_equal_distances_it_is_the_truncated_geometric_mechanism():
    known = baselines.geometric(5, "log(16)")  # ratio 1/2 from one number to the next
    np.testing.assert_allclose(ordered_laplace_matrix(1 / math.log(2), range(5)), known.matrix, rtol=ALGEBRA)


def test_geometric_noise_leaks_what_its_exact_columns_do():
    # Every whole output from 30 below to 30 above, in rationals, at each corner of the set.
    known, x, r = md.L1Ball(["0.1", "0.3", "0.4", "0.2"], "0.25"), [4, -2, 0, 9], Fraction(2, 3)
    worst = max(
        max(v) / sum(q * entry for q, entry in zip(Q, v, strict=True))
        for Q in extreme_priors(known)
        for y in range(-32, 40)
        for v in [[r ** abs(y - value) for value in x]]
    )
    with mpmath.workdps(40):
        exact = mpmath.log(mpmath.mpf(worst.numerator) / worst.denominator)
    found = ordered_geometric_epsilon(r, x, known)
    assert exact <= found <= exact * (1 + mpmath.mpf(2) ** -51)


@pytest.mark.parametrize("epsilon", ["0.001", "0.3", "1", "1.6"])
def test_the_ratio_of_geometric_noise_keeps_the_promise_and_the_one_below_does_not(epsilon):
    known, x = md.L1Ball(["0.1", "0.3", "0.4", "0.2"], "0.01"), [4, -2, 0, 9]
    ratio = ordered_geometric_ratio(epsilon, x, known)
    assert 0 < ratio < 1
    assert ratio.denominator <= 2**48
    assert ordered_geometric_epsilon(ratio, x, known) <= float(epsilon)
    assert ordered_geometric_epsilon(ratio - Fraction(1, 10**11), x, known) > float(epsilon)


def test_no_noise_is_needed_where_the_numbers_leak_less():
    x = [0, 1, 5]
    assert ordered_laplace_scale("log(4)", x, ["1/4", "1/4", "1/2"]) == 0
    assert ordered_geometric_ratio("log(4)", x, ["1/4", "1/4", "1/2"]) == 0
    assert ordered_laplace_scale("1.386", x, ["1/4", "1/4", "1/2"]) > 0


def test_leakage_falls_with_the_scale_and_grows_with_the_radius():
    x = [0, 3, 4, 11]
    prior = md.L1Ball([0.2, 0.3, 0.4, 0.1], 0)
    assert (np.diff([ordered_laplace_epsilon(float(b), x, prior) for b in np.geomspace(0.3, 1e3, 30)]) < 0).all()
    radii = [ordered_laplace_epsilon(2, x, prior.with_radius(f"0.{k:02}")) for k in range(0, 90, 5)]
    assert (np.diff(radii) > 0).all()


def test_means_below_the_bounds_of_the_arithmetic_are_infinite_and_not_too_small():
    never = md.L1Ball([1, 0], "0.001")  # a prior excludes the second number
    assert ordered_laplace_epsilon("0.001", [0, 1], never) == pytest.approx(1000)
    assert ordered_laplace_epsilon("1e-9", [0, 1], never) == math.inf
    assert ordered_laplace_epsilon("1e-300", [0, 1], [0.5, 0.5]) == math.nextafter(math.log(2), 1)
    assert ordered_laplace_epsilon("1e300", [0, 1], [0.5, 0.5]) == pytest.approx(0.5e-300, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "factor"),
    [pytest.param("adult-hours-per-week", 1.63, marks=pytest.mark.slow), ("adult-age", 1.41)],
    ids=["hours", "age"],
)
def test_adult_needs_less_noise_than_local_differential_privacy(name, factor):
    known = read_problem(f"problems/{name}.toml").problem.uncertainty
    x = [int(label) for label in known.labels]
    scale = ordered_laplace_scale(1, x, known)
    assert (max(x) - min(x)) / scale == pytest.approx(factor, abs=0.005)
    mechanism = md.Mechanism.from_matrix(ordered_laplace_matrix(scale, x), md.Guarantee(1, known), outputs=known.labels)
    assert mechanism.leakage <= 1
    assert mechanism.leakage == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: ordered_laplace_epsilon(0, [0, 1], [0.5, 0.5]), "out-of-range"),
        (lambda: ordered_laplace_epsilon(1, [0, 1, 2], [0.5, 0.5]), "wrong-size"),
        (lambda: ordered_laplace_epsilon(1, [0], [0.5, 0.5]), "too-few-categories"),
        (lambda: ordered_laplace_epsilon(1, [1, "1"], [0.5, 0.5]), "out-of-range"),
        (lambda: ordered_laplace_epsilon(1, [1, math.nan], [0.5, 0.5]), "not-a-number"),
        (lambda: ordered_laplace_scale(0, [0, 1], [0.5, 0.5]), "epsilon-out-of-range"),
        (lambda: ordered_laplace_scale("1e-31", [0, 1], [0.5, 0.5]), "epsilon-out-of-range"),
        (lambda: ordered_geometric_epsilon(1, [0, 1], [0.5, 0.5]), "out-of-range"),
        (lambda: ordered_geometric_epsilon("1/2", [0, "1/2"], [0.5, 0.5]), "not-a-whole-number"),
        (lambda: ordered_geometric_ratio("1e-20", [0, 1], [0.5, 0.5]), "epsilon-out-of-range"),
        (lambda: ordered_laplace_matrix(-1, [0, 1]), "out-of-range"),
    ],
)
def test_bad_arguments_are_named(call, code):
    with raises(code):
        call()


def test_promises_about_a_secret_are_refused():
    secret = md.SecretPromise([[20, 10], [10, 15]], known=True)
    with raises("set-not-accepted"):
        ordered_laplace_epsilon(1, [0, 1], secret)


def test_positions_that_agree_as_floats_and_huge_ones_have_their_own_columns():
    far, step = 2**70, np.array([[1, 0], [0, 1]])
    near = ordered_laplace_matrix(1, [0, 1, 3])
    assert np.array_equal(ordered_laplace_matrix(1, [far, far + 1, far + 3]), near)
    assert np.array_equal(ordered_laplace_matrix("1e400", ["0", "1e400", "3e400"]), near)
    for scale, positions in [("1e-400", [-1, 1]), (1, ["-1e400", "1e400"]), (1, [-1e308, 1e308]), (5e-324, [0, 1])]:
        assert np.array_equal(ordered_laplace_matrix(scale, positions), step)
    for twice in ("1e400", 10**5000):
        with raises("out-of-range", "stands twice"):
            ordered_laplace_epsilon(1, [twice, twice], [0.5, 0.5])
    with raises("not-a-whole-number"):
        ordered_geometric_epsilon("1/2", ["1e-400", 0], [0.5, 0.5])
