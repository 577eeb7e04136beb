"""The challenge set: what its files prove, and solutions that are judged."""

import functools
import json
import lzma
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

import mechdesign as md
from benchmarks import instances as generated
from challenges.__main__ import challenges
from challenges.instances import FOLDER, families, instance, instances, packed
from challenges.judge import judged
from challenges.known import all_known, is_weaker, known_of, read_known
from challenges.page import PAGE, page
from challenges.solutions import prove, read_solution
from challenges.worth import Worth, worth
from mechdesign.errors import GuaranteeError, InputError
from mechdesign.mechanism import ExactMatrix

RACE = "adult-race-box"
LABELS = ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")
QUICK = (RACE, "binary-border", "adult-workclass-gain", "adult-secret-sex-occupation", "adult-relationship-frequencies")


@functools.cache
def best(name):
    return packed(instance(name).best_path)


def test_each_instance_has_a_name_of_its_own_a_problem_and_a_best_mechanism():
    names = [each.name for each in instances()]
    assert len(names) == len(set(names)) >= 60
    assert set(names) == set(read_known())
    assert {path.stem for path in (FOLDER / "instances").glob("*.toml")} <= set(names)
    assert {path.name.split(".json")[0].removesuffix(".bound") for path in (FOLDER / "best").iterdir()} == set(names)
    for each in instances():
        assert each.file.title
        assert each.in_words()


def test_files_are_small():
    sizes = [path.stat().st_size for path in (FOLDER / "best").iterdir()]
    assert max(sizes) <= 1_400_000  # a design for estimates of 300 categories has 9,000 reports; with fewer it is worse
    assert sum(sizes) <= 3_000_000


def test_generated_counts_are_those_of_their_formula():
    seen = 0
    for each in instances():
        found = re.fullmatch(r"Generated: benchmarks\.instances\.(\w+)\((\d+), (\d+)\)", each.file.citation)
        if found:
            name, symbols, total = found[1], int(found[2]), int(found[3])
            counts = getattr(generated, name)(symbols, total)
            assert each.problem.uncertainty.center == tuple(Fraction(count, total) for count in counts), each.name
            seen += 1
    assert seen >= 5


def test_radii_are_stated_and_do_not_follow_from_a_bound_that_may_become_sharper():
    for path in (FOLDER / "instances").glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        assert "[prior.counts]" not in text or "\ndelta" not in text, path.name
        assert "[prior.factors.counts]" not in text or "\ndelta" not in text, path.name


def test_each_best_mechanism_has_the_promise_of_its_instance():
    for each in instances():
        if each.best_path.stat().st_size < 20_000:
            mechanism, problem = best(each.name), each.problem
            assert mechanism.guarantee.uncertainty == problem.uncertainty.exact_set, each.name
            assert mechanism.guarantee.sides == problem.sides, each.name


def test_the_page_is_that_of_what_is_known():
    assert PAGE.read_text(encoding="utf-8") == page(read_known())


@pytest.mark.parametrize("name", QUICK)
def test_files_prove_what_is_written_down(name):
    assert known_of(instance(name)) == read_known()[name]


@pytest.mark.slow
def test_all_files_prove_what_is_written_down():
    assert {each.name: each for each in all_known()} == read_known()


def test_no_value_is_past_its_bound():
    for each in instances():
        known = read_known()[each.name]
        assert known.value.low <= known.value.high
        assert known.gap >= 0, each.name
        if each.problem.utility.minimised:
            assert known.bound <= known.value.low
        else:
            assert known.bound >= known.value.high


def test_limits_of_a_value_hold_the_closed_form_of_randomized_response():
    for utility, value in (
        (md.MutualInformation(), 0.13081203594113694),  # log 2 - h(1/4) = (3/4) log 3 - log 2
        (md.ChiSquare(), 0.25),
        (md.TotalVariation(), 0.25),
        (md.SquaredHellinger(), 2 - np.sqrt(1.5) - np.sqrt(0.5)),
        (md.HammingAccuracy(), 0.75),
        (md.ExplainedVariance([0, 1]), 1 / 16),
        (md.EstimationError(), 2.0),
    ):
        problem = md.DesignProblem(md.L1Ball(["1/2", "1/2"]), 2, utility)
        low, high = worth(ExactMatrix.of([["3/4", "1/4"], ["1/4", "3/4"]]), problem)
        assert low <= high <= low + 1e-14
        assert low - 1e-15 <= value <= high + 1e-15, utility


