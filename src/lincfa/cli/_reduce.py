"""``lincfa reduce``: from a table or field to reduced features, a model and a report."""

import argparse
import hashlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .._model._display import decimals
from . import _arguments as arguments
from ._terminal import TARGETS_SHOWN, Terminal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..report._findings import Findings
    from ._files._fields import FieldFile
    from ._folds import Folds
    from ._select import RowSplit, Targets, UsableRows

_EXAMPLES = """\
  lincfa reduce data.csv --target y
  lincfa reduce data.csv --target y --tolerance 1
  lincfa reduce data.csv --target y1 --target y2
  lincfa reduce data.csv --target code --classes
  lincfa reduce data.csv --target y --groups batch
  lincfa reduce field.nc --target rain --n-groups 12 --units original
  lincfa reduce field.nc --target rain --connectivity grid --area-weights
  lincfa reduce sst.nc --target-file index.csv --target nino34 --lead 3
  lincfa reduce t2m.nc --target rain --connectivity stations --radius-km 80
  lincfa reduce prices.parquet --target return --gap 5 --keep date
  lincfa reduce stations.csv --target y --missing pairwise --missing-code -9999
  lincfa reduce folder --target y --dask processes --output reduced
  zcat d.csv.gz | lincfa reduce - --target y --output - --no-report > new.csv"""


_FEWEST_FOR_CHOICE = 10  # rows to learn from; fewer say next to nothing about a choice
_LONGEST = 60.0  # seconds
_LONGER_FOR_CLASSES = 8  # times as long as for numbers
_ANYWAY = "--tolerance cv chooses anyway"


def add(commands: Any) -> None:
    parser = arguments.add_command(
        commands,
        "reduce",
        run,
        help="reduce a table or field: reduced data, model and report",
        description="Learns groups of features and writes the data with the mean of each group in\n"
        "place of its features, the model (for lincfa predict and apply) and a report. Columns\n"
        "that are not numeric, and the targets, are kept unchanged.",
        examples=_EXAMPLES,
    )
    arguments.add_data(
        parser,
        missing="missing values in features: stop with an error (default), drop the rows that have "
        "any, or use what there is (pairwise): two features are compared in the rows where both "
        "are present, and groups are averaged over the members that are. Rows without a target "
        "are never learned from",
    )
    arguments.add_dask(parser)
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="COLUMN",
        help="keep this column unchanged; also a pattern, and the option may be repeated",
    )
    merging = parser.add_argument_group("how to merge")
    merging.add_argument(
        "--strategy",
        choices=arguments.STRATEGIES,
        help="how groups are formed (default: sequential, the paper's; with --n-groups "
        "agglomerative)",
    )
    arguments.add_merging(merging)
    arguments.add_neighbours(merging)
    arguments.add_area_weights(
        merging, "; with --units original, means of groups are then area means"
    )
    merging.add_argument(
        "--n-groups",
        type=arguments.positive,
        metavar="N",
        help="number of groups instead of a tolerance, with --strategy agglomerative or joint",
    )
    merging.add_argument(
        "--units",
        choices=("standardized", "original"),
        default="standardized",
        help="average standardised columns (default), or columns as they are",
    )
    held_out = parser.add_argument_group("rows held out for the scores")
    arguments.add_test(held_out)
    arguments.add_groups(held_out)
    arguments.add_time(
        parser,
        "hold out the last dates for the scores, and blocks of the others in turn to choose how to "
        "merge; or rows at random",
    )
    output = parser.add_argument_group("what to write")
    arguments.add_output(output, "reduced data", "reduced")
    output.add_argument(
        "--model", default="model.json", metavar="FILE", help="model (default: model.json)"
    )
    page = output.add_mutually_exclusive_group()
    page.add_argument(
        "--report",
        default="report.html",
        metavar="FILE",
        help="report; .json for the same as data (default: report.html)",
    )
    page.add_argument("--no-report", action="store_true", help="write no report")
    arguments.add_verbosity(parser)


