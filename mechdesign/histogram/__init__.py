"""Release of histograms: Laplace under PML, sparse and correlated Gaussian noise, top k, discrete Gaussian.

HP is *A Tight Context-aware Privacy Bound for Histogram Publication* (Saeidian and others), CSH *The Correlated
Gaussian Sparse Histogram Mechanism*. Functions that end in ``_delta``, ``_threshold``, ``_sigma`` or ``_best``
calibrate; ``plan_`` functions put a calibration into words, and ``release_`` functions draw the noise.
"""

from mechdesign.histogram.calibration import upper_threshold
from mechdesign.histogram.csh import csh_best, csh_delta, csh_least_sigma, csh_pair_delta, csh_threshold
from mechdesign.histogram.discrete import (
    discrete_best,
    discrete_delta,
    discrete_least_sigma,
    discrete_rho,
    discrete_threshold,
    zcdp_delta,
)
from mechdesign.histogram.discrete_sampler import discrete_gaussian
from mechdesign.histogram.gshm import gshm_best, gshm_delta, gshm_least_sigma, gshm_threshold
from mechdesign.histogram.laplace import (
    laplace_dp_epsilon,
    laplace_epsilon,
    laplace_epsilon_composed,
    laplace_epsilon_quadratic,
    laplace_scale,
    least_bin_probability,
)
from mechdesign.histogram.plan import plan_csh, plan_discrete, plan_gshm, plan_laplace, plan_top_k
from mechdesign.histogram.record import ReleaseRecord
from mechdesign.histogram.release import (
    HistogramRelease,
    release_csh,
    release_discrete,
    release_gshm,
    release_laplace,
    release_top_k,
)
from mechdesign.histogram.top_k import recentred, top_k_counts, top_k_delta, top_k_threshold

__all__ = [
    "HistogramRelease",
    "ReleaseRecord",
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
    "plan_csh",
    "plan_discrete",
    "plan_gshm",
    "plan_laplace",
    "plan_top_k",
    "recentred",
    "release_csh",
    "release_discrete",
    "release_gshm",
    "release_laplace",
    "release_top_k",
    "top_k_counts",
    "top_k_delta",
    "top_k_threshold",
    "upper_threshold",
    "zcdp_delta",
]


def __dir__() -> list[str]:
    return __all__
