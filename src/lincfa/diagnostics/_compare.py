"""How well LinCFA and other methods predict, by repeated cross-validation."""

import numbers
import time
import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, log_loss, r2_score, root_mean_squared_error
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, check_cv
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.parallel import Parallel, delayed

from .._data._checks import (
    MIN_SAMPLES,
    ConstantFeaturesWarning,
    ManyGroupsWarning,
    warn_of_constant,
)
from .._data._connectivity import read_structure
from .._data._dates import Dates, are_dates
from .._data._feature_weights import read_feature_weights
from .._data._names import did_you_mean
from .._data._samples import check_same_rows, group_labels
from .._data._targets import Targets, one_class
from .._data._training import Training, read_in_memory
from .._grouping._constraint import Constraint
from .._lincfa import LinCFA
from .._lincfa_classifier_cv import LinCFAClassifierCV
from .._lincfa_cv import LinCFACV
from .._model._parameters import (
    check_sample_dim,
    check_strategy,
    check_target_kind,
    is_count,
    listed,
)
from .._model._regression import RidgeRegression, precision_of
from .._search._folds import (
    check_classes_to_learn,
    default_splitter,
    divide,
    folds_in_words,
    group_folds,
)
from .._statistics import ArrayStatistics, IndexArray
from ..baselines import (
    agglomeration,
    elastic_net,
    logistic_regression,
    n_features,
    pca_discriminant,
    pca_regression,
    pls,
    pls_discriminant,
    ridge,
    slope,
)
from ..theory._arrays import FloatArray
from ..timeseries import BlockKFold
from ._comparison import ALL, LOGISTIC, ClassComparison, Comparison
from ._progress import with_progress

SEARCH = "LinCFACV"
SLOPE = "SLOPE"
AGGLOMERATION = "FeatureAgglomeration"

MOST_SQUARE = 4000  # features, up to which methods may need a D × D matrix: 128 MB each
MOST_WORK = 2e10  # largest n·D·min(n, D) of a fit by singular values: about ten seconds

_SQUARE = ("LinCFA agglomerative", "LinCFA joint", AGGLOMERATION)
_SLOW = ("elastic net", SLOPE)
_WORK = (ALL, "ridge", "PCA", *_SLOW)
_WORK_FOR_CLASSES = (LOGISTIC, "PCA + LDA")

Fold = tuple[IndexArray, IndexArray]

# Those that data can cause; anything else is a bug.
_FAILURES = (ValueError, ArithmeticError, MemoryError)


@dataclass(frozen=True)
class TrainingPart:
    """What a method may know beforehand of the training part of a fold."""

    n: int
    D: int
    folds: Sequence[Fold] | None = None  # of blocks in time or of whole groups; None if shuffled
    strategies: Sequence[str] | None = None  # that the search tries; None for its default
    connectivity: Any = None  # which features are neighbours: those that merge features respect it
    feature_blocks: IndexArray | None = None  # which never merge in LinCFA and the search
    precision: float | None = None  # of the features; None for that of their type
    signed: bool = False  # whether LinCFA and the search may flip features
    codes: IndexArray | None = None  # numbers of the classes, without gaps
    weights: FloatArray | None = None  # of the features in means, for LinCFA and the search

    @property
    def merging(self) -> dict[str, Any]:
        """Parameters that LinCFA and the search share."""
        return {
            "connectivity": self.connectivity,
            "blocks": self.feature_blocks,
            "signed": self.signed,
            "feature_weights": self.weights,
        }

    @property
    def cv(self) -> Any:
        """Folds by which a method chooses."""
        return default_splitter(self.n, self.codes) if self.folds is None else self.folds


def _grouped(strategy: Any) -> Callable[[TrainingPart], Any]:
    return lambda part: make_pipeline(
        LinCFA(strategy=strategy, **part.merging), RidgeRegression(precision=part.precision)
    )


def _scaled(regression: Callable[[TrainingPart], Any]) -> Callable[[TrainingPart], Any]:
    return lambda part: make_pipeline(StandardScaler(), regression(part))


