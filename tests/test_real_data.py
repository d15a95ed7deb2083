"""The paper's real data with its own split: Table realRes, the row of LinCFA.

Groups and R² come from the paper (14, 12, 38; 0.835, 0.885) and, for Climatological I, from the
disjoint groups of the text, which give 0.620 where the overlapping pseudo-code gives 0.604.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from lincfa import LinCFA
from pseudocode import lincfa


def life(folder):
    table = pd.read_csv(folder / "life_expectancy.csv").dropna()
    return table.iloc[:, 4:], table.iloc[:, 3], True


def financial(folder):
    table = pd.read_csv(folder / "fundamentals.csv").select_dtypes("number")
    table = table.drop(columns=table.columns[0])
    table = table.loc[:, table.isna().mean() <= 0.5].dropna()
    return table.drop(columns="Cash Ratio"), table["Cash Ratio"], True


def climatological(folder):
    table = pd.read_csv(folder / "ndvi_anomalies.csv")
    return table.iloc[:, 2:], table.iloc[:, 1], False


def split(load, folder):
    X, y, shuffle = load(folder)
    return train_test_split(
        X, y, test_size=0.33, shuffle=shuffle, random_state=42 if shuffle else None
    )


@pytest.mark.parametrize(
    ("load", "shape", "n_groups", "r2"),
    [
        (life, (1649, 18), 14, 0.835),
        (financial, (1299, 75), 12, 0.885),
        (climatological, (1038, 136), 38, 0.620),
    ],
)
def test_table_of_real_data(data_folder, load, shape, n_groups, r2):
    X, X_test, y, y_test = split(load, data_folder)
    assert (len(X) + len(X_test), X.shape[1]) == shape
    model = LinCFA().fit(X, y)
    assert model.n_groups_ == n_groups
    regression = LinearRegression().fit(model.transform(X), y)
    assert regression.score(model.transform(X_test), y_test) == pytest.approx(r2, abs=0.001)


@pytest.mark.parametrize("load", [life, financial, climatological])
def test_groups_on_real_data_are_those_of_the_pseudocode(data_folder, load):
    X, _, y, _ = split(load, data_folder)
    expected = lincfa(X.to_numpy(), y.to_numpy())
    assert [group.tolist() for group in LinCFA().fit(X, y).groups_] == expected


def test_overlapping_groups_give_the_papers_climatological_score(data_folder):
    """0.604 in the paper is the pseudo-code as printed, with features in several groups."""
    X, X_test, y, y_test = split(climatological, data_folder)
    groups = lincfa(X.to_numpy(), y.to_numpy(), overlapping=True)
    mean, scale = X.mean(), X.std()
    means = [
        np.column_stack([((part - mean) / scale).iloc[:, group].mean(axis=1) for group in groups])
        for part in (X, X_test)
    ]
    assert len(groups) == 38
    score = LinearRegression().fit(means[0], y).score(means[1], y_test)
    assert score == pytest.approx(0.604, abs=0.001)
