"""The mechanism that leaves the house: integers, labels, a proved guarantee."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.arrays import frozen
from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.exact import float_up
from mechdesign.labels import canonical_labels, default_labels
from mechdesign.mechanism.proof import Guarantee, Integers, Proof, prove
from mechdesign.mechanism.rounding import by_falling_mass, round_to_integers
from mechdesign.utility import Utility


@dataclass(frozen=True)
class Optimality:
    """A claim that no mechanism with the same guarantee does better than the upper bound.

    Attributes
    ----------
    utility : Utility
        Of what.
    value : float
        Utility of the integers, in its unit.
    upper_bound : float
        No mechanism with the guarantee has more, rounded outward.
    multipliers : tuple of float
        The dual vector lambda, from which anyone can compute the bound again.
    within_simplex : bool
        False where the claim is only about the mechanisms of ED Proposition 2 as printed, which are fewer
        than those with the guarantee once the radius exceeds twice the least probability.
    """

    utility: Utility
    value: float
    upper_bound: float
    multipliers: tuple[float, ...]
    within_simplex: bool = True


@dataclass(frozen=True)
class Provenance:
    """Where a mechanism comes from: software version, method, and the title of its problem."""

    version: str
    method: str
    problem: str = ""


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A privacy mechanism as integers over 2^bits, with a guarantee proved when the object is made.

    Parameters
    ----------
    numerators : int64 array, shape (N, M)
        Row i over 2^bits is the distribution of the output when the input is symbol i.
    bits : int
        1 to 52; 48 wherever nothing else is said.
    guarantee : Guarantee
        What is promised, and for which priors.
    outputs : sequence of str, optional
        Labels of the outputs; ``y1`` to ``yM`` by default.
    optimality : Optimality, optional
        A claim about utility. `mechdesign.verify` checks it.
    provenance : Provenance, optional
        Where it comes from.

    Raises
    ------
    InputError
        If the integers are no mechanism.
    GuaranteeError
        If the guarantee is false: no such object exists, so nothing unproved can be saved.

    Examples
    --------
    >>> from mechdesign import Epsilon, Guarantee, L1Ball
    >>> promise = Guarantee(Epsilon.of("log(3)"), L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    >>> warner = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["no", "yes"])
    >>> warner.matrix
    array([[0.75, 0.25],
           [0.25, 0.75]])
    >>> warner.leakage <= 1.0986122886681098
    True
    """

    numerators: Integers
    bits: int
    guarantee: Guarantee
    outputs: tuple[str, ...] = ()
    optimality: Optimality | None = None
    provenance: Provenance | None = None
    proof: Proof = field(init=False, repr=False)

    def __post_init__(self) -> None:
        numerators = frozen(np.asarray(self.numerators))
        object.__setattr__(self, "numerators", numerators)
        proof = prove(numerators, self.bits, self.guarantee)
        M = numerators.shape[1]
        names = canonical_labels(self.outputs, M) if self.outputs else default_labels(M, "y")
        object.__setattr__(self, "outputs", names)
        object.__setattr__(self, "proof", proof)
        if not proof.holds:
            others = len(proof.violated) - 1
            which = f"output {shorten(names[proof.violated[0]])}" + (f" and {others} more" if others else "")
            raise GuaranteeError(
                f"the guarantee is false: {which} leak up to {proof.leakage:.9g} nats, "
                f"above epsilon = {self.guarantee.epsilon}"
            )
        claim = self.optimality
        if claim is not None and len(claim.multipliers) != numerators.shape[0]:
            raise InputError(
                f"lambda has {len(claim.multipliers)} entries; accepted: {numerators.shape[0]}, one a symbol"
            )

    @classmethod
    def from_matrix(
        cls,
        matrix: ArrayLike,
        guarantee: Guarantee,
        *,
        bits: int = 48,
        outputs: tuple[str, ...] | list[str] | None = None,
        optimality: Optimality | None = None,
        provenance: Provenance | None = None,
    ) -> Mechanism:
        """Return integers close to a float matrix, for which the guarantee is proved.

        Without labels for the outputs they come by falling mass at the reference prior.

        Parameters
        ----------
        matrix : array, shape (N, M)
            Row-stochastic up to a solver's errors.
        guarantee, bits, outputs, optimality, provenance
            As for the class.

        Raises
        ------
        InputError
            If labels are given and the guarantee can only be kept by merging outputs.
        """
        floats = guarantee.uncertainty.as_matrix(matrix)
        integers = round_to_integers(floats, bits, guarantee)
        if outputs is None:
            integers = by_falling_mass(integers, guarantee.uncertainty)
        elif integers.shape != floats.shape:
            raise InputError(
                f"{floats.shape[1]} outputs had to be merged to {integers.shape[1]}; leave the labels of outputs out"
            )
        return cls(integers, bits, guarantee, tuple(outputs or ()), optimality, provenance)

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and pickles are made anew, and so proved again.
        return Mechanism, (
            self.numerators,
            self.bits,
            self.guarantee,
            self.outputs,
            self.optimality,
            self.provenance,
        )

    def __repr__(self) -> str:
        N, M = self.numerators.shape
        return (
            f"Mechanism({N} x {M} over 2^{self.bits}, epsilon = {self.guarantee.epsilon}, "
            f"leakage <= {self.leakage:.6g}, {self.guarantee.uncertainty!r})"
        )

    @property
    def inputs(self) -> tuple[str, ...]:
        """Labels of the symbols."""
        return self.guarantee.uncertainty.labels

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The mechanism as floats, shape (N, M); exact, since numerators have at most 52 bits."""
        return frozen(self.numerators / 2.0**self.bits)

    @property
    def leakage(self) -> float:
        """The greatest leakage of any output over the set of priors, in nats, proved and rounded up."""
        return self.proof.leakage

    @property
    def radius(self) -> float | None:
        """The l1 radius of the guarantee, rounded up; None for a hull of priors."""
        radius = getattr(self.guarantee.uncertainty, "radius", None)
        return None if radius is None else float_up(radius)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mechanism, as JSON, NPZ or CSV by the ending of the name.

        JSON is the format; NPZ holds the same JSON beside the arrays; CSV is for reading only. The file is
        whole or absent.

        Raises
        ------
        InputError
            For another ending, or a place that cannot be written.
        """
        from mechdesign.mechanism.files import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Mechanism:
        """Read a mechanism from JSON or NPZ and prove its guarantee again.

        Raises
        ------
        InputError
            If the file is malformed.
        GuaranteeError
            If it is well-formed and its guarantee is false.
        """
        from mechdesign.mechanism.files import load

        return load(path)