def run(options: argparse.Namespace) -> int:
    _check_options(options)
    import numpy as np

    from .._data._checks import ManyGroupsWarning
    from .._data._compute import compute
    from . import _select as select
    from . import _time as time
    from ._dask import computing
    from ._files._fields import FieldFile
    from ._folds import folds_of
    from ._neighbours import structure_of
    from ._select import naming
    from ._write import ReducedFeatures, naming_file, output_paths, replacing, write_reduced

    terminal = Terminal(quiet=options.quiet, as_json=options.json, aside=options.output == "-")
    others = {"--model": options.model}
    if not options.no_report:
        others["--report"] = options.report
    inputs = [path for path in (options.target_file, options.stations) if path is not None]
    paths = output_paths(options, others, inputs)
    where = arguments.scheduler_of(options)
    # The workers stop before what they may have written in part is removed.
    force, outputs = options.force, list(paths.values())
    with replacing(outputs, force=force) as prepare, computing(where, terminal) as step:
        with step(f"reading {options.data}"):
            data, names, unshifted = time.open_with_targets(options, terminal)
            groups = select.read_groups(data, options.groups, names)
            folds = folds_of(options, data, groups, terminal)
            keep = [*options.keep, *unshifted, *folds.columns]
            features, kept = select.assign_roles(data, names, options.drop, keep, terminal)
            data, features, kept = time.with_lags(data, features, kept, options, terminal)
            targets = select.read_targets(data, names, options.classes, terminal)
            rows = select.usable_rows(
                data,
                features,
                options.missing,
                terminal,
                targets=targets,
                reduces=True,
                advice=(select.PAIRWISE, select.DROP_COLUMN),
            )
            split = select.split_rows(data, rows.known, targets, options, folds, terminal)
            select.require_variation(data, targets, split.train, "every row to learn from")
            features, without = select.with_values(data, features, split.train, terminal)
            kept += without
            common = _parameters(options) | structure_of(data, features, options, terminal)
            X = data.features(features, split.train)
            shape = (split.train.size, len(features))
            choice = _choice(options, folds, data.in_chunks, *shape, targets.are_classes)
        merging = step(f"merging {len(features)} features")
        with naming(data.source), merging, terminal.warnings_as_notes(ManyGroupsWarning):
            model, choice = _fit(options, common, choice, X, targets, split, folds)
        if choice.is_fallback:
            terminal.note(f"merged {choice.words}")
        if isinstance(data, FieldFile):
            _keep_units(model, data, names)
        reducer = getattr(model, "reducer_", model)
        constant = {features[i] for i in np.flatnonzero(reducer.labels_ < 0)}
        keep = [name for name in data.names if name in {*kept, *constant}]
        scored = _can_be_scored(targets, split, terminal)
        with step("averaging"):
            if data.in_chunks:
                reduced = data.transform(reducer, features, rows.reduced)
                means = compute(reduced)
            else:
                rest = np.setdiff1d(rows.reduced, np.union1d(split.train, split.test))
                X_test, X_rest = (data.features(features, part) for part in (split.test, rest))
                data = data.only(keep)  # its memory is needed for the scores
                parts_of_X = ((split.train, X), (split.test, X_test), (rest, X_rest))
                means = reduced = _in_order(reducer, parts_of_X)
            means = np.asarray(reducer._without_gaps(means))
            train, test = (
                means[rows.reduced.searchsorted(part)] for part in (split.train, split.test)
            )
        with step("scoring"):
            model = _with_regression(model, train, targets, split, folds, terminal)
            if scored and not targets.are_classes and hasattr(model, "estimator_"):
                y_test = np.asarray(targets.of(split.test), dtype=float)
                model._keep_errors(y_test, model.estimator_.predict(test))
            outcome = _Outcome(
                model,
                choice,
                data.source,
                data.n_rows,
                features,
                rows,
                split,
                folds,
                targets,
                options,
                terminal,
            )
            outcome.note_many_groups()
            if data.in_chunks:
                scores, findings = outcome.score_reduced(train, test if scored else None)
            else:
                scores, findings = outcome.score(X, X_test if scored else None)
        with step("writing"):
            parts = prepare()
            model.save(parts[paths["--model"]])
            if findings is not None:
                from ..report._page import report_text

                report = paths["--report"]
                with naming_file(parts[report]) as part:
                    text = report_text(findings, report)
                    part.write_text(text, encoding="utf-8", newline="\n")
            output = paths["--output"]
            arrays = (data, keep, rows.reduced, reduced, ReducedFeatures(reducer))
            write_reduced(
                parts.get(output), output, *arrays, terminal, as_numbers={*names, *constant}
            )
    written = {option.removeprefix("--"): path for option, path in paths.items()}
    outcome.print(scores, findings, written)
    return 0


