import math
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples
from strategies import random_mechanism

import mechdesign as md
from mechdesign import planning
from mechdesign.uncertainty.radii import failure_probability, radius_exact

# The equations of the paper are those of the bound of Weissman et al.; the sharper one has its own tests below.
delta_min, design_epsilon, guaranteed_epsilon, plan, samples_for = (
    partial(getattr(planning, name), bound="weissman")
    for name in ("delta_min", "design_epsilon", "guaranteed_epsilon", "plan", "samples_for")
)

DIGITS = 80


def number(value):
    """Return what a float, a decimal or log(r) states, to 80 digits."""
    text = value if isinstance(value, str) else repr(value)
    if text.startswith("log("):
        return mpmath.log(number(text[4:-1]))
    exact = Fraction(text)
    return mpmath.mpf(exact.numerator) / exact.denominator


def equation_39(epsilon, guaranteed, samples, categories):
    step = mpmath.exp(-number(epsilon)) - mpmath.exp(-number(guaranteed))
    return (mpmath.mpf(2) ** categories - 2) * mpmath.exp(-2 * samples * step**2)


def equation_37(delta, samples, categories):
    return mpmath.sqrt(mpmath.mpf(2) / samples * (mpmath.log(2**categories - 2) - mpmath.log(number(delta))))


def equation_38(epsilon, delta, samples, categories):
    left = 1 - equation_37(delta, samples, categories) * mpmath.exp(number(epsilon)) / 2
    return number(epsilon) - mpmath.log(left) if left > 0 else mpmath.inf


epsilons = st.decimals("0.001", "6", places=3).map(str) | st.integers(2, 40).map("log({})".format)
deltas = st.sampled_from(["1e-300", "1e-9", "1e-5", "0.05", "0.9"])
sizes = st.integers(1, 10**6) | st.integers(10**9, 10**15)
categories_ = st.integers(2, 40) | st.just(5000)


@given(epsilons, epsilons, sizes, categories_)
def test_delta_is_equation_39_rounded_up(epsilon, guaranteed, samples, categories):
    found = delta_min(epsilon, guaranteed, samples, categories)
    with mpmath.workdps(DIGITS):
        if number(guaranteed) <= number(epsilon):
            assert found == 1
            return
        exact = min(mpmath.mpf(1), equation_39(epsilon, guaranteed, samples, categories))
        assert exact <= found
        assert exact <= number(found)
        # Where floats are denormal their spacing is 5e-324.
        assert found <= exact * (1 + mpmath.mpf("1e-15")) + mpmath.mpf("1e-323")


@given(epsilons, deltas, sizes, categories_)
def test_guaranteed_epsilon_is_equation_38_rounded_up(epsilon, delta, samples, categories):
    found = guaranteed_epsilon(epsilon, delta, samples, categories)
    with mpmath.workdps(DIGITS):
        exact = equation_38(epsilon, delta, samples, categories)
        if exact == mpmath.inf:
            assert found == math.inf
        else:
            assert exact <= min(mpmath.mpf(found), number(found))
            assert found <= exact * (1 + mpmath.mpf("1e-15"))


@given(epsilons, deltas, sizes, categories_)
def test_the_epsilon_to_design_for_is_the_largest_that_does(guaranteed, delta, samples, categories):
    with mpmath.workdps(DIGITS):
        exact = -mpmath.log(mpmath.exp(-number(guaranteed)) + equation_37(delta, samples, categories) / 2)
        if exact < 0:
            with raises("not-enough-samples"):
                design_epsilon(guaranteed, delta, samples, categories)
            return
        found = design_epsilon(guaranteed, delta, samples, categories)
        assert max(mpmath.mpf(found), number(found)) <= exact
        assert found >= exact * (1 - mpmath.mpf("1e-15"))
    assert guaranteed_epsilon(found, delta, samples, categories) <= float(md.Epsilon.of(guaranteed)) * (1 + 1e-14)
    assert delta_min(found, guaranteed, samples, categories) <= float(delta)


@given(epsilons, epsilons, deltas, categories_)
def test_the_number_of_samples_is_the_least_that_does(epsilon, guaranteed, delta, categories):
    with mpmath.workdps(DIGITS):
        if number(guaranteed) <= number(epsilon):
            with raises("not-enough-samples"):
                samples_for(epsilon, guaranteed, delta, categories)
            return
        try:
            least = samples_for(epsilon, guaranteed, delta, categories)
        except md.InputError:
            assert equation_39(epsilon, guaranteed, 10**15, categories) > number(delta)
            return
        assert equation_39(epsilon, guaranteed, least, categories) <= number(delta)
        if least > 1:
            assert equation_39(epsilon, guaranteed, least - 1, categories) > number(delta)


