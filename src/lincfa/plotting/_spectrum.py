"""Features in a sequence, with a band of colour for each group."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .._data._checks import real_numbers
from .._data._field import Field
from ..report._inputs import field_of, fitted_reducer
from ..report._maps import Spectrum, make_spectrum
from ._cells import distinct_colors, edges, sequence_neighbors
from ._figures import SINGLE, axes_or_new, counted, ink, label_axes, legend_above

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

    Features are placed at the numbers in their names if these are monotonic, as wavelengths are,
    or at the coordinate of a field with one dimension besides the samples; otherwise by position.

    Parameters
    ----------
    model : LinCFA or LinCFACV
        Fitted to a table, or to a field with one dimension besides the samples.
    spectrum : array of shape (n_features,), default=None
        The line: for instance a sample, or coefficients. None for the means of the features.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure, without a window.
    **kwargs
        For the line, as for ``Axes.plot``.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from lincfa import LinCFA
    >>> from lincfa.datasets import make_spectra
    >>> from lincfa.plotting import plot_spectrum
    >>> X, y = make_spectra(random_state=0)
    >>> ax = plot_spectrum(LinCFA().fit(X, y))
    >>> ax.figure.savefig("spectrum.png")  # doctest: +SKIP
    """
    reducer = fitted_reducer(model)
    _check_sequence(field_of(reducer))
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


def _check_sequence(field: Field | None) -> None:
    """Raise if cells have several dimensions: a line through them would be a zigzag."""
    if field is None:
        return
    for variable in field.variables:
        if sum(size > 1 for size in variable.shape) > 1:
            dims = zip(field.cell_dims(variable), variable.shape, strict=True)
            listed = ", ".join(f"{name} ({size})" for name, size in dims)
            raise ValueError(
                "plot_spectrum draws features in a sequence, but these cells have several "
                f"dimensions: {listed}. plot_map draws them."
            )


def draw_spectrum(spectrum: Spectrum, ax: "Axes", *, label: str, **kwargs: Any) -> None:
    """Draw bands, and a line over them."""
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    groups = spectrum.groups
    numbers, sizes = np.unique(groups[groups >= 0], return_counts=True)
    single = numbers[sizes == 1]
    indices, colors = distinct_colors(groups, single, sequence_neighbors(groups))
    # One image behind the line, as high as the axes, whatever their limits.
    ends = edges(spectrum.x, 1.0)
    bands = QuadMesh(
        np.stack(np.meshgrid(ends, [0, 1]), axis=-1),
        array=np.ma.masked_less(indices, 0)[None],
        cmap=ListedColormap(colors or [SINGLE]),
        alpha=_OPACITY,
        linewidth=0,
        rasterized=True,
        transform=ax.get_xaxis_transform(),
    )
    bands.set_clim(-0.5, max(len(colors), 1) - 0.5)
    ax.add_collection(bands, autolim=False)
    ax.update_datalim([(ends[0], 0), (ends[-1], 0)], updatey=False)
    line: dict[str, Any] = {"color": ink(), "linewidth": 1.2}
    ax.plot(spectrum.x, spectrum.values, **line | kwargs)
    ax.margins(x=0)
    handles, labels = [], []
    if single.size:
        handles.append(Patch(facecolor=SINGLE, alpha=_OPACITY))
        labels.append(counted(single.size, "single {}", "feature"))
    constant = int((groups < 0).sum())
    if constant:
        handles.append(Patch(facecolor="none", edgecolor=ink(), linewidth=0.5))
        labels.append(counted(constant, "constant {}", "feature"))
    if handles:
        legend_above(ax, handles, labels)
    label_axes(ax, spectrum.x_label, label)
