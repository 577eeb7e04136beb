"""A promise of maximal leakage: what proofs, files, rounding and composition make of it."""

import json
import math
import runpy
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md
from mechdesign.comparison.given import kept
from mechdesign.errors import GuaranteeError, InputError
from mechdesign.mechanism.proof import prove
from mechdesign.proofs.terms import file_term

BALL = md.L1Ball(["0.5", "0.25", "0.25"], "0.1", ["a", "b", "c"])
EXAMPLES = Path(__file__).parent.parent.parent / "examples"
VERIFY = runpy.run_path(str(EXAMPLES / "verify.py"))["answer"]
ASKED = np.array([[2, 1, 1], [1, 2, 1], [1, 1, 2]])  # over 4: the greatest sum to 3/2


def promise(most, epsilon=3):
    return md.Guarantee(epsilon, BALL, maximal_leakage=most)


def test_the_sum_of_the_greatest_is_proved_exactly():
    proof = prove(ASKED, 2, promise("log(3/2)"))
    assert proof.holds
    assert proof.sum_of_greatest == Fraction(3, 2)
    assert proof.maximal_leakage >= math.log(1.5)
    assert proof.maximal_leakage == pytest.approx(math.log(1.5), abs=1e-15)
    short = prove(ASKED, 2, promise("log(149/100)"))
    assert not short.holds
    assert short.violated == ()
    with pytest.raises(GuaranteeError, match=r"the maximal leakage is 0.405465108 nats, above log\(149/100\)"):
        md.Mechanism(ASKED, 2, promise("log(149/100)"))


def test_every_mechanism_says_its_maximal_leakage():
    mechanism = md.Mechanism(ASKED, 2, md.Guarantee(3, BALL))
    assert mechanism.maximal_leakage == pytest.approx(math.log(1.5), abs=1e-15)
    assert "maximal_leakage" not in mechanism.promised_keys()
    assert str(md.Mechanism(ASKED, 2, promise("0.5")).promised_keys()["maximal_leakage"]) == "0.5"


def test_a_matrix_is_rounded_repaired_or_refused():
    matrix = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.1, 0.7]])
    with pytest.raises(GuaranteeError, match=r"the maximal leakage is 0.78\d+ nats, above 0.5 as promised"):
        md.Mechanism.from_matrix(matrix, promise("0.5"))
    found = md.Mechanism.repaired(matrix, promise("0.5"))
    assert 0 < found.moved < 0.3
    assert 0.4999 < found.mechanism.maximal_leakage <= 0.5
    assert md.Mechanism.repaired(matrix, promise("0")).mechanism.numerators.shape == (3, 1)
    # At its border, where rounding alone may pass it.
    for denominator in (3, 7, 11):
        share = Fraction(1, denominator)
        third = np.array([[float(share + (1 - share) * (i == j)) for j in range(3)] for i in range(3)])
        third /= third.sum(axis=1, keepdims=True)
        most = Fraction(3) / (1 + 2 * share)
        made = md.Mechanism.from_matrix(third, promise(f"log({most})"))
        assert made.proof.sum_of_greatest <= most
        assert np.abs(made.matrix - third).max() < 1e-12


def test_files_keep_it_and_readers_that_do_not_know_it_refuse_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)  # where the second verifier has its other file
    mechanism = md.Mechanism(ASKED, 2, promise("log(3/2)"), ("x", "y", "z"))
    path = tmp_path / "m.json"
    mechanism.save(path)
    assert md.Mechanism.load(path).guarantee == mechanism.guarantee
    document = json.loads(path.read_text())
    assert document["schema"] == "mechdesign/mechanism/2"
    assert VERIFY(path)[0].startswith("proved: epsilon = 3 and maximal leakage = log(3/2) at every prior")

    def changed(schema=2, **keys):
        guarantee = {key: value for key, value in (document["guarantee"] | keys).items() if value is not None}
        whole = document | {"schema": f"mechdesign/mechanism/{schema}", "guarantee": guarantee}
        path.write_text(json.dumps(whole))
        return path

    with pytest.raises(GuaranteeError, match="the maximal leakage is"):
        md.Mechanism.load(changed(maximal_leakage="0.4"))
    assert VERIFY(path) == ("the maximal leakage is false", 1)
    for wrong, message in (
        ({"schema": 1}, "the guarantee has maximal_leakage under the schema"),
        ({"maximal_leakage": None}, "whose guarantees have lower, cap or maximal_leakage"),
        ({"cap": "3"}, "give one of them"),
    ):
        with pytest.raises(InputError, match=message):
            md.Mechanism.load(changed(**wrong))
        assert VERIFY(path)[1] == 2
    assert "(Nats 3 1) None None (Some (Log 3 2)) (Ball " in file_term(document)


def test_post_processing_keeps_it_and_repetition_and_products_add_it_up():
    mechanism = md.Mechanism(ASKED, 2, promise("0.41"), ("x", "y", "z"))
    merged = mechanism.then({"x": "p", "y": "q", "z": "q"})
    assert merged.guarantee == mechanism.guarantee
    assert merged.proof.sum_of_greatest == Fraction(5, 4)
    random = mechanism.then([[0.9, 0.1], [0.2, 0.8], [1 / 3, 2 / 3]])
    assert random.guarantee == mechanism.guarantee
    assert random.maximal_leakage <= mechanism.maximal_leakage
    twice = mechanism.repeated(2)
    # By hand: x, y or z twice have 4/16; the three mixed pairs 2 * 2/16.
    assert twice.proof.sum_of_greatest == Fraction(3 * 4 + 3 * 4, 16)
    assert twice.guarantee.maximal_leakage.exp_down >= Fraction(3, 2)
    assert float(twice.guarantee.maximal_leakage) == pytest.approx(math.log(1.5), abs=2e-12)
    both = mechanism.product(mechanism)
    assert both.proof.sum_of_greatest == Fraction(9, 4)
    assert both.guarantee.maximal_leakage.text == "0.82"
    assert mechanism.product(md.Mechanism(ASKED, 2, md.Guarantee(3, BALL))).guarantee.maximal_leakage is None


def test_a_mechanism_beside_a_design_keeps_it_or_not():
    problem = md.DesignProblem(BALL, 3, maximal_leakage="log(3/2)")
    assert kept(Fraction(2), Fraction(1), problem, rounded=False, greatest=Fraction(3, 2)) == (True, 0.0)
    keeps, missed = kept(Fraction(2), Fraction(1), problem, rounded=False, greatest=Fraction(3))
    assert not keeps
    assert missed == pytest.approx(math.log(2))


def test_problem_files_hold_it(tmp_path):
    path = tmp_path / "p.toml"
    problem = md.DesignProblem(BALL, 1, maximal_leakage="0.5")
    md.write_problem(path, md.ProblemFile("a title", problem))
    assert md.read_problem(path).problem.sides == problem.sides
    path.write_text(path.read_text().replace('epsilon = "1"', 'epsilon = "1"\ncap = 2'))
    with pytest.raises(InputError, match="maximal_leakage"):
        md.read_problem(path)