@given(st.integers(200, 10**12), epsilons, deltas, st.integers(2, 300))
def test_samples_come_back(samples, epsilon, delta, categories):
    reached = guaranteed_epsilon(epsilon, delta, samples, categories)
    if reached < 30:
        # epsilon' is rounded up, so it may be had for a few samples less where each one changes little.
        found = samples_for(epsilon, reached, delta, categories)
        assert found <= samples
        assert delta_min(epsilon, reached, found, categories) <= float(delta) * (1 + 1e-15)
        slope = math.exp(-reached) / (math.exp(-float(md.Epsilon.of(epsilon))) - math.exp(-reached))
        assert found >= samples * (1 - 1e-14 * reached * slope) - 1


@given(epsilons, epsilons, deltas, st.integers(1, 10**7), st.integers(2, 100))
def test_more_of_anything_is_better(epsilon, guaranteed, delta, samples, categories):
    base = delta_min(epsilon, guaranteed, samples, categories)
    assert delta_min(epsilon, guaranteed, samples + 1, categories) <= base
    assert delta_min(epsilon, guaranteed, samples, categories + 1) >= base
    larger = float(md.Epsilon.of(guaranteed)) + 0.1
    assert delta_min(epsilon, larger, samples, categories) <= base
    reached = guaranteed_epsilon(epsilon, delta, samples, categories)
    assert reached > float(md.Epsilon.of(epsilon))
    assert guaranteed_epsilon(epsilon, delta, samples + 1, categories) <= reached
    assert guaranteed_epsilon(epsilon, "0.95", samples, categories) <= reached
    assert guaranteed_epsilon(float(md.Epsilon.of(epsilon)) + 0.1, delta, samples, categories) >= reached


def test_equation_39_is_equation_17_at_the_radius_that_epsilon_allows():
    radius = 2 * (Fraction(1, 5) - Fraction(1, 8))
    assert delta_min("log(5)", "log(8)", 5000, 20) == failure_probability(5000, 20, radius, bound="weissman")


def test_the_bound_behind_equation_38_holds_for_every_mechanism_and_radius():
    # Theorem 4 for k > 1 without its assumption that the radius is below twice the least probability.
    rng = np.random.default_rng(7)
    beyond, first_region = 0, 0
    for _ in range(400):
        counts = rng.integers(1, 30, size=rng.integers(2, 6)).tolist()
        prior = np.array(counts) / sum(counts)
        if rng.random() < 0.3:
            matrix = 1 + 0.1 * random_mechanism(rng, len(counts), 4)
            matrix /= matrix.sum(axis=1, keepdims=True)
        else:
            matrix = random_mechanism(rng, len(counts), 4)
        radius = round(rng.uniform(0, 1.2), 3)
        epsilon = md.epsilon_min(matrix, prior)
        left = 1 - radius * math.exp(epsilon) / 2
        if left <= 0:
            continue
        beyond += radius >= 2 * prior.min()
        first_region += math.exp(epsilon) * (1 - prior.min()) <= 1
        capacity = md.leakage_capacity(matrix, md.L1Ball.from_counts(counts, radius=radius))
        assert capacity <= epsilon - math.log(left) + 1e-12
    assert min(beyond, first_region) > 30


def binary_mechanism(estimate, epsilon):
    """Return a mechanism of two outputs that uses all of epsilon at an estimate, unseen symbols included."""
    p, q = map(float, estimate)
    e = math.exp(epsilon)
    if min(p, q) == 0:
        rows = [[1 / (1 + e), e / (1 + e)], [e / (1 + e), 1 / (1 + e)]]
    elif e * max(p, q) <= 1:
        rows = [[1 - e * q, e * q], [e * p, 1 - e * p]]
    else:
        a = min((1 - 1 / e) / max(p, q), 1.0)
        rows = [[a, 1 - a], [0.0, 1.0]][:: 1 if p >= q else -1]
    return np.array(rows)


@pytest.mark.parametrize(("epsilon", "guaranteed"), [(0.1, 0.6), (0.1, 0.9), (0.4, 0.9), (0.4, 1.1)])
def test_the_true_leakage_exceeds_epsilon_prime_no_more_often_than_delta(epsilon, guaranteed):
    # A mechanism designed for each estimate, at the true distribution, over every table of 30 samples of two symbols.
    true, samples, failing = Fraction(7, 10), 30, Fraction(0)
    for count in range(samples + 1):
        estimate = [Fraction(count, samples), 1 - Fraction(count, samples)]
        matrix = binary_mechanism(estimate, epsilon)
        assert md.epsilon_min(matrix, estimate) == pytest.approx(epsilon)
        if md.epsilon_min(matrix, [true, 1 - true]) > guaranteed:
            failing += math.comb(samples, count) * true**count * (1 - true) ** (samples - count)
    assert failing <= delta_min(epsilon, guaranteed, samples, 2) < 1


