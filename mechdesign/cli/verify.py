"""``mechdesign verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click
from pydantic import Field

from mechdesign.cli.json_output import Labels, Output, Printed, Promised, given, print_output
from mechdesign.cli.machine_check import MachineCheck, MachineChecked, machine_options
from mechdesign.cli.mechanism_kinds import load_mechanism
from mechdesign.cli.output import amount, bound_in_words, print_facts
from mechdesign.cli.progress import Progress
from mechdesign.cli.record_output import RecordsChecked, RecordsPromised, check_records, checked_facts
from mechdesign.cli.shared_options import NUMBER
from mechdesign.cli.streams import print_error
from mechdesign.cli.windows_sample import Sample, StringsPromised, sample_options
from mechdesign.data.fields import Number
from mechdesign.display.numbers import text_above
from mechdesign.errors import GuaranteeError, MechdesignError, printable
from mechdesign.mechanism import Mechanism
from mechdesign.pml import TailAfterPostProcessing, leakage_tail, tail_after_post_processing
from mechdesign.uncertainty.base import check_about_data
from mechdesign.utility import Objective

if TYPE_CHECKING:
    from mechdesign.optimize import Verification


class CheckedOptimality(Printed):
    """A claim of optimality: what was computed again, or that it was not checked."""

    utility: str
    checked: Literal[False] | None = None
    unit: str | None = None
    value: Number | None = None
    upper_bound: Number | None = None
    lower_bound: Number | None = None
    recomputed_upper_bound: Number | None = None
    recomputed_lower_bound: Number | None = None
    gap: Number | None = None
    optimal: bool | None = None
    within_simplex: bool | None = None
    value_at_estimate: Number | None = None


class AfterPostProcessing(Printed):
    """The probability that a report leaks more than a level after any post-processing."""

    value: Number
    upper_bound: Number
    multipliers: Labels


class Tail(Printed):
    """With which probability a report leaks more than a level."""

    level: Number
    probability: Number
    after_post_processing: AfterPostProcessing


class _Holding(Output):
    carries = "mechdesign/verification/1"

    holds: Literal[True]
    machine_checked: MachineChecked | None = None


class VerificationOutput(Promised, _Holding):
    """`mechdesign verify`, of a mechanism whose claims hold."""

    optimality: CheckedOptimality | None
    tail: Tail | None = None


class StringVerificationOutput(StringsPromised, _Holding):
    """`mechdesign verify`, of windows whose claims hold: given what the file says that the samples held, or counted."""

    counted_anew: bool
    optimality: None


class RecordVerificationOutput(RecordsChecked, RecordsPromised, _Holding):
    """`mechdesign verify`, of views of whole records whose claims hold."""


class FalseClaimOutput(Output):
    """`mechdesign verify`, of a mechanism with a false claim."""

    carries = "mechdesign/verification/1"

    holds: Literal[False]
    claim: Literal["guarantee", "optimality"] = Field(alias="false")


@click.command("verify")
@click.argument("file", metavar="MECHANISM.json")
@click.option("--guarantee-only", is_flag=True, help="Do not check the claim of optimality, which may take long.")
@click.option(
    "--time-limit",
    type=NUMBER,
    metavar="SECONDS",
    help="Give up the check of optimality after this time, with exit status 3. The guarantee is proved all the same.",
)
@click.option(
    "--tail",
    "level",
    metavar="E",
    help="Also say with which probability, at the estimate, a report leaks more than E nats, a level below epsilon: as "
    "it is, and after any post-processing.",
)
@machine_options
@sample_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify_command(
    file: str,
    guarantee_only: bool,
    time_limit: float | None,
    level: str | None,
    machine: MachineCheck,
    sample: Sample,
    as_json: bool,
) -> int:
    """Prove the guarantee of a mechanism again, and check its claim of optimality.

    Only the integers, the guarantee and the dual vector in the file are used. Exit status 1 means that a claim is
    false, and 2 that the file is malformed. The file name - stands for standard input.

    The limits on files bound the time that a proof of the guarantee takes. They do not bound the time of a check of
    optimality: --time-limit does (exit status 3 where it was too short), and --guarantee-only leaves it out. A file of
    windows is proved from the evidence in it, or from the sample of --data or --counts, whose strings are counted anew.
    With --json a false claim is printed as JSON too: "holds" is false, "false" names the claim, "guarantee" or
    "optimality", and "error" has the code and the message.

    --machine-checked also writes the guarantee as a theorem about the integers of the file, and has Coq check it. The
    status is 3 where Coq is missing, and for sets that its proofs do not cover.
    """
    try:
        with Progress() as progress:
            mechanism: Any = load_mechanism(file, progress, sample.counts if sample.given else None)
            found, of_records = None, None
            if mechanism.kind == "records":
                of_records = check_records(mechanism, progress, claims=not guarantee_only, time_limit=time_limit)
            elif not guarantee_only and _claim_of(mechanism) is not None:
                progress("computing the bound from the dual vector")
                found = _verified(mechanism, time_limit)
            tails = None if level is None else _tails(mechanism, level)
            theorem = machine.of(file, mechanism.kind, progress, as_json=as_json) if machine.asked else None
    except GuaranteeError as found_false:
        error = machine.refusal(file, found_false)
        if not as_json:
            raise error from None
        return _print_false(error.reworded(printable(str(error))))
    printed = mechanism.promised_keys()
    unchecked = guarantee_only and (_claim_of(mechanism) is not None or of_records is not None)
    of_windows = mechanism.kind in _OF_WINDOWS
    if as_json:
        printed |= {"counted_anew": sample.given} if of_windows else {}
        checked = {"optimality": _optimality(mechanism, found)} if of_records is None else dict(of_records)
        about = {**checked, **given(tail=None if tails is None else _tail(*tails), machine_checked=theorem)}
        print_output(_HOLDING[mechanism.kind](holds=True, **printed, **about))
        return 0
    counted = [("samples", "counted anew" if sample.given else _STATED)] if of_windows else []
    facts = [("file", file), *mechanism.facts(), *counted]
    if tails is not None:
        facts.append(("tail", _tail_in_words(*tails)))
    facts += _claim_facts(mechanism, found, unchecked=unchecked) if of_records is None else checked_facts(of_records)
    facts += [] if theorem is None else machine.facts(theorem)
    holds = "the guarantee holds" if unchecked else "all claims hold"
    stated = (of_windows and not sample.given) or _shows_strings(mechanism)
    facts.append(("verdict", holds + _condition(asserted="samples_asserted" in printed, stated=stated)))
    print_facts(facts)
    return 0


def _print_false(error: MechdesignError) -> int:
    """Print which claim is false as JSON, and return the status."""
    claimed: Literal["guarantee", "optimality"] = "optimality" if error.code == "optimality-false" else "guarantee"
    print_output(FalseClaimOutput(holds=False, false=claimed), error)
    return print_error(error)


def _shows_strings(mechanism: Any) -> bool:
    """Return whether a view of whole records is of windows, whose evidence stands in the file."""
    return mechanism.kind == "records" and any(part.is_open for part in mechanism.parts)


def _condition(*, asserted: bool, stated: bool) -> str:
    """Return what claims are given, in words that follow them."""
    about_samples = ", given the samples that are asserted" if asserted else ""
    return about_samples + (", given what the file says that the samples held" if stated else "")


def _claim_of(mechanism: Any) -> Any:
    """Return what is claimed of other mechanisms; for a matrix that is a table, of other tables."""
    return mechanism.claim if mechanism.kind == "matrix" else mechanism.optimality


def _claim_facts(mechanism: Mechanism, found: Verification | None, *, unchecked: bool) -> list[tuple[str, str]]:
    """Return what people read of a claim of optimality."""
    claim = _claim_of(mechanism)
    if unchecked:
        return [("optimality", "claimed, not checked")]
    if claim is None or found is None or found.certificate is None or found.value is None:
        return [("optimality", "no optimality claimed")]
    unit = claim.utility.unit
    facts = [(claim.utility.name, f"{amount(found.value, unit)}, computed again from the integers")]
    if claim.mixture is not None:
        facts.append(("at the estimate", amount(_value_at_estimate(mechanism, claim.utility), unit)))
    scope = "" if claim.within_simplex else ", among the mechanisms of the ball as printed"
    bound = f"{amount(claim.bound, unit)}{scope}, confirmed from the dual vector ({found.certificate.method})"
    facts.append((bound_in_words(claim.utility), bound))
    if abs(found.certificate.bound - claim.bound) > _SAME * abs(claim.bound):
        facts.append(
            ("bound proved", f"{amount(found.certificate.bound, unit)}, better than claimed; the gap is to it")
        )
    return [*facts, ("gap", f"{found.gap:.1e}, {found.verdict}")]


_SAME = 1e-9  # relative: a bound that is nearer to the claimed one is not printed beside it
_STATED = "what they held is taken from the file; --data or --counts counts them anew"
_OF_WINDOWS = ("windows", "prefix-windows")
_HOLDING: dict[str, Any] = {
    "matrix": VerificationOutput,
    "windows": StringVerificationOutput,
    "prefix-windows": StringVerificationOutput,
    "records": RecordVerificationOutput,
}


def _verified(mechanism: Mechanism, time_limit: float | None) -> Verification:
    from mechdesign.optimize import verify

    return verify(mechanism, time_limit=time_limit)


def _optimality(mechanism: Mechanism, found: Verification | None) -> CheckedOptimality | None:
    """Return a claim of optimality, which was checked unless there is no verification."""
    claim = _claim_of(mechanism)
    if claim is None:
        return None
    if found is None or found.certificate is None:
        return CheckedOptimality(utility=claim.utility.name, checked=False)
    at_estimate = None if claim.mixture is None else _value_at_estimate(mechanism, claim.utility)
    bounds: dict[str, Any] = {
        claim.utility.bound_name: claim.bound,
        f"recomputed_{claim.utility.bound_name}": found.certificate.bound,
    }
    return CheckedOptimality(
        utility=claim.utility.name,
        unit=claim.utility.unit,
        value=found.value,
        gap=found.gap,
        optimal=found.optimal,
        within_simplex=claim.within_simplex,
        **bounds,
        **given(value_at_estimate=at_estimate),
    )


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


def _tail(tail: float, found: TailAfterPostProcessing) -> Tail:
    multipliers = list(map(str, found.multipliers))
    after = AfterPostProcessing(value=found.value, upper_bound=found.bound, multipliers=multipliers)
    return Tail(level=float(found.epsilon), probability=tail, after_post_processing=after)


def _tail_in_words(tail: float, found: TailAfterPostProcessing) -> str:
    return (
        f"more than {found.epsilon} nats leak with probability {tail:.6g} at the estimate, and with at most "
        f"{text_above(found.bound, 6)} after any post-processing, proved"
    )
