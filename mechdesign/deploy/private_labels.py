"""Labels for training, from private reports: unbiased one-hot targets, and for whom the promise holds.

With the mechanism K, shape (N, M), the law q = P K of the reports, D = diag(q) and ``J = K D^-1 K'``, the rows of
``R = D^-1 K' J^-1`` are unbiased one-hot labels, ``K R = I``, of the least mean noise
``E |R_y - e_x|^2 = tr J^-1 - 1`` (docs/mathematics.md). That is the objective of `EstimationError` but for a constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.checks import check_kind
from mechdesign.errors import InputError
from mechdesign.mechanism import Mechanism
from mechdesign.numerics.arrays import Floats, real_array
from mechdesign.numerics.tolerances import RANK, ROW_SUMS
from mechdesign.utility.query_variances import condition_of

_SCALE = 1000  # the power of 2 by which the least float, times the least numerator, is a number of full precision


@dataclass(frozen=True, eq=False)
class DebiasedLabels:
    """Unbiased one-hot labels of reports.

    Attributes
    ----------
    targets : array, shape (M, N)
        R: the target of a record with report y is row y. Its entries sum to 1, and some are negative.
    noise : float
        The mean squared distance of the target from the one-hot label, at the reference prior.
    """

    targets: Floats
    noise: float

    def values(self, numbers: ArrayLike) -> Floats:
        """Return the unbiased number of each report, shape (M,), for a number of each label, shape (N,)."""
        given = real_array(numbers, "the numbers", "a number for each label")
        if given.shape != self.targets.shape[1:]:
            raise InputError.wrong_size(
                f"the numbers have shape {given.shape}; accepted: {self.targets.shape[1:]}, one for each label"
            )
        result: Floats = self.targets @ given
        return result


def debias_labels(mechanism: Mechanism) -> DebiasedLabels:
    """Return unbiased one-hot labels of the reports of a mechanism, of the least noise at its reference prior.

    A loss that is linear in the target, such as the cross entropy of softmax regression, has the same mean with these
    targets as with the true labels. It has no least value on few records, where targets below 0 let it fall without
    end: add a ridge.

    Raises
    ------
    InputError
        If the reports do not tell some labels apart.

    Examples
    --------
    >>> import mechdesign as md
    >>> ball = md.L1Ball.from_counts([60, 40], known=True)
    >>> found = debias_labels(md.design(md.DesignProblem(ball, "log(3/2)", md.EstimationError())).mechanism)
    >>> round(found.noise, 6)
    1.44
    >>> found.targets.sum(axis=1).round(9)
    array([1., 1.])
    """
    check_kind(mechanism, Mechanism, "the mechanism", "a Mechanism of design or Mechanism.load")
    K, P = mechanism.matrix, mechanism.guarantee.uncertainty.prior
    q = P @ K
    if (q <= 0).any() or condition_of(K, P) * RANK > 1:
        raise InputError.not_identifiable(
            "the reports of the mechanism do not tell all labels apart; design for an EstimationError, or give a "
            "greater epsilon"
        )
    inverse = np.linalg.inv((K / q) @ K.T)
    return DebiasedLabels((K / q).T @ inverse, float(np.trace(inverse)) - 1)


def label_leakage(mechanism: Mechanism, laws: ArrayLike) -> Floats:
    """Return what a report tells at most about the label of each record, to who knows the law of its label.

    The promise of a mechanism is about priors in its set. Who knows all features of a record has the law of a model,
    which often lies outside. For a law Q the leakage is ``max over y, x of log K_xy / <Q, K_y>``, over the reports
    that are possible under Q.

    Parameters
    ----------
    mechanism : Mechanism
        With N inputs.
    laws : array, shape (n, N)
        A law of the label for each record, as ``predict_proba`` of a model gives them, in the order of the inputs.

    Returns
    -------
    array, shape (n,)
        In nats; computed in floats, not proved. `numpy.quantile` of it says how many records are how exposed.

    Raises
    ------
    InputError
        If a row is not a law over the inputs.

    Examples
    --------
    >>> import mechdesign as md
    >>> ball = md.L1Ball.from_counts([60, 40], known=True)
    >>> mechanism = md.design(md.DesignProblem(ball, "log(3/2)", md.EstimationError())).mechanism
    >>> label_leakage(mechanism, [[0.6, 0.4], [0.9, 0.1]]).round(6)
    array([0.405465, 0.693147])
    """
    check_kind(mechanism, Mechanism, "the mechanism", "a Mechanism of design or Mechanism.load")
    K, Q = mechanism.matrix, real_array(laws, "the laws", "a law of the label for each record")
    if Q.ndim != 2 or Q.shape[1] != len(K):
        raise InputError.wrong_size(f"the laws have shape {Q.shape}; accepted: (n, {len(K)}), a row for each record")
    wrong = ~(np.isfinite(Q).all(axis=1) & (Q >= 0).all(axis=1) & (np.abs(Q.sum(axis=1) - 1) <= ROW_SUMS))
    if wrong.any():
        raise InputError.out_of_range(
            f"row {int(np.argmax(wrong)) + 1} of the laws is no law; accepted: probabilities that sum to 1"
        )
    # Probabilities of a law may be the least floats; scaled, their products with K stay numbers, and so do the lifts.
    digits, exponents = np.frexp((Q * 2.0**_SCALE) @ K)
    possible = digits > 0
    with np.errstate(divide="ignore"):
        logs = np.log(K.max(axis=0)) - (np.log(digits) + (exponents - _SCALE) * math.log(2))
    result: Floats = logs.max(axis=1, initial=0.0, where=possible)
    return result


def unprotected_labels(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the labels about which the promise says nothing: reports may tell them for certain.

    Certainty makes a label ``1 / Q_x`` times as likely. Where exp(epsilon) is at least that for every prior Q of the
    set, the promise allows it; a cap for everyone does not. If all labels are returned, the identity keeps the promise.

    Examples
    --------
    >>> import mechdesign as md
    >>> ball = md.L1Ball.from_counts({"<=50K": 37155, ">50K": 11687}, delta=1e-9)
    >>> [unprotected_labels(md.design(md.DesignProblem(ball, epsilon)).mechanism) for epsilon in ("0.2", 1, 2)]
    [(), ('<=50K',), ('<=50K', '>50K')]
    """
    check_kind(mechanism, Mechanism, "the mechanism", "a Mechanism of design or Mechanism.load")
    promised = mechanism.guarantee
    if promised.sides.below is not None:
        return ()
    one = [[int(i == x) for i in range(len(mechanism.inputs))] for x in range(len(mechanism.inputs))]
    least = [promised.uncertainty.exact_support(column) for column in one]
    return tuple(
        label
        for label, mass in zip(mechanism.inputs, least, strict=True)
        if promised.epsilon.exp_down * Fraction(mass) >= 1
    )
