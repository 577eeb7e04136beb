"""What a promise for every group costs, as a table and as JSON."""

from __future__ import annotations

from typing import Any

from mechdesign.cli.json_output import Finite, Printed, Reason, Text, Whole
from mechdesign.cli.output import amount, print_table, say
from mechdesign.comparison.group_prices import GroupPrices
from mechdesign.data.fields import Number
from mechdesign.optimize import Design
from mechdesign.optimize.groups import GroupDesigns

_FEW = 1  # a radius from which a group has so few records that the promise is nearly that for every prior


class GroupPriceTable(Printed):
    """What a group pays for a promise in every group."""

    group: Text
    samples: Whole | None
    radius: Number | None
    value: Finite
    own_value: Number | None
    own_certified: bool | None
    own_missing: Reason
    leakage_without_groups: Finite


def group_facts(solved: Design, both: GroupDesigns | None) -> list[tuple[str, str]]:
    """Return what people read of a set for all groups, before any price; nothing for other sets."""
    union = solved.problem.uncertainty.union
    if union is None:
        return []
    how = "for the union of the sets of all groups"
    if union.cover is not None:
        how = f"for one l1 ball of radius {float(union.cover.radius):.6g} that holds the sets of all groups"
    if both is not None:
        ways = "; ".join(_way(both, name) for name in ("union", "cover"))
        how += f". Both sets that promise to every group were tried; a certified design is kept before others. {ways}"
    widest = max(union.sets, key=lambda known: 0 if known.l1_ball is None else known.l1_ball.radius)
    facts = [("designed", how)]
    ball, name = widest.l1_ball, union.names[union.sets.index(widest)]
    if ball is not None and ball.radius > 0:
        text = f"that of group {name}, {widest.samples} records, radius {float(ball.radius):.6g}"
        few = (
            ": so few records that the promise for all is nearly that for every prior; merge this group with another, "
            "or leave it out, where it is promised nothing"
        )
        facts.append(("widest set", text + (few if ball.radius >= _FEW else "")))
    return facts


def _way(both: GroupDesigns, name: str) -> str:
    """Return what the design for one of both sets gives for all records together."""
    what = {"union": "The union", "cover": "one l1 ball around it"}[name]
    if name not in both.designs:
        return f"{what}: no method covers it"
    made = both.designs[name]
    value = f"{what}: {made.problem.utility.name} {amount(both.values[name], made.unit)}"
    if made.reached:
        return value
    kept = "" if name == both.best else f" (--{'no-' * (name == 'union')}cover --keep-partial writes it)"
    return f"{value}, which is not certified{kept}"


def price_keys(prices: GroupPrices) -> dict[str, Any]:
    """Return the keys of an output about the prices."""
    value = None if prices.pooled is None else prices.pooled.value
    return {"groups": list(map(GroupPriceTable.built_from, prices.groups)), "value_without_groups": value}


def print_prices(prices: GroupPrices, together: Design, *, err: bool = False) -> None:
    """Print one mechanism for all groups beside one for each, and what one without groups would leak."""
    rows = []
    for price in prices.groups:
        samples = "" if price.samples is None else f"{price.samples:,}"
        own = "none" if price.own_value is None else f"{price.own_value:.6g}"
        leaks = _rounded(price.leakage_without_groups)
        rows.append([price.group, samples, _rounded(price.radius), f"{price.value:.6g}", own, leaks])
    name, epsilon = together.problem.utility.name, together.problem.epsilon
    heads = ["group", "records", "radius", "one for all", "one each", "leakage without groups"]
    print_table(heads, rows, title=f"The price of the promise in every group: {name} at its frequencies", err=err)
    if prices.pooled is not None:
        broken = sum((price.leakage_without_groups or 0) > float(epsilon) for price in prices.groups)
        say(
            f"Without groups: {amount(prices.pooled.value, prices.pooled.unit)} for all records together, and the "
            f"promise of epsilon = {epsilon} does not hold in {broken} of {len(prices.groups)} groups.",
            err=err,
        )
    for price in prices.groups:
        if price.own_missing:
            say(f"{price.group} by itself: {price.own_missing}", err=err)


def _rounded(number: float | None) -> str:
    return "" if number is None else f"{number:.4g}"
