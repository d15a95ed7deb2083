"""Several processes, and all methods: nothing is patched here, as it would not be elsewhere."""

import math

import pytest

from lincfa.baselines import n_features
from lincfa.paper import _run, reproduce
from lincfa.paper._methods import methods, predict_methods


def figures(results):
    for table in results.tables:
        for row in table.rows:
            for estimate in (row.ours, row.as_printed):
                yield (estimate.value, estimate.margin, estimate.spread)


def test_results_do_not_depend_on_the_number_of_workers(tmp_path):
    one, two = (
        reproduce(tmp_path / str(k), experiments=["trivariate"], repetitions=10, workers=k)
        for k in (1, 2)
    )
    assert len(two.tables[1].rows) == 20 + 1 + 3 * 8
    for ours, other in zip(figures(one), figures(two), strict=True):
        assert ours == pytest.approx(other, rel=1e-9, abs=1e-9, nan_ok=True)
    assert [t.counts() for t in one.tables] == [t.counts() for t in two.tables]


def test_a_task_that_ends_late_keeps_its_place():
    tasks = [(divmod, (k, 3), {}) for k in range(7)]
    steps = []
    found = _run._run(tasks, 2, lambda done, total: steps.append((done, total)))
    assert list(found) == [divmod(k, 3) for k in range(7)]
    assert steps[-1] == (7, 7)


def test_every_method_says_how_many_features_it_has(rng):
    X = rng.normal(size=(60, 1)) + 0.3 * rng.normal(size=(60, 6))
    y = X.sum(axis=1) + rng.normal(size=60)
    names = []
    for name, d, predicted in predict_methods(X, y, X[:5]):
        names.append(name)
        assert predicted.shape == (5,)
        assert 1 <= d <= 6
        assert math.isfinite(predicted.sum())
    assert names == list(methods(60, 6))
    assert len(names) == 8
    assert n_features(methods(60, 6)["ridge"].fit(X, y)) == 6
    components = methods(12, 30)["PLS"][-1].param_grid["n_components"]
    assert components == list(range(1, 9))  # the largest fold leaves nine samples
