"""Tables in chunks: what is read is what the readers in memory give, in the same order."""

from datetime import date
from pathlib import Path

import numpy as np
import pytest

pl = pytest.importorskip("polars")
dask = pytest.importorskip("dask")
pytest.importorskip("dask.dataframe")
pq = pytest.importorskip("pyarrow.parquet")
xr = pytest.importorskip("xarray")
pytest.importorskip("zarr")

from lincfa.cli._files import (
    _chunked_grids,
    _chunked_parquet,
    form_of,
    left_out_of_chunks,
    open_chunked,
    read_table,
    write_chunked,
)


@pytest.fixture(autouse=True)
def in_one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


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


def gathered(table, names):
    """The columns of all chunks, as they are."""
    return pl.concat([pl.from_arrow(table.reader.table(chunk, names)) for chunk in table.chunks])


def reduced_features(table, count):
    """What a model may give for each chunk: the number of the row, some times."""
    numbers = table.split(np.arange(table.n_rows, dtype=float))
    return [dask.delayed(np.repeat(part[:, None], count, axis=1)) for part in numbers]


def test_a_folder_is_one_table(folder):
    assert form_of(folder).parts
    table = open_chunked(str(folder))
    whole = pl.concat([rows(3), rows(2, 3), rows(1, 5), rows(3, 6)])
    assert table.names == whole.columns
    assert table.lengths == [3, 2, 1, 3]
    assert table.numeric == ["a", "i", "decimal"]
    assert table.nothing == ["nothing"]
    assert gathered(table, table.names).equals(whole)
    frame = table.frame(["decimal", "a", "i"]).compute()
    assert frame["a"].tolist() == list(range(9))
    assert frame["i"].isna().sum() == 6
    assert frame["decimal"].tolist() == [1.5] * 9
    some = table.frame(["i"], ~frame["i"].isna().to_numpy())
    assert some.compute()["i"].tolist() == [0, 3, 6]
    assert [len(part) for part in dask.compute(*some.to_delayed())] == [1, 1, 0, 1]


def test_a_look_counts_what_is_missing(folder):
    infinite = rows(3, 9).with_columns(a=pl.Series([0.0, np.inf, -np.inf]))
    for number in (1, 2):
        infinite.write_parquet(folder / "more" / f"{number}.parquet")
    table = open_chunked(str(folder))
    look = table.look(["a", "i"], "a")
    assert look.missing == {"a": 0, "i": 10}
    assert look.infinite == {"a": 10}
    assert look.target.tolist() == [*range(9), *([0.0, np.inf, -np.inf] * 2)]
    assert table.complete_rows(["a", "i"]).tolist() == [True, False, False] * 5


def test_row_groups_are_divided(tmp_path, monkeypatch):
    path = str(tmp_path / "d.parquet")
    rows(10).write_parquet(path, row_group_size=2)
    assert open_chunked(path).lengths == [10]
    size = pq.ParquetFile(path).metadata.row_group(0).total_byte_size
    monkeypatch.setattr(_chunked_parquet, "CHUNK_BYTES", 2 * size + 1)
    table = open_chunked(path)
    assert table.lengths == [4, 4, 2]
    assert gathered(table, ["a", "text"]).equals(rows(10).select("a", "text"))


def test_folders_label_rows(tmp_path):
    for year in (2020, 2021):
        place = tmp_path / f"year={year}"
        place.mkdir()
        pl.DataFrame({"a": [1.0, 2.0]}).write_parquet(place / "0.parquet")
    table = open_chunked(str(tmp_path))
    assert table.names == ["a", "year"]
    assert table.numeric == ["a"]
    assert gathered(table, ["year"])["year"].cast(pl.Int64).to_list() == [2020, 2020, 2021, 2021]


def test_types_of_files_are_widened(tmp_path):
    pl.DataFrame({"a": [1, 2], "b": [None, None]}).write_parquet(tmp_path / "0.parquet")
    pl.DataFrame({"a": [0.5], "b": ["x"]}).write_parquet(tmp_path / "1.parquet")
    table = open_chunked(str(tmp_path))
    assert gathered(table, ["a", "b"]).to_dict(as_series=False) == {
        "a": [1.0, 2.0, 0.5],
        "b": [None, None, "x"],
    }


