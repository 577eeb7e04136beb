"""What a table keeps beside its promise, in exact arithmetic, and the claim that no other table is better.

A *table* is a mechanism whose outputs are its inputs: a column of records is published with the same categories. Entry
(x, y) is how often a record of category x is published as y. Beside the promise the integers A over 2^bits may keep

    sum_x P_x A_xy = P_y 2^bits      (invariance: expected counts stay what they are),
    A_xx >= d_x 2^bits               (floors),
    A_xy = 0                         (forbidden pairs).

All of them are compared as whole numbers and fractions; no tolerance is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any, ClassVar, Protocol

from mechdesign.data.compound import check_compound
from mechdesign.errors import GuaranteeError, InputError, printable
from mechdesign.mechanism.proof import Guarantee, Integers
from mechdesign.numerics.exact import over_common_denominator


@dataclass(frozen=True)
class TableConstraints:
    """Constraints on a square matrix of integers.

    Parameters
    ----------
    floors : tuple of Fraction
        The least share of each category that stays unchanged; 0 asks for nothing.
    invariant : bool
        Whether the reference prior is kept: expected counts stay what they are.
    forbidden : frozenset of pairs of int
        Pairs (x, y), x != y, of which no record changes from the first to the second.

    Examples
    --------
    >>> import numpy as np
    >>> halves = TableConstraints((Fraction(1, 2),) * 2)
    >>> halves.violation(np.array([[3, 1], [1, 3]]), 2, [Fraction(1, 2)] * 2, ["a", "b"])
    >>> halves.violation(np.array([[3, 1], [2, 2]]), 2, [Fraction(1, 2)] * 2, ["a", "b"])
    "the table is not invariant: the expected share of 'a' is 0.625, and its share 0.5"
    """

    floors: tuple[Fraction, ...]
    invariant: bool = True
    forbidden: frozenset[tuple[int, int]] = frozenset()

    @property
    def size(self) -> int:
        """Number N of categories."""
        return len(self.floors)

    @property
    def has_limits(self) -> bool:
        """Whether there are floors or forbidden pairs."""
        return any(self.floors) or bool(self.forbidden)

    def allowed(self, output: int) -> list[int]:
        """Return the categories of which records may be published as an output."""
        return [x for x in range(self.size) if (x, output) not in self.forbidden]

    def violation(
        self, numerators: Integers, bits: int, prior: Sequence[Fraction], labels: Sequence[str]
    ) -> str | None:
        """Return in words which constraint integers break first; None if they keep all."""
        rows, total = numerators.tolist(), 2**bits
        for x, (row, floor) in enumerate(zip(rows, self.floors, strict=True)):
            if row[x] < floor * total:
                return (
                    f"the floor of {printable(repr(labels[x]))} is {float(floor):.9g}, and only "
                    f"{row[x] / total:.9g} of its records stay unchanged"
                )
        for x, y in sorted(self.forbidden):
            if rows[x][y]:
                return f"{printable(repr(labels[x]))} is published as {printable(repr(labels[y]))}, a forbidden pair"
        weights, common = over_common_denominator(prior)
        for y, column in enumerate(zip(*rows, strict=True) if self.invariant else ()):
            mass = sum(map(mul, weights, column))
            if mass != weights[y] * total:
                return (
                    f"the table is not invariant: the expected share of {printable(repr(labels[y]))} is "
                    f"{mass / common / total:.9g}, and its share {weights[y] / common:.9g}"
                )
        return None


class TableIntegers(Protocol):
    """The parts of a mechanism that a claim about a table is about (`mechdesign.mechanism.Parts`)."""

    @property
    def numerators(self) -> Integers:
        """Rows sum to 2^bits."""

    @property
    def bits(self) -> int:
        """As above."""

    @property
    def guarantee(self) -> Guarantee:
        """Whose reference prior is kept."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The categories."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """What they are published as."""


@dataclass(frozen=True)
class TableObjective:
    """What the claim of a table is about, as other claims name their utility.

    Attributes
    ----------
    minimised : bool
        Whether it is the expected loss; otherwise it is the expected share of unchanged records.
    """

    minimised: bool
    unit: ClassVar[str] = "1"

    @property
    def name(self) -> str:
        """``expected-loss`` or ``unchanged-share``."""
        return "expected-loss" if self.minimised else "unchanged-share"

    @property
    def bound_name(self) -> str:
        """The key of the bound."""
        return "lower_bound" if self.minimised else "upper_bound"


