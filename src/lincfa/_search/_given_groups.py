"""A regression on the means of groups that were not chosen by cross-validation."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .._data._targets import Kind, read_targets
from .._lincfa import LinCFA
from .._lincfa_classifier_cv import LinCFAClassifierCV
from .._lincfa_cv import LinCFACV
from .._model._regression import scale_of_areas
from .._statistics import standardize_targets
from ._estimator import GroupSearch
from ._folds import Outcomes, fit_weighted, splits

_MANY = 0.5
"""Groups as a share of the samples, above which least squares would fit the noise."""


def with_regression(
    reducer: LinCFA, means: npt.NDArray[Any], y: Any, cv: Any = None, groups: Any = None
) -> GroupSearch:
    """Return a model that predicts: these groups, with a ridge or logistic regression on them.

    ``means`` are the reduced features of the samples of the fit, without gaps. The groups stay as
    they are while cross-validation chooses the penalty; folds are as for :class:`LinCFACV`.
    """
    kind: Kind = "numbers" if reducer._targets.classes is None else "classes"
    estimator = LinCFACV if kind == "numbers" else LinCFAClassifierCV
    model = estimator.of_groups(reducer, searched=False)
    values, targets = read_targets(y, kind, known=reducer._targets)
    outcomes = Outcomes(values, targets, None)
    _, scale = standardize_targets(values, None, targets)
    constraint = reducer._constraint()
    areas = kind == "numbers" and constraint.makes_areas
    many = reducer.n_groups_ > _MANY * len(values)
    penalties = [penalty for penalty in estimator._penalties if penalty or not many]
    scorer = model._scorer(penalties, scale, areas)
    X = means
    if areas:
        _, own = reducer._standardization
        weights = reducer.feature_weights_
        X = means * scale_of_areas(reducer.labels_, weights, own, constraint.blocks)
    model.cv_, parts = splits(cv, X, outcomes, groups, None)
    scores, counts = [], []
    for train, test in parts:
        scores.append(scorer(outcomes.take(train), outcomes.take(test), X[train], X[test]))
        counts.append(test.size)
    best = int(np.average(scores, axis=0, weights=counts).argmax())
    model.penalty_, model.rescaled_ = scorer.shrinkages[best]
    model.estimator_ = fit_weighted(model._final(constraint), means, outcomes)
    return model
