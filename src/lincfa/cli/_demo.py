"""``lincfa demo``: LinCFA against other methods on generated data, and a report."""

import argparse
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from ._arguments import add_command, check_files, natural, positive
from ._terminal import Terminal

if TYPE_CHECKING:
    import polars as pl

    from ..report._findings import Findings

_SHAPE = (20, 30)
_METHODS = ("all features", "LinCFA", "LinCFACV", "ridge", "PLS", "PCA", "FeatureAgglomeration")


def add(commands: Any) -> None:
    parser = add_command(
        commands,
        "demo",
        run,
        help="compare LinCFA with ridge, PLS, PCA and FeatureAgglomeration on generated data",
        description="Generates a climate-like field and the paper's data, fits LinCFA and tuned\n"
        "rivals as `lincfa compare` does, scores them on held-out samples, and writes a\n"
        "report on the field.",
    )
    parser.add_argument(
        "--draws",
        type=positive,
        default=3,
        metavar="N",
        help="independent draws of the data to average over (default: 3)",
    )
    parser.add_argument(
        "--seed", type=natural, default=0, help="seed of the first draw (default: 0)"
    )
    parser.add_argument(
        "--report",
        default="demo-report.html",
        metavar="FILE",
        help="report on the first draw of the field, by LinCFACV (default: demo-report.html)",
    )
    parser.add_argument(
        "--table",
        metavar="FILE",
        help="also write the first draw of the paper's data, in the format of the suffix, to try "
        "the other commands on",
    )
    parser.add_argument("--force", action="store_true", help="replace files that exist")


def run(options: argparse.Namespace) -> int:
    check_files(options, "report", "table")
    terminal = Terminal()
    from rich.table import Table

    from ..report._page import report_text
    from ._write import check_outputs, is_named_as_store, naming_file, replacing, write_table

    outputs = {"--report": options.report}
    if options.table is not None:
        outputs["--table"] = options.table
    folders = ["--table"] if is_named_as_store(options.table or "") else []
    check_outputs(outputs, [], options.force, folders)
    draws = f"{options.draws} draws" if options.draws > 1 else "1 draw"
    terminal.print(
        f"Scores on held-out samples: means over {draws} of the data"
        + (" ± standard error." if options.draws > 1 else ".")
    )
    terminal.print()
    for title, draw in DATA.items():
        with terminal.busy("fitting"):
            sizes, scores = compare_regressions(draw, options.draws, options.seed)
        table = Table(title=f"{title}\n{sizes}", title_justify="left")
        table.add_column("method")
        for heading in ("features", "R²", "mean squared error"):
            table.add_column(heading, justify="right")
        for name, (count, r2, mse) in scores.items():
            table.add_row(name, _average(count, 1), _average(r2, 3), _average(mse, 3))
        terminal.print(table)
        terminal.print()
    with replacing([*outputs.values()], force=options.force) as prepare, terminal.busy("drawing"):
        findings = _field_findings(options.seed)
        text = report_text(findings, options.report)
        parts = prepare()
        with naming_file(parts[options.report]) as part:
            part.write_text(text, encoding="utf-8", newline="\n")
        if options.table is not None:
            table = options.table
            with naming_file(parts[table]) as part:
                write_table(part, table, _paper_table(options.seed))
    if options.table is not None:
        terminal.print(f"The paper's data, target y: {Path(options.table).resolve()}")
    alone = ", where only neighbouring cells merge" if findings.maps else ""
    terminal.print(f"Report on the field{alone}: {Path(options.report).resolve()}")
    for line in _what_to_look_at(findings):
        terminal.print(line)
    return 0


def _what_to_look_at(findings: "Findings") -> list[str]:
    """Lead through the page in a few lines."""
    from ..report._words import state_answer

    first = findings.groups[0]
    lines = [f"the answer on top: {state_answer(findings)}"]
    if findings.maps:
        lines.append("the map: areas that raise the target in red, that lower it in blue")
    lines += [
        "predicted against measured, and the rivals on the same samples, with intervals",
        f"the groups by importance, {first.title} first: which effects new samples confirm; "
        "open one to see its members",
    ]
    return ["Open it in a browser and look at", *(f"  - {line}" for line in lines)]


