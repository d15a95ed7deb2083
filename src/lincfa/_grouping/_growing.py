"""A group that takes one feature after the other by its mean."""

from math import sqrt

import numpy as np

from .._rule._criterion import MARGIN, Criterion
from .._rule._evidence import EVIDENCE, EvidenceArray, threshold
from .._statistics import RESOLUTION, Statistics

_COINCIDE = MARGIN + np.sqrt(2 * RESOLUTION)
"""Difference of the correlations with the target that features can have which count as equal."""


class GrowingGroup:
    """A group that grows, known by running sums of correlations.

    With the sum s of the members' standardised columns, a candidate's correlation with the mean of
    the group is its product with s over the norm of s. Both come from sums of correlations.
    """

    def __init__(self, statistics: Statistics, criterion: Criterion, seed: int) -> None:
        self._statistics, self._criterion = statistics, criterion
        self.members = [seed]
        self._figures: list[tuple[float, float, float, float]] = []
        self.sums = statistics.sums()
        self.sums.add(np.array([seed]))
        self._r = float(statistics.target_correlation[seed])
        self._square = 1.0
        # That of a group without correlation with the target: no other has a larger one.
        self.reach = float(criterion.reach(np.zeros(1))[0]) + _COINCIDE

    @property
    def norm(self) -> float:
        """Norm of the sum. That of mirror images has no variance: any scale does for it."""
        return sqrt(max(self._square, RESOLUTION))

    @property
    def center(self) -> float:
        """Correlation of the mean of the group with the target."""
        return self._r / self.norm

    def takes(self, feature: int, total: float, r_feature: float) -> bool:
        """Test a candidate, of which its product with the sum is given; if it passes, it joins.

        The running sums of the columns do not know of it yet.
        """
        norm = self.norm
        rho = max(-1.0, min(1.0, total / norm))
        r_group = self._r / norm
        f = self._criterion.plain_f_of_pair(rho, r_group, r_feature)
        if f > self._criterion.tolerance:
            return False
        self.members.append(feature)
        self._figures.append((f, rho, r_group, r_feature))
        self._square += 2 * total + 1
        self._r += r_feature
        return True

    def evidence(self) -> EvidenceArray:
        """What each member met when it joined; the seed stands for the group."""
        evidence = np.empty(len(self._figures), dtype=EVIDENCE)
        evidence["feature"], evidence["partner"] = self.members[1:], self.members[0]
        f, rho, r_group, r_feature = np.array(self._figures).reshape(-1, 4).T
        tolerance = self._criterion.tolerance
        evidence["correlation"], evidence["f"], evidence["tolerance"] = rho, f, tolerance
        evidence["threshold"] = threshold(tolerance, 1 - rho, f)
        drop, growth = self._criterion.plain_tradeoff(rho, r_group, r_feature)
        evidence["variance_drop_share"], evidence["bias_growth_share"] = drop, growth
        return evidence
