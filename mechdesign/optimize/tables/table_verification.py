"""The value of a table, and its claim checked again from the file alone."""

from __future__ import annotations

from fractions import Fraction

from mechdesign.errors import GuaranteeError, LimitError
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.proof import Integers
from mechdesign.mechanism.table_claims import TableClaim
from mechdesign.numerics.exact import float_down, float_up
from mechdesign.numerics.tolerances import BOUND_PAD
from mechdesign.optimize.tables.table_certificate import TableCertificate, certify_table
from mechdesign.optimize.tables.table_problem import MOST_CATEGORIES, TableProblem


def value_of_table(problem: TableProblem, numerators: Integers, bits: int) -> float:
    """Return the expected share of unchanged records, or the expected loss, of integers: exact but for one rounding."""
    gain = sum(
        p * problem.gain(x, y) * entry
        for x, (p, row) in enumerate(zip(problem.uncertainty.center, numerators.tolist(), strict=True))
        for y, entry in enumerate(row)
        if entry and problem.gain(x, y)
    )
    return float(abs(Fraction(gain)) / 2**bits if problem.loss is None else -Fraction(gain) / 2**bits)


def stored_bound(problem: TableProblem, proved: TableCertificate) -> float:
    """Return a bound as files hold it, with room for what another machine proposes."""
    greatest = Fraction(1) if problem.loss is None else max(abs(x) for row in problem.loss for x in row)
    padded = proved.upper_bound + greatest * Fraction(BOUND_PAD)
    return float_up(padded) if problem.loss is None else float_down(-padded)


def claimed_table(mechanism: Mechanism, claim: TableClaim) -> TableProblem:
    """Return the problem of which a claim says that a table solves it."""
    kept, labels, best = claim.constraints, mechanism.inputs, claim.optimality
    return TableProblem(
        mechanism.guarantee.uncertainty,
        mechanism.guarantee.sides,
        invariant=kept.invariant,
        floors=dict(zip(labels, kept.floors, strict=True)),
        forbidden=[(labels[x], labels[y]) for x, y in kept.forbidden],
        loss=None if best is None else best.loss,
    )


def verify_table(mechanism: Mechanism, claim: TableClaim) -> tuple[float, TableCertificate] | None:
    """Return value and bound, computed again from the integers and the multipliers; None without a claim about others.

    Raises
    ------
    GuaranteeError
        If the stored value is not that of the integers, or the stored bound does not follow from the multipliers.
    LimitError
        For more categories than such claims are checked for.
    """
    best = claim.optimality
    if best is None:
        return None
    if len(mechanism.inputs) > MOST_CATEGORIES:
        raise LimitError.too_much_work(
            f"optimality is claimed for a table of {len(mechanism.inputs)} categories; such claims are checked for at "
            f"most {MOST_CATEGORIES}, but the promise and the constraints hold (mechdesign verify --guarantee-only)"
        )
    problem, minimised = claimed_table(mechanism, claim), best.utility.minimised
    value = value_of_table(problem, mechanism.numerators, mechanism.bits)
    if value != best.value:
        raise GuaranteeError.optimality_false(
            f"the stored value is {best.value:.15g}, but that of the integers is {value:.15g}"
        )
    proved = certify_table(problem, best.multipliers, best.floor_multipliers)
    if proved.upper_bound > (-Fraction(best.bound) if minimised else Fraction(best.bound)):
        raise GuaranteeError.optimality_false(
            f"the stored {best.utility.bound_name.replace('_', ' ')} is {best.bound:.15g}, but the multipliers prove "
            f"no {'more' if minimised else 'less'} than {proved.bound:.15g}"
        )
    return value, proved
