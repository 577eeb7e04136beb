"""Consumers in other languages, run as they stand."""

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from chi_square import NEVER_FLAKES, p_value
from scipy import stats

import mechdesign as md
from mechdesign.deploy.leakage_audit import audit_counts

EXAMPLES = Path(__file__).parents[2] / "examples"
PROBLEMS = EXAMPLES.parent / "problems"
LINES = 60_000

INPUTS = ["spaces  within", 'Zürich, "Höngg"', "日本\u2028語", "it's 50 % \\n", "__proto__", "0"]
OUTPUTS = ['"quoted", and more', "x y", "é", "e\u0301", "toString", "1e3", "a\u2029b", "#"]

CONSUMERS = [
    pytest.param([sys.executable, str(EXAMPLES / "report.py")], id="python"),
    pytest.param(
        [shutil.which("node") or "node", str(EXAMPLES / "js" / "command.js")],
        id="node",
        marks=pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
    ),
]


def report(command, path, text):
    """Run a consumer over lines of text, as bytes."""
    done = subprocess.run([*command, str(path)], input=text, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def of_one_bit():
    ball = md.L1Ball(["1/3", "1/3", "1/3"], labels=INPUTS[:3])
    return md.Mechanism(
        np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]]), 1, md.Guarantee(md.Epsilon.of("1"), ball), tuple(OUTPUTS[:3])
    )


def of_three_bits():
    # Zeros at the start, in the middle and at the end of a row.
    ball = md.L1Ball([0.25, 0.25, 0.25, 0.25], radius="0.1", labels=INPUTS[:4])
    matrix = np.array([[0, 3, 0, 5, 0], [1, 0, 3, 0, 4], [2, 2, 2, 2, 0], [0, 0, 1, 3, 4]])
    return md.Mechanism(matrix, 3, md.Guarantee(md.Epsilon.of("3"), ball), tuple(OUTPUTS[:5]))


def of_52_bits():
    known = md.L1Ball.from_counts(dict(zip(INPUTS, (400, 200, 150, 120, 90, 40), strict=True)), delta=1e-9)
    found = md.design(md.DesignProblem(known, epsilon=1), bits=52).mechanism
    assert (found.numerators == 0).any()
    return md.Mechanism(found.numerators, 52, found.guarantee, tuple(OUTPUTS[: len(found.outputs)]))


@pytest.fixture(scope="module", params=[of_one_bit, of_three_bits, of_52_bits], ids=lambda make: make.__name__)
def mechanism(request):
    return request.param()


@pytest.fixture
def saved(mechanism, tmp_path):
    mechanism.save(tmp_path / "a mechanism.json")
    return tmp_path / "a mechanism.json"


@pytest.mark.combined
@pytest.mark.parametrize("command", CONSUMERS)
def test_reports_have_the_probabilities_of_the_file(command, mechanism, saved):
    N, M = mechanism.numerators.shape
    codes = np.arange(LINES) % N
    lines = [mechanism.inputs[code] for code in codes]
    # Lines end as on Unix or as on Windows, and the last one may not end.
    text = "\r\n".join(lines) if mechanism.bits == 3 else "\n".join([*lines, ""])
    status, out, err = report(command, saved, text.encode())
    assert (status, err) == (0, "")
    place = {label: code for code, label in enumerate(mechanism.outputs)}
    reports = [place[line] for line in out.decode().removesuffix("\n").split("\n")]
    counts = np.zeros((N, M), dtype=int)
    np.add.at(counts, (codes, reports), 1)
    assert (counts[mechanism.numerators == 0] == 0).all()
    for seen, probabilities in zip(counts, mechanism.matrix, strict=True):
        assert p_value(seen, probabilities) > NEVER_FLAKES
    # And the reports of one row are not those of the next.
    assert min(p_value(counts[0], row) for row in mechanism.matrix[1:]) < NEVER_FLAKES
    assert audit_counts(mechanism, counts).consistent


@pytest.mark.parametrize("command", CONSUMERS)
def test_successive_reports_are_independent(command, tmp_path):
    coin = md.Mechanism(
        np.array([[1, 1], [1, 1]]), 1, md.Guarantee(md.Epsilon.of("0"), md.L1Ball([0.5, 0.5], radius=2))
    )
    coin.save(tmp_path / "coin.json")
    _, out, _ = report(command, tmp_path / "coin.json", b"x1\n" * LINES)
    heads = np.array(out.split()) == coin.outputs[0].encode()
    for lag in (1, 2, 8):
        agree = int((heads[lag:] == heads[:-lag]).sum())
        assert stats.binomtest(agree, LINES - lag, 0.5).pvalue > 1e-10


