"""What is measured of mechanisms in use is measured right: peers draw what they should, and guards bite."""

import math
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from chi_square import p_value

import mechdesign as md
from benchmarks import file_job, measure, peers, report, reports
from mechdesign.data.tables import open_columns
from mechdesign.deploy.likelihood import maximum_likelihood

MATRIX = np.array([[0.5, 0.25, 0.25, 0.0], [0.125, 0.75, 0.0, 0.125], [0.25, 0.0, 0.0, 0.75]])
BITS = 48
THRESHOLDS = np.cumsum((MATRIX * 2.0**BITS).astype(np.int64), axis=1)


@pytest.mark.parametrize(
    "draw",
    [
        lambda codes, rng: peers.by_rows(THRESHOLDS, BITS, codes, rng),
        lambda codes, rng: peers.by_one_search(THRESHOLDS, BITS, codes, rng),
        lambda codes, rng: peers.by_choice(MATRIX, codes, rng),
    ],
    ids=["by_rows", "by_one_search", "by_choice"],
)
def test_peers_draw_from_the_mechanism(draw):
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 3, 30_000)
    drawn = draw(codes, rng)
    for i, row in enumerate(MATRIX):
        assert p_value(np.bincount(drawn[codes == i], minlength=4), row) > 1e-6


def test_the_client_of_multi_freq_ldpy_draws_from_our_randomized_response():
    pytest.importorskip("multi_freq_ldpy", reason="multi-freq-ldpy is not installed")
    client = peers.grr_client()
    row = reports.randomized_response(5).matrix[2]
    drawn = [client(2, 5, 1.0) for _ in range(20_000)]
    assert p_value(np.bincount(drawn, minlength=5), row) > 1e-10  # its generator has no seed


def test_randomized_response_is_the_closed_form():
    weights = np.ones((5, 5)) + (math.e - 1) * np.eye(5)
    np.testing.assert_allclose(reports.randomized_response(5).matrix, weights / (math.e + 4), atol=1e-12)


def test_reports_of_another_distribution_are_not_reported():
    rng = np.random.default_rng(8)
    ours, same, fewer = (rng.choice(3, n, p=[0.5, 0.3, 0.2]) for n in (200_000, 200_000, 20_000))
    reports.alike(ours, same)
    reports.alike(ours, fewer)
    for n in (200_000, 20_000):
        with pytest.raises(AssertionError, match="two ways to reports of one distribution differ"):
            reports.alike(ours, rng.choice(3, n, p=[0.45, 0.3, 0.25]))
    with pytest.raises(AssertionError, match="two ways to reports"):
        reports.alike(np.zeros(1_000, dtype=int), np.full(1_000, 3))


@pytest.mark.parametrize("N", [2, 6])
def test_em_is_within_the_gap_that_it_states(N):
    matrix = reports.randomized_response(N).matrix
    counts = np.random.default_rng(9).integers(100, 3_000, N).astype(float)
    best = maximum_likelihood(matrix, counts).frequencies
    seconds = []
    for gaps in ((1.0,), (1.0, 1e-3), (1.0, 1e-3, 1e-6)):
        updated = peers.plain_em(matrix, counts, gaps, 10.0)
        behind = counts @ np.log((best @ matrix) / (updated.frequencies @ matrix))
        assert -1e-6 <= behind <= updated.gap <= gaps[-1]
        assert len(updated.seconds) == len(gaps)
        assert updated.seconds == sorted(updated.seconds)
        seconds.append(behind)
    assert seconds == sorted(seconds, reverse=True)


def test_em_that_runs_out_of_time_says_what_is_left():
    matrix = reports.randomized_response(6).matrix
    updated = peers.plain_em(matrix, np.arange(1.0, 7.0) * 1_000, (1e3, 1e-6), 0.0)
    assert updated.seconds[-1] is None
    assert updated.gap > 1e-6
    row = {"em": None, "em_gap": 0.25}
    assert report._within(row, "em") == "0.25 nats left"


