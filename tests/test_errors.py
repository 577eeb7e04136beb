"""Each code of an error: a way to provoke it, and the whole sentence. Other tests hold codes alone."""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import pickle
import re
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from matrices import mechanism_of, randomized_response
from measures import sources
from refusals import KINDS, raises
from registries import separate_registries

import mechdesign as md
from mechdesign.cli.entry_point import run
from mechdesign.comparison.report_plan import plan_reports
from mechdesign.data.group_keys import key_type
from mechdesign.deploy.likelihood import maximum_likelihood
from mechdesign.engine.tasks import run_tasks
from mechdesign.mechanism.table_claims import TableClaim, TableConstraints
from mechdesign.optimize.closed_form import ClosedForm
from mechdesign.optimize.estimation.few_outputs import with_few_outputs
from mechdesign.sweeps import read_sweep

PROBLEM = """
title = "Three"
epsilon = 1
utility = "mutual-information"

[prior]
counts = { a = 1, b = 2, c = 3 }
known = true
"""
GRID = """
title = "One point"
epsilon = 1
utility = "mutual-information"
radius = 0

[[source]]
name = "three"
counts = { a = 1, b = 2, c = 3 }
"""
PROVOKED: dict[str, tuple[Callable[[pytest.MonkeyPatch], object], str]] = {}
CLASSES = {kind.__name__: kind for kind in {*KINDS.values()}}
EVEN = md.L1Ball(["1/2", "1/2"], 2)


def provokes(sentence):
    """Keep a function under the code that it is named after."""

    def keep(function):
        PROVOKED[function.__name__.strip("_").replace("_", "-")] = function, sentence
        return function

    return keep


def mechanism():
    ball = md.L1Ball(["1/2", "1/2"], 2, labels=["no", "yes"])
    return md.Mechanism([[3, 1], [1, 3]], 2, md.Guarantee("log(3)", ball))


def command(*arguments):
    """Run a command and raise the error that its last line on standard error names."""
    with contextlib.redirect_stderr(io.StringIO()) as printed, contextlib.redirect_stdout(io.StringIO()):
        status = run(arguments)
    message, code = re.fullmatch(r"Error: (.*) \[(.*)\]", printed.getvalue().splitlines()[-1]).groups()
    assert status == KINDS[code].exit_status
    raise KINDS[code](message, code)


def put(name, content):
    Path(name).write_text(content, encoding="utf-8")
    return name


def failing(error):
    def fail(*arguments, **options):
        raise error

    return fail


def privatize(*records):
    """Privatize a folder whose one part holds some records."""
    Path("records").mkdir(exist_ok=True)
    if records:
        put("records/a.csv", "\n".join(["kind", *records]))
    reports = md.deploy.ReportFile("out")
    return md.deploy.privatize_dataset(md.deploy.RecordFile("records", "kind"), mechanism(), reports)


@provokes("the center of a box is outside its bounds; give lower <= center <= upper for each category")
def input_(patch):
    with separate_registries():
        from tests.outside.box_set import Box

    Box([0.1, 0.2], [0.6, 0.5], [0.9, 0.1])


@provokes("the mechanism is of type str; give a Mechanism, such as Mechanism.load(path)")
def wrong_type(patch):
    md.verify("m.json")


@provokes("the analysis is 'best'; accepted: proved, jensen, theorem-21")
def unknown_choice(patch):
    md.histogram.DiscretePlan.of(1, epsilon=1, delta="1e-6", analysis="best")


@provokes(
    "probability 1 of the center is a str; give a number, or a decimal as text; if these are records, use "
    "L1Ball.from_samples"
)
def not_a_number(patch):
    md.L1Ball(["0,5", "0.5"])


@provokes("k is 0; accepted: a whole number from 1 to 1000000000")
def not_a_whole_number(patch):
    md.histogram.discrete_threshold(0, 9, 1, "1e-6")


@provokes("tol is 2; accepted: a number between 0 and 1, such as 1e-6")
def out_of_range(patch):
    md.design(md.DesignProblem(EVEN, 1), tol=2)


@provokes("epsilon is -1; accepted: a number from 0 to 700")
def epsilon_out_of_range(patch):
    md.DesignProblem(EVEN, -1)


