"""Data: the paper's correlated features, a climate-like field, spectra, and the paper's tables."""

from os import PathLike
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from sklearn.utils import check_random_state

from .theory._arrays import FloatArray

__all__ = [
    "load_climatological",
    "load_financial",
    "load_life_expectancy",
    "make_correlated",
    "make_field",
    "make_spectra",
]


@overload
def make_correlated(
    n_samples: int = ...,
    n_features: int = ...,
    *,
    noise: float = ...,
    coef: Literal[False] = ...,
    random_state: Any = ...,
) -> tuple[FloatArray, FloatArray]: ...
@overload
def make_correlated(
    n_samples: int = ...,
    n_features: int = ...,
    *,
    noise: float = ...,
    coef: Literal[True],
    random_state: Any = ...,
) -> tuple[FloatArray, FloatArray, FloatArray]: ...
def make_correlated(
    n_samples: int = 500,
    n_features: int = 100,
    *,
    noise: float = 10.0,
    coef: bool = False,
    random_state: Any = None,
) -> tuple[FloatArray, FloatArray] | tuple[FloatArray, FloatArray, FloatArray]:
    """Generate the paper's D-dimensional data: a tree of correlated features.

    The first feature is uniform on [0, 1]; each further one is 0.7 times an earlier one, chosen at
    random, plus 0.3 times a new uniform variable. The features are standardised, and the target is
    their sum with weights uniform on [0, 1] plus Gaussian noise.

    Parameters
    ----------
    n_samples : int, default=500
    n_features : int, default=100
    noise : float, default=10.0
        Standard deviation of the noise.
    coef : bool, default=False
        Whether to return the weights too.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    weights : ndarray of shape (n_features,)
        Only where ``coef`` is True.

    Examples
    --------
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=50, n_features=10, random_state=0)
    >>> X.shape, y.shape
    ((50, 10), (50,))
    """
    _check_counts(n_samples=n_samples, n_features=n_features)
    random = check_random_state(random_state)
    X = np.empty((n_samples, n_features), order="F")
    X[:, 0] = random.uniform(size=n_samples)
    for i in range(1, n_features):
        X[:, i] = 0.7 * X[:, random.randint(i)] + 0.3 * random.uniform(size=n_samples)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    weights = random.uniform(size=n_features)
    y = X @ weights + noise * random.normal(size=n_samples)
    return (X, y, weights) if coef else (X, y)


def make_field(
    n_samples: int = 600,
    shape: tuple[int, int] = (40, 60),
    *,
    smoothness: float = 4.0,
    n_areas: int = 4,
    noise: float = 0.5,
    random_state: Any = None,
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_]]:
    """Generate a climate-like field and a target driven by the means of a few areas of it.

    Each sample is a smooth Gaussian random field on a grid, in kelvin: colder and more variable
    towards the first and last rows, the poles. The target adds up the mean anomalies of square
    areas (which may overlap, with sides of twice the smoothness), each scaled to unit variance and
    with a weight of random sign between 0.5 and 1.5, and Gaussian noise.

    Parameters
    ----------
    n_samples : int, default=600
    shape : (int, int), default=(40, 60)
        Rows (latitudes) and columns (longitudes; the field wraps around) of the grid.
    smoothness : float, default=4.0
        Standard deviation of the smoothing kernel, in cells.
    n_areas : int, default=4
        Number of areas that drive the target.
    noise : float, default=0.5
        Standard deviation of the noise over that of the signal.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, rows * columns)
        The field, one cell a column.
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
    random = check_random_state(random_state)
    white = random.normal(size=(n_samples, rows, columns))
    # Smoothing sample by sample (no kernel along the first axis) keeps the samples independent.
    field = ndimage.gaussian_filter(
        white, (0, smoothness, smoothness), mode=["constant", "reflect", "wrap"]
    )
    # Row by row: reflection at the first and last rows makes the field vary more there.
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
    """Generate spectra of mixtures, and the content of one of their components.

    Each component has a spectrum of two to four Gaussian bands, wide compared with the distance of
    two wavelengths. A sample mixes the components, with contents uniform on [0, 1]; its spectrum is
    scaled by 5 % at random (the path of the light) and has a random baseline, a constant and a
    slope. The target is the content of the first component.

    Parameters
    ----------
    n_samples : int, default=40
    n_features : int, default=400
        Number of wavelengths.
    n_components : int, default=6
    noise : float, default=0.002
        Standard deviation of the noise of the spectra, whose bands have heights up to 1.
    target_noise : float, default=0.05
        Standard deviation of the noise of the target over that of the content.
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
    random = check_random_state(random_state)
    wavelength = np.linspace(0, 1, n_features)
    pure = np.zeros((n_components, n_features))
    for spectrum in pure:
        for _ in range(random.randint(2, 5)):
            center, width = random.uniform(), random.uniform(0.02, 0.12)
            band = np.exp(-0.5 * ((wavelength - center) / width) ** 2)
            spectrum += random.uniform(0.3, 1) * band
    contents = random.uniform(size=(n_samples, n_components))
    path, constant, slope = random.normal(size=(3, n_samples, 1))
    X = (1 + 0.05 * path) * (contents @ pure) + 0.1 * (constant + slope * wavelength)
    X += noise * random.normal(size=X.shape)
    y = contents[:, 0]
    return X, y + target_noise * y.std() * random.normal(size=n_samples)


def load_life_expectancy(folder: str | PathLike[str]) -> tuple[Any, Any]:
    """Load the paper's life expectancy data from ``life_expectancy.csv`` in a folder.

    Rows with a missing value are left out, as in the paper.

    Returns
    -------
    X : pandas.DataFrame of shape (1649, 18)
    y : pandas.Series
        Life expectancy in years.
    """
    table = _read(folder, "life_expectancy.csv").dropna()
    return table.iloc[:, 4:], table.iloc[:, 3]


def load_financial(folder: str | PathLike[str]) -> tuple[Any, Any]:
    """Load the paper's fundamentals of companies from ``fundamentals.csv`` in a folder.

    As in the paper, only numbers are kept, without the columns of which more than half is missing
    and then without the rows in which something is.

    Returns
    -------
    X : pandas.DataFrame of shape (1299, 75)
    y : pandas.Series
        The cash ratio.
    """
    table = _read(folder, "fundamentals.csv").select_dtypes("number")
    table = table.drop(columns=table.columns[0])
    table = table.loc[:, table.isna().mean() <= 0.5].dropna()
    return table.drop(columns="Cash Ratio"), table["Cash Ratio"]


def load_climatological(folder: str | PathLike[str]) -> tuple[Any, Any]:
    """Load the paper's first climatological data from ``ndvi_anomalies.csv`` in a folder.

    Returns
    -------
    X : pandas.DataFrame of shape (1038, 136)
        Vegetation indices, temperatures and precipitation of river basins, in the order of time.
    y : pandas.Series
        Anomaly of the vegetation index of the Adda basin.
    """
    table = _read(folder, "ndvi_anomalies.csv")
    return table.iloc[:, 2:], table.iloc[:, 1]


def _read(folder: str | PathLike[str], name: str) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("Loading tables needs pandas: pip install 'lincfa[tables]'.") from error
    return pd.read_csv(Path(folder) / name)


def _check_counts(*, n_samples: int, **counts: int) -> None:
    if n_samples < 2:
        raise ValueError(f"n_samples must be at least 2, got {n_samples}")
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name} must be at least 1, got {count}")
