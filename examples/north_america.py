"""Predict yearly temperature around the Great Lakes from the rest of North America.

    python examples/north_america.py

The field is a climate model run for 1860-2099 (scenario E1: emissions rise, then fall), yearly
means on 37 x 49 cells, from the package iris-sample-data. The target is the mean over a box around
the Great Lakes. The box and a margin of about 500 km are removed from the field, so that adjacent
cells do not give the answer away. The prediction is of deviations from the trend.
"""

from collections.abc import Iterator
from importlib.resources import files

import numpy as np
import xarray as xr

from _compare import Part, as_markdown, compare, ours
from _pictures import draw_all, output_folder

LAKES = {"latitude": (41.0, 49.0), "longitude": (267.0, 284.0)}
MARGIN = {"latitude": 5.0, "longitude": 7.0}
FIRST_TEST, TEST_YEARS, LAST = 1980, 30, 2099
MEMORY = 20


def read() -> xr.DataArray:
    """Read the yearly temperatures in kelvin, with the year as time coordinate."""
    path = files("iris_sample_data") / "sample_data" / "E1_north_america.nc"
    with xr.open_dataset(str(path)) as data:
        field = data["air_temperature"].load().astype(float)
    return field.assign_coords(time=field["time"].dt.year).reset_coords(drop=True)


def inside(field: xr.DataArray, margin: bool) -> xr.DataArray:
    """Return which cells are in the box, with or without the margin."""
    within = xr.ones_like(field.isel(time=0), dtype=bool)
    for name, (low, high) in LAKES.items():
        more = MARGIN[name] * margin
        within &= (field[name] >= low - more) & (field[name] <= high + more)
    return within


def area_mean(field: xr.DataArray) -> xr.DataArray:
    """Return the area-weighted mean: cells get smaller towards the pole."""
    return field.weighted(np.cos(np.radians(field["latitude"]))).mean(["latitude", "longitude"])


def without_trend(series: xr.DataArray, warming: xr.DataArray, train: slice) -> xr.DataArray:
    """Remove the part that follows mean warming, by a regression on the training years."""
    known, index = series.sel(time=train), warming.sel(time=train)
    slope = xr.cov(known, index, "time") / index.var("time", ddof=1)
    return series - known.mean("time") - slope * (warming - index.mean("time"))


def anomalies(train: slice) -> Part:
    """Return field and target without trend, estimated on the training years."""
    temperature = read()
    target = area_mean(temperature.where(inside(temperature, margin=False)))
    field = temperature.where(~inside(temperature, margin=True))
    # The mean of the twenty years up to each year: later years are not used.
    warming = area_mean(field).rolling(time=MEMORY, min_periods=1).mean()
    return Part(without_trend(field, warming, train), without_trend(target, warming, train))


def splits() -> Iterator[tuple[Part, Part]]:
    """Train on all years before 1980, 2010, 2040, 2070; test on the 30 years that follow."""
    for first in range(FIRST_TEST, LAST + 1, TEST_YEARS):
        train, test = slice(None, first - 1), slice(first, first + TEST_YEARS - 1)
        part = anomalies(train)
        yield part.years(train), part.years(test)


def main() -> None:
    """Compare the methods, then plot LinCFACV fitted to all years."""
    folder = output_folder(__doc__)
    print(as_markdown(compare(splits(), units="original")))
    whole = anomalies(slice(None))
    model = ours(whole, units="original")["LinCFACV"].fit(whole.field, whole.target)
    draw_all(model, whole, "north-america", "K", folder, box=LAKES)


if __name__ == "__main__":
    main()
