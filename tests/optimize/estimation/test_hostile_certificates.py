"""Forms and multipliers that somebody may write into a file: each proves a true bound or none at all."""

from itertools import product

import numpy as np
import pytest

import mechdesign as md
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.estimation.form_certificate import lower_bound, root_trace_down, total_up
from mechdesign.optimize.estimation.solver import certify_error

COUNTS = [50, 30, 20]
WORKLOADS = {"frequencies": None, "weights": md.Workload.weights(["1e100", "1e-100", 0])}
NUMBERS = (0.0, 5e-324, -5e-324, 1e-300, 1.0, 1e154, 1e308, -1e308)


def problem(radius, workload=None):
    return md.DesignProblem(md.L1Ball.from_counts(COUNTS, radius=radius), 1.0, md.EstimationError(workload))


@pytest.mark.parametrize(
    ("radius", "workload", "numbers"),
    [
        ("0.1", "weights", (0.0, -5e-324, 1.0, 1e308)),
        *(pytest.param(*case, NUMBERS, marks=pytest.mark.slow) for case in product(("0", "0.1", "2"), WORKLOADS)),
    ],
)
def test_numbers_at_the_ends_of_floats_prove_no_false_bound(radius, workload, numbers):
    asked = problem(radius, WORKLOADS[workload])
    least = md.design(asked).value
    for entry in numbers:
        for other in numbers:
            for common in (0.0, -1e308, 1e308, -1e-320):
                for signs in ([1, 1, 1], [1, -1, 0]):
                    form = QuadraticForm(np.array([entry, entry, other]), common)
                    found = certify_error(asked, form, other * np.array(signs))
                    assert 0 <= found.lower_bound <= least


@pytest.mark.combined
@pytest.mark.parametrize("power", [-1060, -1000, -500, 500, 1000, 1019])
@pytest.mark.parametrize("radius", ["0", "0.1", "2"])
def test_a_multiple_of_a_certificate_proves_the_same(radius, power):
    asked = problem(radius)
    design = md.design(asked)
    form, multipliers = design.certificate.form, design.certificate.multipliers
    found = certify_error(
        asked, QuadraticForm.of_matrix(np.ldexp(form.dense(), power)), np.ldexp(multipliers, power)
    ).lower_bound
    assert found <= design.value
    assert found == pytest.approx(design.lower_bound, rel=1e-6 if power > -1060 else 1e-3)


def test_what_overflows_proves_nothing():
    P = np.full(3, 1 / 3)
    for form in (QuadraticForm(np.full(3, 1e308), 1e308), QuadraticForm.of_matrix(np.full((3, 3), -1e308))):
        root, eta = root_trace_down(form, P, 1e100 * np.tri(3))
        assert lower_bound(root, total_up(np.zeros(3), 1.0, eta, np.full(3, 2.0))) == 0
    assert lower_bound(1e200, 1.0) == 0
    assert lower_bound(1.0, 1e-320) == 0
