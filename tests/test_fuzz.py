"""Cases that once failed, which ``python -m fuzz`` saved, and the campaigns themselves."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from fuzz.__main__ import CAMPAIGNS
from fuzz.case import Case
from fuzz.run import campaign, drawn, keep

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


def test_some_differential_cases():
    """As many as leave no doubt that the campaign still compares most of what it draws."""
    tried = [campaign("differential").check(drawn("differential", 3, 0, k)) for k in range(60)]
    assert sum(each.unclear for each in tried) < 30


def test_some_saved_models():
    for package in campaign("models").NEEDS:
        pytest.importorskip(package)
    for number in range(60):
        campaign("models").check(drawn("models", 3, 0, number))


def test_a_process_that_dies_while_it_loads_is_noticed():
    models = campaign("models")
    child = models._Child()
    assert child.try_file(b"{}") == ""
    os.kill(child.process.pid, signal.SIGKILL)
    child.process.join()
    assert child.try_file(b"{}") == "the process ended with -9"
