"""Figures of fitted models; they need matplotlib."""

from ._charts import coefficients_size as coefficients_size
from ._charts import confusion_size as confusion_size
from ._charts import draw_coefficients as draw_coefficients
from ._charts import draw_confusion as draw_confusion
from ._charts import draw_correlation as draw_correlation
from ._charts import draw_path as draw_path
from ._charts import draw_predictions as draw_predictions
from ._charts import draw_roc as draw_roc
from ._charts import draw_thresholds as draw_thresholds
from ._charts import (
    plot_coefficients,
    plot_confusion,
    plot_correlation,
    plot_inference,
    plot_path,
    plot_prediction,
    plot_roc,
    plot_search,
    plot_thresholds,
)
from ._figures import PAGE_WIDTH as PAGE_WIDTH
from ._figures import default_style as default_style
from ._figures import new_figure as new_figure
from ._figures import short_number as short_number
from ._maps import draw_effects as draw_effects
from ._maps import draw_groups as draw_groups
from ._maps import draw_stability as draw_stability
from ._maps import effects_on as effects_on
from ._maps import figure_size as figure_size
from ._maps import (
    plot_effect_map,
    plot_map,
    plot_stability_map,
)
from ._spectra import draw_spectrum as draw_spectrum
from ._spectra import plot_spectrum
from ._svg import svg as svg

# The others draw findings, for a report.
__all__ = [
    "plot_coefficients",
    "plot_confusion",
    "plot_correlation",
    "plot_effect_map",
    "plot_inference",
    "plot_map",
    "plot_path",
    "plot_prediction",
    "plot_roc",
    "plot_search",
    "plot_spectrum",
    "plot_stability_map",
    "plot_thresholds",
]
