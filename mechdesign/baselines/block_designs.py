"""Balanced incomplete block designs: shifts of difference sets, and a check of designs that users give.

A difference set modulo N has d members such that every difference but 0 occurs equally often, lambda times: then
``d (d - 1) = lambda (N - 1)``, and any two categories are together in lambda of its N shifts. Its complement is one
too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product

from mechdesign.data.checks import whole_number
from mechdesign.errors import InputError
from mechdesign.numerics.arrays import entries

_OTHERS = (  # of prime-power order, and a biplane of quartic residues
    (21, (3, 6, 7, 12, 14)),
    (37, (1, 7, 9, 10, 12, 16, 26, 33, 34)),
    (73, (1, 2, 4, 8, 16, 32, 37, 55, 64)),
    (91, (0, 1, 3, 9, 27, 49, 56, 61, 77, 81)),
)
_MOST_SYMBOLS = 2_000


def difference_sets(size: int) -> dict[int, tuple[int, ...]]:
    """Return the difference sets modulo N that are known here, one for each number of members from 2 to N - 2.

    Examples
    --------
    >>> difference_sets(7)
    {3: (1, 2, 4), 4: (0, 3, 5, 6)}
    """
    found: dict[int, tuple[int, ...]] = {}
    if size > _MOST_SYMBOLS:
        return found
    families = (_residues(size), *_geometries(size), *(base for modulus, base in _OTHERS if modulus == size))
    for base in filter(None, families):
        for members in (base, tuple(sorted(set(range(size)) - set(base)))):
            if 2 <= len(members) <= size - 2:
                found.setdefault(len(members), members)
    return found


def shifts(base: Sequence[int], size: int) -> list[tuple[int, ...]]:
    """Return all shifts of a set modulo N."""
    return [tuple(sorted((member + shift) % size for member in base)) for shift in range(size)]


def check_design(blocks: object, size: int) -> list[tuple[int, ...]]:
    """Return blocks as sorted tuples, after checking that they are a balanced incomplete block design.

    Raises
    ------
    InputError
        If blocks differ in size, a member occurs twice, or categories, or pairs of them, are in unequal numbers of
        blocks.

    Examples
    --------
    >>> check_design([(0, 1), (2, 1), (0, 2)], 3)
    [(0, 1), (1, 2), (0, 2)]
    """
    accepted = "a list of blocks, each a list of positions of categories"
    found = []
    for block in entries(blocks, "the argument blocks", accepted):
        members = sorted(
            whole_number(member, "a member of a block", 0) for member in entries(block, "a block", accepted)
        )
        if len(set(members)) < len(members) or not members or members[-1] >= size:
            raise InputError.not_a_block_design(
                f"a block is {members}; accepted: different positions from 0 to {size - 1}"
            )
        found.append(tuple(members))
    sizes = {len(block) for block in found}
    if len(sizes) != 1 or not 1 <= min(sizes) < size:
        raise InputError.not_a_block_design(
            f"the blocks have {sorted(sizes)} members; accepted: all as many, from 1 to {size - 1}"
        )
    singles = Counter(member for block in found for member in block)
    pairs = Counter(pair for block in found for pair in combinations(block, 2))
    if len({singles[symbol] for symbol in range(size)}) > 1:
        raise InputError.not_a_block_design("categories are in unequal numbers of blocks; accepted: each in as many")
    if len({pairs[pair] for pair in combinations(range(size), 2)}) > 1:
        raise InputError.not_a_block_design(
            "pairs of categories are in unequal numbers of blocks; accepted: each two together in as many"
        )
    return found


def _residues(size: int) -> tuple[int, ...] | None:
    """Return the quadratic residues modulo a prime N = 3 mod 4 (Paley); None for other N."""
    if size % 4 != 3 or not _is_prime(size):
        return None
    return tuple(sorted({x * x % size for x in range(1, size)}))


def _geometries(size: int) -> list[tuple[int, ...]]:
    """Return the hyperplanes of projective geometries of N points over fields of a prime order q (Singer).

    The points are powers of a primitive element of the field of q^n elements, modulo those in the field of q. A
    sequence of the recurrence of its polynomial is 0 at the points of a hyperplane.
    """
    found = []
    for q in filter(_is_prime, range(2, math.isqrt(size) + 1)):
        n, points = 2, 1 + q
        while points < size:
            n, points = n + 1, points * q + 1
        if points == size and n > 2:
            found.append(_hyperplane(q, n, size))
    return found


def _hyperplane(q: int, n: int, points: int) -> tuple[int, ...]:
    for coefficients in product(range(q), repeat=n):
        if not coefficients[0]:
            continue
        state, period, zeros = (0,) * (n - 1) + (1,), 0, []
        start = state
        while True:
            if state[0] == 0 and period < points:
                zeros.append(period)
            state = (*state[1:], sum(c * s for c, s in zip(coefficients, state, strict=True)) % q)
            period += 1
            if state == start or period >= q**n:
                break
        if period == q**n - 1:
            return tuple(zeros)
    raise AssertionError(f"there is a primitive polynomial of degree {n} over every field of order {q}")


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % divisor for divisor in range(2, math.isqrt(n) + 1))
