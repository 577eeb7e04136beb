"""The option --secret: designs about one column from records and from joint counts, and everything after."""

import json
from pathlib import Path

import pytest

from mechdesign.optimize import limit_rays

PAIRS = {("m", "a"): 20, ("m", "b"): 10, ("m", "c"): 5, ("f", "a"): 10, ("f", "b"): 15, ("f", "c"): 20}


@pytest.fixture
def here(here):
    Path("counts.csv").write_text("sex,job,count\n" + "".join(f"{s},{x},{n}\n" for (s, x), n in PAIRS.items()))
    records = [f"{s},{x}\n" for (s, x), n in PAIRS.items() for _ in range(n)]
    Path("records.csv").write_text("sex,job\n" + "".join(records))
    Path("bare.csv").write_text("".join(records))
    return here


def design(command, *options):
    said = () if "--delta" in options else ("--known",)
    return command(
        "design", "--data", "records.csv", "--secret", "sex", "--column", "job", "--epsilon", "0.1", *said, *options
    )


def test_a_design_says_what_it_does_not_protect(command):
    status, out, err = design(command, "-o", "m.json")
    assert (status, err) == (0, "")
    told = " ".join(out.split())
    assert "PML of sex alone with epsilon = 0.1 for the joint distribution of sex and job that the counts show" in told
    assert "not protected everything that does not pass through sex: reports may give away job itself" in told
    assert "optimal (certified)" in told
    assert "not_protected" in json.loads(Path("m.json").read_text())["guarantee"]["secret"]
    status, out, err = command("verify", "m.json")
    assert (status, err) == (0, "")
    assert "not protected" in out
    assert "all claims hold" in out


def test_json_says_it_too_and_only_for_secrets(command):
    about = json.loads(design(command, "--json")[1])
    assert [about[key] for key in ("secret", "useful")] == ["sex", "job"]
    assert "does not pass through sex" in about["not_protected"]
    plain = command("design", "--data", "records.csv", "--column", "job", "--epsilon", "0.1", "--known", "--json")[1]
    assert set(about) - set(json.loads(plain)) == {"secret", "useful", "not_protected"}


def test_records_counts_and_indices_give_the_same_design(command):
    value = json.loads(design(command, "--json")[1])["value"]
    same = [
        ("--counts", "counts.csv", "--secret", "sex"),
        ("--data", "bare.csv", "--no-header", "--secret", "0", "--column", "1"),
    ]
    for options in same:
        status, out, _ = command("design", *options, "--epsilon", "0.1", "--known", "--json")
        assert status == 0
        assert json.loads(out)["value"] == pytest.approx(value, rel=1e-12)


def test_limits_from_the_counts_have_an_honest_gap(command, monkeypatch):
    options = ("--delta", "0.1", "--utility", "mutual-information", "-o")
    assert design(command, *options, "best.json")[0] == 0
    monkeypatch.setattr(limit_rays, "_MOST_RAYS", 3)
    status, out, err = design(command, *options, "m.json", "--keep-partial")
    assert status == 3
    assert "every joint distribution of sex and job within the limits" in " ".join(out.split())
    assert "the bound is for some joint distributions within the limits, not for all" in err
    assert command("verify", "m.json")[0] == 0


def test_estimates_are_the_objective_of_limits_from_the_counts(command):
    status, out, _ = design(command, "--delta", "0.1", "--json")
    found = json.loads(out)
    assert (status, found["utility"], found["certified"]) == (0, "estimation-error", True)


def test_limits_of_both_kinds_are_taken(command):
    values = []
    for limits in ((), ("--set", "box"), ("--set", "l1-ball")):
        status, out, err = design(command, "--delta", "0.1", "--utility", "hamming-accuracy", "--json", *limits)
        assert status == 0
        assert err.startswith("Note: the categories are ")  # to which no label can be added beside a secret
        assert "--unseen" not in err
        assert json.loads(out)["certified"]
        values.append(json.loads(out)["value"])
    assert values[0] == values[1] != values[2]


def test_a_promise_on_both_sides_has_its_name(command):
    status, _, _ = design(command, "--lower", "0.1", "--json", "-o", "m.json")
    assert status == 0
    told = " ".join(command("verify", "m.json")[1].split())
    assert "ALIP (asymmetric local information privacy) of sex alone with epsilon = 0.1 and lower = 0.1" in told


def test_reports_are_made_from_the_useful_column_and_estimated(command):
    design(command, "-o", "m.json")
    status, out, _ = command(
        "privatize", "records.csv", "--column", "job", "--mechanism", "m.json", "-o", "reports.csv"
    )
    assert status == 0
    assert "PML of sex alone" in " ".join(out.split())
    status, out, _ = command("estimate", "reports.csv", "--column", "job", "--mechanism", "m.json")
    assert status == 0
    assert "PML of sex alone" in " ".join(out.split())


def test_compare_says_that_the_others_protect_more(command):
    options = ("compare", "--counts", "counts.csv", "--secret", "sex", "--epsilon", "0.1", "--known")
    status, out, _ = command(*options)
    assert status == 0
    assert "reports may tell all else about a record" in " ".join(out.split())
    assert "the secret alone" in json.loads(command(*options, "--json")[1])["promise"]


