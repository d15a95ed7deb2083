"""What every fitted reduction can do: average its groups, and name the averages."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._input import validate_new
from ._means import group_means
from ._names import reduced_names


class GroupReducer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer that is fitted to groups of features and replaces each by its mean."""

    _private_state: tuple[str, ...] = ()

    def _forget(self, keep: tuple[str, ...] = ()) -> None:
        """Drop what an earlier fit left, so that a fit that fails leaves no mixture of two."""
        left = {name for name in vars(self) if name.endswith("_") or name in self._private_state}
        for name in left.difference(keep):
            delattr(self, name)

    def transform(self, X: Any) -> Any:
        """Average each group of features.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features_in_)
            The same columns as in fit.

        Returns
        -------
        array of shape (n_samples, n_groups_)
            Or a data frame, as ``set_output`` says.
        """
        return self._reduce(X)

    def _reduce(self, X: Any) -> npt.NDArray[Any]:
        """Average each group: an array, whatever ``set_output`` says."""
        self._check_is_fitted()
        X, names = validate_new(self, X)
        standardized = self.units == "standardized"
        return group_means(
            X,
            self.labels_,
            self.n_groups_,
            mean=self.mean_ if standardized else None,
            scale=self.scale_ if standardized else None,
            names=names,
        )

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the reduced features.

        A feature alone in its group keeps its name, a group is called ``mean(a, b, c)``, or
        ``mean(a, b, … 17 features)`` when it has more than three members.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the features. By default ``feature_names_in_``, or ``x0``, ``x1``, … where X
            had no names.
        """
        self._check_is_fitted()
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            names = known if known is not None else [f"x{i}" for i in range(self.n_features_in_)]
        else:
            names = np.asarray(input_features, dtype=object)
            if known is not None and not np.array_equal(known, names):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(names) != self.n_features_in_:
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(names)}"
                )
        return reduced_names(names, self.groups_)

    def _check_is_fitted(self) -> None:
        check_is_fitted(self, "labels_")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that a target is needed and that the type of X is kept."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
