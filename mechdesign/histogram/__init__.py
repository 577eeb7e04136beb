"""Release of histograms: Laplace under PML, sparse and correlated Gaussian noise, top k, discrete Gaussian.

HP is *A Tight Context-aware Privacy Bound for Histogram Publication* (Saeidian and others), CSH *The Correlated
Gaussian Sparse Histogram Mechanism*. Functions whose names end in ``_delta``, ``_threshold``, ``_sigma`` or ``_best``
compute one parameter of a mechanism from the others. A plan, such as `DiscretePlan.of` returns, holds all parameters
and says what they guarantee; `release` draws the noise of a plan.
"""

from mechdesign.histogram.calibration import upper_threshold
from mechdesign.histogram.csh import CshPlan, csh_best, csh_delta, csh_least_sigma, csh_threshold
from mechdesign.histogram.csh_pair import csh_pair_delta
from mechdesign.histogram.discrete import (
    DiscretePlan,
    discrete_best,
    discrete_delta,
    discrete_least_sigma,
    discrete_rho,
    discrete_threshold,
)
from mechdesign.histogram.discrete_sampler import discrete_gaussian
from mechdesign.histogram.gshm import GshmPlan, gshm_best, gshm_delta, gshm_least_sigma, gshm_threshold
from mechdesign.histogram.laplace_plan import (
    LaplacePlan,
    laplace_dp_epsilon,
    laplace_epsilon,
    laplace_epsilon_composed,
    laplace_epsilon_quadratic,
    laplace_scale,
    least_bin_probability,
)
from mechdesign.histogram.record import ReleaseRecord
from mechdesign.histogram.registry import PLANS
from mechdesign.histogram.release_plan import Plan
from mechdesign.histogram.released_counts import HistogramRelease, release
from mechdesign.histogram.top_k import TopKPlan, recentred, top_k_counts, top_k_delta, top_k_threshold
from mechdesign.histogram.zcdp import zcdp_delta

__all__ = [
    "PLANS",
    "CshPlan",
    "DiscretePlan",
    "GshmPlan",
    "HistogramRelease",
    "LaplacePlan",
    "Plan",
    "ReleaseRecord",
    "TopKPlan",
    "csh_best",
    "csh_delta",
    "csh_least_sigma",
    "csh_pair_delta",
    "csh_threshold",
    "discrete_best",
    "discrete_delta",
    "discrete_gaussian",
    "discrete_least_sigma",
    "discrete_rho",
    "discrete_threshold",
    "gshm_best",
    "gshm_delta",
    "gshm_least_sigma",
    "gshm_threshold",
    "laplace_dp_epsilon",
    "laplace_epsilon",
    "laplace_epsilon_composed",
    "laplace_epsilon_quadratic",
    "laplace_scale",
    "least_bin_probability",
    "recentred",
    "release",
    "top_k_counts",
    "top_k_delta",
    "top_k_threshold",
    "upper_threshold",
    "zcdp_delta",
]


def __dir__() -> list[str]:
    return __all__
