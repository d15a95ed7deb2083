"""Generated data: the paper's, a climate-like field, and spectra of mixtures."""

import numbers
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from sklearn.utils import check_random_state

from .._model._parameters import is_real
from ..theory._arrays import FloatArray


@overload
def make_correlated(
    n_samples: int = ...,
    n_features: int = ...,
    *,
    noise: float = ...,
    weights: npt.ArrayLike | None = ...,
    tree: npt.ArrayLike | None = ...,
    coef: Literal[False] = ...,
    random_state: Any = ...,
) -> tuple[FloatArray, FloatArray]: ...
@overload
def make_correlated(
    n_samples: int = ...,
    n_features: int = ...,
    *,
    noise: float = ...,
    weights: npt.ArrayLike | None = ...,
    tree: npt.ArrayLike | None = ...,
    coef: Literal[True],
    random_state: Any = ...,
) -> tuple[FloatArray, FloatArray, FloatArray]: ...
def make_correlated(
    n_samples: int = 500,
    n_features: int = 100,
    *,
    noise: float = 10.0,
    weights: npt.ArrayLike | None = None,
    tree: npt.ArrayLike | None = None,
    coef: bool = False,
    random_state: Any = None,
) -> tuple[FloatArray, FloatArray] | tuple[FloatArray, FloatArray, FloatArray]:
    """Generate the paper's D-dimensional data: a tree of correlated features.

    The first feature is uniform on [0, 1]; each further one is 0.7 times a random earlier feature
    plus 0.3 times a new uniform variable. The features are standardised. The target is their sum
    with weights uniform on [0, 1], plus Gaussian noise.

    Parameters
    ----------
    n_samples : int, default=500
    n_features : int, default=100
    noise : float, default=10.0
        Standard deviation of the noise.
    weights : array of shape (n_features,) or None, default=None
        Weights to use instead of random ones.
    tree : array of int, of shape (n_features,), or None, default=None
        The earlier feature from which each feature is made, instead of a random one; the first
        entry is ignored. Passing weights or a tree does not change the other random draws.
    coef : bool, default=False
        Whether to return the weights too.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    weights : ndarray of shape (n_features,)
        Only if ``coef`` is True.

    Examples
    --------
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=50, n_features=10, random_state=0)
    >>> X.shape, y.shape
    ((50, 10), (50,))
    """
    _check_counts(n_samples=n_samples, n_features=n_features)
    _check_noise(noise=noise)
    given = None if weights is None else _checked_numbers("weights", weights, n_features)
    parents = None if tree is None else _checked_tree(tree, n_features)
    random = check_random_state(random_state)
    X = np.empty((n_samples, n_features), order="F")
    X[:, 0] = random.uniform(size=n_samples)
    for i in range(1, n_features):
        drawn = random.randint(i)  # even if unused: a tree must not change later draws
        parent = drawn if parents is None else parents[i]
        # Not 1 − 0.7, which is not 0.3 in floats: the data of a random_state would change.
        X[:, i] = 0.7 * X[:, parent] + 0.3 * random.uniform(size=n_samples)
    X = _standardized(X)
    uniform = random.uniform(size=n_features)
    used = uniform if given is None else given
    y = _target(random, X, used, noise)
    return (X, y, used) if coef else (X, y)


def make_bivariate(
    n_samples: int = 500,
    *,
    weights: npt.ArrayLike = (0.2, 0.8),
    noise: float = 0.5,
    share: float = 0.7,
    random_state: Any = None,
) -> tuple[FloatArray, FloatArray]:
    """Generate the paper's bivariate data: two correlated features.

    The first feature is uniform on [0, 1]; the second is ``share`` times the first plus
    ``1 - share`` times a new uniform variable. Both are standardised. The target is their weighted
    sum plus Gaussian noise.

    The paper's text says a share of 0.8, which gives a correlation of 0.970; its tables use 0.7,
    which gives 0.919.

    Parameters
    ----------
    n_samples : int, default=500
    weights : array of shape (2,), default=(0.2, 0.8)
    noise : float, default=0.5
        Standard deviation of the noise.
    share : float, default=0.7
        Share of the first feature in the second, strictly between 0 and 1.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from lincfa.datasets import make_bivariate
    >>> X, y = make_bivariate(n_samples=100_000, random_state=0)
    >>> print(f"{np.corrcoef(X.T)[0, 1]:.2f}")
    0.92
    """
    _check_counts(n_samples=n_samples)
    _check_noise(noise=noise)
    _check_share(share)
    used = _checked_numbers("weights", weights, 2)
    random = check_random_state(random_state)
    first = random.uniform(size=n_samples)
    X = _standardized(np.column_stack([first, _mixed(random, first, share)]))
    return X, _target(random, X, used, noise)


