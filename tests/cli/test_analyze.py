"""``mechdesign analyze``, and mechanisms of users in ``mechdesign compare``."""

import io
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mechdesign as md
from mechdesign.uncertainty.from_counts import set_from_counts

COUNTS = {"low": 50, "middle": 30, "high": 20}
MATRIX = ",yes,perhaps,no\nhigh,0.1,0.2,0.7\nlow,0.6,0.2,0.2\nmiddle,0.3,0.3,0.4\n"
ROWS = [["0.6", "0.2", "0.2"], ["0.3", "0.3", "0.4"], ["0.1", "0.2", "0.7"]]
PROBLEM = (
    'title = "Three levels"\nepsilon = "1"\n[prior]\nradius = "0.1"\n[prior.counts]\nlow = 50\nmiddle = 30\nhigh = 20\n'
)
INFORMATION = ["--utility", "mutual-information"]
BALL = ["--counts", "counts.csv", "--radius", "0.1", *INFORMATION]


@pytest.fixture
def here(here):
    (here / "m.csv").write_text(MATRIX)
    (here / "problem.toml").write_text(PROBLEM)
    (here / "counts.csv").write_text("level,people\n" + "".join(f"{a},{n}\n" for a, n in COUNTS.items()))
    records = [label for label, count in COUNTS.items() for _ in range(count)]
    (here / "data.csv").write_text("level\n" + "\n".join(records))
    return here


@pytest.fixture
def expected():
    import pandas as pd

    table = pd.DataFrame(ROWS, index=list(COUNTS), columns=["yes", "perhaps", "no"])
    return md.analyze(table, md.L1Ball.from_counts(COUNTS, radius="0.1"))


@pytest.mark.parametrize(
    "source",
    [BALL, ["problem.toml"], ["--data", "data.csv", "--column", "level", "--radius", "0.1", *INFORMATION]],
    ids=" ".join,
)
def test_every_source_gives_the_same_analysis(command, expected, source):
    status, out, err = command("analyze", "m.csv", *source, "--json")
    assert (status, err) == (0, "")
    record = json.loads(out)
    assert record["schema"] == "mechdesign/analysis/1"
    assert record["matrix"]["inputs"] == ["low", "middle", "high"]
    assert record["matrix"]["numbers"] == "decimals as written"
    for key in ("leakage", "lower_leakage", "ldp_level", "value", "share", "least_share", "worst_output"):
        assert record[key] == getattr(expected, key), key
    assert record["utilities"] == dict(expected.utilities)
    assert record["optimum"]["value"] == expected.best.value
    assert record["optimum"]["upper_bound"] == expected.best.bound
    assert record["optimum"]["certified"] is True
    assert record["optimum_missing"] is None
    assert record["worst_prior"] == [str(q) for q in expected.worst_prior]
    assert [row["leakage"] for row in record["outputs"]] == expected.leakages.tolist()
    assert [row["variance"] for row in record["symbols"]] == expected.variances.tolist()
    assert record["groups"] == [["low"], ["middle"], ["high"]]
    promised = {"epsilon": 1.0, "lower": None, "keeps": True, "missed": 0.0} if source == ["problem.toml"] else None
    assert record["promise"] == promised


def test_a_person_reads_leakage_worth_and_what_is_possible(command, here, expected, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, err = command("analyze", "m.csv", *BALL, "--epsilon", "0.5")
    assert (status, err) == (0, "")
    flat = " ".join(out.split())
    for said in (
        "3 x 3, decimals as written; rows sum to 1",
        f"{expected.summary}",
        "promise epsilon = 0.5: NOT kept",
        "(output no, at the prior low 0.55, middle 0.3, high 0.15)",
        "mutual-information",
        "standard error at 10,000 reports",
    ):
        assert said in flat, said
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_mechanism_file_brings_its_own_priors(command, here, two_levels, ending):
    two_levels.save(here / f"m.{ending}")
    status, out, _ = command("analyze", f"m.{ending}", "--json")
    record = json.loads(out)
    assert status == 0
    assert record["leakage"] == two_levels.leakage
    assert record["share"] >= 1 - 1e-6


def test_a_matrix_may_come_from_standard_input(command, here, expected, monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(MATRIX.encode())))
    status, out, _ = command("analyze", "-", *BALL, "--json", "--no-optimum")
    record = json.loads(out)
    assert status == 0
    assert record["leakage"] == expected.leakage
    assert record["optimum"] is None
    assert record["optimum_missing"] == "the optimum was not asked for"


