"""The groups with their members, and the evidence of each member in words."""

from dataclasses import dataclass
from html import escape
from itertools import accumulate, takewhile
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._data._names import shown
from ..._model._display import decimals, digits, distinguishable
from ...theory._arrays import FloatArray

GROUPS_SHOWN = 10_000
MEMBERS_SHOWN = 200
"""Of one group."""
FEATURES_SHOWN = 12_000
"""Of all groups."""
NAMED = 100_000
"""Of which the name alone is kept, to be searched for."""
LONGEST_NAME = 120
TEXT_SHOWN = 8_500_000
"""Bytes of all groups on a page: a third of them for members in full, so that there is room for the
names of all others, which can be searched for; the last eighth is for more groups."""
_LINE = 300
"""Bytes of the line of one group, without its texts."""


@dataclass(frozen=True)
class Member:
    """A feature of a group, and why it is there."""

    name: str
    target_correlation: float
    words: str


@dataclass(frozen=True)
class Group:
    """A group as a report shows it.

    Attributes
    ----------
    number : int
        Its place among the reduced features, counted from 0.
    name : str
        Name of the reduced feature.
    size : int
        Number of its features.
    mean_correlation, min_correlation : float
        Of two features of the group; NaN for a single one.
    min_is_exact : bool
        Whether the smallest is that of all pairs, or an upper bound.
    target_correlation : float
        Of its mean.
    weight : float
        How far a prediction rises with one standard deviation of the reduced feature; NaN where
        there is no regression.
    members : tuple of Member
        The first ones in full.
    others : tuple of str
        Names of the next ones.
    n_unnamed : int
        How many more there are.
    """

    number: int
    name: str
    size: int
    mean_correlation: float
    min_correlation: float
    min_is_exact: bool
    target_correlation: float
    weight: float
    members: tuple[Member, ...]
    others: tuple[str, ...]
    n_unnamed: int


def describe_groups(reducer: Any, weights: FloatArray | None) -> tuple[Group, ...]:
    """Describe the groups, the largest first, as many as a page can hold."""
    summary = reducer.summary()
    order = np.argsort(-summary.sizes, kind="stable")[:GROUPS_SHOWN].tolist()
    names = [shown(str(name), LONGEST_NAME) for name in reducer._names()]
    evidence = dict(
        zip(reducer.evidence_["feature"].tolist(), range(reducer.evidence_.size), strict=True)
    )
    in_full, named, left = FEATURES_SHOWN, NAMED, TEXT_SHOWN
    groups: list[Group] = []
    for number in order:
        if left <= 0:
            break
        features = reducer.groups_[number].tolist()
        most = max(1, min(MEMBERS_SHOWN, in_full if left > 2 / 3 * TEXT_SHOWN else 0))
        members = [
            Member(
                names[feature],
                float(reducer.target_correlation_[feature]),
                _reason(reducer, names, feature, evidence.get(feature)),
            )
            for feature in features[:most]
        ]
        in_full -= len(members)
        left -= sum(_bytes(member.name) + _bytes(member.words) for member in members)
        left -= _bytes(summary.names[number][:LONGEST_NAME]) + _LINE
        others = [names[feature] for feature in features[most : most + max(named, 0)]]
        others = _first(others, left - TEXT_SHOWN / 8)
        named -= len(others)
        left -= sum(map(_bytes, others))
        groups.append(
            Group(
                number=number,
                name=shown(summary.names[number], LONGEST_NAME),
                size=len(features),
                mean_correlation=float(summary.mean_correlation[number]),
                min_correlation=float(summary.min_correlation[number]),
                min_is_exact=bool(summary.min_is_exact[number]),
                target_correlation=float(summary.target_correlation[number]),
                weight=float("nan") if weights is None else float(weights[number]),
                members=tuple(members),
                others=tuple(others),
                n_unnamed=len(features) - len(members) - len(others),
            )
        )
    return tuple(groups)


def _bytes(text: str) -> int:
    """Size of a text on a page, with what stands between it and the next."""
    return len(escape(text).encode("utf-8", "replace")) + 20


def _first(names: list[str], most: float) -> list[str]:
    """Give the first of some names, up to so many bytes."""
    fitting = takewhile(lambda size: size <= most, accumulate(map(_bytes, names)))
    return names[: sum(1 for _ in fitting)]


def _reason(reducer: Any, names: list[str], feature: int, place: int | None) -> str:
    """Say why a feature is in its group; the first feature of a group needs no reason."""
    if place is None:
        group = reducer.groups_[reducer.labels_[feature]]
        return "first of the group" if len(group) > 1 else "merges with no other"
    row = reducer.evidence_[place]
    return merge_words(row, names[int(row["partner"])], reducer.strategy)


def merge_words(row: npt.NDArray[np.void], partner: str, strategy: str) -> str:
    """Put the evidence of one merge into words.

    Examples
    --------
    >>> from lincfa import LinCFA
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
    >>> model = LinCFA().fit(X, y)
    >>> merge_words(model.evidence_[0], "x0", "sequential")
    "with x0: correlated by 0.923, and 0.727 is enough; lowers the mean squared error by 0.173 % of
    the target's variance (F = 0.282, up to 1)"
    """
    against = f"with {partner}" if strategy == "sequential" else f"with the group of {partner}"
    rho, f, tolerance = (float(row[name]) for name in ("correlation", "f", "tolerance"))
    if np.isinf(tolerance):
        return f"{against}: correlated by {decimals(rho)}, before the regression on all groups"
    if f == 0 and rho == 1:
        return f"{against}: they coincide, up to their unit and the rounding of the data"
    threshold = float(row["threshold"])
    needed = f"correlated by {decimals(rho)}"
    if threshold <= -1:
        needed += ", and any correlation would do"
    elif not np.isnan(threshold):
        ours, enough = distinguishable(decimals, rho, threshold)
        needed = f"correlated by {ours}, and {enough} is enough"
    gain = float(row["gain_share"])
    written, limit = distinguishable(digits, f, tolerance)
    short = f"{tolerance:g}"
    return (
        f"{against}: {needed}; {'lowers' if gain >= 0 else 'raises'} the mean squared error by "
        f"{digits(100 * abs(gain))} % of the target's variance (F = {written}, up to "
        f"{short if len(short) <= len(limit) else limit})"
    )
