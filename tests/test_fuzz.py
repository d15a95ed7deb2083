"""Cases that once failed, which ``python -m fuzz`` saved, and the campaigns themselves."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fuzz.__main__ import CAMPAIGNS
from fuzz.case import Case
from fuzz.run import campaign, drawn, keep
from lincfa import _lincfa
from lincfa._rule import Rule

SAVED = sorted((Path(__file__).parent / "data" / "cases").glob("*.npz"))


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_a_case_that_once_failed_passes(path):
    case = Case.load(path)
    for package in getattr(campaign(case.campaign), "NEEDS", ()):
        pytest.importorskip(package)
    campaign(case.campaign).check(case)


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_case_is_drawn_again_and_read_back_as_it_was(name, tmp_path):
    for package in getattr(campaign(name), "NEEDS", ()):
        pytest.importorskip(package)
    kept = Case.load(keep(tmp_path, name, seed=1, job=0, number=2))
    again = campaign(name).draw(np.random.default_rng([1, 0, 2]))
    assert kept.campaign == again.campaign == name
    assert kept.options == again.options
    assert list(kept.arrays) == list(again.arrays)
    for key, array in again.arrays.items():
        np.testing.assert_array_equal(kept.arrays[key], array)


@pytest.mark.parametrize(
    ("name", "size"), [("differential", 60), ("metamorphic", 20), ("chunks", 40)]
)
def test_some_cases(name, size):
    """As many as leave no doubt that the campaign still judges most of what it draws."""
    for package in getattr(campaign(name), "NEEDS", ()):
        pytest.importorskip(package)
    tried = [campaign(name).check(drawn(name, 3, 0, number)) for number in range(size)]
    assert sum(each.unclear for each in tried) < sum(each.cases for each in tried) / 2


def first_failure(name, most):
    """Number of the first case that fails; None if none does."""
    for number in range(most):
        try:
            campaign(name).check(drawn(name, 4, 0, number))
        except Exception:
            return number
    return None


def off_by_a_billionth(plain):
    return lambda self, growth, *rest: plain(self, growth * (1 + 1e-9), *rest)


def test_an_error_of_a_billionth_in_f_is_found(monkeypatch):
    assert first_failure("differential", 40) is None
    monkeypatch.setattr(Rule, "ratio", off_by_a_billionth(Rule.ratio))
    assert first_failure("differential", 40) is not None


def test_a_fit_that_depends_on_the_order_of_the_rows_is_found(monkeypatch):
    def of_later_rows(X, y, *rest, **options):
        training = plain(X, y, *rest, **options)
        weights = np.linspace(0.2, 1.8, len(training.y))
        return replace(training, weights=weights) if training.weights is None else training

    plain = _lincfa.read_training
    assert first_failure("metamorphic", 30) is None
    monkeypatch.setattr(_lincfa, "read_training", of_later_rows)
    assert first_failure("metamorphic", 30) is not None


@pytest.mark.parametrize("what", ["shapes", "changes", "products"])
def test_chunks_that_are_read_wrong_are_found(monkeypatch, what):
    pytest.importorskip("dask")
    from lincfa._data import _dask
    from lincfa._statistics._dask import _kernels

    plain = _kernels.products
    assert first_failure("chunks", 60) is None
    if what == "shapes":
        monkeypatch.setattr(_dask, "as_declared", lambda array, *_: array)
    elif what == "changes":
        monkeypatch.setattr(_kernels, "same_again", lambda chunk, *_: chunk)
    else:
        monkeypatch.setattr(_kernels, "products", lambda *given: plain(*given) * (1 + 1e-7))
    assert first_failure("chunks", 60) is not None
