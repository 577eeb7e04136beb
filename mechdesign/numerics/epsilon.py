"""Epsilon, the privacy parameter: a decimal or the logarithm of a rational, and rationals around exp(epsilon).

``exp(epsilon)`` is computed in ball arithmetic (Arb, through python-flint); the safe end of the ball is kept.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.exact import arb_of, lower, plain_text, rational, upper, working_precision

_LARGEST_EPSILON = 700  # exp(700) is still a float
_LARGEST_FLOAT = Fraction(10) ** 308
_PLACES = 12  # of a decimal that covers a logarithm
_LOG = re.compile(r"log\(\s*([^()]+?)\s*\)")


@dataclass(frozen=True)
class Epsilon:
    """A privacy parameter in nats: a decimal, or the logarithm of a rational.

    Use `Epsilon.of` to make one.

    Attributes
    ----------
    text : str
        The text that files hold: ``"1"``, ``"0.25"``, ``"log(9/8)"``.
    exponent : Fraction or None
        epsilon itself, when it is a decimal.
    power : Fraction or None
        exp(epsilon) itself, when epsilon is the logarithm of a rational.

    Examples
    --------
    >>> Epsilon.of("log(9/8)").exp_down
    Fraction(9, 8)
    >>> float(Epsilon.of(1).exp_down) == math.e
    True
    """

    text: str = field(compare=False)
    exponent: Fraction | None
    power: Fraction | None

    @classmethod
    def of(cls, value: object, name: str = "epsilon") -> Epsilon:
        """Return epsilon from a number, a decimal as text, or ``"log(RATIONAL)"``; messages call it by a name.

        Raises
        ------
        InputError
            If it is negative, not finite, above 700, or not a number.
        """
        if isinstance(value, Epsilon):
            return value
        match = _LOG.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is not None:
            power = rational(match.group(1), f"the argument of log in {name}")
            if power < 1:
                raise InputError.epsilon_out_of_range(
                    f"{name} is {shorten(value)}, which is negative; accepted: log(r) with r >= 1"
                )
            if power > Fraction(10) ** 304:
                raise InputError.epsilon_out_of_range(
                    f"{name} is {shorten(value)}; accepted: at most {_LARGEST_EPSILON}"
                )
            return cls(f"log({match.group(1)})", None, power)
        if isinstance(value, str) and not value.strip()[:1].isdigit() and value.strip()[:1] not in {"+", "-", "."}:
            raise InputError.epsilon_out_of_range(
                f'{name} is {shorten(value)}; accepted: a finite decimal such as 0.5, or "log(9/8)"'
            )
        exponent = rational(value, name)
        if not 0 <= exponent <= _LARGEST_EPSILON:
            raise InputError.epsilon_out_of_range(
                f"{name} is {shorten(value)}; accepted: a number from 0 to {_LARGEST_EPSILON}"
            )
        if isinstance(value, str):
            text = value.strip()
        else:
            text = repr(float(value)) if isinstance(value, float | np.floating) else str(value)
        return cls(text, exponent, None)

    @cached_property
    def exp_down(self) -> Fraction:
        """A rational that is proved to be at most exp(epsilon); it is equal if exp(epsilon) is rational."""
        if self.power is not None:
            return self.power
        if not self.exponent:
            return Fraction(1)
        with working_precision():
            return max(Fraction(1), lower(arb_of(self.exponent).exp()))

    @cached_property
    def exp_up(self) -> Fraction:
        """A rational that is proved to be at least exp(epsilon); it is equal if exp(epsilon) is rational."""
        if self.power is not None or not self.exponent:
            return self.exp_down
        with working_precision():
            return upper(arb_of(self.exponent).exp())

    @classmethod
    def covering(cls, ratio: Fraction) -> Epsilon:
        """Return the least decimal of 12 places whose `exp_down` is not below a ratio: its logarithm, rounded up.

        Parameters
        ----------
        ratio : Fraction
            At least 1.

        Raises
        ------
        InputError
            If its logarithm is above 700.

        Examples
        --------
        >>> Epsilon.covering(Fraction(9, 4)).text
        '0.810930216217'
        """
        with working_precision():
            units = math.floor(upper(arb_of(ratio).log()) * 10**_PLACES)
        # Rounded up by trial, because proofs compare the ratio with the rational `exp_down`.
        while (found := cls.of(plain_text(Fraction(units, 10**_PLACES)))).exp_down < ratio:
            units += 1
        return found

    def __add__(self, other: Epsilon) -> Epsilon:
        """Return the sum of the budgets of two releases, exactly where that is possible.

        Two decimals give their decimal sum, two logarithms the logarithm of the product. A decimal and a logarithm
        give the logarithm of the product of both `exp_down`, which is never above the true sum.

        Raises
        ------
        InputError
            If the sum is above 700, or its text longer than a file may hold.

        Examples
        --------
        >>> (Epsilon.of("0.1") + Epsilon.of("0.2")).text, (Epsilon.of("log(9/8)") + Epsilon.of("log(4)")).text
        ('0.3', 'log(9/2)')
        """
        if not isinstance(other, Epsilon):
            return NotImplemented
        if self.exponent is not None and other.exponent is not None:
            return Epsilon.of(plain_text(self.exponent + other.exponent))
        return Epsilon.of(f"log({self.exp_down * other.exp_down})")

    def __float__(self) -> float:
        if self.exponent is not None:
            return float(self.exponent)
        return math.log(self.exp_down)

    def __str__(self) -> str:
        return self.text


def stated_number(text: str, name: str) -> float:
    """Return the number that a text states as `Epsilon.of` reads it, also where it is out of the range of epsilon.

    Within that range it is the float of `Epsilon`.

    Raises
    ------
    InputError
        If the text states no number.

    Examples
    --------
    >>> stated_number("-1/2", "epsilon"), stated_number("log(1/2)", "epsilon") < 0, stated_number("-1e400", "epsilon")
    (-0.5, True, -inf)
    """
    match = _LOG.fullmatch(text.strip())
    stated = rational(
        text if match is None else match.group(1), name if match is None else f"the argument of log in {name}"
    )
    if match is None:
        return float(stated) if abs(stated) <= _LARGEST_FLOAT else math.inf if stated > 0 else -math.inf
    if stated <= 0:
        raise InputError.epsilon_out_of_range(
            f"{name} is {shorten(text)}, which has no logarithm; accepted: log(r) with r >= 1"
        )
    if 1 / _LARGEST_FLOAT <= stated <= _LARGEST_FLOAT:
        return math.log(stated)  # as `Epsilon` does
    return math.log(stated.numerator) - math.log(stated.denominator)


def nats(epsilon: Epsilon) -> Any:
    """Return epsilon as an Arb ball, inside `working_precision`."""
    return arb_of(epsilon.power - 1).log1p() if epsilon.power is not None else arb_of(epsilon.exponent or 0)


def one_minus_exp(epsilon: Epsilon) -> Any:
    """Return ``1 - exp(-epsilon)`` as an Arb ball, to full relative precision, inside `working_precision`."""
    return arb_of(1 - 1 / epsilon.power) if epsilon.power is not None else -(-nats(epsilon)).expm1()
