"""Cost of connectivity: ``python -m benchmarks.structure``.

Ratios, each taken within one run: a fit with connectivity over a fit without, and over
scikit-learn's FeatureAgglomeration with the same connectivity; growth of the cost with the number
of edges; and memory in addition to the data.
"""

import argparse

from rich.console import Console
from sklearn.cluster import FeatureAgglomeration

from lincfa import LinCFA
from lincfa.structure import grid_connectivity

from . import data as sources
from .bars import Bar, new_console, save, table_of
from .measure import extra_bytes, seconds

IN_ORDER = ("sequential", "centroid")


def against_free(console: Console, n: int, side: int) -> list[Bar]:
    """Compare fits with and without connectivity on a square grid."""
    data = sources.field(n, side**2, n_test=1)
    graph = grid_connectivity((side, side))
    bars = []
    for strategy in IN_ORDER:
        free, bound = LinCFA(strategy=strategy), LinCFA(strategy=strategy, connectivity=graph)
        plain = seconds(lambda: free.fit(data.X, data.y), 3)  # noqa: B023  called at once
        grid = seconds(lambda: bound.fit(data.X, data.y), 3)  # noqa: B023
        console.print(
            f"{data.name}, {data.shape}: {strategy} {plain:.2f} s for {free.n_groups_} groups, "
            f"with connectivity {grid:.2f} s for {bound.n_groups_}"
        )
        what = f"{strategy}, with over without connectivity, {data.shape}"
        bars.append(Bar.at_most(what, 5, grid / plain))
    model = LinCFA(connectivity=graph)
    extra = extra_bytes(lambda: model.fit(data.X, data.y)) / data.X.nbytes
    bars.append(Bar.at_most(f"sequential, extra memory over that of X, {data.shape}", 0.3, extra))
    return bars


def against_ward(console: Console, n: int, side: int) -> list[Bar]:
    """Compare the whole path with scikit-learn's compiled code, for the same number of groups."""
    data = sources.field(n, side**2, n_test=1)
    graph = grid_connectivity((side, side))
    model = LinCFA(strategy="agglomerative", connectivity=graph)
    own = seconds(lambda: model.fit(data.X, data.y), 2)  # the first loads what is compiled
    ward = FeatureAgglomeration(model.n_groups_, connectivity=graph)
    peer = seconds(lambda: ward.fit(data.X), 2)
    console.print(
        f"{data.name}, {data.shape}: agglomerative with connectivity {own:.2f} s for "
        f"{model.n_groups_} groups, FeatureAgglomeration {peer:.2f} s"
    )
    what = f"agglomerative with connectivity over FeatureAgglomeration, {data.shape}"
    return [Bar.at_most(what, 1.5, own / peer)]


def growth(console: Console, n: int, sides: tuple[int, int]) -> list[Bar]:
    """Measure four times as many edges: the time should grow by little more than that."""
    bars = []
    for strategy in (*IN_ORDER, "agglomerative"):
        times = []
        for side in sides:
            data = sources.field(n, side**2, n_test=1)
            model = LinCFA(strategy=strategy, connectivity=grid_connectivity((side, side)))
            times.append(seconds(lambda: model.fit(data.X, data.y), 2))  # noqa: B023
        console.print(
            f"{strategy} with connectivity: {times[0]:.2f} s for {sides[0] ** 2} cells, "
            f"{times[1]:.2f} s for {sides[1] ** 2}"
        )
        more = (sides[1] / sides[0]) ** 2
        what = f"{strategy}, growth of the time over that of the edges, {sides[0]}² to {sides[1]}²"
        bars.append(Bar.at_most(what, 2, times[1] / times[0] / more))
    return bars


def main() -> None:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to check that it runs")
    quick = parser.parse_args().quick
    console = new_console()
    bars = against_free(console, *((60, 20) if quick else (1000, 200)))
    bars += against_ward(console, *((60, 20) if quick else (1000, 100)))
    bars += growth(console, *((60, (10, 20)) if quick else (1000, (100, 200))))
    console.print(table_of(bars, quick))
    save(console, "structure", quick)


if __name__ == "__main__":
    main()
