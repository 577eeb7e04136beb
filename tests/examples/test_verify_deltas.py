"""The delta of a radius in the second verifier: the sign of one step, and the ranges of counts that it leaves out."""

import importlib.util
import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import examples

import mechdesign as md

_SPEC = importlib.util.spec_from_file_location("verify", Path(__file__).parents[2] / "examples" / "verify.py")
verify = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(verify)

FLEETS = [
    (300, 2, "0.4"),
    (300, 4, "1e-9"),
    (300, 40, "1e-200"),
    (20_000, 2, "0.4"),
    (48_842, 16, "1e-9"),
    (10**7, 16, "1e-9"),
]
LARGE = [(10**6, 1000, "1e-100"), (10**8, 4, "1e-9")]


def exact_tail(n, k, q):
    return sum(math.comb(n, j) * q**j * (1 - q) ** (n - j) for j in range(k, n + 1))


@given(st.integers(2, 40), st.fractions(0, 1, max_denominator=10**6), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_the_sign_of_a_step_is_that_of_the_exact_tails(n, t, data):
    """Between all k of a range F is seen to rise, or to fall, only where sums of binomial terms do so."""
    tails = {k: exact_tail(n, k, Fraction(k, n) - t) for k in range(math.floor(n * t) + 1, n + 1)}
    if len(tails) > 1 and t:
        first = data.draw(st.integers(min(tails), n - 1))
        last = data.draw(st.integers(first, n - 1))
        signs = {(b > a) - (b < a) for a, b in pairwise(tails[k] for k in range(first, last + 2))}
        assert verify.change(n, n * t, first, last) in {0, *(signs if len(signs) == 1 else ())}


def test_few_counts_are_left_whose_step_has_no_sign():
    n, T = 48_842, 48_842 * Fraction("0.0171952")
    signs = [verify.change(n, T, k, k) for k in range(24_000, 26_000)]
    assert signs == sorted(signs, reverse=True)
    assert signs.count(0) < 3
    assert (signs[0], signs[-1]) == (1, -1)
    assert verify.change(n, T, 4_000, 6_000) == 1
    assert verify.change(n, T, 30_000, 31_000) == -1


@pytest.mark.parametrize("n", [1, 2, 3, 7, 30])
@pytest.mark.parametrize("excess", ["1e-15", "0.01", "0.3", "0.97"])
def test_ranges_are_settled_as_every_count_by_itself(n, excess):
    """Also next to the greatest of all tails, where one unit in 10^20 decides."""
    t = Fraction(excess)
    worst = max(exact_tail(n, k, Fraction(k, n) - t) for k in range(math.floor(n * t) + 1, n + 1))
    for level in (worst * (1 + Fraction(1, 10**20)), worst * (1 - Fraction(1, 10**20))):
        found = verify.are_rare(n, range(n + 1), lambda k: Fraction(k, n) - t, level, n * t)
        assert found == (level > worst)


def test_a_tail_that_is_its_level_is_rare():
    """One draw of two kinds: within l1 distance 3/2 but with probability 1/4 for each kind."""
    assert verify.is_rare(1, 1, Fraction(1, 4), Fraction(1, 4))
    assert not verify.is_rare(1, 1, Fraction(1, 4) + Fraction(1, 10**20), Fraction(1, 4))
    assert verify.is_supported(1, Fraction(1, 2), 2, Fraction(3, 4), "observed-sums", [1, 0])
    assert not verify.is_supported(1, Fraction(1, 2), 2, Fraction(3, 4) - Fraction(1, 10**15), "observed-sums", [1, 0])


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("n", "size", "delta"),
    [
        *(pytest.param(*fleet, marks=pytest.mark.slow if fleet[0] > 10**6 else ()) for fleet in FLEETS),
        *(pytest.param(*fleet, marks=pytest.mark.slow) for fleet in LARGE),
    ],
)
def test_a_radius_of_the_package_is_the_least_for_the_script_too(n, size, delta):
    """From 300 to 10^8 samples, in seconds, where the package compares balls at one place."""
    level, step = Fraction(delta) / (2**size - 2), Fraction(1, 2 * 10**15)
    half = md.L1Ball.from_counts([n, *[0] * (size - 1)], delta=delta, bound="clopper-pearson").radius / 2
    assert verify.is_supported(n, Fraction(delta), size, half, "clopper-pearson") is True
    assert verify.is_supported(n, Fraction(delta), size, half - step, "clopper-pearson") is False
    if n == 300:
        assert verify.are_rare(n, range(n + 1), lambda k: Fraction(k, n) - half, level)
        assert not verify.are_rare(n, range(n + 1), lambda k: Fraction(k, n) - half + step, level)
