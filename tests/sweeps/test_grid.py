"""Sweep files: every point of the grid, and one line for what is malformed."""

import math
from fractions import Fraction
from pathlib import Path

import pytest
from refusals import raises

import mechdesign as md
from mechdesign.errors import InputError
from mechdesign.numerics.exact import printed_up
from mechdesign.sweeps import read_sweep
from mechdesign.sweeps.row_inputs import RefusedPoint, problem_cells

SOURCE = """
[[source]]
name = "smoking"
counts = { never = 812, former = 150, current = 38 }
"""


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        (tmp_path / "grid.toml").write_text(text, encoding="utf-8")
        return read_sweep(tmp_path / "grid.toml")

    return read_text


@pytest.mark.slow
def test_a_grid_has_every_combination_from_every_kind_of_source(read, tmp_path):
    (tmp_path / "sex.csv").write_text("label,count\nf,3\nm,4\n")
    (tmp_path / "people.csv").write_text("age,race\n1,a\n1,b\n2,b\n")
    (tmp_path / "bare.csv").write_text("x,1\ny,2\n")
    found = read(
        """
        title = "All"
        epsilon = [0.5, "log(3)"]
        lower = [1, "2"]
        delta = [1e-9, "1e-3"]
        set = ["l1-ball", "box", "relative-ball"]
        utility = ["total-variation", { name = "estimation-error", workload = { name = "prefix" } }]
        baselines = ["best-ldp"]
        tol = 1e-4
        bits = 40
        time_limit = 60
        [[source]]
        counts = "sex.csv"
        [[source]]
        name = "without a header"
        counts = "bare.csv"
        header = false
        [[source]]
        data = "people.csv"
        column = ["race", "age"]
        [[source]]
        name = "people"
        data = "people.csv"
        column = "race"
        """
        + SOURCE
    )
    assert (found.title, found.baselines, found.tol, found.bits, found.time_limit) == (
        "All",
        ("best-ldp",),
        1e-4,
        40,
        60.0,
    )
    assert list(dict.fromkeys(file.title for file in found.problems)) == [
        "sex",
        "without a header",
        "race",
        "age",
        "people, race",
        "smoking",
    ]
    assert len(found.problems) == 6 * 2 * 2 * 2 * 3 * 2
    problems = [file.problem for file in found.problems if file.title == "smoking"]
    assert len({(str(p.epsilon), str(p.lower), p.uncertainty, p.utility.name) for p in problems}) == 48
    wanted = md.L1Ball.from_counts({"never": 812, "former": 150, "current": 38}, delta="1e-3")
    assert sum(p.uncertainty == wanted for p in problems) == 2 * 2 * 2
    assert {p.utility.name: p.utility.workload_table() for p in problems} == {
        "total-variation": None,
        "estimation-error": {"name": "prefix"},
    }


PROBABILITIES = '[[source]]\nname = "what if"\nprobabilities = { never = "0.8", former = "0.15", current = 0.05 }\n'


def test_samples_are_asserted_of_probabilities_alone(read):
    """A number beside counts that is not their total is a row with the reason."""
    grid = (
        'title = "t"\nepsilon = 1\ndelta = "1e-3"\nsamples = [200, 1000]\nset = ["l1-ball", "box", "relative-ball"]\n'
    )
    found = read(grid + PROBABILITIES)
    assert len(found.problems) == 6
    assert {problem.problem.uncertainty.asserts_samples for problem in found.problems} == {True}
    wanted = md.L1Ball.from_probabilities(
        {"never": "0.8", "former": "0.15", "current": "0.05"}, samples=200, delta="1e-3"
    )
    assert found.problems[0].problem.uncertainty == wanted
    found = read(grid + SOURCE)
    assert {problem.problem.uncertainty.evidence.samples for problem in found.problems} == {1000}
    assert {point.reason.partition(";")[0] for point in found.refused} == {
        "the counts are of 1000 samples, and samples is 200"
    }
    with raises("point-refused"):
        read('title = "t"\nepsilon = 1\ndelta = 0.1\n' + PROBABILITIES)
    (known,) = read('title = "t"\nepsilon = 1\n' + PROBABILITIES).problems
    assert known.problem.uncertainty.radius == 0


@pytest.mark.parametrize(
    ("size", "radius"), [("", 0), ("radius = 0.25", 0.25), ("radius = 2", 2), ('delta = 0.5\nbound = "weissman"', None)]
)
def test_one_value_needs_no_list(read, size, radius):
    (file,) = read(f'title = "t"\nepsilon = 1\n{size}\n{SOURCE}').problems
    known = file.problem.uncertainty
    if radius is None:
        assert known.evidence.bound == "weissman"
    else:
        assert known.radius == radius


