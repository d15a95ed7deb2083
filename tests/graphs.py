"""Graphs over features, and what groups on them have to be."""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components


def random_graph(rng, size, n_edges):
    """A symmetric graph with some edges, which may leave features alone."""
    ends = rng.integers(size, size=(n_edges, 2))
    matrix = np.zeros((size, size), dtype=bool)
    matrix[ends[:, 0], ends[:, 1]] = True
    np.fill_diagonal(matrix, False)
    return matrix | matrix.T


def complete(size):
    return ~np.eye(size, dtype=bool)


def neighbouring(graph):
    """Whether two groups have an edge between them, for the literal strategies."""
    return lambda group, other: bool(graph[np.ix_(group, other)].any())


def restricted(structure, size):
    """Parameters for "free", "chain" or "blocks", and the rule that they are, as above."""
    if structure == "chain":
        graph = np.eye(size, k=1, dtype=bool) | np.eye(size, k=-1, dtype=bool)
        return {"connectivity": "chain"}, neighbouring(graph)
    if structure == "blocks":
        blocks = np.arange(size) % 2
        return {"blocks": blocks}, neighbouring(blocks[:, None] == blocks)
    return {}, neighbouring(complete(size))


def n_parts(graph, features):
    """Number of connected parts of some features."""
    part = sparse.csr_array(graph)[features][:, features]
    return connected_components(part, directed=False)[0]


def assert_connected(model, graph):
    for group in model.groups_:
        assert n_parts(graph, group) == 1
