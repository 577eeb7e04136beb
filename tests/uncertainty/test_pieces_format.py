"""What tables of boxes and limits hold, and which keys belong together."""

from fractions import Fraction

import pytest

import mechdesign as md
from mechdesign.uncertainty import LowerLimits
from mechdesign.uncertainty.l1_ball import Evidence
from mechdesign.uncertainty.pieces_format import LowerLimitsFormat

FORMAT = LowerLimitsFormat()
LABELS = ("a", "b", "c")
COUNTS = [20, 20, 10]
LOWER = ["0.1", "0.1", "0.05"]


def read(**given):
    return FORMAT.from_guarantee({"lower-limits": {"lower": LOWER} | given}, LABELS, "m.json", "guarantee")


def test_limits_below_those_that_counts_support_are_written_as_they_are():
    """Counts and delta would be read as greater limits, and so as a smaller set."""
    derived = LowerLimits.from_counts(dict(zip(LABELS, COUNTS, strict=True)), "0.1")
    evidence = Evidence(tuple(COUNTS), 50, Fraction(1, 10))
    modest = LowerLimits([x / 2 for x in derived.lower], center=derived.center, labels=LABELS).supported_by(evidence)
    assert set(FORMAT.to_prior(derived)["lower-limits"]) == {"counts", "delta"}
    assert set(FORMAT.to_prior(modest)["lower-limits"]) == {"lower", "center"}
    assert FORMAT.from_prior(FORMAT.to_prior(modest), "prior").lower == modest.lower


@pytest.mark.parametrize("given", [{}, {"center": ["0.4", "0.4", "0.2"], "counts": COUNTS}], ids=["neither", "both"])
def test_the_estimate_is_given_once(given):
    with pytest.raises(md.InputError, match="has center and counts, or neither; give one of them"):
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
    with pytest.raises(md.InputError, match="delta, samples and counts belong together"):
        read(**given)


def test_what_is_accepted():
    assert read(center=["0.4", "0.4", "0.2"]) == read(counts=COUNTS)
    assert read(counts=COUNTS).evidence is None
    assert read(counts=COUNTS, delta="0.1", samples=50).evidence == Evidence(tuple(COUNTS), 50, Fraction(1, 10))


@pytest.mark.parametrize("counts", [COUNTS[:2], [*COUNTS, 5]], ids=["fewer", "more"])
def test_there_is_a_count_for_each_input(counts):
    with pytest.raises(md.InputError, match=f"m.json: {len(counts)} counts for 3 inputs; give one for each input"):
        read(counts=counts)
