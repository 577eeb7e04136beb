"""What is not a mechanism is refused by its type, and the message says how to get one from it."""

import numpy as np
import pandas as pd
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.deploy import RecordFile

BASELINE = md.baselines.k_ary_randomized_response(3, 1)
FILE = RecordFile("nowhere.csv", "x")
CALLS = {
    "estimate_frequencies": lambda given: md.estimate_frequencies(["a"], given),
    "privatize_file": lambda given: md.deploy.privatize_file(FILE, given, "o.csv"),
    "privatize_dataset": lambda given: md.deploy.privatize_dataset(FILE, given, "o"),
    "count_reports": lambda given: md.deploy.count_reports(FILE, given),
    "count_dataset": lambda given: md.deploy.count_dataset(FILE, given),
    "audit": lambda given: md.deploy.audit(given, 100),
    "audit_counts": lambda given: md.deploy.audit_counts(given, [[1]]),
    "leakage_of_values": lambda given: md.deploy.leakage_of_values(given, 2),
    "verify": md.verify,
    "product": lambda given: BASELINE.mechanism().product(given),
    "mechanism_page": md.report.mechanism_page,
    "plot.matrix": md.plot.matrix,
    "plot.leakage": md.plot.leakage,
    "plot.audit": lambda given: md.plot.audit(None, given),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_baseline_is_refused_by_name_and_its_mechanism_is_named(call):
    with raises("wrong-type", "Baseline", "its .mechanism(prior, labels="):
        CALLS[call](BASELINE)


@pytest.mark.parametrize("call", CALLS)
def test_a_design_is_refused_by_name_and_its_mechanism_is_named(call):
    made = md.design(md.DesignProblem(md.L1Ball([0.5, 0.5], radius=2), 1))
    with raises("wrong-type", "Design", "its .mechanism"):
        CALLS[call](made)


def test_records_in_the_place_of_a_mechanism_are_not_shown():
    with raises("wrong-type", "the mechanism", "Series") as refused:
        md.estimate_frequencies(BASELINE.mechanism(), pd.Series(["secret"]))
    assert "secret" not in str(refused.value)


def test_what_takes_any_matrix_takes_a_baseline():
    assert md.analyze(BASELINE, [0.3, 0.3, 0.4]).leakages.size == 3
    assert np.isclose(BASELINE.mechanism().matrix.sum(), 3)
