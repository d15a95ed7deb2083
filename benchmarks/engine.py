"""LinCFA against the methods a user could choose instead: ``python -m benchmarks.engine``.

Prints a table of times, peak extra memory and test R², then the ratios with their targets, and
saves plots of how the cost grows. Seconds depend on the machine; what counts are the ratios, each
taken within one run. With NUMBA_DISABLE_JIT=1 in the environment it measures without Numba.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.linalg.blas import dsyrk

from lincfa import LinCFA

from . import data as sources
from .bars import RESULTS, Bar, new_console, save, table_of
from .data import Data
from .measure import Cost, cost, extra_bytes, resident_peak, seconds
from .peers import LINCFA, PASS, PEERS
from .pictures import draw_growth


def compare(data: Data, table: Table) -> dict[str, Cost]:
    """Measure LinCFA and the other methods on one data set, one table row each."""
    model = LINCFA.fit(data, 0)
    groups = model.n_groups_
    costs: dict[str, Cost] = {}
    for peer in [PASS, LINCFA, *PEERS]:
        if not peer.takes(data):
            continue
        costs[peer.name] = cost(
            lambda peer=peer: peer.fit(data, groups), peer.repeat, memory=peer.memory
        )
    costs["LinCFA.transform"] = cost(lambda: model.transform(data.X), 5)
    one_pass, own = costs[PASS.name].seconds, costs[LINCFA.name].seconds
    by_name = {peer.name: peer for peer in [LINCFA, *PEERS]}
    for name, measured in costs.items():
        peer = by_name.get(name)
        scored = peer is not None and peer.predicts
        extra = measured.extra_bytes
        title = f"LinCFA: {groups} groups" if name == LINCFA.name else name
        table.add_row(
            f"{data.name}, {data.shape}" if name == PASS.name else "",
            title,
            f"{measured.seconds:.4f}",
            f"{measured.seconds / one_pass:.1f}",
            f"{measured.seconds / own:.2f}",
            "" if extra is None else f"{100 * extra / data.X.nbytes:.1f} %",
            f"{peer.score(data, measured.result):.3f}" if scored else "",
        )
    table.add_section()
    return costs


def symmetric_update(data: Data) -> float:
    """Return the time of one symmetric rank-n update with the centred matrix, without centring."""
    centred = np.asfortranarray(data.X - data.X.mean(axis=0))
    return seconds(lambda: dsyrk(1.0, centred, trans=1), 3)


def wide(console: Console, table: Table, widths: list[int]) -> list[Bar]:
    """Measure 1000 samples, with both generators."""
    bars = []
    for width in widths:
        for draw in (sources.tree, sources.field):
            data = draw(1000, width)
            console.print(f"wide: {data.name}, {data.shape} …", style="dim")
            costs = compare(data, table)
            own = costs[LINCFA.name]
            one_pass = costs[PASS.name].seconds
            name = f"{data.name}, {data.shape}"
            if "literal pseudo-code" in costs:
                ratio = costs["literal pseudo-code"].seconds / own.seconds
                bars.append(Bar.at_least(f"faster than pseudo-code, {name}", 1000, ratio))
            if "FeatureAgglomeration(d)" in costs and width >= 10_000:
                ratio = costs["FeatureAgglomeration(d)"].seconds / own.seconds
                bars.append(Bar.at_least(f"faster than FeatureAgglomeration, {name}", 500, ratio))
            if width == widths[-1]:
                transform = costs["LinCFA.transform"].seconds / one_pass
                memory = 100 * own.extra_bytes / data.X.nbytes
                bars += [
                    Bar.at_most(f"transform in passes X.T @ y, {name}", 4, transform),
                    Bar.at_most(f"extra memory of fit in % of X, {name}", 10, memory),
                ]
    return bars


def layouts(console: Console, n: int, D: int) -> list[Bar]:
    """Measure both generators in both memory orders and precisions."""
    bars = []
    pca = next(peer for peer in PEERS if peer.name == "PCA(20, randomized)")
    for draw in (sources.tree, sources.field):
        drawn = draw(n, D)
        for dtype in (np.float64, np.float32):
            for order in ("C", "F"):
                X = np.asarray(drawn.X, dtype=dtype, order=order)
                data = replace(drawn, X=X, y=drawn.y.astype(dtype))
                name = f"{data.name}, {data.shape}, {X.dtype}, order {order}"
                console.print(f"wide: {name} …", style="dim")
                one_pass, own, rival = (
                    seconds(lambda peer=peer: peer.fit(data, 0), peer.repeat)  # noqa: B023
                    for peer in (PASS, LINCFA, pca)
                )
                bars += [
                    Bar.at_most(f"fit in passes X.T @ y, {name}", 12, own / one_pass),
                    Bar.at_least(f"faster than PCA(20), {name}", 15, rival / own),
                ]
    return bars


def tall(console: Console, table: Table, n: int, D: int) -> list[Bar]:
    """Measure many samples, also at a tolerance at which almost nothing merges."""
    bars = []
    for draw in (sources.tree, sources.field):
        data = draw(n, D)
        console.print(f"tall: {data.name}, {data.shape} …", style="dim")
        own = compare(data, table)[LINCFA.name].seconds
        update = symmetric_update(data)
        strict = LinCFA(tolerance=1e-9)
        hardly = seconds(lambda: strict.fit(data.X, data.y), 2)  # noqa: B023  called at once
        name = f"{data.name}, {data.shape}"
        bars += [
            Bar.at_most(f"fit over symmetric update, {name}", 1.5, own / update),
            Bar.at_most(
                f"the same, tolerance 1e-9, {strict.n_groups_} groups", 1.2, hardly / update
            ),
        ]
    return bars


def no_merges(console: Console, table: Table, n: int, D: int) -> list[Bar]:
    """Measure independent features with distinct weights.

    At tolerance 1 such features merge whatever their weights: if all matter, their correlations
    with the target are about 1/√D, and differ by less than 1/√n. So the ratio is also measured at
    a tolerance at which almost nothing merges.
    """
    data = sources.independent(n, D)
    console.print(f"no merges: {data.name}, {data.shape} …", style="dim")
    costs = compare(data, table)
    full = costs["np.corrcoef"].seconds
    bars = [
        Bar.at_most(
            f"fit over np.corrcoef, {data.name}, {data.shape}",
            2,
            costs[LINCFA.name].seconds / full,
        )
    ]
    for order in ("C", "F"):
        X = np.asarray(data.X, order=order)
        strict = LinCFA(tolerance=1e-9)
        time = seconds(lambda: strict.fit(X, data.y), 3)  # noqa: B023  called at once
        what = f"the same, tolerance 1e-9, {strict.n_groups_} groups, order {order}"
        bars.append(Bar.at_most(what, 2, time / full))
    return bars


def real_tables(console: Console, n: int, D: int) -> list[Bar]:
    """Measure what gaps, signs and weights of features cost over a plain fit."""
    bars = []
    for draw in (sources.tree, sources.field):
        data = draw(n, D)
        console.print(f"gaps, signs and weights: {data.name}, {data.shape} …", style="dim")
        rng = np.random.default_rng(0)
        gappy = data.X.copy(order="K")
        gappy[rng.random(data.X.shape) < 0.1] = np.nan
        weights = rng.uniform(0.2, 1.0, size=D)
        plain = seconds(lambda: LinCFA().fit(data.X, data.y), 5)  # noqa: B023  called at once
        for what, X, bound, parameters in (
            ("missing='pairwise', no gaps", data.X, 1.1, {"missing": "pairwise"}),
            ("missing='pairwise', 10 % gaps", gappy, 6, {"missing": "pairwise"}),
            ("signed", data.X, 2, {"signed": True}),
            ("feature_weights", data.X, 6, {"feature_weights": weights}),
        ):
            time = seconds(lambda: LinCFA(**parameters).fit(X, data.y), 5)  # noqa: B023
            name = f"{what}, over a plain fit, {data.name}, {data.shape}"
            bars.append(Bar.at_most(name, bound, time / plain))
        extra = extra_bytes(lambda: LinCFA(missing="pairwise").fit(gappy, data.y))  # noqa: B023
        what = f"extra memory with 10 % gaps in % of X, {data.name}, {data.shape}"
        bars.append(Bar.at_most(what, 30, 100 * extra / data.X.nbytes))
    return bars


def several_targets(console: Console, n: int, D: int) -> list[Bar]:
    """Measure what ten targets cost over one of them, as the same with noise of their own."""
    bars = []
    for draw in (sources.tree, sources.field):
        data = draw(n, D)
        console.print(f"ten targets: {data.name}, {data.shape} …", style="dim")
        noise = 0.5 * data.y.std() * np.random.default_rng(0).normal(size=(n, 10))
        Y = data.y[:, None] + noise
        one = seconds(lambda: LinCFA().fit(data.X, Y[:, 0]), 5)  # noqa: B023  called at once
        ten = seconds(lambda: LinCFA().fit(data.X, Y), 5)  # noqa: B023
        name = f"ten targets, over one of them, {data.name}, {data.shape}"
        bars.append(Bar.at_most(name, 2, ten / one))
    return bars


def million(console: Console, n: int, D: int) -> list[Bar]:
    """Measure a million features in float32."""
    X, y = sources.large(n, D)
    console.print(f"large: {n} × {D} float32, {X.nbytes / 1e9:.1f} GB …", style="dim")
    one_pass = seconds(lambda: X.T @ y.astype(np.float32), 3)
    model = LinCFA().fit(X, y)  # loads what it needs
    resident = resident_peak(lambda: model.fit(X, y))
    traced = extra_bytes(lambda: model.fit(X, y))
    time = seconds(lambda: model.fit(X, y), 1)
    extra = max(traced, resident or 0)
    console.print(
        f"large: {model.n_groups_} groups in {time:.1f} s, {time / one_pass:.0f} passes; extra "
        f"memory traced {100 * traced / X.nbytes:.1f} %, resident "
        f"{'unknown' if resident is None else f'{100 * resident / X.nbytes:.1f} %'} of X"
    )
    what = f"extra memory of fit in % of X, {n} × {D} float32"
    return [
        Bar.at_most(what, 10, 100 * extra / X.nbytes),
        Bar.at_most(f"fit in passes X.T @ y, {n} × {D} float32", 100, time / one_pass),
    ]


def growth(console: Console, quick: bool) -> None:
    """Plot time against the numbers of features and samples, with both generators."""
    widths = [250, 500, 1000] if quick else [500, 1000, 2000, 5000, 10_000, 20_000, 40_000]
    lengths = [100, 200] if quick else [250, 500, 1000, 2000, 4000, 8000, 16_000]
    n, D = (100, 250) if quick else (1000, 2000)
    draws: list[Callable[..., Data]] = [sources.tree, sources.field]
    console.print("growth …", style="dim")
    against_width = {draw(20, 20).name: _times(draw, [(n, w) for w in widths]) for draw in draws}
    against_length = {draw(20, 20).name: _times(draw, [(k, D) for k in lengths]) for draw in draws}
    for path in (
        draw_growth(RESULTS, "features", f"{n} samples", against_width),
        draw_growth(RESULTS, "samples", f"{D} features", against_length),
    ):
        console.print(f"saved {path}")


def _times(
    draw: Callable[..., Data], shapes: list[tuple[int, int]]
) -> dict[str, list[tuple[int, int, float]]]:
    """Return the times by method: (samples, features, seconds)."""
    times: dict[str, list[tuple[int, int, float]]] = {}
    for n, D in shapes:
        data = draw(n, D, n_test=1)
        groups = LINCFA.fit(data, 0).n_groups_
        for peer in [LINCFA, PASS, *PEERS]:
            if peer.takes(data) and peer.largest_drawn >= D:
                time = seconds(lambda: peer.fit(data, groups), peer.repeat)  # noqa: B023
                times.setdefault(peer.name, []).append((n, D, time))
    return times


def main() -> None:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to check that it runs")
    parser.add_argument("--no-large", action="store_true", help="skip the 4 GB table")
    options = parser.parse_args()
    console = new_console()
    table = Table(title="Fit: time, peak extra memory, test R² of least squares")
    for title in ("data", "method", "seconds", "passes", "× LinCFA", "extra memory", "R²"):
        table.add_column(title, justify="left" if title in ("data", "method") else "right")

    quick = options.quick
    bars = wide(console, table, [100, 200] if quick else [2000, 10_000, 40_000])
    bars += layouts(console, *((100, 200) if quick else (1000, 40_000)))
    bars += tall(console, table, *((400, 60) if quick else (20_000, 2000)))
    bars += no_merges(console, table, *((100, 200) if quick else (2000, 5000)))
    bars += real_tables(console, *((100, 200) if quick else (1000, 10_000)))
    bars += several_targets(console, *((100, 200) if quick else (1000, 40_000)))
    if not options.no_large:
        bars += million(console, *((50, 5000) if quick else (1000, 1_000_000)))
    console.print(table)

    console.print(table_of(bars, quick))
    growth(console, quick)
    save(console, "engine", quick)


if __name__ == "__main__":
    main()
