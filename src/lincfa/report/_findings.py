"""All findings on a fitted model, as plain data: for a page, a figure or a program."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from math import isfinite
from typing import Any

import numpy as np
from scipy import sparse

from .._data._names import shown
from .._model._display import json_text
from .._model._inference import ENOUGH, Inference, infer_weights
from .._model._observations import Observations, field_of, fitted_reducer, open_samples
from .._model._parameters import check_block_length
from .._model._regression import linear_coefficients
from .._model._summary import LARGEST_WEIGHT
from .._search._folds import folds_in_words
from ..theory._arrays import FloatArray
from . import _groups, _scores
from ._inputs import LONGEST_TARGET, feature_names, open_training, title_of_target
from ._intervals import LEVEL, verdict_on
from ._maps import Map, report_maps
from ._spectra import Spectrum, report_spectrum

_CONSTANT_SHOWN = 1000
_TARGETS_LISTED = 20
_WITHOUT_INFLUENCE = ("n_jobs", "verbose")
_PER_FEATURE = ("connectivity", "blocks", "feature_weights")  # may have an entry for each feature
_ENOUGH = (
    "Hold out more rows (--test), or merge into fewer groups (a larger --tolerance, or --n-groups)."
)
_PACKAGES = ("lincfa", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Findings:
    """The content of a report on a fitted model."""

    title: str
    created: str  # date and time in ISO format
    headline: str  # "30 features → 7 groups"
    target_name: str  # what is predicted, with its unit, if there is one and it has a name
    worse_than_mean: bool | None  # whether R² of the reduced features is below 0, for any target
    rival_is_better: bool | None  # whether the best rival is, beyond chance; None without any
    n_cancelling: int  # weights too large to be interpreted, of opposite sign
    searched: bool  # whether cross-validation chose the groups
    n_samples: float  # of the fit; with weights, their sum
    effective_samples: float  # number of samples that F counts with
    n_features: int
    n_groups: int
    n_constant: int  # constant features, which belong to no group
    n_flipped: int  # features that enter the mean of their group with their sign flipped
    weighted: bool  # whether means are weighted
    missing: float | None  # share of missing values in the training data; None if unknown
    flagged: tuple[str, ...]  # on groups whose members hardly belong together, in sentences
    scores: _scores.HeldOutScores | None  # None without test samples
    groups: tuple[_groups.Group, ...]  # those with the largest effects first; maybe not all
    inference: Inference | None  # weights estimated on the held-out samples alone
    inference_note: str  # how that was done, or why it was not
    constant: tuple[str, ...]  # names of constant features, the first thousand
    matrix: _groups.CorrelationMatrix | None  # None without data
    matrix_source: str  # which data
    pairs: _groups.Pairs
    path: _scores.ScorePath | None  # None without a path, or without data to score it on
    coefficients: _scores.Coefficients | None  # None without a linear regression
    maps: tuple[Map, ...]  # of a field, with effects of the groups if known; the first ones
    n_maps: int  # how many there could be
    spectrum: Spectrum | None  # means of numbered features
    settings: Mapping[str, Any]
    data: Mapping[str, Any]
    versions: Mapping[str, str]
    recipe: str  # how to reproduce the report: a command, or lines of Python
    notes: tuple[str, ...]  # what else a reader should know, such as columns that were skipped
    targets: tuple[str, ...] = ("y",)  # names; of classes their labels, of two that of the second
    classes: tuple[str, ...] = ()  # labels, if the target holds classes
    n_test_groups: int | None = None  # groups that the test samples are from; None if of no groups
    no_better_than_most_frequent: bool | None = None  # of classes: whether the accuracy is not
    predicts: bool = False  # whether the model predicts, or reduces alone
    half_width: tuple[float, ...] = ()  # of the 95 % interval of predictions, of each target

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as dicts, lists, numbers, strings and None, also for NaN."""
        result: dict[str, Any] = plain(self)
        return result

    def to_json(self) -> str:
        """Return the findings as the text of a JSON file."""
        return json_text(self.to_dict()) + "\n"


