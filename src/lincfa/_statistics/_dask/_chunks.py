"""The chunks of a dask collection, and passes over them.

Each pass is one graph. A task gets one chunk, with the target and the weights of its rows; what the
tasks return is added up in a tree, and the sum comes back. The data are never gathered.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._data._dask import ChunkedTraining, compute, cut_rows
from ...theory._arrays import FloatArray
from .. import IndexArray
from . import _moments as moments
from . import _products as kernels

LARGEST_BATCH = 2**24
"""Numbers that one task may return, or hold beside its chunk: 128 MiB."""

_FEWEST = 16
_FAN_IN = 4


class Chunks(ChunkedTraining):
    """Passes over the rows of a dask collection."""

    @classmethod
    def of(cls, training: ChunkedTraining) -> "Chunks":
        """Open the chunks of a training."""
        return cls(**vars(training))

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return sum(self.widths)

    @property
    def in_one_pass(self) -> bool:
        """Whether the comoments of all pairs are few enough to be computed together."""
        fits = len(self.widths) == 1 or max(self.lengths) * self.n_features <= LARGEST_BATCH
        return fits and (self.n_features + 1) ** 2 <= LARGEST_BATCH

    def batch(self, others: int) -> int:
        """Number of features whose correlations with so many others make a batch."""
        longest = 1 if len(self.widths) == 1 else max(self.lengths)
        return max(_FEWEST, LARGEST_BATCH // max(others, longest, 1))

    def weighted(self, weights: FloatArray | None) -> "Chunks":
        """Give the same rows with other weights, or without any."""
        return replace(self, weights=None if weights is None else cut_rows(weights, self.lengths))

    def outcomes(self) -> tuple[FloatArray, FloatArray | None]:
        """Gather target and weights, as float64."""
        y, weights = compute([list(self.y), self.weights])
        return np.concatenate(y).astype(np.float64), (
            None if weights is None else np.concatenate(weights).astype(np.float64)
        )

    def all_moments(self) -> moments.AllMoments:
        """Comoments of all pairs of columns."""
        tasks = [
            _task(moments.all_moments)(list(row), y, weights, start, self.precision)
            for row, y, weights, start in self._rows(self.blocks)
        ]
        total: moments.AllMoments = compute(add_in_tree(tasks))
        self._refuse([total.fault])
        return total

    def column_moments(self) -> list[moments.ColumnMoments]:
        """Moments of single columns, by column chunks."""
        trees = [
            add_in_tree(
                [
                    _task(moments.column_moments)(row[j], y, weights, start, left)
                    for row, y, weights, start in self._rows(self.blocks)
                ]
            )
            for j, left in enumerate(self._bounds[:-1])
        ]
        parts: list[moments.ColumnMoments] = compute(trees)
        self._refuse([part.fault for part in parts])
        return parts

    def products(
        self,
        left: IndexArray,
        right: IndexArray,
        mean: FloatArray,
        scale: FloatArray,
        *,
        summed: bool = False,
    ) -> FloatArray:
        """Sums of products of standardised features, or of their sum, with others.

        Both are in ascending order.
        """
        others = self._columns(right, mean, scale)
        own = self._columns(left, mean, scale)
        if len(self.widths) == 1:
            beside = [own[0][1]] * len(self.blocks)  # each chunk takes them itself
        else:
            join = add_in_tree if summed else _task(kernels.side_by_side)
            beside = [join(some) for some in self._pieces(kernels.standardized, own, summed)]
        # First along the rows of chunks: then what stands beside them is not needed for long.
        tasks = [
            _task(kernels.side_by_side)(
                [_task(kernels.products)(some, summed, row[j], spec, weights) for j, spec in others]
            )
            for some, (row, _, weights, _) in zip(beside, self._rows(self.blocks), strict=True)
        ]
        return np.asarray(compute(add_in_tree(tasks)))

    def products_within(
        self, groups: Sequence[IndexArray], mean: FloatArray, scale: FloatArray
    ) -> list[FloatArray]:
        """Sums of products of the standardised features of each group with each other."""
        features, place = np.unique(np.concatenate(groups), return_inverse=True)
        ends = np.cumsum([group.size for group in groups])
        places = _constant(np.split(place, ends[:-1]))
        specs = self._columns(features, mean, scale)
        if len(self.widths) == 1:
            total = self._total(kernels.products_within, self.blocks, [specs[0][1]], places)
        else:
            pieces = self._pieces(kernels.standardized, specs, False)
            total = self._total(kernels.products_within, pieces, [None] * len(specs), places)
        cuts = np.cumsum([group.size**2 for group in groups])[:-1]
        return [
            part.reshape(group.size, group.size)
            for group, part in zip(groups, np.split(total, cuts), strict=True)
        ]

    def standardized(self, features: IndexArray, mean: FloatArray, scale: FloatArray) -> FloatArray:
        """Gather the standardised columns of features in ascending order.

        Each row is multiplied by the root of its weight; those without weight are left out.
        """
        specs = self._columns(features, mean, scale)
        rows = self._pieces(kernels.standardized, specs, False)
        gathered = np.vstack(compute([_task(kernels.side_by_side)(pieces) for pieces in rows]))
        if self.weights is not None:
            weights = np.concatenate(compute(self.weights))
            gathered *= np.sqrt(weights[weights > 0])[:, None]
        return gathered

    def squares_of_sums(
        self, labels: IndexArray, n_groups: int, mean: FloatArray, scale: FloatArray
    ) -> FloatArray:
        """Sum of the squares of the sum of each group's standardised features."""
        specs = [
            (j, _constant((labels[part], mean[part], scale[part])))
            for j, part in enumerate(self._parts)
            if (labels[part] >= 0).any()
        ]
        if len(self.widths) == 1:
            return self._total(kernels.squares_of_sums, self.blocks, [specs[0][1]], n_groups)
        # Each is as wide as all groups.
        sums = [[add_in_tree(some)] for some in self._pieces(kernels.group_sums, specs, n_groups)]
        return self._total(kernels.squares_of_sums, sums, [None], n_groups)

    def reduced(
        self,
        groupings: Sequence[tuple[IndexArray, int]],
        mean: FloatArray | None,
        scale: FloatArray | None,
    ) -> list[FloatArray]:
        """Reduced features of all rows, by groupings of the features."""
        specs = []
        for part in self._parts:
            standard = (None, None) if mean is None or scale is None else (mean[part], scale[part])
            specs.append(
                _constant([((labels[part], *standard), size) for labels, size in groupings])
            )
        sizes = np.concatenate([np.bincount(labels[labels >= 0]) for labels, _ in groupings])
        rows = [
            add_in_tree([_task(kernels.many_sums)(*pair) for pair in zip(row, specs, strict=True)])
            for row in self.blocks
        ]
        reduced = np.vstack(compute(rows))
        reduced /= sizes
        return np.split(reduced, np.cumsum([size for _, size in groupings])[:-1], axis=1)

    def _total(
        self, kernel: Callable[..., Any], rows: Iterable[Any], specs: list[Any], what: Any
    ) -> FloatArray:
        """Add up what a kernel makes of whole rows.

        Of a single column chunk it takes what it needs itself, some rows at a time; of several it
        is given what each of them contributes, and no specification.
        """
        tasks = [
            _task(kernel)(list(pieces), specs, what, weights)
            for pieces, (_, _, weights, _) in zip(rows, self._rows(self.blocks), strict=True)
        ]
        return np.asarray(compute(add_in_tree(tasks)))

    def _pieces(
        self, prepare: Callable[..., Any], specs: list[tuple[int, Any]], option: Any
    ) -> list[list[Any]]:
        """For each row of chunks, what those of some columns contribute."""
        return [
            [_task(kernels.of_counted)(prepare, row[j], spec, option, weights) for j, spec in specs]
            for row, _, weights, _ in self._rows(self.again)
        ]

    def _columns(
        self, features: IndexArray, mean: FloatArray, scale: FloatArray
    ) -> list[tuple[int, Any]]:
        """Where features in ascending order are: column chunks, and columns in them."""
        cuts = np.searchsorted(features, self._bounds)
        return [
            (j, _constant((own - self._bounds[j], mean[own], scale[own])))
            for j, own in enumerate(features[a:b] for a, b in pairwise(cuts.tolist()))
            if own.size
        ]

    @property
    def _bounds(self) -> list[int]:
        return list(accumulate(self.widths, initial=0))

    @property
    def _parts(self) -> list[slice]:
        bounds = self._bounds
        return [slice(a, b) for a, b in pairwise(bounds)]

    def _rows(self, blocks: npt.NDArray[np.object_]) -> Iterator[tuple[Any, Any, Any, int]]:
        """Rows of chunks with their target, their weights and their first row."""
        weights = repeat(None) if self.weights is None else self.weights
        return zip(blocks, self.y, weights, accumulate(self.lengths, initial=0), strict=False)

    def _refuse(self, faults: Sequence[moments.Fault | None]) -> None:
        """Raise for a value that is not finite, if there is one."""
        fault = moments.first_fault(faults)
        if fault is not None:
            raise self.bad_value(fault.what, fault.value, fault.row, fault.column)


def _task(function: Callable[..., Any]) -> Any:
    from dask import delayed

    return delayed(function, pure=False)


def _constant(value: Any) -> Any:
    """Put a value into the graph once, however many tasks need it."""
    from dask import delayed

    return delayed(value, pure=False, traverse=False)


def add_in_tree(tasks: list[Any]) -> Any:
    """Add up what tasks return, few at a time, so that few have to be in memory."""
    while len(tasks) > 1:
        tasks = [
            _task(moments.merged)(tasks[i : i + _FAN_IN]) for i in range(0, len(tasks), _FAN_IN)
        ]
    return tasks[0]
