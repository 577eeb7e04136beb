"""Designs for whole records: views, weights, bound; Adult against published tables of this package's notes."""

import math
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import mechdesign as md
from figures.lib.records_of_adult import ADULT, EIGHT
from mechdesign.records import View, views_of, views_of_tables
from mechdesign.records.record_certificate import bound_of_records, check_claim, combined_error_of, errors_of
from mechdesign.records.record_design import design_records
from mechdesign.records.record_queries import ShownCells, queries_of
from tests.helpers.refusals import raises
from tests.records.groups_of_adult import GROUPS

TWO = {"smokes": {"yes": 250, "no": 750}, "drinks": {"yes": 400, "no": 600}}
KNOWN = {  # E of each attribute for epsilon 0.5, 1, 2
    "workclass": (15.95407, 6.02331, 1.62562),
    "education": (24.67116, 9.32948, 2.80494),
    "marital-status": (10.52359, 3.98822, 1.37328),
    "occupation": (20.92030, 7.90657, 2.25454),
    "relationship": (7.91706, 3.00864, 1.07835),
    "race": (9.30861, 3.51438, 0.94516),
    "sex": (1.38067, 0.52126, 0.44274),
    "salary": (1.77694, 0.67087, 0.36564),
}
LEARNT = {  # the same for sets that hold the laws but for 1e-9, from 32,561 records
    "0.5": (17.07841, 27.08552, 11.39949, 22.94103, 8.61997, 9.82118, 1.44136, 1.84579),
    "1": (6.52481, 10.21875, 4.31751, 8.66571, 3.25106, 3.74538, 0.55903, 0.71372),
    "2": (1.87473, 3.22411, 1.50879, 2.63998, 1.16856, 1.07606, 0.44274, 0.36564),
}
AGES = (1657, 2238, 2516, 1620, 2541, 1716, 2637, 1756, 2437, 2358, 2195, 1828, 2554, 2176, 2332)
"""Records of Adult in 15 bins of about equal counts of the age."""


def test_a_design_is_proved_weighted_and_bounded():
    lines = []
    found = design_records(TWO, 1, delta="1e-9", progress=lines.append)
    assert found.certified
    assert found.mechanism.guarantee.delta == found.designs[0].problem.uncertainty.delta * 2
    assert str(found.mechanism.guarantee.delta) == "1/1000000000"
    assert found.mechanism.leakage <= 1
    roots = sum(math.sqrt(design.value) for design in found.designs)
    assert found.error == pytest.approx(roots**2, rel=1e-8)
    assert found.bound < found.error
    assert check_claim(found.mechanism, found.optimality) == (found.error, found.bound)
    assert found.respondents(0.01) == math.ceil(found.error / (4 * 0.01**2))
    assert not found.optimal
    assert [line.partition(":")[0] for line in lines] == [
        "view 1 of 2",
        "view 2 of 2",
        "computing the bound for all mechanisms of whole records",
    ]
    assert "within" in str(found)
    assert "within" in found._repr_html_()
    frame = found.to_frame("pandas")
    assert frame.loc["drinks", "error"] == found.designs[1].value
    assert frame["weight"].sum() == 1
    assert found.to_frame("polars").columns[:3] == ["view", "cells", "weight"]


def test_values_whose_errors_are_no_numbers_prove_no_claim():
    """An infinite error is as near to any error that a file states, and a bound of such values above all of them."""
    found = design_records(TWO, 1, known=True)
    claim = replace(found.optimality, error=5.0, bound=1e307, values=(1e308, 1.0))
    with np.errstate(all="ignore"), raises("optimality-false"):
        check_claim(found.mechanism, claim)
    for value in (1e-100, 1e100):
        made = design_records([View((name,), counts, value=value) for name, counts in TWO.items()], 1, known=True)
        assert made.error == pytest.approx(value * found.error)
        assert made.bound == pytest.approx(value * found.bound)
        assert check_claim(made.mechanism, made.optimality) == (made.error, made.bound)
    for value in (1e101, 1e-101, math.nan):
        with raises("out-of-range", "the value of the view smokes"):
            View(("smokes",), TWO["smokes"], value=value)