def test_single_precision_stays(tmp_path):
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [0.5, 0.1]}).cast(pl.Float32)
    frame.with_columns(y=pl.Series([1.0, 2.0])).write_parquet(tmp_path / "0.parquet")
    table = open_chunked(str(tmp_path))
    for names, dtype in ((["a", "b"], np.float32), (["a", "y"], np.float64)):
        lazy = table.frame(names)
        assert set(lazy.dtypes) == set(lazy.compute().dtypes) == {np.dtype(dtype)}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"a": [1.0]}, "1.parquet lacks column 'b', which .*0.parquet has"),
        ({"a": [1.0], "b": [1.0], "c": [1.0]}, "0.parquet lacks column 'c', which .*1.parquet has"),
        ({"a": ["x"], "b": [1.0]}, "1.parquet has columns of other types than .*0.parquet: .*a"),
    ],
)
def test_files_that_do_not_fit_are_named(tmp_path, other, message):
    pl.DataFrame({"a": [1.0], "b": [1.0]}).write_parquet(tmp_path / "0.parquet")
    pl.DataFrame(other).write_parquet(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=message):
        open_chunked(str(tmp_path))


def test_damaged_files_are_named(folder):
    path = folder / "10.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"10\.parquet is not a Parquet file, or a damaged one"):
        open_chunked(str(folder))
    path.write_bytes(whole[:4] + bytes(100) + whole[104:])
    with pytest.raises(ValueError, match=r"10\.parquet is not a Parquet file, or a damaged one"):
        open_chunked(str(folder)).look(["a", "i"])


