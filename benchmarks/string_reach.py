"""How far windows reach, and strings that nobody named: ``python -m benchmarks.string_reach``.

Each measurement has a process of its own, whose greatest memory and whole processor time are told. All strings of the
sample are different, the worst case: the number of different strings sets the time. Reports that are decoded have the
counts that the sample's own population gives. With ``--heavy-hitters`` it searches for thirty new words among those of
this project's pages, beside local hashing in the same scheme, whose estimates are drawn with their exact variances.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

import mechdesign as md
from mechdesign.windows import WindowMechanism, design_prefix_windows, design_windows, heavy_hitters, split_sample
from mechdesign.windows.decoder import Decoder
from mechdesign.windows.prefix_windows import MARK, prefix, prefix_sums
from mechdesign.windows.string_baselines import local_hashing
from mechdesign.windows.string_estimates import estimate_counts

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LENGTHS = (2, 4, 6, 8, 10)


def _sample(size: int) -> dict[str, int]:
    return {f"string {k}": 1 for k in range(size)}


def design(size: int, seeds: int, buckets: int, path: str) -> float:
    """Return the seconds of a certified design, which is written."""
    sample, started = _sample(size), time.perf_counter()
    made = design_windows(sample, 1, delta="1e-9", seeds=seeds, buckets=buckets)
    seconds = time.perf_counter() - started
    made.mechanism.save(path)
    return seconds


def verify(path: str) -> float:
    """Return the seconds of a proof from the file."""
    started = time.perf_counter()
    WindowMechanism.load(path)
    return time.perf_counter() - started


def report(path: str, reports: int, *, keyed: bool) -> float:
    """Return the microseconds of a report among many."""
    mechanism, strings = WindowMechanism.load(path), list(_sample(reports))
    options: dict[str, Any] = {"key": md.Key.generate(), "ids": list(range(reports))} if keyed else {}
    mechanism.privatize(strings[:9], **{**options, **({"ids": list(range(9))} if keyed else {})})
    started = time.perf_counter()
    mechanism.privatize(strings, **options)
    return (time.perf_counter() - started) / reports * 1e6


def decode(path: str, reports: int, candidates: int) -> float:
    """Return the seconds of estimates of candidates from reports."""
    mechanism = WindowMechanism.load(path)
    counts = np.random.default_rng(1).multinomial(reports, Decoder(mechanism).chances)
    names = [f"string {k}" for k in range(candidates)]
    started = time.perf_counter()
    estimate_counts(counts, Decoder(mechanism), names, dict.fromkeys(names, 1 / mechanism.promise.samples))
    return time.perf_counter() - started


def _measured(queue: Any, act: Callable[..., float], arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    found = act(*arguments, **options)
    used = resource.getrusage(resource.RUSAGE_SELF)
    queue.put((found, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6))


def _apart(act: Callable[..., float], *arguments: Any, **options: Any) -> tuple[float, float, float]:
    """Return what an act in a process of its own returns, its processor time in s, and its greatest memory in GB."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_measured, args=(queue, act, arguments, options))
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError(f"{act.__name__} ended with {process.exitcode}")
    return queue.get()  # type: ignore[no-any-return]


