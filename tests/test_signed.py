"""Signs: the orientation of columns changes nothing but ``signs_``."""

from functools import partial

import numpy as np
import pytest

import literal_strategies as literal
from lincfa import LinCFA, LinCFACV, explain_pair
from literal_strategies import CLEAR
from reference import QUICK, assert_raises
from signs_gaps_weights import copies, every_strategy, factors, few_samples, make

ENOUGH = 300  # samples of which the correlations in pairs are those of columns, also with gaps


def clear_data(family, strategy, *, gaps=False, n=60, tries=4):
    """Data and weights on which rounding decides no sign and no merge."""
    for seed in range(tries):
        X, y, weights = make(family, n, gaps=gaps, seed=seed)
        rules = {"signed": True, "weights": weights}
        if strategy in ("sequential", "centroid"):
            rules["tolerance"] = 2.0
        if getattr(literal, strategy)(X, y, **rules).clear > CLEAR:
            return X, y, weights
    raise AssertionError("no data on which rounding does not decide: take other seeds")


def assert_same_but_for_signs(model, flipped, flips):
    """Same groups and figures; signs relative to the first feature, which may be flipped too."""
    np.testing.assert_array_equal(flipped.labels_, model.labels_)
    for group in model.groups_:
        expected = model.signs_[group] * flips[group] * flips[group[0]]
        np.testing.assert_array_equal(flipped.signs_[group], expected)
    for name in ("feature", "partner", "group"):
        np.testing.assert_array_equal(flipped.evidence_[name], model.evidence_[name])
    evidence = model.evidence_
    signs = evidence["sign"] * flips[evidence["feature"]] * flips[evidence["partner"]]
    np.testing.assert_array_equal(flipped.evidence_["sign"], signs)
    # Signs are exact, but sums of them may come in another order.
    for name, bound in (("correlation", 1e-10), ("f", 1e-7), ("gain_share", 1e-9)):
        np.testing.assert_allclose(
            flipped.evidence_[name], evidence[name], rtol=bound, atol=bound, err_msg=name
        )
    for name in model.cohesion_.dtype.names:
        if name != "target_correlation":  # that of the mean, which has the sign of its seed
            np.testing.assert_allclose(
                flipped.cohesion_[name], model.cohesion_[name], atol=1e-9, err_msg=name
            )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
@every_strategy
def test_flipped_columns(strategy, gaps, weighted):
    X, y, weights = clear_data(factors, strategy, gaps=gaps, n=ENOUGH)
    build = partial(
        LinCFA,
        strategy=strategy,
        tolerance=2.0,
        signed=True,
        missing="pairwise" if gaps else "error",
        feature_weights=weights if weighted else None,
    )
    model = build().fit(X, y)
    assert (model.signs_ < 0).any()
    assert model.signs_.dtype == np.int8
    rng = np.random.default_rng(0)
    for flips in (rng.choice([-1, 1], size=12), np.full(12, -1), np.where(np.arange(12), 1, -1)):
        flipped = build().fit(X * flips, y)
        assert_same_but_for_signs(model, flipped, flips)
        first = np.array([flips[group[0]] for group in model.groups_])
        np.testing.assert_allclose(flipped.transform(X * flips), model.transform(X) * first)


@every_strategy
def test_flipped_target(strategy):
    X, y, _ = clear_data(few_samples, strategy)
    model, other = (
        LinCFA(strategy=strategy, signed=True).fit(X, values) for values in (y, 5 - 2 * y)
    )
    np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_array_equal(other.signs_, model.signs_)


@pytest.mark.parametrize("missing", ["error", "pairwise"])
def test_predictions_do_not_depend_on_signs(missing):
    X, y, _ = make(factors, ENOUGH, gaps=missing == "pairwise", seed=1)
    flips = np.random.default_rng(2).choice([-1, 1], size=12)
    search = {**QUICK, "strategies": ("sequential", "centroid", "agglomerative")}
    one, two = (
        LinCFACV(**search, signed=True, missing=missing).fit(values, y) for values in (X, X * flips)
    )
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_allclose(one.predict(X), two.predict(X * flips), rtol=1e-7, atol=1e-7)
    assert (one.signs_ < 0).any() or (two.signs_ < 0).any()


