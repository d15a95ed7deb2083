"""Findings on groups: members with their evidence, pairs that nearly merged, correlations."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data._names import shown, with_sign
from .._data._targets import Targets
from .._model._display import decimals, digits, distinguishable
from .._model._observations import Observations
from .._rule import Rule, pairs_from_correlations, tolerance_value
from .._statistics import ArrayStatistics
from ..theory._arrays import FloatArray
from ._inputs import feature_names
from ._names import display_names_of_groups

GROUPS_SHOWN = 10_000
MEMBERS_SHOWN = 200  # of one group, with their evidence
FEATURES_SHOWN = 12_000  # of all groups, with their evidence
NAMED = 100_000  # further features of which only the name is kept, so that it can be searched
LONGEST_NAME = 120
TARGETS_SHOWN = 20  # of several, those that a group is most correlated with
TEXT_SHOWN = 8_500_000
"""Bytes of all groups on a page: a third for members with evidence, which leaves room for the names
of all others; the last eighth is reserved for further groups."""
_LINE = 420  # bytes of the row of one group, without its texts
_TARGET_LINE = 60  # and of one of several targets

MERGED_SHOWN = 2000
NEAR_SHOWN = 300
_GROUPS_COMPARED = 1500
_CORRELATIONS_SHOWN = 240


@dataclass(frozen=True)
class Member:
    """A feature of a group, and why it is there."""

    name: str
    sign: int  # −1 if it enters the mean of its group with its sign flipped
    target_correlation: float  # of several targets, the largest
    words: str
    target: str = ""  # of several, the one it is most correlated with


@dataclass(frozen=True)
class Opposition:
    """Through what a group is correlated with the target, if its weight has the opposite sign."""

    number: int  # of the group that contributes most to the correlation; −1 if unknown
    name: str  # of its reduced feature
    correlation: float  # of the group with it


@dataclass(frozen=True)
class Check:
    """The weight of a group as held-out samples alone estimate it, in the unit of the weight."""

    estimate: float
    low: float  # of the 95 % interval
    high: float
    adjusted_p_value: float  # for as many tests as there are weights
    verdict: str  # "confirmed", "unclear" or "opposite sign"


@dataclass(frozen=True)
class Effect:
    """How the mean of a group goes with a target, and its weight in the regression."""

    target: str
    target_correlation: float
    weight: float
    cancels: bool
    opposes: Opposition | None
    check: Check | None


@dataclass(frozen=True)
class Group:
    """A group as a report lists it."""

    number: int  # position among the reduced features, from 0
    name: str  # of the reduced feature
    title: str  # that a reader knows: a place, a band, columns
    size: int
    mean_correlation: float  # over pairs of members; NaN for a single feature
    min_correlation: float
    min_is_exact: bool  # False if the minimum is an upper bound
    target_correlation: float  # of the group's mean
    weight: float  # change in the prediction per standard deviation; NaN without a regression
    cancels: bool  # whether the weight is too large to be interpreted; others nearly cancel it
    opposes: Opposition | None  # if weight and target correlation have opposite signs
    check: Check | None  # the weight on held-out samples
    flag: str  # "opposite" or "hardly related" if members hardly belong together
    members: tuple[Member, ...]  # the first ones, with their evidence
    others: tuple[str, ...]  # names of the next ones, with a minus sign if flipped
    n_unnamed: int  # how many more there are
    target: str = ""  # of several, the one with the largest correlation, which is given above
    weight_target: str = ""  # and the one with the largest weight
    targets: tuple[Effect, ...] = ()  # of several, the largest correlation first
    place: Mapping[str, Any] | None = None  # centre, extent and area of cells in degrees and km²

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What is known of each target, also if there is just one."""
        figures = self.target_correlation, self.weight, self.cancels, self.opposes, self.check
        return self.targets or (Effect("", *figures),)


