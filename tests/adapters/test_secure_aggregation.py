"""Counts of reports that come out of a sum of shares give the estimates of the reports themselves."""

import json
from pathlib import Path

import numpy as np
import pytest
from markdown_it import MarkdownIt

import mechdesign as md

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "secure-aggregation.md"


@pytest.fixture(scope="module")
def mechanism():
    ball = md.L1Ball.from_counts({"walk": 420, "bus": 310, "car": 180, "bicycle": 90}, delta="1e-9")
    return md.design(md.DesignProblem(ball, epsilon=1, utility=md.EstimationError())).mechanism


def positions(mechanism, number):
    answers = np.random.default_rng(5).choice(mechanism.inputs, number, p=[0.4, 0.28, 0.17, 0.15])
    reports = mechanism.privatize(answers, rng=np.random.default_rng(6))
    return reports, [mechanism.outputs.index(report) for report in reports.tolist()]


def test_the_page_sums_every_report_and_its_table_gives_the_least_squares(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for token in MarkdownIt().parse(PAGE.read_text(encoding="utf-8")):
        if token.type == "fence":
            exec(compile(token.content, "page", "exec"), names)  # noqa: S102 - our own page
    result, made = names["result"], names["mechanism"]
    assert sum(result) == 5000
    assert all(0 <= count <= 5000 for count in result)
    estimate = md.estimate_frequencies(dict(zip(made.outputs, result, strict=True)), made, method="least-squares")
    table = np.array(json.loads(Path("debias.json").read_text())["table"])
    np.testing.assert_allclose(np.array(result) / 5000 @ table, estimate.frequencies, rtol=0, atol=1e-9)
    printed = capsys.readouterr().out
    for category, frequency in zip(made.inputs, estimate.frequencies, strict=True):
        assert f"{category:8} {frequency:.4f}, standard error" in printed


def test_standard_errors_of_the_table_are_those_of_repeated_surveys(mechanism):
    """By simulation: 2,000 batches of 400 reports."""
    table = md.debias_labels(mechanism).targets
    truth = np.array([0.4, 0.28, 0.17, 0.15])
    law = truth @ mechanism.matrix
    counts = np.random.default_rng(7).multinomial(400, law / law.sum(), 2000)
    found = counts / 400 @ table
    stated = np.sqrt((counts / 400 @ table**2 - found**2) / 399)
    np.testing.assert_allclose(found.mean(axis=0), truth, rtol=0, atol=5 * found.std(axis=0).max() / np.sqrt(2000))
    np.testing.assert_allclose(np.sqrt((stated**2).mean(axis=0)), found.std(axis=0), rtol=0.08)


def test_the_reference_prio3_histogram_counts_the_reports(mechanism):
    """`vdaf_poc`, the reference implementation of the draft, is in no package index: run where it is installed."""
    pytest.importorskip("vdaf_poc")
    from vdaf_poc.common import gen_rand
    from vdaf_poc.vdaf import run_vdaf
    from vdaf_poc.vdaf_prio3 import Prio3Histogram

    reports, measurements = positions(mechanism, 500)
    vdaf = Prio3Histogram(2, len(mechanism.outputs), round(len(mechanism.outputs) ** 0.5))
    result = run_vdaf(vdaf, gen_rand(vdaf.VERIFY_KEY_SIZE), None, b"commute", measurements)
    assert result == np.bincount(measurements, minlength=len(mechanism.outputs)).tolist()
    direct = md.estimate_frequencies(reports, mechanism)
    summed = md.estimate_frequencies(dict(zip(mechanism.outputs, result, strict=True)), mechanism)
    np.testing.assert_array_equal(summed.frequencies, direct.frequencies)
