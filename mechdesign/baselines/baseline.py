"""A mechanism of the literature under local differential privacy, in exact numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.data.checks import whole_number
from mechdesign.errors import InputError, LimitError
from mechdesign.mechanism import ExactMatrix, Guarantee, Mechanism
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import log_up
from mechdesign.optimize.estimation.subset_selection_error import MOST_OUTPUTS
from mechdesign.uncertainty import L1Ball


@dataclass(frozen=True, eq=False)
class Baseline:
    """A mechanism under local differential privacy, of which the literature says how it is built.

    Attributes
    ----------
    name : str
        The mechanism in words.
    epsilon : Epsilon
        Of local differential privacy.
    exact_matrix : ExactMatrix
        The matrix in rational numbers. Where exp(epsilon) is not rational, a rational just below it takes its place, so
        that the mechanism is private with epsilon, never with more.
    source : str
        Where it is from.
    reports_symbols : bool
        Whether output j is category j.
    """

    name: str
    epsilon: Epsilon
    exact_matrix: ExactMatrix
    source: str
    reports_symbols: bool = False

    @classmethod
    def of(
        cls,
        name: str,
        epsilon: Epsilon,
        weights: tuple[tuple[int, ...], ...],
        source: str,
        outputs: tuple[str, ...] | None = None,
        *,
        reports_symbols: bool = False,
    ) -> Baseline:
        """Return a baseline from whole numbers, each row of which counts as weights."""
        return cls(name, epsilon, ExactMatrix(weights, None, outputs, name=name), source, reports_symbols)

    @property
    def matrix(self) -> Floats:
        """The matrix as floats, shape (N, M)."""
        return self.exact_matrix.matrix

    @property
    def ldp_level(self) -> float:
        """The least epsilon of local differential privacy, ``max log(p(y|x) / p(y|x'))``, in nats, rounded up."""
        return log_up(self.exact_matrix.ldp_ratio or Fraction(1))

    def mechanism(self, prior: Any = None, *, labels: Sequence[str] | None = None, bits: int = 48) -> Mechanism:
        """Return the baseline as integers whose local differential privacy is proved.

        Outputs that are categories keep their labels; others are sorted by falling probability, and those that tell the
        same are one.

        Parameters
        ----------
        prior : list, mapping or pandas Series, optional
            The reference prior; uniform by default. The guarantee holds for every prior.
        labels : sequence of str, optional
            Of the categories; by default those of the prior.
        bits : int
            Probabilities are multiples of 2^-bits.

        Examples
        --------
        >>> from mechdesign import baselines
        >>> warner = baselines.k_ary_randomized_response(2, "log(3)").mechanism(labels=["no", "yes"], bits=2)
        >>> warner.numerators.tolist(), warner.outputs
        ([[3, 1], [1, 3]], ('no', 'yes'))
        """
        size = self.exact_matrix.size
        center = [Fraction(1, size)] * size if prior is None else prior
        everything = L1Ball(center, 2, labels)
        if everything.size != size:
            raise InputError.wrong_size(
                f"the prior has {everything.size} categories, and the mechanism {size}; give the same"
            )
        outputs = everything.labels if self.reports_symbols else None
        return Mechanism.from_matrix(self.matrix, Guarantee(self.epsilon, everything), bits=bits, outputs=outputs)

    def __repr__(self) -> str:
        shape = f"{self.exact_matrix.size} x {self.exact_matrix.count}"
        return f"Baseline({self.name}, {shape}, epsilon = {self.epsilon}, from {self.source})"


def checked(size: object, epsilon: object) -> tuple[int, Epsilon]:
    """Return the number of categories, 2 or more, and epsilon, above 0."""
    given = Epsilon.of(epsilon)
    if given.exp_down == 1:
        raise InputError.epsilon_out_of_range(
            f"epsilon is {given.text}, for which reports may tell nothing; give one above 0"
        )
    return whole_number(size, "the size", 2), given


def check_outputs(name: str, size: int, count: int) -> None:
    """Refuse a matrix with too many outputs to write down.

    Raises
    ------
    LimitError
        If there are more than 20,000.
    """
    if count > MOST_OUTPUTS:
        shown = str(count) if count < 10**12 else "very many"
        raise LimitError.too_much_work(
            f"{name} of {size} categories has {shown} outputs; accepted: at most {MOST_OUTPUTS}"
        )


def of_supports(supports: Sequence[Sequence[bool]], exp_epsilon: Fraction) -> tuple[tuple[int, ...], ...]:
    """Return the weights of a mechanism whose reports are sets: exp(epsilon) times as likely if they hold the category.

    Each category is in equally many sets.

    Examples
    --------
    >>> of_supports([[True, False], [False, True]], Fraction(3))
    ((3, 1), (1, 3))
    """
    inside, outside = exp_epsilon.numerator, exp_epsilon.denominator
    return tuple(tuple(inside if held else outside for held in row) for row in supports)
