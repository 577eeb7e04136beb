"""Labelled input is aligned by its labels, or refused: pandas, polars and mappings, wherever numbers come in."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.data import labelled

LABELS = ["a", "b", "c"]
TURNED = ["c", "a", "b"]
P = pd.Series([0.6, 0.3, 0.1], index=LABELS)
FRAME = pd.DataFrame([[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.2, 0.7]], index=LABELS, columns=["u", "v", "w"])
BALL = md.L1Ball([0.6, 0.3, 0.1], "0.1", LABELS)
GAINS = pd.DataFrame([[1, 0, 0], [0, 2, 0], [0, 0, 5]], columns=LABELS)

OF_MATRIX_AND_PRIOR = [
    md.leakage,
    md.epsilon_min,
    md.pml.information_density,
    lambda matrix, prior: md.pml.leakage_tail(matrix, prior, [0.1, 0.5, 1]),
    lambda matrix, prior: md.pml.epsilon_at(matrix, prior, 0.2),
    lambda matrix, prior: md.pml.tail_after_post_processing(matrix, prior, 0.5).bound,
    lambda matrix, prior: md.MutualInformation().value(matrix, prior),
    lambda matrix, prior: md.ChiSquare().mu(matrix, prior),
    lambda matrix, prior: md.HammingAccuracy().value(matrix, prior),
    lambda matrix, prior: md.ExpectedGain(GAINS.to_numpy()).value(matrix, prior),
]


@pytest.mark.parametrize("function", OF_MATRIX_AND_PRIOR)
@pytest.mark.parametrize("prior", [P.loc[TURNED], P, P.loc[TURNED].to_dict()])
def test_matrix_and_prior_are_aligned_with_each_other(function, prior):
    matrix = FRAME.loc[["b", "c", "a"]]
    labels = list(matrix.index)
    expected = function(matrix.to_numpy(), P.loc[labels].to_numpy())
    # The layout of an array in memory decides the order of sums, and so the last digit.
    np.testing.assert_allclose(function(matrix, prior), expected, rtol=1e-14)
    with raises("labels-differ", "'d'", "'b', 'c', 'a'"):
        function(matrix, P.set_axis(["a", "b", "d"]))


def test_the_leakage_of_a_turned_frame_is_that_of_the_frame():
    truth = md.leakage(FRAME.to_numpy(), P.to_numpy())
    np.testing.assert_array_equal(md.leakage(FRAME, P), truth)
    np.testing.assert_allclose(md.leakage(FRAME.loc[TURNED], P), truth, rtol=1e-15)
    np.testing.assert_allclose(md.leakage(FRAME.loc[TURNED], [0.1, 0.6, 0.3]), truth, rtol=1e-15)


def test_several_priors_are_aligned():
    several = pd.DataFrame([P, P[::-1].set_axis(LABELS)])[TURNED]
    expected = md.leakage(FRAME.to_numpy(), [[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])
    np.testing.assert_allclose(md.leakage(FRAME, several), expected, rtol=1e-15)
    listed = [P.loc[TURNED], {"c": 0.6, "b": 0.3, "a": 0.1}]
    np.testing.assert_allclose(md.leakage(FRAME, listed), expected, rtol=1e-15)
    np.testing.assert_allclose(md.leakage(FRAME.to_numpy(), [P, listed[1]]), expected, rtol=1e-15)


OF_MATRIX_AND_SET = [
    md.leakage_capacity,
    lambda matrix, known: md.pml.worst_case_leakage(matrix, known).value,
    md.pml.lipschitz_bound,
    lambda matrix, known: md.pml.leakage_sensitivity(matrix, P.loc[TURNED], known).value,
    lambda matrix, known: md.pml.output_sensitivity(matrix, P.loc[TURNED].to_dict(), known).value,
    lambda matrix, known: known.support(matrix),
    lambda matrix, known: md.Mechanism.from_matrix(matrix, md.Guarantee(3, known)).numerators,
]
SETS = [BALL, md.ConvexHull([[0.6, 0.3, 0.1], [0.5, 0.3, 0.2]], [1, 0], LABELS)]


@pytest.mark.parametrize("function", OF_MATRIX_AND_SET)
@pytest.mark.parametrize("known", SETS)
def test_a_matrix_is_aligned_with_the_set(function, known):
    np.testing.assert_array_equal(function(FRAME.loc[TURNED], known), function(FRAME, known))
    with raises("labels-differ", "rows of the matrix", "'a', 'b', 'd'"):
        function(FRAME.set_axis(["a", "b", "d"]), known)


def test_capacity_of_a_turned_frame():
    truth = md.leakage_capacity(FRAME.to_numpy(), BALL)
    assert md.leakage_capacity(FRAME.loc[TURNED], BALL) == truth
    assert md.leakage_capacity(FRAME.loc[TURNED].to_numpy(), BALL) != pytest.approx(truth, abs=0.01)


def test_members_and_columns_are_aligned_with_the_set():
    for known in SETS:
        assert known.contains(P.loc[TURNED])
        assert known.contains(P.to_dict())
        assert not known.contains(P.loc[TURNED].to_numpy())
        column = FRAME["u"]
        assert known.worst_mean(column.loc[TURNED])[0] == known.worst_mean(column.to_numpy())[0]
        with raises("labels-differ", "the prior"):
            known.contains(P.rename({"c": "C"}))


def test_a_center_brings_its_labels():
    ball = md.L1Ball(P, "0.1")
    assert (ball.labels, ball) == (("a", "b", "c"), BALL)
    assert type(ball.labels) is tuple
    assert md.L1Ball(P.to_dict(), "0.1") == BALL
    assert md.L1Ball(P.loc[TURNED], "0.1", LABELS) == BALL
    assert md.L1Ball(P.to_numpy(), "0.1", TURNED).center == BALL.center
    assert md.L1Ball(pd.Series([0.6, 0.4])).labels == ("x1", "x2")
    with raises("labels-differ", "the center", "'a', 'b', 'c'", "'x', 'y',"):
        md.L1Ball(P, 0, ["x", "y", "z"])


def test_hulls_bring_their_labels():
    expected = md.ConvexHull([["0.6", "0.3", "0.1"], ["0.5", "0.3", "0.2"]], ["0.25", "0.75"], LABELS)
    series = [P, pd.Series([0.2, 0.5, 0.3], index=TURNED)]
    assert md.ConvexHull(series, ["0.25", "0.75"]) == expected
    assert md.ConvexHull([s.loc[TURNED] for s in series], ["0.25", "0.75"], LABELS) == expected
    frame = pd.DataFrame(series, index=["now", "then"])[["b", "a", "c"]]
    assert md.ConvexHull(frame, pd.Series({"then": 0.75, "now": 0.25}), LABELS) == expected
    assert md.ConvexHull(frame).labels == ("b", "a", "c")
    with raises("labels-differ", "prior 2"):
        md.ConvexHull([P, P.set_axis(["a", "b", "d"])])


# Gains


def test_gains_of_a_frame_have_symbols_as_columns():
    plain = md.ExpectedGain(GAINS.to_numpy())
    for frame in (GAINS, pl.DataFrame(GAINS)):
        named = md.ExpectedGain(frame)
        assert named.exact == plain.exact
        assert named.labels == ("a", "b", "c")
    assert md.ExpectedGain(pd.DataFrame(GAINS.to_numpy())) == plain
    assert plain.labels is None


@pytest.mark.parametrize("kind", [md.ExpectedGain, md.ExpectedDistortion])
def test_gains_are_aligned_with_a_problem(kind):
    expected = kind(GAINS.to_numpy())
    problem = md.DesignProblem(BALL, 1, kind(GAINS[TURNED]))
    assert problem.utility == expected
    assert problem.utility.labels is None
    assert md.design(problem).value == md.design(md.DesignProblem(BALL, 1, expected)).value
    with raises("labels-differ", match=f"columns of the matrix of {kind.name}: the labels are"):
        md.DesignProblem(BALL, 1, kind(GAINS.set_axis(["a", "b", "d"], axis=1)))


@pytest.mark.parametrize("kind", [md.ExpectedGain, md.ExpectedDistortion])
def test_gains_matrix_and_prior_are_aligned(kind):
    expected = kind(GAINS.to_numpy()).value(FRAME.to_numpy(), P.to_numpy())
    named = kind(GAINS[TURNED])
    for matrix, prior in ((FRAME, P), (FRAME.loc[TURNED], P), (FRAME, P.to_numpy()), (FRAME.to_numpy(), P)):
        assert named.value(matrix, prior) == pytest.approx(expected, abs=1e-15)
        assert named.mu(matrix, prior).sum() == pytest.approx(expected, abs=1e-15)
    with raises("labels-differ"):
        named.value(FRAME.set_axis(["a", "b", "d"]), P.to_numpy())


def test_a_claim_is_aligned_with_the_inputs():
    solved = md.design(md.DesignProblem(BALL, 1, md.ExpectedGain(GAINS[TURNED]))).mechanism
    claim = md.mechanism.Optimality(md.ExpectedGain(GAINS[TURNED]), *_numbers(solved.optimality))
    again = md.Mechanism(solved.numerators, solved.bits, solved.guarantee, solved.outputs, claim)
    assert again.optimality == solved.optimality
    assert md.verify(again).certificate is not None


def _numbers(claim):
    return claim.value, claim.bound, claim.multipliers


def test_labelled_gains_are_copied():
    named = md.ExpectedGain(GAINS[TURNED])
    copy = pickle.loads(pickle.dumps(named))
    assert copy == named
    assert copy.labels == named.labels
    assert named != md.ExpectedGain(GAINS[TURNED].to_numpy())


# What has no labels, or none to use


def test_default_numbers_are_no_labels():
    numbered = pd.DataFrame(FRAME.to_numpy())
    assert md.leakage_capacity(numbered, BALL) == md.leakage_capacity(FRAME, BALL)
    assert md.leakage_capacity(pl.DataFrame(FRAME.to_numpy()), BALL) == md.leakage_capacity(FRAME, BALL)
    np.testing.assert_array_equal(md.leakage(numbered, pd.Series(P.to_numpy())), md.leakage(FRAME, P))
    np.testing.assert_array_equal(md.leakage(FRAME, pd.Series(P.to_numpy())), md.leakage(FRAME, P))


def test_numbers_that_may_be_labels_are_refused():
    numbered = pd.DataFrame(FRAME.to_numpy())
    assert md.leakage_capacity(numbered, md.L1Ball(P.to_numpy(), "0.1", [0, 1, 2])) == md.leakage_capacity(FRAME, BALL)
    with raises("ambiguous-labels"):
        md.leakage_capacity(numbered, md.L1Ball(P.to_numpy(), "0.1", [2, 0, 1]))
    columns = [f"column_{place}" for place in (2, 0, 1)]
    with raises("ambiguous-labels"):
        md.DesignProblem(md.L1Ball(P.set_axis(columns)), 1, md.ExpectedGain(pl.DataFrame(GAINS.to_numpy())))
    known, frame = md.L1Ball(P.set_axis(sorted(columns)), "0.1"), FRAME.set_axis(sorted(columns))
    assert md.leakage_capacity(frame.loc[columns], known) == md.leakage_capacity(FRAME, BALL)
    explicit = numbered.set_axis(pd.Index([2, 0, 1]))
    assert md.leakage_capacity(explicit, md.L1Ball(P.to_numpy(), "0.1", [2, 0, 1])) == md.leakage_capacity(FRAME, BALL)


@pytest.mark.parametrize(
    ("index", "part"),
    [(["a", "b", "b"], "'b' occurs twice"), ([0.5, 1.5, 2.5], "is a float"), (["a", "b", " c"], "white space")],
)
def test_what_is_no_label_is_refused(index, part):
    with pytest.raises(md.InputError, match=f"rows of the matrix: .*{part}"):
        md.leakage_capacity(FRAME.set_axis(index), BALL)
    with pytest.raises(md.InputError, match=f"the prior: .*{part}"):
        md.pml.epsilon_max(P.set_axis(index))


def test_missing_entries_are_refused():
    frame = FRAME.astype("Float64")
    frame.loc["a", "u"] = pd.NA
    for function in (md.leakage_capacity, lambda matrix, known: md.leakage(matrix, P), md.L1Ball.support):
        arguments = (BALL, frame) if function is md.L1Ball.support else (frame, BALL)
        with raises("not-a-number", "the matrix"):
            function(*arguments)


def test_priors_without_an_order_may_have_labels():
    assert md.pml.epsilon_max(P) == md.pml.epsilon_max(P.to_dict()) == md.pml.epsilon_max(P.to_numpy())
    np.testing.assert_array_equal(md.pml.privacy_regions(P.loc[TURNED]), md.pml.privacy_regions(P.to_numpy()))
    assert md.pml.sensitivity_bound(1, "0.1", P) == md.pml.sensitivity_bound(1, "0.1", P.to_numpy())


def test_a_mapping_that_nothing_can_be_aligned_with_is_refused():
    with raises("wrong-type", "the prior"):
        md.additive_noise.gaussian_leakage([0.0], 1, {"1": 0.4, "-1": 0.6})


def test_arrays_have_no_labels_and_are_not_looked_at(monkeypatch):
    matrix, prior = np.eye(2), np.array([0.5, 0.5])
    monkeypatch.setattr(labelled, "table", pytest.fail)
    assert labelled.together(matrix, prior) == (matrix, prior, None)
