"""The verifier in examples/, the package and, where it can be built, the checker that Coq extracts say the same."""

import copy
import json
import math
import random
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import mpmath
import native
import numpy as np
import pytest
from lower_sets import some_prior, some_set

import mechdesign as md
from mechdesign.cli.entry_point import run
from mechdesign.errors import MechdesignError
from mechdesign.mechanism.claims import Parts
from mechdesign.mechanism.mechanism_files import from_content, to_json
from mechdesign.uncertainty import Box, EventSet, L1Box, LowerLimits, ProductSet, RelativeBall, SecretPromise
from mechdesign.uncertainty.bounds_of_counts import BOUNDS_OF_COUNTS
from mechdesign.uncertainty.radii import radius_exact
from tests.fuzz.generators import damaged
from tests.fuzz.mechanism_files import mechanism_tables, shifted

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "verify.py"
NOT_READ = ("optimality", "provenance", "table")
COUNTS = {"a": 40, "b": 30, "c": 20, "d": 10}


@pytest.fixture
def script(monkeypatch, tmp_path, request):
    """Return the answer of the script, a message and a status, to the content of a file.

    Where slow tests are not left out, the checker that Coq extracts is asked too: to build it takes a quarter of a
    minute.
    """
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    import verify

    def answer(content):
        (tmp_path / "m.json").write_bytes(content)
        told, status = verify.answer(tmp_path / "m.json")
        if request.config.option.markexpr != "not slow" and native.programs():
            native.check_agrees(tmp_path / "m.json", told, status)
        return told, status

    return answer


def package(content):
    """Return the status of ``verify --guarantee-only`` for the content of a file."""
    try:
        md.Mechanism(*from_content(content, "m.json"))
    except MechdesignError as error:
        return error.exit_status
    return 0


def check_same(script, content):
    """Check that both say the same; the script does not read claims of optimality, which the package may refuse."""
    expected, (told, status) = package(content), script(content)
    if status == 3:
        assert "beyond this script" in told
        return status
    if told.endswith(" is taken as given"):  # the package may find that it is false
        assert (status, expected) in {(0, 0), (0, 1)}
        return status
    if expected != status and expected == 2:
        table = json.loads(content)
        expected = package(json.dumps({key: value for key, value in table.items() if key not in NOT_READ}).encode())
    assert status == expected, (told, content)
    return status


def test_constraints_of_a_table_are_said_not_to_be_looked_at(script):
    made = md.design_table(COUNTS, 1, known=True).mechanism
    told, status = script(to_json(made.parts))
    assert status == 0
    assert told.endswith("constraints of a table are not looked at")
    assert "table" not in script(to_json(made.parts._replace(table=None)))[0]


def of_counts():
    """Return a set of each kind whose limits follow from counts."""
    joint = [[8, 4, 2], [3, 6, 9]]
    balls = [md.L1Ball.from_counts(COUNTS, delta="1e-3", bound=bound) for bound in BOUNDS_OF_COUNTS]
    return [
        *balls,
        *(kind.from_counts(COUNTS, "0.01") for kind in (LowerLimits, Box, L1Box, RelativeBall, EventSet)),
        *(SecretPromise(joint, delta="0.1", limits=limits) for limits in ("box", "l1-ball")),
        md.Union({"l1": balls[0], "box": Box.from_counts(COUNTS, "0.01")}),
        md.Union.from_counts({"g": COUNTS, "h": COUNTS}, delta="1e-3").covered(),
        ProductSet(
            md.L1Ball.from_counts({"u": 5, "v": 6}, delta="0.1"), md.ConvexHull([["0.5", "0.5"], ["0.2", "0.8"]])
        ),
    ]


def of_asserted_samples():
    """Return a set of each kind whose limits follow from samples that are asserted."""
    center, delta = ["0.4", "0.35", "0.15", "0.1"], "0.01"
    ball, sharper = (
        md.L1Ball.from_probabilities(center, samples=137, delta=delta, bound=bound)
        for bound in ("weissman", "clopper-pearson")
    )
    return [
        ball,
        sharper,
        *(kind.from_probabilities(center, delta, samples=140) for kind in (LowerLimits, Box, L1Box)),
        *(kind.from_probabilities(center, delta, samples=137) for kind in (RelativeBall, EventSet)),
        md.Union([ball, md.L1Ball.from_counts([40, 30, 20, 10], delta=delta)]),
        ProductSet(sharper, md.L1Ball.from_counts({"u": 5, "v": 6}, delta="0.1")),
        SecretPromise([[8, 4, 2], [3, 6, 9]], known=True).within(
            [
                md.L1Ball.from_probabilities(["14/32", "18/32"], samples=50, delta=delta),
                md.L1Ball.from_counts([8, 4, 2], delta=delta),
                md.L1Ball.from_counts([3, 6, 9], delta=delta),
            ]
        ),
    ]


