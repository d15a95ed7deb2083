"""Saved models: what is in the file, how it is written, and how it is checked when read.

``ENTRIES`` is the one list of what is saved; ``docs/saved-files.md`` documents it. To save one more
attribute, add an entry and raise ``VERSION``: what files of earlier versions lack is read as None.

Nothing in a file is trusted. An entry must be exactly what would be written for the value read from
it, so that types and keys need no checks of their own; ``_complete`` checks that the entries agree.
No array is made before its size has been compared with the number of features.
"""

import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from math import inf, isfinite, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .._data._checks import MIN_SAMPLES
from .._data._columns import Columns
from .._data._connectivity import WORDS, labels_of, present_labels, read_structure
from .._data._feature_weights import AREA
from .._data._names import display_names
from .._data._targets import Targets
from .._grouping import PATHS, MergePath, merge_type
from .._grouping._cohesion import cohesion_type
from .._grouping._constraint import Constraint
from .._replacing import write_atomically
from .._rule import evidence_type, with_gains
from ._conformal import MOST_ERRORS
from ._rows import BITS, ROWS_KEPT

if TYPE_CHECKING:
    from .._data._field import Coordinate, Field, Variable

FORMAT, VERSION = "lincfa-model", 7
_ROUNDING = 1e-9
_MAX = float(np.finfo(np.float64).max)


class DocumentError(ValueError):
    """What is wrong with the content of a saved model."""


def _require(condition: Any, message: str) -> None:
    if not condition:
        raise DocumentError(message)


class Entry(NamedTuple):
    """How an attribute is saved; ``read`` gets JSON, its place and the number of features."""

    attribute: str
    noun: str
    write: Callable[[Any], Any]
    read: Callable[[Any, str, int], Any]
    optional: bool = False  # None is saved as null


# Numbers


class Range(NamedTuple):
    """Which numbers a list may hold."""

    noun: str
    low: float = -inf
    high: float = inf
    or_nan: bool = False


_NUMBER = "a number"
ANY = Range(_NUMBER, or_nan=True)
FINITE = Range("a finite number", -_MAX, _MAX)
POSITIVE = Range("a positive number", 5e-324, _MAX)
NOT_NEGATIVE = Range("a number of at least 0", 0)
SHARE = Range("a finite number of at least 0", 0, _MAX)
SCALE = Range("a standard deviation", 1e-305, 1e305)
CORRELATION = Range("a correlation", -1 - _ROUNDING, 1 + _ROUNDING)
CORRELATION_OR_NAN = CORRELATION._replace(or_nan=True)
SIGN = Range("1 or -1", -1, 1)
LABEL = Range("the number of a group, or -1", -1)
FINGERPRINT = Range("a fingerprint", 0, 2**BITS - 1)
SAMPLES = Range(f"at least {MIN_SAMPLES} samples", MIN_SAMPLES * (1 - _ROUNDING), _MAX)


def _write_array(array: npt.NDArray[Any]) -> list[Any]:
    """List numbers, dates or durations, as text where JSON has no number."""
    if array.dtype.kind == "M":
        return list(np.datetime_as_string(array).tolist())
    values = list((array.astype(np.int64) if array.dtype.kind == "m" else array).tolist())
    return [v if isfinite(v) else str(v) for v in values] if array.dtype.kind == "f" else values


def _read_array(content: Any, dtype: Any) -> npt.NDArray[Any]:
    kind = np.dtype(dtype)
    if kind.kind in "iu" and content:
        limits = np.iinfo(kind)
        if min(content) < limits.min or max(content) > limits.max:
            raise OverflowError("too large for its type")  # NumPy 1.26 would only warn
    with np.errstate(all="ignore"):  # a number too large for its type is not written the same
        array = np.array(content, dtype=dtype)
    if array.ndim != 1:
        raise ValueError("not a list")
    return array


def _column(attribute: str, allowed: Range, dtype: Any = np.float64) -> Entry:
    def read(content: Any, where: str, n_features: int) -> npt.NDArray[Any]:
        array = _read_array(content, dtype)
        inside = (array >= allowed.low) & (array <= allowed.high)
        if allowed is SIGN:
            inside &= array != 0
        for value in array[~(inside | allowed.or_nan & np.isnan(array))][:1]:
            raise DocumentError(f"{where} contains {value}, which is not {allowed.noun}.")
        return array

    return Entry(attribute, f"a list of {np.dtype(dtype)} values", _write_array, read)


