"""What a reader needs to judge a report and to repeat it: settings, data, versions."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

_PACKAGES = ("lincfa", "numpy", "scipy", "scikit-learn")


def settings_of(model: Any) -> dict[str, str]:
    """Give the parameters of a model, and what a search chose."""
    settings = {name: _written(value) for name, value in model.get_params(deep=False).items()}
    if hasattr(model, "strategy_"):
        settings["chosen strategy"] = str(model.strategy_)
        settings["chosen tolerance"] = _written(model.tolerance_)
    return settings


def code_of(model: Any) -> str:
    """Give the lines of Python that fit such a model and write such a report."""
    return (
        f"from lincfa import {type(model).__name__}\n\n"
        f"model = {model!r}.fit(X, y)\n"
        'model.report("report.html", X=X, y=y, X_test=X_test, y_test=y_test)'
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


def _written(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
