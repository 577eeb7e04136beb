"""Whether reports come from a distribution outside of the priors of the guarantee, and what leaks there.

Reports have the greatest likelihood L at the estimate, and L_S over the priors of the set. If the true distribution is
in the set, ``2 (log L - log L_S)`` is near a chi-square variable, or smaller; its degrees of freedom are one less than
the rank of the mechanism. With few reports it has moments that are computed as those of a deviance (`fit`).

L_S is found by column generation: the best mixture of some members of the set; then a member is added that has the
greatest mean of ``A (w / p)``, which also bounds how much greater the likelihood of any other prior in the set may be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechdesign.deploy.fit import cell_moments, leverages, log_chances, log_likelihoods, tail
from mechdesign.deploy.likelihood import maximum_likelihoods
from mechdesign.deploy.weighted_rows import WeightedRows
from mechdesign.mechanism import Mechanism
from mechdesign.numerics.arrays import Floats
from mechdesign.pml.pointwise import leakage
from mechdesign.uncertainty.base import UncertaintySet

LEVEL = 0.01  # of the chance that any group is said to be outside although none is
_MOST_MEMBERS = 60
_CLOSE = 0.01  # nats that the likelihood in the set may be above what is found


@dataclass(frozen=True)
class Outside:
    """A distribution that is significantly outside of the set of priors.

    Attributes
    ----------
    p : float
        The chance of such reports if it were inside, times the number of groups that are looked at.
    leakage : float
        Of the mechanism at the estimated distribution, in nats: the greatest over the outputs. One more record, spread
        over all categories, is added, so that no category counts as impossible.
    """

    p: float
    leakage: float


def outsides(mechanism: Mechanism, tables: Floats, frequencies: Floats, groups: int) -> list[Outside | None]:
    """Return that the distributions behind reports are significantly outside of the set of priors; None where not.

    A promise about a secret is for laws of the secret too, of which the reports tell nothing: None.

    Parameters
    ----------
    mechanism : Mechanism
        What made the reports.
    tables : array, shape (G, M)
        How often each output was reported in each group.
    frequencies : array, shape (G, N)
        Those of greatest likelihood, see `maximum_likelihoods`.
    groups : int
        For how many groups this is asked.

    Examples
    --------
    >>> from mechdesign import Guarantee, L1Ball
    >>> promise = Guarantee("log(3)", L1Ball([0.5, 0.5], radius="0.1"))
    >>> warner = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise)
    >>> tables = np.array([[700.0, 300.0], [14.0, 6.0]])
    >>> far, near = outsides(warner, tables, np.array([[0.9, 0.1], [0.9, 0.1]]), 1)
    >>> f"{far.p:.0e}", round(far.leakage, 3), near
    ('2e-29', 0.916, None)
    """
    known, matrix = mechanism.guarantee.uncertainty, mechanism.matrix
    found: list[Outside | None] = [None] * len(tables)
    if known.holds_every_prior or known.protected.names is not None:
        return found
    best = log_likelihoods(tables, frequencies @ matrix)
    # The likelihood at the center is not above that of the set, and is cheap.
    far = np.flatnonzero(groups * _chances(matrix, tables, (known.prior @ matrix)[None], best) < LEVEL)
    if not far.size:
        return found
    laws, gaps = _likeliest_laws(known, matrix, tables[far])
    chances = groups * _chances(matrix, tables[far], laws, best[far] - gaps)
    for group, p in zip(far.tolist(), chances.tolist(), strict=True):
        if p < LEVEL:
            reports = tables[group].sum()
            smoothed = (reports * frequencies[group] + 1 / len(matrix)) / (reports + 1)
            found[group] = Outside(p, float(leakage(matrix, smoothed).max()))
    return found


def _chances(matrix: Floats, tables: Floats, laws: Floats, best: Floats) -> Floats:
    """Return the chances of likelihood ratios to the best logarithms, if the outputs have laws: one, or one a group."""
    reports, possible = tables.sum(axis=1), laws > 0
    shares, ranks = leverages(WeightedRows.of(matrix), np.ones((len(laws), len(matrix)), dtype=bool), laws, possible)
    means, variances = (shares * each for each in cell_moments(reports[:, None] * laws))
    free = (ranks - 1) / ranks  # the number of reports is known
    logarithms = log_likelihoods(tables, laws)
    ratios = 2 * (best - logarithms)
    certain = (ratios <= 0) | (ranks < 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        tails = tail(np.maximum(ratios, 0.0), free * means.sum(axis=1), free * variances.sum(axis=1))
    # No chance is below that of these very counts.
    chances = np.where(certain, 1.0, np.maximum(tails, np.exp(log_chances(tables, laws))))
    return np.where(((tables > 0) & ~possible).any(axis=1), 0.0, chances)


def _likeliest_laws(known: UncertaintySet, matrix: Floats, tables: Floats) -> tuple[Floats, Floats]:
    """Return the laws of outputs of the likeliest priors in a set, and how much likelier others may be, in nats."""
    laws, gaps = np.repeat((known.prior @ matrix)[None], len(tables), axis=0), np.zeros(len(tables))
    reports = tables.sum(axis=1)
    members = [_first_members(known, matrix, counts) for counts in tables]
    active = [group for group, some in enumerate(members) if some]
    for _ in range(_MOST_MEMBERS):
        for number in {len(members[group]) for group in active}:
            some = [group for group in active if len(members[group]) == number]
            rows = np.array([members[group] for group in some]) @ matrix
            likely = maximum_likelihoods(rows, tables[some])
            laws[some] = [each.frequencies @ own for each, own in zip(likely, rows, strict=True)]
        going = []
        for group in active:
            seen = tables[group] > 0
            prices = np.zeros(len(seen))
            prices[seen] = tables[group, seen] / (reports[group] * laws[group, seen])
            least, member = known.worst_mean(-(matrix @ prices))
            gaps[group] = reports[group] * float(np.log(max(-least, 1.0)))
            if gaps[group] > _CLOSE:
                members[group].append(member)
                going.append(group)
        active = going
        if not active:
            break
    return laws, gaps


def _first_members(known: UncertaintySet, matrix: Floats, counts: Floats) -> list[Floats]:
    """Return members of a set of which each output that was seen has some that makes it possible; none if none do."""
    impossible = np.flatnonzero((counts > 0) & (known.prior @ matrix <= 0))
    members = [known.prior, *(known.worst_mean(-matrix[:, output])[1] for output in impossible)]
    possible = (members @ matrix)[:, impossible].max(axis=0, initial=0.0).min(initial=1.0) > 0
    return members if possible else []
