"""A record of a release, read from a file, and its guarantee computed again from the noise that it names."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from mechdesign.data.fields import ExactNumber, Number, Record, Text, all_of, checked_record, has_keys, needs
from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.histogram.record import SCHEMA
from mechdesign.histogram.registry import PLANS
from mechdesign.histogram.release_plan import Plan
from mechdesign.histogram.top_k import TopKPlan
from mechdesign.mechanism.mechanism_files import parsed_json
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import rational

MOST_BYTES = 1 << 18
"""Of a record; those that are written have a few thousand."""


def _is_of(kind: type[Plan]) -> dict[str, Any]:
    """Return the JSON Schema of a record of one mechanism."""
    return {"properties": {"mechanism": {"const": kind.name}}}


class ReleaseRecordFile(Record):
    """The keys of the file of a record."""

    model_config = all_of(
        *(
            {"if": {"properties": {"mechanism": {"const": kind.name}}}, "then": has_keys(*kind.needed)}
            for kind in PLANS
        ),
        needs("subtracted", "value_sigma"),
        {"if": has_keys("subtracted"), "then": {"properties": {"mechanism": {"const": TopKPlan.name}}}},
    )

    schema_: Literal["mechdesign/histogram-record/1"] = Field(alias="schema")
    mechanism: Annotated[Text, Field(json_schema_extra={"enum": [kind.name for kind in PLANS]})]
    notion: Text
    epsilon: ExactNumber
    delta: Annotated[Number, Field(ge=0, le=1, json_schema_extra={"minimum": 0, "maximum": 1})]
    neighbours: Text
    k: Annotated[int, Field(ge=1)] | None = None
    sigma: ExactNumber | None = None
    tau: ExactNumber | None = None
    value_sigma: ExactNumber | None = None
    scale: ExactNumber | None = None
    alpha: ExactNumber | None = None
    noise: Text
    noise_meaning: Text
    randomness: Text | None
    analysis: Text
    source: Text
    post_processing: Text | None
    not_protected: Annotated[list[Text], Field(max_length=100)]
    subtracted: Number | None = None
    reading: Text | None = None


@dataclass(frozen=True)
class ProvedRecord:
    """A record whose guarantee was computed again.

    Attributes
    ----------
    plan : Plan
        The plan of the same noise, whose delta is computed from the noise alone; for Laplace noise its epsilon is.
    epsilon : Epsilon
        That of the record, which the plan's is not above.
    delta : float
        That of the record, which the plan's is not above.
    randomness, post_processing : str or None
        As the record says.
    subtracted : float or None
        The (k+1)-th largest count with its noise, where it was released.
    """

    plan: Plan
    epsilon: Epsilon
    delta: float
    randomness: str | None
    post_processing: str | None
    subtracted: float | None


def is_record(content: bytes) -> bool:
    """Return whether the bytes of a file say that they are a record of a release.

    Examples
    --------
    >>> is_record(b'{"schema": "mechdesign/histogram-record/1"}'), is_record(b'{"schema": "mechdesign/mechanism/1"}')
    (True, False)
    """
    if len(content) > MOST_BYTES or SCHEMA.encode() not in content:
        return False
    try:
        found = json.loads(content.decode("utf-8-sig"), parse_float=str, parse_int=str)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("schema") == SCHEMA


def proved_record(content: bytes, source: str) -> ProvedRecord:
    """Return the record that the bytes of a file hold, after its guarantee was computed again.

    Epsilon and delta follow from the parameters of the noise. Where a delta is the probability that samples misled
    (Laplace noise with an estimated alpha), the record does not hold the samples, and its delta is taken as it is.

    Parameters
    ----------
    content : bytes
        Of a file that `ReleaseRecord.to_json` wrote.
    source : str
        The name of the file, for messages.

    Raises
    ------
    InputError
        If it is not the record of a release.
    GuaranteeError
        If the noise that it names does not have the guarantee that it claims.

    Examples
    --------
    >>> from mechdesign.histogram import DiscretePlan
    >>> plan = DiscretePlan.of(3, epsilon=1, delta="1e-6", sigma=8)
    >>> proved_record(plan.record().to_json().encode(), "record.json").plan.k
    3
    """
    found = checked_record(ReleaseRecordFile, parsed_json(content, source, "the record of a release"), source)
    kinds = {kind.name: kind for kind in PLANS}
    if found.mechanism not in kinds:
        raise InputError.bad_field(f"{source}: mechanism is {shorten(found.mechanism)}; accepted: {', '.join(kinds)}")
    kind, epsilon = kinds[found.mechanism], Epsilon.of(found.epsilon)
    for name in kind.needed:
        if getattr(found, name) is None:
            raise InputError.missing_key(f"{source}: the key {name!r} is missing; add it")
    plan = kind.of_record(found.model_dump())
    if found.subtracted is not None and plan.parameters.get("value_sigma") is None:
        raise InputError.key_out_of_place(
            f"{source}: subtracted is there, a count that has no noise without value_sigma, which top-k alone has; "
            "leave it out"
        )
    if plan.epsilon != epsilon and plan.epsilon.exp_up > epsilon.exp_down:
        raise GuaranteeError.guarantee_false(
            f"the guarantee is false: epsilon is {epsilon} in {source}, and the noise that it names has {plan.epsilon}"
        )
    if plan.delta > rational(found.delta, "delta"):
        raise GuaranteeError.guarantee_false(
            f"the guarantee is false: delta is {found.delta:g} in {source}, and the noise that it names has "
            f"{float(plan.delta):.6g}"
        )
    return ProvedRecord(plan, epsilon, found.delta, found.randomness, found.post_processing, found.subtracted)
