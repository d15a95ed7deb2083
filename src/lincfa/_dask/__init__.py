"""Data in chunks of dask, which may be on many machines: read where they are, never gathered."""

from ._chunks import Chunks
from ._compute import compute
from ._input import read_chunks
from ._lazily import average_lazily, expand_lazily, predict_lazily
from ._statistics import statistics_of

__all__ = [
    "Chunks",
    "average_lazily",
    "compute",
    "expand_lazily",
    "predict_lazily",
    "read_chunks",
    "statistics_of",
]