def table(size: int = 10**6, seeds: int = 10**4, reports: int = 10**7, candidates: int = 10**5) -> Iterator[str]:
    """Yield the lines of a table."""
    versions = f"Python {platform.python_version()}, numpy {np.__version__}"
    yield f"{platform.machine()}, {os.cpu_count()} processors, {versions}, mechdesign {md.__version__}"
    yield ""
    yield "| what | measured | wanted | processor, s | memory, GB |"
    yield "|---|---|---|---|---|"
    with tempfile.TemporaryDirectory() as folder:
        few, many = str(Path(folder, "few.json")), str(Path(folder, "many.json"))
        rows: list[tuple[str, str, tuple[Any, ...], dict[str, Any]]] = [
            (
                f"design, {size:,} strings, {seeds // 10:,} seeds of 1024",
                "15 s",
                (design, size, seeds // 10, 1024, few),
                {},
            ),
            (f"design, {size:,} strings, {seeds:,} seeds of 256", "60 s", (design, size, seeds, 256, many), {}),
            ("verify the first", "5 s", (verify, few), {}),
            ("verify the second", "5 s", (verify, many), {}),
            (f"a fresh report of {size:,}", "10 us", (report, few, size), {"keyed": False}),
            (f"a permanent report of {size:,}", "10 us", (report, few, size), {"keyed": True}),
            (
                f"decode {candidates:,} candidates, {reports:,} reports, {seeds:,} seeds",
                "20 s",
                (decode, many, reports, candidates),
                {},
            ),
        ]
        for name, wanted, arguments, options in rows:
            found, processor, memory = _apart(*arguments, **options)
            yield f"| {name} | {found:.2f} | {wanted} | {processor:.1f} | {memory:.2f} |"


def new_words(reports: int = 2 * 10**6, kept: int = 250, seeds: int = 1_000, seed: int = 1) -> Iterator[str]:
    """Yield what is found of thirty new words of 0.1 to 0.8 %, and of the sixty most frequent words, at epsilon 1."""
    rng = np.random.default_rng(seed)
    pages = sorted(Path(__file__).parents[1].glob("docs/**/*.md"))
    words = Counter(word for page in pages for word in re.findall("[a-z]+", page.read_text(encoding="utf-8").lower()))
    P = np.array(list(words.values())) / sum(words.values())
    sample = {word: n for word, n in zip(words, rng.multinomial(10**6, P).tolist(), strict=True) if n}
    split = split_sample(sample, rng=rng)
    made = design_prefix_windows(split.evidence, 1, LENGTHS, delta="1e-9", heavy=split.heavy, seeds=seeds).mechanism
    new = ["".join(rng.choice(list(LETTERS), rng.integers(4, 11))) for _ in range(30)]
    shares = np.linspace(0.001, 0.008, 30)
    names, Q = [*words, *new], np.append(P * (1 - shares.sum()), shares)
    people = np.repeat(np.array(names, dtype=object), rng.multinomial(reports, Q)).tolist()
    total = sum(split.evidence.values())
    reference = {word: n / total for word, n in split.evidence.items()}
    started = time.perf_counter()
    found = heavy_hitters(made.privatize(people, rng), made, reference, characters=LETTERS, kept=kept)
    yield f"{reports:,} reports, {found.candidates:,} candidates, {time.perf_counter() - started:.0f} s"
    truth = prefix_sums(dict(zip(names, Q.tolist(), strict=True)), LENGTHS[-1])
    top = sorted(truth, key=lambda name: -truth[name])[:60]
    for name, strings in (
        ("windows", found.strings),
        ("local hashing", local_hashing_found(truth, reports, kept, rng)),
    ):
        counts = [sum(prefix(word, LENGTHS[-1]) in strings for word in those) for those in (new, new[-13:], top)]
        yield f"{name}: {counts[0]} of 30 new words, {counts[1]} of the 13 greatest, {counts[2]} of the top 60"


def local_hashing_found(truth: dict[str, float], reports: int, kept: int, rng: np.random.Generator) -> set[str]:
    """Return what local hashing finds in the same scheme at epsilon 1, by normal estimates of its exact variances."""
    oracle, n = local_hashing(1), reports / len(LENGTHS)
    prefixes, told, tested = [""], dict[str, list[float]](), 0
    for length in LENGTHS:
        own = {name: truth.get(name, 0.0) for name in told} | {"": 0.0}
        sums = prefix_sums(truth, length)
        steps = length - len(prefixes[0])
        endings = ["".join(end) for step in range(1, steps + 1) for end in product(LETTERS, repeat=step)]
        endings += [end + MARK for end in endings if len(end) == steps]
        new = [start + end for start in prefixes for end in endings]
        own |= {name: sums.get(name, 0.0) for name in new}
        names = [name for name in own if name]
        errors = np.sqrt(oracle.base + oracle.slope * np.array([own[name] for name in names])) / n**0.5
        drawn = dict(zip(names, rng.normal([own[name] for name in names], errors).tolist(), strict=True))
        is_last = length == LENGTHS[-1]
        tested += sum(is_last or not name.endswith(MARK) for name in new)
        for name, share in drawn.items():
            if is_last or not name.endswith(MARK):
                told.setdefault(name, []).append(share)
        opened = sorted((name for name in new if name.endswith(MARK)), key=lambda name: -drawn[name])
        prefixes = [name[:-1] for name in opened[:kept]]
    z, error = NormalDist().inv_cdf(1 - 1 / tested), (oracle.base / n) ** 0.5
    return {name for name, found in told.items() if np.mean(found) > z * error / len(found) ** 0.5}


if __name__ == "__main__":
    for line in new_words() if "--heavy-hitters" in sys.argv else table():
        print(line, flush=True)
