"""The picture of the results: seconds on logarithmic axes; curves differ in colour, marker and line style."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.measure import COARSE, KNOWN, Row

# Okabe and Ito's colours, of different lightness.
STYLES = [
    {"color": "#0072B2", "marker": "o", "linestyle": "-"},
    {"color": "#D55E00", "marker": "s", "linestyle": "--"},
    {"color": "#000000", "marker": "^", "linestyle": ":"},
]
PRIORS = {"known": "known prior", "1e-9": "delta = 1e-9", "LDP": "any prior (LDP)"}


def draw(measured: dict[str, list[Row]]) -> Any:
    """Return a matplotlib figure of the sections on designs."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 6.4), layout="constrained")
    axes = figure.subplots(2, 3, subplot_kw={"xscale": "log", "yscale": "log"})
    for axis, known in zip(axes[0], KNOWN, strict=True):
        _growth(axis, [row for row in measured["growth"] if row["known"] == known])
        axis.set_title(f"design, {PRIORS[known]}")
        axis.set_xlabel("symbols")
    top = [axis.get_ylim() for axis in axes[0]]
    for axis in axes[0]:
        axis.set_ylim(min(low for low, _ in top), max(high for _, high in top))
    listing, samples, peers = axes[1]
    rows = [row for row in measured["listing"] if row["counts"] == "Zipf" and row["known"] == "1e-9"]
    _line(listing, rows, "N", "tables", 0, "column generation")
    _line(listing, rows, "N", "listing", 1, "every ray listed")
    listing.set(title="beside listing, delta = 1e-9", xlabel="symbols (Zipf)")
    for k, known in enumerate(("known", "1e-9")):
        rows = [row for row in measured["samples"] if row["known"] == known]
        _line(samples, rows, "total", "seconds", k, PRIORS[known])
    _limited(samples, measured["samples"], "total")
    samples.set(title=f"design, {measured['samples'][0]['N']} symbols", xlabel="samples")
    _line(peers, measured["polyhedral"], "N", "seconds", 0, "right guess: ours")
    literal = [row for row in measured["polyhedral"] if "literal" in row]
    _peer(peers, literal, "literal", 0, "literal Proposition 2")
    loss = [row for row in measured["linear_loss"] if "skipped" not in row]
    if loss:
        _line(peers, loss, "N", "seconds", 1, "linear loss: ours")
        _peer(peers, loss, "qif", 1, "qif")
    peers.set(title="linear programs", xlabel="symbols")
    for axis in axes.flat:
        axis.grid(which="major", color="0.88", linewidth=0.7)
        axis.legend(fontsize=8, frameon=False)
    listing.set_xscale("linear")
    for axis in (*axes[0], peers):
        axis.xaxis.set_major_formatter("{x:g}")
    for axis in axes[:, 0]:
        axis.set_ylabel("seconds")
    return figure


def _growth(axis: Any, rows: list[Row]) -> None:
    for k, family in enumerate(dict.fromkeys(row["counts"] for row in rows)):
        several = [row for row in rows if row["counts"] == family]
        fine = [row for row in several if row["tol"] < COARSE]
        _line(axis, fine, "N", "seconds", k, family)
        style = STYLES[k] | {"linestyle": "none", "markerfacecolor": "white"}
        coarse = [row for row in several if row["tol"] == COARSE]
        axis.plot([row["N"] for row in coarse], [row["seconds"] for row in coarse], **style)
    _limited(axis, rows, "N")


def _limited(axis: Any, rows: Iterable[Row], key: str) -> None:
    """Mark designs that are not certified with a cross."""
    left = [row for row in rows if not row["certified"]]
    if left:
        axis.plot(
            [row[key] for row in left],
            [row["seconds"] for row in left],
            linestyle="none",
            marker="x",
            markersize=10,
            color="0.35",
            label="not certified",
        )


def _line(axis: Any, rows: list[Row], x: str, y: str, k: int, label: str, **style: Any) -> None:
    axis.plot([row[x] for row in rows], [row[y] for row in rows], label=label, markersize=5, **(STYLES[k] | style))


def _peer(axis: Any, rows: list[Row], y: str, k: int, label: str) -> None:
    """Draw a peer in the colour and marker of ours, with open markers and a dotted line."""
    _line(axis, rows, "N", y, k, label, linestyle=":", markerfacecolor="white")
