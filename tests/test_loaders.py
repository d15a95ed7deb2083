"""What the loaders say when something is missing."""

import sys

import pytest

from lincfa.datasets import load_climatological, load_financial, load_life_expectancy

LOADERS = [load_climatological, load_financial, load_life_expectancy]


@pytest.mark.parametrize("load", LOADERS)
def test_loaders_without_pandas(monkeypatch, load, tmp_path):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs pandas: pip install 'lincfa\[tables\]'"):
        load(tmp_path)


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["str", "Path"])
def test_loaders_name_a_missing_file(load, kind, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"\.csv"):
        load(kind(tmp_path))
