"""Generated data (the paper's, a climate-like field, spectra) and the paper's four tables."""

from ._generated import make_bivariate, make_correlated, make_field, make_spectra, make_trivariate
from ._loaders import (
    load_climatological,
    load_climatological_ii,
    load_financial,
    load_life_expectancy,
)

__all__ = [
    "load_climatological",
    "load_climatological_ii",
    "load_financial",
    "load_life_expectancy",
    "make_bivariate",
    "make_correlated",
    "make_field",
    "make_spectra",
    "make_trivariate",
]
