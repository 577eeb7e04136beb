"""Mechanisms made from mechanisms: post-processing, products for two attributes, repeated reports about one record.

All three keep to exact arithmetic where privacy is at stake. Post-processing never raises the leakage: a column of the
result is a nonnegative combination of columns, and ``max v / h(v)`` of a sum is at most the greatest of the terms,
because the maximum is sublinear and h superlinear. The epsilons of two attributes add up, by the support function of
`mechdesign.uncertainty.ProductSet`. For repeated reports, columns are multiplied entry by entry. Their leakage follows
no such rule, and is computed from the integers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product as pairs
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.data.labelled import aligned_rows, table
from mechdesign.data.labels import canonical_label, joined_labels
from mechdesign.display.numbers import text_near
from mechdesign.errors import GuaranteeError, InputError, LimitError, shorten
from mechdesign.mechanism.claims import Parts, Provenance
from mechdesign.mechanism.from_floats import from_own_floats, row_stochastic, with_outputs
from mechdesign.mechanism.proof import MOST_BITS, Guarantee, Integers, Proof, checked_bits
from mechdesign.mechanism.rounding import round_columns
from mechdesign.numerics.arrays import Floats, real_array
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.uncertainty import ProductSet
from mechdesign.uncertainty.sides import Sides
from mechdesign.version import __version__

SEPARATOR = " & "
_BITS = 48
_MOST_OUTPUTS = 10_000  # as many as a mechanism file holds
_MOST_ENTRIES = 10_000_000  # which a file of the greatest size holds
_MOST_TIMES = 200  # the label of a combination names every report

# Post-processing


def then(
    mechanism: Parts,
    proof: Proof,
    post: Mapping[object, object] | ArrayLike,
    *,
    outputs: Sequence[str] | None = None,
    bits: int | None = None,
) -> Parts:
    """Return the parts of `Mechanism.then`."""
    if isinstance(post, Mapping):
        if outputs is not None or bits is not None:
            raise InputError.needless_argument(
                f"outputs {shorten(outputs)} and bits {shorten(bits)} are given beside a mapping, whose values are the "
                "outputs and which needs no rounding; leave both out"
            )
        return _merged(mechanism, post)
    matrix, names = _stochastic(post, mechanism.outputs, outputs)
    # Rounding keeps this guarantee, whose epsilon is the leakage of the integers, so it cannot raise the leakage.
    sides = mechanism.guarantee.sides.with_numbers(
        _logarithm(_worst(proof)), lambda: _logarithm(1 / min(proof.least_lifts))
    )
    kept = Guarantee(sides, mechanism.guarantee.uncertainty.exact_set)
    processed = from_own_floats(
        mechanism.matrix @ matrix, kept, bits=mechanism.bits if bits is None else bits, outputs=names
    )
    method = f"post-processing of {matrix.shape[0]} outputs by a random map to {matrix.shape[1]}"
    return processed._replace(guarantee=mechanism.guarantee, provenance=_provenance(method, mechanism))


def _merged(mechanism: Parts, mapping: Mapping[object, object]) -> Parts:
    """Return a mechanism in which columns are added up, those of outputs with the same new label."""
    renamed: dict[str, str] = {}
    for old, new in mapping.items():
        label = canonical_label(old)
        if label not in mechanism.outputs:
            raise InputError.unknown_label(
                f"the mapping has {shorten(old)}, which is not an output; accepted: {_some(mechanism.outputs)}"
            )
        if label in renamed:
            raise InputError.label_twice(f"the mapping has the output {shorten(label)} twice; map every output once")
        renamed[label] = canonical_label(new)
    missing = [label for label in mechanism.outputs if label not in renamed]
    if missing:
        raise InputError.labels_differ(
            f"the mapping lacks the output {shorten(missing[0])}; map every output, unchanged ones too"
        )
    names = {name: j for j, name in enumerate(dict.fromkeys(renamed[label] for label in mechanism.outputs))}
    numerators = np.zeros((mechanism.numerators.shape[0], len(names)), dtype=np.int64)
    np.add.at(numerators.T, [names[renamed[label]] for label in mechanism.outputs], mechanism.numerators.T)
    method = f"post-processing of {len(mechanism.outputs)} outputs by a mapping to {len(names)}"
    return Parts(numerators, mechanism.bits, mechanism.guarantee, tuple(names), None, _provenance(method, mechanism))


def _stochastic(
    post: ArrayLike, old: tuple[str, ...], new: Sequence[str] | None
) -> tuple[Floats, tuple[str, ...] | None]:
    """Return a row-stochastic matrix with a row for each old output, each row over its sum, and labels of the new."""
    rows = aligned_rows(post, old, "the post-processing")
    accepted = "a mapping from outputs to labels, or a row-stochastic matrix"
    matrix = real_array(rows, "the post-processing", accepted)
    if matrix.ndim != 2 or matrix.shape[0] != len(old) or matrix.shape[1] == 0:
        raise InputError.wrong_size(
            f"the post-processing has shape {matrix.shape}; accepted: ({len(old)}, K), a row for each output"
        )
    ordered, names = with_outputs(matrix, table(post, "the post-processing").columns, new, "the post-processing")
    return row_stochastic(ordered, "the post-processing"), names


# Two attributes


def product(
    first: Parts, second: Parts, proofs: tuple[Proof, Proof], *, bits: int | None = None, separator: str = SEPARATOR
) -> Parts:
    """Return the parts of `Mechanism.product`."""
    known = ProductSet(first.guarantee.uncertainty.exact_set, second.guarantee.uncertainty.exact_set, separator)
    _check_size(known.size, len(first.outputs) * len(second.outputs), "the product")
    names = joined_labels(pairs(first.outputs, second.outputs), separator)
    (A, a), (B, b) = _lowest_terms(first), _lowest_terms(second)
    chosen = _chosen_bits(bits, a + b)
    guarantee = Guarantee(_sum_of_epsilons(first, second, proofs), known, **_sums_beside(first, second, proofs))
    origin = _provenance("product of two mechanisms", first, second)
    if a + b <= chosen:
        return Parts(np.kron(A, B) << (chosen - a - b), chosen, guarantee, names, None, origin)
    matrix: NDArray[Any] = np.kron(first.matrix, second.matrix)
    return _rounded(matrix, chosen, guarantee, names, origin)


def _sum_of_epsilons(first: Parts, second: Parts, proofs: tuple[Proof, Proof]) -> Epsilon:
    return _sum(first.guarantee.epsilon, second.guarantee.epsilon, _worst(proofs[0]) * _worst(proofs[1]))


def _sums_beside(first: Parts, second: Parts, proofs: tuple[Proof, Proof]) -> dict[str, Epsilon]:
    """Return the number beside epsilon of a product by its name; none unless both mechanisms have one, of one kind.

    A lower and a cap add up to a lower, which a cap implies.
    """
    one, other = first.guarantee.sides, second.guarantee.sides
    if one.maximal_leakage is not None and other.maximal_leakage is not None:
        greatest = proofs[0].sum_of_greatest * proofs[1].sum_of_greatest
        return {"maximal_leakage": _sum(one.maximal_leakage, other.maximal_leakage, greatest)}
    if one.below is None or other.below is None:
        return {}
    name = one.below_name if one.below_name == other.below_name else "lower"
    return {name: _sum(one.below, other.below, 1 / (min(proofs[0].least_lifts) * min(proofs[1].least_lifts)))}


def _sum(first: Epsilon, second: Epsilon, reached: Fraction) -> Epsilon:
    total = first + second
    if reached <= total.exp_down:
        return total
    # Both mechanisms use nearly all that they promise, and the rational below exp of the sum is a little too small.
    return Epsilon.of(f"log({first.exp_down * second.exp_down})")


# Repeated reports about one record


def repeated(mechanism: Parts, times: int, *, bits: int | None = None, separator: str = SEPARATOR) -> Parts:
    """Return the parts of `Mechanism.repeated`; the parts given, if ``times`` is 1 and the bits stay the same."""
    if isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= _MOST_TIMES:
        raise InputError.not_a_whole_number(
            f"times is {shorten(times)}; accepted: a whole number from 1 to {_MOST_TIMES}"
        )
    if not isinstance(separator, str):
        raise InputError.wrong_type(f"the separator is {shorten(separator)}; give a string")
    if times == 1 and (bits is None or bits == mechanism.bits):
        return mechanism
    N, M = mechanism.numerators.shape
    _check_size(N, math.comb(M + times - 1, times), f"{M} outputs, {times} times,")
    numerators, one = _lowest_terms(mechanism)
    exact_set = mechanism.guarantee.uncertainty.exact_set
    chosen, total = _chosen_bits(bits, one * times), 2 ** (one * times)
    exact = one * times <= chosen
    worst, least, greatest = Fraction(1), Fraction(1), Fraction(0)
    combinations: list[list[str]] = []
    columns: list[NDArray[Any]] = []
    for reports, likelihoods in _combinations(numerators.T.tolist(), times):
        combinations.append([mechanism.outputs[j] for j in reports])
        ratio = exact_set.exact_ratio(likelihoods)
        if ratio is None:
            raise GuaranteeError.unbounded_leakage(
                f"the reports {shorten(separator.join(combinations[-1]))} about one record leak without bound: under "
                "some prior of the set only categories of probability 0 can cause them; repeat fewer times, or report "
                "by a mechanism that excludes fewer categories"
            )
        worst = max(worst, ratio)
        if mechanism.guarantee.sides.below is not None:
            least = min(least, mechanism.guarantee.exact_least_lift(likelihoods))
        orders = math.factorial(times) // math.prod(map(math.factorial, Counter(reports).values()))
        greatest += Fraction(orders * max(likelihoods), total)
        if exact:
            columns.append(np.array([orders * x << (chosen - one * times) for x in likelihoods], dtype=np.int64))
        else:
            columns.append(np.array([orders * x / total for x in likelihoods]))
    names = joined_labels(combinations, separator)
    sides = _covering(mechanism.guarantee.sides, worst, least, greatest)
    guarantee = Guarantee(sides, mechanism.guarantee.uncertainty)
    origin = _provenance(f"{times} independent reports about one record", mechanism)
    matrix = np.stack(columns, axis=1)
    if exact:
        return Parts(matrix, chosen, guarantee, names, None, origin)
    return _rounded(matrix, chosen, guarantee, names, origin)


def _combinations(columns: list[list[int]], times: int) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Yield every combination of outputs that can occur, as rising indices, with the product of its columns.

    The column is the likelihood of one order of the reports; all orders have the same.
    """
    open_ends: list[tuple[tuple[int, ...], list[int]]] = [((), [1] * len(columns[0]))]
    while open_ends:
        reports, likelihoods = open_ends.pop()
        if len(reports) == times:
            yield reports, likelihoods
            continue
        for j in reversed(range(reports[-1] if reports else 0, len(columns))):
            longer = [x * y for x, y in zip(likelihoods, columns[j], strict=True)]
            if any(longer):
                open_ends.append(((*reports, j), longer))


