import json

import numpy as np
import pytest
from edits import set_key

from mechdesign import Epsilon, Guarantee, InputError, L1Ball, Mechanism, MutualInformation
from mechdesign.data.counts import count_column, read_counts
from mechdesign.mechanism import Optimality

COUNTS = "level,people\nlow,50\nmiddle,30\nhigh,20\n"
HEAD = 'title = "t"\nepsilon = "1"\n'
PROBLEM = HEAD + "[prior.counts]\nlow = 50\nmiddle = 30\nhigh = 20\n"
ERROR = 'utility = "estimation-error"\n' + PROBLEM
EPSILON = ["--epsilon", "1"]
INFORMATION = ["--utility", "mutual-information"]


@pytest.fixture
def put(tmp_path):
    """Write an input file, and an older output file that is to survive."""

    def write(name, content):
        (tmp_path / "m.json").write_bytes(b"what stood here")
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return write


BAD_COUNTS = [
    ("level,people\nlow,-5\nhigh,2\n", "not-counts", "line 2"),
    ("level,people\nlow,5.5\nhigh,2\n", "not-counts", "line 2"),
    ("level,people\nlow,NaN\nhigh,2\n", "not-counts", "line 2"),
    ("level,people\nlow,9999999999999999\nhigh,2\n", "not-counts", ""),
    ("level,people\nlow,\nhigh,2\n", "not-counts", "line 2"),
    ("", "nothing-given", ""),
    ("level,people\n", "nothing-given", ""),
    ("level,people\nlow,5\n", "too-few-categories", ""),
    ("level,people\nlow,0\nhigh,0\n", "nothing-given", ""),
    ("level,people\nlow,0\nhigh,5\n", "never-occurs", ""),
    ("level,people\nlow,5\nlow,5\n", "label-twice", "line 3"),
    ("level,people\n,5\nhigh,5\n", "bad-label", "line 2"),
    ("level,people\nlow\nhigh,5\n", "malformed-table", "line 2"),
    ("low,5\nhigh,5\n", "first-line-is-data", ""),
    (b"level,people\nl\xf6w,5\nhigh,5\n", "not-utf8", ""),
    ('level,people\n"low,5\nhigh,5\n', "malformed-table", "line 2"),
]


@pytest.mark.parametrize(("content", "code", "shown"), BAD_COUNTS, ids=[code for _, code, _ in BAD_COUNTS])
def test_a_bad_table_of_counts(refused, put, content, code, shown):
    put("counts.csv", content)
    refused(code, "design", "--counts", "counts.csv", *EPSILON, "--known", "-o", "m.json", shown=shown)
    refused(code, "compare", "--counts", "counts.csv", *EPSILON, "--known", shown=shown)


