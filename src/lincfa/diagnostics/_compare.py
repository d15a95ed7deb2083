"""How well LinCFA and other methods predict, by repeated cross-validation."""

import numbers
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import KFold, RepeatedKFold, check_cv
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.parallel import Parallel, delayed

from .._data._checks import (
    MIN_SAMPLES,
    ConstantFeaturesWarning,
    ManyGroupsWarning,
    warn_of_constant,
)
from .._data._frames import frame_of
from .._data._training import read_in_memory
from .._lincfa import LinCFA
from .._lincfa_cv import LinCFACV
from .._model._display import Table
from .._model._parameters import check_strategy, is_count, listed
from .._model._regression import RidgeRegression, precision_of
from .._search._folds import default_folds, ordered_folds
from .._statistics import ArrayStatistics, IndexArray
from ..baselines import (
    agglomeration,
    elastic_net,
    n_features,
    pca_regression,
    pls,
    ridge,
    slope,
)
from ..theory._arrays import FloatArray
from ._progress import with_progress

ALL = "all features"
SEARCH = "LinCFACV"
SLOPE = "SLOPE"

MOST_SQUARE = 4000  # features, up to which methods may need a D × D matrix: 128 MB each
MOST_WORK = 2e10  # largest n·D·min(n, D) of a fit by singular values: about ten seconds

_SQUARE = ("LinCFA agglomerative", "LinCFA joint", "FeatureAgglomeration")
_SLOW = ("elastic net", SLOPE)
_WORK = (ALL, "ridge", "PCA", *_SLOW)

_TITLES = ("method", "features", "R²", "±", "RMSE", "±", "R² − all", "±", "seconds")
_LEGEND = "±: standard error, corrected for the overlap of training sets."

Fold = tuple[IndexArray, IndexArray]

# Those that data can cause; anything else is a bug.
_FAILURES = (ValueError, ArithmeticError, MemoryError)


@dataclass(frozen=True)
class TrainingPart:
    """What a method may know beforehand of the training part of a fold."""

    n: int
    D: int
    ordered: bool = False
    strategies: Sequence[str] | None = None  # that LinCFACV tries; None for its default
    connectivity: Any = None  # which features are neighbours: those that merge features respect it
    precision: float | None = None  # of the features; None for that of their type
    signed: bool = False  # whether LinCFA and LinCFACV may flip features

    @property
    def folds(self) -> Any:
        """Folds by which a method chooses, contiguous where samples are in time order."""
        return ordered_folds(self.n) if self.ordered else default_folds(self.n)


def _grouped(strategy: Any) -> Callable[[TrainingPart], Any]:
    return lambda part: make_pipeline(
        LinCFA(strategy=strategy, connectivity=part.connectivity, signed=part.signed),
        RidgeRegression(precision=part.precision),
    )


def _scaled(regression: Callable[[TrainingPart], Any]) -> Callable[[TrainingPart], Any]:
    return lambda part: make_pipeline(StandardScaler(), regression(part))


# LinCFA standardises the features itself.
METHODS: dict[str, Callable[[TrainingPart], Any]] = {
    "LinCFA": _grouped("sequential"),
    "LinCFA centroid": _grouped("centroid"),
    "LinCFA agglomerative": _grouped("agglomerative"),
    "LinCFA joint": _grouped("joint"),
    SEARCH: lambda part: LinCFACV(
        strategies=part.strategies,
        cv=part.folds if part.ordered else None,  # the same folds by default
        connectivity=part.connectivity,
        signed=part.signed,
    ),
    ALL: _scaled(lambda part: RidgeRegression(precision=part.precision)),
    "ridge": _scaled(lambda part: ridge(part.folds)),
    "PCA": _scaled(lambda part: pca_regression(part.folds)),
    "PLS": _scaled(lambda part: pls(part.n, part.D, part.folds)),
    "FeatureAgglomeration": _scaled(lambda part: agglomeration(part.folds, part.connectivity)),
    "elastic net": _scaled(lambda part: elastic_net(part.folds)),
    SLOPE: _scaled(lambda part: slope(part.folds)),
}


