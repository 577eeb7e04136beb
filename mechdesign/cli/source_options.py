"""The options that say where a command takes its problem from."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import click

from mechdesign.cli.output import show_values_option
from mechdesign.cli.shared_options import WHOLE
from mechdesign.cli.source import Source
from mechdesign.uncertainty.from_counts import kinds_from_counts
from mechdesign.uncertainty.radii import CLOPPER_PEARSON, OBSERVED_SUMS, WEISSMAN
from mechdesign.utility import EstimationError, MutualInformation, utility_names
from mechdesign.utility.worst_case import PREFIX

_NAMES = utility_names(with_matrix=False)
_KINDS = kinds_from_counts()
_UTILITIES = (
    f"The utility to maximise, or the error to minimise: {', '.join(_NAMES)}. {PREFIX} before mutual-information or a "
    f"gain (such as {PREFIX}hamming-accuracy) maximises its least value over the priors. [default: "
    f"{EstimationError.name}; {MutualInformation.name} with --lower, with --maximal-leakage, and with --secret and "
    "--delta]"
)

bound_option = click.option(
    "--bound",
    metavar="NAME",
    help=f"What relates samples, radius and --delta, the sharpest first: {OBSERVED_SUMS} (for counts, their default), "
    f"{CLOPPER_PEARSON} (the default without counts) or {WEISSMAN} (ED eq. 37).",
)

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.argument("problem_file", metavar="[PROBLEM.toml]", required=False),
    click.option("--counts", metavar="FILE", help="CSV of two columns, category and count; - reads standard input."),
    click.option(
        "--data",
        metavar="FILE",
        help="CSV or Parquet file of records, of which one column is counted; a folder of such files, or a glob in "
        "quotes; - reads standard input. With --delta the categories must be fixed beforehand: --unseen names what the "
        "records may lack.",
    ),
    click.option(
        "--column", metavar="COLUMN", help="The column of --data: a name, or an index from 0 with --no-header."
    ),
    click.option(
        "--by",
        metavar="COLUMN",
        help="Keep the promise in every group of this column, whose value may be known: each has its own distribution. "
        "With --counts, a CSV of three columns: both, of which this names one, and the count of each pair. --delta is "
        "the probability for each group by itself; for all at once it adds up.",
    ),
    click.option("--group", metavar="VALUE", help="With --by: keep the promise in this group alone."),
    click.option(
        "--cover/--no-cover",
        default=None,
        help="With --by: design for one l1 ball around the sets of all groups, or for the union itself, of which the "
        "best mechanism found may not be certified. [default: `design` tries both and keeps a certified one "
        "before others, then the better one; other commands take the union where a method is exact for it]",
    ),
    click.option(
        "--secret",
        metavar="COLUMN",
        help="Protect this column alone: reports on --column may tell all that says nothing about it. With --counts, a "
        "CSV of three columns: both attributes, of which this names one, and the count of each pair.",
    ),
    click.option(
        "--unseen",
        metavar="CATEGORY,...",
        help="With --data: categories that the records lack and that may be reported, also one for all the rest, such "
        "as other. Each has count 0; quotes keep a comma within a name.",
    ),
    click.option(
        "--sample",
        metavar="N",
        type=WHOLE,
        help="With --data: count only N of the records, drawn at random by the operating system. Categories that these "
        "lack have count 0. [default: all records]",
    ),
    click.option("--no-header", is_flag=True, help="The CSV file has no line of column names."),
    click.option("--epsilon", metavar="E", help='Privacy parameter in nats: a decimal, or "log(9/8)".'),
    click.option(
        "--lower",
        metavar="L",
        help="Promise from below too, in nats as --epsilon: no report makes any category less likely by a factor below "
        "exp(-L), so that none is ruled out (local information privacy). Without it reports may rule categories out.",
    ),
    click.option(
        "--cap",
        metavar="C",
        help="Keep local differential privacy with C too, in nats as --epsilon: whatever anybody knows beforehand, a "
        "report makes nothing more likely by a factor above exp(C). Not with --lower.",
    ),
    click.option(
        "--maximal-leakage",
        metavar="L",
        help="Keep maximal leakage L too, in nats as --epsilon and below it: whatever anybody knows beforehand, all "
        "reports together make a right guess more likely by a factor of at most exp(L). Not with --lower or --cap.",
    ),
    click.option(
        "--delta",
        metavar="D",
        help="Probability in [0, 1) that the true distribution is further from the estimate than the radius; with "
        "--secret, that the joint distribution lies outside of limits from the counts.",
    ),
    click.option(
        "--radius",
        metavar="R",
        help="l1 radius in [0, 2], instead of --delta.",
    ),
    click.option(
        "--known",
        is_flag=True,
        help="Instead of --delta: the counts are the distribution itself, no sample of it, as of a whole population.",
    ),
    click.option(
        "--samples",
        metavar="N",
        type=WHOLE,
        help="Number of samples behind --delta: the total of the counts, as without this option. Any other number is "
        "refused; a what-if is a problem file with probabilities and samples.",
    ),
    bound_option,
    click.option(
        "--set",
        "kind",
        metavar="KIND",
        help=f"The set that holds the true distribution except with probability --delta: {', '.join(_KINDS)}. Limits "
        "of each category (box, lower-limits) are best where one category has most of the mass; event-set, best up to "
        "16 categories, and relative-ball, for any number, are nearly always better than the l1 ball. "
        f"[default: {_KINDS[0]}]",
    ),
    show_values_option,
    click.option("--utility", metavar="NAME", help=_UTILITIES),
    click.option(
        "--workload",
        metavar="QUERIES",
        help="What --utility estimation-error is about: frequencies, prefix (cumulative), marginals=2x3, symbols=a,b, "
        "weights=1,2 or scores=1,2 (their mean); by category weights=a:1,b:2. [default: frequencies]",
    ),
)


def source_options(command: Callable[..., Any], own: Collection[str] = ()) -> Callable[..., Any]:
    """Give a command the options of `Source`, which it receives as one object named ``source``.

    A command that declares some of these options on its ``own`` names them.
    """

    def wrapped(**values: Any) -> Any:
        names = Source.__dataclass_fields__
        source = Source(**{name: values.pop(name) for name in names})
        return command(source=source, **values)

    wrapped.__doc__ = command.__doc__
    decorated: Callable[..., Any] = wrapped
    # Options of the command itself, where they are declared below this decorator, stand after those of a problem.
    setattr(decorated, "__click_params__", list(getattr(command, "__click_params__", [])))  # noqa: B010
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    parameters: list[click.Parameter] = getattr(decorated, "__click_params__", [])
    parameters[:] = [parameter for parameter in parameters if parameter.name not in own]
    return decorated
