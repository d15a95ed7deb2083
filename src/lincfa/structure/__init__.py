"""Which features are neighbours: grid cells, places on Earth, features in a row.

Each function returns a symmetric sparse matrix with one row and column per feature, True where two
features are neighbours. As ``connectivity`` it restricts which features may merge, so that groups
are connected. scikit-learn's clustering takes the same matrices.
"""

from ._coordinates import coordinate_connectivity
from ._grid import chain_connectivity, grid_connectivity

__all__ = ["chain_connectivity", "coordinate_connectivity", "grid_connectivity"]
