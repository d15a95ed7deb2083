"""Groups along a spectrum, or another sequence of features, and their effects."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._data._checks import real_numbers
from .._model._observations import field_of, fitted_reducer
from ..report._scores import Coefficients
from ..report._spectra import Spectrum, bands, make_spectrum
from ._cells import distinct_colors, edges, sequence_neighbors
from ._figures import (
    MARKS_DRAWN,
    SINGLE,
    axes_or_new,
    counted,
    ink,
    label_axes,
    legend_above,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OPACITY = 0.5  # of the bands, on light and on dark pages


def plot_spectrum(
    model: Any, spectrum: Any = None, *, ax: "Axes | None" = None, **kwargs: Any
) -> "Axes":
    """Draw a spectrum, or other features in a sequence, with a band of colour for each group.

    Adjacent bands have different colours. With many groups a colour may be used again elsewhere; a
    group in several pieces has the same colour in all of them. Single features are grey, and
    constant ones have no band.

    Features are placed at the wavelengths in their names, such as ``900``, ``900 nm`` or ``X900``,
    or at the coordinate of a field with one dimension besides the samples; otherwise by position.

    Parameters
    ----------
    model : LinCFA, LinCFACV or LinCFAClassifierCV
        Fitted to a table, or to a field with one dimension besides the samples.
    spectrum : array of shape (n_features,), default=None
        The line: for instance a sample, or coefficients. None for the means of the features.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure of pyplot.
    **kwargs
        For the line, as for ``Axes.plot``.

    Examples
    --------
    >>> from lincfa import LinCFA
    >>> from lincfa.datasets import make_spectra
    >>> from lincfa.plotting import plot_spectrum
    >>> X, y = make_spectra(random_state=0)
    >>> ax = plot_spectrum(LinCFA(tolerance=7.0).fit(X, y))
    >>> ax.figure.savefig("spectrum.png")  # doctest: +SKIP
    """
    reducer = fitted_reducer(model)
    field = field_of(reducer)
    if field is not None:
        for variable in field.variables:
            if sum(size > 1 for size in variable.shape) > 1:  # the line would be a zigzag
                dims = zip(field.cell_dims(variable), variable.shape, strict=True)
                listed = ", ".join(f"{name} ({size})" for name, size in dims)
                raise ValueError(
                    "plot_spectrum draws features in a sequence, but these cells have several "
                    f"dimensions: {listed}. plot_map draws them."
                )
    values = reducer.mean_ if spectrum is None else real_numbers(spectrum, "spectrum")
    if values.shape != (reducer.n_features_in_,):
        raise ValueError(
            f"spectrum must have one value per feature, shape ({reducer.n_features_in_},), got "
            f"{values.shape}."
        )
    ax = axes_or_new(ax, 9, 4)
    label = "feature mean" if spectrum is None else "feature value"
    draw_spectrum(make_spectrum(reducer, values), ax, label=label, **kwargs)
    return ax


def draw_spectrum(
    spectrum: Spectrum,
    axes: Any,
    *,
    label: str,
    effects: Sequence[Coefficients] = (),
    **kwargs: Any,
) -> None:
    """Draw bands and a line over them, and in further axes below the effects of the groups."""
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    ax, *below = np.ravel(axes)
    groups = spectrum.groups
    indices, colors, single = _colors(groups)
    # One image behind the line, as high as the axes, whatever their limits.
    ends = edges(spectrum.x, 1.0)
    mesh = QuadMesh(
        np.stack(np.meshgrid(ends, [0, 1]), axis=-1),
        array=np.ma.masked_less(indices, 0)[None],
        cmap=ListedColormap(colors),
        alpha=_OPACITY,
        linewidth=0,
        rasterized=True,
        transform=ax.get_xaxis_transform(),
    )
    mesh.set_clim(-0.5, len(colors) - 0.5)
    ax.add_collection(mesh, autolim=False)
    ax.update_datalim([(ends[0], 0), (ends[-1], 0)], updatey=False)
    line: dict[str, Any] = {"color": ink(), "linewidth": 1.2}
    ax.plot(spectrum.x, spectrum.values, **line | kwargs)
    ax.margins(x=0)
    constant = int((groups < 0).sum())
    entries = []
    if single.size:
        patch = Patch(facecolor=SINGLE, alpha=_OPACITY)
        entries.append((patch, counted(single.size, "single {}", "feature")))
    if constant:
        patch = Patch(facecolor="none", edgecolor=ink(), linewidth=0.5)
        entries.append((patch, counted(constant, "constant {}", "feature")))
    if entries:
        legend_above(ax, entries)
    label_axes(ax, spectrum.x_label, label)
    for panel, upper, lower in zip(effects, [ax, *below], below, strict=False):
        upper.set_xlabel("")
        upper.tick_params(labelbottom=False)
        draw_band_effects(spectrum, panel, lower)
    ax.figure.align_ylabels()


def draw_band_effects(spectrum: Spectrum, effects: Coefficients, ax: "Axes") -> None:
    """Draw the effect of each group where its bands are, in the colours of the bands."""
    from matplotlib.collections import PolyCollection

    indices, colors, _ = _colors(spectrum.groups)
    pieces = bands(spectrum.groups)
    ends = edges(spectrum.x, 1.0)
    heights = effects.values[spectrum.groups[pieces[:, 0]]]
    left, right, zero = ends[pieces[:, 0]], ends[pieces[:, 1] + 1], np.zeros(len(pieces))
    x, y = np.stack([left, left, right, right]), np.stack([zero, heights, heights, zero])
    bars = PolyCollection(
        list(np.stack([x, y], axis=-1).transpose(1, 0, 2)),
        facecolors=[colors[k] for k in indices[pieces[:, 0]]],
        linewidths=0,
        rasterized=len(pieces) > MARKS_DRAWN,
        zorder=2,
    )
    ax.add_collection(bars)
    ax.axhline(0, color=ink(), linewidth=0.8)
    ax.autoscale_view()
    ax.set_xlim(min(ends), max(ends))
    ax.margins(y=0.08)
    ax.grid(alpha=0.3, axis="y")
    label_axes(ax, spectrum.x_label, "")
    ax.set_ylabel(f"effect on the\n{effects.changed}", parse_math=False, usetex=False)


def _colors(
    groups: npt.NDArray[np.intp],
) -> tuple[npt.NDArray[np.intp], list[str], npt.NDArray[np.intp]]:
    """Return the index of each feature's colour, the colours, and the groups of one feature."""
    numbers, sizes = np.unique(groups[groups >= 0], return_counts=True)
    single = numbers[sizes == 1]
    indices, colors = distinct_colors(groups, single, sequence_neighbors(groups))
    return indices, colors or [SINGLE], single
