"""No file that is read or written is refused by its schema."""

import json
import random
import tomllib
from decimal import Decimal

import pytest
from json_schemas import accepts

import mechdesign as md
from mechdesign.data.joint_counts import JointCounts
from mechdesign.errors import MechdesignError
from mechdesign.mechanism.mechanism_files import from_json, to_json
from mechdesign.problem_file import ProblemFile, read_problem, write_problem
from mechdesign.uncertainty.registry import codecs
from tests.fuzz.generators import as_json, as_toml, mutated, problem_table

LABELS = {"a": 50, "b": 30, "c": 20}
JOINT = JointCounts.of([[3, 2], [1, 4]], ["p", "q"], ["a", "b"])
BOX = md.uncertainty.Box.from_counts(LABELS, "0.1")
SETS = [
    md.L1Ball.from_counts(LABELS, delta="1e-3"),
    md.L1Ball.from_counts(LABELS, radius="0.1"),
    md.L1Ball.from_counts(LABELS, delta="1e-3", bound="weissman", within_simplex=False),
    md.L1Ball.from_probabilities(["0.5", "0.3", "0.2"], delta="1e-3", samples=90, labels=list(LABELS)),
    md.L1Ball(["1/2", "1/3", "1/6"], 0),
    md.ConvexHull([["0.5", "0.3", "0.2"], ["0.3", "0.3", "0.4"]], labels=["a", "b", "c"]),
    md.ProductSet(BOX, md.ProductSet(md.L1Ball([0.5, 0.5], 0), md.L1Ball([0.5, 0.5], 2, ["x", "y"]))),
    BOX,
    md.uncertainty.Box(["0.1", "0.1"], ["0.9", "0.9"], center=["1/2", "1/2"]),
    md.uncertainty.LowerLimits.from_counts(LABELS, "0.1"),
    md.uncertainty.L1Box(["0.1", "0.1"], ["0.9", "0.9"], "1/2", center=["1/2", "1/2"]),
    md.uncertainty.RelativeBall.from_counts(LABELS, "0.1", epsilon="1"),
    md.uncertainty.EventSet.from_counts(LABELS, "0.1"),
    md.Union({"p": md.L1Ball.from_counts(LABELS, delta="1e-3"), "q": BOX}),
    md.Union.from_counts({"p": LABELS, "q": LABELS}, delta="1e-3").covered(),
    md.SecretPromise(JOINT, secret="s", useful="u", known=True),
    md.SecretPromise(JOINT, secret="s", useful="u", delta="0.1"),
    md.SecretPromise(JOINT, secret="s", useful="u", known=True).within(
        [md.L1Ball(["1/2", "1/2"], 2, JOINT.values), *[md.L1Ball(["1/2", "1/2"], 2, JOINT.labels)] * 2]
    ),
]


def silent(known, lower=None):
    """Return the mechanism that reports one thing, with a promise over a set."""
    promise = md.Guarantee(md.Epsilon.of("1"), known, lower)
    return md.Mechanism([[4]] * known.size, 2, promise, ("y",))


def test_sets_of_every_class_are_among_these():
    assert {type(known) for known in SETS} == {entry.of for entry in codecs()}


@pytest.mark.parametrize("known", SETS, ids=lambda known: known.kind)
def test_what_is_written_of_a_set_fits(known, tmp_path):
    for lower in (None, "1"):
        assert accepts("mechanism", json.loads(to_json(silent(known, lower).parts)))
    path = tmp_path / "p.toml"
    write_problem(path, ProblemFile("t", md.DesignProblem(known, "1"), "c", {"value": Decimal("0.1")}))
    assert accepts("problem-file", tomllib.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("rounds", [150, pytest.param(5_000, marks=pytest.mark.slow)])
def test_whatever_is_read_of_changed_mechanisms_fits(rounds):
    rng, read = random.Random(7), 0
    tables = [json.loads(to_json(silent(known).parts)) for known in SETS]
    for _ in range(rounds):
        content = as_json(rng, mutated(rng, rng.choice(tables)))
        try:
            md.Mechanism(*from_json(content, "the file"))
        except MechdesignError:
            continue
        read += 1
        assert accepts("mechanism", json.loads(content)), content
    assert read > rounds / 20


@pytest.mark.parametrize("rounds", [60, pytest.param(3_000, marks=pytest.mark.slow)])
def test_whatever_is_read_of_changed_problems_fits(rounds, tmp_path):
    rng, read, path = random.Random(7), 0, tmp_path / "p.toml"
    for _ in range(rounds):
        table = problem_table(rng)
        path.write_bytes(as_toml(mutated(rng, table) if rng.random() < 0.5 else table))
        try:
            read_problem(path)
        except MechdesignError:
            continue
        read += 1
        assert accepts("problem-file", tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)), path
    assert read > rounds / 20
