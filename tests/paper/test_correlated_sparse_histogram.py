"""Thresholds of "The Correlated Gaussian Sparse Histogram Mechanism" (CSH) and of the mechanism it improves on."""

import math

import pytest

from mechdesign.histogram.csh import ANALYSES, csh_best, csh_delta, csh_threshold
from mechdesign.histogram.gshm import gshm_best, gshm_delta, gshm_least_sigma, gshm_threshold

EPSILON, DELTA = 0.35, "1e-5"  # as in CSH Section 6
# Equal noise, 1.05 times the least that independent noise needs: k, its total standard deviation, the part of each
# counter of correlated noise; tau of independent noise by adding the deltas and exactly; tau of correlated noise by
# Theorem 11, Theorem 12, Jensen's inequality and exactly.
EQUAL_NOISE = [
    (1, 10.24272411, 7.242699673, 45.16985155, 43.68409974, 66.02118563, 63.98451304, 43.68409974, 43.68409974),
    (2, 14.48539935, 11.08664468, 66.02118563, 63.98451304, 92.05105372, 91.92503337, 63.98451304, 63.97963608),
    (3, 17.74091856, 14.12576673, 82.35755489, 79.90618886, 113.5027631, 113.4761682, 79.90618886, 79.9007546),
    (10, 32.39033762, 28.23253992, 158.2287624, 153.9649888, 210.5164005, 210.5161002, 153.9649888, 153.9614265),
    (100, 102.4272411, 97.66054247, 544.9795162, 532.5537096, 668.5787475, 668.5787467, 532.5537096, 532.5527421),
    (1000, 323.9033762, 318.9003632, 1854.366328, 1817.74587, 2107.987053, 2107.987052, 1817.74587, 1817.745393),
    (51914, 2333.768218, 2328.663653, 14847.38577, 14609.12729, 15542.90289, 15542.90289, 14609.12729, 14609.12693),
]
# The least tau over sigma, and the total standard deviation there: k, independent noise by adding the deltas and
# exactly, correlated noise by Theorem 11, Theorem 12 and exactly.
LEAST = {
    1: [(45.0887583, 10.125503), (41.6039045, 9.7549753), (65.8599613, 10.106505), (60.9376315, 9.7549753),
        (41.6039045, 9.7549753)],
    2: [(65.8599613, 14.292757), (60.9376315, 13.795618), (80.6408128, 12.187284), (74.7265942, 11.775297),
        (51.2383301, 11.600686)],
    3: [(82.1241384, 17.487264), (76.1011323, 16.896113), (91.8852856, 13.782344), (85.2341259, 13.325544),
        (59.292493, 13.165123)],
    10: [(157.591412, 31.841473), (146.633323, 30.847941), (141.763937, 20.951231), (131.946255, 20.301458),
         (96.303546, 20.260298)],
    100: [(541.543395, 100.27781), (507.194009, 97.549753), (373.916087, 55.151943), (350.207915, 53.652364),
          (278.956198, 53.652364)],
    1000: [(1838.69175, 316.10423), (1731.18654, 308.47941), (1099.85067, 163.04997), (1035.54641, 159.11719),
           (892.96544, 159.11718)],
    51914: [(14673.3252, 2268.4644), (13913.4546, 2222.6364), (7839.85999, 1139.2102), (7433.86641, 1116.1957),
            (6987.25963, 1116.1957)],
}  # fmt: skip
INDEPENDENT = ["add-the-deltas", "exact"]
CORRELATED = ["theorem-11", "theorem-12", "proved"]


def total(k, sigma):
    """The deviation of a counter of correlated noise: sigma of its own, and sigma k^(-1/4) in common."""
    return sigma * math.sqrt(1 + k**-0.5)


@pytest.mark.parametrize("row", EQUAL_NOISE, ids=lambda row: f"k={row[0]}")
def test_thresholds_at_equal_noise(row):
    k, deviation, sigma, added, exact, eleven, twelve, jensen, correlated = row
    assert deviation == pytest.approx(1.05 * gshm_least_sigma(k, EPSILON, DELTA), rel=1e-9)
    assert total(k, sigma) == pytest.approx(deviation, rel=1e-9)
    # Ten digits of sigma are printed, so as many of tau follow where tau is in proportion to it.
    assert gshm_threshold(k, deviation, EPSILON, DELTA) == pytest.approx(exact, rel=2e-9)
    assert gshm_threshold(k, deviation, EPSILON, DELTA, "add-the-deltas") == pytest.approx(added, rel=2e-9)
    # The proved bound is the exact delta here: no mixed pair is above the extremes, so that none has to be integrated.
    expected = {"theorem-11": eleven, "theorem-12": twelve}
    assert len(ANALYSES) == 5
    for analysis in ANALYSES:
        tau = csh_threshold(k, sigma, EPSILON, DELTA, analysis)
        assert tau == pytest.approx(expected.get(analysis, correlated), rel=2e-9)
    assert correlated <= jensen
    assert correlated <= gshm_threshold(k, total(k, sigma), EPSILON, DELTA) * (1 + 1e-12)


@pytest.mark.parametrize("k", LEAST)
def test_least_thresholds(k):
    # Near the least threshold sigma matters little: half of its digits follow.
    for analysis, (tau, deviation) in zip(INDEPENDENT, LEAST[k][:2], strict=True):
        found = gshm_best(k, EPSILON, DELTA, analysis)
        assert found[1] == pytest.approx(tau, rel=1e-6)
        assert found[0] == pytest.approx(deviation, rel=1e-3)
        assert found[1] == gshm_threshold(k, found[0], EPSILON, DELTA, analysis)
    for analysis, (tau, deviation) in zip(CORRELATED, LEAST[k][2:], strict=True):
        found = csh_best(k, EPSILON, DELTA, analysis)
        assert found[1] == pytest.approx(tau, rel=1e-6)
        assert total(k, found[0]) == pytest.approx(deviation, rel=1e-3)
        assert csh_delta(k, found[0], found[1], EPSILON, analysis) <= 1e-5


def test_deltas_of_independent_noise():
    assert gshm_delta(3, 1, 1.5, EPSILON) == pytest.approx(0.5440846596691, abs=1e-13)
    assert gshm_delta(3, 3, 12, EPSILON) == pytest.approx(0.1122893625587, abs=1e-13)
