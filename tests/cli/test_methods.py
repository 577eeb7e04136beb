"""``mechdesign methods``, and ``mechdesign design --method``."""

import json

import pytest

DESIGN = ("--counts", "counts.csv", "--epsilon", "1", "--delta", "1e-9", "--utility", "mutual-information")


@pytest.fixture(autouse=True)
def counts(here):
    (here / "counts.csv").write_text("level,count\na,812\nb,150\nc,38\n")


def test_methods_that_cover_a_problem_come_first(command):
    status, out, err = command("methods", *DESIGN)
    assert (status, err) == (0, "")
    names = [line.split()[0] for line in out.splitlines() if not line.startswith(" ")]
    assert names[:5] == ["problem", "extreme-rays", "count-tables", "knapsack", "boxes"]
    assert "taken: solves one linear program over all extreme rays" in out
    assert "mutual-information is not an estimation error" in " ".join(out.split())


def test_json_says_the_same(command):
    status, out, _ = command("methods", *DESIGN, "--json")
    found = json.loads(out)
    assert (status, found["taken"]) == (0, "extreme-rays")
    assert [row["name"] for row in found["methods"] if not row["why_not"]] == [
        "count-tables",
        "extreme-rays",
        "knapsack",
        "boxes",
    ]


def test_a_method_is_named(command):
    answers = [json.loads(command("design", *DESIGN, "--json", *named)[1]) for named in ((), ("--method", "knapsack"))]
    assert answers[1]["method"].startswith("column generation, priced by sets near the fractional knapsack")
    assert answers[0]["value"] == pytest.approx(answers[1]["value"], rel=1e-6)
    assert answers[1]["certified"]


def test_a_method_that_does_not_cover_the_problem_is_refused(command):
    status, out, err = command("design", *DESIGN, "--method", "gain-program", "-o", "m.json")
    assert (status, out) == (2, "")
    assert err == (
        "Error: method is gain-program, which does not cover this problem: mutual-information is not a gain at the "
        "estimate; accepted here: count-tables, extreme-rays, knapsack, boxes [method-does-not-cover]\n"
    )


def test_where_no_method_covers_the_problem_the_status_says_so(command, here):
    counts = "".join(f"c{i} = {9 + i}\n" for i in range(15))
    top = 'epsilon = "1"\nlower = "1"\nutility = "mutual-information"\n'
    (here / "p.toml").write_text(f'{top}[prior]\nradius = "0.1"\n[prior.counts]\n{counts}')
    status, out, _ = command("methods", "p.toml")
    assert status == 2
    assert "taken" not in out
