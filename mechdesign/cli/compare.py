"""``mechdesign compare``."""

from __future__ import annotations

import click

from mechdesign.cli import places
from mechdesign.cli.comparison_output import comparison_record, print_comparison
from mechdesign.cli.estimation_words import estimation_facts
from mechdesign.cli.given_mechanisms import given_mechanisms, with_options
from mechdesign.cli.output import design_record, print_json, say
from mechdesign.cli.plot_option import check_plot, plot_option, write_plot
from mechdesign.cli.progress import Progress
from mechdesign.cli.source import Source, source_options, time_limit_option
from mechdesign.errors import LimitError
from mechdesign.optimize import Design, compare, design
from mechdesign.plot import comparison as draw


@click.command("compare", short_help="Show the design beside randomized response and LDP.")
@source_options
@plot_option("the values as bars")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@time_limit_option
@with_options
def compare_command(
    *,
    source: Source,
    files: tuple[str, ...],
    names: tuple[str, ...],
    plot: str | None,
    time_limit: float | None,
    as_json: bool,
) -> int:
    """Show the best mechanism for a problem beside randomized response and the best LDP mechanism.

    All three have the same epsilon, and their utility is measured at the same estimate. The input is a problem file, a
    table of counts or a column of data, as for `mechdesign design`.

    With --utility worst-case-..., the utility of each is the least over the priors of the guarantee, and the best
    mechanism for the estimate stands beside them.

    With --utility estimation-error, subset selection and the best mechanism for mutual information stand beside them,
    and the errors are told in respondents: how many times as many each mechanism needs for the same error.

    Mechanisms of --with and --baseline are compared whatever they leak; one that misses the promise of the design is
    marked by *. Floats and decimals that miss it by no more than their errors, 1e-12 nats, are marked by ~, with the
    miss below. Whole numbers, as in a mechanism file, keep the promise exactly or not at all.
    """
    check_plot(plot)
    standard = places.check([plot], [*source.inputs(), *files], as_json=as_json)
    problem, title = source.problem()
    mechanisms = given_mechanisms(files, names, problem)
    with Progress() as report:
        solved = design(problem, title=title, time_limit=time_limit, report=report)
        comparison = compare(solved, mechanisms=mechanisms, time_limit=time_limit, report=report)
    write_plot(plot, lambda: draw(comparison).figure)
    if as_json:
        record = {"title": title, **comparison_record(comparison), "design": design_record(comparison.design)}
        if plot is not None:
            record["plot"] = plot
        print_json("mechdesign/comparison/1", record)
    else:
        say(title, err=standard)
        print_comparison(comparison, err=standard)
        for name, told in estimation_facts(solved):
            say(f"{name} of this design: {told}", err=standard)
        if plot is not None and not standard:
            say(f"written: {plot}")
    return 0 if solved.certified else _uncertified(solved)


def _uncertified(solved: Design) -> int:
    """Say that the gap of the design is too large, and return the exit status."""
    why = f" ({solved.stopped})" if solved.stopped else ""
    click.echo(
        f"Error: this design is not certified: the gap {solved.gap:.1e} is not within tol {solved.tol:g}{why}; what "
        "helps: mechdesign design with another --tol, --bits or --time-limit",
        err=True,
    )
    return LimitError.exit_status
