"""Data given to a report besides the model, which keeps none."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length

from .._input import check_finite, real_numbers, validate_new
from ..theory._arrays import FloatArray

_FEWEST = 2


@dataclass(frozen=True)
class Samples:
    """Samples of the model's features, and their target."""

    X: npt.NDArray[Any]
    y: FloatArray

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, what: str) -> "Samples | None":
        """Check samples for a fitted model; None where there are none.

        ``what`` is how the two are called in messages: ``"X_test", "y_test"``.
        """
        if X is None and y is None:
            return None
        names = ("X", "y") if what == "training" else ("X_test", "y_test")
        if X is None or y is None:
            given, lacking = names if y is None else names[::-1]
            raise ValueError(f"{given} is given without {lacking}; a report needs both or none.")
        values, columns = validate_new(model, X)
        check_finite(values, columns)
        target = np.ravel(real_numbers(y, names[1]))
        check_consistent_length(values, target)
        if not np.isfinite(target).all():
            raise ValueError(f"{names[1]} holds NaN or infinity.")
        if len(target) < _FEWEST or np.ptp(target) == 0:
            raise ValueError(f"{names[1]} needs at least {_FEWEST} different values to score.")
        return cls(values, target)

    def standardized(self, model: Any) -> npt.NDArray[Any]:
        """Give all features in the units of the fit: a copy."""
        scaled = self.X - model.mean_.astype(self.X.dtype)
        scaled /= model.scale_.astype(self.X.dtype)
        return np.asarray(scaled)
