"""Estimates of strings that moved, their errors with collisions, and their intervals, by simulation."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import raises
from scipy.stats import t as student

from mechdesign.windows import SeparateCounts, design_windows, estimate_strings
from mechdesign.windows.collisions import collision_factor
from mechdesign.windows.decoder import Decoder
from mechdesign.windows.hashing import fingerprints
from mechdesign.windows.string_estimates import estimate_counts, quantile

COUNTS = {f"w{k}": round(1e6 / k) for k in range(1, 301)}
NEW = tuple(f"new {k}" for k in range(4))
UNSEEN = tuple(f"unseen {k}" for k in range(200))


def populations(new):
    """The shares of the samples and, with a share for each new string, those of the people who report."""
    P = np.array(list(COUNTS.values())) / sum(COUNTS.values())
    return np.append(P * (1 - new * len(NEW)), np.full(len(NEW), new))


def reported(found, Q, n, rng):
    return found.mechanism.privatize(np.array([*COUNTS, *NEW])[rng.choice(len(Q), n, p=Q)].tolist(), rng)


@pytest.fixture(scope="module")
def found():
    return design_windows(COUNTS, 1, known=True, seeds=100, buckets=128)


def test_strings_that_moved_are_found_and_disturb_no_others(found):
    rng, n, Q = np.random.default_rng(4), 60_000, populations(0.05)
    reports = reported(found, Q, n, rng)
    known = found.estimate(reports, [*NEW, *UNSEEN])
    assert set(known.moved) == set(NEW)
    np.testing.assert_allclose(known.shares[:4], 0.05, atol=5 * np.sqrt(found.error_of(0) / n))
    assert abs(known.collisions) < 0.2
    assert known.advice is None
    hidden = found.estimate(reports, UNSEEN)  # new strings that are no candidates cannot be solved for
    expected = n * 4 * 0.05**2 * collision_factor(found.reached) * (found.reached - 1) / found.seeds
    assert hidden.collisions == pytest.approx(expected, rel=0.5)
    assert hidden.advice.startswith("100 seeds are too few for 60,000 reports")
    assert np.mean(hidden.shares**2) > 2 * np.mean(known.shares[4:] ** 2)
    assert (np.abs(hidden.shares) < quantile(0.0001, 100) * hidden.standard_errors).all()


def test_without_drift_nothing_moved_and_collisions_are_about_0(found):
    estimate = found.estimate(reported(found, populations(0), 20_000, np.random.default_rng(5)), [*COUNTS, *UNSEEN])
    assert (estimate.moved, estimate.advice) == ((), None)
    assert abs(estimate.collisions) < 0.2


def test_intervals_are_those_of_students_t(found):
    estimate = found.estimate(reported(found, populations(0), 1_000, np.random.default_rng(6)), UNSEEN)
    for simultaneous, tail in ((False, 0.025), (True, 0.025 / 200)):
        low, high = estimate.intervals(simultaneous=simultaneous).T
        np.testing.assert_allclose((high - low) / 2, student.isf(tail, 99) * estimate.standard_errors, rtol=1e-9)
        np.testing.assert_allclose((high + low) / 2, estimate.shares, atol=1e-12)
    for confidence in (0, 1, -1, float("nan")):
        with raises("out-of-range"):
            estimate.intervals(confidence)


def test_one_seed_has_errors_of_the_draws_alone():
    found = design_windows(COUNTS, 1, known=True, seeds=1, buckets=8)
    estimate = found.estimate(reported(found, populations(0), 1_000, np.random.default_rng(7)), ["w300", "w1"])
    assert estimate.collisions == 0
    assert (estimate.standard_errors > 0).all()
    assert quantile(0.025, 1) == pytest.approx(1.959964, rel=1e-6)


def test_intervals_are_finite_where_1_minus_the_tail_rounds_to_1():
    assert quantile(2.0**-54, 1) == pytest.approx(8.2924, abs=1e-4)
    assert quantile(2.0**-54, 100_000) == pytest.approx(8.2938, abs=1e-3)


def test_one_seed_does_not_tell_eight_heavy_strings_apart():
    found = design_windows(COUNTS, 1, known=True, seeds=1, buckets=128)
    with raises("no-method", "do not tell 8 strings apart"):
        _ = found.error


@pytest.mark.slow
@pytest.mark.parametrize(("moved", "listed"), [(0, True), (0.03, True), (0.03, False)])
def test_intervals_hold_for_heavy_light_unseen_and_new_strings(moved, listed):
    """160 simulations under 20 master words; new strings are candidates, or are not and disturb all others."""
    rng, n, Q = np.random.default_rng(8), 20_000, populations(moved)
    names = [*COUNTS, *(NEW if listed and moved else ()), *UNSEEN]
    truth = np.array([*Q[: len(names) - len(UNSEEN)], *np.zeros(len(UNSEEN))])
    designs = [design_windows(COUNTS, 1, known=True, seeds=100, buckets=128, master=str(k)) for k in range(20)]
    heavy = designs[0].mechanism.layout.heavy.strings
    groups = {
        "heavy": [k for k, name in enumerate(names) if name in heavy],
        "light": [k for k, name in enumerate(names) if name in COUNTS and name not in heavy],
        "unseen": [k for k, name in enumerate(names) if name in UNSEEN],
        "new": [k for k, name in enumerate(names) if name in NEW],
    }
    single, all_at_once = [], []
    for found in designs * 8:
        estimate = found.estimate(reported(found, Q, n, rng), names)
        low, high = estimate.intervals().T
        single.append((low <= truth) & (truth <= high))
        low, high = estimate.intervals(simultaneous=True).T
        all_at_once.append(((low <= truth) & (truth <= high)).all())
    held = np.mean(single, axis=0)
    for members in filter(None, groups.values()):
        assert 0.93 < held[members].mean() < 0.98
    assert np.mean(all_at_once) >= 0.9


def test_pursuit_ends_where_windows_tell_no_more_strings_apart():
    """A tenth of the strings that moved are as many as three seeds of few windows tell apart; all have an estimate."""
    counts = {f"w{k}": 5 for k in range(200)}
    mechanism = design_windows(counts, 1, known=True, seeds=3, buckets=64, heavy=None).mechanism
    reports = mechanism.privatize(["new"] * 4_000 + ["newer"] * 4_000, np.random.default_rng(1))
    found = estimate_strings(reports, mechanism, ["new", "newer", *counts], dict.fromkeys(counts, 1 / 200))
    assert np.isfinite(found.shares).all()
    assert np.isfinite(found.standard_errors).all()


HEAVY = SeparateCounts({"w1": 300, "w2": 150, "w3": 100, "rest": 450}, "last year")


@pytest.mark.parametrize("heavy", [None, HEAVY])
def test_strings_fall_into_buckets_as_the_measure_says(heavy):
    """Heavy strings with the shares that their units state, and light ones of unknown hashes."""
    layout = design_windows(COUNTS, 1, known=True, seeds=4, buckets=16, heavy=heavy, one_layer="0.5").mechanism.layout
    n, prints = 40_000, fingerprints(map(str, range(40_000)))
    listed = layout.heavy
    rest = 1 - (0 if listed is None else sum(listed.shares.values()))
    for number in range(4):
        circle = layout.circle(number)
        law = circle.measure(0 if listed is None else listed.light_units)
        found = rest * np.bincount(circle.light_buckets(prints), minlength=16)
        if listed is not None:
            _, bucket, units = circle.arcs.pieces(16)
            found += n * np.bincount(bucket, units, 16) / listed.all_units
        expected = n * law / law.sum()
        assert np.sum((found - expected) ** 2 / (rest * n / 16)) < 50  # chi-square of 15 degrees


def test_without_a_reference_the_mean_over_hashes_and_heavy_strings_is_1():
    """A report is as likely as strings of unknown hashes and heavy ones, by their units, make it: no evidence."""
    mechanism = replace(design_windows(COUNTS, 1, known=True, seeds=30, buckets=64, cap="3").mechanism, evidence=None)
    decoder = Decoder(replace(mechanism, held=None), by_lengths=True)
    assert decoder.chances.sum() == pytest.approx(1, abs=1e-12)
    strings = [f"any {k}" for k in range(4_000)]
    one = np.eye(1, len(decoder.chances), 5)[0]
    means, shares = decoder.reading(one, one, strings).means, mechanism.layout.heavy.shares
    rest = 1 - sum(shares.values())
    heavy = decoder.products(decoder.prints(list(shares)), one)[0] @ list(shares.values())
    assert abs(heavy + rest * means.mean() - 1) < 5 * rest * means.std() / 60


def test_without_a_reference_a_string_with_most_of_the_mass_has_an_estimate():
    """Windows inside of its arc hold no light string; the units of heavy strings say how often they are reported."""
    counts = {"most": 9_000, **{f"s{k}": 10 for k in range(100)}}
    mechanism = design_windows(counts, 1, known=True, seeds=60, buckets=64).mechanism
    people = ["most"] * 16_000 + [f"s{k}" for k in range(100)] * 20 + ["new"] * 2_000
    found = estimate_strings(mechanism.privatize(people, np.random.default_rng(3)), mechanism, ["most", "new", "s1"])
    assert (np.abs(found.shares - [0.8, 0.1, 0.001]) < 4 * found.standard_errors).all()
    assert found.standard_errors.max() < 0.05
    assert not found.sample_shares.any()


def test_shares_without_a_reference_are_noisier_and_say_so(found):
    rng = np.random.default_rng(5)
    reports = reported(found, populations(0.05), 20_000, rng)
    names = [*NEW, *UNSEEN, *COUNTS]
    without = estimate_strings(reports, found.mechanism, names)
    P = np.array(list(COUNTS.values())) / sum(COUNTS.values())
    with_it = estimate_strings(reports, found.mechanism, names, dict(zip(COUNTS, P.tolist(), strict=True)))
    assert without.by_lengths
    assert not with_it.by_lengths
    truth = np.concatenate([np.full(4, 0.05), np.zeros(len(UNSEEN)), populations(0.05)[: len(COUNTS)]])
    low, high = without.intervals().T
    assert 0.9 < np.mean((low <= truth) & (truth <= high)) < 0.99
    light = slice(4, 4 + len(UNSEEN))
    assert without.standard_errors[light].mean() > 1.03 * with_it.standard_errors[light].mean()
    with raises("missing-argument", "reference"):
        without.toward_sample()


def test_reports_that_all_read_alike_have_the_error_of_people_without_the_string():
    """With few reports none may hold a string; its error is then that of E_P v(x)^2, not 0."""
    shares = dict.fromkeys((f"w{k}" for k in range(300)), 1 / 300)
    found = design_windows(dict.fromkeys(shares, 1000), 1, known=True, seeds=1, buckets=16)
    decoder = Decoder(found.mechanism)
    v = [decoder.reading(one, one, ["unseen"]).means[0] for one in np.eye(found.mechanism.size)]
    counts = 30 * np.eye(found.mechanism.size, dtype=np.int64)[v.index(0)]
    estimate = estimate_counts(counts, decoder, ["unseen"], shares)
    information = decoder.squares(["unseen"])[0] - 1
    assert estimate.standard_errors[0] == pytest.approx((30 * information) ** -0.5, rel=1e-9)
