"""Statistics of the chunks of a dask collection, computed in passes over them.

Each pass is one graph. A task gets one chunk, with the targets and the weights of its rows; what
the tasks return is added up in a tree, and the sum comes back. The data are never gathered.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise, repeat
from math import isqrt, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._data._checks import check_total_weight
from ..._data._compute import compute
from ..._data._dask import ChunkedTraining, cut_rows
from ..._data._declared import named_block
from ..._data._targets import Targets
from ...theory._arrays import FloatArray
from .. import (
    LARGEST_SQUARE,
    Comparison,
    Correlations,
    Costs,
    IndexArray,
    Moments,
    MomentStatistics,
    Statistics,
    cached,
    check_range,
    most_features,
)
from .._gaps import (
    GapStatistics,
    all_pairs_in_strips,
    correlations_of,
    n_sums,
    rho_or_nan,
    variances_of_sums,
)
from .._means import divided
from .._moments import varies, with_targets
from .._protocol import Features, RowSums
from . import _kernels as kernels

LARGEST_BATCH = 2**24
"""Numbers that one task may return, or hold beside its chunk: 128 MiB."""

_FEWEST = 16
_FAN_IN = 4
_SMALLEST_BLOCK = 1024
_OPERATIONS = 200
"""Operations on a value that cost about as much as reading it."""

_MOSTLY_SEEDS = 0.5


@dataclass(frozen=True, eq=False)
class Chunks(ChunkedTraining):
    """Passes over the rows of a dask collection."""

    compared: bool = False  # with the values that they had when they were read first

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
        return fits and (self.n_features + self.targets.size) ** 2 <= LARGEST_BATCH

    def batch(self, others: int, numbers: int = 1) -> int:
        """Number of features whose correlations with so many others make a batch.

        For each pair so many numbers come back.
        """
        longest = 1 if len(self.widths) == 1 else max(self.lengths)
        fewest = max(1, _FEWEST // numbers)
        return max(fewest, LARGEST_BATCH // max(numbers * others, longest, 1))

    def weighted(self, weights: FloatArray | None) -> "Chunks":
        """Return the same rows with other weights, or without any."""
        return replace(self, weights=None if weights is None else cut_rows(weights, self.lengths))

    def with_targets(self, y: FloatArray, targets: Targets) -> "Chunks":
        """Return the same rows with other targets."""
        return replace(self, y=cut_rows(y, self.lengths), targets=targets)

    def outcomes(self) -> tuple[FloatArray, FloatArray | None]:
        """Gather the targets, of shape (n, K), and the weights, as float64."""
        y, weights = compute([list(self.y), self.weights])
        return np.concatenate(y).astype(np.float64), (
            None if weights is None else np.concatenate(weights).astype(np.float64)
        )

    def all_moments(self) -> Moments | None:
        """Comoments of all pairs of columns; None if values are missing and may be."""
        precision = _node(self.precision)
        tasks = [
            _node(kernels.all_moments)(list(row), y, weights, start, precision)
            for row, y, weights, start in self._rows(self.blocks)
        ]
        checked = compute(add_in_tree(tasks))
        fault = checked.fault
        if self.gaps and fault is not None and fault.what == "X" and np.isnan(fault.value):
            return None
        self._raise_if_invalid([checked])
        moments: Moments = checked.moments
        return moments

    def column_moments(self) -> tuple[list[kernels.ColumnMoments], "Chunks"]:
        """Moments of single columns, by column chunks, and the chunks for the passes that follow.

        Those raise if their values are not the same again.
        """
        trees = [
            add_in_tree(
                [
                    _node(kernels.column_moments)(row[j], y, weights, start, left, self.gaps)
                    for row, y, weights, start in self._rows(self.blocks)
                ]
            )
            for j, left in enumerate(self._bounds[:-1])
        ]
        sources = {} if self.compared else self._sources()
        prints = {
            what: [_node(kernels.fingerprint)(part) for part in parts.flat]
            for what, parts in sources.items()
        }
        parts, known = compute([trees, prints])
        self._raise_if_invalid(parts)
        return [part.moments for part in parts], self if self.compared else self._same(known)

    def _sources(self) -> dict[str, npt.NDArray[Any]]:
        """What is read in every pass, by what it is: chunks, targets and weights, delayed."""
        rows = {"the target y": self.y, "sample_weight": self.weights}
        given = {
            what: np.array(parts, dtype=object) for what, parts in rows.items() if parts is not None
        }
        return {"X": self.blocks, **given}

    def _same(self, prints: Mapping[str, Sequence[kernels.Fingerprint]]) -> "Chunks":
        """Return chunks that raise if they have other fingerprints than these."""
        sizes = (self.lengths, self.widths)
        bounds = [list(pairwise(accumulate(each, initial=0))) for each in sizes]

        def same(parts: Any, what: str) -> Any:
            result = np.array(parts, dtype=object)
            for known, (index, part) in zip(prints[what], np.ndenumerate(result), strict=True):
                where = [ends[i] for ends, i in zip(bounds, index, strict=False)]
                name = named_block(what, index, where)
                result[index] = _node(kernels.same_again)(part, known, name)
            return result

        return replace(
            self,
            blocks=same(self.blocks, "X"),
            again=same(self.again, "X"),
            y=list(same(self.y, "the target y")),
            weights=self.weights and list(same(self.weights, "sample_weight")),
            compared=True,
        )

    def products(
        self,
        left: IndexArray,
        right: IndexArray,
        mean: FloatArray,
        scale: FloatArray,
        *,
        factors: FloatArray | None = None,
        standards: kernels.Standards | None = None,
    ) -> FloatArray:
        """Sums of products of standardised features with others, in ascending order.

        With factors those of their sum, each feature multiplied by its factor. With the means and
        the scales of the targets all sums over the samples that a pair shares.
        """
        others = self._columns(right, mean, scale)
        summed = factors is not None
        own = self._columns(left, mean, scale if factors is None else scale / factors)
        if len(self.widths) == 1:
            beside = [own[0][1]] * len(self.blocks)  # each chunk takes them itself
        else:
            join = add_in_tree if summed else _node(kernels.side_by_side)
            beside = [join(some) for some in self._pieces(kernels.standardized, own, summed)]

        def multiply(some: Any, chunk: Any, spec: Any, y: Any, weights: Any) -> Any:
            if standards is None:
                return _node(kernels.products)(some, summed, chunk, spec, weights)
            return _node(kernels.shared_products)(some, chunk, spec, weights, y, standards)

        # First along the rows of chunks: then what stands beside them is not needed for long.
        tasks = [
            _node(kernels.side_by_side)(
                [multiply(some, row[j], spec, y, weights) for j, spec in others]
            )
            for some, (row, y, weights, _) in zip(beside, self._rows(self.blocks), strict=True)
        ]
        return np.asarray(compute(add_in_tree(tasks)))

    def products_within(
        self,
        groups: Sequence[IndexArray],
        mean: FloatArray,
        scale: FloatArray,
        standards: kernels.Standards | None = None,
    ) -> list[FloatArray]:
        """Sums of products of the standardised features of each group with each other.

        With means and scales of the targets the same as for :meth:`products`.
        """
        features, place = np.unique(np.concatenate(groups), return_inverse=True)
        ends = np.cumsum([group.size for group in groups])
        places = _node(np.split(place, ends[:-1]))
        specs = self._columns(features, mean, scale)
        if len(self.widths) == 1:
            rows: Any = self.blocks
            spec = specs[0][1]
        else:
            rows, spec = self._pieces(kernels.standardized, specs, False), None
        total = self._total(kernels.products_within, rows, spec, places, standards)
        kinds = [] if standards is None else [n_sums(self.targets.size)]
        cuts = np.cumsum([prod(kinds) * group.size**2 for group in groups])[:-1]
        return [
            part.reshape(*kinds, group.size, group.size)
            for group, part in zip(groups, np.split(total, cuts), strict=True)
        ]

    def standardized(self, features: IndexArray, mean: FloatArray, scale: FloatArray) -> FloatArray:
        """Gather the standardised columns of features in ascending order."""
        # Each row is multiplied by the root of its weight; those without weight are left out.
        specs = self._columns(features, mean, scale)
        rows = self._pieces(kernels.standardized, specs, False)
        gathered = np.vstack(compute([_node(kernels.side_by_side)(pieces) for pieces in rows]))
        if self.weights is not None:
            weights = np.concatenate(compute(self.weights))
            gathered *= np.sqrt(weights[weights > 0])[:, None]
        return gathered

    def squares_of_sums(
        self,
        labels: IndexArray,
        n_groups: int,
        factors: FloatArray,
        mean: FloatArray,
        scale: FloatArray,
        *,
        gaps: bool = False,
    ) -> FloatArray:
        """Sum of the squares of the sum of each group's standardised features times factors.

        Of shape (1, groups); with gaps what :func:`pair_products` returns.
        """
        option = (n_groups, gaps)
        specs = [
            (j, _node((labels[part], factors[part], mean[part], scale[part])))
            for j, part in enumerate(self._parts)
            if (labels[part] >= 0).any()
        ]
        if len(self.widths) == 1:
            return self._total(kernels.squares_of_sums, self.blocks, specs[0][1], option)
        # Each is as wide as all groups.
        sums = [[add_in_tree(some)] for some in self._pieces(kernels.group_sums, specs, option)]
        return self._total(kernels.squares_of_sums, sums, None, option)

    def reduced(
        self,
        groupings: Sequence[tuple[IndexArray, FloatArray, int]],
        mean: FloatArray | None,
        scale: FloatArray | None,
    ) -> list[FloatArray]:
        """Reduced features of all rows, by groupings of the features: labels, factors, number."""
        specs = []
        for part in self._parts:
            options: dict[str, Any] = {"gaps": self.gaps}
            if mean is not None and scale is not None:
                options |= {"mean": mean[part], "scale": scale[part]}
            own = [(labels[part], factors[part], size) for labels, factors, size in groupings]
            specs.append((_node(own), _node(options)))
        weights = [
            np.bincount(labels[labels >= 0], np.abs(factors[labels >= 0]), size)
            for labels, factors, size in groupings
        ]
        shares = _node(np.concatenate(weights))
        rows = [
            _node(divided)(
                add_in_tree(
                    [
                        _node(kernels.many_sums)(chunk, *spec)
                        for chunk, spec in zip(row, specs, strict=True)
                    ]
                ),
                shares,
            )
            for row in self.blocks
        ]
        reduced = np.vstack(compute(rows))
        return np.split(reduced, np.cumsum([part.size for part in weights])[:-1], axis=1)

    def _total(
        self,
        kernel: Callable[..., Any],
        rows: Iterable[Any],
        spec: Any,
        option: Any,
        standards: kernels.Standards | None = None,
    ) -> FloatArray:
        """Add up what a kernel makes of whole rows."""
        # From a single column chunk it takes what it needs itself, some rows at a time; for several
        # it is given what each of them contributes, and no specification.
        tasks = [
            _node(kernel)(
                list(pieces), spec, option, weights, *(() if standards is None else (y, standards))
            )
            for pieces, (_, y, weights, _) in zip(rows, self._rows(self.blocks), strict=True)
        ]
        return np.asarray(compute(add_in_tree(tasks)))

    def _pieces(
        self, kernel: Callable[..., Any], specs: list[tuple[int, Any]], option: Any
    ) -> list[list[Any]]:
        """For each row of chunks, what those of some columns contribute."""
        return [
            [_node(kernel)(row[j], spec, option, weights=weights) for j, spec in specs]
            for row, _, weights, _ in self._rows(self.again)
        ]

    def _columns(
        self, features: IndexArray, mean: FloatArray, scale: FloatArray
    ) -> list[tuple[int, Any]]:
        """Where features in ascending order are: column chunks, and columns in them."""
        cuts = np.searchsorted(features, self._bounds)
        return [
            (j, _node((own - self._bounds[j], mean[own], scale[own])))
            for j, own in enumerate(features[a:b] for a, b in pairwise(cuts.tolist()))
            if own.size
        ]

    @property
    def _bounds(self) -> list[int]:
        return list(accumulate(self.widths, initial=0))

    @property
    def _parts(self) -> list[slice]:
        return [slice(a, b) for a, b in pairwise(self._bounds)]

    def _rows(self, blocks: npt.NDArray[np.object_]) -> Iterator[tuple[Any, Any, Any, int]]:
        """Rows of chunks with their targets, their weights and their first row."""
        weights = repeat(None) if self.weights is None else self.weights
        return zip(blocks, self.y, weights, accumulate(self.lengths, initial=0), strict=False)

    def _raise_if_invalid(self, parts: Sequence[kernels.Checked]) -> None:
        fault = kernels.first_fault([part.fault for part in parts])
        if fault is not None:
            raise self.bad_value(fault.what, fault.value, fault.row, fault.column)


def _node(value: Any) -> Any:
    """Put a function or value into the graph, once however many tasks need it."""
    from dask import delayed

    return delayed(value, pure=False, traverse=False)


def add_in_tree(tasks: list[Any]) -> Any:
    """Add up what tasks return, few at a time, so that few have to be in memory."""
    while len(tasks) > 1:
        tasks = [
            _node(kernels.merged)(tasks[i : i + _FAN_IN]) for i in range(0, len(tasks), _FAN_IN)
        ]
    return tasks[0]


def chunk_statistics(chunks: Chunks, *, often: bool, neighbours: bool = False) -> Statistics:
    """Read all chunks once: for all comoments, or for what concerns single columns."""
    # All correlations are computed at once, as long as they fit, for a caller who asks for them
    # ``often``; and for those of ``neighbours``, if columns would take more memory.
    moments = chunks.all_moments() if chunks.in_one_pass else None
    if moments is not None:
        check_total_weight(moments.n_samples)
        check_range(moments.low, moments.high, moments.precision, chunks.columns, chunks.targets)
        size = chunks.n_features
        chunks.targets.check_varying(moments.varying[size:], moments.mean[size:])
        return MomentStatistics.from_moments(moments)
    features, standards, chunks = _column_features(chunks)
    size, most = chunks.n_features, most_features()
    if standards is None:
        kind: type[_ChunkPasses] = ChunkStatistics
        asked = sum(chunks.lengths) >= size if neighbours else often
        keep = asked and size <= most
    else:
        # Columns with missing values cannot be gathered and added up.
        kind, most = ChunkGapStatistics, most_features(_n_figures(chunks))
        if neighbours and size > most:
            raise ValueError(
                "With a connectivity and missing values, all correlations of a dask collection are "
                f"computed: the limit is {most} features, and here are {size}. An array in memory "
                "or memory-mapped (numpy.memmap) has no such limit."
            )
        needed = n_sums(chunks.targets.size) * size**2
        keep = needed <= LARGEST_BATCH or ((often or neighbours) and size <= most)
    costs = _costs(chunks, 1 if standards is None else n_sums(chunks.targets.size))
    statistics = kind(**features.moments(), costs=costs, _chunks=chunks, _standards=standards)
    return cached(statistics) if keep else statistics


def _column_features(chunks: Chunks) -> tuple[Features, kernels.Standards | None, Chunks]:
    """Read all chunks once, for what concerns single columns; return what reads them again.

    Where values are missing, also return the means and the scales of the targets.
    """
    parts, chunks = chunks.column_moments()
    size, n_targets = chunks.n_features, chunks.targets.size

    def joined(name: str) -> FloatArray:
        values = []
        for part in parts:
            own = getattr(part, name)
            values.append(np.broadcast_to(own, (*np.shape(own)[:-1], part.mean.size)))
        features = [value[..., :-n_targets] for value in values]
        return np.concatenate([*features, values[0][..., -n_targets:]], axis=-1)

    mean, low, high = joined("mean"), joined("low"), joined("high")
    precision = with_targets(chunks.precision, n_targets)
    counts = joined("count")
    n = float(counts[-1])
    check_total_weight(n)
    check_range(low, high, precision, chunks.columns, chunks.targets)
    varying = varies(low, high, mean, precision) & (counts > 1)
    chunks.targets.check_varying(varying[size:], mean[size:])
    gaps = any(part.gaps for part in parts)
    own = {"counts": counts, "target_squares": joined("target_square")} if gaps else {}
    features = Features.from_sums(
        n, mean, joined("square"), joined("product"), varying, precision, **own
    )
    return features, (mean[size:], features.target_scale) if gaps else None, chunks


@dataclass(frozen=True)
class _Known:
    """Figures of some features with others, both in ascending order, on the last two axes."""

    features: IndexArray
    others: IndexArray
    figures: FloatArray

    def contains(self, features: IndexArray, others: IndexArray) -> bool:
        """Whether the figures of these are among them."""
        return bool(np.isin(features, self.features).all() and np.isin(others, self.others).all())

    def take(self, features: IndexArray, others: IndexArray) -> FloatArray:
        """Figures of these."""
        rows = np.searchsorted(self.features, features)
        return self.figures[..., rows[:, None], np.searchsorted(self.others, others)]


@dataclass(frozen=True)
class _ChunkPasses(Statistics):
    """Figures of pairs, each by a pass over all chunks, which returns up to ``LARGEST_BATCH``.

    Differences of two features that explain less than 1e-13 of a variance count as none.
    """

    _chunks: Chunks
    _standards: kernels.Standards | None = None  # of the targets, where values are missing
    _known: list[_Known] = field(default_factory=list)  # at most one, of the last prefetch

    def prefetch(self, features: IndexArray, others: IndexArray) -> None:
        """Compute the figures by one pass, if they fit."""
        self._known.clear()
        everything = np.union1d(features, others)
        if features.size <= self._batch(everything.size):
            self._known.append(self._between(features, everything))

    def squares(self, groups: Sequence[IndexArray]) -> Iterator[FloatArray]:
        most_pairs = LARGEST_BATCH // self._numbers
        for batch in _batches(groups, self._chunks.batch(1), most_pairs):
            for sums in self._chunks.products_within(batch, self.mean, self.scale, self._standards):
                matrix = self._figures(sums)
                if self._standards is not None:
                    matrix = rho_or_nan(Correlations.of_figures(matrix))
                np.fill_diagonal(matrix, 1.0)
                yield matrix

    @property
    def _numbers(self) -> int:
        """How many numbers come back for each pair."""
        return 1 if self._standards is None else n_sums(self.n_targets)

    def _batch(self, others: int) -> int:
        return self._chunks.batch(others, self._numbers)

    def _figures(self, sums: FloatArray) -> FloatArray:
        """Correlations, or all figures, of pairs from sums of their products."""
        if self._standards is not None:
            return correlations_of(sums).figures()
        sums /= self.n_samples - 1
        return sums

    def _each(self, seeds: IndexArray, comparisons: Iterable[Comparison]) -> Iterator[FloatArray]:
        """Figures of seeds with candidates, for each comparison."""
        comparisons = list(comparisons)
        if not comparisons:
            return
        wanted = np.unique(np.concatenate([candidates for _, candidates in comparisons]))
        known = self._between(seeds, wanted)
        for active, candidates in comparisons:
            yield known.take(seeds[active], candidates)

    def _between(self, first: IndexArray, second: IndexArray) -> _Known:
        """Figures of features in any order with others, by as few passes as possible."""
        for known in self._known:
            if known.contains(first, second):
                return known
        first, second = np.sort(first), np.sort(second)
        step = self._batch(second.size)
        strips = [
            self._figures(
                self._chunks.products(
                    some, second, self.mean, self.scale, standards=self._standards
                )
            )
            for some in np.split(first, range(step, first.size, step))
        ]
        return _Known(first, second, np.concatenate(strips, axis=-2))

    def _squares_of_sums(
        self, labels: IndexArray, n_groups: int, factors: FloatArray
    ) -> FloatArray:
        """What :meth:`Chunks.squares_of_sums` returns, some groups at a time."""
        gaps, parts = self._standards is not None, []
        step = max(1, self._chunks.batch(1) // (4 if gaps else 1))  # sums of each group and row
        for start in range(0, n_groups, step):
            width = min(step, n_groups - start)
            own = np.where((labels >= start) & (labels < start + width), labels - start, -1)
            parts.append(
                self._chunks.squares_of_sums(own, width, factors, self.mean, self.scale, gaps=gaps)
            )
        return np.hstack(parts)


@dataclass(frozen=True)
class ChunkStatistics(_ChunkPasses):
    """Statistics of more features than fit into one process with all their comoments."""

    @property
    def n_rows(self) -> int:
        if self._chunks.weights is None:
            return sum(self._chunks.lengths)
        weights = self._chunks.outcomes()[1]
        return int(np.count_nonzero(np.asarray(weights)))

    def columns(self, features: IndexArray) -> FloatArray:
        """Standardised columns, one a row, gathered as far as they fit."""
        needed = 8 * sum(self._chunks.lengths) * features.size
        if needed > LARGEST_SQUARE:
            raise ValueError(
                "With a connectivity, the columns of a dask collection are gathered, here "
                f"{needed / 2**30:.1f} GiB as float64; the limit is "
                f"{LARGEST_SQUARE / 2**30:.0f} GiB. An array in memory or memory-mapped "
                "(numpy.memmap) has no such limit."
            )
        columns = self._chunks.standardized(features, self.mean, self.scale)
        columns /= np.sqrt(self.n_samples - 1)
        return columns.T

    def square(self, features: IndexArray) -> FloatArray:
        size, top = features.size, 0
        _check_square(size, 1)
        for known in self._known:
            if known.contains(features, features):
                return known.take(features, features)
        result = np.zeros((size, size))
        while top < size:
            rest = features[top:]
            strip = rest[: self._batch(rest.size)]
            result[top : top + strip.size, top:] = self._between(strip, rest).take(strip, rest)
            top += strip.size
        return result

    def rows(self, seeds: IndexArray, comparisons: Iterable[Comparison]) -> Iterator[FloatArray]:
        return self._each(seeds, comparisons)

    def sums(self) -> RowSums:
        """Sums of correlations with the members of a group; adding some takes one pass."""
        varying = np.flatnonzero(self.varying)

        def summed(members: IndexArray, factors: FloatArray) -> FloatArray:
            result, every = np.zeros(self.mean.size), np.ones(self.mean.size)
            every[members] = factors
            result[varying] = self._chunks.products(
                np.sort(members), varying, self.mean, self.scale, factors=every
            )[0] / (self.n_samples - 1)
            return result

        return RowSums(self, summed)

    def group_variances(self, labels: IndexArray, n_groups: int, factors: FloatArray) -> FloatArray:
        squares = self._squares_of_sums(labels, n_groups, factors)[0]
        return np.asarray(squares / (self.n_samples - 1))


@dataclass(frozen=True)
class ChunkGapStatistics(_ChunkPasses, GapStatistics):
    """Statistics of chunks with missing values; a pass returns all sums of each pair."""

    def known(self, first: IndexArray, second: IndexArray) -> Correlations:
        if first is second and not any(known.contains(first, first) for known in self._known):
            _check_square(first.size, _n_figures(self._chunks))
            return all_pairs_in_strips(first, self._batch, self.known)
        return Correlations.of_figures(self._between(first, second).take(first, second))

    def between(
        self, seeds: IndexArray, comparisons: Iterable[Comparison]
    ) -> Iterator[Correlations]:
        return map(Correlations.of_figures, self._each(seeds, comparisons))

    def group_variances(self, labels: IndexArray, n_groups: int, factors: FloatArray) -> FloatArray:
        sums = self._squares_of_sums(labels, n_groups, factors)
        return variances_of_sums(sums, labels, n_groups, factors)


def _n_figures(chunks: Chunks) -> int:
    """Number of matrices of what F needs of all pairs where values are missing."""
    return 2 + 2 * chunks.targets.size


def _check_square(size: int, matrices: int) -> None:
    needed = 8 * matrices * size**2
    if needed > LARGEST_SQUARE:
        shared = " on the samples that they share" if matrices > 1 else ""
        raise ValueError(
            f"The correlations of {size} features with each other{shared} take "
            f"{needed / 2**30:.1f} GiB in one process; the limit is "
            f"{most_features(matrices)} features."
        )


def _batches(
    groups: Sequence[IndexArray], widest: int, most_pairs: int
) -> Iterator[list[IndexArray]]:
    """Put groups together, up to so many features and pairs."""
    batch: list[IndexArray] = []
    width = pairs = 0
    for group in groups:
        if batch and (width + group.size > widest or pairs + group.size**2 > most_pairs):
            yield batch
            batch, width, pairs = [], 0, 0
        batch.append(group)
        width += group.size
        pairs += group.size**2
    if batch:
        yield batch


def _costs(chunks: Chunks, numbers: int = 1) -> Costs:
    """What correlations of chunks cost: each pass reads them all, whatever it computes."""
    # For each pair so many numbers come back.
    n_features = chunks.n_features
    side = isqrt(LARGEST_BATCH // numbers)
    widest = min(side, chunks.batch(side, numbers))

    def block_size(remaining: int, seed_share: float) -> int:
        """How many features to decide together."""
        # A pass reads all D columns. The square of a block of P features takes 2P²/D operations for
        # each value read, some hundred of which cost no more than the reading; the rows of its
        # seeds are a second pass. But where most of the last features were seeds, most of the
        # remaining pairs will have to be compared anyway: then as many features as have a batch of
        # correlations with all that remain are decided by one pass.
        if seed_share > _MOSTLY_SEEDS:
            return min(remaining, chunks.batch(remaining, numbers))
        size = max(_SMALLEST_BLOCK, isqrt(_OPERATIONS * n_features // (2 * numbers)))
        return min(remaining, size, widest)

    # What comes back from a pass is in any order; reading some columns reads every chunk.
    seeds = chunks.batch(n_features, numbers)
    # Columns with missing values are not kept.
    columns = n_features if numbers == 1 else 0
    return Costs(block_size, seeds, scattered=0.0, candidates=widest, columns=columns)
