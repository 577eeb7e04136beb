"""What a design is best at: an objective, and its most common kind, the sub-convex utilities (ED eq. 11)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.data.labelled import together
from mechdesign.errors import InputError
from mechdesign.numerics.arrays import Floats, real_array, shares

if TYPE_CHECKING:
    from mechdesign.uncertainty.base import UncertaintySet
    from mechdesign.utility.estimation_error import EstimationError
    from mechdesign.utility.explained_variance import ExplainedVariance
    from mechdesign.utility.f_information import FInformation
    from mechdesign.utility.gain import PolyhedralUtility
    from mechdesign.utility.worst_case import WorstCaseUtility


class Objective(ABC):
    """A function of a mechanism and a prior that `mechdesign.design` makes as great or as small as it can.

    An objective does not depend on the privacy guarantee. Its properties declare which algorithms can optimise it.
    `mechdesign.utility.register` makes a class of your own known to files and to the command line.

    Attributes
    ----------
    name : str
        As in problem files, such as ``"mutual-information"``.
    unit : str
        ``"nats"`` for mutual information, ``"1"`` for objectives without a unit.
    minimised : bool
        Whether less is better; a utility is maximised.
    takes_matrix : bool
        Whether the class is made from a matrix, which files hold beside the name.
    matrix_name : str
        The name of the table of that matrix in problem files.
    takes_workload : bool
        Whether the class is made from a `Workload`, which files hold beside the name unless it is the default.
    """

    name: str
    unit: str = "1"
    minimised: ClassVar[bool] = False
    takes_matrix: ClassVar[bool] = False
    matrix_name: ClassVar[str] = "gain"
    takes_workload: ClassVar[bool] = False

    @property
    def bound_name(self) -> str:
        """``"lower_bound"`` where the objective is minimised, else ``"upper_bound"``: what a certificate proves."""
        return "lower_bound" if self.minimised else "upper_bound"

    @property
    def polyhedral(self) -> PolyhedralUtility | None:
        """The utility as a maximum of linear functions, for algorithms that price guesses; None if it is not one."""
        return None

    @property
    def f_information(self) -> FInformation | None:
        """The utility as an f-information, for algorithms that price masses of sets; None if it is not one."""
        return None

    @property
    def explained_variance(self) -> ExplainedVariance | None:
        """The utility as an explained variance, for algorithms that price predictions; None if it is not one."""
        return None

    @property
    def estimation(self) -> EstimationError | None:
        """The objective as an estimation error, which is minimised; None if it is not one."""
        return None

    @property
    def worst_case(self) -> WorstCaseUtility | None:
        """The objective as the least utility over a set of priors; None if it is measured at one prior."""
        return None

    @property
    def is_polyhedral(self) -> bool:
        """Whether mu is a maximum of finitely many linear functions."""
        return self.polyhedral is not None

    def matrix_as_text(self) -> list[list[str]] | None:
        """Return the matrix that the utility was made from as exact numbers; None if it takes no matrix."""
        return None

    def workload_table(self) -> dict[str, Any] | None:
        """Return the table of the workload that the objective was made from; None for the default, or without one."""
        return None

    @property
    def is_symmetric(self) -> bool:
        """Whether renaming the categories in mechanism and prior alike never changes the objective."""
        return False

    def check_size(self, size: int) -> None:  # noqa: B027 - most utilities are defined for any number of categories
        """Refuse categories that the objective is not defined on.

        Raises
        ------
        InputError
            If the objective is defined for another number of categories.
        """

    def aligned_with(self, labels: Sequence[str] | None) -> Objective:  # noqa: ARG002 - most have no labels
        """Return the objective on categories with these labels, in their order, for one that has labels itself.

        Raises
        ------
        InputError
            If its labels do not match.
        """
        return self

    @abstractmethod
    def value(self, matrix: ArrayLike, prior: ArrayLike | Sequence[Fraction]) -> float:
        """Return the objective of a mechanism, an (N, M) row-stochastic matrix, at a prior of floats or fractions.

        A data frame, series or mapping is aligned by its labels.
        """

    def value_over(self, matrix: ArrayLike, known: UncertaintySet) -> float:
        """Return the objective of a mechanism for a set of priors: at the reference prior, unless it is another one."""
        return self.value(matrix, known.center)

    def value_of_integers(self, weights: Sequence[Sequence[int]] | NDArray[np.int64], known: UncertaintySet) -> float:
        """Return the objective of a mechanism in whole numbers, each row over its sum, for a set of priors.

        An objective that rounding can change without bound overrides it.
        """
        return self.value_over(shares(weights), known)

    def over_priors_of(self, known: UncertaintySet) -> Objective:  # noqa: ARG002 - most are measured at one prior
        """Return the objective with the priors that it is about taken from a set, whatever the guarantee is."""
        return self


class Utility(Objective):
    """A utility ``U = sum over outputs of mu(v, P)``, with mu convex and homogeneous in the column v; maximised.

    Attributes
    ----------
    concave_in_prior : bool
        Whether the utility of every mechanism is concave in the prior, so that it is least at an extreme prior.
    """

    concave_in_prior: ClassVar[bool] = False

    @abstractmethod
    def mu(self, columns: ArrayLike, prior: ArrayLike) -> Floats:
        """Return mu of each column of an (N, M) matrix at a prior of shape (N,), shape (M,)."""

    @abstractmethod
    def gradient(self, column: ArrayLike, prior: ArrayLike) -> Floats:
        """Return a (sub)gradient of mu at one column, shape (N,); ``<gradient, v> = mu(v)``."""

    @abstractmethod
    def mu_up(self, columns: Floats, prior: Floats, slack: float | Floats) -> Floats:
        """Return an upper bound of mu over all columns within ``slack`` of each given one, shape (M,).

        The slack is one number, or an array that broadcasts to the columns, entry by entry. The columns are
        scaled so that ``<P, v> = 1``. The bound covers errors of rounding; a certificate of optimality is
        computed from it.
        """

    def mean_mu(self, columns: Floats, priors: Floats, weights: Floats) -> Floats:
        """Return mu of each column of an (N, M) matrix, averaged over priors, shape (K, N), with weights, shape (K,).

        The columns are of any scale.
        """
        total = np.zeros(columns.shape[1])
        for weight, Q in zip(weights, priors, strict=True):
            total += weight * self.mu(columns, Q)
        return total

    def minorant(
        self,
        matrix: Floats,  # noqa: ARG002 - most know no such function
        least: Floats,  # noqa: ARG002
        greatest: Floats,  # noqa: ARG002
    ) -> tuple[float, Floats] | None:
        """Return a linear function of the prior that is nowhere above the utility of a mechanism between limits.

        Parameters
        ----------
        matrix : array, shape (N, M)
            The mechanism.
        least, greatest : array, shape (M,)
            Limits of the masses ``<Q, v>`` of its columns.

        Returns
        -------
        tuple of float and array, shape (N,), or None
            A constant and the coefficients of Q; None if no such function is known.
        """
        return None

    def value(self, matrix: ArrayLike, prior: ArrayLike | Sequence[Fraction]) -> float:
        """Return the utility of a mechanism, an (N, M) row-stochastic matrix, at a prior of floats or fractions.

        A data frame, series or mapping is aligned by its labels.
        """
        return float(self.mu(matrix, cast("ArrayLike", prior)).sum())


def as_utility(objective: Objective) -> Utility:
    """Return an objective as a utility, a sum over outputs, for algorithms that hold for these alone.

    Raises
    ------
    InputError
        If it is another objective.

    Examples
    --------
    >>> from mechdesign import MutualInformation
    >>> as_utility(MutualInformation()).name
    'mutual-information'
    """
    if not isinstance(objective, Utility):
        raise InputError.wrong_objective(
            f"{objective.name} is not a sum over outputs; give a utility such as MutualInformation()"
        )
    return objective


def columns_and_prior(columns: ArrayLike, prior: ArrayLike) -> tuple[Floats, Floats]:
    """Return columns (N, M) and prior (N,) as float arrays, aligned with each other where both have labels.

    Raises
    ------
    InputError
        If their shapes do not fit.
    """
    aligned, weights, _ = together(columns, prior)
    V, P = real_array(aligned, "the matrix"), real_array(weights, "the prior")
    if P.ndim != 1 or V.ndim != 2 or V.shape[0] != P.size:
        raise InputError.wrong_size(
            f"columns of shape {V.shape} and a prior of shape {P.shape}; accepted: (N, M) and (N,)"
        )
    return V, P
