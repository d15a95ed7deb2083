"""Plots of how cost grows."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

_STYLES = {
    "LinCFA": ("#b2182b", "o", 2.5),
    "one pass X.T @ y": ("#555555", "", 1.0),
    "PCA(20, randomized)": ("#2166ac", "s", 1.2),
    "PLSRegression(10)": ("#1b7837", "^", 1.2),
    "FeatureAgglomeration(d)": ("#e08214", "D", 1.2),
    "np.corrcoef": ("#762a83", "v", 1.2),
}


def draw_growth(
    folder: Path,
    axis: str,
    fixed: str,
    times: dict[str, dict[str, list[tuple[int, int, float]]]],
) -> Path:
    """Plot seconds against the number of features or samples, one panel per kind of data."""
    column = 1 if axis == "features" else 0
    figure, panels = plt.subplots(
        1, len(times), figsize=(11, 4.6), sharey=True, layout="constrained"
    )
    for panel, (name, methods) in zip(panels, times.items(), strict=True):
        for method, points in methods.items():
            color, marker, width = _STYLES[method]
            panel.plot(
                [point[column] for point in points],
                [point[2] for point in points],
                color=color,
                marker=marker,
                linewidth=width,
                markersize=5,
                linestyle="-" if marker else "--",
                label=method,
            )
        panel.set(xscale="log", yscale="log", title=f"{name}, {fixed}", xlabel=f"number of {axis}")
        panel.grid(which="major", alpha=0.3)
    panels[0].set_ylabel("seconds per fit")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    path = folder / f"time-against-{axis}.png"
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path
