"""What the command line imports while it runs: imported once, before processes are forked."""

import gc
from contextlib import suppress
from importlib import import_module
from pkgutil import walk_packages

import lincfa

_LIBRARIES = """
    polars pyarrow.parquet pyarrow.feather pyarrow.dataset fastexcel xlsxwriter netCDF4 cftime zarr
    numcodecs.blosc xarray xarray.backends.zarr xarray.backends.netCDF4_ dask.array dask.dataframe
    dask.threaded pandas rich.console rich.table rich.progress scipy.stats scipy.linalg
    scipy.sparse.csgraph sklearn.linear_model sklearn.model_selection sklearn.cross_decomposition
    sklearn.cluster sklearn.decomposition
"""

for _name in _LIBRARIES.split():
    with suppress(ImportError):
        import_module(_name)
for _module in walk_packages(lincfa.__path__, "lincfa."):
    if not _module.name.endswith("__main__"):
        with suppress(ImportError):
            import_module(_module.name)

with suppress(ImportError):
    import_module("xarray").backends.list_engines()  # looks through all packages
gc.collect()
gc.freeze()  # what is here stays, and is not looked at again in every process