# LinCFA standardises the features itself.
METHODS: dict[str, Callable[[TrainingPart], Any]] = {
    "LinCFA": _grouped("sequential"),
    "LinCFA centroid": _grouped("centroid"),
    "LinCFA agglomerative": _grouped("agglomerative"),
    "LinCFA joint": _grouped("joint"),
    # By default it has the same folds as the others.
    SEARCH: lambda part: LinCFACV(strategies=part.strategies, cv=part.folds, **part.merging),
    ALL: _scaled(lambda part: RidgeRegression(precision=part.precision)),
    "ridge": _scaled(lambda part: ridge(part.cv)),
    "PCA": _scaled(lambda part: pca_regression(part.cv)),
    "PLS": _scaled(lambda part: pls(part.n, part.D, part.cv)),
    AGGLOMERATION: _scaled(lambda part: agglomeration(part.cv, part.connectivity)),
    "elastic net": _scaled(lambda part: elastic_net(part.cv)),
    SLOPE: _scaled(lambda part: slope(part.cv)),
}

CLASSIFIERS: dict[str, Callable[[TrainingPart], Any]] = {
    "LinCFA": lambda part: make_pipeline(
        LinCFA(target="classes", **part.merging),
        StandardScaler(),
        logistic_regression(part.cv),
    ),
    "LinCFAClassifierCV": lambda part: LinCFAClassifierCV(
        strategies=part.strategies, cv=part.folds, **part.merging
    ),
    LOGISTIC: _scaled(lambda part: logistic_regression(part.cv)),
    "PCA + LDA": _scaled(lambda part: pca_discriminant(part.n, part.D, part.cv)),
    "PLS-DA": _scaled(lambda part: pls_discriminant(part.n, part.D, part.cv)),
    "most frequent class": lambda part: DummyClassifier(strategy="prior"),
}


def chosen_methods(
    methods: Any, n: int, D: int, classes: bool = False
) -> tuple[list[str], list[str]]:
    """Return the methods to compare, and notes on those left out because of the size."""
    known = CLASSIFIERS if classes else METHODS
    if methods is not None:
        listed = [methods] if isinstance(methods, str) or not np.iterable(methods) else methods
        names = list(dict.fromkeys(listed))
        unknown = [name for name in names if name not in known]
        if unknown or not names:
            hint = did_you_mean(unknown[0], known) if unknown else ""
            raise ValueError(f"methods must be among {list(known)}, got {methods!r}{hint}")
        if SLOPE in names:
            METHODS[SLOPE](TrainingPart(n, D))  # says what to install
        return names, []
    notes: list[str] = []
    left_out = set() if find_spec("sortedl1") else {SLOPE}
    work = _WORK_FOR_CLASSES if classes else _WORK
    if D > MOST_SQUARE and not classes:
        left_out.update(_SQUARE + _SLOW)
        notes.append(
            f"Left out above {MOST_SQUARE} features, because they need a matrix of that size "
            f"squared: {', '.join(_SQUARE)}; or take minutes: {', '.join(_SLOW)}."
        )
    if n * D * min(n, D) > MOST_WORK:
        left_out.update(work)
        notes.append(
            f"Left out with {n} training samples of {D} features, because a fit would take more "
            f"than about ten seconds: {', '.join(work)}."
        )
    return [name for name in known if name not in left_out], notes


