"""Which features are neighbours: cells of a grid, places on Earth, features in a row.

Each function gives a symmetric sparse matrix with a row and a column for each feature, True where
two features are neighbours. Such a matrix limits what may be merged, so that groups hang together.
Clustering in scikit-learn takes the same matrices as its ``connectivity``.
"""

from ._coordinates import coordinate_connectivity
from ._grid import chain_connectivity, grid_connectivity

__all__ = ["chain_connectivity", "coordinate_connectivity", "grid_connectivity"]
