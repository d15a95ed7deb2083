"""The paper's tables, read from files in a folder of the user; nothing is downloaded."""

import hashlib
import os
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

VARIABLE = "LINCFA_DATA"
AUTHORS = "https://github.com/PaoloBonettiPolimi/PaperLinCFA"


@dataclass(frozen=True)
class _Source:
    """A file: its name, where to get it, and its SHA-256."""

    name: str
    origin: str
    digest: str | None = None


LIFE_EXPECTANCY = _Source(
    "life_expectancy.csv",
    "https://www.kaggle.com/datasets/kumarajarshi/life-expectancy-who",
    "872125dd1dd0f9140fbead61df20585a815f5cf47db68f08bf54efaf87963b11",
)
FINANCIAL = _Source(
    "fundamentals.csv",
    "https://www.kaggle.com/datasets/dgawlik/nyse",
    "b6a663d34ce41fcfc4de7ccf327783ed1cd3a28d147b9677531e70e7eef0fcf2",
)
CLIMATOLOGICAL = _Source(
    "ndvi_anomalies.csv",
    f"{AUTHORS} (dataset/NDVI_anomalies.csv)",
    "0f230150990c5a2e83901fb27be876866b43b9f9a174c15d73235fd853b4dab6",
)
CLIMATOLOGICAL_II = _Source(
    "climatological_ii.csv",
    f"the paper's authors (no public copy is known; their repository is {AUTHORS})",
)


def load_life_expectancy(
    folder: str | PathLike[str] | None = None, *, verify: bool = True
) -> tuple[Any, Any]:
    """Load the paper's life expectancy data from ``life_expectancy.csv``.

    Rows with missing values are dropped, as in the paper. The file is from Kaggle,
    ``kumarajarshi/life-expectancy-who``.

    Parameters
    ----------
    folder : path or None, default=None
        Folder with the file. None: the folder in the environment variable ``LINCFA_DATA``, and
        nowhere else. If that is unset or empty: ``../shared/data`` next to the source checkout that
        this library runs from, or next to the current directory.
    verify : bool, default=True
        Whether to raise an error if the SHA-256 of the file differs.

    Returns
    -------
    X : pandas.DataFrame of shape (1649, 18)
    y : pandas.Series
        Life expectancy in years.

    Examples
    --------
    >>> from lincfa.datasets import load_life_expectancy
    >>> X, y = load_life_expectancy("folder/with/the/file")  # doctest: +SKIP
    """
    path, table = _read(LIFE_EXPECTANCY, folder, verify)
    return _after(path, table.dropna(), "Life expectancy ")


def load_financial(
    folder: str | PathLike[str] | None = None, *, verify: bool = True
) -> tuple[Any, Any]:
    """Load the paper's company fundamentals from ``fundamentals.csv``.

    As in the paper, only numeric columns are kept; columns with more than half of the values
    missing are dropped, then rows with missing values. The file is from Kaggle, ``dgawlik/nyse``.

    Parameters
    ----------
    folder : path or None, default=None
        Folder with the file; None as in ``load_life_expectancy``.
    verify : bool, default=True
        Whether to raise an error if the SHA-256 of the file differs.

    Returns
    -------
    X : pandas.DataFrame of shape (1299, 75)
    y : pandas.Series
        The cash ratio.

    Examples
    --------
    >>> from lincfa.datasets import load_financial
    >>> X, y = load_financial("folder/with/the/file")  # doctest: +SKIP
    """
    path, table = _read(FINANCIAL, folder, verify)
    table = table.iloc[:, 1:].select_dtypes("number")  # the first column numbers the rows
    table = table.loc[:, table.isna().mean() <= 0.5].dropna()
    _check_target(path, table, "Cash Ratio")
    return table.drop(columns="Cash Ratio"), table["Cash Ratio"]


