"""Optimal privacy mechanisms under pointwise maximal leakage, with proofs in exact arithmetic."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mechdesign.version import __version__ as __version__

if TYPE_CHECKING:  # what `__getattr__` finds
    from mechdesign.deploy import FrequencyEstimate, estimate_frequencies
    from mechdesign.errors import GuaranteeError, InputError, LimitError, MechdesignError, SolverError
    from mechdesign.mechanism import Guarantee, Mechanism, Optimality, Proof, Provenance, Repair, prove
    from mechdesign.numerics.epsilon import Epsilon
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
    from mechdesign.planning import Plan, delta_min, design_epsilon, guaranteed_epsilon, plan, samples_for
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
    from mechdesign.problem_file import ProblemFile, read_problem, write_problem
    from mechdesign.uncertainty import (
        ConvexHull,
        Evidence,
        Kappa,
        L1Ball,
        ProductSet,
        UncertaintySet,
        failure_probability,
        kappa,
        phi,
        refined_radius,
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


# Where public names are from; the last stands on pydantic, which is imported for its names alone.
_HOMES = (
    "mechdesign.deploy",
    "mechdesign.errors",
    "mechdesign.numerics.epsilon",
    "mechdesign.mechanism",
    "mechdesign.optimize",
    "mechdesign.planning",
    "mechdesign.pml",
    "mechdesign.problem",
    "mechdesign.uncertainty",
    "mechdesign.utility",
    "mechdesign.problem_file",
)
_PACKAGES = ("additive_noise", "histogram")


def __getattr__(name: str) -> Any:
    # Imports take a third of a second, in which the command line already has to answer to an interruption.
    if name in _PACKAGES:
        return import_module(f"mechdesign.{name}")
    if name in __all__:
        for home in _HOMES:
            module = import_module(home)
            if hasattr(module, name):
                globals()[name] = getattr(module, name)
                return globals()[name]
    raise AttributeError(f"module 'mechdesign' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
