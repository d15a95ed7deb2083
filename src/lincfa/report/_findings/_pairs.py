"""Pairs that merged and pairs that nearly did: correlation against threshold."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._rule import Rule, merge_threshold, tolerance_value
from ..._rule._noise import full_noise_ratio, known_noise_ratio
from ..._statistics import ArrayStatistics
from ..._statistics._means import group_means
from ...theory._arrays import FloatArray
from ._samples import Samples

MERGED_SHOWN = 2000
NEAR_SHOWN = 300
_GROUPS_COMPARED = 1500


@dataclass(frozen=True)
class PairTable:
    """Pairs with the figures of the decision on them.

    Attributes
    ----------
    first, second : tuple of str
        Names; of groups, those of the reduced features.
    correlation, threshold, f : array of shape (len(first),)
        The threshold of pairs that stay apart is at least the smallest correlation allowed.
    total : int
        How many there are, of which these are shown.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    correlation: FloatArray
    threshold: FloatArray
    f: FloatArray
    total: int


@dataclass(frozen=True)
class Pairs:
    """Merged pairs, and those kept apart that came closest to merging.

    Attributes
    ----------
    tolerance : float
        Pairs with F up to it merge.
    merged : PairTable
        As the fit recorded them.
    near : PairTable or None
        The pairs of groups with the smallest F, the nearest first; None where there are no data to
        compute them from, or no rule for pairs.
    note : str
        What ``near`` compares, or why there is none.
    min_correlation : float or None
        Pairs with a lower correlation stay apart, whatever their F.
    """

    tolerance: float
    merged: PairTable
    near: PairTable | None
    note: str
    min_correlation: float | None


def decide_pairs(reducer: Any, train: Samples | None) -> Pairs:
    """Collect the merged pairs, and compute those that nearly merged."""
    evidence = reducer.evidence_
    decided = evidence[np.isfinite(evidence["tolerance"]) & ~np.isnan(evidence["threshold"])]
    names = reducer._names()
    # Evenly over F, so that a part shows what the whole would.
    order = np.argsort(decided["f"], kind="stable")
    if order.size > MERGED_SHOWN:
        order = order[np.linspace(0, order.size - 1, MERGED_SHOWN).round().astype(np.intp)]
    rows = decided[order]
    merged = PairTable(
        tuple(str(names[i]) for i in rows["partner"]),
        tuple(str(names[i]) for i in rows["feature"]),
        rows["correlation"],
        rows["threshold"],
        rows["f"],
        decided.size,
    )
    lowest = None if reducer.min_correlation is None else float(reducer.min_correlation)
    tolerance = _tolerance(reducer, decided)
    near = None
    if reducer.strategy == "joint":
        note = "The joint strategy decides in the regression on all groups, not pair by pair."
    elif train is None:
        note = "Without the data of the fit, merged pairs alone."
    else:
        near, note = _of_groups(reducer, train, tolerance)
    return Pairs(tolerance, merged, near, note, lowest)


def _tolerance(reducer: Any, decided: npt.NDArray[np.void]) -> float:
    """Give the tolerance of the groups; where their number was asked for, the largest F made."""
    if reducer.n_groups is None:
        return tolerance_value(reducer.tolerance)
    return float(decided["tolerance"].max()) if decided.size else 0.0


def _of_groups(reducer: Any, train: Samples, tolerance: float) -> tuple[PairTable, str]:
    """Give the pairs of groups that came closest to merging, and what was compared."""
    largest = sorted(range(reducer.n_groups_), key=lambda k: -len(reducer.groups_[k]))
    chosen = np.sort(largest[:_GROUPS_COMPARED]).astype(np.intp)
    if reducer.strategy == "sequential":
        features = np.array([reducer.groups_[k][0] for k in chosen])
        representatives = train.X[:, features]
        labels = [str(reducer._names()[i]) for i in features]
        what = "the first features of the groups"
    else:
        # Of standardised features, whatever the unit of the means: by these it was decided.
        representatives = group_means(
            train.X,
            reducer.labels_,
            reducer.n_groups_,
            mean=reducer.mean_,
            scale=reducer.scale_,
        )[:, chosen]
        labels = [str(reducer.get_feature_names_out()[k]) for k in chosen]
        what = "the means of the groups"
    note = f"Kept apart: pairs of {what}, those with the smallest F."
    if reducer.strategy == "centroid":
        note += (
            " Two groups may pass and yet stay apart, because single features are tested against "
            "the mean of a group."
        )
    elif reducer.n_groups is not None:
        note += " Pairs that pass stay apart where the number of groups was reached."
    constraint = reducer._constraint()
    if constraint.restricts:
        note += " Only groups that may merge are compared: neighbours, and within a block."
    if len(largest) > chosen.size:
        note += f" Compared are the {chosen.size} largest groups."
    allowed = constraint.between_groups([reducer.groups_[k] for k in chosen])
    return _nearest(reducer, representatives, train, labels, tolerance, allowed), note


def _nearest(
    reducer: Any,
    values: npt.NDArray[Any],
    train: Samples,
    labels: list[str],
    tolerance: float,
    allowed: npt.NDArray[np.bool_],
) -> PairTable:
    """Give the pairs of columns with the smallest F; the columns stand for groups."""
    statistics = ArrayStatistics.from_data(values, train.y, None, train.weights)
    rule = Rule(statistics.n_samples, tolerance, _noise_ratio(reducer, train))
    first, second = np.nonzero(np.triu(allowed, 1))
    rho = statistics.square(np.arange(len(labels)))[first, second]
    r = statistics.target_correlation
    f = rule.f_from_correlations(rho, r[first], r[second])
    lowest = -1.0 if reducer.min_correlation is None else float(reducer.min_correlation)
    nearest = np.argsort(f, kind="stable")[:NEAR_SHOWN]
    needed = merge_threshold(tolerance, 1 - rho[nearest], f[nearest])
    return PairTable(
        tuple(labels[i] for i in first[nearest]),
        tuple(labels[i] for i in second[nearest]),
        rho[nearest],
        np.maximum(needed, lowest),
        f[nearest],
        f.size,
    )


def _noise_ratio(reducer: Any, train: Samples) -> float | None:
    """Variance of the noise over that of the target, as in the fit; None for each pair's own."""
    if reducer.noise == "pair":
        return None
    if not isinstance(reducer.noise, str):
        return known_noise_ratio(reducer.noise, reducer.target_scale_)
    # That of the regression on all features is behind each drop of variance.
    drops = reducer.evidence_["variance_drop_share"]
    if drops.size:
        return float(drops[0] * (reducer.n_samples_ - 1))
    return full_noise_ratio(ArrayStatistics.from_data(train.X, train.y, None, train.weights))
