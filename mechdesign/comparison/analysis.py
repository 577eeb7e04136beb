"""The result of `mechdesign.analyze`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from mechdesign.display.frames import labelled_frame
from mechdesign.display.numbers import text_above
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism import ExactMatrix
from mechdesign.numerics.arrays import Floats, frozen
from mechdesign.numerics.exact import log_up
from mechdesign.optimize import Design
from mechdesign.uncertainty import UncertaintySet
from mechdesign.utility import Objective

TABLES = ("outputs", "symbols", "utilities")


@dataclass(frozen=True, eq=False)
class Analysis:
    """What a mechanism leaks over a set of priors, what it is worth, and the optimum that leaks no more.

    Attributes
    ----------
    matrix : ExactMatrix
        The mechanism, with its rows in the order of the categories of the set.
    uncertainty : UncertaintySet
        The priors.
    utility : Objective
        What it is compared with the optimum by.
    value : float
        The utility, or error, of the mechanism: at the reference prior, or for a `WorstCaseUtility` the least over the
        set.
    ratios : tuple of Fraction or None
        The greatest lift of each output over the set, whose logarithm is its leakage; None where it is infinite.
    least_lifts : tuple of Fraction
        The least lift of each output over the set.
    worst_prior : tuple of Fraction or None
        A prior of the set at which the output of `worst_output` leaks most; None for a promise about a secret.
    utilities : mapping from str to float
        Every utility that needs no matrix, by its name, at the reference prior; also the estimation error.
    variances : array, shape (N,)
        n times the variance of the frequency of each category, estimated from n reports about records drawn from the
        reference prior; infinite where reports do not determine it.
    groups : tuple of tuples of str
        The finest partition of the categories such that reports determine the total of each group; a group of one is a
        category whose frequency they determine.
    best : Design or None
        The best mechanism that leaks no more over the set; None where there is none.
    best_missing : str
        The reason why `best` is None; empty if there is one.
    """

    matrix: ExactMatrix
    uncertainty: UncertaintySet
    utility: Objective
    value: float
    ratios: tuple[Fraction | None, ...]
    least_lifts: tuple[Fraction, ...]
    worst_prior: tuple[Fraction, ...] | None
    utilities: Mapping[str, float]
    variances: Floats
    groups: tuple[tuple[str, ...], ...]
    best: Design | None
    best_missing: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "utilities", MappingProxyType(dict(self.utilities)))
        object.__setattr__(self, "variances", frozen(self.variances))

    def __reduce__(self) -> tuple[Any, ...]:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return _again, ({**given, "utilities": dict(self.utilities)},)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Labels of the categories."""
        return self.uncertainty.labels

    @property
    def outputs(self) -> tuple[str, ...]:
        """Labels of the outputs."""
        return self.matrix.outputs or ()

    @cached_property
    def leakages(self) -> Floats:
        """The leakage of each output over the set, in nats, each rounded up, shape (M,)."""
        return frozen(
            np.array([math.inf if ratio is None else log_up(max(ratio, Fraction(1))) for ratio in self.ratios])
        )

    @property
    def leakage(self) -> float:
        """The greatest leakage of any output over the set, in nats, rounded up: its epsilon of PML."""
        return float(self.leakages.max())

    @property
    def greatest_ratio(self) -> Fraction | None:
        """The greatest lift of any output, whose logarithm is the leakage; None where it is infinite."""
        finite = [ratio for ratio in self.ratios if ratio is not None]
        return None if len(finite) < len(self.ratios) else max(finite)

    @property
    def worst_output(self) -> str:
        """The label of the output that leaks most."""
        return self.outputs[worst_place(self.ratios)]

    @property
    def lower_leakage(self) -> float:
        """How far a report lowers the probability of any category over the set, in nats, rounded up."""
        least = min(self.least_lifts)
        return math.inf if least == 0 else log_up(1 / least)

    @property
    def ldp_level(self) -> float:
        """The least epsilon of local differential privacy, in nats, rounded up; infinite with zeros."""
        ratio = self.matrix.ldp_ratio
        return math.inf if ratio is None else log_up(ratio)

    @property
    def certified(self) -> bool:
        """Whether the optimum beside the mechanism is certified."""
        return self.best is not None and self.best.certified

    @property
    def share(self) -> float | None:
        """Which share of the best value found the mechanism has, at most 1; None without an optimum, or for 0.

        For an error the least error found over that of the mechanism.
        """
        return None if self.best is None else self._share_of(self.best.value)

    @property
    def least_share(self) -> float | None:
        """A share of the optimum that the mechanism is proved to have, from the bound on the optimum.

        For an error: the bound over the error of the mechanism.
        """
        return None if self.best is None else self._share_of(self.best.bound)

    def _share_of(self, possible: float) -> float | None:
        if self.utility.minimised:
            return min(1.0, possible / self.value) if self.value > 0 else None
        return min(1.0, self.value / possible) if possible > 0 else None

    @property
    def summary(self) -> str:
        """What the mechanism gives of what is possible, in one sentence."""
        from mechdesign.comparison.analysis_words import share_in_words

        return share_in_words(self)

    def to_frame(self, library: str | None = None, *, of: str = "outputs") -> Any:
        """Return a table as a frame of pandas or polars.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            By default the first of the two that is installed.
        of : {"outputs", "symbols", "utilities"}
            The outputs with their probabilities at the reference prior and their leakage, the categories with the
            variance of their frequencies, or the utilities.

        Raises
        ------
        InputError
            For another table or library.

        Examples
        --------
        >>> import mechdesign as md
        >>> found = md.analyze([["0.75", "0.25"], ["0.25", "0.75"]], [0.5, 0.5])
        >>> found.to_frame("pandas").round(6)
                probability   leakage  lower_leakage
        output
        y1              0.5  0.405465       0.693147
        y2              0.5  0.405465       0.693147
        """
        (name, labels), *others = self.table(of).items()
        return labelled_frame(name, labels, dict(others), library)

    def table(self, of: str = "outputs") -> dict[str, list[Any]]:
        """Return a table as columns by their names; the first names the rows."""
        if of == "outputs":
            lower = [math.inf if lift == 0 else log_up(1 / lift) for lift in self.least_lifts]
            return {
                "output": list(self.outputs),
                "probability": (self.uncertainty.prior @ self.matrix.matrix).tolist(),
                "leakage": self.leakages.tolist(),
                "lower_leakage": lower,
            }
        if of == "symbols":
            group = {label: place for place, members in enumerate(self.groups) for label in members}
            return {
                "symbol": list(self.inputs),
                "probability": self.uncertainty.prior.tolist(),
                "variance": self.variances.tolist(),
                "group": [group[label] for label in self.inputs],
            }
        if of == "utilities":
            return {"utility": list(self.utilities), "value": list(self.utilities.values())}
        raise InputError.unknown_choice(f"the table is of {shorten(of)}; accepted: {', '.join(TABLES)}")

    def __repr__(self) -> str:
        name = f"{self.matrix.name}, " if self.matrix.name else ""
        return (
            f"Analysis({name}{self.matrix.size} x {self.matrix.count}: leakage {text_above(self.leakage, 6)} nats "
            f"over {self.uncertainty!r}, LDP {text_above(self.ldp_level, 6)}, {self.utility.name} {self.value:.6g}, "
            f"{self.summary})"
        )

    def _repr_html_(self) -> str:
        from mechdesign.comparison.analysis_words import facts
        from mechdesign.display import html

        outputs = list(zip(*self.table("outputs").values(), strict=True))
        rows = [
            [name, mass, html.Above(leakage), html.Above(lower)]
            for name, mass, leakage, lower in (outputs[place] for place in np.argsort(-self.leakages, kind="stable"))
        ]
        title = self.matrix.name or "A mechanism"
        return html.facts(facts(self), title) + html.table(
            ["output", "probability", "leakage, nats", "from below, nats"], rows, "Outputs, those that leak most first"
        )


def _again(given: dict[str, Any]) -> Analysis:
    return Analysis(**given)


def worst_place(ratios: tuple[Fraction | None, ...]) -> int:
    """Return the index of the output that leaks most, the first of several.

    Examples
    --------
    >>> worst_place((Fraction(2), None, Fraction(3)))
    1
    """
    if None in ratios:
        return ratios.index(None)
    finite = [ratio for ratio in ratios if ratio is not None]
    return finite.index(max(finite))
