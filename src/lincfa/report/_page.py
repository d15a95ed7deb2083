"""From findings to a file: what the template shows, the figures as inline SVG, the page."""

import base64
import hashlib
import os
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from importlib import resources
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from .. import plotting
from .._model._display import capitalized, decimals, digits, square_kilometres, visible
from .._replacing import write_atomically
from . import _words
from ._classes import ClassScores
from ._findings import Findings
from ._groups import LONGEST_NAME, Group
from ._scores import HeldOutScores, name_of_prediction
from ._thumbnails import draw_thumbnails

_Drawing: TypeAlias = tuple[tuple[float, float], Callable[[Any], None], tuple[int, int]]
"""Size of a figure in inches, what draws on its axes, and how many rows and columns these are."""

_BARS = 100  # groups with small pictures of their effects and places
_PANELS_ACROSS = 2
_SQUARE = ("correlations", "map-", "effects-", "confusion")  # figures whose axes keep their aspect


def write_report(findings: Findings, path: str | os.PathLike[str]) -> None:
    """Write findings as an HTML page, or as JSON if the file is called ``*.json``; atomically."""
    write_atomically(path, report_text(findings, path))


def report_text(findings: Findings, path: str | os.PathLike[str]) -> str:
    """Return the text of the file that a path asks for."""
    as_json = Path(path).suffix.lower() == ".json"
    return findings.to_json() if as_json else render(findings)


def render(findings: Findings) -> str:
    """Return the page: one text with its styles, scripts and figures, which loads nothing else."""
    environment = _environment()
    figures = {name: _markup(drawn) for name, drawn in draw_figures(findings).items()}
    style, start, script = (_asset(f"report.{name}") for name in ("css", "start.js", "js"))
    page = environment.from_string(_asset("report.html")).render(
        _context(findings),
        figures=figures,
        style=_markup(style),
        start=_markup(start),
        script=_markup(script),
        style_hash=_digest(style),
        script_hashes=[_digest(start), _digest(script)],
    )
    return _encodable(page)


