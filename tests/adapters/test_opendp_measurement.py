"""Measurements of OpenDP: their maps state what is proved, and their reports are those of the mechanism."""

from collections import Counter

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.adapters import measurement

dp = pytest.importorskip("opendp.prelude", reason='pip install ".[opendp]"')
dp.enable_features("contrib", "honest-but-curious")


def warner():
    promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    return md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["n", "y"])


def designed():
    ball = md.L1Ball.from_counts({"never": 812, "former": 150, "current": 38}, delta="1e-9")
    return md.design(md.DesignProblem(ball, 1)).mechanism


def test_maps_state_what_is_proved():
    local = measurement(warner(), local=True)
    assert local.map(0) == 0
    assert np.log(3) <= local.map(1) <= np.log(3) * (1 + 1e-12)
    assert str(local.output_measure) == str(dp.max_divergence())
    mechanism = designed()
    leaky = measurement(mechanism)
    assert leaky.map(1) == mechanism.leakage
    assert "pointwise maximal leakage" in str(leaky.output_measure)
    assert "l1 distance" in str(leaky.output_measure)
    with raises("conflicting-arguments"):
        measurement(mechanism, local=True)


def test_pml_does_not_compose_as_local_differential_privacy():
    with pytest.raises(Exception, match=r"(?i)measure"):
        dp.c.make_composition([measurement(warner()), measurement(warner(), local=True)])


def test_reports_have_the_probabilities_of_the_integers():
    mechanism = designed()
    drawn = Counter(measurement(mechanism)("never") for _ in range(2000))
    for name, p in zip(mechanism.outputs, mechanism.matrix[0], strict=True):
        assert abs(drawn[name] - 2000 * p) <= 6 * np.sqrt(2000 * p * (1 - p)) + 1e-9
    with pytest.raises(Exception, match=r"(?i)alphabet|accepted|domain"):
        measurement(mechanism)("other")


def test_their_randomized_response_is_a_mechanism_by_its_matrix():
    theirs = dp.m.make_randomized_response(["a", "b", "c"], 0.5, T=str)
    promise = md.Guarantee("log(2)", md.L1Ball([0.5, 0.3, 0.2], radius=2, labels=["a", "b", "c"]))
    ours = md.Mechanism.from_matrix([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]], promise)
    assert theirs.map(1) == pytest.approx(float(ours.level), rel=1e-9)
    seen = Counter(theirs("a") for _ in range(4000))
    assert abs(seen["a"] - 2000) <= 6 * np.sqrt(1000)
    estimate = md.estimate_frequencies(
        {name: seen[label] for name, label in zip(ours.outputs, "abc", strict=True)}, ours
    )
    assert estimate.frequencies[0] > 0.85
