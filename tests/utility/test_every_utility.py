"""One generic test of sublinearity for every utility."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from registries import separate_registries
from tolerances import ALGEBRA

import mechdesign as md
from mechdesign.utility.registry import is_named, utility_by_name, utility_names

with separate_registries():
    from tests.outside.jensen_shannon import JensenShannon

SIZE = 4
MATRIX = [[1, 0, 0.5, -1], [0, 2, 0.25, 0], [0.1, 0.1, 0.1, 3]]
UTILITIES = [
    md.MutualInformation(),
    md.ChiSquare(),
    md.TotalVariation(),
    md.SquaredHellinger(),
    JensenShannon(),
    md.HammingAccuracy(),
    md.ExpectedGain(MATRIX),
    md.ExpectedDistortion(MATRIX),
    md.ExplainedVariance([1, -2, 0.5, 7]),
]
every_utility = pytest.mark.parametrize("utility", UTILITIES, ids=lambda utility: utility.name)
positive = st.floats(0.01, 10)
vectors = st.lists(positive, min_size=SIZE, max_size=SIZE).map(np.array)
priors = vectors.map(lambda weights: weights / weights.sum())


def one(utility, v, P):
    return float(utility.mu(v[:, None], P)[0])


@pytest.mark.sampled
@every_utility
@given(v=vectors, P=priors, factor=st.floats(0.001, 1000))
def test_homogeneous(utility, v, P, factor):
    np.testing.assert_allclose(one(utility, factor * v, P), factor * one(utility, v, P), rtol=1e-9, atol=1e-9 * factor)


@pytest.mark.sampled
@every_utility
@given(v=vectors, w=vectors, P=priors)
def test_subadditive(utility, v, w, P):
    assert one(utility, v + w, P) <= one(utility, v, P) + one(utility, w, P) + 1e-10


@pytest.mark.sampled
@every_utility
@given(v=vectors, P=priors)
def test_gradient_times_column_is_the_utility(utility, v, P):
    np.testing.assert_allclose(utility.gradient(v, P) @ v, one(utility, v, P), rtol=1e-9, atol=1e-9)


@pytest.mark.sampled
@every_utility
@given(v=vectors, w=vectors, P=priors)
def test_gradient_supports_the_utility_from_below(utility, v, w, P):
    assert utility.gradient(v, P) @ w <= one(utility, w, P) + 1e-9


@every_utility
def test_gradient_by_differences(utility):
    rng = np.random.default_rng(11)
    for _ in range(20):
        v, P = rng.uniform(0.5, 2, SIZE), rng.dirichlet(np.ones(SIZE))
        step = 1e-6
        gains = getattr(utility, "matrix", None)
        if gains is not None:
            ranked = np.sort(utility.gains(SIZE) * P @ v)
            if ranked[-1] - ranked[-2] < 1e-3:
                continue
        differences = [
            (one(utility, v + step * d, P) - one(utility, v - step * d, P)) / (2 * step) for d in np.eye(SIZE)
        ]
        u = v / (P @ v)
        if utility.name == "total-variation" and np.abs(u - 1).min() < 1e-3:
            continue
        np.testing.assert_allclose(utility.gradient(v, P), differences, atol=1e-7)


@pytest.mark.sampled
@every_utility
@given(v=vectors, P=priors, data=st.data())
def test_bound_over_a_neighbourhood_holds_in_it(utility, v, P, data):
    scaled = v / (P @ v)
    slack = data.draw(st.sampled_from([0.0, 1e-12, 1e-6, 1e-2]))
    bound = float(utility.mu_up(scaled[:, None], P, slack)[0])
    shift = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=SIZE, max_size=SIZE))) * slack
    near = np.maximum(scaled + shift, 0)
    # mu of an f-information with the mass held at 1, which is what the bound is of.
    value = float(P @ utility.f(near)) if utility.f_information is not None else one(utility, near, P)
    assert value <= bound + 1e-15


@every_utility
def test_bound_covers_entries_that_are_zero(utility):
    P = np.full(SIZE, 1 / SIZE)
    v = np.array([4.0, 0, 0, 0])[:, None]
    tight = float(utility.mu_up(v, P, 1e-13)[0])
    assert one(utility, v[:, 0], P) <= tight <= one(utility, v[:, 0], P) + 1e-11


@every_utility
def test_merging_columns_never_raises_a_utility(utility):
    rng = np.random.default_rng(3)
    for _ in range(50):
        matrix = rng.dirichlet(np.ones(5) * 0.3, SIZE)
        P = rng.dirichlet(np.ones(SIZE))
        merged = np.c_[matrix[:, 0] + matrix[:, 1], matrix[:, 2:]]
        assert utility.value(merged, P) <= utility.value(matrix, P) + 1e-12


@every_utility
def test_renaming_symbols_changes_nothing_where_the_utility_says_so(utility):
    rng = np.random.default_rng(4)
    matrix, P, order = rng.dirichlet(np.ones(3), SIZE), rng.dirichlet(np.ones(SIZE)), rng.permutation(SIZE)
    same = np.isclose(utility.value(matrix[order], P[order]), utility.value(matrix, P), atol=ALGEBRA)
    assert bool(same) == utility.is_symmetric


def test_every_name_makes_its_utility_and_names_it():
    for name in utility_names():
        matrix = MATRIX if name.startswith("expected") else None
        utility = utility_by_name(name, matrix)
        assert utility.name == name
        assert is_named(utility)
    assert not is_named(UTILITIES[4])


def test_shapes_that_do_not_fit_are_refused():
    for utility in UTILITIES:
        with raises("wrong-size"):
            utility.mu(np.ones((3, 2)), np.ones(4) / 4)
