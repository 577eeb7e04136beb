import dataclasses
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb
from refusals import raises
from scipy.stats import norm
from tolerances import ALGEBRA

from mechdesign.additive_noise.gaussian import (
    gaussian_crossings,
    gaussian_curve,
    gaussian_delta,
    gaussian_guarantee,
    gaussian_leakage,
)
from mechdesign.additive_noise.half_lines import HalfLines, _up
from mechdesign.additive_noise.quadrature import noise_leakage, noise_tail
from mechdesign.data.checks import checked_scale, reachable_epsilon
from mechdesign.numerics.exact import arb_of, lower, upper, working_precision
from mechdesign.uncertainty import weissman_radius


def density(sigma):
    return lambda t: -(t**2) / (2 * sigma**2) - math.log(sigma * math.sqrt(2 * math.pi))


def reached(q, epsilon, sigma):
    """P[E] for many priors at once, in floats."""

    def half_line(share):
        c = math.exp(-epsilon)
        inside = np.minimum(share, c * (1 - 1e-15))
        y = sigma**2 / 2 * np.log((1 - inside) / (c - inside))
        mass = inside * norm.sf(y - 1, scale=sigma) + (1 - inside) * norm.sf(y + 1, scale=sigma)
        return np.where(share < c, mass, 0.0)

    return half_line(q) + half_line(1 - q)


def half_lines(epsilon, sigma):
    return HalfLines.of(reachable_epsilon(epsilon), checked_scale(sigma))


def middle(ball):
    return float((lower(ball) + upper(ball)) / 2)


@pytest.mark.parametrize("sigma", [0.2, 1.0, 6.0])
@pytest.mark.parametrize("p", [0.5, 0.8, 0.03, 1.0, 0.0])
def test_leakage_is_that_of_the_densities(sigma, p):
    y = np.linspace(-7, 7, 141)
    with np.errstate(divide="ignore"):
        expected = noise_leakage(density(sigma), [-1, 1], [p, 1 - p], y)
    np.testing.assert_allclose(gaussian_leakage(y, sigma, [p, 1 - p]), expected, atol=1e-12, rtol=1e-11)


def test_leakage_at_the_ends_of_floats():
    y = np.array([-1e300, -1.0, 0.0, 1e-300, 1e300])
    np.testing.assert_allclose(gaussian_leakage(y, 1e-200, [0.25, 0.75])[[0, 1, 4]], -np.log([0.25, 0.25, 0.75]))
    assert gaussian_leakage(0.0, 1e-300, [0.5, 0.5]) == 0
    assert gaussian_leakage(3.0, 1e-300, [1, 0]) == np.inf
    assert gaussian_leakage(-3.0, 1e-300, [1, 0]) == 0
    assert gaussian_leakage(1.0, 1e10, [0.5, 0.5]) == pytest.approx(1e-20, rel=1e-12)
    assert gaussian_leakage(1.0, "1e400", [0.5, 0.5]) == 0


@pytest.mark.parametrize(("epsilon", "p"), [(0.1, 0.5), (0.5, 0.3), (0.9, 0.3), (3.0, 0.01)])
@pytest.mark.parametrize("sigma", [0.3, 1.5])
def test_leakage_at_the_crossings_is_epsilon(epsilon, p, sigma):
    ends = np.array(gaussian_crossings(epsilon, sigma, [p, 1 - p]))
    finite = ends[np.isfinite(ends)]
    np.testing.assert_allclose(gaussian_leakage(finite, sigma, [p, 1 - p]), epsilon, rtol=1e-12)
    # An end is infinite where even certainty of that symbol leaks no more than epsilon.
    assert np.isinf(ends).tolist() == [-math.log(p) <= epsilon, -math.log(1 - p) <= epsilon]
    assert ends[0] < 0 < ends[1]


@pytest.mark.combined
@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("p", [0.5, 0.3, 0.05])
@pytest.mark.parametrize("epsilon", [0.05, 0.4, 1.1])
def test_delta_of_a_known_prior_is_the_integral_over_the_outcomes(epsilon, p, sigma):
    integral = noise_tail(density(sigma), [-1, 1], [p, 1 - p], epsilon, (-12 * sigma - 1, 12 * sigma + 1))
    assert gaussian_delta(epsilon, sigma, p) == pytest.approx(integral, abs=1e-11)


