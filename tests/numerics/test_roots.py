"""Roots of many functions at once, against scipy's for each."""

import numpy as np
from scipy.optimize import brentq

from mechdesign.numerics.roots import bracketed_roots


def test_each_root_is_that_of_brentq():
    rng = np.random.default_rng(0)
    place, power, scale = rng.uniform(-3, 3, 300), rng.choice([1, 2, 3], 300), rng.lognormal(0, 8, 300)

    def values(x, of):
        return -scale[of] * np.sign(x - place[of]) * np.abs(x - place[of]) ** power[of] - np.expm1(x - place[of])

    found = bracketed_roots(values, np.full(300, -4.0), np.full(300, 4.0), 1e-12)
    for k in range(300):
        one = np.array([k])
        exact = brentq(lambda x, one=one: float(values(np.array([x]), one)[0]), -4, 4, xtol=1e-13, maxiter=1_000)
        assert abs(found[k] - exact) <= 3e-12


def test_a_function_without_a_change_of_sign_has_its_root_at_an_end():
    ends = np.zeros(3), np.ones(3)
    found = bracketed_roots(lambda x, of: np.array([-1.0, 1.0, 0.25])[of] - np.where(of == 2, x, 0.0), *ends, 1e-9)
    assert found.tolist() == [0.0, 1.0, 0.25]


def test_a_jump_is_found():
    places = np.array([0.3, 0.7])
    found = bracketed_roots(lambda x, of: np.where(x < places[of], 5.0, -1e-9), np.zeros(2), np.ones(2), 1e-9)
    np.testing.assert_allclose(found, [0.3, 0.7], atol=2e-9)


def test_functions_that_are_done_are_not_evaluated_again():
    asked = []

    def values(x, of):
        asked.append(of.tolist())
        return np.where(of == 0, 0.5 - x, 0.5 - x**9)

    bracketed_roots(values, np.zeros(2), np.ones(2), 1e-12)
    assert [1] in asked
    assert [0, 1] in asked
