"""The paper's experiments, one module each, on the public names of the library.

``lincfa paper`` runs them; from Python, :func:`reproduce`. Each module gives its ``tasks``, which
may run in any order and process, and ``tabulate``, which sets the paper's figures beside theirs.
"""

from ._pseudocode import form_groups, pair_decisions
from ._run import EXPERIMENTS, QUICK, Results, reproduce
from ._tables import Table, differences

__all__ = [
    "EXPERIMENTS",
    "QUICK",
    "Results",
    "Table",
    "differences",
    "form_groups",
    "pair_decisions",
    "reproduce",
]
