"""``mechdesign plan``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import click

from mechdesign.cli import places
from mechdesign.cli.json_output import Finite, Output, Text, Whole, print_output
from mechdesign.cli.output import print_facts
from mechdesign.cli.plan_reports import WANTED, ReportOptions, run_plan_reports
from mechdesign.cli.records_command import RecordOptions, record_options
from mechdesign.cli.records_plan import plan_designed
from mechdesign.cli.shared_options import NUMBER, WHOLE, check_plot, plot_option, time_limit_option, write_plot
from mechdesign.cli.source import Source
from mechdesign.cli.source_options import bound_option, source_options
from mechdesign.cli.windows_sample import drift_option, reference_option
from mechdesign.data.fields import Number
from mechdesign.display.numbers import text_above, text_below
from mechdesign.planning import Plan, plan
from mechdesign.plot.trade_off import draw, trade_off

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


_OWN = ("epsilon", "samples", "delta", "bound")


class PlanOutput(Output):
    """`mechdesign plan`, of samples."""

    carries = "mechdesign/plan/1"

    categories: Whole
    samples: Whole
    epsilon: Number
    guaranteed_epsilon: Finite
    delta: Number
    computed: Literal["samples", "epsilon", "guaranteed_epsilon", "delta"]
    radius: Number | None
    bound: str
    vacuous: bool
    plot: Text | None


def _source(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a problem but for those that it has itself."""
    return source_options(command, _OWN)


