"""Features in a row, with a band of colour for each group."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .._data._field._describe import Field
from .._data._input import real_numbers
from ..report._findings import Row, row_of
from ._coloring import distinct_colors, row_neighbors
from ._corners import edges
from ._figures import axes_or_new, ink, label_axes, legend_above
from ._maps import SINGLE, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PALE = 0.5  # opacity of the bands, on light and on dark pages


def plot_spectrum(
    model: Any, spectrum: Any = None, *, ax: "Axes | None" = None, **kwargs: Any
) -> "Axes":
    """Draw a spectrum, or other features in a row, with a band of colour for each group.

    Bands that touch have different colours. A colour may come back further on for another group
    where there are many; a group that is not in one piece has the same colour in all its pieces.
    Single features are grey, and constant ones have no band.

    The features are at the numbers in their names where these go one way, as wavelengths do, or at
    the coordinate of a field with one dimension besides the samples; otherwise at their positions.

    Parameters
    ----------
    model : LinCFA or LinCFACV
        Fitted to a table, or to a field with one dimension besides the samples.
    spectrum : array of shape (n_features,), default=None
        The line: for instance one sample, or coefficients. None for the means of the features.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure, which belongs to no window.
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
    model._check_is_fitted()
    reducer = getattr(model, "reducer_", model)
    _refuse_maps(getattr(reducer, "field_", None))
    values = reducer.mean_ if spectrum is None else real_numbers(spectrum, "spectrum")
    if values.shape != (reducer.n_features_in_,):
        raise ValueError(
            f"spectrum must have one number per feature, shape ({reducer.n_features_in_},), got "
            f"{values.shape}."
        )
    ax = axes_or_new(ax, 9, 4)
    label = "mean of the feature" if spectrum is None else "value of the feature"
    draw_spectrum(row_of(reducer, values), ax, label=label, **kwargs)
    return ax


def _refuse_maps(field: Field | None) -> None:
    """Refuse cells along several dimensions, of which a line would be a zigzag."""
    for variable in [] if field is None else field.variables:
        if sum(size > 1 for size in variable.shape) > 1:
            assert field is not None
            dims = zip(field.cell_dims(variable), variable.shape, strict=True)
            listed = ", ".join(f"{name} ({size})" for name, size in dims)
            raise ValueError(
                "plot_spectrum draws features in a row; this was fitted to cells with several "
                f"dimensions, {listed}. plot_map draws them."
            )


def draw_spectrum(row: Row, ax: "Axes", *, label: str, **kwargs: Any) -> None:
    """Draw bands, and a line over them."""
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    numbers, sizes = np.unique(row.groups[row.groups >= 0], return_counts=True)
    single = numbers[sizes == 1]
    indices, colors = distinct_colors(row.groups, single, row_neighbors(row.groups))
    # One image behind the line, as high as the axes are, whatever their limits.
    ends = edges(row.x, 1.0)
    bands = QuadMesh(
        np.stack(np.meshgrid(ends, [0, 1]), axis=-1),
        array=np.ma.masked_less(indices, 0)[None],
        cmap=ListedColormap(colors or [SINGLE]),
        alpha=_PALE,
        linewidth=0,
        rasterized=True,
        transform=ax.get_xaxis_transform(),
    )
    bands.set_clim(-0.5, max(len(colors), 1) - 0.5)
    ax.add_collection(bands, autolim=False)
    ax.update_datalim([(ends[0], 0), (ends[-1], 0)], updatey=False)
    line: dict[str, Any] = {"color": ink(), "linewidth": 1.2}
    ax.plot(row.x, row.values, **line | kwargs)
    ax.margins(x=0)
    handles, labels = [], []
    if single.size:
        handles.append(Patch(facecolor=SINGLE, alpha=_PALE))
        labels.append(counted(single.size, "single {}", "feature"))
    constant = int((row.groups < 0).sum())
    if constant:
        handles.append(Patch(facecolor="none", edgecolor=ink(), linewidth=0.5))
        labels.append(counted(constant, "constant {}", "feature"))
    if handles:
        legend_above(ax, handles, labels)
    label_axes(ax, row.x_label, label)
