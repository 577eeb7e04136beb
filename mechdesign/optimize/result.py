"""The result of `mechdesign.design`."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field

from mechdesign.data.files import write_atomically
from mechdesign.display.html import Above, Below, facts
from mechdesign.display.numbers import text_above
from mechdesign.mechanism import Mechanism
from mechdesign.numerics.tolerances import VALUE_FLOOR
from mechdesign.optimize.certificate import Certificate
from mechdesign.optimize.estimation.form_certificate import ErrorCertificate
from mechdesign.problem import DesignProblem


@dataclass(frozen=True)
class ClosedFormCheck:
    """The mechanism of a theorem, compared with the one that was found numerically.

    Attributes
    ----------
    theorem : str
        Its name and source.
    value : float
        Utility of the theorem's mechanism.
    difference : float
        Utility of the mechanism that was found, minus `value`.
    optimal : bool
        Whether the theorem claims that its mechanism is optimal for this problem.
    """

    theorem: str
    value: float
    difference: float
    optimal: bool


def within(gap: float, value: float, tol: float) -> bool:
    """Return whether a gap counts as closed: ``gap <= tol * max(|value|, 1e-3)``; that of an infinite error never."""
    return bool(gap < math.inf and gap <= tol * max(abs(value), VALUE_FLOOR))


def relative_gap(gap: float, value: float) -> float:
    """Return the least tolerance at which `within` counts a gap as closed; infinite for an infinite error."""
    return gap / max(abs(value), VALUE_FLOOR) if gap < math.inf else math.inf


@dataclass(frozen=True, eq=False)
class Design:
    """A mechanism with its objective and a certified bound on the objective of all others.

    Attributes
    ----------
    problem : DesignProblem
        The problem that was solved.
    mechanism : Mechanism
        Integers whose guarantee is proved.
    value : float
        Objective of those integers, in its unit: at the reference prior, or for a `WorstCaseUtility`
        the least over the set.
    bound : float
        No mechanism with the guarantee has more utility, or less error; rounded outward.
    tol : float
        Relative gap at which the design counts as certified.
    certificate : Certificate
        The dual vector that proves the bound.
    closed_form : ClosedFormCheck or None
        The mechanism of the best theorem that applies; None where no theorem does.
    method : str
        How the problem was solved.
    iterations, columns : int
        Linear programs solved, and columns that they held in the end; 0 for a design that a folder kept.
    seconds : float
        Time taken.
    stopped : str
        Why the search ended early: ``"time limit"``, ``"interrupted"``, ``"solver failed"``, or ``"stalled"`` (no
        column was found that improves the value, though the bound is above it). Empty if it did not end early.
    most_outputs : int or None
        The limit of outputs that was asked for.
    unrestricted_value : float or None
        The least error found without this limit, in floats; the bound is for any number of outputs.
    merged : tuple of tuples of str
        The labels of categories that share a row, a group of two or more in each: reports do not tell them apart. Empty
        where every category has a row of its own in the program. `mechdesign.design` says when categories are merged.
    value_at_estimate : float
        Objective of the integers at the reference prior, which is `value` unless the objective is a `WorstCaseUtility`.
    """

    problem: DesignProblem
    mechanism: Mechanism
    value: float
    bound: float
    tol: float
    certificate: Certificate | ErrorCertificate
    closed_form: ClosedFormCheck | None
    method: str
    iterations: int
    columns: int
    seconds: float
    stopped: str = ""
    most_outputs: int | None = None
    unrestricted_value: float | None = None
    merged: tuple[tuple[str, ...], ...] = ()
    value_at_estimate: float = field(kw_only=True)

    def __repr__(self) -> str:
        verdict = "certified" if self.certified else "not certified"
        found = f"{self.problem.utility.name} {self.value:.9g}, gap {text_above(self.gap, 2)}"
        return f"Design({found}, {verdict}, {self.mechanism!r})"

    def _repr_html_(self) -> str:
        objective = self.problem.utility
        unit = "" if self.unit == "1" else f" in {self.unit}"
        bound = Below if objective.minimised else Above
        pairs: list[tuple[str, object]] = [
            (f"{objective.name}{unit}", self.value),
            (f"{objective.bound_name.replace('_', ' ')}{unit}", bound(self.bound)),
            ("gap", Above(self.gap)),
            ("certified", self.certified),
        ]
        if objective.worst_case is not None:
            pairs.append((f"at the estimate{unit}", self.value_at_estimate))
        if self.closed_form is not None:
            pairs.append((self.closed_form.theorem, self.closed_form.value))
        if self.stopped:
            pairs.append(("stopped", self.stopped))
        if self.merged:
            pairs.append(("groups of categories that share a row", len(self.merged)))
        pairs += [("method", self.method), ("seconds", self.seconds)]
        return facts(pairs, "Design") + self.mechanism._repr_html_()

    @property
    def gap(self) -> float:
        """The distance of value and bound, in the objective's unit."""
        return self.value - self.bound if self.problem.utility.minimised else self.bound - self.value

    @property
    def upper_bound(self) -> float:
        """No mechanism with the guarantee has more utility; an error has a lower bound instead.

        Raises
        ------
        AttributeError
            If the objective is minimised.
        """
        if self.problem.utility.minimised:
            raise AttributeError(f"{self.problem.utility.name} is minimised; its bound is lower_bound")
        return self.bound

    @property
    def lower_bound(self) -> float:
        """No mechanism with the guarantee has less error; a utility has an upper bound instead.

        Raises
        ------
        AttributeError
            If the objective is maximised.
        """
        if not self.problem.utility.minimised:
            raise AttributeError(f"{self.problem.utility.name} is maximised; its bound is upper_bound")
        return self.bound

    @property
    def certified(self) -> bool:
        """Whether the gap is at most ``tol * max(|value|, 1e-3)``; the bound is always from exact pricing."""
        return within(self.gap, self.value, self.tol)

    @property
    def reached(self) -> bool:
        """Whether the search reached tol: the design is certified, or what was found before outputs were limited is."""
        if self.unrestricted_value is None:
            return self.certified
        return self.certified or within(self.unrestricted_value - self.bound, self.unrestricted_value, self.tol)

    @property
    def unit(self) -> str:
        """Unit of value, bound and gap."""
        return self.problem.utility.unit

    @property
    def leakage(self) -> float:
        """The greatest leakage over the exact set of priors, in nats, proved and rounded up."""
        return self.mechanism.leakage

    def report(
        self, path: str | os.PathLike[str] | None = None, *, compare: bool = True, time_limit: float | None = 30.0
    ) -> str:
        """Return a page for readers who are not mathematicians, and write it to a file where a path is given.

        It is one HTML file that fetches nothing: what is promised and what is not, the mechanism, the bound, what can
        be learnt from reports (see `mechdesign.report.mechanism_page`).

        Parameters
        ----------
        path : path, optional
            The file that is written, whole or not at all.
        compare : bool
            Whether randomized response and the best mechanism under local differential privacy stand beside it.
        time_limit : float, optional
            Seconds for the design of that mechanism.

        Raises
        ------
        GuaranteeError
            If a claim is false.
        InputError
            If the file cannot be written.

        Examples
        --------
        >>> import mechdesign as md
        >>> solved = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], radius=0.1), epsilon=1))
        >>> text = solved.report(compare=False)
        >>> "at most 2.719 times as likely" in text
        True
        """
        from mechdesign.report import mechanism_page

        text = mechanism_page(self.mechanism, compare=compare, time_limit=time_limit)
        if path is not None:
            write_atomically(path, text.encode())
        return text
