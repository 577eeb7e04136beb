"""One pass over a folder of parts in a process of its own, or on a cluster that it starts; started by `fleet`.

``python -m benchmarks.fleet_job FOLDER WORK WORKERS [tuned]`` prints a row as JSON. The folder holds
``mechanism.json``, ``reports.key``, ``records``, and the reports of earlier passes. With 0 workers the process works
itself; a cluster that is tuned has the settings of `fleet.TUNED`.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mechdesign as md
from benchmarks.file_job import peak_bytes
from benchmarks.fleet import ALONE, FRESH, TUNED, reports_of, write_part
from benchmarks.measure import Row
from mechdesign.deploy import RecordFile, count_dataset, privatize_dataset
from mechdesign.engine import executor_of, run_tasks

COLUMN = "education"
PARTS_TO_BEGIN = 20  # each worker gets some of them


def bytes_read_and_written() -> tuple[int, int]:
    """Return how many bytes this process has read and written so far, files and pipes; zeros if not on Linux."""
    status = Path("/proc/self/io")
    if not status.exists():
        return 0, 0
    told = dict(line.split(": ") for line in status.read_text().splitlines())
    return int(told["rchar"]), int(told["wchar"])


def count_messages() -> None:
    """Count the bytes of messages that this process sends to other processes of a cluster from now on."""
    from distributed.comm import tcp

    plain = tcp.TCP.write

    async def write(self: Any, *arguments: Any, **options: Any) -> Any:
        sent = await plain(self, *arguments, **options)
        tcp.bytes_sent += sent
        return sent

    tcp.bytes_sent = 0
    tcp.TCP.write = write


def bytes_sent() -> int:
    """Return how many bytes of messages were sent since they are counted."""
    from distributed.comm import tcp

    return int(tcp.bytes_sent)


def few_records(mechanism: md.Mechanism, client: Any) -> None:
    """Privatize parts of one record and count their reports, so that later passes import nothing."""
    with tempfile.TemporaryDirectory() as name:
        source, reports = Path(name, "records"), Path(name, "reports")
        source.mkdir()
        md.Key.generate().write(Path(name, "key"))
        for part in range(PARTS_TO_BEGIN):
            write_part(source / f"{part}.parquet", part, 1)
        privatize_dataset(RecordFile(source, COLUMN), mechanism, reports, client, key=Path(name, "key"), ids="person")
        count_dataset(RecordFile(reports, COLUMN), mechanism, client)


@contextmanager
def cluster(workers: int, mechanism: md.Mechanism) -> Iterator[Any]:
    """Start a cluster whose processes have imported what they need, or yield None for 0 workers."""
    if not workers:
        few_records(mechanism, None)
        yield None
        return
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=workers, dashboard_address="127.0.0.1:0") as local, Client(local) as client:
        count_messages()
        client.run(count_messages)
        few_records(mechanism, client)
        yield client


def everywhere(client: Any, function: Any) -> list[Any]:
    """Return what a function returns in each process that works: each worker, or this process."""
    return [function()] if client is None else list(client.run(function).values())


def messages(client: Any) -> int:
    """Return the bytes of all messages between client, scheduler and workers; the first two are this process."""
    return 0 if client is None else bytes_sent() + sum(everywhere(client, bytes_sent))


def passed(folder: Path, work: str, mechanism: md.Mechanism, client: Any) -> Row:
    """Do the work, and return its number of records and the counts of their reports."""
    if work == "count":
        # All ways count the same reports.
        reports = folder / reports_of(FRESH, ALONE.workers)
        counts = count_dataset(RecordFile(reports, COLUMN), mechanism, client).counts
        return {"records": int(counts.sum()), "counts": counts.tolist()}
    secret = {} if work == FRESH else {"key": folder / "reports.key", "ids": "person"}
    records, place = RecordFile(folder / "records", COLUMN), folder / reports_of(work, 0 if client is None else 1)
    return {"records": privatize_dataset(records, mechanism, place, client, **secret).records, "place": str(place)}


def measured(folder: Path, work: str, mechanism: md.Mechanism, client: Any) -> Row:
    """Return what the work took in seconds, bytes and memory."""
    before, sent = everywhere(client, bytes_read_and_written), messages(client)
    computed = sum(everywhere(client, time.process_time)), time.process_time()
    started = time.perf_counter()
    if work.startswith("nothing"):
        tasks = int(work.split()[1])
        row: Row = {"tasks": sum(1 for _ in run_tasks(abs, range(tasks), executor_of(client)))}
    else:
        row = passed(folder, work, mechanism, client)
    row["seconds"] = time.perf_counter() - started
    row["cpu"] = sum(everywhere(client, time.process_time)) - computed[0]
    row["scheduler_cpu"] = None if client is None else time.process_time() - computed[1]
    row["sent"] = messages(client) - sent
    after = everywhere(client, bytes_read_and_written)
    row["read"], row["written"] = (sum(pair[k] for pair in after) - sum(pair[k] for pair in before) for k in (0, 1))
    row["peaks"] = everywhere(client, peak_bytes)
    row["scheduler"] = None if client is None else peak_bytes()
    return row


def main() -> None:
    """Print the row. The reports that were written are counted afterwards, which takes no part in the seconds."""
    folder, work, workers = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    if sys.argv[4:] == ["tuned"]:
        import dask

        dask.config.set(TUNED)
    mechanism = md.Mechanism.load(folder / "mechanism.json")
    with cluster(workers, mechanism) as client:
        row = measured(folder, work, mechanism, client)
    if "place" in row:
        row["counts"] = count_dataset(RecordFile(row.pop("place"), COLUMN), mechanism).counts.tolist()
    print(json.dumps(row))


if __name__ == "__main__":
    main()
