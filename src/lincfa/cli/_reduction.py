"""A table reduced by a fitted model: what is written, and what is told of it."""

import argparse
import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .._data._names import describe_columns
from .._model._files import replacing_all
from ..report._findings import Findings, collect_findings, plain, settings_of, versions
from ..report._page import report_text
from ..report._scores import HeldOutScores, score_model
from ._columns import Roles
from ._files import TableFile, form_of
from ._outputs import blaming, write_reduced
from ._rows import Split
from ._talk import Talk


@dataclass(frozen=True)
class Reduced:
    """A model fitted to columns of a table."""

    model: Any
    target: str
    roles: Roles
    rows: npt.NDArray[np.bool_]

    @property
    def reducer(self) -> Any:
        """What averages: a search keeps the one it chose."""
        return getattr(self.model, "reducer_", self.model)

    @property
    def constant(self) -> list[str]:
        """Features that do not vary in the rows to learn from, and belong to no group."""
        return [self.roles.features[i] for i in np.flatnonzero(self.reducer.labels_ < 0)]

    @property
    def kept(self) -> set[str]:
        """Columns that are written as they are."""
        return {*self.roles.passed, *self.constant}

    def describe(
        self, source: str, n_samples: int, how: str, options: argparse.Namespace
    ) -> dict[str, str | int]:
        """Describe the table, of which so many samples were learned from, the others held out."""
        complete = int(self.rows.sum())
        return {
            "file": source,
            **fingerprint(options.data),
            "target": self.target,
            "training samples": n_samples,
            "rows": complete,
            "rows left out": self.rows.size - complete,
            "held out for the scores": how,
        }


@dataclass(frozen=True)
class Reduction(Reduced):
    """A model fitted to some rows of a table."""

    table: TableFile
    split: Split

    @property
    def n_samples(self) -> int:
        """Number of rows to learn from."""
        return len(self.split.y)

    def data(self, options: argparse.Namespace) -> dict[str, str | int]:
        """Describe the table."""
        return self.describe(self.table.source, self.n_samples, self.split.how, options)

    def findings(self, options: argparse.Namespace, talk: Talk) -> Findings:
        """Score the model and gather what a report tells."""
        return collect_findings(
            self.model,
            X=self.split.X,
            y=self.split.y,
            **self.split.scored,
            ordered=options.split == "time",
            title=f"{Path(self.table.source).name}, target {self.target}",
            data=self.data(options),
            recipe=shlex.join(["lincfa", *options.arguments]),
            notes=talk.notes,
        )

    def scores(self, options: argparse.Namespace) -> HeldOutScores | None:
        """Score the model and nothing else."""
        if not self.split.scored:
            return None
        ordered = options.split == "time"
        given: dict[str, Any] = {"X": self.split.X, "y": self.split.y, **self.split.scored}
        return score_model(self.model, ordered=ordered, **given)

    def write(
        self, paths: Mapping[str, str], findings: Findings | None, talk: Talk
    ) -> dict[str, str]:
        """Write the table, the model and the report: all of them or none."""
        reduced = np.empty((self.rows.size, self.reducer.n_groups_))
        for rows, X in ((self.split.train, self.split.X), (self.split.test, self.split.X_test)):
            if rows.size:
                reduced[rows] = self.reducer._reduce(X)
        reduced = reduced[self.rows]
        kept = self.kept
        keep = [name for name in self.table.frame.columns if name in kept]
        if form_of(paths["--output"]).kind == "csv":
            table = self.table.as_written(self.constant)
        else:
            table = self.table.as_numbers(self.target)
        files = [path for path in paths.values() if path != "-"]
        with replacing_all(files) as parts:
            part = dict(zip(files, parts, strict=True))
            self.reducer.save(part[paths["--groups"]])
            if findings is not None:
                page = paths["--report"]
                text = report_text(findings, page)
                with blaming(part[page]):
                    part[page].write_text(text, encoding="utf-8", newline="\n")
            output = paths["--output"]
            write_reduced(
                self.reducer, table, keep, self.rows, reduced, output, part.get(output), talk
            )
        return {name.removeprefix("--"): path for name, path in paths.items()}


