"""``python -m experiments``: options, files, and results that depend on the seed alone."""

import io
import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import lincfa
from experiments import run
from experiments.run import EXPERIMENTS, main
from experiments.simulation import Estimate, Settings
from experiments.tables import Claim, Table, judge


@pytest.fixture(scope="module")
def written(only_methods, tmp_path_factory):
    """Folder and standard output of a run of two experiments."""
    folder = tmp_path_factory.mktemp("paper") / "made" / "results"
    options = "--experiment trivariate bivariate trivariate --repetitions 10 --seed 3 --workers 1"
    with only_methods("ridge"), redirect_stdout(io.StringIO()) as printed:
        main([*options.split(), "--output", str(folder)])
    return folder, printed.getvalue()


NUMBERS = {"3dimSyn": 6, "3dimSynExtended": 19, "bidimSmall": 36, "2dimSyn": 51, "2dimSynSmall": 51}


def test_each_table_is_written_once_in_the_order_asked_for(written):
    folder, printed = written
    assert {path.name for path in folder.iterdir()} == {
        "index.md",
        *(f"{name}.{kind}" for name in NUMBERS for kind in ("md", "json")),
    }
    assert printed.splitlines()[-1] == f"Everything on one page: {folder / 'index.md'}"
    lines = re.findall(r"│ (\w+) +│ +(\d+) │ +(\d+) │ +(\d+) │ +(\d+) │", printed)
    assert [name for name, *_ in lines] == list(NUMBERS)
    for name, reproduced, differs, not_run, beyond in lines:
        document = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        assert (document["repetitions"], document["seed"]) == (10, 3)
        assert document["lincfa"] == lincfa.__version__
        assert int(reproduced) + int(differs) == NUMBERS[name]
        assert int(not_run) == 0
        # The short tables of the text have no further methods.
        assert (int(beyond) > 0) == (name not in ("bidimSmall", "3dimSyn"))
        quantities = {row["quantity"] for row in document["rows"]}
        assert ("R² ridge" in quantities) == (int(beyond) > 0)


def estimates(tables):
    return [
        (estimate.value, estimate.margin, estimate.spread)
        for table in tables
        for row in table.rows
        for estimate in (row.ours, row.by_text)
    ]


def test_results_depend_on_the_seed_but_not_on_the_workers():
    one, two, other = (
        run.run(["trivariate"], Settings(10, seed), workers)
        for seed, workers in ((0, 1), (0, 2), (1, 2))
    )
    assert len(two[1].rows) == 20 + 1 + 3 * 8
    for ours, theirs in zip(estimates(one), estimates(two), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9, nan_ok=True)
    assert [table.counts() for table in one] == [table.counts() for table in two]
    assert estimates(other)[8] != pytest.approx(estimates(two)[8], rel=1e-9)


def test_figure_is_written_beside_its_table(monkeypatch, tmp_path, capsys):
    """With two numbers of samples, small ones, instead of ten."""
    monkeypatch.setattr("experiments.dimensions.SIZES", (110, 300))
    options = "--experiment samples --repetitions 10 --workers 1 --output"
    main([*options.split(), str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} == {
        "index.md",
        *(f"nSamples.{kind}" for kind in ("md", "json", "png", "svg")),
    }
    assert "![nSamples](nSamples.png)" in (tmp_path / "index.md").read_text(encoding="utf-8")
    document = json.loads((tmp_path / "nSamples.json").read_text(encoding="utf-8"))
    assert {row["column"] for row in document["rows"]} == {"n = 110", "n = 300"}


def test_jobs_of_a_quick_run():
    counts = [len(jobs(Settings(run.QUICK))) for jobs, _ in EXPERIMENTS.values()]
    assert counts == [12, 2, 8, 20, 4]


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """What the command asks for; nothing is run."""
    calls = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "run", lambda *args: calls.append(args) or [])
    return calls


def test_defaults_are_those_of_the_paper(asked):
    main([])
    assert asked == [(list(EXPERIMENTS), Settings(500, 0, None), -1)]
    assert Path("paper-results/index.md").is_file()


def test_options_arrive(asked, tmp_path):
    options = "--quick --seed 7 --workers 3 --output there --data . --experiment real samples"
    main(options.split())
    assert asked == [(["real", "samples"], Settings(40, 7, Path(".")), 3)]
    assert Path("there/index.md").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--experiment fly", "invalid choice: 'fly'"),
        ("--experiment", "expected at least one argument"),
        ("--repetitions 9", "'9' is not a whole number of at least 10"),
        ("--repetitions many", "'many' is not a whole number"),
        ("--quick --repetitions 20", "not allowed with argument --quick"),
        ("--workers 0", "'0' is not a whole number of at least 1"),
        ("--seed -1", "'-1' is not a whole number of at least 0"),
        ("--data nowhere", "argument --data: nowhere is not a folder"),
        ("--output mine", "argument --output: .*mine"),
    ],
)
def test_wrong_usage(asked, capsys, arguments, message):
    Path("mine").write_text("a file")
    with pytest.raises(SystemExit, match="2"):
        main(arguments.split())
    assert re.search(message, capsys.readouterr().err)
    assert asked == []
    assert Path("mine").read_text() == "a file"


def test_differences_are_printed_with_their_reason(monkeypatch, capsys, tmp_path):
    row = judge("d", "x", "3", Estimate(4.0), reasons={("d", "x"): "it is four"})
    table = Table("named", "t", [row], claims=[Claim("s", True, True, "")], missing=["no [data]"])
    monkeypatch.setattr(run, "run", lambda *args: [table])
    main(["--output", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "named (x), d: it is four\nnamed: no [data]\n" in printed
    assert re.search(r"│ named +│ +0 │ +1 │ +0 │ +0 │ +1 of 1 │", printed)


def test_module_is_a_command():
    root = Path(run.__file__).parents[1]
    command = [sys.executable, "-m", "experiments", "--help"]
    printed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    assert printed.startswith("usage: python -m experiments")
    assert all(name in printed for name in EXPERIMENTS)
