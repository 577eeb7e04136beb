"""How much the leakage of a mechanism grows when the prior changes within a set (ED Definition 6)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import mul

from numpy.typing import ArrayLike

from mechdesign.errors import InputError
from mechdesign.pml.capacity import WorstCase, columns_over, worst_case
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.prior_set import exact_prior


def _columns_and_means(
    matrix: ArrayLike, prior: Sequence[object], uncertainty: UncertaintySet
) -> tuple[list[list[int]], list[Fraction]]:
    """Return columns of integers and their means at the reference prior, which must lie in the set."""
    columns = columns_over(matrix, uncertainty)
    P = exact_prior(prior, labels=uncertainty.labels)
    if not uncertainty.contains(P):
        raise InputError.prior_outside_set(
            "the reference prior lies outside the uncertainty set; give a member, such as its center"
        )
    means = [sum(map(mul, P, v), Fraction(0)) for v in columns]
    for j, (v, mean) in enumerate(zip(columns, means, strict=True)):
        if mean == 0 and any(v):
            raise InputError.never_occurs(
                f"output {j + 1} has probability 0 at the reference prior, where its leakage is infinite; "
                "give a prior of full support"
            )
    return columns, means


def leakage_sensitivity(matrix: ArrayLike, prior: Sequence[object], uncertainty: UncertaintySet) -> WorstCase:
    """Return the greatest growth of the leakage of a mechanism from a prior to another in a set (ED Definition 6).

    ``S_P = sup over Q in B of ( epsilon_min(Q) - epsilon_min(P) )``, in nats. Since ``epsilon_min(P)`` does not depend
    on Q, it is the leakage capacity over B minus ``epsilon_min(P)``; since P lies in B it is never negative. The output
    and the prior that attain the capacity attain this growth too.

    ED writes after Theorem 4 that it equals the greatest ``D_inf(P_Y || Q_Y)``. That is `output_sensitivity`, which
    is never smaller, and is larger where the output whose probability may fall most is not the one that leaks most.
    Both are equal if all outputs have the same leakage at P, as for extremal mechanisms (ED eq. 12).

    Parameters
    ----------
    matrix : array, shape (N, M)
        A mechanism; floats are read as the decimals that they print as.
    prior : sequence of N numbers
        The reference prior P, a member of the set.
    uncertainty : UncertaintySet
        The set B.

    Returns
    -------
    WorstCase
        Computed in rational arithmetic, the value rounded up.

    Raises
    ------
    InputError
        If the matrix is not a mechanism on the categories of the set, the prior lies outside it, or an output that can
        occur has probability 0 at the prior.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> ball = L1Ball([0.9, 0.1], radius="0.1")
    >>> found = leakage_sensitivity([[0.2, 0.8], [0, 1]], ball.center, ball)  # log(82/81)
    >>> round(found.value, 6), found.output, found.prior
    (0.01227, 1, array([0.95, 0.05]))
    """
    columns, means = _columns_and_means(matrix, prior, uncertainty)
    here = max(max(v) / mean for v, mean in zip(columns, means, strict=True) if mean > 0)
    ratio, output, witness = worst_case(columns, [max(v) for v in columns], uncertainty)
    return WorstCase.of_ratio(None if ratio is None else ratio / here, output, witness)


def output_sensitivity(matrix: ArrayLike, prior: Sequence[object], uncertainty: UncertaintySet) -> WorstCase:
    """Return the greatest fall of the log-probability of an output from a prior to another in a set.

    ``max over Q in B of D_inf(P_Y || Q_Y) = max_y log( <P, v> / h(v) )``, in nats: the second term of ED eq. (29), the
    quantity drawn in ED Figure 2, and the one that Theorem 4 bounds in its proof. It bounds the growth of the leakage
    of *every* output, whereas `leakage_sensitivity` concerns the greatest leakage only; so it is never smaller. The
    greatest leakage over the set is ``epsilon_min(P) + leakage_sensitivity``, which is at most
    ``epsilon_min(P) + output_sensitivity``.

    Parameters
    ----------
    matrix, prior, uncertainty
        As for `leakage_sensitivity`.

    Returns
    -------
    WorstCase
        Rounded as that of `leakage_sensitivity`, which also says what is refused.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> ball = L1Ball([0.9, 0.1], radius="0.1")
    >>> found = output_sensitivity([[0.2, 0.8], [0, 1]], ball.center, ball)  # log(18/17)
    >>> round(found.value, 6), found.output, found.prior
    (0.057158, 0, array([0.85, 0.15]))
    """
    columns, means = _columns_and_means(matrix, prior, uncertainty)
    return WorstCase.of_ratio(*worst_case(columns, means, uncertainty))
