"""`PrivateReports`: a transformer that learns counts, designs a mechanism for each column, and reports."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from mechdesign.errors import InputError, shorten
from mechdesign.mechanism import Mechanism
from mechdesign.optimize import design
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import L1Ball
from mechdesign.utility import EstimationError, Objective


class PrivateReports(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace each category by a private report, from the best mechanism for the column.

    `fit` counts the categories of each column and designs a mechanism for it; `transform` draws reports. Each mechanism
    promises epsilon for its own column: what the columns of one person tell together may add up to the sum of all
    epsilons and more (`mechdesign.design_records` has one promise for whole records). Fit on records that may be
    public, or of people who agreed: the mechanisms tell their counts. Each call of `transform` draws new reports, so
    transform a record once.

    Parameters
    ----------
    epsilon : number or str
        Pointwise maximal leakage of the report about each column, in nats.
    delta : number or str
        The probability that the true frequencies of a column are outside of the set that its counts leave open.
    utility : Objective, optional
        What mechanisms are best for; by default `EstimationError`.
    most_categories : int
        A column of more categories is refused: it is most likely a number or a name.
    random_state : int, RandomState or None
        For experiments that can be repeated, **not for release**. With None the operating system's secure randomness.

    Attributes
    ----------
    designs_ : list of Design
        One for each column; ``designs_[0].mechanism.save("column.json")`` writes what estimates need.
    mechanisms_ : list of Mechanism
    categories_ : list of tuple of str
        The categories of each column, the most frequent first.
    n_features_in_ : int
    feature_names_in_ : array
        Where the columns have names.

    Examples
    --------
    >>> people = [["walk", "yes"]] * 600 + [["bus", "no"]] * 300 + [["car", "no"]] * 100
    >>> reports = PrivateReports(epsilon=1, random_state=1).fit(people).transform(people)
    >>> reports.shape, reports.dtype
    ((1000, 2), dtype('O'))
    """

    def __init__(
        self,
        epsilon: Any = 1.0,
        *,
        delta: Any = 1e-6,
        utility: Objective | None = None,
        most_categories: int = 100,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.utility = utility
        self.most_categories = most_categories
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - as pipelines call it
        """Count the categories of each column of X, shape (n, columns), and design its mechanism.

        Raises
        ------
        InputError
            For a column of a single category, or of too many, or with both 1 and "1"; and as `mechdesign.design`.
        """
        self.__dict__.pop("designs_", None)  # what fails leaves nothing that looks fitted
        table = validate_data(self, _as_given(X), dtype=None)
        utility = EstimationError() if self.utility is None else self.utility
        designs = []
        for place, column in enumerate(table.T):
            counts = Counter(_labels(column.tolist(), place))
            if not 2 <= len(counts) <= self.most_categories:
                raise InputError.wrong_size(
                    f"column {place} has {len(counts)} categories in {len(table)} samples; accepted: 2 to "
                    f"{self.most_categories} (most_categories); leave out what is constant, and put numbers into bins"
                )
            ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
            ball = L1Ball.from_counts(dict(ordered), delta=self.delta)
            designs.append(design(DesignProblem(ball, self.epsilon, utility)))
        self.designs_ = designs
        return self

    @property
    def categories_(self) -> list[tuple[str, ...]]:
        """The categories of each column, as labels of the mechanism's inputs."""
        return [mechanism.inputs for mechanism in self.mechanisms_]

    @property
    def mechanisms_(self) -> list[Mechanism]:
        """The mechanism of each column."""
        return [solved.mechanism for solved in self.designs_]

    def transform(self, X: Any) -> Any:
        """Return a report for each category of X, as texts of shape (n, columns).

        Raises
        ------
        InputError
            For a category that `fit` did not count, with its position.
        """
        check_is_fitted(self, "designs_")
        table = validate_data(self, _as_given(X), dtype=None, reset=False)
        rng = None
        if self.random_state is not None:
            rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31, size=4))
        reports = np.empty(table.shape, dtype=object)
        for place, (column, mechanism) in enumerate(zip(table.T, self.mechanisms_, strict=True)):
            reports[:, place] = mechanism.privatize(_labels(column.tolist(), place), rng)
        return reports

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _as_given(X: Any) -> Any:
    """Return a list of rows as an array of its very values; numpy alone would make texts of all where one is a text."""
    return np.array(X, dtype=object) if isinstance(X, list | tuple) else X


def _labels(values: list[Any], place: int) -> list[str]:
    """Return the categories of a column as labels.

    Raises
    ------
    InputError
        If a number and a text, such as 1 and "1", would be one label.
    """
    labels = [_label(value) for value in values]
    texts = {label for value, label in zip(values, labels, strict=True) if isinstance(value, str)}
    for value, label in zip(values, labels, strict=True):
        if label in texts and not isinstance(value, str):
            raise InputError.ambiguous_labels(
                f"column {place} holds {shorten(value)} and the text {shorten(label)}, which would be one category; "
                "make all of them texts, or all numbers"
            )
    return labels


def _label(value: Any) -> str:
    """Return a category as a label: a text as it is, whole numbers as integers, whatever the type of the column."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int | float):
        raise InputError.bad_label(f"a category is {shorten(value)}; accepted: texts and numbers")
    return str(value)
