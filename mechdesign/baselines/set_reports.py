"""Mechanisms whose reports are sets of categories, exp(epsilon) times as likely with the category of the record.

Unary encodings report a bit for each category, each turned or not with a probability of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from mechdesign.baselines.baseline import Baseline, check_outputs, checked, of_supports
from mechdesign.baselines.block_designs import check_design, difference_sets, shifts
from mechdesign.data.checks import whole_number
from mechdesign.errors import LimitError
from mechdesign.mechanism import ExactMatrix
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import root_down
from mechdesign.optimize.closed_form import randomized_response
from mechdesign.optimize.closed_form.least_errors import least_error_of_sets
from mechdesign.optimize.estimation import subset_selection_error as sets

_WARNER = "Warner (1965); Kairouz, Oh and Viswanath (2016)"
_YE_BARG = "Ye and Barg (2018); Wang and others (2016)"
_ACHARYA = "Acharya, Sun and Zhang (2019)"
_PARK = "Park, Nam and Lee (arXiv 2305.01261)"


def k_ary_randomized_response(size: int, epsilon: object) -> Baseline:
    """Return k-ary randomized response: the true category with probability ``e / (e + N - 1)``, else any other.

    Warner, "Randomized response" (1965); for N categories Kairouz, Oh and Viswanath, "Extremal mechanisms for local
    differential privacy" (2016). multi-freq-ldpy and pure-ldp call it GRR and direct encoding.

    Parameters
    ----------
    size : int
        Number N of categories.
    epsilon : number or str
        Of local differential privacy.

    Examples
    --------
    >>> k_ary_randomized_response(3, "log(2)").matrix
    array([[0.5 , 0.25, 0.25],
           [0.25, 0.5 , 0.25],
           [0.25, 0.25, 0.5 ]])
    """
    N, given = checked(size, epsilon)
    check_outputs("randomized response", N, N)
    matrix = ExactMatrix.of(randomized_response.mechanism(N, given.exp_down), "k-ary randomized response")
    return Baseline(matrix.name, given, matrix, _WARNER, reports_symbols=True)


def subset_selection(size: int, epsilon: object, members: int | None = None) -> Baseline:
    """Return subset selection: all sets of d categories.

    Ye and Barg, "Optimal schemes for discrete distribution estimation under locally differential privacy" (2018); Wang
    and others, "Mutual information optimally local private discrete distribution estimation" (2016). multi-freq-ldpy
    calls it SS.

    Parameters
    ----------
    size : int
        Number N of categories.
    epsilon : number or str
        Of local differential privacy.
    members : int, optional
        d, from 1 to N - 1; by default the one of least estimation error at the uniform prior.

    Raises
    ------
    LimitError
        If there are more than 20,000 sets.

    Examples
    --------
    >>> subset_selection(4, "log(3)", 2).exact_matrix.weights[0]
    (3, 3, 3, 1, 1, 1)
    """
    N, given = checked(size, epsilon)
    e = given.exp_down
    d = whole_number(members, "members", 1) if members is not None else _best(range(1, N), N, given)
    matrix = ExactMatrix.of(sets.mechanism(N, e, d), f"subset selection of {d} categor{'y' if d == 1 else 'ies'}")
    return Baseline(matrix.name, given, matrix, _YE_BARG)


def hadamard_response(size: int, epsilon: object) -> Baseline:
    """Return Hadamard response: the sets are rows of Hadamard matrices, one matrix for each block of categories.

    Acharya, Sun and Zhang, "Hadamard response: estimating distributions privately, efficiently, and with little
    communication" (2019). With B the greatest power of two up to min(e, 2N), and b the least from N/B + 1 on, the
    outputs are B blocks of b, and a category is supported in its own block, where its row of the Hadamard matrix of b
    is 1. For e < 2, B = 1. pure-ldp has it, with B = 1 up to epsilon = 1.

    Parameters
    ----------
    size : int
        Number N of categories.
    epsilon : number or str
        Of local differential privacy.

    Examples
    --------
    >>> hadamard_response(3, "log(3/2)").exact_matrix.weights
    ((3, 2, 3, 2), (3, 3, 2, 2), (3, 2, 2, 3))
    """
    N, given = checked(size, epsilon)
    e = given.exp_down
    blocks = 1 << (min(math.floor(e), 2 * N).bit_length() - 1)
    within = 1 << math.ceil(N / blocks).bit_length()  # its rows but the first are enough for N / blocks categories
    check_outputs("Hadamard response", N, blocks * within)
    supports = np.zeros((N, blocks * within), dtype=bool)
    for symbol in range(N):
        block, row = divmod(symbol, within - 1)
        inside = [(y & (row + 1)).bit_count() % 2 == 0 for y in range(within)]
        supports[symbol, block * within : (block + 1) * within] = inside
    return Baseline.of("Hadamard response", given, of_supports(supports.tolist(), e), _ACHARYA)


def block_design(size: int, epsilon: object, blocks: Sequence[Sequence[int]] | None = None) -> Baseline:
    """Return a block design: few sets, of which any two categories share as many as any other two.

    Park, Nam and Lee, "Exactly optimal and communication-efficient private estimation via block designs" (arXiv
    2305.01261). At a uniform prior its estimates are as good as those of subset selection with sets of this size, and
    it has as few as N outputs. By default the blocks are the shifts of a difference set modulo N (a projective plane or
    geometry of a prime order, quadratic residues, some others, and their complements), of the size whose estimates are
    best; `subset_selection` is the complete design, which always exists.

    Parameters
    ----------
    size : int
        Number N of categories.
    epsilon : number or str
        Of local differential privacy.
    blocks : sequence of sequences of int, optional
        The blocks, as positions of categories from 0.

    Raises
    ------
    InputError
        If the blocks are not a design.
    LimitError
        If no difference set for N is known here.

    Examples
    --------
    >>> fano = block_design(7, "log(2)")
    >>> fano.name, fano.matrix.shape
    ('block design of 7 sets of 3', (7, 7))
    """
    N, given = checked(size, epsilon)
    e = given.exp_down
    if blocks is None:
        known = difference_sets(N)
        if not known:
            raise LimitError.no_method(
                f"no difference set modulo {N} is known here; give blocks, or use subset_selection"
            )
        found = shifts(known[_best(list(known), N, given)], N)
    else:
        found = check_design(blocks, N)
    check_outputs("a block design", N, len(found))
    supports = [[symbol in block for block in map(frozenset, found)] for symbol in range(N)]
    name = f"block design of {len(found)} sets of {len(found[0])}"
    return Baseline.of(name, given, of_supports(supports, e), _PARK)


def _best(members: Sequence[int], size: int, epsilon: Epsilon) -> int:
    """Return the number of members whose estimates are best at the uniform prior."""
    return min(members, key=lambda d: least_error_of_sets(size, epsilon.exp_down, d))


def symmetric_unary_encoding(size: int, epsilon: object) -> Baseline:
    """Return symmetric unary encoding: every bit is reported as it is with probability ``s / (s + 1)``, s = exp(eps/2).

    Erlingsson, Pihur and Korolova, "RAPPOR: randomized aggregatable privacy-preserving ordinal response" (2014),
    without its Bloom filter; the name is that of Wang, Blocki, Li and Jha (2017). multi-freq-ldpy and pure-ldp call it
    SUE.

    Parameters
    ----------
    size : int
        Number N of categories, at most 14: the outputs are the 2^N vectors of bits.
    epsilon : number or str
        Of local differential privacy.

    Raises
    ------
    LimitError
        If there are more than 20,000 outputs.

    Examples
    --------
    >>> symmetric_unary_encoding(2, "log(4)").exact_matrix.weights
    ((2, 1, 4, 2), (2, 4, 1, 2))
    """
    N, given = checked(size, epsilon)
    root = root_down(given.exp_down, 2)
    source = "Erlingsson, Pihur and Korolova (2014); Wang and others (2017)"
    return _encoding("symmetric unary encoding", N, given, root, root, source)


def optimized_unary_encoding(size: int, epsilon: object) -> Baseline:
    """Return optimized unary encoding: the bit of the category is 1 with probability 1/2, others with ``1 / (e + 1)``.

    Wang, Blocki, Li and Jha, "Locally differentially private protocols for frequency estimation" (2017).
    multi-freq-ldpy and pure-ldp call it OUE.

    Parameters
    ----------
    size : int
        Number N of categories, at most 14: the outputs are the 2^N vectors of bits.
    epsilon : number or str
        Of local differential privacy.

    Raises
    ------
    LimitError
        If there are more than 20,000 outputs.

    Examples
    --------
    >>> optimized_unary_encoding(2, "log(2)").exact_matrix.weights
    ((2, 1, 2, 1), (2, 2, 1, 1))
    """
    N, given = checked(size, epsilon)
    source = "Wang, Blocki, Li and Jha (2017)"
    return _encoding("optimized unary encoding", N, given, Fraction(1), given.exp_down, source)


def _encoding(name: str, size: int, epsilon: Epsilon, own: Fraction, other: Fraction, source: str) -> Baseline:
    """Return the encoding that keeps the bit of the category with odds ``own``, and any other with odds ``other``."""
    check_outputs(name, size, 2**size)
    kept, turned = other.numerator, other.denominator
    vectors = list(product((0, 1), repeat=size))
    ones = [sum(bits) for bits in vectors]
    weights = []
    for symbol in range(size):
        row = []
        for bits, count in zip(vectors, ones, strict=True):
            others = count - bits[symbol]
            mine = own.numerator if bits[symbol] else own.denominator
            row.append(mine * turned**others * kept ** (size - 1 - others))
        weights.append(tuple(row))
    outputs = tuple("".join(map(str, bits)) for bits in vectors)
    return Baseline.of(name, epsilon, tuple(weights), source, outputs)
