import json
import math
import os
import pickle
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from refusals import raises
from scipy import stats

from mechdesign.histogram import CshPlan, DiscretePlan, GshmPlan, LaplacePlan, TopKPlan
from mechdesign.histogram.csh import csh_best, csh_delta, csh_threshold
from mechdesign.histogram.discrete import discrete_delta, discrete_threshold
from mechdesign.histogram.gshm import gshm_delta, gshm_threshold
from mechdesign.histogram.laplace_plan import laplace_epsilon, laplace_scale
from mechdesign.histogram.noise import gaussian_noise, laplace_noise
from mechdesign.histogram.released_counts import checked_histogram, release
from mechdesign.uncertainty import L1Ball

TARGET = {"epsilon": 1, "delta": "1e-6"}
PLANS = {"gshm": GshmPlan.of, "csh": CshPlan.of, "discrete": DiscretePlan.of, "top-k": TopKPlan.of}
NEVER_FLAKES = 1e-12


class Constant(np.random.Generator):
    """A generator of which every byte is the same."""

    def __init__(self, byte):
        super().__init__(np.random.PCG64(0))
        self._byte = byte

    def bytes(self, length):
        return self._byte * length


# Bytes with which the noise is 0: the tail probability of a continuous variate is 1, the uniform of a discrete one 0.
SILENT = {"continuous": b"\xff", "discrete": b"\x00"}


def silent(plan):
    return Constant(SILENT[plan.noise])


def drawn(plan, counts, rng, **options):
    return release(counts, plan, rng=rng, allow_float_noise=True, **options).counts


# Noise


@pytest.mark.parametrize(("noise", "law"), [(laplace_noise, stats.laplace), (gaussian_noise, stats.norm)])
def test_secure_noise_has_its_distribution(noise, law):
    assert stats.kstest(noise(3.0, 200_000, os.urandom), law(scale=3).cdf).pvalue > NEVER_FLAKES


@pytest.mark.parametrize(("noise", "law"), [(laplace_noise, stats.laplace), (gaussian_noise, stats.norm)])
def test_noise_is_the_quantile_of_its_bits(noise, law):
    bits = np.array([0, 1, 2**33, 2**33 + 1, 2**64 - 2, 2**64 - 1, 2**63], dtype="<u8")
    tails = [((int(word) >> 1) + 0.5) / 2**64 for word in bits]
    signs = [1 if word & 1 else -1 for word in bits.tolist()]
    expected = [sign * law.isf(tail) for sign, tail in zip(signs, tails, strict=True)]
    np.testing.assert_allclose(noise(1.0, bits.size, lambda n: bits.tobytes()), expected, rtol=1e-12, atol=1e-15)


def test_noise_is_bounded_as_it_says():
    assert 44 < abs(laplace_noise(1.0, 1, bytes)[0]) < 45
    assert 9 < abs(gaussian_noise(1.0, 1, bytes)[0]) < 9.3


# What is released


def test_laplace_noise_on_every_bin():
    counts = {f"b{i}": i % 7 for i in range(20_000)}
    released = drawn(LaplacePlan.of(scale=2), counts, np.random.default_rng(5))
    assert released.keys() == counts.keys()
    errors = [released[label] - counts[label] for label in counts]
    assert stats.kstest(errors, stats.laplace(scale=2).cdf).pvalue > 1e-3


@pytest.mark.parametrize("count", [1, 20, 60, 90])
def test_gshm_releases_a_count_as_often_as_the_normal_distribution_says(count):
    plan, cells = GshmPlan.of(3, epsilon=1, sigma=15, tau=50), 40_000
    released = drawn(plan, {f"c{i}": count for i in range(cells)}, np.random.default_rng(6))
    chance = stats.norm.sf((51 - count) / 15)
    assert stats.binomtest(len(released), cells, chance).pvalue > 1e-3
    assert min(released.values(), default=99) > 51


