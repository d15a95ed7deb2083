"""Pairs that merged and pairs that nearly did: correlation against threshold."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._criterion import Criterion, tolerance_value
from .._evidence import threshold
from .._statistics import ArrayStatistics, standardize_target
from ..theory._arrays import FloatArray
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
        The pairs with the smallest F of those that stay apart, the nearest first; None where there
        are no data to compute them from, or no rule for pairs.
    note : str
        What ``near`` compares, or why there is none.
    """

    tolerance: float
    merged: PairTable
    near: PairTable | None
    note: str


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
    tolerance = tolerance_value(reducer.tolerance)
    if reducer.n_groups is not None and decided.size:
        tolerance = float(decided["tolerance"].max())
    if reducer.strategy == "joint":
        note = "The joint strategy decides in the regression on all groups, not pair by pair."
        return Pairs(tolerance, merged, None, note)
    if train is None:
        return Pairs(tolerance, merged, None, "Without the data of the fit, merged pairs alone.")
    return _with_near(reducer, train, Pairs(tolerance, merged, None, ""))


def _with_near(reducer: Any, train: Samples, pairs: Pairs) -> Pairs:
    """Add the pairs of groups that came closest to merging."""
    largest = sorted(range(reducer.n_groups_), key=lambda k: -len(reducer.groups_[k]))
    chosen = np.sort(largest[:_GROUPS_COMPARED]).astype(np.intp)
    sequential = reducer.strategy == "sequential"
    if sequential:
        features = np.array([reducer.groups_[k][0] for k in chosen])
        representatives = train.X[:, features]
        labels = [str(reducer._names()[i]) for i in features]
        what = "the first features of the groups"
    else:
        representatives = reducer._average(train.X)[:, chosen]
        labels = [str(reducer.get_feature_names_out()[k]) for k in chosen]
        what = "the means of the groups"
    note = f"Kept apart: pairs of {what}, those with the smallest F."
    if len(largest) > chosen.size:
        note += f" Compared are the {chosen.size} largest groups."
    table = _nearest(reducer, representatives, train.y, labels, pairs.tolerance)
    return Pairs(pairs.tolerance, pairs.merged, table, note)


def _nearest(
    reducer: Any, values: npt.NDArray[Any], y: FloatArray, labels: list[str], tolerance: float
) -> PairTable:
    """Give the pairs of columns with the smallest F of those that stay apart."""
    statistics = ArrayStatistics.from_data(values, y)
    criterion = Criterion(statistics.n_samples, tolerance, _noise_ratio(reducer, y))
    first, second = np.triu_indices(len(labels), 1)
    rho = statistics.square(np.arange(len(labels)))[first, second]
    r = statistics.target_correlation
    f = criterion.plain_f(rho, r[first], r[second])
    lowest = -1.0 if reducer.min_correlation is None else float(reducer.min_correlation)
    apart = np.flatnonzero(((f > tolerance) | (rho < lowest)) & np.isfinite(f))
    nearest = apart[np.argsort(f[apart], kind="stable")[:NEAR_SHOWN]]
    needed = threshold(tolerance, 1 - rho[nearest], f[nearest])
    return PairTable(
        tuple(labels[i] for i in first[nearest]),
        tuple(labels[i] for i in second[nearest]),
        rho[nearest],
        np.maximum(needed, lowest),
        f[nearest],
        apart.size,
    )


def _noise_ratio(reducer: Any, y: FloatArray) -> float | None:
    """Variance of the noise over that of the target, as in the fit; None for each pair's own."""
    if reducer.noise == "pair":
        return None
    if not isinstance(reducer.noise, str):
        return float(reducer.noise) / standardize_target(y)[1] ** 2
    # That of the regression on all features is behind each drop of variance.
    drops = reducer.evidence_["variance_drop_share"]
    return float(drops[0] * (reducer.n_samples_ - 1)) if drops.size else None