def chosen_methods(methods: Any, n: int, D: int) -> tuple[list[str], list[str]]:
    """Return the methods to compare, and notes on those left out because of the size."""
    if methods is not None:
        listed = [methods] if isinstance(methods, str) or not np.iterable(methods) else methods
        names = list(dict.fromkeys(listed))
        unknown = [name for name in names if name not in METHODS]
        if unknown or not names:
            raise ValueError(f"methods must be among {list(METHODS)}, got {methods!r}")
        if SLOPE in names:
            METHODS[SLOPE](TrainingPart(n, D))  # says what to install
        return names, []
    notes: list[str] = []
    left_out = set() if find_spec("sortedl1") else {SLOPE}
    if D > MOST_SQUARE:
        left_out.update(_SQUARE + _SLOW)
        notes.append(
            f"Left out above {MOST_SQUARE} features, because they need a matrix of that size "
            f"squared: {', '.join(_SQUARE)}; or take minutes: {', '.join(_SLOW)}."
        )
    if n * D * min(n, D) > MOST_WORK:
        left_out.update(_WORK)
        notes.append(
            f"Left out with {n} training samples of {D} features, because a fit would take more "
            f"than about ten seconds: {', '.join(_WORK)}."
        )
    return [name for name in METHODS if name not in left_out], notes


@dataclass(frozen=True)
class FoldScore:
    """The score of one method on one fold; NaN where it failed."""

    r2: float = np.nan
    rmse: float = np.nan
    n_features: float = np.nan
    seconds: float = np.nan
    failure: str = ""
    warning: str = ""


def corrected_errors(
    scores: FloatArray, n_train: npt.NDArray[np.intp], n_test: npt.NDArray[np.intp]
) -> FloatArray:
    """Return standard errors of means over folds, see :class:`Comparison`; NaN for a single one."""
    J = scores.shape[-1]
    if J < 2:
        return np.full(scores.shape[:-1], np.nan)
    share = n_test.sum() / n_train.sum()
    return np.asarray(np.sqrt(scores.var(axis=-1, ddof=1) * (1 / J + share)))


