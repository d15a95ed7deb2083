"""How well groups hang together: correlations within a group, and of its mean with the target."""

from ._figures import COHESION
from ._groups import group_cohesion
from ._path import add_path_cohesion, cut_cohesion

__all__ = ["COHESION", "add_path_cohesion", "cut_cohesion", "group_cohesion"]
