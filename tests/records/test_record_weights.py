"""Weights of views: the best shares, whole numbers, and the best partition of attributes."""

import itertools
import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mechdesign as md
from mechdesign import L1Ball
from mechdesign.records import View
from mechdesign.records.attribute_groups import best_groups, best_partition, group_choices
from mechdesign.records.record_sample import RecordSample
from mechdesign.records.record_weights import best_shares, error_of_shares, shares_for_targets, whole_weights
from tests.helpers.refusals import raises

POSITIVE = st.floats(1e-12, 1e12)


@given(st.lists(POSITIVE, min_size=1, max_size=20), st.integers(5, 52))
def test_whole_weights_sum_exactly_and_are_near_their_shares(shares, bits):
    found = whole_weights(shares, bits)
    assert sum(found) == 1 << bits
    assert min(found) >= 1
    unit = (1 << bits) / sum(map(Fraction, shares))
    exact = [Fraction(share) * unit for share in shares]
    if min(exact) >= 1:
        assert all(abs(weight - each) < 1 for weight, each in zip(found, exact, strict=True))


def test_equal_shares_and_rare_views_keep_a_unit():
    assert sorted(whole_weights([1] * 3, 5)) == [10, 11, 11]
    assert whole_weights([1e-30, 1e-30, 1], 2) == (1, 1, 2)
    assert whole_weights([1, 1, 1e-30, 1e-30], 2) == (1, 1, 1, 1)
    with raises("wrong-sum"):
        whole_weights([1] * 5, 2)
    with raises("out-of-range"):
        whole_weights([1.0, 0.0], 5)


@given(st.lists(st.tuples(POSITIVE, st.floats(0.1, 10)), min_size=2, max_size=6))
def test_no_shares_are_better_than_the_roots(pairs):
    errors, values = zip(*pairs, strict=True)
    best = error_of_shares(errors, best_shares(errors, values), values)
    assert best == pytest.approx(sum(math.sqrt(value * error) for error, value in pairs) ** 2, rel=1e-9)
    rng = np.random.default_rng(1)
    for shares in rng.dirichlet(np.ones(len(pairs)), size=20):
        assert error_of_shares(errors, np.maximum(shares, 1e-9), values) >= best * (1 - 1e-6)


def test_targets_are_met_at_once():
    errors, targets = [3.0, 5.0, 1.0], [0.01, 0.02, 0.005]
    needed = sum(error / target for error, target in zip(errors, targets, strict=True))
    for error, share, target in zip(errors, shares_for_targets(errors, targets), targets, strict=True):
        assert error / share / needed == pytest.approx(target)


def partitions(names):
    if not names:
        yield ()
        return
    first, rest = names[0], names[1:]
    for size in range(len(rest) + 1):
        for others in itertools.combinations(rest, size):
            left = tuple(name for name in rest if name not in others)
            for tail in partitions(left):
                yield ((first, *others), *tail)


def test_the_best_partition_is_that_of_a_list_of_all():
    rng = np.random.default_rng(1)
    names = tuple("abcdef")
    for _ in range(20):
        errors = {
            group: float(rng.uniform(0.5, 1) * len(group) ** 2)
            for size in range(1, 5)
            for group in itertools.combinations(names, size)
            if size == 1 or rng.random() < 0.7
        }
        everything = [each for each in partitions(names) if all(group in errors for group in each)]
        least = min(sum(math.sqrt(errors[group]) for group in each) for each in everything)
        found = best_partition(names, {group[::-1]: error for group, error in errors.items()})
        assert sum(math.sqrt(errors[group]) for group in found) == pytest.approx(least)
        assert sorted(itertools.chain(*found)) == sorted(names)


def test_partitions_that_cannot_be_found_are_refused():
    with raises("missing-argument", "b"):
        best_partition(["a", "b"], {("a",): 1.0, ("a", "b"): 1.0})
    with raises("unknown-choice"):
        best_partition(["a"], {("a",): 1.0, ("a", "c"): 1.0})
    with raises("too-much-work"):
        best_partition([str(place) for place in range(21)], {})


