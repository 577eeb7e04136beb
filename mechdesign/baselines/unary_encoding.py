"""Unary encodings: a bit for each symbol, each turned or not with a probability of its own."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from mechdesign.baselines.baseline import Baseline, check_outputs, checked
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import root_down


def symmetric_unary_encoding(size: int, epsilon: object) -> Baseline:
    """Return symmetric unary encoding: every bit is reported as it is with probability ``s / (s + 1)``, s = exp(eps/2).

    Erlingsson, Pihur and Korolova, "RAPPOR: randomized aggregatable privacy-preserving ordinal response" (2014),
    without its Bloom filter; the name is that of Wang, Blocki, Li and Jha (2017). multi-freq-ldpy and pure-ldp call it
    SUE.

    Parameters
    ----------
    size : int
        Number N of symbols, at most 14: the outputs are the 2^N vectors of bits.
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
    """Return optimized unary encoding: the bit of the symbol is 1 with probability 1/2, any other with ``1 / (e + 1)``.

    Wang, Blocki, Li and Jha, "Locally differentially private protocols for frequency estimation" (2017).
    multi-freq-ldpy and pure-ldp call it OUE.

    Parameters
    ----------
    size : int
        Number N of symbols, at most 14: the outputs are the 2^N vectors of bits.
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
    """Return the encoding that keeps the bit of the symbol with odds ``own``, and any other with odds ``other``."""
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
