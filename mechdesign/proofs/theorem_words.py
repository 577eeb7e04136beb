"""What is proved of a file, in words; and where Coq's test fails."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from mechdesign.errors import shorten
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import plain_text
from mechdesign.proofs.terms import has_delta, lower_of_records
from mechdesign.proofs.theories import RECORDS, SECRET, WINDOWS, theory_of
from mechdesign.proofs.window_terms import counts_of

_SIDES = {
    "epsilon": "for every prior Q of the set, every report y and every input x: K(y|x) <= e^{} sum Q(x') K(y|x')",
    "lower": "K(y|x) >= e^-{} sum Q(x') K(y|x')",
    "cap": "for every two inputs K(y|x) <= e^{} K(y|x')",
    "maximal_leakage": "the greatest K(y|x) of all reports y sum to at most e^{}",
}
_OF_A_SECRET = {
    "epsilon": "for every joint law of the secret and the data in the set, every report y and every value s of the "
    "secret: P(y|s) <= e^{} P(y)",
    "lower": "P(y|s) >= e^-{} P(y)",
    "cap": _SIDES["cap"],
    "maximal_leakage": _SIDES["maximal_leakage"],
}
_OF_WINDOWS = {
    "epsilon": "for any strings, wherever these lie on the circles, every population Q of which each window holds a "
    "share of at least {1}, every string x and every window y: K(y|x) <= e^{0} sum Q(x') K(y|x')",
    "cap": "for every two strings K(y|x) <= e^{} K(y|x')",
}
_OF_RECORDS = (
    "for any records, every joint law P whose views lie in the sets of the parts, every record x and every "
    "report (i, y): K(i, y|x) <= e^{} sum P(x') K(i, y|x'){}; "
    "the weights sum to 2^{}, and the rows to 1; each view keeps its own promise; and some records have such a law"
)
_LEARNT = (
    "; and whatever the prior is, the shares of {} independent draws from it are farther from it than the radius with "
    "probability at most {}; the counts are those of as many draws"
)
_LEARNT_FROM_COUNTS = (
    "; and whatever the prior is, {0} independent draws from it contradict it with probability at most {1}, and every "
    "prior that the counts do not contradict is within the radius; draws contradict a prior if some set of categories "
    "was hit so often that {0} draws from this prior do so with probability at most {1} / (2^{2} - 2)"
)
_LEARNT_OF_RECORDS = (
    "; and whatever P is, {} independent records from it mislead about some view with probability at most {}; where "
    "records with the counts of the file do not, each view that was learnt from them has its law in its set"
)
_DELTA_APART = "; delta is not part of the theorem, and was checked without Coq"


class Learnt(NamedTuple):
    """A second theorem: the samples and the delta, and whether it is about these counts or about all samples.

    Of views of records, also the delta of each view, None where it is given.
    """

    samples: int
    delta: Fraction
    from_counts: bool
    views: tuple[Fraction | None, ...] = ()


def theorem_in_words(document: Mapping[str, Any], learnt: Learnt | None = None) -> str:
    """Return the theorem about a file that loads.

    Parameters
    ----------
    document : mapping
        The JSON of the file.
    learnt : Learnt, optional
        The second theorem.

    Examples
    --------
    >>> theorem_in_words({"guarantee": {"epsilon": "1", "cap": "log(4)"}})[90:]
    "y|x'); and for every two inputs K(y|x) <= e^log(4) K(y|x'); the rows sum to 1, and the set has a prior"
    """
    if theory_of(document) is WINDOWS:
        e, floor = exponent(document["epsilon"]), document.get("floor")
        share = f"e^-{e}" if floor is None else f"(1 - a)/(e^{e} - a), where a = {floor}/2^60"
        told = [_OF_WINDOWS["epsilon"].format(e, share)]
        told += [_OF_WINDOWS["cap"].format(exponent(document["cap"]))] if document.get("cap") is not None else []
        return "; and ".join(told) + (
            "; the rows sum to 1, some samples lie in the windows as the file states, and all that do are such a "
            f"population{_apart(document['evidence'])}"
        )
    if theory_of(document) is RECORDS:
        lower = lower_of_records(document)
        below = "" if lower is None else f" and K(i, y|x) >= e^-{exponent(lower)} sum P(x') K(i, y|x')"
        words = _OF_RECORDS.format(exponent(document["epsilon"]), below, document["weight_bits"])
        if learnt is None:
            return words + _apart([part["mechanism"]["guarantee"] for part in document["parts"]])
        return words + _LEARNT_OF_RECORDS.format(learnt.samples, plain_text(learnt.delta))
    promise, of_secret = document["guarantee"], theory_of(document) is SECRET
    sides, kind = (_OF_A_SECRET, "joint law") if of_secret else (_SIDES, "prior")
    told = [words.format(exponent(promise[side])) for side, words in sides.items() if promise.get(side) is not None]
    words = "; and ".join(told) + f"; the rows sum to 1, and the set has a {kind}"
    if learnt is None:
        return words + _apart(promise)
    second = _LEARNT_FROM_COUNTS if learnt.from_counts else _LEARNT
    return words + second.format(learnt.samples, str(promise["delta"]).lower(), len(document["numerators"]))


def _apart(tables: Any) -> str:
    """Return what is said of a delta that no theorem is about, if there is one."""
    return _DELTA_APART if has_delta(tables) else ""


def place_in_words(document: Mapping[str, Any], output: int, place: int) -> str:
    """Return where the test of a file fails: an output, and an input or a value of the secret, by their positions."""
    if theory_of(document) is WINDOWS:
        return _window_in_words(document, output, place)
    if theory_of(document) is RECORDS:
        return _view_in_words(document, output, place)
    if output == len(document["outputs"]):
        return "the maximal leakage of all outputs together"
    named = f"that of output {shorten(document['outputs'][output])}"
    if theory_of(document) is not SECRET:
        return f"{named} at the input {shorten(document['inputs'][place])}"
    values = document["guarantee"]["secret"]["values"]
    return f"{named} at the secret value {shorten(values[place])}" if place < len(values) else f"the cap of{named[7:]}"


def _window_in_words(document: Mapping[str, Any], seed: int, window: int) -> str:
    """Return a window that holds too little, or what is refused of all windows of a seed, or of all seeds."""
    if seed >= document["seeds"]:
        return "the least share of the windows"
    if window < counts_of(document)[seed]:
        return f"window {window} of seed {seed}"
    capped = " or within the cap" if document.get("cap") is not None else ""
    return (
        f"the windows of seed {seed} together: they do not go a whole number of times round the circle{capped}, or no "
        "samples lie in them as the file states"
    )


def _view_in_words(document: Mapping[str, Any], view: int, output: int) -> str:
    part = document["parts"][view]
    outputs = part["mechanism"]["outputs"]
    where = f"output {shorten(outputs[output])} of " if output < len(outputs) else ""
    return f"that of {where}the view {shorten(part['name'])}"


def exponent(text: str) -> str:
    """Return an epsilon of a file as an exponent of e.

    Examples
    --------
    >>> [exponent(text) for text in ("2/1", "0.50", "1/3", "log(4)")]
    ['2', '0.5', '(1/3)', 'log(4)']
    """
    epsilon = Epsilon.of(text)
    if epsilon.exponent is None:
        return epsilon.text
    number = plain_text(epsilon.exponent)
    return f"({number})" if "/" in number else number
