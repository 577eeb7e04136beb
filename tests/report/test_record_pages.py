"""Pages of released histograms: epsilon and delta are computed again from the noise."""

import json
import shlex
from functools import cache

import pytest
from pages import well_made

import mechdesign as md
from mechdesign.cli.entry_point import run
from mechdesign.histogram import CshPlan, DiscretePlan, GshmPlan, LaplacePlan, TopKPlan
from mechdesign.histogram.record_check import proved_record
from mechdesign.report import record_page

SPARSE = {"epsilon": "log(3)", "delta": "1e-6", "sigma": 12}
PLANS = {
    "discrete": lambda: DiscretePlan.of(3, **SPARSE),
    "top-k": lambda: TopKPlan.of(3, value_sigma="9.5", **SPARSE),
    "top-k of floats": lambda: TopKPlan.of(3, noise="continuous", **SPARSE),
    "csh": lambda: CshPlan.of(3, analysis="theorem-11", **SPARSE),
    "gshm": lambda: GshmPlan.of(3, **SPARSE),
    "laplace": lambda: LaplacePlan.of(epsilon=1, alpha="0.1"),
    "laplace of any prior": lambda: LaplacePlan.of(scale="1.7"),
    "laplace of an estimate": lambda: LaplacePlan.of(
        epsilon=1, alpha=md.L1Ball.from_counts({"a": 800, "b": 200}, delta=1e-6)
    ),
}


@cache
def plan_of(name):
    return PLANS[name]()


@pytest.mark.parametrize("name", PLANS)
def test_a_page_says_what_the_record_says(name):
    plan = plan_of(name)
    beside = {"subtracted": 12.5} if plan.parameters.get("value_sigma") else {}
    content = plan.record(randomness="dice").to_json(**beside).encode()
    page, told = well_made(record_page(content)), json.loads(content)
    facts = page.facts
    for key in ("k", "sigma", "tau", "value_sigma", "scale", "alpha", "epsilon"):
        assert facts.get(key) == (str(told[key]) if key in told else None)
    assert float(facts["delta"]) == told["delta"]
    assert facts.get("subtracted") == ("12.5" if beside else None)
    assert plan.notion in page.section("promise")
    assert plan.neighbours in page.section("promise")
    assert plan.source in page.section("promise")
    assert plan.reading in page.section("noise")
    for item in plan.not_protected:
        assert item in page.section("limits")
    if "estimate" in name:
        assert "recomputed_delta" not in facts
        assert "was taken as the record says" in page.section("promise")
    else:
        assert float(facts["recomputed_delta"]) == float(proved_record(content, "r").plan.delta) <= told["delta"]
    assert ("what the last bits" in page.section("limits")) == (plan.noise == "continuous")


@pytest.mark.parametrize("name", PLANS)
def test_the_command_computes_the_same_guarantee(name, capsys):
    plan = plan_of(name)
    page = well_made(record_page(plan.record().to_json().encode()))
    (command,) = [e.text for e in page.all("pre")]
    program, *arguments = shlex.split(command)
    assert program == "mechdesign"
    assert run([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["mechanism"] == plan.name
    assert found["epsilon"] <= float(plan.epsilon)
    if "estimate" not in name:
        assert found["delta"] == float(page.facts["recomputed_delta"])
    for key, value in plan.parameters.items():
        assert found.get(key) == (None if value is None else float(value))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "discrete",
            "at most 3 times as likely as it would be without that user, up to a probability of 1 in 1,000",
        ),
        ("laplace", "the released counts make the guess right at most 2.719 times as likely as before"),
        ("laplace of any prior", "as it would be if that record fell into any other bin"),
    ],
)
def test_the_promise_in_one_sentence(name, sentence):
    page = well_made(record_page(plan_of(name).record().to_json().encode()))
    assert sentence in " ".join(page.all("p")[1].text.split())
