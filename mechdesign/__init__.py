"""Optimal privacy mechanisms under pointwise maximal leakage, with proofs in exact arithmetic.

Here is what a first notebook needs: the sets of priors, the utilities, `design`, `verify` and `compare`, mechanisms
and their leakage. The modules hold the rest: `pml` (leakage), `uncertainty` (radii), `utility`, `planning` (sample
sizes), `mechanism` (proofs), `optimize` (certificates), `baselines` (mechanisms of the literature), `deploy` (files of
records, frequencies, audits), `plot` (pictures), `histogram` and `additive_noise`. `mechdesign.sweeps` reads grids for
`sweep`; `mechdesign.comparison` holds what `compare`, `analyze` and `plan_reports` return.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mechdesign.version import __version__ as __version__

if TYPE_CHECKING:  # what `__getattr__` finds
    from mechdesign import (
        additive_noise,
        baselines,
        deploy,
        histogram,
        mechanism,
        optimize,
        planning,
        plot,
        pml,
        records,
        report,
        uncertainty,
        utility,
        windows,
    )
    from mechdesign.comparison import Analysis, Comparison, analyze, compare, plan_reports
    from mechdesign.deploy import FrequencyEstimate, GroupedEstimate, debias_labels, estimate_frequencies
    from mechdesign.errors import GuaranteeError, InputError, LimitError, MechdesignError, SolverError
    from mechdesign.mechanism import Guarantee, Key, KeyFile, Mechanism
    from mechdesign.numerics.epsilon import Epsilon
    from mechdesign.optimize import Design, Verification, design, design_table, estimation_bound, methods, verify
    from mechdesign.pml import epsilon_min, leakage, leakage_capacity
    from mechdesign.problem import DesignProblem
    from mechdesign.problem_file import ProblemFile, read_problem, write_problem
    from mechdesign.records.record_design import design_records
    from mechdesign.sweeps import SweepResult, sweep
    from mechdesign.uncertainty import (
        ConvexHull,
        L1Ball,
        ProductSet,
        SecretPromise,
        UncertaintySet,
        Union,
        weissman_radius,
    )
    from mechdesign.utility import (
        ChiSquare,
        EstimationError,
        ExpectedDistortion,
        ExpectedGain,
        ExplainedVariance,
        FInformation,
        HammingAccuracy,
        MutualInformation,
        SquaredHellinger,
        TotalVariation,
        Utility,
        Workload,
        WorstCaseUtility,
    )
    from mechdesign.windows import design_windows

__all__ = [
    "Analysis",
    "ChiSquare",
    "Comparison",
    "ConvexHull",
    "Design",
    "DesignProblem",
    "Epsilon",
    "EstimationError",
    "ExpectedDistortion",
    "ExpectedGain",
    "ExplainedVariance",
    "FInformation",
    "FrequencyEstimate",
    "GroupedEstimate",
    "Guarantee",
    "GuaranteeError",
    "HammingAccuracy",
    "InputError",
    "Key",
    "KeyFile",
    "L1Ball",
    "LimitError",
    "Mechanism",
    "MechdesignError",
    "MutualInformation",
    "ProblemFile",
    "ProductSet",
    "SecretPromise",
    "SolverError",
    "SquaredHellinger",
    "SweepResult",
    "TotalVariation",
    "UncertaintySet",
    "Union",
    "Utility",
    "Verification",
    "Workload",
    "WorstCaseUtility",
    "additive_noise",
    "analyze",
    "baselines",
    "compare",
    "debias_labels",
    "deploy",
    "design",
    "design_records",
    "design_table",
    "design_windows",
    "epsilon_min",
    "estimate_frequencies",
    "estimation_bound",
    "histogram",
    "leakage",
    "leakage_capacity",
    "mechanism",
    "methods",
    "optimize",
    "plan_reports",
    "planning",
    "plot",
    "pml",
    "read_problem",
    "records",
    "report",
    "sweep",
    "uncertainty",
    "utility",
    "verify",
    "weissman_radius",
    "windows",
    "write_problem",
]

# Where public names are from that are not modules; each is imported when it is first asked for.
_HOMES = {
    "mechdesign.comparison": ("Analysis", "Comparison", "analyze", "compare", "plan_reports"),
    "mechdesign.deploy": ("FrequencyEstimate", "GroupedEstimate", "debias_labels", "estimate_frequencies"),
    "mechdesign.errors": ("GuaranteeError", "InputError", "LimitError", "MechdesignError", "SolverError"),
    "mechdesign.mechanism": ("Guarantee", "Key", "KeyFile", "Mechanism"),
    "mechdesign.numerics.epsilon": ("Epsilon",),
    "mechdesign.optimize": (
        "Design",
        "Verification",
        "design",
        "design_table",
        "estimation_bound",
        "methods",
        "verify",
    ),
    "mechdesign.pml": ("epsilon_min", "leakage", "leakage_capacity"),
    "mechdesign.problem": ("DesignProblem",),
    "mechdesign.problem_file": ("ProblemFile", "read_problem", "write_problem"),
    "mechdesign.records.record_design": ("design_records",),
    "mechdesign.sweeps": ("SweepResult", "sweep"),
    "mechdesign.uncertainty": (
        "ConvexHull",
        "L1Ball",
        "ProductSet",
        "SecretPromise",
        "UncertaintySet",
        "Union",
        "weissman_radius",
    ),
    "mechdesign.utility": (
        "ChiSquare",
        "EstimationError",
        "ExpectedDistortion",
        "ExpectedGain",
        "ExplainedVariance",
        "FInformation",
        "HammingAccuracy",
        "MutualInformation",
        "SquaredHellinger",
        "TotalVariation",
        "Utility",
        "Workload",
        "WorstCaseUtility",
    ),
    "mechdesign.windows": ("design_windows",),
}


if not TYPE_CHECKING:  # to type checkers, a module with `__getattr__` has every name

    def __getattr__(name: str) -> Any:
        # All imports take a third of a second, in which the command line already has to answer to an interruption.
        for home, names in _HOMES.items():
            if name in names:
                globals()[name] = getattr(import_module(home), name)
                return globals()[name]
        if name in __all__:
            return import_module(f"mechdesign.{name}")
        raise AttributeError(f"module 'mechdesign' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
