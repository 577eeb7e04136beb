"""What a solution is worth beside the best that is known."""

from __future__ import annotations

from dataclasses import dataclass

from challenges.instances import Instance
from challenges.known import Known
from challenges.solutions import prove
from challenges.worth import Worth, worth
from mechdesign.display.numbers import text_above, text_below
from mechdesign.errors import GuaranteeError
from mechdesign.mechanism import ExactMatrix


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
        """Whether the value is better than the best known for certain, by the limits of both."""
        if self.minimised:
            return self.value.high < self.known.value.low
        return self.value.low > self.known.value.high

    @property
    def behind(self) -> float:
        """How far the value is behind the best known at most, over the best known; negative if it is ahead."""
        mine, best = self.value, self.known.value
        lost = mine.high - best.low if self.minimised else best.high - mine.low
        return lost / abs(best.low)

    @property
    def verdict(self) -> str:
        """In one line."""
        if self.is_new_best:
            return f"new best: better than the best known by {text_below(-self.behind, 3)} of it"
        if self.behind <= 1e-12:
            return "as good as the best known"
        return f"behind the best known by {text_above(self.behind, 3)} of it"

    def lines(self) -> list[tuple[str, str]]:
        """Return what to print: names and texts."""
        low, high = text_below(self.value.low, 15), text_above(self.value.high, 15)
        unit = "" if self.unit == "1" else f" {self.unit}"
        best, bound = (text_above, text_below) if self.minimised else (text_below, text_above)
        good = self.known.value.high if self.minimised else self.known.value.low
        return [
            ("solution", self.solution),
            ("promise", "kept, proved in exact arithmetic"),
            ("value", f"between {low} and {high}{unit}"),
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
