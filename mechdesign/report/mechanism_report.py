"""The page of a mechanism."""

from __future__ import annotations

from collections.abc import Callable

from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.mechanism import check_mechanism
from mechdesign.mechanism.mechanism_files import to_json
from mechdesign.optimize import verify
from mechdesign.proofs.kernel import Verdict
from mechdesign.report.leakage_of_reports import guesses_of, outputs_of
from mechdesign.report.matrix_picture import matrix_of
from mechdesign.report.page_comparison import page_comparison
from mechdesign.report.precision import CONFIDENCE, REPORTS, TYPICAL, precision_of
from mechdesign.report.promise import promise_of
from mechdesign.report.rendering import Origin, page
from mechdesign.report.worth import claim_of

TIME_LIMIT = 30.0
"""Seconds for the search of the best mechanism under local differential privacy, unless others are given."""


def mechanism_page(
    mechanism: Mechanism,
    origin: Origin | None = None,
    *,
    compare: bool = True,
    check_optimality: bool = True,
    time_limit: float | None = TIME_LIMIT,
    title: str = "",
    progress: Callable[[str], None] | None = None,
    theorem: Verdict | None = None,
) -> str:
    """Return a page about a mechanism for readers who are not mathematicians: one HTML file that fetches nothing.

    The guarantee and the claim of optimality are proved again first, and every number is computed for the page.

    Parameters
    ----------
    mechanism : Mechanism
    origin : Origin, optional
        The file that it was read from; by default the JSON file that `Mechanism.save` would write.
    compare : bool
        Whether randomized response and the best mechanism under local differential privacy stand beside it, which takes
        a design.
    check_optimality : bool
        Whether the claim of optimality is checked, which may take long; the page then says nothing of it.
    time_limit : float, optional
        Seconds for the design of the comparison.
    title : str
        The heading; by default the title of the problem that the file names.
    progress : callable, optional
        Called with one line whenever a longer step begins.
    theorem : mechdesign.proofs.kernel.Verdict, optional
        What Coq has proved of the file (`mechdesign.proofs.kernel.ask_coq`), which the page then says.

    Raises
    ------
    GuaranteeError
        If a claim is false.
    LimitError
        If the claim of optimality cannot be checked.

    Examples
    --------
    >>> import mechdesign as md
    >>> everything = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    >>> warner = md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], everything, outputs=["no", "yes"])
    >>> text = mechanism_page(warner, compare=False)
    >>> text.splitlines()[0], "at most 3 times as likely" in " ".join(text.split())
    ('<!DOCTYPE html>', True)
    """
    check_mechanism(mechanism)

    def step(line: str) -> None:
        if progress is not None:
            progress(line)

    found = None
    if check_optimality:
        step("computing the bound from the dual vector")
        found = verify(mechanism)
    claim = claim_of(mechanism, found)
    step("computing what the reports tell")
    made = mechanism.provenance
    return page(
        "mechanism.html",
        mechanism=mechanism,
        title=title or (made.problem if made is not None else "") or "Privacy mechanism",
        made=made,
        origin=origin or Origin.of(to_json(mechanism.parts)),
        promise=promise_of(mechanism),
        theorem=theorem,
        matrix=matrix_of(mechanism),
        outputs=outputs_of(mechanism),
        guesses=guesses_of(mechanism),
        claim=claim,
        beside=page_comparison(mechanism, time_limit=time_limit, progress=progress) if compare else None,
        precision=precision_of(mechanism),
        numbers_of_reports=REPORTS,
        confidence=CONFIDENCE,
        typical_reports=TYPICAL,
    )
