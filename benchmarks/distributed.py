"""Fits on a Dask cluster of two worker processes: ``python -m benchmarks.distributed``.

Writes Zarr stores larger than the memory of the workers and measures
(a) fit and transform, with the peak memory of every process and the passes over the store,
(b) the time against a fit in memory, and as the rows double,
(c) a fit during which one worker is killed,
(d) a fit during which all workers disappear.
Seconds depend on the machine; what counts are the ratios, each taken within one run.
"""

import argparse
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import dask
import dask.array as da
import numpy as np
from rich.console import Console
from rich.table import Table

from lincfa import LinCFA

from .bars import Bar, new_console, save, table_of
from .cluster import Session, Usage, session
from .measure import seconds
from .stores import Shape, Store, by_size, generate

PARTS = "abcd"
_TITLES = ("data", "work", "seconds", "read", "passes", "worker", "client", "spilled", "lost")


@dataclass(frozen=True)
class Log:
    """The table of results, and a console for progress."""

    console: Console
    table: Table

    def add(self, data: str, work: str, used: Usage, nbytes: int) -> None:
        """Report the cost of one step on data of ``nbytes``."""
        cells = (
            f"{used.seconds:.1f}",
            f"{used.read / used.seconds / 1e9:.2f} GB/s",
            f"{used.read / nbytes:.2f}",
            f"{used.worker / 1e9:.2f} GB",
            f"{used.client / 1e9:.2f} GB",
            f"{used.spilled / 1e9:.2f} GB",
            f"{used.restarts}",
        )
        self.table.add_row(data, work, *cells)
        self.note(f"{work}: {', '.join(cells)}")

    def note(self, text: str) -> None:
        """Print a progress line."""
        self.console.print(text, style="dim")


def larger_than_memory(run: Session, store: Store, log: Log) -> list[Bar]:
    """(a) Fit on the whole store and write the reduced features to a new one."""
    shape = store.shape
    X, y = store.open()
    store.forget()
    sums = run.measure(lambda: X.sum().compute())
    log.add(shape.title, "(a) X.sum(), for comparison", sums, shape.nbytes)
    store.forget()
    model = LinCFA()
    fit = run.measure(lambda: model.fit(X, y))
    log.add("", f"(a) fit: {model.n_groups_} groups", fit, shape.nbytes)
    target = store.path / "reduced"
    reduced = model.transform(X)
    write = run.measure(lambda: reduced.to_zarr(str(target)))
    log.add("", "(a) transform to Zarr", write, shape.nbytes)

    written = da.from_zarr(str(target))[:100].compute()
    expected = model.transform(X[:100].compute())
    right = reduced.chunks[0] == X.chunks[0] and np.allclose(written, expected, rtol=1e-12)
    memory = 2 * run.limit
    peak = max(fit.worker, write.worker)
    spilled = fit.spilled + write.spilled
    return [
        Bar.at_least(f"store over memory of both workers, {shape.name}", 3, shape.nbytes / memory),
        Bar.at_most(f"peak of a worker over its limit, {shape.name}", 1, peak / run.limit),
        Bar.holds(f"no worker lost, {shape.name}", fit.restarts + write.restarts == 0),
        Bar.at_most(f"spilled over store, {shape.name}", 0.1, spilled / shape.nbytes),
        Bar.holds(f"reduced features as in memory, {shape.name}", right),
    ]


def growth(run: Session, store: Store, log: Log) -> list[Bar]:
    """(b) Time against a fit in memory, and as the rows double."""
    shape = store.shape
    bars = []
    times = []
    for part in (8, 4, 2, 1):
        rows = shape.n // part
        X, y = store.open(rows)
        model = LinCFA()
        used = run.measure(lambda: model.fit(X, y))  # noqa: B023  called at once
        title = f"{shape.name}, {rows} × {shape.D}, {X.nbytes / 1e9:.3g} GB"
        log.add(title, f"(b) fit: {model.n_groups_} groups", used, X.nbytes)
        times.append(used.seconds)
        if part == 8:
            held, target = store.read(rows)
            memory = LinCFA()
            own = seconds(lambda: memory.fit(held, target), 2)  # noqa: B023
            log.table.add_row("", f"(b) in memory: {memory.n_groups_} groups", f"{own:.1f}")
            same = groups(model) == groups(memory)
            bars += [
                Bar.at_most(f"fit over fit in memory, {title}", 4, used.seconds / own),
                Bar.holds(f"groups as in memory, {title}", same),
            ]
            del held, target
        if len(times) > 1:
            ratio = times[-1] / times[-2]
            bars.append(Bar.at_most(f"time at twice the rows, {title}", 2.5, ratio))
    return bars


