"""A group of categories without records: its bounds are chosen as if its categories were equally likely."""

import numpy as np
import pytest

from mechdesign.deploy.identification import _identifiable_sums, _proofs, identify


@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_a_group_without_mass_are_the_best_at_equal_frequencies(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(4, 9))
    matrix = rng.dirichlet(np.full(int(rng.integers(2, size)), 0.5), size)
    basis = _identifiable_sums(identify(matrix).null)
    equal = np.full(size, 1 / size)
    below, above = _proofs(basis, np.zeros(size))
    best_below, best_above = _proofs(basis, equal)
    np.testing.assert_allclose(equal @ above, equal @ best_above, atol=1e-9)
    np.testing.assert_allclose(equal @ below, equal @ best_below, atol=1e-9)
    for x in np.eye(size):
        assert (x @ above >= x - 1e-6).all()
        assert (x @ below <= x + 1e-6).all()
