"""What every fitted reduction can do with data: average its groups, and undo it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin

from .._data._field._build import put_samples, reduced_array
from .._data._field._describe import GROUP, Variable, is_dataset, is_field
from .._data._input import is_dask, real_numbers, validate_new, validate_reduced
from .._data._names import Names
from .._grouping._constraint import Constraint, constraint_of
from .._statistics._dask._lazily import average_lazily, expand_lazily
from .._statistics._means import group_means, spread_means
from ..theory._arrays import FloatArray
from ._reader import GroupReader


def forget_fit(estimator: Any, private: tuple[str, ...] = (), keep: tuple[str, ...] = ()) -> None:
    """Drop what an earlier fit left, so that a fit that fails leaves no mixture of two."""
    left = {name for name in vars(estimator) if name.endswith("_") or name in private}
    for name in left.difference(keep):
        delattr(estimator, name)


class GroupReducer(TransformerMixin, GroupReader):  # type: ignore[misc]
    """A transformer that is fitted to groups of features and replaces each by its mean."""

    _private_state: tuple[str, ...] = ("_column_names",)

    def _constraint(self) -> Constraint:
        """Which of the features of this fit may be merged."""
        field = getattr(self, "field_", None)
        return constraint_of(self.connectivity, self.blocks, self._names(), field)

    def _forget(self, keep: tuple[str, ...] = ()) -> None:
        forget_fit(self, self._private_state, keep)

    def transform(self, X: Any) -> Any:
        """Average each group of features.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            The same columns as in fit, or the same cells.

        Returns
        -------
        array of shape (n_samples, n_groups_)
            Or a data frame, as ``set_output`` says. Of a collection of dask, the same kind of
            collection with the same chunks of rows, not yet computed. Of a field, a DataArray along
            the samples and ``"group"``, with the coordinates of the samples, and ``name`` and
            ``size`` of the groups (and ``variable``, for a Dataset); not yet computed where the
            field is of dask.
        """
        return self._reduce(X)

    def _reduce(self, X: Any) -> npt.NDArray[Any]:
        """Average each group: an array, whatever ``set_output`` says."""
        self._check_is_fitted()
        return self._average(*validate_new(self, X))

    def _reduce_lazily(self, X: Any, *, keep_frame: bool) -> Any:
        """Average each group of a collection of dask."""
        self._check_is_fitted()
        standard = (self.mean_, self.scale_) if self.units == "standardized" else (None, None)
        names = self.get_feature_names_out()
        return average_lazily(self, X, self.labels_, names, *standard, keep_frame=keep_frame)

    def _reduce_field(self, X: Any) -> Any:
        """Average each group of cells of a field: an array with coordinates."""
        with self._known(X) as (table, *_):
            lazy = is_dask(table)
            values = self._reduce_lazily(table, keep_frame=False) if lazy else self._reduce(table)
        names = self.get_feature_names_out()
        return reduced_array(self.field_, X, values, names, self.groups_, self.units)

    def _average(self, values: npt.NDArray[Any], names: Names | None = None) -> npt.NDArray[Any]:
        """Average each group of columns that have been checked."""
        standardized = self.units == "standardized"
        return group_means(
            values,
            self.labels_,
            self.n_groups_,
            mean=self.mean_ if standardized else None,
            scale=self.scale_ if standardized else None,
            names=names,
        )

    def inverse_transform(self, X: Any) -> Any:
        """Approximate the features by the means of their groups.

        With standardised units a feature is its own mean plus its own scale times its group's
        value; with original units its own mean plus the distance of the group's value from the mean
        of the group. A constant feature is its mean. :meth:`transform` of the result gives X back.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_groups_)
            Reduced features, in the order of :meth:`transform`.

        Returns
        -------
        array of shape (n_samples, n_features_in_)
            Of a collection of dask, the same kind of collection, not yet computed. Of a DataArray
            along ``"group"``, for a model that was fitted to a field, such a field, with NaN in
            cells that are missing throughout.
        """
        self._check_is_fitted()
        if is_field(X) and getattr(self, "field_", None) is not None:
            return self._expand_field(X)
        line = self.labels_, self.mean_, *self._line()
        if is_dask(X):
            return expand_lazily(X, self.get_feature_names_out(), self._names(), *line)
        return spread_means(validate_reduced(X, self.get_feature_names_out()), *line)

    def _expand_field(self, X: Any) -> Any:
        """Approximate the cells of a field by the means of their groups."""
        if is_dataset(X) or GROUP not in X.dims or X.ndim > 2:
            raise ValueError(
                f"Reduced features must be a DataArray along {GROUP!r} and, at most, another "
                f"dimension; the dimensions are: {', '.join(map(str, X.dims)) or 'none'}."
            )
        names = self.get_feature_names_out()
        numbers = X.coords[GROUP].values if GROUP in X.coords else np.arange(X.sizes[GROUP])
        if not np.array_equal(numbers, np.arange(len(names))):
            raise ValueError(
                f"The groups should be those of the model in their order, 0 to {len(names) - 1} "
                f"along {GROUP!r}."
            )
        ordered = X.transpose(..., GROUP)
        lazy = is_dask(ordered.data)
        values = np.atleast_2d(ordered.data if lazy else ordered.values)
        values = values if lazy else validate_reduced(values, names)
        scale, center = self._line()

        def expand(variable: Variable, columns: slice) -> Any:
            # A cell that is missing throughout is as a constant one, of which NaN is the mean.
            cells = np.full((3, variable.present.size), [[-1.0], [np.nan], [1.0]])
            known = self.labels_[columns], self.mean_[columns], scale[columns]
            cells[:, variable.present] = known
            line = cells[0].astype(np.intp), cells[1], cells[2], center
            return expand_lazily(values, names, (), *line) if lazy else spread_means(values, *line)

        return put_samples(self.field_, expand, X)

    def _line(self) -> tuple[FloatArray, FloatArray]:
        """Scale of each feature against its group's value, and center of each group's value."""
        if self.units == "standardized":
            return self.scale_, np.zeros(self.n_groups_)
        center = [self.mean_[group].mean() for group in self.groups_]
        return np.ones(self.n_features_in_), np.array(center)

    def expand_coefficients(
        self, coef: Any, intercept: Any = 0.0
    ) -> tuple[FloatArray, FloatArray | float]:
        """Spread the coefficients of a linear model on the reduced features back to all features.

        The model ``X @ coef + intercept`` on the original features, in their own units, predicts
        what the given one predicts on ``transform(X)``, up to rounding. The weight of a group is
        shared by its members; a constant feature gets 0.

        Parameters
        ----------
        coef : array of shape (n_groups_,) or (n_targets, n_groups_)
            As ``coef_`` of a linear model.
        intercept : float or array of shape (n_targets,), default=0.0
            As ``intercept_`` of a linear model.

        Returns
        -------
        coef : array of shape (n_features_in_,) or (n_targets, n_features_in_)
        intercept : float or array of shape (n_targets,)
        """
        self._check_is_fitted()
        coef, intercept = real_numbers(coef, "coef"), real_numbers(intercept, "intercept")
        if coef.ndim not in (1, 2) or coef.shape[-1] != self.n_groups_:
            raise ValueError(
                f"coef must have one coefficient per reduced feature, shape ({self.n_groups_},) or "
                f"(n_targets, {self.n_groups_}), got {coef.shape}."
            )
        if intercept.ndim > 0 and intercept.shape != coef.shape[:-1]:
            several = f", or one per target, {len(coef)}" if coef.ndim > 1 else ""
            raise ValueError(
                f"intercept must be one number{several}, got an array of shape {intercept.shape}."
            )
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError("coef and intercept must be finite.")
        sizes = np.array([len(group) for group in self.groups_])
        grouped = np.flatnonzero(self.labels_ >= 0)
        expanded = np.zeros((*coef.shape[:-1], self.n_features_in_))
        expanded[..., grouped] = (coef / sizes)[..., self.labels_[grouped]]
        if self.units == "standardized":
            expanded /= self.scale_
            intercept = intercept - expanded @ self.mean_
        return expanded, float(intercept) if intercept.ndim == 0 else intercept

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that a target is needed and that the type of X is kept."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _lazy_as_it_is(wrapped: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Keep ``set_output``, which makes tables in memory, away from fields and from dask."""

    @wraps(wrapped)
    def transform(self: Any, X: Any) -> Any:
        if is_field(X):
            self._check_is_fitted()
        if self._takes_field(X):
            return self._reduce_field(X)
        return self._reduce_lazily(X, keep_frame=True) if is_dask(X) else wrapped(self, X)

    return transform


def _fit_lazy_as_it_is(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    """Do the same for a fit and a transform at once."""

    @wraps(wrapped)
    def fit_transform(self: Any, X: Any, y: Any = None, **fit_params: Any) -> Any:
        if is_dask(X) or is_field(X):
            return self.fit(X, y, **fit_params).transform(X)
        return wrapped(self, X, y, **fit_params)

    return fit_transform


GroupReducer.transform = _lazy_as_it_is(GroupReducer.transform)  # type: ignore[assignment, method-assign]
GroupReducer.fit_transform = _fit_lazy_as_it_is(GroupReducer.fit_transform)