@pytest.mark.parametrize("kind", ["box", "lower-limits", "l1-box", "event-set", "relative-ball"])
def test_every_set_is_taken(command, here, kind):
    options = ["--set", kind, "--delta", "1e-3", "--epsilon", "1"]
    status, out, err = command("analyze", "m.csv", "--counts", "counts.csv", *options, "--json", "--no-optimum")
    assert (status, err) == (0, "")
    known = set_from_counts(kind, COUNTS, "1e-3")
    assert json.loads(out)["leakage"] == md.analyze(ROWS, known, optimum=False).leakage


def test_secrets_are_taken(command, here):
    (here / "pairs.csv").write_text("sex,level,n\nf,low,30\nf,high,10\nm,low,10\nm,high,30\n")
    (here / "two.csv").write_text(",y,z\nlow,0.9,0.1\nhigh,0.1,0.9\n")
    status, out, _ = command("analyze", "two.csv", "--counts", "pairs.csv", "--secret", "sex", "--known", "--json")
    record = json.loads(out)
    assert status == 0
    assert_allclose(record["leakage"], math.log(2 * (0.75 * 0.9 + 0.25 * 0.1)), rtol=1e-12)
    assert record["worst_prior"] is None


def test_zeros_and_symbols_alike_are_null_in_json(command, here):
    (here / "m.csv").write_text("0.5,0.5,0\n0.5,0.5,0\n0,0,1\n")
    status, out, _ = command("analyze", "m.csv", "--counts", "counts.csv", "--known", "--json")
    record = json.loads(out)
    assert status == 0
    assert record["ldp_level"] is record["lower_leakage"] is record["utilities"]["estimation-error"] is None
    assert record["groups"] == [["low", "middle"], ["high"]]
    assert [row["variance"] is None for row in record["symbols"]] == [True, True, False]
    status, out, _ = command("analyze", "m.csv", "--counts", "counts.csv", "--known")
    assert "not determined" in out
    assert "is determined: low, middle" in " ".join(out.split())


def test_what_is_not_certified_is_shown_with_status_3(command, here, monkeypatch):
    monkeypatch.setattr("mechdesign.optimize.result.Design.certified", property(lambda self: False))
    status, out, err = command("analyze", "m.csv", *BALL)
    assert status == 3
    assert "NOT certified, at most" in out
    assert "Error: the optimum is not certified: the gap" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (["m.csv"], "usage", "give the priors: PROBLEM.toml"),
        (["m.csv", "problem.toml", *BALL], "usage", "give one of PROBLEM.toml, --counts FILE"),
        (["m.csv", "--radius", "0.1"], "usage", "--radius: needs --counts FILE"),
        (["m.csv", *BALL, "--lower", "1"], "usage", "--lower, --cap and --maximal-leakage need --epsilon"),
        (["m.csv", "--counts", "counts.csv", "--set", "relative-ball", "--delta", "0.1"], "usage", "needs --epsilon"),
        (["missing.csv", *BALL], "cannot-read", "missing.csv"),
        (["other.csv", *BALL], "labels-differ", "other.csv"),
        (["across.csv", *BALL], "labels-differ", "transpose"),
        (["short.csv", *BALL], "wrong-size", "short.csv"),
        (["nan.csv", *BALL], "not-a-number", "nan.csv"),
        (["m.csv", *BALL[:4], "--utility", "accuracy"], "unknown-choice", ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_with_status_2(refused, here, arguments, code, shown):
    (here / "other.csv").write_text(",y\np,1\nq,1\nr,1\n")
    (here / "across.csv").write_text(",low,middle,high\np,0.1,0.2,0.7\nq,0.1,0.2,0.7\n")
    (here / "short.csv").write_text("0.5,0.5\n0.5,0.5\n")
    (here / "nan.csv").write_text("0.5,nan\n0.5,0.5\n0.5,0.5\n")
    refused(code, "analyze", *arguments, shown=shown)


# compare


def test_mechanisms_of_users_stand_in_the_comparison(command, here, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    np.save(here / "open.npy", np.eye(3))
    given = ["--with", "m.csv", "--with", "open.npy", "--baseline", "hadamard-response"]
    status, out, err = command("compare", "problem.toml", *given)
    assert (status, err) == (0, "")
    for said in ("m.csv", "open.npy", "Hadamard response", "1.89712 *", "* does not keep epsilon = 1"):
        assert said in out
    assert max(map(len, out.splitlines()[:-1])) <= 80
    status, out, _ = command("compare", "problem.toml", *given, "--json")
    others = json.loads(out)["others"]
    assert [other["name"] for other in others] == ["m.csv", "open.npy", "Hadamard response"]
    assert [other["keeps"] for other in others] == [True, False, True]
    assert [other["missed"] for other in others] == [0.0, pytest.approx(math.log(1 / 0.15) - 1), 0.0]
    assert others[1]["lower_leakage"] is None
    status, out, _ = command("compare", "problem.toml", "--baseline", "all", "--json")
    # Randomized response is a row of each comparison.
    assert len(json.loads(out)["others"]) == len(md.baselines.every(3, 1)) - 1
    status, out, _ = command("compare", "problem.toml", "--json")
    assert "others" not in json.loads(out)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--with", "missing.csv"], "cannot-read"),
        (["--with", "short.csv"], "wrong-size"),
        (["--baseline", "rappor"], "unknown-choice"),
        (["--baseline", "block-design"], "no-method"),
    ],
)
def test_what_cannot_be_compared_is_one_line(refused, here, arguments, code):
    (here / "short.csv").write_text("0.5,0.5\n0.5,0.5\n")
    refused(code, "compare", "problem.toml", *arguments)


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ("0.6,0.2,0.2", "kept"),
        ("0.6000000000001,0.2,0.1999999999999", "missed by at most 5.1e-13 nats, within the errors of floats"),
        ("0.61,0.2,0.19", "NOT kept"),
    ],
)
def test_a_promise_that_is_missed_by_a_little_is_not_said_to_be_kept(here, command, entries, told):
    (here / "near.csv").write_text(f",yes,perhaps,no\nlow,{entries}\nmiddle,0.2,0.6,0.2\nhigh,0.2,0.2,0.6\n")
    explain = ["--counts", "counts.csv", "--radius", "2", "--epsilon", "log(3)", "--no-optimum"]
    status, out, _ = command("analyze", "near.csv", *explain)
    assert status == 0
    assert f"promise epsilon = log(3): {told} Utilities" in " ".join(out.split())


