"""What is proved of each kind of file: where its definitions and proofs stand, and what they are called in Coq."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Theory:
    """The definitions of a kind of file, and the test that is proved of it.

    Attributes
    ----------
    type, promise, correct, refused : str
        The names in Coq: the type of such files, their promise, the theorem that a test proves it, and the function
        that lists where the test fails.
    pages : tuple of str
        The sources that hold the definitions, which an auditor reads.
    sources : tuple of str
        All sources, in their order; the last one has the test.
    counted : str
        What a certificate holds many of, in words.
    """

    type: str
    promise: str
    correct: str
    refused: str
    pages: tuple[str, ...]
    sources: tuple[str, ...]
    counted: str = "numerals"


_COMMON = ("Spec", "ExpLow", "Support", "Check")
MATRIX = Theory("file", "promise", "check_correct", "refused", ("Spec",), _COMMON, "numerators")
SECRET = Theory(
    "secret_file",
    "secret_promise",
    "secret_check_correct",
    "secret_refused",
    ("Spec", "SpecSecret"),
    (*_COMMON, "SpecSecret", "Secret"),
)
WINDOWS = Theory(
    "windows_file",
    "windows_promise",
    "windows_check_correct",
    "windows_refused",
    ("Spec", "SpecWindows"),
    (*_COMMON, "SpecWindows", "Windows"),
)
RECORDS = Theory(
    "records_file",
    "record_promise",
    "records_check_correct",
    "records_refused",
    ("Spec", "SpecRecords"),
    (*_COMMON, "SpecRecords", "Records"),
)


def theory_of(document: Mapping[str, Any]) -> Theory:
    """Return what is proved of the JSON of a file.

    Examples
    --------
    >>> theory_of({"guarantee": {"secret": {}, "epsilon": "1"}}).promise
    'secret_promise'
    """
    if str(document.get("schema")).startswith("mechdesign/windows/"):
        return WINDOWS
    if str(document.get("schema")).startswith("mechdesign/records/"):
        return RECORDS
    return SECRET if document["guarantee"].get("secret") is not None else MATRIX