@provokes("delta is 2; accepted: a probability of failure in [0, 1)")
def delta_out_of_range(patch):
    md.L1Ball.from_counts([3, 4], delta=2)


@provokes("the radius is 3; accepted: 0 (known prior) to 2 (any prior)")
def radius_out_of_range(patch):
    md.L1Ball(["1/2", "1/2"], 3)


@provokes("probability 2 of the center is '1e-999'; give an exponent between -400 and 400")
def too_many_digits(patch):
    md.L1Ball(["0.5", "1e-999"])


@provokes("probability 2 of the center is -0.5; accepted: 0 or more")
def not_probabilities(patch):
    md.L1Ball(["3/2", "-1/2"])


@provokes("the center sums to 0.9; accepted: 1, give or take 1e-09")
def wrong_sum(patch):
    md.L1Ball([0.5, 0.4])


@provokes("there are 3 labels for 2 categories; give one label a category")
def wrong_size(patch):
    md.L1Ball([0.5, 0.5], labels=["a", "b", "c"])


@provokes("200 and 200 categories make 40000 pairs; accepted: at most 10000")
def too_many_given(patch):
    md.ProductSet(md.L1Ball.from_counts(range(1, 201), radius=1), md.L1Ball.from_counts(range(1, 201), radius=1))


@provokes("there are no reports; give at least one")
def nothing_given(patch):
    md.estimate_frequencies([], mechanism())


@provokes("ids are given without a key; give the key of permanent reports too, or leave ids out")
def missing_argument(patch):
    mechanism().privatize(["no"], ids=["ann"])


@provokes("delta 0.1 and radius 0.1 are both given; give one of them")
def conflicting_arguments(patch):
    md.L1Ball.from_counts([3, 4], delta=0.1, radius=0.1)


@provokes("the utility 'mutual-information' takes no matrix; leave it out")
def needless_argument(patch):
    md.utility.utility_by_name("mutual-information", matrix=[[1, 0], [0, 1]])


@provokes(
    "nothing says how far the counts may be from the truth; give one of delta= (the counts are a sample), radius= "
    "and known=True (they are the distribution itself)"
)
def radius_or_delta_missing(patch):
    md.L1Ball.from_counts([3, 4])


@provokes(
    "No such option '--epsilom'. (Did you mean one of: '--epsilon', '--plot', '--version'?); see mechdesign design "
    "--help"
)
def usage(patch):
    command("design", "--epsilom", "1")


@provokes("a frame needs polars, and it is not installed; install it by pip")
def missing_package(patch):
    patch.setitem(sys.modules, "polars", None)
    md.estimate_frequencies([0, 1], mechanism()).to_frame("polars")


@provokes(
    "records[1] is not among the categories (show_values prints it); accepted: 'no', 'yes', or name the label that "
    "unknown values are taken for (unknown)"
)
def unknown_label(patch):
    mechanism().privatize(["no", "maybe"])


@provokes("the label 'a' occurs twice; labels must differ")
def label_twice(patch):
    md.L1Ball([0.5, 0.5], labels=["a", "a"])


@provokes("the label ' b' begins or ends with white space, which fields of CSV files lose; strip it")
def bad_label(patch):
    md.L1Ball([0.5, 0.5], labels=["a", " b"])


@provokes("the joint label 'aaa' would stand for two combinations; give another separator than '', or other labels")
def ambiguous_labels(patch):
    md.ProductSet(*[md.L1Ball([0.5, 0.5], labels=["a", "aa"])] * 2, separator="")


@provokes(
    "the set 'g2' has the labels 'a', 'c', and the first set 'a', 'b'; give all sets the same labels in the same order"
)
def labels_differ(patch):
    md.Union([md.L1Ball([0.5, 0.5], labels=["a", "b"]), md.L1Ball([0.5, 0.5], labels=["a", "c"])])


@provokes("records[1] is missing; name the label that missing values are taken for (missing)")
def missing_value(patch):
    mechanism().privatize(["no", None])


@provokes(
    "the records are a dict; accepted: a list, a one-dimensional numpy array, a pandas or polars Series, or a "
    "pyarrow array"
)
def wrong_record_type(patch):
    mechanism().privatize({"no": 1})


