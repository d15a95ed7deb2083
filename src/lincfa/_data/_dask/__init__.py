"""Collections of dask."""
