import tomllib
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from refusals import raises

from mechdesign import (
    ChiSquare,
    ConvexHull,
    DesignProblem,
    EstimationError,
    ExpectedDistortion,
    ExpectedGain,
    FInformation,
    HammingAccuracy,
    InputError,
    L1Ball,
    MutualInformation,
    ProblemFile,
    ProductSet,
    SquaredHellinger,
    TotalVariation,
    UncertaintySet,
    Union,
    read_problem,
    write_problem,
)

COUNTS = {"a": 5, "b": 3, "c": 2}
KNOWN = L1Ball(["0.5", "0.3", "0.2"])
MATRIX = [["0.1", 1, "-2/3"], [0, "1e-9", 5]]


@pytest.fixture
def read(tmp_path):
    def read_text(content):
        path = tmp_path / "problem.toml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_problem(path)

    return read_text


@pytest.mark.parametrize(
    "uncertainty",
    [
        KNOWN,
        L1Ball([0.5, 0.5], radius="1/3", labels=['quote " and \\', "comma, [brackets], déjà"]),
        L1Ball([1, 0, 0], radius=2),
        L1Ball(["0.3333333333", "0.6666666666"], radius="0.1"),
        L1Ball(["0.5", "0.3", "0.2"], radius=0.25, within_simplex=False),
        L1Ball.from_counts(COUNTS, known=True),
        L1Ball.from_counts({"two words": 1, "dot.ted": 2, "7": 3}, known=True),
        L1Ball.from_counts(COUNTS, radius="0.125"),
        L1Ball.from_counts(COUNTS, delta="1e-9"),
        L1Ball.from_counts(COUNTS, delta=0),
        L1Ball.from_counts(COUNTS, delta="1/3"),
        L1Ball.from_counts(COUNTS, delta="1/3", bound="weissman"),
        L1Ball.from_probabilities(["0.5", "0.3", "0.2"], delta=0.01, samples=300),
        L1Ball.from_probabilities({"u": "1/3", "v": "2/3"}, delta=0, samples=7, bound="weissman"),
        L1Ball.from_counts({"a": 5, "unseen": 0}, delta=0.01, within_simplex=False),
        L1Ball.from_samples(["b", "a", "b", "c"], delta=0.5),
        L1Ball.from_counts(COUNTS, delta=0.01).with_radius(0.5),
        ConvexHull([["0.5", "0.5"], ["0.2", "0.8"]], labels=["no", "yes"]),
        ProductSet(L1Ball.from_counts(COUNTS, delta="1e-9"), ConvexHull([["0.5", "0.5"], ["0.2", "0.8"]])),
        ProductSet(ProductSet(KNOWN, L1Ball(["1/3", "2/3"], 0, ["no", "yes"]), " x "), KNOWN, " | "),
        ConvexHull([["0.5", "0.3", "0.2"], ["1/3", "1/3", "1/3"], [1, 0, 0]], weights=["1/7", "2/7", "4/7"]),
        ConvexHull([["0.5", "0.5"]]),
        Union({"p": L1Ball.from_counts(COUNTS, delta="1e-9"), "q": L1Ball.from_counts(COUNTS, radius="1")}, [1, 0]),
        Union.from_counts({"p": COUNTS, "q": COUNTS}, delta="1e-9").covered(),
    ],
)
def test_what_is_known_comes_back_as_written(tmp_path, uncertainty):
    file = ProblemFile("a title", DesignProblem(uncertainty, "0.7"))
    write_problem(tmp_path / "p.toml", file)
    assert read_problem(tmp_path / "p.toml") == file


FACTORS = (
    "[[prior.factors]]\nlabels = ['u', 'v']\nprobabilities = [0.5, 0.5]\n[[prior.factors]]\ncounts = {a = 1, b = 2}\n"
)
JOINT = (
    "[prior]\nlabels = ['a', 'b']\n"
    "secret = {name = 's', useful = 'u', values = ['m', 'f'], counts = [[3, 1], [1, 3]]%s}\n"
)