def test_views_of_uniform_attributes_are_optimal_and_say_so():
    found = design_records({"a": {"1": 5, "2": 5, "3": 5, "4": 5}, "b": {"x": 1, "y": 1}}, "log(2)", known=True)
    assert found.optimal
    assert "optimal" in str(found)


@pytest.mark.parametrize("counts", [[2, 2, 1, 1, 1, 1], [3, 1, 1, 1]])
def test_views_with_one_attribute_that_is_not_uniform_are_optimal_where_its_caps_are(counts):
    """And not with two of them, whose product measure costs a term of rank one."""
    uneven = md.L1Ball.from_counts(counts, known=True)
    found = design_records({"a": uneven, "b": md.L1Ball([1 / 6] * 6)}, "log(2)")
    assert found.optimal
    assert not design_records({"a": uneven, "b": uneven}, "log(2)").optimal


def test_values_and_targets_move_the_weights():
    views = [View(("smokes",), TWO["smokes"], value=4.0), View(("drinks",), TWO["drinks"])]
    found = design_records(views, 1, known=True)
    first, second = errors_of(found.mechanism)
    share = 2 * math.sqrt(first) / (2 * math.sqrt(first) + math.sqrt(second))
    assert found.mechanism.shares[0] == pytest.approx(share, abs=1e-8)
    assert found.error == pytest.approx((2 * math.sqrt(first) + math.sqrt(second)) ** 2)
    targets = {"smokes": 0.01, "drinks": 0.02}
    wanted = design_records(TWO, 1, known=True, targets=targets)
    needed = [
        error / (share * 2 * targets[part.name] ** 2)
        for error, share, part in zip(
            errors_of(wanted.mechanism), wanted.mechanism.shares, wanted.mechanism.parts, strict=True
        )
    ]
    assert needed[0] == pytest.approx(needed[1], rel=1e-6)


def test_what_is_not_a_design_of_records_is_refused():
    with raises("radius-or-delta-missing"):
        design_records(TWO, 1)
    with raises("conflicting-arguments"):
        design_records(TWO, 1, delta=0.1, known=True)
    with raises("needless-argument"):
        design_records({"a": md.L1Ball([0.5, 0.5])}, 1, known=True)
    with raises("wrong-type"):
        design_records("smokes", 1, known=True)
    with raises("wrong-type"):
        design_records([TWO], 1, known=True)
    with raises("wrong-type", "accepted: one or more"):
        design_records({}, 1, delta="1e-9")
    with raises("labels-differ"):
        design_records(TWO, 1, known=True, targets={"smokes": 0.1})
    with raises("column-twice", "smokes"):
        design_records([View(("smokes",), TWO["smokes"])] * 2, 1, known=True)
    with raises("never-occurs", "the view town"):
        design_records({**TWO, "town": {"a": 5, "b": 0}}, 1, known=True)
    hull = md.ConvexHull(np.random.default_rng(1).dirichlet(np.ones(10), size=16).tolist())
    with raises("no-method", "the view town"):
        design_records({"town": hull}, 1)
    with raises("out-of-range"):
        design_records(TWO, 1, known=True, targets={"smokes": 0.1, "drinks": 0})
    with raises("out-of-range"):
        design_records(TWO, 1, known=True).respondents(0)


def test_vectors_that_are_no_laws_prove_no_bound():
    found = design_records(TWO, 1, known=True).mechanism
    with raises("wrong-size"):
        bound_of_records(found, [1, 1], [[0.5, 0.5]])
    for vector in ([-0.5, 1.5], [0, 0], [math.nan, 1], [math.inf, 1], [1.7e308, 1.7e308], [5e-324, 0]):
        with raises("out-of-range"):
            bound_of_records(found, [1, 1], [[0.5, 0.5], vector])
    assert bound_of_records(found, [1, 1], [[1, 0], [0, 3]]) < bound_of_records(found, [1, 1], [[1, 1], [1, 1]])


