"""A design compared with mechanisms under local differential privacy: randomized response, subset selection, the best.

Errors of estimates are also compared in respondents: the error falls as 1/n, so that a mechanism of twice the error
needs twice the reports for the same error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.mechanism import Guarantee, Mechanism
from mechdesign.numerics.arrays import Floats, frozen
from mechdesign.optimize.beside import Beside, besides
from mechdesign.optimize.closed_form import randomized_response
from mechdesign.optimize.comparison_rows import Compared, frame_of, html_of, rows_of, text_of
from mechdesign.optimize.designer import design
from mechdesign.optimize.estimation import subset_selection
from mechdesign.optimize.estimation.solver import workload_of
from mechdesign.optimize.estimation.variances import variances_of_covariance
from mechdesign.optimize.result import Design
from mechdesign.pml.promise import ONE_ATTRIBUTE_BESIDE_LDP, TWO_SIDED_BESIDE_LDP, WEAKER_THAN_LDP
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import L1Ball
from mechdesign.utility import MutualInformation, Objective

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class SubsetSelection:
    """Subset selection (Ye and Barg) with the size of its sets that is best at the reference prior.

    Attributes
    ----------
    members : int
        Symbols in each set.
    variances : array, shape (q,)
        n times the variance of the estimated answer of each query from n reports.
    """

    members: int
    variances: Floats

    @property
    def name(self) -> str:
        """The mechanism in words."""
        return f"subset selection of {self.members} symbol{'' if self.members == 1 else 's'}"

    @property
    def value(self) -> float:
        """The estimation error: the sum of the variances."""
        return float(self.variances.sum())


@dataclass(frozen=True)
class ErrorsBeside:
    """What is compared beside an estimation error alone.

    Attributes
    ----------
    subset_selection : SubsetSelection or None
        None if there are too many symbols.
    subset_selection_missing : str
        The reason; empty if there is one.
    best_for_information : Design or None
        The design of greatest mutual information with the same guarantee; None if it cannot be computed.
    best_for_information_error : float or None
        Its estimation error; infinite where its reports do not determine the answers.
    best_for_information_missing : str
        The reason why there is no such design; empty if there is one.
    """

    subset_selection: SubsetSelection | None
    subset_selection_missing: str
    best_for_information: Design | None
    best_for_information_error: float | None
    best_for_information_missing: str


@dataclass(frozen=True)
class EstimateBeside:
    """What is compared beside a least utility over a set of priors alone: the design that trusts the estimate.

    Attributes
    ----------
    best_at_estimate : Design or None
        The design of greatest utility at the reference prior, with the same guarantee; None if it cannot be computed.
    least : float or None
        Its least utility over the priors.
    missing : str
        The reason why there is no such design; empty if there is one.
    """

    best_at_estimate: Design | None
    least: float | None
    missing: str = ""


@dataclass(frozen=True, repr=False)
class Comparison:
    """Objective of mechanisms at the same epsilon and the same reference prior.

    Attributes
    ----------
    design : Design
        The optimum for the uncertainty set of the problem.
    k_ary_randomized_response : float
        Utility, or error, of randomized response, which is private for every prior.
    best_ldp : Design or None
        The certified optimum for every prior; None if it cannot be computed exactly.
    best_ldp_missing : str
        The reason why `best_ldp` is None; empty if there is a design.
    value : float
        Utility, or error, of the mechanism or the design that was compared. The design is at least as good.
    errors : ErrorsBeside or None
        What else an estimation error is compared with; None for utilities.
    estimate : EstimateBeside or None
        What else a least utility over a set of priors is compared with; None for other objectives.
    others : tuple of Beside
        The mechanisms that the user gave.
    """

    design: Design
    k_ary_randomized_response: float
    best_ldp: Design | None
    best_ldp_missing: str = ""
    value: float = field(kw_only=True)
    errors: ErrorsBeside | None = field(default=None, kw_only=True)
    estimate: EstimateBeside | None = field(default=None, kw_only=True)
    others: tuple[Beside, ...] = field(default=(), kw_only=True)

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    @property
    def rows(self) -> tuple[Compared, ...]:
        """What is compared, a row for each mechanism: the design first."""
        return rows_of(self)

    def to_frame(self, library: str | None = None) -> Any:
        """Return a frame with a row for each mechanism: value, certified bound, and value beside that of the design.

        The last column is `share`, of the design's utility, or for estimation errors `respondents`: how many times as
        many a mechanism needs for the same error.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame; by default that of the first of the two that is installed.

        Examples
        --------
        >>> import mechdesign as md
        >>> both = compare(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), epsilon=1))
        >>> both.to_frame("pandas").loc["best LDP mechanism"].to_dict()["certified"]
        True
        >>> both.to_frame("polars").columns
        ['mechanism', 'value', 'bound', 'certified', 'share']
        """
        return frame_of(self, library)

    @property
    def promise(self) -> str | None:
        """What the promise of the design lacks beside that of the others; None where utilities of data are compared."""
        told = self.errors is not None or self.design.problem.uncertainty.secret_promise is not None
        return weaker_promise(self.design.problem) if told else None

    def respondents(self, error: float) -> float:
        """Return how many times the respondents a mechanism of another error needs for the error of the one compared.

        Raises
        ------
        InputError
            If the objective is not an estimation error.

        Examples
        --------
        >>> import mechdesign as md
        >>> both = compare(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1, md.EstimationError()))
        >>> round(both.respondents(both.k_ary_randomized_response), 2)
        4.38
        """
        if self.errors is None:
            raise InputError(
                f"{self.design.problem.utility.name} is not an estimation error; respondents belong to one"
            )
        return error / self.value


def compare(
    compared: DesignProblem | Design | Mechanism,
    utility: Objective | None = None,
    *,
    mechanisms: Mapping[str, Any] | Iterable[Any] = (),
    time_limit: float | None = None,
    report: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare a design with k-ary randomized response and the best LDP mechanism at the same epsilon.

    Where the design has a promise from below, the others are for the lesser of epsilon and lower: the greatest epsilon
    of LDP that implies the promise. An estimation error is also compared with that of subset selection and of the best
    design for mutual information, and a least utility over a set of priors with that of the best design for the
    estimate. The least is over the same priors for all mechanisms.

    Parameters
    ----------
    compared : DesignProblem, Design or Mechanism
        A problem is solved first. For a mechanism, the problem of its guarantee is solved, so that the design is the
        best mechanism with the same guarantee.
    utility : Objective, optional
        For a mechanism: the objective to compare by; by default that of its claim of optimality.
    mechanisms : iterable, or mapping by name, optional
        Others to compare with, whatever they leak: matrices, data frames, mechanisms, `mechdesign.baselines`. Each is
        listed with its leakage over the priors of the promise, and whether it keeps the promise.
    time_limit : float, optional
        Seconds for each design that is computed, as for `mechdesign.design`.
    report : callable, optional
        Called with one line whenever a longer step begins.

    Examples
    --------
    >>> import mechdesign as md
    >>> solved = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), epsilon=1))
    >>> both = compare(solved)
    >>> both.k_ary_randomized_response <= both.best_ldp.value <= solved.value
    True
    >>> compare(solved.mechanism).value == solved.value
    True
    >>> (response,) = compare(solved, mechanisms=[md.baselines.k_ary_randomized_response(3, 2)]).others
    >>> response.name, round(response.leakage, 3), response.keeps
    ('k-ary randomized response', 1.177, False)

    Raises
    ------
    InputError
        For an object of another type, a mechanism without a claim if no utility is given, or a utility together with a
        problem.
    LimitError
        If only the constant mechanism has the guarantee and the objective is an estimation error, which is infinite.
    """
    problem = _problem_of(compared, utility)
    others = besides(mechanisms, problem, problem.utility.over_priors_of(problem.uncertainty))
    known, objective = problem.uncertainty, problem.utility.over_priors_of(problem.uncertainty)
    solved = compared if isinstance(compared, Design) else design(problem, time_limit=time_limit, report=report)
    value = objective.value_over(compared.matrix, known) if isinstance(compared, Mechanism) else solved.value
    everything = every_prior(problem)
    krr = objective.value_over(k_ary_randomized_response(everything, problem).matrix, known)
    best, missing = _or_limit(
        partial(
            design,
            DesignProblem(everything, problem.local_epsilon, objective),
            tol=solved.tol,
            time_limit=time_limit,
            report=report,
        )
    )
    designed = partial(design, time_limit=time_limit, report=report)
    errors = _errors_beside(problem, designed) if problem.utility.estimation is not None else None
    estimate = None
    if problem.utility.worst_case is not None:
        estimate = _estimate_beside(problem, problem.utility.worst_case.utility, designed)
    return Comparison(solved, krr, best, missing, value=value, errors=errors, estimate=estimate, others=others)