# Shared


def _worst(proof: Proof) -> Fraction:
    """Return the greatest ``max v / h(v)`` of any output, which is finite where the guarantee holds."""
    return max(ratio for ratio in proof.ratios if ratio is not None)


def _covering(sides: Sides, worst: Fraction, least: Fraction, greatest: Fraction) -> Sides:
    """Return a promise of the same kind that lifts, and the sum of the greatest entries of all columns, keep."""
    if sides.maximal_leakage is not None:
        return Sides(Epsilon.covering(worst), maximal_leakage=Epsilon.covering(greatest))
    return sides.with_numbers(Epsilon.covering(worst), partial(Epsilon.covering, 1 / least))


def _logarithm(ratio: Fraction) -> Epsilon:
    # Only for rounding, never written to a file: the ratio may have more digits than files hold.
    return Epsilon(f"log({text_near(ratio)})", None, ratio)


def _lowest_terms(mechanism: Parts) -> tuple[Integers, int]:
    """Return the numerators over the least power of two that holds them, and its exponent."""
    union = int(np.bitwise_or.reduce(mechanism.numerators, axis=None))
    spare = (union & -union).bit_length() - 1
    return mechanism.numerators >> spare, mechanism.bits - spare


def _chosen_bits(bits: int | None, exact: int) -> int:
    """Return the bits asked for; otherwise those that hold the result exactly, or 48 where that takes more than 52."""
    if bits is not None:
        return checked_bits(bits)
    return max(exact, 1) if exact <= MOST_BITS else _BITS