@dataclass(frozen=True)
class Comparison:
    """How well each method predicts what it has not seen, and from how many features.

    Means are over all folds. Standard errors (``…_se``) are corrected for the overlap of the
    training sets, see Notes. Figures of a method that failed are NaN.

    Attributes
    ----------
    methods : tuple of str
        Names of the methods.
    n_samples, n_features_in : int
        Size of the data, without constant features.
    ordered : bool
        Whether the samples were taken to be in time order.
    fold_r2, fold_rmse : array of shape (n_methods, n_folds)
        R² on the held-out part of each fold, and root mean squared error in the target's unit.
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
    r2: FloatArray
    r2_se: FloatArray
    rmse: FloatArray
    rmse_se: FloatArray
    n_features: FloatArray
    seconds: FloatArray
    difference: FloatArray
    difference_se: FloatArray

    def _columns(self) -> dict[str, Any]:
        figures = ("n_features", "r2", "r2_se", "rmse", "rmse_se", "difference", "difference_se")
        columns = {name: getattr(self, name) for name in (*figures, "seconds")}
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
        figures = ("r2", "rmse", "n_features", "seconds")
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
        reference = self.methods.index(ALL) if ALL in self.methods else None
        rows, failed = [], []
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
            if failure:
                figures = ["failed"] + [""] * 7
                failed.append(f"{name} failed {failure}")
            rows.append([name, *figures])
        order = " in time order" if self.ordered else ""
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


def compare(
    X: Any,
    y: Any,
    *,
    methods: Sequence[str] | None = None,
    cv: Any = 5,
    n_repeats: int = 3,
    ordered: bool = False,
    strategies: Sequence[str] | None = None,
    signed: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare LinCFA with other methods on your own data, by repeated cross-validation.

    Every method ends in a linear regression. All that it chooses or estimates, including means and
    scales, comes from the training part of a fold; the held-out part is used for the score only.

    - ``"LinCFA"``: ``LinCFA()``, and ``"LinCFA centroid"``, ``"LinCFA agglomerative"``,
      ``"LinCFA joint"``, its other strategies;
    - ``"LinCFACV"``: how much to merge and a ridge penalty chosen by cross-validation;
    - ``"all features"``: least squares (the minimum-norm solution if there are more features than
      samples);
    - ``"ridge"``: 23 penalties to choose from;
    - ``"PCA"``: least squares on principal components, 30 numbers to choose from;
    - ``"PLS"``: partial least squares with up to 20 components;
    - ``"FeatureAgglomeration"``: that of scikit-learn, 14 numbers of clusters to choose from;
    - ``"elastic net"``: 2 × 20 penalties to choose from;
    - ``"SLOPE"``: 20 penalties to choose from; only where ``sortedl1`` is installed.

    All choose by the same folds of the training part, five shuffled ones, repeated while there are
    fewer than 200 held-out predictions, or five contiguous ones if ``ordered``; and by squared
    errors, of which LinCFACV truncates the largest, and of nearly equal choices takes the one with
    the fewest groups. See :mod:`lincfa.baselines`.

    A method that fails on a fold is listed with the reason, without figures.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features), or field
        For a field in memory, the samples are along the dimension as long as the target.
    y : array of shape (n_samples,)
    methods : sequence of str, default=None
        Names of methods, in the order of the result. None for all that the size of the data allows;
        a note in the result names the others: above 4000 features those that need a D × D matrix
        (agglomerative, joint, FeatureAgglomeration) or minutes (elastic net, SLOPE); above 2·10¹⁰
        for n·D·min(n, D), with n training samples of D features, all features, ridge, PCA, elastic
        net and SLOPE. They are compared anyway if named here.
    cv : int, splitter or iterable, default=5
        Number of folds; or the folds themselves, as anywhere in scikit-learn.
    n_repeats : int, default=3
        How often the samples are shuffled and split again, if ``cv`` is a number.
    ordered : bool, default=False
        Whether the samples are in time order. Folds are then contiguous, not shuffled and not
        repeated, and so are those by which the methods choose.
    strategies : sequence of str, default=None
        Strategies that LinCFACV tries; None for its default.
    signed : bool, default=False
        Whether LinCFA and LinCFACV may flip the signs of features.
    random_state : int, RandomState instance or None, default=0
        How the samples are shuffled.
    n_jobs : int, default=None
        Number of parallel fits, as in joblib. The reported times get longer.
    verbose : bool, default=True
        Whether to report progress on standard error when it takes longer than a few seconds.
    progress : callable, default=None
        Called with the number of finished fits and the total number.

    Examples
    --------
    >>> from lincfa import compare
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=100, n_features=30, random_state=0)
    >>> found = compare(X, y, methods=["LinCFA", "all features", "PCA"])
    >>> print(found)  # doctest: +ELLIPSIS
    100 samples, 30 features; means over 15 folds
    method        features     R²  ...
    LinCFA ...
    all features      30.0 ...
    PCA ...
    ±: standard error, corrected for the overlap of training sets.
    >>> bool(found.difference[0] > 0)
    True
    """
    values, target, n_constant = _checked(X, y)
    folds = _folds(values, target, cv, n_repeats, ordered, random_state)
    n, D = max(len(train) for train, _ in folds), values.shape[1]
    names, notes = chosen_methods(methods, n, D)
    for strategy in [] if strategies is None else listed("strategies", strategies):
        check_strategy(strategy)
    if n_constant:
        features = "feature was" if n_constant == 1 else "features were"
        notes.append(f"{n_constant} constant {features} left out.")
    precision = precision_of(values)
    # Fold by fold, so that the first ones tell how much time is left.
    jobs = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_score)(name, values, target, fold, ordered, strategies, precision, signed)
        for fold in folds
        for name in names
    )
    scores: list[FoldScore] = []
    total = len(folds) * len(names)
    for score in with_progress(jobs, total, "compare", verbose, 0.0):
        scores.append(score)
        if progress is not None:
            progress(len(scores), total)
    by_method = [scores[k :: len(names)] for k in range(len(names))]
    r2, rmse, sizes, seconds = (
        np.array([[getattr(one, figure) for one in row] for row in by_method], dtype=np.float64)
        for figure in ("r2", "rmse", "n_features", "seconds")
    )
    difference = r2 - (r2[names.index(ALL)] if ALL in names else np.nan)
    parts = tuple(np.array([len(part) for part in side]) for side in zip(*folds, strict=True))
    return Comparison(
        methods=tuple(names),
        n_samples=len(target),
        n_features_in=D,
        ordered=ordered,
        fold_r2=r2,
        fold_rmse=rmse,
        fold_n_features=sizes,
        fold_seconds=seconds,
        n_train=parts[0],
        n_test=parts[1],
        failures=tuple(_first([score.failure for score in row]) for row in by_method),
        notes=(*notes, *_warnings(names, by_method)),
        r2=r2.mean(axis=1),
        r2_se=corrected_errors(r2, *parts),
        rmse=rmse.mean(axis=1),
        rmse_se=corrected_errors(rmse, *parts),
        n_features=sizes.mean(axis=1),
        seconds=seconds.mean(axis=1),
        difference=difference.mean(axis=1),
        difference_se=corrected_errors(difference, *parts),
    )


