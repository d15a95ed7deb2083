"""Reduce many correlated continuous features to few plain means, supervised by a target.

LinCFA merges two features when the drop in variance of the regression outweighs the growth of its
bias, so that nothing is thrown away and every reduced feature is "the mean of these". See
:class:`LinCFA`, and :mod:`lincfa.theory` for the equations behind it.
"""

from . import theory
from ._estimator import LinCFA

__version__ = "0.1.0"

__all__ = ["LinCFA", "__version__", "theory"]