def some_known(rng, size):
    """Return a random set of any kind, of small denominators."""
    kind = rng.integers(0, 8)
    if kind == 7:
        sets = [md.L1Ball(some_prior(rng, size, zeros=False), Fraction(int(rng.integers(0, 9)), 4)) for _ in range(2)]
        return md.Union(sets).covered() if rng.random() < 0.3 else md.Union(sets)
    if kind == 0:
        return md.ConvexHull([some_prior(rng, size, zeros=False) for _ in range(rng.integers(1, 4))])
    if kind == 1:
        return md.L1Ball(some_prior(rng, size, zeros=False), Fraction(int(rng.integers(0, 9)), 4))
    if kind == 2 and size == 4:
        return ProductSet(some_known(rng, 2), some_known(rng, 2))
    if kind == 3 and size > 2:
        counts = rng.integers(1, 6, (2, size))
        secret = SecretPromise(counts.tolist(), known=True)
        laws = [[Fraction(int(n), int(row.sum())) for n in row] for row in (counts.sum(axis=1), *counts)]
        if rng.random() < 0.3:
            return secret
        return secret.within([md.L1Ball(law, Fraction(int(rng.integers(0, 5)), 4)) for law in laws])
    try:
        known = some_set(rng, size)
    except md.InputError:  # a symbol has probability 0 in the whole set
        return some_known(rng, size)
    return some_known(rng, size) if known.kind == "lower-function" else known  # which no file holds


def border_files(rng):
    """Yield files whose guarantee is just true, and what becomes of it by one unit of a numerator or of epsilon."""
    size, bits, outputs = int(rng.integers(2, 6)), int(rng.choice([3, 8, 52])), int(rng.integers(2, 4))
    known = some_known(rng, 4 if size == 5 else size)
    cuts = np.sort(rng.integers(1, 2**bits, (known.size, outputs - 1)), axis=1)
    rows = np.diff(cuts, prepend=0, append=2**bits)
    rows = rows[:, rows.any(axis=0)]
    ratios = [known.exact_ratio(column) for column in rows.T.tolist()]
    least = min(known.exact_least_lift(column) for column in rows.T.tolist())
    worst = max([Fraction(1), *(ratio for ratio in ratios if ratio is not None)])
    decimal = md.Epsilon.covering(worst).text
    lowers = [None] if least in (0, 1) else [None, f"log({1 / least})", md.Epsilon.covering(1 / least).text]
    for lower in lowers:
        for epsilon in (f"log({worst})", decimal, str(max(Fraction(0), Fraction(decimal) - Fraction(1, 10**12)))):
            for step in (0, 1):
                moved = rows.copy()
                i, j, k = (int(rng.integers(0, end)) for end in (known.size, moved.shape[1], moved.shape[1]))
                if moved[i, j] >= step:
                    moved[i, j] -= step
                    moved[i, k] += step
                promise = md.Guarantee(epsilon, known, lower=lower)
                yield to_json(Parts(moved, bits, promise, tuple(f"y{j}" for j in range(moved.shape[1]))))


def test_the_scripts_are_short_and_share_nothing_with_the_package():
    for name, longest in (("verify.py", 150), ("verify_more.py", 195), ("verify_union.py", 50)):
        path = SCRIPT.with_name(name)
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) < longest
        assert "import mechdesign" not in text
        assert "from mechdesign" not in text
    # With nothing but the standard library on the path.
    command = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        f"import sys; sys.path.insert(0, {str(SCRIPT.parent)!r}); import verify_more",
    ]
    assert subprocess.run(command, check=False).returncode == 0


def test_what_design_writes_is_proved_by_one_file(tmp_path):
    """The radius that delta needs, by either bound or none, is checked where the second file is out of reach."""
    alone = tmp_path / "verify.py"
    alone.write_text(SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "counts.csv").write_text("label,count\na,60\nb,40\n")

    def statuses(*options):
        design = ["design", "--counts", tmp_path / "counts.csv", "--epsilon", "1", *options, "-o", tmp_path / "m.json"]
        assert run([*map(str, design), "-q"]) == 0
        table = json.loads((tmp_path / "m.json").read_bytes())
        proved = subprocess.run([sys.executable, "-I", "-S", alone, tmp_path / "m.json"], check=False).returncode
        table["guarantee"]["radius"] = str(Fraction(table["guarantee"]["radius"]) - Fraction(1, 10**15))
        (tmp_path / "m.json").write_text(json.dumps(table))
        sharper = subprocess.run([sys.executable, "-I", "-S", alone, tmp_path / "m.json"], check=False).returncode
        return proved, sharper

    assert statuses("--known") == (0, 2)  # a radius below 0
    assert statuses("--delta", "1e-3") == (0, 1)
    assert statuses("--delta", "1e-3", "--bound", "weissman", "--lower", "2") == (0, 1)


@pytest.mark.parametrize(
    ("n", "k", "level"), [(7, 5, "1/9"), (40, 30, "1e-3"), (60, 55, "1e-9"), (5, 5, "1e-4"), (60, 1, "1e-3")]
)
def test_tails_of_binomials_are_compared_exactly(n, k, level, script):
    """The answer turns between two neighbouring fractions where the exact sum of the tail does."""
    import verify

    def tail(q):
        return sum(math.comb(n, j) * q**j * (1 - q) ** (n - j) for j in range(k, n + 1))

    low, high = 0, 10**6
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tail(Fraction(middle, 10**6)) <= Fraction(level) else (low, middle)
    below, above = Fraction(low, 10**6), Fraction(high, 10**6)
    assert verify.is_rare(n, k, below, Fraction(level))
    assert not verify.is_rare(n, k, above, Fraction(level))
    # And where the level itself is moved by a part in 10^24.
    assert verify.is_rare(n, k, below, tail(below) * (1 + Fraction(1, 10**24)))
    assert not verify.is_rare(n, k, below, tail(below) * (1 - Fraction(1, 10**24)))
    assert not verify.is_rare(n, k, below, tail(below))  # all is rounded so that the tail is too great, by very little
    assert not verify.is_rare(n, k, Fraction(k, n), Fraction(49, 100))
    assert not verify.is_rare(n, k, below, Fraction(0))
    assert verify.is_rare(n, k, Fraction(0), Fraction(0))


