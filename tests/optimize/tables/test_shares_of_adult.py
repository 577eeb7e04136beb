"""Shares of unchanged records of four columns of Adult, to four digits, by a program that is not this one."""

import numpy as np
import pytest
from tables import EDUCATION, RELATIONSHIP

import mechdesign as md

RACE = {"White": 41762, "Black": 4685, "Asian-Pac-Islander": 1519, "Amer-Indian-Eskimo": 470, "Other": 406}
OCCUPATION = {
    "Prof-specialty": 6172,
    "Craft-repair": 6112,
    "Exec-managerial": 6086,
    "Adm-clerical": 5611,
    "Sales": 5504,
    "Other-service": 4923,
    "Machine-op-inspct": 3022,
    "?": 2809,
    "Transport-moving": 2355,
    "Handlers-cleaners": 2072,
    "Farming-fishing": 1490,
    "Tech-support": 1446,
    "Protective-serv": 983,
    "Priv-house-serv": 242,
    "Armed-Forces": 15,
}
WAYS = (
    {"delta": 1e-9},
    {"delta": 0},
    {"delta": 1e-9, "invariant": False},
    {"delta": 0, "invariant": False},
    {"known": True},
)
# For each way the shares at epsilon 0.5, 1 and 2.
SHARES = {
    "race": (
        (0.7612, 0.7929, 0.9190),
        (0.7573, 0.7783, 0.8303),
        (0.8550, 0.8550, 0.9459),
        (0.8550, 0.8550, 0.8550),
        (0.7618, 0.7953, 0.9280),
    ),
    "relationship": (
        (0.4346, 0.6771, 0.9055),
        (0.3521, 0.4397, 0.6287),
        (0.5571, 0.7360, 0.9214),
        (0.4116, 0.4834, 0.6554),
        (0.4413, 0.6883, 0.9123),
    ),
    "occupation": (
        (0.1575, 0.2546, 0.6373),
        (0.1482, 0.2186, 0.4078),
        (0.2037, 0.3270, 0.7394),
        (0.1762, 0.2481, 0.4231),
        (0.1594, 0.2629, 0.7146),
    ),
    "education": (
        (0.3093, 0.4970, 0.7717),
        (0.2644, 0.3453, 0.5111),
        (0.4599, 0.6440, 0.8026),
        (0.3398, 0.4092, 0.5589),
        (0.3139, 0.5176, 0.7795),
    ),
}
COUNTS = {"race": RACE, "relationship": RELATIONSHIP, "occupation": OCCUPATION, "education": EDUCATION}


@pytest.mark.slow
@pytest.mark.parametrize("column", SHARES)
def test_shares_are_those_of_another_program(column):
    radius = md.uncertainty.clopper_pearson_radius(48842, len(COUNTS[column]), 1e-9)  # that program's, for any counts
    for way, shares in zip(WAYS, SHARES[column], strict=True):
        given = {k: v for k, v in way.items() if k != "delta"} | {"radius": radius} if way.get("delta") else way
        for epsilon, share in zip((0.5, 1, 2), shares, strict=True):
            found = md.design_table(COUNTS[column], epsilon, **given)
            assert found.value == pytest.approx(share, abs=0.51e-4), (given, epsilon)
            assert found.certified


def test_no_table_keeps_more_than_capacities_allow_and_some_keep_as_much():
    """``sum_x P_x min(1, e P_x)`` for a known prior and invariance."""
    attained = {}
    for name, counts in COUNTS.items():
        P = np.array(list(counts.values())) / sum(counts.values())
        for epsilon in (1, 2):
            ceiling = float(P @ np.minimum(1, np.exp(epsilon) * P))
            found = md.design_table(counts, epsilon, known=True)
            assert found.value <= ceiling
            attained[name, epsilon] = found.bound >= ceiling - 1e-9
    reached = {key for key, value in attained.items() if value}
    assert reached == {("relationship", 1), *(("occupation", e) for e in (1, 2)), *(("education", e) for e in (1, 2))}
