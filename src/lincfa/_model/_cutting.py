"""Cutting the path of merges elsewhere, without a new fit."""

import copy
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

from .._grouping import PATHS, MergePath, Partition
from .._grouping._cohesion import cut_cohesion
from .._rule import complete, tolerance_value
from ..theory._arrays import FloatArray
from ._reducer import GroupReducer


class PathReducer(GroupReducer):
    """A reduction whose strategy may leave a path of merges, which can be cut anywhere."""

    def cut(
        self,
        *,
        tolerance: float | Literal["unbiased"] | None = None,
        n_groups: int | None = None,
    ) -> Self:
        """Merge less or more without a new fit.

        For ``"agglomerative"`` and ``"joint"``, whose path has every number of groups down to the
        fewest that ``min_correlation``, ``connectivity`` and ``blocks`` allow.

        Parameters
        ----------
        tolerance : float or "unbiased", optional
            c in F ≤ c.
        n_groups : int, optional
            Number of groups, instead of a tolerance.

        Returns
        -------
        LinCFA
            A new estimator, fitted: what a fit with this ``tolerance`` or ``n_groups`` gives.
        """
        path = self._path()
        if tolerance is None and n_groups is None:
            raise ValueError("Give a tolerance or n_groups.")
        if tolerance is not None and n_groups is not None:
            raise ValueError("Give a tolerance or n_groups, not both.")
        model = copy.copy(self)
        if hasattr(model, "_stream"):
            del model._stream
        model.tolerance = 1.0 if tolerance is None else tolerance
        model.n_groups = n_groups
        model._check_parameters()
        model._keep_cut(path, model._cut(path, tolerance_value(model.tolerance)))
        return model

    def to_linkage(self) -> FloatArray:
        """Give the path as a linkage matrix of SciPy, for its dendrogram.

        For ``"agglomerative"`` and ``"joint"``. The leaves are the features that are not constant,
        in their order; the heights are those of ``merge_path_``.
        """
        path = self._path()
        if path.fewest_groups != 1:
            raise ValueError(
                f"A linkage needs a path that ends in one group; with {self._limits()} this one "
                f"ends at {path.fewest_groups}. Fit without."
            )
        return path.linkage()

    def _limits(self) -> str:
        """Name what keeps groups apart."""
        names = ("min_correlation", "connectivity", "blocks")
        limits = [name for name in names if getattr(self, name) is not None]
        field = getattr(self, "field_", None)
        if field is not None and len(field.variables) > 1:
            limits.append(f"{len(field.variables)} variables")
        return " and ".join(limits)

    def _path(self) -> MergePath:
        self._check_is_fitted()
        if not hasattr(self, "merge_path_"):
            raise ValueError(
                f"strategy={self.strategy!r} leaves no path of merges; fit with strategy="
                f"{' or '.join(map(repr, PATHS))}."
            )
        return MergePath(self.labels_ >= 0, self.merge_path_)

    def _keep(self, partition: Partition, cohesion: npt.NDArray[np.void]) -> None:
        self.labels_ = partition.labels
        self.groups_ = partition.groups
        self.n_groups_ = len(partition.groups)
        self.evidence_ = complete(partition.evidence, self.target_scale_)
        self.cohesion_ = cohesion

    def _keep_cut(self, path: MergePath, partition: Partition) -> None:
        neighbours = self.connectivity is not None
        self._keep(
            partition,
            cut_cohesion(path, partition.groups, self.target_correlation_, neighbours=neighbours),
        )

    def _cut(self, path: MergePath, tolerance: float) -> Partition:
        """Cut the path at the tolerance, or where it has the number of groups asked for."""
        if self.n_groups is None:
            return path.partition(path.n_groups(tolerance), tolerance)
        if not path.fewest_groups <= self.n_groups <= path.most_groups:
            limits = self._limits()
            limit = f", the fewest with {limits}," if path.fewest_groups > 1 else ""
            raise ValueError(
                f"n_groups={self.n_groups} is not between {path.fewest_groups}{limit} and "
                f"{path.most_groups}, the number of features that are not constant."
            )
        return path.partition(self.n_groups)