def test_a_tail_takes_as_many_steps_as_its_distribution_is_wide(script):
    """The weights beyond some standard deviations are a geometric series, and no more are summed than decide."""
    import verify

    class Counted(int):
        """A number of samples from which each step subtracts the count it has come to."""

        steps = 0

        def __sub__(self, other):
            Counted.steps += 1
            return int(self) - other

    n = 40_000  # the standard deviation is 100, and six are 1e-9
    for k, level, rare in [(20_620, "1e-9", True), (20_580, "1e-9", False), (20_700, "1e-9", True)]:
        Counted.steps = 0
        assert verify.is_rare(Counted(n), k, Fraction(1, 2), Fraction(level)) == rare
        assert Counted.steps < 3000


def test_an_interval_of_counts_does_not_hide_one_that_fails(script):
    """Every count is decided by itself where ends do not settle it: each may be the one that is too likely."""
    import verify

    n, level = 30, Fraction(1, 50)
    for counts in (range(n + 1), [0, 3, 4, 9, 20, 30]):
        for excess in range(1, n):
            one_by_one = all(verify.is_rare(n, k, Fraction(k - excess, n), level) for k in counts)
            assert verify.are_rare(n, counts, lambda k, t=excess: Fraction(k - t, n), level) == one_by_one


@pytest.mark.parametrize("known", of_counts(), ids=lambda known: f"{known.kind}-{known.size}")
def test_limits_from_samples_and_sharper_ones(known, script):
    rows = np.array([[3, 3, 2]] * known.size)
    content = to_json(Parts(rows, 3, md.Guarantee("0.5", known), ("x", "y", "z")))
    assert check_same(script, content) == 0
    # Every claim of a number one tenth sharper is false, and delta cannot be smaller.
    table = json.loads(content)
    for sharper in sharpened(table["guarantee"]):
        changed = json.dumps(table | {"guarantee": sharper}).encode()
        assert check_same(script, changed) == 1


@pytest.mark.parametrize("bound", BOUNDS_OF_COUNTS)
def test_a_radius_is_compared_on_the_grid_of_derived_ones(bound, script):
    known = md.L1Ball.from_counts(COUNTS, delta="1e-3", bound=bound)
    table = json.loads(to_json(Parts(np.array([[3, 3, 2]] * 4), 3, md.Guarantee("0.5", known), ("x", "y", "z"))))
    for change, status in [("-1e-15", 1), ("-1e-16", 1), ("0", 0), ("1e-16", 0)]:
        table["guarantee"]["radius"] = str(known.radius + Fraction(change))
        assert check_same(script, json.dumps(table).encode()) == status
    for delta, status in [(0, 0), (1, 2), (-1, 2), (0.5, 0)]:
        table["guarantee"] |= {"delta": delta, "radius": "2"}
        assert check_same(script, json.dumps(table).encode()) == status
    for wrong in ("", "hoeffding", 1):
        table["guarantee"]["bound"] = wrong
        assert check_same(script, json.dumps(table).encode()) == 2


@pytest.mark.parametrize(
    ("status", "changes"),
    [
        (0, {}),
        (2, {"radius": "0", "center": ["1", "0"]}),  # a symbol has probability 0 in the whole set
        (2, {"radius": "2.5"}),
        (2, {"center": ["1/2", "1/4", "1/4"]}),
        (2, {"center": ["1/2", "1/2", "0"], "radius": "1"}),
        (2, {"center": ["1/2", "0.499"]}),
        (2, {"counts": [1, 1]}),  # beside the center
        (2, {"samples": 2}),
        (2, {"bound": "weissman"}),
        (2, {"samples": 2, "delta": "0.5", "radius": "2"}),
        (2, {"center": None, "counts": [1, 1, 1]}),
        # The count of all samples decides: at a half radius of 1/2 both of two are of one kind with probability 1/4.
        (0, {"center": None, "counts": [1, 1], "samples": 2, "delta": "0.500001", "bound": "clopper-pearson"}),
        (1, {"center": None, "counts": [1, 1], "samples": 2, "delta": "0.499999", "bound": "clopper-pearson"}),
        # Observed sums take observed counts; all samples of one kind count where a kind was not seen.
        (0, {"center": None, "counts": [1, 1], "samples": 2, "delta": "1e-9", "bound": "observed-sums"}),
        (1, {"center": None, "counts": [2, 0], "samples": 2, "delta": "0.499999", "bound": "observed-sums"}),
        (2, {"asserted_samples": 2, "delta": "0.5", "bound": "observed-sums"}),
        (0, {"asserted_samples": 2, "delta": "0.500001", "bound": "clopper-pearson"}),
        (1, {"asserted_samples": 2, "delta": "0.499999", "bound": "clopper-pearson"}),
        # Samples that counts do not show, under a name that says that they do, or beside counts.
        (1, {"center": None, "counts": [1, 1], "samples": 10**9, "delta": "0.5", "bound": "clopper-pearson"}),
        (2, {"center": None, "counts": [1, 1], "asserted_samples": 2, "delta": "0.5", "radius": "2"}),
        (2, {"asserted_samples": 2, "samples": 2, "delta": "0.5", "radius": "2"}),
        (2, {"asserted_samples": 2, "radius": "2"}),
        (2, {"asserted_samples": 0, "delta": "0.5", "radius": "2"}),
    ],
)
def test_what_a_ball_may_say(status, changes, script):
    guarantee = {"epsilon": "log(3)", "center": ["1/2", "1/2"], "radius": "1", **changes}
    guarantee = {key: value for key, value in guarantee.items() if value is not None}
    assert check_same(script, of_two(md.L1Ball(["1/2", "1/2"]), guarantee=guarantee)) == status


