"""How groups hang together, the tables that say so, and the notebook page of a model."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from lincfa import LinCFA, LinCFACV
from lincfa._model._display import documentation_link
from lincfa._model._summary import scale_of_means
from lincfa.datasets import load_climatological, load_financial, load_life_expectancy
from literal_strategies import standardised
from reference import draw, stream

STRATEGIES = ["sequential", "centroid", "agglomerative", "joint"]
PATHS = ["agglomerative", "joint"]
UNITS = ["standardized", "original"]
FIGURES = ["mean_correlation", "min_correlation", "target_correlation"]
COLUMNS = ["mean_correlation", "min_correlation", "min_is_exact", "target_correlation"]
SCALES = 10.0 ** np.linspace(-2, 2, 12)
HOSTILE = "<b>&\"'</b>"


def figures_of_group(X, y, group, units):
    """Mean and minimum over pairs, and the correlation of the plain mean with the target."""
    values = np.asarray(X, dtype=np.float64)[:, group]
    values = values - values.mean(axis=0)  # beside an offset, sums of columns lose digits
    mean = (values if units == "original" else standardised(values)).mean(axis=1)
    rho = np.corrcoef(values.T)[np.triu_indices(len(group), 1)] if len(group) > 1 else [np.nan]
    return np.mean(rho), np.min(rho), np.corrcoef(mean, y)[0, 1]


def assert_cohesion(model, X, y, atol=1e-10):
    assert model.cohesion_.dtype.names == (*FIGURES, "min_is_exact")
    assert model.cohesion_["min_is_exact"].all()
    actual = np.array(model.cohesion_[FIGURES].tolist())
    expected = [figures_of_group(X, y, group, model.units) for group in model.groups_]
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)
    return actual


def skewed(rng):
    """Groups of different sizes of columns in very different units, and a feature of its own."""
    factors = rng.normal(size=(100, 3))
    X = factors[:, [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2]] + 0.2 * rng.normal(size=(100, 12))
    y = factors @ [1.0, -2.0, 0.5] + rng.normal(size=100)
    return X * rng.permutation(SCALES), y


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("layout", ["C", "F", "float32", "offset", "stream"])
def test_cohesion(rng, strategy, units, layout):
    X, y = skewed(rng)
    if layout == "offset":
        X = X + 1e5 * SCALES[::-1]
    dtype = np.float32 if layout == "float32" else np.float64
    X = np.asarray(X, dtype=dtype, order="F" if layout == "F" else "C")
    model = LinCFA(strategy=strategy, units=units, tolerance=3.0)
    model = stream(X, y, [30, 70], model) if layout == "stream" else model.fit(X, y)
    assert 1 < model.n_groups_ < 12
    # Rounding of 1e-16 at an offset of 1e7 times the smallest scale leaves nine digits.
    assert_cohesion(model, X, y, atol=1e-8 if layout == "offset" else 1e-10)
    reduced = model.transform(X)
    expected = [np.corrcoef(column, y)[0, 1] for column in reduced.T.astype(np.float64)]
    atol = 1e-6 if layout == "float32" else 1e-7
    np.testing.assert_allclose(model.cohesion_["target_correlation"], expected, rtol=0, atol=atol)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("units", UNITS)
def test_cohesion_with_constant_columns_and_single_features(strategy, units):
    X, y = draw(3, 60, 15)
    X[:, [0, 6]] = [1e6, -2.0]
    with pytest.warns(UserWarning, match="constant"):
        model = LinCFA(strategy=strategy, units=units).fit(X, y)
    actual = assert_cohesion(model, X, y)
    single = np.array([len(group) == 1 for group in model.groups_])
    assert single.any()
    np.testing.assert_array_equal(np.isnan(actual[:, :2]), np.column_stack([single, single]))
    summary = model.summary()
    assert (summary.n_features, summary.n_constant, summary.n_groups) == (15, 2, model.n_groups_)
    assert summary.headline == f"15 features → {model.n_groups_} groups, 2 constant left out"


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("strategy", PATHS)
@pytest.mark.parametrize("shape", [(100, 12), (40, 30)])
def test_a_cut_has_the_cohesion_of_a_fit(strategy, units, shape):
    X, y = draw(4, *shape)
    model = LinCFA(strategy=strategy, units=units).fit(X, y)
    for n_groups in range(1, shape[1] + 1, 4):
        cut = model.cut(n_groups=n_groups)
        fit = LinCFA(strategy=strategy, units=units, n_groups=n_groups).fit(X, y)
        for name in FIGURES:
            np.testing.assert_array_equal(cut.cohesion_[name], fit.cohesion_[name])
        assert_cohesion(cut, X, y)


@pytest.mark.parametrize("strategy", PATHS)
def test_the_path_holds_the_cohesion_of_every_group_on_it(data, strategy):
    X, y = data
    model = LinCFA(strategy=strategy).fit(X, y)
    groups = {i: [i] for i in range(12)}
    for merge in model.merge_path_:
        groups[merge["first"]] = groups[merge["first"]] + groups.pop(merge["second"])
        expected = figures_of_group(X, y, groups[merge["first"]], "standardized")
        np.testing.assert_allclose([merge[name] for name in FIGURES], expected, atol=1e-10)


@pytest.mark.parametrize("strategy", ["sequential", "centroid"])
@pytest.mark.parametrize("units", UNITS)
def test_of_large_groups_outlying_members_are_compared(rng, monkeypatch, strategy, units):
    """All but the minimum are exact; that is one over fewer pairs, and never too low."""
    monkeypatch.setattr("lincfa._grouping._cohesion.COMPARED", 4)
    monkeypatch.setattr("lincfa._statistics._protocol._SMALL_GROUPS", 5)
    X, y = skewed(rng)
    model = LinCFA(strategy=strategy, units=units, tolerance=20.0).fit(X, y)
    sizes = [len(group) for group in model.groups_]
    assert max(sizes) > 4 >= min(sizes)
    for number, group in enumerate(model.groups_):
        mean, lowest, r = figures_of_group(X, y, group, units)
        row = model.cohesion_[number]
        assert row["target_correlation"] == pytest.approx(r, abs=1e-10)
        assert row["min_is_exact"] == (len(group) <= 4)
        if len(group) > 4:
            evidence = model.evidence_[model.evidence_["group"] == number]
            outlying = evidence["feature"][np.argsort(evidence["correlation"])[:3]]
            assert row["min_correlation"] >= lowest - 1e-12
            lowest = np.corrcoef(X[:, [group[0], *outlying]].T).min()
        if len(group) > 1:
            assert row["mean_correlation"] == pytest.approx(mean, abs=1e-10)
            assert row["min_correlation"] == pytest.approx(lowest, abs=1e-10)


def around_a_seed(rng, k):
    """Features around a seed, independent of each other; the second one is near to all of them."""
    basis, _ = np.linalg.qr(np.column_stack([np.ones(60), rng.normal(size=(60, k + 1))]))
    seed, own = basis[:, 1], basis[:, 2:]
    second = 0.49 * seed + np.sqrt((1 - 0.49**2) / k) * own.sum(axis=1)
    others = 0.5 * seed[:, None] + np.sqrt(0.75) * own
    return np.column_stack([seed, second, others]), rng.normal(size=60)


def test_the_mean_of_a_large_group_may_be_below_the_minimum_over_some_pairs(rng, monkeypatch):
    monkeypatch.setattr("lincfa._grouping._cohesion.COMPARED", 4)
    X, y = around_a_seed(rng, 10)
    model = LinCFA(noise=1e9).fit(X, y)
    mean, _, _ = figures_of_group(X, y, model.groups_[0], "standardized")
    assert model.n_groups_ == 1
    assert model.cohesion_["mean_correlation"][0] == pytest.approx(mean, abs=1e-10)


@pytest.mark.parametrize("strategy", ["sequential", "centroid", *PATHS])
def test_a_group_in_a_tiny_unit_beside_one_in_a_large_unit(data, strategy):
    """A mean in a unit 1e7 times smaller has as much to do with the target."""
    X, y = data
    X = X * np.repeat([1e-7, 1.0, 1e7], 4)
    assert_cohesion(LinCFA(strategy=strategy, units="original", tolerance=3.0).fit(X, y), X, y)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_mirror_images(data, strategy):
    """Their standardised mean is constant, so that it has nothing to do with the target."""
    X, y = data
    X = np.column_stack([X[:, 0], -3 * X[:, 0]])
    for units, r in [("standardized", 0.0), ("original", np.corrcoef(-X[:, 0], y)[0, 1])]:
        model = LinCFA(strategy=strategy, units=units, tolerance=1e6).fit(X, y)
        np.testing.assert_allclose(model.cohesion_.tolist(), [[-1, -1, r, True]], atol=1e-12)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_correlations_stay_within_one(data, strategy):
    X, _ = data
    X = np.column_stack([X[:, [0] * 5] * [1, 1.8, 3, 1 / 3, 7] + 32, X[:, 5]])
    cohesion = LinCFA(strategy=strategy, tolerance=1e-9).fit(X, X[:, 0]).cohesion_[0]
    for name in FIGURES:
        assert cohesion[name] <= 1
        assert cohesion[name] == pytest.approx(1, abs=1e-12)


def test_summary_has_what_the_fit_left(data):
    X, y = data
    names = [f"t{i}" for i in range(12)]
    model = LinCFA(tolerance=4.0).fit(pd.DataFrame(X, columns=names), y)
    summary = model.summary()
    assert (summary.n_samples, summary.n_features, summary.n_constant) == (100, 12, 0)
    assert summary.names == tuple(model.get_feature_names_out())
    assert summary.members == tuple(tuple(names[i] for i in group) for group in model.groups_)
    np.testing.assert_array_equal(summary.sizes, [len(group) for group in model.groups_])
    for name in FIGURES:
        np.testing.assert_array_equal(getattr(summary, name), model.cohesion_[name])
    for library in (pd, pl):
        frame = summary.frame(library.__name__)
        assert isinstance(frame, library.DataFrame)
        assert list(frame.columns) == ["name", "size", *COLUMNS, "flag", "members"]
        assert list(frame["name"]) == list(summary.names)
        assert [tuple(members) for members in frame["members"]] == list(summary.members)
        assert tuple(frame["flag"]) == summary.flags
        for name in ("size", *FIGURES):
            expected = summary.sizes if name == "size" else model.cohesion_[name]
            np.testing.assert_array_equal(frame[name].to_numpy(), expected)


def test_frames_of_a_summary_need_their_library(data, monkeypatch):
    summary = LinCFA().fit(*data).summary()
    with pytest.raises(ValueError, match="'pandas' or 'polars', got 'numpy'"):
        summary.frame("numpy")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"pip install 'lincfa\[tables\]'"):
        summary.frame("polars")


def test_summary_as_text():
    """Rows of ±1, so that every correlation is a fraction that can be checked by hand."""
    signs = np.array([[(-1) ** (i >> k) for k in range(5)] for i in range(32)], dtype=float)
    a, b, c, d, e = signs.T
    X = pd.DataFrame({"alone": e, "p": 3 * a + b, "q": 3 * a - b, "r": 3 * a + c, "s": 3 * a - c})
    assert str(LinCFA().fit(X, a + 0.1 * e + d).summary()).splitlines() == [
        "5 features → 2 groups",
        "reduced feature           size  mean r  min r  r with target",
        "mean(p, q, … 4 features)     4   0.867  0.800          0.705",
        "alone                        1                         0.071",
    ]
    assert LinCFA().fit(X[["p", "q"]], a + d).summary().headline == "2 features → 1 group"


def loose(rng, n=4000):
    """Pairs that go together, hardly do, and are opposite; none matters to the target."""
    a, b, c = (rng.normal(size=(n, 2)) for _ in range(3))
    for pair, rho in ((a, 0.9), (b, 0.1), (c, -0.8)):
        pair[:, 1] = rho * pair[:, 0] + np.sqrt(1 - rho**2) * pair[:, 1]
    X = pd.DataFrame(np.hstack([a, b, c, rng.normal(size=(n, 1))]), columns=[*"abcdefg"])
    return X, rng.normal(size=n)


def test_groups_that_hardly_belong_together_are_flagged(rng):
    X, y = loose(rng)
    model = LinCFA(tolerance=50.0, blocks=[0, 0, 1, 1, 2, 2, 3]).fit(X, y)
    summary = model.summary()
    assert summary.flags == ("", "hardly related", "opposite", "")
    lines = str(summary).splitlines()
    assert [line.count("?") for line in lines] == [0, 0, 0, 1, 2, 0, 1, 0, 0]
    lowest = np.corrcoef(X["e"], X["f"])[0, 1]
    assert lines[-3] == (
        "? In 2 of the 3 groups of several features, the members hardly belong together: "
        "mean r below 0.3, or min r below −0.3."
    )
    assert lines[-2] == (
        f"The worst is mean(e, f), with min r −{-lowest:.3f}. The rule alone merges whatever has "
        "the same effect on the target."
    )
    assert lines[-1] == (
        "To avoid it: min_correlation=0.3 keeps such members apart, and with signed=True opposite "
        "ones merge, flipped. There will be more groups, often many."
    )
    assert str(summary.table(options=True)).splitlines()[-1] == (
        "To avoid it: --min-correlation 0.3 keeps such members apart, and with --signed opposite "
        "ones merge, flipped. There will be more groups, often many."
    )
    for page in (summary._repr_html_(), model._repr_html_()):
        assert all(f"<p>{line}</p>" in page for line in lines[-3:])


def test_what_would_avoid_a_flag_is_what_the_model_lacks(rng):
    X, y = loose(rng)
    model = LinCFA(tolerance=50.0).fit(X[["c", "d"]], y)
    first, worst, advice = model.summary().flag_words()
    assert first.startswith("In the only group of several features, the members hardly")
    rho = np.corrcoef(X["c"], X["d"])[0, 1]
    assert worst.startswith(f"The worst is mean(c, d), with mean r {rho:.3f}. ")
    assert advice == (
        "To avoid it: min_correlation=0.3 keeps such members apart; connectivity merges only "
        "neighbours. There will be more groups, often many."
    )
    assert "; --connectivity merges" in model.summary().flag_words(options=True)[-1]
    strict = LinCFA(tolerance=50.0, min_correlation=0.05).fit(X[["c", "d"]], y).summary()
    assert "min_correlation above 0.05 keeps" in strict.flag_words()[-1]
    assert "--min-correlation above 0.05 keeps" in strict.flag_words(options=True)[-1]
    exact = LinCFA(strategy="joint", n_groups=1).fit(X[["c", "d"]], y).summary()
    assert exact.flag_words()[-1] == "To avoid it, ask for more groups (n_groups)."
    assert "(--n-groups)" in exact.flag_words(options=True)[-1]
    search = LinCFACV(strategies=["joint"], tolerances=[50.0], cv=3).fit(X[["e", "f"]], y)
    assert search.n_groups_ == 1
    words = search.summary().flag_words()[-1]
    assert words.startswith("To avoid it: min_correlations=[0.3] keeps such members apart, and")
    assert "with signed=True" in words
    flipped = replace(search.summary(), signed=True)  # opposite all the same: never compared
    assert "signed" not in flipped.flag_words()[-1]


@pytest.mark.parametrize(
    ("load", "flagged", "merged"),
    [(load_life_expectancy, 1, 5), (load_financial, 4, 7), (load_climatological, 0, 8)],
)
def test_flags_on_real_data_are_those_in_the_documentation(load_or_skip, load, flagged, merged):
    X, y = load_or_skip(load)
    summary = LinCFA().fit(X, y).summary()
    assert (sum(map(bool, summary.flags)), int((summary.sizes > 1).sum())) == (flagged, merged)
    # The advice works, with and without signs.
    for signed in (False, True):
        model = LinCFA(min_correlation=0.3, signed=signed).fit(X, y)
        assert not any(model.summary().flags)


def test_a_wide_group_and_single_features_are_not_flagged(rng):
    """Neighbours go together though the ends do not: what a map has is no reason to worry."""
    walk = np.cumsum(rng.normal(size=(300, 12)), axis=1)
    X = walk[:, 5:] - walk[:, :-5]
    summary = LinCFA(noise=1e9).fit(X, rng.normal(size=300)).summary()
    assert summary.n_groups == 1
    assert abs(summary.min_correlation[0]) < 0.3 < summary.mean_correlation[0]
    assert (summary.flags, summary.flag_words()) == (("",), ())
    bound = replace(summary, min_correlation=np.array([-0.5]), min_is_exact=np.array([False]))
    assert "features), with min r ≤ −0.500. The rule" in bound.flag_words()[1]
    alone = LinCFA(tolerance=1e-9).fit(rng.normal(size=(60, 4)), rng.normal(size=60)).summary()
    assert alone.flags == ("",) * 4


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("strategy", ["sequential", "joint"])
@pytest.mark.parametrize("targets", [1, 2])
def test_scale_of_means_is_exact(rng, units, strategy, targets):
    """Whatever the weights, scales, signs and correlations; up to rounding."""
    factors = rng.normal(size=(80, 3))
    X = np.repeat(factors, 5, axis=1) + rng.uniform(0.1, 1, size=15) * rng.normal(size=(80, 15))
    X *= rng.choice([-1.0, 1.0], size=15) * rng.uniform(0.1, 20, size=15)
    Y = factors[:, :targets] + rng.normal(size=(80, targets))
    weights, counts = rng.uniform(0.2, 5, size=15), rng.integers(1, 4, size=80)
    options = {"units": units, "strategy": strategy, "feature_weights": weights, "signed": True}
    model = LinCFA(tolerance=5.0, **options).fit(X, Y, sample_weight=counts)
    assert (model.signs_ < 0).any()
    assert 1 < model.n_groups_ < 15
    repeated = np.repeat(model.transform(X), counts, axis=0)
    np.testing.assert_allclose(model._scale_of_means(), repeated.std(axis=0, ddof=1), rtol=1e-12)


def test_scale_of_means_without_correlation_with_the_target(rng):
    """Exact for one correlation within a group, whatever the weights and scales."""
    n, rho = 200, 0.4
    basis, _ = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, 4))]))
    matrix = np.full((4, 4), rho) + (1 - rho) * np.eye(4)
    Z = np.sqrt(n - 1) * basis[:, 1:] @ np.linalg.cholesky(matrix).T
    weights, scales = np.array([1.0, 2.0, 0.5, 3.0, 7.0]), np.array([1.0, 10.0, 3.0, 0.1, 2.0])
    mean = Z @ (weights * scales)[:4] / weights[:4].sum()
    labels = np.array([0, 0, 0, 0, 1])
    within, none = np.array([rho, np.nan]), np.zeros((1, 5))
    actual = scale_of_means(labels, scales, weights, within, none, none[:, :2])
    np.testing.assert_allclose(actual, [mean.std(ddof=1), 2.0])


def test_text_shows_twenty_of_the_largest_groups(rng):
    X, y = rng.normal(size=(60, 26)), rng.normal(size=60)
    X[:, 25] = X[:, 24]
    model = LinCFA(tolerance=1e-9).fit(X, y)
    headline, _, *rows, note = str(model.summary()).splitlines()
    assert headline == "26 features → 25 groups"
    assert [row.split()[0] for row in rows[1:]] == [f"x{i}" for i in range(19)]
    assert rows[0].startswith("mean(x24, x25)")
    assert note == "… and 5 more groups, none of them larger"
    assert "and 5 more groups" in model.summary()._repr_html_()
    assert "and 20 more groups" in model._repr_html_()


def test_names_in_texts_and_pages(data):
    X, y = data
    names = ["a\nb", " padded", "", "tab\t", "x" * 80, *map(str, range(7))]
    model = LinCFA(tolerance=1e-9).fit(pd.DataFrame(X, columns=names), y)
    lines = str(model.summary()).splitlines()
    assert len(lines) == 2 + 12
    for line, shown in zip(lines[2:], ["'a\\nb'", "' padded'", "''", "'tab\\t'"], strict=False):
        assert line.startswith(shown)
    assert "x" * 59 + "…" in lines[6]
    assert len(set(map(len, lines[1:]))) == 1, "the last column should be aligned"
    names = [f"{HOSTILE}{i}" for i in range(12)]
    model = LinCFA().fit(pd.DataFrame(X, columns=names), y)
    bundle = model._repr_mimebundle_()
    for page in [model.summary()._repr_html_(), model._repr_html_(), bundle["text/html"]]:
        assert "&lt;b&gt;&amp;" in page
        assert "<b>&" not in page
        assert model.summary().headline in page


def test_notebook_page_of_a_model(data, monkeypatch):
    monkeypatch.setattr(
        "lincfa._model._base.documentation_link", lambda page: f"https://docs/{page}"
    )
    model = LinCFA(tolerance=4.0)
    for page in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "https://docs/evidence.md" in page
        assert "features →" not in page
    model.fit(*data)
    largest = max(model.get_feature_names_out(), key=lambda name: len(model.groups_by_name()[name]))
    for page in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "https://docs/evidence.md" in page
        assert f">{model.summary().headline}</caption>" in page
        assert largest in page


def test_notebook_page_where_text_is_asked_for(data):
    model = LinCFA().fit(*data)
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert model._repr_mimebundle_() == {"text/plain": repr(model)}
    assert hasattr(model, "_repr_html_")


@pytest.mark.parametrize("declared", [["Source, https://s", "Documentation, https://d/"], None])
def test_documentation_is_the_declared_or_the_local_one(monkeypatch, declared):
    class Metadata:
        def get_all(self, name):
            return declared if name == "Project-URL" else None

    monkeypatch.setattr("lincfa._model._display.metadata", lambda package: Metadata())
    link = documentation_link("theory.md")
    assert link == "https://d/theory.html" if declared else link.endswith("/docs/theory.md")
    assert documentation_link("nowhere.md") == ("https://d/nowhere.html" if declared else "")


def opposite(rng, units="standardized"):
    """Two groups that nearly coincide, in units of their own, and a target of their difference."""
    signal = rng.normal(size=(200, 1))
    pair = signal + 0.02 * rng.normal(size=(200, 2))
    X = np.repeat(pair, 3, axis=1) + 1e-4 * rng.normal(size=(200, 6))
    X = np.column_stack([X, rng.normal(size=200)]) * [1, 2, 3, 1, 2, 3, 10]
    y = 5 * (pair[:, 0] - pair[:, 1]) + 0.01 * rng.normal(size=200) + 0.01 * X[:, 6]
    model = LinCFACV(
        estimator=LinearRegression(),
        tolerances=[1e6],
        blocks=[0, 0, 0, 1, 1, 1, 2],
        cv=3,
        units=units,
    )
    return model.fit(X, y), X


@pytest.mark.parametrize("units", ["standardized", "original"])
def test_weights_are_from_one_standard_deviation_to_another(rng, units):
    model, X = opposite(rng, units)
    weight = model.summary().weight
    scale = model.transform(X).std(axis=0, ddof=1)
    np.testing.assert_allclose(weight, model.estimator_.coef_ * scale / model.target_scale_)
    assert list(model.summary().frame()["weight"]) == weight.tolist()


def test_weights_that_nearly_cancel_are_marked(rng):
    model, _ = opposite(rng)
    assert (np.abs(model.summary().weight) > 3).tolist() == [True, True, False]
    assert model.summary().n_cancelling == 2
    *_, first, second, third, note, legend, _ = str(model.summary()).splitlines()
    assert [line.endswith(" !") for line in (first, second, third)] == [True, True, False]
    assert note == "! weights of opposite sign that nearly cancel (2 of 3): do not interpret them"
    unit = "standard deviations of the target per standard deviation of the mean"
    assert legend == f"weight: change in {unit}"


def test_weights_that_oppose_the_correlation_are_marked(rng):
    driver, own, noise = rng.normal(size=(3, 400))
    shadow = 0.8 * driver + 0.6 * own
    X = pd.DataFrame({"driver": driver, "shadow": shadow})
    model = LinCFACV(blocks=[0, 1], strategies=["joint"], tolerances=[1.0], cv=3)
    summary = model.fit(X, driver - 0.5 * shadow + 0.3 * noise).summary()
    assert summary.opposes.tolist() == [False, True]
    _, _, first, second, note, *_ = str(summary).splitlines()
    assert not first.endswith("±")
    assert second.endswith(f"  −{-summary.weight[1]:.3f} ±")
    assert note == (
        "± weights whose sign is opposite to that of r with target (1 of 2): effects given all "
        "other groups"
    )


def test_weights_of_independent_groups_are_not_marked(data):
    summary = LinCFACV(cv=3).fit(*data).summary()
    assert summary.n_cancelling == 0
    assert "!" not in str(summary)
    assert LinCFA().fit(*data).summary().weight is None
    forest = LinCFACV(cv=3, tolerances=[1.0], estimator=DecisionTreeRegressor()).fit(*data)
    assert forest.summary().weight is None
    assert "weight" not in str(forest.summary())
