"""Sets of limits as factors of a product: design, files, verification."""

import numpy as np
import pytest

import mechdesign as md
from mechdesign.uncertainty import Box, EventSet, L1Box, LowerLimits, RelativeBall

COUNTS = {"a": 40, "b": 35, "c": 25}
OTHER = md.L1Ball.from_counts({"u": 70, "v": 50}, delta="1e-3")
KINDS = [LowerLimits, Box, L1Box, RelativeBall, EventSet]
PROBLEM = """\
title = "A product"

epsilon = "1"
utility = "hamming-accuracy"
[prior]
labels = ["a", "b"]
probabilities = ["0.5", "0.5"]
"""


@pytest.mark.combined
@pytest.mark.parametrize("made", KINDS)
@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
def test_a_factor_of_every_kind(made, first, tmp_path):
    factor = made.from_counts(COUNTS, "1e-3")
    known = md.ProductSet(factor, OTHER) if first else md.ProductSet(OTHER, factor)
    assert float(known.delta) == pytest.approx(2e-3)
    problem = md.DesignProblem(known, 1, md.HammingAccuracy())
    solved = md.design(problem)
    assert solved.certified
    solved.mechanism.save(tmp_path / "m.json")
    loaded = md.Mechanism.load(tmp_path / "m.json")
    assert loaded.guarantee.uncertainty == known
    assert md.verify(loaded).optimal
    # A product of smaller sets allows more: no set here is larger than that of differential privacy.
    assert solved.value >= md.design(md.DesignProblem(md.L1Ball(known.center, 2), 1, md.HammingAccuracy())).value - 1e-9
    (tmp_path / "p.toml").write_text(PROBLEM)
    file = md.read_problem(tmp_path / "p.toml")
    md.write_problem(tmp_path / "q.toml", type(file)(**{**vars(file), "problem": problem}))
    assert md.read_problem(tmp_path / "q.toml").problem.uncertainty == known


@pytest.mark.parametrize("made", KINDS)
def test_the_worst_joint_prior_is_a_worst_conditional_under_a_worst_marginal(made):
    factor, rng = made.from_counts(COUNTS, "1e-3"), np.random.default_rng(2)
    known = md.ProductSet(factor, OTHER)
    for column in rng.integers(0, 9, (10, 6)).tolist():
        value, worst = known.exact_worst_mean(column)
        assert sum(q * v for q, v in zip(worst, column, strict=True)) == value
        assert known.contains(worst)
        assert known.support(np.array(column)[:, None])[0] == pytest.approx(float(value))


@pytest.mark.slow
@pytest.mark.parametrize("made", KINDS)
def test_mutual_information_over_a_product(made):
    solved = md.design(md.DesignProblem(md.ProductSet(OTHER, made.from_counts(COUNTS, "1e-3")), 1))
    assert solved.certified
    assert md.verify(solved.mechanism).optimal