def test_a_second_estimate_is_malformed_even_if_it_is_null(script):
    ball = {"epsilon": "log(3)", "radius": "1"}
    for estimates in ({"center": ["1/2", "1/2"], "counts": None}, {"center": None, "counts": [1, 1]}, {"center": None}):
        assert check_same(script, of_two(md.L1Ball(["1/2", "1/2"]), guarantee=ball | estimates)) == 2


@pytest.mark.parametrize(
    ("status", "changes"),
    [
        (0, {}),
        (2, {"numerators": [[3, 1], [1, 4]]}),
        (2, {"numerators": [[5, -1], [1, 3]]}),
        (2, {"numerators": [[4, 0], [4, 0]]}),
        (2, {"numerators": [[3, 1], [1, 3], [2, 2]]}),
        (2, {"numerators": [[3, 1], [1]]}),
        (2, {"bits": 0, "numerators": [[1, 0], [0, 1]]}),
        (2, {"bits": 53, "numerators": [[2**52, 2**52], [2**52, 2**52]]}),
        (2, {"schema": "mechdesign/mechanism/2"}),
        (2, {"schema": "mechdesign/mechanism/3"}),
        (2, {"outputs": ["y", "y"]}),
    ],
)
def test_what_a_matrix_may_be(status, changes, script):
    assert check_same(script, of_two(md.L1Ball(["1/2", "1/2"]), **changes)) == status


def test_what_limits_of_a_secret_may_say(script):
    """The law that the counts show is in each set, to its border, and limits from counts are about the same counts."""
    joint = SecretPromise([[3, 1], [1, 3]], known=True)
    known = joint.within([md.L1Ball(law, "1/2") for law in (["1/2", "1/2"], ["3/4", "1/4"], ["1/4", "3/4"])])
    table = json.loads(of_two(known))
    table["guarantee"]["epsilon"] = "700"

    def status(limit):
        table["guarantee"]["secret"]["limits"][1] = limit
        return check_same(script, json.dumps(table).encode())

    assert status({"center": ["1/2", "1/2"], "radius": "1/2"}) == 0
    assert status({"center": ["1/2", "1/2"], "radius": "0.499"}) == 2
    assert status({"center": ["1/2", "1/2"], "radius": "0.4"}) == 2
    assert status({"counts": [3, 1], "radius": "1"}) == 0
    assert status({"counts": [3, 2], "radius": "1"}) == 2
    assert status({"counts": [6, 2], "radius": "1"}) == 2
    assert status({"counts": [3, 1], "radius": "2", "samples": 4, "delta": "0.1"}) == 0
    assert status({"counts": [3, 1], "radius": "2", "samples": 5, "delta": "0.1"}) == 1
    assert status({"center": ["3/4", "1/4"], "radius": "2", "asserted_samples": 5, "delta": "0.1"}) == 0


def test_what_a_union_may_say(script):
    """A cover holds each set by the triangle inequality, to the last digit, and no set is made of others."""
    sets = [md.L1Ball(["1/2", "1/2"], "0.1"), md.L1Ball(["3/4", "1/4"], "0.2")]
    table = json.loads(of_two(md.Union(sets)))
    table["guarantee"]["epsilon"] = "700"

    def status(**changes):
        return check_same(script, json.dumps(table | {"guarantee": table["guarantee"] | changes}).encode())

    assert status() == 0
    for radius, expected in [("0.7", 0), ("0.6999999999", 1), ("2", 0), ("0.1", 1), ("2.1", 2)]:
        assert status(cover={"center": ["1/2", "1/2"], "radius": radius}) == expected
    assert status(cover={"priors": [["1/2", "1/2"]]}) == 2
    assert status(cover={"center": ["1/2", "1/4", "1/4"], "radius": "2"}) == 2
    assert status(names=["g"]) == status(names=["g", "g"]) == status(weights=["1"]) == status(sets=[]) == 2
    assert status(weights=["1/2", "1/3"]) == status(sets=[{"sets": table["guarantee"]["sets"]}]) == 2
    assert status(sets=[{"priors": [["1/2", "1/2"]]}], weights=None, names=None) == 0
    hull = {"priors": [["1/2", "1/2"]]}
    assert status(sets=[hull], weights=None, names=None, cover={"center": ["1/2", "1/2"], "radius": "2"}) == 2


