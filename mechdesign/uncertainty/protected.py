"""What a promise protects: the data themselves, or a secret that depends on them."""

from __future__ import annotations

from dataclasses import dataclass

from mechdesign.numerics.arrays import Floats


@dataclass(frozen=True, eq=False)
class Protected:
    """The values whose lifts a promise bounds, with their law at the estimate.

    Attributes
    ----------
    values : tuple of str
        The K values: the symbols, or those of the secret.
    law : array, shape (K,)
        Their probabilities at the estimate.
    names : (str, str) or None
        The names of the secret and of the column that the data are; None where the data are protected.
    conditionals : array, shape (K, N), or None
        The law of the data given each value of the secret; None where the data are protected.
    """

    values: tuple[str, ...]
    law: Floats
    names: tuple[str, str] | None = None
    conditionals: Floats | None = None

    def likelihoods(self, matrix: Floats) -> Floats:
        """Return the probability of each output of a mechanism, given by a matrix, for each value, shape (K, M).

        Examples
        --------
        >>> import numpy as np
        >>> from mechdesign import SecretPromise
        >>> about = SecretPromise([[3, 1], [1, 1]], secret="sex", known=True).protected
        >>> about.values, about.likelihoods(np.eye(2)).tolist()
        (('s1', 's2'), [[0.75, 0.25], [0.5, 0.5]])
        """
        return matrix if self.conditionals is None else self.conditionals @ matrix

    @property
    def about(self) -> str:
        """The secret in words that follow a noun, " about sex"; empty where the data are protected."""
        return "" if self.names is None else f" about {self.names[0]}"

    @property
    def any_value(self) -> str:
        """Whatever is protected, in words: "any value of sex"; "anything" where the data are."""
        return "anything" if self.names is None else f"any value of {self.names[0]}"
