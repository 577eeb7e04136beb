"""Mechanism files: correct ones of every kind, and what becomes of them."""

from __future__ import annotations

import copy
import functools
import io
import json
import random
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np

import mechdesign as md

from .generators import damaged

Random = random.Random


@functools.cache
def mechanisms() -> tuple[md.Mechanism, ...]:
    """Return mechanisms of every kind that files hold."""
    ball = md.L1Ball.from_counts({"low": 50, "middle": 30, "high": 20}, delta="1e-3")
    known = md.L1Ball(["0.4", "0.6"], 0, ["no", "yes"])
    hull = md.ConvexHull([["0.5", "0.3", "0.2"], ["0.3", "0.3", "0.4"]], labels=["a", "b", "c"])
    gain = md.ExpectedGain([[1, 0, "1/3"], [-1, 2, 0]])
    problems = (
        md.DesignProblem(ball, "1"),
        md.DesignProblem(ball, "log(2)", gain),
        md.DesignProblem(known, "1/2", md.TotalVariation()),
        md.DesignProblem(hull, "1", md.ChiSquare()),
        md.DesignProblem(hull, "1", md.HammingAccuracy()),
        md.DesignProblem(md.L1Ball(["1/4"] * 4, 2), "1", md.SquaredHellinger()),
    )
    designed = tuple(md.design(problem, title="a title").mechanism for problem in problems)
    return (
        *designed,
        designed[2].product(designed[2], bits=20),
        designed[0].then(dict.fromkeys(designed[0].outputs, "x")),
    )


@functools.cache
def mechanism_tables() -> tuple[dict[str, Any], ...]:
    """Return the JSON of the mechanisms, as tables."""
    from mechdesign.mechanism.mechanism_files import to_json

    return tuple(json.loads(to_json(mechanism.parts)) for mechanism in mechanisms())


def shifted(rng: Random, table: dict[str, Any]) -> dict[str, Any]:
    """Return a mechanism's table with a claim made a little stronger or weaker, and its shape kept."""
    table = copy.deepcopy(table)
    rows, promise = table["numerators"], table["guarantee"]
    kind = rng.randrange(8)
    if kind <= 2:
        for row in rng.sample(rows, rng.randint(1, len(rows))):
            one, other = rng.randrange(len(row)), rng.randrange(len(row))
            step = min(row[one], rng.choice([1, 2, 1000, 2**20, 2**40, 2**52]))
            row[one] -= step
            row[other] += step
    elif kind == 3:
        promise["epsilon"] = rng.choice(
            ["0", "1e-9", "0.4999999999", "0.5", "0.999999999999", "1.0000001", "log(1.9999999)", "3", "700"]
        )
    elif kind == 4 and "radius" in promise:
        promise["radius"] = rng.choice(["0", "0.01", "1/3", "1", "2", "0.5", "1e-300", "1.99999999"])
    elif kind == 5 and "counts" in promise:
        place = rng.randrange(len(promise["counts"]))
        promise["counts"][place] = rng.choice([0, 1, promise["counts"][place] + 1, 10**15])
    elif kind == 6 and "delta" in promise:
        promise[rng.choice(["delta", "samples"])] = rng.choice([1, 100, 10**6, "1e-300", 0.5, 0, "0"])
    elif "optimality" in table:
        claim = table["optimality"]
        if rng.random() < 0.5:
            key = rng.choice(["value", "upper_bound"])
            claim[key] *= rng.choice([1 + 1e-15, 1 - 1e-13, 1 + 1e-9, 0.5, 2, -1, 1e300, 0])
        else:
            place = rng.randrange(len(claim["lambda"]))
            claim["lambda"][place] = rng.choice([0, -1e300, 1e300, 5e-324, claim["lambda"][place] + rng.gauss(0, 1e-3)])
    return table


def npz(rng: Random, mechanism: md.Mechanism) -> bytes:
    """Return an NPZ file with members that are wrong in kind, number, name or packing."""
    from mechdesign.mechanism.mechanism_files import to_json

    content = to_json(mechanism.parts)
    arrays: dict[str, np.ndarray[Any, Any]] = {
        "json": np.frombuffer(content, dtype=np.uint8),
        "numerators": np.array(mechanism.numerators),
        "matrix": np.array(mechanism.matrix),
    }
    name = rng.choice(list(arrays))
    kind = rng.randrange(9)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[rng.choice(["extra", "../x", "json2", ""])] = arrays[name]
    elif kind == 2:
        arrays[name] = arrays[name].astype(rng.choice(["f4", "i4", ">i8", "U3", "c16", "u1", "?", ">f8"]))
    elif kind == 3:
        arrays[name] = rng.choice(
            [arrays[name].T, arrays[name][:0], arrays[name].ravel(), np.array(1), np.array(["a"], dtype=object)]
        )
    elif kind == 4:
        arrays["json"] = np.frombuffer(damaged(rng, content), dtype=np.uint8)
    packing = rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packing if kind == 5 else zipfile.ZIP_DEFLATED) as archive:
        for member, array in arrays.items():
            one = io.BytesIO()
            np.save(one, array, allow_pickle=True)
            packed = damaged(rng, one.getvalue()) if kind == 6 and member == name else one.getvalue()
            archive.writestr(f"{member}.npy", packed)
    return damaged(rng, buffer.getvalue()) if kind >= 7 else buffer.getvalue()


def identity(labels: Sequence[str], outputs: Sequence[str]) -> md.Mechanism:
    """Return the mechanism that reports every record as it is, under a name of its own."""
    size = len(labels)
    ball = md.L1Ball([f"1/{size}"] * size, 0, labels)
    promise = md.Guarantee(md.Epsilon.of(f"log({size})"), ball)
    return md.Mechanism(np.eye(size, dtype=np.int64) * 2**20, 20, promise, tuple(outputs))


def file_of(mechanism: md.Mechanism) -> bytes:
    """Return the JSON of a mechanism."""
    from mechdesign.mechanism.mechanism_files import to_json

    return to_json(mechanism.parts)