@provokes("the count of 'a' is 1.5; accepted: a whole number from 0 to 10^15")
def not_counts(patch):
    md.L1Ball.from_counts({"a": 1.5, "b": 2}, known=True)


@provokes(
    "ids[0] is a float; accepted: text or integers, as int(id) gives them; with missing values pandas turns integers "
    "into floats"
)
def bad_id(patch):
    mechanism().privatize(["no"], key=md.Key(bytes(32)), ids=[0.5])


@provokes("there is no group 'west'; accepted: one of .groups, such as north")
def unknown_group(patch):
    md.estimate_frequencies([0, 1], mechanism(), by=["north", "south"])["west"]


@provokes("the center has 1 probabilities; give at least two")
def too_few_categories(patch):
    md.L1Ball([1])


@provokes(
    "the category 'x2' has probability 0 under a known prior, where leakage is defined on the support only; leave it "
    "out, or give a positive radius or delta"
)
def never_occurs(patch):
    md.L1Ball([1, 0])


@provokes("the reference prior lies outside the uncertainty set; give a member, such as its center")
def prior_outside_set(patch):
    ball = md.L1Ball(["0.5", "0.5"], "0.1")
    md.pml.leakage_sensitivity(np.eye(2), ["0.56", "0.44"], ball)


@provokes(
    "lower is '1' for a ball as printed, which may leave the simplex; give the ball within the simplex "
    "(within_simplex = true)"
)
def ball_leaves_simplex(patch):
    md.DesignProblem(md.L1Ball([0.5, 0.5], 0.1, within_simplex=False), 1, lower=1)


@provokes(
    "the set 'g1' is a Union, which is made of other sets; give the sets of a union one by one, and the product of "
    "unions in place of a union of products"
)
def set_not_accepted(patch):
    md.Union([md.Union([EVEN])])


@provokes("the lower limits sum to 1.1; accepted: at most 1")
def limits_contradict(patch):
    md.uncertainty.Box([0.9, 0.2], [1, 1], center=[0.8, 0.2])


@provokes(
    "the counts are of 4 samples, and samples is 1000000000; leave samples out, or give probabilities with samples, "
    "which are then asserted, instead of counts"
)
def evidence_contradicts(patch):
    md.L1Ball.from_counts([3, 1], delta="1e-9", samples=10**9)


@provokes(
    "f is not supermodular: f(S) + f(T) is above f(S or T) + f(S and T) for the sets ('x1',) and ('x2',); say "
    "supermodular=False, or give another f"
)
def not_supermodular(patch):
    md.uncertainty.LowerFunction(lambda S: "0.3" if len(S) == 1 else 0, ["1/3"] * 3, supermodular=True)


@provokes("delta is 0: no number of samples is enough; give a delta above 0")
def not_enough_samples(patch):
    md.planning.samples_for(1, 2, 0, 3)


@provokes(
    "the workload 'prefixes' is unknown; accepted: frequencies, prefix, marginals=2x3, symbols=a,b, weights=1,2 or "
    "scores=1,2"
)
def bad_workload(patch):
    md.Workload.of("prefixes")


@provokes("all 2 weights of the workload are 0, so that nothing is estimated; give one above 0")
def nothing_to_estimate(patch):
    md.Workload.of({"weights": [0, 0]})


@provokes(
    "'chi-square' is not known to be concave in the prior, so that no method finds its least value over a set; "
    "accepted: mutual-information, and gains such as hamming-accuracy"
)
def wrong_objective(patch):
    md.WorstCaseUtility(md.ChiSquare())


@provokes("f(1) is 1 for the utility 'line'; accepted: f(1) = 0")
def not_an_f_information(patch):
    md.FInformation(lambda u: u, name="line")


@provokes("f of the utility 'imaginary' returns values of type complex128; accepted: real numbers")
def function_fails(patch):
    md.FInformation(lambda u: 1j * u, name="imaginary")


@provokes("a utility named 'mutual-information' is registered already; give the class another name")
def bad_registration(patch):
    md.utility.register(type("Again", (md.MutualInformation,), {}))


