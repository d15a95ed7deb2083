"""The paper's tables, read from files that the user has put in a folder; nothing is downloaded."""

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
    """A file: its name here, where it is to be had, and the SHA-256 of the known one."""

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
    f"{AUTHORS} (there dataset/NDVI_anomalies.csv)",
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

    Rows with a missing value are left out, as in the paper. The file comes from Kaggle,
    ``kumarajarshi/life-expectancy-who``.

    Parameters
    ----------
    folder : path or None, default=None
        Where the file is. None: in the folder that the environment variable ``LINCFA_DATA`` names,
        and nowhere else. Where that is not set or empty: in ``../shared/data`` next to the source
        checkout this library runs from, or next to the current directory.
    verify : bool, default=True
        Whether to refuse a file of which the SHA-256 is not the known one.

    Returns
    -------
    X : pandas.DataFrame of shape (1649, 18)
    y : pandas.Series
        Life expectancy in years.
    """
    path, table = _read(LIFE_EXPECTANCY, folder, verify)
    return _after(path, table.dropna(), "Life expectancy ")


def load_financial(
    folder: str | PathLike[str] | None = None, *, verify: bool = True
) -> tuple[Any, Any]:
    """Load the paper's fundamentals of companies from ``fundamentals.csv``.

    As in the paper, only numbers are kept, without the columns of which more than half is missing
    and then without the rows in which something is. The file comes from Kaggle, ``dgawlik/nyse``.

    Parameters
    ----------
    folder : path or None, default=None
        Where the file is; None as in ``load_life_expectancy``.
    verify : bool, default=True
        Whether to refuse a file of which the SHA-256 is not the known one.

    Returns
    -------
    X : pandas.DataFrame of shape (1299, 75)
    y : pandas.Series
        The cash ratio.
    """
    path, table = _read(FINANCIAL, folder, verify)
    table = table.iloc[:, 1:].select_dtypes("number")  # the first column counts the rows
    table = table.loc[:, table.isna().mean() <= 0.5].dropna()
    _check_target(path, table, "Cash Ratio")
    return table.drop(columns="Cash Ratio"), table["Cash Ratio"]


def load_climatological(
    folder: str | PathLike[str] | None = None, *, verify: bool = True
) -> tuple[Any, Any]:
    """Load the paper's first climatological data from ``ndvi_anomalies.csv``.

    The file comes from the repository of the paper's authors,
    https://github.com/PaoloBonettiPolimi/PaperLinCFA, where it is ``dataset/NDVI_anomalies.csv``.

    Parameters
    ----------
    folder : path or None, default=None
        Where the file is; None as in ``load_life_expectancy``.
    verify : bool, default=True
        Whether to refuse a file of which the SHA-256 is not the known one.

    Returns
    -------
    X : pandas.DataFrame of shape (1038, 136)
        Vegetation indices, temperatures and precipitation of river basins, in the order of time.
    y : pandas.Series
        Anomaly of the vegetation index of the Adda basin.
    """
    path, table = _read(CLIMATOLOGICAL, folder, verify)
    return _after(path, table, "anomalia_adda")


def load_climatological_ii(
    folder: str | PathLike[str] | None = None, *, verify: bool = True
) -> tuple[Any, Any]:
    """Load the paper's second climatological data from ``climatological_ii.csv``.

    This loader was never run on the real file, of which no public copy is known: there is no
    checksum to compare, only the shape that the paper states. The columns are taken to be those of
    the first data: an index, the target, and the features.

    Parameters
    ----------
    folder : path or None, default=None
        Where the file is; None as in ``load_life_expectancy``.
    verify : bool, default=True
        Whether to refuse a table of another shape.

    Returns
    -------
    X : pandas.DataFrame of shape (981, 1991)
    y : pandas.Series
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
            "checked, no checksum is known). verify=False reads it anyhow."
        )
    return X, y


def _read(source: _Source, folder: str | PathLike[str] | None, verify: bool) -> tuple[Path, Any]:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("Loading tables needs pandas: pip install 'lincfa[tables]'.") from error
    path = _find(source, folder)
    if verify and source.digest is not None:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != source.digest:
            raise ValueError(
                f"{path} is not the known file: its SHA-256 is {found}, expected {source.digest}. "
                "verify=False reads it anyhow."
            )
    return path, pd.read_csv(path)


def _find(source: _Source, folder: str | PathLike[str] | None) -> Path:
    tried = [place / source.name for place in _places(folder)]
    for path in tried:
        if path.is_file():
            return path
    raise FileNotFoundError(
        f"There is no {source.name}; tried {', '.join(map(str, tried))}. Get it from "
        f"{source.origin}, put it there under this name, or say where it is: the argument folder, "
        f"or the environment variable {VARIABLE}."
    )


def _places(folder: str | PathLike[str] | None) -> list[Path]:
    """Folders to look in; what the user has named is the only one."""
    if folder is not None:
        return [Path(folder)]
    if named := os.environ.get(VARIABLE):
        return [Path(named)]
    return list(dict.fromkeys(root.parent / "shared" / "data" for root in _roots()))


def _roots() -> list[Path]:
    """The source checkout that this file is part of, if it is, and the current directory."""
    root = Path(__file__).resolve().parent.parent.parent.parent
    checkout = [root] if (root / "pyproject.toml").is_file() else []
    return [*checkout, Path.cwd()]


def _check_target(path: Path, table: Any, target: str) -> None:
    if target not in table.select_dtypes("number"):
        raise ValueError(f"{path} has no column {target!r} of numbers, the target")


def _after(path: Path, table: Any, target: str) -> tuple[Any, Any]:
    """The columns after the target, and the target."""
    _check_target(path, table, target)
    position = table.columns.get_loc(target)
    return table.iloc[:, position + 1 :], table.iloc[:, position]
