"""``mechdesign design --windows``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from mechdesign.cli import places
from mechdesign.cli.json_output import Labels, Text, Titled, given, print_output
from mechdesign.cli.output import print_facts
from mechdesign.cli.progress import Progress
from mechdesign.cli.shared_options import WHOLE
from mechdesign.cli.source import Source
from mechdesign.cli.windows_sample import (
    Sample,
    StringsPromised,
    csv_table,
    decorated,
    refuse_given,
    refuse_others,
    string_counts,
)
from mechdesign.data.fields import Number
from mechdesign.data.files import STANDARD, accepted_ending, write_atomically

if TYPE_CHECKING:
    from mechdesign.windows import PrefixDesign, SeparateCounts, WindowDesign
    from mechdesign.windows.strings import Form

_MOST_COMPARED = 20_000  # strings, whose errors are added and bounded in seconds


class StringDesignOutput(StringsPromised, Titled):
    """`mechdesign design --windows`."""

    carries = "mechdesign/design/1"

    heavy: Labels
    heavy_source: Text | None
    reached: Number
    error_of_all: Number | None
    bound: Number | None
    output: Text | None


@dataclass(frozen=True)
class WindowOptions:
    """The options of `mechdesign design --windows`."""

    windows: bool
    heavy: str | None
    split: str | None
    evidence: str | None
    seeds: int | None
    buckets: int | None
    one_layer: str | None
    any_seed: bool
    form: Form
    master: str | None
    prefixes: str | None


_WINDOW_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--windows",
        is_flag=True,
        help="Report about any string, also one that nobody has listed: words, addresses, products. Takes "
        "--data with --column, or --counts; --epsilon; --delta or --known; and the options below.",
    ),
    click.option(
        "--split",
        metavar="PART",
        help="With --windows: choose heavy strings by this share of the records, such as 1/10, drawn at random; "
        "the rest proves. Better where some strings have over 1 % of the records.",
    ),
    click.option(
        "--evidence",
        metavar="FILE",
        help="With --windows: write the counts of the strings that prove (CSV), which estimates need as --reference; "
        "--split needs it.",
    ),
    click.option(
        "--heavy",
        metavar="FILE",
        help="With --windows: choose heavy strings by these counts of OTHER data than the sample (CSV).",
    ),
    click.option("--seeds", type=WHOLE, help="With --windows: how many public circles. [default: 1000]"),
    click.option("--buckets", type=WHOLE, help="With --windows: how many buckets a circle has. [default: by epsilon]"),
    click.option(
        "--alpha",
        "one_layer",
        metavar="A",
        help="With --windows: the share of seeds that tell how much heavy strings have together. [default: 0.3, or "
        "less where the total error is smaller then]",
    ),
    click.option("--any-seed", is_flag=True, help="With --windows: prove for every 64-bit seed number."),
    click.option("--master", metavar="WORD", help="With --windows: the word of the seeds, fixed before the sample."),
    click.option(
        "--form",
        type=click.Choice(["nfc", "nfc-casefold"]),
        default="nfc",
        help="With --windows: the normal form of strings; nfc-casefold takes upper and lower case for the same.",
    ),
    click.option(
        "--prefixes",
        metavar="L1,L2,...",
        help="With --windows: each user reports about a prefix of one of these lengths, such as 2,4,6,8,10, so that "
        "`mechdesign heavy-hitters` finds frequent strings without a list of candidates.",
    ),
)


def window_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `WindowOptions`, which it receives as ``windows``."""

    def wrapped(**values: Any) -> Any:
        own = {name: values.pop(name) for name in WindowOptions.__dataclass_fields__}
        if not own["windows"] and values.get("columns") is None:
            refuse_given({*own} - {"windows"}, "needs --windows, or --columns with --strings")
        return command(windows=WindowOptions(**own), **values)

    return decorated(wrapped, command, *_WINDOW_OPTIONS)


def options_of_windows(options: WindowOptions) -> dict[str, Any]:
    """Return the options of a view of windows, for `mechdesign.records.View`."""
    from mechdesign.windows import SeparateCounts

    heavy = options.heavy
    about = {name: getattr(options, name) for name in ("split", "seeds", "buckets", "one_layer", "master")}
    about["heavy"] = None if heavy is None else SeparateCounts(string_counts(heavy), f"the file {heavy}")
    return given(**about) | {"any_seed": options.any_seed, "form": options.form}


