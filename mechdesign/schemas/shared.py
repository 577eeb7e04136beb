"""What the JSON of several commands shares.

Keys that depend on the problem or on options, such as `lower`, have a default and may be absent.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mechdesign.data.fields import Number, Record

Labels = list[str]
Whole = Annotated[int, Field(ge=0)]
Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Output(Record):
    """An object that a command prints; `mechdesign.schemas.outputs` adds the key ``schema``."""


class Promised(Record):
    """A guarantee, and the leakage that is proved of a mechanism."""

    epsilon: Number
    delta: Number | None
    radius: Number | None
    inputs: Labels
    outputs: Labels
    bits: Annotated[int, Field(ge=1, le=52)]
    leakage: Number
    secret: str | None = None
    useful: str | None = None
    not_protected: str | None = None
    lower: Number | None = None
    lower_leakage: Number | None = None
