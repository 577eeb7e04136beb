"""The tail after any post-processing: held against every deterministic one, random ones, and rationals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples
from strategies import counts
from tolerances import ALGEBRA, SOLVER

import mechdesign as md
from mechdesign.pml import (
    certify_tail,
    epsilon_after_post_processing,
    epsilon_at,
    leakage_tail,
    tail_after_post_processing,
)

MATRIX = [["0.7", "0.2", "0.1"], ["0.2", "0.5", "0.3"], ["0.1", "0.3", "0.6"]]
PRIOR = ["0.5", "0.3", "0.2"]


@st.composite
def instances(draw, outputs=4):
    """Numerators over 60, some of them 0, a prior without zeros, and exp(epsilon)."""
    weights = draw(counts(most=4, zeros=False))
    rows = []
    for _ in weights:
        cuts = sorted(draw(st.lists(st.integers(0, 60), min_size=outputs - 1, max_size=outputs - 1)))
        rows.append(np.diff([0, *cuts, 60]).tolist())
    ratio = 1 + Fraction(draw(st.integers(0, 60)), draw(st.integers(20, 60)))
    return rows, [Fraction(w, sum(weights)) for w in weights], ratio


def partitions(items):
    """Every way to lay items into groups."""
    if not items:
        yield []
        return
    first, *rest = items
    for groups in partitions(rest):
        yield [[first], *groups]
        for place in range(len(groups)):
            yield [*groups[:place], [first, *groups[place]], *groups[place + 1 :]]


def exact_tail(columns, prior, ratio):
    """The mass of the columns, in fractions, whose greatest entry is above ratio times their mean."""
    tail = Fraction(0)
    for v in columns:
        mean = sum((p * x for p, x in zip(prior, v, strict=True)), Fraction(0))
        tail += mean if max(v) > ratio * mean else 0
    return tail


def processed(rows, post):
    """The columns of a mechanism followed by a map, in fractions; floats are the numbers that they are."""
    post = [[Fraction(x) for x in row] for row in np.asarray(post).tolist()]
    return [
        [sum((Fraction(x) * line[z] for x, line in zip(row, post, strict=True)), Fraction(0)) for row in rows]
        for z in range(len(post[0]))
    ]


@pytest.mark.parametrize(
    ("epsilon", "expected"),
    [(0.25, 1.0), (0.5, 0.5115971642), (0.6, 0.4077674749), (0.75, 0.3031408719), (0.9, 0.0)],
)
def test_reference_values(epsilon, expected):
    found = tail_after_post_processing(MATRIX, PRIOR, epsilon)
    assert found.value == pytest.approx(expected, abs=1e-10)
    assert found.bound == pytest.approx(expected, abs=1e-10)
    assert found.value <= found.bound


def test_merging_outputs_passes_a_level_that_the_reports_pass_less_often():
    assert leakage_tail(MATRIX, PRIOR, 0.5) == pytest.approx(0.26, abs=1e-15)
    found = tail_after_post_processing(MATRIX, PRIOR, 0.5)
    rows = [[Fraction(x) for x in row] for row in MATRIX]
    prior = [Fraction(p) for p in PRIOR]
    ratio = md.Epsilon.of(0.5).exp_up
    assert exact_tail(processed(rows, found.post_processing), prior, ratio) >= Fraction(found.value) > Fraction("0.51")


@settings(max_examples=examples(30))
@given(instances())
def test_the_tail_is_between_the_best_deterministic_map_and_its_bound_and_is_attained(instance):
    rows, prior, ratio = instance
    found = tail_after_post_processing(rows, prior, f"log({ratio})")
    columns = list(zip(*rows, strict=True))
    best = Fraction(0)
    for groups in partitions(range(len(columns))):
        merged = [[Fraction(sum(columns[y][x] for y in group), 60) for x in range(len(rows))] for group in groups]
        best = max(best, exact_tail(merged, prior, ratio))
    assert leakage_tail(rows, prior, f"log({ratio})") <= float(best) + ALGEBRA
    assert float(best) <= found.bound + ALGEBRA
    assert found.bound - found.value <= SOLVER
    # The map that is returned is one, and what it attains is what is said.
    assert (found.post_processing >= 0).all()
    assert [sum(map(Fraction, row)) for row in found.post_processing.tolist()] == [1] * len(columns)
    after = processed([[Fraction(x, 60) for x in row] for row in rows], found.post_processing)
    for v, x in zip(after, found.symbols, strict=False):
        assert v[x] > ratio * sum((p * entry for p, entry in zip(prior, v, strict=True)), Fraction(0))
    assert exact_tail(after, prior, ratio) >= Fraction(found.value)
    # Anybody can compute the bound again, in fractions.
    mu, e = found.multipliers, ratio
    leaking = [x for x in range(len(rows)) if any(v[x] * 1 > e * mean(prior, v) for v in columns)]
    terms = [[mean(prior, v) + mu[x] * (v[x] - e * mean(prior, v)) for x in leaking] for v in columns]
    proved = sum((max(0, *row) for row in terms if row), Fraction(0)) / 60
    assert min(proved, 1) <= Fraction(found.bound) <= min(proved, 1) * (1 + Fraction(1, 2**52))
    assert certify_tail(rows, prior, f"log({ratio})", mu) >= found.bound


def mean(prior, v):
    return sum((p * x for p, x in zip(prior, v, strict=True)), Fraction(0))


@settings(max_examples=examples(30))
@given(instances(), st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_it_never_rises_under_post_processing(instance, seed, outputs):
    rows, prior, ratio = instance
    rng = np.random.default_rng(seed)
    post = rng.integers(0, 4, (4, outputs)) ** 2
    post[:, 0] += 1
    # Each row sums to the same number, so that numerators stay numerators.
    whole = math.lcm(*post.sum(axis=1).tolist())
    post = post * (whole // post.sum(axis=1, keepdims=True))
    before = tail_after_post_processing(rows, prior, f"log({ratio})")
    after = tail_after_post_processing(np.array(rows) @ post, prior, f"log({ratio})")
    assert leakage_tail(np.array(rows) @ post, prior, f"log({ratio})") <= before.bound + ALGEBRA
    assert after.value <= before.bound + ALGEBRA


@settings(max_examples=examples(20))
@given(instances(), st.lists(st.fractions(0, 5, max_denominator=9), min_size=4, max_size=4))
def test_any_multipliers_prove_a_bound(instance, multipliers):
    rows, prior, ratio = instance
    found = tail_after_post_processing(rows, prior, f"log({ratio})")
    assert certify_tail(rows, prior, f"log({ratio})", multipliers[: len(rows)]) >= found.value


@settings(max_examples=6)
@given(instances(), st.fractions(0, 1, max_denominator=20))
def test_the_least_epsilon_for_a_delta(instance, delta):
    rows, prior, _ = instance
    found = epsilon_after_post_processing(rows, prior, delta)
    least = float(found.epsilon)
    assert Fraction(found.bound) <= delta
    assert certify_tail(rows, prior, found.epsilon, found.multipliers) <= found.bound
    assert least >= epsilon_at(rows, prior, delta) - ALGEBRA
    if delta == 0:
        assert least == epsilon_at(rows, prior, 0)
    if least > 1e-6:
        assert tail_after_post_processing(rows, prior, least - 1e-6).bound > delta - SOLVER


def test_it_is_zero_at_the_leakage_and_whole_at_zero():
    greatest = epsilon_at(MATRIX, PRIOR, 0)
    assert tail_after_post_processing(MATRIX, PRIOR, greatest).bound == 0
    assert tail_after_post_processing(MATRIX, PRIOR, greatest - 1e-9).value > 0.2
    assert tail_after_post_processing(MATRIX, PRIOR, 0).value == 1
    assert tail_after_post_processing([[1], [1]], ["0.5", "0.5"], 0).bound == 0


def test_an_optimal_mechanism_has_none_although_every_output_leaks_epsilon():
    design = md.design(md.DesignProblem(md.L1Ball(["0.5", "0.3", "0.2"]), "log(3/2)"))
    numerators, prior = design.mechanism.numerators, ["0.5", "0.3", "0.2"]
    assert tail_after_post_processing(numerators, prior, "log(3/2)").bound == 0
    assert epsilon_after_post_processing(numerators, prior, 0).bound == 0
    assert tail_after_post_processing(numerators, prior, "log(149/100)").value > 0.9


def test_an_output_without_probability_may_still_be_merged_with_others():
    """Symbol 2 has probability 0, and output 2 comes of it alone; mixed with output 1 it leaks as one likes."""
    matrix, prior = [["1", "0"], ["0.5", "0.5"]], [1, 0]
    assert leakage_tail(matrix, prior, 1) == 0
    found = tail_after_post_processing(matrix, prior, "log(3)")
    # v = (w, w/2 + 1/2) leaks log 3 for w = 1/5.
    assert found.bound == pytest.approx(0.2, abs=1e-10)
    assert found.value == pytest.approx(0.2, abs=1e-10)
    with raises("never-occurs", "to 512"):
        epsilon_after_post_processing(matrix, prior, 0)
    assert float(epsilon_after_post_processing(matrix, prior, 0.2).epsilon) == pytest.approx(math.log(3), abs=1e-8)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: tail_after_post_processing([[1.0]], [0.5, 0.5], 1), "wrong-size"),
        (lambda: tail_after_post_processing(np.eye(2), [0.5, 0.5], -1), "epsilon-out-of-range"),
        (lambda: epsilon_after_post_processing(np.eye(2), [0.5, 0.5], 2), "delta-out-of-range"),
        (lambda: certify_tail(np.eye(2), [0.5, 0.5], 0.1, [1]), "wrong-size"),
        (lambda: certify_tail(np.eye(2), [0.5, 0.5], 0.1, [1, -1]), "wrong-size"),
    ],
)
def test_bad_input_is_named(call, code):
    with raises(code):
        call()


def test_a_mechanism_that_is_too_large_is_refused():
    with raises("too-much-work", "250500", "250000"):
        tail_after_post_processing(np.ones((501, 500)), np.ones(501) / 501, 1)


def test_a_lift_between_both_rationals_around_exp_epsilon_counts_as_above():
    e = md.Epsilon.of("0.5")
    ratio = (e.exp_down + e.exp_up) / 2
    matrix = [[ratio / 2, 1 - ratio / 2], [1 - ratio / 2, ratio / 2]]
    assert certify_tail(matrix, ["1/2", "1/2"], "0.5", [0, 0]) == 1.0
    assert tail_after_post_processing(matrix, ["1/2", "1/2"], "0.5").bound > 0
