"""What a report says of flipped signs, weights of features, missing values and odd groups."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from lincfa import LinCFA, LinCFACV, explain_pair
from lincfa._model._observations import open_samples
from lincfa.plotting import plot_correlation, plot_map
from lincfa.report import _scores
from lincfa.report._findings import collect_findings, settings_of
from lincfa.report._groups import collect_pairs, correlate_by_group
from lincfa.report._inputs import open_training
from lincfa.report._page import render
from lincfa.report._words import explain_oppositions, largest_effects, list_remarks
from report_pages import Page, row_of
from signs_gaps_weights import reduced_by_definition

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
xr = pytest.importorskip("xarray")

FLIP = np.where(np.isin(np.arange(30), [1, 4, 7, 8, 11, 13, 20, 29]), -1, 1).astype(np.int8)
STRATEGIES = ["sequential", "centroid", "agglomerative", "joint"]


@pytest.fixture(scope="module")
def mirrored(halves):
    return halves | {name: halves[name] * FLIP for name in ("X", "X_test")}


@pytest.mark.parametrize("units", ["standardized", "original"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_flipped_columns_change_signs_and_nothing_else(halves, mirrored, strategy, units):
    model, other = (
        fitted(samples, strategy=strategy, units=units, signed=True)
        for samples in (halves, mirrored)
    )
    assert set(other.signs_) == {-1, 1}
    orientation = FLIP[[group[0] for group in model.groups_]]
    plain, found = collect_findings(model, **halves), collect_findings(other, **mirrored)
    for mine, theirs in zip(plain.scores.rows, found.scores.rows, strict=True):
        assert theirs.r2.value == pytest.approx(mine.r2.value, abs=1e-9)
    turn = orientation[plain.matrix.groups]  # a group has the sign of its first member
    expected = plain.matrix.values * np.outer(turn, turn)
    np.testing.assert_allclose(found.matrix.values, expected, atol=1e-12)
    if plain.path is not None:
        np.testing.assert_allclose(
            found.path.curves[0].score, plain.path.curves[0].score, atol=1e-9
        )
    for mine, theirs in zip(plain.groups, found.groups, strict=True):
        sign = orientation[mine.number]
        assert theirs.weight == pytest.approx(sign * mine.weight)
        assert (theirs.opposes is None) == (mine.opposes is None)
        for member, same in zip(mine.members, theirs.members, strict=True):
            feature = int(member.name[1:])
            assert (same.name, same.sign) == (member.name, member.sign * sign * FLIP[feature])
            assert ("once the sign is flipped" in same.words) == (
                feature in other.evidence_["feature"][other.evidence_["sign"] < 0]
            )


def fitted(samples, **parameters):
    return LinCFA(**parameters).fit(samples["X"], samples["y"])


def nearly_merged(model, samples):
    """Pairs of groups by their numbers: the sign of the second, ρ and F."""
    near = collect_pairs(model, open_training(model, samples["X"], samples["y"])).near
    seeds = {f"x{group[0]}": number for number, group in enumerate(model.groups_)}
    names = {name: number for number, name in enumerate(model.get_feature_names_out())}
    result = {}
    for first, second, rho, f in zip(
        near.first, near.second, near.correlation, near.f, strict=True
    ):
        known = seeds if model.strategy == "sequential" else names
        pair = known[first], known[second.removeprefix("−")]
        result[pair] = (-1 if second.startswith("−") else 1), rho, f
    return result


@pytest.mark.parametrize("strategy", ["sequential", "agglomerative"])
def test_nearly_merged_pairs_take_the_sign_that_is_allowed(halves, mirrored, strategy):
    """Above 0, a pair has one sign only, and flipped columns have the pairs of the others."""
    rule = {"strategy": strategy, "min_correlation": 0.0, "tolerance": 0.01, "signed": True}
    model, other = fitted(halves, **rule), fitted(mirrored, **rule)
    near, signed = nearly_merged(model, halves), nearly_merged(other, mirrored)
    assert all(rho >= 0 for _, rho, _ in signed.values())
    assert {sign for sign, _, _ in signed.values()} == {-1, 1}
    assert len(near) > 5
    assert near.keys() == signed.keys()
    for pair, (sign, rho, f) in near.items():
        turn = FLIP[[model.groups_[number][0] for number in pair]].prod()
        assert signed[pair] == (sign * turn, pytest.approx(rho), pytest.approx(f))


@pytest.mark.parametrize("least", [None, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_nearly_merged_pairs_are_judged_with_signs_and_weights(mirrored, rng, weighted, least):
    rule = {"tolerance": 0.01, "signed": True, "min_correlation": least}
    if weighted:
        rule["feature_weights"] = rng.uniform(0.2, 5, size=30)
    model = fitted(mirrored, **rule)
    near = nearly_merged(model, mirrored)
    # A pair that neither sign brings above the smallest correlation has none that counts.
    near = {pair: figures for pair, figures in near.items() if figures[1] >= (least or -1)}
    assert len(near) > 20
    for pair, (sign, rho, f) in near.items():
        first, second = (model.groups_[number][0] for number in pair)
        expected = explain_pair(mirrored["X"], mirrored["y"], first, second, **rule)
        assert sign == expected.sign
        assert rho == pytest.approx(expected.correlation)
        assert f == pytest.approx(expected.f, rel=1e-6)
    assert {sign for sign, _, _ in near.values()} == {-1, 1}


def test_the_sign_with_the_smaller_f_is_not_taken_below_the_smallest_correlation(rng):
    """Effects that mirror each other would make F small after a flip, but not the correlation."""
    basis, _ = np.linalg.qr(np.column_stack([np.ones(80), rng.normal(size=(80, 3))]))
    a, b, noise = basis[:, 1:].T
    X = np.column_stack([a, 0.2 * a + np.sqrt(0.96) * b])
    y = X @ [1.0, -0.9] + noise
    samples = {"X": X, "y": y}
    for least, sign in ((None, -1), (0.1, 1)):
        model = fitted(samples, signed=True, tolerance=0.01, min_correlation=least)
        near = nearly_merged(model, samples)
        f = explain_pair(X * [1, sign], y, 0, 1).f
        assert near == {(0, 1): (sign, pytest.approx(0.2 * sign), pytest.approx(f))}


def apart(model):
    """Attributes of a model of two features that did not merge."""
    labels = np.arange(2)
    groups = [np.array([0]), np.array([1])]
    evidence = model.evidence_[:0]
    return {"labels_": labels, "groups_": groups, "n_groups_": 2, "evidence_": evidence}


def test_signs_on_the_page_and_in_json(halves, mirrored, tmp_path):
    other = fitted(mirrored, tolerance=4.0, signed=True)
    found = collect_findings(other, **mirrored)
    n_flipped = int((other.signs_ < 0).sum())
    page = Page(render(found))
    assert f"{n_flipped} features are averaged with the sign flipped, shown as −name." in page.text
    assert "with the signs of flipped features (−) flipped" in page.text
    several = [group for group in found.groups if group.size > 1]
    shown = [row[0] for table in page.tables[2 : 2 + len(several)] for row in table[1:]]
    assert sum(name.startswith("−x") for name in shown) == n_flipped
    assert found.matrix.names.count("−x1") + found.matrix.names.count("x1") == 1
    other.report(tmp_path / "report.json", **mirrored)
    told = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    signs = {m["name"]: m["sign"] for group in told["groups"] for m in group["members"]}
    assert signs == {f"x{i}": sign for i, sign in enumerate(other.signs_.tolist())}
    assert told["n_flipped"] == n_flipped
    plain = render(collect_findings(fitted(halves, tolerance=4.0), **halves))
    assert "flipped" not in plain
    assert "plain mean" in plain


def test_the_page_of_a_weighted_mean(halves, rng):
    weights = rng.uniform(0.5, 2, size=30)
    model = fitted(halves, strategy="agglomerative", feature_weights=weights)
    found = collect_findings(model, **halves)
    page = Page(render(found))
    assert "one reduced feature, the weighted mean of its members" in page.text
    assert "plain mean" not in page.text
    described = f"from {weights.min():g} to {weights.max():g}"
    assert settings_of(model)["feature_weights"] == described
    assert "feature_weights=feature_weights" in found.recipe
    (curve,) = found.path.curves
    # Cuts of the path are scored on weighted means too.
    for n_groups, score in zip(curve.n_groups, curve.score, strict=True):
        cut = model.cut(n_groups=int(n_groups))
        parts = [reduced_by_definition(cut, halves[name]) for name in ("X", "X_test")]
        line = LinearRegression().fit(parts[0], halves["y"])
        assert score == pytest.approx(r2_score(halves["y_test"], line.predict(parts[1])))


# Missing values


def with_gaps(halves, strategy="sequential", **parameters):
    """Some values missing, and nearly all of the first sample; and a model of what is left."""
    random = np.random.default_rng(1)
    share = 0.03 if strategy == "joint" else 0.1  # which needs correlations of columns
    gaps = {}
    for name in ("X", "X_test"):
        gaps[name] = halves[name].copy()
        gaps[name][random.random(halves[name].shape) < share] = np.nan
        gaps[name][0, 1:] = np.nan
    samples = halves | gaps
    return fitted(samples, strategy=strategy, missing="pairwise", **parameters), samples


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_report_with_missing_values(halves, strategy):
    model, samples = with_gaps(halves, strategy)
    found = collect_findings(model, **samples)
    share = np.isnan(samples["X"]).mean()
    assert found.missing == pytest.approx(share)
    text = Page(render(found)).text
    assert f"{100 * share:.3g} % of the training values are missing: two features were" in text
    assert "missing values were replaced by training means" in found.scores.how
    # pandas too correlates columns over the rows where both are present.
    order = [int(name[1:]) for name in found.matrix.names]
    expected = pd.DataFrame(samples["X"]).corr().to_numpy()[np.ix_(order, order)]
    np.testing.assert_allclose(found.matrix.values, expected, atol=1e-12)
    assert np.isfinite([group.weight for group in found.groups]).all()
    bare = collect_findings(model)
    assert bare.missing is None
    assert "Values of the training data may be missing: two" in Page(render(bare)).text


@pytest.mark.parametrize("units", ["standardized", "original"])
def test_scores_with_missing_values(halves, units):
    model, samples = with_gaps(halves, units=units)
    scores = collect_findings(model, **samples).scores
    filled = [np.where(np.isnan(samples[n]), model.mean_, samples[n]) for n in ("X", "X_test")]
    _, center = model._line()
    reduced = []
    for name in ("X", "X_test"):
        values = reduced_by_definition(model, samples[name])
        assert np.isnan(values).sum() >= 1
        reduced.append(np.where(np.isnan(values), center, values))
    rows = row_of(scores, "least squares"), scores.rows[-1]
    for row, (X, X_test) in zip(rows, (filled, reduced), strict=True):
        line = LinearRegression().fit(X, samples["y"])
        expected = r2_score(samples["y_test"], line.predict(X_test))
        assert row.r2.value == pytest.approx(expected, abs=1e-8)


def test_weighted_correlations_with_missing_values_are_of_repeated_rows(halves):
    model, samples = with_gaps(halves)
    times = np.random.default_rng(2).integers(1, 4, size=120)
    repeated = np.repeat(samples["X"], times, axis=0)
    model.fit(samples["X"], samples["y"], times)
    train = open_training(model, samples["X"], samples["y"], times)
    matrix = correlate_by_group(model, train)
    order = [int(name[1:]) for name in matrix.names]
    expected = pd.DataFrame(repeated).corr().to_numpy()[np.ix_(order, order)]
    np.testing.assert_allclose(matrix.values, expected, atol=1e-12)


def test_gaps_that_are_too_wide_and_infinity(halves):
    model, samples = with_gaps(halves)
    X = samples["X"].copy()
    X[:60, 3], X[60:, 4] = np.nan, np.nan  # never present together
    ax = plot_correlation(model, X)
    shown = np.asarray(ax.images[0].get_array())
    assert np.isfinite(shown).all()
    X[5, 7] = -np.inf
    with pytest.raises(ValueError, match=r"column 7.*row 5|infinity"):
        plot_correlation(model, X)
    model_without_gaps = LinCFA().fit(halves["X"], halves["y"])
    with pytest.raises(ValueError, match="NaN"):
        open_samples(model_without_gaps, samples["X_test"], halves["y_test"], ("X", "y"))
    changed = samples["X"] + 1.0
    with pytest.raises(ValueError, match="not the training data: the mean of column"):
        open_training(model, changed, samples["y"])


@pytest.mark.parametrize("kind", [LinCFA, LinCFACV])
def test_a_model_that_was_fitted_to_gaps(halves, kind, tmp_path):
    """All at once: scores are those of what transform returns, and all of it can be written."""
    _, samples = with_gaps(halves)
    samples = samples | {name: samples[name] * FLIP for name in ("X", "X_test")}
    options = {"missing": "pairwise", "signed": True, "feature_weights": np.linspace(1, 2, 30)}
    search = {"strategies": ["sequential"], "tolerances": [2.0], "cv": 3}
    options |= {"tolerance": 2.0} if kind is LinCFA else search
    model = kind(**options).fit(samples["X"], samples["y"])
    found = collect_findings(model, **samples)
    reduced = [np.nan_to_num(model.transform(samples[name])) for name in ("X", "X_test")]
    if kind is LinCFA:
        predicted = LinearRegression().fit(reduced[0], samples["y"]).predict(reduced[1])
    else:
        predicted = model.predict(samples["X_test"])
    assert found.scores.rows[-1].r2.value == pytest.approx(r2_score(samples["y_test"], predicted))
    for group in found.groups:
        signs = {int(m.name[1:]): m.sign for m in group.members}
        assert signs == {i: model.signs_[i] for i in model.groups_[group.number].tolist()}
    assert found.n_flipped > 0
    model.report(tmp_path / "report.html", **samples)
    assert "weighted mean" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_nearly_merged_pairs_with_gaps_share_samples(halves):
    _, samples = with_gaps(halves)
    model = fitted(samples, tolerance=0.01, missing="pairwise")
    near = nearly_merged(model, samples)
    assert len(near) > 20
    for pair, (_, rho, f) in near.items():
        first, second = (model.groups_[number][0] for number in pair)
        expected = explain_pair(samples["X"], samples["y"], first, second, missing="pairwise")
        assert (rho, f) == (pytest.approx(expected.correlation), pytest.approx(expected.f))


# Odd groups and coefficients


def test_flagged_groups_are_said_on_the_page(rng):
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=[*"abcd"])
    X["b"] = X["a"] + 0.1 * rng.normal(size=300)
    X["d"] = -X["c"] + 0.5 * rng.normal(size=300)
    y = rng.normal(size=300)
    model = LinCFA(tolerance=50.0, blocks=[0, 0, 1, 1]).fit(X, y)
    found = collect_findings(model, X=X, y=y)
    assert sorted(group.flag for group in found.groups) == ["", "opposite"]
    page = Page(render(found))
    assert " ".join(model.summary().flag_words()) in page.text
    for group, cells in zip(found.groups, page.tables[0][1:], strict=True):
        assert ("some members go opposite ways" in cells[0]) == (group.flag == "opposite")
    command = collect_findings(model, recipe="lincfa reduce data.csv --target y")
    assert command.flagged == model.summary().flag_words(options=True)
    tight = LinCFA(tolerance=50.0, min_correlation=0.5).fit(X, y)
    assert 'class="flagged"' not in render(collect_findings(tight))


def suppression(rng, n=400):
    """A group that goes with the target for the sake of another, and against it by itself."""
    driver, own = rng.normal(size=(2, n))
    shadow = 0.8 * driver + 0.6 * own
    y = driver - 0.5 * shadow + 0.3 * rng.normal(size=n)
    X = np.column_stack([driver, driver, shadow, shadow]) + 0.05 * rng.normal(size=(n, 4))
    X = pd.DataFrame(X, columns=["d1", "d2", "s1", "s2"])
    # More like the shadow than the driver is, but without an effect.
    return X.assign(twin=shadow + 0.5 * rng.normal(size=n)), y


def test_coefficients_that_oppose_the_correlation_are_explained(rng):
    X, y = suppression(rng)
    model = LinCFA(blocks=[0, 0, 1, 1, 2], tolerance=20.0).fit(X, y)
    found = collect_findings(model, X=X, y=y)
    by_name = {group.name: group for group in found.groups}
    shadow = by_name["mean(s1, s2)"]
    assert shadow.weight < 0 < shadow.target_correlation
    assert by_name["mean(d1, d2)"].opposes is None
    rho = np.corrcoef(model.transform(X).T)
    assert rho[1, 2] > rho[0, 1]
    assert shadow.opposes.name == by_name["mean(d1, d2)"].title == "d1, d2"
    assert shadow.opposes.correlation == pytest.approx(rho[0, 1])
    page = Page(render(found))
    (line,) = explain_oppositions(found, shadow, largest_effects(found))
    assert line in page.text
    assert re.fullmatch(
        r"Correlated with the target by 0\.\d+, mainly through d1, d2 \(their correlation: "
        r"0\.\d+\); given the others, its effect is −\d\.\d+\.",
        line,
    )
    remark = "opposite to r"
    for group, cells in zip(found.groups, page.tables[0][1:], strict=True):
        assert (remark in cells[0]) == (group.opposes is not None)
        assert list_remarks(found, group) == [remark] * (group.opposes is not None)
    search = LinCFACV(blocks=[0, 0, 1, 1, 2], tolerances=[20.0], strategies=["joint"], cv=3)
    bare = Page(render(collect_findings(search.fit(X, y))))
    assert "Correlated with the target by 0." in bare.text
    assert "mainly through" not in bare.text


def test_signs_of_figures_near_zero_are_not_explained(rng):
    """Of pure noise, correlations and coefficients are near zero, with any sign."""
    n, d = 4000, 40
    X, y = rng.normal(size=(n, d)), rng.normal(size=n)
    model = LinCFA(tolerance=1e-9).fit(X, y)
    r = model.cohesion_["target_correlation"]
    quiet = np.where(np.abs(r) < 1 / np.sqrt(n), -0.5 * r, r)  # half of them oppose
    assert _scores.find_oppositions(model, quiet * model.target_scale_, None) == {}
    loud = np.where(np.arange(d) == 3, -np.sign(r) * 0.5, quiet)
    assert list(_scores.find_oppositions(model, loud * model.target_scale_, None)) == [3]
    huge = np.where(np.arange(d) == 3, -np.sign(r) * 5, quiet)  # marked as cancelling instead
    assert _scores.find_oppositions(model, huge * model.target_scale_, None) == {}


# Maps


@pytest.mark.parametrize("kind", ["grid", "points"])
def test_flipped_cells_are_marked_on_maps(rng, kind):
    signal = rng.normal(size=(100, 1))
    values = signal + 0.1 * rng.normal(size=(100, 12))
    lat, lon = np.repeat([45.0, 46.0, 47.0], 4), np.tile([7.0, 8.0, 9.0, 10.0], 3)
    if kind == "grid":
        axes = {"time": range(100), "lat": [45.0, 46.0, 47.0], "lon": lon[:4]}
        field = xr.DataArray(values.reshape(100, 3, 4), axes)
    else:
        field = xr.DataArray(values, dims=("time", "station"))
        field = field.assign_coords(lat=("station", lat), lon=("station", lon))
    rule = {"tolerance": 50.0, "min_correlation": 0.5, "signed": True, "sample_dim": "time"}
    model = LinCFA(**rule).fit(field, signal[:, 0])
    legend = plot_map(model).get_legend()
    assert legend is None
    assert "flipped" not in render(collect_findings(model))
    flips = np.where(np.isin(np.arange(12), [2, 3, 9]), -1, 1)
    model.fit(field * flips.reshape(field.shape[1:]), signal[:, 0])
    ax = plot_map(model)
    noun = "cells" if kind == "grid" else "points"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [f"3 {noun} with the sign flipped"]
    if kind == "grid":
        (hatched,) = [each for each in ax.collections if each.get_hatch()]
        assert len(hatched.get_paths()) == 3
    else:
        (dots,) = ax.lines
        marked = [2, 3, 9]
        np.testing.assert_array_equal(dots.get_xdata(), lon[marked])
        np.testing.assert_array_equal(dots.get_ydata(), lat[marked])
    found = collect_findings(model)
    assert found.maps[0].flipped.sum() == 3
    np.testing.assert_array_equal(np.flatnonzero(found.maps[0].flipped.ravel()), [2, 3, 9])
    assert "dotted cells enter with their sign flipped" in Page(render(found)).text
