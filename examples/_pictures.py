"""Plots of a fitted model: its areas, their effects, stability and mean series."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from _compare import JOBS, Part
from lincfa import LinCFACV, stability
from lincfa.plotting import plot_effect_map, plot_map, plot_stability_map

LARGEST = 4
RESAMPLES = 30
WIDTH, DOTS = 6.0, 90

Box = Mapping[str, tuple[float, float]]


def output_folder(description: str | None) -> Path:
    """Parse the command line; return the folder for the plots."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    here = Path(__file__).parent / "output"
    parser.add_argument("--into", type=Path, default=here, help="folder for the plots")
    folder: Path = parser.parse_args().into
    return folder


def draw_all(
    model: LinCFACV, part: Part, name: str, unit: str, folder: Path, box: Box | None = None
) -> None:
    """Draw and save four plots of a model fitted to ``part``.

    ``unit`` is that of the means; ``box``, if given, is the region of the target.
    """
    folder.mkdir(parents=True, exist_ok=True)
    print(
        f"LinCFACV on all years: {model.strategy_}, tolerance {model.tolerance_:g}, "
        f"{model.n_groups_} areas"
    )
    found = stability(
        part.field, part.target, RESAMPLES, model=model.reducer_, random_state=0, n_jobs=JOBS
    )
    maps = {
        "areas": plot_map(model, numbers=LARGEST),
        "effects": plot_effect_map(model),
        "stability": plot_stability_map(found),
    }
    for kind, drawn in maps.items():
        axes = np.ravel(drawn)
        if box is not None:
            for ax in axes:
                draw_box(ax, box)
        save(axes[0].figure, folder / f"{name}-{kind}.png")
    save(draw_series(model, part, unit), folder / f"{name}-series.png")


def draw_box(ax: Any, box: Box) -> None:
    """Draw the outline of the target region, with a label."""
    (south, north), (west, east) = box["latitude"], box["longitude"]
    outline = Rectangle((west, south), east - west, north - south, fill=False, linestyle="--")
    ax.add_patch(outline)
    # Above the box, where no number is, and with a halo on dark colours.
    halo = [withStroke(linewidth=2, foreground="white")]
    ax.text((west + east) / 2, north, "target", ha="center", va="bottom", path_effects=halo)


def draw_series(model: LinCFACV, part: Part, unit: str) -> Any:
    """Plot the means of the largest areas, with their correlations with the target."""
    sizes = np.array([len(group) for group in model.groups_])
    largest = np.argsort(-sizes, kind="stable")[:LARGEST].tolist()
    means = np.asarray(model.transform(part.field))
    years, target = part.target["time"].values, part.target.values
    figure, axes = plt.subplots(
        len(largest) + 1,
        sharex=True,
        figsize=(WIDTH, 6.5),
        layout="constrained",
    )
    axes[0].plot(years, target, color="black", linewidth=1)
    axes[0].set_title("target", loc="left", fontsize=9)
    for ax, group in zip(axes[1:], largest, strict=True):
        correlation = np.corrcoef(means[:, group], target)[0, 1]
        ax.plot(years, means[:, group], color="#2166ac", linewidth=1)
        ax.set_title(
            f"area {group}: {len(model.groups_[group])} cells, correlation with the target "
            f"{correlation:+.2f}".replace("-", "−"),
            loc="left",
            fontsize=9,
        )
    for ax in axes:
        ax.set_ylabel(unit, fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
    return figure


def save(figure: Any, path: Path) -> None:
    """Save a figure and print its path."""
    figure.savefig(path, dpi=DOTS)
    plt.close(figure)
    print(path)
