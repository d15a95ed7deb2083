"""Run methods on the folds of a cross-validation."""

import numbers
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import KFold, RepeatedKFold, check_cv
from sklearn.utils.parallel import Parallel, delayed

from ..._data._checks import MIN_SAMPLES, ConstantFeaturesWarning, warn_of_constant
from ..._data._training import read_in_memory
from ..._lincfa import LinCFA
from ..._model._parameters import is_count
from ..._statistics import ArrayStatistics, IndexArray
from ...baselines import n_features
from ...theory._arrays import FloatArray
from .._progress import with_progress
from ._methods import AGGLOMERATION, SEARCH, Part, chosen_methods, regressor, searched_strategies
from ._scores import Comparison

Fold = tuple[IndexArray, IndexArray]

_FAILURES = (ValueError, ArithmeticError, MemoryError)
"""What data can make of a method; anything else is an error of ours."""


@dataclass(frozen=True)
class Task:
    """One method on one fold."""

    name: str
    train: IndexArray
    test: IndexArray
    ordered: bool
    strategies: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What came of one method on one fold."""

    r2: float = np.nan
    rmse: float = np.nan
    n_features: float = np.nan
    seconds: float = np.nan
    failure: str = ""
    warning: str = ""


def compare(
    X: Any,
    y: Any,
    *,
    methods: Sequence[str] | None = None,
    cv: Any = 5,
    n_repeats: int = 3,
    ordered: bool = False,
    strategies: Sequence[str] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Score LinCFA and other methods on data of your own, by repeated cross-validation.

    Every method ends in a linear regression. Whatever it chooses or estimates, means and scales
    included, it takes from the training part of a fold; the held-out part is for the score alone.

    - ``"LinCFA"``: ``LinCFA()``, and ``"LinCFA centroid"``, ``"LinCFA agglomerative"``,
      ``"LinCFA joint"``, its other strategies;
    - ``"LinCFACV"``: strategy and tolerance chosen by folds within the training part;
    - ``"all features"``: least squares, that of the smallest weights where there are more features
      than samples, and ``"ridge"``: with the penalty chosen by leave-one-out;
    - ``"PCA"``: principal components with 95 % of the variance;
    - ``"PLS"``: partial least squares, up to 20 components, their number chosen by folds;
    - ``"FeatureAgglomeration"``: of scikit-learn, with as many clusters as ``LinCFA()`` has groups.

    A method that fails on some fold is listed with the reason, and without figures.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features), or field
        Of a field in memory, the dimension as long as the target is that of the samples.
    y : array of shape (n_samples,)
    methods : sequence of str, default=None
        Names of methods, in the order of the result. None for all that the size of the data allows;
        a note of the result names the others. Above 4000 features it is those that need memory for
        the square of their number (agglomerative, joint, FeatureAgglomeration); above 2·10¹⁰ for
        n·D·min(n, D), with n training samples of D features, all features, ridge and PCA. They are
        compared all the same if named here.
    cv : int, splitter or iterable, default=5
        Number of folds; or the folds themselves, as anywhere in scikit-learn.
    n_repeats : int, default=3
        How often the samples are shuffled and split anew, if ``cv`` is a number.
    ordered : bool, default=False
        Whether the samples are in the order of time. Folds are then contiguous pieces of it, not
        shuffled and not repeated, and so are those by which methods choose (ridge too).
    strategies : sequence of str, default=None
        Strategies that LinCFACV tries. None for all four, above 1000 features for "sequential"
        only, which a note of the result says.
    random_state : int, RandomState instance or None, default=0
        How the samples are shuffled.
    n_jobs : int, default=None
        Fits to work on at the same time, as in joblib. Times are longer for it.
    verbose : bool, default=True
        Whether to report progress on standard error when it takes longer than a few seconds.
    progress : callable, default=None
        Called with the number of finished fits and the number of all.

    Returns
    -------
    Comparison

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
    ±: standard error, corrected for folds that share training samples.
    >>> bool(found.difference[0] > 0)
    True
    """
    values, target, n_constant = _checked(X, y)
    folds = _folds(values, target, cv, n_repeats, ordered, random_state)
    n, D = max(len(train) for train, _ in folds), values.shape[1]
    names, notes = chosen_methods(methods, n, D)
    tried, note = searched_strategies(strategies, D)
    if note and SEARCH in names:
        notes.append(note)
    if n_constant:
        features = "feature was" if n_constant == 1 else "features were"
        notes.append(f"{n_constant} constant {features} left out.")
    # By folds, so that the time left can be estimated from the first ones.
    tasks = [Task(name, *fold, ordered, tried) for fold in folds for name in names]
    jobs = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_try)(task, values, target) for task in tasks
    )
    outcomes: list[Outcome] = []
    for outcome in with_progress(jobs, len(tasks), "compare", verbose, 0.0):
        outcomes.append(outcome)
        if progress is not None:
            progress(len(outcomes), len(tasks))
    of_method = [outcomes[k :: len(names)] for k in range(len(names))]
    return Comparison(
        methods=tuple(names),
        n_samples=len(target),
        n_features_in=D,
        ordered=ordered,
        fold_r2=_gather(of_method, "r2"),
        fold_rmse=_gather(of_method, "rmse"),
        fold_n_features=_gather(of_method, "n_features"),
        fold_seconds=_gather(of_method, "seconds"),
        n_train=np.array([len(train) for train, _ in folds]),
        n_test=np.array([len(test) for _, test in folds]),
        failures=tuple(_summarize([one.failure for one in row]) for row in of_method),
        notes=(*notes, *_warned(names, of_method)),
    )


