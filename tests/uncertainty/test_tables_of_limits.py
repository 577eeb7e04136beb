"""What tables of boxes and limits hold, and which keys belong together."""

from fractions import Fraction

import pytest
from refusals import raises

from mechdesign.uncertainty import LowerLimits
from mechdesign.uncertainty.codec import Place, TableKind
from mechdesign.uncertainty.evidence import Evidence
from mechdesign.uncertainty.registry import set_of, table_of

LABELS = ("a", "b", "c")
COUNTS = [20, 20, 10]
LOWER = ["0.1", "0.1", "0.05"]


def read(**given):
    return set_of({"lower-limits": {"lower": LOWER} | given}, Place("guarantee", "m.json", LABELS))


def test_limits_below_those_that_counts_support_are_written_as_they_are():
    """Counts and delta would be read as greater limits, and so as a smaller set."""
    derived = LowerLimits.from_counts(dict(zip(LABELS, COUNTS, strict=True)), "0.1")
    evidence = Evidence(tuple(COUNTS), sum(COUNTS), Fraction(1, 10))
    modest = LowerLimits([x / 2 for x in derived.lower], center=derived.center, labels=LABELS).supported_by(evidence)
    assert set(table_of(derived, TableKind.PRIOR)["lower-limits"]) == {"counts", "delta"}
    assert set(table_of(modest, TableKind.PRIOR)["lower-limits"]) == {"lower", "center"}
    assert set_of(table_of(modest, TableKind.PRIOR), Place()).lower == modest.lower


@pytest.mark.parametrize("given", [{}, {"center": ["0.4", "0.4", "0.2"], "counts": COUNTS}], ids=["neither", "both"])
def test_the_estimate_is_given_once(given):
    with raises("conflicting-keys"):
        read(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"counts": COUNTS, "delta": "0.1"},
        {"counts": COUNTS, "samples": 50},
        {"center": ["0.4", "0.4", "0.2"], "delta": "0.1", "samples": 50},
    ],
    ids=["no samples", "no delta", "no counts"],
)
def test_delta_samples_and_counts_are_given_together(given):
    with raises("missing-key"):
        read(**given)


def test_what_is_accepted():
    assert read(center=["0.4", "0.4", "0.2"]) == read(counts=COUNTS)
    assert read(counts=COUNTS).evidence is None
    assert read(counts=COUNTS, delta="0.1", samples=sum(COUNTS)).evidence == Evidence(
        tuple(COUNTS), sum(COUNTS), Fraction(1, 10)
    )


@pytest.mark.parametrize("counts", [COUNTS[:2], [*COUNTS, 5]], ids=["fewer", "more"])
def test_there_is_a_count_for_each_input(counts):
    with raises("wrong-size", match=f"m.json: {len(counts)} counts for 3 inputs; give one for each input"):
        read(counts=counts)
