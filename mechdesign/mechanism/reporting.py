"""What a mechanism does with records: reports, drawn exactly from its integers.

Permanent reports are the same whenever the same id and value come again, and nothing is stored. The random integer of a
report is a keyed pseudo-random function (BLAKE2b with a key, RFC 7693) of the mechanism's fingerprint, the attribute of
the key, the value and the id. `docs/file-format.md` states the bytes, so that programs in any language agree;
`docs/mathematics.md` states and proves what is promised.
"""

from __future__ import annotations

import hashlib
import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence, Sized
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.alphabet import Alphabet
from mechdesign.data.containers import encode
from mechdesign.data.ids import Ids, IdTexts, ids_of
from mechdesign.errors import InputError
from mechdesign.mechanism.claims import Parts
from mechdesign.mechanism.keys import STAYS, GivenKey, Key, checked_key
from mechdesign.mechanism.origin import ReportOrigin, fingerprint, text
from mechdesign.mechanism.sampler import Codes, Outputs, RandomBytes, Sampler, random_bytes
from mechdesign.numerics.exact import log_up

_PERSON = b"mechdesign-key-1"  # the personalization of BLAKE2b, so that the key serves no other purpose
_WORD_BYTES = 8
_BLOCK = 1 << 15  # records at a time, whose hashes are held as objects


class Deployed(Protocol):
    """A mechanism of any kind, as deployment and commands know it: a matrix, windows, or views of whole records."""

    kind: ClassVar[str]

    @property
    def inputs(self) -> Sized:
        """As many as there are values of a record."""

    @property
    def outputs(self) -> Sequence[str]:
        """The names of all reports."""

    @property
    def origin(self) -> ReportOrigin:
        """What reads its reports."""

    @property
    def fingerprint(self) -> str:
        """The hash of what reports depend on, in hex."""

    @property
    def guarantee(self) -> Any:
        """What is promised."""

    @property
    def optimality(self) -> Any:
        """The claim of optimality, or None."""

    @property
    def leakage(self) -> float:
        """The greatest leakage of a report, proved."""

    @property
    def level(self) -> Fraction | None:
        """The level of local differential privacy, or None."""

    def alphabet(self, unknown: str | None = None, missing: str | None = None) -> Any:
        """Return what reads its records."""

    def drawing(self, source: RandomBytes, key: Key | None) -> Callable[[Any, Any], Any]:
        """Return what draws outputs for records, or for records and ids."""

    def named(self, outputs: Any) -> tuple[Any, ...]:
        """Return the columns of reports for outputs, as pyarrow arrays."""

    def facts(self, *, of_report: bool = False) -> list[tuple[str, str]]:
        """Return what people read of the promise."""

    def promised_keys(self) -> dict[str, Any]:
        """Return what programs read of the promise."""

    def save_for_reports(self, path: str | os.PathLike[str]) -> None:
        """Write what draws the same reports."""


