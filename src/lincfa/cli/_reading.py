"""Tables as the commands read them."""

import argparse
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._columns import assign_roles, check_target, find_columns
from ._files import ChunkedTable, TableFile, block_of, field_of, form_of, read_table
from ._rows import complete_rows, frame_of_rows, refuse_constant, split_rows
from ._talk import Talk

if TYPE_CHECKING:
    import polars as pl

    from .._data._field._describe import Field


def refuse_foreign_options(options: argparse.Namespace) -> None:
    """Refuse options that are for tables in another format."""
    form = form_of(options.data)
    if options.samples is not None and form.flat:
        options.refuse("--samples is for NetCDF files and Zarr stores")
    if options.separator is not None and form.kind != "csv":
        options.refuse("--separator is for CSV files")


def in_chunks(options: argparse.Namespace) -> bool:
    """Whether the table is read in chunks; refuses options that this does not go with."""
    form = form_of(options.data)
    if options.dask is None and not form.parts:
        return False
    if form.kind not in ("parquet", "zarr"):
        options.refuse(
            "--dask reads Parquet files, folders of them and Zarr stores, not "
            f"{'standard input' if options.data == '-' else options.data}"
        )
    if options.output == "-":
        options.refuse("a table in chunks is written into a folder; give its name with --output")
    return True


def open_table(
    options: argparse.Namespace,
    talk: Talk,
    as_text: Callable[[Sequence[str]], Collection[str]],
) -> TableFile:
    """Read the table that the options name; ``as_text`` says which columns of a CSV stay text."""
    with talk.busy(f"reading {options.data}"):
        return read_table(
            options.data,
            as_text=as_text,
            separator=options.separator,
            samples=options.samples,
        )


def find_field(
    table: TableFile | ChunkedTable, features: Sequence[str], options: argparse.Namespace
) -> "Field | None":
    """Give the field whose cells are features, if there is one; refuse neighbours it has not."""
    with naming(table.source):
        field = field_of(table, features)
    if field is None:
        if options.connectivity == "grid":
            raise ValueError(
                f"{table.source}: none of the features is a cell of a grid, as --connectivity grid "
                "needs them; --connectivity chain is for columns in their order"
            )
        return None
    for variable in field.variables:
        if options.connectivity == "chain" and len(variable.shape) > 1:
            raise ValueError(
                f"{table.source}: --connectivity chain is for features in a row, but the cells of "
                f"{variable.name!r} are along {', '.join(map(str, field.cell_dims(variable)))}; "
                "--connectivity grid is for those"
            )
    return field


def of_field(field: "Field | None", X: Any) -> Any:
    """Give features for a fit, which is to know of the field that they are the cells of."""
    from .._model._fields import CellTable

    return X if field is None else CellTable(field, X)


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Let what the library refuses in a table name the file."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error


@dataclass(frozen=True)
class TableSamples:
    """Complete rows of a table: features with their names, and the target."""

    source: str
    X: "pl.DataFrame"
    y: npt.NDArray[Any]


def read_samples(options: argparse.Namespace, talk: Talk) -> TableSamples:
    """Read the features of a table and the target; complete rows alone."""
    table = open_table(options, talk, lambda names: [options.target])
    features = assign_roles(table, options.target, options.drop, [], talk, fate="left out").features
    used = [options.target, *features]
    rows = np.flatnonzero(complete_rows(table, used, options.missing, talk))
    return _samples(table, options.target, features, rows)


def read_pair(
    options: argparse.Namespace, talk: Talk, pair: Sequence[str], *, only: bool
) -> TableSamples:
    """Read two features, or all with them, and the target; the rows that a reduction learns from.

    Which these are depends on all features, because rows that lack a value are left out.
    """
    table = open_table(options, talk, lambda names: [options.target])
    check_target(table, options.target)
    find_columns(table, pair, patterns=False)
    for name in pair:
        table.column(name)  # refuses one that is not of numbers
    for name in sorted({*find_columns(table, options.drop)} & {*pair}):
        raise ValueError(f"column {name!r} is to be explained and cannot be dropped")
    features = assign_roles(
        table, options.target, options.drop, [], None if only else talk, fate="left out"
    ).features
    if len({block_of(table, name, features) for name in pair}) > 1:
        talk.note("the two are of different variables, which lincfa reduce never merges")
    used = list(dict.fromkeys([options.target, *features, *pair]))
    complete = complete_rows(table, used, options.missing, talk)
    rows, _, _ = split_rows(table.source, complete, options, talk)
    return _samples(table, options.target, list(pair) if only else features, rows)


def _samples(
    table: TableFile, target: str, features: list[str], rows: npt.NDArray[np.intp]
) -> TableSamples:
    y = table.numbers([target], rows)[:, 0]
    if rows.size > 1:
        refuse_constant(table.source, target, y)
    return TableSamples(table.source, frame_of_rows(table, features, rows), y)
