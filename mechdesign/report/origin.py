"""The file that a page is about: its name and its digest."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import dataclass

from mechdesign.errors import printable

_LONGEST_NAME = 200


@dataclass(frozen=True)
class Origin:
    """The file that a page is about.

    Attributes
    ----------
    name : str
        As commands take it.
    size : int
        Bytes.
    digest : str
        SHA-256 of the bytes, in hexadecimal.
    """

    name: str
    size: int
    digest: str

    @classmethod
    def of(cls, content: bytes, name: str = "mechanism.json") -> Origin:
        """Return the origin of the bytes of a file.

        Examples
        --------
        >>> Origin.of(b"{}").digest[:16]
        '44136fa355b3678a'
        """
        return cls(name, len(content), hashlib.sha256(content).hexdigest())

    @property
    def argument(self) -> str:
        """The name as a shell takes it; that of an example where it cannot be printed, or is standard input."""
        named = printable(self.name) == self.name and self.name not in {"", "-"} and len(self.name) <= _LONGEST_NAME
        return shlex.quote(("./" if self.name.startswith("-") else "") + self.name) if named else "mechanism.json"
