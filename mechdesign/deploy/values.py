"""What permanent reports about several values of one id leak together."""

from __future__ import annotations

from fractions import Fraction

from mechdesign.data.checks import whole_number
from mechdesign.errors import InputError
from mechdesign.mechanism import Mechanism
from mechdesign.numerics.exact import float_up, log_up


def leakage_of_values(mechanism: Mechanism, values: int) -> float | None:
    """Return a bound on what all permanent reports about one id leak, by how many different values it has had.

    Permanent reports (`Mechanism.privatize` with a key) about a value that does not change leak what one report does,
    whatever their number. Each further value of the same id is one more report.

    Parameters
    ----------
    mechanism : Mechanism
        What reports are drawn from, under one key and one attribute.
    values : int
        How many different values the id has had, from 1 to the number of inputs; a value that comes back counts once.

    Returns
    -------
    float or None
        In nats, rounded up. For one value it is the leakage of the mechanism over its set of priors. For more it is
        ``values`` times the level of local differential privacy of the mechanism: a bound on the leakage about all
        values together, for every joint prior of them, to somebody who knows *when* the value differed. **When** it
        differed is not protected: two reports that differ tell for certain that their values do. None if there is no
        bound: an output rules a value out (probability 0), so that two reports about values that depend on each other
        may leak without bound, as those of optimal mechanisms often do.

    Raises
    ------
    InputError
        For a number of values that the mechanism cannot have.

    See Also
    --------
    Mechanism.repeated : several *independent* reports about one value: under several keys, or several draws without a
        key. It is no bound for different values, which may depend on each other in any way.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign import Guarantee, L1Ball
    >>> promise = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2))
    >>> warner = Mechanism(np.array([[3, 1], [1, 3]]), 2, promise)
    >>> [round(leakage_of_values(warner, values), 6) for values in (1, 2)]
    [1.098612, 2.197225]
    >>> one_out = Mechanism(np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]]), 1, Guarantee(1, L1Ball(["1/3"] * 3)))
    >>> print(leakage_of_values(one_out, 2))
    None
    """
    symbols = len(mechanism.inputs)
    if whole_number(values, "the number of values", 1) > symbols:
        raise InputError(f"the number of values is {values}; accepted: at most {symbols}, as many as there are inputs")
    if values == 1:
        return mechanism.leakage
    numerators = mechanism.numerators
    if not numerators.all():
        return None
    most, least = numerators.max(axis=0).tolist(), numerators.min(axis=0).tolist()
    return float_up(values * Fraction(log_up(max(map(Fraction, most, least)))))
