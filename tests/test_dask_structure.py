"""Connectivity and blocks on chunks: the groups of the same values in memory."""

from unittest.mock import patch

import numpy as np
import pytest

pytest.importorskip("dask.array")

from dask_data import ROUTES, STRATEGIES, assert_equal_models, fit, odd_chunks
from lincfa import LinCFA
from lincfa._statistics import CachedStatistics
from lincfa.structure import grid_connectivity
from reference import many_factors

pytestmark = pytest.mark.usefixtures("one_thread")

STRUCTURES = {
    "connectivity": {"connectivity": grid_connectivity((4, 9))},
    "blocks": {"blocks": np.arange(36) % 2},
    "both": {"connectivity": grid_connectivity((4, 9)), "blocks": np.arange(36) // 18},
}


@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [30, 90], ids=["wide", "tall"])
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_as_in_memory(strategy, route, n, weighted, structure):
    """By comoments, by all correlations and by gathered columns; rows without weight among them."""
    X, y = many_factors(np.random.default_rng(1), n, 36)
    weights = np.random.default_rng(0).integers(0, 4, size=n).astype(float) if weighted else None
    options = {"strategy": strategy, "tolerance": 2.0, **structure}
    expected = LinCFA(**options).fit(X, y, weights)
    assert_equal_models(fit(odd_chunks(X), y, weights, route=route, **options), expected)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_fewer_samples_than_features_need_no_correlations_of_all_pairs(strategy):
    X, y = many_factors(np.random.default_rng(1), 30, 36)
    options = {"strategy": strategy, "route": "many passes", **STRUCTURES["connectivity"]}
    with patch.object(CachedStatistics, "of", side_effect=AssertionError):
        fit(odd_chunks(X), y, **options)
        if strategy == "sequential":
            X, y = many_factors(np.random.default_rng(1), 90, 36)
            with pytest.raises(AssertionError):
                fit(odd_chunks(X), y, **options)