def make_trivariate(
    n_samples: int = 500,
    *,
    weights: npt.ArrayLike = (0.4, 0.6, 0.2),
    noise: float = 0.5,
    share: float = 0.65,
    third: npt.ArrayLike = (1.0, 0.0, 0.5),
    random_state: Any = None,
) -> tuple[FloatArray, FloatArray]:
    """Generate the paper's three-dimensional data: two correlated features and a third.

    The first feature is uniform on [0, 1]; the second is ``share`` times the first plus
    ``1 - share`` times a new uniform variable; the third is a sum of both and another uniform
    variable. All are standardised. The target is their weighted sum plus Gaussian noise.

    The paper's text says ``(0.5, 0.5, 0.5)`` for the third feature; its tables use ``(1, 0, 0.5)``.

    Parameters
    ----------
    n_samples : int, default=500
    weights : array of shape (3,), default=(0.4, 0.6, 0.2)
    noise : float, default=0.5
        Standard deviation of the noise.
    share : float, default=0.65
        Share of the first feature in the second, strictly between 0 and 1.
    third : array of shape (3,), default=(1.0, 0.0, 0.5)
        Coefficients of the first feature, the second and the new variable in the third, before
        they are standardised.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from lincfa.datasets import make_trivariate
    >>> X, y = make_trivariate(n_samples=100_000, random_state=0)
    >>> print(np.corrcoef(X.T).round(2))
    [[1.   0.88 0.89]
     [0.88 1.   0.79]
     [0.89 0.79 1.  ]]
    """
    _check_counts(n_samples=n_samples)
    _check_noise(noise=noise)
    _check_share(share)
    used = _checked_numbers("weights", weights, 3)
    parts = _checked_numbers("third", third, 3)
    if not parts.any():
        raise ValueError("third must not be all 0: the third feature would be constant")
    random = check_random_state(random_state)
    first = random.uniform(size=n_samples)
    second = _mixed(random, first, share)
    sources = np.column_stack([first, second, random.uniform(size=n_samples)])
    # Standardising removes the scale anyway; removing it first avoids overflow.
    last = sources @ (parts / np.abs(parts).max())
    X = _standardized(np.column_stack([first, second, last]))
    return X, _target(random, X, used, noise)


def make_field(
    n_samples: int = 600,
    shape: tuple[int, int] = (40, 60),
    *,
    smoothness: float = 4.0,
    n_areas: int = 4,
    noise: float = 0.5,
    random_state: Any = None,
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_]]:
    """Generate a climate-like field and a target driven by the means of a few areas.

    Each sample is a smooth Gaussian random field on a grid, in kelvin, colder and more variable
    towards the first and last rows, the poles. The target is a sum of area means plus Gaussian
    noise. The areas are squares (with sides of twice the smoothness, possibly overlapping); their
    means are scaled to unit variance, with weights between 0.5 and 1.5 of random sign.

    Parameters
    ----------
    n_samples : int, default=600
    shape : (int, int), default=(40, 60)
        Rows (latitudes) and columns (longitudes, which wrap) of the grid.
    smoothness : float, default=4.0
        Standard deviation of the smoothing kernel, in cells.
    n_areas : int, default=4
        Number of areas that drive the target.
    noise : float, default=0.5
        Standard deviation of the noise relative to that of the signal.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, rows * columns)
        The field, one column per cell.
    y : ndarray of shape (n_samples,)
    areas : ndarray of bool, of shape (n_areas, rows, columns)
        The cells of each area.

    Examples
    --------
    >>> from lincfa.datasets import make_field
    >>> X, y, areas = make_field(n_samples=50, shape=(10, 15), random_state=0)
    >>> X.shape, y.shape, areas.shape
    ((50, 150), (50,), (4, 10, 15))
    """
    rows, columns = shape
    _check_counts(n_samples=n_samples, rows=rows, columns=columns, n_areas=n_areas)
    _check_noise(noise=noise)
    random = check_random_state(random_state)
    white = random.normal(size=(n_samples, rows, columns))
    # Smoothing sample by sample (no kernel along the first axis) keeps the samples independent.
    field = ndimage.gaussian_filter(
        white, (0, smoothness, smoothness), mode=["constant", "reflect", "wrap"]
    )
    # Row by row, because reflection makes the field vary more at the first and last rows.
    field /= field.std(axis=(0, 2), keepdims=True)

    side = max(2, round(2 * smoothness))
    areas = np.zeros((n_areas, rows, columns), dtype=bool)
    for area in areas:
        top = random.randint(max(1, rows - side + 1))
        left = random.randint(columns)
        area[top : top + side, np.arange(left, left + side) % columns] = True

    poleward = np.abs(np.linspace(-1, 1, rows))[:, None]
    kelvin = (300 - 45 * poleward**2 + (1 + 3 * poleward) * field).reshape(n_samples, -1)
    series = np.stack([kelvin[:, area.ravel()].mean(axis=1) for area in areas], axis=1)
    series = (series - series.mean(axis=0)) / series.std(axis=0)
    weights = random.uniform(0.5, 1.5, size=n_areas) * random.choice([-1.0, 1.0], size=n_areas)
    signal = series @ weights
    y = signal + noise * signal.std() * random.normal(size=n_samples)
    return kelvin, y, areas


