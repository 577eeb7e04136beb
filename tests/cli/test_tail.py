"""The tail of the leakage on the command line: as it is, and after any post-processing."""

import json

import pytest

import mechdesign as md

MATRIX = [["0.7", "0.2", "0.1"], ["0.2", "0.5", "0.3"], ["0.1", "0.3", "0.6"]]
PRIOR = ["0.5", "0.3", "0.2"]


@pytest.fixture
def saved(here):
    floats = [[float(x) for x in row] for row in MATRIX]
    md.Mechanism.from_matrix(floats, md.Guarantee(2, md.L1Ball(PRIOR))).save(here / "m.json")
    return "m.json"


def test_verify_tells_the_tail_that_is_asked_for(command, saved):
    status, out, err = command("verify", saved, "--tail", "0.5")
    assert (status, err) == (0, "")
    told = " ".join(out.split())
    assert "more than 0.5 nats leak with probability 0.26 at the estimate, and with at most 0.511598 after any" in told
    assert "tail" not in command("verify", saved)[1]


def test_the_json_holds_what_proves_the_tail(command, saved):
    status, out, _ = command("verify", saved, "--tail", "0.5", "--json", "--guarantee-only")
    tail = json.loads(out)["tail"]
    after = tail["after_post_processing"]
    assert (status, tail["level"]) == (0, 0.5)
    assert tail["probability"] == pytest.approx(0.26, abs=1e-12)
    assert after["value"] == pytest.approx(0.5115971642, abs=1e-9)
    numerators = md.Mechanism.load(saved).numerators
    assert md.pml.certify_tail(numerators, PRIOR, 0.5, after["multipliers"]) == after["upper_bound"]
    assert "tail" not in json.loads(command("verify", saved, "--json")[1])


def test_a_level_that_is_not_one_is_refused(refused, saved):
    refused("epsilon-out-of-range", "verify", saved, "--tail", "much", shown="'much'")
