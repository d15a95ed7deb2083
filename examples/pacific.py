"""Predict the Southern Oscillation from Pacific sea surface and Atlantic geopotential height.

    python examples/pacific.py

Fifty winters, 1963-2012, from the sample data of two packages. From eofs: sea surface temperature
anomalies of the Pacific (5° grid, land missing) and 500 hPa geopotential height over the North
Atlantic (2.5° grid). From iris-sample-data: the Southern Oscillation Index (Darwin), the target.
The two fields are on different grids and in different units: a Dataset with two variables, whose
cells never merge with each other.
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
    """Read a variable from a sample file of a package."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Ambiguous reference date")  # it is the year 1
        with xr.open_dataset(str(files(package) / path)) as data:
            return data[name].load().astype(float)


def read_fields() -> xr.Dataset:
    """Read both fields; a winter is named after the year of its January."""
    folder = "examples/example_data"
    sst = read("eofs", f"{folder}/sst_ndjfm_anom.nc", "sst")
    height = read("eofs", f"{folder}/hgt_djf.nc", "z").squeeze("pressure", drop=True)
    # Two grids in one Dataset need different coordinate names.
    height = height.rename(latitude="north", longitude="east")
    variables = {"sst": sst, "z500": height}
    return xr.Dataset(
        {
            name: array.assign_coords(time=array["time"].dt.year).sel(time=WINTERS)
            for name, array in variables.items()
        }
    )


def read_oscillation() -> xr.DataArray:
    """Read the index, averaged from November to March like the sea surface temperatures."""
    monthly = read("iris_sample_data", "sample_data/SOI_Darwin.nc", "SOI_Darwin")
    month, year = monthly["time"].dt.month, monthly["time"].dt.year
    winter = xr.where(month >= 11, year + 1, year).rename("winter")
    chosen = monthly.where((month >= 11) | (month <= 3), drop=True)
    means = chosen.groupby(winter.sel(time=chosen["time"])).mean()
    return means.rename(winter="time").sel(time=WINTERS)


def splits(whole: Part) -> Iterator[tuple[Part, Part]]:
    """Train on the winters up to 1988, 1994, 2000, 2006; test on the six that follow."""
    for last in range(FIRST_TEST - 1, WINTERS.stop, TEST_WINTERS):
        yield whole.years(slice(None, last)), whole.years(slice(last + 1, last + TEST_WINTERS))


def main() -> None:
    """Compare the methods, then plot LinCFACV fitted to all winters."""
    folder = output_folder(__doc__)
    whole = Part(read_fields(), read_oscillation())
    print(as_markdown(compare(splits(whole), units="standardized")))
    model = ours(whole, units="standardized")["LinCFACV"].fit(whole.field, whole.target)
    draw_all(model, whole, "pacific", "", folder)


if __name__ == "__main__":
    main()
