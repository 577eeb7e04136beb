"""The guarantee of a mechanism file from its text alone, by other means than the package's.

Rationals and mpmath: greedy transport for a ball, the least mean over the priors of a hull, one within the other
for a product. A file that ``verify`` accepts has to pass here too.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

Support = Callable[[Sequence[Fraction]], Fraction]
_DIGITS = 60


def false_claims(content: bytes) -> list[str]:
    """Return what a mechanism file claims that is not so; its JSON is well-formed."""
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            content = np.load(io.BytesIO(archive.read("json.npy"))).tobytes()
    table = json.loads(content.decode("utf-8-sig"), parse_float=Decimal)
    rows, total = table["numerators"], 2 ** table["bits"]
    wrong = [f"row {i} sums to {sum(row)}" for i, row in enumerate(rows) if sum(row) != total or min(row) < 0]
    promise = table["guarantee"]
    support, limit = _support(promise, len(table["inputs"])), _exp(promise["epsilon"])
    for j, column in enumerate(zip(*rows, strict=True)):
        exact = [Fraction(x) for x in column]
        least = support(exact)
        if least <= 0 or _mpf(max(exact) / least) > limit:
            wrong.append(f"output {j} leaks more than epsilon {promise['epsilon']}: {max(exact)} over {least}")
    return wrong + _radius_of_delta(promise, len(table["inputs"]))


def _exp(epsilon: str) -> Any:
    with mpmath.workdps(_DIGITS):
        text = epsilon.strip()
        if text.startswith("log("):
            return _mpf(Fraction(text[4:-1].strip())) * (1 + mpmath.mpf(10) ** -50)
        return mpmath.exp(_mpf(Fraction(text))) * (1 + mpmath.mpf(10) ** -50)


def _mpf(x: Fraction) -> Any:
    with mpmath.workdps(_DIGITS):
        return mpmath.mpf(x.numerator) / x.denominator


def _support(known: dict[str, Any], size: int) -> Support:
    """Return the least mean of a column over the priors of a set."""
    if "factors" in known:
        first, second = known["factors"]
        inner = len(second["inputs"])
        outer, within = _support(first, len(first["inputs"])), _support(second, inner)
        return lambda column: outer([within(column[i : i + inner]) for i in range(0, len(column), inner)])
    if "priors" in known:
        priors = [[Fraction(str(q)) for q in prior] for prior in known["priors"]]
        return lambda column: min(sum(q * v for q, v in zip(prior, column, strict=True)) for prior in priors)
    if "counts" in known:
        center = [Fraction(count, sum(known["counts"])) for count in known["counts"]]
    else:
        center = [Fraction(str(p)) for p in known["center"]]
    radius = Fraction(str(known["radius"]))
    return lambda column: least_mean(column, center, radius / 2)


def least_mean(column: Sequence[Fraction], center: Sequence[Fraction], mass: Fraction) -> Fraction:
    """Return the mean after mass was moved from the largest entries to the least one."""
    least, mean = min(column), sum((p * v for p, v in zip(center, column, strict=True)), Fraction(0))
    for value, p in sorted(zip(column, center, strict=True), reverse=True):
        moved = min(p, mass)
        mean -= moved * (value - least)
        mass -= moved
    return mean


def _samples(known: dict[str, Any]) -> int:
    """Return the samples behind delta, which counts show or a file asserts."""
    return int(known["samples"] if "samples" in known else known["asserted_samples"])


def _radius_of_delta(known: dict[str, Any], size: int) -> list[str]:
    """Return whether the radius is below the one that delta asks for, by the bound that the file names."""
    if "factors" in known:
        return [wrong for factor in known["factors"] for wrong in _radius_of_delta(factor, len(factor["inputs"]))]
    delta = known.get("delta")
    if delta is None:
        return []
    delta, radius = Fraction(str(delta)), Fraction(str(known["radius"]))
    if delta == 0:
        return [] if radius == 2 else [f"delta 0 with the radius {radius}"]
    if known.get("bound") in ("clopper-pearson", "observed-sums"):
        sums = _sums(known["counts"]) if known["bound"] == "observed-sums" else None
        allowed = math.log(delta) - math.log(2**size - 2)
        worst = -math.inf if radius == 2 else _log_worst_tail(_samples(known), float(radius / 2), sums)
        return [f"the radius {radius} is below what delta asks for"] if worst > allowed + 1e-6 else []
    with mpmath.workdps(_DIGITS):
        needed = mpmath.sqrt(2 * mpmath.log(_mpf((2**size - 2) / delta)) / _samples(known))
        return (
            [f"the radius {radius} is below {needed}"]
            if _mpf(radius) < min(needed, 2) * (1 - mpmath.mpf(10) ** -40)
            else []
        )


def _sums(counts: list[int]) -> list[int]:
    """Return how often the sets of categories but that of all were seen."""
    reached = {0}
    for count in counts:
        reached |= {count + other for other in reached}
    return sorted(reached - {sum(counts)} if min(counts) else reached)


def _log_worst_tail(samples: int, excess: float, sums: list[int] | None = None) -> float:
    """Return the greatest log P[Bin(n, k/n - t) >= k] over the sums; without them over k, or over 20,000 of them."""
    from scipy.stats import binom

    first = math.floor(samples * excess) + 1
    counts = np.unique(np.linspace(first, samples, min(samples - first + 1, 20_000)).astype(int))
    if sums is not None:
        counts = np.array([k for k in sums if k >= first])
    if not counts.size:
        return -math.inf
    return float(binom.logsf(counts - 1, samples, np.maximum(counts / samples - excess, 0.0)).max())