def test_impossible_combinations_tie_attributes():
    """The bound is for the records that no view rules out: the same as for one attribute of their combinations."""
    rng = np.random.default_rng(1)
    pairs = ("f & yes", "f & no", "m & no")
    P = rng.dirichlet(np.ones(3))
    age = ShownCells(("age",), ("young", "old"), np.array([0.3, 0.7]), np.eye(2))
    both = ShownCells(("sex", "pregnant"), pairs, P, np.eye(3))
    sex = ShownCells(("sex",), ("f", "m"), np.array([P[0] + P[1], P[2]]), np.eye(2))
    queries, tied = queries_of([both, age, sex])
    assert [one.names for one in tied] == [("sex", "pregnant"), ("age",)]
    assert tied[0].combinations == (("f", "yes"), ("f", "no"), ("m", "no"))
    joint = np.outer(P, [0.3, 0.7]).ravel()
    W = np.array([[*np.eye(3)[i], *np.eye(2)[j], *np.eye(2)[[0, 0, 1][i]]] for i in range(3) for j in range(2)]).T
    masses = np.full(6, 1 / 6)
    m = W - (W @ joint)[:, None]
    expected = np.sqrt(np.maximum(np.linalg.eigvalsh((m * masses) @ m.T), 0)).sum() ** 2 / (math.e - 1)
    assert queries.bound(queries.uniform(), md.Epsilon.of(1)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("place", "epsilon", "whole"), [(0, "0.5", 632.6), (1, "1", 239.3), (2, "2", 79.3)])
def test_eight_attributes_of_adult_known(place, epsilon, whole):
    found = design_records({name: ADULT[name] for name in EIGHT}, epsilon, known=True)
    assert found.certified
    for name, error in zip(EIGHT, errors_of(found.mechanism), strict=True):
        assert error == pytest.approx(KNOWN[name][place], rel=2e-5, abs=6e-6)
    assert found.error == pytest.approx(whole, abs=0.06)
    assert found.bound == pytest.approx((534.3, 201.7, 54.2)[place], abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "whole"), [("0.5", 4804.4), ("1", 1105.3), ("2", 219.3)])
def test_eight_attributes_of_adult_under_local_differential_privacy(epsilon, whole):
    found = design_records({name: md.L1Ball.from_counts(ADULT[name], radius=2) for name in EIGHT}, epsilon)
    assert found.error == pytest.approx(whole, abs=0.06)
    assert found.bound < found.error
    assert found.mechanism.guarantee.holds_every_prior


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "whole", "people"), [("0.5", 682.9, 110_142), ("1", 259.3, 41_826), ("2", 88.5, 14_271)]
)
def test_eight_attributes_of_adult_learnt(epsilon, whole, people):
    each, bound = Fraction("1e-9") / 8, "clopper-pearson"
    balls = {name: md.L1Ball.from_counts(ADULT[name], delta=each, bound=bound) for name in EIGHT}
    found = design_records(balls, epsilon)
    assert errors_of(found.mechanism) == pytest.approx(LEARNT[epsilon], rel=2e-5)
    assert found.error == pytest.approx(whole, abs=0.06)
    assert found.respondents(0.01) == pytest.approx(people, rel=1e-4)
    sharper = design_records({name: ADULT[name] for name in EIGHT}, epsilon, delta="1e-9")
    assert 0.98 * found.error < sharper.error < found.error


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "whole"), [(0.5, 1550.3), (1, 544.7), (2, 221.4)])
def test_every_attribute_with_a_part_of_epsilon_costs_far_more_even_where_that_is_right(epsilon, whole):
    """Independent attributes alone may each have a part; each is then reported by everybody."""
    found = design_records({name: ADULT[name] for name in EIGHT}, str(epsilon / 8), known=True)
    assert sum(errors_of(found.mechanism)) == pytest.approx(whole, abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "groups", "whole"),
    [
        ("0.5", ("education+salary", "marital-status+relationship+sex", "race+workclass"), 582.4),
        ("1", ("education+salary", "marital-status+relationship+sex", "race+workclass"), 219.6),
        ("2", ("marital-status+relationship+salary", "occupation+sex", "race+workclass"), 66.1),
    ],
)
def test_groups_of_the_attributes_of_adult(epsilon, groups, whole):
    """The other attributes are views of their own; combinations that nobody has are left out.

    The searches of the other program left some tenths of a per cent, so that errors may be a little below its own.
    """
    tables = []
    for name in groups:
        shape, counts = GROUPS[name]
        cells = np.indices(shape).reshape(len(shape), -1)
        shown = {attribute: row.tolist() for attribute, row in zip(name.split("+"), cells, strict=True)}
        tables.append(shown | {"count": list(map(int, counts.split()))})
    alone = [name for name in EIGHT if name not in "+".join(groups).split("+")]
    tables += [{name: list(ADULT[name]), "count": list(ADULT[name].values())} for name in alone]
    found = design_records(views_of_tables(tables, unseen="impossible"), epsilon, known=True)
    assert found.queries == 62
    assert 0.995 * whole < found.error < 1.001 * whole


