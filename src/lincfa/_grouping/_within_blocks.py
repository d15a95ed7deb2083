"""Blocks one after the other: features of different blocks have nothing to do with each other."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._rule._criterion import Criterion
from .._rule._evidence import EVIDENCE
from .._statistics import IndexArray, Statistics
from ._partition import Partition, partition_of


class _Block:
    """Statistics of which only some features take part."""

    def __init__(self, source: Statistics, varying: npt.NDArray[np.bool_]) -> None:
        self._source, self.varying = source, varying

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)


def group_within_blocks(
    group: Callable[[Statistics, Criterion], Partition],
    statistics: Statistics,
    criterion: Criterion,
    blocks: IndexArray,
) -> Partition:
    """Group each block by itself."""
    varying = statistics.varying
    roots = np.where(varying, np.arange(blocks.size), -1)
    record = [np.empty(0, dtype=EVIDENCE)]
    several = np.bincount(blocks[varying]) > 1
    for block in np.flatnonzero(several).tolist():
        inside = varying & (blocks == block)
        partition = group(_Block(statistics, inside), criterion)
        firsts = np.array([members[0] for members in partition.groups], dtype=np.intp)
        roots[inside] = firsts[partition.labels[inside]]
        record.append(partition.evidence)
    return partition_of(roots, np.concatenate(record))