class PermanentReports:
    """Draws outputs that depend on a key, an id and a value alone.

    Parameters
    ----------
    sampler : Sampler
        That of the mechanism.
    fingerprint : bytes
        That of the mechanism.
    inputs : tuple of str
        The labels of its categories.
    bits : int
        Of its numerators.
    key : Key
        The key.

    Examples
    --------
    >>> sampler = Sampler(np.array([[3, 1], [1, 3]]), bits=2)
    >>> reports = PermanentReports(sampler, bytes(32), ("no", "yes"), 2, Key(bytes(32)))
    >>> reports.integers(np.array([0, 1]), [b"ann", b"ann"])
    array([1, 2])
    """

    def __init__(self, sampler: Sampler, fingerprint: bytes, inputs: tuple[str, ...], bits: int, key: Key) -> None:
        self._sampler = sampler
        self._inputs = inputs
        self._unused = np.uint64(8 * _WORD_BYTES - bits)
        self._start = hashlib.blake2b(
            fingerprint + text(key.attribute), digest_size=_WORD_BYTES, key=key.secret, person=_PERSON
        )
        self._begun: list[Any] = [None] * len(inputs)  # the function with all that precedes an id, by category

    def __getstate__(self) -> NoReturn:
        raise InputError.key_exposed(STAYS)

    def draw(self, codes: Codes, ids: Ids | IdTexts) -> Outputs:
        """Return one output for each input.

        Parameters
        ----------
        codes : int array, shape (n,)
            Inputs, as rows of the mechanism.
        ids : Ids
            As many ids.

        Returns
        -------
        array of ``Sampler.dtype``, shape (n,)

        Raises
        ------
        InputError
            Naming the first id that is refused.
        """
        outputs = np.empty(codes.size, dtype=self._sampler.dtype)
        for start in range(0, codes.size, _BLOCK):
            block = codes[start : start + _BLOCK]
            integers = self.integers(block, ids.texts(start, start + block.size))
            outputs[start : start + block.size] = self._sampler.outputs_at(block, integers)
        return outputs

    def integers(self, codes: Codes, ids: Iterable[bytes]) -> NDArray[np.int64]:
        """Return the integers that are compared with cumulative numerators, shape (n,)."""
        for code in np.flatnonzero(np.bincount(codes, minlength=len(self._inputs))).tolist():
            if self._begun[code] is None:
                begun = self._start.copy()
                begun.update(text(self._inputs[code]))
                self._begun[code] = begun.copy
        words: list[bytes] = []
        add = words.append
        for begin, name in zip(map(self._begun.__getitem__, codes.tolist()), ids, strict=True):
            function = begin()
            function.update(name)
            add(function.digest())
        return (np.frombuffer(b"".join(words), dtype="<u8") >> self._unused).astype(np.int64)


