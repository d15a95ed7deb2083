"""Reports and figures of several targets and of classes, against scikit-learn's metrics."""

import json
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    log_loss,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.model_selection import GridSearchCV

import lincfa
from lincfa import LinCFA, LinCFAClassifierCV, LinCFACV
from lincfa._model._display import decimals, digits
from lincfa._model._logistic import PenalizedLogistic
from lincfa._search._folds import stratified_folds
from lincfa.baselines import pls_discriminant
from lincfa.report import _groups
from lincfa.report._classes import TunedLogistic, trace_roc
from lincfa.report._findings import collect_findings
from lincfa.report._page import render
from lincfa.report._words import largest_effects, list_warnings, write_effect
from lincfa.timeseries import BlockKFold
from report_pages import Page, probability, written
from series import autoregression

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pd = pytest.importorskip("pandas")

from lincfa import plotting

NAMES = ["rain", "temp", "flow"]
COLORS = np.array(["red", "green", "blue", "black", "white"])


def halves_of(X, y):
    half = len(X) // 2
    return {"X": X[:half], "y": y[:half], "X_test": X[half:], "y_test": y[half:]}


@pytest.fixture(scope="module")
def factors():
    rng = np.random.default_rng(7)
    z = rng.normal(size=(240, 4))
    X = np.repeat(z, 4, axis=1) + 0.4 * rng.normal(size=(240, 16))
    return z, pd.DataFrame(X).add_prefix("f"), rng


@pytest.fixture(scope="module")
def three(factors):
    """Three targets, of which the last is noise."""
    z, X, rng = factors
    Y = z @ rng.normal(size=(4, 3)) + rng.normal(size=(240, 3))
    Y[:, 2] = 100 * rng.normal(size=240)
    return halves_of(X, pd.DataFrame(Y, columns=NAMES))


@pytest.fixture(scope="module")
def colors(factors):
    z, X, rng = factors
    scores = z @ rng.normal(size=(4, 5)) + rng.gumbel(size=(240, 5))
    return halves_of(X, COLORS[scores.argmax(axis=1)])


@pytest.fixture(scope="module")
def answers(factors):
    z, X, rng = factors
    return halves_of(X, np.where(z[:, 0] - z[:, 1] + rng.normal(size=240) > 0.5, "yes", "no"))


@pytest.fixture(scope="module")
def of_three(three):
    model = LinCFA(strategy="agglomerative").fit(three["X"], three["y"])
    return model, collect_findings(model, **three)


def classifier(given):
    options = {"tolerances": [1.0, 10.0], "strategies": ["sequential"], "penalties": [1e-3, 1e-1]}
    return LinCFAClassifierCV(cv=3, **options).fit(given["X"], given["y"])


@pytest.fixture(scope="module")
def of_colors(colors):
    model = classifier(colors)
    return model, collect_findings(model, **colors)


@pytest.fixture(scope="module")
def of_answers(answers):
    model = classifier(answers)
    return model, collect_findings(model, **answers)


# Several targets


def test_scores_of_each_target(of_three, three):
    model, found = of_three
    scores = found.scores
    assert [row.method for row in scores.rows[:-1]] == ["least squares", "ridge regression", "PLS"]
    for row, reduce in zip((0, -1), (np.asarray, model.transform), strict=True):
        fitted = LinearRegression().fit(reduce(three["X"]), three["y"])
        predicted = fitted.predict(reduce(three["X_test"]))
        mean = r2_score(three["y_test"], predicted)
        assert scores.rows[row].r2.value == pytest.approx(mean, abs=1e-9)
        assert scores.rows[row].rmse is None
        for k, each in enumerate(scores.targets):
            y = three["y_test"].to_numpy()[:, k]
            assert each.target == NAMES[k]
            assert each.rows[row].r2.value == pytest.approx(r2_score(y, predicted[:, k]), abs=1e-9)
            rmse = root_mean_squared_error(y, predicted[:, k])
            assert each.rows[row].rmse.value == pytest.approx(rmse)
    for part in (scores, *scores.targets):
        *rivals, reduced = part.rows
        for rival in rivals:
            gain = reduced.r2.value - rival.r2.value
            assert rival.difference.value == pytest.approx(gain)
    drawn = scores.predictions
    np.testing.assert_array_equal(drawn.measured, three["y_test"])
    np.testing.assert_allclose(drawn.predicted, predicted)


