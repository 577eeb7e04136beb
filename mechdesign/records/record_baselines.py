"""What the literature offers for records of many attributes under local differential privacy, by exact errors.

Errors are n times the mean squared error of the estimated frequencies of all values of all attributes, at the laws of
the attributes. Arcolezi, Couchot, Al Bouna and Xiao, "Random sampling plus fake data: multidimensional frequency
estimates with local differential privacy" (CIKM 2021, arXiv 2109.07269), name three: SPL splits the budget over the d
attributes; SMP reports one attribute, drawn at random, with all of it, and says which; RS+FD reports one in this way
among fake values of all others, so that nobody sees which, and takes ``epsilon' = log(d (exp(epsilon) - 1) + 1)`` for
it.

**Theorem (here).** *As a mechanism of the whole record RS+FD is epsilon'-LDP, and no better.* With y reports of all
attributes, ``P(y|x) = (1/d) sum_j p_j(y_j|x_j) prod_(i != j) q_i(y_i)``. Each term, and so the sum, is at most
``exp(epsilon')`` times that of another record. Let p_j be randomized response, and q_i uniform: for x that equals y
everywhere and x' that differs everywhere, every term has this ratio. Let p_j be the optimized unary encoding, and q_i
that of an empty set of bits: for reports y whose bit of the value of x is set in every attribute, and that of the value
of x' is not, likewise. `level` is this level of the whole record. (The stated epsilon is not that of records which
differ in one attribute either: for epsilon = 1 and attributes of 6, 5 and 2 values that is 1.137, by exhaustion.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mechdesign.errors import InputError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import log_up
from mechdesign.optimize.estimation.subset_selection_error import best_members
from mechdesign.uncertainty.prior_set import exact_prior

_SOURCE = "Arcolezi, Couchot, Al Bouna and Xiao (2021)"


@dataclass(frozen=True)
class RecordBaseline:
    """A way to report records of many attributes.

    Attributes
    ----------
    name : str
        The way in words.
    error : float
        Number of reports times the mean squared error, summed over the values of all attributes.
    level : float
        The least epsilon of local differential privacy of the whole record, in nats, rounded up.
    source : str
        Where it is from.
    """

    name: str
    error: float
    level: float
    source: str


def sampled(laws: Sequence[Sequence[float] | Floats], epsilon: object) -> RecordBaseline:
    """Return SMP: one attribute, each as likely, by randomized response or the optimized unary encoding.

    Of the two each attribute takes the one with the lesser error.

    Parameters
    ----------
    laws : sequence of vectors
        The law of each attribute, with two values at least.
    epsilon : number or str
        Above 0.

    Examples
    --------
    >>> round(sampled([[0.5, 0.5], [0.5, 0.5]], "log(3)").error, 9)
    8.0
    """
    given, exp_epsilon = _checked(epsilon)
    found = [_least(law, [_randomized(law.size, exp_epsilon), _unary(exp_epsilon)]) for law in _laws(laws)]
    return RecordBaseline("one attribute, as likely as any other", len(found) * sum(found), _level(given), _SOURCE)


def best_sampled(laws: Sequence[Sequence[float] | Floats], epsilon: object) -> RecordBaseline:
    """Return one attribute by subset selection, each with its best size and weight, with the least errors at the laws.

    The best mechanisms under local differential privacy are those of `design_records` for sets of radius 2; for the
    attributes of Adult they are up to 3 % better.

    Examples
    --------
    >>> round(best_sampled([[0.5, 0.5], [0.5, 0.5]], "log(3)").error, 9)
    8.0
    """
    given, _ = _checked(epsilon)
    roots = [math.sqrt(_subset_error(law, given)) for law in _laws(laws)]
    return RecordBaseline(
        "one attribute by subset selection, with the best weights", sum(roots) ** 2, _level(given), "this package"
    )


def split(laws: Sequence[Sequence[float] | Floats], epsilon: object) -> RecordBaseline:
    """Return SPL: every attribute, each with an equal part of epsilon, by subset selection as in `best_sampled`.

    Examples
    --------
    >>> round(split([[0.5, 0.5], [0.5, 0.5]], "2").error, 6)  # each bit: (e + 1)^2/(e - 1)^2/2
    4.682694
    """
    given, _ = _checked(epsilon)
    if given.exponent is None:
        raise InputError.epsilon_out_of_range(
            f"epsilon is {given.text}, and is to be split; accepted: a number or a decimal, without log"
        )
    vectors = _laws(laws)
    part = Epsilon.of(given.exponent / len(vectors))
    error = sum(_subset_error(law, part) for law in vectors)
    return RecordBaseline("every attribute, with a part of epsilon", error, _level(given), _SOURCE)


def sampled_with_fakes(
    laws: Sequence[Sequence[float] | Floats], epsilon: object, *, whole_record: bool = False
) -> RecordBaseline:
    """Return RS+FD: one attribute by randomized response or unary encoding, fake values of all others.

    Each attribute takes randomized response with uniform fakes, or the optimized unary encoding with fakes of an empty
    set of bits, whichever has the lesser error.

    Parameters
    ----------
    laws, epsilon
        As for `sampled`.
    whole_record : bool
        Whether epsilon is the level of the whole record. By default it is that of the paper, and `level` is larger.

    Examples
    --------
    >>> found = sampled_with_fakes([[0.5, 0.5]] * 3, 1)
    >>> round(found.level, 3), round(sampled_with_fakes([[0.5, 0.5]] * 3, 1, whole_record=True).level, 3)
    (1.817, 1.0)
    """
    given, exp_epsilon = _checked(epsilon)
    vectors = _laws(laws)
    d = len(vectors)
    inner = exp_epsilon if whole_record else d * (exp_epsilon - 1) + 1
    found = []
    for law in vectors:
        response, encoding = _randomized(law.size, inner), _unary(inner)
        found.append(min(_error(law, *response, d, 1 / law.size), _error(law, *encoding, d, encoding[1])))
    level = _level(given) if whole_record else log_up(d * (given.exp_up - 1) + 1)
    return RecordBaseline("one attribute among fake values of the others", sum(found), level, _SOURCE)


STRATEGIES: Mapping[str, Callable[..., RecordBaseline]] = {
    "sampled": sampled,
    "best-sampled": best_sampled,
    "split": split,
    "sampled-with-fakes": sampled_with_fakes,
}
"""The strategies by their names."""


def _checked(epsilon: object) -> tuple[Epsilon, float]:
    given = Epsilon.of(epsilon)
    if given.exp_down == 1:
        raise InputError.epsilon_out_of_range(
            f"epsilon is {given.text}, for which reports may tell nothing; give one above 0"
        )
    return given, float(given.exp_down)


def _level(epsilon: Epsilon) -> float:
    return log_up(epsilon.exp_up)


def _laws(laws: Sequence[Sequence[float] | Floats]) -> list[Floats]:
    found = [np.array([float(share) for share in exact_prior(list(law), "a law")]) for law in laws]
    if not found:
        raise InputError.nothing_given("there are no laws; give that of each attribute")
    return found


def _randomized(size: int, exp_epsilon: float) -> tuple[float, float]:
    """Return the probabilities that a report supports its own value, and another one."""
    return exp_epsilon / (exp_epsilon + size - 1), 1 / (exp_epsilon + size - 1)


def _unary(exp_epsilon: float) -> tuple[float, float]:
    return 0.5, 1 / (exp_epsilon + 1)


def _least(law: Floats, supports: Sequence[tuple[float, float]]) -> float:
    return min(_error(law, own, other) for own, other in supports)


def _error(law: Floats, own: float, other: float, drawn_of: int = 1, fake: float = 0.0) -> float:
    """Return n times the variances of ``(supports/n - their mean without the value) d/(own - other)``, summed."""
    supported = (other + law * (own - other)) / drawn_of + (1 - 1 / drawn_of) * fake
    return float((supported * (1 - supported)).sum()) * (drawn_of / (own - other)) ** 2


def _subset_error(law: Floats, epsilon: Epsilon) -> float:
    _, covariance = best_members(law, epsilon.exp_down, np.eye(law.size))
    return float(np.trace(covariance))