def of_every_kind():
    """Return a small known set of each kind, with four symbols."""
    center, joint = ["0.4", "0.3", "0.2", "0.1"], [[5, 1, 2, 2], [1, 4, 3, 2]]
    laws = [[Fraction(1, 2)] * 2, *([Fraction(n, 10) for n in row] for row in joint)]
    two = md.ConvexHull([["0.5", "0.5"], ["0.2", "0.8"]])
    return [
        md.L1Ball(center, "0.3"),
        md.ConvexHull([center, ["0.1", "0.2", "0.3", "0.4"]]),
        LowerLimits(["0.1", "0.2", "0.1", "0"], center=center),
        Box(["0.1", "0.1", "0", "0"], ["0.6", "0.4", "0.4", "0.3"], center=center),
        L1Box(["0.1", "0.1", "0", "0"], ["0.6", "0.4", "0.4", "0.3"], "0.3", center=center),
        RelativeBall(center, "0.9", "0.15"),
        EventSet(center, ["0.9", "1.1"], ["0.1", "0.25"]),
        SecretPromise(joint, known=True),
        SecretPromise(joint, known=True).within([md.L1Ball(law, "0.2") for law in laws]),
        md.Union([md.L1Ball(center, "0.3"), md.ConvexHull([["0.1", "0.2", "0.3", "0.4"]])]),
        md.Union([md.L1Ball(center, "0.3"), md.L1Ball(center[::-1], "0.1")]).covered(),
        ProductSet(two, md.L1Ball(["0.7", "0.3"], "0.2")),
    ]


@pytest.mark.parametrize("known", of_every_kind(), ids=lambda known: known.kind)
def test_both_promises_of_each_kind_at_their_border(known, script):
    for rows in ([[9, 7], [4, 12], [8, 8], [1, 15]], [[1, 15], [8, 8], [5, 11], [16, 0]]):
        matrix = np.array(rows)
        worst = max(known.exact_ratio(column) for column in matrix.T.tolist())
        least = min(known.exact_least_lift(column) for column in matrix.T.tolist())

        def status(epsilon, lower, matrix=matrix):
            promise = md.Guarantee(f"log({epsilon})", known, lower=lower and f"log({lower})")
            return check_same(script, to_json(Parts(matrix, 4, promise, ("y", "n"))))

        assert status(worst, None) == 0
        assert status(worst * (1 - Fraction(1, 10**12)), None) == 1
        if least:
            assert status(worst, 1 / least) == 0
            assert status(worst, 1 / least * (1 - Fraction(1, 10**12))) == 1


@pytest.mark.parametrize("epsilon", ["-1", "700.1", "log(0.9)", "log(1e305)", "", "1/0", "exp(1)"])
def test_an_epsilon_out_of_range_is_malformed(epsilon, script):
    ball = {"center": ["1/2", "1/2"], "radius": "0"}
    assert check_same(script, of_two(md.L1Ball(["1/2", "1/2"]), guarantee={"epsilon": epsilon, **ball})) == 2


def test_what_sets_of_other_kinds_may_say(script):
    def status(**given):
        table = json.loads(
            to_json(Parts(np.array([[3, 1]] * 4), 2, md.Guarantee("1", of_every_kind()[-1]), ("y", "n")))
        )
        table["guarantee"] |= given
        return check_same(script, json.dumps(table).encode())

    two = [{"inputs": ["x1", "x2"], "center": ["1/2", "1/2"], "radius": "0"} for _ in range(2)]
    assert status() == status(factors=two) == 0
    assert status(factors=[{**two[0], "inputs": ["x1", "x3"]}, two[1]]) == 2
    assert status(factors=two[:1]) == 2
    assert status(separator=None) == 2
    secret = {"name": "s", "useful": "u", "values": ["v", "w"], "counts": [[1, 1], [1, 1]]}
    assert status(factors=[two[0], {"inputs": ["x1", "x2"], "secret": secret}]) == 2
    sharper = json.loads(of_two(L1Box.from_counts({"a": 60, "b": 40}, "0.01")))
    sharper["guarantee"]["epsilon"] = "700"
    own = sharper["guarantee"]["l1-box"]
    assert check_same(script, json.dumps(sharper).encode()) == 0
    own["radius"] = str(Fraction(own["radius"]) - Fraction(1, 10**15))
    assert check_same(script, json.dumps(sharper).encode()) == 1
    box = {"center": ["1", "0"], "lower": ["0", "0"], "upper": ["1", "0"]}
    assert check_same(script, of_two(md.L1Ball(["1/2", "1/2"]), guarantee={"epsilon": "1", "box": box})) == 2


def sharpened(promise):
    """Yield guarantees with one set that claims more than its counts support."""

    def tables(made):
        return [made, *made.get("secret", {}).get("limits", []), *made.get("factors", []), *made.get("sets", [])]

    places = tables(promise)
    for index, place in enumerate(places):
        for part in [place, *(value for value in place.values() if isinstance(value, dict))]:
            if part.get("delta") is not None:
                made = copy.deepcopy(promise)
                fresh = tables(made)[index]
                fresh = next(p for p in [fresh, *(v for v in fresh.values() if isinstance(v, dict))] if p == part)
                fresh["delta"] = str(Fraction(str(part["delta"])) * Fraction(9, 10))
                yield made


@pytest.mark.parametrize("rounds", [4, pytest.param(80, marks=pytest.mark.slow)])
def test_guarantees_near_the_border(rounds, script):
    rng = np.random.default_rng(5)
    statuses = [check_same(script, content) for _ in range(rounds) for content in border_files(rng)]
    assert {0, 1} <= set(statuses)
    assert min(statuses.count(0), statuses.count(1)) > len(statuses) / 5


@pytest.mark.slow
def test_designs_that_were_changed(script):
    rng, statuses = random.Random(11), set()
    for _ in range(600):
        content = json.dumps(shifted(rng, rng.choice(mechanism_tables()))).encode()
        content = damaged(rng, content) if rng.random() < 0.3 else content
        if content[:2] != b"PK":
            statuses.add(check_same(script, content))
    assert statuses >= {0, 1, 2}


