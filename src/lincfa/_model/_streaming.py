"""What an estimator keeps between the chunks of a stream."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._data._checks import check_same_types
from .._data._training import Training
from .._statistics import Moments


@dataclass
class Stream:
    """The moments of all rows so far, and whether they suffice to group.

    Attributes
    ----------
    moments : Moments
    types : list of str or None
        Types of the columns of the first chunk.
    obstacle : str
        Why the rows could not be grouped, although there are enough of them for some parameters.
    """

    moments: Moments
    types: list[str] | None
    obstacle: str = ""

    @classmethod
    def of(cls, n_features: int, dtype: npt.DTypeLike, types: list[str] | None) -> "Stream":
        """Start a stream; refuse more features than have room."""
        Moments.check_size(n_features)
        return cls(Moments(n_features, float(np.finfo(dtype).eps)), types)

    def add(self, chunk: Training, types: list[str] | None) -> None:
        """Add the rows of a chunk; if an error is raised, nothing is changed."""
        check_same_types(self.types, types, chunk.columns.names)
        self.moments.update(chunk)
        self.obstacle = ""

    @property
    def missing(self) -> str:
        """What is missing for a fit; empty where nothing is."""
        if not self.moments.sufficient:
            return (
                f"has seen {self.moments.n_samples:g} rows, which is not enough to group: it needs "
                "at least 4 rows, and a target and some feature that vary. Go on with partial_fit."
            )
        return f"could not group the rows seen so far: {self.obstacle}" if self.obstacle else ""
