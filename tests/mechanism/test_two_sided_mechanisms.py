"""Files, repairs and compositions of mechanisms with a promise on both sides."""

import json
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from refusals import raises
from strategies import random_ball

import mechdesign as md
from mechdesign.uncertainty import Box

BALL = md.L1Ball(["0.4", "0.35", "0.25"], "0.1", ["a", "b", "c"])
BOX = Box(["0.3", "0.2", "0.1"], ["0.5", "0.5", "0.4"], center=["0.4", "0.35", "0.25"], labels=["a", "b", "c"])
HULL = md.ConvexHull([["0.5", "0.3", "0.2"], ["0.3", "0.3", "0.4"]], labels=["a", "b", "c"])
PAIRS = md.ProductSet(md.L1Ball(["0.75", "0.25"], "0.1"), md.L1Ball(["0.4", "0.6"], "0.05"))
SETS = {"l1-ball": BALL, "box": BOX, "hull": HULL, "product": PAIRS}


def designed(known, epsilon="1", lower="0.5"):
    utility = md.HammingAccuracy() if known in (HULL, PAIRS) else md.MutualInformation()
    return md.design(md.DesignProblem(known, epsilon, utility, lower=lower)).mechanism


# Files


@pytest.mark.combined
@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize("known", SETS.values(), ids=SETS)
def test_files_hold_the_promise_and_say_a_schema_of_its_own(known, ending, tmp_path):
    mechanism = designed(known)
    mechanism.save(tmp_path / f"m.{ending}")
    loaded = md.Mechanism.load(tmp_path / f"m.{ending}")
    assert loaded.guarantee == mechanism.guarantee
    assert loaded.guarantee.lower.text == "0.5"
    assert loaded.proof == mechanism.proof
    assert md.verify(loaded).optimal
    mechanism.save(tmp_path / "m.json")
    table = json.loads((tmp_path / "m.json").read_text())
    assert table["schema"] == "mechdesign/mechanism/2"
    assert list(table["guarantee"])[:2] == ["epsilon", "lower"]
    assert table["guarantee"]["lower"] == "0.5"


def test_without_a_promise_from_below_files_stay_as_they_were(tmp_path):
    md.design(md.DesignProblem(BALL, 1)).mechanism.save(tmp_path / "m.json")
    table = json.loads((tmp_path / "m.json").read_text())
    assert table["schema"] == "mechdesign/mechanism/1"
    assert list(table["guarantee"]) == ["epsilon", "radius", "center"]


def changed(tmp_path, known, change):
    path = tmp_path / "m.json"
    designed(known).save(path)
    table = json.loads(path.read_text())
    change(table)
    path.write_text(json.dumps(table))
    return path


def test_a_stricter_claim_than_the_integers_keep_is_false(tmp_path):
    path = changed(tmp_path, BALL, lambda table: table["guarantee"].update(lower="0.499"))
    with raises("guarantee-false", "lower the probability of a category by up to 0.", "lower = 0.499"):
        md.Mechanism.load(path)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (
            lambda table: table.update(schema="mechdesign/mechanism/1"),
            "key-out-of-place",
        ),
        (
            lambda table: table["guarantee"].pop("lower"),
            "missing-key",
        ),
        (lambda table: table["guarantee"].update(lower=0.5), "bad-field"),
        (lambda table: table["guarantee"].update(lower="-1"), "epsilon-out-of-range"),
        (lambda table: table["guarantee"].update(lower="inf"), "epsilon-out-of-range"),
        (lambda table: table["guarantee"].update(lowest="1"), "unknown-key"),
        (lambda table: table.update(schema="mechdesign/mechanism/3"), "bad-field"),
    ],
)
@pytest.mark.parametrize("known", [BALL, BOX], ids=["l1-ball", "box"])
def test_hostile_promises_are_refused_in_one_line(tmp_path, known, change, code):
    path = changed(tmp_path, known, change)
    with raises(code) as refused:
        md.Mechanism.load(path)
    assert "\n" not in str(refused.value)


def test_an_unknown_key_beside_a_set_is_refused_in_problem_files_too(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(
        'title = "t"\nepsilon = "1"\nlower = "0.5"\n[prior]\nlabels = ["a", "b"]\n'
        'lower-limits = { lower = ["0.2", "0.1"], center = ["0.6", "0.4"] }\nlowest = "1"\n'
    )
    with raises("unknown-key", "'prior.lowest'", "labels, lower-limits"):
        md.read_problem(path)


def test_problem_files_hold_the_promise(tmp_path):
    path = tmp_path / "p.toml"
    for lower in (None, "0.5", "log(5/4)"):
        file = md.ProblemFile("t", md.DesignProblem(BOX, "log(2)", lower=lower))
        md.write_problem(path, file)
        assert md.read_problem(path) == file
        assert (f'\nlower = "{lower}"\n' in path.read_text()) == (lower is not None)


# Matrices of floats


def test_a_matrix_that_keeps_the_promise_is_taken_as_it_is():
    promise = md.Guarantee("log(3/2)", md.L1Ball(["0.5", "0.5"]), lower="log(2)")
    mechanism = md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["no", "yes"])
    np.testing.assert_array_equal(mechanism.matrix, [[0.75, 0.25], [0.25, 0.75]])
    thirds = md.Mechanism.from_matrix([[2 / 3, 1 / 3], [1 / 3, 2 / 3]], promise)
    np.testing.assert_allclose(thirds.matrix, [[2 / 3, 1 / 3], [1 / 3, 2 / 3]], atol=1e-12)


