"""Any mechanism, whatever it leaks, beside the best one that leaks no more."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.comparison.analysis import Analysis, worst_place
from mechdesign.comparison.given import value_of
from mechdesign.data.checks import check_kind
from mechdesign.errors import InputError, SolverError
from mechdesign.mechanism import ExactMatrix, Mechanism
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.row_relations import row_relations
from mechdesign.optimize import Design, design
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.set_or_prior import set_or_prior
from mechdesign.utility import MutualInformation, Objective, utility_by_name, utility_names
from mechdesign.utility.query_variances import variances_of_integers, variances_of_matrix

_BITS = 128  # of an epsilon that is not written exactly
_SHORT = 2**_BITS
_GREATEST = Fraction(10) ** 304  # exp(epsilon) of a design


def analyze(
    matrix: Any,
    uncertainty: Any = None,
    utility: Objective | None = None,
    *,
    optimum: bool = True,
    time_limit: float | None = None,
    name: str = "",
    progress: Callable[[str], None] | None = None,
) -> Analysis:
    """Say what any mechanism leaks, what it is worth, and what is possible at its leakage.

    The leakage is computed in exact arithmetic. The best mechanism that leaks no more over the same priors is designed
    and stands beside it with its certificate.

    Parameters
    ----------
    matrix : array, DataFrame, Mechanism, Design, Baseline or ExactMatrix
        The mechanism, shape (N, M). Rows may miss 1 by 1e-9 and count as weights; floats are the rationals that they
        are, and texts what they state (see `mechdesign.mechanism.ExactMatrix.of`). It may leak anything.
    uncertainty : UncertaintySet, list, mapping or pandas Series, optional
        The priors, or one prior alone. By default those of the guarantee, for a `Mechanism`.
    utility : Objective, optional
        What the mechanism is compared with the optimum by; mutual information by default, or for a `Mechanism` the
        objective of its claim of optimality.
    optimum : bool
        Whether the optimum is designed, which takes by far the longest.
    time_limit : float, optional
        Seconds for the design, as for `mechdesign.design`.
    name : str
        For tables.
    progress : callable, optional
        Called with one line whenever a longer step begins.

    Raises
    ------
    InputError
        If the matrix is not a mechanism on the categories of the set, or the utility is for other categories.
    LimitError
        If the matrix is too large for exact arithmetic.

    Examples
    --------
    >>> import mechdesign as md
    >>> ball = md.L1Ball.from_counts({"a": 812, "b": 150, "c": 38}, delta=1e-9)
    >>> found = md.analyze(md.baselines.k_ary_randomized_response(3, 1), ball)
    >>> round(found.ldp_level, 6), round(found.leakage, 6), found.summary
    (1.0, 1.0, '30.2 % of what is possible at its leakage')
    """
    given = matrix.mechanism if isinstance(matrix, Design) else matrix
    exact, known = _aligned(ExactMatrix.of(given, name), given, uncertainty)
    claim = given.optimality if isinstance(given, Mechanism) else None
    asked = utility if utility is not None else claim.utility if claim is not None else MutualInformation()
    check_kind(asked, Objective, "the utility", "a Utility such as MutualInformation()")
    asked.check_size(known.size)
    wanted = asked.aligned_with(known.labels)
    if progress is not None:
        progress("computing the leakage of every output in exact arithmetic")
    ratios = exact.ratios(known)
    place = worst_place(ratios)
    value = value_of(exact, wanted, known)
    best, missing = None, "the optimum was not asked for"
    if optimum:
        best, missing = _best(ratios, known, wanted, time_limit, progress)
    return Analysis(
        matrix=exact,
        uncertainty=known,
        utility=wanted,
        value=value,
        ratios=ratios,
        least_lifts=exact.least_lifts(known),
        worst_prior=known.exact_worst_prior(exact.column(place)),
        utilities=_utilities(exact, known),
        variances=_variances(exact, known),
        groups=_groups(exact, known.labels),
        best=best,
        best_missing=missing,
    )


def _aligned(exact: ExactMatrix, given: Any, uncertainty: Any) -> tuple[ExactMatrix, UncertaintySet]:
    """Return the matrix on the categories of the set of priors, and the set."""
    if uncertainty is None:
        if not isinstance(given, Mechanism):
            raise InputError.missing_argument(
                "there is no uncertainty; give a set of priors, or one prior, on which leakage depends"
            )
        return exact, given.guarantee.uncertainty
    known = set_or_prior(uncertainty, exact.inputs)
    return exact.on_alphabet_of(known), known


def _best(
    ratios: tuple[Fraction | None, ...],
    known: UncertaintySet,
    utility: Objective,
    time_limit: float | None,
    progress: Callable[[str], None] | None,
) -> tuple[Design | None, str]:
    """Return the best mechanism that leaks no more, or the reason why there is none."""
    worst = ratios[worst_place(ratios)]
    if worst is None or worst > _GREATEST:
        all_told = utility.value_over(np.eye(known.size), known)
        size = "infinite" if worst is None else "above 700"
        return (
            None,
            f"nothing to compare with: its leakage is {size}, and the data themselves are worth {all_told:.6g}",
        )
    if worst <= 1:
        return None, f"nothing to compare with: its reports tell nothing{known.protected.about} (leakage 0)"
    try:
        problem = DesignProblem(known, own_epsilon(worst), utility)
        return design(problem, title="the best at the same leakage", time_limit=time_limit, progress=progress), ""
    except SolverError as error:
        return None, f"the optimum was not computed: {error}"


def own_epsilon(ratio: Fraction) -> Epsilon:
    """Return the logarithm of a greatest lift as an epsilon: exactly, or rounded up by a relative 2^-128 of the lift.

    Examples
    --------
    >>> own_epsilon(Fraction(9, 8)).text
    'log(9/8)'
    """
    if max(ratio.numerator, ratio.denominator) < _SHORT:
        return Epsilon.of(f"log({ratio})")
    return Epsilon.of(f"log({Fraction(math.ceil(ratio * _SHORT), _SHORT)})")


def _utilities(exact: ExactMatrix, known: UncertaintySet) -> dict[str, float]:
    """Return every utility that needs no matrix at the reference prior; those for other categories are left out."""
    found = {}
    for name in utility_names(with_matrix=False):
        utility = utility_by_name(name)
        if utility.explained_variance is not None:  # of values that nobody has given
            continue
        try:
            utility.check_size(known.size)
        except InputError:
            continue
        found[name] = value_of(exact, utility, known)
    return found


def _variances(exact: ExactMatrix, known: UncertaintySet) -> Floats:
    """Return n times the variance of each frequency at the reference prior, decided exactly where the matrix is."""
    queries = np.eye(known.size)
    if exact.rounded:
        return variances_of_matrix(exact.matrix, known.prior, queries)
    return variances_of_integers(exact.weights, known.center, queries).each


def _groups(exact: ExactMatrix, labels: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the labels of categories that reports do not tell apart, in groups."""
    relations = None if exact.rounded else row_relations(exact.weights)
    if relations is not None:
        return tuple(tuple(labels[i] for i in group) for group in relations.groups)
    from mechdesign.deploy.identification import identify

    matrix = exact.matrix
    found = identify(matrix[:, matrix.any(axis=0)])
    return tuple(tuple(labels[i] for i in group) for group in found.groups)
