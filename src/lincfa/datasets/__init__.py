"""Generated data (the paper's, a climate-like field, spectra) and the paper's four tables."""

from ._loaders import (
    load_climatological,
    load_climatological_ii,
    load_financial,
    load_life_expectancy,
)
from ._paper import make_bivariate, make_correlated, make_trivariate
from ._scenes import make_field, make_spectra

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
