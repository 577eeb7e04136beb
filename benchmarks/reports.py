"""Measurements of mechanisms in use: records privatized, files streamed, frequencies estimated.

Whenever two samplers of the same distribution are timed, the counts of their reports are compared.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import mechdesign as md
from benchmarks import instances
from benchmarks.measure import COARSE, PROBLEMS, TOTAL, Row, Sizes, ball, dense, timed
from benchmarks.peers import by_choice, by_one_search, by_rows, grr_client, plain_em
from mechdesign.data.alphabet import Codes
from mechdesign.deploy.likelihood import maximum_likelihood
from mechdesign.numerics.arrays import Floats

BLOCK = 1 << 19  # random bytes requested from the operating system at a time; our sampler requests fewer
STATED, CERTIFIED = 1e-2, 1e-6  # gaps of log-likelihood, in nats: a usual one of EM, and the one that ours keeps
ROUNDING = 1e-15  # of a log-likelihood, for each report
SAMPLED = 7  # standard deviations by which counts of two samples may differ: two in 10^12 do by chance
ROOM = 1.5  # bytes on disk for each byte of a CSV file: the file, and its reports or the records as Parquet
HEADER = b"person,age,education,income,area\n"
BLOCK_RECORDS = 25_000


@cache
def education() -> md.Mechanism:
    """Return the optimal mechanism for the 16 education levels of Adult."""
    return md.design(md.read_problem(PROBLEMS / "adult-education.toml").problem).mechanism


def mechanisms() -> dict[str, md.Mechanism]:
    """Return the mechanisms that are measured, by name."""
    return {"education, N = 16": education(), "dense, N = 100": dense(100)}


def uniform_codes(mechanism: md.Mechanism, records: int) -> Codes:
    """Return random records as codes."""
    return np.random.default_rng(1).integers(0, len(mechanism.inputs), records)


def alike(ours: Codes, other: Codes) -> None:
    """Check that the counts of two samples of reports fit one distribution."""
    counts, others = (np.bincount(reports, minlength=max(ours.max(), other.max()) + 1) for reports in (ours, other))
    # Scaled to as many reports, a difference of counts varies by at most p n (1 + n / m).
    scale = ours.size / other.size
    share = (counts + others * scale) / (2 * ours.size)
    spread = np.sqrt(share * ours.size * (1 + scale)) + scale
    if not (np.abs(counts - others * scale) <= SAMPLED * spread).all():
        raise AssertionError(f"two ways to reports of one distribution differ: {counts} and {others}")


# Records


def privatizing(sizes: Sizes) -> Iterator[Row]:
    """Yield the time of privatizing: beside drawing randomness alone, in every container, beside other samplers."""
    for name, mechanism in mechanisms().items():
        for row in beside_randomness(mechanism, sizes.records):
            yield {"table": "randomness", "mechanism": name, "records": sizes.records} | row
    for name, mechanism in mechanisms().items():
        for row in in_containers(mechanism, sizes.records):
            yield {"table": "containers", "mechanism": name} | row
    for name, mechanism in mechanisms().items():
        for row in beside_samplers(mechanism, sizes):
            yield {"table": "samplers", "mechanism": name} | row


def beside_randomness(mechanism: md.Mechanism, records: int) -> Iterator[Row]:
    """Yield the time for integer codes, seeded and with secure randomness, beside drawing the randomness alone."""
    codes = uniform_codes(mechanism, records)
    rng = np.random.default_rng(2)
    _, seeded = timed(lambda: mechanism.privatize(codes, rng))
    _, words = timed(lambda: rng.integers(0, 1 << 64, records, dtype=np.uint64))
    yield _beside("seeded", seeded, "a 64-bit word a record", words)
    _, secure = timed(lambda: mechanism.privatize(codes))
    used = bytes_used(mechanism, codes)
    for what, size in (
        ("`os.urandom`, 8 bytes a record", 8 * records),
        (f"`os.urandom`, the {used / records:.2f} bytes a record used", used),
    ):
        yield _beside("secure", secure, what, timed(lambda size=size: read_system(size))[1])


def _beside(randomness: str, seconds: float, what: str, alone: float) -> Row:
    return {"randomness": randomness, "seconds": seconds, "beside": what, "alone": alone, "times": seconds / alone}


def bytes_used(mechanism: md.Mechanism, codes: Codes) -> int:
    """Return the number of random bytes that the sampler requests for these records."""
    used = 0

    def counted(size: int) -> bytes:
        nonlocal used
        used += size
        return os.urandom(size)

    mechanism.sampler.draw(codes, counted)
    return used


def read_system(size: int) -> None:
    """Read random bytes from the operating system, in blocks."""
    for start in range(0, size, BLOCK):
        os.urandom(min(BLOCK, size - start))


def _pandas(labels: list[str]) -> Any:
    import pandas as pd

    return pd.Series(labels, dtype="str")


def _polars(labels: list[str]) -> Any:
    import polars as pl

    return pl.Series(labels)


def _pyarrow(labels: list[str]) -> Any:
    import pyarrow as pa

    return pa.array(labels)


CONTAINERS: dict[str, Callable[[list[str]], Any]] = {
    "list of str": list,
    "numpy array of str (U)": np.array,
    "pandas Series of str": _pandas,
    "polars Series": _polars,
    "pyarrow Array": _pyarrow,
}


def in_containers(mechanism: md.Mechanism, records: int) -> Iterator[Row]:
    """Yield the time for labels in every container, with secure randomness."""
    labels = np.array(mechanism.inputs, dtype=object)[uniform_codes(mechanism, records)].tolist()
    for name, contained in CONTAINERS.items():
        try:
            series = contained(labels)
        except ImportError as error:
            yield {"container": name, "skipped": str(error)}
            continue
        mechanism.privatize(series[:2])  # so that imports at the first use are not timed
        yield {"container": name, "seconds": timed(lambda series=series: mechanism.privatize(series))[1]}


def beside_samplers(mechanism: md.Mechanism, sizes: Sizes) -> Iterator[Row]:
    """Yield the time for integer codes by other samplers beside ours, seeded where a sampler takes a seed."""
    codes = uniform_codes(mechanism, sizes.records)
    rng = np.random.default_rng(3)
    thresholds, bits = np.cumsum(mechanism.numerators, axis=1), mechanism.bits
    ours, seconds = timed(lambda: mechanism.privatize(codes, rng))
    yield {"sampler": "ours", "seconds": seconds, "times": 1.0}
    others: dict[str, Callable[[], Codes]] = {
        "numpy, one search in all thresholds": lambda: by_one_search(thresholds, bits, codes, rng),
        "numpy, `searchsorted` for each input": lambda: by_rows(thresholds, bits, codes, rng),
        "numpy, `Generator.choice` for each input": lambda: by_choice(mechanism.matrix, codes, rng),
    }
    for sampler, work in others.items():
        reports, other = timed(work)
        alike(ours, reports)
        yield {"sampler": sampler, "seconds": other, "times": other / seconds}
    yield beside_clients(len(mechanism.inputs), sizes)


def randomized_response(N: int) -> md.Mechanism:
    """Return k-ary randomized response at epsilon = 1, an output for each input, in the same order."""
    weights = np.ones((N, N)) + (np.e - 1) * np.eye(N)
    promise = md.Guarantee(md.Epsilon.of(1), md.L1Ball.from_counts([1] * N, radius=2))
    return md.Mechanism.from_matrix(weights / (np.e + N - 1), promise, outputs=[f"y{i}" for i in range(N)])


def beside_clients(N: int, sizes: Sizes) -> Row:
    """Return k-ary randomized response by multi-freq-ldpy, record by record, beside ours; or why that is left out."""
    sampler = "multi-freq-ldpy, `GRR_Client` for each record"
    try:
        client = grr_client()
    except ImportError as error:
        return {"sampler": sampler, "skipped": str(error)}
    mechanism = randomized_response(N)
    codes = uniform_codes(mechanism, sizes.records)
    ours, seconds = timed(lambda: mechanism.privatize(codes, np.random.default_rng(4)))
    records = codes[: sizes.clients].tolist()
    reports, some = timed(lambda: [client(record, N, 1.0) for record in records])
    alike(ours, np.array(reports))
    other = some * sizes.records / sizes.clients
    return {"sampler": sampler, "seconds": other, "times": other / seconds, "of": sizes.clients}


# Files


def files(sizes: Sizes) -> Iterator[Row]:
    """Yield time and memory of privatizing files and of counting their reports, or why a size is left out."""
    for size in sizes.files:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if shutil.disk_usage(folder).free < ROOM * size:
                yield {"bytes": size, "skipped": f"{size:,} bytes of CSV, for which {folder.parent} has no room"}
                continue
            education().save(folder / "mechanism.json")
            records = write_csv(folder / "records.csv", size)
            yield from streamed(folder, "csv", records)
            write_parquet(folder / "records.parquet", folder / "records.csv")
            (folder / "records.csv").unlink()
            yield from streamed(folder, "parquet", records)


def streamed(folder: Path, kind: str, records: int) -> Iterator[Row]:
    """Yield time and memory of privatizing a file, and of counting the reports in its output."""
    source, output = folder / f"records.{kind}", folder / f"reports.{kind}"
    for work, read, paths in (
        ("privatize", source, (source, "education", output)),
        ("count", output, (output, "education")),
    ):
        row = in_own_process(folder / "mechanism.json", *paths)
        if row["records"] != records:
            raise AssertionError(f"{work} took {row['records']} records of {records}")
        yield {"work": work, "kind": kind, "bytes": read.stat().st_size} | row
    output.unlink()


def in_own_process(*arguments: str | Path) -> Row:
    """Return the row that `file_job` prints."""
    command = [sys.executable, "-m", "benchmarks.file_job", *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=PROBLEMS.parent)
    row: Row = json.loads(done.stdout)
    return row


def block_of_records() -> bytes:
    """Return lines of a CSV file with several columns, one of them the education levels of Adult in their shares."""
    rng = np.random.default_rng(5)
    known = education().guarantee.uncertainty
    columns = zip(
        rng.integers(0, 10**8, BLOCK_RECORDS).tolist(),
        rng.integers(17, 91, BLOCK_RECORDS).tolist(),
        rng.choice(known.labels, BLOCK_RECORDS, p=known.prior).tolist(),
        rng.gamma(2, 20_000, BLOCK_RECORDS).tolist(),
        rng.choice(["urban", "rural", "suburban"], BLOCK_RECORDS).tolist(),
        strict=True,
    )
    lines = (f"{person:08d},{age},{level},{income:.2f},{area}\n" for person, age, level, income, area in columns)
    return "".join(lines).encode()


def write_csv(path: Path, size: int) -> int:
    """Write a block of records repeatedly, up to at least this size, and return the number of records."""
    block = block_of_records()
    times = -(-size // len(block))
    with path.open("wb") as file:
        file.write(HEADER)
        for _ in range(times):
            file.write(block)
    return times * BLOCK_RECORDS


def write_parquet(path: Path, source: Path) -> None:
    """Write the records of a CSV file as Parquet, with types."""
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    # A batch becomes a row group: nearly a million records, as other writers have.
    options = pa_csv.ReadOptions(block_size=1 << 25)
    with pa_csv.open_csv(source, options) as batches, pq.ParquetWriter(path, batches.schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


# Estimates


def estimating(sizes: Sizes) -> Iterator[Row]:
    """Yield the time of estimates from reports and from counts, and of maximum likelihood beside plain EM."""
    # Ours are measured before EM, which takes minutes, so that the machine is about as busy for all of ours.
    ours = []
    for N in sizes.estimated:
        known = ball(instances.zipf(N, TOTAL), "1e-9")
        designed = md.design(md.DesignProblem(known, 1), tol=COARSE).mechanism
        for name, mechanism in (("designed", designed), ("randomized response", randomized_response(N))):
            codes = reported(mechanism, known, sizes.records)
            row: Row = {"mechanism": name, "N": N, "M": len(mechanism.outputs), "records": sizes.records}
            counts = np.bincount(codes, minlength=len(mechanism.outputs)).astype(float)
            ours.append((mechanism.matrix, counts, row | estimated(mechanism, codes)))
    for matrix, counts, row in ours:
        found, row["likelihood"] = timed(lambda m=matrix, c=counts: maximum_likelihood(m, c))
        row["gap"] = found.gap
    for matrix, counts, row in ours:
        yield row | beside_em(matrix, counts, row["likelihood"], sizes.time_limit)


def estimated(mechanism: md.Mechanism, codes: Codes) -> Row:
    """Return a row of estimates from reports as codes, from a list of labels, and from counts."""
    labels = np.array(mechanism.outputs, dtype=object)[codes].tolist()
    md.estimate_frequencies(codes, mechanism)  # so that imports at the first use are not timed
    forms = {"codes": codes, "labels": labels, "counts": Counter(labels)}
    return {
        form: timed(lambda reports=reports: md.estimate_frequencies(reports, mechanism))[1]
        for form, reports in forms.items()
    }


def reported(mechanism: md.Mechanism, known: md.L1Ball, records: int) -> Codes:
    """Return reports, as codes, about records from a reference prior."""
    rng = np.random.default_rng(6)
    reports: Codes = mechanism.privatize(rng.choice(known.size, records, p=known.prior), rng)
    return reports


def beside_em(matrix: Floats, counts: Floats, ours: float, time_limit: float) -> Row:
    """Return a row of plain EM up to the gap of maximum likelihood, for which ours took ``ours`` seconds."""
    best = maximum_likelihood(matrix, counts)
    updated = plain_em(matrix, counts, (STATED, CERTIFIED), time_limit)
    seen = counts > 0
    above = counts[seen] @ np.log((best.frequencies @ matrix[:, seen]) / (updated.frequencies @ matrix[:, seen]))
    if not -best.gap - ROUNDING * counts.sum() <= above <= updated.gap + ROUNDING * counts.sum():
        raise AssertionError(f"two ways to the greatest likelihood differ by {above} nats")
    stated, certified = updated.seconds
    ratio = None if certified is None else certified / ours
    return {"em_stated": stated, "em": certified, "em_gap": updated.gap, "ratio": ratio}


def reaches(sizes: Sizes) -> Iterator[Row]:
    """Yield the goals for mechanisms in use, seconds or times at most, beside what was measured."""
    n = f"{sizes.records:.0e} ".replace("e+0", "e")
    for name, mechanism in mechanisms().items():
        seeded, _, secure = beside_randomness(mechanism, sizes.records)
        yield {"work": f"{n}codes, seeded: {name}", "seconds": seeded["seconds"], "reach": 1}
        yield {"work": f"{n}codes, seeded, over as many random words: {name}", "times": seeded["times"], "reach": 5}
        yield {"work": f"{n}codes, secure, over the bytes used: {name}", "times": secure["times"], "reach": 4}
        labels = next(in_containers(mechanism, sizes.records))
        yield {"work": f"{n}labels in a list: {name}", "seconds": labels["seconds"], "reach": 3}
    known = ball(instances.zipf(100, TOTAL), "1e-9")
    mechanism = md.design(md.DesignProblem(known, 1), tol=COARSE).mechanism
    reports = reported(mechanism, known, sizes.records)
    _, seconds = timed(lambda: md.estimate_frequencies(reports, mechanism))
    yield {"work": f"estimate from {n}codes, designed, N = 100", "seconds": seconds, "reach": 2}


SECTIONS: dict[str, Callable[[Sizes], Iterator[Row]]] = {
    "privatizing": privatizing,
    "files": files,
    "estimating": estimating,
}