@pytest.mark.sampled
@pytest.mark.parametrize(
    "family",
    [
        pytest.param(family, id=family.title, marks=pytest.mark.slow if "hulls" in family.title else ())
        for family in families()
    ],
)
def test_limits_of_values_agree_with_the_package(family):
    for each in family.instances:
        if each.problem.uncertainty.size <= 30:
            mechanism, known = best(each.name), read_known()[each.name]
            value = each.problem.utility.value_of_integers(mechanism.numerators, each.problem.uncertainty)
            assert known.value.high - known.value.low <= 1e-14 * abs(value) + 1e-15
            assert known.value.low == pytest.approx(value, rel=1e-11), each.name


def test_an_entry_of_zero_mass_and_an_output_that_never_occurs_add_nothing():
    problem = md.DesignProblem(md.L1Ball(["1/2", "1/2", "0"], radius="1/10"), 2)
    limits = worth(ExactMatrix.of([["1", "0", "0"], ["0", "1", "0"], ["1/2", "1/2", "0"]]), problem)
    assert limits.low <= np.log(2) <= limits.high


def test_an_error_that_reports_do_not_determine_is_infinite():
    problem = md.DesignProblem(md.L1Ball(["1/2", "1/4", "1/4"]), 2, md.EstimationError())
    assert worth(ExactMatrix.of([["1", "0"], ["0", "1"], ["0", "1"]]), problem) == Worth(np.inf, np.inf)


def test_a_least_value_is_not_judged():
    problem = md.DesignProblem(md.L1Ball(["1/2", "1/2"], "1/10"), 1, md.WorstCaseUtility(md.MutualInformation()))
    with pytest.raises(InputError, match="worst-case"):
        worth(ExactMatrix.of([["3/4", "1/4"], ["1/4", "3/4"]]), problem)


def rows_of(mechanism):
    """The rows of a mechanism as exact texts."""
    return [[f"{entry}/{2**mechanism.bits}" for entry in row] for row in mechanism.numerators.tolist()]


def check(tmp_path, name, content, ending="csv", *options):
    path = tmp_path / f"solution.{ending}"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return CliRunner().invoke(challenges, ["check", name, str(path), *options])


def as_csv(rows):
    return "".join(",".join(row) + "\n" for row in rows)


@pytest.mark.parametrize("name", QUICK)
def test_the_best_mechanism_is_as_good_as_itself_in_every_form(name, tmp_path):
    mechanism = best(name)
    mechanism.save(tmp_path / "m.json")
    rows = rows_of(mechanism)
    matrix = {"matrix": rows, "inputs": mechanism.inputs, "outputs": mechanism.outputs}
    for content, ending in (
        (as_csv(rows), "csv"),
        (rows, "json"),
        (matrix, "json"),
        ((tmp_path / "m.json").read_text(), "json"),
    ):
        done = check(tmp_path, name, content, ending, "--json")
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        assert found["verdict"] == "as good as the best known"
        assert found["value"] == list(read_known()[name].value)
        assert not found["new_best"]


def test_a_constant_mechanism_is_far_behind(tmp_path):
    done = check(tmp_path, RACE, "1\n" * 5)
    assert done.exit_code == 0
    assert "behind the best known by 1 of it" in done.output
    assert "between 0 and 0 nats" in done.output


def broken(change):
    rows = [["1/2", "1/2"] for _ in range(5)]
    change(rows)
    return rows


def negative(rows):
    rows[1] = ["-0.25", "1.25"]


def not_a_number(rows):
    rows[1] = ["nan", "0.5"]


def infinite(rows):
    rows[1] = ["inf", "0.5"]


def off_by_a_little(rows):
    rows[1] = ["0.5", "0.50000001"]


def short_row(rows):
    rows[1] = ["1/2"]


def missing_row(rows):
    rows.pop()


