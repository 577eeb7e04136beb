"""The option --lower: what commands print of a promise on both sides, and how they refuse it."""

import json
from functools import partial
from pathlib import Path

import pytest


@pytest.fixture
def here(here):
    Path("counts.csv").write_text("label,count\na,40\nb,30\nc,20\nd,10\n")
    Path("problem.toml").write_text(
        'title = "both sides"\nepsilon = "1"\nlower = "0.5"\n[prior]\nlabels = ["a", "b"]\nprobabilities = [0.6, 0.4]\n'
    )
    return here


def design(command, *options):
    return command(
        "design", "--counts", "counts.csv", "--epsilon", "1", "--known", "--utility", "mutual-information", *options
    )


def test_a_design_says_its_promise_in_words(command):
    status, out, err = design(command, "--lower", "0.5", "-o", "m.json")
    assert (status, err) == (0, "")
    told = " ".join(out.split())
    assert "guarantee local information privacy with epsilon = 1 and lower = 0.5 for the prior itself" in told
    assert "PML, and no report makes anything less likely by a factor below exp(-lower)" in told
    assert "from below at most 0.49" in told
    assert "optimal (certified)" in told
    status, out, err = command("verify", "m.json")
    assert (status, err) == (0, "")
    assert "lower = 0.5" in " ".join(out.split())
    assert "all claims hold" in out


def test_json_has_two_more_keys_and_only_then(command):
    both = json.loads(design(command, "--lower", "0.5", "--json", "-o", "m.json")[1])
    assert both["lower"] == 0.5
    assert 0.4999 < both["lower_leakage"] <= 0.5
    verified = json.loads(command("verify", "m.json", "--json")[1])
    assert (verified["lower"], verified["holds"]) == (0.5, True)
    assert set(both) - set(json.loads(design(command, "--json")[1])) == {"lower", "lower_leakage"}
    assert design(command, "--json")[1].count("lower") == 0


def test_a_problem_file_carries_it(command):
    status, out, _ = command("design", "problem.toml", "--json")
    assert (status, json.loads(out)["lower"]) == (0, 0.5)
    status, out, err = command("design", "problem.toml", "--lower", "1")
    assert (status, out) == (2, "")
    assert "--lower: a problem file says this itself; change it there" in err


def test_a_false_promise_has_status_1(command):
    design(command, "--lower", "0.5", "-o", "m.json")
    table = json.loads(Path("m.json").read_text())
    table["guarantee"]["lower"] = "0.4"
    Path("m.json").write_text(json.dumps(table))
    status, out, err = command("verify", "m.json")
    assert (status, out) == (1, "")
    assert "lower the probability of a category by up to 0.5 nats, above lower = 0.4" in err


def test_comparisons_say_which_ldp_they_are_with(command):
    status, out, _ = command("compare", "problem.toml")
    assert status == 0
    told = " ".join(out.split())
    assert "At epsilon = 1 and lower = 0.5, beside local differential privacy with 0.5, which implies both" in told
    record = json.loads(command("compare", "problem.toml", "--json")[1])
    assert record["comparison"]["local_epsilon"] == 0.5 if "comparison" in record else record["local_epsilon"] == 0.5


def test_other_commands_neither_drop_nor_invent_it(command):
    design(command, "--lower", "0.5", "-o", "m.json")
    status, out, _ = command("audit", "m.json", "--samples", "2000")
    assert status == 0
    assert "from below not bounded by an audit" in " ".join(out.split())
    status, out, _ = command("plan", "--mechanism", "m.json", "--reports", "1000")
    assert status == 0
    told = " ".join(out.split())
    assert "epsilon = 1 and lower = 0.5" in told
    assert "no method designs" not in told
    assert "The promise on both sides is weaker than local differential privacy" in told
    assert json.loads(command("plan", "--mechanism", "m.json", "--reports", "1000", "--json")[1])["lower"] == 0.5
    Path("records.csv").write_text("level\n" + "a\nb\nc\nd\n" * 10)
    status, _, err = command("privatize", "records.csv", "--column", "level", "--mechanism", "m.json", "-o", "out.csv")
    assert (status, err) == (0, "")
    assert command("estimate", "out.csv", "--column", "level", "--mechanism", "m.json")[0] == 0


