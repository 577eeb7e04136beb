"""Designs for workloads: against values computed apart, by the laws they follow, and from commands to `verify`."""

import json

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.utility.query_variances import variances_of_matrix

# Local differential privacy, uniform prior, epsilon 1, computed apart by listing every ray.
PREFIX = {8: 24.34386788, 10: 35.94511569}
LABELS = ("a", "b", "c", "d")
PRIOR = dict(zip(LABELS, ["0.4", "0.3", "0.2", "0.1"], strict=True))


def designed(workload, prior=PRIOR, epsilon="0.7", radius="0.1"):
    ball = md.L1Ball(list(prior.values()), radius=radius, labels=list(prior))
    return md.design(md.DesignProblem(ball, epsilon, md.EstimationError(workload)))


@pytest.mark.parametrize("size", PREFIX)
def test_cumulative_frequencies_meet_values_computed_apart(size):
    ball = md.L1Ball([f"1/{size}"] * size, radius=2)
    found = md.design(md.DesignProblem(ball, 1, md.EstimationError("prefix")))
    assert found.certified
    assert found.value == pytest.approx(PREFIX[size], rel=1e-6)
    assert found.lower_bound <= PREFIX[size] * (1 + 1e-8)
    assert found.closed_form is None


def test_one_symbol_costs_what_randomized_response_about_it_costs():
    # One bit is enough: is it a? n times the variance is q (1 - q) / (2 p - 1)^2, with q the share of one answer.
    p = np.e / (1 + np.e)
    q = 0.4 * p + 0.6 * (1 - p)
    found = designed({"symbols": ["a"]}, epsilon=1, radius=2)
    assert found.certified
    assert found.value <= q * (1 - q) / (2 * p - 1) ** 2 * (1 + 1e-6)


@pytest.mark.combined
@pytest.mark.parametrize("workload", [{"symbols": ["x1"]}, {"symbols": ["x1", "x3"]}, {"marginals": [2, 3]}])
@pytest.mark.parametrize("radius", ["0", "0.2", "2"])
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_few_queries_of_many_symbols_are_certified(workload, radius, epsilon):
    # The best mechanism tells nothing about other directions, so that the information is singular at the optimum.
    ball = md.L1Ball(["4/22", "5/22", "1/22", "2/22", "3/22", "7/22"], radius=radius)
    found = md.design(md.DesignProblem(ball, epsilon, md.EstimationError(workload)))
    assert found.certified
    assert found.lower_bound <= found.value


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("one", "same"),
    [
        ("symbols=a,b,c,d", "frequencies"),
        ("marginals=2x2,ways=2", "frequencies"),
        ("weights=1,1,1,1", "frequencies"),
        ("scores=1,0,0,0", "symbols=a"),
        ("scores=6,5,5,5", "symbols=a"),
        ("matrix=[[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]", "prefix"),
        ("weights=1,1,0,0", "symbols=a,b"),
    ],
)
def test_workloads_that_ask_the_same_have_the_same_error(one, same):
    first, second = designed(one), designed(same)
    assert first.certified
    assert second.certified
    assert first.value == pytest.approx(second.value, rel=2e-6)


def test_weights_multiply_errors():
    # Errors grow with each weight, and with all of them alike.
    plain, double = designed("weights=1,1,2,1"), designed("weights=2,2,4,2")
    assert double.value == pytest.approx(2 * plain.value, rel=2e-6)
    assert designed("frequencies").value <= plain.value * (1 + 2e-6)


@pytest.mark.parametrize(
    "workload", [{"weights": dict(zip(LABELS, [1, 5, 0, 2], strict=True))}, {"symbols": ["c", "b"]}]
)
def test_symbols_may_come_in_another_order(workload):
    other = {label: PRIOR[label] for label in ("c", "a", "d", "b")}
    assert designed(workload, other).value == pytest.approx(designed(workload).value, rel=2e-6)


def test_the_value_of_labelled_data_is_aligned():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    matrix = pd.DataFrame(rng.dirichlet(np.ones(5), 4), index=list(LABELS))
    error = md.EstimationError({"scores": {"d": 4, "a": 0, "c": 2.5, "b": 1}})
    prior = {label: float(p) for label, p in PRIOR.items()}
    plain = md.EstimationError([[0, 1, 2.5, 4]]).value(matrix.to_numpy(), list(prior.values()))
    assert error.value(matrix, prior) == pytest.approx(plain, rel=1e-12)
    assert error.value(matrix.loc[["c", "a", "b", "d"]], prior) == pytest.approx(plain, rel=1e-10)


def test_errors_of_equal_workloads_are_equal():
    assert md.EstimationError("prefix") == md.EstimationError({"name": "prefix"})
    assert hash(md.EstimationError("prefix")) == hash(md.EstimationError(md.Workload.prefix()))
    assert md.EstimationError("prefix") != md.EstimationError()
    assert md.EstimationError() != md.MutualInformation()
    assert repr(md.EstimationError()) == "EstimationError()"
    assert repr(md.EstimationError("prefix")) == "EstimationError(Workload.prefix())"


