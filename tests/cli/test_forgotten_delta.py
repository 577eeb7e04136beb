"""A forgotten --delta is refused, not taken for a distribution that is known."""

import json

import pytest

ONE = "give one of --delta D (the counts are a sample), --radius R and --known (they are the distribution itself)"


@pytest.fixture
def data(here):
    (here / "counts.csv").write_text("level,count\na,50\nb,30\nc,20\n")
    (here / "records.csv").write_text("level\n" + "a\n" * 5 + "b\n" * 3)
    (here / "m.csv").write_text(",y,z\na,0.6,0.4\nb,0.4,0.6\nc,0.5,0.5\n")
    return here


COMMANDS = {
    "design": ["design", "--counts", "counts.csv", "--epsilon", "1"],
    "design of records": ["design", "--data", "records.csv", "--column", "level", "--epsilon", "1"],
    "compare": ["compare", "--counts", "counts.csv", "--epsilon", "1"],
    "analyze": ["analyze", "m.csv", "--counts", "counts.csv"],
    "plan": ["plan", "--counts", "counts.csv", "--epsilon", "1", "--reports", "1000"],
}


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("name", COMMANDS)
def test_counts_alone_are_refused_in_one_line(command, refused, name):
    refused("usage", *COMMANDS[name], shown=ONE)
    assert command(*COMMANDS[name], "--known")[0] == 0
    refused("usage", *COMMANDS[name], "--known", "--radius", "0", shown="--radius and --known")


def test_known_is_the_radius_0(data, command):
    made = [command(*COMMANDS["design"], *way, "--json", "-o", "m.json") for way in (("--known",), ("--radius", "0"))]
    known, radius = (json.loads(out) for _, out, _ in made)
    assert known["value"] == radius["value"]
    assert json.loads((data / "m.json").read_text())["guarantee"]["radius"] == "0"


@pytest.mark.usefixtures("data")
def test_known_belongs_to_the_l1_ball(refused):
    refused("usage", *COMMANDS["design"], "--known", "--delta", "0.1", "--set", "box", shown="--known")


@pytest.mark.sampled
@pytest.mark.parametrize(
    "arguments",
    [
        ["design", "old.toml"],
        ["compare", "old.toml"],
        ["analyze", "m.csv", "old.toml"],
        ["plan", "old.toml", "--reports", "9"],
    ],
)
def test_a_problem_file_that_says_nothing_is_told_of_once(data, command, arguments):
    text = 'title = "t"\nepsilon = 1\nutility = "estimation-error"\n[prior.counts]\na = 50\nb = 30\nc = 20\n'
    (data / "old.toml").write_text(text)
    status, _, err = command(*arguments)
    assert status == 0
    assert err.count("Note: old.toml: nothing says what the counts are") == 1


@pytest.mark.slow
def test_a_sweep_that_says_nothing_is_told_of(data, command):
    text = 'title = "t"\nepsilon = 1\n%s[[source]]\nname = "s"\ncounts = { a = 5, b = 3 }\n'
    for said, notes in (("", 1), ("known = true\n", 0)):
        (data / "grid.toml").write_text(text % said)
        status, _, err = command("sweep", "grid.toml", "-o", f"out{notes}")
        assert status == 0
        assert err.count("grid.toml: nothing says what the counts are") == notes