def make_spectra(
    n_samples: int = 40,
    n_features: int = 400,
    *,
    n_components: int = 6,
    noise: float = 0.002,
    target_noise: float = 0.05,
    random_state: Any = None,
) -> tuple[FloatArray, FloatArray]:
    """Generate spectra of mixtures, and the concentration of one component.

    The spectrum of each component has two to four Gaussian bands, wide compared with the spacing of
    the wavelengths. A sample mixes the components, with concentrations uniform on [0, 1]; its
    spectrum has a random scale of about 5 % (path length) and a random linear baseline. The target
    is the concentration of the first component.

    Parameters
    ----------
    n_samples : int, default=40
    n_features : int, default=400
        Number of wavelengths.
    n_components : int, default=6
    noise : float, default=0.002
        Standard deviation of the noise in the spectra, whose bands have heights up to 1.
    target_noise : float, default=0.05
        Standard deviation of the noise in the target relative to that of the concentration.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from lincfa.datasets import make_spectra
    >>> X, y = make_spectra(random_state=0)
    >>> X.shape, y.shape
    ((40, 400), (40,))
    """
    _check_counts(n_samples=n_samples, n_features=n_features, n_components=n_components)
    _check_noise(noise=noise, target_noise=target_noise)
    random = check_random_state(random_state)
    wavelength = np.linspace(0, 1, n_features)
    pure = np.zeros((n_components, n_features))
    for spectrum in pure:
        for _ in range(random.randint(2, 5)):
            center, width = random.uniform(), random.uniform(0.02, 0.12)
            band = np.exp(-0.5 * ((wavelength - center) / width) ** 2)
            spectrum += random.uniform(0.3, 1) * band
    concentrations = random.uniform(size=(n_samples, n_components))
    path, constant, slope = random.normal(size=(3, n_samples, 1))
    X = (1 + 0.05 * path) * (concentrations @ pure) + 0.1 * (constant + slope * wavelength)
    X += noise * random.normal(size=X.shape)
    y = concentrations[:, 0]
    return X, y + target_noise * y.std() * random.normal(size=n_samples)


def _mixed(random: np.random.RandomState, feature: FloatArray, share: float) -> FloatArray:
    return np.asarray(share * feature + (1 - share) * random.uniform(size=len(feature)))


def _standardized(X: FloatArray) -> FloatArray:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0, ddof=1))


def _target(
    random: np.random.RandomState, X: FloatArray, weights: FloatArray, noise: float
) -> FloatArray:
    return np.asarray(X @ weights + noise * random.normal(size=len(X)))


def _check_counts(*, n_samples: int, **counts: int) -> None:
    """Raise unless there are at least 2 samples and 1 of everything else."""
    for name, count in {"n_samples": n_samples, **counts}.items():
        least = 2 if name == "n_samples" else 1
        if not isinstance(count, numbers.Integral) or isinstance(count, bool):
            raise ValueError(f"{name} must be an integer, got {count!r}")
        if count < least:
            raise ValueError(f"{name} must be at least {least}, got {count}")


def _check_noise(**noises: float) -> None:
    """Raise if a standard deviation is negative or not finite."""
    for name, noise in noises.items():
        if not is_real(noise) or not 0 <= noise < np.inf:
            raise ValueError(f"{name} must be finite and not negative, got {noise!r}")


def _check_share(share: float) -> None:
    if not is_real(share) or not 0 < share < 1:
        raise ValueError(f"share must be strictly between 0 and 1, got {share!r}")


def _checked_numbers(name: str, values: Any, count: int) -> FloatArray:
    try:
        floats = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {count} numbers, got {values!r}") from None
    if floats.shape != (count,):
        raise ValueError(f"{name} must be {count} numbers, got an array of shape {floats.shape}")
    if not np.isfinite(floats).all():
        raise ValueError(f"{name} must be finite, got {floats[~np.isfinite(floats)][0]}")
    return floats


def _checked_tree(tree: Any, n_features: int) -> npt.NDArray[np.integer]:
    parents = np.asarray(tree)
    if parents.shape != (n_features,) or not np.issubdtype(parents.dtype, np.integer):
        raise ValueError(
            f"tree must be {n_features} integers, got an array of shape {parents.shape} and type "
            f"{parents.dtype}"
        )
    for feature, parent in enumerate(parents[1:].tolist(), start=1):
        if not 0 <= parent < feature:
            raise ValueError(
                f"tree must make each feature from an earlier one, got tree[{feature}] = {parent}"
            )
    return parents
