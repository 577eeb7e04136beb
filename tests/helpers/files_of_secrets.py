"""Mechanism files that promise something about a secret, as JSON."""

from fractions import Fraction

import files_of_every_set as plain

from mechdesign.mechanism.proof import prove

SEEN = [[20, 10, 5, 5], [10, 15, 20, 15]]
LAW, GIVEN = {"counts": [40, 60], "radius": "1/10"}, [{"counts": row, "radius": "0.1"} for row in SEEN]
BOX = {"lower": ["0.4", "0.2", "0", "1/9"], "upper": ["0.6", "0.3", "0.2", "1/2"], "counts": SEEN[0]}
PAIR = {"box": {"lower": ["1/4", "1/4"], "upper": ["3/5", "3/5"], "counts": [40, 60]}}
SECRETS = {
    "known": None,
    "balls": [LAW, *GIVEN],
    "any law of the secret": [{**LAW, "radius": "2"}, {**GIVEN[0], "radius": "0"}, {**GIVEN[1], "radius": "0"}],
    "boxes": [PAIR, {"box": BOX}, GIVEN[1]],
    "other sets": [
        {"lower-limits": {"lower": ["1/3", "1/3"], "counts": [40, 60]}},
        {"relative-ball": {"alpha": "9/10", "gamma": "0.01", "counts": SEEN[0]}},
        {"priors": [["1/6", "1/4", "1/3", "1/4"], ["1/4", "1/4", "1/4", "1/4"]], "weights": ["1", "0"]},
    ],
}


def content(name, epsilon="log(9)", **sides):
    """Return the bytes of a mechanism file for four inputs that promises this about a secret."""
    about = {"name": "sex", "useful": "job", "values": ["f", "m"], "counts": SEEN, "not_protected": "the job"}
    limits = {} if SECRETS[name] is None else {"limits": SECRETS[name]}
    return plain.content({"secret": {**about, **limits}}, epsilon, **sides)


def limits_of(name):
    """The least epsilon, lower and cap of the file about a secret, as exact ratios."""
    proof = prove_of(content(name, lower="log(9)"))
    return max(proof.ratios), 1 / min(proof.least_lifts), Fraction(9)


def prove_of(found):
    parts = plain.from_content(found, "the file")
    return prove(parts.numerators, parts.bits, parts.guarantee)