def test_corollary_3_needs_the_symbols_that_were_not_seen():
    # With leakage over the support of the estimate alone, telling the truth is 0-PML once one symbol was seen only.
    true, samples = Fraction(7, 10), 30
    assert md.epsilon_min(np.eye(2), [true, 1 - true]) > 0.9
    assert true**samples > delta_min(0.1, 0.9, samples, 2)
    assert md.epsilon_min(np.eye(2), [1, 0]) == math.inf


def test_vacuous_bounds_say_so():
    assert delta_min(2, 1, 10**6, 3) == 1  # the square of eq. (39) alone would promise this
    assert delta_min(1, 1, 10**15, 2) == 1
    assert delta_min(1, 2, 1, 5000) == 1
    assert guaranteed_epsilon(1, "1e-300", 1, 2) == math.inf
    assert guaranteed_epsilon(1, 0, 10**15, 2) == math.inf
    assert plan(5000, samples=1, epsilon=1, delta=0.1).vacuous
    assert plan(5000, samples=1, epsilon=1, guaranteed=2).vacuous
    assert plan(5000, samples=1, epsilon=1, guaranteed=2).radius is None
    assert plan(5000, samples=1, epsilon=1, delta=0.1).radius == 2


def test_large_and_small_values():
    assert delta_min(1, 2, 10**15, 5000) == 5e-324
    assert 1 < guaranteed_epsilon(1, "1e-300", 10**15, 5000) < 1.00001
    assert guaranteed_epsilon(0, "1e-300", 10**15, 2) < 1e-6
    assert delta_min(0, 700, 2000, 5000) == pytest.approx(float(mpmath.exp(5000 * mpmath.log(2) - 4000)), rel=1e-9)
    assert delta_min(0, 700, 1500, 5000) == 1


KNOWN = {"samples": 2256, "epsilon": "log(5)", "guaranteed": "log(8)", "delta": "1e-5"}


@pytest.mark.parametrize("missing", KNOWN)
def test_any_of_four_from_the_other_three(missing):
    found = plan(20, **{name: value for name, value in KNOWN.items() if name != missing})
    assert found.computed == {"guaranteed": "guaranteed_epsilon"}.get(missing, missing)
    assert found.samples == 2256
    assert found.epsilon == pytest.approx(math.log(5), rel=1e-3)
    assert found.guaranteed_epsilon == pytest.approx(math.log(8), rel=1e-3)
    assert found.delta == pytest.approx(1e-5, rel=1e-2)
    assert found.radius == md.weissman_radius(2256, 20, found.delta)
    assert found.radius <= 2 * (math.exp(-found.epsilon) - math.exp(-found.guaranteed_epsilon)) * (1 + 1e-12)
    assert not found.vacuous


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: delta_min(-1, 1, 10, 3), "epsilon-out-of-range"),
        (lambda: delta_min("x", 1, 10, 3), "epsilon-out-of-range"),
        (lambda: delta_min(1, math.inf, 10, 3), "not-a-number"),
        (lambda: delta_min(1, 2, 0, 3), "not-a-whole-number"),
        (lambda: delta_min(1, 2, 10, 1), "not-a-whole-number"),
        (lambda: guaranteed_epsilon(1, 1, 10, 3), "delta-out-of-range"),
        (lambda: samples_for(1, 2, 0, 3), "not-enough-samples"),
        (lambda: samples_for(1, 1, 0.1, 3), "not-enough-samples"),
        (lambda: samples_for(1, "1.000000001", 0.1, 3), "not-enough-samples"),
        (lambda: design_epsilon("0.2", "1e-5", 100, 20), "not-enough-samples"),
        (lambda: design_epsilon(1, 0, 100, 20), "not-enough-samples"),
        (lambda: design_epsilon(0, 0.1, 100, 20), "not-enough-samples"),
        (lambda: plan(20, samples=10, epsilon=1), "conflicting-arguments"),
        (lambda: plan(20, samples=1, epsilon=1, guaranteed=2, delta=0.1), "conflicting-arguments"),
    ],
)
def test_bad_values_are_named(call, code):
    with raises(code):
        call()


def test_the_samples_that_a_refusal_names_are_the_least():
    assert design_epsilon("0.2", "1e-5", 387, 20) >= 0
    with raises("not-enough-samples", "least 387"):
        design_epsilon("0.2", "1e-5", 386, 20)


