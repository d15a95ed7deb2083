"""Methods to compare with: the paper's supervised linear reductions, and tuned linear models."""

from ._classifiers import (
    INVERSE_PENALTIES,
    PLSDA,
    logistic_regression,
    minus_log_loss,
    pca_discriminant,
    pls_discriminant,
)
from ._regressors import (
    L1_RATIOS,
    RIDGES,
    PathCV,
    agglomeration,
    elastic_net,
    n_features,
    pca_regression,
    pls,
    ridge,
    slope,
)
from ._supervised import ScreenedPCA, SupervisedPCA

__all__ = [
    "INVERSE_PENALTIES",
    "L1_RATIOS",
    "PLSDA",
    "RIDGES",
    "PathCV",
    "ScreenedPCA",
    "SupervisedPCA",
    "agglomeration",
    "elastic_net",
    "logistic_regression",
    "minus_log_loss",
    "n_features",
    "pca_discriminant",
    "pca_regression",
    "pls",
    "pls_discriminant",
    "ridge",
    "slope",
]
