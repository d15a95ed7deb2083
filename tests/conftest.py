"""Data that several test files share."""

import os
from pathlib import Path

import numpy as np
import pytest

from lincfa import LinCFACV
from lincfa.datasets import make_correlated
from reference import QUICK

SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


@pytest.fixture
def data(rng):
    """A hundred samples of twelve features around three factors, and a target."""
    factors = rng.normal(size=(100, 3))
    X = np.repeat(factors, 4, axis=1) + 0.2 * rng.normal(size=(100, 12))
    y = factors @ [1.0, -2.0, 0.5] + rng.normal(size=100)
    return X, y


@pytest.fixture(scope="module")
def tree():
    """The paper's data: the default limit of LinCFACV leaves out some combinations."""
    return make_correlated(n_samples=50, n_features=20, noise=2.0, random_state=3)


@pytest.fixture(scope="module")
def fitted(tree):
    return LinCFACV(**QUICK).fit(*tree)


@pytest.fixture(scope="session")
def data_folder():
    """The folder of the paper's data: the variable LINCFA_DATA, or ../shared/data."""
    folder = Path(os.environ.get("LINCFA_DATA", SHARED))
    if not folder.is_dir():
        pytest.skip(f"the paper's data are not at {folder}; set LINCFA_DATA to their folder")
    return folder