def _checked(X: Any, y: Any) -> tuple[npt.NDArray[Any], FloatArray, int]:
    """Check the data as LinCFA does; X without constant features, the target, and their number."""
    training = read_in_memory(X, y)
    values, target = training.values, training.y
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
    """Return all folds; raise if one is too small."""
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
                f"at least {MIN_SAMPLES} and 2 are required."
            )
        for part, what in ((train, "training"), (test, "held-out")):
            if np.ptp(y[part]) == 0:
                raise ValueError(
                    f"The target is constant in the {what} part of a fold, of {len(part)} samples; "
                    "use fewer folds."
                )
    return folds


def _try(task: Task, X: npt.NDArray[Any], y: FloatArray) -> Outcome:
    """Fit a method to the training part and score it on the held-out one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = _score(task, X, y)
        except _FAILURES as error:
            outcome = Outcome(failure=f"{error}" or type(error).__name__)
    # Features that are constant in one fold only are no news to the reader.
    seen = [str(one.message) for one in caught if one.category is not ConstantFeaturesWarning]
    return replace(outcome, warning=seen[0]) if seen else outcome


def _score(task: Task, X: npt.NDArray[Any], y: FloatArray) -> Outcome:
    # In float64 for all: LinCFA computes in it anyway, least squares would not.
    X_train, X_test = (X[part].astype(np.float64, copy=False) for part in (task.train, task.test))
    y_train, y_test = y[task.train], y[task.test]
    n_groups = LinCFA().fit(X_train, y_train).n_groups_ if task.name == AGGLOMERATION else 1
    n, D = X_train.shape
    model = regressor(task.name, Part(n, D, n_groups, task.ordered, task.strategies))
    start = time.perf_counter()
    model.fit(X_train, y_train)
    seconds = time.perf_counter() - start
    predicted = np.ravel(model.predict(X_test))
    return Outcome(
        r2=float(r2_score(y_test, predicted)),
        rmse=float(root_mean_squared_error(y_test, predicted)),
        n_features=n_features(model),
        seconds=seconds,
    )


def _gather(of_method: list[list[Outcome]], what: str) -> FloatArray:
    return np.array([[getattr(one, what) for one in row] for row in of_method], dtype=np.float64)


def _summarize(messages: Sequence[str]) -> str:
    """Return in how many folds there was a message, and the first of them."""
    given = [message for message in messages if message]
    return f"in {len(given)} of {len(messages)} folds: {given[0]}" if given else ""


def _warned(names: Iterable[str], of_method: list[list[Outcome]]) -> list[str]:
    texts = [_summarize([one.warning for one in row]) for row in of_method]
    return [f"{name} warned {text}" for name, text in zip(names, texts, strict=True) if text]
