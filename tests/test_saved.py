"""Saving and loading: nothing is lost."""

import copy
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso, PoissonRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import lincfa
from lincfa import LinCFA, LinCFACV
from lincfa._data._columns import Columns
from lincfa._data._targets import Targets
from lincfa._rule import evidence_type, with_gains
from lincfa.structure import grid_connectivity
from reference import QUICK, assert_raises, assert_same_fit, draw, many_factors, stream, table

DATA = Path(__file__).parent / "data"

PATHS = ("agglomerative", "joint")
STRATEGIES = ("sequential", "centroid", *PATHS)
SETTINGS = [
    {},
    {"tolerance": 0.3},
    {"tolerance": 7},
    {"tolerance": "unbiased", "units": "original"},
    {"noise": "full"},
    {"noise": 0.9, "min_correlation": 0.8},
    {"min_correlation": -1},
    {"effective_samples": 20},
    {"effective_samples": "auto"},
]
ASKED = [
    *({"strategy": strategy, **more} for strategy in STRATEGIES for more in SETTINGS),
    *({"strategy": strategy, "n_groups": k} for strategy in PATHS for k in (1, 4, 15)),
]
CONTAINERS = {
    "float64": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "columns": np.asfortranarray,
    "names": table,
    "wavelengths": lambda X: pd.DataFrame(X, columns=1550.5 + 0.1 * np.arange(X.shape[1])),
    "levels": lambda X: pd.DataFrame(
        X, columns=pd.MultiIndex.from_tuples([("t", 10 * i) for i in range(X.shape[1])])
    ),
    "polars": lambda X: pl.DataFrame({f"t{i}": X[:, i] for i in range(X.shape[1])}),
}
HISTORIES = {
    "fit": lambda X, y: LinCFA().fit(X, y),
    "path": lambda X, y: LinCFA(strategy="joint").fit(X, y),
    "weights": lambda X, y: LinCFA().fit(X, y, sample_weight=np.linspace(0.1, 2.3, len(y))),
    "chunks": lambda X, y: stream(X, y, (25, 41)),
    "chunks of a path": lambda X, y: stream(X, y, (25,), LinCFA(strategy="agglomerative")),
    "cut": lambda X, y: LinCFA(strategy="agglomerative").fit(X, y).cut(n_groups=5),
}


def saved(model, folder):
    path = folder / "model.json"
    model.save(path)
    return lincfa.load(path)


def bits(value):
    """All that distinguishes two values, except the payload of NaN."""
    if isinstance(value, list):
        return [bits(entry) for entry in value]
    if isinstance(value, Columns):  # names that are not strings are saved as displayed
        return value.size, list(value.labels), value.field and value.field.names
    if isinstance(value, Targets):
        return value.size, value.labels, bits(value.classes)
    if not isinstance(value, np.ndarray):
        return type(value), value
    if value.dtype.names:
        return value.dtype, [bits(value[name]) for name in value.dtype.names]
    if value.dtype.kind == "f":
        value = np.where(np.isnan(value), np.nan, value)
    return value.dtype, value.shape, value.tolist() if value.dtype == object else value.tobytes()


def state(model):
    return {name: bits(value) for name, value in vars(model).items() if name != "_stream"}


def read(model):
    """What can be read from a model without data."""
    summary = model.summary()
    members = {"names": list(model.get_feature_names_out()), "groups": model.groups_by_name()}
    shown = [str(summary), summary._repr_html_(), summary.frame("polars").to_dict(as_series=False)]
    frames = [model.evidence_frame().to_csv(), model.evidence_frame("polars").write_csv()]
    return repr([members, shown, frames, model.get_params(), repr(model)])


