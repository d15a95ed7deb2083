"""The results of a comparison: figures of the folds, their means and errors, and tables of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from .._data._frames import frame_of
from .._model._display import Table
from ..theory._arrays import FloatArray

ALL = "all features"
LOGISTIC = "logistic regression"

_LEGEND = "±: standard error, corrected for the overlap of training sets."


def corrected_errors(
    scores: FloatArray, n_train: npt.NDArray[np.intp], n_test: npt.NDArray[np.intp]
) -> FloatArray:
    """Return standard errors of means over folds, see :class:`Comparison`; NaN for a single one."""
    J = scores.shape[-1]
    if J < 2:
        return np.full(scores.shape[:-1], np.nan)
    share = n_test.sum() / n_train.sum()
    return np.asarray(np.sqrt(scores.var(axis=-1, ddof=1) * (1 / J + share)))


@dataclass(frozen=True, kw_only=True)
class Results:
    """What comparisons of regressions and of classifiers share."""

    methods: tuple[str, ...]
    n_samples: int
    n_features_in: int
    ordered: bool
    fold_n_features: FloatArray
    fold_seconds: FloatArray
    n_train: npt.NDArray[np.intp]
    n_test: npt.NDArray[np.intp]
    failures: tuple[str, ...]
    notes: tuple[str, ...]

    # The first figure is larger where a method is better, and compared with that of the reference.
    _figures: ClassVar[tuple[str, str]]
    _titles: ClassVar[tuple[str, str, str]]
    _reference: ClassVar[str]

    @property
    def n_features(self) -> FloatArray:
        """Mean number of features of each method."""
        return np.asarray(self.fold_n_features.mean(axis=1))

    @property
    def seconds(self) -> FloatArray:
        """Mean time of a fit of each method."""
        return np.asarray(self.fold_seconds.mean(axis=1))

    @property
    def difference(self) -> FloatArray:
        """Mean difference of each method to the reference."""
        return np.asarray(self._differences.mean(axis=1))

    @property
    def difference_se(self) -> FloatArray:
        """Standard errors of the differences."""
        return self._errors(self._differences)

    @property
    def _differences(self) -> FloatArray:
        scores: FloatArray = getattr(self, f"fold_{self._figures[0]}")
        if self._reference not in self.methods:
            return np.full_like(scores, np.nan)
        return np.asarray(scores - scores[self.methods.index(self._reference)])

    def _errors(self, scores: FloatArray) -> FloatArray:
        return corrected_errors(scores, self.n_train, self.n_test)

    def _columns(self) -> dict[str, Any]:
        figures = [name for figure in self._figures for name in (figure, f"{figure}_se")]
        names = ("n_features", *figures, "difference", "difference_se", "seconds")
        columns = {name: getattr(self, name) for name in names}
        return {"method": list(self.methods), **columns, "failure": list(self.failures)}

    def frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """Return the figures of the methods as a data frame, one row each.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
        """
        return frame_of(self._columns(), library)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists for JSON; None for NaN."""
        columns = {name: _plain(values) for name, values in self._columns().items()}
        figures = (*self._figures, "n_features", "seconds")
        folds = {name: _plain(getattr(self, f"fold_{name}")) for name in figures}
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
        first, second = self._figures
        rows, failed = [], []
        for k, (name, failure) in enumerate(zip(self.methods, self.failures, strict=True)):
            score, score_se, error, error_se = (
                getattr(self, figure)[k]
                for figure in (first, f"{first}_se", second, f"{second}_se")
            )
            figures = [
                f"{self.n_features[k]:.1f}",
                *map(_decimals, (score, score_se)),
                _digits(error, 4),
                _digits(error_se, 2),
                *map(_decimals, (self.difference[k], self.difference_se[k])),
                f"{self.seconds[k]:.2g}",
            ]
            if name == self._reference:
                figures[5:7] = "", ""
            if failure:
                figures = ["failed"] + [""] * 7
                failed.append(f"{name} failed {failure}")
            rows.append([name, *figures])
        order = " in time order" if self.ordered else ""
        titles = [title for figure in self._titles for title in (figure, "±")]
        return Table(
            f"{self.n_samples} samples{order}, {self.n_features_in} features{self._more()}; means "
            f"over {self.n_train.size} folds",
            ("method", "features", *titles, "seconds"),
            rows,
            "\n".join([_LEGEND, *self._explained(), *failed, *self.notes]),
        )

    def _more(self) -> str:
        """What else the caption says of the data."""
        return ""

    def _explained(self) -> Sequence[str]:
        """Lines that explain the figures."""
        return ()

    def _tables(self) -> Sequence[Table]:
        return (self.table(),)

    def __str__(self) -> str:
        """Return the tables and the notes."""
        return "\n\n".join(map(str, self._tables()))

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self._tables())


