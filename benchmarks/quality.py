"""How well the reduced features predict: ``python -m benchmarks.quality``.

Repeated splits, some samples for training and the rest for testing. Each method makes all its
choices on the training part, by the same folds and the same score. Prints, for each data set, the
median test R², the mean number of features and of seconds, and whether LinCFACV meets its targets:
first for the data sets on which its defaults were chosen, then for others.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from lincfa import LinCFACV
from lincfa.baselines import n_features
from lincfa.diagnostics._compare import METHODS, SEARCH, TrainingPart, chosen_methods

from .bars import Bar, new_console, save, table_of
from .sources import APART, CHOSEN_ON, Data

ROWS = ("LinCFA", SEARCH, "ridge", "PLS", "PCA", "FeatureAgglomeration", "elastic net", "SLOPE")
"""What ``lincfa.compare`` calls them."""

Scores = dict[str, tuple[float, float, float]]  # R², features, seconds


def score_split(data: Data, seed: int) -> Scores:
    """Return test R², number of features and seconds of every method that suits the size."""
    size = data.n_train or 0.67
    X, X_test, y, y_test = train_test_split(data.X, data.y, train_size=size, random_state=seed)
    part = TrainingPart(*X.shape, connectivity=data.connectivity)
    scores = {}
    for name in ROWS:
        if name not in chosen_methods(None, *X.shape)[0]:
            continue
        own = LinCFACV(connectivity=part.connectivity)  # as it is, not all that compare tries
        model = own if name == SEARCH else METHODS[name](part)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # constant features, too many groups
            model.fit(X, y)
        seconds = time.perf_counter() - start
        scores[name] = r2_score(y_test, np.ravel(model.predict(X_test))), n_features(model), seconds
    return scores


def summarize(splits: list[Scores]) -> Scores:
    """Return median R², mean number of features and mean seconds of every method."""
    figures = {name: np.array([split[name] for split in splits]) for name in splits[0]}
    return {name: (np.median(of[:, 0]), *of[:, 1:].mean(axis=0)) for name, of in figures.items()}


def margins(scores: Scores, D: int) -> dict[str, float]:
    """Return by how much R² of LinCFACV is above others, and its share of the features."""
    r2 = {name: figures[0] for name, figures in scores.items()}
    better = max(r2["ridge"], r2["PLS"])
    others = {
        "ridge, PLS": better,
        "LinCFA": r2["LinCFA"],
        "FeatureAgglomeration": r2.get("FeatureAgglomeration", np.nan),  # left out if large
    }
    above = {name: r2[SEARCH] - other for name, other in others.items()}
    return above | {"share of features": scores[SEARCH][1] / D}


def bars(found: list[dict[str, float]]) -> list[Bar]:
    """Return the targets of LinCFACV, over data sets."""
    better, plain, clusters, share = (
        np.array([margin[name] for margin in found]) for name in found[0]
    )
    clusters = clusters[~np.isnan(clusters)]
    found_bars = [
        Bar.at_least(
            "share within 0.01 of the better of ridge, PLS", 0.8, (better >= -0.01).mean()
        ),
        Bar.at_least("smallest difference to the better of ridge, PLS", -0.03, better.min()),
        Bar.at_least("smallest difference to LinCFA", -0.005, plain.min()),
        Bar.at_most("mean share of the features", 0.5, share.mean()),
    ]
    if clusters.size:
        not_below = (clusters >= 0).mean()
        found_bars.append(Bar.at_least("share not below FeatureAgglomeration", 0.8, not_below))
    return found_bars


def tables(title: str, found: dict[str, tuple[Data, Scores]], splits: int) -> list[Table]:
    """Return the figures of the methods, and how LinCFACV stands to its rivals."""
    what = f"median R², mean features and mean seconds of {splits} splits"
    scores = Table(title=f"{title}: {what}", show_lines=True)
    stands = Table(title=f"{title}: R² of LinCFACV above that of others")
    rows = []
    for name, (data, summary) in found.items():
        n = data.n_train or int(0.67 * len(data.y))
        label = f"{name}\n{n} × {data.X.shape[1]}"
        cells = [summary.get(row) for row in ROWS]
        texts = ["" if c is None else f"{c[0]:.3f}\n{c[1]:.1f}\n{c[2]:.2g} s" for c in cells]
        rows.append((label, texts, margins(summary, data.X.shape[1])))
    for table, headings in ((scores, ROWS), (stands, rows[0][2])):
        table.add_column("")
        for heading in headings:
            table.add_column(heading, justify="right")
    for label, texts, margin in rows:
        scores.add_row(label, *texts)
        stands.add_row(label.split("\n")[0], *(f"{value:.3f}" for value in margin.values()))
    return [scores, stands]


def own_table(path: Path, target: str | None) -> Data:
    """Return the user's own table; the target is its last column by default."""
    import pandas as pd

    frame = pd.read_csv(path).select_dtypes("number").dropna()
    wanted = target if target is not None else frame.columns[-1]
    return Data(frame.drop(columns=wanted).to_numpy(float), frame[wanted].to_numpy(float))


def scored(sources: dict[str, Any], splits: int, console: Console) -> dict[str, Any]:
    """Return the data sets that can be loaded, with the scores of every method."""
    found = {}
    for name, load in sources.items():
        try:
            data = load()
        except (ImportError, FileNotFoundError) as missing:
            console.print(f"{name}: skipped. {missing}", markup=False)
            continue
        console.print(f"{name}, {data.X.shape[0]} × {data.X.shape[1]} …", style="dim")
        jobs = (delayed(score_split)(data, seed) for seed in range(splits))
        found[name] = data, summarize(Parallel(n_jobs=-1)(jobs))
    return found


def main() -> None:
    """Score every method on every data set."""
    known = [*CHOSEN_ON, *APART]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--splits", type=int, default=10, help="splits per data set")
    parser.add_argument("--data", nargs="+", choices=known, default=known, metavar="NAME")
    parser.add_argument("--table", type=Path, help="a CSV file to use instead")
    parser.add_argument("--target", help="target column of that file (default: the last)")
    options = parser.parse_args()

    console = new_console()
    sections: dict[str, dict[str, Any]] = {
        "Defaults chosen on these": CHOSEN_ON,
        "Apart from the choice": APART,
    }
    if options.table is not None:
        path = options.table
        sections = {"Own table": {path.stem: lambda: own_table(path, options.target)}}
        options.data = [path.stem]
    judged: dict[str, list[dict[str, float]]] = {}
    for title, sources in sections.items():
        wanted = {name: load for name, load in sources.items() if name in options.data}
        if found := scored(wanted, options.splits, console):
            judged[title] = [margins(scores, data.X.shape[1]) for data, scores in found.values()]
            for table in tables(title, found, options.splits):
                console.print(table)
    judged["All"] = [margin for part in judged.values() for margin in part]
    quick = len(judged["All"]) < 10
    for title, part in judged.items():
        if part:
            table = table_of(bars(part), quick)
            table.title = f"{title}, {len(part)} data sets: {table.title}"
            console.print(table)
    save(console, "quality", quick)


if __name__ == "__main__":
    main()
