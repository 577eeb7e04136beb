"""The sets of priors that ``--set`` names."""

import json

import pytest

import mechdesign as md
from mechdesign.uncertainty.from_counts import kinds_from_counts, set_from_counts

COUNTS = {"a": 400, "b": 300, "c": 200, "d": 100}
GIVEN = ["--counts", "counts.csv", "--epsilon", "2", "--delta", "1e-6", "--utility", "mutual-information"]


@pytest.fixture
def here(here):
    (here / "counts.csv").write_text("".join(["label,count\n", *(f"{k},{v}\n" for k, v in COUNTS.items())]))
    return here


@pytest.mark.sampled
@pytest.mark.parametrize("kind", kinds_from_counts())
def test_a_design_for_every_kind(here, command, kind):
    status, out, _ = command("design", *GIVEN, "--set", kind, "-o", "m.json", "--json")
    known = set_from_counts(kind, COUNTS, "1e-6", epsilon=2)
    assert status == 0
    assert md.Mechanism.load(here / "m.json").guarantee.uncertainty == known
    value = json.loads(out)["value"]
    assert value == md.design(md.DesignProblem(known, 2)).value
    assert command("verify", "m.json")[0] == 0


def test_the_default_is_the_ball(here, command):
    assert (
        command("design", *GIVEN, "-o", "a.json")[0] == command("design", *GIVEN, "--set", "l1-ball", "-o", "b.json")[0]
    )
    assert (here / "a.json").read_bytes() == (here / "b.json").read_bytes()


def test_a_relative_ball_is_made_for_its_epsilon():
    made = [set_from_counts("relative-ball", COUNTS, "1e-6", epsilon=epsilon).alpha for epsilon in ("0.5", "2")]
    assert made[0] > made[1]


@pytest.mark.parametrize("arguments", [["compare"], ["plan", "--reports", "1000"]])
def test_other_commands_take_the_set(command, arguments):
    status, out, _ = command(*arguments, *GIVEN, "--set", "event-set")
    assert status == 0
    assert out != command(*arguments, *GIVEN)[1]


@pytest.mark.parametrize(
    ("options", "code", "shown"),
    [
        (
            ["--set", "octagon"],
            "usage",
            "--set is 'octagon'; accepted: l1-ball, box, lower-limits, l1-box, event-set, rel",
        ),
        (["--set", "box"], "usage", "--set box needs --delta"),
        (["--set", "box", "--delta", "0.1", "--bound", "weissman"], "usage", "--bound belongs to --set l1-ball"),
        (["--set", "box", "--delta", "0.1", "--radius", "1"], "usage", "--radius belongs to --set l1-ball"),
        (["--set", "box", "--delta", "2"], "delta-out-of-range", ""),
    ],
)
def test_what_does_not_go_together(refused, options, code, shown):
    refused(code, "design", "--counts", "counts.csv", "--epsilon", "1", *options, shown=shown)


def test_a_problem_file_says_its_set_itself(here, refused):
    (here / "p.toml").write_text('[problem]\nepsilon = "1"\n[prior]\ncounts = {a = 3, b = 1}\n')
    refused("usage", "design", "p.toml", "--set", "box", shown="--set")


def test_planning_without_data_takes_no_set(refused):
    options = ("--categories", "4", "--epsilon", "1", "--delta", "0.1", "--set", "box")
    refused("usage", "plan", *options, shown="--set")


@pytest.mark.sampled
@pytest.mark.parametrize(("delta", "told"), [("1/3", "0.33333333333333337"), ("1e-400", "5e-324"), ("0.3", "0.3")])
def test_delta_is_told_no_smaller_than_it_is(here, command, delta, told):
    status, out, _ = command("design", *GIVEN[:4], "--delta", delta, "--set", "box", "-o", "m.json")
    assert status == 0
    assert f"{told}: the true prior lies outside with at most this probability" in " ".join(out.split())
    assert json.loads(command("verify", "m.json", "--json")[1])["delta"] == float(told)
