"""What designs are worth against the cap that they keep for everyone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mechdesign.data.checks import check_kind
from mechdesign.plot.drawing import BLUE, ORANGE, axes_or_new

if TYPE_CHECKING:
    from mechdesign.comparison import CapPrices


def price_of_caps(prices: CapPrices, axes: Any | None = None) -> Any:
    """Draw the values of designs against their caps, with the value without a cap as a line.

    Towards the left everybody is protected more, down to local differential privacy where the cap is epsilon.

    Parameters
    ----------
    prices : CapPrices
        Of `mechdesign.comparison.price_caps`.
    axes : matplotlib Axes, optional
        Where to draw; by default in a new figure, ``axes.figure``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import mechdesign as md
    >>> from mechdesign.comparison import price_caps
    >>> drawn = price_of_caps(price_caps(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1), [1, 2]))
    >>> drawn.get_xlabel(), drawn.get_ylabel()
    ('cap for everyone (nats)', 'mutual-information (nats)')
    """
    from mechdesign.comparison import CapPrices

    check_kind(prices, CapPrices, "what price_of_caps draws", "CapPrices, which price_caps(problem) returns")
    axes = axes_or_new(axes, 6.4, 4.4)
    utility, without = prices.without.problem.utility, prices.without.value
    x = [float(each.problem.cap or 0) for each in prices.designs]
    y = [each.value for each in prices.designs]
    axes.axhline(without, color=ORANGE, linestyle="--", linewidth=1, label="without a cap")
    axes.plot(x, y, "o-", color=BLUE, markersize=5, linewidth=1.3, label="with a cap")
    for place, each in enumerate(prices.designs):
        cost = prices.cost(each)
        axes.annotate(
            f"{'+' * utility.minimised or '-'}{100 * cost:.3g} %",
            (x[place], y[place]),
            xytext=(5, 6 if utility.minimised else -12),
            textcoords="offset points",
            fontsize=8,
        )
    if utility.minimised and max(y) > 8 * without:
        axes.set_yscale("log")
    unit = prices.without.unit
    axes.set_xlabel("cap for everyone (nats)")
    axes.set_ylabel(utility.name if unit == "1" else f"{utility.name} ({unit})")
    axes.set_title(f"Designs with epsilon = {prices.without.problem.epsilon}, and a cap for every prior", fontsize=10)
    axes.margins(x=0.16, y=0.1)
    axes.grid(visible=True, linewidth=0.3)
    axes.legend(fontsize=8)
    return axes