def _flag(attribute: str) -> Entry:
    return Entry(attribute, "true or false", bool, lambda content, *at: content)


def _number(attribute: str, allowed: Range) -> Entry:
    read = _column(attribute, allowed).read
    return Entry(attribute, _NUMBER, float, lambda content, *at: read([content], *at)[0].item())


def _each(one: Entry) -> Entry:
    """Save for each of several targets what is saved of one, in a list."""
    dimensions = 0 if one.noun == _NUMBER else 1

    def read(content: Any, where: str, n_features: int) -> Any:
        inner = content[:1] if dimensions else [content]
        if not (inner and isinstance(inner[0], list)):
            return one.read(content, where, n_features)
        if len(content) < 2:
            raise ValueError("one target has no list of its own")
        return np.array([one.read(part, where, n_features) for part in content])

    def write(value: Any) -> Any:
        one_target = np.ndim(value) == dimensions
        return one.write(value) if one_target else [one.write(part) for part in value]

    noun = f"{one.noun}, or one for each of several targets"
    return one._replace(noun=noun, write=write, read=read)


def _table(
    attribute: str, dtype_of: Callable[[int], np.dtype[np.void]], omit: str = "", **ranges: Range
) -> Entry:
    """Save a structured array as a list per column; without a range, it may hold any numbers.

    ``dtype_of`` returns its type for a number of targets.
    """
    one, several = dtype_of(1), dtype_of(2)
    columns = {
        name: _column(name, ranges.get(name, ANY), one[name])
        for name in one.names or ()
        if name != omit
    }
    of_targets = [name for name in columns if several[name].shape]
    columns |= {name: _each(columns[name]) for name in of_targets}

    def read(content: Any, where: str, n_features: int) -> npt.NDArray[np.void]:
        values = _read(columns, content, where, n_features, VERSION)
        sizes = {1 if values[name].ndim == 1 else len(values[name]) for name in of_targets}
        _require(len(sizes) == 1, f"the columns of {where} differ in their number of targets.")
        lengths = {column.shape[-1] for column in values.values()}
        _require(len(lengths) == 1, f"the columns of {where} differ in length.")
        array = np.zeros(lengths.pop(), dtype=dtype_of(sizes.pop()))
        for name, column in values.items():
            array[name] = column.T
        return array

    def write(array: npt.NDArray[np.void]) -> dict[str, Any]:
        return _write(columns, {name: array[name].T for name in columns})

    return Entry(attribute, "an object of lists", write, read)


_REGRESSION = {
    "coef": _each(_column("coef", FINITE)),
    "intercept": _each(_number("intercept", FINITE)),
    "penalty": _number("penalty", SHARE)._replace(optional=True),
    "rescaled": _flag("rescaled"),
    "searched": _flag("searched"),
    "errors": _each(_column("errors", SHARE))._replace(optional=True),
}


def _read_regression(content: Any, where: str, n_features: int) -> dict[str, Any]:
    return _read(_REGRESSION, content, where, n_features, VERSION)


# Text, parameters and structure


def _write_name(name: Any) -> str:
    if not isinstance(name, str) or json.loads(json.dumps(name)) != name:
        # JSON reads two halves of a character as that character.
        raise ValueError(f"The name {name!r} is not valid text and cannot be saved.")
    return str(name)


def _write_names(names: Any) -> list[str]:
    return [_write_name(str(name)) for name in names]


def _read_names(content: Any, where: str, n_features: int) -> Any:
    _require(len(content) == n_features, f"{where} is not a list of {n_features} names.")
    return content


def _write_targets(targets: Targets) -> dict[str, Any]:
    names, classes = targets.names, targets.classes
    return {
        "size": int(targets.size),
        "names": None if names is None else _write_names(names),
        "classes": None if classes is None else _write_classes(classes),
        "title": None if targets.title is None else _write_attr(str(targets.title)),
        "attrs": {_write_attr(str(k)): _write_attr(str(v)) for k, v in targets.attrs.items()},
    }


def _write_classes(classes: npt.NDArray[Any]) -> dict[str, Any]:
    labels = [x.item() if isinstance(x, np.generic) else x for x in classes.tolist()]
    for label in labels:
        if type(label) not in (str, int, float, bool) or classes.dtype.kind in "Mm":
            raise ValueError(
                f"Labels of classes can be saved if they are text or numbers, and {label!r} is of "
                f"type {classes.dtype if classes.dtype.kind in 'Mm' else type(label).__name__}."
            )
    dtype = "str" if classes.dtype.kind in "UT" else classes.dtype.name
    return {
        "dtype": dtype,
        "values": [_write_name(label) if isinstance(label, str) else label for label in labels],
    }


