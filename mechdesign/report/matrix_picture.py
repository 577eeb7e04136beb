"""A mechanism as a picture: the likelier a report, the darker its square; a dot where it never comes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from mechdesign.mechanism import Mechanism
from mechdesign.report.rendering import plain

MOST_SYMBOLS = 40
_MOST_OUTPUTS = 200
_MOST_NUMBERS = 2_000
_FEW_NUMBERS = 80  # of a table that is open from the start
_LEVELS = 24
_LONGEST_NAME = 26
_MOST_NAMED = 60  # columns with labels
_RARE = 1e-3  # reports that are less likely for every category are not drawn
_LETTER = 7.4  # width of a letter, in pixels


@dataclass(frozen=True)
class Shade:
    """All squares of one darkness, as one path."""

    opacity: float
    path: str


@dataclass(frozen=True)
class Text:
    """A label and where it stands."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Picture:
    """The geometry of a picture, in pixels."""

    width: float
    height: float
    shades: tuple[Shade, ...]
    dots: str
    rows: tuple[Text, ...]
    columns: tuple[Text, ...]
    frame: tuple[float, float, float, float]
    greatest: float
    rare: int  # how many reports are left out, as too rare for every category


@dataclass(frozen=True)
class Matrix:
    """What a page shows of a matrix.

    Attributes
    ----------
    categories, outputs, bits, zeros : int
    picture : Picture or None
        None for more than 40 categories, or 200 reports.
    numbers : bool
        Whether a table of all probabilities is shown, and ``open`` whether it is open from the start.
    likeliest : tuple of float
        The least and the greatest probability, over the values, of the likeliest report of a value.
    possible : tuple of int
        The least and the greatest number of reports that a value can give.
    """

    symbols: int
    outputs: int
    bits: int
    zeros: int
    picture: Picture | None
    numbers: bool
    open: bool
    likeliest: tuple[float, float]
    possible: tuple[int, int]


def matrix_of(mechanism: Mechanism) -> Matrix:
    """Return what a page shows of the matrix of a mechanism.

    Examples
    --------
    >>> import mechdesign as md
    >>> everything = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2))
    >>> found = matrix_of(md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], everything))
    >>> found.zeros, found.likeliest, found.possible, found.picture.greatest
    (0, (0.75, 0.75), (2, 2), 0.75)
    """
    N, M = mechanism.matrix.shape
    most, possible = mechanism.matrix.max(axis=1), (mechanism.numerators > 0).sum(axis=1)
    drawn = N <= MOST_SYMBOLS and M <= _MOST_OUTPUTS
    return Matrix(
        symbols=N,
        outputs=M,
        bits=mechanism.bits,
        zeros=int((mechanism.numerators == 0).sum()),
        picture=_picture(mechanism) if drawn else None,
        numbers=drawn and N * M <= _MOST_NUMBERS,
        open=N * M <= _FEW_NUMBERS,
        likeliest=(float(most.min()), float(most.max())),
        possible=(int(possible.min()), int(possible.max())),
    )


def _picture(mechanism: Mechanism) -> Picture:
    """Return the picture of a matrix."""
    kept = mechanism.matrix.max(axis=0) >= _RARE
    matrix, numerators = mechanism.matrix[:, kept], mechanism.numerators[:, kept]
    N, M = matrix.shape
    side = 26 if max(N, M) <= 12 else 20
    wide = max(4.0, min(float(side), 760 / M))
    row_names = [plain(text, _LONGEST_NAME) for text in mechanism.inputs]
    named = itertools.compress(mechanism.outputs, kept) if M <= _MOST_NAMED else ()
    column_names = [plain(text, _LONGEST_NAME) for text in named]
    left = 14 + _LETTER * max(map(_width, row_names))
    top = 22 + _LETTER * max(map(_width, column_names), default=0)
    greatest = float(matrix.max())
    level = np.ceil(matrix / greatest * _LEVELS).astype(int)
    squares: dict[int, list[str]] = {}
    dots = []
    for i, j in np.ndindex(N, M):
        x, y = left + j * wide, top + i * side
        if numerators[i, j]:
            cell = f"M{x:.4g} {y:.4g}h{wide - 1:.3g}v{side - 1}h{1 - wide:.3g}z"
            squares.setdefault(int(level[i, j]), []).append(cell)
        else:
            dots.append(f"M{x + wide / 2:.4g} {y + side / 2:.4g}h0")
    return Picture(
        width=round(left + M * wide + 22),
        height=round(top + N * side + 6),
        shades=tuple(Shade(round(k / _LEVELS, 3), "".join(path)) for k, path in sorted(squares.items())),
        dots="".join(dots),
        rows=tuple(Text(round(left - 8), top + i * side + side / 2 + 4, name) for i, name in enumerate(row_names)),
        columns=tuple(Text(left + (j + 0.5) * wide + 4, top - 8, name) for j, name in enumerate(column_names)),
        frame=(left - 1, top - 1, M * wide + 1, N * side + 1),
        greatest=greatest,
        rare=int((~kept).sum()),
    )


def _width(text: str) -> float:
    """Return about how many narrow letters a text is wide; letters beyond Latin may take two."""
    return sum(1 if ord(letter) < 0x370 else 2 for letter in text)
