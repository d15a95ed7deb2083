"""Run experiments and write what came out."""

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from joblib import Parallel, cpu_count, delayed

from .. import __version__
from ..plotting import new_figure
from . import _bivariate, _dimensions, _real, _samples, _trivariate
from ._simulation import Settings
from ._tables import Table
from ._writing import write


@dataclass(frozen=True)
class Experiment:
    """The parts of an experiment: tasks for any process, tables and pictures of what they give."""

    tasks: Callable[[Settings], list[Any]]
    tabulate: Callable[[Settings, list[Any]], list[Table]]
    draw: Callable[[list[Any]], dict[str, Any]] | None = None


EXPERIMENTS = {
    "bivariate": Experiment(_bivariate.tasks, _bivariate.tabulate),
    "trivariate": Experiment(_trivariate.tasks, _trivariate.tabulate),
    "dimensions": Experiment(_dimensions.tasks, _dimensions.tabulate),
    "samples": Experiment(_samples.tasks, _samples.tabulate, _samples.draw_figures),
    "real": Experiment(_real.tasks, _real.tabulate),
}
QUICK = 40
"""Repetitions of a quick run."""


@dataclass(frozen=True)
class Results:
    """The tables of a run, and the page that shows them."""

    tables: list[Table]
    page: Path


def reproduce(
    output: str | os.PathLike[str] = "paper-results",
    *,
    experiments: Sequence[str] | None = None,
    repetitions: int = 500,
    seed: int = 0,
    workers: int = -1,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Run the paper's experiments and write tables, pictures and an index page.

    The results depend on the seed and the repetitions, not on the number of workers.

    Parameters
    ----------
    output : path, default="paper-results"
        Folder to write to; made if there is none.
    experiments : sequence of str, default=None
        Some of ``"bivariate"``, ``"trivariate"``, ``"dimensions"``, ``"samples"`` and ``"real"``;
        None means all.
    repetitions : int, default=500
        Repetitions of each simulation, at least 10.
    seed : int, default=0
        Seed of all random numbers.
    workers : int, default=-1
        Processes, at most as many as there are processors; −1 means so many.
    folder : path, default=None
        Folder of the real data; None means where :mod:`lincfa.datasets` looks for them.
    progress : callable, default=None
        Called with the number of finished tasks and the number of all.

    Returns
    -------
    Results
        ``tables`` and ``page``, the path of the index page.
    """
    names = list(EXPERIMENTS) if experiments is None else list(dict.fromkeys(experiments))
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown or not names:
        raise ValueError(f"experiments must be among {list(EXPERIMENTS)}, got {experiments!r}")
    if repetitions < 10:
        raise ValueError(f"repetitions must be at least 10, got {repetitions}")
    if workers != -1 and workers < 1:
        raise ValueError(f"workers must be −1 or at least 1, got {workers}")
    # What would fail at the end fails at the start.
    if any(EXPERIMENTS[name].draw for name in names):
        new_figure(1, 1)
    if folder is not None and not Path(folder).is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), os.fspath(folder))
    Path(output).mkdir(parents=True, exist_ok=True)
    settings = Settings(repetitions, seed, None if folder is None else os.fspath(folder))
    plans = {name: EXPERIMENTS[name].tasks(settings) for name in names}
    found = _run([task for plan in plans.values() for task in plan], workers, progress)
    tables: list[Table] = []
    figures: dict[str, Any] = {}
    for name, plan in plans.items():
        experiment = EXPERIMENTS[name]
        outcomes = [next(found) for _ in plan]
        tables.extend(experiment.tabulate(settings, outcomes))
        if experiment.draw is not None:
            figures.update(experiment.draw(outcomes))
    about = {
        "repetitions": repetitions,
        "seed": seed,
        "lincfa": __version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    return Results(tables, write(Path(output), tables, figures, about))


def _run(
    tasks: list[Any], workers: int, progress: Callable[[int, int], None] | None
) -> Iterator[Any]:
    """Results of tasks in their order, whichever ends first."""
    numbered = [delayed(_numbered)(k, *task) for k, task in enumerate(tasks)]
    found: dict[int, Any] = {}
    workers = cpu_count() if workers == -1 else min(workers, cpu_count())
    for k, result in Parallel(n_jobs=workers, return_as="generator_unordered")(numbered):
        found[k] = result
        if progress is not None:
            progress(len(found), len(tasks))
    return iter([found[k] for k in range(len(tasks))])


def _numbered(k: int, function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[int, Any]:
    return k, function(*args, **kwargs)
