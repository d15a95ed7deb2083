"""Several targets and labels of features in chunks of dask: the same as in memory."""

import numpy as np
import pandas as pd
import pytest

from lincfa import LinCFA
from reference import assert_raises
from several_targets import classes_of, several
from signs_gaps_weights import every_strategy, factors

da = pytest.importorskip("dask.array")

from dask_data import ROUTES, assert_equal_models, fit, odd_chunks

pytestmark = pytest.mark.usefixtures("one_thread")

NAMES = ["yield", "protein", "rain"]


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("route", ROUTES)
@every_strategy
def test_dask_arrays(strategy, route, gaps):
    X, Y, _ = several(factors, 120, gaps=gaps)
    parameters = {
        "strategy": strategy,
        "tolerance": 2.0,
        "missing": "pairwise" if gaps else "error",
    }
    expected = LinCFA(**parameters).fit(X, Y)
    for given in (Y, da.from_array(Y, chunks=(50, 2)), pd.DataFrame(Y, columns=NAMES)):
        model = fit(odd_chunks(X), given, route=route, **parameters)
        assert_equal_models(model, expected)
        for name in ("variance_drop_share", "bias_growth_share", "gain_share"):
            one, two = model.evidence_[name], expected.evidence_[name]
            np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("route", ROUTES)
@every_strategy
def test_dask_arrays_with_labels(strategy, route):
    X, Y, _ = several(factors, 60)
    labels = classes_of(Y[:, 0])
    expected = LinCFA(strategy=strategy, tolerance=2.0).fit(X, labels)
    lazy = da.from_array(X, chunks=(25, 4))
    model = fit(lazy, labels, route=route, strategy=strategy, tolerance=2.0)
    assert_equal_models(model, expected)
    assert list(model.classes_) == list(expected.classes_)


def test_a_constant_target_is_named():
    X, Y, _ = several(factors, 60)
    lazy = da.from_array(X, chunks=(25, 4))
    Y[:, 1] = 0.1
    assert_raises("(?i)target 1.*constant", fit, lazy, Y)
    assert_raises("protein.*constant", fit, lazy, pd.DataFrame(Y, columns=NAMES))
    assert_raises("sunny", fit, lazy, ["sunny"] * 60)
