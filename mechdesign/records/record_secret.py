"""A mechanism of whole records whose promise is about one secret: which views keep it, and what their sets say.

**Theorem.** Let S be any attribute, shown by a view or not, and let view i be drawn independently of the record and S.
For every joint law of S and the record the leakage of the report (i, r) about S is that of r about S:

    ``max_s w_i E[K_i(r | f_i(X)) | s] / (w_i E K_i(r | f_i(X)))``.

So the whole is epsilon-PML of S for every joint law whose law of (S, f_i(X)) lies in the set of each view that promises
about S, and whose law of f_i(X) lies in the set of each other view: these promise about all of f_i(X), and given S the
mean of a column is at most its greatest entry. Of anything else nothing is promised. A view that promises about another
secret promises nothing about S.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from mechdesign.errors import InputError, shorten
from mechdesign.mechanism.composition import SEPARATOR
from mechdesign.records.record_views import name_of
from mechdesign.uncertainty import L1Ball, SecretPromise, UncertaintySet

ShownSet = tuple[str, Sequence[str], UncertaintySet]
"""The name of a view, its attributes, and its set of priors."""


def secret_of(views: Iterable[ShownSet]) -> str | None:
    """Return the secret about which views promise; None where all promise about the whole record.

    Raises
    ------
    InputError
        For views of two secrets, of two lists of values of one, and for a set whose data are not those of its view.

    Examples
    --------
    >>> known = SecretPromise([[2, 1], [1, 2]], secret="sex", useful="job", known=True)
    >>> secret_of([("job", ("job",), known), ("age", ("age",), L1Ball([0.5, 0.5]))])
    'sex'
    """
    first: SecretPromise | None = None
    for name, attributes, known in views:
        if (own := known.secret_promise) is None:
            continue
        if own.useful != name_of(attributes):
            raise InputError.labels_differ(
                f"the view {shorten(name)} shows {shorten(name_of(attributes))}, and its promise is for the joint law "
                f"of {shorten(own.secret)} and {shorten(own.useful)}; name the data as the view"
            )
        first = first or own
        if own.secret != first.secret:
            raise InputError.set_not_accepted(
                f"views promise about {shorten(first.secret)} and about {shorten(own.secret)}: together they promise "
                "nothing; make one mechanism for each secret, and let a person report through one of them"
            )
        if {*own.joint.values} != {*first.joint.values}:
            raise InputError.labels_differ(
                f"the values of {shorten(own.secret)} are {shorten(list(first.joint.values))} in one view and "
                f"{shorten(list(own.joint.values))} in the view {shorten(name)}; give all views the same values"
            )
    return None if first is None else first.secret


def check_secret(stated: str | None, views: Iterable[ShownSet]) -> None:
    """Refuse a secret that is not the one about which the views promise.

    Raises
    ------
    InputError
        As `secret_of`; and if a secret is stated where the promise is about the whole record, or none where it is not.
    """
    found = secret_of(views)
    if found == stated:
        return
    if found is None:
        raise InputError.needless_argument(
            f"the secret is {shorten(stated)}, and all views promise about the whole record, with everything that "
            "depends on it; leave it out"
        )
    raise InputError.set_not_accepted(
        f"the secret is {'not stated' if stated is None else shorten(stated)}, and a view promises about "
        f"{shorten(found)} alone; state secret {shorten(found)}: then nothing is promised about the rest of the record"
    )


def check_shown_secret(attributes: Sequence[str], known: UncertaintySet, merged: str | None = None) -> None:
    """Refuse a promise about a secret that the view itself shows, under laws of which no record can be.

    Given a value of the secret only cells that show this value have a probability, or the merged one. A set without
    such a law holds no law of any record, and the promise would be for nobody.

    Raises
    ------
    InputError
        If the set has no such law, naming the value.

    Examples
    --------
    >>> joint = {"f": {"f & a": 1, "m & a": 0}, "m": {"f & a": 0, "m & a": 1}}
    >>> known = SecretPromise(joint, secret="sex", useful="sex+job", known=True)
    >>> check_shown_secret(("sex", "job"), known)
    """
    own = known.secret_promise
    if own is None or own.secret not in attributes:
        return
    place, joint = attributes.index(own.secret), own.joint
    for k, value in enumerate(joint.values):
        others = [int(label != merged and label.split(SEPARATOR)[place] != value) for label in joint.labels]
        if own.limits is None:
            least: Fraction | int = sum(n for n, other in zip(joint.counts[k], others, strict=True) if other)
        else:
            least = own.limits.given[k].exact_support(others)
        if least > 0:
            raise InputError.evidence_contradicts(
                f"{shorten(own.useful)} shows {shorten(own.secret)}, and under every law of the promise some records "
                f"of {shorten(value)} show another value of it, so the promise is for nobody; count both in the same "
                "records"
            )


def tables_of(views: Iterable[ShownSet]) -> Iterator[ShownSet]:
    """Yield what sets say of tables, for comparisons of tables that views share.

    A promise for a known joint law says that law: of the secret and the view. One within limits says the law of the
    secret, and that of the view, by their estimates.
    """
    for name, attributes, known in views:
        own = known.secret_promise
        if own is None:
            yield name, attributes, known
        elif own.limits is None:
            shown, joint = _known_joint(attributes, own)
            yield name, shown, joint
            if own.secret not in shown:
                yield name, (own.secret,), _table(own.joint.values, own.joint.of_values)
        else:
            yield name, attributes, known
            yield name, (own.secret,), own.limits.of_secret


def _known_joint(attributes: Sequence[str], known: SecretPromise) -> tuple[tuple[str, ...], L1Ball]:
    """Return the known table of the secret and a view, or of the view where this cannot be written as labels."""
    joint = known.joint
    labels = [*joint.values, *(joint.labels if len(attributes) == 1 else ())]
    if known.secret in attributes or any(SEPARATOR in f" {label} " for label in labels):
        return tuple(attributes), _table(joint.labels, joint.of_symbols)
    cells = {
        f"{value}{SEPARATOR}{label}": count
        for value, row in zip(joint.values, joint.counts, strict=True)
        for label, count in zip(joint.labels, row, strict=True)
    }
    return (known.secret, *attributes), _table(list(cells), list(cells.values()))


def _table(labels: Sequence[str], counts: Sequence[int]) -> L1Ball:
    """Return a known law, without the cells that it rules out."""
    kept = [(label, count) for label, count in zip(labels, counts, strict=True) if count]
    total = sum(counts)
    return L1Ball([Fraction(count, total) for _, count in kept], 0, [label for label, _ in kept])