VALUES = [
    None,
    True,
    0,
    1,
    -1,
    10**19,
    1.5,
    1e-300,
    "",
    "x",
    "1/0",
    "1/3",
    "-1",
    "1e-9",
    "1e401",
    "log(2)",
    [],
    [1],
    {},
]
VALUES += ["\ud800", "\x01", " a", "٣", "1_0", "+1", "0x1", "inf", [["1"]], {"a": 1}, "9" * 2001, [0.5, 0.5], 2**63]


def places(value, path=()):
    """Yield the path of everything in a table."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(inner)[:3] if isinstance(value, list) else inner:
        yield from places(part, (*path, key))


def replaced(table, path, value):
    """Return a table with another value in one place; the value "leave out" removes a key."""
    if not path:
        return value
    made = copy.deepcopy(table)
    inside = made
    for key in path[:-1]:
        inside = inside[key]
    if isinstance(value, str) and value == "leave out":
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return made


@pytest.mark.parametrize("share", [0.003, pytest.param(0.15, marks=pytest.mark.slow)])
def test_any_value_in_any_place(share, script):
    rng, seen = random.Random(3), set()
    for known in (*of_counts(), *of_asserted_samples()):
        rows = np.array([[3, 3, 2]] * known.size)
        table = json.loads(to_json(Parts(rows, 3, md.Guarantee("0.5", known, lower="1"), ("x", "y", "z"))))
        for path in places(table):
            for value in [*VALUES, "leave out"]:
                if rng.random() < share:
                    seen.add(check_same(script, json.dumps(replaced(table, path, value)).encode()))
    assert seen >= {0, 2}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[" * 100_000,
        b"{}",
        b"[]",
        b"NaN",
        b'{"schema": 1, "schema": 2}',
        b'{"a": 1e99999999999999999999}',
        b'{"a": ' + b"9" * 30 + b"}",
        b"\xef\xbb\xbf" + json.dumps({"schema": "mechdesign/mechanism/1"}).encode(),
    ],
    ids=lambda content: repr(content[:30]),
)
def test_what_is_no_table(content, script):
    assert check_same(script, content) == 2


def of_two(known, **changes):
    table = json.loads(to_json(Parts(np.array([[3, 1], [1, 3]]), 2, md.Guarantee("log(3)", known), ("y", "n"))))
    return json.dumps(table | changes).encode()


@pytest.mark.parametrize("exponent", ["1e-30", "0.1", "1", "2.5", "30", "700"])
def test_the_number_e_is_never_too_great(exponent, script):
    """A guarantee that holds with too great a power of e is false: here it is compared with 400 digits."""
    import verify

    with mpmath.workdps(400):
        found = verify.exp_down(Fraction(exponent))
        power = mpmath.exp(mpmath.mpf(exponent))
        below = power - mpmath.mpf(found.numerator) / found.denominator
        assert 0 < below < mpmath.mpf(2) ** -240 * power


def test_an_estimate_outside_of_its_set_is_malformed(script):
    guarantee = {"epsilon": "log(3)", "box": {"center": ["1/2", "1/2"], "lower": ["0", "0"], "upper": ["0.4", "0.9"]}}
    assert check_same(script, of_two(md.L1Ball(["1/2", "1/2"]), guarantee=guarantee)) == 2
    guarantee["box"]["upper"] = ["0.6", "0.9"]
    assert check_same(script, of_two(md.L1Ball(["1/2", "1/2"]), guarantee=guarantee)) == 0


def test_what_is_beyond_the_script_is_named(script, tmp_path):
    joint = json.loads(
        to_json(
            Parts(np.array([[3, 1], [1, 3]]), 2, md.Guarantee("7", SecretPromise([[3, 1], [1, 3]], known=True)), "yn")
        )
    )
    hull = {"priors": [["1/2", "1/2"]]}
    joint["guarantee"]["secret"]["limits"] = [hull] * 3
    assert script(json.dumps(joint).encode()) == ("a hull among limits is beyond this script", 3)
    md.Mechanism(*from_content(of_two(md.L1Ball(["1/2", "1/2"])), "")).save(tmp_path / "m.npz")
    assert script((tmp_path / "m.npz").read_bytes())[1] == 3


def test_the_command(tmp_path):
    def run(*arguments):
        command = [sys.executable, "-S", str(SCRIPT), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    known = md.L1Ball(["1/2", "1/2"], 2)
    (tmp_path / "m.json").write_bytes(of_two(known))
    proved = "proved: epsilon = log(3) at every prior within 2 (l1) of its center\n"
    assert run(tmp_path / "m.json") == (0, proved)
    (tmp_path / "m.json").write_bytes(of_two(known, numerators=[[4, 0], [1, 3]]))
    assert run(tmp_path / "m.json") == (1, "the guarantee is false\n")
    for arguments in ([], [tmp_path], [tmp_path / "absent"], [tmp_path / "m.json", "x"]):
        assert run(*arguments)[0] == 2
    alone = tmp_path / "alone.py"
    alone.write_text(SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    counted, others = {"counts": [1, 1], "radius": "2"}, b"this needs verify_more.py, which is not beside this script\n"
    center, hull = {"center": ["1/2", "1/2"], "radius": "2"}, {"priors": [["1/2", "1/2"]]}
    for own, epsilon, status in [(counted, 3, 0), (counted, 2, 1), (center, 3, 3), (hull, 3, 3)]:
        (tmp_path / "m.json").write_bytes(of_two(known, guarantee={"epsilon": f"log({epsilon})", **own}))
        command = [sys.executable, "-S", str(alone), str(tmp_path / "m.json")]
        done = subprocess.run(command, capture_output=True, check=False)
        assert (done.returncode, done.stdout == others) == (status, status == 3)


def of_four(known, epsilon="700", lower=None):
    return to_json(Parts(np.array([[3, 1]] * 4), 2, md.Guarantee(epsilon, known, lower=lower), ("y", "n")))


PRODUCT = (
    "whose first factor is one that mixes its 2 priors; the second, given the first, is one within 0.2 (l1) of its"
)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (md.L1Ball(["0.4", "0.3", "0.2", "0.1"], "0.3"), "within 0.3 (l1) of its center"),
        (md.L1Ball.from_counts(COUNTS, radius="0"), "within 0 (l1) of its counts"),
        (md.ConvexHull([["0.4", "0.3", "0.2", "0.1"], ["0.1", "0.2", "0.3", "0.4"]]), "that mixes its 2 priors"),
        (LowerLimits(["0.1", "0.2", "0.1", "0"], center=["0.4", "0.3", "0.2", "0.1"]), "in its lower-limits"),
        (RelativeBall(["0.4", "0.3", "0.2", "0.1"], "0.9", "0.1"), "in its relative-ball (alpha = 0.9, gamma = 0.1)"),
        (of_every_kind()[-1], f"{PRODUCT} center"),
        (of_every_kind()[-3], "in one of its 2 sets or mixed from these"),
        (of_every_kind()[-2], "within 0.6 (l1) of the center of the ball that holds its 2 sets"),
        (SecretPromise([[5, 1, 2, 2], [1, 4, 3, 2]], known=True), "of its counts, about the secret"),
    ],
    ids=lambda given: getattr(given, "kind", ""),
)  # fmt: skip
def test_one_line_says_what_was_proved(known, words, script):
    assert script(of_four(known)) == (f"proved: epsilon = 700 at every prior {words}", 0)
    below = f"proved: epsilon = 1 and lower = log(2) at every prior {words}"
    assert script(of_four(known, "1", "log(2)")) == (below, 0)


def test_the_line_says_delta_and_samples(script):
    *others, product = of_counts()
    told, status = script(of_four(product))
    assert "; delta = 0.1 by 11 samples; the second, given the first, is one that mixes its 2 priors" in told
    for known in others:
        told, status = script(to_json(Parts(np.array([[3, 1]] * known.size), 2, md.Guarantee("1", known), ("y", "n"))))
        assert status == 0
        delta = re.search("; delta = ([^ ]+)( by [0-9]+ samples)?$", told)
        assert Fraction(delta[1]) == known.delta
        if known.kind != "secret":
            assert delta[2] == f" by {known.samples} samples"
        if known.kind == "union":
            own = re.search(r"\(delta of one by itself: ([^ ]+); of all at once as follows\)", told)
            assert Fraction(own[1]) == max(each.delta for each in known.sets)
        if known.kind == "l1-ball":
            assert Fraction(re.search(r"within ([0-9.]+) \(l1\) of its counts; ", told)[1]) == known.radius


def test_the_line_is_one_line(script):
    ball = {"epsilon": " log( \n3 ) ", "center": ["1/2", "1/2"], "radius": "\n1"}
    told, status = script(of_two(md.L1Ball(["1/2", "1/2"]), guarantee=ball))
    assert (told, status) == ("proved: epsilon = log( 3 ) at every prior within 1 (l1) of its center", 0)


def test_a_set_whose_delta_is_not_derived_again_is_taken_as_given(script):
    """The guarantee is decided all the same, and the line ends in what was not."""
    radius = md.L1Ball.from_counts([10**10, 10**10], delta="1e-9").radius
    ball = {"counts": [10**10, 10**10], "samples": 2 * 10**10, "delta": "1e-9", "bound": "clopper-pearson"}
    ball = {"epsilon": "log(3)", **ball, "radius": str(radius)}
    known = md.L1Ball(["1/2", "1/2"])
    proved = f"proved: epsilon = log(3) at every prior within {float(radius):.15f} (l1) of its counts; "
    proved += "delta = 1e-9 by 20000000000 samples"
    sharper = {**ball, "radius": str(radius - Fraction(1, 10**15))}
    assert script(of_two(known, guarantee=ball)) == (f"{proved} is taken as given", 0)
    assert script(of_two(known, guarantee=sharper))[0].endswith(" is taken as given")
    assert script(of_two(known, guarantee={**ball, "epsilon": "0.1"})) == ("the guarantee is false", 1)
    box = {
        "center": ["3/7", "4/7"],
        "asserted_samples": 10,
        "delta": "0.1",
        "lower": ["0.01", "0.01"],
        "upper": ["0.99", "1"],
    }
    told, status = script(of_two(known, guarantee={"epsilon": "log(3)", "box": box}))
    line = "proved: epsilon = log(3) at every prior in its box; "
    line += "delta = 0.1 by 10 samples (asserted, not shown) is taken as given"
    assert (told, status) == (line, 0)
    assert script(of_two(known, guarantee={"epsilon": "0.1", "box": box})) == ("the guarantee is false", 1)


@pytest.mark.parametrize("bound", ["observed-sums", "clopper-pearson"])
def test_ten_million_samples_are_decided(bound, script):
    table = json.loads(of_two(md.L1Ball.from_counts([6 * 10**6, 4 * 10**6], delta="1e-9", bound=bound)))
    assert check_same(script, json.dumps(table).encode()) == 0
    table["guarantee"]["radius"] = str(Fraction(table["guarantee"]["radius"]) - Fraction(1, 10**15))
    assert script(json.dumps(table).encode()) == ("delta is false: the samples do not support the radius", 1)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("counts", "size"),
    [
        ([41762, 4685, 1519, 470, 406], 5),
        ([29170, *range(0, 164, 4)], 42),
        pytest.param([10**7, 10**5, 10**4], 3, marks=pytest.mark.slow),
        ([9_999, 1], 2),
        pytest.param([999_999, 1], 2, marks=pytest.mark.slow),
        ([1, 2, 4] * 7, 21),
    ],
)
def test_sums_of_observed_counts_are_decided(counts, size, script):
    """Of more than 16 categories too, where the package may look at more numbers than the sums."""
    known = md.L1Ball.from_counts(counts, delta="1e-9")
    table = json.loads(to_json(Parts(np.array([[3, 1]] * size), 2, md.Guarantee("1", known), ("y", "n"))))
    assert check_same(script, json.dumps(table).encode()) == 0
    smaller = known.radius * Fraction(999, 1000)
    table["guarantee"]["radius"] = str(smaller)
    assert check_same(script, json.dumps(table).encode()) == 1
    table["guarantee"] |= {"radius": str(known.radius), "bound": "clopper-pearson"}
    expected = 0 if radius_exact(sum(counts), size, "1e-9") <= known.radius else 1
    assert check_same(script, json.dumps(table).encode()) == expected


def test_sums_too_many_to_list_leave_delta_undecided(script):
    counts = [10**10, *(3**k for k in range(21))]
    known = md.L1Ball.from_counts(counts, delta="1e-9")
    told, status = script(to_json(Parts(np.array([[3, 1]] * 22), 2, md.Guarantee("1", known), ("y", "n"))))
    assert (told.endswith("is taken as given"), status) == (True, 0)


@pytest.mark.parametrize("radius", ["0", "0.00000000001"])
def test_a_radius_next_to_nothing_is_false_for_many_samples(radius, script):
    many = json.loads(of_two(md.L1Ball.from_counts([3 * 10**6, 2 * 10**6], delta="1e-9")))
    assert many["guarantee"]["bound"] == "observed-sums"
    many["guarantee"]["radius"] = radius
    assert check_same(script, json.dumps(many).encode()) == 1


def test_no_samples_are_malformed(script):
    few = json.loads(of_two(md.L1Ball.from_counts([30, 20], delta="1e-9")))
    few["guarantee"]["samples"] = 0
    assert check_same(script, json.dumps(few).encode()) == 2


@pytest.mark.parametrize("known", of_asserted_samples(), ids=lambda known: known.kind)
def test_both_say_that_samples_are_asserted(known, script):
    """Fewer of them do not support the set, and under the name of samples that counts show they are refused."""
    table = json.loads(to_json(Parts(np.array([[3, 1]] * known.size), 2, md.Guarantee("1", known), ("y", "n"))))
    told, status = script(json.dumps(table).encode())
    assert known.asserts_samples
    assert status == 0
    assert re.search(r" by [0-9]+ samples \(asserted, not shown\)", told)
    text = json.dumps(table)
    (number,) = set(re.findall(r'"asserted_samples": ([0-9]+)', text))
    fewer = text.replace(f'"asserted_samples": {number}', '"asserted_samples": 20')
    assert check_same(script, fewer.encode()) == 1
    assert check_same(script, text.replace('"asserted_samples"', '"samples"').encode()) == 2


@pytest.mark.parametrize(("each", "ends"), [(10**7, ""), (10**10, " is taken as given")])
def test_a_delta_of_one_of_several_sets_is_told(each, ends, script):
    many = md.L1Ball.from_counts([each, each], delta="1e-9", bound="clopper-pearson")
    table = json.loads(of_two(md.Union([many, md.L1Ball(["0.5", "0.5"], "0.1")])))
    table["guarantee"]["epsilon"] = "700"
    told, status = script(json.dumps(table).encode())
    assert (status, told.endswith(f"as follows); delta = 1e-9 by {2 * each} samples{ends}")) == (0, True)


@pytest.mark.parametrize(
    ("status", "second", "sides"),
    [
        (0, True, {"cap": "log(3)"}),
        (1, True, {"cap": "log(2999999999/1000000000)"}),
        (2, False, {"cap": "log(3)"}),
        (2, True, {"cap": "log(3)", "lower": "log(3)"}),
        (2, True, {"cap": "x"}),
    ],
)
def test_a_cap_is_decided_as_the_package_decides_it(status, second, sides, script):
    """A ratio of 3: kept by log(3), not by a little less; of the second schema alone, and never beside lower."""
    ball = md.L1Ball(["1/2", "1/2"], "1/5")
    promise = json.loads(of_two(ball))["guarantee"] | sides
    changes = {"schema": "mechdesign/mechanism/2"} if second else {}
    assert check_same(script, of_two(ball, guarantee=promise, **changes)) == status