@pytest.mark.parametrize(
    ("content", "arguments", "code"),
    [
        ("", ["--column", "level"], "nothing-given"),
        ("id,level\n", ["--column", "level"], "nothing-given"),
        ("id,level\n1,low\n2,low\n", ["--column", "level"], "too-few-categories"),
        ("id,level\n1,low\n2,\n", ["--column", "level"], "missing-value"),
        ("id,level\n1,low\n2\n", ["--column", "level"], "malformed-table"),
        ("id,level\n1,low\n", ["--column", "height"], "unknown-column"),
        ("level,level\n1,low\n", ["--column", "level"], "unknown-column"),
        ("1,low\n2,high\n", ["--column", "level", "--no-header"], "unknown-column"),
        ("1,low\n2,high\n", ["--column", "2", "--no-header"], "unknown-column"),
        ("1,low\n2,high\n", ["--column", "-1", "--no-header"], "unknown-column"),
    ],
)
def test_a_bad_column_of_data(refused, put, content, arguments, code):
    put("data.csv", content)
    refused(code, "design", "--data", "data.csv", *arguments, *EPSILON, "--known", "-o", "m.json")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--epsilon", "-1"], "epsilon-out-of-range"),
        (["--epsilon", "-1e-9"], "epsilon-out-of-range"),
        (["--epsilon", "inf"], "epsilon-out-of-range"),
        (["--epsilon", "nan"], "epsilon-out-of-range"),
        (["--epsilon", "1e9"], "epsilon-out-of-range"),
        (["--epsilon", "log(1/2)"], "epsilon-out-of-range"),
        (["--epsilon", "log(1/0)"], "not-a-number"),
        (["--epsilon", "one"], "epsilon-out-of-range"),
        (["--epsilon", ""], "epsilon-out-of-range"),
        (["--epsilon", "1\n2"], "not-a-number"),
        (["--delta", "-0.1"], "delta-out-of-range"),
        (["--delta", "1"], "delta-out-of-range"),
        (["--delta", "1.5"], "delta-out-of-range"),
        (["--delta", "nan"], "not-a-number"),
        (["--delta", "1/0"], "not-a-number"),
        (["--radius", "-0.1"], "radius-out-of-range"),
        (["--radius", "2.1"], "radius-out-of-range"),
        (["--radius", "inf"], "not-a-number"),
        (["--radius", "1e400"], "radius-out-of-range"),
        (["--delta", "0.1", "--radius", "0.1"], "usage"),
        (["--samples", "100"], "missing-argument"),
        (["--samples", "0", "--delta", "0.1"], "not-a-whole-number"),
        (["--utility", "entropy"], "unknown-choice"),
        (["--utility", "expected-gain"], "missing-argument"),
        (["--workload", "prefix", *INFORMATION], "needless-argument"),
        (["--utility", "estimation-error", "--workload", "medians"], "bad-workload"),
        (["--utility", "estimation-error", "--workload", "weights=1,-1,0"], "out-of-range"),
        (["--utility", "estimation-error", "--workload", "marginals=2x3"], "wrong-size"),
        (["--utility", "estimation-error", "--workload", "symbols=z"], "unknown-label"),
        (["--utility", "estimation-error", "--workload", "scores=3,3,3"], "nothing-to-estimate"),
        (["--bits", "0"], "not-a-whole-number"),
        (["--bits", "53"], "not-a-whole-number"),
        (["--tol", "0"], "out-of-range"),
        (["--tol", "-1"], "out-of-range"),
        (["--tol", "1"], "out-of-range"),
        (["--tol", "nan"], "out-of-range"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_bad_option(refused, put, options, code):
    put("counts.csv", COUNTS)
    known = [] if {"--delta", "--radius"} & set(options) else ["--known"]
    epsilon = [] if "--epsilon" in options else EPSILON
    refused(code, "design", "--counts", "counts.csv", "-o", "m.json", *known, *options, *epsilon)


BAD_PROBLEMS = [
    (HEAD + "[prior]\nprobabilities = [0.5, 0.6]\n", "wrong-sum"),
    (HEAD + "[prior]\nprobabilities = [nan, 0.5]\n", "not-a-number"),
    (HEAD + "[prior]\nprobabilities = [1.5, -0.5]\n", "not-probabilities"),
    (HEAD + "[prior]\nprobabilities = ['1e400', 0.5]\n", "wrong-sum"),
    (HEAD + "[prior]\nprobabilities = [1]\n", "too-few-categories"),
    (HEAD + "[prior]\nlabels = ['a', 'a']\nprobabilities = [0.5, 0.5]\n", "label-twice"),
    (HEAD + "[prior]\nprobabilities = [0.5, 0.5]\nradius = ''\n", "not-a-number"),
    (HEAD + "[prior.counts]\na = -1\nb = 2\n", "not-counts"),
    (HEAD + "[prior.counts]\na = 1.5\nb = 2\n", "bad-field"),
    (HEAD + "[prior.counts]\na = 1\n", "too-few-categories"),
    (HEAD + "[prior.counts]\n", "too-few-categories"),
    (HEAD + "[prior]\ndelta = 1.5\ncounts = {a = 1, b = 2}\n", "delta-out-of-range"),
    (HEAD + "[prior]\nradius = -1\ncounts = {a = 1, b = 2}\n", "radius-out-of-range"),
    (HEAD + "[prior]\ndelta = 0.1\nradius = 0.1\ncounts = {a = 1, b = 2}\n", "conflicting-arguments"),
    (PROBLEM.replace('"1"', "-1"), "epsilon-out-of-range"),
    (PROBLEM.replace('"1"', "nan"), "epsilon-out-of-range"),
    (PROBLEM.replace('"1"', "1e99999999999999999999"), "wrong-file-format"),
    (PROBLEM.replace('"1"', "0x" + "f" * 5_000), "bad-field"),
    ('utility = "entropy"\n' + PROBLEM, "unknown-choice"),
    ('utility = "expected-gain"\n' + PROBLEM + '[gain]\nmatrix = [["1e400", 0, 0]]\n', "out-of-range"),
    (ERROR + '[workload]\nname = "medians"\n', "bad-workload"),
    (ERROR + '[workload]\nnam = "prefix"\n', "unknown-key"),
    (ERROR + "[workload]\n", "conflicting-keys"),
    ('workload = "prefix"\n' + ERROR, "bad-field"),
    (ERROR + "[workload]\nmatrix = [[1, 1]]\n", "nothing-to-estimate"),
    (ERROR + "[workload]\nmatrix = [[1, 0]]\n", "wrong-size"),
    (ERROR + "[workload.weights]\nlow = 1\n", "wrong-size"),
    (ERROR + "[workload.scores]\nlow = 1\nhi = 2\nhigh = 3\n", "labels-differ"),
    (PROBLEM + '[workload]\nname = "prefix"\n', "needless-argument"),
    (PROBLEM.replace("low", '" low"'), "bad-label"),
    (PROBLEM.replace("low", '""'), "bad-label"),
    ("colour = 1\n" + PROBLEM, "unknown-key"),
    (PROBLEM + '[expected]\nvalue = "much"\n', "not-a-number"),
    (PROBLEM + "[[[", "wrong-file-format"),
    ("title = \n", "wrong-file-format"),
    ("", "missing-key"),
    ("x = " + "[" * 100_000, "wrong-file-format"),
    (b"title = '\xff'\n", "not-utf8"),
]


@pytest.mark.parametrize(("content", "code"), BAD_PROBLEMS, ids=[code for _, code in BAD_PROBLEMS])
def test_a_bad_problem_file(refused, put, content, code):
    put("problem.toml", content)
    refused(code, "design", "problem.toml", "-o", "m.json", shown="problem.toml")
    refused(code, "compare", "problem.toml", shown="problem.toml")


@pytest.mark.parametrize("name", ["absent", "folder"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["design", "NAME", "-o", "m.json"],
        ["design", "--counts", "NAME", *EPSILON, "--known", "-o", "m.json"],
        ["design", "--data", "NAME", "--column", "a", *EPSILON, "--known", "-o", "m.json"],
        ["compare", "NAME"],
        ["verify", "NAME"],
    ],
    ids=" ".join,
)
def test_a_file_that_cannot_be_read(refused, put, tmp_path, arguments, name):
    put("m.json", b"what stood here")
    (tmp_path / "folder").mkdir()
    refused("cannot-read", *(argument.replace("NAME", name) for argument in arguments), shown=name)


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("m.txt", "wrong-file-ending"),
        ("m", "wrong-file-ending"),
        ("", "wrong-file-ending"),
        ("absent/m.json", "cannot-write"),
        ("problem.toml/m.json", "cannot-write"),
        ("folder.json", "cannot-write"),
        ("m" * 300 + ".json", "cannot-write"),
    ],
)
def test_a_place_that_cannot_be_written(refused, put, tmp_path, output, code):
    put("problem.toml", PROBLEM)
    (tmp_path / "m.txt").write_bytes(b"what stood here")
    (tmp_path / "folder.json").mkdir()
    refused(code, "design", "problem.toml", "-o", output)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["design", "-o", "m.json"], "give one of PROBLEM.toml"),
        (["design", "problem.toml", "--counts", "counts.csv", "-o", "m.json"], "give one of PROBLEM.toml"),
        (["design", "--counts", "a.csv", "--data", "b.csv", *EPSILON, "--known"], "give one of PROBLEM.toml"),
        (["design", "problem.toml", "--epsilon", "2", "-o", "m.json"], "--epsilon: a problem file says this itself"),
        (
            ["design", "problem.toml", "--workload", "prefix", "-o", "m.json"],
            "--workload: a problem file says this itself",
        ),
        (["design", "problem.toml", "--delta", "0", "--radius", "1", "--no-header"], "--no-header, --delta, --radius"),
        (["design", "--counts", "counts.csv", "-o", "m.json"], "need --epsilon"),
        (["design", "--data", "data.csv", *EPSILON, "--known", "-o", "m.json"], "--data needs --column"),
        (["design", "--counts", "counts.csv", "--column", "a", *EPSILON, "--known"], "--column belongs to --data"),
        (
            ["design", "--counts", "counts.csv", *EPSILON, "--known", "--samples", "many"],
            "'many' is not a valid integer",
        ),
        (["design", "problem.toml", "--bits", "1.5"], "'1.5' is not a valid integer"),
        (["design", "problem.toml", "--tol", "small"], "'small' is not a valid float"),
        (["design", "problem.toml", "-o"], "requires an argument"),
        (["design", "problem.toml", "--colour", "red"], "--colour"),
        (["verify"], "Missing argument"),
        (["verify", "a.json", "b.json"], "unexpected extra argument"),
        (["measure", "problem.toml"], "No such command 'measure'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_line_that_makes_no_sense(refused, put, arguments, shown):
    put("problem.toml", PROBLEM)
    refused("usage", *arguments, shown=shown)


# Mechanism files edited by hand


@pytest.mark.combined
@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (set_key("numerators", 0, [3, 2]), "wrong-sum"),
        (set_key("numerators", 0, [5, -1]), "not-probabilities"),
        (set_key("numerators", [[4, 0], [4, 0]]), "never-occurs"),
        (set_key("numerators", 0, [3.5, 0.5]), "bad-field"),
        (set_key("numerators", 0, 0, 10**30), "too-many-digits"),
        (set_key("inputs", ["a", "a"]), "label-twice"),
        (set_key("outputs", ["a", "a"]), "label-twice"),
        (set_key("inputs", ["a"]), "wrong-size"),
        (set_key("inputs", ["a", " a"]), "bad-label"),
        (set_key("outputs", ["a\u00a0", "b"]), "bad-label"),
        (set_key("inputs", ["", "b"]), "bad-label"),
        (set_key("outputs", ["a", ""]), "bad-label"),
        (set_key("inputs", ["\ud800", "b"]), "bad-label"),
        (set_key("schema", "mechdesign/mechanism/9"), "bad-field"),
        (set_key("comment", 1), "unknown-key"),
        (set_key("bits", 53), "bad-field"),
        (set_key("guarantee", "epsilon", "-1"), "epsilon-out-of-range"),
        (set_key("guarantee", "radius", "3"), "radius-out-of-range"),
        (set_key("guarantee", "center", ["0.5", "0.6"]), "wrong-sum"),
        (set_key("optimality", "lambda", [0.0]), "wrong-size"),
        (set_key("optimality", "utility", "entropy"), "unknown-choice"),
        (lambda table: table.pop("guarantee"), "missing-key"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("flags", [[], ["--json"]], ids=["words", "json"])
def test_a_mechanism_file_edited_by_hand(refused, tmp_path, edit, code, flags):
    promise = Guarantee(Epsilon.of("log(3)"), L1Ball(["0.5", "0.5"], 2))
    claim = Optimality(MutualInformation(), 0.1, 0.2, (0.0, 0.0))
    Mechanism(np.array([[3, 1], [1, 3]]), 2, promise, optimality=claim).save(tmp_path / "m.json")
    table = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    edit(table)
    (tmp_path / "m.json").write_text(json.dumps(table), encoding="utf-8")
    refused(code, "verify", "m.json", *flags)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "wrong-file-format"),
        (b"{", "wrong-file-format"),
        (b"[]", "bad-field"),
        (b"null", "bad-field"),
        (b'{"schema": NaN}', "not-a-number"),
        (b'{"a": 1, "a": 2}', "conflicting-keys"),
        (b"\xff\xfe", "not-utf8"),
        (b"PK\x03\x04", "wrong-file-format"),
        (b"[" * 100_000, "wrong-file-format"),
    ],
)
def test_what_is_no_mechanism_file(refused, put, content, code):
    put("other.json", content)
    refused(code, "verify", "other.json", shown="other.json")


