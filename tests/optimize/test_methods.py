"""Every problem of a bank, by every method that covers it: one optimum, valid bounds, refusals with reasons."""

import math

import pytest
from method_bank import SETS, known_set, problems
from refusals import raises

import mechdesign as md
from mechdesign.optimize.every_method import METHODS

NAMES = [method.name for method in METHODS]
TOL, ROUNDING = 1e-6, 1e-9
_LONG = dict.fromkeys(("known", "every prior", "relative ball"), ("boxes",)) | {"wide ball": ("boxes", "knapsack")}


def slow_if(kind, kinds):
    return pytest.param(kind, marks=[pytest.mark.slow] if kind in kinds else [])


def check(name, problem, seconds, without=()):
    """Check what all methods say of one problem; return the methods that cover it."""
    table = md.methods(problem)
    assert [row.name for row in table] == NAMES
    assert all(row.covers or ("\n" not in row.why_not and len(row.why_not) > 10) for row in table), name
    sign = -1 if problem.utility.minimised else 1
    found = {
        method: md.design(problem, method=method, tol=TOL, time_limit=seconds)
        for method in table.covering
        if method not in without
    }
    values = {method: sign * solved.value for method, solved in found.items()}
    bounds = {method: sign * solved.bound for method, solved in found.items()}
    if found:
        room = ROUNDING * max(1.0, abs(min(bounds.values())))
        assert max(values.values()) <= min(bounds.values()) + room, (name, values, bounds)
    certified = [values[method] for method, solved in found.items() if solved.certified]
    if certified:
        assert max(certified) - min(certified) <= 2 * TOL * max(1e-3, abs(max(certified))), (name, values)
    for method in ("constant", *(row.name for row in table if not row.covers))[:3]:
        if method not in table.covering:
            with raises("method-does-not-cover", match=f"method is {method}, which does not cover this problem"):
                md.design(problem, method=method)
    if not table.taken:
        assert not table.covering
        with raises("no-method"):
            md.design(problem)
    return table


@pytest.mark.sampled
@pytest.mark.parametrize(
    "kind",
    [slow_if(kind, {"float prior", "wide ball", "every prior", "l1 box", "relative ball", "product"}) for kind in SETS],
)
def test_all_methods_agree_on_small_problems(kind):
    covered = set()
    for size, epsilon in ((3, "1.5"),):
        for name, problem in problems((size,), (epsilon,), kinds=(kind,), shapes=("falling",)):
            covered.update(check(name, problem, 0.5, _LONG.get(kind, ())).covering)
    assert "constant" not in covered
    assert {"gain-program", "extreme-rays", "limits-search"} & covered


@pytest.mark.sampled
@pytest.mark.sampled
@pytest.mark.parametrize(
    "kind", [slow_if(kind, {"every prior"}) for kind in ("known", "ball", "every prior", "box", "secret")]
)
def test_all_methods_agree_on_promises_on_both_sides(kind):
    for name, problem in problems((3,), ("1",), kinds=(kind,), shapes=("falling",), lowers=("0.8",)):
        check(name, problem, 0.5, _LONG.get(kind, ()))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "size"), [*((kind, 9) for kind in SETS), *((kind, 17) for kind in ("known", "float prior", "ball"))]
)
def test_all_methods_agree_on_larger_problems(kind, size):
    few = ("information", "accuracy", "estimation")
    for name, problem in problems((size,), ("1",), kinds=(kind,), objectives=few, shapes=("falling",)):
        check(name, problem, 2)


def test_every_method_covers_some_problem():
    constant = md.DesignProblem(known_set("ball", "even", 3), 0)
    variance = md.DesignProblem(known_set("ball", "even", 3), 1, md.ExplainedVariance([0, 1, 3]))
    on_average = md.DesignProblem(known_set("ball", "even", 3), 1, maximal_leakage="0.5")
    covered = {name for problem in (constant, variance, on_average) for name in md.methods(problem).covering}
    for _, problem in problems((3,), ("1",), shapes=("even",)):
        covered.update(md.methods(problem).covering)
    assert covered == set(NAMES)


@pytest.mark.slow
def test_the_method_taken_is_the_one_that_design_takes():
    for _, problem in problems((3,), ("1",), shapes=("even",)):
        table = md.methods(problem)
        if table.taken:
            assert md.design(problem).method == md.design(problem, method=table.taken).method


@pytest.mark.parametrize(
    ("kind", "size", "taken"),
    [
        ("ball", 12, "extreme-rays"),
        ("ball", 13, "count-tables"),
        ("float prior", 16, "extreme-rays"),
        ("float prior", 17, "knapsack"),
        ("lower limits", 10, "extreme-rays"),
        ("lower limits", 11, "set-pairs"),
        ("lower limits", 17, "piece-pairs"),
        ("product", 2, "extreme-rays"),
        ("product", 6, "boxes"),
        ("hull", 6, "extreme-rays"),
        ("hull", 30, "boxes"),
        ("secret within limits", 3, "limits-search"),
    ],
)
def test_which_method_is_taken(kind, size, taken):
    problem = md.DesignProblem(known_set(kind, "falling", size), 1)
    assert md.methods(problem).taken == taken


def test_a_reduction_is_said():
    ball = known_set("every prior", "even", 3)
    table = md.methods(md.DesignProblem(ball, 1, lower=1))
    assert table.reductions == ("a one-sided problem has the same optimum",)
    assert repr(table).startswith("solved as another problem: a one-sided problem")
    assert "a one-sided problem" in table._repr_html_()


def test_a_table_is_a_frame():
    table = md.methods(md.DesignProblem(known_set("ball", "even", 3), 1))
    frame = table.to_frame("pandas")
    assert list(frame.index) == NAMES
    assert list(frame.index[frame.taken]) == [table.taken]
    assert len(table) == len(NAMES)


def test_a_name_that_no_method_has_is_refused():
    problem = md.DesignProblem(known_set("ball", "even", 3), 1)
    for name in ("simplex", "", 3, b"knapsack"):
        with raises("unknown-choice"):
            md.design(problem, method=name)


def test_a_problem_is_wanted():
    with raises("wrong-type", "the problem"):
        md.methods(known_set("ball", "even", 3))


def test_boxes_bound_what_the_list_finds():
    """A method that is given little time ends with a gap, on the right side."""
    problem = md.DesignProblem(known_set("ball", "falling", 9), 1)
    exact = md.design(problem)
    hurried = md.design(problem, method="boxes", time_limit=0)
    assert hurried.value <= exact.bound + ROUNDING
    assert hurried.bound >= exact.value - ROUNDING
    assert math.isfinite(hurried.bound)