def describe_groups(
    reducer: Any,
    weights: FloatArray | None,
    largest_weight: Any = np.inf,
    opposing: Mapping[tuple[int, int], Opposition] | None = None,
    checks: Mapping[tuple[int, int], Check] | None = None,
) -> tuple[Group, ...]:
    """Describe the groups, those that change the prediction most first, as many as fit on a page.

    Of several targets, weights have a column and the largest weight a number for each. Without
    weights the largest groups come first.
    """
    targets = reducer._targets
    summary, titles = reducer.summary(), display_names_of_groups(reducer)
    names = [shown(name, LONGEST_NAME) for name in feature_names(reducer)]
    flags = summary.flags
    r = summary.target_correlation.reshape(reducer.n_groups_, -1)
    weights = np.full(r.shape, np.nan) if weights is None else weights.reshape(r.shape)
    cancels = np.abs(weights) > largest_weight
    # Targets in different units are compared in standard deviations; log odds have no unit.
    units = np.ones(r.shape[1]) if targets.classes is not None else reducer.target_scale_
    importance = np.nan_to_num(np.abs(weights / units).max(axis=1))
    order = np.lexsort((-summary.sizes, -importance))[:GROUPS_SHOWN].tolist()
    evidence = {int(row["feature"]): row for row in reducer.evidence_}
    in_full, named, left = FEATURES_SHOWN, NAMED, TEXT_SHOWN
    groups: list[Group] = []
    for number in order:
        if left <= 0:
            break
        features = reducer.groups_[number].tolist()
        first = max(1, min(MEMBERS_SHOWN, in_full if left > 2 / 3 * TEXT_SHOWN else 0))
        members = []
        for feature in features[:first]:
            if feature in evidence:
                row = evidence[feature]
                partner = names[int(row["partner"])]
                words = describe_merge(row, partner, reducer.strategy, targets)
            else:
                words = "first member of the group" if len(features) > 1 else "not merged"
            own = np.atleast_1d(reducer.target_correlation_[..., feature])
            most = int(np.abs(own).argmax())
            target = summary.targets[most] if len(own) > 1 else ""
            sign, correlation = int(reducer.signs_[feature]), float(own[most])
            members.append(Member(names[feature], sign, correlation, words, target))
        in_full -= len(members)
        left -= sum(_bytes(member.name) + _bytes(member.words) for member in members)
        left -= _bytes(summary.names[number][:LONGEST_NAME]) + _LINE
        left -= _bytes(titles[number][:LONGEST_NAME])
        by_r = np.argsort(-np.abs(r[number]), kind="stable").tolist()
        effects = [
            Effect(
                shown(summary.targets[k], LONGEST_NAME),
                float(r[number, k]),
                float(weights[number, k]),
                bool(cancels[number, k]),
                (opposing or {}).get((number, k)),
                (checks or {}).get((number, k)),
            )
            for k in by_r
        ]
        heaviest = effects[by_r.index(int(np.abs(weights[number] / units).argmax()))]
        several = effects[:TARGETS_SHOWN] if len(effects) > 1 else []
        left -= sum(_bytes(effect.target) + _TARGET_LINE for effect in several)
        rest = features[first : first + max(named, 0)]
        others = [with_sign(names[feature], reducer.signs_[feature]) for feature in rest]
        sizes = np.cumsum(list(map(_bytes, others)))
        others = others[: int(np.searchsorted(sizes, left - TEXT_SHOWN / 8, side="right"))]
        named -= len(others)
        left -= sum(map(_bytes, others))
        groups.append(
            Group(
                number=number,
                name=shown(summary.names[number], LONGEST_NAME),
                title=shown(titles[number], LONGEST_NAME),
                size=len(features),
                mean_correlation=float(summary.mean_correlation[number]),
                min_correlation=float(summary.min_correlation[number]),
                min_is_exact=bool(summary.min_is_exact[number]),
                target_correlation=effects[0].target_correlation,
                weight=heaviest.weight,
                cancels=heaviest.cancels,
                opposes=heaviest.opposes,
                check=heaviest.check,
                flag=flags[number],
                members=tuple(members),
                others=tuple(others),
                n_unnamed=len(features) - len(members) - len(others),
                target=effects[0].target if several else "",
                weight_target=heaviest.target if several else "",
                targets=tuple(several),
                place=summary.places.at(number) if summary.places else None,
            )
        )
    return tuple(groups)


def _bytes(text: str) -> int:
    """Return the size of a text on the page, with the tags around it."""
    return len(escape(text).encode("utf-8", "replace")) + 20