def text(rows):
    rows[1] = ["half", "0.5"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (negative, "category 'Black' and output 'y1' is -0.25"),
        (not_a_number, "category 'Black' and output 'y1' is 'nan'"),
        (infinite, "category 'Black' and output 'y1' is 'inf'"),
        (text, "category 'Black' and output 'y1' is 'half'"),
        (off_by_a_little, "the row of the category 'Black' sums to 1.00000001"),
        (short_row, "the row of the category 'Black' has 1 entries"),
        (missing_row, "the solution has 4 rows; accepted: 5"),
    ],
)
def test_what_is_not_a_mechanism_is_refused_in_one_line(change, said, tmp_path):
    for ending in ("csv", "json"):
        if (change, ending) == (short_row, "csv"):
            continue  # refused by the reader of tables, which names the line
        rows = broken(change)
        done = check(tmp_path, RACE, as_csv(rows) if ending == "csv" else rows, ending)
        assert done.exit_code == 2, done.output
        assert said in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "ending"),
    [
        ("", "csv"),
        ("\n\n", "csv"),
        ("0.5,0.5\n0.5\n", "csv"),
        ("[", "json"),
        ("[[NaN, 1]]", "json"),
        ("[1, 2, 3, 4, 5]", "json"),
        ("[[], [], [], [], []]", "json"),
        ('["a", "b", "c", "d", "e"]', "json"),
        ('{"matrix": 1}', "json"),
        ('{"matrix": [[1], [1], [1], [1], [1]], "inputs": 5}', "json"),
        ('{"matrix": [[1], [1], [1], [1], [1]], "outputs": "y"}', "json"),
        ('{"matrix": [[true], [1], [1], [1], [1]]}', "json"),
        ('{"matrix": [[0], [0], [0], [0], [0]]}', "json"),
        ('{"matrix": [[1e999999999], [1], [1], [1], [1]]}', "json"),
        ('{"matrix": [["1/0"], [1], [1], [1], [1]]}', "json"),
        ('{"other": 1}', "json"),
        ("[" * 100_000, "json"),
        ("\x00", "csv"),
    ],
)
def test_hostile_files_are_refused_in_one_line(content, ending, tmp_path):
    done = check(tmp_path, RACE, content, ending)
    assert done.exit_code == 2, (done.output, done.exception)
    assert re.fullmatch(r"Error: [^\n]+\n", done.stderr)


def test_files_that_are_not_there_and_unknown_names_are_refused(tmp_path):
    done = CliRunner().invoke(challenges, ["check", RACE, str(tmp_path / "none.csv")])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    done = CliRunner().invoke(challenges, ["show", "adult-races-box"])
    assert done.exit_code == 2
    assert "near: adult-race-box" in done.stderr


def test_labels_in_another_order_are_refused(tmp_path):
    labels = [LABELS[1], LABELS[0], *LABELS[2:]]
    content = "race,y1\n" + "".join(f"{label},1\n" for label in labels)
    done = check(tmp_path, RACE, content)
    assert done.exit_code == 2
    assert "row 1 is that of 'Black'; accepted: 'White'" in done.stderr
    done = check(tmp_path, RACE, {"matrix": [[1]] * 5, "inputs": labels}, "json")
    assert done.exit_code == 2
    assert check(tmp_path, RACE, {"matrix": [[1]] * 5, "inputs": LABELS}, "json").exit_code == 0


def test_a_promise_that_is_broken_by_1e_12_is_refused_and_one_that_is_just_kept_is_not(tmp_path):
    problem = md.DesignProblem(md.L1Ball(["1/2", "1/2"], radius=2), "log(3)", md.HammingAccuracy())
    kept = ExactMatrix.of([["3/4", "1/4"], ["1/4", "3/4"]]).on_alphabet_of(problem.uncertainty)
    prove(kept, problem)
    over = Fraction(3, 4) + Fraction(1, 10**12)
    rows = [[over, 1 - over], [Fraction(1, 4), Fraction(3, 4)]]
    moved = ExactMatrix.of_fractions(rows).on_alphabet_of(problem.uncertainty)
    with pytest.raises(GuaranteeError, match=r"output 'y1' raises .* category 'x1'.*exp\(epsilon\) = 3 .* by 1.34e-12"):
        prove(moved, problem)


def test_a_promise_from_below_that_is_broken_by_1e_12_is_refused():
    ball = md.L1Ball(["1/2", "1/2"])
    problem = md.DesignProblem(ball, "log(3/2)", md.HammingAccuracy(), lower="log(2)")
    prove(ExactMatrix.of([["3/4", "1/4"], ["1/4", "3/4"]]).on_alphabet_of(ball), problem)
    less = Fraction(1, 4) - Fraction(1, 10**12)
    rows = [[1 - less, less], [less, 1 - less]]
    with pytest.raises(GuaranteeError, match="raises"):
        prove(ExactMatrix.of_fractions(rows).on_alphabet_of(ball), problem)
    with pytest.raises(GuaranteeError, match=r"output 'y1' lowers .* category 'x2' .*exp\(-lower\) = 0.5 .* by 4e-12"):
        prove(ExactMatrix.of_fractions(rows).on_alphabet_of(ball), md.DesignProblem(ball, 1, lower="log(2)"))


