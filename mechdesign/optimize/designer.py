"""Design: from a problem to a proved mechanism with a certificate of its optimality."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.checks import check_kind
from mechdesign.errors import InputError, LimitError, SolverError, shorten
from mechdesign.mechanism import Guarantee, Mechanism, Optimality, Provenance
from mechdesign.mechanism.from_floats import from_own_floats
from mechdesign.mechanism.proof import checked_bits
from mechdesign.numerics.arrays import Floats, frozen
from mechdesign.numerics.tolerances import GAP
from mechdesign.optimize.bins import merged_ball
from mechdesign.optimize.certificate import Certificate, certify, padded, priced
from mechdesign.optimize.closed_form import closed_forms
from mechdesign.optimize.column_generation import ColumnGeneration
from mechdesign.optimize.effective_epsilon import MOST_IN_PROGRAMS, effective_exp_epsilon, effective_least_lift
from mechdesign.optimize.estimation.certificate import ErrorCertificate
from mechdesign.optimize.estimation.solver import error_tolerance, solve_error
from mechdesign.optimize.many_symbols import ManySymbols
from mechdesign.optimize.one_sided import OneSided
from mechdesign.optimize.polyhedral import solve_polyhedral
from mechdesign.optimize.pricing import ListedPricing, Price, Pricing, pricing_for
from mechdesign.optimize.pricing.alike import alike
from mechdesign.optimize.pricing.ball_pricing import BallPricing
from mechdesign.optimize.pricing.price import late
from mechdesign.optimize.ray_lp import solve_ray_lp
from mechdesign.optimize.result import ClosedFormCheck, Design
from mechdesign.optimize.secret_search import solve_within_limits
from mechdesign.optimize.solution import Solution
from mechdesign.optimize.worst_case.solver import solve_least
from mechdesign.problem import DesignProblem
from mechdesign.utility.base import summed
from mechdesign.version import __version__

_log = logging.getLogger(__name__)

_Solved: TypeAlias = tuple[Solution, str, Callable[[], Certificate | ErrorCertificate]]

_FOR_THE_BOUND = 3.0  # seconds after the time limit, in which pricing may improve the bound


def design(
    problem: DesignProblem,
    *,
    tol: float | None = None,
    bits: int = 48,
    title: str = "",
    time_limit: float | None = None,
    outputs: int | None = None,
    merge: bool | None = None,
    report: Callable[[str], None] | None = None,
) -> Design:
    """Return the best mechanism with the guarantee asked for, proved and certified.

    The method follows from the problem: one linear program for polyhedral utilities, a linear program over all
    extreme rays for others with few symbols, column generation with exact pricing beyond. The matrix found is
    rounded to integers for which the guarantee is proved in exact arithmetic, the value is that of the integers,
    and the bound is computed from the dual vector alone. A utility is maximised and has an upper bound; an
    `EstimationError` is minimised and has a lower one.

    Parameters
    ----------
    problem : DesignProblem
        The set of priors, epsilon and the utility.
    tol : float, optional
        `Design.certified` asks for ``gap <= tol * max(|value|, 1e-3)``. By default 1e-6; for an `EstimationError`
        1e-6 up to 10 symbols, 1e-4 up to 16 (under local differential privacy up to 24) and 0.03 beyond, where the
        search goes on while it improves the error.
    bits : int
        Probabilities are multiples of 2^-bits, 1 to 52.
    title : str
        Kept in the mechanism's provenance.
    time_limit : float, optional
        Seconds after which column generation stops, as it does on an interrupt (Ctrl-C). The best mechanism so far
        is then returned with its true gap, and is not `certified`. The proof takes additional time, and the bound
        a few seconds at most. The
        other methods take seconds, have no intermediate results and ignore the limit.
    outputs : int, optional
        For an `EstimationError`: the mechanism has at most so many outputs, and the least error that a search finds
        with so few. The bound stays that for any number of outputs, so that the design is often not `certified`;
        tol applies to `Design.unrestricted_value`, the least error found without the limit, and `Design.reached`
        says whether that is within tol. Without a limit at most N(N+1)/2 outputs are used (up to 99 symbols).
    merge : bool, optional
        Whether symbols may share a row of the mechanism, which keeps the guarantee and may cost as much utility as the
        tolerance allows; reports then do not tell them apart, and `Design.merged` says which. By default
        symbols are merged only where the linear program over all of them makes no progress. True merges at
        once, and False never. Merging is for more than 12 symbols of an l1 ball or a relative ball, and for
        f-informations.
    report : callable, optional
        Called with one line whenever a longer step begins.

    Returns
    -------
    Design

    Raises
    ------
    InputError
        For tol, bits, time_limit or outputs out of range, or merge where symbols cannot be merged.
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
    (True, 0.184665)
    """
    started = time.perf_counter()
    check_kind(problem, DesignProblem, "the problem", "a DesignProblem(uncertainty, epsilon, utility)")
    wanted = tolerance_of(problem, tol)
    checked_bits(bits)
    _check_merge(merge, problem)
    deadline = deadline_of(time_limit)
    most = _most_outputs(problem, outputs)
    tell = report or _log.info
    solution, method, certified = _solve(problem, wanted, deadline, tell, outputs=most, merge=merge)
    tell("proving the guarantee in exact arithmetic")
    numerators = _integers(problem, solution, bits)
    tell("computing the bound from the dual vector")
    certificate = certified()
    utility = problem.utility
    matrix = numerators / 2.0**bits
    value = utility.value_over(matrix, problem.uncertainty)
    if utility.minimised and value == math.inf:
        raise LimitError(
            f"epsilon = {problem.epsilon} is too small: to the precision of floats, reports of the design do not "
            "determine the answer of every query; give a larger epsilon"
        )
    bound = padded(problem, certificate.bound)
    mechanism = Mechanism(
        numerators,
        bits,
        Guarantee(problem.epsilon, problem.uncertainty.exact_set, problem.lower),
        optimality=Optimality(
            utility,
            value,
            bound,
            tuple(certificate.multipliers.tolist()),
            _exact(problem),
            certificate.form,
            certificate.mixture,
        ),
        provenance=Provenance(__version__, method, title),
    )
    return Design(
        problem=problem,
        mechanism=mechanism,
        value=value,
        bound=bound,
        tol=wanted,
        certificate=certificate,
        closed_form=_closed_form(problem, value, bound),
        method=method,
        iterations=solution.iterations,
        columns=solution.columns,
        stopped=solution.stopped,
        most_outputs=most,
        unrestricted_value=solution.unrestricted,
        merged=_merged(problem, solution, numerators),
        value_at_estimate=value if utility.worst_case is None else utility.value(matrix, problem.uncertainty.center),
        seconds=time.perf_counter() - started,
    )


def tolerance_of(problem: DesignProblem, tol: object) -> float:
    """Return the relative gap that counts as closed: the one that is given, or that of the objective."""
    if tol is None:
        return GAP if problem.utility.estimation is None else error_tolerance(problem.uncertainty)
    if isinstance(tol, bool) or not isinstance(tol, Real) or not 0 < float(tol) < 1:
        raise InputError(f"tol is {shorten(tol)}; accepted: a number between 0 and 1, such as 1e-6")
    return float(tol)


def _check_merge(merge: object, problem: DesignProblem) -> None:
    """Refuse what is not a choice, and to merge symbols that the problem tells apart."""
    if merge is not None and not isinstance(merge, bool):
        raise InputError(f"merge is {shorten(merge)}; accepted: None, True or False")
    if merge and (problem.uncertainty.ball is None or problem.utility.f_information is None):
        raise InputError(
            f"merge is True for {problem.uncertainty.kind} and {shorten(problem.utility.name)}; symbols can be merged "
            "for an l1 ball or a relative ball, and an f-information; leave merge out"
        )


def deadline_of(time_limit: object) -> float | None:
    """Return when to stop, as a time of `time.monotonic`."""
    if time_limit is None:
        return None
    if isinstance(time_limit, bool) or not isinstance(time_limit, Real) or not float(time_limit) >= 0:
        raise InputError(f"time_limit is {shorten(time_limit)}; accepted: seconds, 0 or more")
    return time.monotonic() + float(time_limit)


def _most_outputs(problem: DesignProblem, outputs: object) -> int | None:
    """Return how many outputs the mechanism may have; None without a limit."""
    if outputs is None:
        return None
    if isinstance(outputs, bool) or not isinstance(outputs, Integral) or outputs < 1:
        raise InputError(f"outputs is {shorten(outputs)}; accepted: an integer, 1 or more")
    if problem.utility.estimation is None:
        raise InputError(
            f"outputs = {outputs} is given for {problem.utility.name}; accepted: an estimation error, as the best "
            f"mechanisms for utilities need no more outputs than symbols, here {problem.uncertainty.size}; leave "
            "outputs out"
        )
    return int(outputs)


def _solve(
    problem: DesignProblem,
    tol: float,
    deadline: float | None,
    report: Callable[[str], None],
    *,
    outputs: int | None,
    merge: bool | None,
) -> _Solved:
    """Return a solution by the method that covers the problem, its name, and what computes the bound that it proves."""
    known, utility = problem.uncertainty, problem.utility
    one_sided = OneSided.of(problem)
    if one_sided is not None:
        solved = _solve(one_sided.problem, tol, deadline, report, outputs=outputs, merge=merge)
        return _for_both_sides(one_sided, solved)
    if utility.estimation is not None:
        return solve_error(problem, tol, deadline, report, outputs)
    if utility.worst_case is not None:
        return solve_least(
            problem,
            report,
            lambda plain: _solve(plain, tol, deadline, report, outputs=None, merge=merge)[:2],
        )
    if problem.only_constant:
        ones = np.ones((known.size, 1))
        # Only the constant column is allowed, so any multipliers that sum to its utility are tight.
        multipliers = known.prior * utility.value(ones, known.center)
        return (
            Solution(ones, multipliers, 1, 0),
            f"constant mechanism ({'epsilon' if problem.epsilon.exp_down == 1 else 'lower'} = 0)",
            partial(certify, problem, multipliers),
        )
    effective = effective_exp_epsilon(problem)
    exp_epsilon, least_lift = min(effective, MOST_IN_PROGRAMS), effective_least_lift(problem)
    if utility.polyhedral is not None:
        solution = solve_polyhedral(known, exp_epsilon, utility.polyhedral, report, float(least_lift))
        return solution, "polyhedral linear program", partial(certify, problem, solution.multipliers)
    pricing = pricing_for(known, exp_epsilon, summed(utility), least_lift)
    secret = known.secret_promise
    if secret is not None and secret.limits is not None and isinstance(pricing, ListedPricing):
        solution = solve_within_limits(secret, exp_epsilon, float(least_lift), pricing, deadline, report)
        method = "columns within the limits of a joint distribution, found by a search"
    elif isinstance(pricing, ListedPricing):
        solution, method = solve_ray_lp(pricing.rays, summed(utility), report), "linear program over all extreme rays"
    elif isinstance(pricing, BallPricing):
        solution = ManySymbols(problem, pricing, report, merge=merge).solve(tol, deadline)
        method = f"column generation{' over merged symbols' if solution.bins else ''}, priced by {pricing.method}"
    else:
        solution = ColumnGeneration(problem, pricing, report).solve(tol, deadline)
        method = f"column generation, priced by {pricing.method}"
    certified = partial(_certificate, problem, solution, pricing, deadline)
    return solution, method, certified if exp_epsilon == effective else partial(certify, problem, solution.multipliers)


def _certificate(problem: DesignProblem, solution: Solution, pricing: Pricing, deadline: float | None) -> Certificate:
    """Return the bound that the multipliers of a solution prove, which are priced again unless that is done.

    Past a time limit or an interrupt, pricing ends after a few seconds with the bound that is known then.
    """

    def price(multipliers: Floats) -> Price:
        before = solution.price
        if before is not None and before.whole:
            return before
        until = time.monotonic() + _FOR_THE_BOUND if late(deadline) or solution.stopped else None
        again = pricing.price(multipliers, thorough=True, deadline=until)
        return again if before is None or again.whole or again.upper < before.upper else before

    return priced(problem, solution.multipliers, price)


def _for_both_sides(one_sided: OneSided, solved: _Solved) -> _Solved:
    """Return what `_solve` returns for a two-sided problem, from that for the one-sided problem that stands for it."""
    solution, method, certified = solved
    back = one_sided.back(solution)

    def of_both_sides() -> Certificate | ErrorCertificate:
        return replace(certified(), multipliers=frozen(back.multipliers))

    return back, f"{method}, for the one-sided problem that has the same optimum", of_both_sides


def _integers(problem: DesignProblem, solution: Solution, bits: int) -> NDArray[np.int64]:
    """Return the numerators of a mechanism near a solution, for all symbols."""
    known, bins = problem.uncertainty.exact_set, solution.bins
    if bins is None or known.ball is None:
        return from_own_floats(solution.matrix, Guarantee(problem.epsilon, known, problem.lower), bits=bits).numerators
    merged = Guarantee(problem.epsilon, merged_ball(known.ball, bins), problem.lower)
    return from_own_floats(solution.matrix, merged, bits=bits).numerators[bins.positions]


def _merged(problem: DesignProblem, solution: Solution, numerators: NDArray[np.int64]) -> tuple[tuple[str, ...], ...]:
    """Return the labels of the symbols that share a row where symbols were merged; bins may come out alike."""
    if solution.bins is None:
        return ()
    labels = problem.uncertainty.labels
    groups = alike(tuple(row) for row in numerators.tolist())
    return tuple(tuple(labels[symbol] for symbol in group) for group in groups if len(group) > 1)


def _closed_form(problem: DesignProblem, value: float, bound: float) -> ClosedFormCheck | None:
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
        raise SolverError(
            f"the theorem {shorten(form.theorem)} reaches {reached:.12g}, {past} the certified bound {bound:.12g}; "
            "this is a defect of mechdesign, please report it with the problem"
        )
    return ClosedFormCheck(form.theorem, reached, value - reached, form.optimal)


def _exact(problem: DesignProblem) -> bool:
    """Return whether the problem is about all mechanisms with the guarantee; the ball as printed has fewer."""
    return problem.uncertainty.exact_set is problem.uncertainty
