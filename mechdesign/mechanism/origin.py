"""Which mechanism made reports, as far as they say it: by the names of outputs, or by a fingerprint beside them.

Outputs that nobody names are called ``y1-TAG`` to ``yM-TAG``. The tag is the beginning of the fingerprint that the
mechanism has with the outputs ``y1`` to ``yM``: the names themselves cannot be part of what they are made from. So it
depends on the labels of inputs, the numerators and the bits, and mechanisms that agree in these are one mechanism.

The fingerprint is a hash of what reports depend on: labels, numerators, bits. Two mechanisms with the same fingerprint
draw the same reports from the same randomness, whatever they promise and whoever made them. `docs/file-format.md`
states the bytes that are hashed, so that programs in any language agree.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mechdesign.data.alphabet import Alphabet
from mechdesign.data.labels import default_labels
from mechdesign.errors import InputError, printable, shorten
from mechdesign.mechanism.claims import Parts

_FORMAT = b"mechdesign/fingerprint/1"
NUMBER_BYTES = 8
"""Of every length and number in texts that are hashed, lowest byte first."""
METADATA = b"mechdesign.fingerprint"
"""The key under which the field of a column of reports in a Parquet file has the fingerprint, in hex."""
_SHOWN = 16  # digits of a fingerprint in a message
_DIGITS = 6  # of 10^3 mechanisms any two have the same tag with probability 0.03
_NAME = re.compile(f"y[1-9][0-9]*(?:-([0-9a-f]{{{_DIGITS}}}))?")
_CURE = "give the mechanism that made the reports"


def number(value: int) -> bytes:
    """Return a whole number from 0 to 2^64 - 1 as it is hashed.

    Examples
    --------
    >>> number(258).hex()
    '0201000000000000'
    """
    return value.to_bytes(NUMBER_BYTES, "little")


def text(value: str) -> bytes:
    """Return a text as it is hashed: the number of its bytes in UTF-8, and these bytes.

    Examples
    --------
    >>> text("é").hex()
    '0200000000000000c3a9'
    """
    encoded = value.encode()
    return number(len(encoded)) + encoded


def canonical_bytes(mechanism: Parts) -> bytes:
    """Return what is hashed: no two mechanisms that differ in a label, a numerator or the bits have the same.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign import Guarantee, L1Ball, Mechanism
    >>> promise = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2))
    >>> len(canonical_bytes(Mechanism(np.array([[3, 1], [1, 3]]), 2, promise, ["y1", "y2"]).parts))
    120
    """
    return b"".join(
        (
            _FORMAT,
            _texts(mechanism.inputs),
            _texts(mechanism.outputs),
            number(mechanism.bits),
            mechanism.numerators.astype("<u8").tobytes(),
        )
    )


def fingerprint(mechanism: Parts) -> bytes:
    """Return the SHA-256 hash of the canonical bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign import Guarantee, L1Ball, Mechanism
    >>> promise = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2))
    >>> fingerprint(Mechanism(np.array([[3, 1], [1, 3]]), 2, promise, ["y1", "y2"]).parts).hex()[:16]
    'ba7baf03091072b9'
    """
    return hashlib.sha256(canonical_bytes(mechanism)).digest()


def _texts(values: Sequence[str]) -> bytes:
    return number(len(values)) + b"".join(map(text, values))


def tagged_names(mechanism: Parts) -> tuple[str, ...]:
    """Return the names of outputs that have none: ``y1`` to ``yM``, each with the tag of the mechanism.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign import Guarantee, L1Ball
    >>> tagged_names(Parts(np.array([[3, 1], [1, 3]]), 2, Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2))))
    ('y1-ba7baf', 'y2-ba7baf')
    """
    plain = default_labels(mechanism.numerators.shape[1], "y")
    tag = fingerprint(mechanism._replace(outputs=plain)).hex()[:_DIGITS]
    return tuple(f"{name}-{tag}" for name in plain)


def check_tag(mechanism: Parts) -> None:
    """Refuse outputs named by a tag that is not that of the labels, bits and numerators beside it.

    What follows from a mechanism may keep names; it claims no optimum, and is not looked at.

    Raises
    ------
    InputError
        If some of them were changed after the mechanism was made.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign import Guarantee, L1Ball, Mechanism
    >>> promise = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2))
    >>> check_tag(Mechanism(np.array([[3, 1], [1, 3]]), 2, promise, ["y1-ba7baf", "y2-ba7baf"]).parts)
    """
    named = [_NAME.fullmatch(name) for name in mechanism.outputs]
    tags = {name[1] for name in named if name is not None}
    own = tagged_names(mechanism)[0].rsplit("-", maxsplit=1)[1]
    if mechanism.optimality is not None and all(named) and len(tags) == 1 and tags.isdisjoint({None, own}):
        raise InputError.wrong_mechanism(
            f"the names of the outputs end in {tags.pop()}, and the labels, bits and numerators beside them have the "
            f"tag {own}: some were changed after the mechanism was made; give the file as it was, or name the outputs "
            "anew"
        )


@dataclass(frozen=True)
class ReportOrigin:
    """The mechanism that reports are said to come from, as programs that count them know it.

    Attributes
    ----------
    outputs : sequence of str
        Its outputs.
    fingerprint : str, optional
        Its fingerprint; None if the outputs are all that is known.
    """

    outputs: Sequence[str]
    fingerprint: str | None = None

    def alphabet(self, **options: Any) -> Any:
        """Return the alphabet of its reports, which says of a report by another mechanism that it is one."""
        return Alphabet(tuple(self.outputs), replaces=False, explain=self.explain, **options)

    def explain(self, name: str) -> str | None:
        """Return why a name is that of another mechanism's output; None if the name does not say so.

        Examples
        --------
        >>> ReportOrigin(("y1-ba7baf", "y2-ba7baf")).explain("y2-00c0de")[:82]
        'is by another mechanism: its name ends in 00c0de, and those of this one in ba7baf;'
        >>> ReportOrigin(("no", "yes")).explain("maybe")
        """
        theirs, ours = _NAME.fullmatch(name), _NAME.fullmatch(self.outputs[0])
        tag, own = theirs and theirs[1], ours and ours[1]
        if theirs is None or tag == own:
            return None
        words = f"its name ends in {tag}" if tag else "it is named y and a number alone, as earlier versions did"
        named = f"those of this one in {own}" if own else f"the outputs of this one are {self._listed()}"
        if own and not tag:
            named = f"the names of this one end in {own}"
        return f"is by another mechanism: {words}, and {named}; {_CURE}"

    def check_names(self, names: Iterable[str], what: str) -> None:
        """Refuse counts of reports whose names, in words, are not the outputs.

        Raises
        ------
        InputError
            Naming the first of them that is not an output.
        """
        for name in sorted(set(names).difference(self.outputs)):
            if words := self.explain(name):
                raise InputError.wrong_mechanism(f"{what} {shorten(name)} {words}")
            raise InputError.unknown_label(
                f"{what} {shorten(name)} is not an output of the mechanism; accepted: {self._listed()}"
            )

    def check_fingerprint(self, found: str, source: object) -> None:
        """Refuse reports beside which another fingerprint is written.

        Raises
        ------
        InputError
            Naming both.
        """
        if self.fingerprint not in {None, found}:
            raise InputError.wrong_mechanism(
                f"the reports in {printable(str(source))} are by the mechanism whose fingerprint begins with "
                f"{_begun(found)}, and that of this one with {_begun(self.fingerprint)}; {_CURE}"
            )

    def check_field(self, field: Any, source: object) -> None:
        """Refuse a column of a Parquet file whose metadata have another fingerprint; a column without one is accepted.

        Raises
        ------
        InputError
            Naming both.
        """
        found = (field.metadata or {}).get(METADATA)
        if found is not None:
            self.check_fingerprint(found.decode("utf-8", "replace"), source)

    def _listed(self) -> str:
        return shorten(", ".join(self.outputs))


def _begun(fingerprint: str | None) -> str:
    return shorten((fingerprint or "")[:_SHOWN])