def assert_same_model(loaded, model, X):
    assert type(loaded) is type(model)
    assert state(loaded) == state(model)
    assert read(loaded) == read(model)
    reduced = model.transform(X)
    assert bits(np.asarray(loaded.transform(X))) == bits(np.asarray(reduced))
    assert type(loaded.transform(X)) is type(reduced)
    assert bits(loaded.inverse_transform(reduced)) == bits(model.inverse_transform(reduced))
    coef = np.arange(model.n_groups_)
    assert bits(loaded.expand_coefficients(coef)[0]) == bits(model.expand_coefficients(coef)[0])
    if hasattr(model, "merge_path_"):
        assert state(loaded.cut(tolerance=0.2)) == state(model.cut(tolerance=0.2))
        assert state(loaded.cut(n_groups=12)) == state(model.cut(n_groups=12))
        if model.min_correlation in (None, -1):
            assert bits(loaded.to_linkage()) == bits(model.to_linkage())


def named(parameters):
    return "-".join(map(str, parameters.values()))


@pytest.mark.parametrize("parameters", ASKED, ids=named)
def test_every_setting_survives(tmp_path, parameters):
    X, y = draw(1)
    model = LinCFA(**parameters).fit(X, y)
    assert_same_model(saved(model, tmp_path), model, X)


PREDICTING = {
    "ridge": {},
    "least squares": {"penalties": [0.0], "min_correlations": [None]},
    "chain": {"connectivity": "chain", "units": "original", "noise": "full"},
    "lasso": {"penalties": None, "estimator": Lasso(0.1)},
    "blocks": {"blocks": list("abababababababa")},
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("parameters", PREDICTING.values(), ids=PREDICTING)
def test_a_model_that_predicts_survives(tmp_path, container, parameters):
    X, y = draw(2)
    X = CONTAINERS[container](X)
    model = LinCFACV(**QUICK | parameters).set_output(transform="pandas").fit(X, y)
    loaded = saved(model, tmp_path)
    assert type(loaded) is LinCFACV
    assert state(loaded.reducer_) == state(model.reducer_)
    fitted = [name for name in vars(model) if name.endswith("_") and name not in NOT_SAVED]
    for name in (*fitted, "coef_", "intercept_"):
        assert bits(getattr(loaded, name)) == bits(getattr(model, name))
    if container == "float32" and model.estimator is not None:  # it predicts in that type
        np.testing.assert_allclose(loaded.predict(X), model.predict(X), rtol=1e-5)
    else:
        assert bits(loaded.predict(X)) == bits(model.predict(X))
        assert loaded.score(X, y) == model.score(X, y)
    assert bits(loaded.transform(X).to_numpy()) == bits(model.transform(X).to_numpy())
    *table, choice = str(model.summary()).splitlines()
    score = choice[choice.index(" (") : choice.index(")") + 1]  # which is not saved
    assert str(loaded.summary()).splitlines() == [*table, choice.replace(score, "")]
    # What was chosen is the only candidate, so that another fit chooses it again.
    if model.estimator is None:
        assert bits(clone(loaded).fit(X, y).predict(X)) == bits(model.predict(X))
    # A file of a file is the same.
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


NOT_SAVED = ("cv_", "cv_results_", "best_index_", "best_score_", "reducer_", "estimator_")


@pytest.mark.parametrize(
    "estimator", [KNeighborsRegressor(), PoissonRegressor(), make_pipeline(Lasso())], ids=str
)
def test_a_model_that_is_not_linear_is_refused(tmp_path, estimator):
    X, y = draw(2)
    model = LinCFACV(**QUICK | {"penalties": None}, estimator=estimator).fit(X, np.exp(y / 9))
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "intercept_")
    with pytest.raises(ValueError, match=r"no linear weights.*model\.reducer_\.save"):
        model.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())
    model.reducer_.save(tmp_path / "model.json")
    assert bits(lincfa.load(tmp_path / "model.json").transform(X)) == bits(model.transform(X))