@every_strategy
def test_mirror_images_merge_as_copies_do(strategy):
    with_copies, y, _ = make(copies)
    X = with_copies * np.where(np.arange(12) % 2, -1, 1)
    model = LinCFA(strategy=strategy, tolerance=1e-6, signed=True).fit(X, y)
    plain = LinCFA(strategy=strategy, tolerance=1e-6).fit(with_copies, y)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.n_groups_ == 4
    rho = np.corrcoef(X.T)
    for group in model.groups_:
        np.testing.assert_array_equal(model.signs_[group], np.sign(rho[group[0], group]))
    # Means of copies may differ from them by rounding.
    np.testing.assert_allclose(model.evidence_["f"], 0, atol=1e-9)
    np.testing.assert_allclose(model.evidence_["correlation"], 1, rtol=1e-13)


@every_strategy
def test_smallest_correlation_is_after_the_flip(strategy):
    """A noisy mirror image merges above its |ρ| and not below."""
    rng = np.random.default_rng(4)
    x, noise = rng.normal(size=(2, 80))
    X = np.column_stack([x, -x + 0.5 * noise])
    y = x + rng.normal(size=80)
    rho = abs(literal.correlation(*X.T))
    options = {"strategy": strategy, "tolerance": 1e6, "signed": True}
    model = LinCFA(**options, min_correlation=rho - 1e-6).fit(X, y)
    assert model.signs_.tolist() == [1, -1]
    assert model.evidence_["correlation"] == pytest.approx([rho], abs=1e-12)
    apart = LinCFA(**options, min_correlation=rho + 1e-6).fit(X, y)
    assert apart.n_groups_ == 2
    assert LinCFA(strategy=strategy, tolerance=1e6, min_correlation=0.0).fit(X, y).n_groups_ == 2


def test_the_smallest_correlation_may_decide_the_sign():
    """Where the sign with the smaller F is not allowed, the other is compared."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 2))
    X[:, 1] += 0.3 * X[:, 0]
    y = X[:, 0] - X[:, 1] + rng.normal(size=60)
    free = explain_pair(X, y, 0, 1, signed=True)
    assert (free.sign, free.correlation < 0) == (-1, True)
    limited = explain_pair(X, y, 0, 1, signed=True, min_correlation=0.0)
    plain = explain_pair(X, y, 0, 1)
    assert limited.sign == 1
    assert (limited.f, limited.correlation) == (plain.f, plain.correlation)
    assert free.f < plain.f


@every_strategy
def test_signs_are_all_one_unless_asked_for(strategy):
    X, y, _ = make(factors)
    model = LinCFA(strategy=strategy).fit(X, y)
    assert model.signs_.dtype == np.int8
    assert (model.signs_ == 1).all()
    assert (model.evidence_["sign"] == 1).all()


@pytest.mark.parametrize("strategy", ["agglomerative", "joint"])
def test_cuts_have_the_signs_of_a_fit(strategy):
    X, y, _ = clear_data(factors, strategy)
    model = LinCFA(strategy=strategy, signed=True).fit(X, y)
    for n_groups in (2, 5, 8):
        cut = model.cut(n_groups=n_groups)
        fit = LinCFA(strategy=strategy, signed=True, n_groups=n_groups).fit(X, y)
        np.testing.assert_array_equal(cut.signs_, fit.signs_)
        np.testing.assert_array_equal(cut.transform(X), fit.transform(X))


@pytest.mark.parametrize("value", ["yes", 1, None, "False"])
def test_signed_is_true_or_false(value):
    X, y, _ = make(factors)
    message = f"signed must be True or False, got {value!r}"
    assert_raises(message, LinCFA(signed=value).fit, X, y)
    assert_raises(message, LinCFACV(**QUICK, signed=value).fit, X, y)
    assert_raises(message, explain_pair, X, y, 0, 1, signed=value)
