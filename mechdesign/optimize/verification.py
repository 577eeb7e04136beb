"""Verification of a mechanism from its integers, its guarantee and its dual vector alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mechdesign.display.frames import labelled_frame
from mechdesign.display.html import Above, Below, table
from mechdesign.display.numbers import text_above, text_below
from mechdesign.errors import GuaranteeError, LimitError
from mechdesign.mechanism import Guarantee, Mechanism, Optimality, Proof, prove
from mechdesign.mechanism.mechanism import check_mechanism
from mechdesign.mechanism.words import promise
from mechdesign.numerics.tolerances import BOUND_PAD, GAP, SOLVER
from mechdesign.optimize.certificate import Certificate, certify
from mechdesign.optimize.deadline import Deadline, deadline_of, is_limited, time_is_up
from mechdesign.optimize.estimation.form_certificate import ErrorCertificate
from mechdesign.optimize.estimation.solver import certify_error
from mechdesign.optimize.maximal_leakage import check_designed_on_average
from mechdesign.optimize.result import relative_gap, within
from mechdesign.optimize.tables.table_certificate import TableCertificate
from mechdesign.optimize.tables.table_verification import verify_table
from mechdesign.optimize.worst_case.least_certificate import certify_least
from mechdesign.problem import DesignProblem
from mechdesign.utility.objective import as_utility

_MOST_SYMBOLS = 3_000  # pricing holds matrices of categories by categories, which take 1.5 gigabytes for so many


@dataclass(frozen=True, eq=False, repr=False)
class Verification:
    """The result of `verify`: everything computed again.

    Attributes
    ----------
    proof : Proof
        The guarantee, proved again.
    value : float or None
        Objective of the integers; None without a claim.
    certificate : Certificate, ErrorCertificate, TableCertificate or None
        The bound that the stored multipliers prove; None without a claim.
    mechanism : Mechanism
        What was verified.
    """

    proof: Proof
    value: float | None
    certificate: Certificate | ErrorCertificate | TableCertificate | None
    mechanism: Mechanism = field(kw_only=True)

    def __repr__(self) -> str:
        guarantee = f"leakage <= {text_above(self.proof.leakage, 6)}, epsilon = {self.mechanism.guarantee.epsilon}"
        claim = self.mechanism.claim
        if claim is None or self.certificate is None or self.value is None or self.gap is None:
            return f"Verification(the guarantee holds: {guarantee}; no optimality claimed)"
        shown = (text_below if claim.utility.minimised else text_above)(self.certificate.bound, 9)
        bound = f"{claim.utility.bound_name.replace('_', ' ')} {shown}, gap {text_above(self.gap, 2)}"
        value = f"{claim.utility.name} {self.value:.9g}"
        return f"Verification(all claims hold: {guarantee}; {value}, {bound}, {self.verdict})"

    def _repr_html_(self) -> str:
        claim = self.mechanism.claim
        bound = Below if claim is not None and claim.utility.minimised else Above
        outward = dict.fromkeys(("leakage", "lower_leakage", "maximal_leakage", "gap"), Above) | {"bound": bound}
        rows = [[name, outward.get(name, float)(value), unit] for name, value, unit in self._quantities()]
        verdict = "the guarantee holds" if self.certificate is None else "all claims hold"
        caption = f"Verification: {verdict}; {promise(self.mechanism.guarantee)}"
        return table(["quantity", "value", "unit"], rows, caption)

    def to_frame(self, library: str | None = None) -> Any:
        """Return what was computed again as a frame, a row for each quantity, with its unit.

        Quantities are `leakage` and `epsilon`, `lower_leakage` and `lower` or `cap`, or `maximal_leakage` and
        `maximal_leakage_promised` if they are promised, and with a claim of optimality `value`, `bound` and `gap`.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame; by default that of the first of the two that is installed.

        Examples
        --------
        >>> import mechdesign as md
        >>> design = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], radius=0.1), epsilon=1))
        >>> md.verify(design.mechanism).to_frame("polars")["quantity"].to_list()
        ['leakage', 'epsilon', 'value', 'bound', 'gap']
        """
        names, values, units = zip(*self._quantities(), strict=True)
        return labelled_frame("quantity", names, {"value": values, "unit": units}, library)

    def _quantities(self) -> list[tuple[str, float, str]]:
        """Return names, values and units of what was computed again, beside what is promised."""
        guarantee, claim = self.mechanism.guarantee, self.mechanism.claim
        found = [("leakage", self.proof.leakage, "nats"), ("epsilon", float(guarantee.epsilon), "nats")]
        sides = guarantee.sides
        if self.proof.lower_leakage is not None and sides.below is not None:
            below = [("lower_leakage", self.proof.lower_leakage), (sides.below_name, float(sides.below))]
            found += [(name, value, "nats") for name, value in below]
        if sides.maximal_leakage is not None:
            found.append(("maximal_leakage", self.proof.maximal_leakage, "nats"))
            found.append(("maximal_leakage_promised", float(sides.maximal_leakage), "nats"))
        if claim is not None and self.certificate is not None and self.value is not None:
            unit = claim.utility.unit
            found += [("value", self.value, unit), ("bound", self.certificate.bound, unit)]
            found.append(("gap", self.certificate.gap(self.value), unit))
        return found

    @property
    def gap(self) -> float | None:
        """The distance of the bound computed again and the value, in the objective's unit; None without a claim."""
        if self.value is None or self.certificate is None:
            return None
        return self.certificate.gap(self.value)

    @property
    def optimal(self) -> bool | None:
        """Whether the gap is within 1e-6 of the value; None without a claim."""
        return None if self.gap is None or self.value is None else within(self.gap, self.value, GAP)

    @property
    def verdict(self) -> str:
        """What the gap shows, in words: a design may have been certified at a tolerance of its own, above 1e-6."""
        if self.gap is None or self.value is None:
            return "no optimality claimed"
        if self.optimal:
            return "optimal"
        relative = relative_gap(self.gap, self.value)
        return (
            f"within {text_above(relative, 2)} of the optimum" if relative < 1 else "NOT shown to be near the optimum"
        )