def _read_targets(content: Any, where: str, n_features: int) -> Targets:
    size, names, classes = (content[key] for key in ("size", "names", "classes"))
    if classes is not None:
        labels = _read_typed(classes, f"{where}.classes")
        fits = names is None and len(labels) > 1 and size == (len(labels) if labels[2:].size else 1)
        fits = fits and np.array_equal(np.unique(labels), labels)
        _require(fits, f"{where}.classes are not {size} targets, in order.")
        classes = labels
    _require(size > 0 and (names is None or len(names) == size), f"{where}.size is {size}.")
    return Targets(size, names, classes, content["title"], content["attrs"])


def _write_parameter(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    number = float(value)
    return int(value) if number.is_integer() and not isinstance(value, float) else number


def _write_weights(weights: Any) -> str:
    """Return the name of weights, or that they were given: they are those of the features."""
    return str(weights) if isinstance(weights, str) else _GIVEN


def _read_weights(content: Any, where: str, n_features: int) -> Any:
    _require(content in (AREA, _GIVEN), f"{where} is {content!r}.")
    return content


def _write_connectivity(connectivity: Any) -> Any:
    """Return the name of a connectivity, or the pairs of neighbours in a matrix, in order."""
    if isinstance(connectivity, str):
        return connectivity
    matrix = sparse.coo_array(connectivity)
    first, second = (ends[matrix.data != 0].astype(np.int64) for ends in matrix.coords)
    size, one_way = matrix.shape[0], first < second
    pairs = np.divmod(np.unique(first[one_way] * size + second[one_way]), size)
    return {"size": size, "first": pairs[0].tolist(), "second": pairs[1].tolist()}


def _read_connectivity(content: Any, where: str, n_features: int) -> Any:
    if isinstance(content, str):
        _require(content in WORDS, f"{where} is {content!r}.")
        return content
    first, second = (_read_array(content[end], np.intp) for end in ("first", "second"))
    size = content["size"]
    _require(size <= _MOST_CELLS, f"{where} has size {size}.")
    exist = first.size == second.size and ((first >= 0) & (first < second) & (second < size)).all()
    _require(exist, f"{where} refers to pairs of features that do not exist.")
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    # In a format that takes no memory for rows, of which there should be as many as features.
    return sparse.coo_array((np.ones(2 * first.size, dtype=np.bool_), ends), (size, size))


def _write_blocks(blocks: Any) -> Any:
    return [b if isinstance(b, str | int | float) else str(b) for b in labels_of(blocks)]


# Fields


_MOST_CELLS = 2**24
"""Limit on the cells of a field: a small file can claim any number of missing ones."""


def _write_field(field: "Field") -> dict[str, Any]:
    count = _count_cells(variable.shape for variable in field.variables)
    if count > _MOST_CELLS:
        present = sum(int(variable.present.sum()) for variable in field.variables)
        raise ValueError(
            f"The field has {count} cells, all but {present} of them missing: too many to be "
            "saved. Select a smaller region before the fit."
        )
    return {
        "sample_dim": _write_name(field.sample_dim),
        "is_dataset": bool(field.is_dataset),
        "attrs": _write_attrs(field.attrs),
        "variables": [
            _write_part(
                variable,
                shape=[int(size) for size in variable.shape],
                cells=_run_lengths(variable.present),
            )
            for variable in field.variables
        ],
        "coordinates": [
            _write_part(coordinate, **_write_values(coordinate.values.ravel()))
            for coordinate in field.coordinates
        ],
        "levels": {_write_name(dim): _write_names(names) for dim, names in field.levels.items()},
    }


def _count_cells(shapes: Iterable[Iterable[int]]) -> int:
    """Count cells, and what a variable without any has along its other dimensions."""
    return sum(prod(max(size, 1) for size in shape) for shape in shapes)


def _write_part(part: "Variable | Coordinate", **own: Any) -> dict[str, Any]:
    return {
        "name": None if part.name is None else _write_name(part.name),
        "dims": [_write_name(dim) for dim in part.dims],
        **own,
        "attrs": _write_attrs(part.attrs),
    }


def _run_lengths(present: npt.NDArray[np.bool_]) -> list[int]:
    """Return the lengths of runs of cells, in turn present and missing, first those present."""
    ends = np.flatnonzero(np.diff(present, prepend=True))
    return [int(length) for length in np.diff([0, *ends, present.size])]


def _write_values(values: npt.NDArray[Any]) -> dict[str, Any]:
    if values.dtype.kind in "Mmfiub":
        return {"dtype": values.dtype.name, "values": _write_array(values)}
    from .._data._field import texts

    return {"dtype": "str", "values": [_write_attr(text) for text in texts(values)]}


def _write_attrs(attrs: Mapping[Any, Any]) -> dict[str, Any]:
    return {_write_attr(str(key)): _write_attr(value) for key, value in attrs.items()}


def _write_attr(value: Any) -> Any:
    """Return numbers, text and lists of them as they are, anything else as text."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fiubU":
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_write_attr(entry) for entry in value]
    if value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return value
    return str(value).encode(errors="replace").decode()


def _read_field(content: Any, where: str, n_features: int) -> "Field":
    # Late, so that models of tables load nothing of fields.
    from .._data._field import GROUP, Coordinate, Field, Variable

    samples, parts = content["sample_dim"], content["variables"]
    runs = [part["cells"] for part in parts]
    fits = sum(sum(lengths[::2]) for lengths in runs) == n_features
    most = max(sum(map(sum, runs)), _count_cells(part["shape"] for part in parts))
    fits = fits and most <= _MOST_CELLS
    _require(fits, f"{where} does not have {n_features} cells, or too many missing ones.")
    present = [np.repeat(np.arange(len(lengths)) % 2 == 0, lengths) for lengths in runs]
    sizes: dict[str, int] = {}
    for part, cells in zip(parts, present, strict=True):
        dims = [dim for dim in part["dims"] if dim != samples]
        fits = len(set(dims)) == len(dims) == len(part["dims"]) - 1
        fits = fits and prod(part["shape"]) == cells.size
        for dim, size in zip(dims, part["shape"], strict=True):
            fits = fits and sizes.setdefault(dim, size) == size >= 0
        _require(fits, f"{where} has a variable whose dims, shape and cells do not match.")
    coordinates = [
        Coordinate(part["name"], tuple(part["dims"]), _read_values(part, sizes), part["attrs"])
        for part in content["coordinates"]
    ]
    along = {coordinate.name: coordinate.dims for coordinate in coordinates}
    named = {part["name"] for part in parts} - {None}
    fits = len(named) == len(parts) if content["is_dataset"] else len(parts) == 1
    fits = fits and len(along) == len(coordinates) and not {None, samples} & along.keys()
    fits = fits and samples != GROUP
    _require(fits, f"{where} has names that are missing, repeated or reserved.")
    for dim, names in content["levels"].items():
        fits = dim in sizes and dim not in along and len(set(names)) == len(names) > 1
        fits = fits and all(along.get(name) == (dim,) for name in names)
        _require(fits, f"{where}.levels refers to coordinates that do not exist.")
    levels = {dim: tuple(names) for dim, names in content["levels"].items()}
    variables = (
        Variable(part["name"], tuple(part["dims"]), tuple(part["shape"]), cells, part["attrs"])
        for part, cells in zip(parts, present, strict=True)
    )
    is_dataset, attrs = content["is_dataset"], content["attrs"]
    return Field(samples, tuple(variables), tuple(coordinates), levels, is_dataset, attrs)


def _read_values(coordinate: Any, sizes: Mapping[str, int]) -> npt.NDArray[Any]:
    name, dims = coordinate["name"], coordinate["dims"]
    fits = set(dims) <= sizes.keys() and (name not in sizes or dims == [name])
    _require(fits, f"the coordinate {name!r} has dims that do not match.")
    values = _read_typed(coordinate, f"the coordinate {name!r}")
    return values.reshape([sizes[dim] for dim in dims])


_TYPES = r"bool|object|(int|uint|float)\d{1,3}|(datetime|timedelta)64(\[\w+\])?"
"""Types that ``dtype.name`` names, and none of a length that a file can choose."""


def _read_typed(content: Any, where: str) -> npt.NDArray[Any]:
    """Read values beside the name of their type."""
    dtype, values = content["dtype"], content["values"]
    if dtype == "str":
        return _text_array(values)
    _require(re.fullmatch(_TYPES, dtype), f"{where} has the type {dtype!r}.")
    return _read_array(values, dtype)


def _text_array(values: Any) -> npt.NDArray[Any]:
    # NumPy makes all strings as wide as the longest, and drops zeros at their ends.
    lengths = [len(value) for value in values]
    wide = len(lengths) * max(lengths, default=0) > 2**20 + 8 * sum(lengths)
    keep = wide or any(value.endswith("\0") for value in values)
    return np.array(values, dtype=object if keep else str)


# What is saved


def _parameter(name: str) -> Entry:
    return Entry(name, "text or a number", _write_parameter, lambda content, *at: content, True)


def _names(attribute: str) -> Entry:
    return Entry(attribute, "a list of names", _write_names, _read_names, True)


_PARAMETERS = (
    *("strategy", "tolerance", "n_groups", "noise", "min_correlation", "effective_samples"),
    *("missing", "units", "sample_dim", "target"),
)
_GIVEN = "given"

ENTRIES: dict[str, Any] = {
    "parameters": {
        **{name: _parameter(name) for name in _PARAMETERS},
        "signed": _flag("signed"),
        "feature_weights": Entry(
            "feature_weights", "the name of weights", _write_weights, _read_weights, True
        ),
    },
    "structure": {
        "connectivity": Entry(
            "connectivity", "pairs of features", _write_connectivity, _read_connectivity, True
        ),
        "blocks": Entry(
            "blocks", "a list of labels", _write_blocks, lambda labels, *at: labels, True
        ),
    },
    "output": _parameter("output"),
    "n_samples": _number("n_samples_", SAMPLES),
    "effective_samples": _number("effective_samples_", SAMPLES),
    "rows": _column("_rows", FINGERPRINT, np.int64)._replace(optional=True),
    "targets": Entry("_targets", "a description of targets", _write_targets, _read_targets),
    "target_scale": _each(_number("target_scale_", POSITIVE)),
    "feature_names": _names("feature_names_in_"),
    "column_names": _names("column_names"),
    "field": Entry("field", "a description of a field", _write_field, _read_field, True),
    "features": {
        "label": _column("labels_", LABEL, np.intp),
        "mean": _column("mean_", FINITE),
        "scale": _column("scale_", SCALE),
        "target_correlation": _each(_column("target_correlation_", CORRELATION)),
        "sign": _column("signs_", SIGN, np.int8),
        "weight": _column("feature_weights_", POSITIVE),
    },
    "groups": _table(
        "cohesion_",
        cohesion_type,
        mean_correlation=CORRELATION_OR_NAN,
        min_correlation=CORRELATION_OR_NAN,
        target_correlation=CORRELATION_OR_NAN,
    ),
    "evidence": _table(
        "evidence_",
        evidence_type,
        omit="group",
        sign=SIGN,
        correlation=CORRELATION,
        f=NOT_NEGATIVE,
        tolerance=NOT_NEGATIVE,
        variance_drop_share=NOT_NEGATIVE,
        bias_growth_share=SHARE,
    ),
    "merge_path": _table(
        "merge_path_", merge_type, sign=SIGN, correlation=CORRELATION, height=NOT_NEGATIVE
    )._replace(optional=True),
    "regression": Entry(
        "regression",
        "weights of the groups",
        lambda regression: _write(_REGRESSION, regression),
        _read_regression,
        True,
    ),
}


# Writing


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    output: str | None,
    regression: Mapping[str, Any] | None = None,
    *,
    rows: bool = True,
) -> None:
    """Save groups, the kind of tables they make, and a regression on their means."""
    kind = "numbers" if model._targets.classes is None else "classes"
    as_fitted = model.feature_weights is not None or (model.feature_weights_ == 1).all()
    as_fitted = as_fitted and model.target in (None, kind)
    counted = model.effective_samples, model.effective_samples_, model.n_samples_
    as_fitted = as_fitted and _counts_as_asked(*counted)
    if not (as_fitted and (model.signed or (model.signs_ == 1).all())):
        raise ValueError(
            "signed, feature_weights, effective_samples or target were changed after the fit; fit "
            "again before saving."
        )
    values = defaultdict(lambda: None, vars(model))
    values |= {"output": output, "regression": regression}
    values["_rows"] = values["_rows"] if rows else None
    columns = model._columns
    values["field"] = columns.field
    if values["feature_names_in_"] is None:
        # A loaded model has names that were not strings as they were displayed.
        loaded = columns.names is not None and all(isinstance(name, str) for name in columns.names)
        values["column_names"] = columns.names if loaded else display_names(columns.names)
    values["blocks"] = present_labels(columns.field, model.blocks)
    content = _write(ENTRIES, values)
    envelope = {"format": FORMAT, "version": VERSION, "checksum": _checksum(content)}
    write_atomically(path, _layout({**envelope, "model": content}) + "\n")


def _counts_as_asked(asked: Any, effective: float, n_samples: float) -> bool:
    """Whether an effective number of samples is what the parameter asks for."""
    wanted = effective if asked == "auto" else n_samples if asked is None else asked
    return effective == wanted and effective <= n_samples


def output_of(model: Any) -> str | None:
    """Return the kind of tables that ``set_output`` chose."""
    config: dict[str, str] = getattr(model, "_sklearn_output_config", {})
    return config.get("transform")


def _write(entries: Mapping[str, Any], values: Any) -> dict[str, Any]:
    return {
        key: _write_entry(entry, values[entry.attribute])
        if isinstance(entry, Entry)
        else _write(entry, values)
        for key, entry in entries.items()
    }


def _write_entry(entry: Entry, value: Any) -> Any:
    return None if value is None and entry.optional else entry.write(value)


def _layout(value: Any, indent: str = "") -> str:
    """Put each key of an object on a line of its own, and a list on one line."""
    if not isinstance(value, Mapping):
        return json.dumps(value, allow_nan=False)
    inner = indent + " "
    lines = [f"{inner}{json.dumps(key)}: {_layout(entry, inner)}" for key, entry in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def _checksum(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


# Reading


def read_model(document: Any) -> dict[str, Any]:
    """Return the parameters and fitted attributes in the JSON of a file, or raise DocumentError."""
    known = isinstance(document, dict) and document.get("format") == FORMAT
    _require(known, "this is not a saved lincfa model.")
    version = document.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise DocumentError(
            f"the file has version {version!r}; this lincfa reads versions 1 to {VERSION}."
        )
    _check_keys(document, ("format", "version", "checksum", "model"), "the file")
    content = document["model"]
    try:
        intact = document["checksum"] == _checksum(content)
    except ValueError:  # a number too large for a float
        intact = False
    _require(intact, "the checksum does not match: the file was damaged or edited.")
    _require(isinstance(content, dict), "model is not an object.")
    _require("features" in content, "model lacks 'features'.")
    if version < 4:
        content = _without_signs(content)
    if version < 5:
        content = {"targets": _write_targets(Targets())} | content
    if version < 6:
        content = {"effective_samples": content.get("n_samples")} | content
        added = {"targets": {"title": None, "attrs": {}}, "regression": {"rescaled": False}}
        for name, more in added.items():
            if isinstance(content.get(name), dict):
                content = content | {name: more | content[name]}
    if version < 7 and isinstance(content.get("regression"), dict):
        more = {"searched": True, "errors": None}
        content = content | {"regression": more | content["regression"]}
    features = _read(ENTRIES["features"], content["features"], "model.features", 0, version)
    return _complete(_read(ENTRIES, content, "model", features["labels_"].size, version))


def _without_signs(content: dict[str, Any]) -> dict[str, Any]:
    """Add what files had not before there were signs, weights and missing values."""
    parts = {name: part for name, part in content.items() if isinstance(part, dict)}
    for name, column, like, value in (
        ("features", "sign", "label", 1),
        ("features", "weight", "label", 1.0),
        ("evidence", "sign", "feature", 1),
        ("merge_path", "sign", "first", 1),
    ):
        others = parts.get(name, {}).get(like)
        if isinstance(others, list):
            parts[name] = {column: [value] * len(others), **parts[name]}
    before = {"missing": "error", "signed": False}
    return content | parts | {"parameters": before | parts.get("parameters", {})}


def _read(
    entries: Mapping[str, Any], content: Any, where: str, n_features: int, version: int
) -> dict[str, Any]:
    """Read values by attribute; each must be written again as it stands in the file."""
    if version < VERSION and isinstance(content, dict):
        content = {k: None if isinstance(e, Entry) else {} for k, e in entries.items()} | content
    _check_keys(content, tuple(entries), where)
    values: dict[str, Any] = {}
    for key, entry in entries.items():
        part, inner = content[key], f"{where}.{key}"
        if not isinstance(entry, Entry):
            values |= _read(entry, part, inner, n_features, version)
            continue
        try:
            absent = part is None and entry.optional
            values[entry.attribute] = None if absent else entry.read(part, inner, n_features)
            same = _same(_write_entry(entry, values[entry.attribute]), part)
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
            if isinstance(error, DocumentError):
                raise
            same = False
        _require(same, f"{inner} is not {entry.noun}.")
    return values


def _are(values: list[str], others: Iterator[str]) -> bool:
    """Whether two series of names are equal, without making more of the second than needed."""
    end = object()
    return all(one == other for one, other in zip_longest(values, others, fillvalue=end))


def _same(one: Any, other: Any) -> bool:
    """Whether two pieces of JSON are equal, also in their types: 1, 1.0 and true differ."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _check_keys(content: Any, expected: tuple[str, ...], where: str) -> None:
    _require(isinstance(content, dict), f"{where} is not an object.")
    for key in (*expected, *content):
        _require(key in content, f"{where} lacks {key!r}.")
        _require(key in expected, f"{where} has an unexpected key {key!r}.")


def _complete(values: dict[str, Any]) -> dict[str, Any]:
    output = values["output"]
    _require(output in (None, "default", "pandas", "polars"), f"model.output is {output!r}.")
    labels, names = values["labels_"], values["feature_names_in_"]
    field, other_names = values.pop("field"), values.pop("column_names")
    groups = _groups(labels)
    n_features, n_groups = labels.size, len(groups)
    for name in ("mean_", "scale_", "target_correlation_", "signs_", "feature_weights_"):
        fits = values[name].shape[-1] == n_features
        _require(fits, "the columns of model.features differ in length.")
    targets: Targets = values["_targets"]
    _check_targets(values, targets)
    asked, most = values["effective_samples"], values["n_samples_"]
    fits = _counts_as_asked(asked, values["effective_samples_"], most)
    _require(fits, f"model.effective_samples does not match the effective_samples {asked!r}.")
    rows = values["_rows"]
    fits = rows is None or (0 < rows.size <= ROWS_KEPT and (np.diff(rows) > 0).all())
    _require(fits, "model.rows are not fingerprints in order.")
    _check_features(values, groups, in_field=field is not None)
    if values["feature_weights"] == _GIVEN:
        values["feature_weights"] = values["feature_weights_"].copy()
    if names is not None:
        _require(other_names is None, "the features have names twice.")
        _require(len(set(names)) == n_features, "model.feature_names repeats a name.")
        values["feature_names_in_"] = np.array(names, dtype=object)
    same = field is None or _are(names or [], field.each_name())
    _require(same, "model.feature_names differ from those of the cells of model.field.")
    columns = Columns(n_features, names or other_names, field)
    structure = read_structure(values["connectivity"], values["blocks"], columns)
    constraint = Constraint(*structure)
    if not isinstance(values["connectivity"], str | None):
        values["connectivity"] = sparse.csr_array(values["connectivity"])
    allowed = constraint.allows(labels)
    _require(allowed, "model.features.label has a group that model.structure does not allow.")
    _check_evidence(values["evidence_"], labels, values["signs_"], groups)
    strategy, merges = values["strategy"], values["merge_path_"]
    fits = (merges is not None) == (strategy in PATHS)
    _require(fits, f"model.merge_path does not match the strategy {strategy!r}.")
    if merges is not None:
        _check_path(merges, labels, values["signs_"], n_groups)
        fits = values["n_groups"] in (None, n_groups)
        _require(fits, "model.parameters.n_groups differs from the number of groups.")
    values |= {
        "evidence_": with_gains(values["evidence_"], values["target_scale_"]),
        "groups_": groups,
        "n_groups_": n_groups,
        "n_features_in_": n_features,
        "_columns": columns,
        "n_connected_components_": constraint.n_components(labels >= 0),
        "target_names_": targets.labels,
    }
    if targets.classes is not None:
        values["classes_"] = targets.classes
    for name in ("feature_names_in_", "merge_path_", "_rows"):  # never None: there or not
        if values[name] is None:
            del values[name]
    return values


def _check_targets(values: dict[str, Any], targets: Targets) -> None:
    several = () if targets.size == 1 else (targets.size,)
    merges, regression = values["merge_path_"], values["regression"]
    fits = np.shape(values["target_scale_"]) == several
    fits = fits and values["target_correlation_"].shape[:-1] == several
    fits = fits and values["cohesion_"].dtype == cohesion_type(targets.size)
    fits = fits and values["evidence_"].dtype == evidence_type(targets.size)
    fits = fits and (merges is None or merges.dtype == merge_type(targets.size))
    if regression is not None:
        shapes = {key: np.shape(value) for key, value in regression.items()}
        fits = fits and shapes["coef"][:-1] == shapes["intercept"] == several
        errors = regression["errors"]
        if errors is not None:
            fits = fits and targets.classes is None and errors.shape[:-1] == several
            ordered = (np.diff(errors) >= 0).all() and 0 < errors.shape[-1] <= MOST_ERRORS
            _require(ordered, f"model.regression.errors are not 1 to {MOST_ERRORS}, in order.")
    _require(fits, f"some entries are not of {targets.size} target{'s' if several else ''}.")
    kind = "numbers" if targets.classes is None else "classes"
    fits = values["target"] in (None, kind)
    _require(fits, f"model.targets are {kind}, unlike model.parameters.target.")


def _check_features(
    values: dict[str, Any], groups: list[npt.NDArray[np.intp]], *, in_field: bool
) -> None:
    labels, n_groups, regression = values["labels_"], len(groups), values["regression"]
    signs, weights = values["signs_"], values["feature_weights_"]
    alone = labels < 0
    alone[[group[0] for group in groups]] = True
    fits = (signs[alone] == 1).all() and (values["signed"] or (signs == 1).all())
    _require(fits, "model.features.sign is not relative to the first feature of each group.")
    named = values["feature_weights"]
    fits = (named is not None or (weights == 1).all()) and (named != AREA or in_field)
    _require(fits, f"model.features.weight does not match the feature_weights {named!r}.")
    fits = values["cohesion_"].size == n_groups
    _require(fits, f"model.groups does not have {n_groups} rows.")
    fits = regression is None or regression["coef"].shape[-1] == n_groups
    _require(fits, f"model.regression does not have {n_groups} weights.")


def _groups(labels: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
    grouped = np.flatnonzero(labels >= 0)
    _require(grouped.size, "model.features.label has no groups.")
    numbers, firsts = np.unique(labels[grouped], return_index=True)
    ordered = (numbers == np.arange(numbers.size)).all() and (np.diff(firsts) > 0).all()
    _require(ordered, "model.features.label does not number the groups by first member.")
    order = grouped[np.argsort(labels[grouped], kind="stable")]
    return np.split(order, np.cumsum(np.bincount(labels[grouped]))[:-1])


def _check_evidence(
    evidence: Any, labels: Any, signs: Any, groups: list[npt.NDArray[np.intp]]
) -> None:
    feature, partner = evidence["feature"], evidence["partner"]
    merged = np.sort(np.concatenate([group[1:] for group in groups]))
    covered = np.array_equal(np.sort(feature), merged)
    _require(covered, "model.evidence does not have one row for each merged feature.")
    before = (partner >= 0) & (partner < feature)
    _require(before.all(), "model.evidence has a partner that is not before its feature.")
    evidence["group"] = labels[feature]
    same = (labels[partner] == evidence["group"]).all()
    _require(same, "model.evidence has a partner in another group.")
    same = (evidence["sign"] * signs[partner] == signs[feature]).all()
    _require(same, "model.evidence has signs that do not lead to model.features.sign.")
    _require((np.diff(evidence["group"]) >= 0).all(), "model.evidence is not sorted by group.")
    merging = (evidence["f"] * (1 - _ROUNDING) <= evidence["tolerance"]).all()
    _require(merging, "model.evidence has an F above its tolerance.")


def _check_path(merges: Any, labels: npt.NDArray[np.intp], signs: Any, n_groups: int) -> None:
    sizes = dict.fromkeys(np.flatnonzero(labels >= 0).tolist(), 1)
    for first, second, size in merges[["first", "second", "size"]].tolist():
        exist = first in sizes and second in sizes and first < second
        _require(exist, "model.merge_path refers to groups that do not exist.")
        sizes[first] += sizes.pop(second)
        _require(sizes[first] == size, "model.merge_path has a wrong size.")
    height = merges["height"]
    _require((height[1:] >= height[:-1]).all(), "model.merge_path has a height that decreases.")
    with np.errstate(all="ignore"):  # merges beyond the groups may have any numbers
        path = MergePath(labels >= 0, merges)
        cut = path.partition(n_groups) if len(sizes) <= n_groups else None
    same = cut is not None and np.array_equal(cut.labels, labels)
    _require(same, "model.merge_path leads to other groups.")
    same = cut is not None and np.array_equal(cut.signs, signs)
    _require(same, "model.merge_path leads to other signs.")
