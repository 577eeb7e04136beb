"""A mechanism as a frame, and as HTML in a notebook."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mechdesign.display.frames import labelled_frame
from mechdesign.display.html import Above, facts, table
from mechdesign.display.numbers import text_above
from mechdesign.mechanism.proof import Guarantee, Integers, Proof
from mechdesign.mechanism.words import certain_in_words, delta_in_words, not_protected, promise
from mechdesign.numerics.exact import printed_up

_DIGITS = 4  # of probabilities in a table


class _Shown(Protocol):
    """What is shown of a mechanism."""

    @property
    def numerators(self) -> Integers: ...
    @property
    def bits(self) -> int: ...
    @property
    def guarantee(self) -> Guarantee: ...
    @property
    def proof(self) -> Proof: ...
    @property
    def inputs(self) -> tuple[str, ...]: ...
    @property
    def outputs(self) -> tuple[str, ...]: ...
    @property
    def matrix(self) -> NDArray[np.float64]: ...


class MechanismViews:
    """The frames of a mechanism, and what a notebook shows of it."""

    def to_frame(self: _Shown, library: str | None = None) -> Any:
        r"""Return the probabilities as a frame: a row for each input and a column for each output, by their labels.

        The inputs are the index of a pandas frame, and the first column, `input`, of one of polars.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame; by default that of the first of the two that is installed.

        Raises
        ------
        InputError
            For another library, or if it is not installed.

        Examples
        --------
        >>> from mechdesign import Guarantee, L1Ball, Mechanism
        >>> promise = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
        >>> warner = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["no", "yes"])
        >>> warner.to_frame("pandas").loc["yes", "no"].item()
        0.25
        >>> warner.to_frame("polars").columns
        ['input', 'no', 'yes']

        A table for a paper comes from pandas, which needs Jinja2 for it:

        >>> print(warner.to_frame("pandas").to_latex(float_format="%.2f"))
        \begin{tabular}{lrr}
        \toprule
         & no & yes \\
        input &  &  \\
        \midrule
        no & 0.75 & 0.25 \\
        yes & 0.25 & 0.75 \\
        \bottomrule
        \end{tabular}
        <BLANKLINE>
        """
        columns = dict(zip(self.outputs, self.matrix.T.tolist(), strict=True))
        return labelled_frame("input", self.inputs, columns, library)

    def leakage_frame(self: _Shown, library: str | None = None) -> Any:
        """Return the leakage of each output as a frame, a row for each output, by their labels.

        Columns are `leakage`, over the set of priors, in nats, proved and rounded up; `lower_leakage` likewise, if the
        guarantee promises something from below; and `probability`, that of the output at the reference prior.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            As for `to_frame`.

        Examples
        --------
        >>> from mechdesign import Guarantee, L1Ball, Mechanism
        >>> promise = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2))
        >>> warner = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["y1", "y2"])
        >>> warner.leakage_frame("polars").rows()
        [('y1', 1.0986122886681098, 0.5), ('y2', 1.0986122886681098, 0.5)]
        """
        columns: dict[str, list[float]] = {"leakage": list(self.proof.leakages)}
        if self.proof.least_lifts:
            columns["lower_leakage"] = list(self.proof.lower_leakages)
        columns["probability"] = (self.guarantee.uncertainty.prior @ self.matrix).tolist()
        return labelled_frame("output", self.outputs, columns, library)

    def __repr__(self: _Shown) -> str:
        N, M = self.numerators.shape
        sides = self.guarantee.sides.in_words.replace(" and ", ", ")
        return (
            f"Mechanism({N} x {M} over 2^{self.bits}, {sides}, "
            f"leakage <= {text_above(self.proof.leakage, 6)}, {self.guarantee.uncertainty!r})"
        )

    def _repr_html_(self: _Shown) -> str:
        known, (N, M) = self.guarantee.uncertainty, self.numerators.shape
        pairs: list[tuple[str, object]] = [("guarantee", promise(self.guarantee))]
        if besides := not_protected(self.guarantee):
            pairs.append(("not protected", besides))
        if known.delta is not None:
            pairs.append(("delta", Above(printed_up(known.delta))))
            if known.asserts_samples:
                pairs.append(("what delta is", delta_in_words(known)))
        pairs.append(("leakage in nats, at most, proved", Above(self.proof.leakage)))
        if self.proof.lower_leakage is not None:
            pairs.append(("from below, in nats, at most, proved", Above(self.proof.lower_leakage)))
        rows = [[label, *row] for label, row in zip(self.inputs, self.matrix.tolist(), strict=True)]
        caption = f"probabilities over 2^{self.bits} of {M} outputs, given each of {N} inputs"
        return facts(pairs, "Mechanism") + table(["input", *self.outputs], rows, caption, digits=_DIGITS)

    def facts(self: Any, *, of_report: bool = False) -> list[tuple[str, str]]:
        """Return what people read of the guarantee, as names and values; of a report alone, in fewer words."""
        known, certain = self.guarantee.uncertainty, certain_in_words(self)
        facts = [("guarantee", promise(self.guarantee))]
        if self.table is not None:
            facts += self.table.facts_of_reports() if of_report else self.table.facts(self.inputs)
        if (besides := not_protected(self.guarantee)) and not of_report:
            facts.append(("not protected", besides))
        if known.delta is not None and not of_report:
            facts.append(("delta", f"{printed_up(known.delta)}: {delta_in_words(known)}"))
        amount = f"at most {text_above(self.leakage, 15)} nats{' a report' if of_report else ''}"
        facts.append(("leakage", f"{amount}, proved in exact arithmetic"))
        if self.lower_leakage is not None and not of_report:
            facts.append(("from below", f"at most {text_above(self.lower_leakage, 15)} nats, proved likewise"))
        if self.guarantee.maximal_leakage is not None and not of_report:
            facts.append(("on average", f"at most {text_above(self.maximal_leakage, 15)} nats, proved likewise"))
        facts += [] if certain is None else [("certain", certain)]
        if not of_report:
            (N, M), bits = self.numerators.shape, self.bits
            facts.append(
                ("mechanism", f"{N} categories, {M} possible report{'s' if M > 1 else ''}, probabilities over 2^{bits}")
            )
        return facts

    def promised_keys(self: Any) -> dict[str, Any]:
        """Return what programs read of the guarantee; keys about a secret and from below where these are promised."""
        guarantee, known = self.guarantee, self.guarantee.uncertainty
        secret, useful = known.protected.names or (None, None)
        asked = {
            "secret": secret,
            "useful": useful,
            "not_protected": not_protected(guarantee) or None,
            "lower": guarantee.lower,
            "cap": guarantee.cap,
            "maximal_leakage": guarantee.maximal_leakage,
            "lower_leakage": self.lower_leakage,
            "samples_asserted": known.asserts_samples or None,
            "table": None if self.table is None else self.table.keys(self.inputs),
        }
        return {
            "epsilon": guarantee.epsilon,
            "delta": None if known.delta is None else printed_up(known.delta),
            **{name: getattr(self, name) for name in ("radius", "inputs", "outputs", "bits", "leakage")},
            **{name: value for name, value in asked.items() if value is not None},
        }
