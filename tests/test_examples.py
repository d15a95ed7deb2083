"""The examples: the smaller one from end to end, and that no test year has a part in its answer."""

import numpy as np
import pytest

for package in ("iris_sample_data", "eofs", "xarray", "netCDF4", "matplotlib"):
    pytest.importorskip(package, reason=f"the examples need {package}: see examples/README.md")

import _compare
import _pictures
import north_america
import pacific

PICTURES = ("areas", "coefficients", "stability", "series")


def figures(table):
    """Mean R² and numbers of features, by method."""
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return {
        row[0]: (float(row[1].replace("−", "-")), [int(count) for count in row[5].split(", ")])
        for row in rows[1:]
    }


def test_pacific_from_end_to_end(monkeypatch, tmp_path, capsys):
    # Fewer cells, the last split alone, and no other process: a few seconds instead of minutes.
    steps = {"latitude": 2, "longitude": 2, "north": 4, "east": 4}
    coarse = pacific.read_fields().isel({name: slice(None, None, n) for name, n in steps.items()})
    monkeypatch.setattr(pacific, "read_fields", lambda: coarse)
    monkeypatch.setattr(pacific, "FIRST_TEST", 2007)
    monkeypatch.setattr(_pictures, "RESAMPLES", 4)
    for module in (_compare, _pictures):
        monkeypatch.setattr(module, "JOBS", None)
    monkeypatch.setattr("sys.argv", ["pacific.py", "--into", str(tmp_path)])

    pacific.main()

    found = figures(capsys.readouterr().out)
    score, count = found["LinCFACV"]
    assert score > 0.5 > found["training mean"][0]
    assert count[0] <= 22  # at most half of the 44 winters that it learned from
    assert found["least squares, all cells"][1] == found["ridge"][1]
    for name in ("PCA (EOF) regression", "PLS", "FeatureAgglomeration", "elastic net"):
        assert found[name][0] > found["training mean"][0]
        assert found[name][1][0] < found["ridge"][1][0]
    pictures = sorted(path.name for path in tmp_path.iterdir())
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
