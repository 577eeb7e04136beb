"""The two tables of a set of every class, letter by letter, and tables that earlier versions wrote."""

import json

import pytest
from refusals import raises

import mechdesign as md
from mechdesign.uncertainty import Box, EventSet, L1Ball, L1Box, LowerLimits, RelativeBall
from mechdesign.uncertainty.codec import Place, TableKind
from mechdesign.uncertainty.registry import codecs, set_of, table_of

TWO = ("a", "b")
COUNTS = {"a": 3, "b": 1}
HALVES = ["1/2", "1/2"]
DERIVED = Box.from_counts(COUNTS, "1/2")
LIMITS = {"lower": [str(x) for x in DERIVED.lower], "upper": [str(x) for x in DERIVED.upper]}
BALL = {"radius": "1/10", "center": HALVES}
PRIOR = {"radius": "1/10", "labels": ["a", "b"], "probabilities": HALVES}
JOINT = [[3, 1], [1, 3]]
SECRET = {"name": "s", "useful": "u", "values": ["p", "q"], "counts": JOINT}
NOT_PROTECTED = (
    "everything that does not pass through s: reports may give away u itself, as far as it says nothing about s"
)


def secret(**stated):
    return md.SecretPromise(JOINT, secret="s", useful="u", values=["p", "q"], labels=TWO, **stated)


# A set, the table in a guarantee, and that in a problem file.
TABLES = {
    "estimate": (L1Ball(HALVES, "0.1", TWO), BALL, PRIOR),
    "counts": (
        L1Ball.from_counts(COUNTS, radius="0.1"),
        {"radius": "1/10", "counts": [3, 1]},
        {"radius": "1/10", "counts": COUNTS},
    ),
    "known counts": (
        L1Ball.from_counts(COUNTS, known=True),
        {"radius": "0", "counts": [3, 1]},
        {"known": True, "counts": COUNTS},
    ),
    "samples": (
        L1Ball.from_counts(COUNTS, delta=0),
        {"radius": "2", "counts": [3, 1], "samples": 4, "delta": "0.0", "bound": "observed-sums"},
        {"delta": "0.0", "bound": "observed-sums", "counts": COUNTS},
    ),
    "asserted samples": (
        L1Ball.from_probabilities(HALVES, samples=9, delta=0, labels=TWO, bound="weissman"),
        {"radius": "2", "center": HALVES, "asserted_samples": 9, "delta": "0.0", "bound": "weissman"},
        {"delta": "0.0", "bound": "weissman", "samples": 9, "labels": ["a", "b"], "probabilities": HALVES},
    ),
    "a ball as printed": (
        L1Ball(HALVES, "0.1", TWO, within_simplex=False),
        BALL,
        {"radius": "1/10", "within_simplex": False, "labels": ["a", "b"], "probabilities": HALVES},
    ),
    "hull": (
        md.ConvexHull([HALVES, ["1/4", "3/4"]], labels=TWO),
        {"priors": [HALVES, ["1/4", "3/4"]], "weights": HALVES},
        {"labels": ["a", "b"], "priors": [HALVES, ["1/4", "3/4"]], "weights": HALVES},
    ),
    "box": (
        Box(["0.1", "0.1"], ["0.9", "0.9"], center=HALVES, labels=TWO),
        {"box": {"lower": ["1/10", "1/10"], "upper": ["9/10", "9/10"], "center": HALVES}},
        {"labels": ["a", "b"], "box": {"lower": ["1/10", "1/10"], "upper": ["9/10", "9/10"], "center": HALVES}},
    ),
    "box of counts": (
        DERIVED,
        {"box": LIMITS | {"counts": [3, 1], "samples": 4, "delta": "0.5"}},
        {"box": {"delta": "0.5", "counts": COUNTS}},
    ),
    "lower limits": (
        LowerLimits(["0.1", "0.1"], center=HALVES, labels=TWO),
        {"lower-limits": {"lower": ["1/10", "1/10"], "center": HALVES}},
        {"labels": ["a", "b"], "lower-limits": {"lower": ["1/10", "1/10"], "center": HALVES}},
    ),
    "box and ball": (
        L1Box(["0.1", "0.1"], ["0.9", "0.9"], "1/2", center=HALVES, labels=TWO),
        {"l1-box": {"lower": ["1/10", "1/10"], "upper": ["9/10", "9/10"], "radius": "1/2", "center": HALVES}},
        {
            "labels": ["a", "b"],
            "l1-box": {"lower": ["1/10", "1/10"], "upper": ["9/10", "9/10"], "radius": "1/2", "center": HALVES},
        },
    ),
    "relative ball": (
        RelativeBall(HALVES, "0.9", "0.05", TWO),
        {"relative-ball": {"alpha": "9/10", "gamma": "1/20", "center": HALVES}},
        {"labels": ["a", "b"], "relative-ball": {"alpha": "9/10", "gamma": "1/20", "center": HALVES}},
    ),
    "event set": (
        EventSet(HALVES, ["0.9"], ["0.05"], TWO),
        {"event-set": {"alphas": ["9/10"], "gammas": ["1/20"], "center": HALVES}},
        {"labels": ["a", "b"], "event-set": {"alphas": ["9/10"], "gammas": ["1/20"], "center": HALVES}},
    ),
    "product": (
        md.ProductSet(L1Ball(HALVES, "0.1", TWO), L1Ball(HALVES, "0.1", ("c", "d")), "|"),
        {"factors": [{"inputs": ["a", "b"], **BALL}, {"inputs": ["c", "d"], **BALL}], "separator": "|"},
        {"factors": [PRIOR, PRIOR | {"labels": ["c", "d"]}], "separator": "|"},
    ),
    "union": (
        md.Union({"g": L1Ball(HALVES, "0.1", TWO)}, cover=L1Ball(HALVES, "0.1", TWO)),
        {"names": ["g"], "weights": ["1"], "sets": [BALL], "cover": BALL},
        {"names": ["g"], "weights": ["1"], "sets": [PRIOR], "cover": PRIOR},
    ),
    "known secret": (
        secret(known=True),
        {"secret": SECRET | {"not_protected": NOT_PROTECTED}},
        {"labels": ["a", "b"], "secret": SECRET | {"known": True}},
    ),
    "secret": (
        secret(delta=0, limits="l1-ball"),
        {
            "secret": SECRET
            | {
                "limits": [
                    {
                        "radius": "2",
                        "counts": counts,
                        "samples": sum(counts),
                        "delta": "0.0",
                        "bound": "observed-sums",
                    }
                    for counts in ([4, 4], *JOINT)
                ],
                "not_protected": NOT_PROTECTED,
            }
        },
        {"labels": ["a", "b"], "secret": SECRET | {"delta": "0.0", "limits": "l1-ball"}},
    ),
}

