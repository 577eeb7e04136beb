"""``mechdesign plan``."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import click

from mechdesign.cli import places
from mechdesign.cli.output import print_facts, print_json
from mechdesign.cli.source import bound_option
from mechdesign.data.files import accepted_ending, write_atomically
from mechdesign.planning import Plan, plan
from mechdesign.report.drawing import ENDINGS, picture
from mechdesign.report.trade_off import draw, trade_off

_DIGITS = 7
_BETTER = (
    "this is for a mechanism designed for the estimate alone (ED Corollary 3); `mechdesign design` with --epsilon set "
    "to the guaranteed epsilon, and --delta, gives the same guarantee and never less utility"
)
_BOUNDS = {
    "clopper-pearson": "clopper-pearson: limits of Clopper and Pearson for every set of categories",
    "weissman": "weissman (ED eq. 37); clopper-pearson never asks for more samples",
}
_MORE = "more --samples, a smaller --epsilon, or a larger"


@click.command("plan", short_help="Compute samples, epsilon, epsilon' or delta from the others.")
@click.option("--categories", type=int, required=True, metavar="N", help="Number of categories, at least 2.")
@click.option("--samples", type=int, metavar="n", help="Independent samples behind the estimate.")
@click.option("--epsilon", metavar="E", help='Epsilon of the design, at the estimate: nats, or "log(9/8)".')
@click.option(
    "--guaranteed-epsilon",
    "guaranteed",
    metavar="E'",
    help="Epsilon guaranteed at the true distribution, the paper's epsilon': nats, or \"log(2)\".",
)
@click.option("--delta", metavar="D", help="Probability that the guarantee fails, in [0, 1).")
@bound_option
@click.option(
    "--plot", metavar="FILE", help="Also draw the trade-off: .png, .svg or .pdf; - is PNG on standard output."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def plan_command(
    *,
    categories: int,
    samples: int | None,
    epsilon: str | None,
    guaranteed: str | None,
    delta: str | None,
    bound: str | None,
    plot: str | None,
    as_json: bool,
) -> None:
    """Relate samples, epsilon, epsilon' and delta: give three of them, and the fourth is computed.

    \b
    Examples:
      mechdesign plan --categories 20 --epsilon 1.6 --guaranteed-epsilon 2 --delta 1e-5
      mechdesign plan --categories 20 --samples 10000 --epsilon 1.6 --delta 1e-5

    A mechanism that is designed to be epsilon-PML for an estimate alone is epsilon'-PML for the true
    distribution, except with probability delta over the samples behind the estimate. Only the number of categories of
    that distribution has to be known.

    Another design makes better use of the samples: `mechdesign design` with --epsilon E' and --delta D designs for
    every distribution near the estimate. It gives the same guarantee and never less utility.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    given = {"--samples": samples, "--epsilon": epsilon, "--guaranteed-epsilon": guaranteed, "--delta": delta}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 3:
        raise click.UsageError(f"{len(named)} of {', '.join(given)} are given; give three, and the fourth is computed")
    if plot is not None:
        accepted_ending(plot, ENDINGS)
    standard = places.check([plot], as_json=as_json)
    found = plan(categories, samples=samples, epsilon=epsilon, guaranteed=guaranteed, delta=delta, bound=bound)
    if plot is not None:
        write_atomically(plot, picture(draw(trade_off(found)), plot))
    if as_json:
        print_json("mechdesign/plan/1", {**_record(found), "plot": plot})
        return
    facts = _facts(found, {"epsilon": epsilon, "guaranteed_epsilon": guaranteed, "delta": delta})
    print_facts([*facts, ("written", plot)] if plot is not None else facts, err=standard)


def _record(found: Plan) -> dict[str, object]:
    return {
        "categories": found.categories,
        "samples": found.samples,
        "epsilon": found.epsilon,
        "guaranteed_epsilon": None if math.isinf(found.guaranteed_epsilon) else found.guaranteed_epsilon,
        "delta": found.delta,
        "computed": found.computed,
        "radius": found.radius,
        "bound": found.bound,
        "vacuous": found.vacuous,
    }


def _facts(found: Plan, given: dict[str, str | None]) -> list[tuple[str, str]]:
    """Return what a person wants to know; given values as they were given, computed ones rounded to the safe side."""
    shown = {name: text.strip() for name, text in given.items() if text is not None}
    shown["samples"] = f"{found.samples:,}"
    if found.computed in {"guaranteed_epsilon", "delta"}:
        shown[found.computed] = _rounded(getattr(found, found.computed), ROUND_CEILING)
    elif found.computed == "epsilon":
        shown["epsilon"] = _rounded(found.epsilon, ROUND_FLOOR)
    least = {"epsilon": "the largest", "samples": "the least"}.get(found.computed, "the least that is proved")
    told = {
        "samples": ": independent samples behind the estimate",
        "epsilon": " nats: what to design for at the estimate",
        "guaranteed_epsilon": " nats: guaranteed at the true distribution",
        "delta": ": probability that the guarantee fails",
    }
    facts = [("categories", f"{found.categories:,}")]
    for name, meaning in told.items():
        if name != found.computed:
            said = meaning
        else:
            said = ": the bound is vacuous" if found.vacuous else f"{meaning} (computed: {least})"
        facts.append((name.replace("_", " "), shown[name] + said))
    if found.radius is not None:
        radius = _rounded(found.radius, ROUND_CEILING)
        meaning = "l1 distance from the estimate to the true distribution, at most, except with probability delta"
        facts += [("radius", f"{radius}: {meaning}"), ("bound", _BOUNDS[found.bound])]
    return [*facts, ("verdict", _verdict(found)), ("better", _BETTER)]


def _verdict(found: Plan) -> str:
    if found.computed == "delta" and found.vacuous:
        return f"VACUOUS: the bound on delta is 1, so nothing is guaranteed; {_MORE} --guaranteed-epsilon would do"
    if found.vacuous:
        return f"VACUOUS: no finite epsilon is guaranteed; {_MORE} --delta would do"
    return (
        "holds whatever the true distribution is, if the samples are independent and the categories were fixed before"
    )


def _rounded(value: float, direction: str) -> str:
    """Return a number to a few digits, rounded in a direction, so that what is copied from the screen holds too."""
    if math.isinf(value):
        return "infinite"
    decimal = Context(prec=_DIGITS, rounding=direction).create_decimal(Decimal(repr(value)))
    return f"{decimal.normalize():g}" if decimal else "0"
