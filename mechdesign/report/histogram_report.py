"""The page of a released histogram, from the record of its guarantee."""

from __future__ import annotations

import shlex
from typing import Any

from mechdesign.histogram.record import NOISE_MEANS
from mechdesign.histogram.record_check import proved_record
from mechdesign.histogram.release_plan import Plan
from mechdesign.numerics.exact import rational
from mechdesign.report.rendering import Origin, page

_OPTIONS = {"k": "-k", "value_sigma": "--value-sigma"}


def record_page(content: bytes, name: str = "record.json", title: str = "") -> str:
    """Return a page about a released histogram: one HTML file that fetches nothing.

    Epsilon and delta are computed again from the noise that the record names, and all words are those of the mechanism
    in this version.

    Parameters
    ----------
    content : bytes
        Of the file of a record, as `ReleaseRecord.to_json` writes it.
    name : str
        The name of the file.
    title : str
        The heading; by default the name of the plan.

    Raises
    ------
    InputError
        If it is not the record of a release.
    GuaranteeError
        If the noise does not have the guarantee that the record claims.

    Examples
    --------
    >>> from mechdesign.histogram import DiscretePlan
    >>> record = DiscretePlan.of(3, epsilon=1, delta="1e-6", sigma=8).record()
    >>> text = record_page(record.to_json().encode())
    >>> "at most 2.719 times as likely" in " ".join(text.split())
    True
    """
    found = proved_record(content, name)
    plan = found.plan
    exact = {key: value for key, value in plan.record().as_dict().items() if key in plan.parameters}
    return page(
        "histogram.html",
        title=title or f"Released histogram ({plan.name})",
        record=found,
        plan=plan,
        factor=found.epsilon.exp_up,
        delta=rational(found.delta, "delta"),
        parameters=[(key, value, plan.meanings[key]) for key, value in exact.items() if key in plan.meanings],
        noise_meaning=NOISE_MEANS[plan.noise],
        origin=Origin.of(content, name),
        recomputed=plan.name != "laplace" or not found.delta,
        command=_command(plan, exact),
    )


def _command(plan: Plan, exact: dict[str, Any]) -> str:
    """Return the command that computes the guarantee again from the parameters of the noise."""
    given = {key: str(value) for key, value in exact.items()}
    words = ["mechdesign", "histogram", plan.name, "--plan"]
    for key, value in given.items():
        words += [_OPTIONS.get(key, f"--{key}"), value]
    if "sigma" in given:
        words += ["--epsilon", plan.epsilon.text, "--analysis", plan.analysis]
        if plan.name == "top-k":
            words += ["--noise", plan.noise]
    return shlex.join(words)