def _check_options(options: argparse.Namespace) -> None:
    if options.n_groups is not None and options.strategy in ("sequential", "centroid"):
        options.refuse("--n-groups needs --strategy agglomerative or joint")
    if options.n_groups is not None and options.tolerance is not None:
        options.refuse("give --n-groups or --tolerance, not both")
    arguments.check_neighbours(options)
    arguments.check_options(options)
    arguments.check_files(options, "model", "report")
    if not options.report.lower().endswith((".html", ".htm", ".json")):
        options.refuse(f"--report writes .html or .json, not {options.report!r}")


def _parameters(options: argparse.Namespace) -> dict[str, Any]:
    """Return parameters for any model."""
    return {
        "noise": options.noise,
        "signed": options.signed,
        "missing": "pairwise" if options.missing == "pairwise" else "error",
        "feature_weights": "area" if options.area_weights else None,
        "units": options.units,
    }


@dataclass(frozen=True)
class _Choice:
    """Whether cross-validation chooses how to merge, and why."""

    by: Literal["cross-validation", "paper's rule", "options"]
    reason: str = ""

    @property
    def is_fallback(self) -> bool:
        """Whether cross-validation was not asked for and not possible."""
        return self.by == "paper's rule"

    @property
    def words(self) -> str:
        if self.by == "options":
            return "as the options say"
        the = "" if self.by == "cross-validation" else "the "
        return f"by {the}{self.by}, {self.reason}"


def _choice(
    options: argparse.Namespace,
    folds: "Folds",
    in_chunks: bool,
    n_rows: int,
    width: int,
    classes: bool,
) -> _Choice:
    """Decide how to merge: as the options say, or else as is safest in about a minute."""
    from .._search._choice import estimated_seconds
    from .._search._folds import default_folds, ordered_folds

    if options.tolerance == "cv":
        return _Choice("cross-validation", "as --tolerance cv asks")
    if any(given is not None for given in (options.tolerance, options.n_groups, options.strategy)):
        return _Choice("options")
    if in_chunks:
        return _Choice("paper's rule", f"because the data are read in chunks; {_ANYWAY}")
    if n_rows < _FEWEST_FOR_CHOICE:
        return _Choice("paper's rule", f"because {n_rows} rows are too few for cross-validation")
    splitter: Any = ordered_folds(n_rows) if folds.in_blocks else default_folds(n_rows)
    seconds = estimated_seconds(n_rows, width, splitter.get_n_splits())
    seconds *= _LONGER_FOR_CLASSES if classes else 1
    if seconds > _LONGEST:
        minutes = f"{max(2, round(seconds / 60))} minutes"
        return _Choice(
            "paper's rule", f"because cross-validation would take about {minutes}; {_ANYWAY}"
        )
    return _Choice(
        "cross-validation",
        "the default for a table of this size; --tolerance 1 is the paper's rule",
    )


def _fit(
    options: argparse.Namespace,
    common: Mapping[str, Any],
    choice: _Choice,
    X: Any,
    targets: "Targets",
    split: "RowSplit",
    folds: "Folds",
) -> tuple[Any, _Choice]:
    """Fit the model that was decided on; the paper's rule if the data do not allow the choice."""
    from .. import LinCFA, LinCFAClassifierCV, LinCFACV

    y = targets.named(split.train)
    if choice.by == "cross-validation":
        own: dict[str, Any] = {}
        if options.strategy is not None:
            own["strategies"] = (options.strategy,)
        if options.min_correlation is not None:
            own["min_correlations"] = (options.min_correlation,)
        search: Any = LinCFAClassifierCV if targets.are_classes else LinCFACV
        try:
            cv, groups = _splitter(folds, split.train, targets)
            return search(cv=cv, **own, **common).fit(X, y, groups=groups), choice
        except ValueError as error:
            if options.tolerance == "cv":
                raise
            # Such as a target that is constant in a fold. What is wrong with all rows raises again.
            problem = str(error).rstrip(".")
            choice = _Choice("paper's rule", f"because cross-validation failed: {problem}")
    usual: Any = "sequential" if options.n_groups is None else "agglomerative"
    tolerance = 1.0 if options.tolerance is None else options.tolerance
    model = LinCFA(
        strategy=options.strategy or usual,
        tolerance=tolerance,
        n_groups=options.n_groups,
        min_correlation=options.min_correlation,
        target="classes" if targets.are_classes else None,
        **common,
    )
    return model.fit(X, y), choice


