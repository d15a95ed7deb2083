"""Saved models know which features may be merged."""

import json

import numpy as np
import pytest
from scipy import sparse

import lincfa
from lincfa import LinCFA
from lincfa._model._document import envelope
from lincfa.structure import grid_connectivity
from reference import many_factors

STRUCTURES = [
    {"connectivity": "chain"},
    {"connectivity": grid_connectivity((3, 4))},
    {"connectivity": grid_connectivity((3, 4)).toarray().tolist(), "blocks": list("aabbaabbaabb")},
    {"blocks": np.repeat([1.5, 2.0], 6)},
    {"blocks": np.array([1, "1"] * 6, dtype=object)},
    {"blocks": [np.int64(1), "1"] * 6},
    {"blocks": np.repeat(np.array(["2020", "2021"], dtype="datetime64[Y]"), 6)},
]


@pytest.fixture
def data():
    return many_factors(np.random.default_rng(4), 50, 12)


@pytest.mark.parametrize("strategy", ["sequential", "agglomerative"])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_round_trip(data, tmp_path, structure, strategy):
    X, y = data
    model = LinCFA(strategy=strategy, tolerance=5.0, **structure).fit(X, y)
    path = tmp_path / "model.json"
    model.save(path)
    loaded = lincfa.load(path)
    assert loaded.n_connected_components_ == model.n_connected_components_
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    np.testing.assert_array_equal(loaded.fit(X, y).labels_, model.labels_)
    for one, other in zip(_graphs(loaded), _graphs(model), strict=True):
        np.testing.assert_array_equal(one, other)
    loaded.save(path)
    np.testing.assert_array_equal(lincfa.load(path).labels_, model.labels_)


@pytest.mark.parametrize("structure", [{"connectivity": "chain"}, {"blocks": [0, 1] * 6}])
def test_structure_that_was_changed_after_the_fit(data, tmp_path, structure):
    """A file that could not be loaded is not written."""
    path = tmp_path / "model.json"
    model = LinCFA(tolerance=5.0).fit(*data).set_params(**structure)
    with pytest.raises(ValueError, match="changed after the fit; fit again"):
        model.save(path)
    assert not path.exists()
    model.fit(*data).save(path)
    lincfa.load(path)


def _graphs(model):
    constraint = model._constraint()
    graph = constraint.graph
    return [np.array(0) if graph is None else graph.toarray(), constraint.blocks]


def edited(change, structure):
    changed = json.loads(json.dumps(structure))
    change(changed)
    return changed


CHANGES = {
    "does not allow": lambda s: s.update(blocks=[0, 1] * 6),
    "joins what are no two features": lambda s: (
        s["connectivity"]["second"].append(99) or s["connectivity"]["first"].append(3)
    ),
    "differ in length": lambda s: s["connectivity"]["first"].pop(),
    "wrong type": lambda s: s["connectivity"].update(size=1.5),
    "there are 12 features": lambda s: s["connectivity"].update(size=20),
    "'connectivity' is 'lattice'": lambda s: s.update(connectivity="lattice"),
    "not an object": lambda s: s.update(connectivity=3),
    "not a list of labels": lambda s: s.update(blocks=[None] * 12),
    "one label per feature": lambda s: s.update(blocks=[1]),
    "lacks 'blocks'": lambda s: s.pop("blocks"),
}


@pytest.mark.parametrize("message", CHANGES)
def test_tampered(data, tmp_path, message):
    path = tmp_path / "model.json"
    model = LinCFA(tolerance=5.0, connectivity=grid_connectivity((3, 4))).fit(*data)
    model.save(path)
    content = json.loads(path.read_text())["model"]
    content["structure"] = edited(CHANGES[message], content["structure"])
    path.write_text(envelope(content))
    with pytest.raises(ValueError, match=message):
        lincfa.load(path)


def test_a_group_in_pieces_is_refused(data, tmp_path):
    path = tmp_path / "model.json"
    model = LinCFA(tolerance=1e9, connectivity="chain").fit(*data)
    assert model.n_groups_ == 1
    model.save(path)
    content = json.loads(path.read_text())["model"]
    graph = sparse.csr_array(np.eye(12, k=2) + np.eye(12, k=-2))  # every second one
    first, second = sparse.triu(graph).nonzero()
    pairs = {"size": 12, "first": first.tolist(), "second": second.tolist()}
    content["structure"]["connectivity"] = pairs
    path.write_text(envelope(content))
    with pytest.raises(ValueError, match="does not allow"):
        lincfa.load(path)
