"""Reduce many correlated continuous features to few plain means, supervised by a target.

LinCFA merges two features when the drop in variance of the regression outweighs the growth of its
bias, so that nothing is thrown away and every reduced feature is "the mean of these". See
:class:`LinCFA`, :class:`LinCFACV` and for classes :class:`LinCFAClassifierCV`, which choose how
much to merge, :func:`explain_pair`, which says why two features merge or not, and
:mod:`lincfa.theory` for the equations behind them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import theory
    from ._lincfa import LinCFA
    from ._lincfa_classifier_cv import LinCFAClassifierCV
    from ._lincfa_cv import LinCFACV
    from ._load import load
    from ._model._inference import Inference
    from ._model._onnx import to_onnx
    from ._model._summary import Summary
    from .diagnostics._compare import compare
    from .diagnostics._comparison import ClassComparison, Comparison
    from .diagnostics._explain import PairExplanation, explain_pair
    from .diagnostics._stability import OrderSensitivity, Stability, order_sensitivity, stability

__version__ = "1.0.0rc1"

__all__ = [
    "ClassComparison",
    "Comparison",
    "Inference",
    "LinCFA",
    "LinCFACV",
    "LinCFAClassifierCV",
    "OrderSensitivity",
    "PairExplanation",
    "Stability",
    "Summary",
    "__version__",
    "compare",
    "explain_pair",
    "load",
    "order_sensitivity",
    "stability",
    "theory",
    "to_onnx",
]

# Loaded when first asked for: scikit-learn and SciPy take seconds to import, which a look at the
# command line's help should not.
_LAZY = {
    "LinCFA": "_lincfa",
    "ClassComparison": "diagnostics._comparison",
    "Comparison": "diagnostics._comparison",
    "Inference": "_model._inference",
    "LinCFACV": "_lincfa_cv",
    "LinCFAClassifierCV": "_lincfa_classifier_cv",
    "OrderSensitivity": "diagnostics._stability",
    "PairExplanation": "diagnostics._explain",
    "Stability": "diagnostics._stability",
    "Summary": "_model._summary",
    "explain_pair": "diagnostics._explain",
    "load": "_load",
    "compare": "diagnostics._compare",
    "order_sensitivity": "diagnostics._stability",
    "stability": "diagnostics._stability",
    "to_onnx": "_model._onnx",
}
_MODULES = ("baselines", "datasets", "plotting", "structure", "theory", "timeseries")


def __getattr__(name: str) -> Any:
    """Import what is asked for the first time."""
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_LAZY[name]}", __name__), name)


def __dir__() -> list[str]:
    """Name also what has not been loaded yet."""
    return sorted({*__all__, *_MODULES})
