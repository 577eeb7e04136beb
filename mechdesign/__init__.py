"""Optimal privacy mechanisms under pointwise maximal leakage, with proofs in exact arithmetic."""

from __future__ import annotations

from typing import Any

from mechdesign.deploy import FrequencyEstimate, estimate_frequencies
from mechdesign.errors import GuaranteeError, InputError, LimitError, MechdesignError, SolverError
from mechdesign.exact import Epsilon
from mechdesign.mechanism import Guarantee, Mechanism, Optimality, Proof, Provenance, Repair, prove
from mechdesign.optimize import (
    Certificate,
    Comparison,
    Design,
    Verification,
    certify,
    compare,
    design,
    verify,
)
from mechdesign.pml import (
    WorstCase,
    epsilon_at,
    epsilon_max,
    epsilon_min,
    information_density,
    leakage,
    leakage_bound_elsewhere,
    leakage_capacity,
    leakage_sensitivity,
    leakage_tail,
    lipschitz_bound,
    most_zeros_in_a_column,
    output_sensitivity,
    privacy_region,
    privacy_regions,
    sensitivity_bound,
    sensitivity_bound_any_region,
    sensitivity_bound_first_region,
    worst_case_leakage,
)
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import (
    ConvexHull,
    Evidence,
    Kappa,
    L1Ball,
    Plan,
    ProductSet,
    UncertaintySet,
    delta_min,
    design_epsilon,
    failure_probability,
    guaranteed_epsilon,
    kappa,
    phi,
    plan,
    refined_radius,
    required_samples,
    samples_for,
    weissman_radius,
)
from mechdesign.utility import (
    ChiSquare,
    ExpectedDistortion,
    ExpectedGain,
    FInformation,
    HammingAccuracy,
    MutualInformation,
    SquaredHellinger,
    TotalVariation,
    Utility,
)
from mechdesign.version import __version__ as __version__

__all__ = [
    "Certificate",
    "ChiSquare",
    "Comparison",
    "ConvexHull",
    "Design",
    "DesignProblem",
    "Epsilon",
    "Evidence",
    "ExpectedDistortion",
    "ExpectedGain",
    "FInformation",
    "FrequencyEstimate",
    "Guarantee",
    "GuaranteeError",
    "HammingAccuracy",
    "InputError",
    "Kappa",
    "L1Ball",
    "LimitError",
    "Mechanism",
    "MechdesignError",
    "MutualInformation",
    "Optimality",
    "Plan",
    "ProblemFile",
    "ProductSet",
    "Proof",
    "Provenance",
    "Repair",
    "SolverError",
    "SquaredHellinger",
    "TotalVariation",
    "UncertaintySet",
    "Utility",
    "Verification",
    "WorstCase",
    "additive_noise",
    "certify",
    "compare",
    "delta_min",
    "design",
    "design_epsilon",
    "epsilon_at",
    "epsilon_max",
    "epsilon_min",
    "estimate_frequencies",
    "failure_probability",
    "guaranteed_epsilon",
    "histogram",
    "information_density",
    "kappa",
    "leakage",
    "leakage_bound_elsewhere",
    "leakage_capacity",
    "leakage_sensitivity",
    "leakage_tail",
    "lipschitz_bound",
    "most_zeros_in_a_column",
    "output_sensitivity",
    "phi",
    "plan",
    "privacy_region",
    "privacy_regions",
    "prove",
    "read_problem",
    "refined_radius",
    "required_samples",
    "samples_for",
    "sensitivity_bound",
    "sensitivity_bound_any_region",
    "sensitivity_bound_first_region",
    "verify",
    "weissman_radius",
    "worst_case_leakage",
    "write_problem",
]


def __getattr__(name: str) -> Any:
    # Problem files stand on pydantic, which is imported when one is used.
    if name in {"ProblemFile", "read_problem", "write_problem"}:
        from mechdesign import problem_file

        return getattr(problem_file, name)
    if name in {"additive_noise", "histogram"}:
        from importlib import import_module

        return import_module(f"mechdesign.{name}")
    raise AttributeError(f"module 'mechdesign' has no attribute {name!r}")
