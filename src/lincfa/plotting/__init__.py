"""Pictures; they need matplotlib."""

from ._search import new_figure as new_figure
from ._search import plot_search

__all__ = ["plot_search"]
