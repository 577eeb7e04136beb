"""Copies and pickles of public objects are what they copy, and as hard to change."""

import copy
import pickle
import threading
from functools import cache

import flint
import numpy as np
import pytest
from refusals import raises

import mechdesign as md

BALL = md.L1Ball.from_counts({"a": 812, "b": 150, "c": 38}, delta="1e-9")
PROBLEM = md.DesignProblem(BALL, 1)
OBJECTS = [
    md.Epsilon.of("log(9/8)"),
    BALL,
    md.ConvexHull([["0.5", "0.5"], ["0.2", "0.8"]]),
    md.MutualInformation(),
    md.HammingAccuracy(),
    md.ExpectedGain([[1, "1/3"], [0, 2]]),
    PROBLEM,
    md.Guarantee(1, BALL),
    md.SecretPromise([[3, 1], [1, 2]], delta="0.1"),
]
every_way = pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "deepcopy", "pickle"]
)


@cache
def designed():
    return md.design(PROBLEM)


@every_way
@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: type(thing).__name__)
def test_values_come_back_equal(thing, again):
    assert again(thing) == thing
    assert hash(again(thing)) == hash(thing)
    assert "0x" not in repr(thing)
    assert len(repr(thing)) < 200


@every_way
def test_a_copied_mechanism_is_proved_anew_and_cannot_be_written(again):
    copied = again(designed()).mechanism
    np.testing.assert_array_equal(copied.numerators, designed().mechanism.numerators)
    assert copied.optimality == designed().mechanism.optimality
    for array in (copied.numerators, copied.matrix, again(BALL).prior, again(OBJECTS[5]).matrix):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            array.flags.writeable = True


def test_a_pickle_of_a_false_mechanism_is_refused():
    kind, arguments = designed().mechanism.__reduce__()
    numerators = arguments[0].copy()
    numerators[:] = 0
    numerators[np.arange(3), [0, 1, 1]] = 2**48
    with raises("guarantee-false"):
        kind(numerators, *arguments[1:])


def test_a_dual_vector_is_copied():
    multipliers = np.zeros(3)
    certificate = md.optimize.certify(PROBLEM, multipliers)
    multipliers[:] = 5
    assert certificate.multipliers.tolist() == [0, 0, 0]


def test_threads_leave_the_precision_of_other_packages_alone():
    before = flint.ctx.prec
    found = []

    def work():
        found.extend(md.weissman_radius(1000 + k, 7, "1e-6") for k in range(200))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert flint.ctx.prec == before
    assert set(found) == {md.weissman_radius(1000 + k, 7, "1e-6") for k in range(200)}