def test_a_matrix_that_breaks_the_promise_from_below_is_refused_or_repaired():
    promise = md.Guarantee("log(3/2)", md.L1Ball(["0.5", "0.5"]), lower="log(3/2)")
    matrix = [[0.75, 0.25], [0.25, 0.75]]
    with raises("guarantee-false", "column 1 of the matrix", "0.693147181"):
        md.Mechanism.from_matrix(matrix, promise)
    found = md.Mechanism.repaired(matrix, promise)
    assert found.mechanism.proof.holds
    # The nearest mixture with the constant mechanism has 1/3 and 2/3.
    np.testing.assert_allclose(found.mechanism.matrix, [[2 / 3, 1 / 3], [1 / 3, 2 / 3]], atol=1e-9)
    assert found.moved == pytest.approx(1 / 12, abs=1e-9)


def test_rounding_keeps_the_promise_of_rare_outputs():
    rng = np.random.default_rng(0)
    for bits in (6, 12, 48):
        for size in (2, 3, 5):
            known = random_ball(rng, size, "0.05")
            matrix = 1 + 0.05 * rng.random((size, 6))
            matrix *= np.array([1, 1, 1, 1e-2, 1e-4, 1e-9])
            matrix /= matrix.sum(axis=1, keepdims=True)
            found = md.Mechanism.repaired(matrix, md.Guarantee("0.1", known, lower="0.1"), bits=bits)
            assert found.mechanism.proof.holds
            if bits == 48:
                assert found.moved <= 1e-9


# Compositions


def least(mechanism):
    return min(mechanism.proof.least_lifts)


def test_post_processing_keeps_the_promise_from_below():
    rng = np.random.default_rng(1)
    for known in SETS.values():
        first = designed(known)
        outputs = first.outputs
        merged = first.then({name: "rest" if place else "one" for place, name in enumerate(outputs)})
        assert merged.guarantee == first.guarantee
        assert least(merged) >= least(first)
        for _ in range(5):
            post = rng.dirichlet(np.ones(3), len(outputs))
            processed = first.then(post)
            assert processed.guarantee == first.guarantee
            assert least(processed) >= least(first)
            assert processed.leakage <= first.leakage


def test_promises_of_a_product_add_up():
    """Lifts multiply: the greatest mean of ``a x b`` over the product set is the product of both."""
    first, second = designed(BALL, "1", "0.5"), designed(BOX, "0.5", "log(2)")
    both = first.product(second)
    assert both.guarantee.lower == md.Epsilon.of("0.5") + md.Epsilon.of("log(2)")
    pairs = product(first.proof.least_lifts, second.proof.least_lifts)
    exact = md.design(md.DesignProblem(BALL, 1, lower=1), bits=8).mechanism
    small = md.design(md.DesignProblem(BOX, 1, lower=2), bits=8).mechanism
    assert both.proof.holds
    assert least(both) <= min(a * b for a, b in pairs) * (1 + Fraction(1, 10**9))
    lifts = sorted(a * b for a, b in product(exact.proof.least_lifts, small.proof.least_lifts))
    assert sorted(exact.product(small).proof.least_lifts) == lifts
    assert exact.product(small).guarantee.lower.text == "3"


def test_a_product_with_a_one_sided_mechanism_promises_nothing_from_below():
    one_sided = md.design(md.DesignProblem(BOX, 1)).mechanism
    assert designed(BALL).product(one_sided).guarantee.lower is None
    assert one_sided.product(designed(BALL)).guarantee.lower is None


def test_repeated_reports_say_what_they_promise_together():
    """The least lift of every combination of two reports, computed apart."""
    for known in (BALL, HULL):
        mechanism = designed(known, "0.5", "0.25")
        mechanism = md.Mechanism.from_matrix(mechanism.matrix, mechanism.guarantee, bits=20)
        twice = mechanism.repeated(2)
        columns = mechanism.numerators.T.tolist()
        lifts = [
            known.exact_least_lift([x * y for x, y in zip(columns[j], columns[k], strict=True)])
            for j, k in combinations_with_replacement(range(len(columns)), 2)
        ]
        assert sorted(twice.proof.least_lifts) == sorted(lifts)
        assert twice.guarantee.lower == md.Epsilon.covering(1 / min(lifts))
        assert mechanism.repeated(1) is mechanism or mechanism.repeated(1).guarantee == mechanism.guarantee
    assert md.design(md.DesignProblem(BALL, "0.1")).mechanism.repeated(2).guarantee.lower is None


def test_mechanisms_show_their_promise():
    mechanism = designed(BALL)
    assert "epsilon = 1, lower = 0.5, leakage <= " in repr(mechanism)
    assert 0.49 < mechanism.lower_leakage <= 0.5
    assert md.design(md.DesignProblem(BALL, 1)).mechanism.lower_leakage is None
    assert mechanism.privatize(["a", "b", "c"])
