"""Several sets at once: held against the corners of each, by brute force in rationals."""

import json
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from extreme_priors import extreme_priors
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples
from strategies import balls, hulls
from tolerances import SOLVER

import mechdesign as md
from mechdesign.errors import GuaranteeError, InputError
from mechdesign.mechanism.mechanism_files import from_json, to_json
from mechdesign.uncertainty import Box, EventSet, LowerFunction, Union

GROUPS = {
    "north": {"a": 50, "b": 30, "c": 20},
    "south": {"a": 20, "b": 30, "c": 50},
    "west": {"a": 90, "b": 60, "c": 50},
}
THREE = md.Union.from_counts(GROUPS, delta="1e-3")
UTILITIES = [md.MutualInformation(), md.HammingAccuracy(), md.EstimationError()]
objectives = pytest.mark.parametrize("objective", UTILITIES, ids=lambda utility: utility.name)


@st.composite
def unions(draw, most=4):
    """Two or three balls of one size, and perhaps a hull."""
    size = draw(st.integers(2, most))
    sets = [draw(balls(size, size)) for _ in range(draw(st.integers(1, 3)))]
    return md.Union([*sets, draw(hulls(size, size))] if draw(st.booleans()) else sets)


def columns(known, count=8):
    return np.random.default_rng(known.size).integers(0, 50, (count, known.size)).tolist()


def mean(prior, column):
    return sum(q * v for q, v in zip(prior, column, strict=True))


@settings(max_examples=examples(20))
@given(unions())
def test_the_support_function_is_the_least_over_all_corners_of_all_sets(known):
    corners = set().union(*map(extreme_priors, known.sets))
    for column in columns(known):
        least, worst = known.exact_worst_mean(column)
        assert least == known.exact_support(column) == min(mean(corner, column) for corner in corners)
        assert mean(worst, column) == least
        assert known.contains(worst)
        most = max(mean(corner, column) for corner in corners)
        assert known.exact_greatest_mean(column) == most
    V = np.array(columns(known), dtype=float).T
    np.testing.assert_allclose(known.support(V), [float(known.exact_support(v)) for v in columns(known)], rtol=1e-12)


@given(unions(3), st.integers(0, 100))
def test_the_promise_is_kept_exactly_where_it_is_for_each_set(known, seed):
    """The leakage of each output is the greatest over the corners of the sets, and that of the worst of them."""
    columns = np.random.default_rng(seed).integers(0, 9, (5, known.size)).tolist()
    corners = set().union(*map(extreme_priors, known.sets))
    for column in filter(any, columns):
        means = [mean(corner, column) for corner in corners]
        worst = max(column) / min(means) if min(means) > 0 else None
        each = [one.exact_ratio(column) for one in known.sets]
        assert known.exact_ratio(column) == worst == (None if None in each else max(each))


@given(unions(3), st.randoms(use_true_random=False))
def test_order_and_subsets_change_nothing(known, rng):
    shuffled = list(known.sets)
    rng.shuffle(shuffled)
    smaller = [ball.l1_ball.with_radius(ball.l1_ball.radius / 2) for ball in known.sets if ball.l1_ball is not None]
    if any(0 in ball.center for ball in smaller if ball.radius == 0):
        smaller = []
    for other in (md.Union(shuffled), md.Union([*known.sets, *smaller, known.sets[0]])):
        for column in columns(known):
            assert other.exact_support(column) == known.exact_support(column)


@pytest.mark.sampled
@objectives
def test_designs_do_not_depend_on_order_or_on_subsets(objective):
    best = md.design(md.DesignProblem(THREE, 1, objective))
    assert best.certified
    assert not best.closed_form
    for order in permutations(range(3)):
        moved = md.Union([THREE.sets[i] for i in order], [THREE.weights[i] for i in order])
        assert md.design(md.DesignProblem(moved, 1, objective)).value == pytest.approx(best.value, rel=SOLVER)
    inside = [ball.l1_ball.with_radius(ball.radius / 2) for ball in THREE.sets]
    more = md.Union([*THREE.sets, *inside], [*THREE.weights, 0, 0, 0])
    assert md.design(md.DesignProblem(more, 1, objective)).value == pytest.approx(best.value, rel=SOLVER)


@pytest.mark.sampled
@objectives
def test_no_design_is_better_than_for_fewer_sets_and_none_for_a_cover_than_without(objective):
    """Utilities are compared at one reference prior: that of the union."""

    def value(known):
        design = md.design(md.DesignProblem(known, 1, objective))
        assert design.certified
        worth = objective.value(design.mechanism.matrix, THREE.center)
        return -worth if objective.minimised else worth

    together = value(THREE)
    for k in range(3):
        shares = [Fraction(0)] * 3
        one = THREE.sets[k]
        shares[k] = Fraction(1)
        at_center = md.Union([one, md.L1Ball(THREE.center, 0, one.labels)], [0, 1])
        # A known prior beside a set moves the reference and adds one prior, which lies in the union already.
        assert value(at_center) >= together - SOLVER
        assert md.Union(THREE.sets, shares).center == one.center
    assert value(THREE.covered()) <= together + SOLVER