@dataclass(frozen=True)
class FoldScore:
    """The score of one method on one fold; NaN where it failed."""

    score: Any = np.nan  # R² of each target, or the accuracy
    error: Any = np.nan  # RMSE of each target, or the log loss
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
    ordered: bool | None = None,
    groups: Any = None,
    strategies: Sequence[str] | None = None,
    connectivity: Any = None,
    blocks: Any = None,
    signed: bool = False,
    feature_weights: Any = None,
    sample_dim: Hashable | None = None,
    target: Literal["numbers", "classes"] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison | ClassComparison:
    """Compare LinCFA with other methods on your own data, by repeated cross-validation.

    Every method ends in a linear regression, or a linear classifier. All that it chooses or
    estimates, including means and scales, comes from the training part of a fold; the held-out part
    is used for the score only.

    Methods for numbers are:

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
    fewer than 200 held-out predictions, or five blocks if ``ordered``, twice with other blocks if
    there are fewer than 200 dates, or five parts of whole ``groups``; and by squared errors, of
    which LinCFACV truncates the largest, and of nearly equal choices takes the one with the fewest
    groups. See :mod:`lincfa.baselines`.
    Of several targets each has its own penalty, number of components or of clusters; the groups of
    LinCFA and the components of PLS are those of all.

    Methods for classes are:

    - ``"LinCFA"``: ``LinCFA()`` and a logistic regression, with 15 penalties to choose from;
    - ``"LinCFAClassifierCV"``: how much to merge and the penalty chosen by cross-validation;
    - ``"logistic regression"``: on all features, 15 penalties to choose from;
    - ``"PCA + LDA"``: linear discriminant analysis on principal components, 15 numbers to choose
      from;
    - ``"PLS-DA"``: partial least squares on the indicators of the classes, up to 20 components;
    - ``"most frequent class"``: the same for all samples, with the shares of the classes as
      probabilities.

    All choose by the same folds of the training part, which are stratified and else as those above,
    or blocks if ``ordered``; those with a logistic regression by the log loss, and the others
    by the accuracy.

    A method that fails on a fold is listed with the reason, without figures.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features), or field
        In memory.
    y : array of shape (n_samples,) or (n_samples, n_targets), data frame or Dataset
        The target, or several, one a column; or labels of classes.
    methods : sequence of str, default=None
        Names of methods, in the order of the result. None for all that the size of the data allows;
        a note in the result names the others: above 4000 features those that need a D × D matrix
        (agglomerative, joint, FeatureAgglomeration) or minutes (elastic net, SLOPE); above 2·10¹⁰
        for n·D·min(n, D), with n training samples of D features, all features, ridge, PCA, elastic
        net and SLOPE, and of the methods for classes logistic regression and PCA + LDA. They are
        compared anyway if named here.
    cv : int, splitter or iterable, default=5
        Number of folds, stratified for classes, or of blocks if ``ordered``; or the folds
        themselves, as anywhere in scikit-learn.
    n_repeats : int, default=3
        How often the samples are shuffled and split again, if ``cv`` is a number. Blocks and whole
        ``groups`` are not.
    ordered : bool, default=None
        Whether folds are blocks of samples that are consecutive in time, by their dates or else in
        the order of the rows, see :class:`lincfa.timeseries.BlockKFold`; and also those by which
        the methods choose. None where the samples have dates, or ``cv`` is a ``BlockKFold``: its
        gap then holds for all of these blocks. False shuffles samples with dates.
    groups : array of shape (n_samples,), default=None
        Labels of samples that belong together, such as batches or firms: whole groups are held
        out, and by whole groups of the rest the methods choose, also where samples have dates. If
        they are dates, or ``ordered`` is true, they are the dates for the blocks.
    strategies : sequence of str, default=None
        Strategies that LinCFACV or LinCFAClassifierCV tries; None for its default.
    connectivity : {"grid", "chain"}, matrix or sparse matrix, default=None
        Which features are neighbours, as for :class:`LinCFA`. Those that merge features then merge
        neighbours only: LinCFA with each strategy, LinCFACV, LinCFAClassifierCV and
        FeatureAgglomeration, which joins parts without an edge between them where they are closest.
    blocks : array of shape (n_features,), default=None
        Labels of features, of which different ones never merge, as for :class:`LinCFA`; so are the
        variables of a Dataset and the lags of a field. LinCFA, LinCFACV and LinCFAClassifierCV
        respect them.
    signed : bool, default=False
        Whether LinCFA, LinCFACV and LinCFAClassifierCV may flip the signs of features.
    feature_weights : array of shape (n_features,) or "area", default=None
        How much features count in the means of LinCFA, LinCFACV and LinCFAClassifierCV, as for
        :class:`LinCFA`.
    sample_dim : hashable, default=None
        Dimension of the samples of a field; None for the one as long as the target.
    target : {"numbers", "classes"}, default=None
        What y holds. None for classes if it holds text, categories or booleans, and else for
        numbers.
    random_state : int, RandomState instance or None, default=0
        How the samples are shuffled.
    n_jobs : int, default=None
        Number of parallel fits, as in joblib. The reported times get longer.
    verbose : bool, default=True
        Whether to report progress on standard error when it takes longer than a few seconds.
    progress : callable, default=None
        Called with the number of finished fits and the total number.

    Returns
    -------
    Comparison or ClassComparison
        The latter for classes.

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

    Classes are labels, or numbers with ``target="classes"``:

    >>> methods = ["LinCFAClassifierCV", "logistic regression"]
    >>> found = compare(X, y > 0, methods=methods, cv=3, n_repeats=1)
    >>> print(found)  # doctest: +ELLIPSIS
    100 samples, 30 features, 2 classes; means over 3 folds
    method               features  accuracy ...
    LinCFAClassifierCV ...
    logistic regression      30.0 ...
    ±: standard error, corrected for the overlap of training sets.
    """
    check_target_kind(target)
    check_sample_dim(sample_dim)
    training, varying = _checked(X, y, target, sample_dim)
    constraint = Constraint(*read_structure(connectivity, blocks, training.columns))
    structure = constraint.taken(np.flatnonzero(varying))
    weights = None
    if feature_weights is not None:
        weights = read_feature_weights(feature_weights, training.columns)[varying]
    values, targets = training.values, training.targets
    if not varying.all():
        values = values[:, varying]
    classes = targets.classes is not None
    outcome = targets.codes(training.y) if classes else targets.as_given(training.y)
    check_same_rows(X, groups, "groups")
    labels = None if groups is None else group_labels(groups, len(outcome))
    if ordered is None:
        dated = training.dates is not None if labels is None else are_dates(labels)
        ordered = dated or isinstance(cv, BlockKFold)
    cv = _splitter(cv, len(outcome), n_repeats, ordered, targets, labels, random_state)
    in_blocks = isinstance(cv, BlockKFold)
    dates = training.dates if ordered or in_blocks else None
    if in_blocks and labels is not None:
        dates = Dates("groups", labels)
    places = np.arange(len(outcome)) if dates is None else dates.ranks
    folds = _folds(values, outcome, targets, cv, places if in_blocks else labels)
    n, D = max(len(train) for train, _ in folds), values.shape[1]
    names, notes = chosen_methods(methods, n, D, classes)
    for strategy in [] if strategies is None else listed("strategies", strategies):
        check_strategy(strategy)
    if n_constant := int((~varying).sum()):
        features = "feature was" if n_constant == 1 else "features were"
        notes.append(f"{n_constant} constant {features} left out.")
    if words := folds_in_words(cv):
        inner = f"; the methods chose by such {'blocks' if in_blocks else 'parts'} of the rest"
        inner = inner if ordered or labels is not None else ""
        notes.append(f"Folds: {words}{inner}.")
    notes += _about_neighbours(names, connectivity, training)
    gap, precision = cv.gap if in_blocks else 0, precision_of(values)

    def inner_folds(train: IndexArray) -> list[Fold] | None:
        together = places if ordered else labels
        if together is None:
            return None
        own, codes = together[train], outcome[train] if classes else None
        given = {"dates": own, "gap": gap} if ordered else {"groups": own}
        try:
            folds = default_splitter(len(train), codes, **given)
        except ValueError:
            raise ValueError(
                "When whole groups are held out, the samples of one group only are left to learn "
                "from: at least 3 groups are needed, or for folds with several groups more."
            ) from None
        return divide(folds, own, outcome[train], own)

    parts = [
        TrainingPart(
            len(train),
            D,
            folds=inner_folds(train),
            strategies=strategies,
            connectivity=structure["connectivity"],
            feature_blocks=structure["blocks"],
            precision=precision,
            signed=signed,
            codes=np.unique(outcome[train], return_inverse=True)[1] if classes else None,
            weights=weights,
        )
        for train, _ in folds
    ]
    # Fold by fold, so that the first ones tell how much time is left.
    jobs = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_score)(name, values, outcome, fold, part)
        for fold, part in zip(folds, parts, strict=True)
        for name in names
    )
    found: list[FoldScore] = []
    total = len(folds) * len(names)
    for score in with_progress(jobs, total, "compare", verbose, 0.0):
        found.append(score)
        if progress is not None:
            progress(len(found), total)
    by_method = [found[k :: len(names)] for k in range(len(names))]
    n_train, n_test = (np.array([len(rows) for rows in side]) for side in zip(*folds, strict=True))
    shared: dict[str, Any] = {
        "methods": tuple(names),
        "n_samples": len(outcome),
        "n_features_in": D,
        "ordered": ordered,
        "fold_n_features": _figures(by_method, "n_features")[:, :, 0],
        "fold_seconds": _figures(by_method, "seconds")[:, :, 0],
        "n_train": n_train,
        "n_test": n_test,
        "failures": tuple(_first([score.failure for score in row]) for row in by_method),
        "notes": (*notes, *_warnings(names, by_method)),
    }
    size = 1 if classes else targets.size
    scores, errors = (_figures(by_method, name, size) for name in ("score", "error"))
    if targets.classes is not None:
        return ClassComparison(
            classes=targets.classes,
            fold_accuracy=scores[:, :, 0],
            fold_log_loss=errors[:, :, 0],
            **shared,
        )
    unit = 1.0 if targets.size == 1 else training.y.std(axis=0)
    return Comparison(
        targets=tuple(targets.labels),
        fold_r2=scores.mean(axis=2),
        fold_rmse=(errors / unit).mean(axis=2),
        fold_target_r2=scores,
        fold_target_rmse=errors,
        **shared,
    )