def test_the_mean_of_the_targets_varies_less(of_three):
    """The same samples are drawn for each target, so that their mean has an interval."""
    _, found = of_three
    mean = found.scores.rows[-1].r2
    ends = [(each.rows[-1].r2.low, each.rows[-1].r2.high) for each in found.scores.targets]
    low, high = np.mean(ends, axis=0)
    assert low < mean.low < mean.value < mean.high < high


def test_a_search_for_several_targets(three, tmp_path):
    model = LinCFACV(cv=3, strategies=["sequential"]).fit(three["X"], three["y"])
    model.report(tmp_path / "report.json", **three)
    told = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert told["settings"]["chosen penalty"] == model.penalty_
    expected = r2_score(three["y_test"], model.predict(three["X_test"]))
    assert told["scores"]["rows"][-1]["r2"]["value"] == pytest.approx(expected)
    assert told["targets"] == NAMES
    assert np.shape(told["coefficients"]["values"]) == (3, model.n_groups_)
    effects = {e["target"]: e["weight"] for e in told["groups"][0]["targets"]}
    weights = model.summary().weight[told["groups"][0]["number"]]
    assert [effects[name] for name in NAMES] == pytest.approx(weights * model.target_scale_)


def test_groups_have_every_target(of_three, three):
    model, found = of_three
    reduced = model.transform(three["X"])
    coef = LinearRegression().fit(reduced, three["y"]).coef_
    for group in found.groups:
        values = reduced[:, group.number]
        r = [np.corrcoef(values, three["y"][name])[0, 1] for name in NAMES]
        effects = {effect.target: effect for effect in group.targets}
        assert [effects[name].target_correlation for name in NAMES] == pytest.approx(r)
        weights = coef[:, group.number] * values.std(ddof=1)
        assert [effects[name].weight for name in NAMES] == pytest.approx(weights)
        sizes = [abs(effect.target_correlation) for effect in group.targets]
        assert sizes == sorted(sizes, reverse=True)
        assert group.target == NAMES[np.abs(r).argmax()]
        assert group.target_correlation == effects[group.target].target_correlation
        in_deviations = np.abs(weights) / three["y"].std(ddof=1).to_numpy()
        assert group.weight_target == NAMES[in_deviations.argmax()]
        for member in group.members:
            column = three["X"][member.name]
            r = [np.corrcoef(column, three["y"][name])[0, 1] for name in NAMES]
            assert member.target == NAMES[np.abs(r).argmax()]
            assert member.target_correlation == pytest.approx(r[np.abs(r).argmax()])


def test_evidence_names_the_target_with_most_bias(of_three):
    model, found = of_three
    words = {member.name: member.words for group in found.groups for member in group.members}
    for row in model.evidence_:
        told = words[f"f{row['feature']}"]
        gain = digits(100 * abs(row["gain_share"].mean()))
        assert f"by {gain} % of a target's variance on average" in told
        assert told.endswith(f"bias grows most for {NAMES[row['bias_growth_share'].argmax()]}")


