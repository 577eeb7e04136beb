"""The mechanism that leaves the house: integers, labels, a proved guarantee."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.arrays import frozen
from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.exact import float_up
from mechdesign.labels import canonical_labels, default_labels
from mechdesign.mechanism.containers import encode
from mechdesign.mechanism.encoding import Alphabet
from mechdesign.mechanism.proof import Guarantee, Integers, Proof, prove
from mechdesign.mechanism.rounding import by_falling_mass, round_to_integers
from mechdesign.mechanism.sampler import Sampler, random_bytes
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

    @cached_property
    def sampler(self) -> Sampler:
        """Draws outputs from the integers, with exactly the probabilities that are proved."""
        return Sampler(self.numerators, self.bits)

    def privatize(
        self,
        records: Any,
        rng: np.random.Generator | None = None,
        *,
        unknown: str | None = None,
        missing: str | None = None,
        integers: str | None = None,
        show_values: bool = False,
    ) -> Any:
        """Return one report for each record, drawn exactly from the integers.

        The alphabet is the mechanism's, never inferred from the records. Each call draws anew: two reports
        about the same record leak more than one (see `repeated`).

        Parameters
        ----------
        records : list, numpy array, pandas or polars Series, pyarrow Array or ChunkedArray
            Labels of inputs as text; or integer codes, the positions of inputs from 0.
        rng : numpy.random.Generator, optional
            For experiments that can be run again. **Not for release**: whoever knows or guesses its state
            knows the records. Without it the operating system's secure randomness is used.
        unknown, missing : str, optional
            The input that values outside the alphabet, and missing ones, are taken for; without it they are
            refused. The guarantee then holds if the distribution of the records *so changed* is in the set
            of priors.
        integers : {"codes", "labels"}, optional
            What integers are. Without it they are codes, and are refused where a label reads as an integer.
        show_values : bool
            Whether messages print a record that is refused; without it they name its position alone.

        Returns
        -------
        the same kind of container
            Labels of outputs where labels came in, codes of outputs (positions from 0) where codes did.

        Raises
        ------
        InputError
            For a value outside the alphabet, with its position; another container; a seed instead of a generator.

        Examples
        --------
        >>> from mechdesign import Epsilon, Guarantee, L1Ball
        >>> promise = Guarantee(Epsilon.of("log(3)"), L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
        >>> warner = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["no", "yes"])
        >>> reports = warner.privatize(["yes", "no", "yes", "yes"])
        >>> len(reports), set(reports) <= {"no", "yes"}
        (4, True)
        """
        source = random_bytes(rng)
        encoded = encode(records, Alphabet(self.inputs, unknown, missing, integers, show_values=show_values))
        return encoded.answer(self.sampler.draw(encoded.codes, source), self.outputs)

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

    def then(
        self,
        post: Mapping[Any, Any] | ArrayLike,
        *,
        outputs: Sequence[str] | None = None,
        bits: int | None = None,
    ) -> Mechanism:
        """Return the mechanism whose outputs are processed further, without another look at the input.

        The leakage never rises, not even by rounding, and no utility does beyond rounding: the guarantee stays as it
        is. A claim of optimality does not survive.

        Parameters
        ----------
        post : mapping or array, shape (M, K)
            From every output to its new label: columns are added up, exactly, and the labels come in the order in
            which they first appear along `outputs`. Or a row-stochastic matrix: row j is the distribution of the new
            output, given the old output j. Rows may miss 1 by 1e-9 and count as weights.
        outputs : sequence of str, optional
            Labels of the K new outputs, for a matrix. Without them outputs come by falling mass, as in `from_matrix`,
            and outputs that tell the same are one.
        bits : int, optional
            For a matrix; as many as the mechanism has by default.

        Raises
        ------
        InputError
            For an output that is not mapped, or is none; rows that are no distributions; labels for outputs that
            have to be merged.

        Examples
        --------
        >>> from mechdesign import Epsilon, Guarantee, L1Ball
        >>> promise = Guarantee(Epsilon.of("log(2)"), L1Ball([0.5, 0.25, 0.25], radius=2))
        >>> asked = Mechanism(np.array([[2, 1, 1], [1, 2, 1], [1, 1, 2]]), 2, promise)
        >>> merged = asked.then({"y1": "first", "y2": "other", "y3": "other"})
        >>> merged.outputs, merged.numerators.tolist()
        (('first', 'other'), [[2, 2], [1, 3], [1, 3]])
        >>> asked.then([[0.5, 0.5], [0.5, 0.5], [0, 1]], outputs=["a", "b"]).leakage <= asked.leakage
        True
        """
        from mechdesign.mechanism.composition import then

        return then(self, post, outputs=outputs, bits=bits)

    def product(self, other: Mechanism, *, bits: int | None = None, separator: str = " & ") -> Mechanism:
        """Return the mechanism for two attributes, each reported by a mechanism of its own.

        Its matrix is the Kronecker product. The guarantee is the sum of both epsilons, for every joint prior of the
        `ProductSet` of both sets: all independent pairs, and the pairs whose second attribute depends on the first in
        a way that keeps its conditional distributions in its own set.

        Parameters
        ----------
        other : Mechanism
            For the second attribute. A product may be a factor again.
        bits : int, optional
            By default as many as hold the product exactly, or 48 where that takes more than 52. A rounded product
            lacks pairs of outputs that are too rare for the bits.
        separator : str
            Stands between two labels in the label of a pair, of inputs and of outputs.

        Raises
        ------
        InputError
            If two pairs would have the same label, or there are more than 10,000 pairs of symbols.
        LimitError
            For more than 10,000 pairs of outputs, or 10^7 entries.

        Examples
        --------
        >>> from mechdesign import Epsilon, Guarantee, L1Ball
        >>> promise = Guarantee(Epsilon.of("log(3)"), L1Ball([0.5, 0.5], 2, ["no", "yes"]))
        >>> warner = Mechanism(np.array([[3, 1], [1, 3]]), 2, promise, ("n", "y"))
        >>> both = warner.product(warner)
        >>> both.inputs, both.numerators[0].tolist(), str(both.guarantee.epsilon)
        (('no & no', 'no & yes', 'yes & no', 'yes & yes'), [9, 3, 3, 1], 'log(9)')
        """
        from mechdesign.mechanism.composition import product

        return product(self, other, bits=bits, separator=separator)

    def repeated(self, times: int, *, bits: int | None = None, separator: str = " & ") -> Mechanism:
        """Return the mechanism that reports the same record several times, each report drawn anew.

        This is the budget of a repeated release: the epsilon of the result is what all reports together tell about
        the record, to somebody who knows the true prior. It is computed from the integers in exact arithmetic over
        all combinations of reports, and rounded up to 12 decimals. For local differential privacy it is at most
        `times` epsilons. For a set of priors it may be **more**, and even without bound: each of several reports
        excludes some symbols, and together they may leave only an unlikely one. Mechanisms of greatest utility have
        such zeros. Giving the first report again costs nothing.

        The order of reports tells nothing, so that the outputs are combinations with repetition.

        Parameters
        ----------
        times : int
            1 to 200 reports.
        bits : int, optional
            By default as many as hold the result exactly, or 48 where that takes more than 52. A rounded result
            lacks combinations that are too rare for the bits; epsilon covers them all the same.
        separator : str
            Stands between the labels of outputs in the label of a combination.

        Raises
        ------
        InputError
            For another number of times, or combinations that would have the same label.
        GuaranteeError
            If some combination leaks without bound, with its label.
        LimitError
            For more than 10,000 combinations, or 10^7 entries.

        Examples
        --------
        >>> from mechdesign import Epsilon, Guarantee, L1Ball
        >>> promise = Guarantee(Epsilon.of("log(3/2)"), L1Ball(["1/3", "1/3", "1/3"]))
        >>> one_out = Mechanism(np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]]), 1, promise)
        >>> twice = one_out.repeated(2)
        >>> twice.outputs, str(twice.guarantee.epsilon)  # log(3), above 2 log(3/2)
        (('y1 & y1', 'y1 & y2', 'y1 & y3', 'y2 & y2', 'y2 & y3', 'y3 & y3'), '1.098612288669')
        """
        from mechdesign.mechanism.composition import repeated

        return repeated(self, times, bits=bits, separator=separator)
