"""``mechdesign report`` for windows: a page about reports of any string."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mechdesign.cli import places
from mechdesign.cli.json_output import print_output
from mechdesign.cli.mechanism_kinds import MOST_BYTES
from mechdesign.cli.output import print_facts
from mechdesign.cli.progress import Progress
from mechdesign.cli.report import ReportOutput
from mechdesign.cli.windows_sample import refuse_others
from mechdesign.data.files import write_atomically
from mechdesign.data.reading import read_bounded
from mechdesign.errors import printable
from mechdesign.report import Origin
from mechdesign.report.rendering import page

if TYPE_CHECKING:
    from mechdesign.windows import WindowMechanism

_REPORTS = (10_000, 1_000_000)


def report_strings(file: str, output: str, *, title: str, as_json: bool, **_: object) -> int:
    """Prove windows, write the page about them, and say so."""
    from mechdesign.windows import WindowMechanism
    from mechdesign.windows.window_files import from_json

    refuse_others({"file", "output", "title", "as_json"}, "a file of windows")
    standard = places.check([output], [file], as_json=as_json)
    with Progress() as progress:
        progress("proving the guarantee in exact arithmetic")
        content = read_bounded(file, MOST_BYTES, "a mechanism file")
        mechanism: WindowMechanism = from_json(content, printable(file), WindowMechanism)
        mechanism.prove()
        progress("computing errors")
        origin = Origin.of(content, file)
        written = windows_page(mechanism, origin, title).encode()
    write_atomically(output, written)
    if as_json:
        about = ReportOutput(kind="mechanism", file=file, sha256=origin.digest, output=output, bytes=len(written))
        print_output(about)
        return 0
    facts = [("file", file), ("sha256", origin.digest), ("page", f"{len(written):,} bytes, about windows")]
    print_facts([*facts, ("written", "standard output" if standard else output)], err=standard)
    return 0


def windows_page(mechanism: WindowMechanism, origin: Origin, title: str = "") -> str:
    """Return a page about proved windows: one HTML file that fetches nothing."""
    from mechdesign.windows import compare_strings

    found, promise = compare_strings(mechanism), mechanism.promise
    heavy = mechanism.layout.heavy
    return page(
        "windows.html",
        title=title or "Reports about any string",
        factor=promise.epsilon.exp_up,
        cap_factor=None if promise.cap is None else promise.cap.exp_up,
        epsilon=promise.epsilon,
        cap=promise.cap,
        delta=promise.delta,
        formal=promise.in_words(),
        least=promise.least_share,
        outside=1 - 1 / found.lift,
        samples=promise.samples,
        seeds=found.seeds,
        leakage=mechanism.leakage,
        heavy=() if heavy is None else heavy.strings,
        source=None if heavy is None else heavy.source,
        rivals=found.rivals,
        found=found,
        numbers=_REPORTS,
        origin=origin,
        fingerprint=mechanism.fingerprint,
    )
