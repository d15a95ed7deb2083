"""The pictures of the page, as inline SVG."""

from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from .._findings import Coefficients, CorrelationMatrix, Findings, Pairs, ScorePath
from ..plotting import new_figure
from ._wording import alternatives

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def pictures(findings: Findings) -> dict[str, str]:
    """Draw what there are data for: the name of each picture, and its SVG."""
    needed = findings.settings.get("min_correlation", "None")
    min_correlation = None if needed == "None" else float(needed)
    merged, near = findings.pairs.merged, findings.pairs.near
    drawings: dict[str, tuple[Any, tuple[float, float]]] = {}
    if findings.matrix is not None and findings.matrix.names:
        matrix = findings.matrix
        drawings["correlations"] = (lambda ax: draw_correlation(matrix, ax), (6.5, 5.4))
    if merged.first or (near is not None and near.first):
        drawings["thresholds"] = (
            lambda ax: draw_thresholds(findings.pairs, ax, min_correlation),
            (6.5, 5.0),
        )
    if findings.path is not None:
        path = findings.path
        drawings["path"] = (lambda ax: draw_path(path, ax), (7.0, 4.0))
    if findings.coefficients is not None and findings.coefficients.names:
        coefficients = findings.coefficients
        drawings["coefficients"] = (lambda ax: draw_coefficients(coefficients, ax), (8.0, 3.6))
    texts = alternatives(findings)
    result = {}
    for name, (draw, size) in drawings.items():
        figure = _figure(*size)
        draw(figure.subplots())
        result[name] = svg(figure, title=texts[name], salt=name)
    return result


def _figure(width: float, height: float) -> "Figure":
    try:
        return new_figure(width, height)
    except ImportError as error:
        raise ImportError("A report needs matplotlib: pip install 'lincfa[report]'.") from error


def draw_correlation(matrix: CorrelationMatrix, ax: Any) -> None:
    """Draw the correlations as a coloured square."""
    image = ax.imshow(matrix.values, vmin=-1, vmax=1, cmap="RdBu_r")
    ax.figure.colorbar(image, label="correlation")


def draw_thresholds(pairs: Pairs, ax: Any, min_correlation: float | None) -> None:
    """Draw the correlation of pairs against their threshold."""
    for table, color in ((pairs.merged, "#1b7837"), (pairs.near, "#b2182b")):
        if table is not None:
            threshold = np.clip(table.threshold, -1, 1)
            ax.plot(threshold, table.correlation, ".", color=color)
    ax.plot([-1, 1], [-1, 1], color="black", linewidth=0.8)
    if min_correlation is not None:
        ax.axhline(min_correlation, color="black", linewidth=0.8, linestyle="--")
    ax.set(xlabel="correlation that it takes", ylabel="correlation that there is")


def draw_path(path: ScorePath, ax: Any) -> None:
    """Draw scores against the number of groups."""
    for curve in path.curves:
        ax.plot(curve.n_groups, curve.score, ".-", label=curve.strategy)
    ax.plot(*path.chosen, "o", markersize=12, markerfacecolor="none", markeredgecolor="black")
    ax.set(xscale="log", xlabel="number of groups", ylabel=path.score_name)
    ax.legend(frameon=False)


def draw_coefficients(coefficients: Coefficients, ax: Any) -> None:
    """Draw the weight of each feature."""
    ax.plot(coefficients.values, ".", markersize=3, color="#3b78b8", rasterized=True)
    ax.set(xlabel="feature, in the order of the columns", ylabel="weight")


def svg(figure: "Figure", *, title: str, salt: str) -> str:
    """Give a figure as inline SVG whose ink is the colour of the text around it."""
    import matplotlib
    from markupsafe import escape

    out = StringIO()
    settings: Any = {"svg.hashsalt": salt, "svg.fonttype": "none"}
    with matplotlib.rc_context(settings):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    drawn = out.getvalue()
    drawn = drawn[drawn.index("<svg") :].replace("#000000", "currentColor")
    return drawn.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)
