"""Mechanism files of every set that the machine-checked proofs cover, as JSON."""

import json
from fractions import Fraction

import numpy as np

import mechdesign as md
from mechdesign.mechanism.claims import Parts
from mechdesign.mechanism.mechanism_files import from_content, parsed_json, to_json

ROWS = [[9, 3, 3, 1], [3, 9, 1, 3], [3, 1, 9, 3], [1, 3, 3, 9]]
AVERAGE = Fraction(9, 4)  # the greatest entries of all columns, out of 16
CENTER = ["0.4", "3/10", "0.2", "0.1"]
COUNTS = [40, 30, 20, 10]
OTHER = ["1/7", "2/7", "3/7", "1/7"]
LIMITS = {"lower": ["0.3", "0.2", "1/7", "0"], "upper": ["0.5", "0.5", "0.5", "0.3"]}
PAIR = {"inputs": ["0", "1"], "center": ["0.6", "0.4"], "radius": "1/10"}
SETS = {
    "ball": {"center": CENTER, "radius": "0.1"},
    "counts": {"counts": COUNTS, "radius": "1/7"},
    "known": {"counts": COUNTS, "radius": "0"},
    "everything": {"counts": COUNTS, "radius": "2"},
    "hull": {"priors": [CENTER, OTHER, ["1/4"] * 4], "weights": ["1/2", "1/4", "1/4"]},
    "box": {"box": {**LIMITS, "center": CENTER}},
    "lower limits": {"lower-limits": {"lower": LIMITS["lower"], "counts": COUNTS}},
    "l1 box": {"l1-box": {**LIMITS, "radius": "0.15", "center": CENTER}},
    "relative ball": {"relative-ball": {"alpha": "9/10", "gamma": "0.01", "center": CENTER}},
    "event set": {"event-set": {"alphas": ["9/10", "1"], "gammas": ["0.01", "1/9"], "counts": COUNTS}},
    "product": {"factors": [PAIR, {**PAIR, "center": ["1/4", "3/4"]}], "separator": "-"},
    "union": {
        "sets": [
            {"center": CENTER, "radius": "0.1"},
            {"center": OTHER, "radius": "0"},
            {"counts": COUNTS, "radius": "1/9"},
        ],
        "names": ["a", "b", "c"],
        "weights": ["1/2", "1/4", "1/4"],
    },
}


def content(given, epsilon="log(9)", **sides):
    """Return the bytes of a mechanism file for four inputs with a set of this table, or of this name."""
    table = SETS[given] if isinstance(given, str) else given
    inputs = ["0-0", "0-1", "1-0", "1-1"]
    record = {"schema": f"mechdesign/mechanism/{2 if sides else 1}", "inputs": inputs, "outputs": ["a", "b", "c", "d"],
              "bits": 4, "numerators": ROWS, "guarantee": {"epsilon": epsilon, **sides, **table}}  # fmt: skip
    return json.dumps(record).encode()


def document(found):
    return parsed_json(found, "the file")


def loaded(found):
    parts = from_content(found, "the file")
    return md.Mechanism(parts.numerators, parts.bits, parts.guarantee, parts.outputs)


def limits_of(name):
    """The least epsilon, lower and cap of the file with a set, as exact ratios."""
    promise = loaded(content(name)).guarantee
    columns = list(zip(*document(content(name))["numerators"], strict=True))
    above = max(promise.uncertainty.exact_set.exact_ratio(column) for column in columns)
    below = loaded(content(name, lower="log(9)")).proof.least_lifts
    return above, 1 / min(below), Fraction(9)


def just(ratio, change=Fraction(0)):
    return f"log({ratio * (1 - change)})"


def learnt(counts, delta, bound="clopper-pearson", **changes):
    """A mechanism file for an l1 ball around counts."""
    known, size = md.L1Ball.from_counts(counts, delta=delta, bound=bound), len(counts)
    rows = np.full((size, 2), 4)
    table = json.loads(to_json(Parts(rows, 3, md.Guarantee("log(9)", known), ("y", "n"))))
    table["guarantee"] |= changes
    return json.dumps(table).encode()
