"""How much the groups depend on the order of the columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from .._data._training import read_in_memory
from .._lincfa import LinCFA
from .._model._parameters import is_count
from ..theory._arrays import FloatArray


@dataclass(frozen=True)
class OrderSensitivity:
    """How permuting the columns changes the groups.

    Attributes
    ----------
    n_groups_given : int
        Number of groups with the columns in their original order.
    n_groups : array of shape (n_permutations,)
        Number of groups with the columns permuted.
    agreement : array of shape (n_permutations,)
        Adjusted Rand index of each partition with that of the original order: 1 for the same
        groups, about 0 for groups that agree no more than by chance.
    """

    n_groups_given: int
    n_groups: npt.NDArray[np.intp]
    agreement: FloatArray


def order_sensitivity(
    X: Any,
    y: Any,
    n_permutations: int = 20,
    *,
    model: LinCFA | None = None,
    random_state: Any = None,
) -> OrderSensitivity:
    """Measure how much the groups depend on the order of the columns.

    The ``"sequential"`` and ``"centroid"`` strategies go through the columns in their order, so the
    groups depend on it; those of ``"agglomerative"`` and ``"joint"`` do not.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features), or field
        As for :meth:`LinCFA.fit`, in memory.
    y : array of shape (n_samples,)
    n_permutations : int, default=20
        Number of random orders; each costs a fit and a copy of X.
    model : LinCFA, default=None
        Its parameters are used. None for ``LinCFA()``.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    OrderSensitivity

    Examples
    --------
    >>> from lincfa import LinCFA, order_sensitivity
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
    >>> found = order_sensitivity(X, y, 5, random_state=0)
    >>> found.n_groups_given, found.n_groups
    (8, array([8, 8, 7, 8, 8]))
    >>> found = order_sensitivity(X, y, 5, model=LinCFA(strategy="agglomerative"), random_state=0)
    >>> found.agreement
    array([1., 1., 1., 1., 1.])
    """
    if not is_count(n_permutations):
        raise ValueError(f"n_permutations must be a positive integer, got {n_permutations!r}")
    random = check_random_state(random_state)
    given = clone(LinCFA() if model is None else model)
    given._check_parameters()
    training = read_in_memory(X, y, sample_dim=given.sample_dim)
    given._fit(training)
    constraint = given._constraint()
    sizes, agreement = [], []
    # Without the constant columns, about which the fit above has warned.
    features = np.flatnonzero(given.labels_ >= 0)
    for _ in range(n_permutations):
        order = random.permutation(features)
        permuted = clone(given).set_params(**constraint.taken(order))
        permuted.fit(training.values[:, order], training.y)
        sizes.append(permuted.n_groups_)
        agreement.append(adjusted_rand_score(given.labels_[order], permuted.labels_))
    return OrderSensitivity(given.n_groups_, np.array(sizes), np.array(agreement))
