"""``lincfa paper``, as a user runs it."""

import re
import sys

import pytest

from lincfa import paper
from lincfa.cli import _paper, main


@pytest.fixture
def asked(monkeypatch):
    """What the command asks for; nothing is run."""
    calls = []

    def reproduce(output, **options):
        calls.append({"output": output, **options})
        return paper.Results([], output)

    monkeypatch.setattr(paper, "reproduce", reproduce)
    return calls


def test_table_and_path_of_the_page(capsys, tmp_path, few_methods):
    folder = tmp_path / "results"
    options = ["--repetitions", "10", "--workers", "1", "--output", str(folder)]
    assert main(["paper", "--experiment", "trivariate", *options]) == 0
    printed = capsys.readouterr()
    page = folder / "index.md"
    assert printed.out.splitlines()[-1] == f"Everything on one page: {page}"
    assert page.is_file()
    for name, figures in (("3dimSyn", 6), ("3dimSynExtended", 19)):
        (line,) = re.findall(rf"│ {name} +│(.*)│", printed.out)
        reproduced, differs, not_run, *_ = (int(cell) for cell in line.split("│")[:4])
        assert reproduced + differs == figures
        assert not_run == 0
    assert "repetitions: 10, seed: 0" in page.read_text(encoding="utf-8")


def test_experiments_are_those_of_the_package():
    assert tuple(paper.EXPERIMENTS) == _paper.EXPERIMENTS


def test_defaults_are_those_of_the_paper(asked):
    assert main(["paper"]) == 0
    (call,) = asked
    assert call["output"] == "paper-results"
    assert (call["repetitions"], call["seed"], call["workers"]) == (500, 0, -1)
    assert call["experiments"] is None
    assert call["folder"] is None


def test_options_arrive(asked):
    options = "--quick --seed 7 --workers 3 --output there --data here --experiment real samples"
    assert main(["paper", *options.split()]) == 0
    (call,) = asked
    del call["progress"]
    assert call == {
        "output": "there",
        "experiments": ["real", "samples"],
        "repetitions": 40,
        "seed": 7,
        "workers": 3,
        "folder": "here",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--experiment", "fly"], "invalid choice: 'fly'"),
        (["--experiment"], "expected at least one argument"),
        (["--repetitions", "9"], "9 repetitions are too few: at least 10"),
        (["--repetitions", "many"], "'many' is not a positive whole number"),
        (["--quick", "--repetitions", "20"], "not allowed with argument --quick"),
        (["--workers", "0"], "'0' is not a positive whole number"),
        (["--seed", "-1"], "'-1' is not a whole number"),
    ],
)
def test_wrong_usage(asked, capsys, arguments, message):
    with pytest.raises(SystemExit, match="2"):
        main(["paper", *arguments])
    assert message in capsys.readouterr().err
    assert asked == []


def test_differences_are_printed_with_their_reason(monkeypatch, capsys):
    from lincfa.paper._estimates import Estimate
    from lincfa.paper._tables import Claim, compare

    row = compare("d", "x", "3", Estimate(4.0), reasons={("d", "x"): "it is four"})
    table = paper.Table("named", "t", [row], claims=[Claim("s", True, True, "")])
    monkeypatch.setattr(paper, "reproduce", lambda *a, **k: paper.Results([table], "page"))
    assert main(["paper"]) == 0
    printed = capsys.readouterr().out
    assert "named (x), d: it is four" in printed
    assert re.search(r"│ named +│ +0 │ +1 │ +0 │ +0 │ +1 of 1 │", printed)


def test_output_that_is_a_file_is_named(capsys, tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    options = ["--experiment", "trivariate", "--repetitions", "10", "--output", str(path)]
    assert main(["paper", *options]) == 1
    error = capsys.readouterr().err.strip()
    assert error.startswith("lincfa: ")
    assert str(path) in error


def test_missing_matplotlib_is_named(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    options = ["--experiment", "samples", "--repetitions", "10", "--output", str(tmp_path)]
    assert main(["paper", *options]) == 1
    assert "pip install 'lincfa[plot]'" in capsys.readouterr().err


def test_missing_rich_is_named(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert main(["paper"]) == 1
    assert "pip install 'lincfa[cli]'" in capsys.readouterr().err