def test_before_the_fit_there_is_nothing_to_save(tmp_path):
    for model in (LinCFA(), LinCFACV()):
        with pytest.raises(NotFittedError):
            model.save(tmp_path / "model.json")
    assert not hasattr(LinCFACV(), "coef_")


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("history", HISTORIES)
def test_every_container_and_history_survives(tmp_path, container, history):
    X, y = draw(2)
    X = CONTAINERS[container](X)
    model = HISTORIES[history](X, y)
    assert_same_model(saved(model, tmp_path), model, X)


@pytest.mark.parametrize("units", ["standardized", "original"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_constant_columns_survive(tmp_path, strategy, units):
    X, y = draw(3)
    X[:, [0, 7, 14]] = [0.1, -3e7, 0.0]
    with pytest.warns(UserWarning, match="constant"):
        model = LinCFA(strategy=strategy, units=units).fit(table(X), y)
    loaded = saved(model, tmp_path)
    assert_same_model(loaded, model, table(X))
    assert np.flatnonzero(loaded.labels_ < 0).tolist() == [0, 7, 14]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_feature_survives(tmp_path, strategy):
    X, y = draw(4, D=1)
    model = LinCFA(strategy=strategy).fit(X, y)
    loaded = saved(model, tmp_path)
    assert state(loaded) == state(model)
    assert bits(loaded.transform(X)) == bits(model.transform(X))


def test_figures_that_json_has_no_name_for_survive(tmp_path):
    """No threshold of a regression on all groups, any tolerance before it, any r for copies."""
    X, y = draw(5, n=40, D=30)
    X = np.hstack([X, X[:, :3]])
    model = LinCFA(strategy="joint", n_groups=1).fit(X, y)
    evidence = model.evidence_
    assert np.isnan(evidence["threshold"]).any()
    assert (evidence["threshold"] == -np.inf).any()
    assert (evidence["tolerance"] == np.inf).any()
    assert_same_model(saved(model, tmp_path), model, X)


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_the_container_of_the_output_is_kept(tmp_path, output):
    X, y = draw(6)
    model = LinCFA().fit(X, y).set_output(transform=output)
    assert_same_model(saved(model, tmp_path), model, X)


STRUCTURES = [
    {"connectivity": "chain"},
    {"connectivity": grid_connectivity((3, 4))},
    {"connectivity": grid_connectivity((3, 4)).toarray().tolist(), "blocks": list("aabbaabbaabb")},
    {"blocks": np.repeat([1.5, 2.0], 6)},
    {"blocks": np.array([1, "1"] * 6, dtype=object)},
    {"blocks": [np.int64(1), "1"] * 6},
    {"blocks": np.repeat(np.array(["2020", "2021"], dtype="datetime64[Y]"), 6)},
]


@pytest.mark.parametrize("strategy", ["sequential", "agglomerative"])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_structures_survive(tmp_path, structure, strategy):
    X, y = many_factors(np.random.default_rng(4), 50, 12)
    model = LinCFA(strategy=strategy, tolerance=5.0, **structure).fit(X, y)
    loaded = saved(model, tmp_path)
    changed = ("connectivity", "blocks")  # the same, in other containers
    for name, value in state(model).items():
        assert name in changed or state(loaded)[name] == value
    again = saved(loaded, tmp_path)
    assert again.blocks == loaded.blocks
    given = structure.get("connectivity")
    if given is not None and not isinstance(given, str):
        given = given if isinstance(given, list) else given.toarray()
        np.testing.assert_array_equal(again.connectivity.toarray(), given)
    assert state(again.fit(X, y))["labels_"] == bits(model.labels_)


# Files written by earlier versions, from X and y of ``waves``.

ADDED = {"signed": False, "missing": "error", "feature_weights": None}
"""Parameters that version 4 added, as they were before."""
OLD = [
    *("version-1-joint", "version-2-table", "version-2-field", "version-3-regression"),
    *("version-4-signed", "version-5-targets", "version-6-named"),
]


def waves(n=24, D=8):
    """Waves of two lengths and a target, made without random numbers."""
    t = np.arange(n)[:, None]
    X = np.sin(t * np.array([1.0, 2.2])[np.arange(D) * 2 // D] + 0.1 * np.arange(D))
    return X, X[:, 0] - 0.5 * X[:, -1] + np.cos(7.0 * np.arange(n)) / 3


@pytest.mark.parametrize("name", OLD)
def test_files_of_earlier_versions_load(tmp_path, name):
    X, y = waves()
    file = DATA / f"saved-{name}.json"
    loaded = lincfa.load(file)
    reducer = getattr(loaded, "reducer_", loaded)
    if "field" in name:  # the dataset of the fit, rebuilt from its description
        assert loaded.field_.names == list(loaded.feature_names_in_)
        assert [variable.name for variable in loaded.field_.variables] == ["t2m"]
        assert loaded.field_.levels == {"place": ("lat", "lon")}
        dates = {c.name: c.values for c in loaded.field_.coordinates}["date"]
        assert np.isnat(dates).tolist() == [False, False, True, False] * 2
        X = np.delete(X, 4, axis=1)
    if "signed" in name:
        X[:, 1::3] *= -1
        assert set(loaded.signs_) == {-1, 1}
    if "targets" in name:
        y = pd.DataFrame({"warm": y, "wet": X[:, 3] + np.sin(5.0 * np.arange(len(y)))})
    if "named" in name:
        y = pd.Series(y, name="rain")
    model = clone(reducer).set_params(sample_dim=None)
    weights = np.linspace(0.5, 1.5, len(y)) if "version-1" in name else None
    assert_same_fit(loaded, model.fit(X, y, sample_weight=weights))
    assert loaded.n_connected_components_ == model.n_connected_components_
    loaded.save(tmp_path / "again.json")
    old, new = (json.loads(path.read_text()) for path in (file, tmp_path / "again.json"))
    assert new["version"] == 7
    assert new["model"].pop("rows") is None
    if new["model"]["regression"] is not None:
        assert new["model"]["regression"].pop("searched") is True
        assert new["model"]["regression"].pop("errors") is None
    if old["version"] < 6:
        assert new["model"].pop("effective_samples") == reducer.effective_samples_ == 24.0
        assert new["model"]["parameters"].pop("effective_samples") is None
        assert new["model"]["targets"].pop("title") is None
        assert new["model"]["targets"].pop("attrs") == {}
        if new["model"]["regression"] is not None:
            assert new["model"]["regression"].pop("rescaled") is False
    if old["version"] < 5:
        assert new["model"].pop("targets") == {"size": 1, "names": None, "classes": None}
        assert new["model"]["parameters"].pop("target") is None
        assert loaded.target_names_ == ["y"]
    if old["version"] < 4:
        for branch in ("features", "evidence", "merge_path"):
            if new["model"][branch] is not None:
                assert set(new["model"][branch].pop("sign")) == {1}
        assert set(new["model"]["features"].pop("weight")) == {1.0}
        added = {name: new["model"]["parameters"].pop(name) for name in ADDED}
        assert added == ADDED
        assert loaded.get_params().items() >= ADDED.items()
    if old["version"] < 3:
        assert new["model"].pop("regression") is None
    if old["version"] < 2:
        assert new["model"].pop("field") is None
        assert new["model"].pop("structure") == {"connectivity": None, "blocks": None}
        assert new["model"]["parameters"].pop("sample_dim") is None
    assert new["model"] == old["model"]


def test_fingerprints_of_rows_may_stay_out(tmp_path):
    X, y = draw(3)
    for model in (LinCFA().fit(X, y), LinCFACV(**QUICK).fit(X, y)):
        for rows in (True, False):
            model.save(tmp_path / "model.json", rows=rows)
            content = json.loads((tmp_path / "model.json").read_text())["model"]
            assert (content["rows"] is None) == (not rows)
            np.testing.assert_array_equal(
                lincfa.load(tmp_path / "model.json").labels_, model.labels_
            )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_signs_and_weights_survive(tmp_path, strategy):
    X, y = draw(3)
    given = np.random.default_rng(0).uniform(0.1, 2, X.shape[1])
    options = {"signed": True, "missing": "pairwise", "feature_weights": given}
    model = LinCFA(strategy=strategy, tolerance=3.0, **options).fit(table(X), y)
    assert set(model.signs_) == {-1, 1}
    loaded = saved(model, tmp_path)
    X[3:9, 4] = np.nan
    assert_same_model(loaded, model, table(X))
    assert loaded.signed is True
    np.testing.assert_array_equal(loaded.feature_weights, given)
    before = (tmp_path / "model.json").read_bytes()
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == before


def test_signs_and_weights_of_a_model_that_predicts(tmp_path):
    X, y = draw(3)
    options = {"signed": True, "feature_weights": [2.0] * 15}
    model = LinCFACV(strategies=["sequential"], tolerances=[3.0], **options).fit(X, y)
    assert set(model.signs_) == {-1, 1}
    loaded = saved(model, tmp_path)
    assert bits(loaded.predict(X)) == bits(model.predict(X))
    assert bits(loaded.coef_) == bits(model.coef_)
    assert loaded.signed
    np.testing.assert_array_equal(loaded.feature_weights, np.ones(15))  # equal weights are plain


@pytest.mark.parametrize("kind", ["names", "wavelengths", "levels"])
def test_other_columns_are_refused_after_a_load(tmp_path, kind):
    X, y = draw(7)
    frame = CONTAINERS[kind](X)
    loaded = saved(LinCFA().fit(frame, y), tmp_path)
    assert_raises("same order", loaded.transform, frame.iloc[:, ::-1])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_loaded_model_lives_on(tmp_path, strategy):
    X, y = draw(8)
    model = LinCFA(strategy=strategy).fit(table(X), y)
    loaded = saved(model, tmp_path)
    before = (tmp_path / "model.json").read_bytes()
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == before
    assert state(pickle.loads(pickle.dumps(loaded))) == state(model)
    assert state(clone(loaded)) == state(clone(model))
    assert state(clone(loaded).fit(table(X), y)) == state(model)
    assert state(loaded.fit(X[:, :9], y)) == state(clone(model).fit(X[:, :9], y))


def test_partial_fit_starts_over_after_a_load(tmp_path):
    X, y = draw(9)
    loaded = saved(stream(X[:40], y[:40], (20,)), tmp_path)
    assert not hasattr(saved(loaded, tmp_path).partial_fit(X[:2], y[:2]), "labels_")
    loaded.partial_fit(X[40:, :7], y[40:])
    assert loaded.n_samples_ == 20
    assert_same_fit(loaded, LinCFA().fit(X[40:, :7], y[40:]))


def test_numbers_of_numpy_as_parameters(tmp_path):
    X, y = draw(10)
    model = LinCFA(strategy="joint", n_groups=np.int32(3), noise=np.float32(0.1)).fit(X, y)
    assert saved(model, tmp_path).get_params() == model.get_params()


def test_the_file_is_plain_json(tmp_path):
    X, y = draw(11, n=40, D=30)
    model = LinCFA(strategy="joint").fit(X, y)
    model.save(str(tmp_path / "model.json"))
    text = (tmp_path / "model.json").read_bytes().decode("ascii")
    assert "\r" not in text
    assert text.endswith("}\n")
    json.loads(text, parse_constant=pytest.fail)
    assert lincfa.load(str(tmp_path / "model.json")).n_groups_ == model.n_groups_


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("saved")


NAMED = LinCFA(tolerance=9).fit(table(draw(12, D=4)[0]), draw(12, D=4)[1])
PLAIN = LinCFA(strategy="agglomerative", tolerance=1e9).fit(*draw(13, D=4))

# Two halves of a character in a row would be read as the character, and are refused.
LETTERS = st.characters(exclude_categories=()) | st.sampled_from("\"'\\\n\r\0/é\u2028\ud800\udfff")
HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
NAMES = st.text(LETTERS, max_size=8).filter(lambda name: not HALVES.search(name))


@settings(derandomize=True, deadline=None, max_examples=40)
@given(names=st.lists(NAMES, min_size=4, max_size=4, unique=True))
def test_any_names_survive(folder, names):
    model = copy.deepcopy(NAMED)
    model.feature_names_in_ = np.array(names, dtype=object)
    model._columns = Columns(4, names)
    loaded = saved(model, folder)
    assert state(loaded) == state(model)
    assert loaded.groups_by_name() == model.groups_by_name()
    del model.feature_names_in_
    model._columns = Columns(4, [(name,) for name in names])
    assert state(saved(model, folder)) == state(model)


FINITE = st.floats(allow_nan=False, allow_infinity=False)
POSITIVE = st.floats(1e-300, 1e300)
CORRELATIONS = st.floats(-1, 1)
SHARES = st.floats(0, 1e300)  # figures that follow from them are to be finite


def test_names_that_are_no_text_are_refused(tmp_path):
    model = copy.deepcopy(NAMED)
    model.feature_names_in_ = np.array(["a", "b", "c", "\ud83d\ude00"], dtype=object)
    assert_raises("is not valid text and cannot be saved", model.save, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_names_that_data_frames_cannot_hold(tmp_path):
    X, y = draw(12, D=4)
    names = pd.Index(["a", "b\ud800", "c", "d"], dtype=object)
    X = pd.DataFrame(X, columns=names)
    fitted = LinCFA(tolerance=1e-9).fit(X, y)
    for model in (fitted, saved(fitted, tmp_path)):
        assert model.transform(X).shape == (len(X), 4)
        said = r"A data frame cannot hold 'b\\ud800', which is not valid Unicode; rename it\."
        assert_raises(said, model.set_output(transform="polars").transform, X)
        assert_raises(said, model.summary().frame, "polars")


@settings(derandomize=True, deadline=None, max_examples=40)
@given(data=st.data())
def test_any_numbers_survive(folder, data):
    model = copy.deepcopy(PLAIN)

    def drawn(values, like):
        return np.array(data.draw(st.lists(values, min_size=like.size, max_size=like.size)))

    model.mean_, model.scale_ = drawn(FINITE, model.mean_), drawn(POSITIVE, model.scale_)
    model.target_correlation_ = drawn(CORRELATIONS, model.mean_)
    model.n_samples_ = model.effective_samples_ = data.draw(st.floats(4, 1e300))
    model.target_scale_ = data.draw(POSITIVE)
    for name in ("mean_correlation", "min_correlation", "target_correlation"):
        model.cohesion_[name] = drawn(CORRELATIONS | st.just(np.nan), model.cohesion_)
    model.evidence_["correlation"] = drawn(CORRELATIONS, model.evidence_)
    model.evidence_["threshold"] = drawn(st.floats(), model.evidence_)
    model.evidence_["f"] = drawn(SHARES, model.evidence_)
    model.evidence_["tolerance"] = drawn(st.floats(1e300), model.evidence_)
    for name in ("variance_drop_share", "bias_growth_share"):
        model.evidence_[name] = drawn(SHARES, model.evidence_)
    model.evidence_ = with_gains(model.evidence_[list(evidence_type(1).names)], model.target_scale_)
    model.merge_path_["correlation"] = drawn(CORRELATIONS, model.merge_path_)
    for name in ("f", "mean_correlation", "min_correlation", "bias_growth_share"):
        model.merge_path_[name] = drawn(st.floats(), model.merge_path_)
    model.merge_path_["height"] = np.sort(drawn(st.floats(0), model.merge_path_))
    assert state(saved(model, folder)) == state(model)
