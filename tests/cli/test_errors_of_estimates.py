"""What `design` and `compare` say of the estimates that reports allow."""

import json
from pathlib import Path

import pytest

import mechdesign as md
from mechdesign.comparison.rivals import WEAKER_THAN_LDP
from mechdesign.optimize import Design
from mechdesign.optimize.estimation.caps import estimation_bound

RACE = {"White": 41762, "Black": 4685, "Asian": 1519, "Indian": 470, "Other": 406}
RELATIONSHIP = {"Husband": 19716, "No": 12583, "Child": 7581, "Unmarried": 5125, "Wife": 2331, "Other": 1506}
PROMISE = ("--epsilon", "1", "--delta", "1e-9", "--bound", "weissman")
ERRORS = ("--utility", "estimation-error")
INFORMATION = ("--utility", "mutual-information")
UTILITY_KEYS = {
    *("schema", "title", "value", "k_ary_randomized_response", "best_ldp", "best_ldp_upper_bound"),
    *("best_ldp_certified", "best_ldp_missing", "unit", "design"),
}


@pytest.fixture
def here(here, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    for name, counts in (("race", RACE), ("relationship", RELATIONSHIP)):
        lines = [f"{label},{count}" for label, count in counts.items()]
        (here / f"{name}.csv").write_text("\n".join(["level,people", *lines]), encoding="utf-8")
    return here


@pytest.mark.parametrize("name", ["design", "compare"])
def test_a_design_for_information_says_its_error_beside_the_least(command, name):
    status, out, _ = command(name, "--counts", "relationship.csv", *PROMISE, *INFORMATION)
    least = estimation_bound(md.L1Ball.from_counts(RELATIONSHIP, known=True), 1)
    (line,) = [line for line in out.splitlines() if line.startswith("estimation error")]
    assert status == 0
    assert "9.389" in line
    assert f"up to {9.389 / least:.3g} times the least there is (at least {least:.6g})" in line
    assert WEAKER_THAN_LDP not in out


def test_the_bound_that_needs_no_design_stands_beside_that_of_the_solver(command):
    status, out, _ = command("design", "--counts", "relationship.csv", *PROMISE, *ERRORS)
    (line,) = [line for line in out.splitlines() if line.startswith("closed-form bound")]
    least = estimation_bound(md.L1Ball.from_counts(RELATIONSHIP, known=True), 1)
    assert status == 0
    assert f"{least:.10g}, for every set of priors that holds the estimate" in line
    assert any(line.startswith("lower bound") for line in out.splitlines())


@pytest.mark.parametrize("name", ["design", "compare"])
def test_a_design_that_tells_groups_apart_only_says_so(command, name):
    status, out, _ = command(name, "--counts", "race.csv", *PROMISE, *INFORMATION)
    assert status == 0
    assert out.startswith("NO ESTIMATES")
    assert (
        "reports do not determine the frequencies: they tell only 2 groups of categories apart" in out.splitlines()[0]
    )
    assert "estimation error" not in out


def test_the_constant_mechanism_tells_nothing(command):
    status, out, _ = command("design", "--counts", "race.csv", "--epsilon", "0", "--known", *INFORMATION)
    assert status == 0
    assert "reports do not determine the frequencies, neither of a category nor of a group of categories" in out


def test_the_error_is_in_the_json_of_a_design(command, here):
    status, out, _ = command("design", "--counts", "relationship.csv", *PROMISE, *INFORMATION, "-o", "m.json", "--json")
    mechanism = md.Mechanism.load(here / "m.json")
    expected = md.EstimationError().value(mechanism.matrix, mechanism.guarantee.uncertainty.prior)
    assert status == 0
    assert json.loads(out)["estimation_error"] == pytest.approx(expected, rel=1e-12)
    assert (
        json.loads(command("design", "--counts", "race.csv", *PROMISE, *INFORMATION, "--json")[1])["estimation_error"]
        is None
    )
    record = json.loads(command("design", "--counts", "race.csv", *PROMISE, *ERRORS, "--json")[1])
    assert record["estimation_error"] == pytest.approx(record["value"])


def test_utilities_are_compared_as_before(command):
    status, out, _ = command("compare", "--counts", "race.csv", *PROMISE, *INFORMATION, "--json")
    assert status == 0
    assert json.loads(out).keys() == UTILITY_KEYS
    status, out, _ = command("compare", "--counts", "race.csv", *PROMISE, *INFORMATION)
    assert out.splitlines()[0].startswith("NO ESTIMATES from this design: ")
    assert out.splitlines()[1:3] == ["race.csv", "At epsilon = 1: mutual-information"]
    assert len(out.splitlines()) == 10  # one more than the table


def test_errors_are_compared_in_respondents(command):
    status, out, err = command("compare", "--counts", "relationship.csv", *PROMISE, *ERRORS)
    assert (status, err) == (0, "")
    for part in (
        "subset selection of 2 categories (LDP)",
        "best for mutual information, same guarantee",
        "4.76 times as many",
        "The same error from 4.76 times fewer respondents than subset selection",
        "and 4.75 times fewer respondents than any LDP mechanism (error at least 15.2599, certified).",
        WEAKER_THAN_LDP,
    ):
        assert part in out
    assert "estimation error of this design" not in out


def test_a_best_ldp_mechanism_that_is_not_certified_comes_with_its_bound(command, monkeypatch):
    whole = Design.certified.fget
    monkeypatch.setattr(Design, "certified", property(lambda self: whole(self) and self.problem.uncertainty.radius < 2))
    status, out, _ = command("compare", "--counts", "relationship.csv", *PROMISE, *ERRORS)
    assert status == 0
    assert "best LDP mechanism (NOT certified: the least is at least 15.2599)" in out
    assert "this design (certified)" in out


def test_errors_are_compared_as_json(command):
    status, out, _ = command("compare", "--counts", "race.csv", *PROMISE, *ERRORS, "--json")
    record = json.loads(out)
    assert status == 0
    assert record["best_ldp_lower_bound"] <= record["best_ldp"]
    assert record["subset_selection"] == pytest.approx(11.08, abs=0.005)
    assert (record["subset_selection_members"], record["subset_selection_missing"]) == (2, None)
    assert record["best_for_information"] is None
    assert "tell only 2 groups of categories apart" in record["best_for_information_missing"]
    assert record["respondents"] == {
        "best_ldp": record["best_ldp"] / record["value"],
        "subset_selection": record["subset_selection"] / record["value"],
        "k_ary_randomized_response": record["k_ary_randomized_response"] / record["value"],
        "best_for_information": None,
    }
    assert record["promise"] == WEAKER_THAN_LDP


def test_under_ldp_nobody_saves_respondents(command):
    status, out, _ = command("compare", "--counts", "race.csv", "--epsilon", "1", "--radius", "2", *ERRORS)
    assert status == 0
    (line,) = [line for line in out.splitlines() if "best LDP mechanism" in line]
    assert " as many" in line
    assert "times as many" not in line
    assert WEAKER_THAN_LDP not in out
    assert (
        json.loads(command("compare", "--counts", "race.csv", "--epsilon", "1", "--radius", "2", *ERRORS, "--json")[1])[
            "promise"
        ]
        is None
    )


def test_a_design_is_compared_by_errors_on_demand(command):
    status, out, _ = command("design", "--counts", "race.csv", *PROMISE, *ERRORS, "--compare")
    assert status == 0
    assert WEAKER_THAN_LDP in out
    status, out, _ = command("design", "--counts", "race.csv", *PROMISE, *ERRORS, "--compare", "--json")
    assert json.loads(out)["comparison"]["promise"] == WEAKER_THAN_LDP


@pytest.mark.parametrize("name", ["design", "compare"])
def test_what_nobody_can_estimate_is_refused_in_one_line(command, name):
    status, out, err = command(name, "--counts", "race.csv", "--epsilon", "0", "--known", *ERRORS)
    assert (status, out) == (3, "")
    assert err.startswith("Error: epsilon = 0 allows only the constant mechanism")
    assert err.count("\n") == 1


def test_the_weaker_promise_is_said_in_one_place():
    said = "one report may exclude categories"
    files = Path(md.__file__).parent.rglob("*.py")
    assert [path.name for path in files if said in path.read_text("utf-8")] == ["rivals.py"]
    for part in ("weaker", "priors in the set", said, "fresh reports about one record add up"):
        assert part in WEAKER_THAN_LDP
