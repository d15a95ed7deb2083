"""Parquet files in chunks: one table in the order of the names, with one type per column."""

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from reference import assert_raises

pl = pytest.importorskip("polars")
dask = pytest.importorskip("dask")
pytest.importorskip("dask.dataframe")
pq = pytest.importorskip("pyarrow.parquet")

from lincfa.cli._files import _tables, format_of, open_data


@pytest.fixture(autouse=True)
def in_one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def opened(path):
    return open_data(str(path), in_chunks=True)


def rows(n, start=0):
    """Columns of every type, some without values."""
    numbers = np.arange(start, start + n)
    return pl.DataFrame(
        {
            "a": numbers.astype(float),
            "i": pl.Series([None if k % 3 else k for k in numbers.tolist()], dtype=pl.Int16),
            "decimal": pl.Series(["1.50"] * n, dtype=pl.String).cast(pl.Decimal(10, 2)),
            "day": pl.Series([date(2020, 1, 1)] * n, dtype=pl.Date),
            "kind": pl.Series(["é", None] * n, dtype=pl.Categorical)[:n],
            "list": pl.Series([[1, 2]] * n, dtype=pl.List(pl.Int64)),
            "text": pl.Series(["x"] * n, dtype=pl.String),
            "true": pl.Series([True] * n, dtype=pl.Boolean),
            "nothing": pl.Series([None] * n, dtype=pl.Null),
        }
    )


@pytest.fixture
def folder(tmp_path):
    """Files of 3, 2, 0, 1 and 3 rows, which are in order when numbers count as such."""
    place = tmp_path / "data"
    (place / "more").mkdir(parents=True)
    pieces = (("1", 3, 0), ("2", 2, 3), ("5", 0, 5), ("10", 1, 5), ("more/0", 3, 6))
    for name, n, start in pieces:
        rows(n, start).write_parquet(place / f"{name}.parquet")
    (place / "notes.txt").write_text("no table")
    (place / "_metadata.parquet").write_text("no table either")
    return place


def lengths(data):
    return [chunk.n_rows for chunk in data.chunks]


def test_a_folder_is_one_table(folder):
    assert format_of(folder).is_folder
    data = opened(folder)
    whole = pl.concat([rows(3), rows(2, 3), rows(1, 5), rows(3, 6)])
    assert data.names == whole.columns
    assert lengths(data) == [3, 2, 1, 3]
    assert data.numeric == ["a", "i", "decimal"]
    assert data.empty == ["nothing"]
    assert data.kept_frame(data.names, np.arange(9)).equals(whole)
    frame = data.features(["decimal", "a", "i"], np.arange(9)).compute()
    assert frame["a"].tolist() == list(range(9))
    assert frame["i"].isna().sum() == 6
    assert frame["decimal"].tolist() == [1.5] * 9
    some = data.features(["i"], np.flatnonzero(~frame["i"].isna()))
    assert some.compute()["i"].tolist() == [0, 3, 6]
    assert [len(part) for part in dask.compute(*some.to_delayed())] == [1, 1, 0, 1]


def test_missing_and_infinite_values_are_counted(folder):
    infinite = rows(3, 9).with_columns(a=pl.Series([0.0, np.inf, -np.inf]))
    for number in (1, 2):
        infinite.write_parquet(folder / "more" / f"{number}.parquet")
    data = opened(folder)
    counts = data.count_values(["a", "i", "nothing"])
    assert counts.missing == {"a": 0, "i": 10, "nothing": 15}
    assert counts.infinite == {"a": 10}
    assert data.target("a").tolist() == [*range(9), *([0.0, np.inf, -np.inf] * 2)]
    assert data.complete_rows(["a", "i"]).tolist() == [True, False, False] * 5
    assert data.with_values(["a", "i"], np.array([1, 2, 4, 14])) == ["a"]
    coded = open_data(str(folder), in_chunks=True, codes=(8.0, 0.0, 6.0))
    assert coded.with_values(["a", "i"], np.array([0, 8])) == []
    assert coded.count_values(["a"]).missing == {"a": 5}
    assert coded.kept_frame(["a"], np.arange(15)).equals(data.kept_frame(["a"], np.arange(15)))


