"""``mechdesign compare``."""

from __future__ import annotations

import click

from mechdesign.cli import places
from mechdesign.cli.comparison_output import ComparisonTable, cap_rows, comparison_keys, print_caps, print_comparison
from mechdesign.cli.design_output import DesignTable, design_keys
from mechdesign.cli.estimation_words import estimation_facts, no_estimates
from mechdesign.cli.given_mechanisms import given_mechanisms, with_options
from mechdesign.cli.json_output import Text, Titled, given, print_output
from mechdesign.cli.mechanism_kinds import own_command
from mechdesign.cli.output import say
from mechdesign.cli.progress import Progress
from mechdesign.cli.shared_options import check_plot, plot_option, time_limit_option, write_plot
from mechdesign.cli.source import Source
from mechdesign.cli.source_options import source_options
from mechdesign.cli.streams import print_error
from mechdesign.cli.windows_sample import reference_option
from mechdesign.comparison import Comparison, compare, equal_local_epsilon, price_caps
from mechdesign.comparison.cap_prices import checked_caps
from mechdesign.errors import LimitError
from mechdesign.optimize import Design, design
from mechdesign.plot import comparison as draw
from mechdesign.plot import price_of_caps


class ComparisonOutput(ComparisonTable, Titled):
    """`mechdesign compare`."""

    carries = "mechdesign/comparison/1"

    design: DesignTable
    plot: Text | None = None


@click.command("compare")
@source_options
@plot_option("the values as bars")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--caps",
    metavar="C1,C2,...",
    is_flag=False,
    flag_value="",
    help="Also design with these caps for everyone, and show what they cost; without a list some above epsilon. With "
    "--plot that is drawn.",
)
@time_limit_option
@reference_option
@with_options
def compare_command(
    *,
    source: Source,
    files: tuple[str, ...],
    names: tuple[str, ...],
    plot: str | None,
    caps: str | None,
    time_limit: float | None,
    reference: str | None,
    as_json: bool,
) -> int:
    """Show the best mechanism for a problem beside randomized response and the best LDP mechanism.

    All three have the same epsilon, and their utility is measured at the same estimate. The input is a problem file, a
    table of counts or a column of data, as for `mechdesign design`.

    With --utility worst-case-..., the utility of each is the least over the priors of the guarantee, and the best
    mechanism for the estimate stands beside them.

    With --utility estimation-error, subset selection and the best mechanism for mutual information stand beside them,
    and the errors are given in respondents: how many times as many each mechanism needs for the same error. The epsilon
    at which LDP has the error of the design is given too.

    Mechanisms of --with and --baseline are compared whatever they leak; one that misses the promise of the design is
    marked by *. Floats and decimals that miss it by no more than their errors, 1e-12 nats, are marked by ~, with the
    miss below. Whole numbers, as in a mechanism file, keep the promise exactly or not at all.

    A file of windows in place of the problem is compared with local hashing, Hadamard response, count-mean sketch and
    bounds by the errors of estimated shares of strings.
    """
    if own := own_command("compare", source.problem_file, reference=reference):
        return own(source.problem_file, reference, as_json=as_json)
    check_plot(plot)
    standard = places.check([plot], [*source.inputs(), *files], as_json=as_json)
    problem, title = source.problem()
    mechanisms = given_mechanisms(files, names, problem)
    tried = None if caps is None else checked_caps(problem, caps.split(",") if caps else None)
    with Progress() as progress:
        solved = design(problem, title=title, time_limit=time_limit, progress=progress)
        comparison = compare(solved, mechanisms=mechanisms, time_limit=time_limit, progress=progress)
        equal = _equal_epsilon(comparison, time_limit, progress)
        prices = None
        if tried is not None:
            prices = price_caps(problem, tried, without=solved, time_limit=time_limit, progress=progress)
    write_plot(plot, lambda: (draw(comparison) if prices is None else price_of_caps(prices)).figure)
    error = None if solved.certified else _uncertified(solved)
    if as_json:
        table = DesignTable.built_from(comparison.design, **design_keys(comparison.design))
        beside = given(plot=plot, equal_local_epsilon=equal, caps=prices and cap_rows(prices))
        print_output(ComparisonOutput(title=title, design=table, **comparison_keys(comparison), **beside), error)
    else:
        for name, value in no_estimates(solved):
            say(f"{name} from this design: {value}", err=standard)
        for line in (title, *map(": ".join, source.default_in_words())):
            say(line, err=standard)
        print_comparison(comparison, equal, err=standard)
        if prices is not None:
            say(err=standard)
            print_caps(prices, err=standard)
        for name, value in estimation_facts(solved):
            say(f"{name} of this design: {value}", err=standard)
        if plot is not None and not standard:
            say(f"written: {plot}")
    return print_error(error)


def _equal_epsilon(comparison: Comparison, time_limit: float | None, progress: Progress) -> float | None:
    """Return the epsilon at which LDP has the error of a design under a weaker promise; None for others."""
    if not (comparison.of_errors and comparison.promise and comparison.design.certified):
        return None
    return equal_local_epsilon(comparison.design, time_limit=time_limit, progress=progress)


def _uncertified(solved: Design) -> LimitError:
    """Return the error that says that the gap of the design is too large."""
    why = f" ({solved.stopped})" if solved.stopped else ""
    return LimitError.not_certified(
        f"this design is not certified: the gap {solved.gap:.1e} is not within tol {solved.tol:g}{why}; what helps: "
        "mechdesign design with another --tol, --bits or --time-limit"
    )