@pytest.mark.sampled
@pytest.mark.parametrize("runs", [1_000, pytest.param(4_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("make", "step"), [(CshPlan.of, None), (DiscretePlan.of, 0.5)])
def test_correlated_noise_has_its_covariance(make, step, runs):
    k, sigma = 4, 3.0
    plan, rng = make(k, epsilon=1, sigma=sigma, tau=40), np.random.default_rng(7)
    counts = {"a": 1000, "b": 2000, "c": 3000}
    draws = [drawn(plan, counts, rng) for _ in range(runs)]
    errors = np.array([[draw[label] - counts[label] for label in counts] for draw in draws])
    if step is not None:
        assert (errors % step == 0).all()
        assert (errors % 1 != 0).any()
    common = sigma**2 / math.sqrt(k)
    expected = np.diag([sigma**2] * 3) + common
    variance = sigma**2 + common
    np.testing.assert_allclose(np.cov(errors.T), expected, atol=5 * variance * math.sqrt(2 / runs))
    np.testing.assert_allclose(errors.mean(axis=0), 0, atol=5 * math.sqrt(variance / runs))


@pytest.mark.sampled
@pytest.mark.parametrize("runs", [400, pytest.param(4_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", PLANS)
def test_new_counters_are_released_with_a_probability_of_at_most_delta(name, runs):
    k = 3
    plan, rng = PLANS[name](k, epsilon=2, delta="0.05"), np.random.default_rng(8)
    seen = sum(bool(drawn(plan, {f"c{i}": 1 for i in range(k)}, rng)) for _ in range(runs))
    assert stats.binomtest(seen, runs, float(plan.delta), alternative="greater").pvalue > 1e-3
    if name in {"gshm", "csh"}:
        assert seen > 0.4 * plan.delta * runs


@pytest.mark.parametrize("name", PLANS)
def test_a_count_equal_to_the_threshold_is_not_released(name):
    plan = PLANS[name](2, epsilon=1, sigma=8, tau=60)
    counts = {"at": 61, "above": 62, "one": 1}
    below = {"subtracted": 0}
    if name == "top-k":
        counts = {"at": 66, "above": 67, "one": 5}
    elif name != "gshm":
        del counts["one"]
    assert drawn(plan, counts | below, silent(plan)) == {"above": 62}


def test_a_threshold_that_no_float_is_holds_strictly():
    plan = GshmPlan.of(1, epsilon=1, sigma=8, tau="60.1")
    assert plan.tau == Fraction("60.1")
    assert list(drawn(plan, {"a": 61, "b": 62}, silent(plan))) == ["b"]


def test_top_k_releases_excesses_over_the_next_count():
    plan = TopKPlan.of(2, epsilon=1, sigma=8, tau=60)
    counts = {"a": 900, "b": 800, "c": 500, "d": 499, "e": 0}
    assert drawn(plan, counts, silent(plan)) == {"a": 400, "b": 300}
    assert drawn(plan, {"a": 900, "b": 800}, silent(plan)) == {"a": 900, "b": 800}


@pytest.mark.parametrize("name", [*PLANS, "laplace"])
def test_the_order_of_the_input_is_not_seen(name):
    plan = LaplacePlan.of(scale=1) if name == "laplace" else PLANS[name](9, epsilon=1, sigma=8, tau=60)
    counts = {"b": 500, "z": 700, "a": 500, "m": 900, "c": 500}
    for order in (list(counts), sorted(counts), sorted(counts, key=counts.get)):
        released = drawn(plan, {label: counts[label] for label in order}, silent(plan))
        assert list(released.items()) == [("m", 900), ("z", 700), ("a", 500), ("b", 500), ("c", 500)]


def test_noise_beyond_what_floats_hold_is_refused_by_the_plan_alone():
    for plan in (
        LaplacePlan.of(scale=10**14 + 1),
        GshmPlan.of(3, epsilon=1, sigma=2 * 10**14, tau=10**15),
        TopKPlan.of(3, epsilon=1, sigma=9, tau=60, noise="continuous", value_sigma=10**15),
    ):
        with raises("out-of-range"):
            release({"a": 5, "b": 3}, plan, allow_float_noise=True)


def test_whole_counts_are_clipped_and_rounded():
    counts = {f"b{i}": i % 3 for i in range(500)}
    exact, whole = (
        drawn(LaplacePlan.of(scale=2), counts, np.random.default_rng(9), whole=choice) for choice in (False, True)
    )
    assert {label: round(max(value, 0)) for label, value in exact.items()} == whole
    assert all(type(value) is int and value >= 0 for value in whole.values())
    assert 0 in whole.values()


def test_nothing_above_0_releases_nothing():
    for name, make in PLANS.items():
        for counts in ({}, {"a": 0}):
            assert drawn(make(2, epsilon=1, sigma=8, tau=60), counts, None) == {}, name


def test_secure_randomness_is_drawn_anew():
    first, second = (release({"a": 5, "b": 3}, LaplacePlan.of(epsilon=1), allow_float_noise=True) for _ in range(2))
    assert first.counts != second.counts
    assert first.record == second.record
    assert first.record.randomness == "the operating system's secure source"


@pytest.mark.parametrize(
    "columns", [lambda c: (list(c), list(c.values())), lambda c: (list(c), np.array([*c.values()]))]
)
def test_columns_are_as_good_as_a_mapping(columns):
    counts = {"a": 900, "b": 400, "c": 2}
    plan = DiscretePlan.of(3, **TARGET, sigma=8)
    assert drawn(plan, columns(counts), np.random.default_rng(1)) == drawn(plan, counts, np.random.default_rng(1))


def test_a_series_is_a_mapping():
    import pandas as pd

    labels, counts = checked_histogram(pd.Series([3, 1, 0], index=["a", "b", "c"]))
    assert (labels, counts.tolist()) == (("a", "b", "c"), [3, 1, 0])


# Plans


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("make", "delta", "threshold"),
    [
        (GshmPlan.of, gshm_delta, gshm_threshold),
        (CshPlan.of, csh_delta, csh_threshold),
        (DiscretePlan.of, discrete_delta, discrete_threshold),
        (TopKPlan.of, discrete_delta, discrete_threshold),
    ],
)
def test_what_is_planned_holds_and_is_the_least(make, delta, threshold):
    best = make(10, **TARGET)
    assert delta(10, best.sigma, best.tau, 1) <= 1e-6
    assert best.delta == Fraction("1e-6")
    assert best.record().delta == 1e-6
    for factor in (1.05, 1.2, 2):
        sigma = float(best.sigma) * factor
        plan = make(10, **TARGET, sigma=sigma)
        assert plan.tau == Fraction(repr(threshold(10, sigma, 1, "1e-6")))
        assert plan.tau >= best.tau
        follows = make(10, epsilon=1, sigma=plan.sigma, tau=plan.tau)
        assert follows.delta == pytest.approx(delta(10, plan.sigma, plan.tau, 1), rel=1e-12)
        assert follows.delta <= Fraction("1e-6")


def test_laplace_plans_hold():
    plan = LaplacePlan.of(epsilon="0.5", alpha="0.1")
    assert plan.scale == Fraction(repr(laplace_scale("0.5", "0.1")))
    assert laplace_epsilon(plan.scale, "0.1") <= 0.5
    follows = LaplacePlan.of(scale=3, alpha="0.1")
    assert float(follows.epsilon) == laplace_epsilon(3, "0.1")
    assert (LaplacePlan.of(epsilon=1).scale, LaplacePlan.of(epsilon=1).delta) == (2, 0)


def test_alpha_from_other_records():
    ball = L1Ball.from_counts({"a": 60_000, "b": 40_000}, delta="1e-9")
    plan = LaplacePlan.of(epsilon=1, alpha=ball)
    assert plan.delta == Fraction("1e-9")
    assert min(ball.center) - ball.radius / 2 - Fraction(1, 10**12) < plan.alpha <= min(ball.center) - ball.radius / 2
    assert plan.scale < LaplacePlan.of(epsilon=1).scale
    assert release({"a": 5, "b": 3}, plan, allow_float_noise=True).record.alpha == plan.alpha


def test_no_noise_where_none_is_needed():
    released = release({"a": 5, "b": 3}, LaplacePlan.of(epsilon=1, alpha="0.5"))
    assert released.counts == {"a": 5, "b": 3}
    assert (released.record.scale, released.record.noise) == (0, "none")


def test_continuous_top_k_is_planned_as_csh():
    assert (TopKPlan.of(10, **TARGET, noise="continuous").tau,) == (Fraction(repr(csh_best(10, 1, "1e-6")[1])),)


def test_delta_is_not_shown_smaller_than_it_is():
    plan = GshmPlan.of(2, epsilon=1, delta="1/3")
    assert plan.delta == Fraction(1, 3)
    assert plan.record().delta >= Fraction(1, 3)


# The record


@pytest.mark.parametrize("name", [*PLANS, "laplace"])
def test_the_record_tells_nothing_of_the_data_and_is_json(name):
    plan = LaplacePlan.of(epsilon=1) if name == "laplace" else PLANS[name](5, **TARGET, sigma=12)
    one, other = (
        release(counts, plan, allow_float_noise=True).record for counts in ({"a": 900}, {"x": 5, "y": 7_000_000})
    )
    assert one == other
    record = json.loads(one.to_json())
    assert record["schema"] == "mechdesign/histogram-record/1"
    assert (record["mechanism"], record["epsilon"]) == (name, "1")
    assert record["noise"] == ("discrete" if name in {"discrete", "top-k"} else "continuous")
    assert ("real numbers" in record["noise_meaning"]) == (record["noise"] == "continuous")
    for key in ("sigma", "tau", "scale", "alpha"):
        value = getattr(one, key)
        assert (key in record) == (value is not None)
        assert value is None or Fraction(record[key]) == value
    assert record["not_protected"]
    assert pickle.loads(pickle.dumps(one)) == one


def test_the_record_says_what_was_done_to_the_counts():
    plan = TopKPlan.of(1, epsilon=1, sigma=8, tau=60)
    assert plan.record().post_processing is None
    top = release({"a": 900}, plan, whole=True).record.post_processing
    assert top.startswith("less the (k+1)-th largest count, which is not released; clipped at 0 and rounded")
    nothing = release({}, DiscretePlan.of(1, **TARGET))
    assert nothing.record.post_processing == "sorted by falling value, then by label"


def test_a_record_is_not_a_plan():
    record = DiscretePlan.of(1, epsilon=1, sigma=8, tau=60).record()
    with raises("wrong-type"):
        release({"a": 5}, record)


def test_the_record_names_the_generator():
    released = release({"a": 900}, DiscretePlan.of(2, **TARGET, sigma=8), rng=np.random.default_rng(1))
    assert released.record.randomness == "a generator, for experiments only"


# Guards


@pytest.mark.parametrize(
    "call",
    [
        lambda: release({"a": 1, "b": 1}, LaplacePlan.of(epsilon=1)),
        lambda: release({"a": 1}, GshmPlan.of(1, epsilon=1, sigma=8, tau=60)),
        lambda: release({"a": 1}, CshPlan.of(1, epsilon=1, sigma=8, tau=60)),
        lambda: release({"a": 1}, TopKPlan.of(1, epsilon=1, sigma=8, tau=60, noise="continuous")),
    ],
)
def test_float_noise_must_be_allowed(call):
    with raises("float-noise"):
        call()


@pytest.mark.parametrize("name", ["csh", "discrete"])
def test_more_counters_than_k_are_refused(name):
    plan = PLANS[name](2, epsilon=1, sigma=8, tau=60)
    assert len(drawn(plan, {"a": 900, "b": 900, "c": 0}, None)) == 2
    with raises("too-many-counters", "3", "k = 2"):
        drawn(plan, {"a": 900, "b": 900, "c": 1}, None)


@pytest.mark.parametrize("name", ["gshm", "top-k"])
def test_any_number_of_counters_may_be_above_0(name):
    drawn(PLANS[name](2, epsilon=1, sigma=8, tau=60), {f"c{i}": 5 for i in range(50)}, None)


@pytest.mark.parametrize(
    ("counts", "code"),
    [
        ({"a": -1}, "not-counts"),
        ({"a": 2.0}, "not-counts"),
        ({"a": float("nan")}, "not-counts"),
        ({"a": True}, "not-counts"),
        ({"a": "3"}, "not-counts"),
        ({"a": 10**16}, "not-counts"),
        ({"": 3}, "bad-label"),
        ({1.5: 3}, "bad-label"),
        ({"b": 1, "a\x00": 3}, "bad-label"),
        ({"b": 1, "\ud800": 3}, "bad-label"),
        ({"b": 1, "a" * 1001: 3}, "bad-label"),
        ({1: 3, "1": 4}, "label-twice"),
        ((["a", "a"], [3, 4]), "label-twice"),
        ((["a", "b"], [3]), "wrong-size"),
        (([1, 2], "34"), "not-counts"),
        ([3, 4], "not-counts"),
        ("abc", "not-counts"),
    ],
)
def test_what_is_no_histogram_is_refused(counts, code):
    with raises(code):
        release(counts, DiscretePlan.of(5, epsilon=1, sigma=8, tau=60))


@pytest.mark.combined
@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize(
    ("k", "options", "code"),
    [
        (0, TARGET, "not-a-whole-number"),
        (1.5, TARGET, "not-a-whole-number"),
        (10**20, TARGET, "not-a-whole-number"),
        (3, {"epsilon": -1, "delta": 0.1}, "epsilon-out-of-range"),
        (3, {"epsilon": 1, "delta": 0}, "delta-out-of-range"),
        (3, {"epsilon": 1, "delta": 1}, "delta-out-of-range"),
        (3, {**TARGET, "sigma": 0}, "out-of-range"),
        (3, {**TARGET, "sigma": "0.1"}, "no-noise-enough"),
        (3, {"epsilon": 1, "sigma": 8, "tau": -1}, "out-of-range"),
        (3, {"epsilon": 1, "sigma": "nan", "tau": 1}, "not-a-number"),
        (3, {"epsilon": 1, "sigma": "1e-3", "tau": 0}, "no-noise-enough"),
        (3, {**TARGET, "tau": 5}, "missing-argument"),
        (3, {**TARGET, "sigma": 8, "tau": 5}, "conflicting-arguments"),
        (3, {"epsilon": 1}, "missing-argument"),
        (3, {"epsilon": 1, "sigma": 8}, "missing-argument"),
        (3, {**TARGET, "analysis": "guess"}, "unknown-choice"),
    ],
)
def test_plans_refuse_what_cannot_be(name, k, options, code):
    with raises(code) as refused:
        PLANS[name](k, **options)
    assert "\n" not in str(refused.value)


def test_laplace_refuses_what_cannot_be():
    with raises("conflicting-arguments"):
        LaplacePlan.of()
    with raises("conflicting-arguments"):
        LaplacePlan.of(epsilon=1, scale=1)
    with raises("out-of-range", "is 0", "4", "for 3"):
        release({"a": 1, "b": 1, "c": 1}, LaplacePlan.of(epsilon="0.1", alpha="0.4"), allow_float_noise=True)
    ball = L1Ball.from_counts({"a": 600, "b": 400}, delta="1e-3")
    with raises("labels-differ", "bin 'c'", "histogram", "estimate"):
        release({"a": 1, "c": 1, "b": 0}, LaplacePlan.of(epsilon=1, alpha=ball), allow_float_noise=True)
    with raises("labels-differ", "bin 'b'", "estimate", "histogram"):
        release({"a": 1}, LaplacePlan.of(epsilon=1, alpha=ball), allow_float_noise=True)


def test_other_noise_and_seeds_are_refused():
    with raises("unknown-choice", "'uniform'"):
        TopKPlan.of(2, **TARGET, noise="uniform")
    with raises("wrong-type", "is 5"):
        release({"a": 1}, TopKPlan.of(2, epsilon=1, sigma=8, tau=60), rng=5)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["discrete", "continuous"])
def test_the_count_subtracted_is_released_with_noise_of_its_own(noise):
    counts = {"a": 900, "b": 500, "c": 40, "d": 3}
    plan = TopKPlan.of(2, epsilon=1, sigma=8, tau=60, value_sigma=3, noise=noise)
    rng = np.random.default_rng(11)
    values = np.array([release(counts, plan, rng=rng, allow_float_noise=True).subtracted for _ in range(2_000)])
    assert abs(values.mean() - 40) < 5 * 3 / math.sqrt(2_000)
    assert abs(values.var() / 9 - 1) < 5 * math.sqrt(2 / 2_000)
    assert (values == np.rint(values)).all() == (noise == "discrete")
    assert release(counts, plan, rng=silent(plan), allow_float_noise=True, whole=True).subtracted == 40
    assert release(counts, replace(plan, value_sigma=None), rng=rng, allow_float_noise=True).subtracted is None


def test_a_released_count_costs_delta_or_a_larger_threshold():
    for noise in ("discrete", "continuous"):
        # Little more than the least sigma, so that the divergence of the noise counts.
        sigma = round(1.05 * float(TopKPlan.of(10, **TARGET, noise=noise).sigma), 3)
        plain = TopKPlan.of(10, **TARGET, sigma=sigma, noise=noise)
        beside = TopKPlan.of(10, **TARGET, sigma=sigma, value_sigma=4 * sigma, noise=noise)
        assert beside.tau > plain.tau
        assert beside.delta == plain.delta
        fixed = {"epsilon": 1, "sigma": sigma, "tau": plain.tau, "noise": noise}
        assert TopKPlan.of(10, **fixed, value_sigma=sigma).delta > TopKPlan.of(10, **fixed).delta
    assert TopKPlan.of(10, **TARGET, value_sigma=20).sigma > TopKPlan.of(10, **TARGET).sigma


@pytest.mark.parametrize("analysis", ["theorem-12", "exact", "exact-extremes-unproved"])
def test_a_release_states_no_guarantee_that_is_not_proved(analysis):
    for plan in (CshPlan.of, lambda k, **given: TopKPlan.of(k, noise="continuous", **given)):
        with raises("unknown-choice", "proved, theorem-11"):
            plan(10, **TARGET, analysis=analysis)


def spread_of(plan, counts, runs, **options):
    """Return released values, a row a run, in the order of the labels, less what they stand for."""
    rng, rows, subtracted = np.random.default_rng(7), [], []
    for _ in range(runs):
        done = release(counts, plan, rng=rng, allow_float_noise=True, **options)
        rows.append([done.counts[label] for label in sorted(done.counts)])
        subtracted.append(done.subtracted)
    return np.array(rows), np.array(subtracted, dtype=float)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "kind",
    [
        CshPlan,
        GshmPlan,
        LaplacePlan,
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in (DiscretePlan, TopKPlan)),
    ],
)
def test_the_words_on_released_values_are_true(kind):
    """The deviations that they name, of own noise and of shared noise, and what is added to an excess."""
    plan = kind.of(scale=6) if kind is LaplacePlan else kind.of(4, epsilon=1, sigma=9, tau=60)
    if kind is TopKPlan:
        plan = kind.of(4, epsilon=1, sigma=9, tau=60, value_sigma=12)
    top = {"a": 5_000, "b": 5_000, "c": 5_000, "d": 5_000}
    counts = {**top, "e": 3_000} if kind is TopKPlan else top
    values, subtracted = spread_of(plan, counts, 900)
    assert values.shape == (900, 4)
    own = float(re.search(r"standard deviation ([0-9.]+)", plan.reading)[1])
    shared = re.search(r"noise that all of them share \(([0-9.]+)\)", plan.reading)
    assert (values[:, ::2] - values[:, 1::2]).std() == pytest.approx(own * 2**0.5, rel=0.06)
    covariance = np.cov(values.T)[0, 1]
    assert covariance == pytest.approx(float(shared[1]) ** 2 if shared else 0, abs=0.12 * own**2)
    assert (shared is None) == (kind in {GshmPlan, LaplacePlan})
    assert ("an excess and not a count" in plan.reading) == (plan.quantity == "excess") == (kind is TopKPlan)
    if kind is TopKPlan:
        common = float(re.search(r"the noise of the latter too \(([0-9.]+)\)", plan.reading)[1])
        assert subtracted.std() == pytest.approx(common, rel=0.06)
        assert (values[:, 0] + subtracted).mean() == pytest.approx(5_000, abs=2)
        assert values.mean() == pytest.approx(2_000, abs=2)
    else:
        assert values.mean() == pytest.approx(5_000, abs=2)


def test_excesses_without_the_next_count_are_said_to_hide_counts():
    assert "counts cannot be told" in TopKPlan.of(4, epsilon=1, sigma=9, tau=60).reading
    assert LaplacePlan.of(epsilon=1, alpha="0.5").reading == "each is an exact count"
