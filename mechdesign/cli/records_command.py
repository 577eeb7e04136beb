"""What `mechdesign design --columns` does: one mechanism for whole records, which reports one view of each."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from mechdesign.cli import places
from mechdesign.cli.json_output import Labels, Text, Titled, Whole, given, print_output
from mechdesign.cli.output import print_facts, say
from mechdesign.cli.progress import Progress
from mechdesign.cli.record_output import RecordsPromised, facts_of_means
from mechdesign.cli.record_reading import read_records
from mechdesign.cli.shared_options import WHOLE
from mechdesign.cli.source import Source
from mechdesign.cli.streams import print_error
from mechdesign.cli.windows_design import WindowOptions, options_of_windows
from mechdesign.cli.windows_sample import csv_table, decorated, refuse_given, refuse_others
from mechdesign.data.fields import Number
from mechdesign.data.files import STANDARD, accepted_ending, write_atomically
from mechdesign.data.reading import read_bounded
from mechdesign.display.numbers import near, percent, text_below
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.numerics.arrays import float_of
from mechdesign.numerics.exact import rational

if TYPE_CHECKING:
    from mechdesign.records.record_design import RecordDesign
    from mechdesign.records.record_sample import RecordSample
    from mechdesign.records.views_of_records import RecordViews

_MOST_IMPOSSIBLE = 1 << 24  # bytes
_OWN = {
    "epsilon",
    "cap",
    "delta",
    "known",
    "secret",
    "data",
    "no_header",
    "output",
    "as_json",
    "bits",
    "tol",
    "time_limit",
}
_STANDARD_ERROR = 0.01


class RecordDesignOutput(RecordsPromised, Titled):
    """`mechdesign design --columns`."""

    carries = "mechdesign/design/1"

    errors: Sequence[Number]
    error_of_all: Number
    lower_bound: Number | None
    no_bound: Text | None
    certified: bool
    queries: Whole
    respondents: Whole
    ruled_out: Mapping[str, Labels]
    output: Text | None


@dataclass(frozen=True)
class RecordOptions:
    """The options of `mechdesign design` for whole records."""

    columns: str | None
    pairs: bool
    groups: str | None
    bins: tuple[str, ...]
    queries: tuple[str, ...]
    side: tuple[str, ...]
    impossible: str | None
    unseen_combinations: str
    missing: str | None
    table: tuple[str, ...]
    count_column: str
    strings: tuple[str, ...]
    value: tuple[str, ...]
    cache: str | None


_RECORD_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--columns",
        metavar="A,B,C+D",
        help="Report about whole records of --data: one view of each, drawn at random: a column, or a group of columns "
        "with + between them. The promise is about the whole record, or with --secret about that column alone.",
    ),
    click.option("--pairs", is_flag=True, help="With --columns: the views are all pairs of columns, for their tables."),
    click.option(
        "--groups",
        type=click.Choice(["auto"]),
        help="With --columns: show columns together where that lessens the error; the best groups of up to 3. --delta "
        "covers that the data choose them.",
    ),
    click.option(
        "--bins",
        metavar="COLUMN=K",
        multiple=True,
        help="With --columns: numbers, in K bins of about equal counts, or between edges such as age=18:65; may be "
        "repeated. Edges that are chosen after a look at the sample are not covered by --delta.",
    ),
    click.option(
        "--queries",
        metavar="VIEW=QUERIES",
        multiple=True,
        help="With --columns: what a view is for, such as age=prefix or age=mean; by default frequencies, of a group "
        "those of each of its columns. sex+salary=frequencies asks for those of its combinations.",
    ),
    click.option(
        "--side",
        metavar="COLUMN",
        multiple=True,
        help="With --columns: hold the promise also against somebody who knows this column of the person. May be "
        "repeated, for somebody who knows one of them.",
    ),
    click.option(
        "--impossible",
        metavar="FILE",
        help="With --columns: combinations that nobody has, a CSV with a line of columns; an empty field is any value.",
    ),
    click.option(
        "--unseen-combinations",
        type=click.Choice(["keep", "impossible", "merge"]),
        default="keep",
        show_default=True,
        help="With --columns: whether combinations of a view that the data lack may be reported, or are taken as "
        "impossible; the promise is then for people who have none of them. merge: one category of a group.",
    ),
    click.option(
        "--missing",
        metavar="CATEGORY",
        help="With --columns: the category that stands for empty fields, such as ?; by default these are refused. Give "
        "it to mechdesign privatize too.",
    ),
    click.option(
        "--table",
        metavar="FILE",
        multiple=True,
        help="With --columns: a table of counts for each view, in their order, in place of the records of --data: its "
        "columns, and how many people have these values.",
    ),
    click.option(
        "--count-column",
        metavar="NAME",
        default="count",
        show_default=True,
        help="The column of --table with how many people have these values.",
    ),
    click.option(
        "--strings",
        metavar="COLUMN",
        multiple=True,
        help="With --columns: this column has any strings, which nobody has listed; its view is of windows, with "
        "--split and the other options of --windows. May be repeated.",
    ),
    click.option(
        "--value",
        metavar="VIEW=NUMBER",
        multiple=True,
        help="With --columns: what a squared error of each query of a view counts, against 1 for others; it is drawn "
        "more often where that is more.",
    ),
    click.option(
        "--cache",
        metavar="FOLDER",
        help="With --columns: keep the design of each view in this folder, but for those of --strings, so that a run "
        "that was interrupted goes on. It is made if it does not exist; what it holds is proved again.",
    ),
)


def record_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `RecordOptions`, which it receives as ``records``."""

    def wrapped(**values: Any) -> Any:
        own = {name: values.pop(name) for name in RecordOptions.__dataclass_fields__}
        if own["columns"] is None:
            refuse_given({*own} - {"columns"}, "needs --columns, which names the views of whole records")
        return command(records=RecordOptions(**own), **values)

    return decorated(wrapped, command, *_RECORD_OPTIONS)


