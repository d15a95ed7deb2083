"""Parquet files, one or a folder of them, read in chunks of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._chunks import CHUNK_BYTES, ChunkedTable, number_type
from ._columnar import damaged
from ._form import Form, parquet_files

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class _Chunk:
    """Some row groups of a file."""

    file: str
    fragment: Any
    n_rows: int


@dataclass(frozen=True)
class ParquetReader:
    """Reads row groups; see :class:`Reader`."""

    form: Form
    schema: pa.Schema

    def table(self, chunk: _Chunk, names: Sequence[str]) -> pa.Table:
        """Give columns of a chunk as they are."""
        import pyarrow as pa

        try:
            return chunk.fragment.to_table(
                schema=self.schema, columns=list(names), use_threads=False
            )
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise damaged(chunk.file, self.form) from None

    def numbers(self, chunk: _Chunk, names: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """Give columns of a chunk as numbers, one behind the other in memory; NaN for no value."""
        result = np.empty((chunk.n_rows, len(names)), number_type(self.schema, names), order="F")
        for place, column in enumerate(self.table(chunk, names).itercolumns()):
            result[:, place] = _floats(column)
        return result


def open_parquet(path: str, form: Form) -> ChunkedTable:
    """Open a Parquet file, or a folder of them, in which folders may be called ``year=2020``."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    files = parquet_files(path) if form.parts else [path]
    base = os.path.abspath(path if form.parts else os.path.dirname(os.path.abspath(path)))
    # A folder's value is a label and no number to average.
    labels = ds.HivePartitioning.discover(infer_dictionary=True) if form.parts else None
    try:
        data = ds.dataset(
            [os.path.abspath(file) for file in files],
            format="parquet",
            partitioning=labels,
            partition_base_dir=base,
        )
        fragments = list(data.get_fragments())
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise damaged(files[0], form) from None
    schema = _common_schema(files, fragments, form)
    known = set(schema.names)
    for field in data.schema:
        if field.name not in known:  # the label of a folder
            schema = schema.append(field)
    chunks = [
        chunk
        for file, fragment in zip(files, fragments, strict=True)
        for chunk in _chunks_of(file, fragment)
    ]
    kinds = dict(zip(schema.names, schema.types, strict=True))
    return ChunkedTable(
        source=path,
        form=form,
        names=schema.names,
        numeric=[name for name, kind in kinds.items() if is_number(kind)],
        nothing=[name for name, kind in kinds.items() if pa.types.is_null(kind)],
        reader=ParquetReader(form, schema),
        chunks=chunks,
        lengths=[chunk.n_rows for chunk in chunks],
    )


def _common_schema(files: Sequence[str], fragments: Sequence[Any], form: Form) -> pa.Schema:
    """Give the columns that all files have, each in a type that holds its values in all."""
    import pyarrow as pa

    common = None
    for file, fragment in zip(files, fragments, strict=True):
        try:
            schema = fragment.physical_schema.remove_metadata()
        except (pa.ArrowException, OSError):
            raise damaged(file, form) from None
        if common is None:
            common = schema
            if len(set(schema.names)) < len(schema.names):
                raise ValueError(f"{file} has two columns of one name.")
        if schema.equals(common):
            continue
        for name in sorted({*schema.names} ^ {*common.names}):
            lacks, has = (files[0], file) if name in schema.names else (file, files[0])
            raise ValueError(f"{lacks} lacks column {name!r}, which {has} has.")
        try:
            common = pa.unify_schemas([common, schema], promote_options="permissive")
        except pa.ArrowException as error:
            raise ValueError(
                f"{file} has columns of other types than {files[0]}: {error}"
            ) from None
    return common


def _chunks_of(file: str, fragment: Any) -> Iterator[_Chunk]:
    """Divide a file into runs of row groups, each about a chunk."""
    ids: list[int] = []
    n_rows = size = 0
    for group in fragment.row_groups:
        if ids and size + group.total_byte_size > CHUNK_BYTES:
            yield _Chunk(file, fragment.subset(row_group_ids=ids), n_rows)
            ids, n_rows, size = [], 0, 0
        if group.num_rows:
            ids.append(group.id)
            n_rows += group.num_rows
            size += group.total_byte_size
    if ids:
        yield _Chunk(file, fragment.subset(row_group_ids=ids), n_rows)


def is_number(kind: pa.DataType) -> bool:
    """Whether a type is one of numbers."""
    import pyarrow as pa

    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(test(kind) for test in tests)


def _floats(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """Give a column as numbers; whole ones beyond 2⁵³ are rounded."""
    import pyarrow as pa

    if column.type not in (pa.float32(), pa.float64()):
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy())
