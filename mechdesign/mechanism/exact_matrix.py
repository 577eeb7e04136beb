"""Any mechanism in exact numbers, of which nothing is promised: rows of whole numbers, each row over its sum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from mechdesign.data.labelled import Labels, own_labels, some_labels, table
from mechdesign.data.labelled import order as order_of
from mechdesign.display.numbers import text_near
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.mechanism.mechanism import Mechanism
from mechdesign.numerics.arrays import Floats, frozen, shares
from mechdesign.numerics.exact import over_common_denominator, rational
from mechdesign.numerics.tolerances import WEIGHT_SUM
from mechdesign.uncertainty import UncertaintySet

MOST_SIDE = 20_000
"""The most inputs, and the most outputs, of a matrix."""

MOST_ENTRIES = 4_000_000
"""The most entries of a matrix."""

_LARGE_POWER, _EXACT_IN_WORDS = 20, 10**15  # how the sum of rows of whole numbers is written
_MOST_WORK = 10**11  # entries times bits of the common denominator: about a minute


@dataclass(frozen=True, eq=False)
class ExactMatrix:
    """A row-stochastic matrix in exact numbers.

    A `Mechanism` has a guarantee, which is proved; this is a matrix that somebody uses, whatever it leaks. Use
    `ExactMatrix.of` to make one from an array, a data frame or a mechanism, and `read_matrix` from a file.

    Attributes
    ----------
    weights : tuple of tuples of int
        A row for each input. The probability of an output is its weight over the sum of the row.
    inputs, outputs : tuple of str, or None
        Their labels; None where the matrix has none.
    numbers : str
        How the numbers were read, in words.
    off : Fraction
        How far the sum of a row as it was given is from 1 at most.
    name : str
        For tables; empty if it has none.
    rounded : bool
        Whether it was given as floats or decimals, which may stand for numbers near them: a promise counts as kept if
        it is missed by no more than their errors. Whole numbers or fractions keep it exactly or not at all.
    """

    weights: tuple[tuple[int, ...], ...]
    inputs: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None
    numbers: str = "exact numbers"
    off: Fraction = Fraction(0)
    name: str = ""
    rounded: bool = False

    @classmethod
    def of(cls, given: Any, name: str = "") -> ExactMatrix:
        """Return a mechanism, or whatever stands for one, in exact numbers.

        Parameters
        ----------
        given : ExactMatrix, Mechanism, object with an attribute ``exact_matrix``, array or DataFrame of shape (N, M)
            Probabilities, whose rows may miss 1 by 1e-9 and count as weights; or whole numbers, whose rows have the
            same sum. A float is the rational that it is. Texts (``"0.1"``, ``"1/3"``), decimals and fractions are what
            they state. A data frame names inputs and outputs by its labels.
        name : str
            For tables, instead of its own.

        Raises
        ------
        InputError
            If an entry is negative or not a number, or a row has another sum.

        Examples
        --------
        >>> ExactMatrix.of([["0.9", "0.1"], ["0.2", "0.8"]]).weights
        ((9, 1), (1, 4))
        """
        found = getattr(given, "exact_matrix", given)
        if isinstance(found, ExactMatrix):
            return replace(found, name=name or found.name)
        if isinstance(found, Mechanism):
            return cls.of_integers(found.numerators.tolist(), found.bits, found.inputs, found.outputs, name)
        labelled = table(given, "the matrix")
        rows, kinds = _numbers(labelled.values)
        inputs, outputs = (None if own is None else tuple(own) for own in map(own_labels, labelled[1:]))
        rounded = not kinds.isdisjoint({"float", "text"})
        return cls.of_fractions(rows, inputs, outputs, numbers=_in_words(kinds), name=name, rounded=rounded)

    @classmethod
    def of_integers(
        cls,
        numerators: Sequence[Sequence[int]],
        bits: int,
        inputs: tuple[str, ...],
        outputs: tuple[str, ...] | None,
        name: str = "",
    ) -> ExactMatrix:
        """Return the matrix of the integers of a mechanism over 2^bits."""
        return cls(tuple(map(tuple, numerators)), inputs, outputs, f"whole numbers over 2^{bits}", name=name)

    @classmethod
    def of_fractions(
        cls,
        rows: Sequence[Sequence[Fraction]],
        inputs: tuple[str, ...] | None = None,
        outputs: tuple[str, ...] | None = None,
        *,
        numbers: str = "exact numbers",
        name: str = "",
        rounded: bool = False,
    ) -> ExactMatrix:
        """Return a matrix of fractions, after checking that its rows are distributions, or all have the same sum.

        Whole numbers are not `rounded`, whatever is said.

        Raises
        ------
        InputError
            As `of`.
        """
        _check_shape(rows)
        sums = []
        for i, row in enumerate(rows):
            for j, entry in enumerate(row):
                if entry < 0:
                    raise InputError.not_probabilities(
                        f"the matrix has {text_near(entry)} in row {i + 1}, column {j + 1}; accepted: probabilities"
                    )
            sums.append(sum(row, Fraction(0)))
        whole = all(entry.denominator == 1 for row in rows for entry in row) and sums[0] > 1
        scale = sums[0] if whole else Fraction(1)
        wrong = max(range(len(sums)), key=lambda i: abs(sums[i] - scale))
        off = abs(sums[wrong] - scale)
        if off > (0 if whole else Fraction(WEIGHT_SUM)):
            accepted = (
                f"{text_near(scale)}, as row 1, since all entries are whole numbers"
                if whole
                else f"1, give or take {WEIGHT_SUM:g}"
            )
            raise InputError.wrong_sum(
                f"row {wrong + 1} of the matrix sums to {text_near(sums[wrong])}; accepted: {accepted}"
            )
        weights = tuple(_lowest(over_common_denominator(row)[0]) for row in rows)
        kind = f"whole numbers over {_power_or_number(int(scale))}" if whole else numbers
        return cls(weights, inputs, outputs, kind, off, name, rounded and not whole)

    def __getstate__(self) -> dict[str, Any]:
        # A copy computes the cached properties again.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def size(self) -> int:
        """Number N of inputs."""
        return len(self.weights)

    @property
    def count(self) -> int:
        """Number M of outputs."""
        return len(self.weights[0])

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """The sum of each row of weights."""
        return tuple(map(sum, self.weights))

    @cached_property
    def matrix(self) -> Floats:
        """The matrix as floats, shape (N, M), each entry rounded once."""
        return frozen(shares(self.weights))

    @cached_property
    def _factors(self) -> tuple[int, ...]:
        """What each row is multiplied by, so that all have the same sum."""
        common = math.lcm(*self.totals)
        work = self.size * self.count * common.bit_length()
        if work > _MOST_WORK:
            raise LimitError.beyond_precision(
                f"the sums of the rows have a common denominator of {common.bit_length()} bits, too many for exact "
                f"arithmetic on {self.size} x {self.count} entries; give whole numbers whose rows have the same sum"
            )
        return tuple(common // total for total in self.totals)

    def column(self, output: int) -> list[int]:
        """Return the probabilities of an output as integers, up to a factor that is the same for all inputs."""
        return [row[output] * factor for row, factor in zip(self.weights, self._factors, strict=True)]

    @cached_property
    def ldp_ratio(self) -> Fraction | None:
        """The greatest ratio of two probabilities of one output; None where an input cannot cause it, another can.

        Its logarithm is the least epsilon of local differential privacy.
        """
        worst = Fraction(1)
        for output in range(self.count):
            v = self.column(output)
            if any(v):
                if not all(v):
                    return None
                worst = max(worst, Fraction(max(v), min(v)))
        return worst

    def ratios(self, known: UncertaintySet) -> tuple[Fraction | None, ...]:
        """Return the greatest lift of each output over a set of priors; None where it is infinite.

        The lift of an output that never occurs is 1.

        Examples
        --------
        >>> from mechdesign import L1Ball
        >>> ExactMatrix.of([["0.75", "0.25"], ["0.25", "0.75"]]).ratios(L1Ball([0.5, 0.5], 2))
        (Fraction(3, 1), Fraction(3, 1))
        """
        exact_set = known.exact_set
        columns = (self.column(output) for output in range(self.count))
        return tuple(exact_set.exact_ratio(v) if any(v) else Fraction(1) for v in columns)

    def greatest_ratio(self, known: UncertaintySet) -> Fraction | None:
        """Return the greatest lift of any output over a set, whose logarithm is the leakage; None if it is infinite."""
        worst = Fraction(1)
        for ratio in self.ratios(known):
            if ratio is None:
                return None
            worst = max(worst, ratio)
        return worst

    @property
    def sum_of_greatest(self) -> Fraction:
        """The sum of the greatest probabilities of all outputs, whose logarithm is the maximal leakage."""
        columns = zip(*self.weights, strict=True)
        return sum((max(map(Fraction, column, self.totals)) for column in columns), Fraction(0))

    def least_lifts(self, known: UncertaintySet) -> tuple[Fraction, ...]:
        """Return the least lift of each output over a set of priors; 1 for an output that never occurs."""
        exact_set = known.exact_set
        columns = (self.column(output) for output in range(self.count))
        return tuple(exact_set.exact_least_lift(v) if any(v) else Fraction(1) for v in columns)

    def on_alphabet_of(self, known: UncertaintySet) -> ExactMatrix:
        """Return the matrix with its rows in the order of the categories of a set, and labels for inputs and outputs.

        Rows without labels are in this order already.

        Raises
        ------
        InputError
            If there are more or fewer rows, or their labels differ from those of the set.
        """
        if self.inputs is not None and set(self.inputs) != set(known.labels) == set(self.outputs or ()):
            raise InputError.labels_differ(
                "the columns of the matrix have the labels of the categories, and its rows have "
                f"{some_labels(self.inputs)}; give a row for each category: transpose the matrix"
            )
        if self.size != known.size:
            raise InputError.wrong_size(
                f"the matrix has {self.size} rows for {known.size} categories; give one a category"
            )
        given = None if self.inputs is None else Labels(self.inputs)
        places = order_of(given, known.labels, "rows of the matrix")
        weights = self.weights if places is None else tuple(self.weights[place] for place in places)
        outputs = self.outputs or tuple(f"y{j + 1}" for j in range(self.count))
        return replace(self, weights=weights, inputs=known.labels, outputs=outputs)

    def in_words(self) -> str:
        """Return which matrix this is, exactly, in words.

        Examples
        --------
        >>> ExactMatrix.of([[0.5, 0.5], [0.1, 0.9]]).in_words()
        '2 x 2, floats, each the rational that it is; rows miss 1 by up to 2.8e-17 and count as weights'
        """
        rows = "rows sum to 1" if not self.off else f"rows miss 1 by up to {float(self.off):.2g} and count as weights"
        return f"{self.size} x {self.count}, {self.numbers}; {rows}"

    def __repr__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        return f"ExactMatrix({name}{self.in_words()})"


def _power_or_number(n: int) -> str:
    """Return a whole number as text: a large power of two as a power, a very large number rounded."""
    bits = n.bit_length() - 1
    if n == 1 << bits and bits >= _LARGE_POWER:
        return f"2^{bits}"
    return str(n) if n <= _EXACT_IN_WORDS else text_near(Fraction(n))


def _lowest(row: list[int]) -> tuple[int, ...]:
    """Return whole numbers in lowest terms."""
    common = math.gcd(*row)
    return tuple(entry // common for entry in row)


def _check_shape(rows: Sequence[Sequence[Any]]) -> None:
    """Refuse what is not a matrix, or is too large."""
    widths = sorted({len(row) for row in rows})
    if len(rows) < 2 or len(widths) != 1 or widths[0] < 1:
        shape = f"{len(rows)} rows of {', '.join(map(str, widths)) or 'no'} entries"
        raise InputError.wrong_size(f"the matrix has {shape}; accepted: two rows or more, all with as many entries")
    if max(len(rows), widths[0]) > MOST_SIDE or len(rows) * widths[0] > MOST_ENTRIES:
        raise LimitError.too_much_work(
            f"the matrix is {len(rows)} x {widths[0]}; accepted: at most {MOST_SIDE} rows and columns, and "
            f"{MOST_ENTRIES} entries"
        )


def _numbers(values: Any) -> tuple[list[list[Fraction]], set[str]]:
    """Return an array-like as rows of fractions, and of which kinds its numbers are."""
    if isinstance(values, np.ndarray) and values.dtype.kind not in "biufOU":
        raise InputError.not_a_number(f"the matrix holds {shorten(str(values.dtype))}; accepted: probabilities")
    if np.ma.is_masked(values):
        raise InputError.not_a_number("the matrix has masked entries; accepted: probabilities, without a mask")
    try:
        given = [list(row) for row in (values.tolist() if isinstance(values, np.ndarray) else values)]
    except TypeError:
        raise InputError.wrong_type(f"the matrix is {shorten(values)}; accepted: rows of probabilities") from None
    _check_shape(given)
    kinds: set[str] = set()
    rows = [[_number(entry, i, j, kinds) for j, entry in enumerate(row)] for i, row in enumerate(given)]
    return rows, kinds


def _number(entry: Any, i: int, j: int, kinds: set[str]) -> Fraction:
    """Return an entry as the fraction that it is, and note its kind."""
    where = f"the entry in row {i + 1}, column {j + 1} of the matrix"
    if isinstance(entry, float | np.floating):
        if not math.isfinite(entry):
            raise InputError.not_probabilities(f"{where} is {float(entry)}; accepted: probabilities")
        kinds.add("float")
        return Fraction(float(entry))
    kinds.add("text" if isinstance(entry, str | Decimal) else "exact")
    return rational(entry, where)


def _in_words(kinds: set[str]) -> str:
    if kinds == {"float"}:
        return "floats, each the rational that it is"
    if kinds == {"text"}:
        return "decimals and ratios as written"
    return "exact numbers" if "float" not in kinds else "exact numbers, and floats as the rationals that they are"