class Reporting:
    """The part of `Mechanism` that reports; it depends on labels, numerators and bits alone."""

    kind: ClassVar[str] = "matrix"

    @property
    @abstractmethod
    def parts(self) -> Parts:
        """What the mechanism is made of."""

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of what reports depend on: labels of inputs and of outputs, numerators, bits."""
        return fingerprint(self.parts).hex()

    @property
    def origin(self) -> ReportOrigin:
        """What is known of the mechanism where its reports are counted."""
        return ReportOrigin(self.parts.outputs, self.fingerprint)

    @property
    def level(self) -> Fraction | None:
        """The level of local differential privacy in nats, rounded up; None if an output rules an input out."""
        numerators = self.parts.numerators
        ratios = map(Fraction, numerators.max(axis=0).tolist(), numerators.min(axis=0).tolist())
        return Fraction(log_up(max(ratios))) if numerators.all() else None

    def alphabet(self, unknown: str | None = None, missing: str | None = None) -> Alphabet:
        """Return the categories of records; ``unknown`` and ``missing`` are as in `privatize`."""
        return Alphabet(self.parts.inputs, unknown, missing)

    def drawing(
        self, source: RandomBytes, key: Key | None, under: bytes | None = None
    ) -> Callable[[Codes, Any], Outputs]:
        """Return what draws outputs for codes of inputs, from random bytes, or with a key for codes and ids.

        ``under`` is the fingerprint that permanent reports depend on; by default that of the mechanism.
        """
        if key is None:
            return lambda codes, _: self.sampler.draw(codes, source)
        return self.permanent_reports(key, under).draw

    def named(self, outputs: Outputs) -> tuple[Any, ...]:
        """Return the labels of outputs: the columns of reports, one, as pyarrow arrays."""
        import pyarrow as pa

        return (pa.array(self.parts.outputs, type=pa.string()).take(pa.array(outputs)),)

    def save_for_reports(self, path: str | os.PathLike[str]) -> None:
        """Write the mechanism without its claim of optimality, which may be long; reports do not depend on it."""
        from mechdesign.mechanism.mechanism_files import save

        save(self.parts._replace(optimality=None, provenance=None), path)

    @cached_property
    def sampler(self) -> Sampler:
        """Draws outputs from the integers, with exactly the probabilities that are proved."""
        return Sampler(self.parts.numerators, self.parts.bits)

    def permanent_reports(self, key: Key, under: bytes | None = None) -> PermanentReports:
        """Return what draws permanent reports from a key, for programs that have codes of inputs and ids as bytes.

        Parameters
        ----------
        key : Key
            The key, with its attribute.
        under : bytes, optional
            The fingerprint that they depend on; by default that of the mechanism.

        Returns
        -------
        PermanentReports

        Examples
        --------
        >>> import numpy as np
        >>> from mechdesign import Guarantee, L1Ball, Mechanism
        >>> promise = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2))
        >>> warner = Mechanism(np.array([[3, 1], [1, 3]]), 2, promise, ["y1", "y2"])
        >>> warner.permanent_reports(Key(bytes(32))).integers(np.array([0]), [b"ann"])
        array([3])
        """
        parts, own = self.parts, bytes.fromhex(self.fingerprint) if under is None else under
        return PermanentReports(self.sampler, own, parts.inputs, parts.bits, key)

    def privatize(
        self,
        records: Any,
        rng: np.random.Generator | None = None,
        *,
        key: GivenKey | None = None,
        ids: Any = None,
        unknown: str | None = None,
        missing: str | None = None,
        integers: str | None = None,
        show_values: bool = False,
    ) -> Any:
        """Return one report for each record, drawn exactly from the integers.

        The categories are those of the mechanism, never inferred from the records. Without a key each call draws new
        reports, and two reports about the same record leak more than one (see `repeated`). With a key reports are
        permanent: the same id and value always get the same report, in any container, on any machine.

        Parameters
        ----------
        records : list, numpy array, pandas or polars Series, pyarrow Array or ChunkedArray
            Labels of inputs as text; or integer codes, the positions of inputs from 0. Give a categorical Series
            itself, not its ``.cat.codes``: these are positions among the categories *of the Series*, whose order may
            differ from that of the inputs, so that wrong inputs would be reported. To make codes, put the categories in
            the order of the inputs first: ``series.cat.set_categories(mechanism.inputs).cat.codes``. There -1 stands
            for a value that is not an input, and is refused. Another iterable, such as a generator, is read to its end.
        rng : numpy.random.Generator, optional
            For experiments that can be repeated. **Not for release**: with the state of the generator the records
            can be computed from the reports. Without it the operating system's secure randomness is used.
        key : Key, KeyFile or path, optional
            The key of permanent reports, or its file, together with ``ids``. Any number of reports about a value that
            does not change then leak what one does, to everybody who lacks the key. Each other value of an id, each
            other key and each other mechanism (`fingerprint`) gives another report: see
            `mechdesign.deploy.leakage_of_values`. Give each attribute its own key, by `Key.for_attribute`.
        ids : list, numpy array, pandas or polars Series, pyarrow Array or ChunkedArray, optional
            Whom the records are about, one id a record: text, or integers, which stand for their decimal text. They
            are taken as they are: "Ann" and "ann" are two ids.
        unknown, missing : str, optional
            The inputs that replace values outside the categories, and missing values; without them such values are
            refused. The guarantee then holds if the distribution of the *changed* records is in the set of priors.
        integers : {"codes", "labels"}, optional
            What integers in the records mean. By default they are codes, and are refused if a label is an integer.
        show_values : bool
            Whether a message prints a record that is refused; by default it names the position only.

        Returns
        -------
        the same kind of container, or a list for another iterable
            Labels of outputs where labels came in, codes of outputs (positions from 0) where codes did.

        Raises
        ------
        InputError
            For a value outside the categories, or an id that is missing or neither text nor an integer, with its
            position; another container; a seed instead of a generator; a key without ids, ids without a key, or a key
            together with a generator.

        Examples
        --------
        >>> from mechdesign import Epsilon, Guarantee, L1Ball, Mechanism
        >>> promise = Guarantee(Epsilon.of("log(3)"), L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
        >>> warner = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["no", "yes"])
        >>> reports = warner.privatize(["yes", "no", "yes", "yes"])
        >>> len(reports), set(reports) <= {"no", "yes"}
        (4, True)
        >>> key = Key.generate()
        >>> monday = warner.privatize(["yes", "no"], key=key, ids=["ann", "bob"])
        >>> tuesday = warner.privatize(["no", "yes"], key=key, ids=["bob", "ann"])
        >>> monday == tuesday[::-1]
        True
        """
        parts, source, chosen = self.parts, random_bytes(rng), checked_key(rng, key, ids)
        encoded = encode(records, Alphabet(parts.inputs, unknown, missing, integers, show_values=show_values))
        names = None if chosen is None else ids_of(ids, records, encoded.codes.size)
        reports = self.drawing(source, chosen)(encoded.codes, names)
        return encoded.answer(reports, parts.outputs)
