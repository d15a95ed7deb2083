"""The command line, as a user runs it."""

import re
import subprocess
import sys

import pytest

import lincfa
from lincfa._demo import run_demo
from lincfa.cli import main


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "lincfa.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_demo():
    result = run("demo", "--draws", "2", "--seed", "1")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    for words in ("Climate-like field", "2400 features", "The paper's experiment", "held out"):
        assert words in result.stdout
    for method in ("all features", "LinCFA", "PCA, 95 % of variance"):
        assert len(re.findall(rf"│ {method} .*│.*│.*│.*│", result.stdout)) == 2


def test_demo_claims():
    """Far fewer features than the full regression, and a smaller error, on both kinds of data."""
    for experiment in run_demo(draws=3, seed=0):
        full, reduced, agglomerative, pca = experiment.rows
        assert full.count.mean == experiment.n_features
        assert reduced.count.mean < experiment.n_features / 3
        assert reduced.mse.mean < full.mse.mean
        assert agglomerative.mse.mean < full.mse.mean
        assert pca.count.mean < experiment.n_features


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"lincfa {lincfa.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "arguments are required: command"),
        (["fly"], "invalid choice: 'fly'"),
        (["demo", "--draws", "0"], "'0' is not a positive whole number"),
        (["demo", "--draws", "-1"], "'-1' is not a positive whole number"),
        (["demo", "--seed", "-3"], "'-3' is not a whole number"),
    ],
)
def test_wrong_usage(capsys, arguments, message):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert message in capsys.readouterr().err


def test_missing_package_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setitem(sys.modules, "rich", None)
    assert main(["demo"]) == 1
    assert "pip install rich" in capsys.readouterr().err
