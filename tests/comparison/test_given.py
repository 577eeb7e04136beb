"""Mechanisms that users give beside a design: nothing is refused for what it leaks."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import raises

import mechdesign as md

BALL = md.L1Ball([0.5, 0.3, 0.2], radius="0.1", labels=["a", "b", "c"])
PROBLEM = md.DesignProblem(BALL, 1)


def test_mechanisms_stand_in_the_table_with_their_leakage():
    solved = md.design(PROBLEM)
    found = md.compare(
        solved,
        mechanisms=[
            md.baselines.k_ary_randomized_response(3, 1),
            md.baselines.k_ary_randomized_response(3, 2),
            np.eye(3),
            solved.mechanism,
            np.full((3, 2), 0.5),
        ],
    )
    names = [other.name for other in found.others]
    assert names == [
        "k-ary randomized response",
        "k-ary randomized response",
        "mechanism 3",
        "mechanism 4",
        "mechanism 5",
    ]
    private, loud, identity, own, constant = found.others
    assert [other.keeps for other in found.others] == [True, False, False, True, True]
    assert_allclose(private.value, found.k_ary_randomized_response, atol=1e-12)
    assert private.leakage == md.analyze(md.baselines.k_ary_randomized_response(3, 1), BALL, optimum=False).leakage
    assert 1 < loud.leakage < 2
    assert_allclose(identity.leakage, -math.log(0.15), rtol=1e-12)
    assert identity.lower_leakage == math.inf
    assert (own.value, own.leakage) == (solved.value, solved.leakage)
    assert constant.value == constant.leakage == constant.lower_leakage == 0
    rows = found.rows[-5:]
    assert [row.leakage for row in rows] == [other.leakage for other in found.others]
    text = repr(found)
    assert text.count(" *") == 2
    assert text.endswith("* does not keep epsilon = 1")
    frame = found.to_frame("pandas")
    assert [missed > 0 for missed in frame["missed"].tolist()[-5:]] == [False, True, True, False, False]
    assert frame["keeps"].tolist()[-5:] == [True, False, False, True, True]
    assert "leakage, nats" in found._repr_html_()


def test_names_are_those_of_a_mapping_or_of_pairs():
    response = md.baselines.k_ary_randomized_response(3, 1)
    for given in ({"ours": response, "theirs": np.eye(3)}, [("ours", response), ("theirs", np.eye(3))]):
        assert [other.name for other in md.compare(PROBLEM, mechanisms=given).others] == ["ours", "theirs"]


def test_a_comparison_without_others_is_as_before():
    found = md.compare(PROBLEM)
    assert found.others == ()
    assert "leakage" not in found.to_frame("pandas").columns
    assert "*" not in repr(found)


def test_a_promise_from_below_may_be_broken_alone():
    problem = md.DesignProblem(BALL, 1, lower="0.5")
    kept, broken = md.compare(
        problem,
        mechanisms=[md.baselines.k_ary_randomized_response(3, "0.5"), md.baselines.k_ary_randomized_response(3, 1)],
    ).others
    assert kept.keeps
    assert broken.leakage <= 1
    assert broken.lower_leakage > 0.5
    assert not broken.keeps


def test_floats_keep_a_promise_up_to_their_errors():
    e = math.e
    matrix = np.full((3, 3), 1 / (e + 2)) + np.eye(3) * (e - 1) / (e + 2)
    everything = md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], 2), 1)
    found = md.compare(everything, mechanisms=[matrix * (1 + 1e-15)])
    (other,) = found.others
    assert other.keeps
    assert 0 < other.missed < 1e-15
    assert repr(found).endswith("nats, within the errors of floats")
    exact = md.mechanism.ExactMatrix.of((matrix * (1 + 1e-15)).tolist())
    of_integers = md.mechanism.ExactMatrix.of_integers(exact.weights, 0, everything.uncertainty.labels, None)
    assert not md.compare(everything, mechanisms=[of_integers]).others[0].keeps
    louder = np.full((3, 3), 1 / (e + 2)) + np.eye(3) * (e * (1 + 1e-11) - 1) / (e + 2)
    louder /= louder.sum(axis=1, keepdims=True)
    assert not md.compare(everything, mechanisms=[louder]).others[0].keeps


def test_errors_and_least_utilities_are_those_of_the_objective():
    response = md.baselines.k_ary_randomized_response(3, 1)
    for utility in (md.EstimationError(), md.WorstCaseUtility(md.HammingAccuracy())):
        found = md.compare(md.DesignProblem(BALL, 1, utility), mechanisms=[response])
        assert_allclose(found.others[0].value, found.k_ary_randomized_response, rtol=1e-9)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ([np.eye(2)], "wrong-size"),
        ({"theirs": [[0.5, 0.6]] * 3}, "wrong-sum"),
        (np.float64(3), "wrong-type"),
        ("krr", "wrong-type"),
    ],
)
def test_what_is_no_mechanism_is_refused_with_its_name(given, code):
    with raises(code):
        md.compare(PROBLEM, mechanisms=given)