# What only files of earlier versions hold.
OLD = {
    "a radius of Weissman's, whose bound has no name": (
        TableKind.GUARANTEE,
        {"radius": "2", "counts": [3, 1], "samples": 4, "delta": "0.0"},
        L1Ball.from_counts(COUNTS, delta=0, bound="weissman"),
    ),
    "counts of which nothing is said": (TableKind.PRIOR, {"counts": COUNTS}, L1Ball.from_counts(COUNTS, known=True)),
    "probabilities of which nothing is said": (TableKind.PRIOR, {"probabilities": HALVES}, L1Ball(HALVES)),
    "joint counts of which nothing is said": (
        TableKind.PRIOR,
        {"labels": ["a", "b"], "secret": SECRET},
        secret(known=True),
    ),
    "a secret without what is not protected": (TableKind.GUARANTEE, {"secret": SECRET}, secret(known=True)),
    "a hull without weights": (TableKind.GUARANTEE, {"priors": [HALVES, ["1/4", "3/4"]]}, TABLES["hull"][0]),
    "counts with their total": (
        TableKind.PRIOR,
        {"delta": "0.0", "samples": 4, "counts": COUNTS},
        L1Ball.from_counts(COUNTS, delta=0),
    ),
    "a union without names": (TableKind.GUARANTEE, {"sets": [BALL]}, md.Union([L1Ball(HALVES, "0.1", TWO)])),
}


def place_of(view, known):
    return Place() if view is TableKind.PRIOR else Place("guarantee", "m.json", known.labels)


def test_there_are_tables_of_every_class():
    assert {type(known) for known, *_ in TABLES.values()} == {codec.of for codec in codecs()}


@pytest.mark.parametrize(("known", "guarantee", "prior"), TABLES.values(), ids=TABLES)
def test_both_tables_are_written_letter_by_letter_and_read_as_the_set(known, guarantee, prior):
    for view, table in ((TableKind.GUARANTEE, guarantee), (TableKind.PRIOR, prior)):
        assert json.dumps(table_of(known, view)) == json.dumps(table)
        meant = known.exact_set if view is TableKind.GUARANTEE else known
        assert set_of(table, place_of(view, known)) == meant


@pytest.mark.parametrize(("view", "table", "known"), OLD.values(), ids=OLD)
def test_tables_of_earlier_versions_are_read_as_they_were(view, table, known):
    assert set_of(table, place_of(view, known)) == known


@pytest.mark.parametrize("view", TableKind)
def test_two_sets_in_one_table_and_none_are_refused(view):
    place = place_of(view, L1Ball(HALVES, 0, TWO))
    with raises("conflicting-keys", "counts and priors"):
        set_of({"counts": [1, 2], "priors": []}, place)
    with raises("conflicting-keys", "no set of priors"):
        set_of({"radius": "1"}, place)
    with raises("key-out-of-place", "radius", "priors"):
        set_of({"priors": [], "radius": "1"}, place)


def test_what_could_not_be_read_again_is_not_written():
    wide = md.SecretPromise([[1] * 2] * 1_001, known=True)
    for view in TableKind:
        with raises("bad-field", match=rf"{view.value}\.secret\.counts is"):
            table_of(wide, view)