def test_row_groups_are_divided(tmp_path, monkeypatch):
    path = tmp_path / "d.parquet"
    rows(10).write_parquet(path, row_group_size=2)
    assert lengths(opened(path)) == [10]
    size = pq.ParquetFile(path).metadata.row_group(0).total_byte_size
    monkeypatch.setattr(_tables, "CHUNK_BYTES", 2 * size + 1)
    data = opened(path)
    assert lengths(data) == [4, 4, 2]
    names = ["a", "text"]
    assert data.kept_frame(names, np.arange(10)).equals(rows(10).select(names))


def test_folders_label_rows(tmp_path):
    for year, place in ((2020, "a"), (2021, "1")):
        folder = tmp_path / f"year={year}" / f"place={place}"
        folder.mkdir(parents=True)
        pl.DataFrame({"a": [1.0, 2.0]}).write_parquet(folder / "0.parquet")
    data = opened(tmp_path)
    assert data.names == ["a", "year", "place"]
    assert data.numeric == ["a"]
    labels = data.kept_frame(["place", "year"], np.array([0, 3])).rows()
    assert labels == [("a", 2020), ("1", 2021)]


def test_types_of_files_are_widened(tmp_path):
    pl.DataFrame({"a": [1, 2], "b": [None, None]}).write_parquet(tmp_path / "0.parquet")
    pl.DataFrame({"b": ["x"], "a": [0.5]}).write_parquet(tmp_path / "1.parquet")
    frame = opened(tmp_path).kept_frame(["a", "b"], np.arange(3))
    assert frame.to_dict(as_series=False) == {"a": [1.0, 2.0, 0.5], "b": [None, None, "x"]}


def test_single_precision_stays(tmp_path):
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [0.5, 0.1]}).cast(pl.Float32)
    frame.with_columns(y=pl.Series([1.0, 2.0])).write_parquet(tmp_path / "0.parquet")
    data = opened(tmp_path)
    for names, dtype in ((["a", "b"], np.float32), (["a", "y"], np.float64)):
        lazy = data.features(names, np.arange(2))
        assert set(lazy.dtypes) == set(lazy.compute().dtypes) == {np.dtype(dtype)}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"a": [1.0]}, "1.parquet has no column 'b', which .*0.parquet has"),
        ({"a": [1.0], "b": [1.0], "c": [1.0]}, "0.parquet has no column 'c', which .*1.parquet"),
        ({"a": ["x"], "b": [1.0]}, "Column 'a' is float64 in .*0.parquet and string in .*1.parq"),
    ],
)
def test_files_that_do_not_fit_are_named(tmp_path, other, message):
    pl.DataFrame({"a": [1.0], "b": [1.0]}).write_parquet(tmp_path / "0.parquet")
    pl.DataFrame(other).write_parquet(tmp_path / "1.parquet")
    assert_raises(message, opened, tmp_path)


def test_damaged_files_are_named(folder):
    path = folder / "10.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert_raises(r"10\.parquet is not a Parquet file, or it is damaged", opened, folder)
    path.write_bytes(whole[:4] + bytes(100) + whole[104:])
    with pytest.raises(ValueError, match=r"10\.parquet is not a Parquet file, or it is damaged"):
        opened(folder).count_values(["a", "i"])


def test_what_cannot_be_read_in_chunks(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(IsADirectoryError, match="the folder has no Parquet files"):
        opened(tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        opened(tmp_path / "none.parquet")
    rows(0).write_parquet(tmp_path / "empty" / "0.parquet")
    assert_raises("empty has columns but no rows", opened, tmp_path / "empty")
    with pytest.raises(ValueError, match="empty is a folder of Parquet files, which only lincfa"):
        open_data(str(tmp_path / "empty"))
    assert [path.name for path in Path(tmp_path / "empty").iterdir()] == ["0.parquet"]
