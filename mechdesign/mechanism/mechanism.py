"""The mechanism as it is exported: integers, labels, and a guarantee that is proved."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.data.labels import canonical_labels
from mechdesign.errors import GuaranteeError, InputError
from mechdesign.mechanism.claims import Optimality, Parts, Provenance
from mechdesign.mechanism.equality import EqualByFile
from mechdesign.mechanism.from_floats import Repair
from mechdesign.mechanism.origin import check_tag, tagged_names
from mechdesign.mechanism.proof import Guarantee, Integers, Proof, checked_bits, prove
from mechdesign.mechanism.reporting import Reporting
from mechdesign.mechanism.table_claims import TableClaim, TableOptimality
from mechdesign.mechanism.views import MechanismViews
from mechdesign.numerics.arrays import entries, frozen, number_array
from mechdesign.numerics.exact import float_up


@dataclass(frozen=True, eq=False, repr=False)
class Mechanism(Reporting, MechanismViews, EqualByFile):
    """A privacy mechanism as integers over 2^bits, with a guarantee proved when the object is made.

    Parameters
    ----------
    numerators : int64 array, shape (N, M)
        Row i over 2^bits is the distribution of the output when the input is category i.
    bits : int
        1 to 52.
    guarantee : Guarantee
        Epsilon, and the priors for which it holds.
    outputs : sequence of str, optional
        Labels of the outputs; by default ``y1-TAG`` to ``yM-TAG``, where six digits tell which mechanism reports
        (`mechdesign.mechanism.origin`).
    optimality : Optimality, optional
        A claim that the utility is greatest. `mechdesign.verify` checks it.
    provenance : Provenance, optional
        The software and the method that made the mechanism.
    table : TableClaim, optional
        That outputs are inputs, under constraints that the integers keep (`mechdesign.design_table`).

    Raises
    ------
    InputError
        If the integers are not a mechanism.
    GuaranteeError
        If the guarantee is false, or a constraint of the table is broken. So every `Mechanism` has a proved guarantee.

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
    table: TableClaim | None = None
    proof: Proof = field(init=False, repr=False)

    def __post_init__(self) -> None:
        accepted = "integers, a row for each category"
        numerators = frozen(number_array(self.numerators, "the matrix of numerators", accepted))
        object.__setattr__(self, "numerators", numerators)
        object.__setattr__(self, "bits", checked_bits(self.bits))
        proof = prove(numerators, self.bits, self.guarantee)
        M = numerators.shape[1]
        given = entries(self.outputs, "the argument outputs", "a list of labels")
        names = canonical_labels(given, M) if given else tagged_names(self.parts)
        object.__setattr__(self, "outputs", names)
        object.__setattr__(self, "proof", proof)
        if not proof.holds:
            raise GuaranteeError.guarantee_false(f"the guarantee is false: {proof.why_false(names, self.guarantee)}")
        if self.table is not None:
            self.table.check(self.parts)
        claim = self.optimality
        if claim is not None:
            claim.check_size(numerators.shape[0], on_average=self.guarantee.maximal_leakage is not None)
            object.__setattr__(self, "optimality", claim.aligned_with(self.inputs))

    @classmethod
    def from_matrix(
        cls,
        matrix: ArrayLike,
        guarantee: Guarantee,
        *,
        bits: int = 48,
        outputs: Sequence[str] | None = None,
        optimality: Optimality | None = None,
        provenance: Provenance | None = None,
    ) -> Mechanism:
        """Return the mechanism of a matrix of floats that keeps the guarantee.

        The matrix is rounded to integers, for which the guarantee is proved. Rounding moves a probability by a few
        units of 2^-bits for each output. A matrix that would have to be changed further is refused; see `repaired`.
        Without labels, the outputs are sorted by falling mass at the reference prior, and proportional columns are
        merged.

        Parameters
        ----------
        matrix : array or pandas DataFrame, shape (N, M)
            Row-stochastic; rows may miss 1 by 1e-9 and count as weights. Each output leaks at most epsilon, up to the
            errors of floats (1e-12 nats). A DataFrame is aligned by its labels: rows with the inputs, and columns
            with the outputs if these are given; otherwise its columns name the outputs.
        guarantee, bits, outputs, optimality, provenance
            As for the class.

        Raises
        ------
        InputError
            If the matrix is not row-stochastic or has other labels, or if outputs with labels have to be merged.
        GuaranteeError
            If an output leaks more than epsilon, which the message names, or if the bits are too few.

        Examples
        --------
        >>> from mechdesign import Guarantee, L1Ball
        >>> promise = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2))
        >>> Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, bits=2).numerators
        array([[3, 1],
               [1, 3]])
        """
        from mechdesign.mechanism.from_floats import from_matrix

        parts = from_matrix(matrix, guarantee, bits=bits, outputs=outputs)
        return cls(*parts._replace(optimality=optimality, provenance=provenance))

    @classmethod
    def repaired(
        cls, matrix: ArrayLike, guarantee: Guarantee, *, bits: int = 48, outputs: Sequence[str] | None = None
    ) -> Repair:
        """Return a mechanism that keeps the guarantee, close to a matrix that does not, and its distance to the matrix.

        Columns that leak too much are raised towards their greatest entries until the proof accepts them; then the
        matrix is mixed with the smallest sufficient share of the result. The mechanism need not be the nearest one, nor
        one of high utility: `mechdesign.design` finds that. If no other repair succeeds, it has one output.

        Parameters
        ----------
        matrix, guarantee, bits, outputs
            As for `from_matrix`.

        Raises
        ------
        InputError
            As `from_matrix`.

        Examples
        --------
        >>> from mechdesign import Guarantee, L1Ball
        >>> promise = Guarantee("log(2)", L1Ball([0.5, 0.5], radius=2))
        >>> found = Mechanism.repaired([[0.75, 0.25], [0.25, 0.75]], promise)
        >>> found.mechanism.matrix.round(4), round(found.moved, 4)
        (array([[0.6667, 0.3333],
                [0.3333, 0.6667]]), 0.0833)
        """
        from mechdesign.mechanism.from_floats import repaired

        parts, moved = repaired(matrix, guarantee, bits=bits, outputs=outputs)
        return Repair(cls(*parts), moved)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy is made by the constructor, which proves the guarantee again.
        return Mechanism, tuple(self.parts)

    @property
    def parts(self) -> Parts:
        """What the mechanism is made of: the arguments from which it is made and proved again."""
        return Parts(*(getattr(self, name) for name in Parts._fields))

    @property
    def claim(self) -> Optimality | TableOptimality | None:
        """What is claimed of other mechanisms: `optimality`, or for a table that no other table is better."""
        return self.table.optimality if self.table is not None else self.optimality

    @property
    def compound(self) -> tuple[str, ...]:
        """The columns whose combinations are the categories, where a table publishes several together."""
        return () if self.table is None else self.table.columns

    def _file(self) -> bytes:
        from mechdesign.mechanism.mechanism_files import to_json

        return to_json(self.parts)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Labels of the categories."""
        return self.guarantee.uncertainty.labels

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The mechanism as floats, shape (N, M); exact, since numerators have at most 52 bits."""
        return frozen(self.parts.matrix)

    @property
    def leakage(self) -> float:
        """The greatest leakage of any output over the set of priors, in nats, proved and rounded up."""
        return self.proof.leakage

    @property
    def maximal_leakage(self) -> float:
        """How much likelier all reports together make the best guess, for any prior, in nats, proved and rounded up.

        It is ``log sum_y max_x p(y|x)``, and holds for priors outside of the set too. Where the promise is about the
        data it is never above `leakage`.
        """
        return self.proof.maximal_leakage

    @property
    def lower_leakage(self) -> float | None:
        """How far a report lowers the probability of any category over the set, in nats, proved and rounded up.

        None if the guarantee does not promise anything from below (`Guarantee.lower`).
        """
        return self.proof.lower_leakage

    @property
    def radius(self) -> float | None:
        """The l1 radius of the guarantee, rounded up; None for a hull of priors."""
        radius = getattr(self.guarantee.uncertainty, "radius", None)
        return None if radius is None else float_up(radius)

    def save(self, path: str | os.PathLike[str], *, probabilities: bool = False) -> None:
        """Write the mechanism, as JSON, NPZ or CSV by the ending of the name.

        JSON is the format. NPZ holds the same JSON beside the arrays. CSV cannot be loaded again: it is a table of the
        integers, or of the probabilities as decimals if these are asked for. The file is written whole or not at all.

        Raises
        ------
        InputError
            For another ending, probabilities in another file than CSV, or a file that cannot be written.
        """
        from mechdesign.mechanism.mechanism_files import save

        save(self.parts, path, probabilities=probabilities)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Mechanism:
        """Read a mechanism from JSON or NPZ and prove its guarantee again.

        Raises
        ------
        InputError
            If the file is malformed, or the tag in the names of its outputs is that of another mechanism.
        GuaranteeError
            If it is well-formed and its guarantee is false.
        """
        from mechdesign.mechanism.mechanism_files import load

        mechanism = cls(*load(path))
        check_tag(mechanism.parts)
        return mechanism

    def then(
        self, post: Mapping[Any, Any] | ArrayLike, *, outputs: Sequence[str] | None = None, bits: int | None = None
    ) -> Mechanism:
        """Return the mechanism followed by a map of its outputs that does not depend on the input.

        The leakage never rises, not even by rounding, and the utility rises at most by rounding. The guarantee stays
        the same. A claim of optimality is dropped.

        Parameters
        ----------
        post : mapping or array, shape (M, K)
            From every output to its new label: columns are added up, exactly, and the labels come in the order in
            which they first appear along `outputs`. Or a row-stochastic matrix: row j is the distribution of the new
            output, given the old output j. Rows may miss 1 by 1e-9 and count as weights. A DataFrame is aligned by
            its labels: rows with the old outputs, columns with the new ones, which they name by default.
        outputs : sequence of str, optional
            Labels of the K new outputs, for a matrix. Without them outputs are sorted and merged as in `from_matrix`.
        bits : int, optional
            For a matrix; as many as the mechanism has by default.

        Raises
        ------
        InputError
            If the mapping lacks an output or names an unknown one, if a row is not a distribution, or if outputs with
            labels have to be merged.

        Examples
        --------
        >>> from mechdesign import Epsilon, Guarantee, L1Ball
        >>> promise = Guarantee(Epsilon.of("log(2)"), L1Ball([0.5, 0.25, 0.25], radius=2))
        >>> asked = Mechanism(np.array([[2, 1, 1], [1, 2, 1], [1, 1, 2]]), 2, promise)
        >>> merged = asked.then(dict(zip(asked.outputs, ["first", "other", "other"])))
        >>> merged.outputs, merged.numerators.tolist()
        (('first', 'other'), [[2, 2], [1, 3], [1, 3]])
        >>> asked.then([[0.5, 0.5], [0.5, 0.5], [0, 1]], outputs=["a", "b"]).leakage <= asked.leakage
        True
        """
        from mechdesign.mechanism.composition import then

        return Mechanism(*then(self.parts, self.proof, post, outputs=outputs, bits=bits))

    def product(self, other: Mechanism, *, bits: int | None = None, separator: str = " & ") -> Mechanism:
        """Return the mechanism for two attributes, each of which is reported by its own mechanism.

        Its matrix is the Kronecker product. The guarantee is the sum of both epsilons, and of both lowers where both
        have one, for every joint prior of the `ProductSet` of both sets: all independent pairs, and the pairs whose
        second attribute depends on the first in a way that keeps its conditional distributions in its own set.

        Parameters
        ----------
        other : Mechanism
            For the second attribute. Either mechanism may be a product itself.
        bits : int, optional
            By default as many as hold the product exactly, or 48 where that takes more than 52. A rounded product
            lacks pairs of outputs that are too rare for the bits.
        separator : str
            Text between the two labels of a pair, of inputs and of outputs.

        Raises
        ------
        InputError
            If two pairs would have the same label, or there are more than 10,000 pairs of categories.
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

        check_mechanism(other, "the other mechanism")
        proofs = self.proof, other.proof
        return Mechanism(*product(self.parts, other.parts, proofs, bits=bits, separator=separator))

    def repeated(self, times: int, *, bits: int | None = None, separator: str = " & ") -> Mechanism:
        """Return the mechanism that reports the same record several times, with independent reports.

        Its epsilon is the budget of a repeated release: the leakage of all reports together, to an adversary who knows
        the true prior. It is computed from the integers in exact arithmetic over all combinations of reports, as lower
        is if there is one, and rounded up to 12 decimals. For local differential privacy it is at most `times`
        epsilons. For a set of priors it may be **more**, and even infinite: each report excludes some categories, and
        together they may leave only an unlikely one. Optimal mechanisms have such zeros. Publishing the first report
        again costs nothing.

        The order of reports carries no information, so the outputs are combinations with repetition.

        Parameters
        ----------
        times : int
            1 to 200 reports.
        bits : int, optional
            By default as many as hold the result exactly, or 48 where that takes more than 52. A rounded result
            lacks combinations that are too rare for the bits; epsilon covers these too.
        separator : str
            Text between the labels of outputs in the label of a combination.

        Raises
        ------
        InputError
            For another number of times, or combinations that would have the same label.
        GuaranteeError
            If the leakage of a combination is infinite; the message has its label.
        LimitError
            For more than 10,000 combinations, or 10^7 entries.

        Examples
        --------
        >>> from mechdesign import Epsilon, Guarantee, L1Ball
        >>> promise = Guarantee(Epsilon.of("log(3/2)"), L1Ball(["1/3", "1/3", "1/3"]))
        >>> one_out = Mechanism(np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]]), 1, promise, ["y1", "y2", "y3"])
        >>> twice = one_out.repeated(2)
        >>> twice.outputs, str(twice.guarantee.epsilon)  # log(3), above 2 log(3/2)
        (('y1 & y1', 'y1 & y2', 'y1 & y3', 'y2 & y2', 'y2 & y3', 'y3 & y3'), '1.098612288669')
        """
        from mechdesign.mechanism.composition import repeated

        own = self.parts
        parts = repeated(own, times, bits=bits, separator=separator)
        return self if parts is own else Mechanism(*parts)


def check_mechanism(value: object, name: str = "the mechanism", *, deployed: bool = False) -> None:
    """Refuse anything but a `Mechanism`: of a `Baseline` and of a `Design` the message says how to get theirs.

    Parameters
    ----------
    value : object
        What a caller gave; it may be records, so that messages say its type alone.
    name : str
        What it is to the caller.
    deployed : bool
        Whether a mechanism of any kind that reports is accepted (`Deployed`).

    Raises
    ------
    InputError
        If it is something else.
    """
    if isinstance(value, Mechanism) or (deployed and hasattr(type(value), "drawing")):
        return
    own = getattr(value, "mechanism", None)
    wanted = "a Mechanism, such as Mechanism.load(path)"
    if isinstance(own, Mechanism):
        wanted = "its .mechanism"
    elif callable(own):
        wanted = "its .mechanism(prior, labels=[...]), which has integers with a proved guarantee"
    raise InputError.wrong_type(f"{name} is of type {type(value).__name__}; give {wanted}")
