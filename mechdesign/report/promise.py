"""What a guarantee promises and what it does not, as a page needs it for its sentences."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechdesign.display.numbers import up
from mechdesign.histogram.record import float_of_delta
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.words import certain_in_words, delta_in_words, not_protected, promise
from mechdesign.numerics.exact import float_up

_EXAMPLE = Fraction(1, 100)


@dataclass(frozen=True)
class Promise:
    """A guarantee for readers.

    Attributes
    ----------
    formal : str
        In the terms of the field.
    epsilon, lower : float or None
        In nats; None for a side that nothing is promised of.
    factor, least_factor : Fraction or None
        A report makes a guess at most this many times as likely, and at least this many times.
    cap_factor : Fraction or None
        For everybody, whatever he knows, a report makes a guess at most this many times as likely.
    proved_factor : Fraction
        The greatest factor of any report of the mechanism, in exact arithmetic.
    everyone : bool
        Whether it holds whatever the frequencies are: local differential privacy.
    known : bool
        Whether it is for the frequencies of the estimate alone.
    priors : str
        The frequencies for which it holds, in words that follow "for".
    one_attribute : tuple of str or None
        The names of the secret and of the reported column, where the promise is about a secret.
    not_protected : str
        What the set says that it does not protect; empty if nothing.
    delta : Fraction or None
        The probability that the true frequencies are outside.
    delta_in_words : str
        What it is the probability of.
    asserted : bool
        Whether delta rests on samples that are asserted, not shown.
    excluding : int
        Reports that rule out a value for certain.
    certain : str or None
        Which reports tell the value for certain, in words; None where none does.
    """

    formal: str
    epsilon: float
    lower: float | None
    factor: Fraction
    least_factor: Fraction | None
    cap_factor: Fraction | None
    proved_factor: Fraction
    everyone: bool
    known: bool
    priors: str
    one_attribute: tuple[str, str] | None
    not_protected: str
    delta: Fraction | None
    delta_in_words: str
    asserted: bool
    excluding: int
    certain: str | None

    @property
    def example(self) -> str:
        """How many in 100 may seem to have, after a report, what one person in 100 has."""
        return up(100 * min(Fraction(1), _EXAMPLE * self.factor), 3)

    @property
    def delta_shown(self) -> float | None:
        """Delta as a float that prints as a decimal not below it."""
        return None if self.delta is None else float_of_delta(self.delta)

    @property
    def proved_factor_above(self) -> float:
        """The proved factor as a float, rounded up."""
        return float_up(self.proved_factor)


def promise_of(mechanism: Mechanism) -> Promise:
    """Return the promise of a mechanism.

    Examples
    --------
    >>> import mechdesign as md
    >>> everything = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2))
    >>> found = promise_of(md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], everything))
    >>> found.factor, found.everyone, found.example
    (Fraction(3, 1), True, '3')
    """
    guarantee = mechanism.guarantee
    known = guarantee.uncertainty
    lower, cap = guarantee.lower, guarantee.cap
    ratios = [ratio for ratio in mechanism.proof.ratios if ratio is not None]
    return Promise(
        formal=promise(guarantee),
        epsilon=float(guarantee.epsilon),
        lower=None if lower is None else float(lower),
        factor=guarantee.epsilon.exp_up,
        least_factor=None if lower is None else 1 / lower.exp_up,
        cap_factor=None if cap is None else cap.exp_up,
        proved_factor=max(ratios),
        everyone=known.holds_every_prior,
        known=known.is_one_prior,
        priors=known.in_words(),
        one_attribute=known.protected.names,
        not_protected=not_protected(guarantee),
        delta=known.delta,
        delta_in_words=delta_in_words(known),
        asserted=known.asserts_samples,
        excluding=int((mechanism.numerators == 0).any(axis=0).sum()),
        certain=certain_in_words(mechanism),
    )
