"""Several targets and class labels: one partition for all, against the literal judge."""

from itertools import combinations, product

import numpy as np
import pytest

import literal_strategies as literal
from graphs import restricted
from lincfa import LinCFA
from literal_strategies import CLEAR, PATHS, Comparisons, assert_as_literally, literally
from reference import COINCIDE, MARGIN, explained, field, many_factors, mirrored, noise_only, tree
from several_targets import LABELS, classes_of, several, shares_of
from signs_gaps_weights import (
    STRATEGIES,
    assert_same_groups,
    copies,
    every_strategy,
    factors,
    few_samples,
    make,
)

KINDS = {
    "plain": set(),
    "signed": {"signed"},
    "gaps": {"gaps"},
    "weights": {"weights"},
    "all": {"signed", "gaps", "weights"},
}
TARGETS = {
    "three targets": lambda Y: Y,
    "three classes": lambda Y: classes_of(Y[:, 0]),
    "two classes": lambda Y: classes_of(Y[:, 0], 2),
}
RULES = [
    {"tolerance": 1.0},
    {"tolerance": 4.0, "min_correlation": 0.3},
    {"tolerance": 0.5, "noise": 0.3},  # of the variances of the targets
]
TRIES = 4
"""Seeds that are tried to find one where rounding cannot decide; none needs more than a few."""

ENOUGH = 240
"""Samples of which the correlations in pairs are those of columns, also with gaps."""

SHARES = ["variance_drop_share", "bias_growth_share", "gain_share"]
IN_UNITS = ["variance_drop", "bias_growth", "gain"]


def records_of(model):
    return [model.evidence_, *([model.merge_path_] if model.strategy in PATHS else [])]


def figures_in(record):
    """Names of what there is for each target; a path has the shares alone."""
    return [name for name in (*SHARES, *IN_UNITS) if name in record.dtype.names]


def numeric(y):
    """Targets as the judge takes them."""
    return y if y.dtype.kind == "f" else literal.indicators(y)


def families(strategy, kind, structure):
    """What is compared.

    With gaps, averages over pairs of few samples could explain more than all of a target, and
    "joint" needs a matrix far from singular. Copies that are kept apart give ties.
    """
    chosen = [factors, noise_only] if "gaps" in kind else [factors, few_samples]
    if structure != "free" or (strategy == "joint" and "gaps" in kind):
        return chosen
    return [*chosen, copies]


def options_of(kind, weights):
    """Parameters of a fit, and rules of the judge."""
    signed, weights = "signed" in kind, weights if "weights" in kind else None
    missing = "pairwise" if "gaps" in kind else "error"
    options = {"signed": signed, "feature_weights": weights, "missing": missing}
    return options, {"signed": signed, "weights": weights}