def describe_merge(
    row: npt.NDArray[np.void], partner: str, strategy: str, targets: Targets | None = None
) -> str:
    """Put the evidence for one merge into words."""
    targets = targets or Targets()
    other = f"with {partner}" if strategy == "sequential" else f"with the group of {partner}"
    other += " once the sign is flipped" if row["sign"] < 0 else ""
    rho, f, tolerance = (float(row[name]) for name in ("correlation", "f", "tolerance"))
    if np.isinf(tolerance):
        return f"{other}: correlation {decimals(rho)}; merged before the regression on all groups"
    if f == 0 and rho == 1:
        return f"{other}: identical up to units and rounding"
    required = float(row["threshold"])
    ours, needed = decimals(rho), ""
    if required <= -1:
        needed = ", any would do"
    elif not np.isnan(required):
        # At F = tolerance, as in the last merge to a number of groups, they differ by rounding.
        ours, written = distinguishable(decimals, rho, required if f < tolerance else rho)
        needed = f", required {written}"
    gain = float(np.mean(row["gain_share"]))  # of several targets, as F weighs them
    error = "mean squared error by {} % of the target's variance"
    if targets.classes is not None:
        error = "mean squared error of the classes' indicators by {} % of their variance"
    elif targets.size > 1:
        error = "mean squared error by {} % of a target's variance on average"
    most = ""
    if targets.size > 1 and np.max(row["bias_growth_share"]) > 0:
        name = targets.labels[int(np.argmax(row["bias_growth_share"]))]
        most = f"; bias grows most for {shown(name, LONGEST_NAME)}"
    f_written, limit = distinguishable(digits, f, tolerance)
    limit = min(f"{tolerance:g}", limit, key=len)
    return (
        f"{other}: correlation {ours}{needed}; {'lowers' if gain >= 0 else 'raises'} the "
        f"{error.format(digits(100 * abs(gain)))} (F = {f_written} ≤ {limit}){most}"
    )


@dataclass(frozen=True)
class PairTable:
    """Pairs, and the figures that decided on them."""

    first: tuple[str, ...]  # names of features, or of reduced features
    second: tuple[str, ...]
    correlation: FloatArray
    threshold: FloatArray  # correlation required; of unmerged pairs, at least min_correlation
    f: FloatArray
    total: int  # how many pairs there are, of which these are shown


@dataclass(frozen=True)
class Pairs:
    """Merged pairs, and the unmerged pairs that came closest to merging."""

    tolerance: float  # pairs merge at F up to this
    merged: PairTable  # as recorded in the fit
    # Closest to merging first; None without training data or a rule for pairs.
    near: PairTable | None
    note: str  # what ``near`` compares, or why there is none
    min_correlation: float | None  # pairs below it never merge


def collect_pairs(reducer: Any, train: Observations | None) -> Pairs:
    """Collect the merged pairs, and compute those that nearly merged."""
    evidence = reducer.evidence_
    decided = evidence[np.isfinite(evidence["tolerance"]) & ~np.isnan(evidence["threshold"])]
    names = feature_names(reducer)
    # Evenly over F, so that a part is representative of the whole.
    order = np.argsort(decided["f"], kind="stable")
    if order.size > MERGED_SHOWN:
        order = order[np.linspace(0, order.size - 1, MERGED_SHOWN).round().astype(np.intp)]
    rows = decided[order]
    merged = PairTable(
        tuple(names[i] for i in rows["partner"]),
        tuple(with_sign(names[row["feature"]], row["sign"]) for row in rows),
        rows["correlation"],
        rows["threshold"],
        rows["f"],
        decided.size,
    )
    if reducer.n_groups is None:
        tolerance = tolerance_value(reducer.tolerance)
    else:  # the largest F at which a merge was made
        tolerance = float(decided["tolerance"].max()) if decided.size else 0.0
    near = None
    if reducer.strategy == "joint":
        note = "The joint strategy decides by a regression on all groups, not pair by pair."
    elif train is not None and train.missing and reducer.strategy != "sequential":
        note = "With missing values, only merged pairs are shown: means of groups are not compared."
    elif train is None:
        note = "Only merged pairs are shown: those that nearly merged require the training data."
    else:
        near, note = _nearest_groups(reducer, names, train, tolerance)
    lowest = None if reducer.min_correlation is None else float(reducer.min_correlation)
    return Pairs(tolerance, merged, near, note, lowest)


