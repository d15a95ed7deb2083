"""The Southern Oscillation from the sea surface of the Pacific and the air over the Atlantic.

    python examples/pacific.py

Fifty winters, 1963-2012, that two packages bring along for their own examples. From eofs:
temperatures of the sea surface of the Pacific (departures from normal, on a 5° grid, land left out)
and heights of the 500 hPa surface over the North Atlantic (on a 2.5° grid). From iris-sample-data:
the Southern Oscillation Index of Darwin, the target. The two fields are on different grids and in
different units: a Dataset of two variables. Cells of one are never merged with cells of the other.
"""

import warnings
from collections.abc import Iterator
from importlib.resources import files

import xarray as xr

from _compare import Part, as_markdown, compare, ours
from _pictures import draw_all, output_folder

WINTERS = slice(1963, 2012)
FIRST_TEST, TEST_WINTERS = 1989, 6


def read(package: str, path: str, name: str) -> xr.DataArray:
    """Read a variable of a file that a package has brought along."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Ambiguous reference date")  # it is the year 1
        with xr.open_dataset(str(files(package) / path)) as data:
            return data[name].load().astype(float)


def read_fields() -> xr.Dataset:
    """Read both fields; the year is that of January."""
    folder = "examples/example_data"
    sst = read("eofs", f"{folder}/sst_ndjfm_anom.nc", "sst")
    height = read("eofs", f"{folder}/hgt_djf.nc", "z").squeeze("pressure", drop=True)
    # Two grids in one Dataset need names of their own.
    height = height.rename(latitude="north", longitude="east")
    variables = {"sst": sst, "z500": height}
    return xr.Dataset(
        {
            name: array.assign_coords(time=array["time"].dt.year).sel(time=WINTERS)
            for name, array in variables.items()
        }
    )


def read_oscillation() -> xr.DataArray:
    """Read the index, and average it from November to March, the months of the sea's field."""
    monthly = read("iris_sample_data", "sample_data/SOI_Darwin.nc", "SOI_Darwin")
    month, year = monthly["time"].dt.month, monthly["time"].dt.year
    winter = xr.where(month >= 11, year + 1, year).rename("winter")
    chosen = monthly.where((month >= 11) | (month <= 3), drop=True)
    means = chosen.groupby(winter.sel(time=chosen["time"])).mean()
    return means.rename(winter="time").sel(time=WINTERS)


def splits(whole: Part) -> Iterator[tuple[Part, Part]]:
    """Learn from the winters up to 1988, 1994, 2000, 2006; test on the six that follow."""
    for last in range(FIRST_TEST - 1, WINTERS.stop, TEST_WINTERS):
        yield whole.years(slice(None, last)), whole.years(slice(last + 1, last + TEST_WINTERS))


def main() -> None:
    """Compare the methods, then draw what LinCFACV makes of all winters."""
    folder = output_folder(__doc__)
    whole = Part(read_fields(), read_oscillation())
    print(as_markdown(compare(splits(whole), units="standardized")))
    model = ours(whole, units="standardized")["LinCFACV"].fit(whole.field, whole.target)
    draw_all(model, whole, "pacific", "", folder)


if __name__ == "__main__":
    main()