@pytest.mark.parametrize("epsilon", ["0.3", "2"])
@pytest.mark.parametrize("p", ["0.5", "0.1"])
def test_delta_of_a_known_prior_is_not_below_sixty_digits_of_it(epsilon, p):
    for sigma in ("0.2", "1.3", "4", "11"):
        with mpmath.workdps(60):
            e, s = mpmath.mpf(epsilon), mpmath.mpf(sigma)
            exact = mpmath.mpf(0)
            for q in (mpmath.mpf(p), 1 - mpmath.mpf(p)):
                if q < mpmath.exp(-e):
                    y = s**2 / 2 * mpmath.log((1 - q) / (mpmath.exp(-e) - q))
                    exact += q * mpmath.ncdf((1 - y) / s) + (1 - q) * mpmath.ncdf((-1 - y) / s)
            found = gaussian_delta(epsilon, sigma, p)
            assert exact <= found <= exact * (1 + mpmath.mpf(10) ** -15) + 5e-324


@pytest.mark.combined
@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.5, 9.0])
@pytest.mark.parametrize(("p_min", "radius"), [(0.5, 0.2), (0.3, 0.1), (0.3, 0.6), (0.01, 0.3), (0.2, 2.0)])
def test_delta_of_a_ball_is_the_greatest_of_its_priors(sigma, p_min, radius):
    q = np.linspace(max(0.0, p_min - radius / 2), min(1.0, p_min + radius / 2), 20_001)
    for epsilon in (0.02, 0.3, 0.65, 0.8, 2.5):
        sampled, found = reached(q, epsilon, sigma).max(), gaussian_delta(epsilon, sigma, p_min, radius)
        assert sampled <= found * (1 + 1e-11) + 1e-300
        assert found <= sampled * (1 + 1e-3) + 1e-300


def test_a_grid_misses_peaks_that_the_bound_finds():
    # With little noise the worst prior is just below exp(-epsilon): there the outcome 1 has leakage epsilon.
    found = gaussian_delta(12.0, 0.05, 0.5, 2)
    assert found == pytest.approx(math.exp(-12), rel=2e-9)
    assert reached(np.linspace(0, 1, 10_001), 12.0, 0.05).max() < 1e-9


@pytest.mark.sampled
@pytest.mark.parametrize("sigma", ["1e-300", 1e-3, 0.1, 0.3, 1.5, 4.7, 30.0, 1e300])
def test_what_is_attained_is_within_the_stated_tolerance_of_the_bound(sigma):
    for epsilon in (1e-9, 0.01, 0.5, 0.69, "log(2)", 0.7, 3.0, 30.0):
        for low, high in [("0", "1/2"), ("1/4", "1/2"), ("3/10", "2/5"), ("1/100", "1/100")]:
            with working_precision():
                attained, bound = half_lines(epsilon, sigma).supremum(Fraction(low), Fraction(high))
            assert 0 <= attained <= bound <= 1
            assert bound - attained <= bound / 10**9 or bound <= Fraction(5e-324)


def test_a_half_line_is_unimodal_in_the_prior_but_both_together_are_not():
    q = [Fraction(k, 400) for k in range(401)]
    with working_precision():
        for epsilon, sigma in [(0.1, 1), (0.443, 1.986), (0.69, 0.34), (1.5, 0.5), (3, 4)]:
            lines = half_lines(epsilon, sigma)
            rises = [lines.slope(k, k) > 0 for k in q if arb_of(k) < 1 - lines.loss]
            assert rises == sorted(rises, reverse=True)
    both = reached(np.linspace(0, 0.5, 2001), 0.443, 1.986)
    rises = np.diff(both) > 0
    assert np.count_nonzero(np.diff(rises.astype(int)) != 0) >= 2


