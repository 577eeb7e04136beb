"""Small mechanisms of whole records."""

from fractions import Fraction

import numpy as np
import pytest

from mechdesign import Guarantee, L1Ball, Mechanism
from mechdesign.records import RecordMechanism, RecordPart

HALF = [Fraction(1, 2)] * 2


def warner(labels=("no", "yes"), epsilon="log(3)", delta=None):
    known = L1Ball(HALF, radius=2, labels=labels)
    if delta is not None:
        known = L1Ball.from_counts(dict.fromkeys(labels, 500), delta=delta)
    return Mechanism(np.array([[3, 1], [1, 3]]), 2, Guarantee(epsilon, known))


def both(**changes):
    parts = {"smokes": ("smokes",), "drinks": ("drinks",)}
    made = [RecordPart(name, of, 2, warner(**changes)) for name, of in parts.items()]
    return RecordMechanism(made, weight_bits=2)


def raises(code):
    return pytest.raises(Exception, check=lambda error: getattr(error, "code", None) == code)


def survey():
    """Three views: an attribute, a number in bins, and two attributes of which a combination is impossible."""
    priors = {
        ("smokes",): {"no": 600, "yes": 300, "unsaid": 100},
        ("age",): {"under 18": 200, "18 to under 65": 600, "65 or more": 200},
        ("sex", "driver"): {"f & no": 250, "f & yes": 250, "m & yes": 500},
    }
    parts = []
    for (attributes, counts), weight in zip(priors.items(), (3, 4, 9), strict=True):
        numerators = np.full((3, 3), 2, dtype=np.int64) + 2 * np.eye(3, dtype=np.int64)
        known = L1Ball.from_counts(counts, delta="1e-9")
        promise = Guarantee(1, known)
        parts.append(RecordPart("+".join(attributes), attributes, weight, Mechanism(numerators, 3, promise)))
    return RecordMechanism(parts, weight_bits=4, bins={"age": [18, 65]})


PEOPLE = {
    "smokes": ["no", "yes", "unsaid", "no"],
    "age": [17, 18, 64, 90],
    "sex": ["f", "m", "f", "m"],
    "driver": ["no", "yes", "yes", "yes"],
    "name": ["ann", "bob", "eve", "dan"],
}