def every_prior(problem: DesignProblem) -> L1Ball:
    """Return the ball of all priors, for local differential privacy, around the reference prior of a problem."""
    return L1Ball(problem.uncertainty.center, 2, problem.uncertainty.labels)


def weaker_promise(problem: DesignProblem) -> str | None:
    """Return what a promise lacks beside one under local differential privacy; None for one that lacks nothing."""
    if problem.uncertainty.holds_every_prior:
        return None
    if problem.uncertainty.secret_promise is not None:
        return ONE_ATTRIBUTE_BESIDE_LDP
    return WEAKER_THAN_LDP if problem.lower is None else TWO_SIDED_BESIDE_LDP


def best_subset_selection(problem: DesignProblem, workload: Floats) -> SubsetSelection:
    """Return subset selection with the best size of its sets.

    Parameters
    ----------
    problem : DesignProblem
        Both sides of its promise are above 0.
    workload : array, shape (q, N)
        The queries.

    Raises
    ------
    LimitError
        If there are too many symbols.
    """
    known, e = problem.uncertainty, problem.local_epsilon.exp_down
    members, covariance = subset_selection.best_members(known.prior, e, workload)
    return SubsetSelection(members, frozen(variances_of_covariance(covariance, workload)))


def _errors_beside(problem: DesignProblem, designed: Callable[[DesignProblem], Design]) -> ErrorsBeside:
    """Return what an estimation error is compared with."""
    queries = workload_of(problem)
    subsets, no_subsets = _or_limit(partial(best_subset_selection, problem, queries))
    informative, no_design = _or_limit(partial(designed, problem.with_utility(MutualInformation())))
    error = None
    if informative is not None:
        error = problem.utility.value(informative.mechanism.matrix, problem.uncertainty.center)
    return ErrorsBeside(subsets, no_subsets, informative, error, no_design)