def load_climatological(
    folder: str | PathLike[str] | None = None, *, verify: bool = True
) -> tuple[Any, Any]:
    """Load the paper's first climatological data from ``ndvi_anomalies.csv``.

    The file is ``dataset/NDVI_anomalies.csv`` in the repository of the paper's authors,
    https://github.com/PaoloBonettiPolimi/PaperLinCFA.

    Parameters
    ----------
    folder : path or None, default=None
        Folder with the file; None as in ``load_life_expectancy``.
    verify : bool, default=True
        Whether to raise an error if the SHA-256 of the file differs.

    Returns
    -------
    X : pandas.DataFrame of shape (1038, 136)
        Vegetation indices, temperatures and precipitation of river basins, in time order.
    y : pandas.Series
        Anomaly of the vegetation index of the Adda basin.

    Examples
    --------
    >>> from lincfa.datasets import load_climatological
    >>> X, y = load_climatological("folder/with/the/file")  # doctest: +SKIP
    """
    path, table = _read(CLIMATOLOGICAL, folder, verify)
    return _after(path, table, "anomalia_adda")


def load_climatological_ii(
    folder: str | PathLike[str] | None = None, *, verify: bool = True
) -> tuple[Any, Any]:
    """Load the paper's second climatological data from ``climatological_ii.csv``.

    This loader was never run on the real file, of which no public copy is known: there is no
    checksum, only the shape stated in the paper. The columns are assumed to be like those of the
    first data: an index, the target and the features.

    Parameters
    ----------
    folder : path or None, default=None
        Folder with the file; None as in ``load_life_expectancy``.
    verify : bool, default=True
        Whether to raise an error if the table has another shape.

    Returns
    -------
    X : pandas.DataFrame of shape (981, 1991)
    y : pandas.Series

    Examples
    --------
    >>> from lincfa.datasets import load_climatological_ii
    >>> X, y = load_climatological_ii("folder/with/the/file")  # doctest: +SKIP
    """
    path, table = _read(CLIMATOLOGICAL_II, folder, verify)
    if table.shape[1] < 3:
        raise ValueError(
            f"{path} must have an index column, the target and features, "
            f"got {table.shape[1]} columns"
        )
    X, y = table.iloc[:, 2:], table.iloc[:, 1]
    if verify and X.shape != (981, 1991):
        raise ValueError(
            f"{path} is not the paper's table: without its first two columns, an index and the "
            f"target, it must be 981 × 1991, got {X.shape[0]} × {X.shape[1]} (only the shape is "
            "checked, no checksum is known). verify=False reads it anyway."
        )
    return X, y


def _read(source: _Source, folder: str | PathLike[str] | None, verify: bool) -> tuple[Path, Any]:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("Loading tables needs pandas: pip install 'lincfa[tables]'.") from error
    path = _path_of(source, folder)
    if verify and source.digest is not None:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != source.digest:
            raise ValueError(
                f"{path} is not the expected file: its SHA-256 is {found}, expected "
                f"{source.digest}. verify=False reads it anyway."
            )
    return path, pd.read_csv(path)


def _path_of(source: _Source, folder: str | PathLike[str] | None) -> Path:
    tried = [place / source.name for place in _places(folder)]
    for path in tried:
        if path.is_file():
            return path
    raise FileNotFoundError(
        f"There is no {source.name}; tried {', '.join(map(str, tried))}. Get it from "
        f"{source.origin} and save it there under this name, or set the argument folder or the "
        f"environment variable {VARIABLE}."
    )


def _places(folder: str | PathLike[str] | None) -> list[Path]:
    """Return the folders to search; a folder named by the user is the only one."""
    if folder is not None:
        return [Path(folder)]
    if named := os.environ.get(VARIABLE):
        return [Path(named)]
    # Next to the source checkout that contains this file, if any, and to the current directory.
    root = Path(__file__).resolve().parents[3]
    checkout = [root] if (root / "pyproject.toml").is_file() else []
    places = (one.parent / "shared" / "data" for one in (*checkout, Path.cwd()))
    return list(dict.fromkeys(places))


def _check_target(path: Path, table: Any, target: str) -> None:
    if target not in table.select_dtypes("number"):
        raise ValueError(f"{path} has no numeric column {target!r}, the target")


def _after(path: Path, table: Any, target: str) -> tuple[Any, Any]:
    """Return the columns after the target, and the target."""
    _check_target(path, table, target)
    position = table.columns.get_loc(target)
    return table.iloc[:, position + 1 :], table.iloc[:, position]
