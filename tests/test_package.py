"""What the package offers, and what importing it does not load."""

import importlib
import subprocess
import sys

import pytest

import lincfa

LAZY = {
    "LinCFA": "_estimator",
    "Comparison": "_comparison",
    "LinCFACV": "_search",
    "OrderSensitivity": "_order",
    "PairExplanation": "_explain",
    "Stability": "_stability",
    "Summary": "_summary",
    "explain_pair": "_explain",
    "load": "_loading",
    "compare": "_comparison",
    "order_sensitivity": "_order",
    "stability": "_stability",
}


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()


def test_import_stays_light():
    """Model selection, which loads half of scikit-learn, comes with the first use of it.

    Nothing of scikit-learn or SciPy is loaded for the name alone, or for the help of a command.
    """
    for module in ("lincfa", "lincfa.cli"):
        loaded = set(run(f"import sys, {module}; print(*sys.modules)"))
        assert {"numpy", "scipy", "sklearn", "rich"} & loaded == set()
    heavy = {
        "lincfa._lincfa_cv",
        "lincfa.diagnostics._order",
        "lincfa.plotting",
        "lincfa.baselines",
    }
    heavy |= {"lincfa.diagnostics._comparison"}
    heavy |= {"sklearn.model_selection", "sklearn.decomposition"}
    loaded = set(run("import sys, lincfa; lincfa.LinCFA; dir(lincfa); print(*sys.modules)"))
    assert "lincfa._lincfa" in loaded
    assert heavy & loaded == set()
    loaded = set(run("import sys, lincfa; lincfa.LinCFACV; print(*sys.modules)"))
    assert {"lincfa._lincfa_cv", "sklearn.model_selection"} <= loaded


@pytest.mark.parametrize("name", LAZY)
def test_lazy_names_are_the_real_things(name):
    module = importlib.import_module(f"lincfa.{LAZY[name]}")
    assert getattr(lincfa, name) is getattr(module, name)
    assert getattr(lincfa, name) is getattr(lincfa, name)


def test_lazy_names_can_be_imported_at_once():
    assert run("from lincfa import LinCFACV, order_sensitivity; print(LinCFACV.__name__)") == [
        "LinCFACV"
    ]
    names = run("from lincfa import *; print(*dir())")
    assert set(lincfa.__all__) <= set(names)


def test_dir_lists_everything_public():
    names = run("import lincfa; print(*dir(lincfa))")  # before anything lazy is loaded
    assert set(lincfa.__all__) <= set(names)
    assert names == sorted(names)
    assert set(LAZY) <= set(lincfa.__all__)


def test_everything_public_exists():
    for name in lincfa.__all__:
        assert getattr(lincfa, name) is not None


@pytest.mark.parametrize("name", ["LinCFA2", "_lazy", "__wrong__"])
def test_unknown_names(name):
    with pytest.raises(AttributeError, match=f"module 'lincfa' has no attribute '{name}'"):
        getattr(lincfa, name)
    assert not hasattr(lincfa, name)
