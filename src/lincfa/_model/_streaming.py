"""What an estimator keeps between calls of ``partial_fit``."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._data._checks import check_same_types
from .._data._training import Training
from .._statistics import Moments


@dataclass
class Stream:
    """Moments of all rows so far, and whether they are enough for a fit.

    Attributes
    ----------
    moments : Moments
    types : list of str or None
        Column types of the first chunk.
    obstacle : str
        Why the features could not be grouped, although there are enough rows for some parameters.
    """

    moments: Moments
    types: list[str] | None
    obstacle: str = ""

    @classmethod
    def of(cls, n_features: int, dtype: npt.DTypeLike, types: list[str] | None) -> "Stream":
        """Start a stream; raise if the matrix of moments would be too large."""
        Moments.check_size(n_features)
        return cls(Moments(n_features, float(np.finfo(dtype).eps)), types)

    def add(self, chunk: Training, types: list[str] | None) -> None:
        """Add the rows of a chunk; if it raises, nothing changes."""
        check_same_types(self.types, types, chunk.columns.names)
        self.moments.update(chunk)
        self.obstacle = ""

    @property
    def missing(self) -> str:
        """What is missing for a fit; empty if nothing is."""
        if not self.moments.sufficient:
            return (
                f"has seen {self.moments.n_samples:g} rows, which is not enough: it needs at least "
                "4 rows, with a target and a feature that vary. Continue with partial_fit."
            )
        return f"cannot be fitted to the rows seen so far: {self.obstacle}" if self.obstacle else ""
