"""What a reader needs to judge a report and to repeat it: settings, data, versions."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from ._samples import Samples

_OF_NO_INFLUENCE = ("n_jobs", "verbose")
_PACKAGES = ("lincfa", "numpy", "scipy", "scikit-learn")


def settings_of(model: Any) -> dict[str, Any]:
    """Give what a search chose, and the parameters of a model that shape its result."""
    settings: dict[str, Any] = {}
    if hasattr(model, "strategy_"):
        settings |= {"chosen strategy": model.strategy_, "chosen tolerance": model.tolerance_}
    for name, value in model.get_params(deep=False).items():
        if name not in _OF_NO_INFLUENCE:
            settings[name] = _simple(value)
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
    return "\n".join(
        [*lines, "", f"model = {model!r}.fit(X, y{weights})", f"model.report({report})"]
    )


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