def test_what_is_no_table_in_chunks(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(IsADirectoryError, match="it is a folder without Parquet files"):
        open_chunked(str(tmp_path / "empty"))
    with pytest.raises(ValueError, match=r"x\.csv cannot be read in chunks"):
        open_chunked("x.csv")
    with pytest.raises(FileNotFoundError):
        open_chunked(str(tmp_path / "none.parquet"))
    rows(0).write_parquet(tmp_path / "empty" / "0.parquet")
    with pytest.raises(ValueError, match="empty has columns but no rows"):
        open_chunked(str(tmp_path / "empty"))
    with pytest.raises(ValueError, match="empty is a folder of Parquet files, which lincfa"):
        read_table(tmp_path / "empty")


def weather():
    rng = np.random.default_rng(1)
    t2m = rng.standard_normal((2, 5, 3)).astype(np.float32)  # the samples in the middle
    t2m[1, :, 2] = np.nan
    days = np.arange("2020-01-01", "2020-01-06", dtype="M8[D]").astype("M8[ns]")
    return xr.Dataset(
        {
            "t2m": (("lat", "time", "lon"), t2m, {"units": "K"}),
            "y": ("time", rng.standard_normal(5)),
            "rain": (("time", "station"), rng.integers(0, 100, (5, 2)).astype(np.int32)),
            "note": ("time", np.array(["u", "", "w", "x", "NA"], dtype=object)),
            "mask": (("time", "lat"), rng.random((5, 2)) > 0.5),
            "height": (("lat", "lon"), np.ones((2, 3))),
        },
        coords={"time": days, "lat": [45.0, 45.5], "lon": [7.5, 8.0, 8.5]},
    )


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store, read by two samples at once."""
    path = str(tmp_path / "in.zarr")
    weather().to_zarr(path, zarr_format=2, consolidated=True)
    monkeypatch.setattr(_chunked_grids, "CHUNK_BYTES", 90)
    monkeypatch.setattr(_chunked_grids, "_LONGEST", 0)
    return path


def test_cells_are_columns(store):
    table, whole = open_chunked(store), read_table(store)
    assert table.names == whole.names
    assert table.lengths == [2, 2, 1]
    look = table.look(table.numeric)
    assert look.numeric() == whole.numeric()
    assert look.empty() == whole.empty()
    assert gathered(table, table.names).equals(whole.frame)
    names = whole.numeric()[::-1]  # whatever their order
    assert np.array_equal(table.frame(names).compute().to_numpy(), whole.numbers(names))
    cells = [name for name in table.names if name.startswith("t2m")]
    assert set(table.frame(cells).dtypes) == {np.dtype(np.float32)}


def test_chunks_are_those_of_the_store(tmp_path, monkeypatch):
    path = str(tmp_path / "in.zarr")
    encoding = {"t2m": {"chunks": (2, 2, 3)}}
    weather()[["t2m"]].to_zarr(path, zarr_format=2, consolidated=True, encoding=encoding)
    for size, lengths in ((24, [2, 2, 1]), (24 * 3, [2, 2, 1]), (24 * 4, [4, 1]), (24 * 9, [5])):
        monkeypatch.setattr(_chunked_grids, "CHUNK_BYTES", size)
        assert open_chunked(path).lengths == lengths


@pytest.mark.parametrize("chosen", [[True] * 5, [False, True, True, False, True]])
def test_a_store_without_some_cells(store, tmp_path, chosen):
    table = open_chunked(store)
    cells = [name for name in table.names if name.startswith("t2m")]
    keep = ["time", "note", "y", "rain[station=1]"]
    out = tmp_path / "out.zarr"
    reduced = reduced_features(table, 2)
    members = [cells[:2], ["rain[station=0]"]]
    rows = np.array(chosen)
    write_chunked(out, table, keep, rows, reduced, ["r1", "r2"], members=members, store=True)
    with xr.open_dataset(out, engine="zarr") as data:
        written = data.load()
    source = weather().isel(time=rows)
    assert "t2m" not in written
    for name in ("time", "note", "y", "mask", "height", "lat"):
        assert np.array_equal(written[name].values, source[name].values), name
    assert np.isnan(written["rain"].values[:, 0]).all()
    assert np.array_equal(written["rain"].values[:, 1], source["rain"].values[:, 1])
    assert written["t2m_group"].values.ravel().tolist() == [0, 0, -1, -1, -1, -1]
    assert written["rain_group"].values.tolist() == [1, -1]
    assert written["reduced"].values[:, 1].tolist() == np.flatnonzero(rows).tolist()


def test_a_store_as_parquet(store, tmp_path):
    table = open_chunked(store)
    keep = [name for name in table.names if not name.startswith("t2m")]
    assert left_out_of_chunks(table, keep, store=False) == ["height", "mask"]
    rows = np.array([True, False, False, False, True])  # of one chunk nothing is left
    write_chunked(
        tmp_path / "out", table, keep, rows, reduced_features(table, 1), ["r"], store=False
    )
    assert sorted(path.name for path in Path(tmp_path / "out").iterdir()) == [
        "part.00000.parquet",
        "part.00001.parquet",
    ]
    written = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert written.drop("r").equals(read_table(store).frame[rows.nonzero()[0]].select(keep))


def test_parquet_as_a_store(folder, tmp_path):
    table = open_chunked(str(folder))
    assert left_out_of_chunks(table, table.names, store=True) == ["list"]
    keep = [name for name in table.names if name != "list"]
    rows = np.arange(9) != 4
    out = tmp_path / "out.zarr"
    write_chunked(out, table, keep, rows, reduced_features(table, 1), ["r"], store=True)
    with xr.open_dataset(out, engine="zarr") as data:
        written = data.load()
    assert written["a"].values.tolist() == [0, 1, 2, 3, 5, 6, 7, 8]
    assert (
        np.isnan(written["i"].values).tolist()
        == [False, True, True, False, True, False] + [True] * 2
    )
    assert written["true"].dtype == bool
    assert (written["day"].values == np.datetime64("2020-01-01")).all()
    assert written["kind"].values.tolist()[:3] == ["é", "", "é"]
    assert written["decimal"].values.tolist() == [1.5] * 8
    assert written["reduced"].values[:, 0].tolist() == written["a"].values.tolist()