def test_a_relative_ball_is_made_for_each_epsilon(read):
    found = read(f'title = "t"\nepsilon = [0.1, 3]\ndelta = 0.001\nset = "relative-ball"\n{SOURCE}').problems
    for file in found:
        made = md.uncertainty.RelativeBall.from_counts(
            {"never": 812, "former": 150, "current": 38}, "0.001", epsilon=str(file.problem.epsilon)
        )
        assert file.problem.uncertainty == made


HEAD = 'title = "t"\nepsilon = 1\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = ", "is not TOML"),
        ("\udcff", "is not UTF-8"),
        (HEAD, "'source' is missing"),
        (f'title = "t"{SOURCE}', "'epsilon' is missing"),
        (f"{HEAD}epsilons = 2{SOURCE}", "'epsilons' is unknown"),
        (f'title = "t"\nepsilon = []{SOURCE}', ": epsilon is []; accepted: a value, or a list of at least one"),
        (f"{HEAD}samples = [true]{SOURCE}", ": samples.0 is True; "),
        (
            f'{HEAD}utility = {{name = "chi-square", matrices = 1}}{SOURCE}',
            ": the key 'utility.0.matrices' is unknown; ",
        ),
        (f"{HEAD}[[source]]\nname = 's'\ncounts = {{a = 1.5, b = 3}}", ": source.0.counts.a is "),
        (f'title = "t"\nepsilon = -1{SOURCE}', "grid.toml: smoking: epsilon is '-1'"),
        (f'title = "t"\nepsilon = [1, "log(0)"]{SOURCE}', "epsilon is 'log(0)'"),
        (f'title = "t"\nepsilon = [1, "one"]{SOURCE}', "epsilon is 'one'"),
        (f'{HEAD}radius = [0.1, "wide"]{SOURCE}', "radius is 'wide'"),
        (f'{HEAD}set = ["l1-ball", "circle"]\ndelta = 0.5{SOURCE}', "set is 'circle'; accepted: l1-ball, box"),
        (f'{HEAD}set = ["l1-ball", "box"]\ndelta = 0.5\nbound = "hoeffding"{SOURCE}', "hoeffding"),
        (f'{HEAD}utility = ["mutual-information", "joy"]{SOURCE}', "the utility 'joy' is unknown"),
        (f"{HEAD}{SOURCE}\n[[source]]\nname = 'n'\ncounts = {{ a = 1, b = -1 }}", "the count of 'b' is -1"),
        (f"{HEAD}{SOURCE}\n[[source]]\ncounts = 'absent.csv'", "absent.csv"),
        (f"{HEAD}{SOURCE}{SOURCE}", ": two sources are called 'smoking'; give them names by which their rows differ"),
        (
            f'title = "t"\nepsilon = [-1, -2]\nradius = [0.1, 3]{SOURCE}',
            "none of the 4 points of the grid can be a problem; the first, smoking at epsilon = -1: epsilon is '-1'",
        ),
        (f'title = "t"\nepsilon = [nan]{SOURCE}', "epsilon"),
        (f'title = "t"\nepsilon = true{SOURCE}', "epsilon.0 is True; accepted: a number, or a text that states one"),
        (f'title = "t"\nepsilon = "log(x)"{SOURCE}', "log"),
        (f"{HEAD}delta = 2{SOURCE}", "delta is"),
        (f"{HEAD}delta = 0.5\nradius = 1{SOURCE}", "delta and radius are given; give one of them"),
        (f"{HEAD}samples = 5{SOURCE}", "samples is given without delta"),
        (f'{HEAD}bound = "weissman"{SOURCE}', "bound is given without delta"),
        (f"{HEAD}delta = 0.5\nsamples = [1.5]{SOURCE}", "samples.0 is 1.5; accepted: a valid integer"),
        (f"{HEAD}delta = 0.5\nsamples = 0{SOURCE}", "samples"),
        (f'{HEAD}set = "circle"{SOURCE}', "set is 'circle'; accepted: l1-ball, box"),
        (f'{HEAD}set = "box"{SOURCE}', "the set box needs delta"),
        (f'{HEAD}set = "box"\nradius = 0.5{SOURCE}', "the set box needs delta"),
        (f'{HEAD}set = "box"\ndelta = 0.5\nbound = "weissman"{SOURCE}', "bound belongs to l1-ball"),
        (f'{HEAD}utility = "joy"{SOURCE}', "the utility 'joy' is unknown"),
        (f'{HEAD}utility = {{ name = "expected-gain" }}{SOURCE}', "needs a matrix"),
        (f'{HEAD}utility = {{ name = "expected-gain", gain = 1 }}{SOURCE}', "gain"),
        (f'{HEAD}utility = {{ name = "expected-gain", matrix = [[1, 0]] }}{SOURCE}', "smoking: "),
        (f'{HEAD}baselines = ["best"]{SOURCE}', "the baseline 'best' is unknown"),
        (f'{HEAD}baselines = "best-ldp"{SOURCE}', "baselines is 'best-ldp'"),
        (f"{HEAD}tol = nan{SOURCE}", "tol"),
        (f"{HEAD}[[source]]\n", "counts and data, or neither"),
        (f'{HEAD}[[source]]\ncounts = "a"\ndata = "b"', "counts and data, or neither"),
        (f'{HEAD}[[source]]\ncounts = "absent.csv"', "absent.csv"),
        (f'{HEAD}[[source]]\ndata = "absent.csv"', "has no column;"),
        (f'{HEAD}[[source]]\ndata = "absent.csv"\ncolumn = ["a"]', "absent.csv"),
        (f'{HEAD}[[source]]\ndata = "absent.csv"\ncolumn = "a"\ncolumns = ["a"]', "two names of the same"),
        (f'{HEAD}[[source]]\ncounts = "absent.csv"\ncolumn = "a"', "column beside counts"),
        (f'{HEAD}[[source]]\ncounts = "absent.csv"\ncolumns = ["a"]', "column beside counts"),
        (f"{HEAD}[[source]]\ncounts = {{ a = 1, b = 2 }}", "has no name"),
        (f'{HEAD}[[source]]\nname = "n"\ncounts = {{ a = 1 }}', "one category"),
        (f'{HEAD}[[source]]\nname = "n"\ncounts = {{ a = 1, b = -1 }}', "the count of 'b' is -1"),
        (f'{HEAD}[[source]]\nname = "n"\ncounts = {{ a = 1, b = 1.5 }}', "counts"),
        (f'{HEAD}[[source]]\nname = "n"\ncounts = {{ a = 1, b = 0 }}', "probability 0"),
    ],
)
def test_a_malformed_grid_is_one_line(tmp_path, text, message):
    path = tmp_path / "grid.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError) as refused:
        read_sweep(path)
    assert message in str(refused.value)
    assert str(refused.value).startswith(str(path)) or str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