def test_attributes_that_tell_of_each_other_are_grouped():
    """Three copies of one attribute beside one that is unrelated: the copies are one view of few cells."""
    rng = np.random.default_rng(1)
    first = rng.choice(list("abcde"), 5000, p=[0.4, 0.3, 0.1, 0.1, 0.1])
    other = rng.choice([str(number) for number in range(15)], 5000)
    sample = RecordSample.of({"x": first, "y": first, "other": other, "z": first})
    assert best_groups(sample, 1, known=True) == (("x", "y", "z"), ("other",))
    assert best_groups(sample, 1, delta="1e-9", unseen="impossible") == (("x", "y", "z"), ("other",))
    assert best_groups(sample, 1, known=True, most_columns=1) == (("x",), ("y",), ("other",), ("z",))
    assert set(best_groups(sample, 1, known=True, most_columns=2)) > {("other",)}
    with raises("radius-or-delta-missing"):
        best_groups(sample, 1)


def test_delta_holds_for_views_that_their_counts_have_chosen():
    """Of 40 fair coins that with the most heads is chosen: its law lies in the ball, but for delta, only with choices.

    P[some coin's counts mislead] is 1 - (1 - p)^40, p of one coin from the binomial distribution, exactly.
    """
    tosses, coins, delta = 16, 40, 0.2

    def missed(**choices):
        chances = []
        for heads in range(tosses // 2 + 1):
            view = View(("coin",), {"heads": heads, "tails": tosses - heads})
            ball = md.design_records([view], 1, delta=delta, **choices).views[0].prior
            assert ball.evidence.delta == Fraction("0.2")  # what the file states
            if 2 * abs(Fraction(heads, tosses) - Fraction(1, 2)) > ball.radius:
                chances.append(2 * math.comb(tosses, heads) / 2**tosses)  # as many tails are as likely
        return 1 - (1 - sum(chances)) ** coins

    assert missed() > 3 * delta
    assert missed(choices=coins) <= delta


def test_merged_combinations_and_choices_widen_one_ball():
    cells = {"a & x": 300, "b & y": 500, "(other combination) & (other combination)": 0}
    view = View(("one", "two"), cells, merged="(other combination) & (other combination)")
    made = md.design_records([view], 1, delta="1e-6", choices=100)
    (ball,) = (each.prior for each in made.views)
    apart = L1Ball.from_counts([300, 500, 0, 0], delta="1e-8")
    assert (ball.radius, ball.evidence.delta) == (apart.radius, Fraction("1e-6"))
    assert made.mechanism.guarantee.delta == Fraction("1e-6")


def test_a_number_of_choices_that_says_nothing_is_refused():
    counts = {"one": {"a": 30, "b": 70}, "two": {"a": 20, "b": 80}}
    for choices in (1, 0, True, 2.5, "3"):
        with raises("not-a-whole-number"):
            md.design_records(counts, 1, delta="1e-9", choices=choices)
    with raises("conflicting-arguments"):
        md.design_records(counts, 1, known=True, choices=3)
    grouped = {"f": {"a": 30, "b": 70}, "m": {"a": 20, "b": 80}}
    for view in (
        View(("one",), grouped),
        View(("one",), grouped, secret="sex"),
        View(("one",), {"a": 3, "b": 4}, windows={}),
        View(("one",), L1Ball([0.5, 0.5], "0.1")),
    ):
        with raises("conflicting-arguments"):
            md.design_records([view, View(("two",), counts["two"])], 1, delta="1e-9", choices=3)


def test_so_many_groups_are_chosen_from():
    for attributes, size in product(range(1, 7), range(1, 4)):
        every = [group for k in range(1, size + 1) for group in combinations(range(attributes), k)]
        assert group_choices(attributes, size) == len(every)
