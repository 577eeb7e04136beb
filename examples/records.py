"""Make the records behind the counts of a problem file, with the standard library alone.

python records.py problems/adult-education.toml > records.csv

A CSV file with one column and one line for each record, in an order shuffled with a fixed seed. The column is named
by the part of the file's name after its first hyphen (here `education`), or by --column.
"""

import argparse
import csv
import random
import sys
import tomllib
from pathlib import Path


def records(counts: dict[str, int], seed: int) -> list[str]:
    """Return every label as often as it was counted, shuffled."""
    lines = [label for label, count in counts.items() for _ in range(count)]
    random.Random(seed).shuffle(lines)
    return lines


def main() -> None:
    """Write the records to standard output."""
    parser = argparse.ArgumentParser(description="Make the records behind the counts of a problem file.")
    parser.add_argument("problem", type=Path, metavar="PROBLEM.toml")
    parser.add_argument("--column", help="name of the column [default: the file's name after its first hyphen]")
    parser.add_argument("--seed", type=int, default=0, help="of the order of the records [default: 0]")
    given = parser.parse_args()
    counts = tomllib.loads(given.problem.read_text(encoding="utf-8"))["prior"].get("counts")
    if counts is None:
        parser.error(f"{given.problem} has no [prior.counts]; give a problem file with counts")
    sys.stdout.reconfigure(encoding="utf-8", newline="")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([given.column or given.problem.stem.partition("-")[2] or given.problem.stem])
    writer.writerows([label] for label in records(counts, given.seed))


if __name__ == "__main__":
    main()