def _checked(X: Any, y: Any) -> tuple[npt.NDArray[Any], FloatArray, int]:
    """Check the data as LinCFA does; return X without its constant features, and their number."""
    training = read_in_memory(X, y)
    values, target = training.values, training.targets.as_given(training.y)
    varying = ArrayStatistics.of(training).varying
    if not varying.any():
        raise ValueError("Every column of X is constant: there is nothing to compare.")
    warn_of_constant(varying, training.columns.names)
    if not varying.all():
        values = values[:, varying]
    return values, target, int((~varying).sum())


def _folds(
    X: npt.NDArray[Any], y: FloatArray, cv: Any, n_repeats: int, ordered: bool, random_state: Any
) -> list[Fold]:
    """Return all folds; raise at once if one is too small."""
    if not is_count(n_repeats):
        raise ValueError(f"n_repeats must be a positive integer, got {n_repeats!r}")
    number: Any = cv if isinstance(cv, numbers.Number) else None
    if number is not None or cv is None or isinstance(cv, str):
        if not is_count(number) or number < 2:
            raise ValueError(f"cv must be an integer of at least 2 or a splitter, got {cv!r}")
        shuffled = RepeatedKFold(n_splits=number, n_repeats=n_repeats, random_state=random_state)
        cv = KFold(number) if ordered else shuffled
    samples = np.arange(len(y))
    folds = [(samples[train], samples[test]) for train, test in check_cv(cv).split(X, y)]
    if not folds:
        raise ValueError(f"cv={cv!r} gives no folds.")
    for train, test in folds:
        if len(train) < MIN_SAMPLES or len(test) < 2:
            raise ValueError(
                f"A fold has {len(train)} training and {len(test)} held-out samples of {len(y)}; "
                f"at least {MIN_SAMPLES} and 2 are needed."
            )
        for part, what in ((train, "training"), (test, "held-out")):
            if np.ptp(y[part]) == 0:
                raise ValueError(
                    f"The target is constant in the {what} part of a fold, of {len(part)} samples; "
                    "use fewer folds."
                )
    return folds


def _score(
    name: str,
    X: npt.NDArray[Any],
    y: FloatArray,
    fold: Fold,
    ordered: bool,
    strategies: Sequence[str] | None,
    precision: float,
    signed: bool,
) -> FoldScore:
    """Fit a method to the training part of a fold and score it on the held-out part."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Features that happen to be constant in a fold are not worth a note, and many groups show
        # in the score.
        for category in (ConstantFeaturesWarning, ManyGroupsWarning):
            warnings.simplefilter("ignore", category)
        try:
            # In float64 for all methods, but values that were float32 have no more digits by that.
            X_train, X_test = (X[part].astype(np.float64, copy=False) for part in fold)
            y_train, y_test = (y[part] for part in fold)
            n, D = X_train.shape
            part = TrainingPart(n, D, ordered, strategies, None, precision, signed)
            model = METHODS[name](part)
            start = time.perf_counter()
            model.fit(X_train, y_train)
            seconds = time.perf_counter() - start
            predicted = np.ravel(model.predict(X_test))
            r2, rmse = r2_score(y_test, predicted), root_mean_squared_error(y_test, predicted)
            score = FoldScore(float(r2), float(rmse), n_features(model), seconds)
        except _FAILURES as error:
            score = FoldScore(failure=f"{error}" or type(error).__name__)
    return replace(score, warning=str(caught[0].message)) if caught else score


def _first(messages: Sequence[str]) -> str:
    """Return the first message, and in how many folds there was one."""
    found = [message for message in messages if message]
    return f"in {len(found)} of {len(messages)} folds: {found[0]}" if found else ""


def _warnings(names: Iterable[str], by_method: list[list[FoldScore]]) -> list[str]:
    found = [_first([score.warning for score in row]) for row in by_method]
    return [f"{name} warned {text}" for name, text in zip(names, found, strict=True) if text]


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