def test_a_problem_file_says_it_itself(command, refused):
    Path("p.toml").write_text(
        'title = "s"\nepsilon = "0.1"\n[prior]\nlabels = ["a", "b"]\n[prior.secret]\nname = "sex"\nuseful = "job"\n'
        'values = ["m", "f"]\ncounts = [[3, 1], [1, 3]]\n'
    )
    assert command("design", "p.toml")[0] == 0
    refused("usage", "design", "p.toml", "--secret", "sex", shown="--secret")


@pytest.mark.parametrize(
    ("options", "code", "shown"),
    [
        (("--data", "records.csv", "--secret", "sex"), "usage", "--secret with --data needs --column"),
        (("--data", "records.csv", "--secret", "sex", "--column", "sex", "--known"), "column-twice", ""),
        (("--data", "records.csv", "--secret", "age", "--column", "job", "--known"), "unknown-column", ""),
        (("--counts", "counts.csv", "--secret", "age", "--known"), "unknown-column", ""),
        (
            ("--counts", "counts.csv", "--secret", "sex", "--column", "job"),
            "usage",
            "a file of joint counts has three columns",
        ),
        (
            ("--counts", "counts.csv", "--secret", "sex", "--radius", "0.1"),
            "usage",
            "--radius: not accepted beside --secret",
        ),
        (
            ("--counts", "counts.csv", "--secret", "sex", "--bound", "weissman"),
            "usage",
            "--bound: not accepted beside --secret",
        ),
        (
            ("--counts", "counts.csv", "--secret", "sex", "--samples", "9"),
            "usage",
            "--samples: not accepted beside --secret",
        ),
        (("--counts", "counts.csv", "--secret", "sex", "--delta", "2"), "delta-out-of-range", ""),
        (
            ("--counts", "counts.csv", "--secret", "sex"),
            "usage",
            "give one of --delta D (the counts are a sample) and --known",
        ),
        (
            ("--counts", "counts.csv", "--secret", "sex", "--delta", "0.1", "--known"),
            "usage",
            "--delta and --known are both",
        ),
        (("--counts", "counts.csv", "--secret", "sex", "--set", "box"), "usage", "--set beside --secret needs --delta"),
        (("--counts", "counts.csv", "--secret", "sex", "--delta", "0.1", "--set", "event-set"), "unknown-choice", ""),
        (
            ("--data", "records.csv", "--secret", "sex", "--columns", "job", "--groups", "auto", "--known"),
            "usage",
            "beside --secret name groups in --columns: job+town",
        ),
    ],
)
def test_bad_options_are_refused_in_one_line(refused, options, code, shown):
    refused(code, "design", *options, "--epsilon", "0.1", shown=shown)


def test_an_epsilon_too_small_for_floats_is_refused_with_what_helps(command, refused):
    given = ("--data", "records.csv", "--secret", "sex", "--column", "job", "--known", "--epsilon")
    refused("solver-failed", "design", *given, "1e-7", shown="give a larger epsilon, queries that reports tell")
    assert command("design", *given, "0.01")[0] == 0
    assert command("design", *given, "1e-7", "--utility", "chi-square")[0] == 0


def test_epsilon_zero_and_other_promises_are_refused_by_name(command, refused):
    counts = ("--counts", "counts.csv", "--secret", "sex", "--known")
    refused("epsilon-out-of-range", "design", *counts, "--epsilon", "0")
    refused("set-not-accepted", "plan", "--reports", "100", *counts, "--epsilon", "0.1")
    command("design", *counts, "--epsilon", "0.1", "-o", "m.json")
    refused("set-not-accepted", "audit", "m.json")


def test_a_tail_is_about_the_data_and_not_about_a_secret(command):
    assert design(command, "-o", "m.json")[0] == 0
    for options in (("--tail", "0.2"), ("--tail", "0.2", "--json", "--guarantee-only")):
        status, out, err = command("verify", "m.json", *options)
        assert (status, bool(out)) == (2, "--json" in options)  # where an error is an object too
        assert err.startswith("Error: a tail is about a promise for the data themselves")
        assert err.count("\n") == 1


def test_what_is_not_ruled_out_is_a_value_of_the_secret(command):
    status, out, _ = design(command, "--lower", "0.1", "-o", "m.json")
    assert status == 0
    assert any(0 in row for row in json.loads(Path("m.json").read_text())["numerators"])  # reports rule symbols out
    told = " ".join(out.split())
    assert "no report makes any value of sex less likely by a factor below exp(-lower)" in told
    assert "anything less likely" not in told


@pytest.mark.parametrize(
    ("given", "told"), [(("1e-300",), "epsilon is 1e-300"), (("1", "--lower", "1e-99"), "lower is 1e-99")]
)
def test_a_side_that_is_too_small_is_told_as_it_was_given(refused, given, told):
    options = ("--counts", "counts.csv", "--secret", "sex", "--known", "--epsilon", *given)
    refused("epsilon-out-of-range", "design", *options, shown=told)


def test_one_name_for_both_columns_is_refused(command, refused):
    assert design(command, "-o", "m.json")[0] == 0
    table = json.loads(Path("m.json").read_text())
    table["guarantee"]["secret"]["name"] = "job"
    Path("m.json").write_text(json.dumps(table))
    refused("column-twice", "verify", "m.json", shown="'job'")
