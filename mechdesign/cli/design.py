"""``mechdesign design``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from mechdesign.cli import places
from mechdesign.cli.comparison_output import ComparisonTable, cap_facts, comparison_keys, print_comparison
from mechdesign.cli.design_output import DesignTable, design_facts, design_keys
from mechdesign.cli.group_price_output import GroupPriceTable, group_facts, price_keys, print_prices
from mechdesign.cli.json_output import Text, Titled, print_output
from mechdesign.cli.output import print_facts, say
from mechdesign.cli.progress import Progress
from mechdesign.cli.records_command import RecordOptions, design_views, record_options
from mechdesign.cli.shared_options import NUMBER, WHOLE, check_plot, plot_option, time_limit_option, write_plot
from mechdesign.cli.source import Source
from mechdesign.cli.source_options import source_options
from mechdesign.cli.streams import print_error
from mechdesign.cli.windows_design import WindowOptions, design_strings, window_options
from mechdesign.comparison import Comparison, compare
from mechdesign.comparison.cap_prices import price_of_careful_cap
from mechdesign.comparison.group_prices import GroupPrices, price_groups
from mechdesign.data.fields import Number
from mechdesign.data.files import STANDARD
from mechdesign.errors import LimitError
from mechdesign.mechanism.mechanism_files import check_ending, check_probabilities
from mechdesign.numerics.tolerances import GAP
from mechdesign.optimize import Design, design
from mechdesign.optimize.groups import design_for_groups
from mechdesign.optimize.secret_search import BOUNDED_OUTSIDE
from mechdesign.plot.leakages import mechanism_figure


class DesignOutput(DesignTable, Titled):
    """`mechdesign design`."""

    carries = "mechdesign/design/1"

    output: Text | None
    plot: Text | None = None
    comparison: ComparisonTable | None = None
    groups: Sequence[GroupPriceTable] | None = None
    value_without_groups: Number | None = None
    union_value: Number | None = None
    cover_value: Number | None = None


@click.command("design")
@source_options
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the mechanism: .json, .npz, or .csv, which cannot be loaded again; - is JSON on standard output.",
)
@click.option(
    "--bits", type=WHOLE, default=48, show_default=True, help="Probabilities are multiples of 2^-BITS; 1 to 52."
)
@click.option(
    "--tol",
    type=NUMBER,
    help=f"Relative gap to the bound that counts as optimal. [default: {GAP:g}; for an estimation error 1e-4 from 11 "
    "categories on, 0.03 from 17 on (LDP: from 25)]",
)
@click.option(
    "--outputs",
    type=WHOLE,
    metavar="M",
    help="For an estimation error: have at most M possible reports, at the least loss that a search finds. The loss is "
    "said; --tol applies to the design without the limit, and the bound holds for any number of reports.",
)
@time_limit_option
@window_options
@record_options
@click.option(
    "--merge/--no-merge",
    default=None,
    help="Let categories share a row of the mechanism at once, or never; without either, where the search needs it.",
)
@click.option(
    "--method", metavar="NAME", help="Design by this method, one of those that `mechdesign methods` shows as covering."
)
@click.option(
    "--prices/--no-prices",
    "with_prices",
    default=True,
    help="With --by: also design one mechanism for each group, and one without groups, to show what each costs.",
)
@click.option(
    "--keep-partial",
    is_flag=True,
    help="Write the mechanism even if it is not certified as optimal. An interrupted design is also written without "
    "it, unless that would replace a file.",
)
@click.option("--compare", "comparing", is_flag=True, help="Also show randomized response and the best LDP mechanism.")
@click.option(
    "--probabilities",
    is_flag=True,
    help="With an --output that ends in .csv: write probabilities, not the integers they are multiples of.",
)
@plot_option("the matrix and the leakage of each output")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def design_command(
    *,
    source: Source,
    output: str | None,
    bits: int,
    tol: float | None,
    outputs: int | None,
    time_limit: float | None,
    windows: WindowOptions,
    records: RecordOptions,
    merge: bool | None,
    method: str | None,
    with_prices: bool,
    keep_partial: bool,
    comparing: bool,
    plot: str | None,
    probabilities: bool,
    as_json: bool,
) -> int:
    """Design the best mechanism that is epsilon-PML for every prior around an estimate.

    \b
    Examples:
      mechdesign design problems/adult-education.toml -o education.json
      mechdesign design --counts counts.csv --epsilon 1 --delta 1e-9 -o m.json
      mechdesign design --data adult.data --no-header --column 3 \\
                        --epsilon 1 --delta 1e-9
      mechdesign design --data flights.csv --column month --by origin \\
                        --epsilon 1 --delta 1e-9 -o months.json
      mechdesign design --data adult.csv --secret sex --column occupation \\
                        --epsilon 0.1 --known -o about-sex.json
      mechdesign design --data search.csv --column word --windows \\
                        --epsilon 1 --delta 1e-9 -o words.json
      mechdesign design --data adult.csv --columns age,sex+salary,race \\
                        --bins age=15 --epsilon 1 --delta 1e-9 -o records.json
      zcat records.csv.gz | mechdesign design --data - --column level \\
                        --epsilon 1 --delta 1e-9 -o - | mechdesign verify -

    Counts are a sample unless --known says otherwise: --delta is the probability that the sample misleads.

    With --windows the mechanism reports about any string: see docs/tutorials/reports-about-any-string.md.

    With --columns each person reports about one view of the record, drawn at random; the promise is about the whole
    record, however its columns depend on each other. --delta is divided among the views. With --secret it is
    about that column only.

    With --by the promise holds in every group of that column, and the summary says what that costs, beside one
    mechanism for each group (--group makes it). A mechanism designed without --by promises nothing to people whose
    group is known.

    With --secret only what reports say about that column is bounded, for the joint distribution that the data show;
    whatever else is in the reported column is not protected, and the summary says so. With --cap all of it has local
    differential privacy of that level besides.

    The objective of --counts and --data is the error of frequencies estimated from reports, as small as can be; a
    problem file names its own. Other utilities are measured at the estimate; with --utility
    worst-case-mutual-information the least over the priors of the guarantee is meant. The summary says what the error
    of estimates is then, and where there are none.

    The mechanism is written as integers whose guarantee is proved in exact arithmetic; the utility comes with a bound
    that no mechanism with the same guarantee passes. With --lower no report rules any category out. An input named - is
    read from standard input. With -o - the mechanism goes to standard output, and the summary to standard error.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    if windows.windows:
        return design_strings(windows, source, output, as_json=as_json)
    if records.columns is not None:
        search = {"tol": tol, "bits": bits, "time_limit": time_limit}
        return design_views(records, windows, source, output, as_json=as_json, **search)
    if output is not None:
        check_ending(output)
    check_probabilities(output, probabilities=probabilities)
    check_plot(plot)
    standard = places.check([output, plot], source.inputs(), as_json=as_json, data=source.data)
    problem, title = source.problem()
    note = source.note_on_unseen(problem.uncertainty.size)
    if note is not None:
        say(note, err=True)
    options: dict[str, Any] = {"tol": tol, "bits": bits, "time_limit": time_limit}
    shape: dict[str, Any] = {"title": title, "outputs": outputs, "merge": merge, "method": method}
    grouped = source.by is not None and source.group is None
    both, began = None, time.perf_counter()
    with Progress() as progress:
        options["progress"] = progress
        if grouped and source.cover is None:
            both = design_for_groups(problem, **options, **shape)
            solved = both.designs[both.best]
        else:
            solved = design(problem, **options, **shape)
        interrupted = solved.stopped == "interrupted"
        comparing = comparing and not interrupted
        comparison = compare(solved, time_limit=time_limit, progress=progress) if comparing else None
        prices = price_groups(solved, **options) if grouped and with_prices and not interrupted else None
        says_cost = solved.reached and not (as_json or grouped)
        left = None if time_limit is None else time_limit - (time.perf_counter() - began)
        for_everyone = price_of_careful_cap(solved, time_limit=left, progress=progress) if says_cost else None
    kept = solved.reached or keep_partial or (interrupted and not (output and Path(output).exists()))
    written = output is not None and kept
    if output is not None and written:
        solved.mechanism.save(output, probabilities=probabilities)
    drawn = plot if kept else None
    error = None if solved.reached else _uncertified(solved, bits, output, written=written)
    write_plot(drawn, lambda: mechanism_figure(solved.mechanism))
    if as_json:
        keys = _keys(solved, comparison, prices) | ({} if plot is None else {"plot": drawn})
        if both is not None:
            keys |= {"union_value": both.values.get("union"), "cover_value": both.values.get("cover")}
        print_output(DesignOutput.built_from(solved, title=title, output=output if written else None, **keys), error)
    else:
        facts = [*design_facts(solved, title, source.default_in_words()), *group_facts(solved, both)]
        facts += cap_facts(for_everyone)
        files = [path for path in (output if written else None, drawn) if path is not None]
        if files:
            facts.append(("written", ", ".join("standard output" if path == STANDARD else path for path in files)))
        _print(solved, facts, comparison, prices, err=standard)
    return print_error(error)