@pytest.mark.parametrize("structure", ["free", "chain", "blocks"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("targets", TARGETS)
@every_strategy
def test_as_literally(strategy, targets, kind, structure):
    """One data set of each family for each of the rules; for classes, one rule for each family."""
    kind = KINDS[kind]
    n = 60
    if "gaps" in kind:
        n = ENOUGH if strategy == "joint" else ENOUGH // 2
    cases = list(product(families(strategy, kind, structure), range(len(RULES))))
    if targets != "three targets":
        cases = cases[len(kind) % 2 :: len(RULES) + 1]
    for family, rule in cases:
        for attempt in range(TRIES * rule, TRIES * (rule + 1)):
            X, Y, weights = several(family, n, gaps="gaps" in kind, seed=attempt)
            y = TARGETS[targets](Y)
            structural, allowed = restricted(structure, X.shape[1])
            rules = dict(RULES[rule])
            if "noise" in rules:
                rules["noise"] = shares_of(numeric(y), rules["noise"] * numeric(y).shape[1])
            options, literal_rules = options_of(kind, weights)
            literal_rules |= {**rules, "allowed": allowed}
            expected = literally(strategy, X, numeric(y), **literal_rules)
            if expected.clear > CLEAR:
                break
        model = LinCFA(strategy=strategy, **structural, **rules, **options).fit(X, y)
        assert_as_literally(model, expected, X, numeric(y), **literal_rules)


@pytest.mark.parametrize("targets", ["three targets", "three classes"])
@every_strategy
def test_noise_of_a_full_regression(strategy, targets):
    """For each target that of its own regression."""
    X, Y, _ = several(factors)
    y = TARGETS[targets](Y)
    noise = literal.full_noise(X, numeric(y))
    assert noise.shape == (3,)
    expected = literally(strategy, X, numeric(y), 2.0, noise=noise)
    model = LinCFA(strategy=strategy, noise="full", tolerance=2.0).fit(X, y)
    assert_as_literally(model, expected, X, numeric(y), tolerance=2.0, noise=noise)


@pytest.mark.parametrize(
    ("targets", "kind", "D", "seed"),
    [
        ("three targets", "plain", 40, 0),
        ("three targets", "all", 30, 1),
        ("three classes", "all", 30, 1),
    ],
)
def test_joint_from_groups_of_many_features(targets, kind, D, seed):
    """More features than a quarter of the samples: all targets choose how many groups to start."""
    kind = KINDS[kind]
    X, Y, weights = several(noise_only, 100, D, gaps="gaps" in kind, seed=seed)
    y = TARGETS[targets](Y)
    options, rules = options_of(kind, weights)
    start = literal.start_of_joint(X, numeric(y), **rules)
    assert 0 < len(start.merges) < D
    if not kind:
        alone = literal.start_of_joint(X, Y[:, 0])
        assert len(alone.merges) != len(start.merges), "take data where more targets matter"
    fewest = max(1, D - len(start.merges) - 4)
    expected = literal.joint(X, numeric(y), n_groups=fewest, **rules)
    model = LinCFA(strategy="joint", **options).fit(X, y)
    merges = model.merge_path_[: len(expected.merges)]
    literal.assert_same_path(merges, expected)
    assert merges["pairwise"].sum() == len(start.merges)


# Many features, of which not all pairs are compared


def f_of_all_pairs(X, Y, sign=1):
    """F and ρ with one sign, from np.corrcoef, and the relative error that F may have."""
    size = X.shape[1]
    correlations = np.corrcoef(np.column_stack([X, Y]).T)
    rho, r = sign * correlations[:size, :size], correlations[size:, :size]
    below_one, above = np.maximum(1 - rho, 1e-16), np.maximum(1 + rho, 1e-16)
    growth, left = np.zeros(rho.shape), np.zeros(rho.shape)
    for each in r:
        share = (each[:, None] - sign * each) ** 2 / (2 * below_one)
        growth += share
        left += np.maximum(1 - share - (each[:, None] + sign * each) ** 2 / (2 * above), 1e-15)
    f = (len(X) - 3) * growth / left
    f[1 - rho < COINCIDE] = 0
    return f, rho, MARGIN + 1e-14 / np.maximum(1 - rho, 1e-15) + 1e-14 / left


def in_order(passes):
    """Labels of Algorithm 1."""
    labels = np.full(len(passes), -1)
    for seed in range(len(labels)):
        if labels[seed] < 0:
            joining = (labels < 0) & passes[seed] & (np.arange(len(labels)) > seed)
            labels[joining] = labels[seed] = labels.max() + 1
    return labels


@pytest.mark.parametrize("tolerance", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("lowest", [None, 0.3])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(
    ("family", "n", "D"),
    [
        (noise_only, 50, 200),
        (tree, 40, 150),
        (field, 40, 150),
        (mirrored, 30, 90),
        (explained, 60, 75),
        (many_factors, 200, 120),
        (noise_only, 5, 60),
        (noise_only, 4, 30),
    ],
)
def test_sequential_with_many_features(family, n, D, lowest, tolerance, signed):
    rng = np.random.default_rng([n, D])
    X, y = family(rng, n, D)
    Y = np.column_stack([y, X[:, 3] + X.std(axis=0)[3] * rng.normal(size=n), rng.normal(size=n)])
    passes, smaller = np.zeros((D, D), dtype=bool), np.full((D, D), np.inf)
    for sign in (1, -1) if signed else (1,):
        f, rho, error = f_of_all_pairs(X, Y, sign)
        doubtful = (np.abs(f - tolerance) <= error * tolerance) & (1 - rho >= COINCIDE)
        allowed = np.ones(rho.shape, dtype=bool)
        if lowest is not None:
            doubtful |= np.abs(rho - lowest) <= 1e-12
            allowed = rho >= lowest
        assert not np.triu(doubtful, 1).any(), "take another seed"
        passes |= (f <= tolerance) & allowed
        smaller = np.minimum(smaller, np.where(allowed, f, np.inf))
    expected = in_order(passes)
    for order in "CF":
        model = LinCFA(tolerance=tolerance, min_correlation=lowest, signed=signed)
        model.fit(np.asarray(X, order=order), Y)
        np.testing.assert_array_equal(model.labels_, expected)
        merged = smaller[model.evidence_["partner"], model.evidence_["feature"]]
        np.testing.assert_allclose(model.evidence_["f"], merged, rtol=1e-6, atol=1e-6 * tolerance)


@pytest.mark.parametrize("effects", [(0.3, 0.0, 0.0), (0.2, -0.1, 0.15), (5.0, 5.0, -4.0)])
@pytest.mark.parametrize("noise", ["pair", 0.5])
@pytest.mark.parametrize("structure", ["free", "chain"])
@every_strategy
def test_mirror_images_at_the_end_of_the_reach_merge(strategy, structure, noise, effects):
    """Their correlations with the targets are as far apart as those of pairs that pass can be."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=50)
    X = np.column_stack([x, 1e-3 * rng.normal(size=50) - x])
    others = rng.normal(size=(50, 3))
    Y = others - literal.fitted(X.T, others) + np.outer(x, effects)
    variance = None if noise == "pair" else noise
    f = Comparisons(X, Y, variance).verdict([0], [1]).f
    structural, _ = restricted(structure, 2)
    for tolerance, n_groups in ((f * (1 + 1e-6), 1), (f * (1 - 1e-6), 2)):
        model = fit(X, Y, strategy=strategy, noise=noise, tolerance=tolerance, **structural)
        assert model.n_groups_ == n_groups


# What does not matter


def assert_same_f(model, other):
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(model.signs_, other.signs_)
    np.testing.assert_allclose(model.evidence_["f"], other.evidence_["f"], rtol=1e-8, atol=1e-10)


def fit(X, y, **parameters):
    return LinCFA(**{"tolerance": 2.0, **parameters}).fit(X, y)


@pytest.mark.parametrize("missing", ["error", "pairwise"])
@every_strategy
def test_the_same_target_several_times(strategy, missing):
    X, y, _ = make(factors, 120, 10, gaps=missing == "pairwise")
    parameters = {"strategy": strategy, "missing": missing}
    expected = fit(X, y, **parameters)
    assert 1 < expected.n_groups_ < 10
    for Y in ([y, y], [y, -3 * y + 7], [1e5 * y, y, y - 1e3]):
        model = fit(X, np.transpose(Y), **parameters)
        assert_same_f(model, expected)
        for name in SHARES:
            for share in model.evidence_[name].T:
                np.testing.assert_allclose(share, expected.evidence_[name], rtol=1e-7, atol=1e-10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@every_strategy
def test_one_column_is_one_target(strategy):
    X, y, _ = make(factors)
    one, two = fit(X, y, strategy=strategy), fit(X, y[:, None], strategy=strategy)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.evidence_["f"], two.evidence_["f"])


@pytest.mark.parametrize("noise", ["pair", "full"])
@every_strategy
def test_order_and_units_of_targets(strategy, noise):
    X, Y, _ = several(factors, 60)
    parameters = {"strategy": strategy, "noise": noise}
    expected = fit(X, Y, **parameters)
    order = [2, 0, 1]
    factor, shift = np.array([-1e3, 0.02, 5.0]), np.array([1e4, 0.0, -7.0])
    shuffled, changed = fit(X, Y[:, order], **parameters), fit(X, Y * factor + shift, **parameters)
    for model in (shuffled, changed):
        assert_same_f(model, expected)
    for record, one, two in zip(*map(records_of, (expected, shuffled, changed)), strict=True):
        for name in figures_in(record):
            values, unit = record[name], factor**2 if name in IN_UNITS else np.ones(3)
            atol = 1e-9 * np.abs(values).max(axis=0)
            assert (np.abs(one[name] - values[:, order]) <= atol[order]).all(), name
            assert (np.abs(two[name] / unit - values) <= atol).all(), name


@pytest.mark.parametrize("D", [1, 2])
@every_strategy
def test_one_feature_or_two(strategy, D):
    X, Y, _ = several(factors)
    for y in (Y, classes_of(Y[:, 0])):
        model = fit(X[:, :D], y, strategy=strategy, tolerance=1e9)
        assert (model.n_groups_, model.evidence_.size) == (1, D - 1)


@every_strategy
def test_counts_of_rows(strategy):
    X, Y, _ = several(factors, 60)
    counts = np.arange(60) % 3
    model = LinCFA(strategy=strategy).fit(X, Y, sample_weight=counts)
    repeated = LinCFA(strategy=strategy).fit(X.repeat(counts, axis=0), Y.repeat(counts, axis=0))
    assert_same_groups(model, repeated)


# Classes


@every_strategy
def test_two_classes_are_a_target_of_zeros_and_ones(strategy):
    X, Y, _ = several(factors, 60)
    labels = classes_of(Y[:, 0], 2)
    first, second = np.unique(labels)
    expected = fit(X, (labels == second).astype(float), strategy=strategy)
    assert_same_groups(fit(X, labels, strategy=strategy), expected)
    assert_same_groups(fit(X, labels == second, strategy=strategy), expected)
    both = np.column_stack([labels == first, labels == second]).astype(float)
    assert_same_f(fit(X, both, strategy=strategy), expected)


@every_strategy
def test_classes_are_their_indicators(strategy):
    X, Y, _ = several(factors, 60)
    labels = classes_of(Y[:, 0])
    model = fit(X, labels, strategy=strategy)
    indicators = np.column_stack([labels == each for each in model.classes_]).astype(float)
    expected = fit(X, indicators, strategy=strategy)
    assert 1 < expected.n_groups_ < 10
    assert_same_groups(model, expected)


@every_strategy
def test_names_of_classes_do_not_matter(strategy):
    X, Y, _ = several(factors, 60)
    labels = classes_of(Y[:, 0])
    expected = fit(X, labels, strategy=strategy)
    names = dict(zip(np.unique(labels), ["c", "a", "b"], strict=True))
    assert_same_f(fit(X, np.array([names[each] for each in labels]), strategy=strategy), expected)
    numbers = np.searchsorted(np.unique(labels), labels)
    for whole in (numbers, 10 * numbers - 7, numbers.astype(np.uint8)):
        model = fit(X, whole, strategy=strategy, target="classes")
        assert_same_groups(model, expected)
        np.testing.assert_array_equal(model.classes_, np.unique(whole))
    zero_or_more = fit(X, np.minimum(numbers, 1), strategy=strategy, target="classes")
    assert_same_f(zero_or_more, fit(X, np.minimum(numbers, 1), strategy=strategy))


# What is recorded


@pytest.mark.parametrize("missing", ["error", "pairwise"])
def test_target_correlations(missing):
    X, Y, _ = several(factors, gaps=missing == "pairwise")
    model = fit(X, Y, missing=missing)
    expected = np.zeros((3, 10))
    for k, target in enumerate(Y.T):
        for j, column in enumerate(X.T):
            present = ~np.isnan(column)
            expected[k, j] = np.corrcoef(column[present], target[present])[0, 1]
    assert model.target_correlation_.shape == (3, 10)
    np.testing.assert_allclose(model.target_correlation_, expected, rtol=0, atol=1e-12)
    one = fit(X, Y[:, 1], missing=missing)
    assert one.target_correlation_.shape == (10,)
    np.testing.assert_allclose(one.target_correlation_, expected[1], rtol=0, atol=1e-12)


def test_target_correlations_of_classes():
    X, Y, _ = several(factors)
    labels = classes_of(Y[:, 0])
    model = fit(X, labels)
    for r, each in zip(model.target_correlation_, sorted(LABELS), strict=True):
        expected = [np.corrcoef(column, labels == each)[0, 1] for column in X.T]
        np.testing.assert_allclose(r, expected, rtol=0, atol=1e-12)
    labels = classes_of(Y[:, 0], 2)
    expected = [np.corrcoef(column, labels == max(labels))[0, 1] for column in X.T]
    np.testing.assert_allclose(fit(X, labels).target_correlation_, expected, rtol=0, atol=1e-12)


def groups_before(model):
    """Each row of the evidence with the groups that there were, by their first features."""
    groups = {i: [i] for i in range(model.n_features_in_)}
    rows = {row["feature"]: row for row in model.evidence_}
    order = model.evidence_["feature"]
    if model.strategy in PATHS:
        order = model.merge_path_["second"][: order.size]
    for second in order:
        row = rows[second]
        yield row, dict(groups)
        groups[row["partner"]] = groups[row["partner"]] + groups.pop(second)


def columns_compared(row, groups, strategy, X):
    """Columns of the regression behind a row; the sums of all groups, or the means of two."""
    Z = literal.standardised(X)
    if strategy == "joint":
        return {first: Z[:, members].sum(axis=1) for first, members in groups.items()}
    pair = [int(row["partner"]), int(row["feature"])]
    if strategy == "sequential":
        return {i: Z[:, i] for i in pair}
    return {i: literal.mean_of(Z, groups[i]) for i in pair}


def parts_of_f(row, columns, Y, noise):
    """Drop of variance and growth of bias of each target, as shares of its variance."""
    n, targets = len(Y), literal.standardised(Y)
    full = literal.fitted(columns.values(), targets)
    drop = np.sum((targets - full) ** 2, axis=0) / (n - 1 - len(columns))
    if noise is not None:
        drop = noise / Y.var(axis=0, ddof=1)
    merged = columns.pop(row["partner"]) + columns.pop(row["feature"])
    growth = np.sum((full - literal.fitted([merged, *columns.values()], targets)) ** 2, axis=0)
    return drop / (n - 1), growth / (n - 1)


@pytest.mark.parametrize("noise", ["pair", "full", 0.4])
@every_strategy
def test_each_target_has_its_figures(strategy, noise):
    X, Y, _ = several(factors, 60)
    model = fit(X, Y, strategy=strategy, noise=noise)
    variance = {"pair": None, "full": literal.full_noise(X, Y)}.get(noise, noise)
    assert model.evidence_.size > 3
    for row, groups in groups_before(model):
        columns = columns_compared(row, groups, strategy, X)
        drop, growth = parts_of_f(row, columns, Y, variance)
        figures = dict(zip(SHARES, (drop, growth, drop - growth), strict=True))
        units = Y.var(axis=0, ddof=1)
        figures |= {name: figures[f"{name}_share"] * units for name in IN_UNITS}
        for name, expected in figures.items():
            assert row[name].shape == (3,)
            np.testing.assert_allclose(row[name], expected, rtol=1e-6, atol=1e-9, err_msg=name)
        assert row["f"] == pytest.approx(growth.mean() / drop.mean(), rel=1e-7, abs=1e-10)


@pytest.mark.parametrize("targets", ["three targets", "three classes"])
@pytest.mark.parametrize("kind", KINDS)
@every_strategy
def test_f_is_the_ratio_of_what_is_recorded(strategy, kind, targets):
    kind = KINDS[kind]
    X, Y, weights = several(factors, ENOUGH, gaps="gaps" in kind)
    options, _ = options_of(kind, weights)
    model = fit(X, TARGETS[targets](Y), strategy=strategy, **options)
    assert figures_in(model.evidence_) == [*SHARES, *IN_UNITS]
    for record in records_of(model):
        assert record.size > 0
        for name in figures_in(record):
            assert record[name].shape == (record.size, 3)
        drop, growth = record["variance_drop_share"], record["bias_growth_share"]
        ratio = growth.mean(axis=1) / drop.mean(axis=1)
        np.testing.assert_allclose(record["f"], ratio, rtol=1e-9, atol=1e-12)
        assert (drop >= 0).all()
        assert (growth >= 0).all()


@every_strategy
def test_one_target_has_one_number_for_each_merge(strategy):
    X, Y, _ = several(factors)
    for y in (Y[:, 0], classes_of(Y[:, 0], 2)):
        model = fit(X, y, strategy=strategy)
        for record in records_of(model):
            for name in figures_in(record):
                assert record[name].shape == record.shape


# The judge itself


def judged(strategy, X, y, **rules):
    """Features, signs and figures of all merges that the judge makes."""
    found = literally(strategy, X, y, 2.0, **rules)
    rows = found.merges if strategy in PATHS else found.joined
    return [row[:-2] for row in rows], np.array([row[-2:] for row in rows])


@pytest.mark.parametrize("kind", KINDS)
@every_strategy
def test_judge_of_the_same_target_several_times(strategy, kind):
    """The judge of several agrees with that of one, and so does a fit to the one target."""
    kind = KINDS[kind]
    X, y, weights = make(factors, ENOUGH, 10, gaps="gaps" in kind)
    options, rules = options_of(kind, weights)
    expected = judged(strategy, X, y, **rules)
    Y = np.column_stack([y, -5 * y + 2, y])
    merges, figures = judged(strategy, X, Y, **rules)
    assert merges == expected[0]
    np.testing.assert_allclose(figures, expected[1], rtol=1e-8, atol=1e-10)
    model = fit(X, y, strategy=strategy, **options)
    found = literally(strategy, X, Y, 2.0, **rules)
    assert_as_literally(model, found, X, Y, tolerance=2.0, **rules)


@pytest.mark.parametrize("noise", [None, 0.1])
@pytest.mark.parametrize("kind", KINDS)
@every_strategy
def test_judge_of_two_classes(strategy, kind, noise):
    """Both indicators say what one of them says."""
    kind = KINDS[kind]
    X, Y, weights = several(factors, ENOUGH, gaps="gaps" in kind)
    second = literal.indicators(classes_of(Y[:, 0], 2))
    _, rules = options_of(kind, weights)
    expected = judged(strategy, X, second, noise=noise, **rules)
    for y in (second[:, 0], 1 - second, np.hstack([1 - second, second])):
        merges, figures = judged(strategy, X, y, noise=noise, **rules)
        assert merges == expected[0]
        np.testing.assert_allclose(figures, expected[1], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("ratio", [1.0, 0.2, 7.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_judge_and_closed_form(ratio, sign):
    X, Y, _ = several(factors, 30, 6)
    Z, targets = literal.standardised(X), literal.standardised(Y)
    a, b = ratio, 1.0
    for i, j in combinations(range(6), 2):
        rho = sign * literal.correlation(Z[:, i], Z[:, j])
        r1, r2 = Z[:, i] @ targets / 29, sign * Z[:, j] @ targets / 29
        growth = ((b + a * rho) * r1 - (a + b * rho) * r2) ** 2
        growth /= (1 - rho**2) * (a**2 + b**2 + 2 * a * b * rho)
        left = 1 - r1**2 - (r2 - rho * r1) ** 2 / (1 - rho**2)
        f = literal.f_of_pair(Z[:, i], sign * Z[:, j], targets, weights=(a, b))
        assert f == pytest.approx(27 * growth.sum() / left.sum(), rel=1e-9)
        again = literal.f_of_correlations(30, rho, np.array([r1, r2]), np.array([a, b]))
        assert f == pytest.approx(again, rel=1e-9)


@pytest.mark.parametrize("noise", [None, 0.7])
@pytest.mark.parametrize("signed", [False, True])
def test_judge_by_pairs_and_by_columns(signed, noise):
    """Where nothing is missing, averages over pairs are what the means themselves give."""
    X, Y, weights = several(factors, 40, 8)
    tables = [Comparisons(X, Y, noise, None, signed, weights) for _ in range(2)]
    tables[1].complete = False
    for group, other in combinations([[1], [2], [6], [0, 3], [4, 5, 7]], 2):
        one, two = (table.verdict(group, other) for table in tables)
        assert one.sign == two.sign
        np.testing.assert_allclose(one[1:3], two[1:3], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("gaps", [False, True])
def test_judge_of_joint_by_the_formulas_of_regression(gaps):
    """The first merge: Σ(cᵀβ)²/(cᵀAc) over the mean of what is left, from correlations alone."""
    X, Y, _ = several(factors, ENOUGH, 6, gaps=gaps)
    present = ~np.isnan(X)
    matrix, r, counts = np.eye(6), np.zeros((6, 3)), []
    for i, j in combinations(range(6), 2):
        both = present[:, i] & present[:, j]
        matrix[i, j] = matrix[j, i] = np.corrcoef(X[both, i], X[both, j])[0, 1]
        counts.append(both.sum())
    for i, k in np.ndindex(6, 3):
        rows = present[:, i]
        r[i, k] = np.corrcoef(X[rows, i], Y[rows, k])[0, 1]
    inverted = np.linalg.inv(matrix)
    beta = inverted @ r
    variance = np.sum(1 - np.sum(r * beta, axis=0)) / (np.mean(counts) - 7)
    found = {}
    for i, j in combinations(range(6), 2):
        contrast = np.eye(6)[i] - np.eye(6)[j]
        found[i, j] = np.sum((contrast @ beta) ** 2) / (contrast @ inverted @ contrast) / variance
    merge = literal.joint(X, Y).merges[0]
    assert (merge.first, merge.second) == min(found, key=found.get)
    assert merge.f == pytest.approx(min(found.values()), rel=1e-7)


def test_strategies_are_all_judged():
    assert [*literal.WALKS, *PATHS] == STRATEGIES
