"""Report labels through an exported mechanism, with the standard library alone.

python report.py mechanism.json < labels > reports

One label a line, in UTF-8. The probabilities are precisely those that `mechdesign verify` proves.
"""

import json
import secrets
import sys
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path


def fail(message: str) -> None:
    """Print an error and exit with status 2."""
    print(f"Error: {message}", file=sys.stderr)
    sys.exit(2)


# The second adds a promise to the guarantee; sampling is the same.
SCHEMAS = ("mechdesign/mechanism/1", "mechdesign/mechanism/2")


def main(path: str) -> None:
    """Write one report for each label on standard input, or none at all."""
    mechanism = json.loads(Path(path).read_text(encoding="utf-8"))
    bits, outputs = mechanism["bits"], mechanism["outputs"]
    rows = [list(accumulate(row)) for row in mechanism["numerators"]]
    if mechanism["schema"] not in SCHEMAS or any(row[-1] != 2**bits for row in rows):
        fail(f"{path} is not a mechanism of schema {' or '.join(SCHEMAS)}")
    cumulative = dict(zip(mechanism["inputs"], rows, strict=True))
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    labels = [line.rstrip("\r\n") for line in sys.stdin]
    # All labels are checked first: a second run over the same records would be a second report about each.
    for number, label in enumerate(labels, 1):
        if label not in cumulative:
            fail(f"line {number}: {label!r} is not an input of {path}; nothing was reported")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for label in labels:
        # The first output whose cumulative numerator exceeds a uniform integer of `bits` bits.
        print(outputs[bisect_right(cumulative[label], secrets.randbits(bits))])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        fail("usage: python report.py mechanism.json < labels > reports")
    main(sys.argv[1])