def test_page_of_several_targets(of_three):
    _, found = of_three
    page = Page(render(found))
    means, targets, groups, members, effects = page.tables[:5]
    assert means[0][2] == "mean R²"
    rows = found.scores.rows[::-1]
    assert [row[0] for row in means[1:-1]] == ["this model", *(row.method for row in rows[1:])]
    for each, row in zip(rows, means[1:-1], strict=True):
        assert row[2] == written(each.r2)
        assert row[4] == written(each.difference, beside=(rows[0].r2, each.r2))
    assert [row[0] for row in targets[1:]] == NAMES
    best = found.scores.rows.index(found.scores.best_rival)
    for each, row in zip(found.scores.targets, targets[1:], strict=True):
        figures = each.rows[-1].r2, each.rows[best].r2, each.rows[best].difference
        assert row[1:3] == [written(figure) for figure in figures[:2]]
        assert row[3] == written(figures[2], beside=figures[:2])
        assert row[-1] == written(each.rows[-1].rmse, digits)
    first = found.groups[0]
    assert groups[0][-1] == "largest r with a target"
    largest = largest_effects(found)
    weight = write_effect(first.weight, largest[first.weight_target])
    assert groups[1][1] == f"{weight} ({first.weight_target})"
    assert groups[1][-1] == f"{decimals(first.target_correlation)} ({first.target})"
    assert members[0][1] == "largest r with a target"
    assert [row[0] for row in effects[1:]] == [e.target for e in first.targets]
    for effect, row in zip(first.targets, effects[1:], strict=True):
        check = effect.check
        figures = [effect.weight, check.estimate, check.low, check.high]
        weight, *figures = (write_effect(each, largest[effect.target]) for each in figures)
        told = "{} [{}, {}]".format(*figures)
        assert row[1:] == [
            decimals(effect.target_correlation),
            weight,
            f"{told} {check.verdict}",
            probability(check.adjusted_p_value),
        ]
    assert f"{found.n_groups} averages of 16 features predict 3 targets in new samples" in page.text
    assert "predict 1 of 3 targets worse than its mean" in page.text
    assert "in a linear regression of the targets" in page.text
    assert "targets rain, temp, flow" in page.text
    pictures = [a["id"].removeprefix("picture-") for a in page.all("figure")]
    coefficients = ["coefficients", "coefficients-1", "coefficients-2"]
    expected = ["predictions", "path", *coefficients, "correlations", "thresholds"]
    assert pictures == expected
    assert len(page.all("svg", role="img")) == len(expected)


def test_many_targets_are_counted(factors, monkeypatch):
    z, X, rng = factors
    monkeypatch.setattr(_groups, "TARGETS_SHOWN", 4)
    given = halves_of(X, z @ rng.normal(size=(4, 9)) + 0.1 * rng.normal(size=(240, 9)))
    found = collect_findings(LinCFA().fit(given["X"], given["y"]), **given)
    text = Page(render(found)).text
    assert "3 more targets are not shown" in text
    assert "Those of 3 more targets are not shown" in text
    assert "… and 5 more, with smaller r." in text
    assert all(len(group.targets) == 4 for group in found.groups)
    assert found.targets == tuple(f"y{k}" for k in range(9))


def test_path_scores_the_mean(of_three):
    _, found = of_three
    assert found.path.score_name == "mean R² of the targets"
    assert found.path.chosen[1] == pytest.approx(found.scores.rows[-1].r2.value)


def test_useless_means_are_no_success(of_three):
    _, found = of_three
    warning = list_warnings(found.scores, 0, 0, searched=False)[0]
    assert warning.startswith("The reduced features predict 1 of 3 targets worse than its mean")
    assert f"R² is {decimals(found.scores.targets[2].rows[-1].r2.value)} for flow" in warning
    assert found.worse_than_mean


@pytest.mark.parametrize("kind", ["array", "frame", "dataset", "list"])
def test_targets_come_in_any_container(of_three, three, kind):
    model, found = of_three
    xr = pytest.importorskip("xarray")
    convert = {
        "array": np.asarray,
        "frame": pd.DataFrame,
        "dataset": lambda Y: xr.Dataset({n: ("time", Y[n].to_numpy()) for n in Y}),
        "list": lambda Y: Y.to_numpy().tolist(),
    }[kind]
    given = three | {name: convert(three[name]) for name in ("y", "y_test")}
    again = collect_findings(model, **given).scores.targets
    for each, before in zip(again, found.scores.targets, strict=True):
        assert each.target == before.target
        assert each.rows[-1].r2.value == pytest.approx(before.rows[-1].r2.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda Y: Y.assign(temp=1.0), "y_test must have at least 2 distinct .* target 'temp'"),
        (lambda Y: Y.assign(temp=np.nan), "Input y_test contains NaN in the target 'temp'"),
        (lambda Y: Y[["rain", "temp"]], "y_test has 2 targets here and had 3 before"),
        (lambda Y: Y.rename(columns={"rain": "snow"}), "targets are .'snow'"),
        (lambda Y: Y["rain"], "y_test has 1 target here and had 3 before"),
        (lambda Y: Y[:-1], "inconsistent numbers of samples"),
        (lambda Y: Y["rain"].astype(str).add("!"), "The target y_test is not numeric"),
    ],
)
def test_bad_targets_are_named(of_three, three, change, message):
    with pytest.raises(ValueError, match=message):
        collect_findings(of_three[0], **(three | {"y_test": change(three["y_test"])}))


