"""From the reduced features back: inverse_transform and expand_coefficients."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, Ridge

from lincfa import LinCFA, LinCFACV
from reference import QUICK, assert_raises, draw

UNITS = ["standardized", "original"]


@pytest.fixture(params=UNITS)
def fitted_pair(request):
    """A model and its data, with columns of different units and one that is constant."""
    X, y = draw(3)
    X = X * np.geomspace(0.01, 100, 15) + np.linspace(-500, 500, 15)
    X[:, 7] = 42.0
    with pytest.warns(UserWarning, match="constant"):
        return LinCFA(units=request.param).fit(X, y), X, y


def test_inverse_by_its_definition(fitted_pair):
    model, X, _ = fitted_pair
    Z = model.transform(X)
    back = model.inverse_transform(Z)
    assert back.shape == X.shape
    np.testing.assert_array_equal(back[:, 7], 42.0)
    assert model.inverse_transform(Z.astype(np.float32)).dtype == np.float32
    for number, group in enumerate(model.groups_):
        for j in group:
            expected = X[:, j].mean() + X[:, j].std(ddof=1) * Z[:, number]
            if model.units == "original":
                expected = X[:, j].mean() + Z[:, number] - X[:, group].mean()
            np.testing.assert_allclose(back[:, j], expected, rtol=1e-12)
    rng = np.random.default_rng(0)
    Z = model.transform(X) + rng.normal(size=(len(X), model.n_groups_))
    np.testing.assert_allclose(
        model.transform(model.inverse_transform(Z)), Z, rtol=1e-11, atol=1e-11
    )


def test_inverse_takes_frames_and_refuses_what_is_not_reduced():
    X, y = draw(0)
    model = LinCFA().fit(pd.DataFrame(X).rename(columns="f{}".format), y)
    Z = model.transform(pd.DataFrame(X).rename(columns="f{}".format))
    names = model.get_feature_names_out().tolist()
    expected = model.inverse_transform(Z)
    for frame in (pd.DataFrame(Z, columns=names), pl.DataFrame(Z, schema=names)):
        np.testing.assert_array_equal(model.inverse_transform(frame), expected)
    np.testing.assert_array_equal(model.inverse_transform(Z.tolist()), expected)
    with pytest.raises(ValueError, match="not in the order of the fit"):
        model.inverse_transform(pd.DataFrame(Z, columns=names)[names[::-1]])
    with pytest.raises(ValueError, match="lacks the reduced feature 'mean"):
        model.inverse_transform(pd.DataFrame(Z, columns=names)[names[1:]])
    with pytest.raises(ValueError, match="'other' is not a reduced feature"):
        model.inverse_transform(pd.DataFrame(Z, columns=["other", *names[1:]]))
    model = LinCFA().fit(X, y)
    assert_raises(f"X has 15 columns, but there are {model.n_groups_}", model.inverse_transform, X)
    Z = model.transform(X)
    Z[3, 1] = np.nan
    assert_raises(r"NaN in column 1 \(row 3\)", model.inverse_transform, Z)


def test_expanded_coefficients_predict_the_same(fitted_pair):
    """To rounding, of the largest terms that are added up."""
    model, X, y = fitted_pair
    regression = LinearRegression().fit(model.transform(X), y)
    coef, intercept = model.expand_coefficients(regression.coef_, regression.intercept_)
    assert coef.shape == (15,)
    assert isinstance(intercept, float)
    assert coef[7] == 0
    size = np.abs(X * coef).sum(axis=1).max() + abs(intercept)
    new = X + np.random.default_rng(1).normal(size=X.shape)
    for rows in (X, new):
        predicted = regression.predict(model.transform(rows))
        np.testing.assert_allclose(rows @ coef + intercept, predicted, rtol=0, atol=1e-14 * size)


def test_expanding_several_targets():
    X, y = draw(0)
    model = LinCFA().fit(X, y)
    targets = np.column_stack([y, -2 * y + X[:, 0]])
    ridge = Ridge().fit(model.transform(X), targets)
    coef, intercept = model.expand_coefficients(ridge.coef_, ridge.intercept_)
    assert coef.shape == (2, 15)
    assert intercept.shape == (2,)
    predicted = ridge.predict(model.transform(X))
    np.testing.assert_allclose(X @ coef.T + intercept, predicted, rtol=0, atol=1e-12)
    weights = np.ones(model.n_groups_)  # without an intercept, that of the means is left
    coef, intercept = model.expand_coefficients(weights)
    np.testing.assert_allclose(X @ coef + intercept, model.transform(X) @ weights, atol=1e-12)
    model = LinCFACV(**QUICK).fit(X, y)
    coef, intercept = model.expand_coefficients(model.estimator_.coef_, model.estimator_.intercept_)
    np.testing.assert_allclose(X @ coef + intercept, model.predict(X), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(
        model.inverse_transform(model.transform(X)),
        model.reducer_.inverse_transform(model.transform(X)),
    )


@pytest.mark.parametrize(
    ("coef", "intercept", "message"),
    [
        ([1.0], 0.0, r"one coefficient per reduced feature"),
        (np.ones((2, 3, 4)), 0.0, r"one coefficient per reduced feature"),
        (None, [1.0, 2.0], r"intercept must be one number, got an array of shape \(2,\)"),
    ],
)
def test_wrong_coefficients_are_refused(coef, intercept, message):
    X, y = draw(0)
    model = LinCFA().fit(X, y)
    coef = np.ones(model.n_groups_) if coef is None else coef
    assert_raises(message, model.expand_coefficients, coef, intercept)
