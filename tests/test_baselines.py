"""The methods to compare with, against direct computations and scikit-learn's search."""

import pickle
import re
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import eigh
from scipy.sparse import block_diag
from sklearn.base import clone
from sklearn.cluster import FeatureAgglomeration
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import (
    ElasticNet,
    LinearRegression,
    LogisticRegression,
    Ridge,
    enet_path,
)
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lincfa
from lincfa.baselines import (
    L1_RATIOS,
    PLSDA,
    RIDGES,
    ScreenedPCA,
    SupervisedPCA,
    agglomeration,
    elastic_net,
    logistic_regression,
    minus_log_loss,
    n_features,
    pca_discriminant,
    pca_regression,
    pls_discriminant,
    ridge,
    slope,
)
from lincfa.baselines._kernels import KERNELS, make_kernel
from lincfa.datasets import make_spectra
from lincfa.structure import grid_connectivity
from reference import assert_raises

MODELS = [*(SupervisedPCA(kernel=kernel) for kernel in KERNELS), ScreenedPCA(2), ScreenedPCA(0.8)]


def draw(n=150, D=12, seed=0):
    """Correlated features of different scales and means, and a target not linear in them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) @ rng.normal(size=(D, D)) + 10 * rng.normal(size=D)
    y = X[:, 0] - 2 * X[:, 1] + 0.3 * X[:, 2] ** 2 + rng.normal(size=n)
    return X, y


def direct(X, y, model):
    """Eigenvalues and eigenvectors (rows) of XᵀHLHX, all matrices formed."""
    n = len(y)
    H = np.eye(n) - 1 / n
    t = y - y.mean()
    gamma = 1 / y.var() if model.gamma == "scale" else model.gamma
    L = make_kernel(model.kernel, gamma, model.degree, model.coef0)(t, t)
    Xc = X - X.mean(axis=0)
    values, vectors = eigh(Xc.T @ H @ L @ H @ Xc)
    return values[::-1], vectors.T[::-1]


def assert_is_direct(model, X, y):
    values, vectors = direct(X, y, model)
    d = model.n_components_
    assert d == (values > model.tol * values[0]).sum()
    np.testing.assert_allclose(model.eigenvalues_, values[:d], rtol=0, atol=1e-9 * values[0])
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(d), atol=1e-12)
    gaps = np.abs(np.diff(values, append=-np.inf))
    separated = np.minimum(gaps, np.append(np.inf, gaps[:-1]))[:d] > 1e-4 * values[0]
    assert separated[0]
    alike = np.abs((model.components_ * vectors[:d]).sum(axis=1))
    np.testing.assert_allclose(alike[separated], 1, rtol=0, atol=1e-9)


def largest_loadings(model):
    return model.components_[
        np.arange(model.n_components_), np.abs(model.components_).argmax(axis=1)
    ]


# Kernels


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_those_of_scikit_learn(name, rng):
    s, t = rng.normal(size=7), rng.normal(size=5)
    parameters = {"gamma": 0.7, "degree": 4, "coef0": -0.3}
    expected = pairwise_kernels(
        s[:, None], t[:, None], metric=name, filter_params=True, **parameters
    )
    np.testing.assert_allclose(make_kernel(name, **parameters)(s, t), expected, rtol=1e-12)


# SupervisedPCA


@pytest.mark.parametrize(("n", "D"), [(150, 12), (600, 12), (40, 100), (12, 3)])
@pytest.mark.parametrize("distinct", ["all", "few", "two"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "linear"},
        {"kernel": "poly"},
        {"kernel": "poly", "degree": 1, "coef0": 0.0},
        {"kernel": "poly", "degree": 7, "coef0": -0.5, "gamma": 1e-3},
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": 1e-2},
        {"kernel": "rbf", "gamma": 30.0},
        {"kernel": "rbf", "gamma": 1e8},  # no two values of the target are alike
        {"kernel": "sigmoid"},
        {"kernel": "sigmoid", "coef0": 0.0, "gamma": 5.0},
        {"kernel": "sigmoid", "coef0": -2.0, "gamma": 0.05},
    ],
    ids=str,
)
def test_components_are_those_of_the_whole_matrix(parameters, distinct, n, D):
    X, y = draw(n, D)
    if distinct != "all":
        y = np.round(y / y.std()) if distinct == "few" else 1.0 * (y > y.mean())
    model = SupervisedPCA(**parameters).fit(X, y)
    assert_is_direct(model, X, y)
    np.testing.assert_allclose(model.transform(X), (X - X.mean(axis=0)) @ model.components_.T)
    assert (largest_loadings(model) > 0).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_constant_and_equal_features(kernel):
    X, y = draw()
    X[:, 4], X[:, 7] = 1e6 / 3, X[:, 2]
    model = SupervisedPCA(kernel=kernel).fit(X, y)
    assert_is_direct(model, X, y)
    assert (model.components_[:, 4] == 0).all()
    np.testing.assert_allclose(model.components_[:, 7], model.components_[:, 2], atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("unit", [1e-150, -3.7, 1e150])
def test_unit_of_the_target_and_of_x_do_not_matter(kernel, unit):
    X, y = draw()
    model = SupervisedPCA(3, kernel=kernel) if kernel != "linear" else SupervisedPCA()
    expected = model.fit(X, y).components_
    np.testing.assert_allclose(
        clone(model).fit(X, unit * y + unit).components_, expected, atol=1e-9
    )
    with np.errstate(all="raise", under="ignore"):
        other = clone(model).fit(abs(unit) * X, y).components_
    np.testing.assert_allclose(other, expected, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_large_means_cost_no_digits(kernel):
    """The sums of these features are exact with and without the offset, their means are not."""
    X, y = draw(150)
    X = np.round(X * 2**10) / 2**10
    expected = SupervisedPCA(kernel=kernel, tol=1e-3).fit(X, y)
    model = SupervisedPCA(kernel=kernel, tol=1e-3).fit(X + 2**30, y)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-11)


def test_unrelated_up_to_rounding():
    angles = 2 * np.pi * np.arange(100) / 100
    X, y = np.column_stack([np.ones(100), np.cos(angles)]), np.sin(angles)
    assert_raises("The linear kernel has no positive eigenvalue", SupervisedPCA().fit, X, y)
    # Constant features come last, whatever the order of the columns.
    assert ScreenedPCA(keep=1).fit(X, y).support_.tolist() == [False, True]


def test_components_are_counted():
    X, y = draw()
    for kernel in ("poly", "rbf"):
        all_of_them = SupervisedPCA(kernel=kernel).fit(X, y)
        two = SupervisedPCA(2, kernel=kernel).fit(X, y)
        np.testing.assert_array_equal(two.components_, all_of_them.components_[:2])
        np.testing.assert_array_equal(two.eigenvalues_, all_of_them.eigenvalues_[:2])
    assert SupervisedPCA(kernel="rbf", tol=0.1).fit(X, y).n_components_ < all_of_them.n_components_


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SupervisedPCA(2), "is 2, .* the linear kernel gives only 1 component[.]"),
        (SupervisedPCA(5, kernel="poly"), "is 5, .* the poly kernel gives only 3 components[.]"),
    ],
)
def test_fewer_components_than_asked_for_are_reported_once(model, words):
    with pytest.warns(UserWarning, match=words) as caught:
        model.fit(*draw())
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "parameters",
    [*({"kernel": kernel} for kernel in KERNELS), {"kernel": "rbf", "gamma": 1e8}],
    ids=str,
)
def test_no_matrix_of_samples_by_samples(monkeypatch, parameters):
    """A kernel matrix takes 8n² bytes; a fit takes some blocks and arrays of n by less than 200."""
    n = 3000 if "gamma" in parameters else 20_000
    monkeypatch.setattr("lincfa.baselines._kernels._BLOCK_VALUES", 2**16)
    X, y = draw(n, 5)
    tracemalloc.start()
    try:
        SupervisedPCA(**parameters).fit(X, y)
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert used < 8 * n * 200


# ScreenedPCA


@pytest.mark.parametrize(("n", "D"), [(150, 12), (60, 700)])
@pytest.mark.parametrize("keep", [1, 7, 0.5, 1.0])
def test_screening_against_a_direct_computation(n, D, keep):
    X, y = draw(n, D)
    number = keep if isinstance(keep, int) else int(keep * D)
    n_components = min(number, 3)
    model = ScreenedPCA(n_components, keep=keep).fit(X, y)
    correlations = np.array([np.corrcoef(column, y)[0, 1] for column in X.T])
    np.testing.assert_allclose(model.scores_, correlations, atol=1e-12)
    chosen = np.sort(np.argsort(-np.abs(correlations))[:number])
    np.testing.assert_array_equal(np.flatnonzero(model.support_), chosen)
    Xc = X - X.mean(axis=0)
    _, sizes, rows = np.linalg.svd(Xc[:, chosen], full_matrices=False)
    rows *= np.sign(rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)])[:, None]
    expected = np.zeros((n_components, D))
    expected[:, chosen] = rows[:n_components]
    np.testing.assert_allclose(model.components_, expected, atol=1e-10)
    shares = sizes**2 / (sizes**2).sum()
    np.testing.assert_allclose(model.explained_variance_ratio_, shares[:n_components])
    np.testing.assert_allclose(model.transform(X), Xc @ expected.T, atol=1e-9)
    mirrored = ScreenedPCA(n_components, keep=keep).fit(-X, y)  # signs are those of the loadings
    np.testing.assert_allclose(mirrored.components_, expected, atol=1e-10)
    share = ScreenedPCA(0.7, keep=keep).fit(X, y)
    assert share.n_components_ == np.searchsorted(np.cumsum(shares), 0.7) + 1
    assert ScreenedPCA(None, keep=keep).fit(X, y).n_components_ == min(n, number)


def test_ties_are_decided_by_the_order_of_the_columns():
    """Copies, also mirrored or in another unit: rounding must not decide."""
    X, y = draw()
    rng = np.random.default_rng(1)
    copies = X[:, :1] * rng.normal(size=20) + 10 * rng.normal(size=20)
    X = np.column_stack([rng.normal(size=len(y)), copies, np.full(len(y), 2.0)])
    for keep in range(1, 21):
        support = ScreenedPCA(keep=keep).fit(X, y).support_
        np.testing.assert_array_equal(np.flatnonzero(support), np.arange(1, keep + 1))
    assert ScreenedPCA(keep=21).fit(X, y).support_.tolist() == [True] * 21 + [False]
    assert ScreenedPCA(keep=0.01).fit(X, y).support_.sum() == 1


# Both


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_frames_pipelines_pickles(model):
    X, y = draw()
    frame = pd.DataFrame(X).add_prefix("t")
    model = clone(model).set_output(transform="pandas").fit(frame, y)
    reduced = model.transform(frame)
    name = type(model).__name__.lower()
    assert list(reduced.columns) == [f"{name}{i}" for i in range(model.n_components_)]
    assert list(model.feature_names_in_) == list(frame.columns)
    copy = pickle.loads(pickle.dumps(model))
    pd.testing.assert_frame_equal(copy.transform(frame), reduced)
    single = clone(model).fit(X.astype(np.float32), y).set_output(transform="default")
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.transform(X), reduced, atol=1e-4 * np.abs(X).max())
    pipeline = make_pipeline(StandardScaler(), clone(model), LinearRegression()).fit(frame, y)
    assert pipeline.score(frame, y) > 0.1
    assert pipeline[1].n_features_in_ == 12
    assert type(model) is getattr(lincfa.baselines, type(model).__name__)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_bad_data_are_named(model):
    X, y = draw()
    frame, model = pd.DataFrame(X).add_prefix("t"), clone(model)
    with pytest.raises(NotFittedError):
        model.transform(X)
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        bad = frame.copy()
        bad.iloc[41, 7] = value
        assert_raises(rf"{word} in column 't7' \(row 41\)", model.fit, bad, y)
        with pytest.raises(ValueError, match=rf"{word} in column 't7' \(row 41\)"):
            clone(model).fit(frame, y).transform(bad)
    for wrong, target, message in (
        (frame.assign(place="Rome"), y, "but column 'place' is not"),
        (frame.assign(t2=1e305 * X[:, 2]), y, "too large for float64 in column 't2'; rescale"),
        (X, np.full_like(y, 3.0), r"target y is constant \(all values are 3\)"),
        (np.full_like(X, 0.1), y, "Every column of X is constant"),
        (X[:1], y[:1], "minimum of 2 is required"),
    ):
        assert_raises(message, model.fit, wrong, target)
    assert not hasattr(model, "components_")
    model.fit(X, y)
    assert_raises("constant", model.fit, X[:, :5], np.zeros_like(y))
    with pytest.raises(NotFittedError):  # nothing of the earlier fit is left
        model.transform(X)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        *((SupervisedPCA(n), "n_components must be None or a pos") for n in (0, -1, 2.0, True)),
        (SupervisedPCA(kernel="cosine"), "kernel must be one of ['linear', 'poly', "),
        *((SupervisedPCA(gamma=g), "gamma must be 'scale' or a pos") for g in (0, "auto", np.nan)),
        *((SupervisedPCA(degree=d), "degree must be a positive int") for d in (0, 2.0, True)),
        *((SupervisedPCA(coef0=c), "coef0 must be a finite number") for c in (np.inf, None)),
        *((SupervisedPCA(tol=t), "tol must be a number between 0 and 1") for t in (0, 1, "a")),
        (SupervisedPCA(kernel="poly", degree=999, gamma=9.0), "kernel are too large for float64"),
        (SupervisedPCA(kernel="rbf", gamma=1e308), "kernel are too large for float64"),
        (SupervisedPCA(kernel="rbf", gamma=1e-300), "The rbf kernel has no positive eigenvalue"),
        (SupervisedPCA(kernel="sigmoid", coef0=50), "The sigmoid kernel has no positive eig"),
        *((ScreenedPCA(n), "n_components must be None, a pos") for n in (0, 1.0, -0.5, True, "a")),
        *((ScreenedPCA(keep=k), "keep must be a positive int") for k in (0, 0.0, 1.5, True, None)),
        (ScreenedPCA(keep=13), "keep is 13, but X has only 12 features"),
        (ScreenedPCA(7), "n_components is 7, but 150 samples of 6 kept features have at most 6"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(model, words):
    assert_raises(re.escape(words), model.fit, *draw())


# Tuned regressions

CENTER = StandardScaler(with_std=False)
SEARCHES = {
    "ridge": (ridge, Ridge(), {"alpha": RIDGES}),
    "components": (
        pca_regression,
        make_pipeline(PCA(svd_solver="full"), LinearRegression()),
        {"pca__n_components": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]},
    ),
    "clusters": (
        agglomeration,
        make_pipeline(CENTER, FeatureAgglomeration(), LinearRegression()),
        {"featureagglomeration__n_clusters": [1, 2, 3, 4, 5, 6, 7, 8, 10, 12]},
    ),
}


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("cv", [RepeatedKFold(n_repeats=2, random_state=0), TimeSeriesSplit(4)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_path_is_the_search_of_scikit_learn(name, cv, seed):
    X, y = draw(90, seed=seed)
    tuned, model, grid = SEARCHES[name]
    search = GridSearchCV(model, grid, cv=cv, scoring="neg_mean_squared_error").fit(X, y)
    found = tuned(cv).fit(X, y)
    (chosen,) = search.best_params_.values()
    assert found.best_index_ == [*next(iter(grid.values()))].index(chosen)
    assert n_features(found) == (12 if name == "ridge" else chosen)
    np.testing.assert_allclose(found.predict(X), search.predict(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("grid", [(6, 10), (3, 20)])
def test_clusters_of_neighbours_with_more_features_than_samples(grid, rng):
    X = rng.normal(size=(40, 60)) + np.repeat(rng.normal(size=(40, 6)), 10, axis=1)
    y = X[:, :10].mean(axis=1) - X[:, 20:30].mean(axis=1) + 0.1 * rng.normal(size=40)
    graph = grid_connectivity(grid)
    model = make_pipeline(CENTER, FeatureAgglomeration(connectivity=graph), LinearRegression())
    # Geometric, up to the 31 that 32 training samples allow.
    numbers = [1, 2, 3, 4, 5, 6, 8, 11, 14, 18, 24, 31]
    options = {"cv": 5, "scoring": "neg_mean_squared_error"}
    search = GridSearchCV(model, {"featureagglomeration__n_clusters": numbers}, **options)
    found = agglomeration(5, graph).fit(X, y)
    np.testing.assert_allclose(found.predict(X), search.fit(X, y).predict(X), rtol=1e-8)
    # Two parts that do not touch; scikit-learn warns of them.
    apart = block_diag([grid_connectivity((30,))] * 2, format="csr")
    assert agglomeration(5, apart).fit(X, y).score(X, y) > 0.8


def penalised(name, X, y):
    """Coefficients for each penalty, of centred features and target."""
    shares = np.geomspace(1, 1e-3, 20)
    if name == "SLOPE":
        from sortedl1 import Slope

        model = Slope(fit_intercept=False, tol=1e-2, max_iter=300)
        path = model.path(
            X, y, path_length=20, alpha_min_ratio=1e-3, tol_dev_change=0, tol_dev_ratio=1
        )
        return path.coefs[:, 0]
    unit = y.std()
    y = y / unit
    largest = np.abs(X.T @ y).max() / len(y)
    return unit * np.column_stack(
        [
            enet_path(X, y, l1_ratio=ratio, alphas=shares * largest / ratio, tol=1e-2)[1]
            for ratio in L1_RATIOS
        ]
    )


@pytest.mark.parametrize(("name", "tuned"), [("elastic net", elastic_net), ("SLOPE", slope)])
def test_penalties_by_a_loop_over_folds(name, tuned):
    if name == "SLOPE":
        pytest.importorskip("sortedl1")
    X, y = draw(90)
    X = StandardScaler().fit_transform(X)
    cv = RepeatedKFold(n_repeats=2, random_state=0)
    errors = []
    for train, test in cv.split(X):
        center, mean = X[train].mean(axis=0), y[train].mean()
        weights = penalised(name, X[train] - center, y[train] - mean)
        predicted = mean + (X[test] - center) @ weights
        errors.append(((y[test, None] - predicted) ** 2).mean(axis=0))
    best = np.mean(errors, axis=0).argmin()
    weights = penalised(name, X, y - y.mean())[:, best]
    found = tuned(cv).fit(X, y)
    np.testing.assert_allclose(found.coef_, weights, rtol=1e-9)
    np.testing.assert_allclose(found.predict(X), y.mean() + X @ weights)
    assert n_features(found) == np.count_nonzero(weights)


def test_an_elastic_net_does_not_depend_on_the_unit_of_the_target():
    X, y = draw(90)
    one = elastic_net(5).fit(X, y)
    for unit in (1e-6, 1e6):
        other = elastic_net(5).fit(X, y * unit)
        assert one.best_index_ == other.best_index_
        np.testing.assert_allclose(one.coef_ * unit, other.coef_, rtol=1e-9)


def test_an_elastic_net_that_stops_early_predicts_as_well():
    """On spectra, whose neighbouring wavelengths are nearly equal."""
    X, y = make_spectra(random_state=0)
    Z = StandardScaler().fit_transform(X)
    found = elastic_net(5).fit(Z[:27], y[:27])
    largest = np.abs(Z[:27].T @ (y[:27] - y[:27].mean())).max() / 27
    ratio = L1_RATIOS[found.best_index_ // 20]
    alpha = largest / ratio * np.geomspace(1, 1e-3, 20)[found.best_index_ % 20]
    exact = ElasticNet(alpha=alpha, l1_ratio=ratio, max_iter=100_000).fit(Z[:27], y[:27])
    assert found.score(Z[27:], y[27:]) == pytest.approx(exact.score(Z[27:], y[27:]), abs=0.02)


def test_paths_of_little_rank(rng):
    """Fewer directions than numbers to choose from, features constant in a fold, or one feature."""
    X = np.repeat(rng.normal(size=(30, 2)), 10, axis=1)
    X = np.column_stack([X, np.arange(30) == 0])
    y = X[:, 0] + 0.1 * rng.normal(size=30)
    for tuned in (ridge, pca_regression, agglomeration, elastic_net):
        assert tuned(5).fit(X, y).score(X, y) > 0.9
        assert n_features(tuned(5).fit(X[:, :1], y)) == 1
    assert pca_regression(5).fit(X, y).n_features_ <= 3


def test_slope_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sortedl1", None)
    with pytest.raises(ImportError, match="SLOPE needs sortedl1: pip install sortedl1"):
        slope(5)


@pytest.mark.parametrize("tuned", [ridge, pca_regression, agglomeration, elastic_net, slope])
def test_several_targets_are_chosen_each_for_itself(tuned):
    if tuned is slope:
        pytest.importorskip("sortedl1")
    X, y = draw(90)
    Y = np.column_stack([y, 1000 * X[:, 3] + y.std(), y - 5 * X[:, 7]])
    cv = RepeatedKFold(n_repeats=2, random_state=0)
    found, each = tuned(cv).fit(X, Y), [tuned(cv).fit(X, target) for target in Y.T]
    assert found.best_index_.tolist() == [one.best_index_ for one in each]
    for k, one in enumerate(each):
        np.testing.assert_allclose(found.coef_[k], one.coef_, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.predict(X)[:, k], one.predict(X), rtol=1e-9)
    if tuned in (elastic_net, slope):
        assert n_features(found) == np.any([one.coef_ for one in each], axis=0).sum()
    else:
        assert n_features(found) == max(one.n_features_ for one in each)


# Tuned classifiers


def kinds(seed=0, n_classes=3):
    """Standardised features, and labels whose order is not that of the target."""
    X, y = draw(90, seed=seed)
    codes = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    return StandardScaler().fit_transform(X), np.array(["b", "a", "c"])[codes]


def reduced(name, value):
    if name == "logistic":
        return LogisticRegression(C=value, max_iter=300, tol=1e-3)
    return make_pipeline(PCA(value, svd_solver="full"), LinearDiscriminantAnalysis())


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["logistic", "components"])
def test_classifiers_by_a_loop_over_folds(name, n_classes):
    X, y = kinds(n_classes=n_classes)
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0)
    found = logistic_regression(cv) if name == "logistic" else pca_discriminant(90, 12, cv)
    (choices,) = found.param_grid.values()  # not all numbers of components
    scores = []
    for train, test in cv.split(X, y):
        models = [reduced(name, choice).fit(X[train], y[train]) for choice in choices]
        if name == "logistic":
            scores.append([-log_loss(y[test], model.predict_proba(X[test])) for model in models])
        else:
            scores.append([model.score(X[test], y[test]) for model in models])
    means = np.mean(scores, axis=0)
    best = choices[np.argmax(means > means.max() - 1e-9)]
    found.fit(X, y)
    assert list(found.best_params_.values()) == [best]
    expected = reduced(name, best).fit(X, y)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X))
    assert n_features(found) == (12 if name == "logistic" else best)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_pls_of_indicators_by_a_loop_over_folds(n_classes):
    X, y = kinds(n_classes=n_classes)
    labels = np.unique(y)

    def predicted(number, train, test):
        indicators = (y[train, None] == labels).astype(float)
        model = PLSRegression(number, scale=False).fit(X[train], indicators)
        return labels[model.predict(X[test]).argmax(axis=1)]

    cv = RepeatedStratifiedKFold(n_repeats=2, random_state=0)
    shares = [
        [np.mean(predicted(number, train, test) == y[test]) for number in range(1, 13)]
        for train, test in cv.split(X, y)
    ]
    means = np.mean(shares, axis=0)
    best = 1 + np.argmax(means > means.max() - 1e-9)  # the fewest of those equal up to rounding
    found = pls_discriminant(90, 12, cv).fit(X, y)
    assert n_features(found) == best
    assert found.classes_.tolist() == labels.tolist()
    everything = np.arange(90)
    assert found.predict(X).tolist() == predicted(best, everything, everything).tolist()
    assert n_features(DummyClassifier().fit(X, y)) == 0


def test_a_class_that_is_rare_leaves_a_choice():
    """Some folds have none of it, to learn or to score, where scikit-learn's scorer fails."""
    X, y = kinds(n_classes=2)
    y[:2] = "c"
    for found in (logistic_regression(KFold(5)), pca_discriminant(90, 12, KFold(5))):
        found.fit(X, y)
        assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    assert found.score(X, y) > 0.7
    model = LogisticRegression().fit(X[2:], y[2:])
    known = -log_loss(y[2:], model.predict_proba(X[2:]))
    assert minus_log_loss(model, X[2:], y[2:]) == pytest.approx(known)
    unknown = np.log(np.finfo(float).eps)
    assert minus_log_loss(model, X, y) == pytest.approx((88 * known + 2 * unknown) / 90)


def test_pls_of_indicators_needs_two_classes():
    X, y = kinds()
    assert_raises("at least two classes", PLSDA().fit, X, np.full_like(y, "a"))
    assert_raises("Unknown label type", PLSDA().fit, X, X[:, 0])
