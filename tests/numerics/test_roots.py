"""Roots of many functions at once, against scipy's for each."""

import numpy as np
import pytest
from scipy.optimize import brentq

from mechdesign.numerics.roots import bracketed_roots, newton_roots


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


@pytest.mark.parametrize(("powers", "most"), [([1.0], 16), ([0.1, 1.0, 3.0, 9.0], 180)])
def test_brackets_close_around_roots(powers, most):
    """Also where functions are flat at the root, or fall nearly at once there: then in four times as many steps as
    halving alone would take."""
    rng = np.random.default_rng(1)
    place, power, scale = rng.uniform(0.1, 0.9, 300), rng.choice(powers, 300), 10.0 ** rng.uniform(-9, 9, 300)
    asked = []

    def values(x):
        asked.append(x)
        return -scale * np.sign(x - place) * np.abs(x - place) ** power * np.exp(x)

    low, high = bracketed_roots(values, np.zeros(300), np.ones(300), 1e-13)
    assert ((low <= place) & (place <= high) & (high - low <= 1e-13)).all()
    assert len(asked) <= most


def test_brackets_without_a_change_of_sign_are_an_end_and_those_of_jumps_hold_them():
    low, high = bracketed_roots(
        lambda x: np.stack([np.ones(2), -np.ones(2), np.where(x[2] < [0.3, 0.7], 1e-9, -5.0)]),
        np.zeros((3, 2)),
        np.ones((3, 2)),
        1e-9,
    )
    np.testing.assert_allclose(low, [[1.0, 1.0], [0.0, 0.0], [0.3, 0.7]], atol=2e-9)
    np.testing.assert_allclose(high, low, atol=1e-9)
