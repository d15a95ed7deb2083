"""Pictures of the experiments."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from .estimates import Estimate

Curves = dict[str, list[Estimate]]

# The paper's colours: blue all features, red theoretical quantities, green empirical ones.
_LINES = {
    "full": ("all features", "#2166ac"),
    "(theoretical)": ("reduced, theoretical", "#b2182b"),
    "(empirical)": ("reduced, empirical", "#1b7837"),
}


def draw_samples(sizes: Sequence[int], ours: Curves, as_printed: Curves) -> Figure:
    """Draw reduced features, R² and error against the number of samples, in three panels."""
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    panels = figure.subplots(1, 3)
    for panel, quantity, title in zip(
        panels,
        ("d", "R²", "MSE"),
        ("(a) reduced features", "(b) R² on the test set", "(c) mean squared error"),
        strict=True,
    ):
        for model, (label, color) in _LINES.items():
            if (quantity, model) == ("d", "full"):
                continue  # D at every n
            merged = "" if quantity == "d" or model == "full" else "merged "
            name = f"{quantity} {merged}{model}"
            _draw(panel, sizes, ours[name], color, "-", label)
            _draw(panel, sizes, as_printed[name], color, "--", None)
        panel.set_xscale("log")
        panel.set_xticks([100, 300, 1000, 3000], ["100", "300", "1000", "3000"])
        panel.minorticks_off()
        panel.set(title=title, xlabel="training samples n")
        panel.grid(alpha=0.3)
    panels[0].set_ylim(bottom=0)
    panels[1].set_ylim(0, 1)
    panels[2].set_yscale("log")
    panels[1].plot([], [], "-", color="gray", label="setting behind the table")
    panels[1].plot([], [], "--", color="gray", label="as printed")
    panels[1].legend(frameon=False, loc="lower right")
    return figure


def _draw(
    panel: Any,
    sizes: Sequence[int],
    curve: list[Estimate],
    color: str,
    style: str,
    label: str | None,
) -> None:
    values = [point.value for point in curve]
    low = [point.value - point.margin for point in curve]
    high = [point.value + point.margin for point in curve]
    panel.plot(sizes, values, style, color=color, marker="o", markersize=3, label=label)
    panel.fill_between(sizes, low, high, color=color, alpha=0.12, linewidth=0)