def _figures(by_method: list[list[FoldScore]], name: str, size: int = 1) -> FloatArray:
    """One figure of all methods and folds, with an axis of so many targets."""
    figures = [[np.broadcast_to(getattr(one, name), size) for one in row] for row in by_method]
    return np.array(figures, dtype=np.float64)


def _checked(
    X: Any, y: Any, kind: Any, sample_dim: Hashable | None
) -> tuple[Training, npt.NDArray[np.bool_]]:
    """Check the data as LinCFA does; return them and which features vary."""
    training = read_in_memory(X, y, kind=kind, sample_dim=sample_dim)
    varying = ArrayStatistics.of(training).varying
    if not varying.any():
        raise ValueError("Every column of X is constant: there is nothing to compare.")
    warn_of_constant(varying, training.columns.names)
    return training, varying


def _splitter(
    cv: Any,
    n_samples: int,
    n_repeats: int,
    ordered: bool,
    targets: Targets,
    labels: npt.NDArray[Any] | None,
    random_state: Any,
) -> Any:
    """Return what divides the samples into folds."""
    if not is_count(n_repeats):
        raise ValueError(f"n_repeats must be a positive integer, got {n_repeats!r}")
    number: Any = cv if isinstance(cv, numbers.Number) else None
    if number is not None or cv is None or isinstance(cv, str):
        if not is_count(number) or number < 2:
            raise ValueError(f"cv must be an integer of at least 2 or a splitter, got {cv!r}")
        if number > n_samples:
            raise ValueError(f"cv={cv} folds are more than there are samples, {n_samples}.")
        if ordered:
            return BlockKFold(number)
        if labels is not None:
            return group_folds(labels, targets.classes is not None, number, random_state)
        repeated = RepeatedKFold if targets.classes is None else RepeatedStratifiedKFold
        return repeated(n_splits=number, n_repeats=n_repeats, random_state=random_state)
    return check_cv(cv)