@pytest.mark.parametrize(("epsilon", "sigma"), [(0.1, 1.0), (0.5, 2.0), (1.0, "0.4"), (2.0, 1.5)])
def test_slope_is_the_derivative_and_its_interval_holds_it(epsilon, sigma):
    rng = np.random.default_rng(3)
    top = math.exp(-epsilon)
    with working_precision():
        lines, step = half_lines(epsilon, sigma), Fraction(1, 10**12)
        for _ in range(20):
            low, high = sorted(Fraction(x) for x in rng.uniform(0, 0.98 * top, 2))
            q = (low + high) / 2
            quotient = middle((lines.mass(q + step) - lines.mass(q - step)) / (2 * arb_of(step)))
            assert middle(lines.slope(q, q)) == pytest.approx(quotient, abs=1e-9)
            assert lines.slope(low, high).contains(lines.slope(q, q))


def test_bound_of_an_interval_is_above_every_prior_in_it():
    rng = np.random.default_rng(4)
    with working_precision():
        for _ in range(60):
            epsilon, sigma = 10 ** rng.uniform(-2, 0.6), 10 ** rng.uniform(-1, 1)
            lines = half_lines(epsilon, sigma)
            low, high = sorted(Fraction(x) for x in rng.uniform(0, 1, 2))
            bound = lines.bound(low, high)
            for share in rng.random(10):
                assert lower(lines.both(low + (high - low) * Fraction(share))) <= bound


def test_a_prior_within_rounding_of_the_crossing_is_taken_on_the_safe_side():
    with working_precision():
        c = (-arb_of(1)).exp()
        lines = half_lines(1, 1.5)
        assert lines.crossing(upper(c) + Fraction(1, 2**120)) is None
        inside = (lower(c) + upper(c)) / 2
        assert 50 < middle(lines.crossing(inside)) < 200
        assert lines.slope(inside, inside) is None
        assert lines.mass(inside) >= 0


def test_a_ball_that_says_nothing_is_bounded_by_one():
    assert _up(arb("nan")) == 1
    assert _up(arb(3)) == 1
    assert _up(arb(0)) == 0


def test_delta_grows_with_the_radius_and_falls_with_epsilon():
    radii = [gaussian_delta(0.5, 1.5, 0.4, radius) for radius in (0, 0.05, 0.2, 0.8, 2)]
    assert radii == sorted(radii)
    epsilons = [gaussian_delta(e, 1.5, 0.4, 0.2) for e in (0.1, 0.3, 0.6, 0.69, 0.7, 1, 1.2)]
    assert epsilons == sorted(epsilons, reverse=True)


def test_nothing_leaks_beyond_the_logarithm_of_the_least_probability():
    assert gaussian_delta("log(2)", 1.0, 0.5) == 0.0
    assert gaussian_delta("log(4)", 1.0, 0.3, 0.1) == 0.0
    assert gaussian_delta("log(399/100)", 1.0, 0.3, 0.1) > 0


def test_beyond_the_border_the_ball_is_the_whole_simplex():
    assert gaussian_delta(0.8, 1.5, 0.3, 1.4) == gaussian_delta(0.8, 1.5, 0.3, 2) == gaussian_delta(0.8, 1.5, 0.5, 1)
    assert gaussian_delta(0.1, "1e-300", 0.5, 2) == 1.0
    assert gaussian_delta(700, 1e300, 0.5, 2) == 5e-324


def test_outcomes_leak_as_often_as_delta_says():
    rng = np.random.default_rng(11)
    p, sigma, epsilon, size = 0.3, 1.5, 0.7, 400_000
    y = np.where(rng.random(size) < p, -1, 1) + rng.normal(scale=sigma, size=size)
    delta = gaussian_delta(epsilon, sigma, p)
    shown = (gaussian_leakage(y, sigma, [p, 1 - p]) > epsilon).mean()
    assert abs(shown - delta) < 5 * math.sqrt(delta / size)


@pytest.mark.parametrize(("epsilon", "samples"), [(0.3, 500), (0.6, 10_000), (1.0, 1_000_000)])
def test_guarantee_is_what_equations_64_and_65_print(epsilon, samples):
    found = gaussian_guarantee(epsilon, 1.5, 0.3, samples, 1e-6)
    radius = math.sqrt(2 * math.log(2 / 1e-6) / samples)
    assert found.radius == weissman_radius(samples, 2, 1e-6) == pytest.approx(radius, rel=1e-12)
    assert found.delta_1 == pytest.approx(gaussian_delta(epsilon, 1.5, 0.3, radius), rel=1e-8)
    assert found.epsilon_star == pytest.approx(epsilon - math.log(1 - radius / 2 * math.exp(epsilon)), rel=ALGEBRA)
    assert found.delta_star == pytest.approx(found.delta_1 + 1e-6 - found.delta_1 * 1e-6, rel=ALGEBRA)
    assert found.delta_star >= found.delta_2 == 1e-6


