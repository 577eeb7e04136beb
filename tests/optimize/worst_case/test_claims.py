"""Claims about the least utility in files: they are written, read and confirmed, and false ones are found."""

import json
from fractions import Fraction

import numpy as np
import pytest
from edits import set_key
from refusals import raises

import mechdesign as md
from mechdesign.mechanism import Optimality
from mechdesign.optimize.worst_case.least_certificate import certify_least
from mechdesign.uncertainty.prior_mixture import PriorMixture

INFORMATION = md.WorstCaseUtility(md.MutualInformation())


@pytest.fixture(scope="module", params=["mutual-information", "hamming-accuracy"])
def saved(request, tmp_path_factory):
    utility = md.utility.utility_by_name(f"worst-case-{request.param}")
    design = md.design(md.DesignProblem(md.L1Ball([".4", ".3", ".2", ".1"], "0.16"), "log(2)", utility))
    path = tmp_path_factory.mktemp("claims") / "m.json"
    design.mechanism.save(path)
    return path, design


def edited(path, tmp_path, *edits):
    table = json.loads(path.read_text(encoding="utf-8"))
    for edit in edits:
        edit(table)
    other = tmp_path / "edited.json"
    other.write_text(json.dumps(table), encoding="utf-8")
    return md.Mechanism.load(other)


@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_a_claim_is_the_same_after_a_file(saved, tmp_path, ending):
    _, design = saved
    design.mechanism.save(tmp_path / f"m{ending}")
    loaded = md.Mechanism.load(tmp_path / f"m{ending}")
    assert loaded.optimality == design.mechanism.optimality
    assert loaded.optimality.utility == design.problem.utility
    found = md.verify(loaded)
    assert found.optimal
    assert found.certificate.bound <= design.bound
    assert sum(loaded.optimality.mixture.weights) == 1


def moved(*keys, by):
    def edit(table):
        for key in keys[:-1]:
            table = table[key]
        table[keys[-1]] += by

    return edit


def first_prior(prior):
    return set_key("optimality", "priors", 0, prior)


@pytest.mark.parametrize(
    "edit",
    [
        moved("optimality", "lambda", 0, by=-0.01),
        moved("optimality", "upper_bound", by=-1e-6),
        moved("optimality", "value", by=1e-6),
        moved("optimality", "value", by=-1e-6),
        first_prior(["0", "0", "0", "1"]),
        first_prior(["0.481", "0.3", "0.2", "0.019"]),
    ],
)
def test_a_false_claim_is_found(saved, tmp_path, edit):
    loaded = edited(saved[0], tmp_path, edit)
    with raises("optimality-false"):
        md.verify(loaded)


def test_other_weights_prove_a_weaker_bound(saved, tmp_path):
    path, design = saved
    count = len(design.certificate.mixture.priors)
    if count == 1:
        weights = ["1/2", "1/2"]
        edits = [set_key("optimality", "priors", [["0.4", "0.3", "0.2", "0.1"]] * 2)]
    else:
        weights, edits = ["1/1000"] * (count - 1) + [str(1 - Fraction(count - 1, 1000))], []
    loaded = edited(path, tmp_path, set_key("optimality", "weights", weights), *edits)
    with raises("optimality-false"):
        md.verify(loaded)


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (set_key("optimality", "weights", ["1/2", "1/3"]), "wrong-size"),
        (first_prior(["0.4", "0.3", "0.2"]), "wrong-sum"),
        (first_prior(["0.4", "0.3", "0.2", "0.2"]), "wrong-sum"),
        (lambda table: table["optimality"].pop("weights"), "missing-key"),
        (lambda table: table["optimality"].pop("priors"), "missing-key"),
        (set_key("optimality", "utility", "mutual-information"), "key-out-of-place"),
        (set_key("optimality", "utility", "worst-case-chi-square"), "wrong-objective"),
        (set_key("optimality", "utility", "worst-case-no"), "unknown-choice"),
    ],
)
def test_a_malformed_claim_is_refused_by_name(saved, tmp_path, edit, code):
    with raises(code):
        edited(saved[0], tmp_path, edit)


def test_priors_on_other_symbols_are_refused(saved):
    _, design = saved
    parts = design.mechanism.parts
    mixture = PriorMixture(((Fraction(1),),), (Fraction(1),))
    claim = Optimality(design.problem.utility, design.value, design.bound, (0.0,) * 4, mixture=mixture)
    with raises("wrong-size", "have 1", "accepted: 4"):
        md.Mechanism(*parts._replace(optimality=claim))


def test_any_priors_and_multipliers_prove_a_bound():
    known = md.L1Ball([".4", ".3", ".2", ".1"], "0.16")
    problem = md.DesignProblem(known, "log(2)", INFORMATION)
    design, rng = md.design(problem), np.random.default_rng(2)
    for _ in range(20):
        columns = rng.integers(0, 100, (3, 4)).tolist()
        priors = [known.exact_worst_mean(column)[1] for column in columns]
        mixture = PriorMixture.of_floats(priors, rng.dirichlet(np.ones(3)))
        lam = design.certificate.multipliers * rng.uniform(0.5, 1.5, 4)
        assert certify_least(problem, lam, mixture).bound >= design.value
    assert certify_least(problem, [1e308] * 4, mixture).bound < 1.4
    assert certify_least(problem, [-1e308] * 4, mixture).bound < 1.4


def test_a_certificate_is_for_a_least_utility_and_finite_multipliers():
    known = md.L1Ball(["0.5", "0.5"], "0.2")
    mixture = PriorMixture(((Fraction(3, 5), Fraction(2, 5)),), (Fraction(1),))
    with raises("wrong-objective", "mutual-information"):
        certify_least(md.DesignProblem(known, 1), [0, 0], mixture)
    problem = md.DesignProblem(known, 1, INFORMATION)
    for lam in ([0.0], [0.0, np.inf]):
        with raises("wrong-size"):
            certify_least(problem, lam, mixture)


def test_problem_files_hold_the_objective(tmp_path):
    known = md.L1Ball(["0.5", "0.3", "0.2"], "0.1")
    utilities = [
        md.MutualInformation(),
        md.HammingAccuracy(),
        md.ExpectedGain([[1, 0, 2], [0, "1/3", 0]]),
        md.ExpectedDistortion([[0, 1, 1], [1, 0, 1]]),
    ]
    for utility in utilities:
        problem = md.DesignProblem(known, "1", md.WorstCaseUtility(utility))
        md.write_problem(tmp_path / "p.toml", md.ProblemFile("A problem", problem))
        text = (tmp_path / "p.toml").read_text(encoding="utf-8")
        assert f'utility = "worst-case-{utility.name}"' in text
        assert md.read_problem(tmp_path / "p.toml").problem == problem


def test_files_do_not_hold_other_priors_of_the_utility(tmp_path):
    known, around = md.L1Ball(["0.5", "0.3", "0.2"], "0.1"), md.L1Ball(["0.5", "0.3", "0.2"], "0.05")
    design = md.design(md.DesignProblem(known, 1, md.WorstCaseUtility(md.MutualInformation(), around)))
    design.mechanism.save(tmp_path / "m.json")
    assert md.Mechanism.load(tmp_path / "m.json").optimality is None
    with raises("no-file-format"):
        md.write_problem(tmp_path / "p.toml", md.ProblemFile("A problem", design.problem))