def test_floats_that_miss_the_promise_by_rounding_are_repaired(tmp_path):
    matrix = best(RACE).matrix * np.array([1 + 1e-10, 1.0])
    rows = [[repr(float(entry)) for entry in row / row.sum()] for row in matrix]
    rows[0] = [repr(float(rows[0][0]) + 1e-10), repr(float(rows[0][1]) - 1e-10)]
    done = check(tmp_path, RACE, as_csv(rows))
    assert done.exit_code == 1
    assert "raises the probability of category" in done.stderr
    target = tmp_path / "repaired.json"
    done = check(tmp_path, RACE, as_csv(rows), "csv", "--repair", str(target))
    assert done.exit_code == 0, done.output
    assert "no entry moved by more than" in done.stderr
    prove(read_solution(target, instance(RACE).problem.uncertainty), instance(RACE).problem)


@pytest.mark.parametrize("name", [RACE, "adult-relationship-frequencies"])
def test_a_better_solution_is_a_new_best_and_one_past_the_bound_a_contradiction(name):
    chosen, known = instance(name), read_known()[name]
    exact = read_exact(name)
    worse = 1.01 if chosen.problem.utility.minimised else 0.99
    before = replace(known, value=Worth(known.value.low * worse, known.value.high * worse))
    found = judged(chosen, exact, before)
    assert found.is_new_best
    assert found.verdict.startswith("new best: better than the best known by 0.0")
    assert not judged(chosen, exact, known).is_new_best
    with pytest.raises(GuaranteeError, match="the bound is false"):
        judged(chosen, exact, replace(known, bound=known.value.low * worse))


def read_exact(name):
    return ExactMatrix.of(best(name)).on_alphabet_of(instance(name).problem.uncertainty)


def test_a_bound_holds_for_a_promise_that_is_at_least_that_of_its_file():
    ball, estimate = md.L1Ball(["1/2", "1/3", "1/6"], "1/10"), md.L1Ball(["1/2", "1/3", "1/6"])
    both, above = md.DesignProblem(ball, 1, lower=1), md.DesignProblem(ball, 1)
    assert is_weaker(md.Guarantee(1, ball), both)
    assert is_weaker(md.Guarantee(1, estimate), both)
    assert is_weaker(md.Guarantee(1, ball, lower=1), both)
    assert not is_weaker(md.Guarantee(1, ball, lower=1), above)
    assert not is_weaker(md.Guarantee(1, ball, lower=2), both)
    assert not is_weaker(md.Guarantee(1, ball), md.DesignProblem(estimate, 1))
    assert not is_weaker(md.Guarantee("0.5", ball), above)
    assert not is_weaker(md.Guarantee(1, md.L1Ball(["1/3", "1/2", "1/6"])), above)
    secret = md.SecretPromise([[3, 1, 1], [1, 1, 2]], secret="s", known=True)
    assert not is_weaker(md.Guarantee(1, md.L1Ball(secret.center)), md.DesignProblem(secret, 1))


def test_files_of_another_instance_prove_nothing(tmp_path):
    file, other, utility = instance(RACE).file, replace(instance(RACE)), replace(instance(RACE))
    other.__dict__["file"] = replace(file, problem=md.DesignProblem(file.problem.uncertainty, "0.5"))
    with pytest.raises(GuaranteeError, match="another promise"):
        known_of(other)
    utility.__dict__["file"] = replace(file, problem=file.problem.with_utility(md.ChiSquare()))
    with pytest.raises(GuaranteeError, match="another problem"):
        known_of(utility)


def test_a_packed_file_with_a_false_guarantee_is_refused(tmp_path):
    content = json.loads(lzma.decompress(instance(RACE).best_path.read_bytes()))
    numerators = content["numerators"]
    numerators[0], numerators[1] = numerators[1], numerators[0]
    path = tmp_path / "x.json.xz"
    path.write_bytes(lzma.compress(json.dumps(content).encode()))
    with pytest.raises(GuaranteeError):
        packed(path)


