"""Malformed files: each is refused by its schema or, where a schema cannot say what is wrong, by the loader alone."""

import copy
import json
import tomllib
from decimal import Decimal
from pathlib import Path

import pytest
import tomli_w
from json_schemas import accepts

import mechdesign as md
from mechdesign.deploy.manifest import NAME, read_manifest
from mechdesign.errors import MechdesignError
from mechdesign.histogram.record_check import proved_record
from mechdesign.mechanism.mechanism_files import from_json
from mechdesign.problem_file import read_problem
from mechdesign.sweeps import read_sweep

ROOT = Path(__file__).parents[2]
GONE = object()  # in place of a value: the key is left out
SCHEMA, LOADER = "schema", "loader"  # who refuses a file: the schema, and the loader too; or the loader alone

MECHANISM = {
    "schema": "mechdesign/mechanism/1",
    "inputs": ["a", "b"],
    "outputs": ["x", "y"],
    "bits": 2,
    "numerators": [[3, 1], [1, 3]],
    "guarantee": {
        "epsilon": "log(3)",
        "radius": "2",
        "counts": [3, 5],
        "samples": 8,
        "delta": 0.5,
        "bound": "clopper-pearson",
    },
    "optimality": {"utility": "mutual-information", "value": 0.1, "upper_bound": 0.2, "lambda": [0.1, 0.1]},
    "provenance": {"version": "0.1", "method": "by hand", "problem": "a title"},
}
CENTER = {"epsilon": "log(3)", "radius": "0", "center": ["1/2", "1/2"]}
HULL = {"epsilon": "log(3)", "priors": [["1/2", "1/2"], ["1/3", "2/3"]], "weights": ["1/2", "1/2"]}
BOX = {"epsilon": "log(3)", "box": {"lower": ["0.1", "0.1"], "upper": ["0.9", "0.9"], "center": ["1/2", "1/2"]}}
PRODUCT = {
    "epsilon": "log(3)",
    "separator": " & ",
    "factors": [
        {"inputs": ["a", "b"], "radius": "0", "center": ["1/2", "1/2"]},
        {"inputs": ["c", "d"], "radius": "0", "center": ["1/2", "1/2"]},
    ],
}
OF_PRODUCT = {key: value for key, value in MECHANISM.items() if key != "optimality"} | {
    "inputs": ["a & c", "a & d", "b & c", "b & d"],
    "numerators": [[3, 1], [3, 1], [1, 3], [1, 3]],
    "guarantee": PRODUCT,
}
SECRET = {
    "epsilon": "log(3)",
    "secret": {
        "name": "s",
        "useful": "u",
        "values": ["p", "q"],
        "counts": [[3, 2], [1, 4]],
        "limits": [{"radius": "2", "center": ["1/2", "1/2"]}] * 3,
    },
}
UNION = {
    "epsilon": "log(3)",
    "sets": [{"radius": "1", "center": ["1/2", "1/2"]}, {"radius": "0.5", "center": ["1/4", "3/4"]}],
    "names": ["p", "q"],
    "weights": ["1/2", "1/2"],
    "cover": {"radius": "1", "center": ["1/2", "1/2"]},
}
ERRORS = {
    "utility": "estimation-error",
    "value": 9.0,
    "lower_bound": 0.0,
    "lambda": [0.0, 0.0],
    "theta": {"diagonal": [1.0, 1.0], "common": 0.5},
    "workload": {"name": "prefix"},
}
LEAST = {
    "utility": "worst-case-mutual-information",
    "value": 0.1,
    "upper_bound": 0.2,
    "lambda": [0.1, 0.1],
    "priors": [["1/2", "1/2"]],
    "weights": ["1"],
}
UNCHANGED = {"value": 0.75, "upper_bound": 0.9, "lambda": [0.1, 0.1], "sigma": [0.0, 0.0]}
LOSS = {"value": 0.25, "lower_bound": 0.1, "lambda": [0.1, 0.1], "loss": [[0, "1/2"], [1.0, 0]]}
TABLE = {key: value for key, value in MECHANISM.items() if key != "optimality"} | {
    "outputs": ["a", "b"],
    "guarantee": CENTER,
    "table": {"invariant": True, "floors": {"a": "3/4", "b": 0.7}, "forbidden": [], "optimality": UNCHANGED},
}
TWO_SIDED = MECHANISM | {"schema": "mechdesign/mechanism/2", "guarantee": {**CENTER, "lower": "log(3)"}}
VALID = {
    "counts": MECHANISM,
    "center": MECHANISM | {"guarantee": CENTER},
    "hull": MECHANISM | {"guarantee": HULL},
    "box": MECHANISM | {"guarantee": BOX},
    "product": OF_PRODUCT,
    "secret": MECHANISM | {"guarantee": SECRET},
    "union": MECHANISM | {"guarantee": UNION},
    "errors": MECHANISM | {"guarantee": CENTER, "optimality": ERRORS},
    "least": MECHANISM | {"guarantee": CENTER, "optimality": LEAST},
    "two-sided": TWO_SIDED,
    "table": TABLE,
    "loss": TABLE | {"table": {"invariant": False, "optimality": LOSS}},
}
# The file, the place, what is put there, and who refuses it.
MECHANISMS = [
    ("counts", "schema", GONE, SCHEMA),
    ("counts", "schema", "mechdesign/mechanism/3", SCHEMA),
    ("counts", "schema", "mechdesign/mechanism/2", SCHEMA),
    ("two-sided", "schema", "mechdesign/mechanism/1", SCHEMA),
    ("counts", "colour", "red", SCHEMA),
    ("counts", "inputs", GONE, SCHEMA),
    ("counts", "inputs", "ab", SCHEMA),
    ("counts", "inputs", [1, 2], SCHEMA),
    ("counts", "inputs", ["a", "a"], SCHEMA),
    ("counts", "inputs", ["a", ""], SCHEMA),
    ("counts", "inputs", ["a", " b"], LOADER),
    ("counts", "inputs", ["a", "b\u001b[2J"], LOADER),
    ("counts", "inputs", ["a"], LOADER),
    ("counts", "inputs", [], SCHEMA),
    ("counts", "outputs", ["x", "x"], SCHEMA),
    ("counts", "outputs", ["x", "y", "z"], LOADER),
    ("counts", "outputs", [], SCHEMA),
    ("counts", "bits", 0, SCHEMA),
    ("counts", "bits", 53, SCHEMA),
    ("counts", "bits", 2.5, SCHEMA),
    ("counts", "bits", True, SCHEMA),
    ("counts", "bits", "2", SCHEMA),
    ("counts", "bits", 3, LOADER),
    ("counts", "numerators", GONE, SCHEMA),
    ("counts", "numerators", None, SCHEMA),
    ("counts", "numerators", [], LOADER),
    ("counts", "numerators", [[3, 1]], LOADER),
    ("counts", "numerators", [[3, 1], [1]], LOADER),
    ("counts", "numerators", [[3, 1], [1, 4]], LOADER),
    ("counts", "numerators", [[5, -1], [1, 3]], SCHEMA),
    ("counts", "numerators", [[2**53, 1], [1, 3]], SCHEMA),
    ("counts", "numerators", [[2.5, 1.5], [1, 3]], SCHEMA),
    ("counts", "numerators", [["3", "1"], [1, 3]], SCHEMA),
    ("counts", "numerators", [[4, 0], [4, 0]], LOADER),
    ("counts", "guarantee", GONE, SCHEMA),
    ("counts", "guarantee", {}, SCHEMA),
    ("counts", "guarantee", {"epsilon": "1"}, SCHEMA),
    ("counts", "guarantee.epsilon", GONE, SCHEMA),
    ("counts", "guarantee.epsilon", 1, SCHEMA),
    ("counts", "guarantee.epsilon", "-1", LOADER),
    ("counts", "guarantee.epsilon", "log(x)", LOADER),
    ("counts", "guarantee.epsilon", "0.1", LOADER),
    ("counts", "guarantee.epsilon", "1" * 2_001, SCHEMA),
    ("counts", "guarantee.lower", "-1", SCHEMA),
    ("counts", "guarantee.radius", GONE, SCHEMA),
    ("counts", "guarantee.radius", 2, SCHEMA),
    ("counts", "guarantee.radius", "-1", LOADER),
    ("counts", "guarantee.radius", "0.001", LOADER),
    ("counts", "guarantee.counts", GONE, SCHEMA),
    ("counts", "guarantee.counts", [3, -5], SCHEMA),
    ("counts", "guarantee.counts", [3, 5, 7], LOADER),
    ("counts", "guarantee.counts", [3, 1.5], SCHEMA),
    ("counts", "guarantee.counts", [0, 0], LOADER),
    ("counts", "guarantee.samples", GONE, SCHEMA),
    ("counts", "guarantee.samples", 0, SCHEMA),
    ("counts", "guarantee.delta", GONE, SCHEMA),
    ("counts", "guarantee.delta", True, SCHEMA),
    ("counts", "guarantee.delta", 2, LOADER),
    ("counts", "guarantee.delta", "half", SCHEMA),
    ("counts", "guarantee.bound", "hoeffding", SCHEMA),
    ("counts", "guarantee.radius", "wide", SCHEMA),
    ("counts", "guarantee.samples", 10**16, SCHEMA),
    ("counts", "guarantee.center", ["1/2", "1/2"], SCHEMA),
    ("counts", "guarantee.priors", [["1/2", "1/2"]], SCHEMA),
    ("counts", "guarantee.circle", {"center": ["1/2", "1/2"]}, SCHEMA),
    ("center", "guarantee.center", ["1/2", "1/3"], LOADER),
    ("center", "guarantee.center", ["3/2", "-1/2"], LOADER),
    ("center", "guarantee.center", [None, "1"], SCHEMA),
    ("center", "guarantee.center", "1/2", SCHEMA),
    ("center", "guarantee.delta", 0.1, SCHEMA),
    ("center", "guarantee.weights", ["1", "0"], SCHEMA),
    ("hull", "guarantee.weights", ["1/2", "1/3"], LOADER),
    ("hull", "guarantee.weights", ["1"], LOADER),
    ("hull", "guarantee.priors", [], SCHEMA),
    ("hull", "guarantee.priors", ["1/2", "1/2"], SCHEMA),
    ("hull", "guarantee.priors", [["1/2", "1/3"]], LOADER),
    ("hull", "guarantee.radius", "1", SCHEMA),
    ("box", "guarantee.box.upper", GONE, SCHEMA),
    ("box", "guarantee.box.center", GONE, SCHEMA),
    ("box", "guarantee.box.counts", [1, 1], SCHEMA),
    ("box", "guarantee.box.delta", "0.1", SCHEMA),
    ("box", "guarantee.box.gamma", "0.1", SCHEMA),
    ("box", "guarantee.box.lower", ["0.95", "0.1"], LOADER),
    ("box", "guarantee.box", [], SCHEMA),
    ("product", "guarantee.separator", GONE, SCHEMA),
    ("product", "guarantee.separator", "", LOADER),
    ("product", "guarantee.factors", PRODUCT["factors"][:1], SCHEMA),
    ("product", "guarantee.factors.0.inputs", GONE, SCHEMA),
    ("product", "guarantee.factors.0.inputs", ["a", "d"], LOADER),
    ("product", "guarantee.factors.0.radius", GONE, SCHEMA),
    ("product", "guarantee.factors.0.epsilon", "1", SCHEMA),
    ("product", "guarantee.factors.1.factors", [], SCHEMA),
    ("secret", "guarantee.secret.counts", [[3, 2], [1, -4]], SCHEMA),
    ("secret", "guarantee.secret.counts", [[3, 2]], LOADER),
    ("secret", "guarantee.secret.values", GONE, SCHEMA),
    ("secret", "guarantee.secret.limits", SECRET["secret"]["limits"][:2], LOADER),
    ("secret", "guarantee.secret.limits.0", PRODUCT, SCHEMA),
    ("secret", "guarantee.secret.limits.0.radius", GONE, SCHEMA),
    ("union", "guarantee.sets", [], SCHEMA),
    ("union", "guarantee.sets.0", PRODUCT, SCHEMA),
    ("union", "guarantee.sets.0.radius", GONE, SCHEMA),
    ("union", "guarantee.sets.0.center", ["1/2", "1/4", "1/4"], LOADER),
    ("union", "guarantee.names", ["p", "p"], LOADER),
    ("union", "guarantee.weights", ["1"], LOADER),
    ("union", "guarantee.cover.radius", "0.99", LOADER),
    ("union", "guarantee.cover.priors", [["1/2", "1/2"]], SCHEMA),
    ("union", "guarantee.radius", "1", SCHEMA),
    ("counts", "optimality.utility", GONE, SCHEMA),
    ("counts", "optimality.utility", "joy", LOADER),
    ("counts", "optimality.value", None, SCHEMA),
    ("counts", "optimality.upper_bound", GONE, SCHEMA),
    ("counts", "optimality.lower_bound", 0.1, SCHEMA),
    ("counts", "optimality.lambda", GONE, SCHEMA),
    ("counts", "optimality.lambda", ["0.1", "0.1"], SCHEMA),
    ("counts", "optimality.lambda", [0.1], LOADER),
    ("counts", "optimality.theta", {"diagonal": [1.0, 1.0]}, LOADER),
    ("counts", "optimality.priors", [["1/2", "1/2"]], LOADER),
    ("counts", "optimality.workload", {"name": "prefix"}, LOADER),
    ("counts", "optimality.within_simplex", 1, SCHEMA),
    ("counts", "optimality.proof", "see above", SCHEMA),
    ("errors", "optimality.theta", GONE, LOADER),
    ("errors", "optimality.theta.lower_triangle", [[1.0], [0.0, 1.0]], SCHEMA),
    ("errors", "optimality.theta", {"lower_triangle": [[1.0], [1.0]]}, LOADER),
    ("errors", "optimality.theta.diagonal", GONE, SCHEMA),
    ("errors", "optimality.workload", {}, SCHEMA),
    ("errors", "optimality.workload.name", "medians", SCHEMA),
    ("errors", "optimality.workload.ways", 1, SCHEMA),
    ("errors", "optimality.workload.weights", [1, 1], SCHEMA),
    ("errors", "optimality.workload", {"marginals": [1, 2]}, SCHEMA),
    ("errors", "optimality.workload", {"matrix": [[1, 1]]}, LOADER),
    ("errors", "optimality.workload", {"symbols": []}, SCHEMA),
    ("least", "optimality.weights", GONE, LOADER),
    ("least", "optimality.priors", [["1/2", "1/3"]], LOADER),
    ("counts", "provenance", "mine", SCHEMA),
    ("counts", "provenance.method", GONE, SCHEMA),
    ("counts", "provenance.date", "today", SCHEMA),
    ("table", "outputs", ["b", "a"], LOADER),
    ("table", "numerators", [[3, 1], [2, 2]], LOADER),
    ("table", "table.invariant", GONE, SCHEMA),
    ("table", "table.invariant", 1, SCHEMA),
    ("table", "table.margins", True, SCHEMA),
    ("table", "table.floors", {"a": "0.8"}, LOADER),
    ("table", "table.floors", {"c": "0.1"}, LOADER),
    ("table", "table.floors", {"a": "1e-9999"}, LOADER),
    ("table", "table.floors", ["0.1"], SCHEMA),
    ("table", "table.forbidden", [["a", "b"]], LOADER),
    ("table", "table.forbidden", [["a", "a"]], LOADER),
    ("table", "table.forbidden", [["a"]], SCHEMA),
    ("table", "table.columns", ["a", "b"], LOADER),
    ("table", "table.columns", "a", SCHEMA),
    ("table", "table.optimality.value", "much", SCHEMA),
    ("table", "table.optimality.upper_bound", GONE, SCHEMA),
    ("table", "table.optimality.lambda", [0.1], LOADER),
    ("table", "table.optimality.sigma", [0.1], LOADER),
    ("loss", "table.optimality.lower_bound", GONE, SCHEMA),
    ("loss", "table.optimality.upper_bound", 0.5, LOADER),
    ("loss", "table.optimality.loss", [[0, 1]], LOADER),
    ("loss", "table.optimality.loss", [0, 1], SCHEMA),
]
PROBLEM = {
    "title": "t",
    "epsilon": "1",
    "prior": {"delta": 1e-3, "bound": "weissman", "counts": {"a": 5, "b": 3}},
    "expected": {"value": 0.1},
}
VALID_PROBLEMS = {
    "counts": PROBLEM,
    "vector": PROBLEM | {"prior": {"probabilities": ["1/2", 0.5], "labels": ["a", 1], "radius": 0.1}},
    "gain": PROBLEM | {"utility": "expected-gain", "gain": {"matrix": [[1, 0], ["1/3", 1]]}},
    "errors": PROBLEM | {"utility": "estimation-error", "workload": {"scores": {"a": 1, "b": "2"}}},
    "box": PROBLEM | {"prior": {"box": {"counts": {"a": 5, "b": 3}, "delta": 0.1}}},
    "given box": PROBLEM | {"prior": {"labels": ["a", "b"], "box": BOX["box"]}},
    "factors": PROBLEM | {"prior": {"factors": [{"probabilities": [0.5, 0.5]}, {"priors": [["1/2", "1/2"]]}]}},
    "secret": PROBLEM
    | {
        "prior": {
            "labels": ["a", "b"],
            "secret": {"name": "s", "useful": "u", "values": ["p", "q"], "counts": [[3, 2], [1, 4]], "delta": 0.1},
        }
    },
}
PROBLEMS = [
    ("counts", "title", GONE, SCHEMA),
    ("counts", "title", 1, SCHEMA),
    ("counts", "colour", 1, SCHEMA),
    ("counts", "epsilon", GONE, SCHEMA),
    ("counts", "epsilon", True, SCHEMA),
    ("counts", "epsilon", -1, LOADER),
    ("counts", "epsilon", "log(x)", SCHEMA),
    ("counts", "lower", [1], SCHEMA),
    ("counts", "utility", "entropy", LOADER),
    ("counts", "utility", "expected-gain", LOADER),
    ("counts", "prior", GONE, SCHEMA),
    ("counts", "prior", {}, SCHEMA),
    ("counts", "prior.counts", {"a": -1, "b": 2}, SCHEMA),
    ("counts", "prior.counts", {"a": 1.5, "b": 2}, SCHEMA),
    ("counts", "prior.counts", {"a": 1}, LOADER),
    ("counts", "prior.counts", {"a": 1, " b": 2}, LOADER),
    ("counts", "prior.counts", [1, 2], SCHEMA),
    ("counts", "prior.delta", 1.5, LOADER),
    ("counts", "prior.delta", GONE, SCHEMA),
    ("counts", "prior.radius", 0.1, SCHEMA),
    ("counts", "prior.samples", 0, SCHEMA),
    ("counts", "prior.labels", ["a", "b"], SCHEMA),
    ("counts", "prior.probabilities", [0.5, 0.5], SCHEMA),
    ("counts", "prior.weights", [0.5, 0.5], SCHEMA),
    ("counts", "prior.bound", "hoeffding", SCHEMA),
    ("counts", "gain", {"matrix": [[1, 0]]}, LOADER),
    ("counts", "workload", {"name": "prefix"}, LOADER),
    ("counts", "workload", "prefix", SCHEMA),
    ("counts", "expected.value", "much", SCHEMA),
    ("counts", "expected.value", "\u0663", SCHEMA),  # a digit, but not of ASCII
    ("counts", "expected.value", "1_0", LOADER),
    ("counts", "expected.best", 1, SCHEMA),
    ("vector", "prior.probabilities", [0.5, 0.6], LOADER),
    ("vector", "prior.probabilities", [1.5, -0.5], LOADER),
    ("vector", "prior.probabilities", [1], LOADER),
    ("vector", "prior.labels", ["a", "a"], LOADER),
    ("vector", "prior.labels", [0.5, "a"], SCHEMA),
    ("vector", "prior.radius", "", SCHEMA),
    ("vector", "prior.delta", 0.1, SCHEMA),
    ("vector", "prior.samples", 9, SCHEMA),
    ("gain", "distortion", {"matrix": [[1, 0]]}, SCHEMA),
    ("gain", "gain.matrix", GONE, SCHEMA),
    ("gain", "gain.matrix", [1, 0], SCHEMA),
    ("gain", "gain.matrix", [["1e400", 0]], LOADER),
    ("errors", "workload", {}, SCHEMA),
    ("errors", "workload.scores", {"a": 1, "c": 2}, LOADER),
    ("errors", "workload.nam", "prefix", SCHEMA),
    ("box", "prior.box.delta", GONE, SCHEMA),
    ("box", "prior.labels", ["a", "b"], SCHEMA),
    ("box", "prior.delta", 0.1, SCHEMA),
    ("given box", "prior.box.center", GONE, SCHEMA),
    ("factors", "prior.factors", [{"probabilities": [0.5, 0.5]}], SCHEMA),
    ("factors", "prior.factors.0.counts", {"a": 1}, SCHEMA),
    ("secret", "prior.labels", GONE, SCHEMA),
    ("secret", "prior.secret.limits", "circle", SCHEMA),
    ("secret", "prior.secret.delta", 2, LOADER),
    ("secret", "prior.secret.sets", [], SCHEMA),
]
SWEEP = {
    "title": "t",
    "epsilon": [0.5, "log(9)"],
    "delta": [1e-9, 1e-3],
    "utility": ["mutual-information", {"name": "estimation-error", "workload": {"name": "prefix"}}],
    "baselines": ["best-ldp"],
    "source": [{"name": "n", "counts": {"a": 5, "b": 3}}],
}
SWEEPS = [
    ("sweep", "title", GONE, SCHEMA),
    ("sweep", "source", GONE, SCHEMA),
    ("sweep", "source", [], SCHEMA),
    ("sweep", "source.0.counts", GONE, SCHEMA),
    ("sweep", "source.0.data", "absent.csv", SCHEMA),
    ("sweep", "source.0.columns", ["a"], SCHEMA),
    ("sweep", "source.0.name", GONE, LOADER),
    ("sweep", "source.0.counts", "absent.csv", LOADER),
    ("sweep", "source.0.counts", {"a": 1}, LOADER),
    ("sweep", "source.0.counts.a", -1, SCHEMA),
    ("sweep", "source.0.counts.a", 1.5, SCHEMA),
    ("sweep", "source.0.header", "no", SCHEMA),
    ("sweep", "epsilons", 1, SCHEMA),
    ("sweep", "epsilon", [], SCHEMA),
    ("sweep", "epsilon", True, SCHEMA),
    ("sweep", "epsilon", [-1, -2], LOADER),
    ("sweep", "epsilon", [1, "1/0"], LOADER),
    ("sweep", "delta", 2, LOADER),
    ("sweep", "radius", 1, SCHEMA),
    ("sweep", "samples", [1.5], SCHEMA),
    ("sweep", "samples", 0, LOADER),
    ("sweep", "samples", True, SCHEMA),
    ("sweep", "set", "circle", LOADER),
    ("sweep", "bound", "hoeffding", SCHEMA),
    ("sweep", "utility", "joy", LOADER),
    ("sweep", "utility", {"name": "expected-gain"}, LOADER),
    ("sweep", "utility", {"name": "expected-gain", "gain": 1}, SCHEMA),
    ("sweep", "baselines", ["best"], SCHEMA),
    ("sweep", "baselines", "best-ldp", SCHEMA),
    ("sweep", "bits", "48", SCHEMA),
    ("sweep", "tol", "small", SCHEMA),
]
RELEASE = json.loads(md.histogram.DiscretePlan.of(3, epsilon=1, delta="1e-6", sigma=8).record().to_json())
RELEASES = [
    ("release", "schema", "mechdesign/histogram-record/2", SCHEMA),
    ("release", "mechanism", "magic", SCHEMA),
    ("release", "mechanism", "laplace", SCHEMA),
    ("release", "epsilon", GONE, SCHEMA),
    ("release", "epsilon", "0.1", LOADER),
    ("release", "epsilon", None, SCHEMA),
    ("release", "delta", 2, SCHEMA),
    ("release", "delta", 1e-30, LOADER),
    ("release", "sigma", GONE, SCHEMA),
    ("release", "sigma", "-8", LOADER),
    ("release", "k", 0, SCHEMA),
    ("release", "k", 2.5, SCHEMA),
    ("release", "subtracted", 12.5, SCHEMA),
    ("release", "not_protected", "nothing", SCHEMA),
    ("release", "signature", "mine", SCHEMA),
]
MANIFEST = {
    "schema": "mechdesign/dataset/1",
    "fingerprint": "0" * 64,
    "column": "c",
    "header": True,
    "keep": ["k"],
    "unknown": None,
    "missing": "a",
    "ids": None,
    "key": None,
    "complete": False,
    "parts": [{"source": "1.csv", "reports": "1.csv", "published": True}],
}
MANIFESTS = [
    ("manifest", "schema", "mechdesign/dataset/2", SCHEMA),
    ("manifest", "key", GONE, SCHEMA),
    ("manifest", "header", "yes", SCHEMA),
    ("manifest", "keep", [1], SCHEMA),
    ("manifest", "parts.0.published", GONE, SCHEMA),
    ("manifest", "parts.0.size", 17, SCHEMA),
    ("manifest", "owner", "me", SCHEMA),
]