def test_likelihoods_that_differ_are_not_reported(monkeypatch):
    matrix = reports.randomized_response(3).matrix
    counts = np.array([500.0, 300.0, 200.0])
    wrong = type("Wrong", (), {"frequencies": np.full(3, 1 / 3), "gap": 1e-9})()
    monkeypatch.setattr(reports, "maximum_likelihood", lambda *_: wrong)
    with pytest.raises(AssertionError, match="two ways to the greatest likelihood differ"):
        reports.beside_em(matrix, counts, 1.0, 10.0)


def test_the_bytes_used_are_those_that_the_sampler_asks_for():
    mechanism = measure.dense(20)
    records = 100_000
    used = reports.bytes_used(mechanism, reports.uniform_codes(mechanism, records))
    assert 2 * records < used < 2.5 * records
    one_bit = md.Mechanism(
        np.array([[2, 2], [1, 3]]), 2, md.Guarantee(md.Epsilon.of(1), md.L1Ball.from_counts([1, 1], radius=2))
    )
    assert reports.bytes_used(one_bit, np.zeros(1_000, dtype=np.intp)) == 2_000


def test_peers_that_are_missing_leave_a_reason(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "multi_freq_ldpy", None)
    monkeypatch.setitem(sys.modules, "multi_freq_ldpy.pure_frequency_oracles.GRR", None)
    rows = list(reports.privatizing(measure.QUICK))
    skipped = [row for row in rows if "skipped" in row]
    assert {row.get("container", row.get("sampler")) for row in skipped} == {
        "polars Series",
        "multi-freq-ldpy, `GRR_Client` for each record",
    }
    text = report.WRITERS["privatizing"](rows)
    assert text.count("Left out: ") == 2  # once for both mechanisms
    assert "polars" in text.split("Left out: ")[1]
    assert "| polars Series |" not in text
    assert "scaled" not in text


def test_files_hold_the_records_that_are_counted(tmp_path):
    path = tmp_path / "records.csv"
    records = reports.write_csv(path, 10**6)
    assert records % reports.BLOCK_RECORDS == 0
    assert 10**6 <= path.stat().st_size < 2 * 10**6
    assert len(path.read_text().splitlines()) == records + 1
    reports.write_parquet(tmp_path / "records.parquet", path)
    columns = [
        [label for batch in open_columns(file, ["education"]).batches for label in batch["education"].to_pylist()]
        for file in (path, tmp_path / "records.parquet")
    ]
    assert columns[0] == columns[1]
    known = reports.education().guarantee.uncertainty
    seen = [columns[0][: reports.BLOCK_RECORDS].count(label) for label in known.labels]
    assert p_value(seen, known.prior) > 1e-6


def test_without_room_on_the_disk_there_is_a_reason(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1_000_000})())
    rows = list(reports.files(measure.QUICK))
    assert [row["bytes"] for row in rows] == list(measure.QUICK.files)
    assert "Left out: 1,000,000 bytes of CSV, for which " in report.WRITERS["files"](rows)


def test_a_job_that_loses_records_is_not_reported(monkeypatch, tmp_path):
    monkeypatch.setattr(reports, "in_own_process", lambda *_: {"records": 9, "seconds": 1.0, "peak": None})
    with pytest.raises(AssertionError, match="privatize took 9 records of 10"):
        list(reports.streamed(tmp_path, "csv", 10))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux says what a process held")
def test_the_peak_is_that_of_the_job_alone(tmp_path):
    mine = np.ones(40_000_000)
    assert file_job.peak_bytes() > mine.nbytes
    reports.education().save(tmp_path / "m.json")
    (tmp_path / "r.csv").write_text("a\nHS-grad\n")
    row = reports.in_own_process(tmp_path / "m.json", tmp_path / "r.csv", "a", tmp_path / "out.csv")
    assert row["records"] == 1
    assert row["peak"] < mine.nbytes / 10


def test_a_job_says_nothing_of_memory_where_the_system_does_not(monkeypatch):
    monkeypatch.setattr(Path, "exists", lambda _: False)
    assert file_job.peak_bytes() is None
    row = {"work": "count", "kind": "csv", "bytes": 10**6, "records": 100, "seconds": 2.0, "peak": None}
    assert "| count, csv | 1 | 100 | 2 | 5e-5 | 0.5 | - |" in report.WRITERS["files"]([row])
