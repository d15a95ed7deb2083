"""What is predicted: one target or several, or classes, which become targets as indicators."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ._checks import (
    are_numbers,
    check_unique,
    column_names,
    is_dataset,
    is_field,
    is_frame,
    is_pandas,
    missing_target,
    not_finite_target,
    too_large,
)
from ._compute import computed
from ._names import Names, shown

Kind: TypeAlias = Literal["numbers", "classes"] | None
"""What a target is; None for numbers if it holds numbers, and else for classes."""


@dataclass(frozen=True, eq=False)
class Targets:
    """What is known of the targets besides their values.

    Classes are as many indicators as there are classes; of two classes one indicator, that of the
    second, as the other says the same.
    """

    size: int = 1
    names: Names | None = None  # as the user writes them, strings or not
    classes: npt.NDArray[Any] | None = None  # in order
    title: str | None = None  # name of a single one, of a Series or of xarray
    attrs: Mapping[str, str] = field(default_factory=dict)  # its units and long name, of xarray

    @property
    def titles(self) -> list[str]:
        """Names of what is predicted: of classes the target's, not their labels."""
        if self.classes is not None or (self.size == 1 and self.names is None):
            return [self.title or "y"]
        return self.labels

    @property
    def labels(self) -> list[str]:
        """Names to display.

        Labels of classes (of two, the second), the names given, or ``y``, or ``y0``, ``y1``, ….
        """
        if self.classes is not None:
            return [str(label) for label in self.classes[-self.size :].tolist()]
        if self.names is not None:
            return [str(name) for name in self.names]
        return ["y"] if self.size == 1 else [f"y{k}" for k in range(self.size)]

    def describe(self, number: int) -> str:
        """Name a target in a message."""
        if self.classes is not None:
            return "the classes" if self.size == 1 else f"the class {_shown(self.classes[number])}"
        if self.size == 1:
            return "the target y"
        return f"target {number}" if self.names is None else f"the target {self.names[number]!r}"

    def check_varying(self, varies: npt.NDArray[np.bool_], some: npt.NDArray[np.float64]) -> None:
        """Raise if a target is constant, given which vary and the targets of a sample, or means."""
        if varies.all():
            return
        number = int(np.flatnonzero(~varies)[0])
        if self.classes is None:
            what = self.describe(number)
            raise ValueError(
                f"{what[0].upper()}{what[1:]} is constant (all values are {some[number] + 0.0:g}): "
                "nothing supervises the reduction."
            )
        if self.size == 1 or some[number] > 0:
            only = self.classes[round(float(some[0])) if self.size == 1 else number]
            raise one_class(only)
        raise ValueError(f"There are no samples of {self.describe(number)}.")

    def as_given(self, y: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Return the targets as estimators of scikit-learn take them: labels, or no second axis."""
        if self.classes is not None:
            return np.asarray(self.classes[self.codes(y)])
        return y[:, 0] if self.size == 1 else y

    def codes(self, y: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
        """Return the number of the class of each sample, given the indicators."""
        found = y[:, 0] > 0.5 if self.size == 1 else y.argmax(axis=1)
        return np.asarray(found, dtype=np.intp)

    def present(self, y: npt.NDArray[np.float64]) -> "tuple[Targets, npt.NDArray[np.bool_]]":
        """Leave out classes that have no samples; return the targets, and which are left."""
        if self.classes is None or self.size == 1:
            return self, np.ones(self.size, dtype=np.bool_)
        there = np.asarray(y.any(axis=0))
        if there.sum() == 1:
            raise one_class(self.classes[there][0])
        return Targets(int(there.sum()), None, self.classes[there]), there

    def indicators(self, codes: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """Return the targets of samples of classes with these numbers."""
        numbers = np.arange(self.size) + (1 if self.size == 1 else 0)
        return np.asarray(codes[:, None] == numbers, dtype=np.float64)


def one_class(label: Any) -> ValueError:
    return ValueError(
        f"All samples are of one class, {_shown(label)}: at least two classes are needed."
    )


def read_targets(
    y: Any, kind: Kind = "numbers", known: Targets | None = None, classes: Any = None
) -> tuple[npt.NDArray[np.float64], Targets]:
    """Open one target or several, in memory, as an array of shape (n, K).

    ``known`` are those of earlier chunks, ``classes`` all labels that there may be.
    """
    y = computed(y, "the target y")
    names = names_of_targets(y) if is_frame(y) or is_dataset(y) else None
    if names is not None and len(names) == 1:
        y = y[names[0]]
        values, _ = _opened(y)
    else:
        values, names = _opened(y)
    categories = _is_categorical(y)
    if categories and kind == "numbers":
        raise not_numeric()
    if kind is None:
        kind = "classes" if categories or _holds_labels(values) else "numbers"
    if known is not None and (kind == "classes") != (known.classes is not None):
        before, now = ("numbers", "classes") if known.classes is None else ("classes", "numbers")
        raise ValueError(f"The target held {before} before and holds {now} now.")
    if kind == "classes":
        return _read_classes(y, None if known is None else known.classes, classes)
    if classes is not None:
        raise ValueError("classes are for a target of labels, and this one holds numbers.")
    numbers = _read_numbers(values, names)
    targets = Targets(numbers.shape[1], names)
    if known is not None:
        _check_same(known, targets)
        targets = known
    return numbers, targets


def with_title(targets: Targets, y: Any) -> Targets:
    """Add what a single target is called, and its unit, as far as its container says so."""
    if targets.size > 1 and targets.classes is None:
        return targets
    if is_dataset(y):
        (y,) = y.data_vars.values()
    elif is_frame(y) and getattr(y, "ndim", 2) == 2:  # a Series of dask has columns too
        y = y[y.columns[0]]
    if not (is_field(y) or hasattr(y, "to_frame")):  # nor a Series
        return targets
    attrs = getattr(y, "attrs", {})
    kept = {key: str(attrs[key]) for key in ("units", "long_name") if key in attrs}
    return replace(
        targets, title=y.name if y.name and isinstance(y.name, str) else None, attrs=kept
    )


def _opened(y: Any) -> tuple[Any, Names | None]:
    """Values of shape (n,) or (n, K), as an array or a frame, and the names of several."""
    names = names_of_targets(y)
    if is_field(y):
        if is_dataset(y):
            return np.column_stack([y[name].values for name in names or ()]), names
        return y.values, names
    if is_frame(y):
        return y, names
    if y is None:
        raise ValueError("The target y is None: pass its values.")
    if isinstance(y, str) or sparse.issparse(y):
        what = "is sparse: pass y.toarray()" if sparse.issparse(y) else f"is the word {y!r}"
        raise ValueError(f"The target y must be given by its values, and {what}.")
    if np.ma.is_masked(y):
        raise ValueError("The target y has masked values: drop or impute them first.")
    if is_pandas(y, "Series") and not isinstance(y.dtype, np.dtype):
        return _of_extension(y), None
    values = np.asarray(y)
    if values.dtype.kind in "US" and isinstance(y, list | tuple):
        values = np.asarray(y, dtype=object)  # or NumPy would turn missing values into text
    return values, None


def names_of_targets(y: Any) -> Names | None:
    """Names of the variables or columns, and along the second dimension; None for one column."""
    if not is_field(y):
        return column_names(y)
    if not is_dataset(y):
        several = y.ndim == 2 and y.dims[1] in y.coords
        return y.coords[y.dims[1]].values.tolist() if several else None
    if not y.data_vars:
        raise ValueError("The target y is a Dataset without variables.")
    return list(y.data_vars)


def complex_target() -> ValueError:
    return ValueError("Complex data not supported: the target y is complex.")


def not_numeric(name: Any = None) -> ValueError:
    """Return the error for a target that does not hold numbers; named if there are several."""
    if name is None:
        return ValueError(
            "The target y is not numeric. Labels of classes are for LinCFAClassifierCV, or LinCFA."
        )
    return ValueError(
        f"The target {name!r} is not numeric. Labels can be given alone, as one column."
    )


def _is_categorical(y: Any) -> bool:
    """Whether the type of a column says that it holds categories, in pandas or polars."""
    kind = type(getattr(y, "dtype", None)).__name__
    return kind in ("CategoricalDtype", "Categorical", "Enum")


def _of_extension(series: Any) -> npt.NDArray[Any]:
    """Values of a pandas series of one of its own types, NaN where they are missing."""
    import pandas

    if _is_categorical(series):
        return np.asarray(series)
    if pandas.api.types.is_bool_dtype(series.dtype) and not series.isna().any():
        return np.asarray(series.to_numpy(dtype=np.bool_))
    if pandas.api.types.is_integer_dtype(series.dtype) and not series.isna().any():
        return np.asarray(series.to_numpy(dtype=np.int64))
    if pandas.api.types.is_numeric_dtype(series.dtype):
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(series.astype(object).to_numpy())


def _holds_labels(values: Any) -> bool:
    """Whether these are text or booleans; raise for numbers written as text."""
    if is_frame(values) or (values.ndim == 2 and values.shape[1] > 1):
        return False  # or an error that names the column
    kind = values.dtype.kind
    if kind == "O" and values.size and all(isinstance(v, bool | np.bool_) for v in values.flat):
        return True
    if kind == "b":
        return True
    if kind not in "USO" or (kind == "O" and are_numbers(values.flat)):
        return False
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return True
    if not values.size:
        return True
    raise ValueError(
        "The target y is not numeric, but numbers written as text: convert them, as with "
        'astype(float), or say that they are labels of classes, with target="classes".'
    )


# Numbers


def _read_numbers(values: Any, names: Names | None) -> npt.NDArray[np.float64]:
    check_unique([str(name) for name in names or ()], "Names of targets", "y")
    if is_frame(values) or (values.ndim == 2 and values.dtype.kind == "O"):
        frame = is_frame(values)
        each = (values[name] for name in names or ()) if frame else values.T
        arrays = [array if _is_categorical(array) else _opened(array)[0] for array in each]
        if not arrays:
            raise ValueError("The target y has no columns.")
        for place, array in enumerate(arrays):
            numbers = not _is_categorical(array) and (
                array.dtype.kind in "fiub" or (array.dtype.kind == "O" and are_numbers(array))
            )
            if not numbers:
                raise not_numeric(place if names is None else names[place])
        values = np.column_stack([_floats(array) for array in arrays])
    kind = values.dtype.kind
    if kind not in "fiubcO" or (kind == "O" and not are_numbers(values.flat)):
        raise not_numeric()
    if kind == "c":
        raise complex_target()
    if values.ndim not in (1, 2):
        raise ValueError(
            "The target y must be one column, or a table with a column for each target; it has "
            f"{values.ndim} dimensions."
        )
    numbers = _floats(values)
    numbers = numbers[:, None] if numbers.ndim == 1 else numbers
    if not numbers.shape[1]:
        raise ValueError("The target y has no columns.")
    if not np.isfinite(numbers).all():
        wrong = np.isnan(numbers) if np.isnan(numbers).any() else np.isinf(numbers)
        column = int(np.flatnonzero(wrong.any(axis=0))[0])
        rows = np.flatnonzero(wrong[:, column]).tolist()
        where = "" if numbers.shape[1] == 1 else Targets(numbers.shape[1], names).describe(column)
        raise not_finite_target(numbers[rows[0], column], rows, where)
    return np.asarray(numbers)


def _floats(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    try:
        return values.astype(np.float64, copy=False)
    except OverflowError:
        raise too_large("The target y") from None


def _check_same(known: Targets, new: Targets) -> None:
    if known.size != new.size:
        targets = "target" if new.size == 1 else "targets"
        raise ValueError(f"y has {new.size} {targets} here and had {known.size} before.")
    if known.names is not None and new.names is not None and known.labels != new.labels:
        raise ValueError(f"The targets are {new.labels}, and were {known.labels} before.")


# Classes


def read_labels(y: Any) -> npt.NDArray[Any]:
    """Open labels of classes, in memory, as an array of shape (n,)."""
    values, names = _opened(y)
    if is_frame(values) or values.ndim == 2:
        columns = values.shape[1]
        if columns != 1:
            raise ValueError(
                f"Labels of classes must be one column, got {columns}. Fit one model for each."
            )
        if is_frame(values):
            return read_labels(values[values.columns[0]])
        values = values[:, 0] if names else column_or_1d(values, warn=True)
    if values.ndim != 1:
        raise ValueError(f"Labels of classes must be one column, got {type(y).__name__}.")
    missing = are_missing(values)
    if missing.any():
        raise missing_target(np.flatnonzero(missing).tolist())
    if values.dtype.kind == "O":
        plain = np.array(values.tolist()) if values.size else values
        values = plain if plain.dtype.kind in "iubc" else values
    if values.dtype.kind == "c":
        raise complex_target()
    fractions = values % 1 != 0 if values.dtype.kind == "f" else np.zeros(0, dtype=np.bool_)
    if fractions.any():
        row = int(fractions.argmax())
        raise ValueError(
            f"Unknown label type: continuous. The target y has numbers with fractions (row {row}: "
            f"{values[row]:g}), which are no labels of classes; LinCFACV predicts numbers."
        )
    if values.size:
        try:
            check_classification_targets(values)
        except TypeError:  # they cannot be compared
            raise _of_types(values) from None
    return np.asarray(values)


def _read_classes(
    y: Any, known: npt.NDArray[Any] | None, given: Any
) -> tuple[npt.NDArray[np.float64], Targets]:
    values = read_labels(y)
    labels = _sorted(values)
    if not labels.size:
        return np.empty((0, 1)), Targets()  # too few samples, which is an error of its own
    if given is not None:
        given = _all_classes(given, known)
    if known is None:
        known = labels if given is None else given
    unknown = ~np.isin(labels, known)
    if unknown.any():
        raise ValueError(
            f"The class {_shown(labels[unknown][0])} is not among those known, "
            f"{', '.join(map(_shown, known[:10]))}. Pass all classes with the first rows, as "
            "partial_fit(X, y, classes=...)."
        )
    if len(known) < 2:
        raise one_class(known[0])
    targets = Targets(1 if len(known) == 2 else len(known), None, known)
    return targets.indicators(np.searchsorted(known, values)), targets


def _all_classes(given: Any, known: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    classes = np.asarray(given)
    if classes.ndim != 1:
        raise ValueError(f"classes must be a list of labels, got {given!r}.")
    classes = _sorted(classes)
    if known is not None and not np.array_equal(classes, known):
        raise ValueError(
            f"classes are {', '.join(map(_shown, classes))}, and were "
            f"{', '.join(map(_shown, known))} with the first rows."
        )
    return classes


def are_missing(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which labels are missing."""
    if values.dtype.kind == "O":
        return np.array([_is_missing(value) for value in values.tolist()], dtype=np.bool_)
    if values.dtype.kind in "mM":
        return np.asarray(np.isnat(values))
    return ~np.isfinite(values) if values.dtype.kind == "f" else np.zeros(len(values), np.bool_)


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)  # NaN
    except TypeError:  # that of pandas
        return True


def _sorted(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    try:
        return np.unique(labels)
    except TypeError:
        raise _of_types(labels) from None


def _of_types(labels: npt.NDArray[Any]) -> ValueError:
    types = [type(label).__name__ for label in labels.tolist()]
    kinds = Counter(types)
    row = types.index(min(kinds, key=kinds.__getitem__))  # one of few is the likely mistake
    return ValueError(
        f"Labels of classes must be all of one type, got {', '.join(sorted(kinds))} (row {row}: "
        f"{shown(repr(labels[row]))})."
    )


def _shown(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)
