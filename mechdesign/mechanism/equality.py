"""Mechanisms of all kinds are equal if their files are."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any


class EqualByFile:
    """What makes mechanisms equal: the same integers, labels, promise and claims, which are all that a file holds."""

    fingerprint: Any

    @abstractmethod
    def _file(self) -> bytes:
        """Return the JSON of the mechanism."""

    def __eq__(self, other: object) -> bool:
        """Whether the other is a mechanism of the same kind with the same file."""
        if not isinstance(other, type(self)):
            return NotImplemented
        return self is other or (self.fingerprint == other.fingerprint and self._file() == other._file())

    def __hash__(self) -> int:
        return hash(self.fingerprint)
