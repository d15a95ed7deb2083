"""``lincfa reduce`` on a table in chunks."""

import argparse
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._model._files import replacing_all
from ..report._findings import Findings, collect_findings
from ..report._page import report_text
from ..report._scores import HeldOutScores, fit_on_reduced, score_on_reduced
from ._chunked import check_chunked_outputs, complete_rows_of, write_reduced_chunks
from ._columns import assign_roles, check_target, find_columns
from ._computing import Counting, computing
from ._files import ChunkedTable, Look, compute_all, open_chunked
from ._outputs import blaming
from ._reading import find_field, naming, of_field
from ._reduction import Reduced, note_groups, tell
from ._rows import note_unscored, refuse_constant, split_rows
from ._talk import Talk


def reduce_chunks(
    options: argparse.Namespace, make_model: Callable[[argparse.Namespace], Any]
) -> int:
    """Read, learn, score, write, chunk by chunk."""
    talk = Talk(quiet=options.quiet, as_json=options.json)
    others = {"--groups": options.groups}
    if not options.no_report:
        others["--report"] = options.report
    paths = check_chunked_outputs(options, others, [])
    where = options.dask or "threads"
    table = open_chunked(options.data, samples=options.samples, scheduler="://" in where)
    # Before any pass over the data.
    check_target(table, options.target)
    find_columns(table, [*options.drop, *options.keep])
    table.need_numbers([options.target])
    if table.grid is not None and table.grid.samples == "time" and options.split == "random":
        talk.note("rows are held out at random; --split time holds out the last ones")
    # The workers end before what they may have half written is removed.
    with replacing_all(list(paths.values())) as parts, computing(where, talk) as counting:
        reduction = _learn(options, table, make_model(options), counting, talk)
        with counting("scoring"):
            fitted, scores = reduction.score(options)
        findings = None
        if not options.no_report:
            findings = reduction.findings(fitted, scores, options, talk)
        places = dict(zip(paths, parts, strict=True))
        with counting("writing"):
            reduction.write(paths, places, findings, talk)
    written = {name.removeprefix("--"): path for name, path in paths.items()}
    tell(reduction, scores, options, written, talk)
    return 0


def _learn(
    options: argparse.Namespace,
    table: ChunkedTable,
    model: Any,
    counting: Counting,
    talk: Talk,
) -> "ChunkedReduction":
    """Say which columns are features and which rows are learned from, and learn."""
    with counting(f"reading {table.source}"):
        names = list(dict.fromkeys([options.target, *table.numeric]))
        look = table.look(names, options.target)
        roles = assign_roles(look, options.target, options.drop, options.keep, talk)
        field = find_field(table, roles.features, options)
        used = [options.target, *roles.features]
        rows = complete_rows_of(look, used, options.missing, talk)
    train, test, how = split_rows(table.source, rows, options, talk)
    assert look.target is not None
    y = np.where(rows, look.target, 0.0)
    refuse_constant(table.source, options.target, y[train], "every row to learn from")
    note_unscored(options.target, y[test], talk)
    reduction = ChunkedReduction(model, options.target, roles, rows, look, y, train, test, how)
    learned = np.zeros(rows.size, dtype=bool)
    learned[train] = True
    noted = talk.noting_warnings(but="LinCFA leaves out constant")
    with naming(table.source), counting(f"merging {len(roles.features)} features"), noted:
        model.fit(of_field(field, table.frame(roles.features, learned)), y[train])
    note_groups(reduction, options, talk)
    return reduction


@dataclass(frozen=True)
class ChunkedReduction(Reduced):
    """A model fitted to some rows of a table in chunks."""

    look: Look
    y: npt.NDArray[np.float64]
    train: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]
    how: str

    @property
    def reduced(self) -> list[Any]:
        """The reduced features of each chunk, delayed."""
        fill = not self.rows.all()
        return self.look.table.averages(self.reducer, self.roles.features, fill=fill)

    @property
    def n_samples(self) -> int:
        """Number of rows to learn from."""
        return self.train.size

    def score(self, options: argparse.Namespace) -> tuple[Any, HeldOutScores | None]:
        """Give a regression on the reduced features, and its scores; None for what is not asked."""
        scored = self.test.size and np.ptp(self.y[self.test]) > 0
        if not scored and options.no_report:
            return None, None
        reduced = np.concatenate(compute_all(self.reduced))
        fitted = fit_on_reduced(self.model, reduced[self.train], self.y[self.train])
        if not scored:
            return fitted, None
        ordered = options.split == "time"
        X_test, y_test = reduced[self.test], self.y[self.test]
        return fitted, score_on_reduced(self.model, fitted, X_test, y_test, ordered=ordered)

    def data(self, options: argparse.Namespace) -> dict[str, str | int]:
        """Describe the table."""
        return self.describe(self.look.source, self.n_samples, self.how, options)

    def findings(
        self, fitted: Any, scores: HeldOutScores | None, options: argparse.Namespace, talk: Talk
    ) -> Findings:
        """Gather what a report tells."""
        return collect_findings(
            self.model,
            regression=fitted,
            scores=scores,
            title=f"{Path(self.look.source).name}, target {self.target}",
            data=self.data(options),
            recipe=shlex.join(["lincfa", *options.arguments]),
            notes=talk.notes,
        )

    def write(
        self,
        paths: Mapping[str, str],
        places: Mapping[str, Path],
        findings: Findings | None,
        talk: Talk,
    ) -> None:
        """Write the model, the report and the table."""
        self.reducer.save(places["--groups"])
        if findings is not None:
            page = places["--report"]
            text = report_text(findings, paths["--report"])
            with blaming(page):
                page.write_text(text, encoding="utf-8", newline="\n")
        write_reduced_chunks(
            self.reducer,
            self.look.table,
            [name for name in self.look.names if name in self.kept],
            self.rows,
            self.reduced,
            paths["--output"],
            places["--output"],
            talk,
            empty=self.look.empty(),
        )
