"""F counts with the effective number of samples, where samples follow each other in time."""

import numpy as np
import pandas as pd
import pytest

from lincfa import LinCFA, explain_pair, order_sensitivity, stability, theory
from lincfa._statistics._series import autocorrelations
from lincfa.report._findings import collect_findings
from lincfa.report._words import describe_reduction
from literal_strategies import CLEAR, assert_as_literally, literally
from reference import assert_raises, noise_only, stream
from series import autoregression, persistent
from signs_gaps_weights import assert_same_groups, every_strategy, factors, few_samples, make

# What it means for every strategy

KINDS = {
    "plain": set(),
    "signed weights": {"signed", "weights"},
    "gaps": {"gaps"},
    "all": {"signed", "weights", "gaps"},
}
RULES = [{"tolerance": 1.0}, {"tolerance": 0.5, "noise": 0.3}]


@pytest.mark.parametrize("kind", KINDS)
@every_strategy
def test_as_literally(strategy, kind):
    """Groups and figures of the literal strategies in which n is replaced."""
    kind = KINDS[kind]
    gaps = "gaps" in kind
    n = 300 if strategy == "joint" and gaps else 60
    families = [factors, noise_only] if gaps else [factors, noise_only, few_samples]
    for family in families:
        for rule in RULES:
            for seed in range(4):  # one where rounding cannot decide
                X, y, weights = make(family, n, gaps=gaps, seed=seed)
                effective = len(y) / 2
                rules = dict(rule)
                if "noise" in rules:
                    rules["noise"] *= y.var()
                signed, weights = "signed" in kind, weights if "weights" in kind else None
                judged = {**rules, "signed": signed, "weights": weights, "share": 0.5}
                expected = literally(strategy, X, y, **judged)
                if expected.clear > CLEAR:
                    break
            model = LinCFA(
                strategy=strategy,
                effective_samples=effective,
                signed=signed,
                feature_weights=weights,
                missing="pairwise" if gaps else "error",
                **rules,
            ).fit(X, y)
            assert_as_literally(model, expected, X, y, **judged)
            assert model.effective_samples_ == effective


def test_few_shared_samples_count_for_four():
    """Two features share 8 samples, a tenth of which would be less than one."""
    X, y = persistent(n=40, D=2)
    X[:16, 0] = X[24:, 1] = np.nan
    model = LinCFA(missing="pairwise", effective_samples=4, tolerance=100.0).fit(X, y)
    both = X[16:24].T
    r = np.corrcoef([*both, y[16:24]])[np.triu_indices(3, 1)]
    (found,) = model.evidence_["f"]
    assert found == pytest.approx(float(theory.f_statistic(4, *r)))


@pytest.mark.parametrize("noise", ["pair", "full"])
@every_strategy
def test_as_samples_of_so_little_weight(strategy, noise):
    """Rows that weigh m/n each have the same correlations and add up to m samples."""
    X, y = persistent()
    targets = np.column_stack([y, X[:, 0] - X[:, 4] + np.sin(np.arange(len(y)))])
    for outcome in (y, targets):
        model = LinCFA(strategy=strategy, noise=noise, effective_samples=16.0).fit(X, outcome)
        weights = np.full(len(y), 16 / len(y))
        light = LinCFA(strategy=strategy, noise=noise).fit(X, outcome, sample_weight=weights)
        np.testing.assert_array_equal(model.labels_, light.labels_)
        for name in ("partner", "f", "threshold", "variance_drop_share", "gain_share"):
            np.testing.assert_allclose(model.evidence_[name], light.evidence_[name], rtol=1e-9)
        plain = LinCFA(strategy=strategy, noise=noise).fit(X, outcome)
        assert model.n_groups_ < plain.n_groups_
        assert (model.n_samples_, light.n_samples_) == (120, pytest.approx(16))