def _about_neighbours(names: Sequence[str], connectivity: Any, training: Training) -> list[str]:
    """Say which methods merged neighbours only, or that none did on a map."""
    merging = [name for name in names if name.startswith("LinCFA") or name == AGGLOMERATION]
    if not merging:
        return []
    if connectivity is not None:
        return [f"Only neighbours merged in: {', '.join(merging)}."]
    if training.columns.field is None:
        return []
    return ["Cells merged wherever they are; with a connectivity only neighbours would."]


def _folds(
    X: npt.NDArray[Any], y: npt.NDArray[Any], targets: Targets, cv: Any, groups: Any
) -> list[Fold]:
    """Return all folds; raise at once if one is too small."""
    samples = np.arange(len(y))
    folds = [(samples[train], samples[test]) for train, test in divide(cv, X, y, groups)]
    if not folds:
        raise ValueError(f"cv={cv!r} gives no folds.")
    for train, test in folds:
        if len(train) < MIN_SAMPLES or len(test) < 2:
            raise ValueError(
                f"A fold has {len(train)} training and {len(test)} held-out samples of {len(y)}; "
                f"at least {MIN_SAMPLES} and 2 are needed."
            )
        if targets.classes is not None:
            check_classes_to_learn(y, targets.classes, train, test, cv)
        _check_varying(y[train], targets, "training")
        if targets.classes is None:
            _check_varying(y[test], targets, "held-out")
    return folds


