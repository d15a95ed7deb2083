"""Which columns are features, and which rows are complete, learned from and scored on."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from re import fullmatch
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data._names import describe_columns, did_you_mean, name_renamed
from ._codes import note_codes, number_text
from ._files import DataFile
from ._files._tables import Indices, looks_numeric, matching
from ._folds import Folds, RowGroups
from ._terminal import Terminal

_COMMENTS = 5
_INDEX = r"|Unnamed: \d+|__index_level_\d+__"  # names under which pandas writes row labels
_USUAL_SHARE = 0.3
_FEWEST_TO_SHARE = 20
_FEWEST = 4
_MOST_CLASSES, _SHARE_OF_CLASSES = 10, 0.25  # of the rows; text with more labels is a mistake
_NAMED = 5  # labels, or targets
_GROUP_SPLITS = 50  # to choose from
PAIRWISE = "--missing pairwise uses the values there are"
DROP_COLUMN = "--drop COLUMN leaves out a column"


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Let errors of the library name the file."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error


def select_columns(data: DataFile, wanted: Sequence[str], *, patterns: bool = True) -> list[str]:
    """Return the columns with these names, or matching these patterns; each must match one."""
    # With patterns the name of a gridded variable means all of its cells.
    found: dict[str, None] = {}
    known = set(data.names)
    cells = {variable.name: variable.columns for variable in data.variables}
    for each in wanted:
        matches = [each] if each in known else []
        if not matches and patterns:
            matches = cells.get(each) or matching(data.names, each)
        if not matches:
            hint = did_you_mean(each, data.names)
            if len(data.names) == 1:
                hint = f"; it has one column, {data.names[0]!r}: is the separator another one?"
            if each in cells:
                hint = f"; it is gridded: name a cell, such as {cells[each][0]!r}"
            what = "no column that matches" if patterns and _is_pattern(each) else "no column"
            raise ValueError(f"{data.source} has {what} {each!r}{hint}")
        found.update(dict.fromkeys(matches))
    return list(found)


def _is_pattern(wanted: str) -> bool:
    return any(sign in wanted for sign in "*?[")


def select_targets(data: DataFile, wanted: Sequence[str]) -> list[str]:
    """Return the columns that are targets, by their names or by patterns; none is named twice."""
    found: dict[str, str] = {}
    cells = {name for variable in data.variables for name in variable.columns}
    possible = [n for n in data.names if n not in data.coordinates and n not in cells]
    for each in wanted:
        matches = matching(possible, each)
        if not matches:
            matches = select_columns(data, [each], patterns=_is_pattern(each))
        for name in matches:
            if name in found:
                by = "" if each == found[name] == name else f", by {found[name]!r} and {each!r}"
                raise ValueError(f"--target names column {name!r} twice{by}")
            found[name] = each
    return list(found)


@dataclass(frozen=True)
class Targets:
    """What is to be predicted: one column of numbers, several, or one of labels of classes."""

    names: list[str]
    values: Any  # an array of numbers, a frame of several columns, or a series of labels
    are_classes: bool

    @property
    def noun(self) -> str:
        return "target" if len(self.names) == 1 else "targets"

    @property
    def listed(self) -> str:
        """Their names, or the first of many."""
        more = len(self.names) - _NAMED
        return ", ".join(self.names[:_NAMED]) + (f" and {more} more" if more > 0 else "")

    @cached_property
    def known(self) -> dict[str, npt.NDArray[np.bool_]]:
        """Which rows have a value of each target."""
        if self.are_classes:
            return {self.names[0]: self.values.is_not_null().to_numpy()}
        columns = np.asarray(self.values).reshape(len(self.values), -1).T
        return {name: ~np.isnan(values) for name, values in zip(self.names, columns, strict=True)}

    def of(self, rows: Indices) -> Any:
        """Return the targets of some rows, as the library takes them."""
        return self.values[rows].to_numpy() if self.are_classes else self.values[rows]

    def named(self, rows: Indices) -> Any:
        """Return the same with their names, which a model keeps."""
        import polars as pl

        values = self.of(rows)
        return values if isinstance(values, pl.DataFrame) else pl.Series(self.names[0], values)

    def constant(self, rows: Indices) -> tuple[str, str] | None:
        """Return a target that is the same in all of some rows, and its value in words."""
        columns = [self.values] if len(self.names) == 1 else self.values.iter_columns()
        for name, column in zip(self.names, columns, strict=True):
            values = column[rows]
            if len(values) and (values == values[0]).all():
                value = values[0]
                return name, repr(value) if self.are_classes else f"{value:g}"
        return None


def read_targets(data: DataFile, names: list[str], classes: bool, terminal: Terminal) -> Targets:
    """Read the targets; text, categories and booleans are labels of classes, and noted."""
    labelled = [name for name in names if classes or data.holds_labels(name)]
    if not labelled:
        if len(names) == 1:
            values = data.target(names[0])
            _note_few_values(names[0], values, terminal)
            return Targets(names, values, False)
        import polars as pl

        return Targets(names, pl.DataFrame({name: data.target(name) for name in names}), False)
    name = labelled[0]
    if len(names) > 1:
        why = f"{name!r} holds labels of classes ({str(data.schema[name]).lower()}), which are"
        raise ValueError(
            f"{data.source}: {'--classes is for' if classes else why} one target alone; --target "
            f"names {describe_columns(names, range(len(names)))}"
        )
    if not (data.holds_labels(name) or data.schema[name].is_numeric()):
        data.require_numeric([name])  # such as dates
    labels = data.labels(name)
    if labels.dtype.is_float() and (labels % 1 != 0).any():
        raise ValueError(
            f"{data.source}: {name!r} has numbers with fractions, which are no classes"
        )
    found = labels.drop_nulls().unique().sort()
    many = len(found) > max(_MOST_CLASSES, _SHARE_OF_CLASSES * data.n_rows)
    numbers = looks_numeric(labels)
    if not classes and (many or numbers):
        try:
            data.require_numeric([name])
        except ValueError as error:
            why = "" if numbers else f" and has {len(found)} different values"
            raise ValueError(f"{error}{why}; --classes takes them as labels of classes") from None
    if len(found):
        counts = [f"{label!r} ({(labels == label).sum()})" for label in found[:_NAMED]]
        more = "" if len(found) <= len(counts) else f" and {len(found) - len(counts)} more"
        terminal.note(
            f"the target {name!r} is {len(found)} "
            f"{'class' if len(found) == 1 else 'classes'}: {', '.join(counts)}{more}"
        )
    return Targets(names, labels, True)


def read_groups(data: DataFile, name: str | None, targets: Sequence[str]) -> RowGroups | None:
    """Read which rows belong together; None without a column that says so."""
    if name is None:
        return None
    if name.lower().endswith(".json") and name not in data.names:
        raise ValueError(
            f"{data.source} has no column {name!r}: --groups names a column of rows to hold out "
            "together, and the file for the model is --model now"
        )
    if any(name in (variable.name, *variable.columns) for variable in data.variables):
        raise ValueError(
            f"{data.source}: {name!r} is gridded, and --groups needs a variable along "
            f"{data.sample_dim!r} alone"
        )
    select_columns(data, [name], patterns=False)
    if name in targets:
        raise ValueError(f"column {name!r} is a target, and cannot name groups of rows")
    labels = data.labels(name)
    missing = labels.is_null().to_numpy()
    if missing.any():
        raise ValueError(
            f"{data.source}: column {name!r} lacks the group of {_rows(int(missing.sum()))}, first "
            f"of row {missing.argmax() + 1}; leave such rows out, or give them a group"
        )
    if labels.dtype.is_float() and (labels % 1 != 0).any():
        raise ValueError(
            f"{data.source}: {name!r} has numbers with fractions, which name no groups"
        )
    numbers = labels.rank("dense").to_numpy().astype(np.intp) - 1
    if not numbers.any():
        raise ValueError(
            f"{data.source}: all rows are in 1 group of {name!r}; at least 2 are needed to hold "
            "out whole groups"
        )
    return RowGroups(name, numbers)


def _note_few_values(name: str, values: npt.NDArray[Any], terminal: Terminal) -> None:
    """Say how to take whole numbers as labels, where they may be some."""
    found = np.unique(values[np.isfinite(values)])
    if 2 < found.size <= _MOST_CLASSES and found.size < values.size / 10 and (found % 1 == 0).all():
        terminal.note(
            f"the target {name!r} has {found.size} different whole numbers; if they are labels of "
            "classes, use --classes"
        )


def assign_roles(
    data: DataFile,
    targets: Sequence[str],
    drop: Sequence[str],
    keep: Sequence[str],
    terminal: Terminal | None,
    *,
    fate: str = "kept unchanged",
) -> tuple[list[str], list[str]]:
    """Return the columns to reduce, and those to keep; the targets are kept."""
    # Notes which are not features though no option says so, and with ``fate`` what happens to them;
    # nothing without a terminal.
    names = data.names
    dropped, kept = set(select_columns(data, drop)), set(select_columns(data, keep))
    kept.update(data.date_columns)
    for name in sorted(dropped & {*targets, *kept}):
        a = "the" if len(targets) == 1 else "a"
        role = f"{a} target" if name in targets else "to be kept"
        raise ValueError(f"column {name!r} is {role} and cannot be dropped")
    numeric, empty = set(data.numeric), set(data.empty)
    taken = {*targets, *dropped, *kept}
    labels = [name for name in names if name not in taken and fullmatch(_INDEX, name)]
    others = [name for name in names if name not in taken.union(labels)]
    features = [name for name in others if name in numeric]
    text = [name for name in others if name not in empty and name not in numeric]
    if terminal is not None:
        about = data.coordinates - {data.sample_dim}
        dates = None if data.dates is None else data.dates.name
        plain = [name for name in text if name not in data.coordinates and name != dates]
        _note(terminal, f"not numeric, {fate}", plain, data.comments)
        _note(terminal, f"coordinates of the samples, {fate}", [n for n in text if n in about])
        masked = _note_masks(data, set(features), empty.intersection(others), terminal)
        without = [name for name in others if name in empty and name not in masked]
        _note(terminal, f"without any value, {fate}", without)
        _note(terminal, f"row labels, {fate}", labels)
    if not features:
        first = np.arange(1)
        values = data.kept_frame(text[:_COMMENTS], first).row(0) if text else ()
        comma = any(fullmatch(r"\s*-?\d+,\d+\s*", v) for v in values if isinstance(v, str))
        advice = "; numbers must have a decimal point, not a comma"
        if data.format.kind == "csv" and data.format.separator != ",":
            advice = "; --decimal , takes the commas in its numbers as decimal ones"
        raise ValueError(
            f"{data.source} has no numeric column besides the "
            + (f"target {targets[0]!r}" if len(targets) == 1 else "targets, ")
            + ("" if len(targets) == 1 else describe_columns(targets, range(len(targets))))
            + (advice if comma else "")
        )
    gone = {*dropped, *features}
    return features, [name for name in names if name not in gone]


def require_features(data: DataFile, features: Sequence[str], model: str) -> None:
    lacking = sorted(set(features).difference(data.names), key=list(features).index)
    if lacking:
        listed = describe_columns(lacking, range(len(lacking)), limit=3)
        others = [name for name in data.names if name not in {*features}]
        hint = name_renamed(others, lacking)
        raise ValueError(f"{data.source} does not have {listed}, which {model} averages{hint}")


def _note_masks(
    data: DataFile, features: set[str], empty: set[str], terminal: Terminal
) -> set[str]:
    """Note how many cells of reduced variables are missing throughout; return these cells."""
    found: set[str] = set()
    for variable in data.variables:
        masked = empty.intersection(variable.columns)
        if masked and not features.isdisjoint(variable.columns):
            are = "is" if len(masked) == 1 else "are"
            terminal.note(
                f"{len(masked)} of {len(variable.columns)} cells of {variable.name!r} {are} "
                f"missing at every sample and {are} left out of the features"
            )
            found |= masked
    return found


def _note(
    terminal: Terminal, what: str, names: Sequence[str], comments: Mapping[str, str] | None = None
) -> None:
    """Name columns in a note, if there are any, with comments on the first of them."""
    if names:
        commented = [name for name in names if name in (comments or {})][:_COMMENTS]
        more = "; ".join(f"{name!r}: {(comments or {})[name]}" for name in commented)
        listed = describe_columns(names, range(len(names)))
        terminal.note(f"{what}: {listed}" + (f" ({more})" if more else ""))


@dataclass(frozen=True)
class UsableRows:
    """Rows whose features can be averaged, and those of them that have a target; in order."""

    reduced: Indices
    known: Indices

    @property
    def unknown(self) -> Indices:
        return np.setdiff1d(self.reduced, self.known, assume_unique=True)


def usable_rows(
    data: DataFile,
    features: Sequence[str],
    missing: str,
    terminal: Terminal,
    *,
    targets: Targets | None = None,
    reduces: bool = False,
    fewest: int = _FEWEST,
    advice: Sequence[str] = (DROP_COLUMN,),
) -> UsableRows:
    """Return the rows that have a value in each feature; with ``missing="pairwise"`` all rows."""
    # Raises if there are infinite values; if a row with a target lacks a feature, unless such rows
    # are to be dropped; and if fewer than ``fewest`` stay. Rows without a target are noted, and so
    # are values that look like codes for missing ones.
    numbers = [] if targets is None or targets.are_classes else targets.names
    columns = [*numbers, *features]
    note_codes(data, columns, terminal)
    counts = data.count_values(columns)
    for name, row in counts.infinite.items():
        raise ValueError(f"{data.source}: column {name!r} contains infinity (row {row + 1})")
    there = np.ones(data.n_rows, dtype=np.bool_) if data.has_lags is None else data.has_lags
    known = complete = there
    for name, present in {} if targets is None else targets.known.items():
        if not present.any():
            raise ValueError(f"{data.source}: the target {name!r} has no value in any row")
        known = known & present
    if targets is not None and not known.any():
        raise ValueError(f"{data.source}: no row has a value of all targets")
    lacking = [name for name in features if counts.missing[name]]
    if lacking and missing != "pairwise":
        complete = there & data.complete_rows(lacking)
    lost, left_out = known & ~complete, ""
    if lost.any():
        what, where = _missing_values(data), _columns_by_count(lacking, counts.missing)
        rows = f"{lost.sum()} of {_rows(data.n_rows)}"
        if missing == "error":
            drop = "--missing drop leaves out rows that lack any feature"
            remedies = [drop, *advice, "or impute them first"]
            raise ValueError(
                f"{data.source}: {what} in {where}, in {rows} (first in row "
                f"{np.argmax(lost) + 1}); {', '.join(remedies)}"
            )
        stay = int((known & complete).sum())
        if stay < fewest:
            raise ValueError(
                f"{data.source}: --missing drop would leave {stay or 'none'} of "
                f"{_rows(int(known.sum()))}; {what} in {where}"
                + "".join(f"; {remedy}" for remedy in advice)
            )
        left_out = f"{rows} left out because of {what} in {where}"
    if not known[there].all():
        flags = {} if targets is None else targets.known
        gaps = {name: int((there & ~present).sum()) for name, present in flags.items()}
        _note_unknown(known[there], complete[there], gaps, terminal, reduces=reduces)
    if left_out:
        terminal.note(left_out)
    return UsableRows(np.flatnonzero(complete), np.flatnonzero(known & complete))


def _note_unknown(
    known: npt.NDArray[np.bool_],
    complete: npt.NDArray[np.bool_],
    gaps: Mapping[str, int],
    terminal: Terminal,
    *,
    reduces: bool,
) -> None:
    """Note how many rows have no target, or lack one of several, and what happens to them."""
    count, n_reduced = int((~known).sum()), int((~known & complete).sum())
    one = count == 1
    note = f"{count} of {_rows(known.size)} {'has' if one else 'have'} no target"
    if len(gaps) > 1:
        lacking = [name for name in gaps if gaps[name]]
        where = _columns_by_count(lacking, gaps)
        note = f"{count} of {_rows(known.size)} {'lacks' if one else 'lack'} a target, {where},"
    if not reduces or not n_reduced:
        note += f" and {'is' if one else 'are'} left out"
    elif n_reduced < count:
        are = "is" if n_reduced == 1 else "are"
        note = note.removesuffix(",")
        note += f": nothing is learned from them, and {n_reduced} with all features {are} reduced"
    else:
        note = note.removesuffix(",")
        note += f": {'it is' if one else 'they are'} reduced, but not learned from"
    terminal.note(note)


def _rows(count: int) -> str:
    return f"{count} {'row' if count == 1 else 'rows'}"


def _missing_values(data: DataFile) -> str:
    codes = ", ".join(map(number_text, data.codes))
    return f"missing values (also {codes})" if codes else "missing values"


def _columns_by_count(names: Sequence[str], counts: Mapping[str, int], limit: int = 5) -> str:
    """Name the columns with most missing values, and how many these are."""
    ordered = sorted(names, key=lambda name: -counts[name])
    shown = ", ".join(f"{name!r} ({counts[name]})" for name in ordered[:limit])
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{'column' if len(names) == 1 else 'columns'} {shown}{more}"


def with_values(
    data: DataFile, features: list[str], rows: Indices, terminal: Terminal
) -> tuple[list[str], list[str]]:
    """Divide features into those that have a value in the rows to learn from, and others."""
    present = set(data.with_values(features, rows))
    without = [name for name in features if name not in present]
    _note(terminal, "without any value in the rows to learn from, kept unchanged", without)
    if not present:
        raise ValueError(f"{data.source}: no feature has a value in the rows to learn from")
    return [name for name in features if name in present], without


def rows_of_pair(data: DataFile, pair: Sequence[str], rows: Indices, terminal: Terminal) -> Indices:
    """Return those of the rows to learn from that have values of two features."""
    chosen = rows[data.complete_rows(pair)[rows]]
    if chosen.size == rows.size:
        return rows
    a, b = pair
    if chosen.size < _FEWEST:
        raise ValueError(
            f"{data.source}: {a!r} and {b!r} both have a value in {chosen.size} of the "
            f"{_rows(rows.size)} to learn from; at least {_FEWEST} are needed"
        )
    lost = rows.size - chosen.size
    terminal.note(f"{lost} of {_rows(rows.size)} left out: {a!r} or {b!r} has no value there")
    return chosen


@dataclass(frozen=True)
class RowSplit:
    """Rows to learn from and rows held out, and how they were held out."""

    train: Indices
    test: Indices  # of blocks in order of time
    description: str


def split_rows(
    data: DataFile,
    rows: Indices,
    targets: Targets,
    options: argparse.Namespace,
    folds: Folds,
    terminal: Terminal,
) -> RowSplit:
    """Hold out rows: the last, whole groups, or at random, of each class its share, never all."""
    share = options.test
    if share is None:
        share = _USUAL_SHARE if rows.size >= _FEWEST_TO_SHARE else 0.0
        if not share:
            few = f"{rows.size} rows are too few to hold some out for scores"
            terminal.note(f"{few}; --test SHARE does so anyway")
    count = round(share * rows.size)
    by_class = targets.are_classes and not folds.in_blocks and folds.groups is None
    if by_class:
        labels = targets.of(rows)
        sizes = np.unique(labels, return_counts=True)[1].tolist()
        shares = [min(round(share * size), size - 1) for size in sizes]
        count = sum(shares)
    if share and not count:
        each = " of each class" if by_class else ""
        raise ValueError(f"{data.source}: --test {share:g} of {rows.size} rows{each} is no row")
    if folds.in_blocks:
        how = "the last ones"
        train, test = folds.last(rows, count)
    elif folds.groups is not None:
        train, test, how = _hold_out_groups(data, rows, targets, folds.groups, share, options.seed)
    else:
        how = f"at random{' within each class' if by_class else ''}, seed {options.seed}"
        order = np.random.default_rng(options.seed).permutation(rows)
        if by_class:
            codes = np.unique(targets.of(order), return_inverse=True)[1]
            parts = [order[codes == k] for k in range(len(shares))]
            pairs = list(zip(parts, shares, strict=True))
            order = np.concatenate(
                [p[: p.size - n] for p, n in pairs] + [p[p.size - n :] for p, n in pairs]
            )
        train, test = (np.sort(part) for part in np.split(order, [rows.size - count]))
    beside = rows.size - train.size - test.size
    if train.size < _FEWEST:
        raise ValueError(
            f"{data.source}: {train.size} rows to learn from are too few; at least {_FEWEST} are "
            "needed"
            + (f", besides the {test.size} held out (--test {share:g})" if test.size else "")
            + (f" and the {beside} next to them (--gap)" if beside else "")
        )
    description = f"{test.size} of {rows.size} rows, {how}" if test.size else "none"
    if beside:
        description += f", and {beside} next to them left out"
    return RowSplit(train, test, description)


def _hold_out_groups(
    data: DataFile, rows: Indices, targets: Targets, groups: RowGroups, share: float, seed: int
) -> tuple[Indices, Indices, str]:
    """Hold out the rows of a share of the groups, at random; also say so."""
    # Of several random splits the one in which the rows, or those of each class, come closest to
    # their share, as groups differ in size.
    from sklearn.model_selection import GroupShuffleSplit

    numbers = groups.of(rows)
    n_groups = np.unique(numbers).size
    if not share:
        return rows, rows[:0], ""
    if n_groups < 2:
        raise ValueError(
            f"{data.source}: the rows to learn from are in 1 group of {groups.name!r}; at least 2 "
            "are needed to hold out whole groups, or --test 0, which holds out none"
        )
    labels = targets.of(rows) if targets.are_classes else np.zeros(rows.size)
    codes = np.unique(labels, return_inverse=True)[1]
    wanted = share * np.bincount(codes)
    n_test = min(max(1, round(share * n_groups)), n_groups - 1)

    def distance(split: tuple[Indices, Indices]) -> float:
        found = np.bincount(codes[split[1]], minlength=wanted.size)
        return float(np.abs(found - wanted).sum())

    shuffled = GroupShuffleSplit(_GROUP_SPLITS, test_size=n_test, random_state=seed)
    train, test = min(shuffled.split(rows, groups=numbers), key=distance)
    how = f"those with {n_test} of {n_groups} values of {groups.name!r}, at random, seed {seed}"
    return rows[train], rows[test], how


def require_variation(
    data: DataFile, targets: Targets, rows: Indices, where: str = "every row"
) -> None:
    constant = targets.constant(rows)
    if constant is not None:
        name, value = constant
        raise ValueError(f"{data.source}: the target {name!r} is {value} in {where}")
