import json
from functools import partial

import numpy as np
import pytest

import mechdesign as md


@pytest.fixture(scope="module")
def warner():
    ball = md.L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"])
    return md.Mechanism(np.array([[3, 1], [1, 3]]), 2, md.Guarantee(md.Epsilon.of("log(3)"), ball), ["y1", "y2"])


@pytest.fixture
def command(command, warner, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    warner.save("warner.json")
    return partial(command, "audit")


def broken(monkeypatch):
    """Let the mechanism report the truth always."""
    monkeypatch.setattr(md.Mechanism, "privatize", lambda self, codes, rng=None, **options: codes)


def test_a_true_sampler(command):
    status, out, err = command("warner.json", "--samples", 100_001)
    assert (status, err) == (0, "")
    facts = dict(line.split("  ", 1) for line in out.splitlines())
    assert facts["file"].strip() == "warner.json"
    assert facts["reports"].strip() == "100,001, 50,000 or 50,001 for each category"
    shown = float(facts["leakage shown"].removeprefix("at least ").split(" nats")[0])
    assert 0.9 < shown < np.log(3)  # 16 standard deviations below what is to be expected
    assert facts["leakage shown"].endswith("(failure probability 1e-09)")
    assert facts["probabilities"].strip() == "4 of 4 within their limits"
    assert "does not prove privacy" in facts["verdict"]


def test_json(command, warner):
    status, out, err = command("warner.json", "--samples", 50_000, "--failure-probability", "1e-12", "--json")
    assert (status, err) == (0, "")
    record = json.loads(out)
    assert record["schema"] == "mechdesign/audit/1"
    assert record["consistent"] is True
    assert 0.85 < record["lower_bound"] < record["leakage"] == warner.leakage
    assert (record["output"], record["input"]) in {("y1", "no"), ("y2", "yes")}
    assert record["samples"] == [25_000, 25_000]
    assert record["failure"] == 1e-12
    assert record["outside"] == []
    assert record["epsilon"] == pytest.approx(np.log(3))


def test_a_broken_sampler_ends_with_status_1(command, monkeypatch):
    broken(monkeypatch)
    status, out, err = command("warner.json", "--samples", 1000)
    assert status == 1
    assert (
        err == "Error: the reports do not fit the mechanism; its sampler or its randomness is broken [sampler-wrong]\n"
    )
    assert "0 of 4 within their limits" in out
    assert "'y2' for 'no': 0 reports, so 0 to 0.0" in out
    assert "proved 0.25" in out
    assert "the reports do NOT fit the mechanism" in out
    status, out, _ = command("warner.json", "--samples", 1000, "--json")
    record = json.loads(out)
    assert (status, record["consistent"]) == (1, False)
    assert record["lower_bound"] > record["leakage"]
    assert [(cell["input"], cell["output"], cell["count"]) for cell in record["outside"]] == [
        *(("no", "y1", 500), ("no", "y2", 0)),
        *(("yes", "y1", 0), ("yes", "y2", 500)),
    ]
    assert all(not cell["lower"] <= cell["probability"] <= cell["upper"] for cell in record["outside"])


def test_many_cells_outside_are_not_all_printed(command, monkeypatch):
    broken(monkeypatch)
    ball = md.L1Ball(["1/3", "1/3", "1/3"], radius=2)
    response = np.array([[2, 1, 1], [1, 2, 1], [1, 1, 2]])
    md.Mechanism(response, 2, md.Guarantee(md.Epsilon.of("log(2)"), ball)).save("three.json")
    status, out, _ = command("three.json", "--samples", 3000)
    assert status == 1
    assert sum(line.startswith("outside") for line in out.splitlines()) == 5
    assert "and 4 more (see --json)" in out


def test_nothing_shown(command):
    constant = md.Guarantee(md.Epsilon.of("0"), md.L1Ball([0.5, 0.5], radius=2))
    md.Mechanism(np.array([[2], [2]]), 1, constant).save("constant.json")
    status, out, _ = command("constant.json", "--samples", 2)
    assert status == 0
    assert "at least 0 nats (failure" in out
    record = json.loads(command("constant.json", "--samples", 2, "--json")[1])
    assert (record["lower_bound"], record["output"], record["input"]) == (0, None, None)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--samples", 1], "not-a-whole-number"),
        (["--samples", 0], "not-a-whole-number"),
        (["--samples", "many"], "usage"),
        (["--failure-probability", "0"], "out-of-range"),
        (["--failure-probability", "1"], "out-of-range"),
        (["--failure-probability", "-0.1"], "out-of-range"),
        (["--failure-probability", "rare"], "not-a-number"),
    ],
)
def test_bad_options_end_with_status_2_and_one_line(refused, arguments, code):
    refused(code, "warner.json", *arguments)


def test_a_file_that_is_none(command):
    assert command("nothing.json")[0] == 2


def test_help_says_what_the_number_means(command):
    status, out, _ = command("--help")
    text = " ".join(out.split())
    assert status == 0
    assert "A lower bound never proves privacy" in text
    assert "`mechdesign verify` proves the guarantee" in text