def _check_size(symbols: int, outputs: int, what: str) -> None:
    if outputs > _MOST_OUTPUTS or symbols * outputs > _MOST_ENTRIES:
        raise LimitError.too_much_work(
            f"{what} would have {shorten(outputs)} outputs for {symbols} categories; accepted: {_MOST_OUTPUTS} outputs "
            f"and {_MOST_ENTRIES} entries; merge outputs with `then` first"
        )


def _rounded(
    matrix: Floats, bits: int, guarantee: Guarantee, outputs: tuple[str, ...], provenance: Provenance
) -> Parts:
    """Return a mechanism over 2^bits, without outputs that are too rare for the bits."""
    integers = round_columns(matrix, bits, guarantee)
    if integers is None:
        raise LimitError.too_few_bits(
            f"no integers over 2^{bits} close to the exact mechanism keep {guarantee.sides.in_words}; "
            "give more bits, or merge outputs with `then` first"
        )
    occurring = np.flatnonzero(integers.any(axis=0))
    names = tuple(outputs[j] for j in occurring)
    return Parts(np.ascontiguousarray(integers[:, occurring]), bits, guarantee, names, None, provenance)


def _provenance(method: str, *mechanisms: Parts) -> Provenance:
    titles = (mechanism.provenance.problem for mechanism in mechanisms if mechanism.provenance is not None)
    return Provenance(__version__, method, SEPARATOR.join(title for title in titles if title))


def _some(labels: Sequence[str], most: int = 5) -> str:
    return ", ".join(map(shorten, labels[:most])) + (f" and {len(labels) - most} more" if len(labels) > most else "")