def test_maps_of_several_targets(rng):
    xr = pytest.importorskip("xarray")
    z = rng.normal(size=(80, 2))
    values = np.repeat(z, 6, axis=1).reshape(80, 3, 4) + 0.3 * rng.normal(size=(80, 3, 4))
    field = xr.DataArray(values, {"time": range(80), "lat": [1.0, 2, 3], "lon": [5.0, 6, 7, 8]})
    Y = np.column_stack([z[:, 0], 1000 * z[:, 1]]) + rng.normal(size=(80, 2))
    model = LinCFACV(cv=3, sample_dim="time").fit(field, Y)
    found = collect_findings(model)
    assert [(map.target, map.again) for map in found.maps] == [("y0", False), ("y1", True)]
    page = Page(render(found))
    pictures = [a["id"].removeprefix("picture-") for a in page.all("figure")]
    assert [name for name in pictures if name[-1].isdigit()] == ["effects-0", "effects-1", "map-0"]
    assert "how much the prediction of y1 rises" in page.text
    with pytest.raises(ValueError, match=r"choose one with target=.*'y0', 'y1'"):
        plotting.plot_effect_map(model)
    plotting.plot_effect_map(model, target="y1")
    plotting.plot_map(model)


# Classes


def test_scores_of_classes(of_colors, colors):
    model, found = of_colors
    scores, y = found.scores, colors["y_test"]
    guess, full, plsda, reduced = scores.rows
    p = model.predict_proba(colors["X_test"])
    assert reduced.accuracy.value == pytest.approx(model.score(colors["X_test"], y))
    assert reduced.log_loss.value == pytest.approx(log_loss(y, p, labels=model.classes_))
    assert (guess.n_features, full.n_features, reduced.n_features) == (0, 16, model.n_groups_)
    labels, counts = np.unique(y, return_counts=True)
    shares = np.tile(counts / counts.sum(), (len(y), 1))
    assert scores.most_frequent == labels[counts.argmax()]
    assert guess.accuracy.value == pytest.approx(counts.max() / len(y))
    assert guess.log_loss.value == pytest.approx(log_loss(y, shares))
    X, X_test = (
        (colors[name] - colors["X"].mean()) / colors["X"].std() for name in ("X", "X_test")
    )
    tuned = TunedLogistic(cv=model.cv_).fit(X.to_numpy(), colors["y"])
    expected = log_loss(y, tuned.predict_proba(X_test.to_numpy()), labels=model.classes_)
    assert full.log_loss.value == pytest.approx(expected, rel=1e-6)
    right = accuracy_score(y, tuned.predict(X_test.to_numpy()))
    assert full.accuracy.value == pytest.approx(right)
    codes = np.searchsorted(model.classes_, colors["y"])
    fitted = pls_discriminant(120, 16, cv=model.cv_).fit(X.to_numpy(), codes)
    predicted = model.classes_[fitted.predict(X_test.to_numpy())]
    assert plsda.accuracy.value == pytest.approx(accuracy_score(y, predicted))
    assert plsda.log_loss is None
    for row in (guess, full, plsda):
        gain = reduced.accuracy.value - row.accuracy.value
        assert row.difference.value == pytest.approx(gain)
    assert scores.best_rival in (full, plsda)
    for figure in (reduced.accuracy, reduced.log_loss):
        assert figure.low < figure.value < figure.high
    predicted = model.predict(colors["X_test"])
    np.testing.assert_array_equal(scores.confusion.counts, confusion_matrix(y, predicted))
    assert scores.confusion.classes == tuple(model.classes_)
    for curve in scores.roc.curves:
        k = list(model.classes_).index(curve.label)
        assert curve.area == pytest.approx(roc_auc_score(y == curve.label, p[:, k]))
    assert len(scores.roc.curves) == 5


def test_the_penalty_is_that_of_a_grid_search(answers):
    X, y = answers["X"].to_numpy(), answers["y"]
    grid = {"penalty": LinCFAClassifierCV._penalties}
    folds = stratified_folds(np.unique(y, return_inverse=True)[1])
    search = GridSearchCV(PenalizedLogistic(), grid, scoring="neg_log_loss", cv=folds).fit(X, y)
    assert TunedLogistic().fit(X, y).penalty == search.best_params_["penalty"]


