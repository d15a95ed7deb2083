"""What the package offers, what importing it and a fit do not load, and how it runs elsewhere."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import lincfa
from reference import assert_same


def run(code, *arguments, **environment):
    """What a fresh interpreter prints; warnings are errors."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def loaded(code):
    """Modules that are loaded once some code has run."""
    return set(run(f"import sys\n{code}\nprint(*sys.modules)").split())


def test_import_stays_light():
    """Model selection, which loads half of scikit-learn, comes with the first use of it.

    Nothing of scikit-learn or SciPy is loaded for the name alone, or for the help of a command.
    """
    for module in ("lincfa", "lincfa.cli"):
        assert {"numpy", "scipy", "sklearn", "rich"} & loaded(f"import {module}") == set()
    modules = loaded("import lincfa; lincfa.LinCFA; dir(lincfa)")
    assert "lincfa._lincfa" in modules
    assert {"lincfa._lincfa_cv", "lincfa.baselines"} & modules == set()
    assert {"sklearn.model_selection", "sklearn.decomposition"} & modules == set()
    modules = loaded("import lincfa; lincfa.LinCFACV")
    assert {"lincfa._lincfa_cv", "sklearn.model_selection"} <= modules


FIT = """
import numpy as np, lincfa
rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 5)), rng.normal(size=20)
model = lincfa.LinCFA().fit(X, y)
model.inverse_transform(model.transform(X))
model.partial_fit(X, y).summary()
"""


def test_a_fit_on_numpy_loads_nothing_of_other_containers():
    modules = loaded(FIT)
    ours = {name for name in modules if name.startswith("lincfa.")}
    data = {f"lincfa._data.{name}" for name in ("_field", "_read_field", "_write_field", "_dask")}
    others = ("_statistics._dask", "_model._lazy", "report", "plotting", "cli", "diagnostics")
    assert ours & data == set()
    assert [name for name in ours if name.startswith(tuple(f"lincfa.{o}" for o in others))] == []
    # pandas, and pyarrow with it, may be loaded by scikit-learn itself.
    assert {"xarray", "dask", "distributed", "polars", "matplotlib"} & modules == set()


def test_optional_packages_may_be_missing():
    code = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("dask", "distributed", "xarray", "polars", "matplotlib"):
            sys.exit(f"{name} is imported")

sys.meta_path.insert(0, Missing())
"""
    run(code + FIT)


def test_public_names():
    names = run("import lincfa; print(*dir(lincfa))").split()  # before anything lazy is loaded
    assert names == sorted(names)
    assert set(lincfa.__all__) <= set(names)
    assert set(lincfa.__all__) <= set(run("from lincfa import *; print(*dir())").split())
    for name in lincfa.__all__:
        item = getattr(lincfa, name)
        assert getattr(lincfa, name) is item
        assert name in ("__version__", "theory") or item.__name__ == name
    for name in ("LinCFA2", "_lazy", "__wrong__"):
        with pytest.raises(AttributeError, match=f"module 'lincfa' has no attribute '{name}'"):
            getattr(lincfa, name)


CHECKS = """
import json
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import check_estimator
from lincfa import LinCFA, LinCFACV, LinCFAClassifierCV
from lincfa.baselines import ScreenedPCA, SupervisedPCA, ridge
folds = KFold(2, shuffle=True, random_state=0)
models = [LinCFA(strategy=s) for s in ("sequential", "centroid", "agglomerative", "joint")]
models += [LinCFA(units="original"), LinCFA(tolerance=4.0, noise=1.0)]
models.append(LinCFACV(tolerances=(0.5, 4.0), cv=folds))
models.append(LinCFACV(strategies=["centroid"], tolerances=["unbiased"], cv=folds))
quick = {"tolerances": (1.0, 9.0), "min_correlations": [None], "penalties": (1e-3, 0.1)}
models.append(LinCFAClassifierCV(**quick))
models += [SupervisedPCA(kernel=k) for k in ("linear", "poly", "rbf", "sigmoid")]
models += [ScreenedPCA(), ScreenedPCA(None, keep=1), ScreenedPCA(0.9, keep=1.0), ridge(folds)]
results = []
for model in models:
    results += check_estimator(model, on_skip=None, on_fail=None)
print(json.dumps([(str(r["estimator"]), r["check_name"], r["status"], repr(r["exception"]))
                  for r in results]))
"""


def test_scikit_learns_checks_pass():
    """All of them, none skipped: one needs SciPy's array API switched on before it is imported."""
    results = json.loads(run(CHECKS, SCIPY_ARRAY_API="1"))
    assert len(results) > 700
    assert [result for result in results if result[2] != "passed"] == []


SAVE = """
import sys
import numpy as np
from lincfa import LinCFA
from lincfa._statistics import _speed
from lincfa.datasets import make_correlated, make_field
_speed._WORTH_THREADS = 0
X, y = make_correlated(200, 600, random_state=0)
field, target, _ = make_field(100, (30, 30), random_state=0)
for number, (A, b, tolerance) in enumerate([(X, y, 0.02), (field, target, 2.0)]):
    for order in "CF":
        A = np.asarray(A, order=order)
        model = LinCFA(tolerance=tolerance).fit(A, b)
        streamed = LinCFA(tolerance=tolerance)
        for rows in (slice(0, 99), slice(99, None)):
            streamed.partial_fit(A[rows], b[rows])
        names = f"{number}{order}"
        np.save(f"{sys.argv[1]}/{names}.npy", model.evidence_)
        np.save(f"{sys.argv[1]}/{names}-streamed.npy", streamed.evidence_)
        np.save(f"{sys.argv[1]}/{names}-reduced.npy", model.transform(A))
"""


def test_number_of_threads(tmp_path):
    """It changes no group, and figures by no more than rounding: BLAS adds up in another order."""
    for threads in "12":
        (tmp_path / threads).mkdir()
        run(SAVE, tmp_path / threads, OPENBLAS_NUM_THREADS=threads, OMP_NUM_THREADS=threads)
    for file in sorted((tmp_path / "1").glob("*.npy")):
        one, two = np.load(file), np.load(tmp_path / "2" / file.name)
        if "reduced" in file.name:
            np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)  # values of some units
        else:
            assert len(one) > 300
            assert_same(one, two, 0.01 if file.name.startswith("0") else 1.0)
