"""``lincfa demo``, and what all commands share: help, version, wrong usage."""

import re
import sys
from statistics import fmean

import pytest

import lincfa
from lincfa.cli._demo import DATA, _field_findings, _what_to_look_at, compare_regressions

COMMANDS = ("reduce", "apply", "explain", "compare", "demo")


def test_demo(run, files, tmp_path):
    result = run("demo", "--draws", "1", "--seed", "1", cwd=tmp_path)
    assert result.code == 0, result.err
    assert result.err == ""
    for words in ("Climate-like field", "600 features", "The paper's experiment", "held out"):
        assert words in result.out
    for method in ("all features", "LinCFA", "LinCFACV", "ridge", "FeatureAgglomeration"):
        assert len(re.findall(rf"│ {method} .*│.*│.*│.*│", result.out)) == 2
    assert files(tmp_path) == ["demo-report.html"]
    report = tmp_path / "demo-report.html"
    _, told = result.out.split(f", where only neighbouring cells merge: {report}\n")
    page = report.read_text(encoding="utf-8")
    answer = re.search(r'<p class="answer">(.*?)</p>', page)[1]
    assert f"  - the answer on top: {answer}\n" in told
    assert len(told.splitlines()) == 5
    assert re.search(r'<figure id="picture-([\w-]+)"', page)[1] == "effects-0"


def test_demo_without_xarray(monkeypatch):
    monkeypatch.setattr("lincfa.cli._demo.find_spec", lambda name: None)
    found = _field_findings(0)
    assert found.maps == ()
    assert found.scores.best_rival is not None
    assert not [line for line in _what_to_look_at(found) if "map" in line]


def test_demo_claims():
    """Far fewer features than the full regression, and a smaller error, on both kinds of data."""
    for draw in DATA.values():
        _, scores = compare_regressions(draw, draws=2, seed=0)  # count, R² and error, of each draw
        full = scores["all features"]
        for name in ("LinCFA", "LinCFACV"):
            assert fmean(scores[name][0]) < fmean(full[0]) / 3
            assert fmean(scores[name][2]) < fmean(full[2])
        assert scores["ridge"][0] == full[0]
        assert fmean(scores["PCA"][0]) < fmean(full[0])


def test_demo_replaces_no_report(fails, folder):
    (folder / "demo-report.html").write_text("mine")
    assert fails("demo").startswith("demo-report.html exists; use --force to replace it")
    assert (folder / "demo-report.html").read_text() == "mine"


@pytest.mark.parametrize("option", ["--report", "--table"])
def test_demo_writes_files_only(fails, option):
    message = fails("demo", option, "-", code=2)
    assert f"{option} takes the name of a file, not standard output" in message


def test_version(done):
    assert done("--version").out == f"lincfa {lincfa.__version__}\n"


def test_help_names_the_commands_with_examples(done):
    shown = done("--help").out
    for command in COMMANDS:
        assert re.search(rf"^    {command} +\w", shown, re.MULTILINE)
    assert "examples:\n  lincfa reduce data.csv --target y  " in shown
    assert "exit codes: 0 done, 1 the job failed, 2 wrong usage" in shown


@pytest.mark.parametrize("command", ["reduce", "apply", "explain", "compare"])
def test_help_of_a_command_has_examples_that_parse(command, done):
    import shlex

    from lincfa.cli._main import _parser

    shown = done(command, "--help").out
    lines = shown.split("examples:\n")[1].splitlines()
    assert len(lines) >= 2
    for line in lines:
        words = shlex.split(line.split("|")[-1].split(">")[0])
        assert words[:2] == ["lincfa", command]
        assert _parser().parse_args(words[1:]).run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "arguments are required: command"),
        ("fly", "invalid choice: 'fly'"),
        ("demo --draws 0", "'0' is not a positive whole number"),
        ("demo --draws -1", "'-1' is not a positive whole number"),
        ("demo --seed -3", "'-3' is not a whole number"),
        ("reduce d.csv", "arguments are required: --target"),
        ("reduce --target y", "arguments are required: data"),
        ("reduce d.csv --target y --strategy best", "invalid choice: 'best'"),
        ("reduce d.csv --target y --tolerance 0", "is not a positive number, 'unbiased' or 'cv'"),
        ("reduce d.csv --target y --tolerance nan", "'nan' is not a positive number"),
        ("reduce d.csv --target y --tolerance inf", "'inf' is not a positive number"),
        ("reduce d.csv --target y --noise none", "is not 'pair', 'full' or a positive"),
        ("reduce d.csv --target y --min-correlation 1.5", "is not a correlation, from -1 to 1"),
        ("reduce d.csv --target y --missing mean", "invalid choice: 'mean'"),
        ("reduce d.csv --target y --folds groups", "invalid choice: 'groups'"),
        ("reduce d.csv --target y --test 1", "'1' is not a share from 0 to below 1"),
        ("reduce d.csv --target y --test -0.1", "'-0.1' is not a share"),
        ("reduce d.csv --target y --seed 2147483648", "not a whole number from 0 to 2147483647"),
        ("reduce d.csv --target y --separator ab", "'ab' is not a single plain character"),
        ("reduce d.csv --target y --units metres", "invalid choice: 'metres'"),
        ("reduce d.csv --target y --n-groups 3 --strategy centroid", "needs --strategy aggl"),
        ("reduce d.csv --target y --report r.pdf", "--report writes .html or .json, not 'r.pdf'"),
        ("reduce d.csv --target y --samples time", "--samples is for NetCDF files and Zarr"),
        ("reduce d.parquet --target y --separator ;", "--separator is for CSV files"),
        ("apply new.csv model.json", "the model comes first, then the data"),
        (
            "reduce d.csv --target y --n-groups 3 --strategy joint --tolerance 2",
            "give --n-groups or --tolerance, not both",
        ),
        ("reduce d.csv --target y --report r.html --no-report", "not allowed with argument"),
        ("reduce d.csv --target y --output - --json", "--json and --output - "),
        ("reduce d.csv --target y --model -", "--model takes the name of a file"),
        ("reduce d.csv --target y --report -", "--report takes the name of a file"),
        ("apply model.json", "arguments are required: data"),
        ("apply model.json d.csv --output - --json", "--json and --output - "),
        ("explain d.csv --target y a", "arguments are required: B"),
        ("explain d.csv --target y a a", "must be three different columns"),
        ("explain d.csv --target a a b", "must be three different columns"),
        ("explain d.csv --target y a b --tolerance cv", "is not a positive number or 'unbiased'"),
        ("compare d.csv --target y --n-folds 1", "--n-folds must be at least 2"),
        ("compare d.csv --target y --method magic", "--method 'magic' is not one of: LinCFA, "),
        ("compare d.csv --target y --n-folds 0", "'0' is not a positive whole number"),
    ],
)
def test_wrong_usage(fails, files, folder, arguments, message):
    assert message in fails(*arguments.split(), code=2)
    assert files() == []


def test_missing_package_is_named(fails, monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setitem(sys.modules, "rich", None)
    assert "pip install 'lincfa[cli]'" in fails("demo")


def test_debug_shows_where_an_error_arose(call, folder):
    result = call("explain", "none\x1b.csv", "--target", "y", "a", "b", "--debug")
    assert result.code == 1
    assert result.err.startswith("Traceback (most recent call last):\n")
    assert result.err.endswith(
        "FileNotFoundError: [Errno 2] No such file or directory: 'none\\x1b.csv'\n"
    )
