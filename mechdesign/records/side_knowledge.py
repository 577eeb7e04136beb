"""Who knows something about a person: what reports of a view tell him, and sets for which he is promised no more.

**Theorem.** Somebody who knows that g(X) = s meets the law of the view given s, not its law in the population. For him
the leakage of a report (i, r) is that of r under ``P(f_i | g = s)``: the proof for the whole record, for the law
P(. | s). So the promise holds against everybody who knows g exactly if K_i is epsilon-PML for every ``P(f_i | g = s)``.
Without that there is no bound: a report that is likely in the population may be all but impossible given s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.joint_counts import JointCounts
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.composition import SEPARATOR
from mechdesign.numerics.exact import log_up, over_common_denominator
from mechdesign.records.record_frames import columns_of
from mechdesign.records.record_mechanism import RecordMechanism
from mechdesign.records.record_parts import RecordPart
from mechdesign.records.record_sample import RecordSample
from mechdesign.records.record_views import split
from mechdesign.uncertainty import ConvexHull, L1Ball, UncertaintySet, Union
from mechdesign.uncertainty.covering_ball import radius_around

_LISTED = 8  # categories of a union whose extreme rays are listed

GroupCounts = Mapping[Any, Mapping[Any, int]]
"""Counts of the categories of a view for each value of what somebody knows."""


def leakage_given(mechanism: Mechanism, counts: GroupCounts) -> dict[str, float]:
    """Return what reports about a view leak to somebody who knows another attribute, for each value of it.

    It is the greatest leakage of a report under the law of the view given that value, about what is possible there:
    categories that were never seen with the value count as impossible.

    Parameters
    ----------
    mechanism : Mechanism
        That of the view.
    counts : mapping of mappings
        ``{value: {category: count}}``, with categories of the mechanism.

    Returns
    -------
    dict
        In nats, rounded up, for each value.

    Raises
    ------
    InputError
        For what is not a table of counts, or a category that the mechanism lacks.

    Examples
    --------
    A bit that is reported with 3/4 for the true value leaks log(3/2) where both are as likely, and nearly log(3) to
    somebody who knows that one of them is rare.

    >>> from mechdesign import Guarantee
    >>> promise = Guarantee("log(3/2)", L1Ball([0.5, 0.5], labels=["no", "yes"]))
    >>> warner = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise)
    >>> found = leakage_given(warner, {"young": {"no": 50, "yes": 50}, "old": {"no": 99, "yes": 1}})
    >>> {age: round(leakage, 6) for age, leakage in found.items()}
    {'young': 0.405465, 'old': 1.07881}
    """
    joint = JointCounts.of(counts, about="group")
    unknown = [label for label in joint.labels if label not in mechanism.inputs]
    if unknown:
        raise InputError.unknown_label(
            f"the counts have {shorten(unknown[0])}, which the mechanism of the view does not know"
        )
    return _leakages(mechanism, joint.labels, dict(zip(joint.values, joint.counts, strict=True)))


def leakage_at_reference(part: RecordPart) -> float:
    """Return what a report leaks about all that its view shows, at the reference law, in nats, rounded up."""
    counts, _ = over_common_denominator(part.mechanism.guarantee.uncertainty.center)
    return _leakages(part.mechanism, part.mechanism.inputs, {"": counts})[""]


def _leakages(mechanism: Mechanism, labels: Sequence[str], counts: Mapping[str, Sequence[int]]) -> dict[str, float]:
    """Return the leakage under the law of each row of whole numbers, one for each label."""
    rows = np.array([mechanism.numerators[mechanism.inputs.index(label)] for label in labels])
    found = {}
    for value, row in counts.items():
        peaks = rows[np.array([count > 0 for count in row])].max(axis=0)
        means = (np.array(row, dtype=object) @ rows.astype(object)).tolist()
        ratios = [Fraction(int(peak) * sum(row), mean) for peak, mean in zip(peaks, means, strict=True) if mean]
        found[value] = log_up(max(ratios))
    return found


def set_against(counts: GroupCounts, *, delta: Fraction | None = None, known: bool = False) -> UncertaintySet:
    """Return the set of priors of a view with which its promise holds against those who know another attribute too.

    It holds the law given each value, and so that of the population, which is the reference prior. Laws that are known
    are the corners of a hull; learnt ones have a ball each, up to 8 categories, and beyond one ball around the
    reference prior that holds all of these, as designs list the rays of unions of up to 8 categories.

    Parameters
    ----------
    counts : mapping of mappings
        ``{value: {category: count}}``.
    delta : Fraction, optional
        The probability that any of the laws lies outside, where the counts are samples.
    known : bool
        Whether the counts are the laws themselves.

    Raises
    ------
    InputError
        For what is not a table of counts.

    Examples
    --------
    >>> hull = set_against({"f": {"yes": 30, "no": 70}, "m": {"yes": 10, "no": 90}}, known=True)
    >>> hull.center, len(hull.priors)
    ((Fraction(1, 5), Fraction(4, 5)), 2)
    """
    joint = JointCounts.of(counts, about="group")
    if known:
        laws = [joint.conditional(place) for place in range(len(joint.values))]
        return ConvexHull(laws, [Fraction(each, joint.total) for each in joint.of_values], joint.labels)
    part = None if delta is None else delta / len(joint.values)
    union = Union.from_counts(counts, delta=part)
    return union if union.size <= _LISTED else _covered(union)


def _covered(union: Union) -> Union:
    """Return a union with a ball around its reference prior that holds all of its sets (`Union.covered` moves it)."""
    balls = [each.l1_ball for each in union.sets if each.l1_ball is not None]
    radius = max(radius_around(ball, union.center) for ball in balls)
    return Union(union.sets, union.weights, cover=L1Ball(union.center, radius, union.labels), names=union.names)


@dataclass(frozen=True)
class SideLeakage:
    """What reports of a view leak to those who know another attribute.

    Attributes
    ----------
    view : str
        The name of the view that is reported.
    known : str
        The attribute that somebody knows.
    value : str
        The value of it for which a report leaks most.
    leakage : float
        In nats, rounded up.
    """

    view: str
    known: str
    value: str
    leakage: float


def side_leakages(mechanism: RecordMechanism, records: Any) -> tuple[SideLeakage, ...]:
    """Return what the reports of each view leak to somebody who knows another attribute, at the laws of some records.

    Parameters
    ----------
    mechanism : RecordMechanism
        Of views of the records.
    records : frame, table or mapping of columns
        With all attributes of the mechanism.

    Returns
    -------
    tuple of SideLeakage
        For each view and each attribute that it does not show, by falling leakage. Attributes of any strings are not
        among those that somebody knows.

    Raises
    ------
    InputError
        For columns that are missing, and values that no view knows.

    Examples
    --------
    >>> import mechdesign as md
    >>> records = {"smokes": ["yes"] * 30 + ["no"] * 70, "hurt": ["yes"] * 28 + ["no"] * 70 + ["yes"] * 2}
    >>> found = md.design_records(md.records.views_of(records), 1, known=True)
    >>> [(each.view, each.known, each.value) for each in side_leakages(found.mechanism, records)]
    [('smokes', 'hurt', 'yes'), ('hurt', 'smokes', 'yes')]
    """
    if mechanism.secret is not None:
        raise InputError.set_not_accepted(
            f"the promise is about {mechanism.guarantee.whose}, and this computes what is told about the record to "
            "those who know a column, of which a promise about a secret says nothing; leave out the records (records=)"
        )
    names = list(mechanism.alphabets)
    sample = RecordSample.of(records, names, bins=dict(mechanism.bins), alphabets=dict(mechanism.alphabets))
    found = [leak for part in mechanism.parts if part.is_open for leak in _of_strings(part, records, sample)]
    for part in mechanism.listed:
        for name in [name for name in names if name not in part.attributes]:
            table = sample.counts((name, *part.attributes)).reshape(len(sample.alphabets[name]), -1)
            labels, seen = sample.labels(part.attributes), table.sum(axis=0) > 0
            kept = [place for place, label in enumerate(labels) if seen[place] or label in part.mechanism.inputs]
            rows = zip(sample.alphabets[name], table, strict=True)
            by_value = {value: _by_symbol(part, labels, row, kept) for value, row in rows if row.any()}
            if len(by_value) > 1:  # one value alone tells nothing
                leakages = leakage_given(part.mechanism, by_value)
                worst = max(leakages, key=leakages.__getitem__)
                found.append(SideLeakage(part.name, name, worst, leakages[worst]))
    return tuple(sorted(found, key=lambda each: -each.leakage))


def _by_symbol(part: RecordPart, labels: Sequence[str], row: NDArray[Any], kept: Sequence[int]) -> dict[str, int]:
    """Return counts by the categories of a view; combinations that it merges are one."""
    found: dict[str, int] = {}
    for place in kept:
        lost = part.merged is not None and labels[place] not in part.mechanism.inputs
        symbol = part.merged if lost and part.merged is not None else labels[place]
        found[symbol] = found.get(symbol, 0) + int(row[place])
    return found


def _of_strings(part: RecordPart, records: Any, sample: RecordSample) -> Iterator[SideLeakage]:
    """Yield what a view of windows leaks to somebody who knows an attribute that has a list of values."""
    texts, places = part.mechanism.alphabet().texts(columns_of(records, part.attributes)[0])
    for name, labels in sample.alphabets.items():
        leakages = {}
        for code, value in enumerate(labels):
            counts: Counter[str] = Counter()
            times = np.bincount(places[sample.codes[name] == code], minlength=len(texts))
            for place in np.flatnonzero(times).tolist():
                counts[texts[place]] += int(times[place])
            if counts.total():
                leakages[value] = part.mechanism.leakage_at(counts)
        if len(leakages) > 1:  # one value alone tells nothing
            worst = max(leakages, key=leakages.__getitem__)
            yield SideLeakage(part.name, name, worst, leakages[worst])


def side_leakages_of_views(mechanism: RecordMechanism) -> tuple[SideLeakage, ...]:
    """Return what the reports of views tell those who know an attribute, at the reference laws of views that show both.

    Parameters
    ----------
    mechanism : RecordMechanism
        A view is left out where no view shows its attributes together with the one that is known.

    Returns
    -------
    tuple of SideLeakage
        By falling leakage. The known attribute may be one that the view shows, beside others.

    Examples
    --------
    >>> import mechdesign as md
    >>> records = {"smokes": ["yes"] * 30 + ["no"] * 70, "hurt": ["yes"] * 28 + ["no"] * 70 + ["yes"] * 2}
    >>> pair = md.design_records(md.records.views_of(records, pairs=True), 1, known=True).mechanism
    >>> [(each.view, each.known, each.value) for each in side_leakages_of_views(pair)]
    [('smokes+hurt', 'smokes', 'yes'), ('smokes+hurt', 'hurt', 'yes')]
    """
    found = []
    for part in mechanism.listed:
        for name in mechanism.alphabets:
            wanted = {*part.attributes, name}
            holder = next((other for other in mechanism.listed if wanted <= {*other.attributes}), None)
            if holder is not None and len(wanted) > 1:
                counts = _counts_given(name, part, holder)
                if len(counts) > 1:  # one value alone tells nothing
                    leakages = _leakages(part.mechanism, part.mechanism.inputs, counts)
                    worst = max(leakages, key=leakages.__getitem__)
                    found.append(SideLeakage(part.name, name, worst, leakages[worst]))
    return tuple(sorted(found, key=lambda each: -each.leakage))


def _counts_given(name: str, part: RecordPart, holder: RecordPart) -> dict[str, list[int]]:
    """Return the law of a view for each value of an attribute, in whole numbers, by a view that shows both."""
    weights, _ = over_common_denominator(holder.mechanism.guarantee.uncertainty.center)
    place = holder.attributes.index(name)
    places = [holder.attributes.index(attribute) for attribute in part.attributes]
    symbols = {label: symbol for symbol, label in enumerate(part.mechanism.inputs)}
    found: dict[str, list[int]] = {}
    for label, weight in zip(holder.mechanism.inputs, weights, strict=True):
        labels = split(label, len(holder.attributes))
        symbol = symbols.get(SEPARATOR.join(labels[each] for each in places))
        if weight and symbol is not None:
            found.setdefault(labels[place], [0] * len(symbols))[symbol] += int(weight)
    return found
