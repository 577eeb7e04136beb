"""What is known of each instance: the best value and the best bound, computed again from the files that prove them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import mechdesign as md
from challenges.instances import FOLDER, Instance, instances, packed
from challenges.worth import Worth, worth
from mechdesign.errors import GuaranteeError
from mechdesign.mechanism import ExactMatrix, Optimality
from mechdesign.optimize.certificate import priced
from mechdesign.optimize.effective_epsilon import effective_exp_epsilon
from mechdesign.optimize.pricing import pricing_for
from mechdesign.optimize.pricing.branch_and_bound import BoxPricing
from mechdesign.optimize.pricing.pairs_of_pieces import PiecePricing
from mechdesign.uncertainty import UncertaintySet
from mechdesign.utility.objective import as_utility

FILE = FOLDER / "known.json"
CLOSED, NEARLY = 1e-6, 1e-3  # gaps over values


@dataclass(frozen=True)
class Known:
    """The best that is known of an instance.

    Attributes
    ----------
    name : str
        The instance.
    value : Worth
        Limits of the value of the best mechanism known.
    bound : float
        No mechanism with the promise is better.
    outputs : int
        How many outputs the mechanism has.
    method : str
        How it was found.
    bound_is_for : str
        Whose bound it is: empty, or of which weaker promise.
    """

    name: str
    value: Worth
    bound: float
    outputs: int
    method: str
    bound_is_for: str = ""

    @property
    def gap(self) -> float:
        """The distance of value and bound over the value, rounded up to within a few units in the last place."""
        low, high = self.value
        return max(self.bound - low, high - self.bound) / abs(low)

    @property
    def status(self) -> str:
        """``closed`` up to a gap of 1e-6, ``nearly`` up to 1e-3, else ``open``."""
        return "closed" if self.gap <= CLOSED else "nearly" if self.gap <= NEARLY else "open"


def read_known(path: Path = FILE) -> dict[str, Known]:
    """Return what the file says of all instances."""
    listed = json.loads(path.read_text(encoding="utf-8"))
    return {each["name"]: Known(**{**each, "value": Worth(*each["value"])}) for each in listed}


def write_known(found: Iterator[Known], path: Path = FILE) -> None:
    """Write what is known, a line for each instance."""
    path.write_text("[\n" + ",\n".join(json.dumps(asdict(each)) for each in found) + "\n]\n", encoding="utf-8")


def all_known() -> Iterator[Known]:
    """Compute what is known of each instance from its files."""
    return map(known_of, instances())


def known_of(instance: Instance) -> Known:
    """Prove the files of an instance and return what they show.

    Raises
    ------
    GuaranteeError
        If a file is of another problem, or its guarantee or bound is false.
    """
    problem = instance.problem
    best = packed(instance.best_path)
    _check_same(best, problem, instance.best_path.name)
    value = worth(ExactMatrix.of(best), problem)
    bounds = [(_bound(best, problem, instance.best_path.name), "")]
    if instance.bound_path.exists():
        other = packed(instance.bound_path)
        bounds.append((_bound(other, problem, instance.bound_path.name), _difference(other, problem)))
    pick = max if problem.utility.minimised else min
    bound, words = pick(bounds)
    method = best.provenance.method if best.provenance is not None else "not said"
    return Known(instance.name, value, bound, len(best.outputs), method, words)


def _check_same(mechanism: md.Mechanism, problem: md.DesignProblem, name: str) -> None:
    guarantee = mechanism.guarantee
    if (guarantee.sides, guarantee.uncertainty) != (problem.sides, problem.uncertainty.exact_set):
        raise GuaranteeError.guarantee_false(f"{name} has another promise than its instance; give one with the same")


def _bound(mechanism: md.Mechanism, problem: md.DesignProblem, name: str) -> float:
    """Return the bound that a file proves, for a problem whose promise is at least that of the file.

    A promise for fewer priors, or from above alone, is weaker, so that its bound holds too. The prior at which the
    objective is measured has to be the same.
    """
    guarantee, claim = mechanism.guarantee, mechanism.optimality
    if claim is None:
        return float("inf") * (-1 if problem.utility.minimised else 1)
    if claim.utility != problem.utility or not claim.within_simplex or not is_weaker(guarantee, problem):
        raise GuaranteeError.optimality_false(f"{name} claims a bound for another problem than its instance")
    if not _is_proved_by_search(md.DesignProblem(guarantee.uncertainty, guarantee.sides, claim.utility), claim):
        md.verify(mechanism)
    return claim.bound


def _is_proved_by_search(problem: md.DesignProblem, claim: Optimality) -> bool:
    """Return whether branch and bound proves a bound; it ends as soon as it does, where `md.verify` goes on."""
    if problem.utility.f_information is None or not problem.uncertainty.limits_entries:
        return False
    exp_epsilon, floor = effective_exp_epsilon(problem), problem.sides.floor_down
    multipliers, target = np.array(claim.multipliers), claim.bound - math.fsum(claim.multipliers)
    pricing = pricing_for(problem.uncertainty, exp_epsilon, as_utility(problem.utility), floor, target)
    if not isinstance(pricing, BoxPricing | PiecePricing):
        return False
    return priced(problem, multipliers, pricing.price).bound <= claim.bound


def is_weaker(guarantee: md.Guarantee, problem: md.DesignProblem) -> bool:
    """Return whether every mechanism with the promise of a problem has a guarantee, as far as is known at once."""
    known: UncertaintySet = guarantee.uncertainty
    about_data = known.protected.names is None and problem.uncertainty.protected.names is None
    priors = known == problem.uncertainty.exact_set or (
        about_data and known.is_one_prior and known.center == problem.uncertainty.center
    )
    below = guarantee.sides.below is None or guarantee.sides == problem.sides
    return priors and below and guarantee.epsilon == problem.epsilon


def _difference(mechanism: md.Mechanism, problem: md.DesignProblem) -> str:
    if mechanism.guarantee.sides != problem.sides:
        return f"without {problem.sides.below_name}"
    return "" if mechanism.guarantee.uncertainty == problem.uncertainty.exact_set else "for the estimate alone"
