"""The paper's real data with its own split: Table realRes, the row of LinCFA.

Groups and R² come from the paper (14, 12, 38; 0.835, 0.885) and, for Climatological I, from the
disjoint groups of the text, which give 0.620 where the overlapping pseudo-code gives 0.604.
"""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from lincfa import LinCFA
from lincfa.datasets import load_climatological, load_financial, load_life_expectancy
from pseudocode import lincfa


def split(load, load_or_skip):
    X, y = load_or_skip(load)
    shuffle = load is not load_climatological  # the climatological data keep the order of time
    return train_test_split(
        X, y, test_size=0.33, shuffle=shuffle, random_state=42 if shuffle else None
    )


@pytest.mark.parametrize(
    ("load", "shape", "n_groups", "r2"),
    [
        (load_life_expectancy, (1649, 18), 14, 0.835),
        (load_financial, (1299, 75), 12, 0.885),
        (load_climatological, (1038, 136), 38, 0.620),
    ],
)
def test_table_of_real_data(load_or_skip, load, shape, n_groups, r2):
    X, X_test, y, y_test = split(load, load_or_skip)
    assert (len(X) + len(X_test), X.shape[1]) == shape
    model = LinCFA().fit(X, y)
    assert model.n_groups_ == n_groups
    regression = LinearRegression().fit(model.transform(X), y)
    assert regression.score(model.transform(X_test), y_test) == pytest.approx(r2, abs=0.001)


@pytest.mark.parametrize("load", [load_life_expectancy, load_financial, load_climatological])
def test_groups_on_real_data_are_those_of_the_pseudocode(load_or_skip, load):
    X, _, y, _ = split(load, load_or_skip)
    expected = lincfa(X.to_numpy(), y.to_numpy())
    assert [group.tolist() for group in LinCFA().fit(X, y).groups_] == expected


def test_overlapping_groups_give_the_papers_climatological_score(load_or_skip):
    """0.604 in the paper is the pseudo-code as printed, with features in several groups."""
    X, X_test, y, y_test = split(load_climatological, load_or_skip)
    groups = lincfa(X.to_numpy(), y.to_numpy(), overlapping=True)
    mean, scale = X.mean(), X.std()
    means = [
        np.column_stack([((part - mean) / scale).iloc[:, group].mean(axis=1) for group in groups])
        for part in (X, X_test)
    ]
    assert len(groups) == 38
    score = LinearRegression().fit(means[0], y).score(means[1], y_test)
    assert score == pytest.approx(0.604, abs=0.001)
