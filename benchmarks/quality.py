"""How well the reduced features predict: ``python -m benchmarks.quality``.

Repeated splits into 67 % for training and 33 % for testing. Each method makes all its choices on
the training part. Prints, for each data set, the median test R², the mean number of features, and
whether LinCFACV meets its targets.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincfa import LinCFA, LinCFACV, datasets
from lincfa.baselines import n_features
from lincfa.diagnostics._compare import METHODS, TrainingPart

PLAIN = "LinCFA"
CHOSEN = "LinCFACV"
PEERS = ("PCA, 95 %", "FeatureAgglomeration")
PLS = "PLS, CV"


@dataclass(frozen=True)
class Data:
    """A data set to split."""

    name: str
    load: Callable[[], tuple[Any, Any]]


SOURCES = {
    "life": Data("Life expectancy", datasets.load_life_expectancy),
    "financial": Data("Financial", datasets.load_financial),
    "climatological": Data("Climatological I", datasets.load_climatological),
    "climatological-ii": Data("Climatological II", datasets.load_climatological_ii),
    "spectra": Data("spectra", lambda: datasets.make_spectra(random_state=0)),
    "field": Data("field", lambda: datasets.make_field(random_state=0)[:2]),
}


OURS = {
    "all features": "all features",
    "ridge, CV": "ridge",
    "PCA, 95 %": "PCA",
    "FeatureAgglomeration": "FeatureAgglomeration",
    PLAIN: "LinCFA",
    "LinCFA, centroid": "LinCFA centroid",
    "LinCFA, agglomerative": "LinCFA agglomerative",
    "LinCFA, joint": "LinCFA joint",
    PLS: "PLS",
    CHOSEN: "LinCFACV",
}
"""Rows of the table, and what ``lincfa.compare`` calls them."""


def methods(part: TrainingPart) -> dict[str, Any]:
    """Return the methods for a training part, on which LinCFA finds ``part.n_groups`` groups."""
    known = {row: METHODS[name](part) for row, name in OURS.items()}
    if part.n_groups == 1:
        known["FeatureAgglomeration"] = make_pipeline(StandardScaler(), PCA(1), LinearRegression())
    return known | {f"{CHOSEN}, 1 SE": LinCFACV(rule="one_standard_error")}


def score_split(X: Any, y: Any, seed: int) -> dict[str, tuple[float, int]]:
    """Return test R² and number of features of every method."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.33, random_state=seed)
    groups = LinCFA().fit(X_train, y_train).n_groups_
    scores = {}
    for name, method in methods(TrainingPart(*X_train.shape, n_groups=groups)).items():
        model = method.fit(X_train, y_train)
        scores[name] = r2_score(y_test, model.predict(X_test)), n_features(model)
    return scores


def summarize(splits: list[dict[str, tuple[float, int]]]) -> dict[str, tuple[float, float]]:
    """Return median R² and mean number of features of every method."""
    return {
        name: (
            float(np.median([split[name][0] for split in splits])),
            float(np.mean([split[name][1] for split in splits])),
        )
        for name in splits[0]
    }


def verdicts(summary: dict[str, tuple[float, float]]) -> dict[str, bool]:
    """Return whether LinCFACV meets its targets: the last on most data sets, the others on all."""
    chosen = summary[CHOSEN][0]
    return {
        **{f"above {peer}": chosen > summary[peer][0] for peer in PEERS},
        "at most 0.01 below LinCFA": chosen >= summary[PLAIN][0] - 0.01,
        "at most 0.02 below PLS": chosen >= summary[PLS][0] - 0.02,
    }


def sources(names: list[str], table: Path | None, target: str | None) -> dict[str, Data]:
    """Return the chosen data sets, or the user's own table."""
    if table is not None:
        import pandas as pd

        frame = pd.read_csv(table).select_dtypes("number").dropna()
        wanted = target if target is not None else frame.columns[-1]
        return {table.stem: Data(table.stem, lambda: (frame.drop(columns=wanted), frame[wanted]))}
    return {name: SOURCES[name] for name in names}


def main() -> None:
    """Score every method on every data set."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--splits", type=int, default=20, help="splits per data set")
    parser.add_argument("--data", nargs="+", choices=list(SOURCES), default=list(SOURCES))
    parser.add_argument("--table", type=Path, help="a CSV file to use instead")
    parser.add_argument("--target", help="target column of that file (default: the last)")
    arguments = parser.parse_args()

    console = Console()
    columns: dict[str, dict[str, tuple[float, float]]] = {}
    for data in sources(arguments.data, arguments.table, arguments.target).values():
        try:
            X, y = (np.asarray(part, dtype=float) for part in data.load())
        except FileNotFoundError as missing:
            console.print(f"{data.name}: skipped. {missing}", markup=False)
            continue
        console.print(f"{data.name}, {X.shape[0]} × {X.shape[1]} …", style="dim")
        splits = Parallel(n_jobs=-1)(
            delayed(score_split)(X, y, seed) for seed in range(arguments.splits)
        )
        columns[f"{data.name}\n{X.shape[0]} × {X.shape[1]}"] = summarize(splits)

    table = Table(title=f"Median test R² of {arguments.splits} splits (mean number of features)")
    table.add_column("")
    for title in columns:
        table.add_column(title, justify="right")
    rows = next(iter(columns.values()), {})
    for name in rows:
        figures = [summary[name] for summary in columns.values()]
        table.add_row(name, *(f"{r2:.3f} ({count:.1f})" for r2, count in figures))
    table.add_section()
    for what in verdicts(rows) if rows else []:
        table.add_row(
            f"{CHOSEN} {what}",
            *("yes" if verdicts(summary)[what] else "no" for summary in columns.values()),
        )
    console.print(table)


if __name__ == "__main__":
    main()