# Hints that lead somewhere


@pytest.mark.parametrize("options", [EPSILON, ["--column", "x", "--delta", "0.1"], []])
def test_a_csv_file_in_the_place_of_a_problem_file_is_told_its_option(refused, put, options):
    put("counts.csv", COUNTS)
    for command in ("design", "compare"):
        refused("usage" if options else "wrong-file-format", command, "counts.csv", *options, shown="--counts FILE")
    put("problem.toml", PROBLEM)
    assert "--counts" not in refused("usage", "design", "problem.toml", *EPSILON, "--known")


def test_the_command_line_speaks_of_its_options_and_python_of_its_parameters(refused, put, tmp_path):
    put("counts.csv", "low,5\nhigh,5\n")
    put("data.csv", "1,low\n2,high\n")
    for arguments in (
        ["first-line-is-data", "design", "--counts", "counts.csv", *EPSILON, "--known"],
        ["unknown-column", "design", "--data", "data.csv", "--column", "level", *EPSILON, "--known"],
    ):
        assert "header=False" not in refused(*arguments, shown="--no-header")
    for read in (lambda: read_counts(tmp_path / "counts.csv"), lambda: count_column(tmp_path / "data.csv", "level")):
        with pytest.raises(InputError, match="header=False") as caught:
            read()
        assert "--no-header" not in str(caught.value)


