"""What a mechanism of whole records is worth, and what no mechanism falls below: claims that follow from its file.

The error is ``sum value_i E_i / w_i`` with E_i of the integers of view i at the reference law of its set; where views
share attributes it is that of combined estimates (`mechdesign.records.combined_design`). The bound
(`mechdesign.records.product_measures`) follows from one vector for each attribute: it holds at every joint law whose
views have these reference laws and in which every record is possible that no view rules out, for every mechanism that
is epsilon-PML for a set that holds this law, with the greatest epsilon of the views.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from mechdesign.errors import GuaranteeError, InputError
from mechdesign.mechanism import Mechanism
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import BOUND_PAD
from mechdesign.records.combined_design import ErrorOfRecords
from mechdesign.records.product_measures import RecordQueries
from mechdesign.records.record_mechanism import RecordMechanism
from mechdesign.records.record_parts import RecordOptimality, RecordPart
from mechdesign.records.record_queries import ShownCells, TiedAttributes, queries_of
from mechdesign.utility import EstimationError

_LEAST, _MOST = 1e-100, 1e100  # of the greatest entry of a vector, so that its sum is a number and not rounded away
_SAME = 1e-9  # relative, of two errors: that of combined views is computed from an inverse matrix


def objective_of(mechanism: Mechanism) -> EstimationError:
    """Return the estimation error that the mechanism of a view was designed for.

    Raises
    ------
    InputError
        If the mechanism of the view claims none.
    """
    claim = mechanism.optimality
    found = None if claim is None else claim.utility.estimation
    if found is None:
        raise InputError.set_not_accepted(
            f"a view of {len(mechanism.inputs)} cells was not designed for an estimation error, without which there is "
            "no bound of the whole; design it for one"
        )
    return found


def errors_of(mechanism: RecordMechanism, of_strings: Mapping[str, float] | None = None) -> tuple[float, ...]:
    """Return E of each view, n times the mean squared error where all reports are about it."""
    return tuple(_error_of(part, of_strings or {}) for part in mechanism.parts)


def _error_of(part: RecordPart, of_strings: Mapping[str, float]) -> float:
    if part.is_open and part.name in of_strings:
        return of_strings[part.name]
    _refuse_open(part)
    made = part.mechanism
    return objective_of(made).value_of_integers(made.numerators, made.guarantee.uncertainty)


def error_of_records(
    mechanism: RecordMechanism, values: Sequence[float], of_strings: Mapping[str, float] | None = None
) -> float:
    """Return n times the mean squared error of a mechanism of whole records, summed over its queries with values.

    Views that share attributes are combined.
    """
    return combined_error_of(mechanism, values, of_strings).at(mechanism.shares)


def combined_error_of(
    mechanism: RecordMechanism, values: Sequence[float], of_strings: Mapping[str, float] | None = None
) -> ErrorOfRecords:
    """Return the error of a mechanism of whole records as a function of its weights.

    Parameters
    ----------
    mechanism : RecordMechanism
    values : sequence of float
        What a squared error of each view counts.
    of_strings : mapping from name of a view of windows to its error, optional
        Which depends on the shares of strings in the sample, and so does not follow from a file.

    Raises
    ------
    InputError
        For a view that was not designed for estimates, and one of windows without its error.
    """
    objectives = [None if part.is_open else objective_of(part.mechanism) for part in mechanism.parts]
    return ErrorOfRecords(mechanism, objectives, values, errors_of(mechanism, of_strings))


def _refuse_open(part: RecordPart) -> None:
    """Refuse a view of windows where laws of listed values are needed."""
    if part.is_open:
        raise InputError.set_not_accepted(
            f"the view {part.name} is of windows, and the bound is over values that are listed"
        )


def queries_of_records(
    mechanism: RecordMechanism, values: Sequence[float]
) -> tuple[RecordQueries, tuple[TiedAttributes, ...]]:
    """Return the queries of all views over records, and the attributes to which the vectors of a bound belong.

    Raises
    ------
    InputError
        For a view that was not designed for estimates, and one of windows.
    LimitError
        If there are too many cells for a bound.
    """
    shown = []
    if mechanism.secret is not None:
        raise InputError.set_not_accepted(
            f"the promise is about {mechanism.guarantee.whose}, and the bound is for promises about the whole record"
        )
    for part, value in zip(mechanism.parts, values, strict=True):
        _refuse_open(part)
        known = part.mechanism.guarantee.uncertainty
        queries: Floats = objective_of(part.mechanism).queries(known.size) * math.sqrt(value)
        shown.append(ShownCells(part.attributes, part.mechanism.inputs, known.prior, queries))
    return queries_of(shown)


def bound_of_records(mechanism: RecordMechanism, values: Sequence[float], measures: Sequence[Sequence[float]]) -> float:
    """Return the bound that vectors prove, rounded down.

    Raises
    ------
    InputError
        If the vectors do not fit the attributes, or hold a negative number, or nothing but 0.
    """
    queries, tied = queries_of_records(mechanism, values)
    vectors = [np.asarray(vector, dtype=float) for vector in measures]
    shapes = [(len(one.combinations),) for one in tied]
    if [vector.shape for vector in vectors] != shapes:
        raise InputError.wrong_size(
            f"the vectors of the bound have {[vector.size for vector in vectors]} entries; accepted: "
            f"{[size for (size,) in shapes]}, one for each value of the attributes"
        )
    if any((vector < 0).any() or not _LEAST <= vector.max() <= _MOST for vector in vectors):  # NaN is neither
        raise InputError.out_of_range(
            f"a vector of the bound is no measure; accepted: numbers from 0 to {_MOST:g}, not all below {_LEAST:g}"
        )
    promise = mechanism.guarantee
    return queries.bound(vectors, promise.epsilon, promise.epsilon if promise.holds_every_prior else promise.lower)


def check_claim(mechanism: RecordMechanism, claim: RecordOptimality) -> tuple[float, float]:
    """Return the error and the bound that a mechanism and the vectors of a claim prove, and hold the claim to them.

    Raises
    ------
    GuaranteeError
        If the error is another one, or the bound does not follow from the vectors.
    """
    error = error_of_records(mechanism, claim.values)
    if not abs(error - claim.error) <= _SAME * abs(error) < math.inf:
        raise GuaranteeError.optimality_false(
            f"the stored error of the whole is {claim.error:.15g}, but that of the integers is {error:.15g}"
        )
    bound = bound_of_records(mechanism, claim.values, claim.measures)
    if not claim.bound <= bound + BOUND_PAD * abs(bound):
        raise GuaranteeError.optimality_false(
            f"the stored bound of the whole is {claim.bound:.15g}, but neither its vectors nor its views prove more "
            f"than {bound:.15g}"
        )
    return error, bound
