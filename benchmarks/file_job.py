"""One pass over a file in a process of its own, so that its peak of memory can be measured; `reports` starts it.

``python -m benchmarks.file_job MECHANISM SOURCE COLUMN [OUTPUT]`` privatizes into OUTPUT, or counts reports without it.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from mechdesign import Mechanism
from mechdesign.deploy.report_counts import count_reports
from mechdesign.deploy.stream import RecordFile, ReportFile, privatize_file


def peak_bytes() -> int | None:
    """Return the most memory that this process has held so far; None where the system does not say (not Linux).

    ``ru_maxrss`` is not used: it would count the memory of the process that started this one.
    """
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), None)


def one_record(mechanism: Mechanism) -> None:
    """Privatize one record and count its report, in both formats, so that later runs import nothing."""
    with tempfile.TemporaryDirectory() as name:
        source = Path(name, "record.csv")
        source.write_text(f'column\n"{mechanism.inputs[0]}"\n', encoding="utf-8")
        for output in (Path(name, "report.csv"), Path(name, "report.parquet")):
            privatize_file(RecordFile(source, "column"), mechanism, output)
            count_reports(RecordFile(output, "column"), mechanism.outputs)


def main() -> None:
    """Print records, seconds, and the peak of memory above that of one record, as JSON."""
    mechanism = Mechanism.load(sys.argv[1])
    file = RecordFile(sys.argv[2], sys.argv[3])
    one_record(mechanism)
    before, started = peak_bytes(), time.perf_counter()
    if len(sys.argv) == 5:
        records = privatize_file(file, mechanism, ReportFile(sys.argv[4], overwrite=True)).records
    else:
        records = int(count_reports(file, mechanism.outputs).sum())
    seconds, after = time.perf_counter() - started, peak_bytes()
    peak = None if before is None or after is None else after - before
    print(json.dumps({"records": records, "seconds": seconds, "peak": peak}))


if __name__ == "__main__":
    main()