IMPOSSIBLE = """
title = "Some points cannot be problems"
epsilon = [1, -1]
radius = [0.25, 2.5]
set = ["l1-ball", "box"]
utility = ["mutual-information", { name = "expected-gain", matrix = [[1, 0], [0, 1]] }]
[[source]]
name = "smoking"
counts = { never = 812, former = 150, current = 38 }
[[source]]
name = "one label"
counts = { a = 5 }
"""


def test_a_point_that_cannot_be_a_problem_stands_with_its_reason_and_inputs(read):
    found = read(IMPOSSIBLE)
    assert len(found.points) == 2 * 2 * 2 * 2 * 2
    (only,) = found.problems
    assert (only.title, float(only.problem.epsilon), only.problem.uncertainty.radius) == ("smoking", 1, 0.25)
    assert only is found.points[0]
    assert len(found.refused) == 31
    told = {
        (cells["source"], cells["set"], cells["radius"], cells["epsilon"], cells["utility"]): point
        for point in found.refused
        for cells in [point.cells]
    }
    assert len(told) == 31
    gain = "expected-gain"
    for place, reason in {
        ("smoking", "l1-ball", 0.25, -1.0, "mutual-information"): "epsilon is '-1'; accepted: a number from 0 to 700",
        ("smoking", "l1-ball", 0.25, 1.0, gain): "the matrix of expected-gain has 2 columns for 3 categories",
        ("smoking", "l1-ball", 2.5, 1.0, "mutual-information"): "radius is",
        ("smoking", "box", 0.25, 1.0, "mutual-information"): "the set box needs delta",
        ("one label", "l1-ball", 0.25, 1.0, "mutual-information"): "one category ('a')",
    }.items():
        assert reason in told[place].reason
        assert told[place].cells["samples"] == (1000 if place[0] == "smoking" else 5)
        assert told[place].cells["symbols"] == (3 if place[0] == "smoking" else 1)


def test_a_relative_ball_that_cannot_be_made_for_one_epsilon_is_made_for_the_next(read):
    found = read(f'title = "t"\nepsilon = [1, 701, 2]\ndelta = 0.001\nset = "relative-ball"\n{SOURCE}').points
    assert [isinstance(point, RefusedPoint) for point in found] == [False, True, False]
    assert found[1].cells["delta"] == 0.001
    assert found[1].cells["radius"] is None


