"""The result of a comparison: the scores of every fold, their means and standard errors."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..._data._frames import frame_of
from ..._model._display import Table
from ...theory._arrays import FloatArray
from ._methods import ALL

_TITLES = ("method", "features", "R²", "±", "RMSE", "±", "R² − all", "±", "seconds")
_LEGEND = "±: standard error, corrected for folds that share training samples."


def corrected_errors(
    scores: FloatArray, n_train: npt.NDArray[np.intp], n_test: npt.NDArray[np.intp]
) -> FloatArray:
    """Standard errors of means over folds, of shape (..., n_folds), by Nadeau and Bengio.

    The training sets of two folds overlap, so that scores of folds are not independent, and their
    variance over the number of folds is too small. The square of the corrected error is

        s² (1/J + n_test/n_train)

    with s² the variance of the J scores. NaN for a single fold.
    """
    J = scores.shape[-1]
    if J < 2:
        return np.full(scores.shape[:-1], np.nan)
    share = n_test.sum() / n_train.sum()
    return np.asarray(np.sqrt(scores.var(axis=-1, ddof=1) * (1 / J + share)))


@dataclass(frozen=True)
class Comparison:
    """How well each method predicts what it has not seen, and from how many features.

    Means are over all folds. Standard errors (``…_se``) are corrected for the overlap of the
    training sets, see Notes. What a method failed at is NaN.

    Attributes
    ----------
    methods : tuple of str
        Names of the methods.
    n_samples, n_features_in : int
        Size of the data, constant features not counted.
    ordered : bool
        Whether the samples were taken to be in the order of time.
    fold_r2, fold_rmse : array of shape (n_methods, n_folds)
        R² on the held-out part of each fold, and root mean squared error in the target's unit.
    fold_n_features : array of shape (n_methods, n_folds)
        Number of features of the regression.
    fold_seconds : array of shape (n_methods, n_folds)
        Time of the fit, with all that the method chooses; but FeatureAgglomeration is told the
        number of clusters.
    n_train, n_test : array of shape (n_folds,)
        Samples of the parts of each fold.
    failures : tuple of str
        Why each method failed; "" for those that did not.
    notes : tuple of str
        Which methods were left out and why, what they warned of.
    r2, r2_se, rmse, rmse_se, n_features, seconds : array of shape (n_methods,)
        Means over the folds.
    difference, difference_se : array of shape (n_methods,)
        Mean of the R² of a method less that of all features by least squares in the same fold. NaN
        where these were not compared.

    Notes
    -----
    Folds share most of their training samples, so that their scores are not independent, and the
    usual s²/J, with s² the variance of the J scores, is too small. Nadeau and Bengio replace 1/J
    by 1/J + n_test/n_train. It remains an approximation: there is no unbiased estimate.

    References
    ----------
    C. Nadeau and Y. Bengio, *Inference for the generalization error*, Machine Learning 52 (2003).
    """

    methods: tuple[str, ...]
    n_samples: int
    n_features_in: int
    ordered: bool
    fold_r2: FloatArray
    fold_rmse: FloatArray
    fold_n_features: FloatArray
    fold_seconds: FloatArray
    n_train: npt.NDArray[np.intp]
    n_test: npt.NDArray[np.intp]
    failures: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def r2(self) -> FloatArray:
        """Mean R²."""
        return np.asarray(self.fold_r2.mean(axis=1))

    @property
    def r2_se(self) -> FloatArray:
        """Its standard error."""
        return corrected_errors(self.fold_r2, self.n_train, self.n_test)

    @property
    def rmse(self) -> FloatArray:
        """Mean root mean squared error, in the target's unit."""
        return np.asarray(self.fold_rmse.mean(axis=1))

    @property
    def rmse_se(self) -> FloatArray:
        """Its standard error."""
        return corrected_errors(self.fold_rmse, self.n_train, self.n_test)

    @property
    def n_features(self) -> FloatArray:
        """Mean number of features of the regression."""
        return np.asarray(self.fold_n_features.mean(axis=1))

    @property
    def seconds(self) -> FloatArray:
        """Mean time of a fit."""
        return np.asarray(self.fold_seconds.mean(axis=1))

    @property
    def difference(self) -> FloatArray:
        """Mean difference in R² to all features by least squares."""
        return np.asarray(self._differences.mean(axis=1))

    @property
    def difference_se(self) -> FloatArray:
        """Its standard error."""
        return corrected_errors(self._differences, self.n_train, self.n_test)

    @property
    def _differences(self) -> FloatArray:
        if ALL not in self.methods:
            return np.full_like(self.fold_r2, np.nan)
        return np.asarray(self.fold_r2 - self.fold_r2[self.methods.index(ALL)])

    def _columns(self) -> dict[str, Any]:
        return {
            "method": list(self.methods),
            "n_features": self.n_features,
            "r2": self.r2,
            "r2_se": self.r2_se,
            "rmse": self.rmse,
            "rmse_se": self.rmse_se,
            "difference": self.difference,
            "difference_se": self.difference_se,
            "seconds": self.seconds,
            "failure": list(self.failures),
        }

    def frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """Return the figures of the methods as a data frame, one row each.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
        """
        return frame_of(self._columns(), library)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists, ready for JSON; None for NaN."""
        columns = {name: _plain(values) for name, values in self._columns().items()}
        folds = {
            "r2": _plain(self.fold_r2),
            "rmse": _plain(self.fold_rmse),
            "n_features": _plain(self.fold_n_features),
            "seconds": _plain(self.fold_seconds),
        }
        return {
            "n_samples": self.n_samples,
            "n_features": self.n_features_in,
            "ordered": self.ordered,
            "n_train": self.n_train.tolist(),
            "n_test": self.n_test.tolist(),
            "methods": [
                {name: values[k] for name, values in columns.items()}
                | {"folds": {name: values[k] for name, values in folds.items()}}
                for k in range(len(self.methods))
            ],
            "notes": list(self.notes),
        }

    def table(self) -> Table:
        """Return the figures as a table, with notes on what failed or was left out."""
        reference = self.methods.index(ALL) if ALL in self.methods else None
        rows = []
        for k, (name, failure) in enumerate(zip(self.methods, self.failures, strict=True)):
            figures = [
                f"{self.n_features[k]:.1f}",
                *map(_decimals, (self.r2[k], self.r2_se[k])),
                _digits(self.rmse[k], 4),
                _digits(self.rmse_se[k], 2),
                *map(_decimals, (self.difference[k], self.difference_se[k])),
                f"{self.seconds[k]:.2g}",
            ]
            if k == reference:
                figures[5:7] = "", ""
            rows.append([name, *(["failed"] + [""] * 7 if failure else figures)])
        failed = [
            f"{name} failed {failure}"
            for name, failure in zip(self.methods, self.failures, strict=True)
            if failure
        ]
        order = " in order of time" if self.ordered else ""
        return Table(
            f"{self.n_samples} samples{order}, {self.n_features_in} features; means over "
            f"{self.n_train.size} folds",
            _TITLES,
            rows,
            "\n".join([_LEGEND, *failed, *self.notes]),
        )

    def __str__(self) -> str:
        """Return the table and the notes."""
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().html()


def _plain(values: Any) -> Any:
    """Convert arrays to lists of numbers, with None for those that JSON cannot hold."""
    if isinstance(values, np.ndarray | list):
        return [_plain(value) for value in values]
    if isinstance(values, str):
        return values or None
    return float(values) if np.isfinite(values) else None


def _decimals(value: float) -> str:
    """Format with three decimals; large numbers by their exponent."""
    if np.isnan(value):
        return ""
    if abs(value) >= 1000:
        return f"{value:.2e}"
    return f"{round(value, 3) + 0.0:.3f}"  # −0.0 loses its sign


def _digits(value: float, number: int) -> str:
    return "" if np.isnan(value) else f"{value:.{number}g}"
