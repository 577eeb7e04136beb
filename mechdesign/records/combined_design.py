"""Errors and weights of views that overlap, whose reports are combined by generalised least squares.

Views of different attributes have the error ``sum E_i / w_i``, and the best weights in closed form. The tables of views
that share attributes agree on what they share, so that reports of one inform the others: their error is that of all
tables together (`mechdesign.records.combined_weights`), and the best weights are found by a search with a bound. Parts
of views that share nothing add up as single views do, each part with the error that it has alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from mechdesign.deploy.estimation import weighing_prior
from mechdesign.numerics.threads import one_thread
from mechdesign.records.combined_tables import WhitenedView
from mechdesign.records.combined_weights import CombinedError
from mechdesign.records.record_mechanism import RecordMechanism
from mechdesign.records.record_weights import best_shares
from mechdesign.records.table_space import MOST_CELLS
from mechdesign.records.tied_views import TiedViews, tied_views
from mechdesign.utility import EstimationError

_SEARCHED = 600  # dimensions of tables up to which weights are searched for


class ErrorOfRecords:
    """The error of a mechanism of whole records, at the reference laws of its views, as a function of its weights.

    Parameters
    ----------
    mechanism : RecordMechanism
        Its weights do not matter.
    objectives : sequence of EstimationError
        What each view is to estimate; None for windows.
    values : sequence of float
        What a squared error of each view counts.
    errors : sequence of float
        E of each view by itself.
    """

    def __init__(
        self,
        mechanism: RecordMechanism,
        objectives: Sequence[EstimationError | None],
        values: Sequence[float],
        errors: Sequence[float],
    ) -> None:
        self._ties = tied_views(mechanism)
        self._open = [place for place, part in enumerate(mechanism.parts) if part.is_open]
        self._objectives, self._values = objectives, values
        self._alone = [value * error for value, error in zip(values, errors, strict=True)]

    @cached_property
    def _groups(self) -> tuple[tuple[tuple[int, ...], CombinedError | None], ...]:
        """The views of each part, and their error; None where it is the sum over them: one, or too many cells."""
        with one_thread():
            tied = [(tied.places, self._combined(tied)) for tied in self._ties]
        return (*tied, *(((place,), None) for place in self._open))

    def _combined(self, tied: TiedViews) -> CombinedError | None:
        if len(tied.places) == 1 or sum(len(part.mechanism.inputs) for part in tied.parts) > MOST_CELLS:
            return None
        space = tied.space
        scores = [
            WhitenedView.at(part.mechanism.matrix, weighing_prior(part.mechanism) @ part.mechanism.matrix)
            for part in tied.parts
        ]
        columns = []
        for own, place in enumerate(tied.places):
            objective: Any = self._objectives[place]  # a matrix has one
            queries = objective.queries(len(tied.parts[own].mechanism.inputs))
            lifted = np.zeros((space.starts[-1], len(queries)))
            lifted[space.part(own)] = queries.T * math.sqrt(self._values[place])
            columns.append(lifted)
        return CombinedError(space, scores, np.concatenate(columns, axis=1))

    def at(self, shares: Sequence[float]) -> float:
        """Return n times the mean squared error, with values, where each view has its share of the reports."""
        found = []
        with one_thread():
            for places, together in self._groups:
                own = [shares[place] for place in places]
                if together is None:
                    found += [self._alone[place] / share for place, share in zip(places, own, strict=True)]
                else:
                    found.append(together.at(np.array(own))[0])
        return math.fsum(found)

    def best(self) -> tuple[float, ...]:
        """Return the shares of about the least error."""
        parts, errors = [], []
        with one_thread():
            for places, together in self._groups:
                start = np.array(best_shares([self._alone[place] for place in places]))
                if together is not None and together.space.basis.shape[1] <= _SEARCHED:
                    start = together.least(start).weights
                parts.append(start)
                alone = math.fsum(self._alone[place] / share for place, share in zip(places, start, strict=True))
                errors.append(alone if together is None else together.at(start)[0])
        shares = np.empty(len(self._alone))
        for (places, _), part, share in zip(self._groups, parts, best_shares(errors), strict=True):
            shares[list(places)] = part * share
        return tuple(shares.tolist())
