"""Findings from the reduced features alone, where the features are too many to be at hand."""

from dataclasses import replace
from typing import Any

import numpy.typing as npt

from ...theory._arrays import FloatArray
from ._coefficients import effect_of_groups, spread_back
from ._groups import describe_groups
from ._maps import maps_of
from ._regression import fit_linear, linear_weights
from ._scores import Scores, score_reduced
from ._whole import Findings, find


def fit_to_reduced(model: Any, X: npt.NDArray[Any], y: FloatArray) -> Any:
    """Give a regression on reduced features X; that of a search, if the model is one."""
    return model.estimator_ if hasattr(model, "estimator_") else fit_linear(None, X.copy(), y)


def find_reduced_scores(
    model: Any, fitted: Any, X_test: npt.NDArray[Any], y_test: FloatArray, *, ordered: bool
) -> Scores:
    """Score a regression on the reduced features of samples not used for fitting."""
    reducer = getattr(model, "reducer_", model)
    return score_reduced(model, reducer, fitted, X_test, y_test, ordered)


def find_reduced(model: Any, fitted: Any, scores: Scores | None, **about: Any) -> Findings:
    """Gather the findings on a fitted model, without what takes its features.

    Parameters
    ----------
    model : LinCFA or LinCFACV
        Fitted.
    fitted
        A regression on its reduced features.
    scores : Scores or None
        Its scores.
    **about
        Title, data, recipe and notes, see :func:`find`.
    """
    findings = find(model, **about)
    reducer = getattr(model, "reducer_", model)
    coef = linear_weights(fitted, reducer.n_groups_)
    if coef is not None:
        effect = effect_of_groups(reducer, coef, None)
        findings = replace(
            findings,
            groups=describe_groups(reducer, effect),
            coefficients=spread_back(reducer, coef),
            maps=maps_of(reducer, coef)[0],
        )
    return replace(findings, scores=scores)