def test_a_penalty_of_classes_is_chosen_by_the_blocks_of_the_search(rng):
    X, y = autoregression(rng, 0.9, (200, 16)), autoregression(rng, 0.9, 200) > 0
    given, folds = halves_of(X, y), BlockKFold(3, gap=2)
    model = LinCFAClassifierCV(cv=folds, strategies=["sequential"]).fit(X[:100], y[:100])
    scores = collect_findings(model, **given).scores
    scaled = (X - model.mean_) / model.scale_
    tuned = TunedLogistic(cv=folds).fit(scaled[:100], y[:100])
    assert tuned.penalty != TunedLogistic().fit(scaled[:100], y[:100]).penalty
    expected = log_loss(y[100:], tuned.predict_proba(scaled[100:]))
    assert scores.rows[1].log_loss.value == pytest.approx(expected, rel=1e-6)


def test_a_penalty_of_dated_classes_is_chosen_by_the_blocks_of_a_search(rng):
    """Those that a search would have, where the model has made none."""
    X, y = autoregression(rng, 0.9, (200, 16)), autoregression(rng, 0.9, 200) > 0
    dated = pd.DataFrame(X, pd.date_range("2001", periods=200, freq="MS"))
    model = LinCFA(target="classes").fit(X[:100], y[:100])
    scores = collect_findings(model, **halves_of(dated, y)).scores
    scaled, folds = (X - model.mean_) / model.scale_, BlockKFold(5, n_repeats=2)
    tuned = TunedLogistic(cv=folds).fit(scaled[:100], y[:100])
    assert tuned.penalty != TunedLogistic().fit(scaled[:100], y[:100]).penalty
    expected = log_loss(y[100:], tuned.predict_proba(scaled[100:]))
    assert scores.rows[1].log_loss.value == pytest.approx(expected, rel=1e-6)
    assert "5 blocks of samples consecutive in time, held out in turn, twice" in scores.how


def test_classifiers_that_would_take_long_are_left_out(monkeypatch, of_answers, answers):
    monkeypatch.setattr("lincfa.report._rivals._LONGEST", 0)
    scores = collect_findings(of_answers[0], **answers).scores
    assert scores.best_rival is None
    for name in ("Logistic regression", "PLS-DA"):
        assert f"{name} would take long" in scores.how


def test_two_classes_are_one_target(of_answers, answers):
    model, found = of_answers
    (curve,) = found.scores.roc.curves
    p = model.predict_proba(answers["X_test"])[:, 1]
    assert curve.label == "yes"
    assert curve.area == pytest.approx(roc_auc_score(answers["y_test"] == "yes", p))
    reduced = model.transform(answers["X"])
    for group in found.groups:
        assert group.targets == ()
        weight = model.estimator_.coef_[0, group.number] * reduced[:, group.number].std(ddof=1)
        assert group.weight == pytest.approx(weight)
        assert not group.cancels
    assert (found.targets, found.classes) == (("yes",), ("no", "yes"))
    text = Page(render(found)).text
    assert "r with class yes" in text
    assert "how much the log odds of the class yes change when" in text


def test_page_of_classes(of_colors):
    _, found = of_colors
    page = Page(render(found))
    scores, confusion, groups = page.tables[:3]
    rows = found.scores.rows[::-1]
    assert [row[0] for row in scores[1:-1]] == [
        "this model",
        *("PLS-DA", "logistic regression"),
        f"most frequent class ({found.scores.most_frequent})",
    ]
    for each, row in zip(rows, scores[1:-1], strict=True):
        assert row[2] == written(each.accuracy)
        assert row[4] == written(
            each.difference, beside=(found.scores.rows[-1].accuracy, each.accuracy)
        )
        assert row[-1] == written(each.log_loss, digits)
    assert [row[0] for row in confusion[1:]] == list(found.classes)
    assert [list(map(int, row[1:])) for row in confusion[1:]] == (
        found.scores.confusion.counts.tolist()
    )
    assert groups[0][-1] == "largest r with a class"
    assert "RMSE" not in page.text
    assert "how much the score of a class changes when" in page.text
    assert "of the classes' indicators by" in page.text
    pictures = [a["id"].removeprefix("picture-") for a in page.all("figure")]
    assert pictures[:2] == ["confusion", "roc"]
    assert set(pictures) > {"coefficients", *(f"coefficients-{k}" for k in range(1, 5))}