@pytest.mark.parametrize(
    ("silent", "said"),
    [
        ("[prior.counts]\na = 1\nb = 2\n", "[prior]\nknown = true\n[prior.counts]\na = 1\nb = 2\n"),
        (FACTORS, FACTORS + "known = true\n"),
        (JOINT % "", JOINT % ", known = true"),
    ],
    ids=["counts", "factors", "joint counts"],
)
def test_counts_of_which_nothing_is_said_are_read_as_known_and_the_file_is_told_of(read, tmp_path, silent, said):
    """So were they in earlier versions; what is written says it."""
    old, new = read(HEAD + silent), read(HEAD + said)
    assert old.problem == new.problem
    assert new.notes == ()
    (note,) = old.notes
    assert note.startswith(f"{tmp_path / 'problem.toml'}: nothing says what the counts are, so they are taken as")
    assert "write known = true, or, for a sample, delta" in note
    write_problem(tmp_path / "again.toml", old)
    assert "known = true" in (tmp_path / "again.toml").read_text()
    assert read_problem(tmp_path / "again.toml") == new


@pytest.mark.parametrize("beside", ["delta = 0.1", "radius = 0.1"])
@pytest.mark.parametrize("estimate", ["counts = {a = 1, b = 2}", "probabilities = [0.5, 0.5]"])
def test_known_stands_alone(read, beside, estimate):
    with raises("conflicting-arguments", "'0", "1' and known", "both"):
        read(f"{HEAD}[prior]\nknown = true\n{beside}\n{estimate}\n")
    with raises("bad-field", "prior.known", "False"):
        read(f"{HEAD}[prior]\nknown = false\n{estimate}\n")
    assert read(f"{HEAD}[prior]\nknown = true\n{estimate}\n").problem.uncertainty.radius == 0


@pytest.mark.parametrize(
    "utility",
    [
        MutualInformation(),
        ChiSquare(),
        TotalVariation(),
        SquaredHellinger(),
        HammingAccuracy(),
        ExpectedGain(MATRIX),
        ExpectedDistortion(MATRIX),
        EstimationError(),
        EstimationError("prefix"),
        EstimationError({"symbols": ["x3", "x1"]}),
        EstimationError("weights=x2:0.1,x1:0,x3:7"),
        EstimationError({"scores": ["1/3", 0, 1e-9]}),
        EstimationError(MATRIX),
    ],
    ids=lambda utility: utility.name,
)
def test_every_named_utility_comes_back(tmp_path, utility):
    file = ProblemFile("a title", DesignProblem(KNOWN, 1, utility))
    write_problem(tmp_path / "p.toml", file)
    again = read_problem(tmp_path / "p.toml")
    assert again == file
    assert type(again.problem.utility) is type(utility)


