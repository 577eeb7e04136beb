"""Problem files: one instance of `DesignProblem` in TOML, with its source and, where known, its value."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any

import tomli_w
from pydantic import Field

from mechdesign.data.fields import MOST_SYMBOLS, ExactNumber, Matrix, Record, Row, Text, checked_record, finite_decimal
from mechdesign.data.files import write_atomically
from mechdesign.data.reading import read_bounded
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.exact import short_text
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import ConvexHull, L1Ball, UncertaintySet
from mechdesign.uncertainty.concentration import checked_delta, weissman_radius_exact
from mechdesign.utility import Utility, utility_by_name
from mechdesign.utility.gain import MatrixUtility
from mechdesign.utility.names import is_named

_MOST_BYTES = 64 * 2**20


@dataclass(frozen=True)
class ProblemFile:
    """What a problem file holds.

    Attributes
    ----------
    title : str
        One line.
    problem : DesignProblem
        The instance.
    citation : str
        Where its data or its expected values come from.
    expected : dict of str to Decimal
        Known results: ``value``, ``k_ary_randomized_response``, ``best_ldp``, each to half a unit of its
        last digit.
    """

    title: str
    problem: DesignProblem
    citation: str = ""
    expected: dict[str, Decimal] = field(default_factory=dict)


class _Prior(Record):
    delta: ExactNumber | None = None
    radius: ExactNumber | None = None
    samples: int | None = None
    counts: Annotated[dict[str, int], Field(max_length=MOST_SYMBOLS)] | None = None
    labels: list[str | int] | None = None
    probabilities: Row | None = None
    within_simplex: bool = True
    priors: Matrix | None = None
    weights: Row | None = None


class _Matrix(Record):
    matrix: Matrix


class _Expected(Record):
    value: ExactNumber | None = None
    k_ary_randomized_response: ExactNumber | None = None
    best_ldp: ExactNumber | None = None


class _Problem(Record):
    title: Text
    citation: Text = ""
    epsilon: ExactNumber
    utility: Text = "mutual-information"
    prior: _Prior
    gain: _Matrix | None = None
    distortion: _Matrix | None = None
    expected: _Expected = Field(default_factory=_Expected)


def read_problem(path: str | os.PathLike[str]) -> ProblemFile:
    """Read a problem file.

    Numbers are taken as the decimals they are written as.

    Parameters
    ----------
    path : path
        A TOML file: ``title``, ``epsilon``, ``utility``, ``[prior]`` with ``[prior.counts]`` or
        ``labels`` and ``probabilities`` or ``priors``, and optionally ``citation``, ``[gain]``,
        ``[distortion]``, ``[expected]``. The matrix of ``expected-distortion`` may stand in either of the
        two tables.

    Raises
    ------
    InputError
        On one line, naming the key and the value: for unreadable files, malformed TOML, unknown keys and
        values out of range.
    """
    try:
        text = read_bounded(path, _MOST_BYTES, "a problem file").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 (byte {error.start}); give a problem file") from None
    try:
        data = tomllib.loads(text, parse_float=finite_decimal)
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise InputError(f"{path} is not TOML ({shorten(str(error), 120)}); give a problem file") from None
    except RecursionError:
        raise InputError(f"{path} is nested too deeply; give a problem file") from None
    record = checked_record(_Problem, data, str(path))
    try:
        problem = DesignProblem(_uncertainty(record.prior), record.epsilon, _utility(record))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    expected = {
        key: _expected(f"{path}: expected.{key}", value)
        for key, value in record.expected.model_dump(exclude_none=True).items()
    }
    return ProblemFile(record.title, problem, record.citation, expected)


def _expected(name: str, text: str) -> Decimal:
    try:
        value = finite_decimal(text)
    except ValueError:
        value = Decimal("NaN")
    if not value.is_finite():
        raise InputError(f"{name} is {shorten(text)}; accepted: a finite decimal")
    return value


def _utility(record: _Problem) -> Utility:
    matrices = {"gain": record.gain, "distortion": record.distortion}
    given = [name for name, table in matrices.items() if table is not None]
    if len(given) > 1:
        raise InputError("[gain] and [distortion] are both given; give the one that the utility takes")
    if given == ["distortion"] and record.utility != "expected-distortion":
        raise InputError(
            f"[distortion] is given for the utility {shorten(record.utility)}; it belongs to expected-distortion"
        )
    table = record.gain or record.distortion
    return utility_by_name(record.utility, table.matrix if table else None)


def _uncertainty(prior: _Prior) -> UncertaintySet:
    given = [key for key in ("counts", "probabilities", "priors") if getattr(prior, key) is not None]
    if len(given) != 1:
        raise InputError(f"[prior] has {' and '.join(given) or 'no data'}; give one of counts, probabilities, priors")
    if prior.counts is not None:
        if prior.labels is not None:
            raise InputError("[prior] has labels beside counts, which name their symbols; leave the labels out")
        _refuse(prior, "weights")
        return L1Ball.from_counts(
            prior.counts,
            delta=prior.delta,
            radius=prior.radius,
            samples=prior.samples,
            within_simplex=prior.within_simplex,
        )
    if prior.priors is not None:
        _refuse(prior, "delta", "radius", "samples")
        if not prior.within_simplex:
            raise InputError("[prior] has within_simplex beside priors; it belongs to an l1 ball")
        return ConvexHull(prior.priors, prior.weights, prior.labels)
    _refuse(prior, "weights")
    probabilities = prior.probabilities or []
    if prior.delta is None:
        _refuse(prior, "samples")
        return L1Ball(
            probabilities,
            0 if prior.radius is None else prior.radius,
            prior.labels,
            within_simplex=prior.within_simplex,
        )
    if prior.radius is not None:
        raise InputError(f"delta {prior.delta} and radius {prior.radius} are both given; give one of them")
    if checked_delta(prior.delta) == 0:
        return L1Ball(probabilities, 2, prior.labels, within_simplex=prior.within_simplex)
    if prior.samples is None:
        raise InputError(f"delta {prior.delta} is given for probabilities without samples; add samples, or give counts")
    radius = weissman_radius_exact(prior.samples, len(probabilities), prior.delta)
    return L1Ball(probabilities, radius, prior.labels, within_simplex=prior.within_simplex)


def _refuse(prior: _Prior, *keys: str) -> None:
    for key in keys:
        if getattr(prior, key) is not None:
            raise InputError(f"[prior] has {key}, which does not go with its other keys; leave it out")


def write_problem(path: str | os.PathLike[str], file: ProblemFile) -> None:
    """Write a problem file; `read_problem` gives the same problem back.

    Raises
    ------
    InputError
        If the utility has no name (a user's own f), or the place cannot be written.
    """
    write_atomically(path, tomli_w.dumps(_table(file)).encode())


def _table(file: ProblemFile) -> dict[str, Any]:
    utility = file.problem.utility
    if not is_named(utility):
        raise InputError(f"the utility {shorten(utility.name)} has no name in problem files; use one of the named ones")
    table: dict[str, Any] = {"title": file.title}
    if file.citation:
        table["citation"] = file.citation
    table |= {"epsilon": file.problem.epsilon.text, "utility": utility.name}
    table["prior"] = _prior_table(file.problem.uncertainty)
    if isinstance(utility, MatrixUtility):
        table["gain" if utility.name == "expected-gain" else "distortion"] = {
            "matrix": [[str(x) for x in row] for row in utility.exact]
        }
    if file.expected:
        table["expected"] = dict(file.expected)
    return table


def _prior_table(uncertainty: UncertaintySet) -> dict[str, Any]:
    if isinstance(uncertainty, ConvexHull):
        return {
            "labels": list(uncertainty.labels),
            "weights": [str(w) for w in uncertainty.weights],
            "priors": [[str(q) for q in prior] for prior in uncertainty.priors],
        }
    if not isinstance(uncertainty, L1Ball):
        raise InputError(f"a {type(uncertainty).__name__} has no form in problem files; accepted: L1Ball, ConvexHull")
    evidence = uncertainty.evidence
    table: dict[str, Any] = {} if uncertainty.within_simplex else {"within_simplex": False}
    if evidence is None:
        return table | {
            "radius": str(uncertainty.radius),
            "labels": list(uncertainty.labels),
            "probabilities": [str(p) for p in uncertainty.center],
        }
    if evidence.delta is None or evidence.radius() != uncertainty.radius:
        table["radius"] = str(uncertainty.radius)
    else:
        table["delta"] = short_text(evidence.delta)
        if evidence.samples != sum(evidence.counts):
            table["samples"] = evidence.samples
    return table | {"counts": dict(zip(uncertainty.labels, evidence.counts, strict=True))}
