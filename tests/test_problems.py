"""Every problem file, through every method that accepts it: certificate, expected value, closed forms, files."""

import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from tolerances import CERTIFIED

import mechdesign as md
from mechdesign.optimize.closed_form import closed_forms
from mechdesign.optimize.column_generation import solve_ray_lp
from mechdesign.optimize.pricing import check_listable

FOLDER = Path(__file__).parent.parent / "problems"
SMALL, LARGE = 24, 200  # symbols
FILES = sorted(FOLDER.glob("*.toml"))


def half_a_unit(expected: Decimal) -> float:
    return 0.5 * 10.0 ** expected.as_tuple().exponent


def test_there_are_enough_problems_each_with_its_source():
    assert len(FILES) >= 20
    for path in FILES:
        assert md.read_problem(path).citation, path.name


def tolerance(problem: md.DesignProblem) -> float:
    """Column generation stops at the tolerance; the digits expected of small problems ask for more of it.

    Integers cost squared Hellinger too much for that, whose slope at zero is infinite.
    """
    if problem.uncertainty.size > LARGE:
        return 1e-3
    if problem.utility.minimised:
        return 1e-6 if problem.uncertainty.size <= 10 else 1e-4
    return 1e-10 if problem.uncertainty.size <= SMALL and problem.utility != md.SquaredHellinger() else 1e-6


# Each has one of its kind that is quick: of the same counts with another set, or of fewer symbols.
SLOW = {
    *("zipf-100", "zipf-100-ldp", "zipf-100-known", "zipf-1000", "zipf-1000-ldp"),  # zipf-50, zipf-1000-known
    *("one-dominant-96", "one-dominant-96-ldp", "one-dominant-96-known"),  # zipf-50, zipf-50-ldp, zipf-30-known
    *("smooth-74", "smooth-74-ldp", "smooth-74-known"),  # zipf-50, zipf-50-ldp, zipf-30-known
    *("adult-hours-per-week-ldp", "adult-age-ldp"),  # adult-native-country-ldp
    *("adult-capital-gain", "adult-age", "adult-native-country", "adult-hours-per-week"),  # zipf-50
    *("adult-age-known", "adult-native-country-known", "adult-hours-per-week-known"),  # adult-education-known
    "adult-hours-per-week-total-variation",  # uniform-6-high-privacy-total-variation
    "adult-native-country-hellinger",  # uniform-7-hellinger
    "adult-education-frequencies",  # adult-workclass-frequencies
    *("adult-secret-race-education", "adult-secret-race-occupation"),  # adult-secret-sex-occupation
    "adult-secret-sex-occupation-uncertain",
    "flights-departure-delay",  # zipf-1000-known
}


@pytest.mark.sampled
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in SLOW else []) for path in FILES],
)
def test_problem(path, tmp_path):
    file = md.read_problem(path)
    problem = file.problem
    known, utility = problem.uncertainty, problem.utility
    solved = md.design(problem, tol=tolerance(problem))

    assert solved.certified
    assert solved.leakage <= float(problem.epsilon) * (1 + 1e-15)
    if "value" in file.expected:
        expected = file.expected["value"]
        assert abs(solved.value - float(expected)) <= half_a_unit(expected)

    for form in closed_forms(problem):
        reached = form.value_for(problem)
        assert reached >= solved.bound if utility.minimised else reached <= solved.bound
        if form.optimal:
            np.testing.assert_allclose(reached, solved.value, atol=CERTIFIED)

    if utility.is_polyhedral and isinstance(known, md.L1Ball) and known.size <= SMALL:
        # The list and its linear program, which knows no guess, as a second side.
        rays = check_listable(known, float(problem.epsilon.exp_down))
        listed = solve_ray_lp(rays, utility, lambda step: None)
        np.testing.assert_allclose(utility.value(listed.matrix, known.prior), solved.value, atol=CERTIFIED)

    solved.mechanism.save(tmp_path / "m.json")
    loaded = md.Mechanism.load(tmp_path / "m.json")
    verified = md.verify(loaded)
    assert verified.value == solved.value
    assert verified.gap <= solved.gap

    md.write_problem(tmp_path / "p.toml", file)
    assert md.read_problem(tmp_path / "p.toml") == file


# In the files as text, which each process reads while it collects.
COMPARED = [path for path in FILES if re.search(r"^(k_ary_\w+|best_ldp) =", path.read_text("utf-8"), re.MULTILINE)]


@pytest.mark.parametrize("path", COMPARED, ids=lambda path: path.stem)
def test_comparison(path):
    file = md.read_problem(path)
    comparison = md.compare(md.design(file.problem, tol=1e-10))
    krr, best = file.expected["k_ary_randomized_response"], file.expected["best_ldp"]
    assert abs(comparison.k_ary_randomized_response - float(krr)) <= half_a_unit(krr)
    assert abs(comparison.best_ldp.value - float(best)) <= half_a_unit(best)
    assert comparison.best_ldp.certified


def test_the_reference_values_are_all_there():
    """Each row of the table of reference values has its file."""
    expected = {str(value) for path in FILES for value in md.read_problem(path).expected.values()}
    assert expected >= {
        "0.0268223106269",
        "0.9939905941",
        "1.5755377146",
        "0.1989599015",
        "0.9989919451",
        "0.8912304568",
        "0.1671911807",
        "0.8661311328",
        "0.9514301776",
        "0.952186783",
        "0.16158838",
        "0.12740263",
        "0.12259753",
        "0.0424945648",
        "0.1232854303",
        "1.6094379124",
        "2.090621700",
        "2.062465779",
        "1.342332302",
        "2.027323505",
        "2.167017741",
        "1.908486562",
    }
