"""How far listed strings, the heavy ones and such as were found to have moved, are from their shares among the samples.

All other strings are taken to have changed in proportion. With ``S_HH`` and ``vbar_H`` of the listed strings alone (see
`decoder.py`) the change is ``(I - P 1') S_HH^-1 (vbar_H - 1)``.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from mechdesign.errors import LimitError
from mechdesign.numerics.arrays import Floats
from mechdesign.windows.decoder import Decoder
from mechdesign.windows.hashing import Words

_CLEAR = 3.0  # standard errors, from which on a listed string is taken to have changed
_LEAST_SHARE = 1e-9  # of all strings that are not listed
_ROUNDS = 100


class Drift:
    """The changes of listed strings, as reports tell.

    Parameters
    ----------
    decoder : Decoder
        That of the mechanism.
    prints : ndarray of uint64, shape (H,)
        Fingerprints of the listed strings.
    shares : ndarray, shape (H,)
        P of the listed strings.
    counts : ndarray, shape (outputs,)
        Shares of reports.

    Attributes
    ----------
    shares : ndarray, shape (H,)
        P of the listed strings.
    information : ndarray, shape (H, H)
        ``S_HH``.
    change : ndarray, shape (H,)
        The change of the shares.
    covariance : ndarray, shape (H, H)
        The covariance of the change by the draws of reports, times their number.
    """

    def __init__(self, decoder: Decoder, prints: Words, shares: Floats, counts: Floats) -> None:
        self._decoder, self._prints, self.shares, self._counts = decoder, prints, shares, counts
        means, spread = decoder.products(prints, counts)
        square = decoder.products(prints, decoder.chances)[1]
        self.information = square - 1
        # Where the listed strings are all there are, ``S_HH P = 1``: S_HH - 1 is singular. Then S_HH serves instead, as
        # ``(I - P 1') S_HH^-1 1 = (I - P 1') P = 0``.
        matrix = square if shares.sum() > 1 - _LEAST_SHARE else self.information
        back = np.eye(len(shares)) - np.outer(shares, np.ones(len(shares)))
        if np.linalg.matrix_rank(matrix, hermitian=True) < len(shares):
            raise LimitError.no_method(
                f"reports of these windows do not tell {len(shares)} strings apart, which therefore have no estimates; "
                "take a larger epsilon, more seeds or more buckets"
            )
        self._solved = back @ np.linalg.inv(matrix)
        self.change = self._solved @ (means - 1)
        self.covariance = self._solved @ (spread - np.outer(means, means)) @ self._solved.T

    @cached_property
    def spread_of_seeds(self) -> Floats:
        """The variances of the changes as seeds tell them, by what each one leaves unexplained; 0 for one seed."""
        expected, _ = self.expected(self.change)
        left = self._decoder.products_of_seeds(self._prints, self._counts - expected)
        M = len(self._decoder.mechanism.windows)
        return np.asarray(np.diag(self._solved @ left @ self._solved.T) * M / max(M - 1, 1) * (M > 1))

    def significant(self, reports: int) -> Floats:
        """Return the changes that are over three standard errors from 0, and 0 for the others."""
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0) / reports)
        return np.where(np.abs(self.change) > _CLEAR * errors, self.change, 0.0)

    def expected(self, change: Floats) -> tuple[Floats, float]:
        """Return what a change of listed strings adds to the shares of reports, and the factor of all other shares."""
        light = 1 - float(change.sum()) / max(1 - float(self.shares.sum()), _LEAST_SHARE)
        own = self._decoder.means_of_rows(self._prints, change + (1 - light) * self.shares)
        return self._decoder.chances * (own - (1 - light)), light


def total_error(information: Floats, shares: Floats, drift: Drift | None) -> float:
    """Return the sum of n times the variances of all shares, estimated without bias near P, for many seeds.

    The mean light lift of a report is z, its variance ``V = P_H' S_HH P_H / t^2``, t the share of all light strings,
    and ``p = P_L / t``. Light lifts are ``z + x`` with ``<p, x> = 0``, and averaged over seeds x has the covariance
    ``D - D p p' D / p'D p`` with D diagonal: that of independent numbers, given this sum. So D follows from the
    diagonal, ``S_xx - V``. Light changes are then estimated by ``p l + (I - p 1') D^-1 (vbar_L - 1)``, l being their
    sum, which the heavy strings tell: the covariance is ``(I - p 1') D^-1 (I - p 1')' + p p' Var l``.

    Parameters
    ----------
    information : ndarray, shape (L,)
        ``S_xx`` of light strings.
    shares : ndarray, shape (L,)
        Their P.
    drift : Drift or None
        That of the heavy strings; None without any.
    """
    heavy = np.zeros((0, 0)) if drift is None else drift.covariance
    if not shares.sum():
        return float(np.trace(heavy))
    p = shares / shares.sum()
    common = 0.0 if drift is None else float(drift.shares @ drift.information @ drift.shares) / shares.sum() ** 2
    own = information - common
    d = own
    for _ in range(_ROUNDS):
        part = p**2 * d / (p**2 @ d)
        d = own / np.maximum(1 - part, 0.5)
    back, concentration = 1 / d, float(p @ p)
    sums = [np.trace(heavy), back.sum() * (1 + concentration), -2 * (p @ back), concentration * heavy.sum()]
    return math.fsum(map(float, sums))
