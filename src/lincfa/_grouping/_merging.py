"""What merging pair after pair has in common, whichever pairs are allowed."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._rule._criterion import Criterion
from .._statistics import RESOLUTION, IndexArray
from ..theory._arrays import FloatArray
from ._path import merge_record

_RECORDED = ("first", "second", "size", "correlation", "f", "height")

_TIE, _TINY = 1e-9, 1e-12
"""Relative and absolute difference below which two F count as equal: above their rounding."""


@dataclass(frozen=True)
class Standing:
    """Groups at some point of the merging.

    Attributes
    ----------
    sums : array of shape (d, d)
        Sums of the correlations between the members of two groups.
    r : array of shape (d,)
        Sums of the members' correlations with the target.
    names : array of shape (d,)
        First member of each group.
    sizes : array of shape (d,)
        Number of members of each group.
    allowed : array of shape (d, d), or None
        Which groups may merge; None where all may.
    """

    sums: FloatArray
    r: FloatArray
    names: IndexArray
    sizes: IndexArray
    allowed: npt.NDArray[np.bool_] | None


class Merger:
    """Merges the first pair in order, again and again, and keeps the record.

    Pairs merge in the order of F; but as long as some have an F up to ``most_correlated_up_to``,
    these come first, the most correlated of them before the others.
    """

    def __init__(self, criterion: Criterion, most_correlated_up_to: float = 0.0) -> None:
        self._criterion = criterion
        self._up_to = most_correlated_up_to
        self._merges: list[tuple[int, int, int, float, float, float, float, float]] = []
        self._height = 0.0

    def record(self) -> npt.NDArray[np.void]:
        """Give the merges made so far."""
        made = np.array(self._merges, dtype=np.float64).reshape(-1, 8).T
        record = merge_record(made.shape[1])
        record["pairwise"] = True
        for name, values in zip(_RECORDED, made, strict=False):
            record[name] = values
        drop, growth = self._criterion.plain_tradeoff(record["correlation"], *made[-2:])
        record["variance_drop_share"], record["bias_growth_share"] = drop, growth
        return record

    def _order(self, rho: FloatArray, r_first: FloatArray, r_second: FloatArray) -> FloatArray:
        """Give F of pairs of means, or what stands for it in the order of merging."""
        f = self._criterion.plain_f(rho, r_first, r_second)
        if self._up_to > 0:
            f = np.where(f <= self._up_to, self._up_to * (1 - rho) / 2, f)
        return f

    def _note(
        self, names: tuple[int, int], size: int, rho: float, r_first: float, r_second: float
    ) -> None:
        """Enter a merge into the record."""
        f = self._criterion.plain_f_of_pair(rho, r_first, r_second)
        self._height = max(self._height, f)
        self._merges.append((*names, size, rho, f, self._height, r_first, r_second))


def tie(bound: float) -> float:
    """Give the largest F that counts as equal to the smallest."""
    return bound + _TIE * bound + _TINY


def first_of_ties(rho: FloatArray, sizes: IndexArray, first: IndexArray, second: IndexArray) -> int:
    """Choose among pairs with the same F.

    The most correlated, then the one with the fewest features, then the one that comes first.
    """
    return int(np.lexsort((second, first, sizes, -np.round(rho, 9)))[0])


def norms_of(squares: FloatArray) -> FloatArray:
    """Norms of the groups' sums. That of mirror images has no variance: any scale does for it."""
    return np.asarray(np.sqrt(np.maximum(squares, RESOLUTION)))