def test_the_union_of_known_priors_is_their_hull():
    priors = [["0.5", "0.3", "0.2"], ["0.2", "0.2", "0.6"]]
    union, hull = md.Union([md.L1Ball(Q, "0") for Q in priors], ["1/4", "3/4"]), md.ConvexHull(priors, ["1/4", "3/4"])
    assert union.convex_hull == hull
    assert union.center == hull.center
    assert union.l1_ball is None
    of_union, of_hull = (md.design(md.DesignProblem(known, 1)) for known in (union, hull))
    assert of_union.value == pytest.approx(of_hull.value, rel=SOLVER)


def test_a_union_of_one_ball_is_that_ball():
    ball = md.L1Ball.from_counts({"a": 5, "b": 3}, delta="0.1")
    one = md.Union([ball])
    assert (one.l1_ball, one.ball, one.center, one.delta, one.samples) == (ball, ball, ball.center, ball.delta, 8)
    assert md.design(md.DesignProblem(one, 1)).value == md.design(md.DesignProblem(ball, 1)).value


def test_a_group_of_few_records_asks_for_nearly_local_differential_privacy():
    few = md.Union.from_counts({"many": {"a": 500, "b": 300}, "few": {"a": 2, "b": 0}}, delta="1e-9")
    assert few.sets[1].radius > Fraction(199, 100)
    assert few.covered().cover.radius >= few.sets[1].radius
    every = md.Union([few.sets[0], md.L1Ball(few.sets[1].center, 2, few.labels)], few.weights)
    assert every.holds_every_prior
    assert every.l1_ball == md.L1Ball(few.center, 2, ("a", "b"))
    assert "local differential privacy" in every.in_words()
    assert every.delta == Fraction(1, 10**9)  # the set of all priors needs none


def test_the_delta_is_of_all_groups_at_once_and_says_so():
    assert THREE.delta == Fraction(3, 1000)
    assert THREE.samples == 400
    assert "in any one of them with at most 0.001" in THREE.delta_in_words()
    assert md.Union([THREE.sets[0], THREE.sets[1].l1_ball.with_radius("0.1")]).delta is None
    assert THREE.center == tuple(Fraction(n, 400) for n in (160, 120, 120))


# Covers


@settings(max_examples=examples(15))
@given(st.integers(2, 4).flatmap(lambda size: st.lists(balls(size, size), min_size=1, max_size=4)))
def test_a_cover_holds_every_corner_of_every_set(sets):
    union = md.Union(sets)
    cover = union.covered()
    assert cover.l1_ball == cover.cover
    for corner in set().union(*map(extreme_priors, sets)):
        assert cover.cover.contains(corner)
    for column in columns(union):
        assert cover.exact_support(column) <= union.exact_support(column)
    # No center is better in the triangle inequality: two balls are half of their distance away, at best.
    for one in sets:
        for other in sets:
            apart = sum(abs(p - q) for p, q in zip(one.center, other.center, strict=True))
            assert cover.cover.radius >= min(2, (apart + one.radius + other.radius) / 2)


def test_two_balls_have_a_cover_of_half_their_span():
    far = md.Union([md.L1Ball(["0.7", "0.2", "0.1"], "0.1"), md.L1Ball(["0.2", "0.2", "0.6"], "0.2")])
    assert float(far.covered().cover.radius) == pytest.approx((1 + 0.3) / 2, abs=1e-6)


def test_a_cover_that_holds_less_is_refused():
    cover = THREE.covered().cover
    smaller = md.L1Ball(cover.center, cover.radius - Fraction(1, 10**9), cover.labels)
    with raises("cover-too-small"):
        md.Union(THREE.sets, THREE.weights, cover=smaller)


def test_what_has_no_cover_says_so():
    box = Box.from_counts({"a": 5, "b": 3}, "0.1")
    with raises("set-not-accepted", "'g1'", "a Box"):
        md.Union([box]).covered()


# Files


def silent(known):
    return json.loads(to_json(md.Mechanism([[4]] * known.size, 2, md.Guarantee("1", known), ("y",)).parts))


def loaded(table):
    return md.Mechanism(*from_json(json.dumps(table).encode(), "m.json"))