def design_strings(options: WindowOptions, source: Source, output: str | None, *, as_json: bool) -> int:
    """Design windows from a sample, write and tell them."""
    from mechdesign.windows import SeparateCounts, split_sample

    sample = Sample(source.data, source.counts, source.column, not source.no_header)
    taken = {"data", "counts", "column", "no_header", "epsilon", "delta", "known", "cap", "output", "as_json"}
    refuse_others({*WindowOptions.__dataclass_fields__} | taken, "--windows")
    if not sample.given or source.epsilon is None:
        raise click.UsageError("--windows needs --epsilon, and --data FILE --column COLUMN or --counts FILE")
    if options.split is not None and (options.heavy is not None or source.known):
        raise click.UsageError("--split is for a sample that proves, without --heavy and --known; leave it out")
    if options.split is not None and options.evidence is None:
        raise click.UsageError("--split needs --evidence FILE: estimates need the counts of the part that proves")
    if output is not None:
        accepted_ending(output, (".json",))
    inputs = [sample.data, sample.table, options.heavy]
    standard = places.check([output, options.evidence], inputs, as_json=as_json, data=sample.data)
    with Progress() as progress:
        progress("counting strings")
        counts, heavy = sample.counts(options.form), None
        if options.heavy is not None:
            heavy = SeparateCounts(string_counts(options.heavy, header=sample.header), f"the file {options.heavy}")
        if options.split is not None:
            split = split_sample(counts, options.split, form=options.form)
            counts, heavy = split.evidence, split.heavy
        progress("designing windows")
        found, worth = _designed(options, source, counts, heavy)
    if options.evidence is not None:
        write_atomically(options.evidence, csv_table(["string", "count"], counts.items()))
    if output is not None:
        found.mechanism.save(output)
    title = f"{sample.title}: {len(counts):,} different ones"
    _tell_design(found, worth, title, output, standard=standard, as_json=as_json)
    return 0


def _designed(
    options: WindowOptions, source: Source, counts: dict[str, int], heavy: SeparateCounts | None
) -> tuple[Any, tuple[float | None, float | None]]:
    """Return the design of windows of strings, or of prefixes, and the error and the bound of all strings."""
    from mechdesign.windows import design_prefix_windows, design_windows

    chosen = given(
        delta=source.delta,
        known=source.known,
        seeds=options.seeds,
        buckets=options.buckets,
        one_layer=options.one_layer,
        cap=source.cap,
        master=options.master,
        heavy=heavy,
    )
    chosen |= {"any_seed": options.any_seed, "form": options.form}
    found: Any
    worth: tuple[float | None, float | None] = (None, None)
    if options.prefixes is not None:
        found = design_prefix_windows(counts, source.epsilon, _lengths(options.prefixes), **chosen)
    else:
        found = design_windows(counts, source.epsilon, **chosen)
        worth = (found.error, found.bound) if len(found.shares) <= _MOST_COMPARED else worth
    return found, worth


def _lengths(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise click.UsageError(f"--prefixes is {text!r}; give whole numbers with commas between, such as 2,4,6,8,10")
    return [int(part) for part in parts]


def _tell_design(
    found: WindowDesign | PrefixDesign,
    worth: tuple[float | None, float | None],
    title: str,
    output: str | None,
    *,
    standard: bool,
    as_json: bool,
) -> None:
    mechanism, (error, bound) = found.mechanism, worth
    if as_json:
        listed = mechanism.heavy
        about: dict[str, Any] = {
            "heavy": list(dict.fromkeys(name for heavy in listed for name in heavy.strings)),
            "heavy_source": listed[0].source if listed else None,
        }
        about |= {"reached": found.reached, "error_of_all": error, "bound": bound}
        print_output(StringDesignOutput(title=title, output=output, **mechanism.promised_keys(), **about))
        return
    facts = [("strings", title), *mechanism.facts()]
    facts.append(("mean lift", f"{found.reached:.6g}; exp(epsilon) with endless samples and buckets"))
    if error is not None:
        facts.append(("error", f"{error:.6g} / n for all strings of the sample together"))
        facts.append(("lower bound", f"{bound:.6g} / n, which no mechanism with this promise falls below"))
    if output is not None:
        facts.append(("written", "standard output" if output == STANDARD else output))
    print_facts(facts, err=standard)
