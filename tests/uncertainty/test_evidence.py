"""Counts are a sample unless a user says otherwise."""

import pytest
from refusals import raises

import mechdesign as md
from mechdesign.errors import InputError
from mechdesign.uncertainty.evidence import check_one_way

COUNTS = {"a": 5, "b": 3, "c": 2}
JOINT = [[20, 10, 5, 5], [10, 15, 20, 15]]
WAYS = r"give one of delta= \(the counts are a sample\), radius= and known=True \(they are the distribution itself\)$"


@pytest.mark.parametrize(
    "made", [lambda: md.L1Ball.from_counts(COUNTS), lambda: md.L1Ball.from_samples(["a", "b", "a"])]
)
def test_counts_alone_are_refused_with_the_three_ways_in_one_line(made):
    with raises("radius-or-delta-missing", match=WAYS) as refused:
        made()
    assert "\n" not in str(refused.value)


def test_each_way_alone_is_taken():
    assert md.L1Ball.from_counts(COUNTS, known=True) == md.L1Ball.from_counts(COUNTS, radius=0)
    assert md.L1Ball.from_counts(COUNTS, known=True).in_words() == "the prior itself, taken as known"
    assert md.L1Ball.from_counts(COUNTS, delta=0).radius == 2
    assert md.L1Ball.from_samples(["a", "b"], known=True).radius == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"delta": "0.1", "radius": 0}, "delta '0.1' and radius 0 are both given; give one of them"),
        ({"delta": "0.1", "known": True}, "delta '0.1' and known are both given; give one of them"),
        ({"delta": 0, "radius": 0, "known": True}, "delta 0 and radius 0 and known are all given; give one of them"),
        ({"known": "yes"}, "known is 'yes'; accepted: True or False"),
        ({"known": 1}, "known is 1; accepted: True or False"),
        ({"known": False}, "nothing says how far the counts may be from the truth"),
        ({"known": True, "bound": "weissman"}, "the bound weissman is given without delta"),
    ],
)
def test_no_other_number_of_ways_is_taken(options, told):
    with pytest.raises(InputError) as refused:
        md.L1Ball.from_counts(COUNTS, **options)
    assert told in str(refused.value)


def test_joint_counts_are_a_sample_too():
    with raises("radius-or-delta-missing", "delta= (the joint counts are a sample) and known=True"):
        md.SecretPromise(JOINT)
    with raises("conflicting-arguments", "delta '0", "1' and known", "both"):
        md.SecretPromise(JOINT, delta="0.1", known=True)
    assert md.SecretPromise(JOINT, known=True).limits is None


def test_a_value_that_is_false_in_python_is_given():
    check_one_way({"delta": 0, "radius": None}, "delta")
    with raises("conflicting-arguments", "delta 0 and radius 0", "both"):
        check_one_way({"delta": 0, "radius": 0}, "delta")


def test_counts_of_samples_are_as_many_as_the_samples():
    """Counts 3 and 1 with 10^9 samples had a radius of .000193."""
    told = r"the counts are of 4 samples, and samples is 1000000000; leave samples out, or give probabilities"
    for made in (md.L1Ball, md.uncertainty.Box, md.uncertainty.RelativeBall):
        with raises("evidence-contradicts", match=told):
            made.from_counts([3, 1], delta="1e-9", samples=10**9)
        assert made.from_counts([3, 1], delta="1e-9", samples=4) == made.from_counts([3, 1], delta="1e-9")
    with raises("not-counts"):
        md.L1Ball.from_counts([2.5, 1.5], delta="0.1")


@pytest.mark.parametrize("bound", ["clopper-pearson", "weissman"])
def test_a_what_if_has_the_radius_of_as_many_samples(bound):
    shown = md.L1Ball.from_counts([225, 75], delta="1e-6", bound=bound)
    asserted = md.L1Ball.from_probabilities(["0.75", "0.25"], samples=300, delta="1e-6", bound=bound)
    assert (asserted.center, asserted.radius, asserted.delta) == (shown.center, shown.radius, shown.delta)
    assert asserted != shown
    assert (asserted.asserts_samples, shown.asserts_samples) == (True, False)
    assert asserted.samples == 300
    assert asserted.with_radius(1).evidence is None
    assert asserted.as_printed().asserts_samples


def test_what_is_made_of_a_what_if_is_one():
    ball = md.L1Ball.from_probabilities(["0.75", "0.25"], samples=300, delta="1e-6")
    shown = md.L1Ball.from_counts([225, 75], delta="1e-6")
    assert md.ProductSet(shown, ball).asserts_samples
    assert not md.ProductSet(shown, shown).asserts_samples
    assert md.Union([shown, ball]).asserts_samples
    joint = md.SecretPromise([[3, 1], [1, 3]], known=True)
    wide = md.L1Ball.from_probabilities(["0.5", "0.5"], samples=10, delta="1e-6")
    assert joint.within([wide, wide, wide]).asserts_samples
    assert not joint.asserts_samples
