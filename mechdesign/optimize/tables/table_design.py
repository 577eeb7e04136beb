"""`design_table`: a column is published with the same categories, by a table that is proved and certified."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mechdesign.display.html import Above, Below, facts
from mechdesign.display.numbers import text_above
from mechdesign.mechanism import Mechanism, Provenance
from mechdesign.mechanism.proof import checked_bits
from mechdesign.mechanism.table_claims import TableClaim, TableObjective, TableOptimality
from mechdesign.numerics.tolerances import GAP
from mechdesign.optimize.result import within
from mechdesign.optimize.tables.table_certificate import certify_table
from mechdesign.optimize.tables.table_problem import TableProblem
from mechdesign.optimize.tables.table_program import TableProgram
from mechdesign.optimize.tables.table_rounding import inner_table, round_table
from mechdesign.optimize.tables.table_verification import stored_bound, value_of_table
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.from_counts import given_or_from_counts
from mechdesign.version import __version__

_METHOD = "linear program of tables"


@dataclass(frozen=True, eq=False)
class TableDesign:
    """A table with a certified bound on all others.

    Attributes
    ----------
    problem : TableProblem
        What was solved.
    mechanism : Mechanism
        Integers that keep promise and constraints exactly; the file holds both, and what proves the bound.
    value : float
        The expected share of unchanged records, or the expected loss, of these integers.
    bound : float
        No table with the promise and the constraints has a greater share, or less loss; rounded outward.
    seconds : float
        Time taken.
    """

    problem: TableProblem
    mechanism: Mechanism
    value: float
    bound: float
    seconds: float

    @property
    def objective(self) -> TableObjective:
        """What the value is."""
        return TableObjective(self.problem.loss is not None)

    @property
    def gap(self) -> float:
        """The distance of value and bound."""
        return abs(self.bound - self.value)

    @property
    def certified(self) -> bool:
        """Whether the gap is within 1e-6 of the value."""
        return within(self.gap, self.value, GAP)

    def __repr__(self) -> str:
        verdict = "certified" if self.certified else "not certified"
        found = f"{self.objective.name} {self.value:.9g}, gap {text_above(self.gap, 2)}"
        return f"TableDesign({found}, {verdict}, {self.mechanism!r})"

    def _repr_html_(self) -> str:
        bound = Below if self.objective.minimised else Above
        pairs: list[tuple[str, object]] = [
            (self.objective.name, self.value),
            (self.objective.bound_name.replace("_", " "), bound(self.bound)),
            ("gap", Above(self.gap)),
            ("certified", self.certified),
            ("seconds", self.seconds),
        ]
        return facts(pairs, "TableDesign") + self.mechanism._repr_html_()


def design_table(  # noqa: PLR0913 - each is a choice of its own
    counts: UncertaintySet | Mapping[Any, Any] | Sequence[object],
    epsilon: object,
    *,
    delta: object = None,
    radius: object = None,
    known: bool = False,
    invariant: bool = True,
    floors: object = None,
    forbidden: Iterable[Sequence[object]] | None = None,
    loss: Any = None,
    cap: object = None,
    columns: Sequence[str] = (),
    bits: int = 52,
    title: str = "",
    progress: Callable[[str], None] | None = None,
) -> TableDesign:
    """Return the best table: a column is published with the same categories, some of its values changed at random.

    Offices that publish files know this as PRAM, the post-randomisation method. The table keeps the promise and the
    constraints in exact arithmetic, and no other one that does is better than the bound.

    What is promised is conditional on the counts: an invariant table discloses them, since they are its stationary
    distribution. Margins of the published file stay true on average; tables that cross it with other columns do not,
    unless they are corrected by the inverse of the matrix. Columns that are published each by its own table leak more
    together than the sum of their epsilons: publish the compound of these columns instead.

    Parameters
    ----------
    counts : UncertaintySet, mapping from label to count, or sequence of counts
        The counts of the file; or a set of priors, whose reference prior is that of the file.
    epsilon : number or str
        Privacy parameter in nats, as in `DesignProblem`.
    delta, radius, known
        For counts, as in `L1Ball.from_counts`: one of them.
    invariant : bool
        Whether the expected counts of the published file are those of the file, exactly.
    floors : number, or mapping from label to number, optional
        The least share of the records of a category that stay unchanged.
    forbidden : iterable of pairs of labels, optional
        Pairs (from, to) that never occur.
    loss : matrix, optional
        The loss where category x is published as y. Its mean is minimised; by default the share of unchanged records
        is maximised.
    cap : number or str, optional
        Local differential privacy that is promised besides, in nats.
    columns : sequence of str
        The columns that are published together; each label is then one label for each, with ``" & "`` between them.
        `mechdesign.data.compound.count_cells` counts them in a file, and `CompoundFile` is such a file.
    bits : int
        Probabilities are multiples of 2^-bits, 1 to 52; by default as fine as possible, because invariance moves an
        entry by as many units as there are records in the greatest category.
    title : str
        Kept in the mechanism's provenance.
    progress : callable, optional
        Called with one line whenever a longer step begins.

    Raises
    ------
    InputError
        For arguments that are not accepted; and for constraints that no table keeps, with the least epsilon at which
        one does.
    LimitError
        If there are too few bits.
    SolverError
        If the solver finds no table.

    Examples
    --------
    >>> found = design_table({"never": 812, "former": 150, "current": 38}, 1, known=True)
    >>> round(found.value, 6), found.certified
    (0.785161, True)
    >>> [sum(n * int(a) for n, a in zip([812, 150, 38], column)) >> 52 for column in found.mechanism.numerators.T]
    [812, 150, 38]
    """
    began, say = time.perf_counter(), progress or (lambda _: None)
    bits = checked_bits(bits)
    priors = given_or_from_counts(counts, delta, radius, known=known)
    problem = TableProblem(priors, epsilon, invariant=invariant, floors=floors, forbidden=forbidden, loss=loss, cap=cap)
    return solve_table(problem, bits=bits, title=title, progress=say, began=began, columns=tuple(columns))


def solve_table(
    problem: TableProblem,
    *,
    bits: int,
    title: str,
    progress: Callable[[str], None],
    began: float | None = None,
    columns: tuple[str, ...] = (),
) -> TableDesign:
    """Return the best table of a problem, proved and certified; arguments as for `design_table`.

    With columns the categories are combinations of their labels, which are published together.
    """
    start = time.perf_counter() if began is None else began
    if problem.constraints.has_limits:
        progress("looking for room between the constraints")
    inner = inner_table(problem)
    progress(f"solving a linear program of tables of {problem.size} categories")
    found = TableProgram(problem).solved()
    progress("rounding to whole numbers, and proving")
    numerators = round_table(problem, found.matrix, inner, bits)
    progress("computing the bound in exact arithmetic")
    proved = certify_table(problem, found.multipliers.tolist(), found.floor_multipliers.tolist())
    value, bound = value_of_table(problem, numerators, bits), stored_bound(problem, proved)
    claim = TableOptimality(value, bound, proved.multipliers, proved.floor_multipliers, problem.loss)
    mechanism = Mechanism(
        numerators,
        bits,
        problem.guarantee,
        problem.labels,
        None,
        Provenance(__version__, _METHOD, title),
        TableClaim(problem.constraints, claim, columns),
    )
    return TableDesign(problem, mechanism, value, bound, time.perf_counter() - start)
