"""Fitted models whose signs and weights are set by hand."""

import numpy as np


def turned(model, signs, weights=None):
    """The model of columns times signs, which are 1 for the first of each group; with weights."""
    signs = np.where(model.labels_ < 0, 1, signs).astype(np.int8)
    for group in model.groups_:
        assert signs[group[0]] == 1
    model.mean_ = model.mean_ * signs
    model.target_correlation_ = model.target_correlation_ * signs
    model.signed, model.signs_ = True, signs
    evidence = model.evidence_
    evidence["sign"] = signs[evidence["feature"]] * signs[evidence["partner"]]
    if hasattr(model, "merge_path_"):
        merges = model.merge_path_
        merges["sign"] = signs[merges["first"]] * signs[merges["second"]]
    if weights is not None:
        model.feature_weights = model.feature_weights_ = np.asarray(weights)
    return model


def some_signs(model, seed=0):
    """Signs at random, 1 for the first of each group."""
    signs = np.random.default_rng(seed).choice([-1, 1], size=model.n_features_in_)
    signs[[group[0] for group in model.groups_]] = 1
    return signs