@provokes("the utility 'mine' has no name in problem files; use a named utility")
def no_file_format(patch):
    square = md.FInformation(lambda u: (u - 1) ** 2, name="mine")
    md.write_problem("p.toml", md.ProblemFile("mine", md.DesignProblem(EVEN, 1, square)))


@provokes(
    "method is gain-program, which does not cover this problem: mutual-information is not a gain at the estimate; "
    "accepted here: count-tables, extreme-rays, knapsack, boxes"
)
def method_does_not_cover(patch):
    md.design(md.DesignProblem(EVEN, 1), method="gain-program")


@provokes(
    "no table keeps floors up to 0.9 (a) and the counts at epsilon = 0.5; the least epsilon is 0.993252: give a larger "
    "one, lower floors or fewer pairs"
)
def constraints_infeasible(patch):
    md.design_table({"a": 30, "b": 60}, "0.5", known=True, floors={"a": "0.9"})


@provokes(
    "least squares needs linearly independent rows, but the mechanism cannot tell apart 'x0, x1, x2'; use method "
    '"maximum-likelihood"'
)
def not_identifiable(patch):
    md.estimate_frequencies({"y0": 5}, mechanism_of(np.ones((3, 1))), method="least-squares")


@provokes("categories are in unequal numbers of blocks; accepted: each in as many")
def not_a_block_design(patch):
    md.baselines.block_design(3, 1, [[0, 1]])


@provokes("sigma is 0.1, with which no threshold reaches delta = 1e-06; accepted: 3.203813934179424 or more")
def no_noise_enough(patch):
    md.histogram.discrete_threshold(1, "0.1", 1, "1e-6")


@provokes(
    "2 counters are above 0, more than k = 1; give a k that holds for every data set that is possible, or release "
    "the k largest (TopKPlan, `histogram top-k`)"
)
def too_many_counters(patch):
    plan = md.histogram.DiscretePlan.of(1, epsilon=1, delta="1e-6")
    md.histogram.release({"a": 1, "b": 2}, plan)


@provokes(
    "csh draws its noise as floats, whose last bits may tell more than the analysis for real numbers says; pass "
    "allow_float_noise=True (--allow-float-noise) to accept that, or take discrete noise (DiscretePlan, TopKPlan, "
    "`histogram discrete`, `histogram top-k`)"
)
def float_noise(patch):
    md.histogram.release({"a": 1}, md.histogram.CshPlan.of(1, epsilon=1, delta="1e-6"))


@provokes("cannot read absent.json: No such file or directory; give a mechanism file")
def cannot_read(patch):
    md.Mechanism.load("absent.json")


@provokes("cannot write absent/m.json: there is no folder absent; give a path in one")
def cannot_write(patch):
    mechanism().save("absent/m.json")


@provokes(
    "key exists, and a key that is replaced is lost: reports under another key are second reports; give another "
    "name, or keep this key"
)
def file_exists(patch):
    md.Key(bytes(32)).write("key")
    md.Key(bytes(32)).write("key")


@provokes("the output r.csv is the input; give another name")
def same_file(patch):
    records = md.deploy.RecordFile(put("r.csv", "a\nno\n"), "a")
    md.deploy.privatize_file(records, mechanism(), "r.csv")


@provokes("the file 'm.txt' ends in '.txt'; accepted: .json, .npz, .csv, or - for standard output")
def wrong_file_ending(patch):
    mechanism().save("m.txt")


@provokes("p.toml has more than 9 bytes; accepted: at most 9")
def file_too_large(patch):
    patch.setattr("mechdesign.problem_file._MOST_BYTES", 9)
    md.read_problem(put("p.toml", PROBLEM))


@provokes("m.json is not JSON (Expecting property name enclosed in double quotes, line 1); give a mechanism file")
def wrong_file_format(patch):
    md.Mechanism.load(put("m.json", "{"))


@provokes("m.json is not UTF-8 (byte 0); give a mechanism file")
def not_utf8(patch):
    Path("m.json").write_bytes(bytes([255]))
    md.Mechanism.load("m.json")


