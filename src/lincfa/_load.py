"""Saved models become models again."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._lincfa import LinCFA
from ._model._document import read_model
from ._replacing import repair_beside

if TYPE_CHECKING:
    from ._lincfa_classifier_cv import LinCFAClassifierCV
    from ._lincfa_cv import LinCFACV

_START = 1024  # bytes, in which a saved model begins
_MOST_DIGITS = 4300  # of a whole number, which take long to read: the limit of Python itself


def load(path: str | os.PathLike[str]) -> "LinCFA | LinCFACV | LinCFAClassifierCV":
    """Load a model saved by its method ``save``.

    The file is read as plain JSON and checked; nothing in it is executed.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    LinCFA, LinCFACV or LinCFAClassifierCV
        The fitted model, which transforms, and predicts if it is one of the latter, exactly as the
        one that was saved. These have what was chosen as their only candidates, and as their
        ``estimator_`` a ridge or logistic regression with the weights of the one that was saved.

    Raises
    ------
    ValueError
        If the file is not a saved model, has an unknown version, or was damaged or edited.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import lincfa
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=100, n_features=20, random_state=0)
    >>> model = lincfa.LinCFACV().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.json"
    ...     model.save(path)
    ...     bool((lincfa.load(path).predict(X) == model.predict(X)).all())
    True
    """
    repair_beside(path)
    document = _read_json(path)
    try:
        values = read_model(document)
        model = LinCFA(**{name: values.pop(name) for name in LinCFA._get_param_names()})
        model._check_parameters()
    except RecursionError:
        raise ValueError(f"{os.fspath(path)} is nested too deeply.") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{os.fspath(path)} cannot be loaded: {error}") from None
    output, regression = values.pop("output"), values.pop("regression")
    for name, value in values.items():
        setattr(model, name, value)
    loaded = model if regression is None else _predicting(model, **regression)
    return loaded if output is None else loaded.set_output(transform=output)


def _read_json(path: str | os.PathLike[str]) -> Any:
    """Read a saved model in standard JSON, without NaN and repeated keys; errors name the file."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key occurs twice in one object.")
        return dict(pairs)

    def refuse(constant: str) -> float:
        raise ValueError(f"{constant} is not valid JSON.")

    def whole(digits: str) -> int:
        if len(digits) > _MOST_DIGITS:  # the time to read them grows with their square
            raise ValueError(f"a number has {len(digits)} digits.")
        return int(digits)

    try:
        with Path(path).open("rb") as file:
            content = file.read(_START)
            if content.strip()[:1] in (b"", b"{"):  # or it is something else, perhaps large
                content += file.read()
        text = content.decode("utf-8")
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse, parse_int=whole)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        if isinstance(error, UnicodeDecodeError) or not text.lstrip().startswith("{"):
            raise ValueError(f"{os.fspath(path)} is not a saved model (not JSON).") from None
        raise ValueError(f"{os.fspath(path)} is damaged: {error}.") from None
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
    except RecursionError:
        raise ValueError(f"{os.fspath(path)} is nested too deeply.") from None


def _predicting(
    reducer: LinCFA,
    coef: Any,
    intercept: Any,
    penalty: float | None,
    rescaled: bool,
    searched: bool,
    errors: Any,
) -> Any:
    """Return a model that has chosen these groups and weights."""
    from ._lincfa_classifier_cv import LinCFAClassifierCV
    from ._lincfa_cv import LinCFACV
    from ._model._logistic import PenalizedLogistic
    from ._model._regression import RidgeRegression

    classes = reducer._targets.classes
    kind: Any = LinCFACV if classes is None else LinCFAClassifierCV
    model = kind._from_reducer(reducer, searched=searched)
    model.penalties = None if penalty is None else [penalty]
    model.penalty_, model.rescaled_ = penalty, rescaled
    if classes is None:
        model.estimator_ = RidgeRegression.of(penalty or 0.0, coef, intercept)
        if errors is not None:
            model.errors_ = errors
        return model
    if coef.ndim == 1:  # of the second of two classes, relative to the first
        coef, intercept = np.stack([0 * coef, coef]), np.array([0.0, intercept])
    model.estimator_ = PenalizedLogistic.of(penalty or 0.0, classes, coef.T, intercept)
    return model