@dataclass(frozen=True)
class TableOptimality:
    """The claim that no table with the same promise and constraints is better than a bound.

    Attributes
    ----------
    value : float
        The expected share of unchanged records, or the expected loss.
    bound : float
        No other table keeps a greater share, or has less loss; rounded outward.
    multipliers, floor_multipliers : tuple of float
        lambda and sigma, from which anyone can compute the bound again.
    loss : tuple of tuples of Fraction, or None
        The loss of each pair; None for the share of unchanged records, which is as great as possible.
    """

    value: float
    bound: float
    multipliers: tuple[float, ...]
    floor_multipliers: tuple[float, ...]
    loss: tuple[tuple[Fraction, ...], ...] | None = None
    within_simplex: ClassVar[bool] = True
    mixture: ClassVar[None] = None

    @property
    def utility(self) -> TableObjective:
        """What the value is."""
        return TableObjective(self.loss is not None)


@dataclass(frozen=True)
class TableClaim:
    """That a mechanism is a table with constraints, and perhaps that no other is better.

    Attributes
    ----------
    constraints : TableConstraints
        What its integers keep.
    optimality : TableOptimality or None
        The claim about all other tables.
    columns : tuple of str
        The columns that are published together: a category is a combination of their labels. Empty for one column.
    """

    constraints: TableConstraints
    optimality: TableOptimality | None = None
    columns: tuple[str, ...] = ()

    def facts(self, labels: Sequence[str]) -> list[tuple[str, str]]:
        """Return what people read of the constraints."""
        kept = self.constraints
        floored = [x for x, floor in enumerate(kept.floors) if floor]
        words = ["outputs are the inputs"]
        words += ["invariant: expected counts stay what they are, exactly"] if kept.invariant else []
        if floored:
            greatest = max(floored, key=kept.floors.__getitem__)
            shown = f"{float(kept.floors[greatest]):.6g} ({labels[greatest]})"
            words.append(f"floors for {len(floored)} categories, up to {shown}")
        words += [f"{len(kept.forbidden)} forbidden pairs"] if kept.forbidden else []
        facts = [("table", "; ".join(words))]
        if self.columns:
            facts.append(
                ("columns", f"{', '.join(self.columns)}, published together: the promise is about all of them")
            )
        if kept.invariant:
            facts.append(("disclosed", "whoever sees the matrix of an invariant table sees the counts"))
        return facts

    def facts_of_reports(self) -> list[tuple[str, str]]:
        """Return what people read where a column is published."""
        true = "the counts that the table was made for stay true on average, tables with other columns do not"
        return [("published", f"the same categories; {true if self.constraints.invariant else 'all counts change'}")]

    def keys(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return what programs read of the constraints."""
        kept = self.constraints
        return {
            "invariant": kept.invariant,
            "floors": {labels[x]: float(floor) for x, floor in enumerate(kept.floors) if floor},
            "forbidden": [[labels[x], labels[y]] for x, y in sorted(kept.forbidden)],
            "columns": list(self.columns),
        }

    def check(self, mechanism: TableIntegers) -> None:
        """Refuse integers that are not such a table.

        Raises
        ------
        InputError
            If the outputs are not the inputs, or the claim is about another number of categories.
        GuaranteeError
            If a constraint is broken.
        """
        inputs, claim = mechanism.inputs, self.optimality
        if mechanism.outputs != inputs:
            raise InputError.labels_differ("a table has other outputs than inputs; give the same labels in one order")
        sizes, N = {self.constraints.size}, len(inputs)
        if claim is not None:
            sizes |= {len(claim.multipliers), len(claim.floor_multipliers)}
            sizes |= set() if claim.loss is None else {len(claim.loss), *map(len, claim.loss)}
        if sizes != {N} or any(not (0 <= x < N and 0 <= y < N and x != y) for x, y in self.constraints.forbidden):
            raise InputError.wrong_size(
                f"the claim of a table is about {sorted(sizes)} categories; accepted: {N}, and pairs of two of them"
            )
        if self.columns:
            check_compound(inputs, self.columns)
        prior = mechanism.guarantee.uncertainty.center
        broken = self.constraints.violation(mechanism.numerators, mechanism.bits, prior, inputs)
        if broken is not None:
            raise GuaranteeError.constraint_false(broken)
