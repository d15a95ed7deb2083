"""Time of LinCFACV over that of a grid search of PLS: ``python -m benchmarks.search``.

Both choose on the same folds, in one thread; the ratio is that of the shortest times.
"""

import argparse
import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

from functools import partial
from typing import Any

from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import GridSearchCV

from lincfa import LinCFACV
from lincfa._search._folds import default_folds
from lincfa.datasets import make_correlated, make_field, make_spectra
from lincfa.structure import grid_connectivity

from .bars import Bar, new_console, save, table_of
from .measure import seconds

_TABLE, _FIELD = 1.5, 5.0


def tables(quick: bool) -> dict[str, tuple[Any, Any, Any, float]]:
    """Return features, target, connectivity and the largest ratio wanted, by name."""
    data = {
        "spectra": (*make_spectra(40, 226, random_state=0), None, _TABLE),
        "table": (*make_correlated(215, 100, random_state=0), None, _TABLE),
        "larger table": (*make_correlated(462, 255, random_state=0), None, _TABLE),
    }
    for n, shape in ((100, (40, 50)), (130, (100, 100))):
        cells = tuple(size // 5 for size in shape) if quick else shape
        X, y, _ = make_field(n_samples=n, shape=cells, random_state=0)
        data[f"field {cells[0]} × {cells[1]}"] = X, y, grid_connectivity(cells), _FIELD
    return data


def main() -> None:
    """Time both searches on each table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small fields, one repetition")
    quick = parser.parse_args().quick
    console = new_console()
    bars = []
    for name, (X, y, connectivity, most) in tables(quick).items():
        cv = default_folds(len(y))
        own = LinCFACV(cv=cv, connectivity=connectivity)
        peer = GridSearchCV(PLSRegression(), {"n_components": list(range(1, 21))}, cv=cv)
        times = [seconds(partial(search.fit, X, y), 1 if quick else 3) for search in (own, peer)]
        what = f"{name}, {len(y)} × {X.shape[1]}"
        console.print(f"{what}: {times[0]:.2f} s, grid search of PLS {times[1]:.2f} s")
        bars.append(Bar.at_most(what, most, times[0] / times[1]))
    console.print(table_of(bars, quick))
    save(console, "search", quick)


if __name__ == "__main__":
    main()
