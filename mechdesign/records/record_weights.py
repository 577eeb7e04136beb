"""How often each view is drawn. Weights have no part in privacy; they part the reports among the queries.

Views of different attributes with errors E_i have together the error ``sum value_i E_i / w_i``, which is least for
``w_i ~ sqrt(value_i E_i)`` (Cauchy and Schwarz), where it is ``(sum sqrt(value_i E_i))^2``. Each to its own target
``tau_i`` needs ``n = sum E_i / tau_i`` reports, with ``w_i ~ E_i / tau_i``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from mechdesign.errors import InputError, shorten


def best_shares(errors: Sequence[float], values: Sequence[float] | None = None) -> tuple[float, ...]:
    """Return the shares of reports with the least error of all views together.

    Parameters
    ----------
    errors : sequence of float
        E_i, n times the mean squared error of view i where all reports are about it.
    values : sequence of float, optional
        What a squared error of each view counts; by default 1.

    Examples
    --------
    >>> best_shares([1.0, 9.0])
    (0.25, 0.75)
    """
    worth = [1.0] * len(errors) if values is None else values
    return _parted([math.sqrt(value * error) for value, error in zip(worth, errors, strict=True)])


def shares_for_targets(errors: Sequence[float], targets: Sequence[float]) -> tuple[float, ...]:
    """Return the shares with which every view has its mean squared error from the fewest reports.

    Parameters
    ----------
    errors : sequence of float
        E_i.
    targets : sequence of float
        tau_i, the mean squared error that is wanted, summed over the queries of view i.

    Examples
    --------
    >>> shares_for_targets([1.0, 9.0], [0.01, 0.03])
    (0.25, 0.75)
    """
    return _parted([error / target for error, target in zip(errors, targets, strict=True)])


def wanted_squares(queries: Mapping[str, int], targets: Mapping[str, Any]) -> list[float]:
    """Return the squared error that is wanted of each view, summed over its queries.

    Parameters
    ----------
    queries : mapping from name of a view to int
        How many queries it has.
    targets : mapping from name of a view to a standard error
        One for each view.

    Raises
    ------
    InputError
        For views without a target, targets of other views, and targets that are not above 0.

    Examples
    --------
    >>> wanted_squares({"sex": 2, "race": 5}, {"race": 0.1, "sex": 0.5})
    [0.5, 0.05000000000000001]
    """
    if set(targets) != set(queries):
        raise InputError.labels_differ(
            f"there are targets for {shorten(sorted(targets))}; accepted: one for each of {shorten(list(queries))}"
        )
    for name, target in targets.items():
        if isinstance(target, bool) or not isinstance(target, int | float) or not 0 < target < math.inf:
            raise InputError.out_of_range(f"the target of {name} is {shorten(target)}; give a standard error above 0")
    return [count * float(targets[name]) ** 2 for name, count in queries.items()]


def error_of_shares(errors: Sequence[float], shares: Sequence[float], values: Sequence[float] | None = None) -> float:
    """Return ``sum value_i E_i / w_i``.

    Examples
    --------
    >>> error_of_shares([1.0, 9.0], [0.25, 0.75])
    16.0
    """
    worth = [1.0] * len(errors) if values is None else values
    return math.fsum(value * error / share for value, error, share in zip(worth, errors, shares, strict=True))


def whole_weights(shares: Sequence[float | Fraction], bits: int) -> tuple[int, ...]:
    """Return shares as whole numbers from 1 that sum to 2^bits, by the largest remainders.

    Parameters
    ----------
    shares : sequence of numbers
        Above 0; they are divided by their sum.
    bits : int
        2^bits is at least the number of shares.

    Raises
    ------
    InputError
        For a share that is not above 0, or more shares than 2^bits.

    Examples
    --------
    >>> whole_weights([0.25, 0.75], 4), whole_weights([1, 1, 1], 2), whole_weights([1e-9, 1], 3)
    ((4, 12), (2, 1, 1), (1, 7))
    """
    for share in shares:
        if isinstance(share, bool) or not 0 < share < math.inf:
            raise InputError.out_of_range(f"a weight is {shorten(share)}; accepted: numbers above 0")
    if len(shares) > 1 << bits:
        raise InputError.wrong_sum(f"{len(shares)} weights cannot sum to 2^{bits}; give more bits")
    exact = [Fraction(share) for share in shares]
    unit = Fraction(1 << bits) / sum(exact)
    exact = [share * unit for share in exact]
    weights = [max(1, math.floor(each)) for each in exact]
    left = (1 << bits) - sum(weights)
    order = sorted(range(len(exact)), key=lambda place: weights[place] - exact[place])
    for place in order[: max(left, 0)]:
        weights[place] += 1
    while left < 0:  # shares below a unit were raised to it: the greatest weights pay
        place = max(range(len(weights)), key=weights.__getitem__)
        paid = min(-left, weights[place] - 1)
        weights[place], left = weights[place] - paid, left + paid
    return tuple(weights)


def _parted(sizes: Sequence[float]) -> tuple[float, ...]:
    total = math.fsum(sizes)
    return tuple(size / total for size in sizes)
