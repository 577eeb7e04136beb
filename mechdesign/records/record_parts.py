"""A view of the record with its weight and its mechanism; and the claim about all views together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.mechanism.mechanism import check_mechanism
from mechdesign.records.record_views import checked_attributes, evidence_apart, split
from mechdesign.windows.windows_mechanism import WindowMechanism

MOST_PARTS = 1_000
WEIGHT_BITS = 32
MOST_WEIGHT_BITS = 52


@dataclass(frozen=True)
class RecordPart:
    """A view of the record with its weight and its mechanism.

    Attributes
    ----------
    name : str
        What reports call the view.
    attributes : tuple of str
        The columns that it shows.
    weight : int
        How many of the 2^weight_bits equally likely numbers draw this view.
    mechanism : Mechanism or WindowMechanism
        What reports about the view; its inputs are the labels of the attribute, or for several attributes their
        combinations (`mechdesign.records.record_views.join`). Windows report any strings of one attribute.
    merged : str, optional
        The input that stands for all combinations of known labels that are no inputs; without it they are refused. No
        other input has its labels.
    """

    name: str
    attributes: tuple[str, ...]
    weight: int
    mechanism: Any
    merged: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", checked_attributes(self.attributes))
        (name,) = checked_attributes([self.name])
        object.__setattr__(self, "name", name)
        if not self.is_open:
            check_mechanism(self.mechanism, f"the mechanism of the view {name}")
        elif len(self.attributes) > 1:
            raise InputError.wrong_size(
                f"the view {name} is of windows and shows {len(self.attributes)} attributes; accepted: one, of strings"
            )
        if isinstance(self.weight, bool) or not isinstance(self.weight, int) or self.weight < 1:
            raise InputError.not_a_whole_number(
                f"the weight of the view {name} is {shorten(self.weight)}; accepted: a whole number of at least 1"
            )
        if self.merged is not None and (len(self.attributes) < 2 or self.merged not in self.mechanism.inputs):
            raise InputError.unknown_label(
                f"the view {name} merges combinations into {shorten(self.merged)}; accepted: an input of a view of "
                "several attributes"
            )
        rows = [] if self.is_open else [split(label, len(self.attributes)) for label in self.mechanism.inputs]
        for own in zip(*rows, strict=True) if self.merged is not None else ():
            shown = own[self.mechanism.inputs.index(self.merged)]
            if own.count(shown) > 1:
                raise InputError.unknown_label(
                    f"the view {name} merges combinations into {shorten(self.merged)}, and {shorten(shown)} is in "
                    "others too, so that tables would count people there who have something else; name the category "
                    "by labels of its own"
                )
        if self.merged is not None:
            self._check_delta()

    def _check_delta(self) -> None:
        """Refuse a delta that leaves out that the counts have chosen which combinations are merged."""
        known = self.mechanism.guarantee.uncertainty
        if self.mechanism.guarantee.delta is None:
            return
        evidence = None if known.l1_ball is None else known.l1_ball.evidence
        if evidence is None or evidence.asserted:
            raise InputError.evidence_contradicts(
                f"the view {self.name} merges combinations, and its delta is not that of counts and an l1 ball, which "
                "can cover that the counts choose what is merged; make the set with L1Ball.from_counts"
            )
        needed = evidence_apart(evidence, self.mechanism.inputs, len(self.attributes)).radius()
        if needed is not None and known.l1_ball.radius < needed:
            raise GuaranteeError.delta_false(
                f"{self.name} merges combinations by their counts, and the radius {float(known.l1_ball.radius):.6g} is "
                f"below {float(needed):.6g}, that of all combinations apart; the claimed delta is false"
            )

    @property
    def is_open(self) -> bool:
        """Whether it shows any strings, which nobody has listed: its mechanism is one of windows."""
        return isinstance(self.mechanism, WindowMechanism)

    @property
    def leakage(self) -> float:
        """The greatest leakage of a report about the view over all laws of its promise, in nats, rounded up."""
        found: float = self.mechanism.promised_leakage if self.is_open else self.mechanism.leakage
        return found


@dataclass(frozen=True)
class RecordOptimality:
    """The claim that no mechanism for whole records with the same promise has less error than a bound.

    Attributes
    ----------
    error : float
        n times the mean squared error of the mechanism, summed over all queries with their values.
    bound : float
        No mechanism has less; rounded down.
    values : tuple of float
        What a squared error of each view counts.
    measures : tuple of tuples of float
        A vector of each attribute, from which anyone can compute the bound again.
    """

    error: float
    bound: float
    values: tuple[float, ...]
    measures: tuple[tuple[float, ...], ...]