def _average(values: Sequence[float], digits: int) -> str:
    """Return the mean over draws, with its standard error if they differ."""
    mean = f"{fmean(values):.{digits}f}"
    if min(values) == max(values):
        return mean.removesuffix(".0")
    return f"{mean} ± {stdev(values) / len(values) ** 0.5:.{digits}f}"


def _draw_field(seed: int) -> Any:
    from ..datasets import make_field

    return make_field(n_samples=600, shape=_SHAPE, random_state=seed)[:2]


def _draw_paper(seed: int) -> Any:
    from ..datasets import make_correlated

    return make_correlated(n_samples=1000, n_features=100, random_state=seed)


DATA: dict[str, Callable[[int], Any]] = {
    "Climate-like field, a target driven by the means of four areas": _draw_field,
    "The paper's experiment with 100 features": _draw_paper,
}


def compare_regressions(
    draw: Callable[[int], Any], draws: int, seed: int
) -> tuple[str, dict[str, list[Sequence[float]]]]:
    """Fit and score on independent draws of the data, half of it held out."""
    # Returns the sizes in words; and number of features, R² and mean squared error of each
    # method, for each draw.
    from sklearn.metrics import mean_squared_error, r2_score
    from sklearn.model_selection import train_test_split

    from ..baselines import n_features
    from ..diagnostics._compare import METHODS, TrainingPart

    scores: dict[str, list[tuple[float, float, float]]] = {name: [] for name in _METHODS}
    for repetition in range(draws):
        X, y = draw(seed + repetition)
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, shuffle=False)
        part = TrainingPart(*X_train.shape)
        for name in _METHODS:
            model = METHODS[name](part).fit(X_train, y_train)
            predicted = model.predict(X_test)
            mse = mean_squared_error(y_test, predicted)
            scores[name].append((n_features(model), r2_score(y_test, predicted), mse))
    sizes = f"{X.shape[1]} features, {len(y_train)} samples to fit, {len(y_test)} held out"
    return sizes, {name: list(zip(*rows, strict=True)) for name, rows in scores.items()}


def _field_findings(seed: int) -> "Findings":
    """Fit the field of one draw, and gather the findings of a report."""
    import polars as pl

    from .. import LinCFACV
    from ..report._findings import collect_findings

    X, y = _draw_field(seed)
    rows, columns = _SHAPE
    options: dict[str, Any] = {}
    field: Any
    if find_spec("xarray") is not None:
        import xarray as xr

        # All around the globe, and nearly from pole to pole.
        coords = {
            "lat": [9.0 * row - 85.5 for row in range(rows)],
            "lon": [360 / columns * column for column in range(columns)],
        }
        values = X.reshape(-1, rows, columns)
        field = xr.DataArray(values, coords, ("time", "lat", "lon"), "temperature")
        options = {"connectivity": "grid", "feature_weights": "area", "sample_dim": "time"}
    else:
        names = [f"cell {row}-{column}" for row in range(rows) for column in range(columns)]
        field = pl.DataFrame(X, schema=names, orient="row")
    half = len(y) // 2
    X_train, X_test, y_train, y_test = field[:half], field[half:], y[:half], y[half:]
    return collect_findings(
        LinCFACV(**options).fit(X_train, y_train),
        X=X_train,
        y=y_train,
        X_test=X_test,
        y_test=y_test,
        title="A climate-like field",
        data={"source": f"lincfa.datasets.make_field(600, shape={_SHAPE}, random_state={seed})"},
        recipe=f"lincfa demo --seed {seed}",
    )


def _paper_table(seed: int) -> "pl.DataFrame":
    """Return one draw of the paper's data as a table, the target last."""
    import polars as pl

    X, y = _draw_paper(seed)
    names = [f"x{i}" for i in range(X.shape[1])]
    return pl.DataFrame(X, schema=names, orient="row").with_columns(y=y)
