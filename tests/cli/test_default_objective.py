"""What counts and records are designed for where nobody names an objective, and the recipe of ``--help``."""

import json
import shlex

import pytest

COUNTS = {"never": 812, "former": 150, "current": 38}
PROMISE = ("--epsilon", "1", "--delta", "1e-9")


@pytest.fixture
def here(here, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    lines = [f"{label},{count}\n" for label, count in COUNTS.items()]
    (here / "counts.csv").write_text("".join(["label,count\n", *lines]))
    records = [label for label, count in COUNTS.items() for _ in range(5 * count)]
    (here / "records.csv").write_text("\n".join(["answer", *records]))
    return here


def recipe(text):
    """Return the commands of the recipe in a help text, as lists of arguments."""
    start = text.index("estimates from them:")
    return [shlex.split(line)[1:] for line in text[start : text.index("\n\n", start)].splitlines()[1:]]


def test_the_recipe_of_the_help_ends_in_estimates(command):
    commands = recipe(command("--help")[1])
    assert [arguments[0] for arguments in commands] == ["design", "verify", "privatize", "estimate"]
    for arguments in commands[:-1]:
        status, _, err = command(*arguments)
        assert (status, err) == (0, "")
    status, out, err = command(*commands[-1], "--json")
    found = json.loads(out)
    assert (status, err) == (0, "")
    assert found["labels"] == list(COUNTS)
    for count, frequency, error in zip(COUNTS.values(), found["frequencies"], found["standard_errors"], strict=True):
        assert error < 0.05
        assert abs(frequency - count / 1000) < 7 * error  # passed once in 1e11
    assert "not identifiable" not in command(*commands[-1])[1]


@pytest.mark.combined
@pytest.mark.parametrize(
    "source", [("--counts", "counts.csv"), ("--data", "records.csv", "--column", "answer")], ids=["counts", "data"]
)
@pytest.mark.parametrize("name", ["design", "compare"])
def test_counts_and_records_are_designed_for_estimates_and_the_output_says_so(command, name, source):
    status, out, _ = command(name, *source, *PROMISE)
    said = " ".join(out.split())
    assert status == 0
    assert "objective" in said
    assert "estimation-error, the default (--utility names another)" in said
    assert "NO ESTIMATES" not in out
    record = json.loads(command(name, *source, *PROMISE, "--json")[1])
    assert record.get("design", record)["utility"] == "estimation-error"


@pytest.mark.parametrize("name", ["design", "compare"])
def test_who_asks_for_information_without_estimates_is_told_in_the_first_line(command, name):
    status, out, _ = command(name, "--counts", "counts.csv", *PROMISE, "--utility", "mutual-information")
    first = out.splitlines()[0]
    assert status == 0
    assert first.startswith("NO ESTIMATES")
    assert "they tell only 2 groups of categories apart" in first
    assert "--utility estimation-error designs for estimates" in first
    assert "the default" not in out


def test_a_problem_file_names_its_own_objective(command, here):
    (here / "p.toml").write_text('title = "t"\nepsilon = "1"\n[prior]\nradius = "0.1"\n[prior.counts]\na = 3\nb = 1\n')
    status, out, _ = command("design", "p.toml")
    assert status == 0
    assert "mutual-information" in out
    assert "the default" not in out


@pytest.mark.parametrize("beside", ["--lower", "--maximal-leakage"])
def test_a_promise_for_which_no_method_designs_estimates_is_designed_for_information(command, beside):
    status, out, _ = command("design", "--counts", "counts.csv", "--epsilon", "1", "--radius", "0.1", beside, "1")
    assert status == 0
    assert "mutual-information, the default (--utility names another)" in " ".join(out.split())


def test_an_uncertain_secret_is_designed_for_estimates(command, here):
    pairs = ["f,u", "m,v"] * 60 + ["f,v", "m,u"] * 40
    (here / "pairs.csv").write_text("\n".join(["sex,work", *pairs]))
    source = ("--data", "pairs.csv", "--secret", "sex", "--column", "work", "--epsilon", "0.5")
    known, uncertain = (command("design", *source, *more, "--json") for more in (("--known",), ("--delta", "0.1")))
    assert (known[0], uncertain[0]) == (0, 0)
    assert json.loads(known[1])["utility"] == "estimation-error"
    assert json.loads(uncertain[1])["utility"] == "estimation-error"


def test_a_design_by_which_every_report_is_the_truth_says_so(command, here):
    (here / "even.csv").write_text("label,count\na,3000\nb,3300\nc,2700\nd,2200\n")
    for arguments in (
        ("design", "--counts", "even.csv", "--epsilon", "2", "--delta", "1e-9", "-o", "even.json"),
        ("verify", "even.json"),
    ):
        status, out, _ = command(*arguments)
        assert status == 0
        assert "EVERY REPORT TELLS THE TRUE VALUE for certain" in out
    (here / "letters.csv").write_text("letter\na\nb\n")
    out = command("privatize", "letters.csv", "--column", "letter", "--mechanism", "even.json", "-o", "reports.csv")[1]
    assert "EVERY REPORT TELLS THE TRUE VALUE for certain" in out
    command("report", "even.json", "-o", "page.html", "--no-compare")
    assert "EVERY REPORT TELLS THE TRUE VALUE for certain" in (here / "page.html").read_text()
    # Under local differential privacy no report tells anything for certain.
    out = command("design", "--counts", "even.csv", "--epsilon", "2", "--radius", "2")[1]
    assert "for certain" not in out