def _keep_units(model: Any, data: "FieldFile", names: list[str]) -> None:
    """Let predictions of a single target have the units that it has in its file."""
    attrs = data.data[names[0]].attrs if len(names) == 1 and names[0] in data.data else {}
    kept = {key: str(attrs[key]) for key in ("units", "long_name") if key in attrs}
    for each in (model, getattr(model, "reducer_", model)):
        each._targets = replace(each._targets, attrs=kept)


def _with_regression(
    model: Any,
    means: "npt.NDArray[Any]",
    targets: "Targets",
    split: "RowSplit",
    folds: "Folds",
    terminal: Terminal,
) -> Any:
    """Fit a regression to the means of the groups; a search has its own."""
    from .. import LinCFAClassifierCV, LinCFACV

    if hasattr(model, "estimator_"):
        return model
    try:
        cv, dates = _splitter(folds, split.train, targets)
        kind = LinCFAClassifierCV if targets.are_classes else LinCFACV
        return kind._with_regression(model, means, targets.named(split.train), cv, dates)
    except ValueError as error:  # such as too few rows
        problem = str(error).rstrip(".")
        terminal.note(f"the model reduces, but does not predict: no regression, because {problem}")
        return model


def _splitter(folds: "Folds", rows: "npt.NDArray[np.intp]", targets: "Targets") -> tuple[Any, Any]:
    """Return the folds by which to choose, and what they need to know of the rows."""
    import numpy as np

    from .._search._folds import default_splitter

    if folds.groups is not None:
        return None, folds.groups.of(rows)
    if not folds.in_blocks and folds.dates is None:
        return None, None
    ranks = folds.ranks(rows) if folds.in_blocks else None
    codes = np.unique(targets.of(rows), return_inverse=True)[1] if targets.are_classes else None
    return default_splitter(rows.size, codes, dates=ranks, gap=folds.gap), ranks


def _can_be_scored(targets: "Targets", split: "RowSplit", terminal: Terminal) -> bool:
    """Whether there are rows held out whose targets vary, and of no class that was not learned."""
    problem, constant = "", targets.constant(split.test)
    if constant is not None:
        name, value = constant
        problem = f"the target {name!r} is {value} in all {split.test.size} rows held out"
    elif targets.are_classes:
        new = sorted({*targets.of(split.test).tolist()} - {*targets.of(split.train).tolist()})
        if new:
            problem = f"the class {new[0]!r} is only in the rows held out"
    if problem:
        terminal.note(f"no scores: {problem}")
    return bool(split.test.size) and not problem


def _in_order(reducer: Any, parts: "Sequence[tuple[npt.NDArray[np.intp], Any]]") -> Any:
    """Reduce some rows and others, and put them into their old order."""
    rows, features = zip(*(part for part in parts if part[0].size), strict=True)
    reduced = [reducer.transform(each) for each in features]
    if len(reduced) == 1:
        return reduced[0]
    import numpy as np

    order = np.argsort(np.concatenate(rows))
    if isinstance(reduced[0], np.ndarray):
        return np.concatenate(reduced)[order]
    import xarray as xr

    same: Any = {"coords": "minimal", "compat": "override", "combine_attrs": "override"}
    joined = xr.concat(reduced, dim=reducer.field_.sample_dim, **same)
    return joined.isel({reducer.field_.sample_dim: order})


