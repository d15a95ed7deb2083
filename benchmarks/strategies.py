"""Cost of the strategies: ``python -m benchmarks.strategies``.

Ratios, each taken within one run: agglomerative over FeatureAgglomeration, joint over a least
squares fit of the same matrix, centroid over sequential, and memory relative to a matrix of all
pairs.
"""

import argparse

import numpy as np
from rich.console import Console
from sklearn.cluster import FeatureAgglomeration
from sklearn.linear_model import LinearRegression

from lincfa import LinCFA

from . import data as sources
from .bars import Bar, new_console, save, table_of
from .measure import extra_bytes, seconds


def agglomerative(console: Console, n: int, D: int) -> list[Bar]:
    """Compare with FeatureAgglomeration, which uses Ward's linkage by default."""
    bars = []
    for draw in (sources.tree, sources.field):
        data = draw(n, D)
        model = LinCFA(strategy="agglomerative")
        own = seconds(lambda: model.fit(data.X, data.y), 3)  # noqa: B023  called at once
        ward = FeatureAgglomeration(max(2, model.n_groups_))
        peer = seconds(lambda: ward.fit(data.X), 3)  # noqa: B023
        console.print(f"{data.name}, {data.shape}: agglomerative {own:.2f} s, Ward {peer:.2f} s")
        what = f"agglomerative over FeatureAgglomeration, {data.name}, {data.shape}"
        bars.append(Bar.at_most(what, 3, own / peer))
    return bars


def memory(console: Console, n: int, D: int) -> list[Bar]:
    """Measure the peak extra memory of the agglomerative strategy, in matrices of all pairs."""
    data = sources.field(n, D, n_test=1)
    model = LinCFA(strategy="agglomerative")
    extra = extra_bytes(lambda: model.fit(data.X, data.y)) / (8 * D**2)
    console.print(f"{data.name}, {data.shape}: {extra:.2f} · D² · 8 bytes")
    return [Bar.at_most(f"agglomerative, memory over D²·8 bytes, {data.shape}", 3, extra)]


def joint(console: Console, n: int, D: int) -> list[Bar]:
    """Compare with one least squares fit of the same matrix."""
    bars = []
    for draw in (sources.tree, sources.field):
        data = draw(n, D)
        model = LinCFA(strategy="joint")
        own = seconds(lambda: model.fit(data.X, data.y), 1)  # noqa: B023  called at once
        fit = seconds(lambda: LinearRegression().fit(data.X, data.y), 1)  # noqa: B023
        centred = data.X - data.X.mean(axis=0)
        normal = seconds(lambda: np.linalg.solve(centred.T @ centred, centred.T @ data.y), 2)  # noqa: B023
        console.print(
            f"{data.name}, {data.shape}: joint {own:.1f} s for {model.n_groups_} groups, least "
            f"squares {fit:.1f} s, normal equations {normal:.1f} s"
        )
        what = f"joint over least squares, {data.name}, {data.shape}"
        bars.append(Bar.at_most(what, 10, own / fit))
    return bars


def centroid(console: Console, n: int, D: int) -> list[Bar]:
    """Compare with the sequential strategy, per group."""
    bars = []
    for draw in (sources.tree, sources.field):
        data = draw(n, D)
        one_pass = seconds(lambda: data.X.T @ data.y, 5)  # noqa: B023  called at once
        sequential, own = LinCFA(), LinCFA(strategy="centroid")
        fast = seconds(lambda: sequential.fit(data.X, data.y), 3)  # noqa: B023
        slow = seconds(lambda: own.fit(data.X, data.y), 1)  # noqa: B023
        console.print(
            f"{data.name}, {data.shape}: centroid {slow:.2f} s for {own.n_groups_} groups, "
            f"{slow / one_pass / own.n_groups_:.1f} passes per group; sequential {fast:.2f} s for "
            f"{sequential.n_groups_}, {fast / one_pass / sequential.n_groups_:.2f} passes per group"
        )
        what = f"centroid over sequential, per group, {data.name}, {data.shape}"
        per_group = (slow / own.n_groups_) / (fast / sequential.n_groups_)
        bars.append(Bar.at_most(what, 3, per_group))
    return bars


def main() -> None:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to check that it runs")
    parser.add_argument("--no-large", action="store_true", help="at most 2000 features")
    options = parser.parse_args()
    quick = options.quick
    console = new_console()
    bars = agglomerative(console, *((100, 150) if quick else (1000, 2000)))
    if quick or not options.no_large:
        bars += memory(console, *((60, 300) if quick else (500, 10_000)))
    bars += joint(console, *((400, 60) if quick else (20_000, 2000)))
    for D in (200,) if quick else (2000,) if options.no_large else (2000, 10_000, 40_000):
        bars += centroid(console, 100 if quick else 1000, D)
    console.print(table_of(bars, quick))
    save(console, "strategies", quick)


if __name__ == "__main__":
    main()
