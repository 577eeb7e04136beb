"""A design compared with mechanisms under local differential privacy: randomized response, subset selection, the best.

Errors of estimates are also compared in respondents: the error falls as 1/n, so that a mechanism of twice the error
needs twice the reports for the same error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from mechdesign.comparison.given import given_rows
from mechdesign.comparison.rivals import Rivals, problem_of, weaker_promise
from mechdesign.comparison.row import Compared
from mechdesign.comparison.table import frame_of, html_of, text_of
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism import Mechanism
from mechdesign.optimize import Design, design
from mechdesign.problem import DesignProblem
from mechdesign.utility import MutualInformation, Objective


@dataclass(frozen=True)
class ErrorsBeside:
    """What is compared beside an estimation error alone.

    Attributes
    ----------
    subset_selection : Compared or None
        Subset selection; None if there are too many categories.
    subset_selection_missing : str
        The reason; empty if there is one.
    best_for_information : Design or None
        The design of greatest mutual information with the same guarantee; None if it cannot be computed.
    best_for_information_error : float or None
        Its estimation error; infinite where its reports do not determine the answers.
    best_for_information_missing : str
        The reason why there is no such design; empty if there is one.
    """

    subset_selection: Compared | None
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
    value : float
        Utility, or error, of the mechanism or the design that was compared. The design is at least as good.
    rivals : dict from str to Compared
        The others that keep the promise, by their keys: ``"best_ldp"``, ``"k_ary_randomized_response"``, for errors
        ``"subset_selection"`` and ``"best_for_information"``, for a least utility ``"best_at_estimate"``.
    others : tuple of Compared
        The mechanisms that the user gave.
    """

    design: Design
    value: float
    rivals: dict[str, Compared]
    others: tuple[Compared, ...] = ()

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    @property
    def rows(self) -> tuple[Compared, ...]:
        """What is compared, a row for each mechanism: the design first."""
        found = self.design
        rows = [Compared("design", "this design", found.value, bound=found.bound, certified=found.certified)]
        if self.value != found.value:
            rows.insert(0, Compared("compared", "the mechanism compared", self.value))
        for row in self.rivals.values():
            marked = self.of_errors and row.key in {"subset_selection", "k_ary_randomized_response"}
            rows.append(replace(row, name=f"{row.name} (LDP)") if marked else row)
        return (*rows, *self.others)

    @property
    def of_errors(self) -> bool:
        """Whether errors of estimates are compared."""
        return self.design.problem.utility.estimation is not None

    @property
    def k_ary_randomized_response(self) -> float:
        """Utility, or error, of randomized response, which is private for every prior."""
        return cast(float, self.rivals["k_ary_randomized_response"].value)

    @property
    def best_ldp(self) -> Design | None:
        """The certified optimum for every prior; None if it cannot be computed exactly."""
        return self.rivals["best_ldp"].design

    @property
    def best_ldp_missing(self) -> str:
        """The reason why `best_ldp` is None; empty if there is a design."""
        return self.rivals["best_ldp"].missing

    @property
    def errors(self) -> ErrorsBeside | None:
        """What else an estimation error is compared with; None for utilities."""
        if not self.of_errors:
            return None
        subsets, informative = self.rivals["subset_selection"], self.rivals["best_for_information"]
        return ErrorsBeside(
            None if subsets.missing else subsets,
            subsets.missing,
            informative.design,
            informative.value,
            informative.missing,
        )

    @property
    def estimate(self) -> EstimateBeside | None:
        """What else a least utility over a set of priors is compared with; None for other objectives."""
        row = self.rivals.get("best_at_estimate")
        return None if row is None else EstimateBeside(row.design, row.value, row.missing)

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
        return weaker_promise(self.design.problem, of_errors=self.of_errors)

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
        if not self.of_errors:
            raise InputError.wrong_objective(
                f"{self.design.problem.utility.name} is not an estimation error; respondents belong to one"
            )
        return error / self.value


def compare(
    compared: DesignProblem | Design | Mechanism,
    utility: Objective | None = None,
    *,
    mechanisms: Mapping[str, Any] | Iterable[Any] = (),
    time_limit: float | None = None,
    progress: Callable[[str], None] | None = None,
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
    progress : callable, optional
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
    problem = _problem_compared(compared, utility)
    rivals = Rivals(problem, time_limit, progress)
    others = given_rows(mechanisms, problem, rivals.objective)
    solved = compared if isinstance(compared, Design) else design(problem, time_limit=time_limit, progress=progress)
    value = solved.value
    if isinstance(compared, Mechanism):
        value = rivals.objective.value_of_integers(compared.numerators, problem.uncertainty)
    rows = {row.key: row for row in _rivals(rivals, solved.tol)}
    return Comparison(solved, value, rows, others)


def _rivals(rivals: Rivals, tol: float) -> Iterator[Compared]:
    """Yield what stands beside a design, in the order of the table."""
    worst, errors = rivals.problem.utility.worst_case, rivals.problem.utility.estimation is not None
    if worst is not None:
        yield rivals.best_for("best_at_estimate", "best for the estimate, same guarantee", worst.utility)
    yield rivals.best_ldp(tol=tol)
    if errors:
        yield rivals.subset_selection()
    yield rivals.randomized_response()
    if errors:
        name = "best for mutual information, same guarantee"
        yield rivals.best_for("best_for_information", name, MutualInformation())


def _problem_compared(compared: DesignProblem | Design | Mechanism, utility: Objective | None) -> DesignProblem:
    """Return the problem that a comparison is about, with the utility that is given for a mechanism."""
    problem = problem_of(compared, "compared")
    if not isinstance(compared, Mechanism):
        if utility is not None:
            raise InputError.needless_argument(
                f"the utility {shorten(utility)} is given beside a problem, which has one; leave it out"
            )
        return problem
    if utility is None and compared.optimality is None:
        raise InputError.missing_argument(
            "the mechanism has no claim of optimality, which would name a utility; give a utility"
        )
    return problem if utility is None else problem.with_utility(utility)
