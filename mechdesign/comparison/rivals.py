"""The mechanisms that stand beside that of a problem: randomized response, subset selection, the best under LDP.

Here alone they are computed. Comparisons, plans of reports, pages and sweeps take their rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from mechdesign.comparison.row import Compared
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.mechanism import Guarantee, Mechanism
from mechdesign.numerics.arrays import frozen
from mechdesign.optimize import Design, design
from mechdesign.optimize.closed_form import randomized_response
from mechdesign.optimize.estimation import subset_selection_error
from mechdesign.optimize.estimation.solver import workload_of
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import L1Ball
from mechdesign.utility import Objective
from mechdesign.utility.query_variances import variances_of_covariance, variances_of_integers

WEAKER_THAN_LDP: Final = (
    "The promise under PML is weaker than that under local differential privacy (LDP): it is for priors in the set, "
    "one report may exclude categories, and fresh reports about one record add up, without a limit."
)
"""It stands wherever an error under PML stands beside one under LDP, in Python, on the command line and in files."""

TWO_SIDED_BESIDE_LDP: Final = (
    "The promise on both sides is weaker than local differential privacy (LDP) with the same epsilon: it is for priors "
    "in the set. For every prior it implies LDP with the sum of epsilon and lower, and no more."
)
"""The same for a promise on both sides, under which no report excludes a category."""

CAPPED_BESIDE_LDP: Final = (
    "The promise with a cap is weaker than local differential privacy (LDP) with the same epsilon: epsilon is for "
    "priors in the set, and for every other prior the mechanism keeps LDP with the cap."
)
"""The same for a promise with a cap."""

ONE_ATTRIBUTE_BESIDE_LDP: Final = (
    "The promise about a secret is weaker than local differential privacy (LDP), under which the whole record is "
    "protected: it is about the secret alone, for the joint distributions of the guarantee, and reports may tell all "
    "else about a record."
)
"""The same for a promise about a secret."""

CAPPED_ATTRIBUTE_BESIDE_LDP: Final = (
    "The promise about a secret with a cap is weaker than local differential privacy (LDP) with the same epsilon: "
    "epsilon is about the secret alone, for the joint distributions of the guarantee, and for all else about a record "
    "the mechanism keeps LDP with the cap."
)
"""The same for a promise about a secret with a cap."""


@dataclass(frozen=True)
class Rivals:
    """Mechanisms beside that of a problem, each a row that is computed when it is asked for.

    Attributes
    ----------
    problem : DesignProblem
        Its promise is kept by all of them, and its objective is what they are measured by, at the same reference prior
        or over the same priors. Both sides of its promise are above 0 where subset selection is asked for.
    time_limit, progress
        As for `mechdesign.design`, for each design.

    Examples
    --------
    >>> import mechdesign as md
    >>> rivals = Rivals(md.DesignProblem(md.L1Ball(["1/6"] * 6, radius="0.1"), 1, md.EstimationError()))
    >>> [row.value_in_words for row in (rivals.best_ldp(), rivals.subset_selection(), rivals.randomized_response())]
    ['15.7086', '15.7086', '16.814']
    """

    problem: DesignProblem
    time_limit: float | None = None
    progress: Callable[[str], None] | None = None

    @cached_property
    def objective(self) -> Objective:
        """What all are measured by: a least utility is over the priors of the problem, also for LDP mechanisms."""
        return self.problem.utility.over_priors_of(self.problem.uncertainty)

    @property
    def local_problem(self) -> DesignProblem:
        """The problem of the best mechanism under LDP, at the greatest epsilon that implies the promise."""
        known = self.problem.uncertainty
        everything = L1Ball(known.center, 2, known.labels)
        return DesignProblem(everything, self.problem.local_epsilon, self.objective)

    def row(
        self, key: str, name: str, mechanism: Mechanism, *, value: float | None = None, local: bool = False
    ) -> Compared:
        """Return the row of a mechanism, whose value may be known already: a least utility may take long."""
        known, weights = self.problem.uncertainty, mechanism.numerators
        local = local or known.holds_every_prior
        if self.problem.utility.estimation is None:
            value = self.objective.value_of_integers(weights, known) if value is None else value
            return Compared(key, name, value, local=local, mechanism=mechanism)
        variances = frozen(variances_of_integers(weights, known.center, workload_of(self.problem)).each)
        return Compared(key, name, float(variances.sum()), local=local, mechanism=mechanism, variances=variances)

    def optimum(self, key: str, name: str, problem: DesignProblem, *, tol: float | None = None) -> Compared:
        """Return the row of the best mechanism of a problem with the objective by which rows are measured."""
        found, missing = self._designed(problem, tol=tol)
        local = problem.uncertainty.holds_every_prior
        if found is None:
            return Compared(key, name, None, missing=missing, local=local)
        row = self.row(key, name, found.mechanism, value=found.value, local=local)
        return replace(row, design=found, bound=found.bound, certified=found.certified)

    def best_ldp(self, *, tol: float | None = None) -> Compared:
        """Return the best mechanism under local differential privacy."""
        return self.optimum("best_ldp", "best LDP mechanism", self.local_problem, tol=tol)

    def best_for(self, key: str, name: str, utility: Objective) -> Compared:
        """Return the best mechanism with the same guarantee for another objective."""
        found, missing = self._designed(self.problem.with_utility(utility))
        if found is None:
            return Compared(key, name, None, missing=missing)
        return replace(self.row(key, name, found.mechanism), design=found)

    def randomized_response(self) -> Compared:
        """Return k-ary randomized response."""
        mechanism = randomized_response_of(self.local_problem)
        return self.row("k_ary_randomized_response", "k-ary randomized response", mechanism, local=True)

    def subset_selection(self) -> Compared:
        """Return subset selection (Ye and Barg) with the size of its sets that is best at the reference prior.

        Raises
        ------
        InputError
            If the objective is not an estimation error.
        """
        known, e, workload = self.problem.uncertainty, self.problem.local_epsilon.exp_down, workload_of(self.problem)
        key, name = "subset_selection", "subset selection"
        try:
            members, covariance = subset_selection_error.best_members(known.prior, e, workload)
        except LimitError as error:
            return Compared(key, name, None, missing=str(error), local=True)
        name += f" of {members} categor{'y' if members == 1 else 'ies'}"
        variances = frozen(variances_of_covariance(covariance, workload))
        return Compared(key, name, float(variances.sum()), local=True, variances=variances, members=members)

    def _designed(self, problem: DesignProblem, **options: Any) -> tuple[Design | None, str]:
        return design_or_reason(problem, time_limit=self.time_limit, progress=self.progress, **options)


def randomized_response_of(problem: DesignProblem) -> Mechanism:
    """Return k-ary randomized response as a proved mechanism, for a problem over all priors.

    Raises
    ------
    InputError
        For another set of priors.
    """
    known, epsilon = problem.uncertainty, problem.local_epsilon
    if not known.holds_every_prior:
        raise InputError.set_not_accepted(
            f"the priors are {shorten(known)}; accepted: all priors, an L1Ball of radius 2"
        )
    matrix = randomized_response.mechanism(known.size, epsilon.exp_down, in_floats=True)
    return Mechanism.from_matrix(matrix, Guarantee(epsilon, known))


def design_or_reason(problem: DesignProblem, **options: Any) -> tuple[Design | None, str]:
    """Return a design; where a limit is reached, None and the reason."""
    try:
        return design(problem, **options), ""
    except LimitError as error:
        return None, str(error)


def problem_of(compared: object, what: str) -> DesignProblem:
    """Return a problem, that of a design, or the one that a mechanism's guarantee and claim of optimality are about.

    Without a claim, the objective is mutual information.

    Parameters
    ----------
    compared : DesignProblem, Design or Mechanism
    what : str
        What is done with it, for the message.

    Raises
    ------
    InputError
        For an object of another type.
    """
    if isinstance(compared, DesignProblem):
        return compared
    if isinstance(compared, Design):
        return compared.problem
    if not isinstance(compared, Mechanism):
        raise InputError.wrong_type(
            f"what is {what} is {shorten(compared)}; give a DesignProblem, a Design or a Mechanism"
        )
    promised, claim = compared.guarantee, compared.optimality
    utility = None if claim is None else claim.utility
    return DesignProblem(promised.uncertainty, promised.sides, utility)


def weaker_promise(problem: DesignProblem, *, of_errors: bool = True) -> str | None:
    """Return what a promise lacks beside one under local differential privacy; None for one that lacks nothing.

    Beside utilities, not errors, it is said of promises about a secret alone.
    """
    if problem.uncertainty.holds_every_prior:
        return None
    if problem.uncertainty.protected.names is not None:
        return ONE_ATTRIBUTE_BESIDE_LDP if problem.cap is None else CAPPED_ATTRIBUTE_BESIDE_LDP
    if not of_errors:
        return None
    if problem.cap is not None:
        return CAPPED_BESIDE_LDP
    return WEAKER_THAN_LDP if problem.lower is None else TWO_SIDED_BESIDE_LDP
