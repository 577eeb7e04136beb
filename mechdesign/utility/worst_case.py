"""The least utility over a set of priors, as an objective of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from numpy.typing import ArrayLike

from mechdesign.data.checks import check_kind
from mechdesign.errors import InputError, shorten
from mechdesign.uncertainty.base import UncertaintySet, check_set
from mechdesign.utility.objective import Objective, Utility

if TYPE_CHECKING:
    from mechdesign.utility.least import LeastUtility

PREFIX: Final = "worst-case-"
"""Before the name of a utility: its least value over the set of priors."""


@dataclass(frozen=True)
class WorstCaseUtility(Objective):
    """The least value of a utility over all priors of a set, which a design makes as great as it can.

    A utility is measured at the reference prior of a set otherwise. The true prior may be another one, and the utility
    there less; this objective is what a mechanism is worth at least, wherever in the set the true prior is.

    Parameters
    ----------
    utility : Utility
        Mutual information, a gain utility such as `HammingAccuracy`, or a utility that declares itself
        `concave_in_prior`. The other f-informations of the package are not concave in the prior.
    over : UncertaintySet, optional
        The priors; by default those of the guarantee. Files hold the objective only with this default.

    Raises
    ------
    InputError
        For a utility whose least value is not known to be at an extreme prior.

    Examples
    --------
    >>> import mechdesign as md
    >>> ball = md.L1Ball([0.4, 0.3, 0.2, 0.1], radius="0.16")
    >>> at_least = md.design(md.DesignProblem(ball, "log(2)", md.WorstCaseUtility(md.MutualInformation())))
    >>> round(at_least.value, 6), round(at_least.value_at_estimate, 6)
    (0.448026, 0.460101)
    """

    utility: Utility
    over: UncertaintySet | None = None
    name: str = field(init=False, repr=False)
    unit: str = field(init=False, repr=False)

    def __init__(self, utility: Utility, over: UncertaintySet | None = None) -> None:
        check_kind(utility, Utility, "the utility", "a Utility such as MutualInformation()")
        if over is not None:
            check_set(over)
        if utility.polyhedral is None and not utility.concave_in_prior:
            raise InputError.wrong_objective(
                f"{shorten(utility.name)} is not known to be concave in the prior, so that no method finds its least "
                "value over a set; accepted: mutual-information, and gains such as hamming-accuracy"
            )
        for name, value in {
            "utility": utility,
            "over": over,
            "name": PREFIX + utility.name,
            "unit": utility.unit,
        }.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return WorstCaseUtility, (self.utility, self.over)

    @property
    def worst_case(self) -> WorstCaseUtility:
        """The objective itself."""
        return self

    @property
    def matrix_name(self) -> str:  # type: ignore[override]
        """The name of the table of the utility's matrix in problem files."""
        return self.utility.matrix_name

    def matrix_as_text(self) -> list[list[str]] | None:
        """Return the matrix that the utility was made from."""
        return self.utility.matrix_as_text()

    @property
    def is_symmetric(self) -> bool:
        """Whether renaming the categories in mechanism and priors alike never changes the objective."""
        return self.utility.is_symmetric

    def check_size(self, size: int) -> None:
        """Refuse categories that the utility, or the set of priors, is not defined on."""
        self.utility.check_size(size)
        if self.over is not None and self.over.size != size:
            raise InputError.wrong_size(
                f"the priors of {self.name} have {self.over.size} categories, and the problem has {size}; give the same"
            )

    def aligned_with(self, labels: Sequence[str] | None) -> WorstCaseUtility:
        """Return the objective with its utility on categories with these labels."""
        aligned: Any = self.utility.aligned_with(labels)
        return self if aligned is self.utility else WorstCaseUtility(aligned, self.over)

    def over_priors_of(self, known: UncertaintySet) -> WorstCaseUtility:
        """Return the objective over the priors that it has, or else over those of a set, whatever the guarantee is."""
        return self if self.over is not None else WorstCaseUtility(self.utility, known.exact_set)

    def priors(self, known: UncertaintySet) -> UncertaintySet:
        """Return the priors over which the least is taken, for a guarantee for a set."""
        return (known if self.over is None else self.over).exact_set

    def value(self, matrix: ArrayLike, prior: ArrayLike | Sequence[Fraction]) -> float:
        """Return the utility at a prior: the least over this one alone."""
        return self.utility.value(matrix, prior)

    def value_over(self, matrix: ArrayLike, known: UncertaintySet) -> float:
        """Return a lower bound, proved and usually attained, of the utility of a mechanism over the priors."""
        return self.least(matrix, known).bound

    def least(self, matrix: ArrayLike, known: UncertaintySet) -> LeastUtility:
        """Return the least utility of a mechanism over the priors, and a prior where it occurs."""
        from mechdesign.utility.least import least_utility

        return least_utility(self.utility, matrix, self.priors(known))