def test_groups_alone_are_scored_with_a_tuned_regression(colors):
    model = LinCFA(strategy="agglomerative").fit(colors["X"], colors["y"])
    found = collect_findings(model, **colors)
    tuned = TunedLogistic().fit(model.transform(colors["X"]), colors["y"])
    p = tuned.predict_proba(model.transform(colors["X_test"]))
    expected = log_loss(colors["y_test"], p, labels=model.classes_)
    assert found.scores.rows[-1].log_loss.value == pytest.approx(expected)
    assert found.path.score_name == "accuracy"
    assert found.path.chosen[1] == pytest.approx(found.scores.rows[-1].accuracy.value)
    assert "This model: logistic regression on the reduced features" in found.scores.how
    assert found.pairs.near.f.size


@pytest.mark.parametrize("ordered", [False, True])
def test_without_data_of_the_fit_classes_are_cross_validated(of_answers, answers, ordered):
    test = {name: answers[name] for name in ("X_test", "y_test")}
    found = collect_findings(of_answers[0], **test, ordered=ordered)
    assert "cross-validated in 5 folds" in found.scores.how
    assert found.scores.rows[-1].log_loss.value < found.scores.rows[0].log_loss.value
    assert found.scores.confusion.counts.sum() == len(answers["y_test"])


def test_what_is_no_better_than_a_guess_is_said_first(factors):
    _, X, rng = factors
    given = halves_of(X, rng.random(240) < 0.15)
    for model in (LinCFA(), LinCFAClassifierCV(cv=3, strategies=["sequential"])):
        model.fit(given["X"], given["y"])
        found = collect_findings(model, **given)
        assert found.no_better_than_most_frequent
        assert found.worse_than_mean is None
        warning = list_warnings(found.scores, 0, 0, found.searched)[0]
        assert "no better than the most frequent class" in warning
        assert ("Try LinCFAClassifierCV" in warning) != found.searched
        text = Page(render(found)).text
        assert text.index("no better than a guess of the most") < text.index("How well it predicts")
        assert json.loads(found.to_json())["no_better_than_most_frequent"] is True


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda y: np.where(y == "red", "pink", y),
            "y_test has labels .* not know: 'pink'. Its",
        ),
        (lambda y: np.full(len(y), "red"), "All samples are of one class, 'red'"),
        (lambda y: np.arange(len(y)) % 5, "labels that the model does not know: 0, 1, 2"),
        (lambda y: [None, *y[1:]], "Input y_test contains NaN: values are missing"),
        (lambda y: y[:-1], "inconsistent numbers of samples"),
    ],
)
def test_bad_labels_are_named(of_colors, colors, change, message):
    with pytest.raises((ValueError, TypeError), match=message):
        collect_findings(of_colors[0], **(colors | {"y_test": change(colors["y_test"])}))


def test_labels_come_in_any_container(of_colors, colors):
    model, found = of_colors
    for convert in (pd.Series, pd.Categorical, list, lambda y: y[:, None]):
        given = colors | {name: convert(colors[name]) for name in ("y", "y_test")}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a column where one dimension is expected
            assert collect_findings(model, **given).scores.rows == found.scores.rows


def test_a_class_without_test_samples_has_no_curve(of_colors, colors):
    model, _ = of_colors
    others = colors["y_test"] != "red"
    given = colors | {name: colors[name][others] for name in ("X_test", "y_test")}
    scores = collect_findings(model, **given).scores
    assert [curve.label for curve in scores.roc.curves] == ["black", "blue", "green", "white"]
    assert scores.confusion.counts[3].sum() == 0


def test_the_most_frequent_of_many_classes_have_curves():
    y = np.repeat(np.arange(8), [9, 1, 8, 7, 6, 5, 4, 3])
    p = np.eye(8)[y]
    roc = trace_roc(y, p, np.arange(8))
    assert [curve.label for curve in roc.curves] == ["0", "2", "3", "4", "5", "6"]
    assert roc.n_curves == 8
    assert all(curve.area == 1 for curve in roc.curves)


def test_a_loaded_classifier(of_answers, answers, tmp_path):
    model, found = of_answers
    model.save(tmp_path / "model.json")
    again = collect_findings(lincfa.load(tmp_path / "model.json"), **answers)
    before, after = (each.scores.rows[-1].log_loss.value for each in (found, again))
    assert after == pytest.approx(before)


