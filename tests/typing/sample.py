"""A first notebook, for type checkers: each name of the public face has a type, and no type is unknown."""

from fractions import Fraction
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import mechdesign as md

ball = md.L1Ball.from_counts({"a": 812, "b": 150, "c": 38}, delta=1e-9)
problem = md.DesignProblem(ball, epsilon=1.0, utility=md.MutualInformation())
assert_type(problem.uncertainty.radius, Fraction)

design = md.design(problem)
assert_type(design, md.Design)
assert_type(design.value, float)
assert_type(design.upper_bound, float)
assert_type(design.gap, float)
assert_type(design.certificate.bound, float)
assert_type(design.mechanism, md.Mechanism)
assert_type(design.report("page.html", compare=False), str)
assert_type(md.report.mechanism_page(design.mechanism), str)
assert_type(design.mechanism.radius, float | None)
assert_type(design.mechanism.lower_leakage, float | None)
assert_type(design.mechanism.guarantee.lower, md.Epsilon | None)
assert_type(md.pml.lower_leakage(design.mechanism.matrix, ball.prior), NDArray[np.float64])
assert_type(design.mechanism.numerators, NDArray[np.int64])

# The set of a problem from a file may be of any class: ask for the ball.
known = md.read_problem("problem.toml").problem.uncertainty
assert_type(known, md.UncertaintySet)
if known.l1_ball is not None:
    assert_type(known.l1_ball.radius, Fraction)

found = md.analyze(md.baselines.k_ary_randomized_response(3, 1), ball)
assert_type(found, md.Analysis)
assert_type(found.share, float | None)
assert_type(found.best, md.Design | None)
assert_type(md.baselines.every(3, 1), tuple[md.baselines.Baseline, ...])
assert_type(md.compare(design, mechanisms=[found.matrix]).others[0].keeps, bool)

assert_type(md.verify(design.mechanism), md.Verification)
assert_type(md.compare(design).best_ldp, md.Design | None)
assert_type(md.leakage(design.mechanism.matrix, ball.prior), NDArray[np.float64])
assert_type(md.epsilon_min(design.mechanism.matrix, ball.prior), float | NDArray[np.float64])
assert_type(md.estimate_frequencies([0, 1], design.mechanism, by=["a", "b"]), md.GroupedEstimate)
assert_type(md.estimate_frequencies([0, 1], design.mechanism).few_reports, bool)
assert_type(md.weissman_radius(1000, 3, 1e-9), float)

assert_type(md.histogram.gshm_delta(3, 1.0, 10.0, 1.0), float)
assert_type(md.planning.plan(3, samples=1000, epsilon=1, delta=1e-5), md.planning.Plan)
assert_type(md.uncertainty.kappa([0.5, 0.3, 0.2]), md.uncertainty.Kappa)
assert_type(md.mechanism.prove(design.mechanism.numerators, 48, design.mechanism.guarantee), md.mechanism.Proof)
assert_type(md.optimize.certify(problem, [0.0, 0.0, 0.0]), md.optimize.Certificate)
assert_type(md.pml.worst_case_leakage(design.mechanism.matrix, ball), md.pml.WorstCase)
assert_type(md.pml.tail_after_post_processing([[1.0]], [1.0], 1), md.pml.TailAfterPostProcessing)
assert_type(md.WorstCaseUtility(md.MutualInformation()).value_over(design.mechanism.matrix, ball), float)
assert_type(md.deploy.count_reports(md.deploy.RecordFile("r.csv", "a"), ("y1",)), NDArray[np.int64])
FOLDER = md.deploy.RecordFile("records", "a")
assert_type(md.deploy.privatize_dataset(FOLDER, design.mechanism, "reports"), md.deploy.PrivatizedDataset)
assert_type(md.deploy.count_dataset(FOLDER, design.mechanism).counts, NDArray[np.int64])
counted = md.deploy.count_reports(md.deploy.RecordFile("r.csv", "a"), ("y1",), by=["region"])
assert_type(counted, md.deploy.GroupCounts)
assert_type(md.estimate_frequencies(counted, design.mechanism), md.GroupedEstimate)
assert_type(md.deploy.leakage_of_values(design.mechanism, 2), float | None)
assert_type(design.mechanism.fingerprint, str)
assert_type(md.Key.generate().for_attribute("a"), md.Key)
assert_type(md.additive_noise.laplace_epsilon(1.0, 0.3), float)
assert_type(md.utility.utility_by_name("mutual-information"), md.utility.Objective)
assert_type(md.sweep([problem], baselines=["best-ldp"]), md.SweepResult)
assert_type(md.sweep([problem])[0].mechanism, md.Mechanism | None)

# Frames and axes are of libraries that need not be there, so their types are open; what is asked for them is not.
design.mechanism.to_frame("polars")
design.mechanism.leakage_frame(library="pandas")
assert_type(design.mechanism.proof.leakages, tuple[float, ...])
assert_type(md.compare(design).rows[0].value_in_words, str)
axes = md.plot.matrix(design.mechanism)
md.plot.values({"one": [design]}, axes)
md.plot.frequencies(md.estimate_frequencies([0, 1], design.mechanism), truth={"a": 0.5})
design.mechanism.save("m.csv", probabilities=True)