@dataclass(frozen=True, kw_only=True)
class Comparison(Results):
    """How well each method predicts what it has not seen, and from how many features.

    Means are over all folds. R² is that of each fold, relative to the mean of its held-out samples;
    with few of these it is lower than the ``best_score_`` of a :class:`LinCFACV`, whose errors are
    relative to the variance of all samples, and truncated. Standard errors (``…_se``) are corrected
    for the overlap of the training sets, see Notes. Figures of a method that failed are NaN. Of
    several targets R² is the mean over the targets, and so is the error, in standard deviations of
    each target.

    Attributes
    ----------
    methods : tuple of str
        Names of the methods.
    n_samples, n_features_in : int
        Size of the data, without constant features.
    targets : tuple of str
        Names of the targets; ``y`` for one, ``y0``, ``y1``, … for several without names.
    ordered : bool
        Whether the samples were taken to be in time order.
    fold_r2, fold_rmse : array of shape (n_methods, n_folds)
        R² on the held-out part of each fold, and root mean squared error in the target's unit.
    fold_target_r2, fold_target_rmse : array of shape (n_methods, n_folds, n_targets)
        The same of each target, in its own unit.
    fold_n_features : array of shape (n_methods, n_folds)
        Number of features of the regression.
    fold_seconds : array of shape (n_methods, n_folds)
        Time of the fit, including what the method chooses.
    n_train, n_test : array of shape (n_folds,)
        Samples of the parts of each fold.
    failures : tuple of str
        Why each method failed; "" for those that did not.
    notes : tuple of str
        Which methods were left out and why, and warnings.
    r2, r2_se, rmse, rmse_se, n_features, seconds : array of shape (n_methods,)
        Means over the folds.
    target_r2, target_r2_se, target_rmse, target_rmse_se : array of shape (n_methods, n_targets)
        Means over the folds, of each target.
    difference, difference_se : array of shape (n_methods,)
        Mean difference in R² to least squares on all features in the same fold. NaN if that was
        not compared.

    Notes
    -----
    Folds share most of their training samples, so that their scores are not independent, and the
    usual s²/J, with s² the variance of the J scores, is too small. Nadeau and Bengio replace 1/J
    by 1/J + n_test/n_train. It remains an approximation: there is no unbiased estimate.

    References
    ----------
    C. Nadeau and Y. Bengio, *Inference for the generalization error*, Machine Learning 52 (2003).

    Examples
    --------
    >>> from lincfa import compare
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=100, n_features=20, random_state=0)
    >>> found = compare(X, y, methods=["LinCFACV", "ridge"], cv=3)
    >>> found.methods
    ('LinCFACV', 'ridge')
    >>> found.r2.round(2).tolist(), found.n_features.round().tolist()
    ([0.16, 0.17], [10.0, 20.0])
    """

    targets: tuple[str, ...]
    fold_r2: FloatArray
    fold_rmse: FloatArray
    fold_target_r2: FloatArray
    fold_target_rmse: FloatArray

    _figures = ("r2", "rmse")
    _titles = ("R²", "RMSE", "R² − all")
    _reference = ALL

    @property
    def r2(self) -> FloatArray:
        """Mean R² of each method."""
        return np.asarray(self.fold_r2.mean(axis=1))

    @property
    def r2_se(self) -> FloatArray:
        """Standard errors of R²."""
        return self._errors(self.fold_r2)

    @property
    def rmse(self) -> FloatArray:
        """Mean error of each method."""
        return np.asarray(self.fold_rmse.mean(axis=1))

    @property
    def rmse_se(self) -> FloatArray:
        """Standard errors of the errors."""
        return self._errors(self.fold_rmse)

    @property
    def target_r2(self) -> FloatArray:
        """Mean R² of each method and target."""
        return np.asarray(self.fold_target_r2.mean(axis=1))

    @property
    def target_r2_se(self) -> FloatArray:
        """Standard errors of R² of each target."""
        return self._errors(np.moveaxis(self.fold_target_r2, 1, -1))

    @property
    def target_rmse(self) -> FloatArray:
        """Mean error of each method and target, in its own unit."""
        return np.asarray(self.fold_target_rmse.mean(axis=1))

    @property
    def target_rmse_se(self) -> FloatArray:
        """Standard errors of the errors of each target."""
        return self._errors(np.moveaxis(self.fold_target_rmse, 1, -1))

    def _columns(self) -> dict[str, Any]:
        columns = super()._columns()
        if len(self.targets) == 1:
            return columns
        return columns | {
            f"{figure}[{target}]": values
            for figure in ("r2", "r2_se", "rmse", "rmse_se")
            for target, values in zip(
                self.targets, getattr(self, f"target_{figure}").T, strict=True
            )
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists for JSON; None for NaN."""
        plain = super().to_dict()
        return plain if len(self.targets) == 1 else plain | {"targets": list(self.targets)}

    def target_table(self) -> Table:
        """Return R² of each target as a table."""
        rows = [
            [name, *map(_decimals, values)]
            for name, values in zip(self.methods, self.target_r2.tolist(), strict=True)
        ]
        return Table("R² of each target", ("method", *self.targets), rows)

    def _more(self) -> str:
        return "" if len(self.targets) == 1 else f", {len(self.targets)} targets"

    def _explained(self) -> Sequence[str]:
        if len(self.targets) == 1:
            return ()
        return ("R², RMSE: means over the targets, RMSE in standard deviations of each.",)

    def _tables(self) -> Sequence[Table]:
        return (self.table(),) if len(self.targets) == 1 else (self.table(), self.target_table())


@dataclass(frozen=True, kw_only=True)
class ClassComparison(Results):
    """How well each method predicts the classes of what it has not seen.

    Like :class:`Comparison`, with other figures.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The classes, in order.
    fold_accuracy, fold_log_loss : array of shape (n_methods, n_folds)
        Share of the held-out samples of each fold whose class is predicted, and the mean negative
        logarithm of the probability predicted for it; NaN of a method without probabilities.
    accuracy, accuracy_se, log_loss, log_loss_se : array of shape (n_methods,)
        Means over the folds.
    difference, difference_se : array of shape (n_methods,)
        Mean difference in accuracy to logistic regression on all features in the same fold. NaN if
        that was not compared.
    methods, n_samples, n_features_in, ordered
        As for :class:`Comparison`.
    fold_n_features, fold_seconds, n_train, n_test, failures, notes, n_features, seconds
        As for :class:`Comparison`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from lincfa import compare
    >>> X, kind = load_wine(return_X_y=True)
    >>> names = np.array(["Barolo", "Grignolino", "Barbera"])
    >>> found = compare(X, names[kind], methods=["LinCFAClassifierCV", "logistic regression"], cv=3)
    >>> found.methods
    ('LinCFAClassifierCV', 'logistic regression')
    >>> found.accuracy.round(2).tolist()
    [0.98, 0.98]
    """

    classes: npt.NDArray[Any]
    fold_accuracy: FloatArray
    fold_log_loss: FloatArray

    _figures = ("accuracy", "log_loss")
    _titles = ("accuracy", "log loss", "accuracy − logistic")
    _reference = LOGISTIC

    @property
    def accuracy(self) -> FloatArray:
        """Mean accuracy of each method."""
        return np.asarray(self.fold_accuracy.mean(axis=1))

    @property
    def accuracy_se(self) -> FloatArray:
        """Standard errors of the accuracy."""
        return self._errors(self.fold_accuracy)

    @property
    def log_loss(self) -> FloatArray:
        """Mean log loss of each method."""
        return np.asarray(self.fold_log_loss.mean(axis=1))

    @property
    def log_loss_se(self) -> FloatArray:
        """Standard errors of the log loss."""
        return self._errors(self.fold_log_loss)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists for JSON; None for NaN."""
        return super().to_dict() | {"classes": [str(label) for label in self.classes.tolist()]}

    def _more(self) -> str:
        return f", {len(self.classes)} classes"

    def _explained(self) -> Sequence[str]:
        without = [
            name
            for name, loss, failure in zip(self.methods, self.log_loss, self.failures, strict=True)
            if np.isnan(loss) and not failure
        ]
        return [f"Without probabilities, no log loss: {', '.join(without)}."] if without else []


def _plain(values: Any) -> Any:
    """Return arrays as lists of numbers, None for NaN and infinity."""
    if isinstance(values, np.ndarray | list):
        return [_plain(value) for value in values]
    if isinstance(values, str):
        return values or None
    return float(values) if np.isfinite(values) else None


def _decimals(value: float) -> str:
    """Format with three decimals, or in scientific notation if large."""
    if np.isnan(value):
        return ""
    if abs(value) >= 1000:
        return f"{value:.2e}"
    return f"{round(value, 3) + 0.0:.3f}"  # no sign for −0.0


def _digits(value: float, number: int) -> str:
    return "" if np.isnan(value) else f"{value:.{number}g}"
