"""``mechdesign verify``."""

from __future__ import annotations

from typing import Any

import click

from mechdesign.cli.output import amount, bound_in_words, guarantee_facts, guarantee_record, print_facts, print_json
from mechdesign.cli.places import load_mechanism
from mechdesign.cli.progress import Progress
from mechdesign.display.text import text_above
from mechdesign.errors import GuaranteeError, printable
from mechdesign.mechanism import Mechanism
from mechdesign.optimize import Verification, verify
from mechdesign.pml import TailAfterPostProcessing, leakage_tail, tail_after_post_processing
from mechdesign.uncertainty.base import check_about_data
from mechdesign.utility import Objective


@click.command("verify", short_help="Prove the claims of a mechanism file again.")
@click.argument("file", metavar="MECHANISM.json")
@click.option("--guarantee-only", is_flag=True, help="Do not check the claim of optimality, which may take long.")
@click.option(
    "--tail",
    "level",
    metavar="E",
    help="Also say with which probability, at the estimate, a report leaks more than E nats, a level below epsilon: as "
    "it is, and after any post-processing.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify_command(file: str, guarantee_only: bool, level: str | None, as_json: bool) -> None:
    """Prove the guarantee of a mechanism again, and check its claim of optimality.

    Only the integers, the guarantee and the dual vector in the file are used. Exit status 1 means that a claim is
    false, and 2 that the file is malformed. The file name - stands for standard input.

    The limits on files bound the time that a proof of the guarantee takes. They do not bound the time of a check of
    optimality; --guarantee-only leaves it out. With --json a false claim is printed as JSON too: "holds" is false, and
    "false" names the claim, "guarantee" or "optimality".
    """
    claimed = "guarantee"
    try:
        with Progress() as report:
            mechanism = load_mechanism(file, report)
            found = None
            if not guarantee_only:
                claimed = "optimality"
                report("computing the bound from the dual vector")
                found = verify(mechanism)
            tails = None if level is None else _tails(mechanism, level)
    except GuaranteeError as error:
        if as_json:
            print_json(
                "mechdesign/verification/1", {"holds": False, "false": claimed, "message": printable(str(error))}
            )
        raise
    claim = mechanism.optimality
    unchecked = guarantee_only and claim is not None
    if as_json:
        record = {"holds": True, **guarantee_record(mechanism), "optimality": _optimality_record(mechanism, found)}
        if tails is not None:
            record["tail"] = _tail_record(*tails)
        print_json("mechdesign/verification/1", record)
        return
    facts = [("file", file), *guarantee_facts(mechanism)]
    if tails is not None:
        facts.append(("tail", _tail_in_words(*tails)))
    if unchecked:
        facts.append(("optimality", "claimed, not checked"))
    elif claim is None or found is None or found.certificate is None or found.value is None:
        facts.append(("optimality", "no optimality claimed"))
    else:
        unit = claim.utility.unit
        facts.append((claim.utility.name, f"{amount(found.value, unit)}, computed again from the integers"))
        if claim.mixture is not None:
            facts.append(("at the estimate", amount(_value_at_estimate(mechanism, claim.utility), unit)))
        scope = "" if claim.within_simplex else ", among the mechanisms of the ball as printed"
        bound = f"{amount(claim.bound, unit)}{scope}, confirmed from the dual vector ({found.certificate.method})"
        facts.append((bound_in_words(claim.utility), bound))
        verdict = "optimal" if found.optimal else "NOT optimal to within 1e-6"
        facts.append(("gap", f"{found.gap:.1e}, {verdict}"))
    facts.append(("verdict", "the guarantee holds" if unchecked else "all claims hold"))
    print_facts(facts)


def _optimality_record(mechanism: Mechanism, found: Verification | None) -> dict[str, Any] | None:
    """Return the JSON of a claim of optimality, which was checked unless there is no verification."""
    claim = mechanism.optimality
    if claim is None:
        return None
    if found is None or found.certificate is None:
        return {"utility": claim.utility.name, "checked": False}
    record = {
        "utility": claim.utility.name,
        "unit": claim.utility.unit,
        "value": found.value,
        claim.utility.bound_name: claim.bound,
        f"recomputed_{claim.utility.bound_name}": found.certificate.bound,
        "gap": found.gap,
        "optimal": found.optimal,
        "within_simplex": claim.within_simplex,
    }
    if claim.mixture is not None:
        record["value_at_estimate"] = _value_at_estimate(mechanism, claim.utility)
    return record


def _value_at_estimate(mechanism: Mechanism, utility: Objective) -> float:
    """Return the utility of a mechanism at the reference prior, beside the least one."""
    return utility.value(mechanism.matrix, mechanism.guarantee.uncertainty.center)


def _tails(mechanism: Mechanism, level: str) -> tuple[float, TailAfterPostProcessing]:
    """Return the probabilities at the estimate that a report leaks more than a level about the data."""
    known = mechanism.guarantee.uncertainty
    check_about_data(known, "a tail")
    center = known.center
    found = tail_after_post_processing(mechanism.numerators, center, level)
    return leakage_tail(mechanism.numerators, center, level), found


def _tail_record(tail: float, found: TailAfterPostProcessing) -> dict[str, Any]:
    after = {"value": found.value, "upper_bound": found.bound, "multipliers": [str(mu) for mu in found.multipliers]}
    return {"level": float(found.epsilon), "probability": tail, "after_post_processing": after}


def _tail_in_words(tail: float, found: TailAfterPostProcessing) -> str:
    return (
        f"more than {found.epsilon} nats leak with probability {tail:.6g} at the estimate, and with at most "
        f"{text_above(found.bound, 6)} after any post-processing, proved"
    )