@pytest.mark.parametrize("strategy", ["sequential", "agglomerative"])
def test_numbers_for_chunks(strategy):
    dask_array = pytest.importorskip("dask.array")
    X, y = persistent()
    model = LinCFA(strategy=strategy, effective_samples=40)
    given = LinCFA(strategy=strategy, effective_samples=40).fit(X, y)
    assert_same_groups(stream(X, y, (50,), model), given)
    chunks = dask_array.from_array(X, chunks=(50, 4)), dask_array.from_array(y, chunks=50)
    assert_same_groups(LinCFA(strategy=strategy, effective_samples=40).fit(*chunks), given)
    auto = LinCFA(effective_samples="auto")
    assert_raises("in memory: pass a number", auto.fit, *chunks)
    assert_raises("partial_fit keeps no samples .* pass a number", auto.partial_fit, X, y)
    # The first chunk has fewer rows than are said to count.
    early = LinCFA(effective_samples=60).partial_fit(X[:50], y[:50])
    assert_raises("60 is more than the number of samples, 50", early.transform, X)
    assert early.partial_fit(X[50:], y[50:]).effective_samples_ == 60


@pytest.mark.parametrize("value", [3.9, 0, -5, True, "all", np.nan, np.inf, [40]])
def test_bad_numbers(value):
    X, y = persistent()
    assert_raises(
        "effective_samples must be None, 'auto'", LinCFA(effective_samples=value).fit, X, y
    )
    assert_raises("121 is more than .* 120", LinCFA(effective_samples=121).fit, X, y)


# What "auto" finds


def test_auto_is_the_published_formula():
    """From the median of the features and the target; the order is that of the dates."""
    X, y = persistent(n=200)
    X[:, 5] = 1.0
    X[:, 0] = np.random.default_rng(1).normal(size=200)
    model = LinCFA(effective_samples="auto")
    phi = autocorrelations(X)
    assert (abs(np.delete(phi, [0, 5]) - 0.8) < 0.2).all()  # 3 standard errors, (1 − φ²)/n rooted
    expected = theory.effective_samples(
        200, np.median(np.delete(phi, 5)), autocorrelations(y[:, None])[0]
    )
    with pytest.warns(UserWarning, match="constant"):
        assert model.fit(X, y).effective_samples_ == pytest.approx(float(expected))
    shuffled = np.random.default_rng(0).permutation(200)
    X = np.delete(X, 5, axis=1)
    table = pd.DataFrame(X, index=pd.date_range("2001-01", periods=200, freq="MS"))
    assert model.fit(table.iloc[shuffled], y[shuffled]).effective_samples_ == float(expected)
    assert model.fit(X[shuffled], y[shuffled]).effective_samples_ > 150
    # Weights add up to another number of samples.
    light = model.fit(table, y, sample_weight=np.full(200, 0.5))
    assert light.effective_samples_ == pytest.approx(float(expected) / 2)
    twice = table.set_index(table.index.repeat(2)[:200])
    assert_raises(
        "unlike a number, needs one sample for each date, but 2001-01-01 has 2", model.fit, twice, y
    )


def test_autocorrelations_are_hardly_biased():
    """Of means over 2000 series, one standard error is below 0.004, and (1 + 3φ)/n is 0.03."""
    rng = np.random.default_rng(0)
    for phi in (0.0, 0.5, 0.8):
        series = autoregression(rng, phi, (100, 2000))
        assert autocorrelations(series).mean() == pytest.approx(phi, abs=0.012)
        series[rng.random(series.shape) < 0.3] = np.nan
        assert autocorrelations(series).mean() == pytest.approx(phi, abs=0.02)
    alternating = np.column_stack([[1.0, np.nan] * 4, np.ones(8), [1e200, -1e200] * 4])
    np.testing.assert_array_equal(autocorrelations(alternating), [np.nan, 0, -1])


def test_auto_needs_values_one_after_another():
    X, y = persistent(n=40, D=2)
    X[::2] = np.nan
    model = LinCFA(effective_samples="auto", missing="pairwise")
    assert_raises("No feature has two values one after another", model.fit, X, y)


