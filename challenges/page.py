"""The page of the documentation: what is known of each instance, and what is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill

from challenges.instances import FOLDER, Instance, families, instances, version
from challenges.known import Known
from mechdesign.display.numbers import text_above, text_below

PAGE = Path(FOLDER).parent / "docs" / "reference" / "challenges.md"
_HEAD = """# A challenge set

{count} problems of mechanism design, each with the best value that is known, and a bound that no mechanism with its
promise passes: {closed} are closed (the gap is at most 1e-6 of the value), {nearly} nearly (1e-3), and {open} are open.
This is version {version} of the set. An instance never changes under its name, and a new one raises the version.

In a checkout, `python -m challenges list` prints the names, `python -m challenges show NAME` the
[problem file](../file-format.md#the-problem-file), and

```text
{usage}
```

judges a solution: CSV or JSON, a row for each category in the order of the instance, or a
[mechanism file](../file-format.md).

- A number is the decimal, or the ratio such as `1/3`, that the file states. A row that misses 1 by at most 1e-9 is
  divided by its exact sum, and any other is refused.
- Then the promise is proved in rational arithmetic, without a tolerance. A matrix that misses it by 1e-16 is refused,
  with the output and the category that break it. `--repair FILE` moves such a matrix until the promise holds, says by
  how much, writes it as a mechanism file and judges that.
- The value is computed in rationals and balls, and both its limits are rounded outward. A solution that is better for
  certain, by more than 1e-12 of the best known, is a *new best*; please send its file.

The best mechanisms known stand in `challenges/best/`, packed with xz, with the vectors that prove the bounds.
`python -m challenges prove` proves all of them again in a few minutes. Values are rounded to the side on which they are
proved; open gaps are bold.
"""
USAGE = """python -m challenges check NAME SOLUTION.csv
python -m challenges check NAME SOLUTION.csv --repair REPAIRED.json"""
_COLUMNS = "| instance | categories | set, promise, objective | best known | bound | gap |\n|---|---|---|---|---|---|"


def page(known: Mapping[str, Known]) -> str:
    """Return the page."""
    statuses = Counter(known[each.name].status for each in instances())
    head = _HEAD.format(
        count=len(instances()),
        closed=statuses["closed"],
        nearly=statuses["nearly"],
        open=statuses["open"],
        version=version(),
        usage=USAGE,
    )
    parts = [head]
    for family in families():
        rows = [row(each, known[each.name]) for each in family.instances]
        parts += [f"## {family.title}\n", fill(family.about, 120) + "\n", _COLUMNS, *rows, ""]
    return "\n".join(parts).rstrip() + "\n"


def row(instance: Instance, known: Known) -> str:
    """Return a row of the table; what is open is in bold."""
    problem = instance.problem
    minimised = problem.utility.minimised
    best = text_above(known.value.high, 9) if minimised else text_below(known.value.low, 9)
    bound = text_below(known.bound, 9) if minimised else text_above(known.bound, 9)
    gap = text_above(known.gap, 2)
    words = f"{instance.set_in_words}, {_short(problem.sides.in_words)}, {problem.utility.name}"
    note = f" ({known.bound_is_for})" if known.bound_is_for else ""
    shown = f"**{gap}**" if known.status == "open" else gap
    return f"| `{instance.name}` | {problem.uncertainty.size} | {words} | {best} | {bound}{note} | {shown} |"


def _short(sides: str) -> str:
    return sides.replace(" = ", " ").replace(" and ", ", ")
