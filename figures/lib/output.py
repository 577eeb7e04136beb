"""The files of a figure: its table as CSV and its picture as PNG."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "out"
Row = dict[str, Any]


def write(name: str, table: Sequence[Row], figure: Any, folder: Path = FOLDER) -> None:
    """Write ``name.csv`` and ``name.png``."""
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    figure.savefig(folder / f"{name}.png", dpi=110)