def design_views(
    options: RecordOptions, windows: WindowOptions, source: Source, output: str | None, *, as_json: bool, **search: Any
) -> int:
    """Design a mechanism for whole records from a sample, write and tell it."""
    of_strings = {*WindowOptions.__dataclass_fields__} - {"windows", "prefixes"} if options.strings else set()
    refuse_others({*RecordOptions.__dataclass_fields__, *_OWN} | of_strings, "--columns")
    if windows.evidence is not None and len(options.strings) > 1:
        raise click.UsageError("--evidence is for one column of --strings; design views with Python for several")
    if windows.split is not None and windows.evidence is None:
        raise click.UsageError("--split needs --evidence FILE: estimates need the counts of the part that proves")
    if output is not None:
        accepted_ending(output, (".json",))
    files = files_of(options, source)
    inputs = [*files, options.impossible, windows.heavy]
    standard = places.check([output, windows.evidence], inputs, as_json=as_json, data=source.data)
    with Progress() as progress:
        found = designed_views(options, options_of_windows(windows), source, progress, **search)
    mechanism = found.mechanism
    for note in found.notes:
        say(note, err=True)
    if windows.evidence is not None:
        write_atomically(windows.evidence, _evidence(found))
    if output is not None:
        mechanism.save(output)
    error = None if found.certified else _uncertified(found)
    title = f"{', '.join(files)}, columns {options.columns}"
    if as_json:
        print_output(_printed(found, mechanism, title, output), error)
    else:
        print_facts([*_facts(found, mechanism, title, output), *_edges(options, source)], err=standard)
    return print_error(error)


def files_of(options: RecordOptions, source: Source) -> list[str]:
    """Return the files that views are made from."""
    if (source.data is None) is not bool(options.table) or source.epsilon is None:
        raise click.UsageError("--columns needs --data FILE or --table FILE, --epsilon, and --delta or --known")
    if source.secret is not None and options.groups is not None:
        raise click.UsageError("--groups auto is for whole records; beside --secret name groups in --columns: job+town")
    return list(options.table) if source.data is None else [source.data]


def designed_views(
    options: RecordOptions, windows: Mapping[str, Any], source: Source, progress: Callable[[str], None], **search: Any
) -> RecordDesign:
    """Return the design of the views that the options name."""
    from mechdesign.records.attribute_groups import group_choices
    from mechdesign.records.record_design import design_records

    views = _views_of_files(options, windows, source, files_of(options, source), progress)
    columns = (options.columns or "").split(",")
    auto = options.groups is not None and source.delta is not None
    chosen = given(
        cap=source.cap,
        delta=source.delta,
        known=source.known or None,
        choices=group_choices(len(columns)) if auto else None,
        cache=options.cache,
    )
    return design_records(views, source.epsilon, **chosen, **search, progress=progress)


