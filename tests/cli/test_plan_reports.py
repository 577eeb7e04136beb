"""``mechdesign plan --reports``: what it prints, and what it refuses."""

import json
import math

import pytest
from command_options import replaced

import mechdesign as md
from mechdesign.comparison import plan_reports
from mechdesign.comparison.rivals import WEAKER_THAN_LDP
from mechdesign.windows import design_windows

COUNTS = {"low": 50, "middle": 30, "high": 20}
OPTIONS = ("--counts", "counts.csv", "--epsilon", "1", "--delta", "0.01")
KEYS = {
    *("mechanism", "estimation_error", "lower_bound", "reports_for_each", "reports_for_root_mean_square"),
    *("largest_standard_error", "root_mean_square_standard_error", "largest_interval", "missing"),
}


@pytest.fixture
def here(here, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    lines = [f"{label},{count}" for label, count in COUNTS.items()]
    (here / "counts.csv").write_text("\n".join(["level,people", *lines]), encoding="utf-8")
    (here / "problem.toml").write_text('title = "Levels"\nepsilon = "1"\n[prior.counts]\nlow = 50\nhigh = 20\n')
    return here


@pytest.fixture
def expected():
    return plan_reports(
        md.DesignProblem(md.L1Ball.from_counts(COUNTS, delta="0.01"), 1, md.EstimationError()), standard_error="0.01"
    )


def test_reports_are_planned_for_counts(command, expected):
    status, out, err = command("plan", *OPTIONS, "--reports", "--standard-error", "0.01", "--json")
    record = json.loads(out)
    assert (status, err) == (0, "")
    assert record["schema"] == "mechdesign/report-plan/1"
    assert (record["title"], record["standard_error"], record["reports"]) == ("counts.csv", 0.01, None)
    assert record["promise"] == WEAKER_THAN_LDP
    assert record["closed_form_bound"] == md.estimation_bound(expected.problem.uncertainty, 1)
    assert record["closed_form_bound"] <= expected.mechanisms[0].lower_bound
    assert [row["mechanism"] for row in record["mechanisms"]] == [row.name for row in expected.mechanisms]
    for told, row in zip(record["mechanisms"], expected.mechanisms, strict=True):
        assert told.keys() == KEYS
        assert told["reports_for_each"] == expected.needed(row.largest)
        assert told["reports_for_root_mean_square"] == expected.needed(row.mean)
        assert told["estimation_error"] == pytest.approx(row.error)
        assert (told["largest_standard_error"], told["largest_interval"], told["missing"]) == (None, None, None)


def test_a_plan_is_told_in_words(command, expected):
    status, out, err = command("plan", *OPTIONS, "--reports", "--standard-error", "0.01")
    assert (status, err) == (0, "")
    for row in expected.mechanisms:
        (line,) = [line for line in out.splitlines() if row.name in line and "│" in line]
        assert f"{expected.needed(row.largest):,}" in line
        assert f"{expected.needed(row.mean):,}" in line
    ratio = expected.mechanisms[1].lower_bound / expected.mechanisms[0].error
    assert f"from {int(100 * ratio) / 100:.2f} times fewer respondents than with the best LDP mechanism" in out
    assert WEAKER_THAN_LDP in out
    # The bound that needs no design, of which a third is for each of the three frequencies.
    hoped = math.ceil(md.estimation_bound(expected.problem.uncertainty, 1) / 3 * 10_000)
    assert hoped < expected.needed(expected.mechanisms[0].mean)
    assert f"at least {hoped:,} reports (root mean square) for any mechanism" in " ".join(out.split())


def test_the_other_way_round(command, expected):
    n = expected.needed(expected.mechanisms[0].largest)
    status, out, _ = command("plan", *OPTIONS, "--reports", n, "--json")
    record = json.loads(out)
    first = record["mechanisms"][0]
    assert status == 0
    assert (record["reports"], record["standard_error"], record["interval"]) == (n, None, None)
    assert first["largest_standard_error"] == pytest.approx(0.01, rel=1e-3)
    assert first["root_mean_square_standard_error"] < first["largest_standard_error"] <= 0.01
    assert first["largest_interval"] == pytest.approx(1.959964 * first["largest_standard_error"], rel=1e-6)
    assert first["reports_for_each"] is None
    status, out, _ = command("plan", *OPTIONS, "--reports", n, "--confidence", "0.5")
    assert status == 0
    least = math.sqrt(md.estimation_bound(expected.problem.uncertainty, 1) / 3 / n)
    assert f"a standard error of at least {least:.4g} (root mean square) for any mechanism" in " ".join(out.split())
    assert "largest 50 % interval" in out
    assert f"given      {n:,} reports" in out


def test_a_mechanism_file_is_planned_for(command, here):
    assert command("design", *OPTIONS, "--utility", "estimation-error", "-o", "m.json")[0] == 0
    status, out, _ = command("plan", "--mechanism", "m.json", "--reports", "--interval", "0.02", "--json")
    record = json.loads(out)
    assert status == 0
    assert (record["title"], record["interval"], record["confidence"]) == ("m.json", 0.02, 0.95)
    same = plan_reports(md.Mechanism.load(here / "m.json"), interval="0.02")
    assert record["mechanisms"][0]["mechanism"] == "this mechanism"
    assert record["mechanisms"][0]["reports_for_each"] == same.needed(same.mechanisms[0].largest)


def test_a_problem_file_says_what_its_design_is_for(command):
    status, out, _ = command("plan", "problem.toml", "--reports", "--standard-error", "0.01")
    assert status == 0
    for part in ("Levels", "design for mutual-information", "design for estimation-error", "at most 0.01"):
        assert part in out


def test_what_no_number_of_reports_determines_is_said(command, here):
    (here / "race.csv").write_text("level,people\na,41762\nb,4685\nc,1519\nd,470\ne,406\n")
    source = ("--counts", "race.csv", "--epsilon", "1", "--delta", "1e-9", "--utility", "mutual-information")
    status, out, _ = command("plan", *source, "--reports", "--standard-error", "0.01")
    (line,) = [line for line in out.splitlines() if "design for mutual-information" in line]
    assert status == 0
    assert line.count("no number is enough") == 2
    status, out, _ = command("plan", *source, "--reports", "100", "--json")
    first = json.loads(out)["mechanisms"][0]
    assert (first["estimation_error"], first["largest_standard_error"]) == (None, None)


def test_numbers_that_nobody_collects_are_not_printed(command):
    status, out, _ = command("plan", *OPTIONS, "--reports", "--standard-error", "1e-12")
    assert status == 0
    assert "more than 10^15" in out


@pytest.fixture(params=["matrix", "views", "windows"])
def mechanism_file(request, here):
    """A file of each kind of mechanism that reports are planned for."""
    if request.param == "matrix":
        md.Mechanism.from_matrix(
            [[0.75, 0.25], [0.25, 0.75]], md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2))
        ).save("m.json")
    elif request.param == "views":
        counts = {"smokes": {"yes": 250, "no": 750}, "drinks": {"yes": 400, "no": 600}}
        md.design_records(counts, 1, known=True).mechanism.save("m.json")
    else:
        design_windows({f"word{k}": 20_000 // k for k in range(1, 20)}, 1, known=True, seeds=5).mechanism.save("m.json")
    return "m.json"


def test_options_are_judged_alike_for_all_kinds_of_mechanisms(command, refused, mechanism_file):
    plan = ("plan", "--mechanism", mechanism_file, "--reports")
    for code, *options in (
        ("not-a-whole-number", "0"),
        ("not-a-whole-number", "1" + "0" * 400),
        ("not-a-whole-number", "9" * 25),
        ("usage", "1_000"),
        ("usage", "５"),
        ("out-of-range", "--standard-error", "1e-308"),
        ("out-of-range", "--interval", "1e-308"),
        ("not-a-number", "--standard-error", "０.5"),
        ("not-a-number", "--interval", "a"),
        *(("out-of-range", "1000", "--confidence", level, "--json") for level in ("0", "1", "1.5", "-1", "95", "nan")),
    ):
        refused(code, *plan, *options)
    for options in (("1000", "--confidence", "0.9999999999999999"), ("--standard-error", "2")):
        assert command(*plan, *options)[0] == 0
    exact, decimal = (command(*plan, "--standard-error", text, "--json") for text in ("1/100", "0.01"))
    assert exact == decimal
    reports = [
        json.loads(command(*plan, *wanted, "--json")[1])["mechanisms"][0]
        for wanted in (("--interval", "0.02", "--confidence", "0.9999999999999999"), ("--standard-error", "0.02"))
    ]
    name = "reports_for_each" if "reports_for_each" in reports[0] else "reports"
    assert reports[0][name] > 8.29**2 * (reports[1][name] - 1)


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (["--reports"], "usage", "0 of --standard-error, --interval are given; --reports needs one of them"),
        (
            ["--reports", "--standard-error", "1", "--interval", "1"],
            "usage",
            "2 of --standard-error, --interval are given",
        ),
        (["--reports", "5", "--interval", "1"], "usage", "--interval and --reports 5 are given; give one"),
        (["--reports", "--standard-error", "0"], "out-of-range", ""),
        (["--reports", "--standard-error", "-1"], "out-of-range", ""),
        (["--reports", "--interval", "1e-13"], "out-of-range", ""),
        (["--reports", "--interval", "1e5000"], "too-many-digits", ""),
        (["--reports", "--interval", "nan"], "not-a-number", ""),
        (["--reports", "0"], "not-a-whole-number", ""),
        (["--reports", "many"], "usage", "--reports is 'many'; accepted: a whole number, or nothing"),
        (["--reports", "--interval", "1", "--confidence", "1"], "out-of-range", ""),
        (["--reports", "--standard-error", "1", "--confidence", "0.9"], "usage", "--confidence belongs to --interval"),
        (["--reports", "5", "--categories", "3"], "usage", "--categories: not accepted beside --reports"),
        (["--reports", "5", "--plot", "p.gif"], "wrong-file-ending", ""),
        (
            ["--reports", "5", "--mechanism", "m.json"],
            "usage",
            "--counts, --epsilon, --delta: a mechanism file says this",
        ),
        (["--standard-error", "1"], "usage", "--standard-error, --counts: only with --reports"),
        (["--reports", "5", "--utility", "none"], "unknown-choice", ""),
        (["--reports", "5", "--epsilon", "0"], "no-reports-enough", ""),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line(refused, arguments, code, shown):
    refused(code, "plan", *replaced(OPTIONS, arguments), shown=shown)


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (["--reports", "5"], "usage", "give one of PROBLEM.toml, --counts FILE"),
        (["--reports", "5", "--mechanism", "no.json"], "cannot-read", ""),
        (
            ["--reports", "5", "--mechanism", "m.json", "--epsilon", "1"],
            "usage",
            "--epsilon: a mechanism file says this itself",
        ),
        (["problem.toml", "--categories", "3"], "usage", "PROBLEM.toml: only with --reports"),
        (["--epsilon", "1"], "usage", "Missing option '--categories'"),
    ],
)
def test_a_plan_without_its_source_is_refused(refused, arguments, code, shown):
    refused(code, "plan", *arguments, shown=shown)
