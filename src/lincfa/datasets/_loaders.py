"""The paper's tables, read from files."""

from os import PathLike
from pathlib import Path
from typing import Any


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