@dataclass(frozen=True)
class _Outcome:
    """A model fitted to some rows, to be scored and described."""

    model: Any
    choice: _Choice
    source: str
    n_rows: int  # of the file
    features: list[str]
    rows: "UsableRows"
    split: "RowSplit"
    folds: "Folds"
    targets: "Targets"
    options: argparse.Namespace
    terminal: Terminal

    @property
    def reducer(self) -> Any:
        """The model that averages; a search keeps the one that it chose."""
        return getattr(self.model, "reducer_", self.model)

    @property
    def constant(self) -> list[str]:
        """Features that are constant in the rows learned from, and belong to no group."""
        return [self.features[i] for i in (self.reducer.labels_ < 0).nonzero()[0]]

    @cached_property
    def data(self) -> dict[str, str | int]:
        other = self.options.target_file
        return {
            "file": self.source,
            **_fingerprint(self.options.data),
            **({} if other is None else {"target file": other}),
            self.targets.noun: self.targets.listed,
            "training samples": self.split.train.size,
            "rows": self.rows.reduced.size,
            "rows without target": self.rows.unknown.size,
            "rows left out": self.n_rows - self.rows.reduced.size,
            "held out for the scores": self.split.description,
            "merged": self.choice.words,
        }

    def about(self) -> dict[str, Any]:
        """Return what a report says besides its findings."""
        return {
            "title": f"{Path(self.source).name}, {self.targets.noun} {self.targets.listed}",
            "data": self.data,
            "recipe": shlex.join(["lincfa", *self.options.arguments]),
            "notes": self.terminal.notes,
        }

    @property
    def _groups(self) -> tuple[Any, Any]:
        """Which rows of those learned from, and of those held out, belong together."""
        groups = self.folds.groups
        if groups is None:
            return None, None
        return groups.of(self.split.train), groups.of(self.split.test)

    def score(self, X: Any, X_test: Any) -> "tuple[Any, Findings | None]":
        """Score the model on rows held out, if there are any; gather the findings of a report."""
        from ..report._findings import collect_findings
        from ..report._scores import score_model

        y, y_test = self.targets.of(self.split.train), self.targets.of(self.split.test)
        given = {"X": X, "y": y, "ordered": self.folds.in_blocks, "groups": self._groups}
        if X_test is not None:
            given |= {"X_test": X_test, "y_test": y_test}
        if self.options.no_report:
            return (None if X_test is None else score_model(self.model, **given)), None
        findings = collect_findings(self.model, **given, **self.about())
        return findings.scores, findings

    def score_reduced(self, means: Any, means_test: Any) -> "tuple[Any, Findings | None]":
        """Do the same with the reduced features alone, where the data are read in chunks."""
        import numpy as np

        from ..report._findings import collect_findings
        from ..report._scores import fit_on_reduced, score_on_reduced

        parts = (self.split.train, self.split.test)
        y, y_test = (np.asarray(self.targets.of(part)) for part in parts)
        fitted, scores = fit_on_reduced(self.model, means, y), None
        if means_test is not None:
            apart = {"ordered": self.folds.in_blocks, "groups": self._groups[1]}
            scores = score_on_reduced(self.model, fitted, means_test, y_test, **apart)
        if self.options.no_report:
            return scores, None
        given = {"regression": fitted, "scores": scores}
        return scores, collect_findings(self.model, **given, **self.about())

    def note_many_groups(self) -> None:
        from .._data._checks import are_many

        n_groups, n_samples = self.reducer.n_groups_, self.split.train.size
        if self.choice.by == "cross-validation" or not are_many(n_groups, n_samples):
            return
        advice = "a larger --tolerance, or --tolerance cv"
        if self.options.n_groups is not None:
            advice = "a smaller --n-groups"
        self.terminal.note(
            f"{n_groups} groups are many for {n_samples} samples to learn from: least squares on "
            f"them would overfit; for fewer try {advice}"
        )

    def _constraint(self) -> str:
        """Return which features may merge, in words; empty if all may."""
        field = self.reducer._columns.field
        variables = () if field is None else field.variables
        adjacent = "" if self.reducer.connectivity is None else "neighbouring "
        kinds = ["variable"] * (len(variables) > 1) + ["lag"] * (len(self.options.lags) > 1)
        same = f" of the same {' and '.join(kinds)}" if kinds else ""
        if not adjacent and not same:
            return ""
        fewest = self.reducer.n_connected_components_
        at_least = f" (at least {fewest} groups)" if fewest > 1 else ""
        if self.options.connectivity == "stations":
            what = f"stations at most {self.options.radius_km:g} km apart"
        else:
            what = f"{adjacent}{'cells' if variables else 'columns'}"
        return f"only {what}{same} merge{at_least}"

    def _by_target(self, values: Any) -> Any:
        """Return the number of a group, or for several targets or classes one for each."""
        if values.ndim == 0:
            return float(values)
        return dict(zip(self.reducer.target_names_, values.tolist(), strict=True))

    def print(
        self,
        scores: Any,
        findings: "Findings | None",
        written: Mapping[str, str],
    ) -> None:
        """Print the outcome, for a person or a program."""
        from ..report._findings import plain, settings_of, versions
        from ..report._words import list_warnings

        terminal, summary = self.terminal, self.model.summary()
        n_cancelling = summary.n_cancelling if findings is None else findings.n_cancelling
        searched = self.choice.by == "cross-validation"
        n_weights = summary.n_groups * len(self.reducer.target_names_)
        warnings = list_warnings(scores, n_cancelling, n_weights, searched)
        # Of the weights of a search the table below says so.
        first = warnings if summary.weight is None else list_warnings(scores, 0, 0, searched)
        for text in first:
            terminal.print(f"warning: {text}", prose=True)
            terminal.print()
        if searched:
            terminal.print(f"merged {self.choice.words}")
            terminal.print(summary.choice[0])
        terminal.print(str(summary.table(5, options=True)), lines=True)
        if self._constraint():
            terminal.print(self._constraint())
        if self.reducer.units == "standardized":
            terminal.print("in standard deviations, single features too (see --units)")
        terminal.print()
        if scores is not None:
            for line in _score_lines(scores):
                terminal.print(line)
            if self.folds.groups is not None:
                terminal.print(f"held out: {self.split.description}")
            terminal.print()
        for what, path in written.items():
            terminal.print(f"{what}: {'standard output' if path == '-' else path}")
        weights = [None] * summary.n_groups if summary.weight is None else summary.weight
        correlations = summary.target_correlation
        groups = zip(summary.names, summary.members, correlations, weights, strict=True)
        classes = getattr(self.reducer, "classes_", None)
        terminal.print_json(
            {
                "worse_than_mean": getattr(scores, "worse_than_mean", None),
                "no_better_than_most_frequent": getattr(
                    scores, "no_better_than_most_frequent", None
                ),
                "warnings": warnings,
                "headline": summary.headline,
                "choice": {"by": self.choice.by, "reason": self.choice.reason},
                "targets": self.targets.names,
                "classes": None if classes is None else classes.tolist(),
                "n_samples": self.split.train.size,
                "n_features": summary.n_features,
                "n_groups": summary.n_groups,
                "n_connected_components": self.reducer.n_connected_components_,
                "scores": plain(scores),
                "settings": settings_of(self.model),
                "data": self.data,
                "versions": versions(),
                "notes": terminal.notes,
                "groups": [
                    {
                        "name": name,
                        "features": list(features),
                        "target_correlation": self._by_target(r),
                        "weight": None if weight is None else self._by_target(weight),
                    }
                    for name, features, r, weight in groups
                ],
                "constant": self.constant,
                "written": dict(written),
            }
        )


