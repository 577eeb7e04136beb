from collections import Counter
from itertools import product
from math import isqrt

import pytest

from mechdesign.baselines.block_designs import _OTHERS, check_design, difference_sets, shifts


def is_difference_set(base, size):
    """Return whether every difference but 0 occurs equally often modulo N."""
    times = Counter((x - y) % size for x, y in product(base, repeat=2) if x != y)
    return len(times) == size - 1 and len(set(times.values())) == 1


@pytest.mark.parametrize("size", range(3, 135))
def test_difference_sets_are_designs(size):
    for members, base in difference_sets(size).items():
        assert len(base) == members
        assert is_difference_set(base, size)
        assert len(check_design(shifts(base, size), size)) == size


def test_there_is_one_for_every_size_of_the_families():
    """Paley for primes 3 mod 4, points of projective geometries over prime fields, and a few more."""
    primes = {n for n in range(2, 135) if all(n % d for d in range(2, isqrt(n) + 1))}
    expected = {n for n in primes if n % 4 == 3 and n > 3}
    expected |= {(q**n - 1) // (q - 1) for q in (2, 3, 5, 7, 11) for n in range(3, 8)} & set(range(135))
    expected |= {size for size, _ in _OTHERS}
    assert {size for size in range(3, 135) if difference_sets(size)} == expected


def test_what_is_not_a_difference_set():
    assert not is_difference_set((0, 1, 2), 7)
    assert not is_difference_set((0,), 3)
