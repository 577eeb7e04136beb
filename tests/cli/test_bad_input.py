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
def refused(here, command):
    """Run a command that is to fail, and return its message."""

    def run_refused(arguments, usage=False):
        before = {path.name: path.read_bytes() for path in here.iterdir() if path.is_file()}
        status, out, err = command(*arguments)
        lines = err.splitlines()
        assert status == 2, err
        if "--json" in arguments:
            error = json.loads(out)["error"]
            assert lines[-1] == f"Error: {error['message']} [{error['code']}]"
        else:
            assert out == ""
        assert len(lines) == 1 or (usage and lines[0].startswith("Usage: mechdesign"))
        assert lines[-1].startswith("Error: ")
        assert "Traceback" not in err
        assert {path.name: path.read_bytes() for path in here.iterdir() if path.is_file()} == before
        return lines[-1]

    return run_refused


@pytest.fixture
def put(tmp_path):
    """Write an input file, and an older output file that is to survive."""

    def write(name, content):
        (tmp_path / "m.json").write_bytes(b"what stood here")
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return write


BAD_COUNTS = [
    ("level,people\nlow,-5\nhigh,2\n", "line 2: the second field is not a count"),
    ("level,people\nlow,5.5\nhigh,2\n", "line 2: the second field is not a count (--show-values"),
    ("level,people\nlow,NaN\nhigh,2\n", "line 2: the second field is not a count (--show-values prints"),
    ("level,people\nlow,9999999999999999\nhigh,2\n", "from 0 to 10^15"),
    ("level,people\nlow,\nhigh,2\n", "line 2: the second field is not a count (--show-values prints it)"),
    ("", "has no counts"),
    ("level,people\n", "has no counts"),
    ("level,people\nlow,5\n", "one category ('low')"),
    ("level,people\nlow,0\nhigh,0\n", "all counts are 0"),
    ("level,people\nlow,0\nhigh,5\n", "'low' has probability 0 under a known prior"),
    ("level,people\nlow,5\nlow,5\n", "line 3: the label occurs twice"),
    ("level,people\n,5\nhigh,5\n", "line 2: the first field is empty"),
    ("level,people\nlow\nhigh,5\n", "line 2: 1 field ("),
    ("low,5\nhigh,5\n", "--no-header"),
    (b"level,people\nl\xf6w,5\nhigh,5\n", "not UTF-8"),
    ('level,people\n"low,5\nhigh,5\n', "malformed, line 2: a quote that is not closed"),
]


@pytest.mark.parametrize(("content", "part"), BAD_COUNTS, ids=[part for _, part in BAD_COUNTS])
def test_a_bad_table_of_counts(refused, put, content, part):
    put("counts.csv", content)
    assert part in refused(["design", "--counts", "counts.csv", *EPSILON, "--known", "-o", "m.json"])
    assert part in refused(["compare", "--counts", "counts.csv", *EPSILON, "--known"])


