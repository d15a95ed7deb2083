"""What is known of single features from the start, whatever the source of the statistics."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..theory._arrays import FloatArray
from ._pairs import rounding_of_sums
from ._standardize import is_constant


@dataclass(frozen=True)
class Features:
    """Moments of single features.

    Attributes
    ----------
    mean, scale : array of shape (D,)
        Means and standard deviations (n − 1); the scale of a constant feature is 1.
    varying : array of shape (D,)
        Which features are not constant.
    target_correlation : array of shape (D,)
        Correlation with the target; 0 for a constant feature.
    target_scale : float
        Standard deviation of the target.
    rounding : array of shape (D,)
        Size below which a value of each feature, standardised, is rounding of the data.
    """

    mean: FloatArray
    scale: FloatArray
    varying: npt.NDArray[np.bool_]
    target_correlation: FloatArray
    target_scale: float
    rounding: FloatArray


def varying_columns(
    mean: FloatArray, low: FloatArray, high: FloatArray, precision: FloatArray
) -> npt.NDArray[np.bool_]:
    """Which columns differ by more than their rounding."""
    return ~is_constant(np.maximum(high - mean, mean - low), mean, precision)


def features_from_sums(
    n_samples: float,
    mean: FloatArray,
    squares: FloatArray,
    products: FloatArray,
    varying: npt.NDArray[np.bool_],
    precision: FloatArray,
) -> Features:
    """Derive what is known of features from sums over the samples; the target is the last column.

    ``squares`` are of the distances to the mean, ``products`` with those of the target.
    """
    degrees = n_samples - 1
    scale = np.sqrt(np.where(varying, squares / degrees, 1.0))
    correlation = np.where(varying, products / (degrees * scale[-1] * scale), 0.0)
    return Features(
        mean=mean[:-1],
        scale=scale[:-1],
        varying=varying[:-1],
        target_correlation=correlation[:-1],
        target_scale=float(scale[-1]),
        rounding=rounding_of_sums(precision[:-1], mean[:-1], scale[:-1]),
    )