def test_printed_pair_holds_and_is_never_better_than_its_own_epsilon():
    for epsilon in (0.1, 0.4, 0.9):
        found = gaussian_guarantee(epsilon, 1.5, 0.3, 5_000, 1e-6)
        assert found.epsilon_star >= found.epsilon
        assert gaussian_delta(found.epsilon_star, 1.5, 0.3, found.radius) <= found.delta_1
    at_known_prior = gaussian_guarantee(0.4, 1.5, 0.3, 10**15, "1e-6")
    assert at_known_prior.epsilon_star == pytest.approx(0.4, rel=1e-6)


def test_theorem_4_bounds_every_outcome_for_every_prior_in_the_ball():
    # The step from epsilon to epsilon_star, from the leakage under the estimate to that under any prior of the ball.
    sigma, p, radius, y = 1.5, 0.3, 0.1, np.linspace(-6, 6, 241)
    estimate = gaussian_leakage(y, sigma, [p, 1 - p])
    bound = estimate - np.log(1 - radius / 2 * np.exp(estimate))
    for q in np.linspace(p - radius / 2, p + radius / 2, 41):
        assert (gaussian_leakage(y, sigma, [q, 1 - q]) <= bound + 1e-12).all()


def test_few_samples_make_epsilon_star_infinite_and_no_delta_makes_the_ball_whole():
    assert gaussian_guarantee(1.0, 1.5, 0.3, 10, 1e-6).epsilon_star == math.inf
    whole = gaussian_guarantee(1.0, 1.5, 0.3, 1000, 0)
    assert (whole.radius, whole.delta_2, whole.epsilon_star) == (2.0, 0.0, math.inf)
    assert whole.delta_star == whole.delta_1 == gaussian_delta(1.0, 1.5, 0.3, 2)


def test_curve_is_its_guarantees():
    epsilons = np.linspace(0.1, 1.5, 8)
    curve = gaussian_curve(epsilons, 2, 0.5, 10_000, 1e-6)
    for index, epsilon in enumerate(epsilons):
        point = gaussian_guarantee(float(epsilon), 2, 0.5, 10_000, 1e-6)
        assert {name: np.atleast_1d(value)[min(index, np.size(value) - 1)] for name, value in vars(curve).items()} == (
            dataclasses.asdict(point)
        )
    assert not curve.delta_1.flags.writeable


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: gaussian_delta(1, 0, 0.5), "out-of-range"),
        (lambda: gaussian_delta(1, math.nan, 0.5), "not-a-number"),
        (lambda: gaussian_delta(0, 1, 0.5), "epsilon-out-of-range"),
        (lambda: gaussian_delta(math.nan, 1, 0.5), "not-a-number"),
        (lambda: gaussian_delta(1, 1, 0.7), "out-of-range"),
        (lambda: gaussian_delta(1, 1, 0.5, 3), "radius-out-of-range"),
        (lambda: gaussian_leakage([1.0], 1, [0.2, 0.3, 0.5]), "wrong-size"),
        (lambda: gaussian_leakage([math.inf], 1, [0.5, 0.5]), "not-a-number"),
        (
            lambda: gaussian_leakage(["a"], 1, [0.5, 0.5]),
            "not-a-number",
        ),
        (lambda: gaussian_crossings(1, -2, [0.5, 0.5]), "out-of-range"),
        (lambda: gaussian_guarantee(1, 1, 0.5, 0, 0.1), "not-a-whole-number"),
        (lambda: gaussian_guarantee(1, 1, 0.5, 10, 1), "delta-out-of-range"),
        (lambda: gaussian_curve([], 1, 0.5, 10, 0.1), "nothing-given"),
        (lambda: gaussian_curve(1.0, 1, 0.5, 10, 0.1), "wrong-type"),
        (lambda: gaussian_curve([1.0, -1.0], 1, 0.5, 10, 0.1), "epsilon-out-of-range"),
    ],
)
def test_bad_arguments_are_named(call, code):
    with raises(code):
        call()
