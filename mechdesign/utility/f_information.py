"""f-informations: the f-divergence between the joint distribution of X and Y and the product of its marginals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats, real_array
from mechdesign.numerics.exact import xlogx
from mechdesign.utility.objective import Utility, columns_and_prior

_EPS = float(np.finfo(float).eps)
_NARROW = 1e-15  # limits of a mass that are so close are taken for one
_GRID = np.concatenate([[0.0], np.geomspace(1e-9, 1e3, 400)])


@dataclass(frozen=True)
class FInformation(Utility):
    """The f-information ``sum_y q(y) sum_i P_i f(v_i / q(y))`` with ``q(y) = <P, v>``.

    Parameters
    ----------
    f : callable
        A convex function on [0, infinity) with f(1) = 0 and f(0) finite, applied elementwise to arrays.
    derivative : callable, optional
        Its derivative, elementwise; only `gradient` uses it.
    name, unit : str
        For tables and files.

    Raises
    ------
    InputError
        If f does not take numpy arrays, does not return a real number for each entry, f(1) is not 0, a value on a grid
        over [0, 1000] is not finite, or f is not convex on the grid. The grid cannot prove convexity; the user is
        responsible for it.

    Notes
    -----
    Sub-convex in the sense of ED eq. (11). A certificate assumes that f is computed to within a few units in the
    last place.

    Examples
    --------
    >>> jensen_shannon = FInformation(lambda u: (xlogx(u) - (1 + u) * np.log((1 + u) / 2)) / 2)
    >>> round(jensen_shannon.value(np.eye(2), [0.5, 0.5]), 6)
    0.215762
    """

    f: Callable[[Floats], Floats]
    derivative: Callable[[Floats], Floats] | None = None
    name: str = "f-information"
    unit: str = "1"
    has_falling_kernel = False
    """Whether it is known that f(v) is the integral of ``(v - 1)^2 / (1 + s (v - 1)) dm(s)`` over 0 <= s <= 1, up to a
    multiple of v - 1, where m has a mass at 0 and the density ``(1 - s) k(s)``, and k does not grow."""

    def __post_init__(self) -> None:
        with np.errstate(all="ignore"):
            values = self._checked(_GRID)
            at_zero, at_one = self._checked(np.array([0.0, 1.0])).tolist()
        if not np.isfinite(at_zero):
            raise InputError.not_an_f_information(
                f"f(0) is {at_zero} for the utility {shorten(self.name)}; accepted: a finite f(0), "
                "since a zero in the mechanism would make the utility infinite"
            )
        if not abs(at_one) <= 8 * _EPS:
            raise InputError.not_an_f_information(
                f"f(1) is {at_one:.6g} for the utility {shorten(self.name)}; accepted: f(1) = 0"
            )
        if not np.isfinite(values).all():
            raise InputError.not_an_f_information(
                f"f of the utility {shorten(self.name)} is not finite on [0, 1000]; accepted: a finite convex f"
            )
        left, middle, right = _GRID[:-2], _GRID[1:-1], _GRID[2:]
        share = (right - middle) / (right - left)
        chord = share * values[:-2] + (1 - share) * values[2:]
        excess = values[1:-1] - chord
        rounding = 64 * _EPS * (1 + np.abs(values[:-2]) + np.abs(values[2:]))
        if (excess > rounding).any():
            where = float(middle[int(np.argmax(excess - rounding))])
            raise InputError.not_an_f_information(
                f"f of the utility {shorten(self.name)} is not convex near {where:.3g}; accepted: a convex f"
            )

    def _checked(self, u: Floats) -> Floats:
        """Return f of an array, after checking that it takes arrays and returns one real number for each entry."""
        if not callable(self.f):
            raise InputError.wrong_type(
                f"f is {shorten(self.f)}; accepted: a function of an array, such as lambda u: u * u - 1"
            )
        name = f"f of the utility {shorten(self.name)}"
        try:
            values = np.asarray(self.f(u))
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InputError.function_fails(
                f"{name} fails on a numpy array of {u.size} numbers from {u[0]:g} to {u[-1]:g}: {shorten(reason)}; "
                "f must take numpy arrays: write numpy.log instead of math.log, and numpy.where instead of if"
            ) from error
        if values.dtype.kind not in "fiub":
            raise InputError.function_fails(f"{name} returns values of type {values.dtype}; accepted: real numbers")
        if values.shape != u.shape:
            raise InputError.function_fails(
                f"{name} returns an array of shape {values.shape} for one of shape {u.shape}; "
                "accepted: a value for each entry"
            )
        result: Floats = values.astype(float)
        return result

    def _values(self, u: Floats) -> Floats:
        """Return f of an array as floats."""
        return real_array(self.f(u), f"f of the utility {shorten(self.name)}")

    @property
    def f_information(self) -> FInformation:
        """The utility itself."""
        return self

    @property
    def is_symmetric(self) -> bool:
        """True: f is the same for every category."""
        return True

    def mu(self, columns: ArrayLike, prior: ArrayLike) -> Floats:
        """Return ``q sum_i P_i f(v_i / q)`` for each column, and 0 where q = 0."""
        V, P = columns_and_prior(columns, prior)
        q = P @ V
        u = self._where_likely(V / np.where(q > 0, q, 1.0), P)
        result: Floats = q * (P @ self._values(u))
        return result

    @staticmethod
    def _where_likely(u: Floats, P: Floats) -> Floats:
        """Return u, but 1, where f is 0, for categories of probability 0: their terms are 0 however large u is."""
        return u if (P > 0).all() else np.where((P > 0)[:, None], u, 1.0)

    def gradient(self, column: ArrayLike, prior: ArrayLike) -> Floats:
        """Return the gradient of mu at one column with ``<P, v> > 0``, shape (N,).

        Raises
        ------
        InputError
            If no derivative was given.
        """
        if self.derivative is None:
            raise InputError.missing_argument(
                f"the utility {shorten(self.name)} has no derivative; give FInformation(f, derivative)"
            )
        v, P = real_array(column, "the column"), real_array(prior, "the prior")
        u = v / (P @ v)
        slope = real_array(self.derivative(u), f"the derivative of the utility {shorten(self.name)}")
        # The slope may be -infinity where u = 0; its term in the mean is 0.
        mean_slope = float(P @ (u * np.where(u > 0, slope, 0.0)))
        result: Floats = P * (float(P @ self._values(u)) - mean_slope + slope)
        return result

    def mu_up(self, columns: Floats, prior: Floats, slack: float | Floats) -> Floats:
        """Return an upper bound of mu near each column: a convex f is largest at an end of an interval."""
        below = self._values(self._where_likely(np.maximum(columns - slack, 0.0), prior))
        above = self._values(self._where_likely(columns + slack, prior))
        largest = np.maximum(below, above)
        rounding = (prior.size + 16) * _EPS * (prior @ np.abs(largest))
        result: Floats = prior @ largest + rounding
        return result


@dataclass(frozen=True, repr=False)
class NamedInformation(FInformation):
    """An f-information without parameters, which files know by its name.

    A subclass gives `name`, `unit`, and as static methods `f` and, if it has one, `derivative`.

    Examples
    --------
    >>> class Cubic(NamedInformation):
    ...     name = "cubic"
    ...
    ...     @staticmethod
    ...     def f(u):
    ...         return u**3 - 1
    >>> round(Cubic().value(np.eye(2), [0.5, 0.5]), 12)
    3.0
    """

    def __init__(self) -> None:
        self.__post_init__()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class MutualInformation(NamedInformation):
    """Mutual information I(X; Y) in nats: ``f(u) = u log u``.

    Examples
    --------
    >>> round(MutualInformation().value(np.eye(2), [0.5, 0.5]), 12)
    0.69314718056
    """

    name = "mutual-information"
    unit = "nats"
    concave_in_prior = True
    has_falling_kernel = True
    f = staticmethod(xlogx)

    def mean_mu(self, columns: Floats, priors: Floats, weights: Floats) -> Floats:
        """Return mu of each column, averaged over priors: logarithms of the entries are taken once."""
        result: Floats = (weights @ priors) @ xlogx(columns) - weights @ xlogx(priors @ columns)
        return result

    def minorant(self, matrix: Floats, least: Floats, greatest: Floats) -> tuple[float, Floats]:
        """Return the entropy of the output, replaced by its chord for each mass, minus that of the rows."""
        below, above = np.maximum(least, 0.0), np.maximum(greatest, 0.0)
        entropy = np.minimum(-xlogx(below), -xlogx(above))
        wide = above - below > _NARROW
        width = np.where(wide, above - below, 1.0)
        slope = np.where(wide, (xlogx(below) - xlogx(above)) / width, 0.0)
        constant = np.where(wide, -xlogx(below) - slope * below, entropy)
        return float(constant.sum()), matrix @ slope + xlogx(matrix).sum(axis=1)

    @staticmethod
    def derivative(u: Floats) -> Floats:
        """Return ``log u + 1``."""
        with np.errstate(divide="ignore"):
            return np.log(u) + 1.0


class ChiSquare(NamedInformation):
    """Chi-square information: ``f(u) = (u - 1)^2``."""

    name = "chi-square"
    has_falling_kernel = True

    @staticmethod
    def f(u: Floats) -> Floats:
        """Return ``(u - 1)^2``."""
        return (u - 1.0) ** 2

    @staticmethod
    def derivative(u: Floats) -> Floats:
        """Return ``2 (u - 1)``."""
        return 2.0 * (u - 1.0)


class TotalVariation(NamedInformation):
    """Total-variation information: ``f(u) = |u - 1| / 2``."""

    name = "total-variation"

    @staticmethod
    def f(u: Floats) -> Floats:
        """Return ``|u - 1| / 2``."""
        return np.abs(u - 1.0) / 2.0

    @staticmethod
    def derivative(u: Floats) -> Floats:
        """Return a subgradient: half the sign of ``u - 1``."""
        return np.sign(u - 1.0) / 2.0


class SquaredHellinger(NamedInformation):
    """Squared Hellinger information: ``f(u) = (1 - sqrt u)^2``."""

    name = "squared-hellinger"

    @staticmethod
    def f(u: Floats) -> Floats:
        """Return ``(1 - sqrt u)^2``."""
        return (1.0 - np.sqrt(u)) ** 2

    @staticmethod
    def derivative(u: Floats) -> Floats:
        """Return ``1 - 1 / sqrt u``."""
        with np.errstate(divide="ignore"):
            return 1.0 - 1.0 / np.sqrt(u)
