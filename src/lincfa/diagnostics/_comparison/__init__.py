"""LinCFA against other methods by repeated cross-validation."""

from ._methods import METHODS, Part, regressor
from ._run import compare
from ._scores import Comparison

__all__ = ["METHODS", "Comparison", "Part", "compare", "regressor"]