@pytest.mark.combined
@pytest.mark.parametrize("command", CONSUMERS)
@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("nobody's label\n", 1, "nobody's label"),
        ("x1\nx2\n\nx1\n", 3, ""),
        ("x1\nX2\n", 2, "X2"),
        ("x1\n x1\n", 2, " x1"),
        ("x1\nconstructor\n", 2, "constructor"),
        ("x1\nx2\x00\n", 2, "x2"),
    ],
)
def test_an_unknown_label_is_named_and_nothing_is_reported(command, text, line, told, tmp_path):
    path = tmp_path / "m.json"
    of_default_labels().save(path)
    status, out, err = report(command, path, text.encode())
    assert (status, out) == (2, b"")
    assert err.startswith(f"Error: line {line}: ")
    assert told in err
    assert err.endswith(f"is not an input of {path}; nothing was reported\n")
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", CONSUMERS)
def test_bytes_that_are_no_text_are_an_unknown_label(command, tmp_path):
    of_default_labels().save(tmp_path / "m.json")
    status, out, err = report(command, tmp_path / "m.json", b"x1\nx\xff1\n")
    assert (status, out) == (2, b"")
    assert err.startswith("Error: line 2: ")


@pytest.mark.parametrize("command", CONSUMERS)
def test_no_label_gives_no_report(command, tmp_path):
    of_default_labels().save(tmp_path / "m.json")
    assert report(command, tmp_path / "m.json", b"") == (0, b"", "")


@pytest.mark.combined
@pytest.mark.parametrize("command", CONSUMERS)
@pytest.mark.parametrize(
    "change", [{"schema": "mechdesign/mechanism/3"}, {"bits": 3}, {"numerators": [[1, 2], [1, 3]]}], ids=str
)
def test_another_file_is_refused(command, change, tmp_path):
    path = tmp_path / "m.json"
    of_default_labels().save(path)
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    status, out, err = report(command, path, b"x1\n")
    assert (status, out) == (2, b"")
    assert err.startswith(f"Error: {path} is refused: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", CONSUMERS)
def test_a_promise_on_both_sides_changes_nothing_for_consumers(command, tmp_path):
    known = md.L1Ball(["0.5", "0.3", "0.2"])
    md.design(md.DesignProblem(known, 1, lower=1)).mechanism.save(tmp_path / "m.json")
    status, out, err = report(command, tmp_path / "m.json", b"x1\nx2\nx3\n")
    assert (status, err) == (0, "")
    assert len(out.split()) == 3


@pytest.mark.parametrize("command", CONSUMERS)
def test_usage(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: usage: ")


def of_default_labels():
    return md.Mechanism(
        np.array([[3, 1], [1, 3]]), 2, md.Guarantee(md.Epsilon.of("log(3)"), md.L1Ball([0.5, 0.5], radius=2))
    )


def records(*arguments):
    command = [sys.executable, str(EXAMPLES / "records.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False)


def test_records_have_the_counts_of_their_problem_file(tmp_path):
    problem = PROBLEMS / "adult-education.toml"
    made = records(problem)
    assert made.returncode == 0
    assert made.stdout.count(b"\n") == 48_843
    (tmp_path / "records.csv").write_bytes(made.stdout)
    ball = md.read_problem(problem).problem.uncertainty
    from mechdesign.data.counts import count_column

    assert count_column(tmp_path / "records.csv", "education") == dict(
        zip(ball.labels, ball.evidence.counts, strict=True)
    )
    assert made.stdout == records(problem).stdout
    other = records(problem, "--seed", "1").stdout
    assert other != made.stdout
    assert sorted(other.splitlines()) == sorted(made.stdout.splitlines())
    # Shuffled: among the first thousand the likeliest label has its share, give or take six deviations.
    assert abs(made.stdout.splitlines()[1:1001].count(b"HS-grad") - 323) < 6 * 15


def test_the_column_of_records_has_the_name_wanted(tmp_path):
    problem = tmp_path / "adult-native-country.toml"
    problem.write_text('[prior.counts]\n"a, \\"b\\"" = 2\n"é" = 1\n', encoding="utf-8")
    lines = list(csv.reader(records(problem).stdout.decode().splitlines()))
    assert lines[0] == ["native-country"]
    assert sorted(lines[1:]) == [['a, "b"'], ['a, "b"'], ["é"]]
    assert records(problem, "--column", "a b").stdout.splitlines()[0] == b"a b"
    plain = problem.rename(tmp_path / "plain.toml")
    assert records(plain).stdout.splitlines()[0] == b"plain"


def test_a_problem_without_counts_has_no_records():
    done = records(PROBLEMS / "hull-12.toml")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"has no [prior.counts]; give a problem file with counts" in done.stderr


def test_false_alarms_are_rare():
    # Exactly, for one cell with the least expected count that is tested, 20, and for common ones.
    edge = np.sqrt(stats.chi2.isf(NEVER_FLAKES, 1))
    for expected in (20, 100, LINES / 20, LINES / 6):
        seen = stats.binom(LINES // 6, expected / (LINES // 6)) if expected < LINES / 6 else stats.binom(LINES, 1 / 6)
        low, high = seen.mean() - edge * seen.std(), seen.mean() + edge * seen.std()
        assert seen.cdf(low) + seen.sf(high) < 1e-10
