"""Workloads: the linear queries whose error of estimation is minimised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import WithJsonSchema

from mechdesign.data.fields import MOST_SYMBOLS, Record, all_of, checked_record, needs, one_of
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.numerics.arrays import Floats, frozen
from mechdesign.utility.given_queries import Mean, QueryMatrix, Weights
from mechdesign.utility.queries import NAMED, Marginals, Queries, SomeSymbols
from mechdesign.utility.workload_text import table_of_text

_MOST_ENTRIES = MOST_SYMBOLS**2  # of a matrix of floats: 800 MB


def _list_of(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": 1, "maxItems": MOST_SYMBOLS}


def _or_null(schema: dict[str, Any]) -> WithJsonSchema:
    """Return the JSON Schema of a value that the constructors check."""
    return WithJsonSchema({"anyOf": [schema, {"type": "null"}]})


_NUMBER = {"type": ["number", "string"]}
_BY_LABEL = {"type": "object", "additionalProperties": _NUMBER, "minProperties": 1, "maxProperties": MOST_SYMBOLS}
_Vector = Annotated[Any, _or_null({"anyOf": [_list_of(_NUMBER), _BY_LABEL]})]
_Sizes = Annotated[Any, _or_null(_list_of({"type": "integer", "minimum": 2, "maximum": MOST_SYMBOLS}))]


class WorkloadRecord(Record):
    """The queries of an estimation error, named by one of the keys; the constructors check the values."""

    model_config = all_of(
        one_of("name", "marginals", "symbols", "weights", "scores", "matrix"), needs("ways", "marginals")
    )

    name: Annotated[Any, _or_null({"enum": list(NAMED)})] = None
    marginals: _Sizes = None
    ways: Annotated[Any, _or_null({"type": "integer", "minimum": 1})] = None
    symbols: Annotated[Any, _or_null(_list_of(_NUMBER))] = None
    weights: _Vector = None
    scores: _Vector = None
    matrix: Annotated[Any, _or_null(_list_of(_list_of(_NUMBER)))] = None


@dataclass(frozen=True, repr=False)
class Workload:
    """Linear queries over the categories: an answer is ``W P``, with P the distribution of the categories.

    The error of a workload is n times the mean squared error of the estimated answers from n reports, summed over
    the queries, so that W and every matrix with the same ``W'W`` ask for the same mechanism. A multiple of
    ``(1, ..., 1)`` added to a query changes nothing, since frequencies sum to 1.

    Numbers are exact: a decimal is the fraction that it states, in files too. **The matrix W is made of the floats
    nearest to these numbers** (for weights, of the square roots of these floats), and value, bound and certificate are
    about this W.

    Parameters
    ----------
    kind : Queries
        Use one of the constructors, or `Workload.of`.

    Examples
    --------
    >>> Workload.prefix().queries(3)
    array([[1., 0., 0.],
           [1., 1., 0.]])
    >>> Workload.of("marginals=2x2") == Workload.of({"marginals": [2, 2]}) == Workload.marginals([2, 2])
    True
    """

    kind: Queries

    def __post_init__(self) -> None:
        if not isinstance(self.kind, Queries):
            raise InputError.bad_workload(
                f"a Workload is made from {shorten(self.kind)}; use Workload.of, or one of the constructors such as "
                "Workload.prefix()"
            )

    @staticmethod
    def of(value: object = None) -> Workload:
        """Return a workload from what names or holds one.

        Parameters
        ----------
        value : None, Workload, str, mapping, or array of shape (q, N)
            None stands for `frequencies`; a string is read by `from_text`, a mapping by `from_table`; everything else
            is taken as a matrix, or as a data frame with categories as columns.

        Raises
        ------
        InputError
            If it is none of these, or holds nothing to estimate.

        Examples
        --------
        >>> Workload.of()
        Workload.frequencies()
        >>> Workload.of([[1, 1, 0], ["0.5", 0, 0]]).queries(3)
        array([[1. , 1. , 0. ],
               [0.5, 0. , 0. ]])
        """
        if value is None:
            return Workload.frequencies()
        if isinstance(value, Workload):
            return value
        if isinstance(value, str):
            return Workload.from_text(value)
        if isinstance(value, Mapping):
            return Workload.from_table(value)
        if not hasattr(value, "__array__") and not hasattr(value, "columns") and not isinstance(value, list | tuple):
            raise InputError.bad_workload(
                f"the workload is {shorten(value)}; accepted: a Workload, a text such as 'prefix', a table such as "
                "{'marginals': [2, 3]}, or a matrix with a row for each query"
            )
        return Workload.matrix(value)

    @staticmethod
    def frequencies() -> Workload:
        """Return the frequency of every category: W is the identity.

        Examples
        --------
        >>> Workload.frequencies().queries(2)
        array([[1., 0.],
               [0., 1.]])
        """
        return Workload(NAMED["frequencies"])

    @staticmethod
    def prefix() -> Workload:
        """Return the cumulative frequencies, in the order of the categories: query k adds up the first k + 1.

        There are N - 1 queries. The sum over all N categories is 1, known without data, and its error is 0; McKenna et
        al. (2020) count it as a query, so that a mean over queries is over N there, and the sum of errors is the same.

        Examples
        --------
        >>> Workload.prefix().queries(4)
        array([[1., 0., 0., 0.],
               [1., 1., 0., 0.],
               [1., 1., 1., 0.]])
        """
        return Workload(NAMED["prefix"])

    @staticmethod
    def marginals(sizes: Sequence[int], *, ways: int = 1) -> Workload:
        """Return the marginal tables of attributes whose combinations are the categories.

        Parameters
        ----------
        sizes : sequence of int
            The number of values of each attribute, at least 2; N is their product. The category (i, j) has index
            ``i N2 + j``: the last attribute changes fastest, as in `ProductSet` and `Mechanism.product`.
        ways : int
            The number of attributes in each table; there is a table for every choice of so many attributes.

        Raises
        ------
        InputError
            For other sizes or ways, and for more than 10,000 categories.

        Examples
        --------
        >>> Workload.marginals([2, 3]).queries(6)
        array([[1., 1., 1., 0., 0., 0.],
               [0., 0., 0., 1., 1., 1.],
               [1., 0., 0., 1., 0., 0.],
               [0., 1., 0., 0., 1., 0.],
               [0., 0., 1., 0., 0., 1.]])
        """
        return Workload(Marginals.of(sizes, ways))

    @staticmethod
    def symbols(labels: Sequence[object]) -> Workload:
        """Return the frequencies of some categories, given by their labels.

        Examples
        --------
        >>> Workload.symbols(["c"]).queries(3, ["a", "b", "c"])
        array([[0., 0., 1.]])
        """
        return Workload(SomeSymbols.of(labels))

    @staticmethod
    def weights(weights: object) -> Workload:
        """Return the frequency of every category, its squared error times a weight.

        ``W = diag(sqrt(weight))``.

        Parameters
        ----------
        weights : sequence, mapping or series of N numbers
            Each at least 0, not all 0; a mapping or series is aligned by its labels.

        Examples
        --------
        >>> Workload.weights({"b": 4, "a": 1}).queries(2, ["a", "b"])
        array([[1., 0.],
               [0., 2.]])
        """
        return Workload(Weights.of(weights))

    @staticmethod
    def mean(scores: object) -> Workload:
        """Return the mean of scores: one query, the sum over the categories of score times frequency.

        Parameters
        ----------
        scores : sequence, mapping or series of N numbers
            Not all equal; a mapping or series is aligned by its labels.

        Examples
        --------
        >>> Workload.mean([0, 1, "2.5"]).queries(3)
        array([[0. , 1. , 2.5]])
        """
        return Workload(Mean.of(scores))

    @staticmethod
    def matrix(matrix: object) -> Workload:
        """Return queries of your own.

        Parameters
        ----------
        matrix : array, shape (q, N), or data frame
            A row for each query; at least one row has entries that differ. The columns of a data frame are categories,
            and are aligned by their labels.

        Examples
        --------
        >>> Workload.matrix([[1, -1, 0]]).queries(3)
        array([[ 1., -1.,  0.]])
        """
        return Workload(QueryMatrix.of(matrix))

    @property
    def is_symmetric(self) -> bool:
        """Whether renaming the categories never changes the error: frequencies, all with the same weight."""
        return self.kind.is_symmetric

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Labels of the mapping, series or data frame that it was made from; None without them."""
        return self.kind.labels

    def check_size(self, size: int) -> None:
        """Refuse categories that the workload is not defined on, or with one category.

        Raises
        ------
        InputError
            With the size that it is defined on.
        """
        self.kind.check_size(size)

    def aligned_with(self, labels: Sequence[str] | None) -> Workload:
        """Return the workload on categories with these labels, in their order.

        Raises
        ------
        InputError
            If its labels do not match.

        Examples
        --------
        >>> Workload.mean({"b": 1, "a": 0}).aligned_with(["a", "b"]) == Workload.mean([0, 1])
        True
        """
        return Workload(self.kind.aligned_with(labels))

    def queries(self, size: int, labels: Sequence[str] | None = None) -> Floats:
        """Return the matrix W, a row for each query and a column for each category, read-only.

        Parameters
        ----------
        size : int
            N, the number of categories.
        labels : sequence of N str, optional
            Labels of the categories, for workloads that name categories and were not yet aligned.

        Raises
        ------
        InputError
            If the workload is not defined on these categories.
        LimitError
            If the matrix would have more than 10^8 entries.
        """
        self.check_size(size)
        kind = self.kind.aligned_with(labels)
        entries = kind.count(size) * size
        if entries > _MOST_ENTRIES:
            raise LimitError.too_much_work(
                f"the workload has {kind.count(size)} queries of {size} categories; accepted: {_MOST_ENTRIES} entries; "
                "give fewer queries"
            )
        return frozen(kind.rows(size))

    def table(self) -> dict[str, Any]:
        """Return the table that files hold: `from_table` makes an equal workload of it.

        Raises
        ------
        InputError
            For a matrix from a data frame that is not yet aligned with categories.

        Examples
        --------
        >>> Workload.prefix().table(), Workload.weights({"a": 0.5, "b": 1}).table()
        ({'name': 'prefix'}, {'weights': {'a': '0.5', 'b': '1'}})
        """
        return self.kind.table()

    @staticmethod
    def from_table(table: object, source: str = "", within: str = "workload") -> Workload:
        """Return the workload of a table in a file.

        Parameters
        ----------
        table : mapping
            One of ``name = "frequencies"`` or ``"prefix"``, ``marginals = [2, 3]`` (with ``ways = 2`` if wanted),
            ``symbols = ["a"]``, ``weights``, ``scores`` (a list, or a table by label), ``matrix = [[1, 0]]``.
        source, within : str
            The file and the key under which the table stands, for messages.

        Raises
        ------
        InputError
            For another table, and for all that the constructors refuse.

        Examples
        --------
        >>> Workload.from_table({"marginals": [2, 2, 2], "ways": 2})
        Workload.marginals([2, 2, 2], ways=2)
        """
        record = checked_record(
            WorkloadRecord, dict(table) if isinstance(table, Mapping) else table, source, within=within
        )
        given = {key: value for key, value in record.model_dump().items() if value is not None}
        try:
            return _from_keys(given, within)
        except InputError as error:
            raise error.reworded(f"{source}: {error}" if source else str(error)) from None

    @staticmethod
    def from_text(text: str) -> Workload:
        """Return the workload of a short text, as on the command line.

        Accepted are ``frequencies``, ``prefix``, ``marginals=2x3``, ``marginals=2x3x2,ways=2``, ``symbols=a,b``,
        ``weights=1,2`` and ``scores=1,2`` (or by label, ``weights=a:1,b:2``). Labels with a comma, and a matrix, are
        written as in TOML: ``symbols=["a,b"]``, ``matrix=[[1, 0], [0, 1]]``.

        Raises
        ------
        InputError
            For another text.

        Examples
        --------
        >>> Workload.from_text("marginals=2x3")
        Workload.marginals([2, 3])
        >>> Workload.from_text("scores=young:20,old:70").table()
        {'scores': {'young': '20', 'old': '70'}}
        """
        return Workload.from_table(table_of_text(text))

    def in_words(self) -> str:
        """Return what is estimated, in a few words.

        Examples
        --------
        >>> Workload.frequencies().in_words()
        'the frequency of every category'
        """
        return self.kind.in_words()

    def __repr__(self) -> str:
        return f"Workload.{self.kind!r}"


def _from_keys(given: dict[str, Any], within: str) -> Workload:
    """Return the workload of the keys of a table."""
    ways = given.pop("ways", None)
    if len(given) != 1:
        raise InputError.conflicting_keys(
            f"{within} has {', '.join(given) or 'no key that tells the queries'}; "
            "accepted: one of name, marginals, symbols, weights, scores, matrix"
        )
    ((key, value),) = given.items()
    if ways is not None and key != Marginals.key:
        raise InputError.key_out_of_place(
            f"{within}.ways is {shorten(ways)} beside {key}; it belongs to marginals; leave it out"
        )
    if key == Marginals.key:
        return Workload(Marginals.of(value, 1 if ways is None else ways))
    if key != "name":
        kinds = {
            SomeSymbols.key: SomeSymbols.of,
            Weights.key: Weights.of,
            Mean.key: Mean.of,
            QueryMatrix.key: QueryMatrix.of,
        }
        return Workload(kinds[key](value))
    if not isinstance(value, str) or value not in NAMED:
        raise InputError.bad_workload(f"the workload {shorten(value)} is unknown; accepted: {', '.join(NAMED)}")
    return Workload(NAMED[value])