def load_mechanism(table, folder):
    return md.Mechanism(*from_json(json.dumps(table).encode(), "the file"))


def load_toml(read):
    def load(table, folder):
        (folder / "file.toml").write_text(tomli_w.dumps(table))
        return read(folder / "file.toml")

    return load


def load_release(table, folder):
    return proved_record(json.dumps(table).encode(), "the file")


def load_manifest(table, folder):
    (folder / NAME).write_text(json.dumps(table))
    return read_manifest(folder)


KINDS = {
    "mechanism": (VALID, MECHANISMS, load_mechanism),
    "problem-file": (VALID_PROBLEMS, PROBLEMS, load_toml(read_problem)),
    "sweep-file": ({"sweep": SWEEP}, SWEEPS, load_toml(read_sweep)),
    "histogram-record": ({"release": RELEASE}, RELEASES, load_release),
    "dataset": ({"manifest": MANIFEST}, MANIFESTS, load_manifest),
}
CASES = [(name, *case) for name, (_, cases, _) in KINDS.items() for case in cases]


def changed(table, place, value):
    table = copy.deepcopy(table)
    *folder, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    node = table
    for part in folder:
        node = node[part]
    if value is GONE:
        del node[last]
    else:
        node[last] = value
    return table


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name, (valid, _, _) in KINDS.items() for kind in valid], ids=str
)
def test_the_files_that_are_changed_are_accepted_by_both(name, kind, tmp_path):
    valid, _, load = KINDS[name]
    load(valid[kind], tmp_path)
    assert accepts(name, valid[kind])


