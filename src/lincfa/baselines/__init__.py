"""Methods to compare with: the paper's supervised linear reductions, and parts of others."""

from ._regressors import RIDGES, n_features, pls
from ._supervised import ScreenedPCA, SupervisedPCA

__all__ = ["RIDGES", "ScreenedPCA", "SupervisedPCA", "n_features", "pls"]