@pytest.mark.parametrize(
    ("content", "arguments", "part"),
    [
        ("", ["--column", "level"], "is empty"),
        ("id,level\n", ["--column", "level"], "has no records"),
        ("id,level\n1,low\n2,low\n", ["--column", "level"], "one category ('low')"),
        ("id,level\n1,low\n2,\n", ["--column", "level"], "record 2 is missing"),
        ("id,level\n1,low\n2\n", ["--column", "level"], "line 3: 1 field,"),
        ("id,level\n1,low\n", ["--column", "height"], "the column 'height' is missing"),
        ("level,level\n1,low\n", ["--column", "level"], "the column 'level' occurs twice"),
        ("1,low\n2,high\n", ["--column", "level", "--no-header"], "give its index"),
        ("1,low\n2,high\n", ["--column", "2", "--no-header"], "there is no column 2"),
        ("1,low\n2,high\n", ["--column", "-1", "--no-header"], "give its index"),
    ],
)
def test_a_bad_column_of_data(refused, put, content, arguments, part):
    put("data.csv", content)
    assert part in refused(["design", "--data", "data.csv", *arguments, *EPSILON, "--known", "-o", "m.json"])


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--epsilon", "-1"], "epsilon is '-1'"),
        (["--epsilon", "-1e-9"], "epsilon is '-1e-9'"),
        (["--epsilon", "inf"], "epsilon is 'inf'"),
        (["--epsilon", "nan"], "epsilon is 'nan'"),
        (["--epsilon", "1e9"], "epsilon is '1e9'"),
        (["--epsilon", "log(1/2)"], "epsilon is 'log(1/2)', which is negative"),
        (["--epsilon", "log(1/0)"], "divides by zero"),
        (["--epsilon", "one"], "epsilon is 'one'"),
        (["--epsilon", ""], "epsilon is ''"),
        (["--epsilon", "1\n2"], "epsilon is"),
        (["--delta", "-0.1"], "delta is '-0.1'"),
        (["--delta", "1"], "delta is '1'"),
        (["--delta", "1.5"], "delta is '1.5'"),
        (["--delta", "nan"], "delta is 'nan'"),
        (["--delta", "1/0"], "divides by zero"),
        (["--radius", "-0.1"], "the radius is '-0.1'"),
        (["--radius", "2.1"], "the radius is '2.1'"),
        (["--radius", "inf"], "the radius is 'inf'"),
        (["--radius", "1e400"], "the radius is '1e400'"),
        (["--delta", "0.1", "--radius", "0.1"], "--delta and --radius are both given; give one"),
        (["--samples", "100"], "samples 100 is given without delta"),
        (["--samples", "0", "--delta", "0.1"], "the number of samples is 0"),
        (["--utility", "entropy"], "the utility 'entropy' is unknown; accepted: mutual-information"),
        (["--utility", "expected-gain"], "needs a matrix"),
        (
            ["--workload", "prefix", *INFORMATION],
            "'mutual-information' takes no workload; leave it out, or take estimation-error",
        ),
        (
            ["--utility", "estimation-error", "--workload", "medians"],
            "the workload 'medians' is unknown; accepted: freq",
        ),
        (
            ["--utility", "estimation-error", "--workload", "weights=1,-1,0"],
            "the weight of symbol 2 is '-1'; accepted: 0",
        ),
        (["--utility", "estimation-error", "--workload", "marginals=2x3"], "have 6 symbols for 3 symbols; give sizes"),
        (
            ["--utility", "estimation-error", "--workload", "symbols=z"],
            "the symbol 'z', which is not a label; accepted",
        ),
        (["--utility", "estimation-error", "--workload", "scores=3,3,3"], "all 3 scores of the workload are '3'"),
        (["--bits", "0"], "bits is 0"),
        (["--bits", "53"], "bits is 53"),
        (["--tol", "0"], "tol is 0"),
        (["--tol", "-1"], "tol is -1"),
        (["--tol", "1"], "tol is 1"),
        (["--tol", "nan"], "tol is nan"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_bad_option(refused, put, options, part):
    put("counts.csv", COUNTS)
    said = {"--delta", "--radius"} & set(options)
    arguments = ["design", "--counts", "counts.csv", "-o", "m.json", *([] if said else ["--known"]), *options]
    assert part in refused(arguments if "--epsilon" in options else [*arguments, *EPSILON])


BAD_PROBLEMS = [
    (HEAD + "[prior]\nprobabilities = [0.5, 0.6]\n", "sums to 1.1"),
    (HEAD + "[prior]\nprobabilities = [nan, 0.5]\n", "'NaN'"),
    (HEAD + "[prior]\nprobabilities = [1.5, -0.5]\n", "is -0.5"),
    (HEAD + "[prior]\nprobabilities = ['1e400', 0.5]\n", "the center sums to"),
    (HEAD + "[prior]\nprobabilities = [1]\n", "at least two"),
    (HEAD + "[prior]\nlabels = ['a', 'a']\nprobabilities = [0.5, 0.5]\n", "'a' occurs twice"),
    (HEAD + "[prior]\nprobabilities = [0.5, 0.5]\nradius = ''\n", "the radius is ''"),
    (HEAD + "[prior.counts]\na = -1\nb = 2\n", "the count of 'a' is -1"),
    (HEAD + "[prior.counts]\na = 1.5\nb = 2\n", "1.5"),
    (HEAD + "[prior.counts]\na = 1\n", "one category"),
    (HEAD + "[prior.counts]\n", "no category"),
    (HEAD + "[prior]\ndelta = 1.5\ncounts = {a = 1, b = 2}\n", "delta is '1.5'"),
    (HEAD + "[prior]\nradius = -1\ncounts = {a = 1, b = 2}\n", "the radius is '-1'"),
    (HEAD + "[prior]\ndelta = 0.1\nradius = 0.1\ncounts = {a = 1, b = 2}\n", "are both given"),
    (PROBLEM.replace('"1"', "-1"), "epsilon is '-1'"),
    (PROBLEM.replace('"1"', "nan"), "epsilon is 'NaN'"),
    (PROBLEM.replace('"1"', "1e99999999999999999999"), "1e99999999999999999999"),
    (PROBLEM.replace('"1"', "0x" + "f" * 5_000), "epsilon"),
    ('utility = "entropy"\n' + PROBLEM, "'entropy' is unknown"),
    ('utility = "expected-gain"\n' + PROBLEM + '[gain]\nmatrix = [["1e400", 0, 0]]\n', "1e400"),
    (
        ERROR + '[workload]\nname = "medians"\n',
        "problem.toml: the workload 'medians' is unknown; accepted: frequencies",
    ),
    (ERROR + '[workload]\nnam = "prefix"\n', "the key 'workload.nam' is unknown; accepted: marginals, matrix, name"),
    (ERROR + "[workload]\n", "workload has no key that tells the queries"),
    ('workload = "prefix"\n' + ERROR, "workload is 'prefix'; accepted: a table"),
    (ERROR + "[workload]\nmatrix = [[1, 1]]\n", "has equal entries in every row"),
    (ERROR + "[workload]\nmatrix = [[1, 0]]\n", "the workload has columns for 2 symbols, and the alphabet has 3"),
    (ERROR + "[workload.weights]\nlow = 1\n", "the workload has weights for 1 symbol, and the alphabet has 3"),
    (
        ERROR + "[workload.scores]\nlow = 1\nhi = 2\nhigh = 3\n",
        "the scores of the workload: the labels are 'low', 'hi', 'high'; accepted",
    ),
    (PROBLEM + '[workload]\nname = "prefix"\n', "'mutual-information' takes no workload; leave it out, or take est"),
    (PROBLEM.replace("low", '" low"'), "the label ' low' begins or ends with white space"),
    (PROBLEM.replace("low", '""'), "a label is empty"),
    ("colour = 1\n" + PROBLEM, "'colour' is unknown"),
    (PROBLEM + '[expected]\nvalue = "much"\n', "'much'"),
    (PROBLEM + "[[[", "not TOML"),
    ("title = \n", "not TOML"),
    ("", "'title' is missing"),
    ("x = " + "[" * 100_000, "nested too deeply"),
    (b"title = '\xff'\n", "not UTF-8"),
]


@pytest.mark.parametrize(("content", "part"), BAD_PROBLEMS, ids=[part for _, part in BAD_PROBLEMS])
def test_a_bad_problem_file(refused, put, content, part):
    put("problem.toml", content)
    assert part in refused(["design", "problem.toml", "-o", "m.json"])
    assert "problem.toml" in refused(["compare", "problem.toml"])


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
    assert f"cannot read {name}" in refused([argument.replace("NAME", name) for argument in arguments])


@pytest.mark.parametrize(
    ("output", "part"),
    [
        ("m.txt", "accepted: .json, .npz, .csv"),
        ("m", "accepted: .json, .npz, .csv"),
        ("", "accepted: .json, .npz, .csv"),
        ("absent/m.json", "cannot write absent/m.json"),
        ("problem.toml/m.json", "cannot write problem.toml/m.json"),
        ("folder.json", "cannot write folder.json"),
        ("m" * 300 + ".json", "cannot write mmm"),
    ],
)
def test_a_place_that_cannot_be_written(refused, put, tmp_path, output, part):
    put("problem.toml", PROBLEM)
    (tmp_path / "m.txt").write_bytes(b"what stood here")
    (tmp_path / "folder.json").mkdir()
    assert part in refused(["design", "problem.toml", "-o", output])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.json", "m.json", "m.txt", "problem.toml"]


@pytest.mark.parametrize(
    ("arguments", "part"),
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
def test_a_command_line_that_makes_no_sense(refused, put, arguments, part):
    put("problem.toml", PROBLEM)
    assert part in refused(arguments, usage=True)


# Mechanism files edited by hand


@pytest.mark.parametrize(
    ("edit", "part"),
    [
        (set_key("numerators", 0, [3, 2]), "row 1 of the numerators sums to 5"),
        (set_key("numerators", 0, [5, -1]), "row 1, column 2 is -1"),
        (set_key("numerators", [[4, 0], [4, 0]]), "column 2 of the numerators is zero"),
        (set_key("numerators", 0, [3.5, 0.5]), "numerators.0.0"),
        (set_key("numerators", 0, 0, 10**30), "too long"),
        (set_key("inputs", ["a", "a"]), "'a' occurs twice"),
        (set_key("outputs", ["a", "a"]), "'a' occurs twice"),
        (set_key("inputs", ["a"]), "1 inputs"),
        (set_key("inputs", ["a", " a"]), "' a' begins or ends with white space"),
        (set_key("outputs", ["a\u00a0", "b"]), "begins or ends with white space"),
        (set_key("inputs", ["", "b"]), "a label is empty"),
        (set_key("outputs", ["a", ""]), "a label is empty"),
        (set_key("inputs", ["\ud800", "b"]), "\\ud800"),
        (set_key("schema", "mechdesign/mechanism/9"), "schema is 'mechdesign/mechanism/9'"),
        (set_key("comment", 1), "'comment' is unknown"),
        (set_key("bits", 53), "bits is 53"),
        (set_key("guarantee", "epsilon", "-1"), "epsilon is '-1'"),
        (set_key("guarantee", "radius", "3"), "the radius is '3'"),
        (set_key("guarantee", "center", ["0.5", "0.6"]), "the center sums to 1.1"),
        (set_key("optimality", "lambda", [0.0]), "lambda has 1 entries"),
        (set_key("optimality", "utility", "entropy"), "'entropy' is unknown"),
        (lambda table: table.pop("guarantee"), "'guarantee' is missing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("flags", [[], ["--json"]], ids=["words", "json"])
def test_a_mechanism_file_edited_by_hand(refused, tmp_path, edit, part, flags):
    promise = Guarantee(Epsilon.of("log(3)"), L1Ball(["0.5", "0.5"], 2))
    claim = Optimality(MutualInformation(), 0.1, 0.2, (0.0, 0.0))
    Mechanism(np.array([[3, 1], [1, 3]]), 2, promise, optimality=claim).save(tmp_path / "m.json")
    table = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    edit(table)
    (tmp_path / "m.json").write_text(json.dumps(table), encoding="utf-8")
    assert part in refused(["verify", "m.json", *flags])


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"schema": NaN}', b'{"a": 1, "a": 2}', b"\xff\xfe", b"PK\x03\x04", b"[" * 100_000],
)
def test_what_is_no_mechanism_file(refused, put, content):
    put("other.json", content)
    assert "other.json" in refused(["verify", "other.json"])


# Hints that lead somewhere


@pytest.mark.parametrize("options", [EPSILON, ["--column", "x", "--delta", "0.1"], []])
def test_a_csv_file_in_the_place_of_a_problem_file_is_told_its_option(refused, put, options):
    put("counts.csv", COUNTS)
    for command in ("design", "compare"):
        message = refused([command, "counts.csv", *options])
        assert "if counts.csv is a CSV file, give counts with --counts FILE, and records with --data FILE" in message
    put("problem.toml", PROBLEM)
    assert "--counts" not in refused(["design", "problem.toml", *EPSILON, "--known"])


def test_the_command_line_speaks_of_its_options_and_python_of_its_parameters(refused, put, tmp_path):
    put("counts.csv", "low,5\nhigh,5\n")
    put("data.csv", "1,low\n2,high\n")
    for arguments in (
        ["design", "--counts", "counts.csv", *EPSILON, "--known"],
        ["design", "--data", "data.csv", "--column", "level", *EPSILON, "--known"],
    ):
        message = refused(arguments)
        assert "--no-header" in message
        assert "header=False" not in message
    for read in (lambda: read_counts(tmp_path / "counts.csv"), lambda: count_column(tmp_path / "data.csv", "level")):
        with pytest.raises(InputError, match="header=False") as caught:
            read()
        assert "--no-header" not in str(caught.value)


@pytest.mark.parametrize("mechanism", ["csh", "gshm"])
@pytest.mark.parametrize("given", [["--delta", "1e-6"], ["--tau", "5"]])
def test_noise_above_all_floats_is_refused(refused, put, mechanism, given):
    arguments = ["histogram", mechanism, "--plan", "-k", "5", *EPSILON, *given, "--sigma", "1e400"]
    assert "sigma is '1e400', which is above all floats" in refused(arguments)


def test_laplace_noise_above_all_floats_is_refused(refused, put):
    put("counts.csv", COUNTS)
    arguments = ["histogram", "laplace", "counts.csv", "-o", "out.csv", "--allow-float-noise", "--scale", "1e400"]
    assert "at most 10^14" in refused(arguments)
