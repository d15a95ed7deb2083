"""Supervised linear reductions that the paper compares with, as scikit-learn transformers."""

from ._supervised import ScreenedPCA, SupervisedPCA

__all__ = ["ScreenedPCA", "SupervisedPCA"]
