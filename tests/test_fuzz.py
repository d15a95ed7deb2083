"""Cases that once failed, which ``python -m fuzz`` saved, and the campaigns themselves."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fuzz import __main__, run
from fuzz.__main__ import CAMPAIGNS
from fuzz.case import Case
from fuzz.run import campaign, drawn, keep, missing
from lincfa import _lincfa
from lincfa._rule import Rule

SAVED = sorted((Path(__file__).parent / "data" / "cases").glob("*.npz"))


def needed(name):
    """Return a campaign, if it can run here."""
    if lacks := missing(name):
        pytest.skip(f"there is no {', no '.join(lacks)}")
    return campaign(name)


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_a_case_that_once_failed_passes(path):
    case = Case.load(path)
    needed(case.campaign).check(case)


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_case_is_drawn_again_and_read_back_as_it_was(name, tmp_path):
    again = needed(name).draw(np.random.default_rng([1, 0, 2]))
    kept = Case.load(keep(tmp_path, name, seed=1, job=0, number=2))
    assert kept.campaign == again.campaign == name
    assert kept.options == again.options
    assert list(kept.arrays) == list(again.arrays)
    for key, array in again.arrays.items():
        np.testing.assert_array_equal(kept.arrays[key], array)


def test_a_campaign_that_cannot_run_here_is_left_out(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(run, "find_spec", lambda name: name != "polars" or None)
    assert __main__.main(["--only", "differential", "--failures", str(tmp_path)]) == 0
    assert "differential is left out: there is no polars\n" in capsys.readouterr().out


def check_some(name, size):
    return [needed(name).check(drawn(name, 4, 0, number)) for number in range(size)]


@pytest.mark.parametrize(
    ("name", "size"), [("differential", 60), ("metamorphic", 30), ("chunks", 60)]
)
def test_some_cases(name, size):
    """As many as leave no doubt that the campaign still judges most of what it draws."""
    tried = check_some(name, size)
    assert sum(each.unclear for each in tried) < sum(each.cases for each in tried) / 2


# The same cases, with something wrong


def test_an_error_of_a_billionth_in_f_is_found(monkeypatch):
    plain = Rule.ratio
    monkeypatch.setattr(
        Rule, "ratio", lambda self, growth, *rest: plain(self, growth * (1 + 1e-9), *rest)
    )
    with pytest.raises(AssertionError, match=r"^f .* not "):
        check_some("differential", 60)


def test_a_fit_that_depends_on_the_order_of_the_rows_is_found(monkeypatch):
    def of_later_rows(X, y, *rest, **options):
        training = plain(X, y, *rest, **options)
        weights = np.linspace(0.2, 1.8, len(training.y))
        return replace(training, weights=weights) if training.weights is None else training

    plain = _lincfa.read_training
    monkeypatch.setattr(_lincfa, "read_training", of_later_rows)
    with pytest.raises(AssertionError, match=r"^rows in another order: AssertionError groups "):
        check_some("metamorphic", 30)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("shapes", "^no error with "),
        ("changes", "^a change is not noticed"),
        ("products", "^correlation .* not "),
    ],
)
def test_chunks_that_are_read_wrong_are_found(monkeypatch, what, said):
    needed("chunks")
    from lincfa._data import _dask
    from lincfa._statistics._dask import _kernels

    plain = _kernels.products
    if what == "shapes":
        monkeypatch.setattr(_dask, "as_declared", lambda array, *_: array)
    elif what == "changes":
        monkeypatch.setattr(_kernels, "same_again", lambda chunk, *_: chunk)
    else:
        monkeypatch.setattr(_kernels, "products", lambda *given: plain(*given) * (1 + 1e-7))
    with pytest.raises(AssertionError, match=said):
        check_some("chunks", 60)


@pytest.mark.parametrize(
    ("err", "code", "left", "said"),
    [
        (b"panicked at x.rs", 1, "out.csv", r"^left \['out.csv'\]"),
        (b"Traceback (most recent", None, "", r"^exit 1 in \? 'Traceback"),
        (b"panicked at x.rs", 1, "", ""),
        (b"", None, "", ""),
    ],
)
def test_what_is_a_failure_and_what_a_fault_of_another_library(monkeypatch, err, code, left, said):
    files = needed("files")
    from fuzz.child import Ended

    def execute(folder, *_, **__):
        if left:
            (folder / left).touch()
        return Ended(exit=1, code=code, after=None, out=b"", err=err, trace="")

    monkeypatch.setattr(files, "execute", execute)
    with pytest.raises(AssertionError, match=said) if said else nullcontext():
        assert files.check(drawn("files", 0, 0, 0)).fault
