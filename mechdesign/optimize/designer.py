"""Design: from a problem to a proved mechanism with a certificate of its optimality."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.checks import check_kind
from mechdesign.errors import InputError, LimitError, SolverError, shorten
from mechdesign.mechanism import Guarantee, Mechanism, Optimality, Provenance
from mechdesign.mechanism.from_floats import from_own_floats
from mechdesign.mechanism.proof import checked_bits
from mechdesign.mechanism.rounding_in_span import integers_in_span
from mechdesign.numerics.arrays import float_of
from mechdesign.numerics.tolerances import GAP, RANK
from mechdesign.optimize.certificate import padded
from mechdesign.optimize.closed_form import closed_forms
from mechdesign.optimize.deadline import Deadline, deadline_of, keeps_mechanism, time_is_up
from mechdesign.optimize.estimation.every_direction import mixtures
from mechdesign.optimize.estimation.solver import error_tolerance
from mechdesign.optimize.every_method import solve
from mechdesign.optimize.method import AnyCertificate, DesignOptions, Solution
from mechdesign.optimize.one_sided import OneSided
from mechdesign.optimize.orbits import merged_ball
from mechdesign.optimize.pricing.price import equal_groups
from mechdesign.optimize.result import ClosedFormCheck, Design, within
from mechdesign.problem import DesignProblem
from mechdesign.utility.query_variances import condition_of
from mechdesign.version import __version__

_log = logging.getLogger(__name__)
_USUAL_BITS = 48  # with fewer, more of them may help


def design(  # noqa: PLR0913 - each is a choice of its own
    problem: DesignProblem,
    *,
    tol: float | None = None,
    bits: int = 48,
    title: str = "",
    time_limit: float | None = None,
    outputs: int | None = None,
    merge: bool | None = None,
    method: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Design:
    """Return the best mechanism with the guarantee asked for, proved and certified.

    The method is the first that covers the problem and is quick for it (`mechdesign.methods` lists all). The
    matrix found is rounded to integers for which the guarantee is proved in exact arithmetic, the value is that of the
    integers, and the bound is computed from the dual vector alone. A utility is maximised and has an upper bound; an
    `EstimationError` is minimised and has a lower one.

    Parameters
    ----------
    problem : DesignProblem
        The set of priors, epsilon and the utility.
    tol : float, optional
        `Design.certified` asks for ``gap <= tol * max(|value|, 1e-3)``. By default 1e-6; for an `EstimationError`
        1e-6 up to 10 categories, 1e-4 up to 16 (under local differential privacy up to 24) and 0.03 beyond, where the
        search goes on while it improves the error.
    bits : int
        Probabilities are multiples of 2^-bits, 1 to 52.
    title : str
        Kept in the mechanism's provenance.
    time_limit : float, optional
        Seconds after which the search stops, as it does on an interrupt (Ctrl-C) once it has a mechanism. The best
        mechanism so far is then returned with its true gap; the proof takes additional time, and the bound a few
        seconds at most. A linear program for a gain has columns for the likeliest guesses alone if there is no time
        for all.
    outputs : int, optional
        For an `EstimationError`: the mechanism has at most so many outputs, and the least error that a search finds
        with so few. The bound stays that for any number of outputs, so that the design is often not `certified`;
        tol applies to `Design.unrestricted_value`, the least error found without the limit, and `Design.reached`
        says whether that is within tol. Without a limit at most N(N+1)/2 outputs are used (up to 100 categories).
    merge : bool, optional
        Whether categories may share a row of the mechanism, which keeps the guarantee and may cost as much utility as
        the tolerance allows; reports then do not tell them apart, and `Design.merged` says which. By default
        categories are merged only where the linear program over all of them makes no progress. True merges at
        once, and False never. Merging is for more than 12 categories of an l1 ball or a relative ball, and for
        f-informations.
    method : str, optional
        The name of a method that covers the problem (`mechdesign.methods`); by default the first of the table.
    progress : callable, optional
        Called with one line whenever a longer step begins.

    Returns
    -------
    Design

    Raises
    ------
    InputError
        For tol, bits, time_limit or outputs out of range, merge where categories cannot be merged, or a method that
        does not cover the problem.
    LimitError
        If no method covers the problem exactly; an uncertified number is never returned for it.
    SolverError
        If a solver fails, or a theorem and the certificate contradict each other.

    Examples
    --------
    >>> import mechdesign as md
    >>> ball = md.L1Ball.from_counts({"a": 812, "b": 150, "c": 38}, delta=1e-9)
    >>> design = md.design(md.DesignProblem(ball, epsilon=1.0, utility=md.MutualInformation()))
    >>> design.certified, round(design.value, 6)
    (True, 0.189629)
    """
    started = time.perf_counter()
    check_kind(problem, DesignProblem, "the problem", "a DesignProblem(uncertainty, epsilon, utility)")
    check_kind(title, str, "the title", "text")
    wanted = tolerance_of(problem, tol)
    bits = checked_bits(bits)
    _check_merge(merge, problem)
    deadline = deadline_of(time_limit)
    most = _most_outputs(problem, outputs)
    tell = progress or _log.info
    with deadline.moved_by_interrupts():
        solution, words, certified = solve(problem, DesignOptions(wanted, deadline, tell, most, merge), method)
        keeps_mechanism(deadline)
        tell("proving the guarantee in exact arithmetic")
        numerators = _integers(problem, solution, bits)
        tell("computing the bound from the dual vector")
        certificate = certified()
        value = problem.utility.value_of_integers(numerators, problem.uncertainty)
        bound = padded(problem, certificate.bound)
        if problem.utility.estimation is not None:
            numerators, value = _telling_all(problem, solution, (numerators, value), bound, wanted, bits, most)
        mechanism = Mechanism(
            numerators,
            bits,
            Guarantee(problem.sides, problem.uncertainty.exact_set),
            optimality=_claim(problem, value, bound, certificate),
            provenance=Provenance(__version__, words, title),
        )
        return Design(
            problem=problem,
            mechanism=mechanism,
            value=value,
            bound=bound,
            tol=wanted,
            certificate=certificate,
            closed_form=closed_form_check(problem, value, bound),
            method=words,
            iterations=solution.iterations,
            columns=solution.columns,
            stopped=_why_stopped(solution, deadline, closed=within(abs(bound - value), value, wanted)),
            most_outputs=most,
            unrestricted_value=solution.unrestricted,
            merged=_merged(problem, solution, numerators),
            value_at_estimate=_value_at_estimate(problem, mechanism, value),
            seconds=time.perf_counter() - started,
        )


def tolerance_of(problem: DesignProblem, tol: object) -> float:
    """Return the relative gap that counts as closed: the one that is given, or that of the objective."""
    if tol is None:
        return GAP if problem.utility.estimation is None else error_tolerance(problem.uncertainty)
    if isinstance(tol, bool) or not isinstance(tol, Real) or not 0 < float_of(tol) < 1:
        raise InputError.out_of_range(f"tol is {shorten(tol)}; accepted: a number between 0 and 1, such as 1e-6")
    return float(tol)


def _check_merge(merge: object, problem: DesignProblem) -> None:
    """Refuse what is not a choice, and to merge categories that the problem tells apart."""
    if merge is not None and not isinstance(merge, bool):
        raise InputError.wrong_type(f"merge is {shorten(merge)}; accepted: None, True or False")
    if merge and (problem.uncertainty.ball is None or problem.utility.f_information is None):
        raise InputError.needless_argument(
            f"merge is True for {problem.uncertainty.kind} and {shorten(problem.utility.name)}; categories can be "
            "merged for an l1 ball or a relative ball, and an f-information; leave merge out"
        )


def _most_outputs(problem: DesignProblem, outputs: object) -> int | None:
    """Return how many outputs the mechanism may have; None without a limit."""
    if outputs is None:
        return None
    if isinstance(outputs, bool) or not isinstance(outputs, Integral) or outputs < 1:
        raise InputError.not_a_whole_number(f"outputs is {shorten(outputs)}; accepted: an integer, 1 or more")
    if problem.utility.estimation is None:
        raise InputError.needless_argument(
            f"outputs = {outputs} is given for {problem.utility.name}; accepted: an estimation error, as the best "
            f"mechanisms for utilities need no more outputs than categories, here {problem.uncertainty.size}; leave "
            "outputs out"
        )
    return int(outputs)


def _integers(problem: DesignProblem, solution: Solution, bits: int) -> NDArray[np.int64]:
    """Return the numerators of a mechanism near a solution, for all categories."""
    known, bins = problem.uncertainty.exact_set, solution.bins
    if bins is None or known.ball is None:
        return from_own_floats(solution.matrix, Guarantee(problem.sides, known), bits=bits).numerators
    merged = Guarantee(problem.sides, merged_ball(known.ball, bins))
    return from_own_floats(solution.matrix, merged, bits=bits).numerators[bins.positions]


def _telling_all(
    problem: DesignProblem,
    solution: Solution,
    found: tuple[NDArray[np.int64], float],
    bound: float,
    tol: float,
    bits: int,
    most: int | None,
) -> tuple[NDArray[np.int64], float]:
    """Return integers and their error: of columns in the span of the queries, or with some randomized response.

    Either is for queries that reports of the design do not determine.

    Raises
    ------
    LimitError
        If the reports of no mixture determine the answer of every query.
    """
    best = found
    if solution.of_queries is not None and problem.utility.estimation is not None:
        queries = problem.utility.estimation.queries(problem.uncertainty.size)
        guarantee = Guarantee(problem.sides, problem.uncertainty.exact_set)
        in_span = integers_in_span(solution.of_queries, queries, bits, guarantee)
        if in_span is not None:
            value = problem.utility.value_of_integers(in_span, problem.uncertainty)
            best = min(best, (in_span, value), key=itemgetter(1))
    unclear = condition_of(solution.matrix, problem.uncertainty.prior) * RANK > 1
    if unclear and not within(best[1] - bound, best[1], tol):
        for mixed in mixtures(problem, solution.matrix, tol, bits, most):
            numerators = _integers(problem, replace(solution, matrix=mixed), bits)
            value = problem.utility.value_of_integers(numerators, problem.uncertainty)
            best = min(best, (numerators, value), key=itemgetter(1))
    if best[1] == math.inf:
        size = problem.uncertainty.size
        cause, cure = f"epsilon = {problem.epsilon} is too small", "a larger epsilon"
        if bits < _USUAL_BITS:
            cause, cure = f"{cause} for bits = {bits}", f"{cure}, or more bits"
        if most is not None and most < size:
            cause = f"outputs = {most} are too few for {size} categories"
            cure = f"{size} or more, or queries in whole multiples of one number"
        raise LimitError.design_not_identifiable(
            f"{cause}: in whole numbers over 2^{bits}, reports of the design do not determine the answer of every "
            f"query; give {cure}"
        )
    return best


def _why_stopped(solution: Solution, deadline: Deadline, *, closed: bool) -> str:
    """Return why a design ended early; its certificate may have had no time."""
    if deadline.interrupted:
        return "interrupted"
    late = not closed and time_is_up(deadline)
    return solution.stopped or ("time limit" if late else "")


def _claim(problem: DesignProblem, value: float, bound: float, certificate: AnyCertificate) -> Optimality:
    """Return the claim of optimality, for anybody to check."""
    exact = problem.uncertainty.exact_set is problem.uncertainty  # the ball as printed has fewer mechanisms than all
    multipliers = tuple(certificate.multipliers.tolist())
    return Optimality(problem.utility, value, bound, multipliers, exact, certificate.form, certificate.mixture)


def _value_at_estimate(problem: DesignProblem, mechanism: Mechanism, value: float) -> float:
    """Return the utility at the estimate, which a least utility is not."""
    utility = problem.utility
    return value if utility.worst_case is None else utility.value(mechanism.matrix, problem.uncertainty.center)


def _merged(problem: DesignProblem, solution: Solution, numerators: NDArray[np.int64]) -> tuple[tuple[str, ...], ...]:
    """Return the labels of the categories that share a row where categories were merged; bins may come out alike."""
    if solution.bins is None:
        return ()
    labels = problem.uncertainty.labels
    groups = equal_groups(tuple(row) for row in numerators.tolist())
    return tuple(tuple(labels[symbol] for symbol in group) for group in groups if len(group) > 1)


def closed_form_check(problem: DesignProblem, value: float, bound: float) -> ClosedFormCheck | None:
    """Return the best closed form compared with the value; a form that is proved optimal is preferred."""
    one_sided = OneSided.of(problem)
    same = problem if one_sided is None else one_sided.problem  # a problem with the same optimum
    forms = closed_forms(same)
    if not forms:
        return None
    sign = -1 if problem.utility.minimised else 1
    valued = [(form.value_for(same), form) for form in forms]
    reached, form = max(valued, key=lambda pair: (pair[1].optimal, sign * pair[0]))
    if not sign * (reached - bound) <= 1e-9 * max(1.0, abs(bound)):
        past = "below" if sign < 0 else "above"
        raise SolverError.defect(
            f"the theorem {shorten(form.theorem)} reaches {reached:.12g}, {past} the certified bound {bound:.12g}; "
            "this is a defect of mechdesign, please report it with the problem"
        )
    return ClosedFormCheck(form.theorem, reached, value - reached, form.optimal)