def one_killed(run: Session, store: Store, log: Log) -> list[Bar]:
    """(c) Kill one worker when half of the tasks are done."""
    X, y = store.open(store.shape.n // 8)
    name = f"{store.shape.name}, {X.shape[0]} × {X.shape[1]}"
    calm = run.measure(lambda: LinCFA().fit(X, y))
    log.add(name, "(c) fit, undisturbed", calm, X.nbytes)
    kill = run.after(calm.tasks // 2, run.kill_one)
    used = run.measure(lambda: LinCFA().fit(X, y))
    kill.end()
    share = float("nan") if kill.done_at is None else kill.done_at / calm.tasks
    log.add("", f"(c) fit, one worker killed after {100 * share:.0f} % of tasks", used, X.nbytes)
    killed = used.restarts > 0 and share < 0.8
    same = groups(used.result) == groups(calm.result)
    run.client.wait_for_workers(2, timeout=60)
    return [
        Bar.holds(f"a worker was killed in the middle, {name}", killed),
        Bar.holds(f"the same groups with a worker killed, {name}", same),
        Bar.at_most(f"time over undisturbed, {name}", 5, used.seconds / calm.seconds),
    ]


def all_gone(run: Session, store: Store, log: Log, patience: float) -> list[Bar]:
    """(d) Remove all workers when some tasks are done, and wait for the error."""
    X, y = store.open(store.shape.n // 8)
    outcome: list[tuple[float, BaseException | None]] = []

    def fit() -> None:
        try:
            LinCFA().fit(X, y)
        except Exception as error:
            outcome.append((time.perf_counter(), error))
        else:
            outcome.append((time.perf_counter(), None))

    with dask.config.set({"lincfa.no-workers-timeout": patience}):
        gone = run.after(3, run.remove_all)
        # In a daemon thread: a fit that never ends must not block the benchmark.
        fitting = threading.Thread(target=fit, daemon=True)
        fitting.start()
        gone.join()
        fitting.join(patience + 60)
    moment, error = outcome[0] if outcome else (float("inf"), None)
    log.console.print(f"(d) {gone.done_at} tasks done, then no workers: {error!r}")
    name = f"{store.shape.name}, timeout {patience:g} s"
    waited = moment - gone.moment
    clear = isinstance(error, RuntimeError) and "workers" in str(error)
    return [
        Bar.holds(f"an error that names the workers, {name}", clear),
        Bar.at_most(f"seconds until the error over timeout, {name}", 2, waited / patience),
    ]


def groups(model: LinCFA) -> list[list[int]]:
    """Return the partition in a form that can be compared."""
    return sorted(sorted(int(feature) for feature in group) for group in model.groups_)


def main() -> None:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to check that it runs")
    parser.add_argument("--size", type=float, default=12, help="size of a store in gigabytes")
    parser.add_argument("--limit", type=float, default=2, help="memory of a worker in gigabytes")
    parser.add_argument("--only", choices=PARTS, help="one part only")
    parser.add_argument("--shape", choices=("wide", "tall"), help="one shape only")
    parser.add_argument("--folder", type=Path, help="folder for the stores")
    parser.add_argument("--keep", action="store_true", help="do not delete the stores")
    options = parser.parse_args()
    if options.keep and not options.folder:
        parser.error("--keep needs a --folder")
    quick = options.quick
    shapes = by_size(options.size)
    if quick:
        shapes = [Shape("wide", 320, 4200, (40, 2100)), Shape("tall", 1600, 60, (100, 60))]
    shapes = [shape for shape in shapes if options.shape in (None, shape.name)]
    console = new_console()
    table = Table(title="Fits on two workers: time, reads of the store, peak memory of a process")
    for title in _TITLES:
        table.add_column(title, justify="left" if title in ("data", "work") else "right")
    log = Log(console, table)
    bars: list[Bar] = []
    with ExitStack() as stack:
        temporary = stack.enter_context(TemporaryDirectory(dir=options.folder))
        folder = options.folder if options.keep else Path(temporary)
        shared = stack.enter_context(session(folder, int(1e9))) if quick else None

        def run(part: str, work: Callable[[Session], list[Bar]]) -> None:
            # A new cluster per part keeps their memory apart; quick runs share one.
            if options.only not in (None, part):
                return
            if shared:
                bars.extend(work(shared))
                return
            with session(folder, int(options.limit * 1e9)) as own:
                bars.extend(work(own))

        for shape in shapes:
            start = time.perf_counter()
            store = generate(folder / shape.name, shape)
            taken = time.perf_counter() - start
            console.print(
                f"{shape.title}: written in {taken:.1f} s, uncompressed, chunks of "
                f"{shape.chunks[0]} × {shape.chunks[1]}"
            )
            run("a", lambda own: larger_than_memory(own, store, log))  # noqa: B023
            last = shape is shapes[-1]
            if last or not quick:
                run("b", lambda own: growth(own, store, log))  # noqa: B023
                run("c", lambda own: one_killed(own, store, log))  # noqa: B023
            if last:
                patience = 2 if quick else 10
                run("d", lambda own: all_gone(own, store, log, patience))  # noqa: B023
            table.add_section()
            if not options.keep:
                store.remove()
    if table.row_count:
        console.print(table)
    console.print(table_of(bars, quick))
    save(console, "distributed", quick)
    if broken := [bar.what for bar in bars if bar.wanted == "yes" and not bar.met]:
        sys.exit("does not hold: " + "; ".join(broken))


if __name__ == "__main__":
    main()