def test_commands_list_show_and_print_a_table():
    run = CliRunner().invoke
    listed = run(challenges, ["list"])
    assert listed.exit_code == 0
    assert len(listed.output.splitlines()) == len(instances())
    assert "prior.box" in run(challenges, ["show", RACE]).output
    assert run(challenges, ["table"]).exit_code == 0
    proved = run(challenges, ["prove", "binary-border"])
    assert proved.exit_code == 0
    assert "closed" in proved.output


BORDER, THREE_OUTPUTS = "binary-border", [["1/2", "1/2", 0], ["2/5", "3/5", 0]]


def test_repair_merges_outputs_without_labels_and_refuses_to_merge_labelled_ones(tmp_path):
    target = tmp_path / "repaired.json"
    done = check(tmp_path, BORDER, THREE_OUTPUTS, "json", "--repair", str(target))
    assert done.exit_code == 0, done.stderr
    assert md.Mechanism.load(target).numerators.shape == (2, 2)
    target.unlink()
    labelled = {"matrix": THREE_OUTPUTS, "outputs": ["a", "b", "c"]}
    done = check(tmp_path, BORDER, labelled, "json", "--repair", str(target))
    assert done.exit_code == 2
    assert "leave the labels of outputs out" in done.stderr
    assert not target.exists()


def test_a_matrix_without_labels_of_outputs_is_proved_for_all_of_them(tmp_path):
    done = check(tmp_path, BORDER, [[1, 0, 0], [0, "1/2", "1/2"]], "json")
    assert done.exit_code == 1
    assert "the output 'y2' raises" in done.stderr
    problem = instance(BORDER).problem
    with pytest.raises(GuaranteeError, match="'y2'"):
        prove(ExactMatrix.of([["1", "0"], ["1/2", "1/2"]]), problem)


def test_an_infinite_error_is_null_in_json_and_said_in_words(tmp_path):
    def refuse(text):
        raise AssertionError(text)

    done = check(tmp_path, "frequencies-zipf-10", [[1]] * 10, "json", "--json")
    found = json.loads(done.stdout, parse_constant=refuse)
    assert found["value"] == [None, None]
    assert not found["new_best"]
    done = check(tmp_path, "frequencies-zipf-10", [[1]] * 10, "json")
    assert re.search(r"^value +infinite$", done.stdout, re.MULTILINE)
    assert "behind the best known: the error is infinite" in done.stdout


def test_a_value_that_is_better_by_rounding_alone_is_as_good(tmp_path):
    done = check(tmp_path, BORDER, [["4/13", "9/13"], [1, 0]], "json", "--json")
    found = json.loads(done.stdout)
    assert found["value"][0] > read_known()[BORDER].value.high
    assert (found["new_best"], found["verdict"]) == (False, "as good as the best known")


@pytest.mark.parametrize("name", [RACE, "adult-relationship-frequencies"])
def test_a_new_best_is_better_by_more_than_1e_12(name):
    chosen, known, exact = instance(name), read_known()[name], read_exact(name)
    sign = 1 if chosen.problem.utility.minimised else -1
    for ahead, new in ((8e-13, False), (1.2e-12, True)):
        before = replace(known, value=Worth(*(value * (1 + sign * ahead) for value in known.value)))
        found = judged(chosen, exact, before)
        assert found.is_new_best is new
        assert found.verdict.startswith("new best") is new


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"matrix": [[1], [1]], "matrix": [[0.5, 0.5], [0.5, 0.5]]}', "the key 'matrix' occurs twice"),
        ('{"matrix": [[1], [1]], "labels": ["a"]}', "the key 'labels' is unknown; accepted: matrix, inputs, outputs"),
        ('{"\\ud800": 1}', "the key '\\ud800' is unknown"),
        ("{}", "the solution holds no matrix"),
        ('{"matrix": [[1, 0], [1, 0]], "outputs": [["a"], ["b"]]}', "labels of outputs: "),
        ('{"matrix": [[1, 0], [1, 0]], "outputs": ["a", "a"]}', "labels of outputs: the label 'a' occurs twice"),
        ('{"matrix": [[1, 0], [1, 0]], "outputs": ["a"]}', "the labels of outputs are ['a']; accepted: 2"),
        ('["01", "10"]', "the row of the category 'x1' is '01'; accepted: a list of probabilities"),
        ("[[1], 1]", "the row of the category 'x2' is 1; accepted: a list of probabilities"),
    ],
)
def test_what_json_holds_besides_a_matrix_is_refused_by_its_name(content, said, tmp_path):
    done = check(tmp_path, BORDER, content, "json")
    assert done.exit_code == 2, (done.output, done.exception)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
