"""Folds, scores and choice for the estimators that cross-validate."""
