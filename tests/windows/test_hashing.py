"""The hash of strings, against numbers that were computed apart, in Python's own integers."""

import hashlib

import numpy as np
import pytest

from mechdesign.windows.hashing import Seeds, fingerprints, scaled

MASK = (1 << 64) - 1


def place(factor, summand, fingerprint):
    """The place of one string, in integers without end."""
    found = (factor * fingerprint + summand) & MASK
    found ^= found >> 33
    return found * 0xFF51AFD7ED558CCD & MASK


def test_the_reference_string():
    assert hex(fingerprints(["s0"])[0]) == "0xe120d439dfa55ccf"
    seed = Seeds(b"reference", 1)[0]
    assert (seed.factor, seed.summand) == (0x23B578AA818DFC75, 0x10B20A8FB3F1D086)
    assert hex(seed.places(fingerprints(["s0"]))[0]) == "0x9a9ab63e7f0d8839"


@pytest.mark.parametrize("buckets", [1, 2, 3, 1000, 65_536, 1 << 32])
def test_places_and_buckets_are_those_of_plain_integers(buckets):
    names = [f"ö{k}" for k in range(200)]
    prints = fingerprints(names)
    for name, found in zip(names, prints.tolist(), strict=True):
        digest = hashlib.blake2b(name.encode(), digest_size=8, person=b"windows1").digest()
        assert found == int.from_bytes(digest, "little")
    for number in (0, 7, 123_456):
        seed = Seeds(b"m", 200_000)[number]
        places = seed.places(prints)
        assert places.tolist() == [place(seed.factor, seed.summand, int(one)) for one in prints]
        assert scaled(places, buckets).tolist() == [((int(one) >> 32) * buckets) >> 32 for one in places]


def test_two_strings_fall_together_about_as_often_as_by_chance():
    prints = fingerprints([f"string {k}" for k in range(300)])
    together = [0, 0]
    for number in range(400):
        buckets = scaled(Seeds(b"pairs", 400)[number].places(prints), 16)
        together[0] += int((np.bincount(buckets, minlength=16) * (np.bincount(buckets, minlength=16) - 1)).sum())
        together[1] += 300 * 299
    expected = together[1] / 16
    assert abs(together[0] - expected) < 5 * np.sqrt(2 * expected)
