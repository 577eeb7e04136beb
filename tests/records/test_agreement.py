"""Whether views agree on what they share: how often a test errs, and what it finds."""

import numpy as np
import pytest

from mechdesign.records import RecordEstimation
from mechdesign.records.agreement import Agreement, agreement_of
from tests.records.overlapping_views import joint_of, matrices_of, pairs_of, tables_of, views_of
from tests.records.test_record_estimation import PAIRS, SINGLE, counts_of, mechanism

SIZES = (2, 3, 2)


@pytest.mark.sampled
@pytest.mark.parametrize("n", [30, 1000])
def test_p_is_uniform_where_views_agree(n):
    space, chances = pairs_of(SIZES), []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        matrices, tables = matrices_of(space, rng), tables_of(space, joint_of(SIZES, rng))
        laws = [tables[space.part(at)] @ matrix for at, matrix in enumerate(matrices)]
        counts = [rng.multinomial(n, law / law.sum()).astype(float) for law in laws]
        chances.append(agreement_of(space, matrices, laws, counts).p)
    chances = np.sort(chances)
    steps = np.arange(1, 201) / 200
    assert np.abs(chances - steps).max() < 1.63 / np.sqrt(200)  # Kolmogorov, 1 %


def test_the_distance_is_that_of_two_means():
    space = views_of((2, 2), ((0,), (0, 1)))
    counts = [np.array([700.0, 300]), np.array([150.0, 250, 300, 300])]
    found = agreement_of(space, [np.eye(2), np.eye(4)], [counts[0] / 1000, counts[1] / 1000], counts)
    assert found.degrees == 1
    assert found.distance == pytest.approx((0.7 - 0.4) ** 2 / (0.21 / 1000 + 0.24 / 1000))
    assert found.refuted


def test_people_who_are_left_out_of_a_view_are_found_though_its_mechanism_explains_any_reports():
    made = mechanism(*PAIRS)
    counts, truth, _ = counts_of(made, 30_000)
    found = RecordEstimation(made).of_counts(counts)
    assert found.fit.p is None
    assert found.agreement.p > 1e-3
    assert not found.agreement.refuted
    law = truth["sex+pay"] * [1, 1, 1, 0.5, 0.5, 0.5]
    matrix = made.parts[0].mechanism.matrix
    counts[:6] = np.random.default_rng(1).multinomial(10_000, law / law.sum() @ matrix).tolist()
    assert RecordEstimation(made).of_counts(counts).agreement.refuted


def test_nothing_is_tested_where_views_share_nothing():
    made = mechanism(*SINGLE)
    counts, _, _ = counts_of(made, 3000)
    assert RecordEstimation(made).of_counts(counts).agreement == Agreement(0.0, 0)
    assert Agreement(0.0, 0).p is None
    assert not Agreement(0.0, 0).refuted


def test_views_without_reports_are_left_out():
    made = mechanism(*PAIRS)
    counts, _, _ = counts_of(made, 3000)
    counts[6:12] = [0] * 6
    assert RecordEstimation(made).of_counts(counts).agreement.degrees == 1  # sex alone is shared
