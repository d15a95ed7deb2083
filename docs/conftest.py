"""The examples of the pages write their files into a folder of their own."""

import pytest


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
