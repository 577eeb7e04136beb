"""Optimal privacy mechanisms under pointwise maximal leakage, with proofs in exact arithmetic."""

from __future__ import annotations

from typing import Any

from mechdesign.deploy import FrequencyEstimate, estimate_frequencies
from mechdesign.errors import GuaranteeError, InputError, LimitError, MechdesignError, SolverError
from mechdesign.exact import Epsilon
from mechdesign.mechanism import Guarantee, Mechanism, Optimality, Proof, Provenance, prove
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
from mechdesign.pml import epsilon_min, leakage, leakage_capacity
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import (
    ConvexHull,
    Evidence,
    L1Ball,
    ProductSet,
    UncertaintySet,
    failure_probability,
    required_samples,
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
    "L1Ball",
    "LimitError",
    "Mechanism",
    "MechdesignError",
    "MutualInformation",
    "Optimality",
    "ProblemFile",
    "ProductSet",
    "Proof",
    "Provenance",
    "SolverError",
    "SquaredHellinger",
    "TotalVariation",
    "UncertaintySet",
    "Utility",
    "Verification",
    "certify",
    "compare",
    "design",
    "epsilon_min",
    "estimate_frequencies",
    "failure_probability",
    "leakage",
    "leakage_capacity",
    "prove",
    "read_problem",
    "required_samples",
    "verify",
    "weissman_radius",
    "write_problem",
]


def __getattr__(name: str) -> Any:
    # Problem files stand on pydantic, which is imported when one is used.
    if name in {"ProblemFile", "read_problem", "write_problem"}:
        from mechdesign import problem_file

        return getattr(problem_file, name)
    raise AttributeError(f"module 'mechdesign' has no attribute {name!r}")
