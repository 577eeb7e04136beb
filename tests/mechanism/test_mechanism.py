import copy
import dataclasses
import pickle

import numpy as np
import pytest
from refusals import raises

import mechdesign as md

WARNER = np.array([[3, 1], [1, 3]])
PROMISE = md.Guarantee(md.Epsilon.of("log(3)"), md.L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))


def test_a_mechanism_cannot_exist_with_a_false_guarantee():
    with raises("guarantee-false", "output 'y1-", "above epsilon = 1"):
        md.Mechanism(WARNER, 2, md.Guarantee(md.Epsilon.of("1"), PROMISE.uncertainty))


def test_a_mechanism_keeps_a_copy_that_cannot_be_written():
    source = WARNER.copy()
    mechanism = md.Mechanism(source, 2, PROMISE)
    source[0, 0] = 100
    assert mechanism.numerators[0, 0] == 3
    for array in (mechanism.numerators, mechanism.matrix):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 0


def test_labels():
    mechanism = md.Mechanism(WARNER, 2, PROMISE)
    assert mechanism.inputs == ("no", "yes")
    assert [name.partition("-")[0] for name in mechanism.outputs] == ["y1", "y2"]
    named = md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], PROMISE, outputs=["no", "yes"])
    assert named.outputs == ("no", "yes")
    np.testing.assert_array_equal(named.matrix, [[0.75, 0.25], [0.25, 0.75]])
    with raises("label-twice", "'a'"):
        md.Mechanism(WARNER, 2, PROMISE, ("a", "a"))


def test_named_outputs_are_not_merged():
    tiny = [[0.75, 0.25 - 1e-15, 1e-15], [0.25, 0.75 - 1e-15, 1e-15]]
    with raises("needless-argument", "3", "to 2"):
        md.Mechanism.from_matrix(tiny, PROMISE, outputs=["a", "b", "c"])


def test_matrix_is_exact_at_52_bits():
    mechanism = md.Mechanism.from_matrix([[2 / 3, 1 / 3], [1 / 3, 2 / 3]], PROMISE, bits=52)
    np.testing.assert_array_equal(mechanism.matrix * 2.0**52, mechanism.numerators)
    np.testing.assert_array_equal(mechanism.matrix.sum(axis=1), 1)


def test_a_dual_vector_has_one_entry_a_symbol():
    claim = md.mechanism.Optimality(md.MutualInformation(), 0.1, 0.2, (0.1, 0.1, 0.1))
    with raises("wrong-size", "has 3", "accepted: 2"):
        md.Mechanism(WARNER, 2, PROMISE, optimality=claim)


def test_mechanisms_of_the_same_file_are_equal(tmp_path):
    """However they came here, and whatever differs in the file makes them differ."""
    mechanism = md.design(md.DesignProblem(md.L1Ball([0.25, 0.25, 0.5], radius="1/10"), 1)).mechanism
    mechanism.save(tmp_path / "m.json")
    again = [md.Mechanism.load(tmp_path / "m.json"), copy.deepcopy(mechanism), pickle.loads(pickle.dumps(mechanism))]
    assert all(one == mechanism for one in again)
    assert len({mechanism, *again}) == 1
    others = [
        dataclasses.replace(mechanism, outputs=("a", "b", "c")),
        dataclasses.replace(mechanism, provenance=None),
        dataclasses.replace(mechanism, guarantee=md.Guarantee(2, mechanism.guarantee.uncertainty)),
        mechanism.then({name: name for name in mechanism.outputs}),
    ]
    assert mechanism.provenance is not None
    assert all(one != mechanism for one in others)
    assert mechanism != "m.json"
