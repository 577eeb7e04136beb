"""A set and an f-information that stand outside the package: nothing in it is changed for them."""

import json
import os
import subprocess
import sys
import tokenize
from pathlib import Path
from shutil import copy

import numpy as np
import pytest
from refusals import raises, without_steps
from tolerances import CERTIFIED

import mechdesign as md
from mechdesign.cli.entry_point import run
from mechdesign.uncertainty.registry import codecs
from mechdesign.utility import is_named, utility_by_name, utility_names
from tests.outside.box_set import Box
from tests.outside.jensen_shannon import JensenShannon

HERE = Path(__file__).parent
PROBLEM = """\
title = "Three symbols between bounds"
epsilon = "log(2)"
utility = "{utility}"

[prior]
labels = ["a", "b", "c"]

[prior.bounds]
lower = [0.1, 0.2, 0.05]
upper = [0.6, 0.5, 0.4]
center = ["2/5", 0.35, 0.25]
"""
UTILITIES = ["hamming-accuracy", "jensen-shannon"]


@pytest.fixture(params=UTILITIES)
def problem(request, tmp_path, registered):
    path = tmp_path / "problem.toml"
    path.write_text(PROBLEM.format(utility=request.param))
    return path


@pytest.mark.parametrize("name", ["box_set.py", "jensen_shannon.py"])
def test_it_is_short(name):
    """Lines that hold anything but comments."""
    with (HERE / name).open("rb") as file:
        skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER}
        tokens = [token for token in tokenize.tokenize(file.readline) if token.type not in skipped]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    assert 15 < len(lines) < 60


def test_the_package_does_not_know_them():
    assert "jensen-shannon" not in utility_names()
    assert "bounds" not in {entry.of.kind for entry in codecs()}
    assert not is_named(JensenShannon())
    with raises("unknown-choice", "'jensen-shannon'"):
        utility_by_name("jensen-shannon")


def test_a_set_that_is_not_registered_has_no_file(box, tmp_path):
    mechanism = md.design(md.DesignProblem(box, "log(2)", md.HammingAccuracy())).mechanism
    with raises("no-file-format", "a Box"):
        mechanism.save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_it_is_designed_saved_loaded_and_verified(problem, box, tmp_path):
    file = md.read_problem(problem)
    assert file.problem.uncertainty == box
    solved = md.design(file.problem, tol=1e-9)
    assert solved.certified
    solved.mechanism.save(tmp_path / "m.json")
    loaded = md.Mechanism.load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.numerators, solved.mechanism.numerators)
    assert loaded.optimality == solved.mechanism.optimality
    assert loaded.guarantee.uncertainty == box
    assert loaded.proof.holds
    assert md.verify(loaded).optimal
    md.write_problem(tmp_path / "again.toml", file)
    assert md.read_problem(tmp_path / "again.toml") == file


@pytest.mark.parametrize("utility", UTILITIES)
def test_a_box_without_room_is_the_known_prior(utility, registered):
    known = ["0.4", "0.35", "0.25"]
    chosen = utility_by_name(utility)
    box, point = Box(known, known, known), md.L1Ball(known)
    values = [md.design(md.DesignProblem(known_set, "log(2)", chosen), tol=1e-9).value for known_set in (box, point)]
    assert values[0] == pytest.approx(values[1], abs=CERTIFIED)


def test_a_box_of_two_symbols_is_a_ball(registered):
    box = Box(["0.3", "0.5"], ["0.5", "0.7"], ["0.4", "0.6"])
    ball = md.L1Ball(["0.4", "0.6"], "0.2")
    for utility in (md.MutualInformation(), JensenShannon(), md.HammingAccuracy()):
        problems = [md.DesignProblem(known, "log(2)", utility) for known in (box, ball)]
        np.testing.assert_allclose(*(md.design(problem, tol=1e-9).value for problem in problems), atol=CERTIFIED)