def verify(mechanism: Mechanism, *, time_limit: float | None = None) -> Verification:
    """Prove a mechanism's guarantee again and compute its claimed utility and bound again.

    Only the integers, the guarantee and lambda are used.

    Parameters
    ----------
    mechanism : Mechanism
        With or without a claim of optimality.
    time_limit : float, optional
        Seconds after which no bound is searched any more. The guarantee is proved whatever time that takes.

    Raises
    ------
    GuaranteeError
        If the guarantee is false, the stored value is not that of the integers, or the stored bound does
        not follow from lambda.
    LimitError
        If a bound is claimed that no exact pricing covers, or one for more than 3,000 categories, or the time was too
        short: the guarantee holds, but the claim is not checked.

    Examples
    --------
    >>> import mechdesign as md
    >>> design = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], radius=0.1), epsilon=1))
    >>> md.verify(design.mechanism).proof.holds
    True
    """
    check_mechanism(mechanism)
    deadline = deadline_of(time_limit)
    proof = prove(mechanism.numerators, mechanism.bits, mechanism.guarantee)
    if not proof.holds:
        raise GuaranteeError.guarantee_false(
            f"the guarantee is false: {proof.why_false(mechanism.outputs, mechanism.guarantee)}"
        )
    if mechanism.table is not None:
        mechanism.table.check(mechanism)
        return Verification(proof, *(verify_table(mechanism, mechanism.table) or (None, None)), mechanism=mechanism)
    claim = mechanism.optimality
    if claim is None:
        return Verification(proof, None, None, mechanism=mechanism)
    size = mechanism.guarantee.uncertainty.size
    if size > _MOST_SYMBOLS:
        raise LimitError.too_much_work(
            f"optimality is claimed for {size} categories; such claims are checked for at most {_MOST_SYMBOLS}, "
            "but the guarantee holds (mechdesign verify --guarantee-only)"
        )
    problem = claimed_problem(mechanism.guarantee, claim)
    if problem.maximal_leakage is not None:
        check_designed_on_average(problem)
    value = claim.utility.value_of_integers(mechanism.numerators, problem.uncertainty)
    off = abs(value - claim.value)
    if not off < np.inf or not off <= BOUND_PAD * abs(value) + _rounding(problem, mechanism, value):
        raise GuaranteeError.optimality_false(
            f"the stored value is {claim.value:.15g}, but that of the integers is {value:.15g}"
        )
    certificate = _certificate(problem, claim, deadline)
    return Verification(proof, value, certificate, mechanism=mechanism)