def _environment() -> Any:
    """Return a jinja2 environment that escapes whatever is not marked as safe."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise ImportError("A report needs jinja2: pip install 'lincfa[report]'.") from error
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(
        number=_number,
        effect=_words.write_effect,
        capitalized=capitalized,
        setting=_setting,
        visible=visible,
        area=square_kilometres,
    )
    return environment


def _markup(trusted: str) -> Any:
    from markupsafe import Markup  # comes with jinja2

    return Markup(trusted)


def _asset(name: str) -> str:
    return (resources.files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return the hash by which the page's content security policy admits a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _encodable(text: str) -> str:
    """Escape lone surrogates, which names may contain but files may not."""
    return text.encode("utf-8", "backslashreplace").decode()


# What the template shows


def _context(findings: Findings) -> dict[str, Any]:
    """Return the variables of the template."""
    weighted = any(not isnan(group.weight) for group in findings.groups)
    checked = any(effect.check for group in findings.groups for effect in group.effects)
    scores, near = findings.scores, findings.pairs.near
    more_constant = findings.n_constant - len(findings.constant)
    columns = _group_columns(findings, weighted, checked)
    axis, bars = _bars(findings.groups)
    use, width = _words.describe_use(findings)
    largest = _words.largest_effects(findings)
    return {
        "findings": findings,
        "created": f"{datetime.fromisoformat(findings.created):%Y-%m-%d %H:%M %Z}",
        "answer": _words.state_answer(findings),
        "tiles": _words.list_tiles(findings),
        "reduction": _words.describe_reduction(findings),
        "warnings": _words.list_warnings(
            scores,
            findings.n_cancelling,
            findings.n_groups * len(findings.targets),
            findings.searched,
        ),
        "chart": None if scores is None else _chart(scores),
        "score_columns": [] if scores is None else _score_columns(scores),
        "correlated": _titles(findings)[0],
        "columns": columns,
        "sort_keys": [_sort_keys(values) for _, values in columns],
        "axis": axis,
        "bars": bars,
        "largest_effects": largest,
        "trust": _words.describe_trust(findings),
        "tolerance": partial(_words.describe_tolerance, findings),
        "opposed": any(group.opposes for group in findings.groups),
        "use": use,
        "width": width,
        "places": _words.places_of_difference,
        "thumbnails": [
            _markup(drawn)
            for drawn in draw_thumbnails(findings, [g.number for g in findings.groups[:_BARS]])
        ],
        "remarks": partial(_words.list_remarks, findings),
        "oppositions": partial(_words.explain_oppositions, findings, largest=largest),
        "effect": _words.describe_effect(findings),
        "largest": _words.list_largest(findings),
        "noun": _words.noun_of_target(findings),
        "weighted": weighted,
        "checked": checked,
        "mean": _words.kind_of_mean(findings),
        "placed": _has_places(findings),
        "omissions": _words.describe_omissions(findings),
        "more_constant": f" … and {more_constant} more" if more_constant else "",
        "maps": [f"map-{k}" for k, map in enumerate(findings.maps) if not map.again],
        "effect_maps": [
            f"effects-{k}" for k, map in enumerate(findings.maps) if map.values is not None
        ],
        "captions": _words.captions(findings),
        "coefficient_pictures": [
            _words.coefficient_picture(k)
            for k in range(len(findings.coefficients.panels if findings.coefficients else ()))
        ],
        "nearest": [] if near is None else _words.list_nearest(near, findings.pairs.tolerance),
        "longest_name": LONGEST_NAME,
    }


def _has_places(findings: Findings) -> bool:
    return any(group.place is not None for group in findings.groups)


def _group_columns(
    findings: Findings, weighted: bool, checked: bool
) -> list[tuple[str, list[float]]]:
    """Return the titles of the columns of the table of groups, and the numbers to sort by."""
    groups = findings.groups
    correlation, weight = _titles(findings)
    columns: list[tuple[str, list[float]]] = []
    if weighted:
        # Those on several targets may differ in unit: their order is that of the findings.
        several = len(findings.targets) > 1
        sizes = [abs(group.weight) for group in groups]
        columns.append((weight, [*range(len(groups), 0, -1)] if several else sizes))
    if checked:
        estimates = [abs(group.check.estimate) if group.check else nan for group in groups]
        columns.append(("on new samples", estimates))
    columns.append(("features", [group.size for group in groups]))
    if _has_places(findings):
        areas = [nan if group.place is None else group.place["area_km2"] for group in groups]
        columns.append(("km²", areas))
    columns.append(("likeness", [group.mean_correlation for group in groups]))
    columns.append((correlation, [group.target_correlation for group in groups]))
    return columns


def _sort_keys(values: list[float]) -> list[float | None]:
    return [float(f"{value:.7g}") if isfinite(value) else None for value in values]


def _titles(findings: Findings) -> tuple[str, str]:
    """Return the titles of the columns of correlations and effects."""
    if len(findings.targets) > 1:
        return f"largest r with a {_words.noun_of_target(findings)}", "largest effect"
    return f"r with {_words.the_target(findings).removeprefix('the ')}", "effect"


def _bars(groups: Sequence[Group]) -> tuple[list[tuple[float, str]], list[dict[str, Any]]]:
    """Return the ticks of an axis around 0, and where the effects of the first groups are on it.

    All places are in per cent. Intervals may go beyond the axis.
    """
    # Those on several targets may differ in unit.
    first = () if any(group.weight_target for group in groups) else groups[:_BARS]
    sizes = [abs(group.weight) for group in first]
    sizes += [abs(group.check.estimate) for group in first if group.check]
    largest = max(sizes, default=nan)
    if not largest > 0:  # also of NaN
        return [], []
    end = _ticks(0.0, largest, 8)[-1]

    def place(value: float) -> float:
        return round(50 + 46 * min(max(value / end, -1), 1), 2)

    bars = []
    for group in first:
        to, check = place(group.weight), group.check
        bar: dict[str, Any] = {"x": min(to, 50), "width": round(abs(to - 50), 2)}
        if check is not None:
            names = ("low", "estimate", "high")
            bar |= {name: place(getattr(check, name)) for name in names}
            bar["cut"] = (check.low < -end, check.high > end)
        bars.append(bar)
    return _labelled([-end, 0.0, end], place), bars


def _score_columns(scores: HeldOutScores) -> list[tuple[str, str, str]]:
    """Return title, attribute and format of each column of the table of scores."""
    if isinstance(scores, ClassScores):
        return [("accuracy", "accuracy", "decimals"), ("log loss", "log_loss", "digits")]
    if scores.targets:
        return [("mean R²", "r2", "decimals")]
    return [("R²", "r2", "decimals"), ("RMSE", "rmse", "digits")]


def _chart(scores: HeldOutScores) -> dict[str, Any] | None:
    """Return where scores, their intervals and the ticks of their axis are, in per cent."""
    _, name, _ = _score_columns(scores)[0]
    figures = [getattr(row, name) for row in scores.rows]
    if not all(isfinite(figure.low) for figure in figures):
        return None
    # What is far worse than a guess would leave no room for what matters.
    low = max(min(figure.low for figure in figures), min(figures[-1].low, 0.0) - 0.5)
    ticks = _ticks(low, max(figure.high for figure in figures))
    low, high = ticks[0], ticks[-1]

    def place(value: float) -> float:
        return round(4 + 92 * (max(value, low) - low) / (high - low), 2)

    parts = ("low", "value", "high")
    return {
        "dots": [
            {part: place(getattr(figure, part)) for part in parts} | {"cut": figure.value < low}
            for figure in figures
        ],
        "ticks": _labelled(ticks, place),
    }


def _ticks(low: float, high: float, most: int = 3) -> list[float]:
    """Return round numbers at equal distances, from the last below to the first above."""
    from matplotlib.ticker import MaxNLocator

    return list(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high))


def _labelled(ticks: Sequence[float], place: Callable[[float], float]) -> list[tuple[float, str]]:
    return [(place(tick), plotting.short_number(tick)) for tick in ticks]


def _number(value: float, kind: str = "decimals", places: int = 3) -> str:
    """Format a number for a table cell; a dash if there is none."""
    if isnan(value):
        return "–"
    if kind == "probability":
        return f"{value:.3f}" if value >= 0.001 else "< 0.001"
    return decimals(value, places) if kind == "decimals" else digits(value)


def _setting(value: Any) -> str:
    """Format a setting, or a description of the data."""
    if value is None:
        return "–"
    if isinstance(value, list | tuple):
        return ", ".join(map(_setting, value))
    return f"{value:g}" if isinstance(value, float) else visible(str(value))


# Figures


def draw_figures(findings: Findings) -> dict[str, str]:
    """Draw what there are data for; return the SVG of each figure by name."""
    texts = _words.alternatives(findings)
    result = {}
    for name, (size, draw, shape) in _drawings(findings).items():
        try:
            figure = plotting.new_figure(*size, square=name.startswith(_SQUARE))
        except ImportError as error:
            raise ImportError("A report needs matplotlib: pip install 'lincfa[report]'.") from error
        with plotting.default_style():
            draw(figure.subplots(*shape))
        result[name] = plotting.svg(figure, title=texts[name.removesuffix("-wide")], salt=name)
    return result


def _drawings(findings: Findings) -> dict[str, _Drawing]:
    """Return how to draw each figure."""
    matrix, pairs, path = findings.matrix, findings.pairs, findings.path
    coefficients, scores = findings.coefficients, findings.scores
    one, width = (1, 1), plotting.PAGE_WIDTH
    drawings: dict[str, _Drawing] = {}
    if isinstance(scores, ClassScores):
        size = plotting.confusion_size(len(scores.confusion.classes), width)
        drawings["confusion"] = size, partial(plotting.draw_confusion, scores.confusion), one
        if scores.roc.curves:
            drawings["roc"] = (width, 5.2), partial(plotting.draw_roc, scores.roc), one
    elif scores is not None and scores.predictions is not None:
        n_targets = len(scores.predictions.targets)
        columns = min(n_targets, _PANELS_ACROSS)
        shape = -(-n_targets // columns), columns
        size = (width if columns > 1 else 4.2, 2.5 * shape[0] + 0.3 if columns > 1 else 4.2)
        draw: Any = partial(plotting.draw_predictions, scores.predictions)
        drawings["predictions"] = size, draw, shape
    if matrix is not None and matrix.names:
        drawings["correlations"] = (width, 4.8), partial(plotting.draw_correlation, matrix), one
    if pairs.merged.first or (pairs.near is not None and pairs.near.first):
        drawings["thresholds"] = (width, 4.4), partial(plotting.draw_thresholds, pairs), one
    if path is not None:
        drawings["path"] = (width, 3.6), partial(plotting.draw_path, path), one
    mapped = [map for map in findings.maps if map.values is not None]
    panels = () if coefficients is None else coefficients.panels
    if not mapped and findings.spectrum is None:  # where effects are seen in their places
        for k, panel in enumerate(panels):
            draw = partial(plotting.draw_coefficients, panel)
            size = plotting.coefficients_size(panel, width)
            drawings[_words.coefficient_picture(k)] = size, draw, one
    first = findings.groups[: _words.GROUPS_NUMBERED]
    numbers = {group.number: rank for rank, group in enumerate(first, 1)}
    for k, map in enumerate(findings.maps):
        if not map.again:
            draw = partial(plotting.draw_groups, map, numbers=numbers)
            drawings[f"map-{k}"] = plotting.figure_size(map, longest=width), draw, one
        if map.values is not None:
            # Those of a target share a scale.
            effects = [plotting.effects_on(each) for each in mapped if each.target == map.target]
            changed = name_of_prediction(map.target, bool(findings.classes))
            scale: dict[str, Any] = {"effects": np.concatenate(effects), "changed": changed}
            scale["numbers"] = numbers
            draw = partial(plotting.draw_effects, map, **scale)
            size = plotting.figure_size(map, bar=True, longest=width)
            drawings[f"effects-{k}"] = size, draw, one
    if findings.spectrum is not None:
        shape = 1 + len(panels), 1
        draw = partial(
            plotting.draw_spectrum, findings.spectrum, label="feature mean", effects=panels
        )
        for name, across in (("spectrum", width), ("spectrum-wide", 2.2 * width)):
            drawings[name] = (across, 2.8 + 1.6 * len(panels)), draw, shape
    return drawings