@pytest.mark.parametrize("mechanism", ["csh", "gshm"])
@pytest.mark.parametrize("given", [["--delta", "1e-6"], ["--tau", "5"]])
def test_noise_above_all_floats_is_refused(refused, put, mechanism, given):
    refused("out-of-range", "histogram", mechanism, "--plan", "-k", "5", *EPSILON, *given, "--sigma", "1e400")


def test_laplace_noise_above_all_floats_is_refused(refused, put):
    put("counts.csv", COUNTS)
    arguments = ["histogram", "laplace", "counts.csv", "-o", "out.csv", "--allow-float-noise", "--scale", "1e400"]
    refused("out-of-range", *arguments, shown="10^14")


def test_a_nul_in_any_argument_is_refused(refused, put):
    """A program that calls `run` can pass one; no system can."""
    put("counts.csv", COUNTS)
    for arguments in (
        ["design", "a\0b.toml"],
        ["design", "--data", "a\0*", "--column", "level", *EPSILON, "--known"],
        ["design", "--counts", "counts.csv", *EPSILON, "--known", "-o", "m\0.json"],
        ["design", "--counts", "counts.csv", *EPSILON, "--known", "--plot", "p\0.png"],
        ["estimate", "*\0", "--column", "level", "--mechanism", "m.json"],
        ["a\0b"],
    ):
        assert "NUL at position" in refused("usage", *arguments)
        refused("usage", *arguments, "--json")


@pytest.mark.parametrize("option", ["--split", "--evidence", "--heavy", "--seeds", "--alpha", "--master", "--prefixes"])
def test_options_of_windows_are_refused_without_them(refused, put, option):
    put("counts.csv", COUNTS)
    refused("usage", "design", "--counts", "counts.csv", *EPSILON, "--known", option, "3", shown="needs --windows")
