"""Fields of xarray: tables of their cells on the way in, grids on the way out."""
