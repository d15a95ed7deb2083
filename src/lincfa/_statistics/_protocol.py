"""The protocol between the data and the grouping; the sources of statistics implement it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ..theory._arrays import FloatArray
from ._pairs import PairCorrelations

IndexArray: TypeAlias = npt.NDArray[np.intp]

Task: TypeAlias = tuple[slice, IndexArray]
"""A range of the seeds asked for, and the candidates whose correlations with these are wanted."""

BLOCK = 128
"""Candidates to test together against a group that grows, where correlations are at hand."""


class Sums(Protocol):
    """Correlations of candidates with the sum of a group that grows."""

    def add(self, features: IndexArray) -> None:
        """Put features into the group."""

    def of(self, candidates: IndexArray) -> FloatArray:
        """Sum of the correlations of each candidate with the members of the group."""


class Statistics(Protocol):
    """What the criterion and the grouping ask of the data.

    The moments of single features are known from the start. Correlations of features are computed
    when they are asked for, many seeds at a time, because a pass over the data costs nearly the
    same for one seed as for twenty.
    """

    @property
    def n_samples(self) -> float:
        """Number of samples; with weights, their sum."""

    @property
    def mean(self) -> FloatArray:
        """Means of the features."""

    @property
    def scale(self) -> FloatArray:
        """Standard deviations (n − 1) of the features; 1 for a constant one."""

    @property
    def varying(self) -> npt.NDArray[np.bool_]:
        """Which features are not constant."""

    @property
    def target_correlation(self) -> FloatArray:
        """Correlations of the features with the target; 0 for a constant one."""

    @property
    def target_scale(self) -> float:
        """Standard deviation of the target."""

    @property
    def rounding(self) -> FloatArray:
        """Size below which a value of each feature, standardised, is rounding of the data."""

    @property
    def seed_limit(self) -> int:
        """Number of seeds to ask for at once, at most."""

    @property
    def scatter_cost(self) -> float:
        """Cost of a candidate picked from anywhere, in correlations of one candidate."""

    @property
    def block_size(self) -> int:
        """Number of candidates to test together against a group that grows."""

    @property
    def n_rows(self) -> int:
        """Length of :meth:`columns`."""

    @property
    def columns_together(self) -> int:
        """Number of neighbouring columns that are best read together; 0 where there are none."""

    def columns(self, features: IndexArray) -> FloatArray:
        """Standardised columns, one a row, such that their products are correlations."""

    def head_size(self, remaining: int, seed_share: float) -> int:
        """How many of the remaining features to decide together by :meth:`square`.

        ``seed_share`` is the share of seeds among the features decided last, 0 at the start.
        """

    def look_ahead(self, features: IndexArray, others: IndexArray, seed_share: float) -> None:
        """Hear which correlations come next: of features with each other, of some with others.

        A source for which looking at the data is expensive may compute them together.
        """

    def square(self, features: IndexArray) -> FloatArray:
        """Correlations of the features with each other; only above the diagonal."""

    def squares(self, groups: Sequence[IndexArray]) -> Iterator[FloatArray]:
        """Correlations within each of many small groups, as full matrices."""

    def rows(self, seeds: IndexArray, tasks: Iterable[Task]) -> Iterator[FloatArray]:
        """Correlations of seeds with candidates: one array (seeds, candidates) per task.

        The candidates of a task are in ascending order.
        """

    def sums(self) -> Sums:
        """Running sums for a group that is empty yet."""

    def group_variances(self, labels: IndexArray, n_groups: int, factors: FloatArray) -> FloatArray:
        """Variance of the sum of each group's standardised features, multiplied by factors.

        Features with label −1 belong to no group.
        """

    def pairs(self, first: IndexArray, second: IndexArray, rho: FloatArray) -> PairCorrelations:
        """Complete correlations of pairs of features, precise also where they nearly coincide."""