def collect_findings(
    model: Any,
    *,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    ordered: bool = False,
    block_length: int | str | None = None,
    groups: tuple[Any, Any] = (None, None),
    regression: Any = None,
    scores: _scores.HeldOutScores | None = None,
    title: str | None = None,
    data: Mapping[str, Any] | None = None,
    recipe: str | None = None,
    notes: Sequence[str] = (),
) -> Findings:
    """Collect the findings on a fitted model."""
    # Data are as for ``report``; ``groups`` are of training and test samples that depend on each
    # other. A regression on the reduced features and its scores replace them
    # where they do not fit in memory.
    check_block_length(block_length)
    reducer = fitted_reducer(model)
    train = open_training(model, X, y, sample_weight, groups[0])
    test = open_samples(model, X_test, y_test, ("X_test", "y_test"), groups=groups[1])
    known = train if train is not None else test
    if regression is None:
        regression = _scores.fit_regression(model, reducer, train)
    if scores is None:
        scores = _scores.score(model, reducer, regression, train, test, ordered, block_length)
    linear = linear_coefficients(regression, reducer.n_groups_)
    coefficients, effects, weights = None, None, None
    opposing: dict[tuple[int, int], _groups.Opposition] = {}
    if linear is not None:
        coef, _ = linear
        effects = _scores.effect_of_groups(reducer, coef, train)
        coefficients = _scores.describe_coefficients(reducer, effects)
        weights = np.atleast_2d(effects).T
        for k, column in enumerate(weights.T):
            found = _scores.find_oppositions(reducer, column, train, k)
            opposing |= {(number, k): opposition for number, opposition in found.items()}
    rival = None if scores is None else scores.best_rival
    targets, classes = tuple(reducer.target_names_), reducer._targets.classes
    inference, note = _infer(model, test, ordered, options=recipe is not None)
    if test is None and scores is not None:
        note = "Effects were not checked: that needs data in memory, and these were read in chunks."
    # Log odds have no scale by which they could be too large.
    largest = np.inf if classes is not None else LARGEST_WEIGHT * reducer.target_scale_
    maps, n_maps = report_maps(reducer, effects)
    names, summary = feature_names(reducer), model.summary()
    constant = np.flatnonzero(reducer.labels_ < 0)
    n_samples = float(reducer.n_samples_)  # weights may add up to a fraction
    n_samples = int(n_samples) if n_samples.is_integer() else n_samples
    return Findings(
        title=title or "Reduced features",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        headline=summary.headline,
        target_name=title_of_target(reducer._targets, 0)
        if len(targets) == 1 and classes is None
        else "",
        worse_than_mean=getattr(scores, "worse_than_mean", None),
        rival_is_better=None if rival is None else verdict_on(rival.difference) == "worse",
        n_cancelling=0 if weights is None else int((np.abs(weights) > largest).sum()),
        searched=getattr(model, "searched_", False),
        n_samples=n_samples,
        effective_samples=float(reducer.effective_samples_),
        n_features=int(reducer.n_features_in_),
        n_groups=int(reducer.n_groups_),
        n_constant=int(constant.size),
        n_flipped=int((reducer.signs_ < 0).sum()),
        weighted=bool(np.ptp(reducer.feature_weights_) > 0),
        missing=_share_missing(reducer, train),
        flagged=summary.flag_words(options=recipe is not None),
        scores=scores,
        groups=_groups.describe_groups(
            reducer, weights, largest, opposing, _check_weights(inference, weights)
        ),
        inference=inference,
        inference_note=note,
        constant=tuple(shown(names[i], _groups.LONGEST_NAME) for i in constant[:_CONSTANT_SHOWN]),
        matrix=None if known is None else _groups.correlate_by_group(reducer, known),
        matrix_source="the training data" if train is not None else "the test samples",
        pairs=_groups.collect_pairs(reducer, train),
        path=_scores.score_path(model, reducer, train, test, regression),
        coefficients=coefficients,
        maps=maps,
        n_maps=n_maps,
        spectrum=None if maps else report_spectrum(reducer),
        settings=settings_of(model),
        data={"training samples": n_samples} | _listed(targets, classes) | dict(data or {}),
        versions=versions(),
        recipe=recipe or _code(model, title, train, test, ordered, block_length),
        notes=(*notes, *filter(None, [summary.area_words(options=recipe is not None)])),
        targets=targets,
        classes=() if classes is None else tuple(map(str, classes.tolist())),
        n_test_groups=None if test is None or test.groups is None else int(test.groups[-1]) + 1,
        no_better_than_most_frequent=getattr(scores, "no_better_than_most_frequent", None),
        predicts=hasattr(model, "predict"),
        half_width=_half_width(model),
    )


def _infer(
    model: Any, test: Observations | None, ordered: bool, options: bool
) -> tuple[Inference | None, str]:
    """Estimate the weights on held-out samples; return also how, or why that is impossible."""
    if test is None:
        return None, "Effects were not checked: no held-out samples were given."
    if test.targets.classes is not None:
        return None, "Effects were not checked: that is for targets that are numbers, not classes."
    try:
        found = infer_weights(model, test, LEVEL / 100, ordered or test.dates is not None)
    except ValueError as error:
        why = str(error).replace(ENOUGH, _ENOUGH) if options else str(error)
        return None, f"Effects were not checked: {why}"
    return found, found.how


def _check_weights(
    inference: Inference | None, weights: FloatArray | None
) -> dict[tuple[int, int], _groups.Check]:
    """Compare the weights of a model, per standard deviation, with those on held-out samples."""
    if inference is None or weights is None:
        return {}
    scaled = inference.per_standard_deviation()
    names = ("estimate", "low", "high", "adjusted_p_value")
    figures = {name: np.atleast_2d(getattr(scaled, name)).T for name in names}
    same = np.sign(figures["estimate"]) == np.sign(weights)
    verdicts = np.where(same, "confirmed", "opposite sign")
    verdicts = np.where(figures["adjusted_p_value"] < 1 - inference.level, verdicts, "unclear")
    return {
        (number, k): _groups.Check(
            **{name: float(values[number, k]) for name, values in figures.items()},
            verdict=str(verdicts[number, k]),
        )
        for number, k in np.argwhere(np.isfinite(figures["estimate"])).tolist()
    }