@click.command("plan")
@click.option("--categories", type=WHOLE, metavar="N", help="Number of categories, at least 2.")
@click.option("--samples", type=WHOLE, metavar="n", help="Independent samples behind the estimate.")
@click.option("--epsilon", metavar="E", help='Epsilon of the design, at the estimate: nats, or "log(9/8)".')
@click.option(
    "--guaranteed-epsilon",
    "guaranteed",
    metavar="E'",
    help="Epsilon guaranteed at the true distribution, the paper's epsilon': nats, or \"log(2)\".",
)
@click.option("--delta", metavar="D", help="Probability that the guarantee fails, in [0, 1).")
@bound_option
@plot_option("the trade-off, or with --reports the errors against the number of reports")
@click.option(
    "--reports",
    is_flag=False,
    flag_value=WANTED,
    metavar="[n]",
    help="Plan how many reports are enough for --standard-error or --interval; with a number, which errors they leave.",
)
@click.option(
    "--standard-error", metavar="S", help="With --reports: the standard error of an estimated frequency, such as 0.01."
)
@click.option("--interval", metavar="H", help="With --reports: half the width of a confidence interval of a frequency.")
@click.option(
    "--confidence", type=NUMBER, metavar="C", help="With --reports: the confidence of intervals. [default: 0.95]"
)
@click.option("--mechanism", metavar="M.json", help="With --reports: plan for this mechanism; or give a problem.")
@reference_option
@drift_option
@time_limit_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@record_options
@_source
def plan_command(
    *,
    source: Source,
    categories: int | None,
    guaranteed: str | None,
    plot: str | None,
    records: RecordOptions,
    as_json: bool,
    **rest: Any,
) -> None:
    """Relate samples, epsilon, epsilon' and delta: give three of them, and the fourth is computed.

    \b
    Examples:
      mechdesign plan --categories 20 --epsilon 1.6 --guaranteed-epsilon 2 \\
                      --delta 1e-5
      mechdesign plan --categories 20 --samples 10000 --epsilon 1.6 --delta 1e-5

    A mechanism that is designed to be epsilon-PML for an estimate alone is epsilon'-PML for the true
    distribution, except with probability delta over the samples behind the estimate. Only the number of categories of
    that distribution has to be known.

    Another design makes better use of the samples: `mechdesign design` with --epsilon E' and --delta D designs for
    every distribution near the estimate. It gives the same guarantee and never less utility.

    With --reports the command plans a collection instead: how many reports, one for each respondent, are enough for a
    standard error or an interval of each estimated frequency, with a mechanism file or the design for a problem, and
    with the best mechanism under local differential privacy (LDP), subset selection and randomized response; or, with a
    number, which errors that many reports leave. A problem is given as for `mechdesign design`; with --counts or --data
    its --utility is estimation-error unless another one is named.

    \b
      mechdesign plan problems/adult-race.toml --reports --standard-error 0.01
      mechdesign plan --mechanism education.json --reports --interval 0.02 \\
                      --confidence 0.9
      mechdesign plan --counts counts.csv --epsilon 1 --delta 1e-9 --reports 10000
      mechdesign plan --columns sex+salary,age --table pair.csv \\
                      --table age.csv --epsilon 1 --known --reports 10000

    Windows, which report about any string, are planned for from their file; views of whole records from their file, or
    from what `mechdesign design --columns` takes.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    options = ReportOptions(**rest)
    if options.reports is not None:
        _refuse({"--categories": categories, "--guaranteed-epsilon": guaranteed}, "--reports")
        if records.columns is not None:
            plan_designed(options, options.precision(), records, source, as_json=as_json)
        else:
            run_plan_reports(options, source, plot, as_json=as_json)
        return
    _check_no_reports(options, source, records)
    if categories is None:
        raise click.UsageError("Missing option '--categories'.", click.get_current_context())
    samples, epsilon, delta = source.samples, source.epsilon, source.delta
    given = {"--samples": samples, "--epsilon": epsilon, "--guaranteed-epsilon": guaranteed, "--delta": delta}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 3:
        raise click.UsageError(f"{len(named)} of {', '.join(given)} are given; give three, and the fourth is computed")
    check_plot(plot)
    standard = places.check([plot], as_json=as_json)
    found = plan(categories, samples=samples, epsilon=epsilon, guaranteed=guaranteed, delta=delta, bound=source.bound)
    write_plot(plot, lambda: draw(trade_off(found)))
    if as_json:
        print_output(PlanOutput.built_from(found, plot=plot))
        return
    facts = _facts(found, {"epsilon": epsilon, "guaranteed_epsilon": guaranteed, "delta": delta})
    print_facts([*facts, ("written", plot)] if plot is not None else facts, err=standard)


def _refuse(options: dict[str, object], beside: str) -> None:
    """Refuse options that are given beside one that has another meaning of the command."""
    if named := [name for name, value in options.items() if value is not None]:
        raise click.UsageError(f"{', '.join(named)}: not accepted beside {beside}; leave it out")


def _check_no_reports(options: ReportOptions, source: Source, records: RecordOptions) -> None:
    """Refuse options that need ``--reports``."""
    own = {f"--{name}" for name in _OWN}
    columns = [] if records.columns is None else ["--columns"]
    if named := [*columns, *options.given(), *(option for option in source.given() if option not in own)]:
        raise click.UsageError(f"{', '.join(named)}: only with --reports, which plans a collection of reports")


def _facts(found: Plan, given: dict[str, str | None]) -> list[tuple[str, str]]:
    """Return what a person wants to know; given values as they were given, computed ones rounded to the safe side."""
    shown = {name: text.strip() for name, text in given.items() if text is not None}
    shown["samples"] = f"{found.samples:,}"
    if found.computed in {"guaranteed_epsilon", "delta"}:
        shown[found.computed] = text_above(getattr(found, found.computed), _DIGITS)
    elif found.computed == "epsilon":
        shown["epsilon"] = text_below(found.epsilon, _DIGITS)
    samples = "the least" if found.bound == "weissman" else "enough; one less is not"
    least = {"epsilon": "the largest", "samples": samples}.get(found.computed, "the least that is proved")
    meanings = {
        "samples": ": independent samples behind the estimate",
        "epsilon": " nats: what to design for at the estimate",
        "guaranteed_epsilon": " nats: guaranteed at the true distribution",
        "delta": ": probability that the guarantee fails",
    }
    facts = [("categories", f"{found.categories:,}")]
    for name, meaning in meanings.items():
        if name != found.computed:
            ending = meaning
        else:
            ending = ": the bound is vacuous" if found.vacuous else f"{meaning} (computed: {least})"
        facts.append((name.replace("_", " "), shown[name] + ending))
    if found.radius is not None:
        radius = text_above(found.radius, _DIGITS)
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
