"""Samples given to a fitted model, opened and checked: features in its order, targets, dates."""

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._data._checks import check_in_memory, check_length, check_weights, column_precision
from .._data._columns import Columns
from .._data._dates import Dates, read_dates
from .._data._targets import Targets, read_targets
from .._data._training import FeatureTable, Training, match_samples
from ..theory._arrays import FloatArray
from ._regression import precision_of

if TYPE_CHECKING:
    from .._data._field import Field

_FEWEST = 2


@dataclass(frozen=True)
class Observations:
    """Checked features, targets and sample weights; features have gaps (NaN) if a model allows."""

    X: npt.NDArray[Any]
    y: npt.NDArray[Any]  # as estimators take it: of shape (n,) or (n, K), or labels
    weights: FloatArray | None = None
    missing: float = 0.0  # share of values that are missing
    targets: Targets = field(default_factory=Targets)
    dates: Dates | None = None  # of the samples, which are in their order
    groups: npt.NDArray[np.intp] | None = None  # of samples that depend on each other, in order

    @cached_property
    def precision(self) -> float:
        """Relative precision of the features, and of what is computed from them."""
        # Gaps are as precise as any.
        return precision_of(np.where(np.isnan(self.X), 0, self.X) if self.missing else self.X)

    def reduced(self, reducer: Any) -> npt.NDArray[Any]:
        """Return the reduced features; their training means where all members are missing."""
        columns, missing = reducer._columns, reducer.missing
        table = FeatureTable(values=self.X, columns=columns, missing=missing)
        values = np.asarray(reducer._average(table))
        return reducer._without_gaps(values) if self.missing else values

    def training(self, columns: Any = slice(None)) -> Training:
        """Return some of the features as training data."""
        values = self.X[:, columns]
        return Training(
            values=values,
            columns=Columns(values.shape[1]),
            y=self.numbers,
            targets=self.targets,
            precision=column_precision(values),
            weights=self.weights,
            missing="pairwise" if self.missing else "error",
        )

    def take(self, rows: npt.NDArray[np.intp]) -> "Observations":
        """Take some samples, by their positions."""
        weights, dates, groups = self.weights, self.dates, self.groups
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            weights=None if weights is None else weights[rows],
            dates=None if dates is None else dates.take(rows),
            groups=None if groups is None else groups[rows],
        )

    @property
    def numbers(self) -> FloatArray:
        """The targets as numbers, of shape (n, K): those of classes are their indicators."""
        if self.targets.classes is None:
            return np.asarray(self.y, dtype=np.float64).reshape(len(self.y), -1)
        return self.targets.indicators(np.searchsorted(self.targets.classes, self.y))

    def filled(self, reducer: Any) -> npt.NDArray[Any]:
        """Return all features, with their training means where they are missing."""
        mean = reducer.mean_.astype(self.X.dtype)
        return np.where(np.isnan(self.X), mean, self.X) if self.missing else self.X

    def standardized(self, reducer: Any) -> npt.NDArray[Any]:
        """Return a copy of all features, centred and scaled as in the fit."""
        scaled = self.filled(reducer) - reducer.mean_.astype(self.X.dtype)
        scaled /= reducer.scale_.astype(self.X.dtype)
        return np.asarray(scaled)


def fitted_reducer(model: Any) -> Any:
    """Return the LinCFA that averages: of a LinCFACV, the one it chose."""
    model._check_is_fitted()
    return getattr(model, "reducer_", model)


def field_of(reducer: Any) -> "Field | None":
    """Return the description of the field that a model was fitted to; None for a table."""
    found: Field | None = reducer._columns.field
    return found


def open_features(
    model: Any, X: Any, y: Any = None, sample_weight: Any = None
) -> tuple[npt.NDArray[Any], Any, Any]:
    """Return the values of X in the order of the model's features, with y and weights to match."""
    check_in_memory(X)
    table = model._read_new(X)
    table.check_finite()
    y = match_samples(table, X, y, "the target y")
    return table.values, y, match_samples(table, X, sample_weight, "sample_weight")


def share_missing(model: Any, values: npt.NDArray[Any]) -> float:
    """Return the share of values that are missing; none for a model that refuses such values."""
    return float(np.isnan(values).mean()) if model.missing == "pairwise" else 0.0


def open_samples(
    model: Any,
    X: Any,
    y: Any,
    names: tuple[str, str],
    sample_weight: Any = None,
    groups: Any = None,
) -> Observations | None:
    """Open samples, those of a group one after the other, or else in the order of their dates."""
    if X is None and y is None:
        return None
    if X is None or y is None:
        given, missing = names if y is None else names[::-1]
        raise ValueError(f"{given} was given without {missing}; pass both or neither.")
    cells = field_of(fitted_reducer(model))
    dates = read_dates(X, y, None if cells is None else cells.sample_dim)
    values, y, sample_weight = open_features(model, X, y, sample_weight)
    target = _open_target(fitted_reducer(model)._targets, y, names[1])
    check_length(len(target), len(values), names[1])
    weights = check_weights(sample_weight, len(target))
    if groups is not None:
        check_length(len(groups), len(values), "groups")
        groups, dates = np.unique(np.asarray(groups), return_inverse=True)[1], None
    share, targets = share_missing(model, values), fitted_reducer(model)._targets
    found = Observations(values, target, weights, share, targets, dates, groups)
    order = np.arange(len(values)) if dates is None else dates.order
    order = order if groups is None else np.argsort(groups, kind="stable")
    return found.take(order) if (np.diff(order) < 0).any() else found


def _open_target(known: Targets, y: Any, name: str) -> npt.NDArray[Any]:
    """Check targets, or labels, against those of a model."""
    labels = known.classes
    try:
        if labels is None:
            numbers, _ = read_targets(y, known=known)
        else:
            numbers, found = read_targets(y, "classes")
    except ValueError as error:  # which calls every target y
        raise ValueError(re.sub(r"\by\b", name, str(error))) from None
    if labels is None:
        for k in range(known.size):
            if len(numbers) < _FEWEST or np.ptp(numbers[:, k]) == 0:
                where = "" if known.size == 1 else f" of {known.describe(k)}"
                raise ValueError(f"{name} must have at least {_FEWEST} distinct values{where}.")
        return known.as_given(numbers)
    given = found.as_given(numbers)
    unknown = np.setdiff1d(given, labels)
    if unknown.size:
        listed, of_model = (", ".join(map(repr, each.tolist())) for each in (unknown, labels))
        raise ValueError(
            f"{name} has labels that the model does not know: {listed}. Its classes are {of_model}."
        )
    return np.asarray(labels[np.searchsorted(labels, given)])
