"""When two problems have one design: exact numbers decide, and a problem read from its mechanism file is the same."""

from fractions import Fraction

import pytest

import mechdesign as md
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.mechanism_files import from_json, to_json
from mechdesign.optimize.kept.design_keys import key_of
from mechdesign.optimize.verification import claimed_problem
from mechdesign.uncertainty.from_counts import kinds_from_counts, set_from_counts

COUNTS = {"a": 812, "b": 150, "c": 38}


def key(known=None, epsilon=1, utility=None, lower=None, tol=1e-6, bits=48):
    known = md.L1Ball([0.5, 0.3, 0.2]) if known is None else known
    return key_of(md.DesignProblem(known, epsilon, utility, lower), tol, bits)


@pytest.mark.parametrize(
    ("one", "same"),
    [
        ({"epsilon": 1}, {"epsilon": "1.0"}),
        ({"epsilon": "log(3/2)"}, {"epsilon": "log(1.5)"}),
        ({"known": md.L1Ball([0.5, 0.3, 0.2])}, {"known": md.L1Ball(["1/2", "3/10", "2/10"])}),
        ({"known": md.L1Ball([0.5, 0.5], radius="0.10")}, {"known": md.L1Ball([0.5, 0.5], radius="1/10")}),
        ({"lower": 1}, {"lower": "1.00"}),
        ({"utility": md.MutualInformation()}, {"utility": None}),
        (
            {"known": md.L1Ball.from_counts(COUNTS, delta=1e-9)},
            {"known": md.L1Ball.from_counts(COUNTS, delta="0.000000001")},
        ),
    ],
)
def test_one_problem_written_in_two_ways_has_one_key(one, same):
    assert key(**one) == key(**same)
    assert key(**one).lasting


def test_what_floats_do_not_tell_apart_keys_do():
    nearly = Fraction(1, 10) + Fraction(1, 10**30)
    assert float(nearly) == 0.1
    keys = {key(md.L1Ball([0.5, 0.3, 0.2], radius=radius)).name for radius in ("0.1", nearly)}
    assert len(keys) == 2
    assert key(epsilon="1").name != key(epsilon=f"1.{'0' * 30}1").name


def test_everything_that_a_design_depends_on_changes_the_key():
    ball = md.L1Ball([0.5, 0.3, 0.2])
    others = [
        key(md.L1Ball([0.5, 0.3, 0.2], labels=list("xyz"))),
        key(md.L1Ball([0.3, 0.5, 0.2])),
        key(md.L1Ball([0.5, 0.3, 0.2], radius=0.1)),
        key(md.L1Ball.from_counts([5, 3, 2], delta=0.5)),
        key(md.L1Ball.from_counts([5, 3, 2], delta=0.5, bound="weissman")),
        key(md.L1Ball.from_probabilities(["0.5", "0.3", "0.2"], delta=0.5, samples=11)),
        key(md.L1Ball([0.5, 0.3, 0.2], radius=0.1, within_simplex=False)),
        key(epsilon=2),
        key(lower=1),
        key(utility=md.TotalVariation()),
        key(utility=md.EstimationError()),
        key(utility=md.EstimationError(md.Workload.prefix())),
        key(utility=md.EstimationError(md.Workload.weights([1, 2, 3]))),
        key(utility=md.ExpectedGain([[1, 0, 0], [0, 1, 1]])),
        key(utility=md.ExpectedGain([[1, 0, 0], [0, 1, 2]])),
        key(utility=md.WorstCaseUtility(md.HammingAccuracy())),
        key(utility=md.WorstCaseUtility(md.HammingAccuracy(), over=ball)),
        key(utility=md.WorstCaseUtility(md.HammingAccuracy(), over=md.L1Ball([0.5, 0.3, 0.2], radius=0.1))),
        key(tol=1e-3),
        key(bits=30),
        key(),
    ]
    assert len({other.name for other in others}) == len(others)


def test_the_version_of_the_package_is_in_the_key(monkeypatch):
    before = key()
    monkeypatch.setattr("mechdesign.optimize.kept.design_keys.__version__", "0.0.1")
    assert key() != before


class NoName(md.MutualInformation):
    name = "not registered"


class OwnSet(md.L1Ball):
    kind = "not registered either"


def test_an_object_that_no_file_can_hold_is_its_own_key():
    one, two = NoName(), NoName()
    assert key(utility=one) == key(utility=one) != key(utility=two)
    assert not key(utility=one).lasting
    known = OwnSet([0.5, 0.3, 0.2])
    assert key(known) == key(known)
    assert not key(known).lasting
    assert not key(utility=md.WorstCaseUtility(md.HammingAccuracy(), over=known)).lasting


@pytest.mark.parametrize(
    "problem",
    [
        *(
            pytest.param(md.DesignProblem(set_from_counts(kind, COUNTS, "1e-3"), 1), id=kind)
            for kind in kinds_from_counts()
        ),
        md.DesignProblem(md.L1Ball.from_counts(COUNTS, radius="0.05"), "log(3)"),
        md.DesignProblem(md.L1Ball([0.9, 0.05, 0.05], radius="0.3", within_simplex=False), 1),
        md.DesignProblem(md.ConvexHull([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]], weights=["1/3", "2/3"]), 1),
        md.DesignProblem(md.ProductSet(md.L1Ball([0.5, 0.5]), md.L1Ball([0.4, 0.6], radius=0.1)), 1),
        md.DesignProblem(md.SecretPromise([[5, 3, 2], [1, 4, 5]], secret="s", useful="u", known=True), "0.3"),
        md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1, md.HammingAccuracy(), 2),
        md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], radius=0.1), 1, md.WorstCaseUtility(md.HammingAccuracy())),
        md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], labels=list("abc")), 1, md.EstimationError(md.Workload.prefix())),
        md.DesignProblem(
            md.L1Ball([0.5, 0.3, 0.2], labels=list("abc")), 1, md.ExpectedGain([["1/3", 0, 0], [0, 1, 1]])
        ),
    ],
)
def test_the_problem_that_a_mechanism_file_tells_has_the_same_key(problem):
    wanted = key_of(problem, 1e-3, 40)
    mechanism = md.design(problem, bits=40).mechanism
    loaded = Mechanism(*from_json(to_json(mechanism.parts), "the file"))
    assert wanted.lasting
    assert key_of(claimed_problem(loaded.guarantee, loaded.optimality), 1e-3, loaded.bits) == wanted
