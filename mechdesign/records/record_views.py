"""Views: public functions of a record, each of which some people report about; and how labels of groups are written.

The category of a view of several attributes is the combination of their labels, written as one label: the labels in the
order of the attributes, with ``" & "`` between them, as in `ProductSet` and `Mechanism.product`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from mechdesign.data.labels import canonical_labels, check_parts, joined_labels
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism.composition import SEPARATOR
from mechdesign.numerics.arrays import entries
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import check_set
from mechdesign.uncertainty.evidence import Evidence

JOINT = "+"
"""Between the attributes of a view in its name."""
MERGED = "(other combination)"
"""What each attribute of a view is said to be in the category of merged combinations."""
LEAST_VALUE, MOST_VALUE = 1e-100, 1e100
"""What a squared error may count, so that errors and bounds are finite."""
_WINDOWS = ("split", "heavy", "seeds", "buckets", "one_layer", "any_seed", "master", "form")


@dataclass(frozen=True)
class View:
    """A view of the record before its mechanism is designed.

    Parameters
    ----------
    attributes : sequence of str
        The columns that it shows; several of them are a group, whose categories are combinations (`join`).
    prior : UncertaintySet or mapping
        A set of priors of the view's categories, or counts by label. A `SecretPromise` makes the promise of the whole
        one about that secret, and about nothing else.
    workload : optional
        The queries about its categories (`mechdesign.Workload`); all frequencies by default.
    value : float
        What a squared error of its queries counts, against those of other views.
    windows : mapping, optional
        Options of `mechdesign.windows.design_windows`, perhaps none of them: the view is then of any strings, also of
        those that the counts lack, and its queries are the shares of all strings of the counts. With ``split`` a share
        of the records, drawn at random, chooses heavy strings, and the rest proves (`split_sample`).
    merged : str, optional
        The category that stands for all combinations that the view does not list; without it they are refused.
    combinations : int, optional
        How many combinations there are, where some labels stand in merged ones alone; delta covers the choice of these.
    secret : str, optional
        The attribute about which the view promises, and about nothing else: the counts are then by its values,
        ``{value: {label: count}}``.

    Raises
    ------
    InputError
        For attributes that are missing or occur twice, a prior that is neither, or a value that is not positive.

    Examples
    --------
    >>> View(("sex", "salary"), {"f & low": 3, "f & high": 1, "m & low": 2, "m & high": 2}).name
    'sex+salary'
    """

    attributes: tuple[str, ...]
    prior: UncertaintySet | Mapping[str, int]
    workload: Any = None
    value: float = 1.0
    windows: Mapping[str, Any] | None = None
    merged: str | None = None
    secret: str | None = None
    combinations: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", checked_attributes(self.attributes))
        if self.windows is not None and (
            len(self.attributes) > 1 or self.workload is not None or not isinstance(self.prior, Mapping)
        ):
            raise InputError.conflicting_arguments(
                f"the view {self.name} is of windows; accepted: one attribute with counts by string, without a workload"
            )
        if self.secret is not None and (self.windows is not None or not isinstance(self.prior, Mapping)):
            raise InputError.conflicting_arguments(
                f"the view {self.name} has a secret, and is of windows or has a set of priors; accepted: counts by the "
                "values of the secret, or a SecretPromise without secret"
            )
        for option in self.windows or ():
            if option not in _WINDOWS:
                raise InputError.unknown_choice(
                    f"an option of the windows of {self.name} is {shorten(option)}; accepted: {', '.join(_WINDOWS)}"
                )
        if not isinstance(self.prior, Mapping):
            check_set(self.prior)
        number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        if not number or not LEAST_VALUE <= self.value <= MOST_VALUE:
            raise InputError.out_of_range(
                f"the value of the view {self.name} is {shorten(self.value)}; accepted: a number above 0, from "
                f"{LEAST_VALUE:g} to {MOST_VALUE:g}"
            )

    @property
    def name(self) -> str:
        """What the view is called: its attributes with ``+`` between them."""
        return name_of(self.attributes)

    def with_prior(self, prior: UncertaintySet) -> View:
        """Return the view with another prior; one about a secret names it."""
        return replace(self, prior=prior, secret=None)


def evidence_apart(evidence: Evidence, labels: Sequence[str], attributes: int, combinations: int = 0) -> Evidence:
    """Return counts of a view that merges combinations as counts of all combinations, each by itself.

    The counts choose what is merged. No choice makes an l1 distance larger than it is without merging, so that a radius
    for these counts holds for the categories too, whatever was chosen.

    Parameters
    ----------
    evidence : Evidence
        The counts of the categories.
    labels : sequence of str
        The categories: combinations of so many ``attributes``, of which one, with labels of its own, is the merged one.
    combinations : int
        How many there are, if more than those of the labels that are shown.

    Examples
    --------
    >>> evidence_apart(Evidence((3, 2, 0), 5, None), ["a & x", "b & y", "rest & rest"], 2).counts
    (3, 2, 0, 0)
    """
    shown = prod(len({*column}) - 1 for column in zip(*(split(label, attributes) for label in labels), strict=True))
    lacking = max(shown, combinations) - len(evidence.counts)
    return replace(evidence, counts=(*evidence.counts, *[0] * lacking))


def name_of(attributes: Sequence[str]) -> str:
    """Return the name of the view of some attributes.

    Examples
    --------
    >>> name_of(("sex", "salary"))
    'sex+salary'
    """
    return JOINT.join(attributes)


def checked_attributes(given: Any) -> tuple[str, ...]:
    """Return the attributes of a view, after checking that they are names and differ."""
    if isinstance(given, str):
        raise InputError.wrong_type(f"attributes are {shorten(given)}, one string; give a tuple of names of columns")
    names = entries(given, "the attributes of a view", "a tuple of names of columns")
    if not names:
        raise InputError.nothing_given("a view has no attributes; give the column that it shows")
    return canonical_labels(names, len(names))


def join(combinations: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the label of each combination of labels.

    Raises
    ------
    InputError
        If a label holds the separator, or would together with what stands beside it, so that the combination could not
        be read back.

    Examples
    --------
    >>> join([("f", "low"), ("m", "high")])
    ('f & low', 'm & high')
    """
    listed = [tuple(parts) for parts in combinations]
    for parts in listed:
        if len(parts) > 1:
            check_parts(parts, SEPARATOR)
    return joined_labels(listed, SEPARATOR)


def split(label: str, count: int) -> tuple[str, ...]:
    """Return the labels of a combination of so many attributes.

    Raises
    ------
    InputError
        If the label does not hold so many, or could be read in another way.

    Examples
    --------
    >>> split("f & low", 2), split("a & b", 1)
    (('f', 'low'), ('a & b',))
    """
    if count == 1:
        return (label,)
    parts = tuple(label.split(SEPARATOR))
    if len(parts) != count:
        raise InputError.labels_differ(
            f"the label {shorten(label)} of a group of {count} attributes has {len(parts)} parts; write a combination "
            f"as labels with {shorten(SEPARATOR)} between them"
        )
    check_parts(parts, SEPARATOR)
    return parts
