"""Tables that are read in chunks of rows, through dask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ._form import Form
from ._table import Gridded

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

CHUNK_BYTES = 2**26
"""Numbers of a chunk, about; a part of a file that cannot be read in pieces may have more."""


class Reader(Protocol):
    """What reads chunks, in whatever process: it holds no data."""

    @property
    def schema(self) -> pa.Schema:
        """Names and types of all columns."""

    def numbers(self, chunk: Any, names: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """Give columns of a chunk as numbers, one behind the other in memory; NaN for no value."""

    def table(self, chunk: Any, names: Sequence[str]) -> pa.Table:
        """Give columns of a chunk as they are."""


@dataclass(frozen=True)
class ChunkedGrid:
    """What a Zarr store holds beside its columns of numbers."""

    samples: str  # the dimension along which the samples are
    variables: list[Gridded]
    coordinates: list[str]  # columns that tell the samples apart, and are no features
    apart: list[str]  # variables that are no columns


@dataclass(frozen=True)
class ChunkedTable:
    """A table of which nothing is read yet but names and types.

    Attributes
    ----------
    numeric : list of str
        Columns of a type of numbers; coordinates are none.
    nothing : list of str
        Columns of a type that has no values.
    chunks : list
        What the reader takes; one behind the other they are the table.
    lengths : list of int
        Number of rows of each, at least 1.
    """

    source: str
    form: Form
    names: list[str]
    numeric: list[str]
    nothing: list[str]
    reader: Reader
    chunks: list[Any]
    lengths: list[int]
    grid: ChunkedGrid | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.lengths)

    def split(self, values: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Give what belongs to the rows of each chunk."""
        return np.split(values, np.cumsum(self.lengths)[:-1])

    def need_numbers(self, names: Sequence[str]) -> None:
        """Refuse columns that are not of numbers."""
        known = {*self.numeric, *self.nothing}
        for name in names:
            if name not in known:
                kind = self.reader.schema.field(name).type
                raise ValueError(f"{self.source}: column {name!r} is not of numbers ({kind}).")

    def frame(self, names: Sequence[str], rows: npt.NDArray[np.bool_] | None = None) -> Any:
        """Give columns of numbers as a data frame of dask, of all rows or of some."""
        import dask.dataframe as dd

        make = _MakeFrame(self.reader, list(names))
        chosen = [None] * len(self.chunks) if rows is None else self.split(rows)
        return dd.from_map(make, self.chunks, chosen, meta=make.empty())

    def look(self, names: Sequence[str], target: str | None = None) -> Look:
        """Look through columns of numbers for missing and infinite values; keep the target."""
        seen = compute_all(self._each(_look, list(names), target))
        missing = np.zeros(len(names), dtype=np.intp)
        infinite: dict[str, int] = {}
        starts = np.cumsum([0, *self.lengths[:-1]]).tolist()
        for start, chunk in zip(starts, seen, strict=True):
            missing[chunk.places] += chunk.counts
            for place, row in chunk.infinite:
                infinite.setdefault(names[place], start + row)
        y = None if target is None else np.concatenate([chunk.target for chunk in seen])
        return Look(self, dict(zip(names, missing.tolist(), strict=True)), infinite, y)

    def complete_rows(self, names: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Say which rows have a value in each of some columns."""
        return np.concatenate(compute_all(self._each(_complete, list(names))))

    def averages(self, reducer: Any, names: Sequence[str], *, fill: bool = False) -> list[Any]:
        """Give the reduced features of each chunk, delayed; of the columns with these names.

        Missing values count as 0 if they are to be filled: in rows that nobody will look at.
        """
        standardized = reducer.units == "standardized"
        groups = _Groups(
            reducer.labels_,
            reducer.n_groups_,
            reducer.mean_ if standardized else None,
            reducer.scale_ if standardized else None,
        )
        return self._each(_average, list(names), fill, groups)

    def _each(self, function: Callable[..., Any], *about: Any) -> list[Any]:
        """Delay a function of the reader and more, and of a chunk, for each."""
        from dask import delayed

        given = delayed((self.reader, *about), traverse=False, pure=False)
        task = delayed(function, pure=False)
        return [task(given, chunk) for chunk in self.chunks]


def compute_all(delayed: Sequence[Any]) -> list[Any]:
    """Compute what is delayed."""
    from ..._data._dask._compute import compute

    result: list[Any] = compute(list(delayed))
    return result


@dataclass(frozen=True)
class Look:
    """What was seen in the columns of numbers.

    Attributes
    ----------
    missing : dict
        Number of rows without a value, by column.
    infinite : dict
        First row with an infinite value, by column; counted from 0.
    target : array or None
        The values of the target, if there was one.
    """

    table: ChunkedTable
    missing: dict[str, int]
    infinite: dict[str, int]
    target: npt.NDArray[np.float64] | None

    @property
    def source(self) -> str:
        """The name of the table."""
        return self.table.source

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return self.table.names

    @property
    def grid(self) -> ChunkedGrid | None:
        """The grid of the table, if it has one."""
        return self.table.grid

    @property
    def remarks(self) -> dict[str, str]:
        """What there is to say on single columns."""
        return {}

    def first(self, name: str) -> Any:
        """Give the first value of a column, which is not known here."""
        return None

    def numeric(self) -> list[str]:
        """Name the columns that are numbers, and have at least one value."""
        n = self.table.n_rows
        return [name for name in self.table.numeric if self.missing[name] < n]

    def empty(self) -> list[str]:
        """Name the columns of numbers, or of no type, with no value at all."""
        n = self.table.n_rows
        return self.table.nothing + [name for name in self.table.numeric if self.missing[name] == n]


@dataclass(frozen=True)
class _MakeFrame:
    """Makes a data frame of a chunk; a task of dask."""

    reader: Reader
    names: list[str]
    token: str = field(default_factory=token_hex)

    def __dask_tokenize__(self) -> str:
        # Names of very many columns would be looked through again and again.
        return self.token

    def empty(self) -> pd.DataFrame:
        import pandas as pd

        values = np.empty((0, len(self.names)), dtype=number_type(self.reader.schema, self.names))
        return pd.DataFrame(values, columns=pd.Index(self.names, dtype=object))

    def __call__(
        self, chunk: Any, rows: npt.NDArray[np.bool_] | None, columns: list[str] | None = None
    ) -> pd.DataFrame:
        # dask asks for some columns only where these are all that is needed.
        import pandas as pd

        names = self.names if columns is None else columns
        values = self.reader.numbers(chunk, names)
        if rows is not None and not rows.all():
            values = np.compress(rows, values, axis=0)
        return pd.DataFrame(values, columns=pd.Index(names, dtype=object), copy=False)


@dataclass(frozen=True)
class _Seen:
    """What was seen in a chunk; columns and rows are counted from 0."""

    places: npt.NDArray[np.intp]  # of columns with missing values
    counts: npt.NDArray[np.intp]  # of missing values in these
    infinite: list[tuple[int, int]]  # column, first row
    target: npt.NDArray[np.float64] | None


@dataclass(frozen=True)
class _Groups:
    """What it takes to average, and nothing of the evidence that a model keeps."""

    labels: npt.NDArray[np.intp]
    n_groups: int
    mean: npt.NDArray[np.float64] | None
    scale: npt.NDArray[np.float64] | None


def _average(about: tuple[Reader, list[str], bool, _Groups], chunk: Any) -> npt.NDArray[np.float64]:
    from ..._statistics._means import group_means

    reader, names, fill, groups = about
    values = reader.numbers(chunk, names)
    if fill:
        values[np.isnan(values)] = 0.0
    return group_means(
        values,
        groups.labels,
        groups.n_groups,
        mean=groups.mean,
        scale=groups.scale,
        names=names,
        dtype=np.float64,
    )


def _look(about: tuple[Reader, list[str], str | None], chunk: Any) -> _Seen:
    reader, names, target = about
    values = reader.numbers(chunk, names)
    y = None if target is None else values[:, names.index(target)].astype(np.float64)
    none = np.empty(0, dtype=np.intp)
    suspect = np.flatnonzero(~np.isfinite(values).all(axis=0))
    if not suspect.size:
        return _Seen(none, none, [], y)
    counts = np.isnan(values[:, suspect]).sum(axis=0)
    infinite = np.isinf(values[:, suspect])
    where = np.flatnonzero(infinite.any(axis=0))
    first = infinite[:, where].argmax(axis=0)
    return _Seen(
        suspect[counts > 0],
        counts[counts > 0],
        list(zip(suspect[where].tolist(), first.tolist(), strict=True)),
        y,
    )


def _complete(about: tuple[Reader, list[str]], chunk: Any) -> npt.NDArray[np.bool_]:
    reader, names = about
    complete: npt.NDArray[np.bool_] = ~np.isnan(reader.numbers(chunk, names)).any(axis=1)
    return complete


def number_type(schema: pa.Schema, names: Sequence[str]) -> np.dtype[np.floating[Any]]:
    """Give the type of numbers that columns share: single precision where all are so."""
    import pyarrow as pa

    places = {name: place for place, name in enumerate(schema.names)}
    single = len(names) > 0 and all(schema.types[places[name]] == pa.float32() for name in names)
    return np.dtype(np.float32 if single else np.float64)