def _score_lines(scores: Any) -> Iterator[str]:
    """State how well the model and its rivals predict: all targets, then each."""
    several = getattr(scores, "targets", ())
    score = "R²" if hasattr(scores.rows[0], "r2") else "accuracy and log loss"
    mean = f", the mean of {len(several)} targets" if several else ""
    yield f"{score} on {scores.n_test} held-out rows{mean}:"
    for row in reversed(scores.rows):
        where = f"{row.method} on {row.features} ({row.n_features})"
        if hasattr(row, "r2"):
            yield f"  {_with_interval(row.r2)}  {where}"
            continue
        loss = "" if row.log_loss is None else f", {row.log_loss.value:.3f}"
        yield f"  {_with_interval(row.accuracy)}{loss}  {where if row.n_features else row.method}"
    for each in several[:TARGETS_SHOWN]:
        *rivals, reduced = each.rows
        rival = max(rivals, key=lambda row: row.r2.value, default=None)
        against = "" if rival is None else f"; {rival.method} on all {decimals(rival.r2.value)}"
        yield f"  {each.target}: {_with_interval(reduced.r2)} on reduced features{against}"
    if len(several) > TARGETS_SHOWN:
        yield f"  … and {len(several) - TARGETS_SHOWN} more targets (--json has all)"


def _with_interval(figure: Any) -> str:
    low, high = decimals(figure.low), decimals(figure.high)
    interval = "" if isnan(figure.low) else f" ({low} to {high})"
    return f"{decimals(figure.value)}{interval}"


def _fingerprint(path: str) -> dict[str, str | int]:
    """Return the size and checksum of a file, by which to know it again."""
    if path == "-" or not Path(path).is_file():
        return {}
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": Path(path).stat().st_size, "SHA-256": digest}
