"""From experiments to files, and what is refused at the start."""

import json
import os
import sys

import pytest

import lincfa
from lincfa.paper import EXPERIMENTS, QUICK, _run, reproduce
from lincfa.paper._tables import BEYOND


@pytest.fixture(scope="module")
def written(few_methods, tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper") / "results"
    steps = []
    results = reproduce(
        folder,
        experiments=["trivariate", "bivariate", "trivariate"],
        repetitions=10,
        seed=3,
        workers=1,
        progress=lambda done, total: steps.append((done, total)),
    )
    return folder, results, steps


def test_tables_come_in_the_order_asked_for_each_once(written):
    _, results, _ = written
    names = ["3dimSyn", "3dimSynExtended", "bidimSmall", "2dimSyn", "2dimSynSmall"]
    assert [table.name for table in results.tables] == names


def test_everything_is_on_disk(written):
    folder, results, _ = written
    assert results.page == folder / "index.md"
    names = {table.name for table in results.tables}
    assert {path.name for path in folder.iterdir()} == {
        "index.md",
        *(f"{name}.{kind}" for name in names for kind in ("md", "json")),
    }
    for table in results.tables:
        document = json.loads((folder / f"{table.name}.json").read_text(encoding="utf-8"))
        assert (document["repetitions"], document["seed"]) == (10, 3)
        assert document["lincfa"] == lincfa.__version__
        assert [row["quantity"] for row in document["rows"]] == [r.quantity for r in table.rows]


def test_progress_counts_the_tasks(written):
    *_, steps = written
    assert steps == [(k, 14) for k in range(1, 15)]


def test_methods_beyond_the_paper_are_in_the_long_tables(written):
    _, results, _ = written
    for table in results.tables:
        beyond = {row.quantity for row in table.rows if row.verdict == BEYOND}
        assert ("R² ridge" in beyond) == (table.name not in ("bidimSmall", "3dimSyn"))


def figures(results):
    for table in results.tables:
        for row in table.rows:
            for estimate in (row.ours, row.as_printed):
                yield (estimate.value, estimate.margin, estimate.spread)


def test_results_depend_on_the_seed(written, few_methods, tmp_path):
    other = reproduce(tmp_path, experiments=["trivariate"], repetitions=10, seed=4, workers=1)
    same = reproduce(tmp_path, experiments=["trivariate"], repetitions=10, seed=3, workers=1)
    _, results, _ = written
    assert list(figures(same))[:12] == list(figures(results))[:12]  # those of 3dimSyn
    values = [[e.value for e in (t.rows[4].ours for t in r.tables[:1])] for r in (other, same)]
    assert values[0] != values[1]


@pytest.fixture
def no_simulation(monkeypatch):
    """Any simulation fails the test."""

    def refuse(*args):
        raise AssertionError("simulated")

    monkeypatch.setattr(_run, "_run", refuse)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"experiments": ["bivariate", "quadrivariate"]}, "experiments must be among .*quadriv"),
        ({"experiments": []}, "experiments must be among"),
        ({"repetitions": 9}, "repetitions must be at least 10, got 9"),
        ({"workers": 0}, "workers must be −1 or at least 1, got 0"),
        ({"workers": -2}, "workers must be −1 or at least 1, got -2"),
    ],
)
def test_wrong_arguments_are_refused_at_the_start(no_simulation, tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        reproduce(tmp_path / "made", **options)
    assert not (tmp_path / "made").exists()


def test_output_that_is_a_file_is_refused_at_the_start(no_simulation, tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        reproduce(path, experiments=["trivariate"], repetitions=10)
    assert path.read_text() == "mine"


def test_folder_of_data_that_is_none_is_refused_at_the_start(no_simulation, tmp_path):
    with pytest.raises(NotADirectoryError, match="nowhere"):
        reproduce(tmp_path / "made", experiments=["real"], folder=tmp_path / "nowhere")
    assert not (tmp_path / "made").exists()


def test_missing_matplotlib_is_named_at_the_start(no_simulation, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for experiments in (["samples"], None):
        with pytest.raises(ImportError, match="matplotlib"):
            reproduce(tmp_path, experiments=experiments, repetitions=10)
    with pytest.raises(AssertionError, match="simulated"):  # needs no pictures
        reproduce(tmp_path, experiments=["trivariate"], repetitions=10)


def test_all_experiments_by_default_and_folder_as_a_path(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    asked = []

    class StopHereError(Exception):
        pass

    def run(tasks, workers, progress):
        asked.extend(tasks)
        raise StopHereError

    monkeypatch.setattr(_run, "_run", run)
    with pytest.raises(StopHereError):
        reproduce(tmp_path, repetitions=QUICK, folder=tmp_path)
    modules = [function.__module__.rpartition("._")[2] for function, _, _ in asked]
    assert list(dict.fromkeys(modules)) == list(EXPERIMENTS)
    assert [modules.count(name) for name in EXPERIMENTS] == [12, 2, 8, 20, 4]
    assert asked[-1][1][-1].folder == os.fspath(tmp_path)


def test_samples_give_a_table_and_a_picture(monkeypatch, tmp_path):
    """With two numbers of samples, small ones, instead of ten."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("lincfa.paper._samples.SIZES", (110, 300))
    results = reproduce(tmp_path, experiments=["samples"], repetitions=10, workers=1)
    (table,) = results.tables
    assert table.columns() == ["n = 110", "n = 300"]
    assert {path.name for path in tmp_path.iterdir()} == {
        "index.md",
        *(f"nSamples.{kind}" for kind in ("md", "json", "png", "svg")),
    }
    assert "![nSamples](nSamples.png)" in results.page.read_text(encoding="utf-8")