@pytest.mark.sampled
@pytest.mark.parametrize(
    "workload", ["prefix", "marginals=2x2", "symbols=b,a", "weights=b:1,a:0.1,c:0,d:1", "scores=1,2,4,8"]
)
def test_from_the_command_line_to_verify(tmp_path, capsys, workload):
    from mechdesign.cli.entry_point import run

    counts, file = tmp_path / "counts.csv", tmp_path / "m.json"
    counts.write_text("label,count\na,40\nb,30\nc,20\nd,10\n", encoding="utf-8")
    options = ["--epsilon", "0.7", "--radius", "0.1", "--utility", "estimation-error", "--workload", workload]
    assert run(["design", "--counts", str(counts), *options, "-o", str(file), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["value"] == pytest.approx(designed(workload).value, rel=2e-6)
    objective = md.EstimationError(workload).aligned_with(LABELS)
    assert printed["workload"] == objective.workload_table()
    loaded = md.Mechanism.load(file)
    assert loaded.optimality.utility == objective
    assert run(["verify", str(file)]) == 0
    assert "all claims hold" in capsys.readouterr().out

    table = json.loads(file.read_text(encoding="utf-8"))
    table["optimality"]["workload"] = {"name": "frequencies"}  # which has another error
    file.write_text(json.dumps(table), encoding="utf-8")
    assert run(["verify", str(file)]) == 1


@pytest.mark.parametrize(
    ("workload", "code"),
    [
        ({"nam": "prefix"}, "unknown-key"),
        ({"name": "medians"}, "bad-workload"),
        ({"symbols": ["z"]}, "unknown-label"),
        ({"matrix": [["1", "0"]]}, "wrong-size"),
        (["prefix"], "bad-field"),
    ],
)
def test_a_claim_about_another_workload_is_refused(tmp_path, workload, code):
    file = tmp_path / "m.json"
    designed("prefix").mechanism.save(file)
    table = json.loads(file.read_text(encoding="utf-8"))
    table["optimality"]["workload"] = workload
    file.write_text(json.dumps(table), encoding="utf-8")
    with raises(code):
        md.verify(md.Mechanism.load(file))


def test_a_workload_for_a_utility_is_refused(tmp_path):
    file = tmp_path / "m.json"
    md.design(md.DesignProblem(md.L1Ball([0.6, 0.4]), 1)).mechanism.save(file)
    table = json.loads(file.read_text(encoding="utf-8"))
    assert "workload" not in table["optimality"]
    table["optimality"]["workload"] = {"name": "prefix"}
    file.write_text(json.dumps(table), encoding="utf-8")
    with raises("needless-argument", "'mutual-information'"):
        md.Mechanism.load(file)


@pytest.mark.parametrize("offset", [10**3, 10**9, 10**12, 10**15, -(10**15)])
def test_scores_far_from_0_have_the_error_of_their_differences(offset):
    """Years and times: a number added to all scores adds a known number to their mean."""
    ball = md.L1Ball.from_counts([50, 30, 20], known=True)
    near = md.design(md.DesignProblem(ball, 1.0, md.EstimationError(md.Workload.mean([0, 1, 2]))))
    far = md.EstimationError(md.Workload.mean([offset, offset + 1, offset + 2]))
    found = md.design(md.DesignProblem(ball, 1.0, far))
    assert found.certified
    assert found.value == pytest.approx(near.value, rel=1e-9)
    assert found.lower_bound == pytest.approx(near.lower_bound, rel=1e-9)
    assert far.value(np.full((3, 2), 0.5), ball.prior) == np.inf
    variances = variances_of_matrix(found.mechanism.matrix, ball.prior, far.workload.queries(3))
    np.testing.assert_allclose(variances, [found.value], rtol=1e-9)
    assert variances_of_matrix(np.full((3, 2), 0.5), ball.prior, far.workload.queries(3)) == np.inf


@pytest.mark.combined
@pytest.mark.parametrize("epsilon", ["0.5", "1", "3"])
@pytest.mark.parametrize("radius", ["2", "1.9999", "1.9"])
def test_one_frequency_among_equal_ones_takes_binary_randomized_response(epsilon, radius):
    """Under LDP, and for balls with the same rays; other symbols need not be told apart."""
    error = md.EstimationError(md.utility.Workload.symbols(["x1"]))
    found = md.design(md.DesignProblem(md.L1Ball.from_counts([1] * 9, radius=radius), epsilon, error))
    yes = 1 / (1 + np.exp(-float(epsilon)))
    reported = yes / 9 + (1 - yes) * 8 / 9
    assert found.certified
    assert found.value == pytest.approx(reported * (1 - reported) / (2 * yes - 1) ** 2, rel=1e-6)