@pytest.mark.parametrize("known", [THREE, THREE.covered()], ids=["union", "cover"])
def test_files_hold_the_sets_and_their_samples(known):
    again = loaded(silent(known)).guarantee.uncertainty
    assert again == known
    assert again.delta == Fraction(3, 1000)
    assert [each.evidence.counts for each in again.sets] == [(50, 30, 20), (20, 30, 50), (90, 60, 50)]


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda it: it["sets"][1].update(radius="0.1"), GuaranteeError, "the claimed delta is false"),
        (lambda it: it["sets"][1].update(delta="1e-9"), GuaranteeError, "the claimed delta is false"),
        (lambda it: it["cover"].update(radius="0.5"), GuaranteeError, "the set 'north' reaches"),
        (lambda it: it["cover"].update(radius="3"), InputError, "the radius is '3'"),
        (lambda it: it["cover"].update(center=["1", "0", "0"]), GuaranteeError, "the cover does not hold the set"),
        (lambda it: it.update(cover={"priors": [["1/3", "1/3", "1/3"]]}), InputError, "a cover is an l1 ball"),
        (lambda it: it.update(sets=[]), InputError, "sets"),
        (lambda it: it.update(names=["north", "north", "west"]), InputError, "north"),
        (lambda it: it.update(names=["north"]), InputError, "1 labels for 3"),
        (lambda it: it.update(weights=["1/2", "1/2"]), InputError, "2 weights for 3 sets"),
        (lambda it: it["sets"].append({"sets": it["sets"][:1]}), InputError, "give a set that is not made of others"),
        (lambda it: it["sets"].append({"radius": "1", "center": ["1/2", "1/2"]}), InputError, "labels"),
        (lambda it: it.update(radius="1"), InputError, "radius"),
    ],
)
def test_forged_files_are_refused(change, kind, message):
    table = silent(THREE.covered())
    change(table["guarantee"])
    with pytest.raises(kind, match=message):
        loaded(table)


def test_limits_that_would_take_long_to_derive_again_are_refused_before_any_is(monkeypatch):
    box = Box.from_counts({"a": 5, "b": 3}, "0.1")
    with raises("too-many-given", "161", "for 2", "accepted: 320"):
        md.Union([box] * 161)
    table = silent(md.Union([box]))
    table["guarantee"] |= {"sets": table["guarantee"]["sets"] * 161, "names": None, "weights": None}
    monkeypatch.setattr("mechdesign.uncertainty.nested_codecs.set_of", pytest.fail)
    with raises("too-many-given", "m.json: 161 sets have limits from samples"):
        loaded(table)


def test_samples_of_many_sets_of_events_are_refused_before_any_limit_is_derived(monkeypatch):
    """Beyond 16 symbols limits are derived for every number of samples: some seconds for 200,000 of one set."""
    events = EventSet.from_counts([3] * 17, "1e-6")
    table = silent(md.Union([events, events]))

    for each in table["guarantee"]["sets"]:
        each["event-set"]["samples"] = 200_000
    monkeypatch.setattr("mechdesign.uncertainty.nested_codecs.set_of", pytest.fail)
    with raises("too-many-given", "2 sets of events of 17 categories have 400000 samples in all"):
        loaded(table)


def test_a_mechanism_for_one_group_is_not_one_for_all():
    """The matrix that is best for one group leaks more than it may for another, and is refused."""
    alone = md.design(md.DesignProblem(THREE.sets[0], 1)).mechanism
    with raises("guarantee-false"):
        md.Mechanism(alone.numerators, alone.bits, md.Guarantee("1", THREE))


# What is refused


def of_groups(*rows, **of_each):
    return md.Union.from_counts({name: {"a": a, "b": b} for name, (a, b) in zip("nsw", rows, strict=False)}, **of_each)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: md.Union([]), "too-many-given"),
        (lambda: md.Union(THREE), "wrong-type"),
        (lambda: md.Union([THREE]), "set-not-accepted"),
        (lambda: md.Union([md.ProductSet(*[md.L1Ball([0.5, 0.5], 0)] * 2)]), "set-not-accepted"),
        (lambda: md.Union([md.L1Ball([0.5, 0.5], 1), md.L1Ball([0.5, 0.5], 1, ["a", "b"])]), "labels-differ"),
        (lambda: md.Union([md.L1Ball([0.5, 0.5], 1).as_printed()]), "ball-leaves-simplex"),
        (lambda: md.Union([md.SecretPromise([[1, 2], [2, 1]], known=True)]), "set-not-accepted"),
        (lambda: md.Union({"a": THREE.sets[0]}, names=["b"]), "needless-argument"),
        (lambda: md.Union([[0.5, 0.5]]), "wrong-type"),
        (lambda: of_groups([1, 2], [0, 0], delta=0.1), "never-occurs"),
        (lambda: of_groups([1, 2], delta=0.1), "too-few-categories"),
        (lambda: md.Union.from_counts({"n": {"a": 1, "b": 2}, "s": {"a": 1}}), "labels-differ"),
        (lambda: of_groups([1, 2], [1, 0], radius=0), "never-occurs"),
    ],
)
def test_what_is_not_a_union_is_refused_in_one_line(make, code):
    with raises(code) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_membership_needs_no_linear_rows():
    """A function that is not supermodular has none; mixtures of its priors and a ball's are found all the same."""
    P = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]

    def least(event):
        return Fraction(1) if len(event) == 3 else Fraction(1, 5) if len(event) == 2 or "x1" in event else Fraction(0)

    both = Union([LowerFunction(least, P, supermodular=False), md.L1Ball(P, "0.1")])
    assert both.contains([Fraction(1, 3)] * 3)
    assert both.contains(P)
    assert not both.contains(["0.1", "0.45", "0.45"])
    known = md.SecretPromise([[2, 1, 1], [2, 1, 1]], known=True)
    within = known.within([md.L1Ball(["1/2", "1/2"], "0.1"), *both.parts])
    assert within.contains(P)
    assert not within.contains(["0.05", "0.45", "0.5"])
