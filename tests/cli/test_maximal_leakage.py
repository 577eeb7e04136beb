"""The option --maximal-leakage: what commands print of a promise on average, and how they refuse it."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def here(here):
    Path("counts.csv").write_text("label,count\na,40\nb,30\nc,20\nd,10\n")
    return here


def design(command, *options, utility="mutual-information"):
    return command("design", "--counts", "counts.csv", "--epsilon", "1", "--known", "--utility", utility, *options)


def test_a_design_says_its_promise_in_words_and_verifies(command):
    status, out, err = design(command, "--maximal-leakage", "0.5", "-o", "m.json", "--compare")
    assert (status, err) == (0, "")
    told = " ".join(out.split())
    assert "PML with epsilon = 1 for the prior itself" in told
    assert "and maximal leakage 0.5, on average, whatever the distribution is" in told
    assert "on average at most 0.49999999" in told
    assert "optimal (certified)" in told
    status, out, err = command("verify", "m.json", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["maximal_leakage"] == 0.5
    status, out, err = command("analyze", "m.json", "--counts", "counts.csv", "--known", "--epsilon", "1",
                               "--maximal-leakage", "0.4", "--json")  # fmt: skip
    assert (status, err) == (0, "")
    assert json.loads(out)["promise"]["maximal_leakage"] == 0.4
    assert json.loads(out)["promise"]["keeps"] is False


def test_what_no_method_designs_is_refused_by_name(command):
    for options, utility, message in (
        (["--maximal-leakage", "0.5"], "estimation-error", "no method designs for estimation-error"),
        (["--maximal-leakage", "0.5", "--cap", "3"], "mutual-information", "maximal_leakage is 0.5 and cap is 3"),
        (["--maximal-leakage", "few"], "mutual-information", "maximal_leakage is 'few'"),
        (["--maximal-leakage", "0.5", "--windows"], "mutual-information", "not accepted beside --windows"),
    ):
        status, out, err = design(command, *options, utility=utility)
        assert status in {2, 3}
        assert out == ""
        assert len(err.splitlines()) == 1
        assert message in err


def test_it_needs_epsilon(command):
    assert design(command, "-o", "m.json")[0] == 0
    status, _, err = command("analyze", "m.json", "--counts", "counts.csv", "--known", "--maximal-leakage", "1")
    assert status == 2
    assert "--lower, --cap and --maximal-leakage need --epsilon" in err
