"""Methods to compare with: the paper's supervised linear reductions, and tuned regressions."""

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
    "L1_RATIOS",
    "RIDGES",
    "PathCV",
    "ScreenedPCA",
    "SupervisedPCA",
    "agglomeration",
    "elastic_net",
    "n_features",
    "pca_regression",
    "pls",
    "ridge",
    "slope",
]