def _views_of_files(
    options: RecordOptions,
    windows: Mapping[str, Any],
    source: Source,
    files: Sequence[str],
    progress: Callable[[str], None],
) -> RecordViews:
    """Return the views that the options name, of records in a file, or of a table for each view."""
    from mechdesign.records.record_sample import RecordSample
    from mechdesign.records.record_views import JOINT, name_of
    from mechdesign.records.views_of_records import views_of, views_of_tables

    groups: Sequence[tuple[str, ...]] = [tuple(group.split(JOINT)) for group in (options.columns or "").split(",")]
    names = list(dict.fromkeys(name for group in groups for name in group))
    if "" in names:
        raise click.UsageError(f"--columns is {shorten(options.columns)}: a name is empty; give names between , and +")
    if not (options.table and options.pairs):  # tables of pairs overlap
        _refuse_twice([name for group in groups for name in group])
    progress("reading records")
    beside = [*options.side, *([] if source.secret is None else [source.secret])]
    wanted = list(dict.fromkeys([*names, *beside]))
    joined = [] if source.no_header else [name_of(group) for group in groups if len(group) > 1]
    about: dict[str, Any] = {
        "pairs": options.pairs,
        "bins": {name: _bins(name, text) for name, text in _named(options.bins, "--bins")},
        "workloads": dict(_named(options.queries, "--queries")),
        "values": {
            name: float_of(rational(text, f"--value of {name!r}")) for name, text in _named(options.value, "--value")
        },
        "strings": dict.fromkeys(options.strings, windows),
        "side": options.side,
        "secret": source.secret,
        "unseen": options.unseen_combinations,
        "impossible": _impossible(options.impossible),
        "missing": options.missing,
    }
    if options.table:
        return views_of_tables(_tables(options, source, groups, joined, beside), options.count_column, **about)
    records = read_records(files[0], wanted, joined, header=not source.no_header, show_values=source.show_values)
    if options.groups is not None:
        progress("finding groups of columns")
        if options.strings:
            raise click.UsageError("--groups auto is for columns of listed values, without --strings")
        sample = RecordSample.of(records, names, bins=about["bins"], missing=options.missing)
        groups = _best_groups(options, source, sample, groups)
    return views_of(records, names, groups=[group for group in groups if len(group) > 1], **about)


def _tables(
    options: RecordOptions,
    source: Source,
    groups: Sequence[tuple[str, ...]],
    joined: Sequence[str],
    beside: Sequence[str],
) -> list[dict[str, Any]]:
    """Return the tables of counts, one for each view."""
    if options.groups is not None or source.no_header:
        raise click.UsageError("--groups and --no-header: not accepted beside --table; leave them out")
    if len(options.table) != len(groups):
        raise click.UsageError(
            f"there are {len(options.table)} of --table for {len(groups)} views in --columns; give a table for each"
        )
    if any(options.count_column in group for group in groups):
        raise click.UsageError(f"--columns has {options.count_column}, the column of counts; see --count-column")
    found = []
    for path, group in zip(options.table, groups, strict=True):
        names = list(dict.fromkeys([*group, *beside, options.count_column]))
        found.append(read_records(path, names, joined, header=True, show_values=source.show_values))
    return found


