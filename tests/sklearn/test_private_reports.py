"""`PrivateReports` in scikit-learn: its own checks, pipelines, and the numbers of the mechanisms."""

import doctest
import pickle

import numpy as np
import pytest
from refusals import raises

import mechdesign as md

pytest.importorskip("sklearn", reason='pip install ".[sklearn]"')
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import check_estimator

from mechdesign.sklearn import PrivateReports, private_reports

TEXTS = "the check subtracts outputs, and reports are texts"
EXCEPTIONS = {"check_estimators_pickle": TEXTS, "check_fit_idempotent": TEXTS}
PEOPLE = np.array([["walk", "yes"]] * 600 + [["bus", "no"]] * 300 + [["car", "no"]] * 100, dtype=object)


def test_scikit_learn_finds_nothing_but_the_exceptions():
    found = check_estimator(PrivateReports(), expected_failed_checks=EXCEPTIONS, on_skip=None)
    assert {each["check_name"] for each in found if each["status"] == "xfail"} == set(EXCEPTIONS)
    assert sum(each["status"] == "passed" for each in found) > 30


def test_a_second_fit_and_a_copy_report_the_same_from_a_seed():
    """What the two exceptions would check."""
    first = PrivateReports(random_state=1).fit(PEOPLE)
    expected = first.transform(PEOPLE)
    for other in (first.fit(PEOPLE), clone(first).fit(PEOPLE), pickle.loads(pickle.dumps(first))):
        assert (other.transform(PEOPLE) == expected).all()


def test_each_column_has_the_design_of_its_counts():
    fitted = PrivateReports(epsilon="1.5", delta="1e-9").fit(PEOPLE)
    ball = md.L1Ball.from_counts({"walk": 600, "bus": 300, "car": 100}, delta="1e-9")
    expected = md.design(md.DesignProblem(ball, "1.5", md.EstimationError()))
    assert fitted.mechanisms_[0].fingerprint == expected.mechanism.fingerprint
    assert fitted.designs_[0].certified
    assert fitted.categories_ == [("walk", "bus", "car"), ("yes", "no")] or fitted.categories_[1] == ("no", "yes")


def test_reports_are_drawn_with_the_probabilities_of_the_mechanism():
    fitted = PrivateReports(random_state=3).fit(PEOPLE)
    reports = fitted.transform(np.repeat(PEOPLE, 50, axis=0))[:, 0]
    mechanism = fitted.mechanisms_[0]
    walking = reports[:30_000]
    seen = np.array([(walking == name).mean() for name in mechanism.outputs])
    p = mechanism.matrix[0]
    assert (np.abs(seen - p) <= 5 * np.sqrt(p * (1 - p) / 30_000)).all()
    estimate = md.estimate_frequencies(reports.tolist(), mechanism)
    assert np.abs(estimate.frequencies - [0.6, 0.3, 0.1]).max() < 0.03


def test_a_pipeline_and_a_column_transformer_take_it():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(PEOPLE, columns=["commute", "owner"]).assign(age=range(1000))
    both = ColumnTransformer([("private", PrivateReports(), ["commute"])], remainder="passthrough")
    out = both.set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == ["private__commute", "remainder__owner", "remainder__age"]
    assert set(out["private__commute"]) <= set(both.named_transformers_["private"].mechanisms_[0].outputs)
    line = make_pipeline(PrivateReports(), OneHotEncoder(sparse_output=False)).set_output(transform="default")
    assert line.fit_transform(frame[["commute", "owner"]]).sum() == 2000
    assert list(PrivateReports().fit(frame[["owner"]]).get_feature_names_out()) == ["owner"]


def test_labels_do_not_depend_on_the_type_of_a_column():
    whole, floats = np.array([[1], [2], [2]] * 50), np.array([[1.0], [2.0], [2.0]] * 50)
    fitted = PrivateReports(random_state=1).fit(whole)
    assert (fitted.transform(floats) == fitted.transform(whole)).all()
    mixed = PrivateReports().fit(np.array([["a"], [1], [1]] * 20, dtype=object))
    assert mixed.categories_ == [("1", "a")]


def test_what_cannot_be_reported_is_refused():
    fitted = PrivateReports().fit(PEOPLE)
    with raises("unknown-label"):
        fitted.transform([["train", "no"]])
    with raises("wrong-size", "2 to 5"):
        PrivateReports(most_categories=5).fit([[k] for k in range(6)])
    with raises("wrong-size", "column 1 has 1 categories"):
        PrivateReports().fit([["a", "b"], ["b", "b"]])
    with raises("bad-label"):
        PrivateReports().fit(np.array([["a"], [None]], dtype=object))
    with pytest.raises(ValueError, match="NaN"):
        PrivateReports().fit([[1.0], [np.nan]])


def test_the_example_runs():
    assert doctest.testmod(private_reports).failed == 0


def test_a_fit_that_fails_leaves_nothing_fitted():
    fitted = PrivateReports().fit(PEOPLE)
    with raises("wrong-size"):
        fitted.fit([["a", "b", "c"]] * 10)
    with pytest.raises(NotFittedError):
        fitted.transform(PEOPLE)


def frame_of(rows):
    return pytest.importorskip("pandas").DataFrame(rows)


@pytest.mark.parametrize("kind", [list, np.array, frame_of])
@pytest.mark.parametrize("other", [1, 1.0, True])
def test_a_number_and_its_text_are_not_taken_for_one_category(kind, other):
    """Numpy makes texts of a list of both, and then nobody sees that there were two categories."""
    rows = [["a", str(int(other)) if other is not True else "True"]] * 60 + [["b", other]] * 40
    mixed = np.array(rows, dtype=object) if kind is np.array else kind(rows)
    with raises("ambiguous-labels", "column 1 holds"):
        PrivateReports().fit(mixed)
    numbers = [[first, 1 if second == rows[0][1] else 2] for first, second in rows]
    fitted = PrivateReports().fit(numbers)
    assert fitted.categories_ == [("a", "b"), ("1", "2")]
    with raises("ambiguous-labels", "column 1 holds"):
        fitted.transform([["a", 1], ["b", "1"]])
    assert fitted.transform([["a", 1.0], ["b", 2]]).shape == (2, 2)