def claimed_problem(promised: Guarantee, claim: Optimality) -> DesignProblem:
    """Return the problem of which a claim says that a mechanism with a guarantee solves it."""
    known = promised.uncertainty
    if not claim.within_simplex and known.l1_ball is not None:
        known = known.l1_ball.as_printed()
    return DesignProblem(known, promised.sides, claim.utility)


def _certificate(problem: DesignProblem, claim: Optimality, deadline: Deadline) -> Certificate | ErrorCertificate:
    """Return the bound that the stored dual proves, after checking that the stored bound follows from it."""
    if claim.form is not None:
        proved = certify_error(problem, claim.form, claim.multipliers, wanted=claim.bound, deadline=deadline)
        if not proved.lower_bound >= claim.bound:
            _check_time(deadline)
            raise GuaranteeError.optimality_false(
                f"the stored lower bound is {claim.bound:.15g}, "
                f"but theta and lambda prove no more than {proved.lower_bound:.15g}"
            )
        if not claim.value >= claim.bound:
            raise GuaranteeError.optimality_false(
                f"the stored value {claim.value:.15g} is below the stored bound {claim.bound:.15g}"
            )
        return proved
    certificate = _certified(problem, claim, deadline)
    if not certificate.upper_bound <= claim.bound:
        _check_time(deadline)
        raise GuaranteeError.optimality_false(
            f"the stored upper bound is {claim.bound:.15g}, "
            f"but lambda proves no less than {certificate.upper_bound:.15g}"
        )
    if not claim.value <= claim.bound:
        raise GuaranteeError.optimality_false(
            f"the stored value {claim.value:.15g} is above the stored bound {claim.bound:.15g}"
        )
    return certificate


def _check_time(deadline: Deadline) -> None:
    """Say that a bound that does not follow so far may follow yet."""
    if time_is_up(deadline):
        raise LimitError.bound_not_recomputed(
            "the bound was not recomputed in the time given, so that the claim of optimality is neither confirmed nor "
            "refuted; the guarantee holds; give more time, or none (mechdesign verify --guarantee-only)"
        )


def _certified(problem: DesignProblem, claim: Optimality, deadline: Deadline) -> Certificate:
    """Return the bound that lambda proves, together with the priors of a claim about the least utility."""
    if claim.mixture is not None:
        return certify_least(problem, claim.multipliers, claim.mixture, deadline=deadline)

    # A design that was stopped holds the bound of a quick pricing, which may be better by chance. Where time is short,
    # it comes first. Either ends where it proves what is claimed.
    found = []
    for thorough in (False, True) if is_limited(deadline) else (True, False):
        found.append(certify(problem, claim.multipliers, thorough=thorough, enough=claim.bound, deadline=deadline))
        if found[-1].upper_bound <= claim.bound:
            return found[-1]
    return min(found, key=lambda proved: proved.upper_bound)


def _rounding(problem: DesignProblem, mechanism: Mechanism, value: float) -> float:
    """Return how far the values of two machines may differ: twice the rounding error, and 0 for an exact value."""
    if problem.utility.worst_case is not None:
        # A decoder comes from a solver, and a search may end at one of two priors that are equal to within rounding.
        return SOLVER * max(1.0, abs(value))
    if problem.utility.is_polyhedral:
        return 0.0
    if problem.utility.estimation is not None:
        return 2 * problem.utility.estimation.rounding(mechanism.numerators, problem.uncertainty)
    P = problem.uncertainty.prior
    matrix = mechanism.matrix
    masses = P @ matrix
    columns = matrix[:, masses > 0] / masses[masses > 0]
    upper = as_utility(problem.utility).mu_up(columns, P, 4 * float(np.finfo(float).eps) * columns)
    error = float(masses[masses > 0] @ upper) - value
    return 2 * error if 0 < error < np.inf else 0.0  # an error that overflows allows no difference
