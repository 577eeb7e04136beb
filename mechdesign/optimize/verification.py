"""Verification of a mechanism from its integers, its guarantee and its dual vector alone."""

from __future__ import annotations

from dataclasses import dataclass

from mechdesign.errors import GuaranteeError
from mechdesign.mechanism import Mechanism, Proof, prove
from mechdesign.optimize.certificate import Certificate, certify
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import L1Ball


@dataclass(frozen=True)
class Verification:
    """What a fresh computation found.

    Attributes
    ----------
    proof : Proof
        The guarantee, proved again.
    value : float or None
        Utility of the integers, where optimality is claimed.
    certificate : Certificate or None
        The bound computed again from the stored lambda, where optimality is claimed.
    """

    proof: Proof
    value: float | None
    certificate: Certificate | None


def verify(mechanism: Mechanism) -> Verification:
    """Prove a mechanism's guarantee again and compute its claimed utility and bound again.

    Nothing but the integers, the guarantee and lambda is used.

    Raises
    ------
    GuaranteeError
        If the guarantee is false, the stored value is not that of the integers, or the stored bound does
        not follow from lambda.
    LimitError
        If no exact pricing covers the problem, so that the claimed bound cannot be checked.

    Examples
    --------
    >>> import mechdesign as md
    >>> design = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], radius=0.1), epsilon=1))
    >>> md.verify(design.mechanism).proof.holds
    True
    """
    proof = prove(mechanism.numerators, mechanism.bits, mechanism.guarantee)
    if not proof.holds:
        raise GuaranteeError(f"the guarantee is false: the leakage is up to {proof.leakage:.9g} nats")
    claim = mechanism.optimality
    if claim is None:
        return Verification(proof, None, None)
    known = mechanism.guarantee.uncertainty
    if not claim.within_simplex and isinstance(known, L1Ball):
        known = known.as_printed()
    problem = DesignProblem(known, mechanism.guarantee.epsilon, claim.utility)
    value = claim.utility.value(mechanism.matrix, problem.uncertainty.prior)
    if abs(value - claim.value) > 1e-12 * max(1.0, abs(value)):
        raise GuaranteeError(f"the stored value is {claim.value:.15g}, but that of the integers is {value:.15g}")
    certificate = certify(problem, claim.multipliers)
    if not certificate.upper_bound <= claim.upper_bound:
        raise GuaranteeError(
            f"the stored upper bound is {claim.upper_bound:.15g}, "
            f"but lambda proves no less than {certificate.upper_bound:.15g}"
        )
    return Verification(proof, value, certificate)
