"""Statistics of data in chunks of dask, read where they are and never gathered."""