def fingerprint(path: str) -> dict[str, str | int]:
    """Size and checksum of a file, by which to know it again."""
    if path == "-" or not Path(path).is_file():
        return {}
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": Path(path).stat().st_size, "SHA-256": digest}


class Told(Protocol):
    """A reduction, as far as it is told of."""

    @property
    def model(self) -> Any:
        """What was fitted."""

    @property
    def reducer(self) -> Any:
        """What averages."""

    @property
    def constant(self) -> list[str]:
        """Features that belong to no group."""

    @property
    def n_samples(self) -> int:
        """Number of rows to learn from."""

    def data(self, options: argparse.Namespace) -> dict[str, str | int]:
        """Describe the table."""


def note_groups(reduction: Told, options: argparse.Namespace, talk: Talk) -> None:
    """Note which features are in no group, and where the groups are many for the samples."""
    constant = reduction.constant
    if constant:
        talk.note(
            "constant in the rows to learn from, passed on untouched: "
            f"{describe_columns(constant, range(len(constant)))}"
        )
    n_groups, n_samples = reduction.reducer.n_groups_, reduction.n_samples
    if 2 * n_groups > n_samples:
        advice = "--tolerance cv or a larger --tolerance"
        if options.n_groups is not None:
            advice = "a smaller --n-groups"
        elif options.tolerance == "cv":
            advice = "--n-groups"
        talk.note(
            f"{n_groups} groups are more than half of the {n_samples} samples learned from, which "
            f"leaves a regression on them little to learn from; try {advice}"
        )


def _is_bound(reducer: Any) -> bool:
    """Whether some features must not merge, whatever the rule says of them."""
    return reducer.connectivity is not None or len(_variables(reducer)) > 1


def _binding(reducer: Any) -> str:
    """Say which features may merge."""
    variables = _variables(reducer)
    what = "cells" if variables else "columns"
    what = what if reducer.connectivity is None else f"neighbouring {what}"
    same = " of the same variable" if len(variables) > 1 else ""
    fewest = reducer.n_connected_components_
    return f"only {what}{same} merge" + (f", into {fewest} groups at least" if fewest > 1 else "")


def _variables(reducer: Any) -> Sequence[Any]:
    field = getattr(reducer, "field_", None)
    return () if field is None else field.variables


def tell(
    reduction: Told,
    scores: HeldOutScores | None,
    options: argparse.Namespace,
    written: Mapping[str, str],
    talk: Talk,
) -> None:
    """Say what came out, for a person or a program."""
    summary = reduction.reducer.summary()
    if hasattr(reduction.model, "strategy_"):
        talk.say(
            f"chosen by cross-validation: {reduction.model.strategy_}, tolerance "
            f"{reduction.model.tolerance_:g}"
        )
    talk.say(str(summary.table(5)))
    if _is_bound(reduction.reducer):
        talk.say(_binding(reduction.reducer))
    if reduction.reducer.units == "standardized":
        talk.say("in standard deviations, single features too (--units original: as they are)")
    if scores is not None:
        talk.say()
        for row in scores.rows:
            r2 = row.r2
            range_ = "" if isnan(r2.low) else f" ({r2.low:.3f} to {r2.high:.3f})"
            talk.say(
                f"R² {r2.value:.3f}{range_} on {scores.n_test} held-out rows, regression on "
                f"{row.features} ({row.n_features})"
            )
    talk.say()
    for what, path in written.items():
        talk.say(f"{what}: {path}" if path != "-" else f"{what}: standard output")
    talk.give(
        {
            "headline": summary.headline,
            "n_samples": reduction.n_samples,
            "n_features": summary.n_features,
            "n_groups": summary.n_groups,
            "n_connected_components": reduction.reducer.n_connected_components_,
            "scores": plain(scores),
            "settings": settings_of(reduction.model),
            "data": reduction.data(options),
            "versions": versions(),
            "notes": talk.notes,
            "groups": [
                {"name": name, "features": list(features), "target_correlation": float(r)}
                for name, features, r in zip(
                    summary.names, summary.members, summary.target_correlation, strict=True
                )
            ],
            "constant": reduction.constant,
            "written": dict(written),
        }
    )