@provokes("m.npz holds ['other']; accepted: json, numerators, matrix as saved")
def damaged_file(patch):
    np.savez("m.npz", other=np.ones(1))
    md.Mechanism.load("m.npz")


@provokes(
    "p.toml: the key 'gains' is unknown; accepted: cap, citation, distortion, epsilon, expected, gain, lower, "
    "maximal_leakage, prior, title, utility, workload"
)
def unknown_key(patch):
    md.read_problem(put("p.toml", PROBLEM + "[gains]\n"))


@provokes("p.toml: the key 'title' is missing; add it")
def missing_key(patch):
    md.read_problem(put("p.toml", "epsilon = 1"))


@provokes("p.toml: epsilon is True; accepted: a number, or a text that states one")
def bad_field(patch):
    md.read_problem(put("p.toml", PROBLEM.replace("epsilon = 1", "epsilon = true")))


@provokes("workload.ways is 2 beside scores; it belongs to marginals; leave it out")
def key_out_of_place(patch):
    md.Workload.of({"scores": [1, 2], "ways": 2})


@provokes("workload has weights, scores; accepted: one of name, marginals, symbols, weights, scores, matrix")
def conflicting_keys(patch):
    md.Workload.of({"scores": [1, 2], "weights": [1, 2]})


@provokes(
    "c.csv, line 2: 3 fields (--show-values prints it); accepted: two, a label and its count, separated by a comma"
)
def malformed_table(patch):
    command("design", "--counts", put("c.csv", "label,count\nno,3,4\n"), "--known", "--epsilon", "1")


@provokes("c.csv: the first line is data (--show-values prints it), not a header; pass --no-header")
def first_line_is_data(patch):
    command("design", "--counts", put("c.csv", "no,3\nyes,4\n"), "--known", "--epsilon", "1")


@provokes(
    "d.csv: the column 'c' is missing in the first line; accepted: 'a', 'b', or, if that line is data, an index with "
    "--no-header"
)
def unknown_column(patch):
    command("design", "--data", put("d.csv", "a,b\n1,2\n"), "--column", "c", "--known", "--epsilon", "1")


@provokes("the group column 'a' is the column of reports; group by what is known beside them")
def column_twice(patch):
    records = md.deploy.RecordFile(put("r.csv", "a\nno\n"), "a")
    md.deploy.count_reports(records, mechanism(), by=["a"])


@provokes(
    "the column x is of type double; accepted for groups: text, integers, truth values, dates, times and decimals; "
    "floats are not: equal numbers may differ in their last digits; make them integers or text"
)
def wrong_column_type(patch):
    import pyarrow as pa

    key_type(pa.float64(), "the column x")


@provokes(
    "the folder HERE/out holds 'notes.txt' and no manifest of reports; give an empty folder, or the path of a new one"
)
def stray_file(patch):
    Path("out").mkdir()
    put("out/notes.txt", "")
    privatize("no")


@provokes(
    "records/a.csv is a csv file, and records/b.parquet is a parquet file; accepted: one kind, which a glob can choose"
)
def parts_differ(patch):
    Path("records").mkdir()
    put("records/a.csv", "kind\nno\n")
    put("records/b.parquet", "")
    privatize()


@provokes(
    "HERE/out/a.csv is gone, and its reports were published; a second report about a record leaks more than one, so "
    "put it back"
)
def second_report(patch):
    privatize("no")
    Path("out/a.csv").unlink()
    privatize("no")


@provokes(
    "the report 'y1-00c0de' is by another mechanism: its name ends in 00c0de, and those of this one in b0d9d8; give "
    "the mechanism that made the reports"
)
def wrong_mechanism(patch):
    md.estimate_frequencies({"y1-00c0de": 5}, mechanism())


@provokes("the reference has 20 records, and 30 prove the mechanism; give the counts of these")
def wrong_sample(patch):
    windows = md.windows.design_windows({"a": 20, "b": 10}, 1, known=True, seeds=2, buckets=8).mechanism
    md.windows.estimate_strings(windows.privatize(["a"]), windows, ["a"], {"a": 2 / 3})


@provokes(
    "a key does not leave its process, since what is sent to others may be written to logs and disks; give the path "
    "of its file, or KeyFile(path, attribute), which each process reads"
)
def key_exposed(patch):
    pickle.dumps(md.Key(bytes(32)))