@pytest.mark.slow
def test_thresholds_of_a_number_are_one_view_for_all_of_them():
    """A view for each threshold costs nearly six times what one view for the distribution function does.

    The view of a threshold has two queries, of the same error: the people below, and the others.
    """
    known = md.L1Ball.from_counts(dict(enumerate(AGES)), known=True)
    (together,) = design_records([View(("age",), known, md.Workload.prefix())], 1).designs
    below = np.cumsum(AGES)[:-1].tolist()
    each = design_records({f"below {k}": {"yes": n, "no": sum(AGES) - n} for k, n in enumerate(below)}, 1, known=True)
    assert together.value == pytest.approx(11.73860, rel=1e-5)
    assert 5.5 < each.error / 2 / together.value < 6


def errors_by_list(mechanism, sizes):
    """The error of combined estimates of all tables, from the information about the law of all records."""
    records = list(np.ndindex(*sizes))
    information, queries = np.zeros((len(records),) * 2), []
    for part, share in zip(mechanism.parts, mechanism.shares, strict=True):
        K, P = part.mechanism.matrix, part.mechanism.guarantee.uncertainty.prior
        places = ["xyz".index(name) for name in part.attributes]
        cells = [part.mechanism.inputs.index(" & ".join(str(x[place]) for place in places)) for x in records]
        shown = np.eye(len(P))[:, cells]
        information += share * shown.T @ (K / (P @ K)) @ K.T @ shown
        queries.append(shown)
    sums = np.eye(len(records)) - 1 / len(records)
    inverse = np.linalg.pinv(sums @ information @ sums, rcond=1e-9)
    return sum(float(np.trace(each @ inverse @ each.T)) for each in queries)


def test_views_that_overlap_are_combined_with_the_best_weights():
    rng = np.random.default_rng(5)
    sizes = (2, 3, 2)
    joint = rng.dirichlet(np.ones(12)).reshape(sizes)
    rows = rng.choice(12, p=joint.ravel(), size=4000)
    records = dict(zip("xyz", (each.astype(str) for each in np.unravel_index(rows, sizes)), strict=True))
    found = design_records(views_of(records, pairs=True), 1, known=True)
    assert found.error == pytest.approx(errors_by_list(found.mechanism, sizes), rel=1e-9)
    alone = sum(error / share for error, share in zip(errors_of(found.mechanism), found.mechanism.shares, strict=True))
    assert found.bound < found.error < alone
    whole = combined_error_of(found.mechanism, [1.0] * 3)
    for shares in rng.dirichlet(np.ones(3), size=20):
        assert whole.at(shares) > found.error * (1 - 2e-3)
    mixed = design_records([*views_of(records, ["x", "y"], pairs=True), *views_of(records, ["z"])], 1, known=True)
    first, last = mixed.designs[0].value, mixed.designs[1].value
    assert mixed.error == pytest.approx((math.sqrt(first) + math.sqrt(last)) ** 2)
    assert check_claim(found.mechanism, found.optimality) == (found.error, found.bound)


@pytest.mark.slow
def test_views_are_designed_in_processes_too():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        lines = []
        found = design_records(TWO, 1, delta="1e-9", executor=pool, progress=lines.append)
        assert [line.partition(":")[0] for line in lines[:2]] == ["view 1 of 2", "view 2 of 2"]
        hull = md.ConvexHull(np.random.default_rng(1).dirichlet(np.ones(10), size=16).tolist())
        with raises("no-method", "the view town"):
            design_records({"town": hull}, 1, executor=pool)
    here = design_records(TWO, 1, delta="1e-9")
    assert found.mechanism.fingerprint == here.mechanism.fingerprint
    assert found.optimality == here.optimality