def _estimate_beside(
    problem: DesignProblem, utility: Objective, designed: Callable[[DesignProblem], Design]
) -> EstimateBeside:
    """Return the design that trusts the estimate, and what it is worth at least."""
    best, missing = _or_limit(partial(designed, problem.with_utility(utility)))
    least = None if best is None else problem.utility.value_over(best.mechanism.matrix, problem.uncertainty)
    return EstimateBeside(best, least, missing)


def _or_limit(computed: Callable[[], Result]) -> tuple[Result | None, str]:
    """Return what a function computes; where it reaches a limit, None and the reason."""
    try:
        return computed(), ""
    except LimitError as error:
        return None, str(error)


def _problem_of(compared: DesignProblem | Design | Mechanism, utility: Objective | None) -> DesignProblem:
    """Return a problem, that of a design, or the one that the guarantee of a mechanism is about."""
    if isinstance(compared, Mechanism):
        claim = compared.optimality
        wanted = claim.utility if utility is None and claim is not None else utility
        if wanted is None:
            raise InputError("the mechanism has no claim of optimality, which would name a utility; give a utility")
        promised = compared.guarantee
        return DesignProblem(promised.uncertainty, promised.epsilon, wanted, promised.lower)
    if not isinstance(compared, DesignProblem | Design):
        raise InputError(f"what is compared is {shorten(compared)}; give a DesignProblem, a Design or a Mechanism")
    if utility is not None:
        raise InputError(f"the utility {shorten(utility)} is given beside a problem, which has one; leave it out")
    return compared if isinstance(compared, DesignProblem) else compared.problem


def k_ary_randomized_response(everything: L1Ball, problem: DesignProblem) -> Mechanism:
    """Return k-ary randomized response as a proved mechanism, for the epsilon of LDP that implies the promise."""
    if everything.radius != 2:
        raise InputError(f"the radius is {everything.radius}; accepted: 2, all priors")
    epsilon = problem.local_epsilon
    matrix = randomized_response.mechanism(everything.size, epsilon.exp_down, in_floats=True)
    return Mechanism.from_matrix(matrix, Guarantee(epsilon, everything))
