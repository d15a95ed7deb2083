"""Scikit-learn's own checks of estimators."""

import json
import os
import subprocess
import sys

CHECKS = """
import json
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import check_estimator
from lincfa import LinCFA, LinCFACV
from lincfa.baselines import ScreenedPCA, SupervisedPCA
folds = KFold(2, shuffle=True, random_state=0)
models = [LinCFA(strategy=s) for s in ("sequential", "centroid", "agglomerative", "joint")]
models += [LinCFA(units="original"), LinCFA(tolerance=4.0, noise=1.0)]
models.append(LinCFACV(tolerances=(0.5, 4.0), cv=folds))
models.append(LinCFACV(strategies=["centroid"], tolerances=["unbiased"], cv=folds))
models += [SupervisedPCA(kernel=k) for k in ("linear", "poly", "rbf", "sigmoid")]
models += [ScreenedPCA(), ScreenedPCA(None, keep=1), ScreenedPCA(0.9, keep=1.0)]
results = []
for model in models:
    results += check_estimator(model, on_skip=None, on_fail=None)
print(json.dumps([(str(r["estimator"]), r["check_name"], r["status"], repr(r["exception"]))
                  for r in results]))
"""


def test_scikit_learns_checks_pass():
    """All of them, none skipped: one needs SciPy's array API switched on before it is imported."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", CHECKS],
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    results = json.loads(run.stdout)
    assert len(results) > 700
    assert [result for result in results if result[2] != "passed"] == []