@provokes(
    "there is no scheduler at 'tcp://127.0.0.1:1' ('Timed out trying to connect to tcp://127.0.0.1:1 after 1 s'); "
    "give the address that dask scheduler prints"
)
def cluster_not_ready(patch):
    patch.setattr("mechdesign.engine.executors._SECONDS_TO_CONNECT", 1)
    command("sweep", put("grid.toml", GRID), "-o", "results", "--scheduler", "tcp://127.0.0.1:1")


@provokes("grid.toml: three: epsilon is '-1'; accepted: a number from 0 to 700")
def point_refused(patch):
    read_sweep(put("grid.toml", GRID.replace("epsilon = 1", "epsilon = -1")))


@provokes("the guarantee is false: output 'y1-79e0f5' and 1 more leak up to 1.94591015 nats, above epsilon = log(3)")
def guarantee_false(patch):
    md.Mechanism([[7, 1], [1, 7]], 3, md.Guarantee("log(3)", EVEN))


@provokes("m.json: delta 0.1 is claimed with 70 samples, and the counts are of 7; the claimed delta is false")
def delta_false(patch):
    ball = md.L1Ball.from_counts([3, 4], delta="0.1")
    md.design(md.DesignProblem(ball, 1)).mechanism.save("m.json")
    text = Path("m.json").read_text(encoding="utf-8")
    md.Mechanism.load(put("m.json", text.replace('"samples": 7', '"samples": 70')))


@provokes("the table is not invariant: the expected share of 'no' is 0.625, and its share 0.5")
def constraint_false(patch):
    claim = TableClaim(TableConstraints((Fraction(0), Fraction(0))))
    half = md.L1Ball(["1/2", "1/2"], labels=["no", "yes"])
    md.Mechanism([[3, 1], [2, 2]], 2, md.Guarantee(1, half), ("no", "yes"), table=claim)


@provokes("the stored value is 0.5, but that of the integers is 0.110944071671724")
def optimality_false(patch):
    made = md.design(md.DesignProblem(EVEN, 1)).mechanism
    md.verify(replace(made, optimality=replace(made.optimality, value=0.5)))


@provokes(
    "the reports 'y1-fc2f5c & y2-fc2f5c' about one record leak without bound: under some prior of the set only "
    "categories of probability 0 can cause them; repeat fewer times, or report by a mechanism that excludes fewer "
    "categories"
)
def unbounded_leakage(patch):
    md.Mechanism(
        [[1, 1, 0], [1, 0, 1], [0, 1, 1]], 1, md.Guarantee("log(3)", md.L1Ball(["1/3", "1/3", "1/3"], "2/3"))
    ).repeated(2)


@provokes(
    "integers over 2^48 that keep epsilon = 1 move a probability by 0.0999, which rounding does not explain (at most "
    "1e-09); give more bits, or use Mechanism.repaired"
)
def rounding_moves_too_far(patch):
    patch.setattr("mechdesign.mechanism.rounding._rounded", lambda *given: None)
    md.Mechanism.from_matrix([[0.5, 0.5], [0.6, 0.4]], md.Guarantee(1, md.L1Ball(["0.999", "0.001"])))


@provokes("the sampler returned the code 5, of which nothing is proved; the outputs of the mechanism have codes 0 to 1")
def sampler_wrong(patch):
    md.deploy.audit(mechanism(), 10, sampler=lambda codes: codes + 5)


@provokes(
    "the counts of heavy ('the sample') are those of the sample: heavy strings that the sample chooses make its proof "
    "void; give counts of other data, or both parts of split_sample(sample)"
)
def sample_proves_itself(patch):
    counts = {"one": 300, "two": 200}
    md.windows.design_windows(counts, 1, delta="1e-3", heavy=md.windows.SeparateCounts(counts, "the sample"))


@provokes("the cover has radius 1, and the set 'g1' reaches 2 away from its center; the cover does not hold the set")
def cover_too_small(patch):
    md.Union([EVEN], cover=md.L1Ball([0.5, 0.5], 1))