# The bound of Clopper and Pearson

few_categories = st.integers(2, 40) | st.just(5000)


@given(epsilons, epsilons, st.integers(1, 10**9), few_categories)
@settings(max_examples=examples(60), deadline=None)
def test_the_sharper_delta_is_never_above_equation_39(epsilon, guaranteed, samples, categories):
    found = planning.delta_min(epsilon, guaranteed, samples, categories)
    assert 0 < found <= delta_min(epsilon, guaranteed, samples, categories) <= 1


def test_the_sharper_delta_is_the_sum_of_exact_tails():
    samples, t = 40, Fraction(1, 2) - Fraction(1, 10)
    tails = []
    for k in range(math.floor(samples * t) + 1, samples + 1):
        q = Fraction(k, samples) - t
        tails.append(sum(math.comb(samples, j) * q**j * (1 - q) ** (samples - j) for j in range(k, samples + 1)))
    exact = 14 * max(tails)
    found = planning.delta_min("log(2)", "log(10)", samples, 4)
    assert exact <= Fraction(found) <= exact * (1 + Fraction(1, 10**14))


@given(epsilons, deltas.filter(lambda text: text != "0.9"), st.integers(1, 10**7), few_categories)
@settings(max_examples=examples(60), deadline=None)
def test_the_sharper_epsilons_are_those_of_the_radius(epsilon, delta, samples, categories):
    half = radius_exact(samples, categories, delta) / 2
    reached = planning.guaranteed_epsilon(epsilon, delta, samples, categories)
    assert reached <= guaranteed_epsilon(epsilon, delta, samples, categories)
    with mpmath.workdps(DIGITS):
        t = mpmath.mpf(half.numerator) / half.denominator
        left = mpmath.exp(-number(epsilon)) - t
        if left <= 0:
            assert reached == math.inf
            return
        assert -mpmath.log(left) <= number(reached) <= -mpmath.log(left) * (1 + mpmath.mpf("1e-15"))
    if reached < 700:
        assert planning.delta_min(epsilon, reached, samples, categories) <= float(delta) * (1 + 1e-15)
        designed = planning.design_epsilon(reached, delta, samples, categories)
        assert designed == pytest.approx(float(md.Epsilon.of(epsilon)), rel=1e-9, abs=1e-9 * math.exp(reached))


@pytest.mark.combined
@pytest.mark.parametrize(("epsilon", "guaranteed"), [("log(5)", "log(8)"), (1, "1.1"), (0, "0.05"), ("0.5", 3)])
@pytest.mark.parametrize("categories", [2, 20, 5000])
@pytest.mark.parametrize("delta", ["1e-300", "1e-5", "0.3"])
def test_one_sample_less_is_not_enough(epsilon, guaranteed, categories, delta):
    least = planning.samples_for(epsilon, guaranteed, delta, categories)
    assert least <= samples_for(epsilon, guaranteed, delta, categories)
    assert planning.delta_min(epsilon, guaranteed, least, categories) <= float(delta) * (1 + 1e-15)
    assert planning.delta_min(epsilon, guaranteed, least - 1, categories) > float(delta) * (1 - 1e-15)


@pytest.mark.parametrize(("epsilon", "guaranteed"), [(0.1, 0.6), (0.1, 0.9), (0.4, 0.9), (0.4, 1.1)])
def test_the_true_leakage_exceeds_epsilon_prime_no_more_often_than_the_sharper_delta(epsilon, guaranteed):
    true, samples, failing = Fraction(7, 10), 30, Fraction(0)
    for count in range(samples + 1):
        estimate = [Fraction(count, samples), 1 - Fraction(count, samples)]
        if md.epsilon_min(binary_mechanism(estimate, epsilon), [true, 1 - true]) > guaranteed:
            failing += math.comb(samples, count) * true**count * (1 - true) ** (samples - count)
    assert failing <= planning.delta_min(epsilon, guaranteed, samples, 2) < delta_min(epsilon, guaranteed, samples, 2)


def test_a_plan_says_its_bound():
    found = planning.plan(20, samples=10_000, epsilon="log(5)", delta="1e-5")
    assert (found.bound, found.radius) == ("clopper-pearson", md.uncertainty.clopper_pearson_radius(10_000, 20, "1e-5"))
    assert plan(20, samples=10_000, epsilon="log(5)", delta="1e-5").bound == "weissman"
    with raises("unknown-choice", "is 'x'", "clopper-pearson, weissman"):
        planning.plan(20, samples=10_000, epsilon="log(5)", delta="1e-5", bound="x")
