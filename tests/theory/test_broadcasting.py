"""Every elementwise function gives the same on scalars, lists and arrays that broadcast."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lincfa import theory

# Arguments by name; the ranges keep every function inside its domain.
RANGES = {
    "n": (5, 300),
    "k": (2, 9),
    "delta": (0.01, 1),
    "alpha": (0.01, 0.99),
    "tolerance": (0.2, 5),
    "below_one": (0.1, 1.9),
    "above_minus_one": (0.1, 1.9),
    "share_difference": (0, 0.4),
    "rho": (0.2, 0.8),
    "rho_hat": (0.2, 0.8),
    "rho12": (0.2, 0.8),
    "cov": (0.1, 0.4),
    "cov_hat": (0.1, 0.4),
}
POSITIVE = (0.5, 2.0)  # variances and the rest
MATRIX = {
    "delta_bias_d",
    "estimator_covariance",
    "estimator_expectation",
    "f_several_targets",
    "interval_d",
    "model_bias",
    "model_variance",
}
ELEMENTWISE = sorted(set(theory.__all__) - MATRIX)


def draw(rng, name, shape):
    if name.startswith("w") or name in ("difference", "total", "r1", "r2", "rho13", "rho23"):
        return rng.uniform(-0.6, 0.6, size=shape)
    low, high = RANGES.get(name, POSITIVE)
    values = rng.uniform(low, high, size=shape)
    return values.round() if name in ("n", "k") else values


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_scalars_and_arrays_give_the_same_and_stay_unchanged(rng, name):
    function = getattr(theory, name)
    names = list(inspect.signature(function).parameters)
    shapes = [(3, 1) if k % 2 else (1, 4) for k in range(len(names))]
    arguments = [draw(rng, a, shape) for a, shape in zip(names, shapes, strict=True)]
    results = as_tuple(function(*arguments))
    listed = as_tuple(function(*(argument.tolist() for argument in arguments)))
    for whole, other in zip(results, listed, strict=True):
        assert_array_equal(whole, other)
    full = np.broadcast_arrays(*arguments)
    shape = full[0].shape
    # A share uses two of the four arguments, so it may be smaller; matrices add two axes.
    results = [np.broadcast_to(whole, shape + whole.shape[2:]) for whole in results]
    for index in np.ndindex(shape):
        scalars = [float(argument[index]) for argument in full]
        alone = as_tuple(function(*scalars))
        for whole, one in zip(results, alone, strict=True):
            assert whole.dtype == one.dtype == np.float64
            assert_allclose(one, whole[index], rtol=1e-12)
    arguments = [draw(rng, a, (3,)) for a in names]
    copies = [argument.copy() for argument in arguments]
    function(*arguments)
    for argument, copy in zip(arguments, copies, strict=True):
        assert_array_equal(argument, copy)


def test_integers_are_taken_as_numbers():
    # Whole numbers must not lead to integer arithmetic.
    assert theory.threshold_asymptotic(500, 0, 1, 1) == theory.threshold_asymptotic(
        500.0, 0.0, 1.0, 1.0
    )
    assert theory.variance_of_mean(np.array([2, 4]), 0).tolist() == [0.5, 0.25]
