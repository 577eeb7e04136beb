"""What people and programs read of a mechanism of whole records."""

from __future__ import annotations

import math
from itertools import islice, product
from typing import Any

import numpy as np

from mechdesign.display.numbers import counted, text_above
from mechdesign.display.text import some
from mechdesign.errors import shorten
from mechdesign.mechanism.words import delta_in_words
from mechdesign.numerics.exact import printed_up
from mechdesign.records.record_views import join, split


class RecordWords:
    """The words and keys of a `RecordMechanism`."""

    def __repr__(self: Any) -> str:
        promise = self.guarantee
        views = f"{len(self.parts)} views of {len(self.attributes)} attributes"
        return f"RecordMechanism({views}, epsilon = {promise.epsilon}, leakage <= {text_above(self.leakage, 6)})"

    @property
    def ruled_out(self: Any) -> dict[str, tuple[str, ...]]:
        """The combinations that a view leaves out, by its name: the promise takes them as impossible."""
        found = {}
        for part, table in zip(self.parts, self.tables, strict=True):
            if not (part.is_open or table.is_full):
                alphabets = [self.alphabets[name] for name in part.attributes]
                places = np.argwhere(table.symbols.reshape(table.sizes) < 0).tolist()
                rows = [[labels[place] for labels, place in zip(alphabets, row, strict=True)] for row in places]
                found[part.name] = join(rows)
        return found

    @property
    def merged(self: Any) -> dict[str, int]:
        """By the name of a view how many combinations of its labels are reported as one category."""
        parts = [part for part in self.listed if part.merged is not None]
        sizes = {part.name: [len(own) for own in self._values_beside_merged(part)] for part in parts}
        return {part.name: math.prod(sizes[part.name]) - len(part.mechanism.inputs) + 1 for part in parts}

    def in_category(self: Any, part: Any, most: int) -> list[str]:
        """Return the first of the combinations that a view reports as one category, at most so many."""
        inputs = {split(label, len(part.attributes)) for label in part.mechanism.inputs}
        rest = (labels for labels in product(*self._values_beside_merged(part)) if labels not in inputs)
        return list(join(islice(rest, most)))

    def _values_beside_merged(self: Any, part: Any) -> list[list[str]]:
        """Return the labels of each attribute of a view, without those that name its merged category."""
        of_category = split(part.merged, len(part.attributes))
        both = zip(part.attributes, of_category, strict=True)
        return [[label for label in self.alphabets[name] if label != own] for name, own in both]

    def facts(self: Any, *, of_report: bool = False) -> list[tuple[str, str]]:
        """Return what people read of the guarantee, as names and values; of a report alone, in fewer words."""
        promise = self.guarantee
        facts = [("guarantee", promise.in_words())]
        leakage = f"at most {text_above(self.leakage, 15)} nats a report about {promise.whose}"
        facts.append(("leakage", f"{leakage}, the greatest of the views, proved in exact arithmetic"))
        if of_report:
            return facts
        if self.secret is not None:
            others = f"everything else in the record, as far as that says nothing about {shorten(self.secret)}"
            others += "" if promise.cap is None else f", and as far as cap = {promise.cap} allows"
            facts.append(("not protected", others))
        if promise.delta is not None:
            words = "the sum over the views: the true law of one of them lies outside with at most this probability"
            if promise.asserts_samples:
                words += "; a what-if: it rests on samples that are asserted, not shown"
            facts.append(("delta", f"{text_above(promise.delta, 15)}: {words}"))
        elif without := _without_delta(promise):
            listed = some(without, 3)
            facts.append(
                ("delta", f"none in all: of {listed} the law is taken as known; views from samples have their own")
            )
        if self.lower_leakage is not None:
            facts.append(("from below", f"at most {text_above(self.lower_leakage, 15)} nats, proved likewise"))
        for part, share in zip(self.parts, self.shares, strict=True):
            facts.append((f"view {part.name}", f"{100 * share:.3g} % of the reports; {_about(part)}"))
        for name, count in self.merged.items():
            held = some(self.in_category(self.part(name), 3), 3, of=count)
            category = category_of(self.part(name))
            facts.append(
                (f"merged in {name}", f"{counted(count, 'combination')} into one category, {category}: {held}")
            )
        for name, labels in self.ruled_out.items():
            count = counted(len(labels), "combination")
            facts.append((f"impossible in {name}", f"{count}: {some(labels, 3)}; nobody has them, as is assumed"))
        return facts

    def promised_keys(self: Any) -> dict[str, Any]:
        """Return what programs read of the guarantee."""
        promise = self.guarantee
        asked = {
            "lower": promise.lower,
            "cap": promise.cap,
            "lower_leakage": self.lower_leakage,
            "secret": self.secret,
            "samples_asserted": promise.asserts_samples or None,
        }
        return {
            "epsilon": promise.epsilon,
            "delta": None if promise.delta is None else printed_up(promise.delta),
            "attributes": self.attributes,
            "weight_bits": self.weight_bits,
            "views": [_keys(part) for part in self.parts],
            "leakage": self.leakage,
            **{name: value for name, value in asked.items() if value is not None},
        }


def category_of(part: Any) -> str:
    """Return what the merged category of a view is called: its label once, where it is that of each attribute."""
    labels = {*split(part.merged, len(part.attributes))}
    return labels.pop() if len(labels) == 1 else str(part.merged)


def _without_delta(promise: Any) -> tuple[str, ...]:
    """Return the views without a delta that promise for some priors alone, where others have a delta."""
    if all(own.delta is None for _, own in promise.of_views):
        return ()
    return tuple(name for name, own in promise.of_views if own.delta is None and not own.holds_every_prior)


def _about(part: Any) -> str:
    """Return the size of a view's mechanism, what it leaks and its delta."""
    promise, outputs = part.mechanism.guarantee, len(part.mechanism.outputs)
    if part.is_open:
        size, why = f"any strings, {outputs:,} windows", "the probability that the samples of strings mislead"
    else:
        size, why = (
            f"{len(part.mechanism.inputs)} categories, {outputs} possible reports",
            delta_in_words(promise.uncertainty),
        )
    delta = "" if promise.delta is None else f", delta {text_above(promise.delta, 6)}: {why}"
    return f"{size}, at most {text_above(part.leakage, 6)} nats{delta}"


def _keys(part: Any) -> dict[str, Any]:
    mechanism, delta = part.mechanism, part.mechanism.guarantee.delta
    return {
        "name": part.name,
        "attributes": part.attributes,
        "weight": part.weight,
        "epsilon": mechanism.guarantee.epsilon,
        "delta": None if delta is None else printed_up(delta),
        "inputs": None if part.is_open else mechanism.inputs,
        "outputs": None if part.is_open else mechanism.outputs,
        **({"windows": len(mechanism.outputs)} if part.is_open else {}),
        **({} if part.merged is None else {"merged": part.merged}),
        "leakage": part.leakage,
    }
