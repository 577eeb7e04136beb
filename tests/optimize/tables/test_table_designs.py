"""Tables: values by other means, exact integers, and what is refused by name."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from refusals import raises
from scipy.optimize import linprog
from tables import (
    EDUCATION,
    RELATIONSHIP,
    best_flow_of_three,
    best_over_listed_priors,
    keeps_margins,
    random_table,
)

import mechdesign as md
from mechdesign import uncertainty

BALL, LDP, KNOWN = {"delta": 1e-9}, {"delta": 0}, {"known": True}
ANY_COUNTS = {"radius": uncertainty.clopper_pearson_radius(48842, 6, 1e-9)}
# Unchanged shares of an independent program, to ten digits.
SHARES = [
    (EDUCATION, BALL, ("0.3092554622", "0.4970450697", "0.7717420632")),
    (EDUCATION, LDP, ("0.2643864022", "0.3452656646", "0.5110966981")),
    (EDUCATION, KNOWN, ("0.3139393251", "0.5175984431", "0.7794893783")),
    (RELATIONSHIP, ANY_COUNTS, ("0.4345784393", "0.6771117377", "0.9054876358")),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("counts", "given", "shares"), SHARES)
def test_tables_of_adult_keep_the_shares_of_another_program(counts, given, shares):
    for epsilon, share in zip((0.5, 1, 2), shares, strict=True):
        found = md.design_table(counts, epsilon, **given)
        assert abs(found.bound - float(share)) <= 0.6e-10
        assert 0 <= found.gap <= 1e-9
        assert found.certified
        assert keeps_margins(found.mechanism, list(counts.values()))
        assert found.mechanism.outputs == found.mechanism.inputs == tuple(counts)
        assert md.verify(found.mechanism).optimal


def test_fewer_bits_lose_no_more_than_measured():
    losses = [md.design_table(EDUCATION, 1, delta=1e-9, bits=bits).gap for bits in (28, 32, 40, 48)]
    for loss, most in zip(losses, (1e-2, 3.1e-4, 1.3e-6, 5e-9), strict=True):
        assert loss <= most
    with raises("too-few-bits", "2^20"):
        md.design_table(EDUCATION, 1, delta=1e-9, bits=20)


@pytest.mark.sampled
@pytest.mark.parametrize("free", [False, True])
def test_a_cap_for_everyone_is_kept_besides(free):
    shares = {2: "0.5589", 3: "0.6267"} if free else {2: "0.4742", 3: "0.4968"}
    for cap, share in shares.items():
        found = md.design_table(EDUCATION, 1, delta=1e-9, cap=cap, invariant=not free)
        assert abs(found.value - float(share)) <= 0.6e-4  # in one case the reference is of a smaller set of tables
        assert found.gap <= 1e-9
        columns = found.mechanism.numerators.T.tolist()
        assert all(max(column) <= math.exp(cap) * min(column) for column in columns)


def test_free_tables_keep_more_and_outputs_of_no_use_keep_their_names():
    found = md.design_table({"White": 41762, "Black": 4685, "Other": 2395}, 0.5, delta=1e-9, invariant=False)
    assert round(found.value, 4) == round(41762 / 48842, 4)
    assert found.mechanism.outputs == ("White", "Black", "Other")
    assert not keeps_margins(found.mechanism, [41762, 4685, 2395])


@pytest.mark.slow
def test_three_categories_have_the_value_of_the_best_vertex():
    rng = np.random.default_rng(5)
    for counts in rng.integers(1, 60, (3, 3)).tolist():
        for ratio in (Fraction(5, 4), Fraction(5, 2)):
            best = best_flow_of_three(counts, ratio)
            found = md.design_table(counts, f"log({ratio})", known=True)
            assert float(best) - 1e-9 <= found.value <= float(best) <= found.bound


def test_two_categories_have_the_value_of_the_formula():
    for counts, ratio in product([(3, 1), (50, 50), (999, 1), (7, 5)], [Fraction(9, 8), Fraction(2), Fraction(10)]):
        P = [Fraction(n, sum(counts)) for n in counts]
        moved = max(0, *(p - ratio * p * p for p in P))
        found = md.design_table(counts, f"log({ratio})", known=True)
        assert found.value == pytest.approx(float(1 - 2 * moved), abs=1e-11)


@pytest.mark.sampled
@pytest.mark.parametrize("radius", ["0.05", "0.4", "1.2"])
def test_three_categories_over_a_ball_have_the_value_of_all_listed_priors(radius):
    rng = np.random.default_rng(8)
    for counts in rng.integers(5, 60, (4, 3)).tolist():
        ball = md.L1Ball.from_counts(counts, radius=radius)
        loss = rng.integers(0, 4, (3, 3))
        for given in ({}, {"invariant": False}, {"cap": 1.5}):
            best = best_over_listed_priors(ball, 1, -loss.astype(float), **given)
            found = md.design_table(ball, 1, loss=loss.tolist(), **given)
            assert found.bound <= -best + 1e-9 <= found.value + 2e-9
            assert found.value == pytest.approx(-best, abs=1e-8)


def check_random_tables(count, seed):
    rng, designed = np.random.default_rng(seed), 0
    for _ in range(count):
        counts, epsilon, given = random_table(rng)
        found = designed_or_refused(counts, epsilon, given)
        if found is None:
            continue
        designed += 1
        # The bound that is proved in rationals is reached by the program, and by the integers up to rounding.
        best = best_over_listed_priors(*arguments_of(counts, epsilon, given)) if len(counts) <= 3 else None
        if best is not None:
            value = best if "loss" not in given else -best
            assert found.bound == pytest.approx(value, abs=1e-8), (counts, epsilon, given)
        assert 0 <= found.gap <= 1e-6 * max(1, abs(found.value)), (counts, epsilon, given)
        assert not given["invariant"] or keeps_margins(found.mechanism, counts)
        assert md.verify(found.mechanism).gap >= 0
    assert designed >= 0.8 * count


def designed_or_refused(counts, epsilon, given):
    """The design; None where constraints leave no room, or where a category is too rare for 52 bits."""
    try:
        return md.design_table(counts, epsilon, **given)
    except (md.InputError, md.LimitError) as refused:
        error = refused
    assert error.code in {"constraints-infeasible", "too-few-bits"}, (counts, epsilon, given)
    return None


def arguments_of(counts, epsilon, given):
    ball, N = md.L1Ball.from_counts(counts, radius=given["radius"]), len(counts)
    places = {label: place for place, label in enumerate(ball.labels)}
    floors = [float(given.get("floors", {}).get(label, 0)) for label in ball.labels]
    pairs = {(places[x], places[y]) for x, y in given.get("forbidden", ())}
    gains = -np.array(given["loss"], dtype=float) if "loss" in given else np.eye(N)

    return ball, epsilon, gains, given["invariant"], floors, pairs, given.get("cap")


@pytest.mark.parametrize("rounds", [10, pytest.param(30, marks=pytest.mark.slow)])
def test_tables_at_random_reach_their_bound_and_keep_all_constraints(rounds):
    check_random_tables(rounds, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 14))
def test_many_tables_at_random_reach_their_bound_and_keep_all_constraints(seed):
    check_random_tables(100, seed)


def test_floors_and_forbidden_pairs_are_kept_exactly():
    given = {"floors": {"Wife": "0.3", "Husband": 1}, "forbidden": [("Unmarried", "Wife"), ("Wife", "Unmarried")]}
    found = md.design_table(RELATIONSHIP, 2, delta=1e-9, **given)
    rows = found.mechanism.numerators.tolist()
    assert rows[0] == [1 << 52, 0, 0, 0, 0, 0]
    assert 10 * rows[4][4] >= 3 << 52
    assert rows[3][4] == rows[4][3] == 0
    assert keeps_margins(found.mechanism, [*RELATIONSHIP.values()])
    assert found.certified


@pytest.mark.combined
@pytest.mark.parametrize(
    "given", [KNOWN, {"radius": "0.05"}, {"known": True, "invariant": False}, {"known": True, "cap": 90}]
)
@pytest.mark.parametrize("epsilon", [25, 50, 100, 700])
def test_an_epsilon_that_allows_every_table_is_certified(given, epsilon):
    """A solver loses coefficients of exp(-50): bounds of 17,269 for a share, or no solution, were the result."""
    found = md.design_table(EDUCATION, epsilon, **given)
    assert found.certified
    assert found.value > 1 - 1e-6
    assert md.verify(found.mechanism).optimal


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(12))
def test_the_pairs_that_follow_are_those_that_no_invariant_table_has(seed):
    rng = np.random.default_rng(seed)
    P, N = rng.dirichlet(np.ones(4)), 4
    pairs = [(x, y) for x, y in product(range(N), repeat=2) if x != y and rng.random() < 0.6]
    labels = [f"x{x + 1}" for x in range(N)]
    problem = md.optimize.TableProblem(md.L1Ball(P.tolist()), 5, forbidden=[(labels[x], labels[y]) for x, y in pairs])
    rows = np.vstack([np.kron(np.eye(N), np.ones(N)), np.kron(P, np.eye(N))])
    bounds = [(0, 0 if (x, y) in pairs else 1) for x, y in product(range(N), repeat=2)]
    for x, y in product(range(N), repeat=2):
        goal = np.zeros((N, N))
        goal[x, y] = -1
        greatest = -linprog(goal.ravel(), A_eq=rows, b_eq=np.concatenate([np.ones(N), P]), bounds=bounds).fun
        assert ((x, y) in problem.constraints.forbidden) == (greatest < 1e-7)
    free = md.optimize.TableProblem(problem.uncertainty, 5, forbidden=[], invariant=False)
    assert not free.constraints.forbidden


@pytest.mark.parametrize(
    ("counts", "given", "least"),
    [
        (RELATIONSHIP, KNOWN, "1.8697"),
        (RELATIONSHIP, BALL, "1.95857"),
        (EDUCATION, KNOWN, "4.76807"),
        pytest.param(EDUCATION, BALL, "4.98951", marks=pytest.mark.slow),
    ],
)
def test_floors_that_no_table_keeps_are_refused_with_the_least_epsilon(counts, given, least):
    with raises("constraints-infeasible", f"the least epsilon is {least}"):
        md.design_table(counts, 1, floors=0.2, **given)
    if given == KNOWN:  # Husband and HS-grad are common; the rarest category decides
        exact = math.log(0.2 * sum(counts.values()) / min(counts.values()))
        assert float(least) == pytest.approx(exact, abs=2e-5)
    assert md.design_table(counts, float(least) + 0.001, floors=0.2, **given).value > 0.2


def test_floors_without_an_interior_are_refused_by_name():
    with raises("constraints-infeasible", "no room for rounding", "0.6 (b)", "above 0.58778"):
        md.design_table({"a": 2, "b": 1}, "log(9/5)", known=True, floors={"b": "3/5"})
    with raises("constraints-infeasible", "none at any epsilon"):
        md.design_table({"a": 50, "b": 50}, 1, radius=1, floors=1)


@pytest.mark.parametrize(
    ("code", "given", "shown"),
    [
        ("constraints-infeasible", {"forbidden": [("a", "b")], "cap": 2}, "local differential privacy"),
        ("out-of-range", {"floors": 1.5}, "1.5"),
        ("unknown-label", {"floors": {"z": 0.1}}, "'z'"),
        ("unknown-label", {"forbidden": [("a", "z")]}, "'z'"),
        ("conflicting-arguments", {"forbidden": [("a", "a")]}, "'a'"),
        ("wrong-type", {"forbidden": ["ab"]}, "'ab'"),
        ("wrong-size", {"loss": [[0, 1], [1, 0]]}, "2 rows"),
        ("epsilon-out-of-range", {"cap": 0}, "cap = 0"),
        ("not-a-whole-number", {"bits": 53}, "53"),
    ],
)
def test_what_is_no_table_is_refused(code, given, shown):
    with raises(code, shown):
        md.design_table({"a": 5, "b": 4, "c": 3}, 1, radius=0.1, **given)


def test_counts_and_sets_that_have_no_table_are_refused():
    with raises("never-occurs", "'c'"):
        md.design_table({"a": 5, "b": 4, "c": 0}, 1, delta=0.1)
    with raises("needless-argument", "set of priors"):
        md.design_table(md.L1Ball([0.5, 0.5]), 1, known=True)
    with raises("too-many-given", "301"):
        md.design_table([1] * 301, 1, known=True)
    with raises("set-not-accepted"):
        md.design_table(md.SecretPromise({"s": {"a": 5, "b": 4}, "t": {"a": 1, "b": 2}}, known=True), 1)


FOUR = {"a": 400, "b": 300, "c": 200, "d": 100}
SETS = (
    uncertainty.Box.from_counts(FOUR, "0.01"),
    uncertainty.LowerLimits.from_counts(FOUR, "0.01"),
    uncertainty.RelativeBall.from_counts(FOUR, "0.01"),
    uncertainty.EventSet.from_counts(FOUR, "0.01"),
    md.Union.from_counts({"g": FOUR, "h": {"a": 300, "b": 200, "c": 300, "d": 100}}, delta="1e-3"),
    md.ConvexHull([["0.4", "0.3", "0.2", "0.1"], ["0.3", "0.4", "0.2", "0.1"]], labels=list(FOUR)),
)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "known",
    [
        pytest.param(known, id=type(known).__name__, marks=pytest.mark.slow if k % 2 else ())
        for k, known in enumerate(SETS)
    ],
)
def test_sets_of_every_kind_have_tables_whose_bound_is_proved(known, tmp_path):
    best = md.design_table(known, 1).value
    for given in ({"cap": 2}, {"forbidden": [("a", "b")]}, {"floors": "0.05"}, {"invariant": False}):
        found = md.design_table(known, 1, **given)
        assert found.gap <= 1e-9
        assert (found.value >= best - 1e-9) if "invariant" in given else (found.value <= best + 1e-9)
        found.mechanism.save(tmp_path / "t.json")
        assert md.verify(md.Mechanism.load(tmp_path / "t.json")).optimal


def test_other_sets_of_priors_have_tables_too():
    hull = md.ConvexHull([["1/2", "3/10", "1/5"], ["2/5", "2/5", "1/5"]])  # around 9/20, 7/20, 1/5
    found = md.design_table(hull, 1)
    assert found.gap <= 1e-9
    assert keeps_margins(found.mechanism, [9, 7, 4])
    wider = md.design_table(md.L1Ball(["9/20", "7/20", "1/5"], "1/10"), 1)
    assert wider.value < found.value < md.design_table(md.L1Ball(["9/20", "7/20", "1/5"]), 1).value