@provokes("HIGHS failed (no basis), CLARABEL failed (no basis); change epsilon or radius a little")
def solver_failed(patch):
    import cvxpy

    patch.setattr(cvxpy.Problem, "solve", failing(cvxpy.SolverError("no basis")))
    md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1, md.HammingAccuracy()))


@provokes(
    "the likelihood found may be 82.4 nats below the greatest; accepted: 1e-06; add up the counts of outputs that "
    "hardly ever occur, in reports and mechanism"
)
def not_converged(patch):
    patch.setattr("mechdesign.deploy.likelihood._MOST_STEPS", 3)
    maximum_likelihood(randomized_response(5, 3.0), np.array([900.0, 40, 30, 20, 10]))


@provokes("the search found no mechanism with at most 2 outputs that determines every query; allow more outputs")
def no_mechanism_found(patch):
    patch.setattr("mechdesign.optimize.estimation.few_outputs._STARTS", 0)
    columns = 3 * randomized_response(3, 4.0)
    with_few_outputs(columns / 3, 2, np.full(3, 1 / 3), np.eye(3), lambda point, wanted: np.empty((3, 0)))


@provokes(
    "the theorem 'a wrong theorem' reaches 1.02965301406, above the certified bound 0.727219473113; this is a defect "
    "of mechdesign, please report it with the problem"
)
def defect(patch):
    wrong = ClosedForm("a wrong theorem", np.eye(3), optimal=True)
    patch.setattr("mechdesign.optimize.designer.closed_forms", lambda problem: [wrong])
    md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1))


@provokes(
    "no exact method lists the extreme rays of a ProductSet of more than 8 categories, and this one has 9; use an "
    "L1Ball that contains it, or a gain utility such as hamming-accuracy"
)
def no_method(patch):
    three = md.L1Ball.from_counts([1, 2, 3], radius="0.1")
    md.design(md.DesignProblem(md.ProductSet(three, three), 1, md.EstimationError()))


@provokes(
    "optimality is claimed for 2 categories; such claims are checked for at most 1, but the guarantee holds ("
    "mechdesign verify --guarantee-only)"
)
def too_much_work(patch):
    patch.setattr("mechdesign.optimize.verification._MOST_SYMBOLS", 1)
    md.verify(md.design(md.DesignProblem(EVEN, 1)).mechanism)


@provokes(
    "the bound was not recomputed in the time given, so that the claim of optimality is neither confirmed nor refuted; "
    "the guarantee holds; give more time, or none (mechdesign verify --guarantee-only)"
)
def bound_not_recomputed(patch):
    hull = md.ConvexHull([[f"{k}/351" for k in range(1, 27)], [f"{27 - k}/351" for k in range(1, 27)]])
    md.verify(md.design(md.DesignProblem(hull, 1), time_limit=0).mechanism, time_limit=0)


@provokes(
    "delta leaves 1e-60 for new counters, less than the tables of about 1e-48 can show; give a larger sigma or a "
    "larger delta"
)
def beyond_precision(patch):
    md.histogram.discrete_threshold(2, 2 * md.histogram.discrete_least_sigma(2, 1, "1e-60"), 1, "1e-60")


@provokes(
    "no integers over 2^1 close to the exact mechanism keep epsilon = 0; give more bits, or merge outputs with "
    "`then` first"
)
def too_few_bits(patch):
    alike = md.Mechanism([[3, 1], [3, 1]], 2, md.Guarantee(0, EVEN))
    alike.product(alike, bits=1)


@provokes(
    "epsilon = 1e-20 is too small: in whole numbers over 2^48, reports of the design do not determine the answer of "
    "every query; give a larger epsilon"
)
def design_not_identifiable(patch):
    md.design(md.DesignProblem(EVEN, "1e-20", md.EstimationError()))


@provokes(
    "epsilon = 0 allows only the constant mechanism, whose reports say nothing: no number of them is enough; give an "
    "epsilon above 0"
)
def no_reports_enough(patch):
    plan_reports(md.DesignProblem(EVEN, 0, md.EstimationError()), reports=10)