def _check_varying(y: npt.NDArray[Any], targets: Targets, what: str) -> None:
    """Raise if a target is constant in a part of a fold."""
    constant = np.flatnonzero(np.atleast_1d(np.ptp(y, axis=0)) == 0)
    if not constant.size:
        return
    if targets.classes is not None:
        raise ValueError(
            f"In a fold with {len(y)} training samples: {one_class(targets.classes[y[0]])}"
        )
    name = "the target" if targets.size == 1 else targets.describe(int(constant[0]))
    raise ValueError(
        f"{name[0].upper()}{name[1:]} is constant in the {what} part of a fold, of {len(y)} "
        "samples; use fewer folds."
    )


def _score(
    name: str,
    X: npt.NDArray[Any],
    y: npt.NDArray[Any],
    fold: Fold,
    part: TrainingPart,
) -> FoldScore:
    """Fit a method to the training part of a fold and score it on the held-out part."""
    classes = part.codes is not None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Features that happen to be constant in a fold are not worth a note, and many groups show
        # in the score. Weak penalties on many features take long to converge, and are stopped.
        for category in (ConstantFeaturesWarning, ManyGroupsWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", category)
        warnings.filterwarnings("ignore", message="The least populated class")
        try:
            # In float64 for all methods, but values that were float32 have no more digits by that.
            X_train, X_test = (X[rows].astype(np.float64, copy=False) for rows in fold)
            y_train, y_test = (y[rows] for rows in fold)
            model = (CLASSIFIERS if classes else METHODS)[name](part)
            # Several targets count the same for a method that has to weigh them.
            unit = y_train.std(axis=0) if y.ndim == 2 else 1.0
            start = time.perf_counter()
            model.fit(X_train, y_train if classes else y_train / unit)
            seconds = time.perf_counter() - start
            if classes:
                figures = _classified(model, X_test, y_test, int(y.max()) + 1)
            else:
                predicted = np.reshape(model.predict(X_test), y_test.shape) * unit
                figures = (
                    r2_score(y_test, predicted, multioutput="raw_values"),
                    root_mean_squared_error(y_test, predicted, multioutput="raw_values"),
                )
            score = FoldScore(*figures, n_features(model), seconds)
        except _FAILURES as error:
            score = FoldScore(failure=f"{error}" or type(error).__name__)
    return replace(score, warning=str(caught[0].message)) if caught else score


def _classified(
    model: Any, X: npt.NDArray[Any], codes: IndexArray, n_classes: int
) -> tuple[float, float]:
    """Return the accuracy and the log loss; NaN for the latter if there are no probabilities."""
    accuracy = accuracy_score(codes, model.predict(X))
    if not hasattr(model, "predict_proba"):
        return accuracy, np.nan
    probabilities = np.zeros((len(codes), n_classes))  # of a class that was not there to learn
    probabilities[:, model.classes_] = model.predict_proba(X)
    return accuracy, log_loss(codes, probabilities, labels=np.arange(n_classes))


def _first(messages: Sequence[str]) -> str:
    """Return the first message, and in how many folds there was one."""
    found = [message for message in messages if message]
    return f"in {len(found)} of {len(messages)} folds: {found[0]}" if found else ""


def _warnings(names: Iterable[str], by_method: list[list[FoldScore]]) -> list[str]:
    found = [_first([score.warning for score in row]) for row in by_method]
    return [f"{name} warned {text}" for name, text in zip(names, found, strict=True) if text]