def _refuse_twice(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError.column_twice(f"--columns names {shorten(name)} twice; show each column in one view")


def _best_groups(
    options: RecordOptions, source: Source, sample: RecordSample, groups: Sequence[tuple[str, ...]]
) -> Sequence[tuple[str, ...]]:
    from mechdesign.records.attribute_groups import best_groups

    if source.cap is not None:
        raise click.UsageError("--groups auto finds the best groups without a cap; beside --cap name groups: job+town")
    if options.pairs or options.side or any(len(group) > 1 for group in groups):
        raise click.UsageError("--groups auto is for single --columns, without --pairs and --side")
    known: dict[str, Any] = {"delta": source.delta} if source.delta is not None else {"known": source.known}
    unseen: Any = options.unseen_combinations  # one of its two values
    return best_groups(sample, source.epsilon, **known, unseen=unseen)


def _named(given_texts: Sequence[str], option: str) -> list[tuple[str, str]]:
    """Return names and what is said of them."""
    found = [text.partition("=") for text in given_texts]
    for name, sign, value in found:
        if not (name and sign and value):
            raise click.UsageError(f"{option} is {shorten(name + sign + value)}; accepted: a name, = and a value")
    names = [name for name, _, _ in found]
    if again := next((name for name in names if names.count(name) > 1), None):
        raise click.UsageError(f"{option} of {shorten(again)} is given twice; give it once")
    return [(name, value) for name, _, value in found]


def _bins(name: str, text: str) -> object:
    """Return a number of bins, or edges."""
    from mechdesign.records.number_bins import is_number

    edges = ":".join(text.replace(";", ",").replace(",", " ").split()).split(":")
    numbers = len(edges) > 1 and all(map(is_number, edges))
    if (is_number(text) and "." in text) or (numbers and ":".join(edges) == text):
        return [float(edge) for edge in edges]
    try:
        return WHOLE.convert(text, None, None)
    except click.BadParameter:
        meant = f"{':'.join(edges)}, edges with : between them" if numbers else "edges such as 18:65"
        raise click.UsageError(
            f"--bins of {shorten(name)} are {shorten(text)}; accepted: a number of bins, such as {name}=15, or {meant}"
        ) from None


def _evidence(found: RecordDesign) -> bytes:
    """Return the counts of strings that prove the view of windows, as CSV."""
    made: Any = next(each for each, facts in zip(found.designs, found.facts, strict=True) if facts.cells is None)
    samples = made.mechanism.promise.samples
    return csv_table(["string", "count"], ((name, round(share * samples)) for name, share in made.shares.items()))


def _impossible(path: str | None) -> list[dict[str, str]]:
    """Return the combinations of a file, each without its empty fields."""
    if path is None:
        return []
    content = read_bounded(path, _MOST_IMPOSSIBLE, "a CSV file of impossible combinations")
    try:
        rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError.malformed_table(f"{path} is malformed ({error}); give CSV in UTF-8") from None
    if any(None in row or None in row.values() for row in rows):
        raise InputError.malformed_table(f"{path} has lines of other lengths than its first; give a field a column")
    return [{name: value for name, value in row.items() if value} for row in rows]


def _edges(options: RecordOptions, source: Source) -> list[tuple[str, str]]:
    """Return a warning where the sample that delta is about has chosen edges of bins."""
    chosen = [name for name, text in _named(options.bins, "--bins") if isinstance(_bins(name, text), int)]
    if source.delta is None or not chosen:
        return []
    which = " and ".join(map(shorten, chosen))
    return [("not covered", f"edges of {which} that the sample chose, by delta; take edges from elsewhere: 18:65")]


def _uncertified(found: RecordDesign) -> LimitError:
    views = [view.name for view, made in zip(found.views, found.facts, strict=True) if made.certified is False]
    which = f"the designs of {len(views)} views, such as {views[0]}, are not certified as the best ones"
    if len(views) == 1:
        which = f"the design of the view {views[0]} is not certified as the best one"
    return LimitError.not_certified(
        f"{which}; the guarantee holds all the same; what helps: a larger --time-limit or --tol"
    )


def _printed(found: RecordDesign, mechanism: Any, title: str, output: str | None) -> RecordDesignOutput:
    return RecordDesignOutput(
        title=title,
        errors=[made.error for made in found.facts],
        error_of_all=found.error,
        lower_bound=found.bound,
        no_bound=found.no_bound or None,
        certified=found.certified,
        queries=found.queries,
        respondents=found.respondents(_STANDARD_ERROR),
        ruled_out=mechanism.ruled_out,
        output=output,
        **mechanism.promised_keys(),
    )


def _facts(found: RecordDesign, mechanism: Any, title: str, output: str | None) -> list[tuple[str, str]]:
    facts = [("records", title), *mechanism.facts()]
    facts.append(("error", f"{near(found.error, 6)} / n for all {found.queries} queries together"))
    people = f"{found.respondents(_STANDARD_ERROR):,} for a root mean square standard error of {_STANDARD_ERROR:g}"
    facts.append(("respondents", people))
    facts += facts_of_means(found)
    if found.bound is None:
        facts.append(("lower bound", f"none: {found.no_bound}"))
    else:
        ratio = found.error / found.bound
        above = f"{percent(ratio - 1)} above it" if ratio < 2 else f"{ratio:.3g} times it"
        within = "optimal" if found.optimal else f"the error is {above}"
        whose = "any mechanism of whole records" + ", with a cap or without" * (mechanism.guarantee.cap is not None)
        text = f"{text_below(found.bound, 6)} / n for {whose}; {within}"
        facts.append(("lower bound", text))
    if output is not None:
        facts.append(("written", "standard output" if output == STANDARD else output))
    return facts
