"""All findings on a fitted model together, and as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Any

import numpy as np

from ..._data._names import shown
from ._coefficients import Coefficients, effect_of_groups, spread_back
from ._groups import LONGEST_NAME, Group, describe_groups
from ._maps import Map, maps_of
from ._matrix import CorrelationMatrix, correlate_by_group
from ._pairs import Pairs, decide_pairs
from ._path import ScorePath, score_path
from ._regression import fit_reduced, linear_weights
from ._row import Row, spectrum_of
from ._samples import Samples
from ._scores import Scores, score
from ._setting import code_of, settings_of, versions

_CONSTANT_SHOWN = 1000


@dataclass(frozen=True)
class Findings:
    """What a report tells of a fitted model.

    Attributes
    ----------
    title : str
    created : str
        Date and time, in ISO form.
    headline : str
        What was reduced to what, in a line.
    n_samples : float
        Samples of the fit; with weights, their sum.
    n_features, n_groups, n_constant : int
        Features of the fit, groups, and constant features, which belong to none.
    scores : Scores or None
        On samples not used for fitting; None where none were given.
    groups : tuple of Group
        The largest first; where there are very many, not all.
    constant : tuple of str
        Names of constant features, the first thousand.
    matrix : CorrelationMatrix or None
        None where there are no data to compute it from.
    matrix_source : str
        Which samples it is computed from.
    pairs : Pairs
    path : ScorePath or None
        None for a strategy without a path, or without data to score it on.
    coefficients : Coefficients or None
        None where there is no linear model on the reduced features.
    maps : tuple of Map
        Groups of the cells of a field, and their weights if there is a linear model: the first
        variables, or places along dimensions beyond two. Empty for a table.
    n_maps : int
        How many there could be.
    spectrum : Row or None
        Features that have numbers in a row, with their means.
    settings, data, versions : mapping
        What it takes to judge the figures.
    recipe : str
        What it takes to repeat them: a command, or lines of Python.
    notes : tuple of str
        What a reader should know besides, such as columns that were passed by.
    """

    title: str
    created: str
    headline: str
    n_samples: float
    n_features: int
    n_groups: int
    n_constant: int
    scores: Scores | None
    groups: tuple[Group, ...]
    constant: tuple[str, ...]
    matrix: CorrelationMatrix | None
    matrix_source: str
    pairs: Pairs
    path: ScorePath | None
    coefficients: Coefficients | None
    maps: tuple[Map, ...]
    n_maps: int
    spectrum: Row | None
    settings: Mapping[str, Any]
    data: Mapping[str, Any]
    versions: Mapping[str, str]
    recipe: str
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give lists, numbers, strings and None; also None for what is not finite."""
        told: dict[str, Any] = plain(self)
        return told

    def to_json(self) -> str:
        """Give the findings as the text of a JSON file."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False, indent=1) + "\n"


def find(
    model: Any,
    *,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    ordered: bool = False,
    title: str | None = None,
    data: Mapping[str, Any] | None = None,
    recipe: str | None = None,
    notes: Sequence[str] = (),
) -> Findings:
    """Gather the findings on a fitted model.

    Parameters
    ----------
    model : LinCFA or LinCFACV
        Fitted.
    X, y, sample_weight
        The data of the fit, which the model does not keep, for what takes them.
    X_test, y_test
        Samples not used for fitting, to score on.
    ordered : bool
        Whether the test samples are in the order of time, so that neighbours depend.
    title, data, recipe, notes
        See :class:`Findings`.
    """
    model._check_is_fitted()
    reducer = getattr(model, "reducer_", model)
    train = Samples.of_fit(model, X, y, sample_weight)
    test = Samples.of_test(model, X_test, y_test)
    known = train if train is not None else test
    fitted = fit_reduced(model, reducer, train)
    coef = linear_weights(fitted, reducer.n_groups_)
    names = reducer._names()
    constant = np.flatnonzero(reducer.labels_ < 0)
    summary = reducer.summary()
    maps, n_maps = maps_of(reducer, coef)
    described = {"samples of the fit": _whole(reducer.n_samples_)}
    return Findings(
        title=title or "Reduced features",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        headline=summary.headline,
        n_samples=_whole(reducer.n_samples_),
        n_features=int(reducer.n_features_in_),
        n_groups=int(reducer.n_groups_),
        n_constant=int(constant.size),
        scores=score(model, reducer, fitted, train, test, ordered),
        groups=describe_groups(
            reducer, None if coef is None else effect_of_groups(reducer, coef, train)
        ),
        constant=tuple(shown(str(names[i]), LONGEST_NAME) for i in constant[:_CONSTANT_SHOWN]),
        matrix=None if known is None else correlate_by_group(reducer, known),
        matrix_source="the data of the fit" if train is not None else "the test samples",
        pairs=decide_pairs(reducer, train),
        path=score_path(model, reducer, train, test),
        coefficients=None if coef is None else spread_back(reducer, coef),
        maps=maps,
        n_maps=n_maps,
        spectrum=None if maps else spectrum_of(reducer),
        settings=settings_of(model),
        data=described | dict(data or {}),
        versions=versions(),
        recipe=recipe or code_of(model, title, train, test, ordered),
        notes=tuple(notes),
    )


def find_scores(
    model: Any, *, X: Any, y: Any, X_test: Any, y_test: Any, ordered: bool = False
) -> Scores | None:
    """Score a fitted model and nothing else; see :func:`find`."""
    train = Samples.of_fit(model, X, y)
    test = Samples.of_test(model, X_test, y_test)
    reducer = getattr(model, "reducer_", model)
    return score(model, reducer, fit_reduced(model, reducer, train), train, test, ordered)


def _whole(number: float) -> float:
    """Give a whole number as such; weights may add up to others."""
    return int(number) if float(number).is_integer() else float(number)


def plain(value: Any) -> Any:
    """Turn dataclasses, arrays and tuples into what JSON knows."""
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
