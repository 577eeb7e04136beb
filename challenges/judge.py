"""What a solution is worth beside the best that is known."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from challenges.instances import Instance
from challenges.known import Known
from challenges.solutions import prove
from challenges.worth import Worth, worth
from mechdesign.cli.json_output import finite
from mechdesign.display.numbers import text_above, text_below
from mechdesign.errors import GuaranteeError
from mechdesign.mechanism import ExactMatrix

_EQUAL = 1e-12  # of the best known; nearer values differ by rounding alone


@dataclass(frozen=True)
class Judged:
    """A solution that keeps the promise of an instance.

    Attributes
    ----------
    instance : str
        The instance.
    solution : str
        Which matrix it is, in words.
    value : Worth
        Limits of its value.
    unit : str
        That of the value.
    known : Known
        The best that was known.
    minimised : bool
        Whether less is better.
    """

    instance: str
    solution: str
    value: Worth
    unit: str
    known: Known
    minimised: bool

    @property
    def is_new_best(self) -> bool:
        """Whether the value is better than the best known for certain, by more than 1e-12 of that."""
        return self.behind < -_EQUAL

    @property
    def behind(self) -> float:
        """How far the value is behind the best known at most, over the best known; negative if it is ahead."""
        mine, best = self.value, self.known.value
        if self.minimised:
            return (mine.high - best.low) / abs(best.low)
        return (best.high - mine.low) / abs(best.high)

    @property
    def verdict(self) -> str:
        """In one line."""
        if self.is_new_best:
            return f"new best: better than the best known by {text_below(-self.behind, 3)} of it"
        if self.behind <= _EQUAL:
            return "as good as the best known"
        if math.isinf(self.behind):
            return "behind the best known: the error is infinite, since reports do not determine the queries"
        return f"behind the best known by {text_above(self.behind, 3)} of it"

    def keys(self) -> dict[str, Any]:
        """Return what JSON holds; a number that is infinite is None."""
        whole = asdict(self)
        whole["value"] = list(map(finite, self.value))
        whole["known"]["bound"] = finite(self.known.bound)
        return {**whole, "new_best": self.is_new_best, "verdict": self.verdict}

    def lines(self) -> list[tuple[str, str]]:
        """Return what to print: names and texts."""
        low, high = text_below(self.value.low, 15), text_above(self.value.high, 15)
        unit = "" if self.unit == "1" else f" {self.unit}"
        value = "infinite" if math.isinf(self.value.low) else f"between {low} and {high}{unit}"
        best, bound = (text_above, text_below) if self.minimised else (text_below, text_above)
        good = self.known.value.high if self.minimised else self.known.value.low
        return [
            ("solution", self.solution),
            ("promise", "kept, proved in exact arithmetic"),
            ("value", value),
            ("best known", f"{best(good, 12)}{unit}"),
            ("bound", f"{bound(self.known.bound, 12)}{unit}, which no mechanism with this promise passes"),
            ("verdict", self.verdict),
        ]


def judged(instance: Instance, exact: ExactMatrix, known: Known) -> Judged:
    """Prove a solution and say what it is worth.

    Raises
    ------
    GuaranteeError
        If it breaks the promise, or if its value is past the bound, so that one of the two is wrong.
    """
    problem = instance.problem
    prove(exact, problem)
    found = Judged(
        instance.name, exact.in_words(), worth(exact, problem), problem.utility.unit, known, problem.utility.minimised
    )
    past = found.value.high < known.bound if found.minimised else found.value.low > known.bound
    if past:
        raise GuaranteeError.optimality_false(
            f"the value {found.value.low:.15g} is past the bound {known.bound:.15g} of {instance.name}: the bound is "
            "false; please report it with the solution"
        )
    return found
