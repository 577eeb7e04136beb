"""Views from a sample of records: columns, pairs, groups, numbers in bins, side knowledge, impossible combinations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError, shorten
from mechdesign.records.number_bins import NumberBins
from mechdesign.records.record_frames import columns_in, columns_of
from mechdesign.records.record_sample import Labels, RecordSample, people_of, totals
from mechdesign.records.record_views import JOINT, MERGED, View, join, name_of
from mechdesign.utility import Workload
from mechdesign.windows.columns_of_strings import StringColumn
from mechdesign.windows.strings import FORMS, normal

Unseen = Literal["keep", "impossible", "merge"]


@dataclass(frozen=True)
class RecordViews(Sequence[View]):
    """Views that were made from records.

    Attributes
    ----------
    views : tuple of View
        With the counts of the records.
    bins : mapping from str to NumberBins
        Of the attributes that are numbers.
    ruled_out : mapping from str to tuple of str
        By the name of a view the combinations that it leaves out, which the promise takes as impossible.
    """

    views: tuple[View, ...]
    bins: Mapping[str, NumberBins]
    ruled_out: Mapping[str, Labels]

    def __getitem__(self, index: Any) -> Any:
        return self.views[index]

    def __len__(self) -> int:
        return len(self.views)


def views_of(  # noqa: PLR0913 - each is a choice of its own
    records: Any,
    columns: Sequence[str] | None = None,
    *,
    groups: Iterable[str | Sequence[str]] = (),
    pairs: bool = False,
    bins: Mapping[str, object] | None = None,
    alphabets: Mapping[str, Iterable[object]] | None = None,
    workloads: Mapping[str, object] | None = None,
    values: Mapping[str, float] | None = None,
    side: Sequence[str] = (),
    unseen: Unseen = "keep",
    impossible: Iterable[Mapping[str, object]] = (),
    missing: str | None = None,
    counts: str | None = None,
    strings: Mapping[str, Mapping[str, Any]] | None = None,
    secret: str | None = None,
) -> RecordViews:
    """Return views of records, with their counts, for `mechdesign.design_records`.

    Each column is a view for the frequencies of its values; each group one view for the one-way tables of its columns;
    with pairs each two columns are a view for their two-way table.

    Parameters
    ----------
    records : frame of pandas or polars, pyarrow Table, or mapping from columns to values
        A row for each record. A missing value must be a value of its own (``missing``).
    columns : sequence of str, optional
        By default all.
    groups : iterable of str such as "sex+salary", or of sequences of columns
        These columns are shown together, in one view; the other columns stay views.
    pairs : bool
        All pairs of columns, in place of columns.
    bins : mapping from column to a number of bins or edges, optional
        Columns that are numbers (`RecordSample.of`).
    alphabets : mapping from column to labels, optional
        As for `RecordSample.of`.
    workloads : mapping from the name of a view to a workload, optional
        Other queries. For a column in bins ``"mean"`` is the mean of its numbers, each bin by the mean of its records.
    values : mapping from the name of a view to a number, optional
        What a squared error of its queries counts.
    side : sequence of str, optional
        Columns that somebody may know: the promise of each view that does not show such a column holds against him too.
        A view of the column alone tells him nothing. Of several columns somebody may know one; for somebody who knows
        two, give a column of their pairs of values.
    unseen : str
        ``"keep"``: combinations of a view that were never seen are cells as others. ``"impossible"``: they are taken as
        impossible. The promise then is for people alone who have none of them. ``"merge"``: in groups they are one
        category of their own, ``(other combination)`` of each column; a table of a column then says how many have a
        value *and* a combination that was seen, and how many another one.
    impossible : iterable of mappings from columns to values
        Combinations that nobody has, such as ``{"sex": "Male", "relationship": "Wife"}``: left out of every view that
        shows these columns.
    missing : str, optional
        The label that stands for missing values, such as ``?``; by default these are refused.
    counts : str, optional
        The column that says how many people a row stands for, where the records are a table of counts.
    strings : mapping from column to options of windows, optional
        Columns of any strings, also of such as the records lack: each is a view of windows, with the options of
        `mechdesign.windows.design_windows` (``{}`` for none), or ``split``, the share of the records that chooses
        heavy strings.
    secret : str, optional
        The column that is protected, **and nothing else**: each view is counted by the values of this column. A view of
        the column alone, or of any strings, keeps its promise about all of itself.

    Raises
    ------
    InputError
        For columns that are not there or in two groups, names that no view has, groups that show a side column,
        combinations that are declared impossible and were seen, and columns of any strings in groups, pairs or bins.
    LimitError
        For a view with more than 10,000 combinations.

    Examples
    --------
    >>> records = {"sex": ["f", "m", "f", "m"], "wife": ["y", "n", "n", "n"], "age": [20, 50, 30, 60]}
    >>> found = views_of(records, groups=["sex+wife"], bins={"age": [40]}, impossible=[{"sex": "m", "wife": "y"}])
    >>> [(view.name, view.prior) for view in found]
    [('sex+wife', {'f & n': 1, 'f & y': 1, 'm & n': 2}), ('age', {'under 40': 2, '40 or more': 2})]
    >>> found.ruled_out
    {'sex+wife': ('m & y',)}
    """
    together = [_split(group, records) for group in groups]
    beside = _beside(secret, side, unseen, pairs=pairs, declared=bool(impossible := list(impossible)))
    free = strings or {}
    whole = [name for name in columns_in(records) if name != counts] if columns is None else columns
    wanted = [name for name in _wanted(whole, together, beside) if name not in free]
    in_groups = [name for each in together for name in each]
    _check_free(free, whole, [*(bins or {}), *(alphabets or {}), *beside, *in_groups])
    sample = RecordSample.of(records, wanted, bins=bins, alphabets=alphabets, missing=missing, counts=counts)
    main = [name for name in [*whole, *in_groups] if name not in free]
    shown = _shown(list(dict.fromkeys(main)), together, pairs=pairs)
    declared = [_checked(each, sample) for each in impossible]
    _check_names({**(workloads or {}), **(values or {})}, [*map(name_of, shown), *free])
    views, ruled_out = [], {}
    for attributes in shown:
        name, value = name_of(attributes), (values or {}).get(name_of(attributes), 1.0)
        if unseen == "merge" and (merging := _merging(sample, attributes, (workloads or {}).get(name))):
            views.append(replace(merging, value=value))
            continue
        kept = _kept(sample, attributes, declared, unseen)
        if not kept.all():
            ruled_out[name] = tuple(np.array(sample.labels(attributes), dtype=object)[~kept])
        given = _workload(sample, attributes, kept, (workloads or {}).get(name), pairs=pairs)
        about = None if attributes == (secret,) else secret
        views.append(View(attributes, _counts(sample, attributes, kept, beside, about), given, value, secret=about))
    of_shown = {name: each for name, each in sample.bins.items() if name in main}  # a secret in bins may not be shown
    views += _open_views(records, free, (workloads or {}, values or {}), missing, counts)
    return RecordViews(tuple(views), of_shown, ruled_out)


def views_of_tables(
    tables: Iterable[Any],
    counts: str = "count",
    *,
    side: Sequence[str] = (),
    pairs: bool = False,
    secret: str | None = None,
    **options: Any,
) -> RecordViews:
    """Return views of tables of counts, one of each table: nobody has to have records with all columns.

    Parameters
    ----------
    tables : iterable of frames, tables or mappings of columns
        Each with the columns of its view, those of ``side`` and the secret if it does not show them, and that of the
        counts.
    counts : str
        The name of the column of counts.
    side, pairs, secret, bins, workloads, values, unseen, impossible, missing, strings
        As for `views_of`; with pairs the views of two columns are for their two-way tables.

    Raises
    ------
    InputError
        As `views_of`; and for an option about a column or a view that no table has.

    Examples
    --------
    >>> pair = {"sex": ["f", "f", "m"], "salary": ["low", "high", "low"], "count": [300, 100, 400]}
    >>> found = views_of_tables([pair, {"age": [17, 40, 50], "count": [200, 500, 100]}], bins={"age": [18]})
    >>> [view.name for view in found], found[1].prior
    (['sex+salary', 'age'], {'under 18': 200, '18 or more': 600})
    """
    found, used, beside = [], set(), {*side, secret}
    for table in tables:
        columns = [name for name in columns_in(table) if name != counts and name not in beside]
        shown = columns or [name for name in columns_in(table) if name != counts]
        name = name_of(shown)
        known = {*columns_in(table)}
        own: dict[str, Any] = {key: options[key] for key in ("unseen", "missing") if key in options}
        for key, wanted in (("bins", known), ("strings", known), ("workloads", {name}), ("values", {name})):
            own[key] = {each: value for each, value in (options.get(key) or {}).items() if each in wanted}
            used |= {(key, each) for each in own[key]}
        own["impossible"] = [each for each in options.get("impossible") or () if {*each} <= known]
        two = pairs and len(shown) == 2
        groups = [shown] if len(shown) > 1 and not two else []
        own |= {"groups": groups, "pairs": two, "side": side, "secret": secret}
        found.append(views_of(table, shown, counts=counts, **own))
    for key in ("bins", "strings", "workloads", "values"):
        for each in options.get(key) or {}:
            if (key, each) not in used:
                raise InputError.unknown_choice(
                    f"{key} are given for {shorten(each)}, which no table has; leave it out"
                )
    if not found:
        raise InputError.nothing_given("there are no tables; give one for each view")
    bins = {name: each for views in found for name, each in views.bins.items()}
    ruled_out = {name: labels for views in found for name, labels in views.ruled_out.items()}
    return RecordViews(tuple(view for views in found for view in views), bins, ruled_out)


def _split(group: str | Sequence[str], records: Any) -> Labels:
    """Return the columns of a group.

    Raises
    ------
    InputError
        For a name of a group that is the name of a column too.
    """
    if not isinstance(group, str):
        return tuple(group)
    if group in columns_in(records):
        raise InputError.ambiguous_labels(
            f"the group {shorten(group)} has the name of a column; give the columns of the group as a list"
        )
    return tuple(group.split(JOINT))


def _beside(secret: str | None, side: Sequence[str], unseen: str, *, pairs: bool, declared: bool) -> Sequence[str]:
    """Return the columns by which views are counted, after refusing what cannot be done together."""
    _check_unseen(unseen, pairs=pairs, declared=declared, side=side)
    if secret is None:
        return side
    if side or unseen == "merge":
        raise InputError.conflicting_arguments(
            "secret is given beside side or unseen=merge: a promise about one column holds against those who know no "
            "other, at laws that leave nothing unseen; leave them out"
        )
    return (secret,)


def _check_unseen(unseen: str, *, pairs: bool, declared: bool, side: Sequence[str]) -> None:
    """Refuse what cannot be done with combinations that were never seen."""
    if unseen not in {"keep", "impossible", "merge"}:
        raise InputError.unknown_choice(f"unseen is {shorten(unseen)}; accepted: keep, impossible, merge")
    if unseen == "merge" and (pairs or declared or side):
        raise InputError.conflicting_arguments(
            "unseen is merge, which is for groups, without pairs, impossible and side: a merged combination says "
            "nothing of its columns, and takes all that was never seen; leave them out"
        )


def _merging(sample: RecordSample, attributes: Labels, workload: object) -> View | None:
    """Return a group in which combinations that were never seen are one category; None if there are none."""
    counts = sample.counts(attributes).ravel()
    kept = counts > 0
    if len(attributes) < 2 or kept.all():
        return None
    if workload is not None:
        raise InputError.bad_workload(
            f"the workload of {name_of(attributes)} is given, and it merges combinations; it is for its one-way tables"
        )
    labels = [label for label, keep in zip(sample.labels(attributes), kept.tolist(), strict=True) if keep]
    (rest,) = join([[MERGED] * len(attributes)])
    rows = Workload.marginals(sample.shape(attributes)).queries(kept.size)[:, kept]
    rows = np.block([[rows, np.zeros((len(rows), 1))], [np.zeros((1, len(labels))), np.ones((1, 1))]])
    prior = {**dict(zip(labels, counts[kept].tolist(), strict=True)), rest: 0}
    return View(attributes, prior, Workload.matrix(rows.tolist()), merged=rest, combinations=kept.size)


def _check_names(given: Iterable[str], names: Sequence[str]) -> None:
    """Refuse names that no view has."""
    for name in given:
        if name not in names:
            raise InputError.unknown_choice(f"there is no view {shorten(name)}; accepted: {shorten(names, 200)}")


def _check_free(free: Mapping[str, Any], columns: Sequence[str], listed: Sequence[str]) -> None:
    """Refuse columns of any strings that are not there, or that need a list of values."""
    for name in free:
        if name not in columns or name in listed:
            why = "which is in bins, a group, side or alphabets" if name in listed else "which is not among the columns"
            raise InputError.conflicting_arguments(
                f"strings has {shorten(name)}, {why}; a column of any strings is a view of its own"
            )


def _counts_of_strings(
    records: Any, name: str, options: Mapping[str, Any], missing: str | None, counts: str | None
) -> dict[str, int]:
    """Return how often each string occurs in a column."""
    form = options.get("form", "nfc")
    if form not in FORMS:
        raise InputError.unknown_choice(f"form is {shorten(form)}; accepted: {' or '.join(map(repr, FORMS))}")
    (column,) = columns_of(records, [name])
    other = None if missing is None else normal(missing, form)
    texts, codes = StringColumn(form, other, lambda row: f"records[{row}], {shorten(name)}").texts(column)
    weights = None if counts is None else people_of(columns_of(records, [counts])[0], counts)
    found: dict[str, int] = {}
    for text, count in zip(texts, totals(codes, len(texts), weights).tolist(), strict=True):
        found[text] = found.get(text, 0) + count
    return found


def _open_views(
    records: Any, options: Mapping[str, Any], asked: tuple[Any, Any], missing: str | None, counts: str | None
) -> list[View]:
    """Return the views of columns of any strings; of each the workload and the value may be asked for."""
    found, (workloads, values) = [], asked
    for name, own in options.items():
        prior = _counts_of_strings(records, name, own, missing, counts)
        found.append(View((name,), prior, workloads.get(name), values.get(name, 1.0), own))
    return found


def _wanted(columns: Sequence[str], groups: Sequence[Labels], side: Sequence[str]) -> list[str]:
    """Return the columns that are read."""
    if isinstance(columns, str):
        raise InputError.wrong_type(f"columns are {shorten(columns)}, one string; give a list of columns")
    return list(dict.fromkeys([*columns, *(name for group in groups for name in group), *side]))


def _shown(names: Sequence[str], together: Sequence[Labels], *, pairs: bool) -> list[Labels]:
    """Return the attributes of each view: groups first."""
    if pairs:
        if together:
            raise InputError.conflicting_arguments("pairs and groups are given; give one of both")
        return list(combinations(names, 2))
    listed = [name for group in together for name in group]
    for name in listed:
        if name not in names:
            raise InputError.unknown_column(f"a group shows {shorten(name)}; accepted: {shorten(list(names), 200)}")
        if listed.count(name) > 1:
            raise InputError.column_twice(f"{shorten(name)} is in two groups; show each column in one view")
    return [*together, *((name,) for name in names if name not in listed)]


def _checked(given: Mapping[str, object], sample: RecordSample) -> dict[str, int]:
    """Return an impossible combination as codes."""
    if not isinstance(given, Mapping) or len(given) < 2:
        raise InputError.wrong_type(
            f"an impossible combination is {shorten(given)}; accepted: a mapping from two columns or more to values"
        )
    sample.shape(list(given))
    for name, value in given.items():
        if str(value) not in sample.alphabets[name]:
            raise InputError.unknown_label(
                f"an impossible combination has {shorten(value)} for {shorten(name)}, which has no such value"
            )
    return {name: sample.alphabets[name].index(str(value)) for name, value in given.items()}


def _kept(
    sample: RecordSample, attributes: Labels, declared: Sequence[Mapping[str, int]], unseen: Unseen
) -> NDArray[np.bool_]:
    """Return which combinations are cells of a view.

    Raises
    ------
    InputError
        If one that is declared impossible was seen.
    """
    counts = sample.counts(attributes)
    kept = np.ones(counts.shape, dtype=bool)
    for each in declared:
        if set(each) <= set(attributes):
            place = tuple(each.get(name, slice(None)) for name in attributes)
            if counts[place].any():
                shown = " and ".join(f"{name} {shorten(sample.alphabets[name][code])}" for name, code in each.items())
                raise InputError.evidence_contradicts(
                    f"{shown} is declared impossible, and {int(counts[place].sum())} records have it; leave it out"
                )
            kept[place] = False
    if unseen == "impossible" and len(attributes) > 1:
        kept &= counts > 0
    return kept.ravel()


def _workload(sample: RecordSample, attributes: Labels, kept: NDArray[np.bool_], asked: Any, *, pairs: bool) -> Any:
    """Return the queries of a view; of a group its one-way tables, where nothing else is asked."""
    if asked is None and len(attributes) > 1 and not pairs:
        return _tables(sample.shape(attributes), kept)
    return _mean(sample, attributes) if isinstance(asked, str) and asked == "mean" else asked


def _tables(shape: tuple[int, ...], kept: NDArray[np.bool_]) -> Workload:
    """Return the one-way tables of a group, over the cells that it has."""
    if kept.all():
        return Workload.marginals(shape)
    return Workload.matrix(Workload.marginals(shape).queries(kept.size)[:, kept].tolist())


def _mean(sample: RecordSample, attributes: tuple[str, ...]) -> Workload:
    (name, *others) = attributes
    if others or name not in sample.means:
        raise InputError.bad_workload(
            f"the workload of {shorten(name_of(attributes))} is mean; accepted for a number in bins, shown alone; put "
            "it into bins, such as --bins age=10 (bins= of views_of), or give Workload.mean(scores)"
        )
    return Workload.mean(sample.means[name].tolist())


def _counts(
    sample: RecordSample, attributes: Labels, kept: NDArray[np.bool_], side: Sequence[str], secret: str | None = None
) -> dict[str, Any]:
    """Return the counts of a view by label; by group, where somebody may know other columns, or by seen secret."""
    labels = [label for label, keep in zip(sample.labels(attributes), kept.tolist(), strict=True) if keep]
    if len(attributes) > 1 and (known := [name for name in side if name in attributes]):
        raise InputError.conflicting_arguments(
            f"the view {name_of(attributes)} shows {shorten(known[0])}, which is the secret, or somebody may know it; "
            "leave it out of groups"
        )
    found: dict[str, Any] = {}
    for name in side:
        if name not in attributes:
            by_value = sample.counts((name, *attributes)).reshape(len(sample.alphabets[name]), -1)[:, kept]
            for value, row in zip(sample.alphabets[name], by_value.tolist(), strict=True):
                if secret is None or any(row):
                    found[f"{name} {value}" if secret is None else value] = dict(zip(labels, row, strict=True))
    if found:
        return found
    return dict(zip(labels, sample.counts(attributes).ravel()[kept].tolist(), strict=True))