def test_a_comparison_says_by_how_much_a_promise_is_missed_that_is_not_kept_exactly(here, command):
    """A CSV file of decimals is near; a mechanism file of whole numbers keeps another promise, and misses this one."""
    (here / "near.csv").write_text("0.6000000000001,0.2,0.1999999999999\n0.2,0.6,0.2\n0.2,0.2,0.6\n")
    (here / "exact.csv").write_text("0.6,0.2,0.2\n0.2,0.6,0.2\n0.2,0.2,0.6\n")
    bits = 52
    low, high = 2**bits // 5, 3 * 2**bits // 5 + 4
    rows = [[high if i == j else low for j in range(3)] for i in range(3)]
    rows = [
        [2**bits - sum(row) + entry if i == j else entry for j, entry in enumerate(row)] for i, row in enumerate(rows)
    ]
    everything = md.L1Ball([0.5, 0.3, 0.2], 2, ["low", "middle", "high"])
    md.Mechanism(rows, bits, md.Guarantee("1.1", everything)).save(here / "ours.json")
    counts = ["--counts", "counts.csv", "--radius", "2", "--epsilon", "log(3)"]
    given = ["--with", "near.csv", "--with", "exact.csv", "--with", "ours.json"]
    status, out, _ = command("compare", *counts, *given)
    assert status == 0
    marks = {name: line.split()[-2] for line in out.splitlines() for name in given[1::2] if name in line}
    assert (marks["near.csv"], marks["ours.json"]) == ("~", "*")
    assert marks["exact.csv"] not in {"~", "*"}
    assert "~ epsilon = log(3) is missed by at most 5.1e-13 nats, within the errors of floats" in " ".join(out.split())
    status, out, _ = command("compare", *counts, *given, "--json")
    near, exact, ours = json.loads(out)["others"]
    assert (near["keeps"], exact["keeps"], ours["keeps"]) == (True, True, False)
    assert 5e-13 < near["missed"] < 5.01e-13
    assert exact["missed"] == 0
    assert 0 < ours["missed"] < 1e-14


def test_a_json_list_is_refused_by_what_it_is(here, refused):
    (here / "list.json").write_text("[[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]")
    refused("wrong-file-format", "analyze", "list.json", *BALL, shown="list.json: it is a JSON list")