# Figures


def drawn(ax):
    """Lengths of all bars."""
    return np.array([bar.get_width() for bar in ax.patches])


def test_coefficients_need_a_target(of_colors, three):
    model, _ = of_colors
    with pytest.raises(ValueError, match=r"5 classes: choose one with target=.*'black'"):
        plotting.plot_coefficients(model)
    with pytest.raises(ValueError, match="There is no target 'pink'; the classes are 'black'"):
        plotting.plot_coefficients(model, target="pink")
    with pytest.raises(ValueError, match="There is no target 5"):
        plotting.plot_coefficients(model, target=5)
    ax = plotting.plot_coefficients(model, target="green")
    assert "score of green" in ax.get_xlabel()
    other = plotting.plot_coefficients(model, target=2)
    same, others = (drawn(each) for each in (other, plotting.plot_coefficients(model, target=0)))
    np.testing.assert_array_equal(drawn(ax), same)
    assert not np.array_equal(drawn(ax), others)
    several = LinCFA().fit(three["X"], three["y"])
    coef = np.arange(3.0 * several.n_groups_).reshape(3, -1)
    label = plotting.plot_coefficients(several, coef, target="temp").get_xlabel()
    assert "change in the prediction of temp per" in label
    assert plotting.plot_coefficients(several, coef[0]).has_data()


def test_figures_of_targets_and_classes(of_three, three, of_colors, colors):
    for (model, _), given in ((of_three, three), (of_colors, colors)):
        plotting.plot_correlation(model, given["X"])
        plotting.plot_thresholds(model, given["X"], given["y"])
        plotting.plot_path(model, **given)
        plotting.plot_spectrum(model)
    assert plotting.plot_path(of_colors[0]).get_ylabel() == "negative log loss"


def test_search_of_a_classifier_leaves_out_what_was_not_tried(answers):
    model = LinCFAClassifierCV(cv=3, tolerances=[1e-3, 10.0], penalties=[1e-3, 0.1])
    model.fit(answers["X"], answers["y"])
    assert np.isnan(model.cv_results_["mean_test_score"]).any()
    for figure in (plotting.plot_search(model)[0].figure, plotting.plot_path(model).figure):
        for ax in figure.axes:
            for line in ax.lines:
                assert np.isfinite(np.asarray(line.get_xdata(), dtype=float)).all()
                assert np.isfinite(np.asarray(line.get_ydata(), dtype=float)).all()
    with pytest.raises(TypeError, match="draws a LinCFACV or LinCFAClassifierCV"):
        plotting.plot_search(model.reducer_)


def test_confusion_and_roc(of_colors, colors):
    model, found = of_colors
    ax = plotting.plot_confusion(model, colors["X_test"], colors["y_test"])
    counts = found.scores.confusion.counts
    assert [text.get_text() for text in ax.texts] == [str(n) for n in counts.ravel()]
    assert [label.get_text() for label in ax.get_xticklabels()] == list(found.classes)
    ax = plotting.plot_roc(model, colors["X_test"], colors["y_test"])
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend[0] == f"black (area {found.scores.roc.curves[0].area:.3f})"
    assert legend[-1] == "chance"


@pytest.mark.parametrize("draw", [plotting.plot_confusion, plotting.plot_roc])
def test_groups_alone_predict_no_classes(draw, colors, of_colors):
    model = LinCFA().fit(colors["X"], colors["y"])
    with pytest.raises(TypeError, match="draws the predictions of a LinCFAClassifierCV"):
        draw(model, colors["X"], colors["y"])
    with pytest.raises(ValueError, match="needs samples X and their labels y"):
        draw(of_colors[0], None, None)


def test_a_path_followed_to_few_groups_is_described(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 10)), np.repeat(["a", "b", "c"], 20)
    X[:, :3] += np.eye(3)[np.repeat(range(3), 20)]
    options = {"strategies": ["joint"], "tolerances": [1e-9], "penalties": [0.01]}
    model = LinCFAClassifierCV(**options).fit(X, y)
    model.report(tmp_path / "report.html")
    page = " ".join((tmp_path / "report.html").read_text(encoding="utf-8").split())
    assert f"until {model.n_groups_} groups are left" in page
