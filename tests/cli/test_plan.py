import json
import math
import re

import pytest

from mechdesign.cli.commands import commands
from mechdesign.cli.plan import plan_command
from mechdesign.planning import delta_min, design_epsilon, guaranteed_epsilon, samples_for

VALUES = {"--samples": "10000", "--epsilon": "log(5)", "--guaranteed-epsilon": "2", "--delta": "1e-5"}
NAMES = {
    "--samples": "samples",
    "--epsilon": "epsilon",
    "--guaranteed-epsilon": "guaranteed_epsilon",
    "--delta": "delta",
}
KEYS = {"schema", "categories", *NAMES.values(), "computed", "radius", "bound", "vacuous", "plot"}


@pytest.fixture
def command(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setitem(commands.commands, "plan", plan_command)

    def run_command(*arguments, categories=20):
        return command("plan", "--categories", categories, *arguments)

    return run_command


def without(option):
    return [part for name, value in VALUES.items() if name != option for part in (name, value)]


def facts(out):
    return {line[:20].strip(): line[20:] for line in out.splitlines()}


@pytest.mark.parametrize("option", VALUES)
def test_three_values_give_the_fourth_as_json(command, option):
    status, out, err = command(*without(option), "--json")
    record = json.loads(out)
    assert (status, err) == (0, "")
    assert record.keys() == KEYS
    assert record["schema"] == "mechdesign/plan/1"
    assert record["computed"] == NAMES[option]
    assert (record["categories"], record["vacuous"], record["plot"]) == (20, False, None)
    expected = {
        "--samples": samples_for("log(5)", 2, "1e-5", 20),
        "--epsilon": design_epsilon(2, "1e-5", 10000, 20),
        "--guaranteed-epsilon": guaranteed_epsilon("log(5)", "1e-5", 10000, 20),
        "--delta": delta_min("log(5)", 2, 10000, 20),
    }
    assert record[NAMES[option]] == expected[option]
    given = {"samples": 10000, "epsilon": math.log(5), "guaranteed_epsilon": 2.0, "delta": 1e-5}
    for name, value in given.items():
        if name != NAMES[option]:
            assert record[name] == pytest.approx(value, rel=1e-15)
    # What is printed holds when it is given back.
    assert delta_min(record["epsilon"], record["guaranteed_epsilon"], record["samples"], 20) <= 1.0001e-5


def test_the_bound_of_the_paper_asks_for_more_samples(command):
    arguments = [*without("--samples"), "--bound", "weissman"]
    record = json.loads(command(*arguments, "--json")[1])
    assert (record["samples"], record["bound"]) == (3035, "weissman")
    assert facts(command(*arguments)[1])["bound"].startswith("weissman (ED eq. 37)")
    sharper = json.loads(command(*without("--samples"), "--json")[1])
    assert (sharper["bound"], sharper["samples"] < 3035) == ("clopper-pearson", True)
    assert facts(command(*without("--samples"))[1])["bound"].startswith("clopper-pearson: limits")


@pytest.mark.parametrize("option", VALUES)
def test_what_a_person_copies_from_the_screen_holds(command, option):
    status, out, err = command(*without(option))
    shown = facts(out)
    assert (status, err) == (0, "")
    assert [name for name, value in shown.items() if "(computed" in value] == [NAMES[option].replace("_", " ")]
    copied = re.match(r"[\d.,e-]+", shown[NAMES[option].replace("_", " ")]).group().replace(",", "")
    values = {**VALUES, option: copied}
    bound = delta_min(values["--epsilon"], values["--guaranteed-epsilon"], int(values["--samples"]), 20)
    assert bound <= float(values["--delta"])
    assert shown["epsilon"].startswith(values["--epsilon"])
    assert shown["verdict"].startswith("holds whatever the true distribution is")
    assert "`mechdesign design`" in shown["better"]
    assert "never less utility" in shown["better"]


def test_a_vacuous_delta(command):
    arguments = ["--samples", 100, "--epsilon", 1.6, "--guaranteed-epsilon", 2]
    status, out, _ = command(*arguments)
    shown = facts(out)
    assert status == 0
    assert shown["delta"] == "1: the bound is vacuous"
    assert shown["verdict"].startswith("VACUOUS: the bound on delta is 1")
    assert "radius" not in shown
    record = json.loads(command(*arguments, "--json")[1])
    assert (record["delta"], record["vacuous"], record["radius"]) == (1, True, None)


def test_an_infinite_epsilon(command):
    arguments = ["--samples", 5, "--epsilon", 1.6, "--delta", 1e-5, "--bound", "weissman"]
    status, out, _ = command(*arguments)
    shown = facts(out)
    assert status == 0
    assert shown["guaranteed epsilon"].startswith("infinite")
    assert shown["verdict"].startswith("VACUOUS: no finite epsilon is guaranteed")
    record = json.loads(command(*arguments, "--json")[1])
    assert (record["guaranteed_epsilon"], record["vacuous"], record["radius"]) == (None, True, 2)


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        ([], "usage", "0 of --samples, --epsilon, --guaranteed-epsilon, --delta are given; give three"),
        (["--epsilon", 1, "--delta", 0.1], "usage", "2 of --samples"),
        ([part for pair in VALUES.items() for part in pair], "usage", "4 of --samples"),
        (["--epsilon", 1, "--delta", 1, "--samples", 5], "delta-out-of-range", ""),
        (["--epsilon", "one", "--delta", 0.1, "--samples", 5], "epsilon-out-of-range", ""),
        (["--epsilon", 1, "--delta", 0.1, "--samples", 0], "not-a-whole-number", ""),
        (["--epsilon", 1, "--delta", 0.1, "--samples", "1.5"], "usage", "'1.5' is not a valid integer"),
        *(
            (
                ["--epsilon", 1, "--delta", 0.1, "--samples", text],
                "usage",
                "is not a valid integer in the digits 0 to 9",
            )
            for text in ("1_000", " 5", "5\n", "５", "١", "")
        ),
        (["--epsilon", 2, "--guaranteed-epsilon", 1, "--delta", 0.1], "not-enough-samples", ""),
        (["--guaranteed-epsilon", 0.2, "--samples", 100, "--delta", 1e-5], "not-enough-samples", "346"),
        (
            ["--guaranteed-epsilon", 0.2, "--samples", 100, "--delta", 1e-5, "--bound", "weissman"],
            "not-enough-samples",
            "387",
        ),
        ([*without("--delta"), "--bound", "x"], "unknown-choice", ""),
        ([*without("--delta"), "--plot", "p.gif"], "wrong-file-ending", ""),
        ([*without("--delta"), "--plot", "no/p.png"], "cannot-write", ""),
    ],
)
def test_bad_input_ends_with_status_2_and_one_line(refused, arguments, code, shown):
    refused(code, *arguments, shown=shown)


def test_one_category_is_refused(command):
    status, _, err = command(*without("--delta"), categories=1)
    told = "the number of categories is 1; accepted: a whole number, at least 2"
    assert (status, err) == (2, f"Error: {told} [not-a-whole-number]\n")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        pytest.param("p.png", b"\x89PNG", marks=pytest.mark.slow),
        ("p.svg", b"<?xml"),
        pytest.param("p.PDF", b"%PDF", marks=pytest.mark.slow),
    ],
)
def test_a_picture_is_written(command, tmp_path, name, start):
    status, out, err = command(*without("--samples"), "--plot", name)
    assert (status, err) == (0, "")
    assert facts(out)["written"] == name
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_help_says_what_a_plan_is_not(command):
    status, out, _ = command("--help")
    assert status == 0
    assert "Another design makes better use of the samples" in out
