"""What reports tell: the leakage of each, and how far a guess changes when one is seen."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mechdesign.display.numbers import up
from mechdesign.mechanism import Mechanism
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import float_up, log_up

MOST_ROWS = 40
SOME_ROWS = 20
_FEW = 12  # rows, of which equal ones are shown too
_SAME = 6  # decimals by which leakages differ, for their order


@dataclass(frozen=True)
class OutputFacts:
    """One report.

    Attributes
    ----------
    label : str
    share : float
        Its probability at the estimate.
    leakage : float
        In nats over the set, proved and rounded up.
    factor : float
        The exponential of it, rounded up.
    length : float
        The leakage as a share of the greatest of any report, for a bar.
    likeliest : str
        The value that makes it most likely; where there are several, the first.
    alike : int
        How many other values make it as likely.
    excluded : int
        How many values it rules out.
    """

    label: str
    share: float
    leakage: float
    factor: float
    length: float
    likeliest: str
    alike: int
    excluded: int


@dataclass(frozen=True)
class Outputs:
    """The reports, all or those that leak most; the ranges of leakage and of the values ruled out are those of all."""

    total: int
    shown: tuple[OutputFacts, ...]
    least: float
    median: float
    greatest: float
    excluded: tuple[int, int]

    @property
    def alike(self) -> bool:
        """Whether many reports leak the same, so that a table of them would say one thing many times."""
        return self.total > _FEW and up(self.least) == up(self.greatest)


@dataclass(frozen=True)
class Guess:
    """How likely one value is before a report, and after the reports that speak most for it and against it.

    ``local`` are the limits of both under local differential privacy that makes the same promise.
    """

    label: str
    before: float
    most: float
    least: float
    local: tuple[float, float]


@dataclass(frozen=True)
class Guesses:
    """The guesses about all values, or about the most frequent ones; ``secret`` names whose values they are."""

    total: int
    shown: tuple[Guess, ...]
    secret: str | None


def outputs_of(mechanism: Mechanism) -> Outputs:
    """Return how much each report tells, in the order of the file, or the reports that tell most.

    Examples
    --------
    >>> import mechdesign as md
    >>> everything = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2))
    >>> found = outputs_of(md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], everything, outputs=["a", "b"]))
    >>> [(row.label, row.likeliest, row.factor) for row in found.shown]
    [('a', 'x1', 3.0), ('b', 'x2', 3.0)]
    """
    ratios = [ratio for ratio in mechanism.proof.ratios if ratio is not None]  # a proved leakage is finite
    leakages = np.array([log_up(max(ratio, Fraction(1))) for ratio in ratios])
    shares = mechanism.guarantee.uncertainty.prior @ mechanism.matrix
    places = np.arange(leakages.size)
    if leakages.size > MOST_ROWS:
        places = np.lexsort((-shares, -leakages.round(_SAME)))[:SOME_ROWS]
    top = leakages.max()
    shown = []
    for place in places.tolist():
        column = mechanism.numerators[:, place]
        best = int(column.argmax())
        shown.append(
            OutputFacts(
                label=mechanism.outputs[place],
                share=float(shares[place]),
                leakage=float(leakages[place]),
                factor=float_up(max(ratios[place], Fraction(1))),
                length=float(leakages[place] / top) if top else 0.0,
                likeliest=mechanism.inputs[best],
                alike=int((column == column[best]).sum()) - 1,
                excluded=int((column == 0).sum()),
            )
        )
    middle = float(np.sort(leakages)[leakages.size // 2])
    excluded = (mechanism.numerators == 0).sum(axis=0)
    ruled_out = int(excluded.min()), int(excluded.max())
    return Outputs(leakages.size, tuple(shown), float(leakages.min()), middle, float(top), ruled_out)


def guesses_of(mechanism: Mechanism) -> Guesses:
    """Return how far guesses about each value change when a report is seen, at the estimate.

    Under a promise about a secret these are the values of the secret.

    Examples
    --------
    >>> import mechdesign as md
    >>> everything = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2))
    >>> guesses_of(md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], everything)).shown[0]
    Guess(label='x1', before=0.5, most=0.75, least=0.25, local=(0.75, 0.25))
    """
    protected = mechanism.guarantee.uncertainty.protected
    names, before, likelihoods = protected.values, protected.law, protected.likelihoods(mechanism.matrix)
    masses = before @ likelihoods
    used = masses > 0
    after: Floats = before[:, None] * likelihoods[:, used] / masses[used]
    places = np.arange(len(names))
    if len(names) > MOST_ROWS:
        places = np.argsort(-before, kind="stable")[:SOME_ROWS]
    odds = float(mechanism.guarantee.sides.least.exp_up)
    local = before * odds / (before * odds + 1 - before), before / (before + (1 - before) * odds)
    shown = tuple(
        Guess(
            names[i],
            float(before[i]),
            min(1.0, float(after[i].max())),
            float(after[i].min()),
            (float(local[0][i]), float(local[1][i])),
        )
        for i in places.tolist()
    )
    return Guesses(len(names), shown, None if protected.names is None else protected.names[0])
