"""Speed of a design, of the proof and of verification. README.md in this folder says how to run it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md

PROBLEMS = Path(__file__).parent.parent / "problems"


@pytest.mark.parametrize("name", ["adult-education", "adult-education-known", "adult-education-hamming"])
def test_from_counts_to_proved_file(benchmark, name, tmp_path):
    def run():
        solved = md.design(md.read_problem(PROBLEMS / f"{name}.toml").problem)
        solved.mechanism.save(tmp_path / "m.json")
        return solved

    assert benchmark.pedantic(run, rounds=3, warmup_rounds=1).certified


def test_best_ldp_mechanism_of_16_symbols(benchmark):
    known = md.read_problem(PROBLEMS / "adult-education.toml").problem.uncertainty
    problem = md.DesignProblem(md.L1Ball(known.center, 2), 1)
    assert benchmark.pedantic(md.design, (problem,), rounds=3, warmup_rounds=1).certified


@pytest.mark.parametrize("name", ["adult-age", "adult-hours-per-week", "adult-native-country", "one-dominant-96"])
def test_column_generation(benchmark, name):
    problem = md.read_problem(PROBLEMS / f"{name}.toml").problem
    assert benchmark.pedantic(md.design, (problem,), rounds=3).certified


@pytest.mark.parametrize("name", ["adult-age", "zipf-1000"])
def test_verification(benchmark, name):
    mechanism = md.design(md.read_problem(PROBLEMS / f"{name}.toml").problem, tol=1e-3).mechanism
    assert benchmark.pedantic(md.verify, (mechanism,), rounds=3).proof.holds


@pytest.mark.parametrize("size", [16, 100, 300])
def test_exact_proof(benchmark, size):
    rng = np.random.default_rng(1)
    ball = md.L1Ball.from_counts(rng.integers(10, 2_000, size).tolist(), delta="1e-9", bound="weissman")
    matrix = rng.dirichlet(np.ones(size), size)
    mechanism = md.Mechanism.repaired(matrix, md.Guarantee(1, ball)).mechanism
    assert benchmark(md.mechanism.prove, mechanism.numerators, mechanism.bits, mechanism.guarantee).holds


@pytest.mark.parametrize("size", [20, 40, 60])
def test_polyhedral_program(benchmark, size):
    counts = np.random.default_rng(2).integers(10, 2_000, size).tolist()
    problem = md.DesignProblem(md.L1Ball.from_counts(counts, delta="1e-9", bound="weissman"), 1, md.HammingAccuracy())
    assert benchmark.pedantic(md.design, (problem,), rounds=3, warmup_rounds=1).certified


@pytest.mark.parametrize("module", ["numpy", "mechdesign"])
def test_import(benchmark, module):
    benchmark.pedantic(subprocess.run, ([sys.executable, "-c", f"import {module}"],), {"check": True}, rounds=10)
