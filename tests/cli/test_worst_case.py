"""The least utility over the priors, on the command line."""

import json

import pytest

import mechdesign as md

PRIOR = 'labels = ["a", "b", "c"]\nprobabilities = ["0.5", "0.3", "0.2"]\nradius = "0.2"\n'


@pytest.fixture
def here(here):
    for name in ("worst-case-mutual-information", "worst-case-hamming-accuracy"):
        text = f'title = "Three"\nepsilon = "log(2)"\nutility = "{name}"\n\n[prior]\n{PRIOR}'
        (here / f"{name}.toml").write_text(text, encoding="utf-8")
    (here / "c.csv").write_text("label,count\na,50\nb,30\nc,20\n", encoding="utf-8")
    return here


def told(out):
    return " ".join(out.split())


def test_a_design_says_what_it_is_worth_at_least_and_at_the_estimate(command):
    status, out, err = command("design", "worst-case-mutual-information.toml", "-o", "m.json")
    assert (status, err) == (0, "")
    assert "worst-case-mutual-information 0.298301472" in told(out)
    assert "at the estimate 0.3208332" in told(out)
    status, out, _ = command("verify", "m.json")
    assert status == 0
    assert "worst-case-mutual-information 0.298301472" in told(out)
    assert "at the estimate 0.3208332" in told(out)
    assert "confirmed from the dual vector (every extreme ray, at 2 priors of the set)" in told(out)


def test_the_json_has_the_priors_that_prove_the_bound(command):
    options = ["--epsilon", "log(2)", "--radius", "0.2", "--utility", "worst-case-hamming-accuracy", "--json"]
    status, out, _ = command("design", "--counts", "c.csv", *options, "-o", "m.json")
    record = json.loads(out)
    assert status == 0
    assert record["utility"] == "worst-case-hamming-accuracy"
    assert record["value"] == pytest.approx(0.6, abs=1e-9)
    assert record["value_at_estimate"] > 0.65
    file = json.loads(command("verify", "m.json", "--json")[1])
    assert file["optimality"]["value_at_estimate"] == record["value_at_estimate"]
    mixture = md.Mechanism.load("m.json").optimality.mixture
    assert record["worst_case"]["priors"] == [[str(q) for q in Q] for Q in mixture.priors]
    assert record["worst_case"]["weights"] == [str(w) for w in mixture.weights]
    assert "worst_case" not in json.loads(
        command("design", "--counts", "c.csv", "--epsilon", "1", "--known", "--json")[1]
    )


def test_a_comparison_says_what_the_design_for_the_estimate_is_worth_at_least(command):
    status, out, _ = command("compare", "worst-case-mutual-information.toml")
    assert status == 0
    assert "best for the estimate, same" in out
    assert "0.281822" in out
    record = json.loads(command("compare", "worst-case-mutual-information.toml", "--json")[1])
    assert record["best_at_estimate"]["value"] == pytest.approx(0.281821950, abs=1e-8)
    assert record["best_at_estimate"]["value_at_estimate"] == pytest.approx(0.323494372, abs=1e-8)
    assert record["best_at_estimate"]["missing"] is None
    assert "best_at_estimate" not in json.loads(
        command("compare", "--counts", "c.csv", "--epsilon", "1", "--known", "--json")[1]
    )


def test_a_value_of_0_is_explained(command):
    options = ["--counts", "c.csv", "--epsilon", "1", "--utility", "worst-case-mutual-information"]
    status, out, _ = command("design", *options, "--radius", "1")
    assert status == 0
    assert "worst-case-mutual-information 0 nats" in told(out)
    assert "under some prior of the set one category is certain, so that reports inform about nothing" in told(out)
    assert "why 0" not in command("design", *options, "--radius", "0.1")[1]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("worst-case-chi-square", "wrong-objective"),
        ("worst-case-estimation-error", "wrong-objective"),
        ("worst-case-", "unknown-choice"),
        ("worst-case-expected-gain", "missing-argument"),
        ("worst-case-worst-case-hamming-accuracy", "wrong-objective"),
    ],
)
def test_utilities_without_a_known_least_value_are_refused(refused, name, code):
    refused(code, "design", "--counts", "c.csv", "--epsilon", "1", "--known", "--utility", name)


def test_too_many_symbols_for_the_search_are_a_limit(command, here):
    rows = "".join(f"s{k},{k + 1}\n" for k in range(20))
    (here / "many.csv").write_text(f"label,count\n{rows}", encoding="utf-8")
    options = ["--counts", "many.csv", "--epsilon", "1", "--radius", "0.01"]
    status, _, err = command("design", *options, "--utility", "worst-case-mutual-information")
    assert status == 3
    assert "is searched for at most 16 categories; merge categories" in err