@pytest.mark.parametrize("lower", ["x", "-1", "inf", "log(1/2)"])
def test_refusals_are_one_line(refused, lower):
    design(partial(refused, "epsilon-out-of-range", shown="lower"), "--lower", lower)


def test_a_plan_of_samples_has_no_promise_from_below(command):
    status, _, err = command(
        *("plan", "--categories", "3", "--samples", "100", "--epsilon", "1", "--delta", "0.1", "--lower", "2")
    )
    assert status == 2
    assert "--lower: only with --reports" in err


def test_a_cap_is_said_written_and_verified(command):
    status, out, err = design(command, "--cap", "2", "-o", "m.json")
    assert (status, err) == (0, "")
    assert "; and local differential privacy with cap = 2, whatever the distribution is" in " ".join(out.split())
    table = json.loads(Path("m.json").read_text())
    assert (table["schema"], table["guarantee"]["cap"]) == ("mechdesign/mechanism/2", "2")
    printed = json.loads(command("verify", "m.json", "--json")[1])
    assert (printed["cap"], printed["holds"]) == (2.0, True)
    assert "lower" not in printed
    kept = json.loads(
        command("analyze", "m.json", "--counts", "counts.csv", "--known", "--epsilon", "1", "--cap", "2", "--json")[1]
    )
    assert (kept["promise"]["cap"], kept["promise"]["keeps"]) == (2.0, True)
    kept = json.loads(
        command("analyze", "m.json", "--counts", "counts.csv", "--known", "--epsilon", "1", "--cap", "1.9", "--json")[1]
    )
    assert kept["promise"]["keeps"] is False


def test_a_file_with_a_cap_that_is_not_kept_is_refused(command, refused):
    design(command, "--cap", "2", "-o", "m.json")
    table = json.loads(Path("m.json").read_text())
    for changed, code in (({"cap": "1.9"}, "guarantee-false"), ({"cap": "2", "lower": "2"}, "conflicting-arguments")):
        Path("m.json").write_text(json.dumps({**table, "guarantee": table["guarantee"] | changed}))
        refused(code, "verify", "m.json", shown="cap")
    Path("m.json").write_text(json.dumps(table | {"schema": "mechdesign/mechanism/1"}))
    refused("key-out-of-place", "verify", "m.json", shown="cap")


def test_the_page_says_the_cap(command):
    design(command, "--cap", "2", "-o", "m.json")
    assert command("report", "m.json", "-o", "page.html")[0] == 0
    capped = Path("page.html").read_text()
    assert "whatever someone knows about the person beforehand" in capped
    assert "only the cap is promised" in capped
    assert "nothing is promised" not in capped  # which would be false
    design(command, "-o", "plain.json")
    assert command("report", "plain.json", "-o", "plain.html")[0] == 0
    assert "nothing is promised" in Path("plain.html").read_text()


def test_the_command_prints_what_caps_cost(command, refused):
    problem = ("compare", "--counts", "counts.csv", "--epsilon", "1", "--known")
    found = json.loads(command(*problem, "--caps", "2,3", "--json", "--plot", "caps.png")[1])["caps"]
    assert [row["cap"] for row in found] == [2.0, 3.0, None]
    assert found[0]["cost"] > found[1]["cost"] > found[2]["cost"] == 0
    assert Path("caps.png").read_bytes()[:4] == b"\x89PNG"
    assert "more respondents for the same error" in " ".join(command(*problem, "--caps")[1].split())
    refused("epsilon-out-of-range", *problem, "--caps", "2,x", shown="cap is 'x'")
    refused("conflicting-arguments", *problem, "--caps", "2", "--cap", "3", shown="cap = 3")
