"""What a set of priors rests on: counts of samples, samples that are asserted, or what else a user says of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from mechdesign.data.checks import checked_delta, checked_samples
from mechdesign.data.counts import checked_counts
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.exact import over_common_denominator
from mechdesign.uncertainty.bounds_of_counts import observed_radius_exact
from mechdesign.uncertainty.radii import BOUNDS, CLOPPER_PEARSON, OBSERVED_SUMS, Bound, radius_exact


@dataclass(frozen=True)
class Evidence:
    """The data behind a set, or samples that are asserted.

    Attributes
    ----------
    counts : tuple of int
        How often each category was seen; for asserted samples, whole numbers in proportion to the probabilities.
    samples : int
        The sample size that the set is derived from: the total of the counts, unless it is asserted.
    delta : Fraction or None
        The probability that the true prior lies outside; None where the radius was stated directly.
    bound : str
        What the radius of an l1 ball is derived by: ``"observed-sums"``, ``"clopper-pearson"`` or ``"weissman"`` (ED
        eq. 37).
    asserted : bool
        Whether no counts show the samples: a what-if of probabilities and as many samples as somebody asserts.

    Raises
    ------
    InputError
        For samples that are neither asserted nor the total of the counts, and for the bound of observed sums with
        samples that are asserted.

    Examples
    --------
    >>> Evidence((3, 1), 4, None).samples
    4
    """

    counts: tuple[int, ...]
    samples: int
    delta: Fraction | None
    bound: Bound = OBSERVED_SUMS
    asserted: bool = False

    def __post_init__(self) -> None:
        total = sum(self.counts)
        if self.asserted and self.delta is not None and self.bound == OBSERVED_SUMS:
            raise InputError.evidence_contradicts(
                f"the bound is {OBSERVED_SUMS}, which takes observed counts, and the samples are asserted; accepted: "
                f"{', '.join(BOUNDS)}"
            )
        if not self.asserted and self.samples != total:
            raise InputError.evidence_contradicts(
                f"the counts are of {total} samples, and samples is {self.samples}; leave samples out, or give "
                "probabilities with samples, which are then asserted, instead of counts"
            )

    def check_ball(self, center: Sequence[Fraction], radius: Fraction) -> None:
        """Refuse an l1 ball around another estimate, and one that is smaller than delta and the samples require."""
        total = sum(self.counts)
        if len(self.counts) != len(center) or any(
            count != p * total for count, p in zip(self.counts, center, strict=True)
        ):
            raise InputError.evidence_contradicts(
                "the counts given as evidence are not those of the center; use L1Ball.from_counts"
            )
        derived = self.radius()
        if derived is not None and radius < derived:
            raise InputError.evidence_contradicts(
                f"the radius {float(radius):.12g} is below {float(derived):.12g}, which delta and the samples require; "
                "use L1Ball.from_counts"
            )

    def radius(self) -> Fraction | None:
        """Return the radius of the l1 ball that the evidence supports, rounded up."""
        return self._derived

    @cached_property
    def _derived(self) -> Fraction | None:
        if self.delta is None:
            return None
        if self.bound == OBSERVED_SUMS:
            return observed_radius_exact(self.counts, self.delta)
        return radius_exact(self.samples, len(self.counts), self.delta, bound=self.bound)


def counted(
    counts: Mapping[Any, Any] | Sequence[object], delta: object, samples: object = None, bound: Bound = OBSERVED_SUMS
) -> tuple[tuple[str, ...], Evidence]:
    """Return the labels of counts, and the counts with delta and their total, which samples may state too.

    Examples
    --------
    >>> counted({"a": 3, "b": 1}, 0.5)[1].samples
    4
    """
    labels, checked = checked_counts(counts)
    size = sum(checked) if samples is None else checked_samples(samples)
    return labels, Evidence(checked, size, None if delta is None else checked_delta(delta), bound)


def asserted(center: Sequence[Fraction], samples: object, delta: object, bound: Bound = CLOPPER_PEARSON) -> Evidence:
    """Return the evidence of a what-if: probabilities, as if they had been estimated from samples.

    Examples
    --------
    >>> asserted([Fraction(3, 4), Fraction(1, 4)], 300, "1e-9").samples
    300
    """
    weights, _ = over_common_denominator(center)
    return Evidence(tuple(weights), checked_samples(samples), checked_delta(delta), bound, asserted=True)


def check_one_way(ways: Mapping[str, object], accepted: str) -> None:
    """Refuse counts of which nothing, or more than one thing, says what they are.

    Parameters
    ----------
    ways : mapping from name to value
        What may be given; None and False are not given.
    accepted : str
        The ways in words, for a message: each as users write it.

    Raises
    ------
    InputError
        Unless just one is given.

    Examples
    --------
    >>> check_one_way({"delta": "1e-9", "known": False}, "delta=, or known=True")
    """
    known = ways.get("known", False)
    if known is not True and known is not False:
        raise InputError.wrong_type(f"known is {shorten(known)}; accepted: True or False")
    given = [name if value is True else f"{name} {shorten(value)}" for name, value in ways.items() if _stated(value)]
    if not given:
        raise InputError.radius_or_delta_missing(
            f"nothing says how far the counts may be from the truth; give one of {accepted}"
        )
    if len(given) > 1:
        raise InputError.conflicting_arguments(
            f"{' and '.join(given)} are {'both' if len(given) == 2 else 'all'} given; give one of them"
        )


def _stated(value: object) -> bool:
    return value is not None and value is not False
