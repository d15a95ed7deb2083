"""Data given to a report besides the model, which keeps none."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length

from ..._data._input import check_finite, real_numbers, validate_new
from ..._data._weights import validate_weights
from ...theory._arrays import FloatArray

_FEWEST = 2
_SAME_MEAN = 1e-6
"""Of a feature's scale: by how much the mean of the same data may differ."""


@dataclass(frozen=True)
class Samples:
    """Samples of the model's features, and their target."""

    X: npt.NDArray[Any]
    y: FloatArray
    weights: FloatArray | None = None

    @classmethod
    def of_fit(cls, model: Any, X: Any, y: Any, sample_weight: Any = None) -> "Samples | None":
        """Check the data of the fit; None where they are not given."""
        samples = cls._of(model, X, y, ("X", "y"), sample_weight)
        if samples is not None:
            _check_same(model, samples)
        return samples

    @classmethod
    def of_test(cls, model: Any, X: Any, y: Any) -> "Samples | None":
        """Check samples to score on; None where there are none."""
        return cls._of(model, X, y, ("X_test", "y_test"))

    @classmethod
    def _of(
        cls, model: Any, X: Any, y: Any, names: tuple[str, str], sample_weight: Any = None
    ) -> "Samples | None":
        if X is None and y is None:
            return None
        if X is None or y is None:
            given, lacking = names if y is None else names[::-1]
            raise ValueError(f"{given} is given without {lacking}; both are needed, or none.")
        with model._known(X, y, sample_weight) as (table, y, sample_weight):
            values, columns = validate_new(model, table)
            check_finite(values, columns)
        target = np.ravel(real_numbers(y, names[1]))
        check_consistent_length(values, target)
        if not np.isfinite(target).all():
            raise ValueError(f"{names[1]} holds NaN or infinity.")
        if len(target) < _FEWEST or np.ptp(target) == 0:
            raise ValueError(f"{names[1]} needs at least {_FEWEST} different values.")
        return cls(values, target, validate_weights(sample_weight, len(target)))

    def standardized(self, model: Any) -> npt.NDArray[Any]:
        """Give all features in the units of the fit: a copy."""
        scaled = self.X - model.mean_.astype(self.X.dtype)
        scaled /= model.scale_.astype(self.X.dtype)
        return np.asarray(scaled)


def _check_same(model: Any, samples: Samples) -> None:
    """Refuse data that the model was not fitted to: scores on others might be scores on these."""
    weights = samples.weights
    count = len(samples.y) if weights is None else float(weights.sum())
    known = model.n_samples_
    if abs(count - known) > _SAME_MEAN * known:
        raise ValueError(
            f"X has {count:g} samples, but the model was fitted to {known:g}; X and y are the data "
            "of the fit, with sample_weight if it had one."
        )
    if weights is None:
        mean = samples.X.mean(axis=0, dtype=np.float64)
    else:
        mean = weights @ samples.X / count
    apart = np.abs(mean - model.mean_) > _SAME_MEAN * (model.scale_ + np.abs(model.mean_))
    if apart.any():
        name = model._names()[int(np.flatnonzero(apart)[0])]
        raise ValueError(
            f"X is not the data of the fit: the mean of column {str(name)!r} is another. Give "
            "those as X and y, and other samples as X_test and y_test."
        )
