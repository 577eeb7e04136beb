import math
from fractions import Fraction
from itertools import combinations

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises

import mechdesign as md
from mechdesign.uncertainty.balance import Kappa, kappa, phi

MASSES = ["1e-300", "1e-17", "0.001", "0.1", "0.3", "0.49", "0.4999999", "0.499999999999999999999999", "499/1000"]


def exact_phi(p):
    with mpmath.workdps(80):
        mass = mpmath.mpf(Fraction(p).numerator) / Fraction(p).denominator
        return +(mpmath.log((1 - mass) / mass) / (1 - 2 * mass))


@pytest.mark.parametrize("p", MASSES)
def test_phi_is_equation_15_rounded_down_by_at_most_a_float(p):
    found, exact = phi(p), exact_phi(p)
    assert mpmath.mpf(found) <= exact < mpmath.mpf(math.nextafter(found, math.inf))


def test_phi_at_its_ends():
    assert phi("1/2") == 2.0
    assert phi(0) == math.inf


@given(st.fractions(0, Fraction(1, 2)), st.fractions(0, Fraction(1, 2)))
def test_phi_falls_and_is_at_least_2(p, q):
    assert phi(min(p, q)) >= phi(max(p, q)) >= 2


@pytest.mark.parametrize("p", [-0.1, 0.6, "nan", True])
def test_masses_outside_are_refused(p):
    with pytest.raises(md.InputError, match="the mass is"):
        phi(p)
    with pytest.raises(md.InputError, match="the mass is"):
        Kappa(p, exact=True)


def kappa_by_listing(prior):
    masses = [sum(subset, Fraction(0)) for size in range(len(prior) + 1) for subset in combinations(prior, size)]
    return max(min(mass, 1 - mass) for mass in masses)


weights = st.lists(st.integers(0, 40) | st.integers(0, 10**25), min_size=2, max_size=9).filter(any)


@given(weights)
def test_kappa_is_equation_16(counts):
    prior = [Fraction(count, sum(counts)) for count in counts]
    assert kappa(prior) == Kappa(kappa_by_listing(prior), exact=True)


@given(weights, weights)
def test_kappa_within_a_radius_bounds_that_of_every_prior_there(counts, others):
    size = min(len(counts), len(others))
    if not (any(counts[:size]) and any(others[:size])):
        return
    P, Q = ([Fraction(count, sum(c[:size])) for count in c[:size]] for c in (counts, others))
    distance = sum(abs(p - q) for p, q in zip(P, Q, strict=True))
    bound = kappa(P).within(distance)
    assert kappa(Q).value <= bound.value <= Fraction(1, 2)
    assert bound.exact == (distance == 0)


def test_one_symbol_of_more_than_half_is_exact_however_many_there_are():
    prior = [Fraction(10**30 + 7, 10**31)] * 3 + [Fraction(1, 10**31 - 3)] * 60
    rest = 1 - sum(prior)
    assert kappa([rest, *prior]).exact
    heavy = [Fraction(10**40, 10**40 + 50 * 7**20)] + [Fraction(7**20, 10**40 + 50 * 7**20)] * 50
    assert kappa(heavy) == Kappa(1 - heavy[0], exact=True)


def test_beyond_its_reach_kappa_is_bounded_and_says_so():
    total = sum(10**20 + i**9 for i in range(41))
    prior = [Fraction(10**20 + i**9, total) for i in range(41)]
    assert kappa(prior) == Kappa(Fraction(1, 2), exact=False)


def test_a_negative_distance_is_refused():
    with raises("radius-out-of-range", "is -1"):
        kappa([0.5, 0.5]).within(-1)
