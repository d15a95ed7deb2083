"""Settings with an entry for each feature are told briefly."""

import json

import numpy as np
import pytest

from lincfa import LinCFA, LinCFACV
from lincfa.report._findings import find, settings_of
from lincfa.structure import grid_connectivity


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 20))
    return X, X[:, 0] + rng.normal(size=40)


GRAPH = grid_connectivity((4, 5))  # 4·4 + 3·5 edges
BLOCKS = np.repeat(["low", "high"], 10)


@pytest.mark.parametrize("graph", [GRAPH, GRAPH.toarray(), GRAPH.tocoo()])
@pytest.mark.parametrize("blocks", [BLOCKS, BLOCKS.tolist()])
@pytest.mark.parametrize("kind", [LinCFA, LinCFACV])
def test_matrices_and_labels_are_counted(samples, graph, blocks, kind):
    model = kind(connectivity=graph, blocks=blocks).fit(*samples)
    told = settings_of(model)
    assert told["connectivity"] == "matrix with 31 edges"
    assert told["blocks"] == "2 different labels"
    assert told["connected components"] == 2
    found = find(model)
    assert f"model = {kind.__name__}(blocks=blocks, connectivity=connectivity).fit" in found.recipe
    assert json.loads(found.to_json())["settings"] == found.settings


def test_words_are_told_as_they_are(samples):
    model = LinCFA(connectivity="chain").fit(*samples)
    told = settings_of(model)
    assert told["connectivity"] == "chain"
    assert told["blocks"] is None
    assert told["connected components"] == 1
    assert "LinCFA(connectivity='chain')" in find(model).recipe


def test_nothing_is_told_without_such_a_rule(samples):
    told = settings_of(LinCFA().fit(*samples))
    assert told["connectivity"] is told["blocks"] is None
    assert "connected components" not in told


def test_the_page_says_it(samples, tmp_path):
    pytest.importorskip("jinja2")
    model = LinCFA(connectivity=GRAPH, blocks=BLOCKS).fit(*samples)
    model.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "it grows through neighbours only" in page
    assert "No group is of several blocks (2 different labels)." in page
    LinCFA().fit(*samples).report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "neighbours only" not in page
    assert "several blocks" not in page