@pytest.mark.combined
@pytest.mark.parametrize(
    ("name", "kind", "place", "value", "refuses"),
    CASES,
    ids=[f"{name}-{kind}-{place}-{number}" for number, (name, kind, place, _, _) in enumerate(CASES)],
)
def test_a_malformed_file_is_refused_by_whom_the_table_says(name, kind, place, value, refuses, tmp_path):
    valid, _, load = KINDS[name]
    table = changed(valid[kind], place, value)
    with pytest.raises(MechdesignError):
        load(table, tmp_path)
    assert accepts(name, table) == (refuses == LOADER)


def test_what_only_a_reader_of_text_sees_is_refused_by_the_loader():
    text = json.dumps(MECHANISM)
    twice = text.replace('"bits": 2', '"bits": 2, "bits": 2')
    assert accepts("mechanism", json.loads(twice))
    for wrong in (twice, text[:-1], text.replace('"bits": 2', '"bits": 2.0')):
        with pytest.raises(md.InputError):
            from_json(wrong.encode(), "the file")


@pytest.mark.parametrize("path", sorted(ROOT.glob("problems/*.toml")), ids=lambda path: path.stem)
def test_every_problem_of_the_package_fits(path):
    assert accepts("problem-file", tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal))


IMPOSSIBLE = [
    {"epsilon": [1, -1, "1e400", "log(1/2)"]},
    {"delta": ["1e-9", 2, -1]},
    {
        "samples": [100, 0, -5, 10**30],
        "source": [{"name": "what if", "probabilities": {"a": "0.3", "b": "0.7"}}],
    },
    {"set": ["l1-ball", "box"], "bound": "weissman"},
    {"source": [*SWEEP["source"], {"name": "zero", "counts": {"a": 0, "b": 0}}]},
]


@pytest.mark.parametrize("axes", IMPOSSIBLE)
def test_points_that_cannot_be_problems_are_read_and_fit(axes, tmp_path):
    valid, _, load = KINDS["sweep-file"]
    load(valid["sweep"] | axes, tmp_path)
    assert accepts("sweep-file", valid["sweep"] | axes)


def test_the_sweep_of_the_examples_fits():
    assert accepts("sweep-file", tomllib.loads((ROOT / "examples/adult-sweep.toml").read_text(encoding="utf-8")))