@provokes(
    "the executor ended before its tasks did ('cannot schedule new futures after shutdown'): a process was killed or "
    "ended with a message of its own, or a scheduler went away; what is finished stays, and the same command goes on "
    "from there"
)
def workers_ended(patch):
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    list(run_tasks(abs, [-1], pool))


@provokes("out of memory; give smaller inputs, or run where there is more")
def out_of_memory(patch):
    patch.setattr("mechdesign.cli.design.design", failing(MemoryError()))
    command("design", put("p.toml", PROBLEM))


@provokes("stopped by a signal; run the command again")
def interrupted(patch):
    patch.setattr("mechdesign.cli.design.design", failing(KeyboardInterrupt()))
    command("design", put("p.toml", PROBLEM))


@provokes(
    "the package highspy is not installed, which this command needs; pip install mechdesign installs all packages"
)
def incomplete_installation(patch):
    patch.setattr(
        "mechdesign.cli.design.design", failing(ModuleNotFoundError("No module named 'highspy'", name="highspy"))
    )
    command("design", put("p.toml", PROBLEM))


@provokes(
    "internal error (RuntimeError: a fault); set MECHDESIGN_TRACEBACK=1 to see the traceback and please report it"
)
def internal_error(patch):
    patch.setattr("mechdesign.cli.design.design", failing(RuntimeError("a fault")))
    command("design", put("p.toml", PROBLEM))


@provokes(
    "the gap 1.1e-12 is not within tol 1e-30; what helps: more --bits than 48, a larger --tol, or a smaller epsilon"
)
def not_certified(patch):
    command("design", put("p.toml", PROBLEM), "--tol", "1e-30")


@provokes(
    "there is no program coqc, which checks the proof; install Coq 8.16 or later (Debian: apt-get install coq), or "
    "keep the certificate by --write FILE.v and check it elsewhere"
)
def not_machine_checked(patch):
    patch.setenv("PATH", "")
    mechanism().save("m.json")
    command("verify", "m.json", "--machine-checked")


@provokes(
    "1 of 2 problems have no design; the first, three at epsilon = 0: epsilon = 0 allows only the constant "
    "mechanism, whose reports say nothing: its estimation error is infinite; give a larger epsilon"
)
def no_design(patch):
    grid = GRID.replace("epsilon = 1", "epsilon = [0, 1]").replace("mutual-information", "estimation-error")
    command("sweep", put("grid.toml", grid), "-o", "results")


@pytest.mark.parametrize("code", sorted(KINDS))
def test_every_code_has_a_sentence(code, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    provoke, sentence = PROVOKED[code]
    with raises(code) as caught:
        provoke(monkeypatch)
    assert str(caught.value).replace(str(tmp_path), "HERE") == sentence


def test_every_error_of_the_package_has_a_code_of_its_own_class():
    """A message alone has a general code, which is for sets and utilities of other packages."""
    made = set()
    for path, source in sources().items():
        for node in ast.walk(ast.parse(source if "Error" in source else "")):
            match node:
                case ast.Call(ast.Name(name)):
                    assert name not in CLASSES, f"{path}, line {node.lineno}: give a code, as in {name}.wrong_type(...)"
                case ast.Attribute(ast.Name(name), word) if name in CLASSES and word not in {"exit_status", "code"}:
                    made.add(word.replace("_", "-"))
                    assert KINDS[word.replace("_", "-")].__name__ == name, f"{path}, line {node.lineno}"
    assert made == set(KINDS) - {"input"}


def test_a_message_alone_has_the_general_code_of_its_class():
    for kind in CLASSES.values():
        assert KINDS[kind("a message").code] is kind
    assert md.InputError("a message").code == "input"


@pytest.mark.parametrize("code", sorted(KINDS))
def test_errors_keep_their_code(code):
    """Also from process to process, and with another message."""
    error = getattr(KINDS[code], code.replace("-", "_"))("a message")
    for same in (error, pickle.loads(pickle.dumps(error)), copy.copy(error), error.reworded("f.toml: a message")):
        assert (type(same), same.code) == (KINDS[code], code)
    assert str(error.reworded("f.toml: a message")) == "f.toml: a message"


def test_codes_are_short_words_with_hyphens():
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code) and len(code) <= 24 for code in KINDS)