@pytest.mark.parametrize(
    ("phi", "expected"), [((0.5, 0.5), 60), ((-0.5, 0.5), 100), ((1, 1), 4), ((0, 0.9), 100)]
)
def test_theory(phi, expected):
    assert theory.effective_samples(100, *phi) == pytest.approx(expected)


# What else knows of it


def test_diagnostics_and_reports_count_with_it():
    X, y = persistent()
    table = pd.DataFrame(X, index=pd.date_range("2001-01", periods=len(y), freq="MS"))
    asked = LinCFA(effective_samples="auto")
    model = LinCFA(effective_samples="auto").fit(table, y)
    effective = model.effective_samples_
    number = LinCFA(effective_samples=effective)
    row = model.evidence_[0]
    for data, given in ((table, "auto"), (X, effective)):
        pair = explain_pair(data, y, *row[["partner", "feature"]], effective_samples=given)
        assert pair.f == pytest.approx(row["f"])
        assert pair.effective_samples == effective
        for words in (str(pair), pair._repr_html_()):
            assert "effective number of samples" in words
    assert "effective" not in str(explain_pair(X, y, 0, 1))
    one, other = (stability(table, y, 4, model=each, random_state=0) for each in (asked, number))
    np.testing.assert_array_equal(one.resampled, other.resampled)
    plain = stability(table, y, 4, random_state=0)
    assert one.n_groups.mean() < plain.n_groups.mean()
    one, other = (order_sensitivity(table, y, 4, model=m, random_state=0) for m in (asked, number))
    np.testing.assert_array_equal(one.n_groups, other.n_groups)
    found = collect_findings(model, X=table, y=y)
    assert f"120 samples count as {effective:.4g}, their effective" in describe_reduction(found)
    assert found.effective_samples == effective
    # Pairs that did not merge have an F above the tolerance, as in the fit.
    assert found.pairs.near.f.min() > 1
    assert "effective" not in describe_reduction(collect_findings(LinCFA().fit(X, y)))


# Whether it is right


def merge_frequencies(phi, n, noncentrality, n_pairs, seed=0, rho=0.6):
    """How often pairs from first-order autoregressions merge, and how often they should.

    Counted with the effective number and with all samples; then the probability for independent
    samples of the effective number, where the noncentrality is the one given.
    """
    effective = float(theory.effective_samples(n, phi, phi))
    difference = np.sqrt(2 * noncentrality / ((effective - 1) * (1 - rho)))
    w1, w2 = 0.5 + difference / 2, 0.5 - difference / 2
    rng = np.random.default_rng(seed)
    x1, x2, noise = (autoregression(rng, phi, (n, n_pairs)) for _ in range(3))
    x2 = rho * x1 + np.sqrt(1 - rho**2) * x2
    columns = (x1, x2, w1 * x1 + w2 * x2 + noise)
    x1, x2, y = ((x - x.mean(axis=0)) / x.std(axis=0) for x in columns)
    figures = [(a * b).mean(axis=0) for a, b in ((x1, x2), (x1, y), (x2, y))]
    merged = [np.mean(theory.f_statistic(count, *figures) <= 1) for count in (effective, n)]
    return effective, *merged, float(theory.merge_probability(effective, rho, w1, w2, 1.0))


@pytest.mark.parametrize("noncentrality", [0.0, 1.0])
@pytest.mark.parametrize(("phi", "n"), [(0.5, 100), (0.5, 200), (0.7, 100), (0.7, 400), (0.9, 400)])
def test_merge_frequencies_are_those_of_independent_samples(phi, n, noncentrality):
    """Within four standard errors of 4000 draws, and 1/n_eff, as the formula is of first order.

    With all samples counted, pairs merge much less often. ``docs/time.md`` has the table.
    """
    effective, counted, all_counted, expected = merge_frequencies(phi, n, noncentrality, 4000)
    error = 4 * np.sqrt(expected * (1 - expected) / 4000) + 1 / effective
    assert counted == pytest.approx(expected, abs=error)
    assert all_counted < expected - 1.5 * error
