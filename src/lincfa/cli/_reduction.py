"""A table reduced by a fitted model: what is written, and what is told of it."""

import argparse
import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._findings import Findings, find
from .._tablefiles import TableFile, form_of
from ..report import report_text
from ._columns import Roles
from ._outputs import blaming, write_reduced, writing
from ._split import Split
from ._talk import Talk

_TOLD = (
    "headline",
    "n_samples",
    "n_features",
    "n_groups",
    "scores",
    "settings",
    "data",
    "versions",
    "notes",
)
"""What of the findings is told to a program."""


@dataclass(frozen=True)
class Reduction:
    """A model fitted to some rows of a table."""

    model: Any
    table: TableFile
    target: str
    roles: Roles
    rows: npt.NDArray[np.bool_]
    split: Split

    @property
    def reducer(self) -> Any:
        """What averages: a search keeps the one it chose."""
        return getattr(self.model, "reducer_", self.model)

    @property
    def constant(self) -> list[str]:
        """Features that do not vary in the rows to learn from, and belong to no group."""
        return [self.roles.features[i] for i in np.flatnonzero(self.reducer.labels_ < 0)]

    def findings(self, options: argparse.Namespace, talk: Talk) -> Findings:
        """Score the model and gather what a report tells."""
        held_out: dict[str, Any] = {}
        if self.split.test.size:
            held_out = {"X_test": self.split.X_test, "y_test": self.split.y_test}
        return find(
            self.model,
            X=self.split.X,
            y=self.split.y,
            **held_out,
            ordered=options.split == "time",
            title=f"{Path(options.data).name if options.data != '-' else 'Table'}, reduced",
            data={
                "file": self.table.source,
                **_fingerprint(options.data),
                "target": options.target,
                "rows": f"{int(self.rows.sum())} of {self.rows.size}",
                "held out for the scores": self.split.how,
            },
            recipe=shlex.join(["lincfa", *options.arguments]),
            notes=talk.notes,
        )

    def write(self, paths: Mapping[str, str], findings: Findings, talk: Talk) -> dict[str, str]:
        """Write the table, the model and the report: all of them or none."""
        reduced = np.empty((self.rows.size, self.reducer.n_groups_))
        for rows, X in ((self.split.train, self.split.X), (self.split.test, self.split.X_test)):
            if rows.size:
                reduced[rows] = self.reducer._reduce(X)
        reduced = reduced[self.rows]
        kept = {*self.roles.passed, *self.constant}
        keep = [name for name in self.table.frame.columns if name in kept]
        if form_of(paths["--output"]).kind == "csv":
            table = self.table.as_written(self.constant)
        else:
            table = self.table.as_numbers(self.target)
        files = [path for path in paths.values() if path != "-"]
        with writing(files) as parts:
            part = dict(zip(files, parts, strict=True))
            self.reducer.save(part[paths["--groups"]])
            if "--report" in paths:
                page = paths["--report"]
                text = report_text(findings, page)
                with blaming(part[page]):
                    part[page].write_text(text, encoding="utf-8", newline="\n")
            output = paths["--output"]
            write_reduced(
                self.reducer, table, keep, self.rows, reduced, output, part.get(output), talk
            )
        return {name.removeprefix("--"): path for name, path in paths.items()}


def _fingerprint(path: str) -> dict[str, str]:
    """Size and checksum of a file, by which to know it again."""
    if path == "-" or not Path(path).is_file():
        return {}
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"size": f"{Path(path).stat().st_size} bytes", "SHA-256": digest}


def tell(findings: Findings, summary: Any, written: Mapping[str, str], talk: Talk) -> None:
    """Say what came out, for a person or a program."""
    talk.say(str(summary.table(5)))
    if findings.scores is not None:
        talk.say()
        for row in findings.scores.rows:
            r2 = row.r2
            talk.say(
                f"R² {r2.value:.3f} ({r2.low:.3f} to {r2.high:.3f}) on {findings.scores.n_test} "
                f"held-out rows, regression on {row.features} ({row.n_features})"
            )
    talk.say()
    for what, path in written.items():
        talk.say(f"{what}: {path}" if path != "-" else f"{what}: standard output")
    told = findings.to_dict()
    talk.give(
        {name: told[name] for name in _TOLD}
        | {
            "groups": [
                {"name": name, "features": list(features), "target_correlation": float(r)}
                for name, features, r in zip(
                    summary.names, summary.members, summary.target_correlation, strict=True
                )
            ],
            "constant": list(findings.constant),
            "written": dict(written),
        }
    )