def _half_width(model: Any) -> tuple[float, ...]:
    """Return half the width of prediction intervals; nothing for too few errors, or none."""
    if not hasattr(model, "errors_"):
        return ()
    try:
        return tuple(np.atleast_1d(model._half_width(LEVEL / 100)).tolist())
    except ValueError:
        return ()


def _listed(targets: Sequence[str], classes: Any) -> dict[str, Any]:
    """Return what is predicted, unless it is a single number."""
    if classes is not None:
        targets = [str(label) for label in classes.tolist()]
    if len(targets) == 1:
        return {}
    names = [shown(name, LONGEST_TARGET) for name in targets[:_TARGETS_LISTED]]
    more = len(targets) - len(names)
    names += [f"… {more} more"] if more else []
    return {"targets" if classes is None else "classes": names}


def _share_missing(reducer: Any, train: Observations | None) -> float | None:
    if reducer.missing == "error":
        return 0.0
    return None if train is None else train.missing


def plain(value: Any) -> Any:
    """Convert dataclasses, arrays and tuples to what JSON knows."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value


def settings_of(model: Any) -> dict[str, Any]:
    """Return what a search chose, and the parameters that influence a model."""
    settings: dict[str, Any] = {}
    searched, described = getattr(model, "searched_", False), model
    if hasattr(model, "penalty_"):
        merging = ("strategy", "tolerance", "min_correlation") if searched else ()
        for name in (*merging, "penalty"):
            settings[f"chosen {name}"] = _brief(name, getattr(model, f"{name}_"))
        if searched and model.reducer_.n_groups is not None:  # where a path was followed to so many
            settings["chosen n_groups"] = model.reducer_.n_groups
        if model.rescaled_:
            settings["chosen weights"] = "rescaled after shrinking"
        described = model if searched else model.reducer_
    for name, value in described.get_params(deep=False).items():
        if name not in _WITHOUT_INFLUENCE:
            settings[name] = _brief(name, value)
    if blocks := folds_in_words(getattr(model, "cv_", None)):
        settings["cv"] = blocks  # also where they are the default
    reducer = fitted_reducer(model)
    field = field_of(reducer)
    if settings["blocks"] is None and field is not None and len(field.variables) > 1:
        settings["blocks"] = "the variables of the field"
    if settings["connectivity"] is not None or settings["blocks"] is not None:
        settings["connected components"] = int(reducer.n_connected_components_)
    if settings.get("n_groups") is not None:
        del settings["tolerance"]  # n_groups takes its place
    return settings


def _brief(name: str, value: Any) -> Any:
    """Return a parameter as JSON knows it; summarize one with an entry for each feature."""
    if name in _PER_FEATURE and value is not None and not isinstance(value, str):
        if name == "feature_weights":
            low, high = np.min(value), np.max(value)
            return f"from {low:g} to {high:g}" if low < high else f"all {low:g}"
        if name == "blocks":
            return f"{len(set(np.asarray(value).tolist()))} blocks"
        return f"graph with {sparse.triu(sparse.csr_array(value), 1).count_nonzero()} edges"
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, tuple | list):
        return [_brief("", entry) for entry in value]
    return value if value is None or isinstance(value, str | int | float) else repr(value)


def versions() -> dict[str, str]:
    """Return the versions of the packages that computed the figures."""
    found = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # a checkout that is not installed
            continue
    found["system"] = f"{platform.system()} {platform.machine()}"
    return found


class _Variable:
    """Stands in for a value that is too long to print, and prints as a variable's name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def _code(
    model: Any,
    title: str | None,
    train: Observations | None,
    test: Observations | None,
    ordered: bool,
    block_length: int | str | None,
) -> str:
    """Return Python code that fits such a model and writes such a report."""
    lines = [f"from lincfa import {type(model).__name__}"]
    estimator = getattr(model, "estimator", None)
    if estimator is not None:
        kind = type(estimator)
        public = [part for part in kind.__module__.split(".") if not part.startswith("_")]
        lines.append(f"from {'.'.join(public)} import {kind.__name__}")
    weighted = train is not None and train.weights is not None
    weights = ", sample_weight=sample_weight" if weighted else ""
    given = ['"report.html"']
    given += [] if train is None else [f"X=X, y=y{weights}"]
    given += [] if test is None else ["X_test=X_test, y_test=y_test"]
    given += ["ordered=True"] if ordered else []
    given += [] if block_length is None else [f"block_length={block_length!r}"]
    given += [] if title is None else [f"title={title!r}"]
    parameters = model.get_params(deep=False)
    for name in _PER_FEATURE:
        if not (parameters[name] is None or isinstance(parameters[name], str)):
            parameters[name] = _Variable(name)
    lines += ["", f"model = {type(model)(**parameters)!r}.fit(X, y{weights})"]
    return "\n".join([*lines, f"model.report({', '.join(given)})"])
