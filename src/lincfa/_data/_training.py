"""The value in which data travel through a fit: features, target and weights, checked.

Whatever the container, :func:`read_training` opens it once. What is known of the columns and of the
samples travels along, so that everything below can name them in messages.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._checks import (
    MIN_SAMPLES,
    as_table,
    check_container,
    check_in_memory,
    check_length,
    check_total_weight,
    check_weights,
    column_names,
    column_precision,
    first_not_finite,
    is_dask,
    is_dataset,
    is_field,
    not_finite_feature,
    precision_of_type,
)
from ._columns import Columns, check_columns
from ._dates import Dates, read_dates
from ._samples import check_same_rows
from ._targets import Kind, Targets, read_targets, with_title

if TYPE_CHECKING:  # a fit on a table in memory loads nothing of fields and of dask
    from ._dask import ChunkedTraining
    from ._field import Coordinate

IndexArray = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, kw_only=True)
class FeatureTable:
    """Features of samples."""

    # An array (n, D), or one of dask. In memory float64 or float32, the user's own array where it
    # has one of these types. Whether all is finite is left to the pass that computes with them.
    values: Any
    columns: Columns
    samples: "Coordinate | None" = None  # of a field
    dates: Dates | None = None  # of the samples, where they have any
    missing: str = "error"  # or "pairwise", where values may be NaN

    @property
    def gaps(self) -> bool:
        """Whether values may be missing."""
        return self.missing == "pairwise"

    def check_finite(self, *, new: bool = True) -> None:
        """Raise for infinity, and for NaN unless values may be missing.

        ``new`` samples follow a fit, where all cells had values.
        """
        place = first_not_finite(self.values, self.missing)
        if place is None:
            return
        row, column = place
        if self.columns.field is None:
            raise not_finite_feature(self.values[place], self.columns.describe([column]), row)
        from ._read_field import not_finite_cells

        raise not_finite_cells(self.values, self.columns.field, self.samples, self.missing, new=new)


@dataclass(frozen=True, eq=False, kw_only=True)
class Training(FeatureTable):
    """Features of samples in memory, with their targets and weights."""

    y: npt.NDArray[np.float64]  # of shape (n, K)
    targets: Targets
    precision: npt.NDArray[np.float64]  # relative, of the types in which the features came
    weights: npt.NDArray[np.float64] | None = None  # None where each row counts once

    def check_finite(self, *, new: bool = False) -> None:
        super().check_finite(new=new)

    @property
    def n_samples(self) -> float:
        return len(self.y) if self.weights is None else float(self.weights.sum())

    def take(self, rows: IndexArray) -> "Training":
        """Take some rows, without those that have no weight."""
        weights = self.weights
        if weights is not None:
            rows = rows[weights[rows] > 0]
            weights = weights[rows]
        samples, dates = self.samples, self.dates
        return replace(
            self,
            values=self.values[rows],
            samples=None if samples is None else replace(samples, values=samples.values[rows]),
            dates=None if dates is None else dates.take(rows),
            y=self.y[rows],
            weights=weights,
        )

    def select(self, places: npt.ArrayLike) -> "Training":
        """Take some features, by their positions, as those of a table."""
        chosen, names = np.asarray(places), self.columns.names
        return replace(
            self,
            values=self.values[:, chosen],
            precision=self.precision[chosen],
            columns=Columns(chosen.size, None if names is None else [names[i] for i in chosen]),
        )

    def with_present_classes(self) -> "Training":
        """Leave out the indicators of classes that have no samples here."""
        targets, there = self.targets.present(self.y)
        return self if there.all() else replace(self, y=self.y[:, there], targets=targets)

    def counted(self) -> "Training":
        """Leave out the rows without weight, and check that enough are left for a fit."""
        check_total_weight(self.n_samples)
        return self.with_weight()

    def with_weight(self) -> "Training":
        """Leave out the rows without weight."""
        if self.weights is None or self.weights.all():
            return self
        counted = self.take(np.flatnonzero(self.weights))
        return replace(counted, weights=None) if np.all(counted.weights == 1) else counted


def read_training(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    sample_dim: Hashable | None = None,
    known: Columns | None = None,
    known_targets: Targets | None = None,
    classes: Any = None,
    kind: Kind = "numbers",
    min_samples: int | None = None,
    estimator: str = "LinCFA",
    missing: str = "error",
) -> "Training | ChunkedTraining":
    """Open X, y and weights for a fit; what is ``known`` is of earlier chunks.

    With ``missing="pairwise"`` values of X may be missing, and are NaN in what is returned.
    """
    columns, samples, precision, given = None, None, None, y
    if y is None:
        raise ValueError(f"{estimator} requires y to be passed, but the target y is None.")
    if is_field(X) and (known is None or _is_known_field(X, known)):
        from ._read_field import open_field

        table, y, sample_weight, columns, samples, dates = open_field(
            X, y, sample_weight, sample_dim, known
        )
        precision = _precision_of_cells(X, columns.field)
        X = table
    else:
        check_same_rows(X, y, "the target y")
        check_same_rows(X, sample_weight, "sample_weight")
        dates = read_dates(X, y)
    if min_samples is None:
        min_samples = MIN_SAMPLES if sample_weight is None else 1
    if is_dask(X):
        from ._dask import read_chunks

        chunks = read_chunks(
            X,
            y,
            sample_weight,
            columns=columns,
            samples=samples,
            dates=dates,
            precision=precision,
            min_samples=min_samples,
            estimator=estimator,
            missing=missing,
            kind=kind,
        )
        return replace(chunks, targets=with_title(chunks.targets, given))
    X = check_container(X, missing)
    y, targets = read_targets(y, kind, known_targets, classes)
    names = column_names(X)
    values = as_table(X, min_samples, estimator)
    check_length(len(y), len(values), "y")
    return Training(
        values=values,
        columns=Columns(values.shape[1], names) if columns is None else columns,
        samples=samples,
        dates=dates,
        missing=missing,
        y=y,
        targets=with_title(targets, given) if known_targets is None else targets,
        precision=column_precision(X) if precision is None else precision,
        weights=check_weights(sample_weight, len(y)),
    )


def _precision_of_cells(X: Any, field: Any) -> npt.NDArray[np.float64]:
    types = [(X[variable.name] if field.is_dataset else X).dtype for variable in field.variables]
    precision = np.array([precision_of_type(dtype) for dtype in types])
    return np.asarray(precision[field.variable_of_column])


def read_in_memory(X: Any, y: Any, sample_weight: Any = None, **options: Any) -> Training:
    """Open data as :func:`read_training` does, but raise for lazy ones."""
    check_in_memory(X)
    training = read_training(X, y, sample_weight, **options)
    assert isinstance(training, Training)
    return training


def read_new(X: Any, known: Columns, estimator: Any, missing: str = "error") -> FeatureTable:
    """Open new samples for an estimator, whose columns or cells must be those of its fit."""
    if is_field(X) and _is_known_field(X, known):
        from ._read_field import read_known_field

        assert known.field is not None
        values, samples = read_known_field(X, known.field)
        if not is_dask(values):
            values = as_table(values)
        return FeatureTable(values=values, columns=known, samples=samples, missing=missing)
    if is_dask(X):
        from ._dask import open_columns

        values, columns = open_columns(X)
    else:
        X = check_container(X, missing)
        values = as_table(X)
        columns = Columns(values.shape[1], column_names(X), known.field)
    check_columns(estimator, known, columns)
    return FeatureTable(values=values, columns=columns, missing=missing)


def match_samples(table: FeatureTable, X: Any, values: Any, what: str) -> Any:
    """Return a target or weights of new samples, checked against what is known of these."""
    if table.samples is None:
        check_same_rows(X, values, what)
        return values
    from ._read_field import along_samples

    dim = table.samples.name
    return along_samples(values, X, dim, what, lazy=is_dask(table.values))


def _is_known_field(X: Any, known: Columns) -> bool:
    """Whether to read X as a field: not a 2-D DataArray that is a table to this model."""
    if known.field is None and (is_dataset(X) or X.ndim != 2):
        raise ValueError(
            "The model was fitted to a table, and this is an xarray field: pass a table with the "
            "same columns, or fit the model to a field."
        )
    return known.field is not None