def _keys(solved: Design, comparison: Comparison | None, prices: GroupPrices | None) -> dict[str, Any]:
    """Return the keys of `DesignOutput` that are not attributes of the design."""
    keys = design_keys(solved) | ({} if prices is None else price_keys(prices))
    return keys if comparison is None else keys | {"comparison": comparison_keys(comparison)}


def _print(
    solved: Design,
    facts: Sequence[tuple[str, str]],
    comparison: Comparison | None,
    prices: GroupPrices | None,
    *,
    err: bool,
) -> None:
    """Print a design for people: its facts, and below them the tables that were asked for."""
    print_facts(facts, err=err)
    if comparison is not None:
        say(err=err)
        print_comparison(comparison, err=err)
    if prices is not None:
        say(err=err)
        print_prices(prices, solved, err=err)


def _uncertified(solved: Design, bits: int, output: str | None, *, written: bool) -> LimitError:
    """Return the error that says that the gap is too large."""
    helps = {
        "time limit": "a larger --time-limit or --tol",
        "interrupted": "more time, or a larger --tol",
        "stalled": "a larger --tol, or more --bits",
        BOUNDED_OUTSIDE: "a larger --tol, as the best mechanism within the limits may be as far from this bound",
        "solver failed": "a slightly different epsilon or radius, or a larger --tol",
        "": f"more --bits than {bits}, a larger --tol, or a smaller epsilon",
    }[solved.stopped]
    why = f" ({solved.stopped})" if solved.stopped else ""
    kept = (
        ""
        if output is None
        else (f"; {output} was written all the same" if written else f"; {output} was not written (see --keep-partial)")
    )
    message = f"the gap {solved.gap:.1e} is not within tol {solved.tol:g}{why}{kept}; what helps: {helps}"
    return LimitError.not_certified(message)
