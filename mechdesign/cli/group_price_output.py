"""What a promise for every group costs, as a table and as JSON."""

from __future__ import annotations

from typing import Any

from mechdesign.cli.json_output import Finite, Printed, Reason, Text, Whole
from mechdesign.cli.output import amount, print_table, say
from mechdesign.comparison.group_prices import GroupPrice, GroupPrices
from mechdesign.data.fields import Number
from mechdesign.optimize import Design

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


def group_facts(solved: Design) -> list[tuple[str, str]]:
    """Return what people read of a set for all groups, before any price; nothing for other sets."""
    union = solved.problem.uncertainty.union
    if union is None:
        return []
    how = "for the union of the sets of all groups itself"
    if union.cover is not None:
        how = (
            f"for one l1 ball of radius {float(union.cover.radius):.6g} around all sets, which costs more than the "
            "union itself would; --no-cover searches for the best over the union, which is often not certified"
        )
    widest = max(union.sets, key=lambda known: 0 if known.l1_ball is None else known.l1_ball.radius)
    facts = [("designed", how)]
    ball, name = widest.l1_ball, union.names[union.sets.index(widest)]
    if ball is not None and ball.radius > 0:
        text = f"{name}, {widest.samples} records, radius {float(ball.radius):.6g}"
        few = (
            ": so few records that the promise for all is nearly that for every prior; merge this group with another, "
            "or leave it out, where it is promised nothing"
        )
        facts.append(("widest set", text + (few if ball.radius >= _FEW else "")))
    return facts


def price_keys(prices: GroupPrices) -> dict[str, Any]:
    """Return the keys of an output about the prices."""
    return {
        "groups": [
            GroupPriceTable(
                group=price.name,
                samples=price.known.samples,
                radius=_radius(price),
                value=price.together,
                own_value=None if price.alone is None else price.alone.value,
                own_certified=None if price.alone is None else price.alone.certified,
                own_missing=price.missing,
                leakage_without_groups=price.leakage,
            )
            for price in prices.groups
        ],
        "value_without_groups": None if prices.pooled is None else prices.pooled.value,
    }


def print_prices(prices: GroupPrices, together: Design, *, err: bool = False) -> None:
    """Print one mechanism for all groups beside one for each, and what one without groups would leak."""
    rows = []
    for price in prices.groups:
        radius, samples = _radius(price), price.known.samples
        rows.append(
            [
                price.name,
                "" if samples is None else f"{samples:,}",
                "" if radius is None else f"{radius:.4g}",
                f"{price.together:.6g}",
                "none" if price.alone is None else f"{price.alone.value:.6g}",
                "" if price.leakage is None else f"{price.leakage:.4g}",
            ]
        )
    name, epsilon = together.problem.utility.name, together.problem.epsilon
    heads = ["group", "records", "radius", "one for all", "one each", "leakage without groups"]
    print_table(heads, rows, title=f"The price of the promise in every group: {name} at its frequencies", err=err)
    if prices.pooled is not None:
        broken = sum(price.leakage is not None and price.leakage > float(epsilon) for price in prices.groups)
        say(
            f"Without groups: {amount(prices.pooled.value, prices.pooled.unit)} for all records together, and the "
            f"promise of epsilon = {epsilon} does not hold in {broken} of {len(prices.groups)} groups.",
            err=err,
        )
    for price in prices.groups:
        if price.missing:
            say(f"{price.name} by itself: {price.missing}", err=err)


def _radius(price: GroupPrice) -> float | None:
    ball = price.known.l1_ball
    return None if ball is None else float(ball.radius)
