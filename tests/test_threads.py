"""The number of threads changes no group, and figures by no more than rounding."""

import os
import subprocess
import sys

import numpy as np

from reference import assert_same

SAVE = """
import sys
import numpy as np
from lincfa import LinCFA
from lincfa._statistics import _means
from lincfa.datasets import make_correlated, make_field
_means._WORTH_THREADS = 0
X, y = make_correlated(200, 600, random_state=0)
field, target, _ = make_field(100, (30, 30), random_state=0)
for number, (A, b, tolerance) in enumerate([(X, y, 0.01), (field, target, 1.0)]):
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
    """BLAS adds up in another order; enough columns that it and the means use their threads."""
    for threads in "12":
        (tmp_path / threads).mkdir()
        subprocess.run(
            [sys.executable, "-W", "error", "-c", SAVE, str(tmp_path / threads)],
            env=os.environ | dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), threads),
            check=True,
        )
    for file in sorted((tmp_path / "1").glob("*.npy")):
        one, two = np.load(file), np.load(tmp_path / "2" / file.name)
        if "reduced" in file.name:
            np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)  # values of some units
        else:
            assert len(one) > 300
            assert_same(one, two, 0.01 if file.name.startswith("0") else 1.0)
