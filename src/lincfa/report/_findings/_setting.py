"""What a reader needs to judge a report and to repeat it: settings, data, versions."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy import sparse

from ._samples import Samples

_OF_NO_INFLUENCE = ("n_jobs", "verbose")
_OF_FEATURES = ("connectivity", "blocks")  # with entries for each feature
_PACKAGES = ("lincfa", "numpy", "scipy", "scikit-learn")


def settings_of(model: Any) -> dict[str, Any]:
    """Give what a search chose, and the parameters of a model that shape its result."""
    settings: dict[str, Any] = {}
    if hasattr(model, "strategy_"):
        settings |= {"chosen strategy": model.strategy_, "chosen tolerance": model.tolerance_}
    for name, value in model.get_params(deep=False).items():
        if name not in _OF_NO_INFLUENCE:
            settings[name] = _brief(name, value)
    reducer = getattr(model, "reducer_", model)
    if settings["blocks"] is None and _has_several_variables(reducer):
        settings["blocks"] = "the variables of the field"
    if settings["connectivity"] is not None or settings["blocks"] is not None:
        settings["connected components"] = int(reducer.n_connected_components_)
    if settings.get("n_groups") is not None:
        del settings["tolerance"]  # whose place it takes
    return settings


def code_of(
    model: Any, title: str | None, train: Samples | None, test: Samples | None, ordered: bool
) -> str:
    """Give the lines of Python that fit such a model and write such a report."""
    lines = [f"from lincfa import {type(model).__name__}"]
    estimator = getattr(model, "estimator", None)
    if estimator is not None:
        kind = type(estimator)
        public = [part for part in kind.__module__.split(".") if not part.startswith("_")]
        lines.append(f"from {'.'.join(public)} import {kind.__name__}")
    weighted = train is not None and train.weights is not None
    weights = ", sample_weight=sample_weight" if weighted else ""
    given = [] if train is None else [f"X=X, y=y{weights}"]
    given += [] if test is None else ["X_test=X_test, y_test=y_test"]
    given += ["ordered=True"] if ordered else []
    given += [] if title is None else [f"title={title!r}"]
    report = ", ".join(['"report.html"', *given])
    named = {name: _Named(name) for name in _OF_FEATURES if _is_long(getattr(model, name))}
    shown = type(model)(**model.get_params(deep=False) | named)
    return "\n".join(
        [*lines, "", f"model = {shown!r}.fit(X, y{weights})", f"model.report({report})"]
    )


class _Named:
    """Stands for a value that is too long to be written, and is given by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def _is_long(value: Any) -> bool:
    return value is not None and not isinstance(value, str)


def _brief(name: str, value: Any) -> Any:
    """Give a parameter; of one with entries for all features, their number."""
    if name not in _OF_FEATURES or not _is_long(value):
        return _simple(value)
    if name == "blocks":
        return f"{len(set(np.asarray(value).tolist()))} different labels"
    return f"matrix with {sparse.triu(sparse.csr_array(value), 1).count_nonzero()} edges"


def _has_several_variables(reducer: Any) -> bool:
    field = getattr(reducer, "field_", None)
    return field is not None and len(field.variables) > 1


def versions() -> dict[str, str]:
    """Versions of what computed the figures."""
    found = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # a checkout that is not installed
            continue
    found["system"] = f"{platform.system()} {platform.machine()}"
    return found


def _simple(value: Any) -> Any:
    """Give numbers, words and lists of them as they are, anything else as it is written."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple | list):
        return [_simple(entry) for entry in value]
    return value if value is None or isinstance(value, str | int | float) else repr(value)
