"""Data from two applications: a climate-like field, and spectra of mixtures."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from sklearn.utils import check_random_state

from ..theory._arrays import FloatArray
from ._paper import check_counts, check_noise


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
    check_counts(n_samples=n_samples, rows=rows, columns=columns, n_areas=n_areas)
    check_noise(noise=noise)
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
    check_counts(n_samples=n_samples, n_features=n_features, n_components=n_components)
    check_noise(noise=noise, target_noise=target_noise)
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