@pytest.mark.parametrize(
    ("axes", "name", "shown"),
    [
        ('epsilon = [1, "1e400", "-1e400"]', "epsilon", [1, math.inf, -math.inf]),
        ('epsilon = 1\nradius = [0.1, "1e400"]', "radius", [0.1, math.inf]),
        ("epsilon = 1\ndelta = 0.1\nsamples = [100, 9223372036854775807, 9223372036854775808]", "samples", None),
    ],
)
def test_a_number_of_any_size_is_a_row_of_a_table_that_is_written(read, tmp_path, axes, name, shown):
    found = read(f'title = "t"\n{axes}\n{SOURCE if shown else PROBABILITIES}')
    values = [point.cells[name] for point in found.refused]
    assert values == ([(1 << 63) - 1, None] if shown is None else shown[1:])
    found.run().save(tmp_path / "table.parquet")
    found.run().save(tmp_path / "table.csv")


def test_rows_show_a_number_alike_with_and_without_a_design(read):
    found = read(f'title = "t"\nepsilon = "log(59/58)"\nlower = "log(11/10)"\nradius = [0.1, 2.5]\n{SOURCE}').run()
    assert [row.solved is None for row in found] == [False, True]
    for name in ("epsilon", "lower"):
        assert found.columns()[name][0] == found.columns()[name][1]
    found = read(
        f'title = "t"\nepsilon = [1, 900]\nset = "relative-ball"\ndelta = ["0.1", "1/3", "2/7", "1e-400"]\n{SOURCE}'
    )
    deltas = [printed_up(problem.problem.uncertainty.delta) for problem in found.problems]
    assert all(
        Fraction(str(delta)) >= Fraction(text) for delta, text in zip(deltas, ("0.1", "1/3", "2/7"), strict=False)
    )
    assert [problem_cells("smoking", problem.problem)["delta"] for problem in found.problems] == deltas
    assert [point.cells["delta"] for point in found.refused] == deltas


def test_a_point_is_named_in_one_short_line(read):
    digits = "9" * 1000
    source = SOURCE.replace('"smoking"', r'"two\nlines\u001b[31m"')
    found = read(f'title = "t"\nepsilon = [1, "900\\n", "{digits}"]\n{source}').run()
    named = [row.name for row in found]
    assert named[:2] == [r"two lines\x1b[31m at epsilon = 1", r"two lines\x1b[31m at epsilon = 900"]
    assert named[2] == rf"two lines\x1b[31m at epsilon = {digits[:57]}..."
    with raises("point-refused") as refused:
        read(f'title = "t"\nepsilon = ["900\\n", 901]\n{source}')
    assert "the first, two lines\\x1b[31m at epsilon = 900: " in str(refused.value)


def test_a_grid_that_is_too_large_is_refused_before_it_is_made(tmp_path):
    path = tmp_path / "grid.toml"
    axis = str([k / 100 for k in range(1, 500)])
    path.write_text(f'title = "t"\nepsilon = {axis}\nradius = {axis.replace("4.", "0.")}\n{SOURCE}')
    with raises("too-many-given", "249,001", "100,000"):
        read_sweep(path)


def test_the_example_is_forty_problems_with_the_counts_of_adult():
    root = Path(__file__).parents[2]
    problems = read_sweep(root / "examples" / "adult-sweep.toml").problems
    assert len(problems) == 40
    for file in problems:
        known = md.read_problem(root / "problems" / f"adult-{file.title}.toml").problem.uncertainty
        assert file.problem.uncertainty.center == known.center
        assert file.problem.uncertainty.labels == known.labels


def test_a_file_runs_with_its_own_options(read, tmp_path):
    found = read(f'{HEAD}baselines = ["randomized-response"]\nbits = 20\ntol = 0.01\n{SOURCE}').run(
        cache=tmp_path / "r"
    )
    assert found[0].mechanism.bits == 20
    assert found[0].solved.tol == 0.01
    assert found[0].values.randomized_response > 0
    assert found[0].source == "smoking"


def test_files_of_earlier_versions_name_columns(read, tmp_path):
    (tmp_path / "people.csv").write_text("race,age\na,1\nb,1\nb,2\n")
    found = [
        read(f'{HEAD}[[source]]\ndata = "people.csv"\n{named}').problems
        for named in ('columns = ["race", "age"]', 'column = ["race", "age"]', 'column = "race"')
    ]
    assert found[0] == found[1]
    assert found[2] == found[0][:1]
