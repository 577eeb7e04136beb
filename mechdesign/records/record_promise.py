"""What one view of each record promises about the whole record.

**Theorem.** A report (i, r) says that view i was drawn, with a probability w_i that does not depend on the record, and
that its mechanism K_i reported r. For every joint law P of the record

    ``max_x w_i K_i(r | f_i(x)) / (w_i E K_i(r | f_i(X))) = max_z K_i(r | z) / <P f_i^-1, K_i(r | .)>``:

the weight cancels, and the possible values of f_i are those of the possible records. So the leakage about the whole
record is exactly that about the view under its own law, however the attributes depend on each other. If every K_i is
epsilon-PML for a set B_i, the whole is epsilon-PML for every joint law whose views lie in these sets; and if B_i holds
the law of view i but for probability delta_i, all do but for the sum of the delta_i (a union bound).

With a secret the promise is about that attribute alone (`mechdesign.records.record_secret`).

With a cap every K_i keeps local differential privacy with it. Then so does the whole, for any two records, because w_i
cancels there too: whatever is known about the person beforehand, also how the attributes depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from mechdesign.errors import InputError, shorten
from mechdesign.mechanism import Guarantee
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.windows.window_promise import WindowPromise


@dataclass(frozen=True)
class RecordPromise:
    """The promise of a mechanism that reports one view of each record.

    Attributes
    ----------
    of_views : tuple of (str, Guarantee or WindowPromise)
        The name of each view, and what its mechanism promises.
    secret : str, optional
        The attribute about which it promises, and about nothing else; by default it promises about the whole record.
    """

    of_views: tuple[tuple[str, Guarantee | WindowPromise], ...]
    secret: str | None = None

    @property
    def whose(self) -> str:
        """What the promise is about."""
        return "the whole record" if self.secret is None else f"the attribute {shorten(self.secret)} alone"

    @property
    def epsilon(self) -> Epsilon:
        """The greatest epsilon of a view."""
        return max((guarantee.epsilon for _, guarantee in self.of_views), key=lambda one: one.exp_down)

    @property
    def lower(self) -> Epsilon | None:
        """The greatest promise from below; None where a view has none."""
        found = [guarantee.lower for _, guarantee in self.of_views if guarantee.lower is not None]
        return max(found, key=lambda one: one.exp_down) if len(found) == len(self.of_views) else None

    @property
    def cap(self) -> Epsilon | None:
        """The greatest cap of a view; None where a view has none."""
        found = [guarantee.cap for _, guarantee in self.of_views if guarantee.cap is not None]
        return max(found, key=lambda one: one.exp_down) if len(found) == len(self.of_views) else None

    @property
    def delta(self) -> Fraction | None:
        """The sum of the deltas of the views, at most 1; None where the set of a view has none."""
        deltas = [promise.delta for _, promise in self.of_views if not promise.holds_every_prior]
        stated = [delta for delta in deltas if delta is not None]
        return min(sum(stated, Fraction(0)), Fraction(1)) if stated and len(stated) == len(deltas) else None

    @property
    def holds_every_prior(self) -> bool:
        """Whether every view is for all priors, which is local differential privacy."""
        return all(guarantee.holds_every_prior for _, guarantee in self.of_views)

    @property
    def asserts_samples(self) -> bool:
        """Whether the delta of a view rests on samples that are asserted."""
        return any(guarantee.asserts_samples for _, guarantee in self.of_views)

    @property
    def uncertainty(self) -> NoReturn:
        """No set of priors over one list of labels: ask the views for theirs."""
        raise InputError.set_not_accepted(
            "the mechanism reports one of several views of a record, and this needs priors over one list of labels; "
            "give the mechanism of a view (parts[i].mechanism)"
        )

    def in_words(self) -> str:
        """Return the promise in words."""
        cap = "" if self.cap is None else f"local differential privacy of the record with cap = {self.cap}"
        always = f"; and {cap}, whatever the distribution is" if cap else ""
        sides = f"epsilon = {self.epsilon}" + ("" if self.lower is None else f" and lower = {self.lower}")
        if self.holds_every_prior:
            return (
                f"PML with {sides} about the whole record for every prior, which is local differential privacy{always}"
            )
        if self.secret is None:
            return (
                f"PML with {sides} about the whole record for every joint law whose views lie in the sets of the parts"
                f"{always}"
            )
        law = f"every joint law of {shorten(self.secret)} and the record whose views lie in the sets of the parts"
        rest = always or "; nothing is promised about the rest of the record"
        return f"PML with {sides} about {self.whose} for {law}{rest}"