@pytest.mark.parametrize("table", ["gain", "distortion"])
def test_a_distortion_may_stand_in_either_table(read, table):
    content = 'utility = "expected-distortion"\n' + HEAD + GOOD + f"[{table}]\nmatrix = [[0, 1], [1, 0]]\n"
    assert read(content).problem.utility == ExpectedDistortion([[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("table", "workload"),
    [
        ('name = "prefix"', "prefix"),
        ("marginals = [3]", {"marginals": [3]}),
        ('symbols = ["b", "a"]', "symbols=b,a"),
        ("weights = {b = 0.1, a = 1, c = 0}", {"weights": ["1", "1/10", "0"]}),
        ("[workload.scores]\nc = 1e-3\nb = 2\na = 0", {"scores": ["0", "2", "1/1000"]}),
        ("matrix = [[1, 0.5, 0]]", [["1", "1/2", "0"]]),
    ],
)
def test_a_workload_stands_in_a_table(read, table, workload):
    content = 'utility = "estimation-error"\n' + HEAD + "[prior.counts]\na = 5\nb = 3\nc = 2\n[workload]\n" + table
    objective = read(content).problem.utility
    aligned = EstimationError(workload).aligned_with(["a", "b", "c"])
    assert objective == aligned
    assert (objective.queries(3) == aligned.queries(3)).all()


def test_the_default_workload_is_not_written(tmp_path):
    write_problem(tmp_path / "p.toml", ProblemFile("t", DesignProblem(KNOWN, 1, EstimationError())))
    assert "workload" not in (tmp_path / "p.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("epsilon", [0, 0.1, "0.10", Decimal("1E-9"), Fraction(1, 3), "log(9/8)", np.float32(0.1)])
def test_epsilon_comes_back(tmp_path, epsilon):
    file = ProblemFile("a title", DesignProblem(KNOWN, epsilon))
    write_problem(tmp_path / "p.toml", file)
    assert read_problem(tmp_path / "p.toml") == file


def test_a_ball_larger_than_its_delta_asks_for_does_not_shrink(tmp_path):
    derived = L1Ball.from_counts({label: 10**5 * count for label, count in COUNTS.items()}, delta=0.9)
    larger = L1Ball(derived.center, "0.5", derived.labels, evidence=derived.evidence)
    write_problem(tmp_path / "p.toml", ProblemFile("t", DesignProblem(larger, 1)))
    again = read_problem(tmp_path / "p.toml").problem.uncertainty
    assert (again.center, again.radius, again.labels) == (larger.center, larger.radius, larger.labels)


def test_words_and_expected_values_come_back(tmp_path):
    expected = {"value": Decimal("0.95143018"), "best_ldp": Decimal("0.10"), "k_ary_randomized_response": Decimal(2)}
    file = ProblemFile('a "title"\nof two lines', DesignProblem(KNOWN, 1), 'from """somewhere"""', expected)
    write_problem(tmp_path / "p.toml", file)
    again = read_problem(tmp_path / "p.toml")
    assert again == file
    assert str(again.expected["best_ldp"]) == "0.10"  # half a unit of its last digit is its tolerance


def test_a_written_file_is_plain_toml(tmp_path):
    ball = L1Ball.from_counts(COUNTS, delta="1e-9")
    write_problem(tmp_path / "p.toml", ProblemFile("t", DesignProblem(ball, "log(9/8)", HammingAccuracy())))
    assert tomllib.loads((tmp_path / "p.toml").read_text(encoding="utf-8")) == {
        "title": "t",
        "epsilon": "log(9/8)",
        "utility": "hamming-accuracy",
        "prior": {"delta": "1e-09", "bound": "observed-sums", "counts": COUNTS},
    }


def test_a_utility_without_a_name_is_not_written(tmp_path):
    mine = FInformation(lambda u: (u - 1) ** 2 / 2, name="chi-square")
    with raises("no-file-format", "'chi-square'"):
        write_problem(tmp_path / "p.toml", ProblemFile("t", DesignProblem(KNOWN, 1, mine)))
    assert not (tmp_path / "p.toml").exists()


def test_a_set_without_a_form_is_not_written(tmp_path):
    methods = dict.fromkeys(UncertaintySet.__abstractmethods__)
    simplex = type("Simplex", (UncertaintySet,), methods | {"center": KNOWN.center, "labels": KNOWN.labels})()
    with raises("no-file-format", "Simplex"):
        write_problem(tmp_path / "p.toml", ProblemFile("t", DesignProblem(simplex, 1)))
    assert not (tmp_path / "p.toml").exists()


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    with raises("cannot-write"):
        write_problem(tmp_path / "absent" / "p.toml", ProblemFile("t", DesignProblem(KNOWN, 1)))


# Numbers are the decimals they are written as

HEAD = 'title = "t"\nepsilon = 1\n'


@pytest.mark.parametrize("number", ["0.1", '"0.1"', "1e-1", '"1/10"', "+0.10"])
def test_numbers_and_texts_are_the_same_decimals(read, number):
    file = read(
        f'title = "t"\nepsilon = {number}\nutility = "expected-gain"\n[prior]\nradius = {number}\n'
        f"probabilities = [{number}, 0.9]\n[gain]\nmatrix = [[{number}, 0]]\n[expected]\nvalue = 0.1\n"
    )
    tenth = Fraction(1, 10)
    assert file.problem.epsilon.exponent == tenth
    assert file.problem.uncertainty.radius == tenth
    assert file.problem.uncertainty.center == (tenth, 1 - tenth)
    assert file.problem.utility.exact == ((tenth, 0),)
    assert file.expected == {"value": Decimal("0.1")}


@pytest.mark.parametrize("delta", ["0.1", '"0.1"', '"1/10"'])
def test_delta_is_exact_and_gives_the_radius(read, delta):
    file = read(f"{HEAD}[prior]\ndelta = {delta}\n[prior.counts]\na = 30\nb = 10\n")
    assert file.problem.uncertainty == L1Ball.from_counts({"a": 30, "b": 10}, delta=Fraction(1, 10))


def test_defaults(read):
    file = read(f"{HEAD}[prior]\nprobabilities = [0.25, 0.75]\n")
    assert file == ProblemFile("t", DesignProblem(L1Ball(["0.25", "0.75"]), 1, MutualInformation()))
    assert (file.citation, file.expected) == ("", {})


@pytest.mark.parametrize(
    ("prior", "ball"),
    [
        ("probabilities = [0.5, 0.5]\ndelta = 0", L1Ball([0.5, 0.5], 2)),
        (
            "probabilities = [0.5, 0.5]\ndelta = 0.1\nsamples = 50",
            L1Ball.from_probabilities([0.5, 0.5], samples=50, delta=0.1),
        ),
        (
            "probabilities = [0.5, 0.5]\ndelta = 0.1\nsamples = 50\nbound = 'weissman'",
            L1Ball.from_probabilities([0.5, 0.5], samples=50, delta=0.1, bound="weissman"),
        ),
        ("probabilities = [0.5, 0.5]\nlabels = [1, 'b']", L1Ball([0.5, 0.5], labels=["1", "b"])),
        (
            "radius = 2\nwithin_simplex = false\ncounts = {a = 1, b = 0}",
            L1Ball.from_counts({"a": 1, "b": 0}, radius=2, within_simplex=False),
        ),
    ],
)
def test_the_forms_of_a_ball(read, prior, ball):
    assert read(f"{HEAD}[prior]\n{prior}\n").problem.uncertainty == ball


# Bad input


def test_a_product_of_two_sets(read):
    file = read(
        f"{HEAD}[prior]\n[[prior.factors]]\ndelta = 1e-9\n[prior.factors.counts]\na = 5\nb = 3\nc = 2\n"
        "[[prior.factors]]\nradius = 0.1\nprobabilities = [0.25, 0.75]\n"
    )
    known = ProductSet(L1Ball.from_counts(COUNTS, delta="1e-9"), L1Ball(["1/4", "3/4"], "0.1"))
    assert file.problem.uncertainty == known
    assert known.labels[:2] == ("a & x1", "a & x2")


FACTOR = "[[prior.factors]]\nprobabilities = [0.5, 0.5]\n"


@pytest.mark.parametrize(
    ("prior", "code"),
    [
        (FACTOR, "bad-field"),
        (FACTOR * 3, "bad-field"),
        (FACTOR + FACTOR + "size = 1\n", "unknown-key"),
        (FACTOR + FACTOR + "radius = true\n", "bad-field"),
        (
            FACTOR + "[[prior.factors]]\n",
            "conflicting-keys",
        ),
        (
            FACTOR + FACTOR + "weights = [1]\n",
            "key-out-of-place",
        ),
        ("separator = 3\n" + FACTOR * 2, "bad-field"),
        ("radius = 1\n" + FACTOR * 2, "key-out-of-place"),
        (
            'separator = ""\n' + "[[prior.factors]]\nprobabilities = [0.5, 0.5]\nlabels = ['a', 'aa']\n" * 2,
            "ambiguous-labels",
        ),
        (
            FACTOR + "[[prior.factors]]\nprobabilities = [0.5, 0.5]\nwithin_simplex = false\nradius = 2\n",
            "ball-leaves-simplex",
        ),
    ],
)
def test_products_that_do_not_fit_are_refused(read, prior, code):
    with raises(code) as caught:
        read(f"{HEAD}[prior]\n{prior}")
    assert "\n" not in str(caught.value)


GOOD = "[prior]\nprobabilities = [0.5, 0.5]\n"
TABLE = "[prior.counts]\na = 1\nb = 2\n"
DIGITS = "f" * 5_000  # more than int() takes as decimal text


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("colour = 1\n" + HEAD + GOOD, ["'colour' is unknown", "accepted: cap, citation, distortion, epsilon"]),
        (HEAD + GOOD + "size = 1\n", ["'prior.size' is unknown", "accepted: bound, counts, delta, known, labels"]),
        (HEAD + GOOD + "[gain]\nmatrix = []\nrows = 1\n", ["'gain.rows' is unknown", "accepted: matrix"]),
        (HEAD + GOOD + "[expected]\nvalues = 1\n", ["'expected.values' is unknown", "accepted: best_ldp"]),
        ("title = \n", ["not TOML", "line 1"]),
        ('title = "a"\ntitle = "b"\n', ["not TOML", "overwrite"]),
        ('title = "a\n', ["not TOML"]),
        (b'title = "\xe9"\n', ["not UTF-8 (byte 9)"]),
        ("\x00", ["not TOML"]),
        (HEAD + "x = " + "[" * 100_000, ["nested too deeply"]),
        (HEAD + "x = " + "9" * 5_000 + "\n", ["not TOML"]),
        ("", ["'title' is missing"]),
        ("epsilon = 1\n" + GOOD, ["'title' is missing; add it"]),
        ('title = "t"\n' + GOOD, ["'epsilon' is missing"]),
        (HEAD, ["'prior' is missing"]),
        ("title = 1\nepsilon = 1\n" + GOOD, ["title is 1", "string"]),
        (f'title = "{"t" * 2_001}"\nepsilon = 1\n' + GOOD, ["title is 'ttt", "2000 characters"]),
        (HEAD + "prior = 3\n", ["prior is 3"]),
        (HEAD + "[[prior]]\n", ["prior is [{}]"]),
        # epsilon
        ('title = "t"\nepsilon = -1\n' + GOOD, ["epsilon is '-1'", "0 to 700"]),
        ('title = "t"\nepsilon = "-0.5"\n' + GOOD, ["epsilon is '-0.5'"]),
        ('title = "t"\nepsilon = nan\n' + GOOD, ["epsilon is 'NaN'"]),
        ('title = "t"\nepsilon = inf\n' + GOOD, ["epsilon is 'Infinity'"]),
        ('title = "t"\nepsilon = "log(1/2)"\n' + GOOD, ["epsilon is 'log(1/2)'", "negative"]),
        ('title = "t"\nepsilon = true\n' + GOOD, ["epsilon is True"]),
        ('title = "t"\nepsilon = [1]\n' + GOOD, ["epsilon is [1]"]),
        ('title = "t"\nepsilon = 1979-05-27\n' + GOOD, ["epsilon is datetime.date"]),
        (f'title = "t"\nepsilon = 0x{DIGITS}\n' + GOOD, ["epsilon"]),
        ('title = "t"\nepsilon = 1e99999999999999999999\n' + GOOD, ["1e99999999999999999999"]),
        # utility
        ('utility = "entropy"\n' + HEAD + GOOD, ["'entropy' is unknown", "mutual-information"]),
        ("utility = 1\n" + HEAD + GOOD, ["utility is 1"]),
        ('utility = "expected-gain"\n' + HEAD + GOOD, ["'expected-gain' needs a matrix"]),
        (HEAD + GOOD + "[gain]\nmatrix = [[1, 0]]\n", ["'mutual-information' takes no matrix"]),
        (HEAD + GOOD + "[distortion]\nmatrix = [[1, 0]]\n", ["[distortion]", "'mutual-information'"]),
        ('utility = "expected-gain"\n' + HEAD + GOOD + "[distortion]\nmatrix = [[1, 0]]\n", ["'expected-gain'"]),
        (
            'utility = "expected-gain"\n' + HEAD + GOOD + "[gain]\nmatrix=[[1,0]]\n[distortion]\nmatrix=[[1,0]]\n",
            ["[gain] and [distortion] are both given"],
        ),
        ('utility = "expected-gain"\n' + HEAD + GOOD + "[gain]\n", ["'gain.matrix' is missing"]),
        ('utility = "expected-gain"\n' + HEAD + GOOD + "[gain]\nmatrix = []\n", ["rows of one length"]),
        ('utility = "expected-gain"\n' + HEAD + GOOD + "[gain]\nmatrix = [[1, 0], [1]]\n", ["lengths [1, 2]"]),
        (
            'utility = "expected-gain"\n' + HEAD + GOOD + "[gain]\nmatrix = [[1, 0, 0]]\n",
            ["3 columns for 2 categories"],
        ),
        ('utility = "expected-gain"\n' + HEAD + GOOD + "[gain]\nmatrix = [[1, nan]]\n", ["entry (1, 2)", "'NaN'"]),
        ('utility = "expected-gain"\n' + HEAD + GOOD + '[gain]\nmatrix = [["1e400", 0]]\n', ["entry (1, 1)", "1e400"]),
        # what is known
        (HEAD + "[prior]\n", ["[prior] has no set of priors"]),
        (HEAD + GOOD + TABLE, ["counts and probabilities"]),
        (HEAD + "[prior]\npriors = [[0.5, 0.5]]\nprobabilities = [0.5, 0.5]\n", ["probabilities and priors"]),
        (HEAD + "[prior]\ndelta = 0.1\nradius = 0.2\n" + TABLE, ["delta '0.1' and radius '0.2' are both given"]),
        (HEAD + GOOD + "delta = 0.1\nradius = 0.2\nsamples = 5\n", ["delta '0.1' and radius '0.2' are both given"]),
        (HEAD + "[prior]\nsamples = 300\n" + TABLE, ["samples 300 is given without delta"]),
        (HEAD + GOOD + "samples = 300\n", ["[prior] has samples"]),
        (HEAD + GOOD + "bound = 'weissman'\n", ["[prior] has bound"]),
        (HEAD + "[prior]\nbound = 'weissman'\n" + TABLE, ["weissman is given without delta"]),
        (
            HEAD + "[prior]\ndelta = 0.1\nbound = 'hoeffding'\n" + TABLE,
            ["the bound is 'hoeffding'", "clopper-pearson, "],
        ),
        (HEAD + GOOD + "delta = 0\nbound = 'x'\n", ["the bound is 'x'"]),
        (HEAD + GOOD + "delta = 0.1\n", ["delta 0.1 is given for probabilities without samples"]),
        (HEAD + GOOD + "delta = 0.1\nsamples = 0\n", ["the number of samples is 0"]),
        (HEAD + GOOD + "delta = 0.1\nsamples = 1.5\n", ["prior.samples is 1.5"]),
        (HEAD + GOOD + "delta = 0.1\nsamples = true\n", ["prior.samples is True"]),
        (HEAD + "[prior]\ndelta = 1\n" + TABLE, ["delta is '1'", "[0, 1)"]),
        (HEAD + "[prior]\ndelta = -0.1\n" + TABLE, ["delta is '-0.1'"]),
        (HEAD + "[prior]\ndelta = nan\n" + TABLE, ["delta is 'NaN'"]),
        (HEAD + "[prior]\nradius = 2.1\n" + TABLE, ["the radius is '2.1'", "2 (any prior)"]),
        (HEAD + GOOD + "radius = -1\n", ["the radius is '-1'"]),
        (HEAD + GOOD + 'radius = ""\n', ["the radius is ''"]),
        (HEAD + "[prior]\nlabels = ['a', 'b']\n" + TABLE, ["labels beside counts"]),
        (HEAD + "[prior]\nweights = [1]\n" + TABLE, ["[prior] has weights"]),
        (HEAD + GOOD + "weights = [1]\n", ["[prior] has weights"]),
        # counts
        (HEAD + "[prior.counts]\na = 1\n", ["one category ('a')"]),
        (HEAD + "[prior.counts]\n", ["no category"]),
        (HEAD + "[prior.counts]\na = 0\nb = 0\n", ["all counts are 0"]),
        (HEAD + "[prior.counts]\na = 0\nb = 2\n", ["the category 'a' has probability 0 under a known prior"]),
        (HEAD + "[prior.counts]\na = -1\nb = 2\n", ["the count of 'a' is -1"]),
        (HEAD + "[prior.counts]\na = 1.5\nb = 2\n", ["prior.counts.a is 1.5"]),
        (HEAD + '[prior.counts]\na = "1"\nb = 2\n', ["prior.counts.a is '1'"]),
        (HEAD + "[prior.counts]\na = true\nb = 2\n", ["prior.counts.a is True"]),
        (HEAD + '[prior.counts]\n"" = 1\nb = 2\n', ["a label is empty"]),
        (HEAD + f"[prior.counts]\na = {10**15 + 1}\nb = 2\n", ["the count of 'a'", "10^15"]),
        (HEAD + f"[prior.counts]\na = 0x{DIGITS}\nb = 2\n", ["the count of 'a'", "10^15"]),
        # probabilities and labels
        (HEAD + "[prior]\nprobabilities = [0.5, 0.6]\n", ["sums to 1.1"]),
        (HEAD + "[prior]\nprobabilities = [0.5, 0.499999]\n", ["sums to 0.999999", "1e-09"]),
        (HEAD + "[prior]\nprobabilities = [1.5, -0.5]\n", ["probability 2 of the center is -0.5"]),
        (HEAD + "[prior]\nprobabilities = [nan, 1]\n", ["probability 1 of the center is 'NaN'"]),
        (HEAD + "[prior]\nprobabilities = ['1e400', 0.5]\n", ["the center sums to"]),
        (HEAD + "[prior]\nprobabilities = ['-1e400', 0.5]\n", ["probability 1 of the center is"]),
        (HEAD + "[prior]\nprobabilities = [1]\n", ["1 probabilities", "at least two"]),
        (HEAD + "[prior]\nprobabilities = [0, 1]\n", ["'x1' has probability 0"]),
        (HEAD + "[prior]\nprobabilities = '0.5'\n", ["prior.probabilities is '0.5'"]),
        (HEAD + "[prior]\nprobabilities = [true, 0]\n", ["prior.probabilities.0 is True"]),
        (HEAD + GOOD + "labels = ['a', 'a']\n", ["'a' occurs twice"]),
        (HEAD + GOOD + "labels = [1, '1']\n", ["'1' occurs twice"]),
        (HEAD + GOOD + "labels = ['a']\n", ["1 labels for 2 categories"]),
        (HEAD + GOOD + "labels = ['a', '']\n", ["a label is empty"]),
        (HEAD + GOOD + "labels = ['a', 1.5]\n", ["prior.labels", "1.5"]),
        (HEAD + GOOD + "labels = ['a', true]\n", ["prior.labels", "True"]),
        (HEAD + GOOD + "within_simplex = 'no'\n", ["prior.within_simplex is 'no'"]),
        # hulls
        (HEAD + "[prior]\npriors = []\n", ["no priors"]),
        (HEAD + "[prior]\npriors = [[0.5, 0.5], [1]]\n", ["prior 2 has 1 probabilities"]),
        (HEAD + "[prior]\npriors = [[0.5, 0.5], [0.3, 0.3, 0.4]]\n", ["2 and 3 categories"]),
        (HEAD + "[prior]\npriors = [[0.5, 0.5], [0.5, 0.6]]\n", ["prior 2 sums to 1.1"]),
        (HEAD + "[prior]\npriors = [[1, 0], [1, 0]]\n", ["'x2' has probability 0 under every prior"]),
        (HEAD + "[prior]\npriors = [[0.5, 0.5], [1, 0]]\nweights = [1]\n", ["the weights"]),
        (HEAD + "[prior]\npriors = [[0.5, 0.5], [1, 0]]\nweights = [0.5, 0.6]\n", ["the weights sums to 1.1"]),
        (HEAD + "[prior]\npriors = [[0.5, 0.5]]\nweights = [0.5, 0.5]\n", ["weights"]),
        (HEAD + "[prior]\npriors = [[0.5, 0.5]]\ndelta = 0.1\n", ["[prior] has delta"]),
        (HEAD + "[prior]\npriors = [[0.5, 0.5]]\nwithin_simplex = false\n", ["[prior] has within_simplex"]),
        # expected values
        (HEAD + GOOD + '[expected]\nvalue = "much"\n', ["expected.value", "'much'"]),
        (HEAD + GOOD + "[expected]\nvalue = nan\n", ["expected.value", "NaN"]),
        (HEAD + GOOD + "[expected]\nvalue = true\n", ["expected.value is True"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_refused_by_key_and_value_on_one_line(read, tmp_path, content, parts):
    with pytest.raises(InputError) as caught:
        read(content)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / "problem.toml"))
    assert all(part in message for part in parts), message
    assert "\n" not in message
    assert len(message) < 600


def test_an_unreadable_file_is_refused(tmp_path):
    with raises("cannot-read"):
        read_problem(tmp_path / "absent.toml")
    with raises("cannot-read"):
        read_problem(tmp_path)


def test_an_enormous_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "problem.toml"
    with path.open("wb") as file:
        file.truncate(64 * 2**20 + 1)
    with raises("file-too-large"):
        read_problem(path)
