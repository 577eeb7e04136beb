"""Small worlds of strings whose mechanisms are written out as matrices of rationals."""

import base64
import zlib
from fractions import Fraction

from mechdesign.windows import SeparateCounts, design_windows
from mechdesign.windows.hashing import fingerprints

COUNTS = {f"s{k}": n for k, n in enumerate((575, 513, 300, 211, 150, 120, 90, 77, 60, 44, 30, 21, 17, 9, 5, 2))}
EARLIER = SeparateCounts({name: n + k for k, (name, n) in enumerate(COUNTS.items())}, "a sample of the year before")
UNSEEN = ("unseen", "another")


def designed(epsilon=1, *, seeds=6, buckets=64, known=True, **options):
    return design_windows(COUNTS, epsilon, known=known, seeds=seeds, buckets=buckets, master="reference", **options)


def moved_sample(record):
    """Return the record of a file in which the first window has a sample that none of the others lost."""
    held = bytearray(zlib.decompress(base64.b64decode(record["evidence"]["held"])))
    held[0] ^= 1
    changed = base64.b64encode(zlib.compress(bytes(held))).decode()
    return record | {"evidence": record["evidence"] | {"held": changed}}


def matrix(mechanism, strings):
    """K(y|x) in rationals, from the buckets of each unit of each string: rows for strings, columns for reports."""
    layout, q = mechanism.layout, mechanism.layout.buckets
    floor = Fraction(mechanism.promise.floor, 1 << 60)
    rows = []
    for string in strings:
        row = []
        prints = fingerprints([string])
        heavy = int(layout.heavy_index(prints)[0])
        for number, one in enumerate(mechanism.windows):
            circle = layout.circle(number)
            law = [Fraction(0)] * q
            if heavy < 0:
                law[int(circle.light_buckets(prints)[0])] = Fraction(1)
            else:
                size, units = circle.arcs.size, int(circle.arcs.units[heavy])
                for unit in range(units):
                    law[(int(circle.arcs.firsts[heavy]) + unit) % size * q // size] += Fraction(1, units)
            M, w = len(mechanism.windows), len(one.ends)
            for first, length in zip(one.firsts(q).tolist(), one.lengths.tolist(), strict=True):
                held = sum((law * 2)[first : first + length], Fraction(0))
                row.append((1 - floor) * held / (M * one.rounds(q)) + floor / (M * w))
        rows.append(row)
    return rows