def test_the_command_line_designs_verifies_and_describes_it(problem, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    mechanism = str(tmp_path / "m.json")
    name = md.read_problem(problem).problem.utility.name
    assert run(["design", str(problem), "-o", mechanism, "--compare"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "PML with epsilon = log(2) for every prior between two bounds for each of 3 categories" in told
    assert name in told
    assert run(["verify", mechanism]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "every prior between two bounds for each of 3 categories" in told
    assert "all claims hold" in told
    assert run(["verify", "--json", mechanism]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["holds"], record["optimality"]["utility"], record["optimality"]["optimal"]) == (True, name, True)
    assert run(["design", str(problem), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["certified"] is True


def test_a_false_claim_about_it_is_found(problem, tmp_path, capsys):
    mechanism = tmp_path / "m.json"
    assert run(["design", str(problem), "-o", str(mechanism)]) == 0
    table = json.loads(mechanism.read_text())
    table["guarantee"]["bounds"]["lower"] = ["0", "0", "0"]
    mechanism.write_text(json.dumps(table))
    assert run(["verify", str(mechanism)]) == 1
    assert "the guarantee" in capsys.readouterr().err


@pytest.mark.combined
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("lower = ", "floor = ", "the key 'prior.bounds.lower' is missing; add it"),
        ("upper = [0.6, 0.5, 0.4]\n", "", "the key 'prior.bounds.upper' is missing; add it"),
        ("upper = [0.6, 0.5, 0.4]", "upper = 0.6", "prior.bounds.upper is 0.6; accepted: a valid list"),
        ("upper = [0.6, 0.5, 0.4]", "upper = [0.6, 0.5]", "the center of a box is outside its bounds"),
        ("upper = [0.6, 0.5, 0.4]", 'upper = [0.6, "x", 0.4]', "a number of upper is 'x'"),
        ('labels = ["a", "b", "c"]', 'labels = ["a", "b"]', "2 labels"),
        ('labels = ["a", "b", "c"]', "labels = 3", "prior.labels is 3; accepted: a valid list"),
        ('labels = ["a", "b", "c"]', "radius = 1", "[prior] has radius beside bounds, where it has no meaning"),
        ('labels = ["a", "b", "c"]', "priors = [[0.5, 0.5]]", "[prior] has priors and bounds; give one of"),
        (
            "[prior.bounds]",
            "[prior.bounds]\nmore = 1",
            "the key 'prior.bounds.more' is unknown; accepted: center, lower, upper",
        ),
    ],
)
def test_a_table_that_does_not_fit_is_refused_on_one_line(problem, capsys, old, new, message):
    text = problem.read_text()
    assert old in text
    problem.write_text(text.replace(old, new))
    assert run(["design", str(problem)]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_labels_that_a_constructor_does_not_take_over_are_found(registered, tmp_path):
    class Renaming(Box):
        kind = "renaming"

        def __post_init__(self):
            super().__post_init__()
            object.__setattr__(self, "labels", self.labels[::-1])

    md.uncertainty.register(Renaming)
    path = tmp_path / "problem.toml"
    path.write_text(PROBLEM.format(utility="hamming-accuracy").replace("prior.bounds", "prior.renaming"))
    with raises("bad-registration", "'renaming'", "('c', 'b', 'a')"):
        md.read_problem(path)


def test_a_name_is_given_once(registered):
    with raises("bad-registration", "'bounds'"):
        md.uncertainty.register(type("Other", (Box,), {}))
    with raises("bad-registration", "'jensen-shannon'"):
        md.utility.register(type("Other", (JensenShannon,), {}))


def test_an_installed_package_is_found_by_the_command_line(tmp_path):
    site = tmp_path / "site"
    described = site / "outside-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(
        "[mechdesign.sets]\nbounds = box_set:Box\n"
        "[mechdesign.utilities]\njensen-shannon = jensen_shannon:JensenShannon\n"
    )
    for name in ("box_set.py", "jensen_shannon.py"):
        copy(HERE / name, site)
    (tmp_path / "problem.toml").write_text(PROBLEM.format(utility="jensen-shannon"))
    root = str(Path(md.__file__).parents[1])

    def commands(*lines, path):
        """Run lines of arguments in one process, and return its greatest status and what was printed."""
        code = (
            "import sys; from mechdesign.cli.entry_point import run; "
            "sys.exit(max(run(line.split()) for line in sys.argv[1:]))"
        )
        return subprocess.run(
            [sys.executable, "-c", code, *lines],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
            capture_output=True,
            text=True,
            check=False,
        )

    done = commands("design problem.toml -o m.json", "verify m.json", "design --help", path=[root, str(site)])
    assert done.returncode == 0, done.stderr
    designed, _, more = done.stdout.partition("all claims hold")
    assert "for every prior between two bounds" in " ".join(designed.split())
    assert "jensen-shannon" in more  # in the help
    # Without the package the file is malformed, and not a false claim.
    done = commands("verify m.json", path=[root])
    assert done.returncode == 2
    assert len(without_steps(done.stderr.encode())) == 1
