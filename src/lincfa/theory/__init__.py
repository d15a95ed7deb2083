"""The equations of the paper as functions, vectorised over NumPy arrays.

*Interpretable Linear Dimensionality Reduction based on Bias-Variance Analysis* (Bonetti, Metelli,
Restelli). Docstrings give the label of the equation in the paper's source; ``docs/theory.md`` lists
them all. Nothing here imports the rest of the library.
"""

from ._correlations import (
    contrast_shares,
    f_from_shares,
    f_known_noise,
    f_statistic,
    r_squared,
    residual_variance,
    threshold_empirical,
    weight_difference,
)
from ._estimators import (
    estimator_covariance,
    estimator_covariance_pair,
    estimator_expectation,
    estimator_expectation_mean,
    estimator_expectation_pair,
    estimator_variance_mean,
)
from ._models import (
    model_bias,
    model_bias_mean,
    model_bias_pair,
    model_variance,
    model_variance_mean,
    model_variance_pair,
    variance_of_mean,
)
from ._multivariate import (
    bias_mean_3d,
    bias_pair_3d,
    ceiling_marginal,
    delta_bias_3d,
    delta_bias_d,
    delta_bias_marginal,
    interval_3d,
    interval_d,
)
from ._sampling import merge_probability, noncentrality, tolerance_at_level
from ._thresholds import (
    covariance_margin_lower,
    covariance_margin_upper,
    threshold_asymptotic,
    threshold_asymptotic_general,
    threshold_confidence,
    threshold_distribution_free,
    threshold_finite,
)
from ._tradeoff import (
    bias_growth_asymptotic,
    bias_growth_finite,
    bias_growth_unit,
    merge_condition_unit,
    variance_drop_asymptotic,
    variance_drop_finite,
    variance_drop_unit,
)

__all__ = [
    "bias_growth_asymptotic",
    "bias_growth_finite",
    "bias_growth_unit",
    "bias_mean_3d",
    "bias_pair_3d",
    "ceiling_marginal",
    "contrast_shares",
    "covariance_margin_lower",
    "covariance_margin_upper",
    "delta_bias_3d",
    "delta_bias_d",
    "delta_bias_marginal",
    "estimator_covariance",
    "estimator_covariance_pair",
    "estimator_expectation",
    "estimator_expectation_mean",
    "estimator_expectation_pair",
    "estimator_variance_mean",
    "f_from_shares",
    "f_known_noise",
    "f_statistic",
    "interval_3d",
    "interval_d",
    "merge_condition_unit",
    "merge_probability",
    "model_bias",
    "model_bias_mean",
    "model_bias_pair",
    "model_variance",
    "model_variance_mean",
    "model_variance_pair",
    "noncentrality",
    "r_squared",
    "residual_variance",
    "threshold_asymptotic",
    "threshold_asymptotic_general",
    "threshold_confidence",
    "threshold_distribution_free",
    "threshold_empirical",
    "threshold_finite",
    "tolerance_at_level",
    "variance_drop_asymptotic",
    "variance_drop_finite",
    "variance_drop_unit",
    "variance_of_mean",
    "weight_difference",
]
