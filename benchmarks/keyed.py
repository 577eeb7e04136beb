"""What is measured of permanent reports: beside fresh ones, in memory and from files, and the functions they could use.

Permanent reports of different ids have the distribution of fresh ones, which is checked whenever both are timed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import mechdesign as md
from benchmarks.measure import Row, Sizes
from benchmarks.reports import CONTAINERS, alike, mechanisms, uniform_codes
from mechdesign.deploy import RecordFile, ReportFile, privatize_file

REACH = 10**6  # permanent reports a second, on one core
PREFIX = 64  # bytes before an id: fingerprint, attribute and label
MOST = 10**6  # records
TIMES = 2  # of which the least is taken


def core_seconds(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a function returns, and the least seconds of processors that this process takes for it."""
    least = float("inf")
    for _ in range(TIMES):
        started = time.process_time()
        found = function()
        least = min(least, time.process_time() - started)
    return found, least


def keyed(sizes: Sizes) -> Iterator[Row]:
    """Yield the time of permanent and of fresh reports, and that of functions alone."""
    records = min(sizes.records, MOST)
    for name, mechanism in mechanisms().items():
        for row in beside_fresh(mechanism, records):
            yield {"table": "reports", "mechanism": name, "records": records} | row
    yield from ({"table": "functions", "records": records} | row for row in functions(records))


def texts(records: int) -> list[str]:
    """Return different ids of 16 letters."""
    return [f"person-{i:09d}" for i in range(records)]


def beside_fresh(mechanism: md.Mechanism, records: int) -> Iterator[Row]:
    """Yield a row for each container of labels and ids, for ids that are integers, and for Parquet and CSV files."""
    labels = np.array(mechanism.inputs, dtype=object)[uniform_codes(mechanism, records)].tolist()
    numbers = np.arange(records)
    key = md.Key.generate()
    for name, contained in CONTAINERS.items():
        try:
            series, ids = contained(labels), contained(texts(records))
        except ImportError as error:
            yield {"form": name, "skipped": str(error)}
            continue
        yield {"form": name} | timed_in_memory(mechanism, series, key, ids)
    yield {"form": "list of str, ids an array of int64"} | timed_in_memory(mechanism, labels, key, numbers)
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("parquet", "csv"):
            source = Path(folder, f"records.{ending}")
            write(source, labels)
            yield {"form": f"file, {ending}"} | timed_in_file(mechanism, source, key)


def timed_in_memory(mechanism: md.Mechanism, series: Any, key: md.Key, ids: Any) -> Row:
    """Return the seconds of fresh and of permanent reports about the records of a container."""
    mechanism.privatize(series[:2], key=key, ids=ids[:2])  # so that imports at the first use are not timed
    reports, fresh = core_seconds(lambda: mechanism.privatize(series))
    permanent, seconds = core_seconds(lambda: mechanism.privatize(series, key=key, ids=ids))
    alike(as_codes(mechanism, reports), as_codes(mechanism, permanent))
    return {"fresh": fresh, "seconds": seconds}


def timed_in_file(mechanism: md.Mechanism, source: Path, key: md.Key) -> Row:
    """Return the seconds of fresh and of permanent reports about the records of a file, on all threads together."""
    output = source.with_name(f"reports{source.suffix}")
    run = partial(privatize_file, RecordFile(source, "answer"), mechanism, ReportFile(output, overwrite=True))
    _, fresh = core_seconds(run)
    _, seconds = core_seconds(partial(run, key=key, ids="person"))
    return {"fresh": fresh, "seconds": seconds}


def write(path: Path, labels: list[str]) -> None:
    """Write labels and ids, as text."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    table = pa.table({"person": texts(len(labels)), "answer": labels})
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        pa_csv.write_csv(table, path)


def as_codes(mechanism: md.Mechanism, reports: Any) -> Any:
    """Return reports as codes of outputs."""
    listed = reports.to_pylist() if hasattr(reports, "to_pylist") else list(reports)
    places = {label: code for code, label in enumerate(mechanism.outputs)}
    return np.array([places[label] for label in listed])


def functions(records: int) -> Iterator[Row]:
    """Yield the time of keyed functions of ids in UTF-8, all with one prefix, and nothing besides."""
    names = [name.encode() for name in texts(records)]
    key, prefix = os.urandom(32), os.urandom(PREFIX)
    begun = hashlib.blake2b(prefix, key=key, digest_size=8)
    inner, outer = (hashlib.sha256(bytes(byte ^ pad for byte in key.ljust(64, b"\0"))) for pad in (0x36, 0x5C))
    inner.update(prefix)

    def blake2b(name: bytes) -> bytes:
        function = begun.copy()
        function.update(name)
        return function.digest()

    def hmac_by_copies(name: bytes) -> bytes:
        first, second = inner.copy(), outer.copy()
        first.update(name)
        second.update(first.digest())
        return second.digest()

    if hmac_by_copies(names[0]) != hmac.digest(key, prefix + names[0], "sha256"):
        raise AssertionError("two ways to HMAC-SHA-256 differ")
    known: dict[str, Callable[[bytes], bytes]] = {
        "BLAKE2b with a key, copied after the prefix": blake2b,
        "HMAC-SHA-256, both states copied": hmac_by_copies,
        "HMAC-SHA-256, `hmac.digest`": lambda name: hmac.digest(key, prefix + name, "sha256"),
    }
    for name, function in known.items():
        yield {"function": name, "seconds": core_seconds(lambda function=function: [function(x) for x in names])[1]}
    try:
        from blake3 import blake3
    except ImportError as error:
        yield {"function": "BLAKE3", "skipped": str(error)}
        return
    start = blake3(prefix, key=key)

    def blake3_by_copies(name: bytes) -> bytes:
        function = start.copy()
        function.update(name)
        return bytes(function.digest(8))

    seconds = core_seconds(lambda: [blake3_by_copies(name) for name in names])[1]
    yield {"function": "BLAKE3 with a key, copied after the prefix (package blake3)", "seconds": seconds}


SECTIONS: dict[str, Callable[[Sizes], Iterator[Row]]] = {"keyed": keyed}
