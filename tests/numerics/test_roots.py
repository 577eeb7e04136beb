"""Roots of many functions at once, against scipy's for each."""

import numpy as np
from scipy.optimize import brentq

from mechdesign.numerics.roots import newton_roots


def test_each_root_is_that_of_brentq():
    rng = np.random.default_rng(0)
    place, power, scale = rng.uniform(-3, 3, 300), rng.choice([1, 2, 3], 300), rng.lognormal(0, 1, 300)

    def values(x, of):
        d = x - place[of]
        slopes = -scale[of] * power[of] * np.abs(d) ** (power[of] - 1) - np.exp(d)
        return -scale[of] * np.sign(d) * np.abs(d) ** power[of] - np.expm1(d), slopes

    found = newton_roots(values, np.full(300, -4.0), np.full(300, 4.0), rng.uniform(-5, 5, 300), 1e-14)
    for k in range(300):
        one = np.array([k])
        exact = brentq(lambda x, one=one: float(values(np.array([x]), one)[0][0]), -4, 4, xtol=1e-13, maxiter=1_000)
        assert abs(found[k] - exact) <= 3e-12


def test_a_function_without_a_change_of_sign_has_its_root_at_an_end():
    def values(x, of):
        return np.array([-1.0, 1.0, 0.25])[of] - np.where(np.arange(3)[of] == 2, x, 0.0), np.full(x.shape, -1.0)

    for start in (0.0, 0.25, 0.6, 1.0):
        found = newton_roots(values, np.zeros(3), np.ones(3), np.full(3, start), 1e-9)
        np.testing.assert_allclose(found, [0.0, 1.0, 0.25], atol=1e-9)


def test_a_jump_is_found():
    places = np.array([0.3, 0.7])
    for slope in (0.0, np.nan):
        found = newton_roots(
            lambda x, of, slope=slope: (np.where(x < places[of], 5.0, -1e-9), np.full(x.shape, slope)),
            np.zeros(2),
            np.ones(2),
            np.full(2, 0.5),
            1e-9,
        )
        np.testing.assert_allclose(found, [0.3, 0.7], atol=2e-9)


def test_functions_that_are_done_are_not_evaluated_again():
    asked = []

    def values(x, of):
        asked.append(np.arange(2)[of].tolist())
        power = np.array([1, 9])[of]
        return 0.5 - x**power, -power * x ** (power - 1)

    newton_roots(values, np.zeros(2), np.ones(2), np.full(2, 0.3), 1e-12)
    assert [1] in asked
    assert [0, 1] in asked
