"""The mechanisms that release histograms: the command line has a command for each."""

from __future__ import annotations

from mechdesign.histogram.csh import CshPlan
from mechdesign.histogram.discrete import DiscretePlan
from mechdesign.histogram.gshm import GshmPlan
from mechdesign.histogram.laplace_plan import LaplacePlan
from mechdesign.histogram.release_plan import Plan
from mechdesign.histogram.top_k import TopKPlan

# A new mechanism is one line here; the command line lists them in this order.
PLANS: tuple[type[Plan], ...] = (DiscretePlan, TopKPlan, CshPlan, GshmPlan, LaplacePlan)
"""The classes of plans for histograms, in the order of the commands."""