def _nearest_groups(
    reducer: Any, names: list[str], train: Observations, tolerance: float
) -> tuple[PairTable, str]:
    """Return the pairs of groups that came closest to merging, and a note on what was compared."""
    largest = sorted(range(reducer.n_groups_), key=lambda k: -len(reducer.groups_[k]))
    chosen = np.sort(largest[:_GROUPS_COMPARED]).astype(np.intp)
    if reducer.strategy == "sequential":
        seeds = np.array([reducer.groups_[k][0] for k in chosen])
        values, labels, what = train.X[:, seeds], [names[i] for i in seeds], "group seeds"
        weights = reducer.feature_weights_[seeds]
    else:
        # Means of standardized features, whatever the units of the reduced ones: these decided.
        standardized = copy(reducer)
        standardized.units = "standardized"
        values = train.reduced(standardized)[:, chosen]
        labels = [str(name) for name in reducer.get_feature_names_out()[chosen]]
        what = "group means"
        members = (reducer.groups_[k] for k in chosen)
        weights = np.array([reducer.feature_weights_[group].mean() for group in members])
    least = "the smallest F"
    if reducer.min_correlation is not None:
        least = "correlations closest to those required"
    note = f"Not merged: the pairs of {what} with {least}."
    if reducer.strategy == "centroid":
        note += (
            " Two groups can pass and still not merge, because features are tested one by one "
            "against the mean of a group."
        )
    elif reducer.n_groups is not None:
        note += " Pairs that pass were not merged once the requested number of groups was reached."
    constraint = reducer._constraint()
    if constraint.restricts:
        note += " Only groups that are allowed to merge are compared: neighbours, same block."
    if len(largest) > chosen.size:
        note += f" Only the {chosen.size} largest groups are compared."
    allowed = constraint.between_groups([reducer.groups_[k] for k in chosen])

    statistics = ArrayStatistics.of(replace(train, X=values).training())
    noise_source = statistics
    if reducer.noise == "full":  # the residual variance of the regression on all features
        noise_source = ArrayStatistics.of(train.training(reducer.labels_ >= 0))
    rule = Rule.of(
        noise_source,
        tolerance,
        reducer.noise,
        reducer.min_correlation,
        signed=reducer.signed,
        weights=weights,
        share=reducer.effective_samples_ / reducer.n_samples_,
    )
    first, second = np.nonzero(np.triu(allowed, 1))
    known = statistics.within(np.arange(len(labels))).at(first, second)
    decision = rule.decide(pairs_from_correlations(known), rule.imbalance(first, second))
    pairs = rule.evidence(first, second, decision)
    nearness = pairs["f"]
    if reducer.min_correlation is not None:  # which stops pairs whatever their F
        nearness = np.maximum(pairs["threshold"], rule.min_correlation) - pairs["correlation"]
    nearest = pairs[np.argsort(nearness, kind="stable")[:NEAR_SHOWN]]
    near = PairTable(
        tuple(labels[i] for i in nearest["partner"]),
        tuple(with_sign(labels[row["feature"]], row["sign"]) for row in nearest),
        nearest["correlation"],
        np.maximum(nearest["threshold"], rule.min_correlation),
        nearest["f"],
        pairs.size,
    )
    return near, note


@dataclass(frozen=True)
class CorrelationMatrix:
    """Correlations of features, after the flips of the model, ordered by group."""

    names: tuple[str, ...]  # with a minus sign if flipped
    groups: npt.NDArray[np.intp]
    values: FloatArray  # of shape (len(names), len(names))
    n_features: int  # how many features there are, of which these are shown
    blocks: tuple[str, ...]  # short names of the groups, in that order


def correlate_by_group(
    reducer: Any, samples: Observations, limit: int = _CORRELATIONS_SHOWN
) -> CorrelationMatrix:
    """Correlate the features, the largest group first; of many, every k-th in that order."""
    order = np.concatenate(sorted(reducer.groups_, key=len, reverse=True))
    chosen = order
    if order.size > limit:
        chosen = order[np.linspace(0, order.size - 1, limit).round().astype(np.intp)]
    # Scaled first: squares of extreme numbers would be 0 or infinite.
    values = np.asarray(samples.X[:, chosen], dtype=np.float64)
    values = (values - reducer.mean_[chosen]) * (reducer.signs_[chosen] / reducer.scale_[chosen])
    names, short = feature_names(reducer), display_names_of_groups(reducer)
    return CorrelationMatrix(
        tuple(with_sign(names[i], reducer.signs_[i]) for i in chosen),
        reducer.labels_[chosen],
        _correlations(values, samples.weights, bool(samples.missing)),
        order.size,
        tuple(shown(short[k], LONGEST_NAME) for k in dict.fromkeys(reducer.labels_[chosen])),
    )


def _correlations(values: FloatArray, weights: FloatArray | None, gaps: bool) -> FloatArray:
    """Correlate columns, with gaps over the rows where both are present; 0 for constant ones."""
    counts = np.ones(len(values)) if weights is None else weights
    if gaps:
        present = (~np.isnan(values)).astype(np.float64)
        values = np.where(present > 0, values, 0.0)
        shared = np.maximum(counts * present.T @ present, 1.0)
        sums = counts * values.T @ present  # of each column, over the rows where another is present
        products = counts * values.T @ values - sums * sums.T / shared
        variances = np.maximum(counts * (values**2).T @ present - sums**2 / shared, 0)
        products /= np.sqrt(np.where(variances * variances.T > 0, variances * variances.T, np.inf))
        return np.clip(products, -1, 1)
    values = values - counts @ values / counts.sum()
    values *= np.sqrt(counts)[:, None]
    norms = np.linalg.norm(values, axis=0)
    values /= np.where(norms > 0, norms, 1.0)  # a feature may be constant in other samples
    return np.asarray(np.clip(values.T @ values, -1, 1))
