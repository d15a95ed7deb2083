"""Real data: Table ``realRes``."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import delayed
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .. import datasets
from ..baselines import ScreenedPCA
from . import _published
from ._estimates import Estimate, Floats
from ._methods import folds, predict_methods
from ._outcomes import Outcome, fill
from ._pseudocode import form_groups, pair_decisions, reduce
from ._simulation import Settings, random_state
from ._supervised import KERNELS, Kernel, best_by_folds, best_on_test, complete, components
from ._tables import Row, Table

RESAMPLES = 2000
SOLVERS = 100
"""Draws of the directions of eigenvalue zero in supervised PCA."""


@dataclass(frozen=True)
class Source:
    """A data set of the paper; ``block`` is the length of resampled pieces of its test part."""

    title: str
    load: Callable[..., tuple[Any, Any]]
    shuffle: bool
    block: int


# Half a year of weekly samples is resampled as one piece where these keep the order of time.
SOURCES = [
    Source("Life Exp", datasets.load_life_expectancy, True, 1),
    Source("Financial", datasets.load_financial, True, 1),
    Source("Climatological I", datasets.load_climatological, False, 26),
    Source("Climatological II", datasets.load_climatological_ii, False, 26),
]

_ARBITRARY = (
    "the paper counts directions of eigenvalue zero, which depend on the rounding of a solver, and "
    "takes the best number on the test set; ours draws such directions at random"
)
_UNFIT = "error over 1 − R² is the variance of the test target: R² {r2} means {mse}"
_REASONS = {
    ("R² PCA", "Life Exp"): "13 components give 0.833; 0.831 is what 14 give",
    ("MSE PCA", "Life Exp"): _UNFIT.format(r2="0.831", mse="0.183"),
    **{
        (f"{figure} full", "Financial"): "the 75 features have rank 73, so that least squares has "
        "no single solution; ours is that of minimum norm"
        for figure in ("R²", "MSE")
    },
    ("MSE LinCFA", "Financial"): _UNFIT.format(r2="0.885", mse="0.174"),
    **{
        (f"{figure} full", "Climatological I"): "the cause is not known; without a single one of "
        "the 136 features (NDVI_piemonte_sud) R² is 0.298 and the error 0.286"
        for figure in ("R²", "MSE")
    },
    ("MSE PCA", "Climatological I"): "0.2097 is cut off, not rounded",
    ("MSE LinCFA", "Climatological I"): _UNFIT.format(r2="0.604", mse="0.162"),
    **{
        (f"{figure} supervised PCA", title): _ARBITRARY
        for figure in ("d", "R²", "MSE")
        for title in ("Life Exp", "Financial", "Climatological I")
    },
}

_NOTES = [
    "Split 67/33 as in the paper, features and target standardised by the training part. The "
    "margins are half widths of 95 % bootstrap intervals of the test part, given the training; "
    "the climatological data are resampled in pieces of half a year.",
    "LinCFA: the paper's figures come from groups that overlap; as printed, the text defines a "
    "partition. Supervised PCA: the paper counts directions of eigenvalue zero, which depend on "
    "the solver, and takes kernel and number on the test set; ours draws such directions at "
    "random. As printed: only directions of nonzero eigenvalue, still chosen on the test set. "
    "Choices by cross-validation are in the rows beyond the paper.",
]


def tasks(settings: Settings) -> list[Any]:
    """One task a data set."""
    return [delayed(run)(k, settings) for k in range(len(SOURCES))]


def run(k: int, settings: Settings) -> tuple[Outcome, Outcome] | str:
    """Fit and score every method on a data set; where it cannot be read, say why."""
    source = SOURCES[k]
    try:
        table, target = source.load(settings.folder)
    except (FileNotFoundError, ImportError) as error:
        return str(error)
    return score_all(*prepare(table, target, source.shuffle), source, settings)


def prepare(table: Any, target: Any, shuffle: bool) -> tuple[Floats, Floats, Floats, Floats]:
    """Split as the paper does, and standardise by the training part: X, y, then the test part."""
    X, X_test, y, y_test = train_test_split(
        np.asarray(table, dtype=float),
        np.asarray(target, dtype=float)[:, None],
        test_size=0.33,
        shuffle=shuffle,
        random_state=42 if shuffle else None,
    )
    by_X, by_y = StandardScaler().fit(X), StandardScaler().fit(y)
    return (
        by_X.transform(X),
        by_y.transform(y)[:, 0],
        by_X.transform(X_test),
        by_y.transform(y_test)[:, 0],
    )


def score_all(
    X: Floats, y: Floats, X_test: Floats, y_test: Floats, source: Source, settings: Settings
) -> tuple[Outcome, Outcome]:
    """Outcomes with the setting behind the table, and as the text reads."""
    resampled = blocks(len(y_test), source.block, random_state(settings.seed, source.title))

    def figures(name: str, d: float, predicted: Floats) -> dict[str, Estimate]:
        r2, mse = intervals(y_test, predicted, resampled)
        return {f"d {name}": Estimate(d), f"R² {name}": r2, f"MSE {name}": mse}

    def regress(Z: Floats, Z_test: Floats) -> Floats:
        return np.asarray(LinearRegression().fit(Z, y).predict(Z_test))

    pca = PCA(0.95).fit(X)
    same = {
        **figures("full", X.shape[1], regress(X, X_test)),
        **figures("PCA", pca.n_components_, regress(pca.transform(X), pca.transform(X_test))),
    }
    merge = pair_decisions(X, y)
    forms = []
    for overlapping in (True, False):
        groups = form_groups(merge, overlapping=overlapping)
        predicted = regress(reduce(X, groups), reduce(X_test, groups))
        forms.append(figures("LinCFA", len(groups), predicted))

    found = {kernel: components(X, y, kernel) for kernel in KERNELS}
    true = best_on_test(X, y, X_test, y_test, found)
    ordered = not source.shuffle
    by_folds = best_by_folds(X, y, X_test, ordered)
    beyond: dict[str, Estimate] = {}
    for name, d, predicted in predict_methods(X, y, X_test, ordered):
        beyond |= figures(name, d, predicted)
    beyond |= figures("supervised PCA, by cross-validation", by_folds.d, by_folds.predicted)
    screened = screened_pca(ordered).fit(X, y)
    d = screened.best_estimator_[0].n_components_
    beyond |= figures("screened PCA, by cross-validation", d, screened.predict(X_test))
    arbitrary = solver_dependent(X, y, X_test, y_test, found, settings.seed)
    return (
        Outcome({**same, **arbitrary, **forms[0], **beyond}, _values(same | forms[0] | arbitrary)),
        Outcome(
            {**same, **figures("supervised PCA", true.d, true.predicted), **forms[1], **beyond}
        ),
    )


def screened_pca(ordered: bool) -> GridSearchCV:
    """Give least squares on the components of screened features, both shares by folds."""
    grid = {
        "screenedpca__keep": [0.05, 0.1, 0.2, 0.5, 1.0],
        "screenedpca__n_components": [0.5, 0.8, 0.95, 0.99],
    }
    model = make_pipeline(ScreenedPCA(), LinearRegression())
    return GridSearchCV(model, grid, cv=folds(ordered), scoring="neg_mean_squared_error")


def solver_dependent(
    X: Floats, y: Floats, X_test: Floats, y_test: Floats, found: dict[Kernel, Floats], seed: int
) -> dict[str, Estimate]:
    """Supervised PCA with directions of eigenvalue zero, drawn at random as a solver's would be.

    Kernel and number of directions are those best on the test set, as in the paper. Gives medians,
    and as margins half of what 95 % of the draws span.
    """
    random = random_state(seed, "solver")
    scores = []
    for _ in range(SOLVERS):
        padded = {kernel: complete(part, random) for kernel, part in found.items()}
        best = best_on_test(X, y, X_test, y_test, padded)
        mse = float(((best.predicted - y_test) ** 2).mean())
        scores.append((best.d, 1 - mse / y_test.var(), mse))
    estimates = {}
    for name, values in zip(("d", "R²", "MSE"), np.array(scores).T, strict=True):
        low, middle, high = np.percentile(values, [2.5, 50, 97.5])
        estimates[f"{name} supervised PCA"] = Estimate(float(middle), float(high - low) / 2)
    return estimates


def blocks(n: int, block: int, random: np.random.RandomState) -> Any:
    """Indices of resampled test parts, of shape (resamples, n): circular pieces of one length."""
    pieces = math.ceil(n / block)
    starts = random.randint(n, size=(RESAMPLES, pieces, 1))
    return ((starts + np.arange(block)) % n).reshape(RESAMPLES, -1)[:, :n]


def intervals(y: Floats, predicted: Floats, resampled: Any) -> tuple[Estimate, Estimate]:
    """R² and error with the half widths of their 95 % bootstrap intervals, given the training."""
    squared = (y - predicted) ** 2
    mse = squared[resampled].mean(axis=1)
    r2 = 1 - mse / y[resampled].var(axis=1)
    low, high = np.percentile([r2, mse], [2.5, 97.5], axis=1)
    margins = (high - low) / 2
    error = float(squared.mean())
    return (
        Estimate(1 - error / float(y.var()), float(margins[0])),
        Estimate(error, float(margins[1])),
    )


def _values(estimates: dict[str, Estimate]) -> dict[str, float]:
    """Give the figures to compare digit by digit: the same data leave nothing to chance."""
    return {name: estimate.value for name, estimate in estimates.items()}


def tabulate(settings: Settings, outcomes: list[tuple[Outcome, Outcome] | str]) -> list[Table]:
    """Set the paper's table beside the outcomes of :func:`tasks`."""
    rows: list[Row] = []
    notes = list(_NOTES)
    for k, (source, outcome) in enumerate(zip(SOURCES, outcomes, strict=True)):
        printed = {quantity: texts[k] for quantity, texts in _published.REAL.items()}
        if isinstance(outcome, str):
            notes.append(f"{source.title} was not run. {outcome}")
            outcome = Outcome({}), Outcome({})
        rows.extend(fill(source.title, printed, *outcome, _REASONS))
    return [Table("realRes", "Real data", rows, notes)]
