"""Pictures: each function takes matplotlib axes, or makes a figure, and returns the axes.

>>> import mechdesign as md
>>> design = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), epsilon=1))
>>> axes = md.plot.matrix(design.mechanism)
>>> axes.figure.savefig("matrix.png")  # doctest: +SKIP

In a notebook, ``axes.figure`` as the last line of a cell shows the picture (after ``%matplotlib inline``), or draw into
axes of pyplot: ``md.plot.matrix(design.mechanism, plt.gca())``. Without axes pyplot is not used, nor any of its state.
"""

from mechdesign.plot.cap_curve import price_of_caps
from mechdesign.plot.comparison_bars import comparison
from mechdesign.plot.group_panels import groups
from mechdesign.plot.heat_map import guesses, matrix
from mechdesign.plot.intervals import frequencies
from mechdesign.plot.leakages import audit, leakage
from mechdesign.plot.record_pictures import marginals
from mechdesign.plot.report_errors import errors
from mechdesign.plot.value_curves import values

__all__ = [
    "audit",
    "comparison",
    "errors",
    "frequencies",
    "groups",
    "guesses",
    "leakage",
    "marginals",
    "matrix",
    "price_of_caps",
    "values",
]


def __dir__() -> list[str]:
    return __all__
