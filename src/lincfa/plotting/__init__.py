"""Pictures; they need matplotlib."""

from ._coefficients import draw_coefficients as draw_coefficients
from ._coefficients import plot_coefficients
from ._correlation import draw_correlation as draw_correlation
from ._correlation import plot_correlation
from ._fields import figure_size as figure_size
from ._fields import plot_coefficient_map, plot_map, plot_stability_map
from ._figures import NAMES_SHOWN as NAMES_SHOWN
from ._figures import new_figure as new_figure
from ._figures import own_style as own_style
from ._maps import draw_groups as draw_groups
from ._maps import draw_stability as draw_stability
from ._maps import draw_weights as draw_weights
from ._maps import weights_on as weights_on
from ._path import draw_path as draw_path
from ._path import plot_path
from ._search import plot_search
from ._spectrum import draw_spectrum as draw_spectrum
from ._spectrum import plot_spectrum
from ._svg import svg as svg
from ._thresholds import draw_thresholds as draw_thresholds
from ._thresholds import plot_thresholds

# The others draw from what has been found before, for a report.
__all__ = [
    "plot_coefficient_map",
    "plot_coefficients",
    "plot_correlation",
    "plot_map",
    "plot_path",
    "plot_search",
    "plot_spectrum",
    "plot_stability_map",
    "plot_thresholds",
]
