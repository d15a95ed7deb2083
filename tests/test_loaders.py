"""The loaders: where they look, what they check, and what they say when something is wrong."""

import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import lincfa
from lincfa.datasets import (
    load_climatological,
    load_climatological_ii,
    load_financial,
    load_life_expectancy,
)
from reference import assert_raises

NAMES = {
    load_climatological: "ndvi_anomalies.csv",
    load_climatological_ii: "climatological_ii.csv",
    load_financial: "fundamentals.csv",
    load_life_expectancy: "life_expectancy.csv",
}
ORIGINS = {
    load_climatological: "https://github.com/PaoloBonettiPolimi/PaperLinCFA (dataset/NDVI",
    load_climatological_ii: "no public copy is known",
    load_financial: "https://www.kaggle.com/datasets/dgawlik/nyse and",
    load_life_expectancy: "https://www.kaggle.com/datasets/kumarajarshi/life-expectancy-who and",
}
# The data set's documentation gives the first half of each digest.
DIGESTS = {
    load_climatological: "0f230150990c5a2e",
    load_financial: "b6a663d34ce41fcf",
    load_life_expectancy: "872125dd1dd0f914",
}
CHECKOUT = Path(lincfa.__file__).parents[2]


@pytest.fixture(autouse=True)
def apart(request, monkeypatch, tmp_path):
    """No variable and a current directory of its own, so that only what a test sets counts."""
    if "load_or_skip" not in request.fixturenames:
        monkeypatch.delenv("LINCFA_DATA", raising=False)
        (tmp_path / "here").mkdir()
        monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def module(monkeypatch, tmp_path):
    """The loaders' module, as if it were installed: its file is in no checkout."""
    module = sys.modules[load_financial.__module__]
    monkeypatch.setattr(module, "__file__", str(tmp_path / "a" / "b" / "c" / "d" / "_loaders.py"))
    return module


def small(folder, mark):
    """A table of the second climatological layout, with a mark to know it by."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "climatological_ii.csv").write_text(f",target,a,b\n0,{mark},2.5,3\n1,5,6.5,7\n")
    return folder


def mark(*arguments):
    return load_climatological_ii(*arguments, verify=False)[1].iloc[0]


def test_search_order(monkeypatch, tmp_path, module):
    """The argument, then the variable, then ../shared/data of the checkout and of the directory."""
    small(tmp_path / "shared" / "data", 4)
    assert mark() == 4
    root = tmp_path / "home" / "checkout"
    root.mkdir(parents=True)
    inside = root / "src" / "lincfa" / "datasets" / "_loaders.py"
    monkeypatch.setattr(module, "__file__", str(inside))
    (tmp_path / "home" / "shared" / "data").mkdir(parents=True)
    (root / "pyproject.toml").touch()
    assert mark() == 4  # a folder without the file does not end the search
    small(tmp_path / "home" / "shared" / "data", 3)
    assert mark() == 3
    (root / "pyproject.toml").unlink()
    assert mark() == 4  # without a pyproject.toml it is no checkout
    (root / "pyproject.toml").touch()
    monkeypatch.setenv("LINCFA_DATA", str(small(tmp_path / "variable", 2)))
    assert mark() == 2
    assert mark(small(tmp_path / "argument", 1)) == 1
    assert mark(str(tmp_path / "argument")) == 1
    monkeypatch.setenv("LINCFA_DATA", "")  # empty is not set
    assert mark() == 3


def test_what_the_user_names_is_never_passed_over(monkeypatch, tmp_path, module):
    small(tmp_path / "shared" / "data", 4)
    empty, variable = tmp_path / "empty", small(tmp_path / "variable", 2)
    empty.mkdir()
    for folder, other, arguments in ((variable, variable, [empty]), (empty, "shared", [])):
        monkeypatch.setenv("LINCFA_DATA", str(folder))
        message = re.escape(f"tried {empty / 'climat'}")
        with pytest.raises(FileNotFoundError, match=message) as raised:
            mark(*arguments)
        assert str(tmp_path / other) not in str(raised.value)


@pytest.mark.parametrize("load", NAMES)
def test_a_missing_file_is_explained(load, tmp_path):
    """Every path tried, where to get the file, and what to call it."""
    tried = tmp_path / "empty"
    with pytest.raises(FileNotFoundError) as raised:
        load(tried)
    message = str(raised.value)
    assert message.startswith(f"There is no {NAMES[load]}; tried {tried / NAMES[load]}. Get it")
    assert ORIGINS[load] in message
    assert "the argument folder or the environment variable LINCFA_DATA" in message


def test_a_missing_file_names_every_path_tried_once(monkeypatch, tmp_path):
    checkout = CHECKOUT.parent / "shared" / "data" / "climatological_ii.csv"
    if checkout.exists():
        pytest.skip("the second climatological data are here")
    assert (CHECKOUT / "pyproject.toml").exists()
    here = tmp_path / "shared" / "data" / "climatological_ii.csv"
    with pytest.raises(FileNotFoundError, match=re.escape(f"tried {checkout}, {here}. Get")):
        load_climatological_ii()
    monkeypatch.chdir(CHECKOUT)
    with pytest.raises(FileNotFoundError) as raised:
        load_climatological_ii()
    assert str(raised.value).count("shared") == 1


@pytest.mark.parametrize("load", DIGESTS)
def test_another_file_is_refused(load, tmp_path):
    """With both digests, and the way to read it all the same."""
    path = tmp_path / NAMES[load]
    path.write_text("a,b\n1,2\n")
    # What sha256sum says of this file.
    found = "492d5ea496056f1a6a6592241032fab764c321596317930b4fa0e1e8bc3b7470"
    with pytest.raises(ValueError, match="is not the expected file") as raised:
        load(tmp_path)
    message = str(raised.value)
    assert str(path) in message
    assert f"its SHA-256 is {found}, expected {DIGESTS[load]}" in message
    assert re.search(r"expected [0-9a-f]{64}\. verify=False reads it anyway", message)


@pytest.mark.parametrize("load", DIGESTS)
def test_one_byte_is_enough(load, load_or_skip, tmp_path):
    """A tampered copy: refused, read with verify=False, and otherwise the same data."""
    X, y = load_or_skip(load)
    module = sys.modules[load.__module__]
    original = next(p / NAMES[load] for p in module._places(None) if (p / NAMES[load]).is_file())
    content = original.read_bytes()
    (tmp_path / NAMES[load]).write_bytes(content)
    assert load(tmp_path)[0].equals(X)
    (tmp_path / NAMES[load]).write_bytes(content + b"\n")
    assert_raises("is not the expected file", load, tmp_path)
    again = load(tmp_path, verify=False)
    assert again[0].equals(X)
    assert again[1].equals(y)


@pytest.mark.parametrize(
    ("load", "shape", "target", "features"),
    [
        (load_life_expectancy, (1649, 18), "Life expectancy ", ("Adult Mortality", "Schooling")),
        (
            load_financial,
            (1299, 75),
            "Cash Ratio",
            ("Accounts Payable", "Estimated Shares Outstanding"),
        ),
        (load_climatological, (1038, 136), "anomalia_adda", ("NDVI_dora", None)),
    ],
)
def test_the_papers_tables(load, shape, target, features, load_or_skip):
    X, y = load_or_skip(load)
    assert X.shape == shape
    assert y.shape == shape[:1]
    assert y.name == target
    assert target not in X.columns
    assert X.columns[0] == features[0]
    assert X.columns[-1] == (features[1] or X.columns[-1])
    assert all(kind.kind in "fi" for kind in X.dtypes)
    assert np.isfinite(X.to_numpy()).all()
    assert np.isfinite(y.to_numpy()).all()


@pytest.mark.parametrize(
    ("load", "target"),
    [
        (load_life_expectancy, "Life expectancy "),
        (load_financial, "Cash Ratio"),
        (load_climatological, "anomalia_adda"),
    ],
)
@pytest.mark.parametrize("column", ["other", None])
def test_unverified_tables_need_their_target(load, target, column, tmp_path):
    """A column of that name, and of numbers."""
    path = tmp_path / NAMES[load]
    path.write_text(f",{column or target},a\n0,x,2\n1,y,3\n")
    message = re.escape(f"{path} has no numeric column {target!r}, the target")
    assert_raises(message, load, tmp_path, verify=False)
    path.write_text(f",{target},a\n0,0.5,2\n1,0.25,3\n")
    X, y = load(tmp_path, verify=False)
    assert X.columns.tolist() == ["a"]
    assert y.tolist() == [0.5, 0.25]


def test_financial_leaves_out_what_is_missing(tmp_path):
    """Columns more than half missing first, then rows."""
    lines = [",Cash Ratio,half,more,name", "0,1,,,a", "1,2,5,,b", "2,3,,,c", "3,4,6,7,d"]
    (tmp_path / "fundamentals.csv").write_text("\n".join(lines))
    X, y = load_financial(tmp_path, verify=False)
    assert X.to_dict("list") == {"half": [5.0, 6.0]}
    assert y.tolist() == [2, 4]


def write(folder, rows, columns):
    header = ",".join(["", "target", *(f"x{i}" for i in range(columns))])
    rng = np.random.default_rng(0)
    table = np.column_stack([np.arange(rows), rng.integers(100, size=(rows, columns + 1))])
    path = folder / "climatological_ii.csv"
    np.savetxt(path, table, fmt="%d", delimiter=",", header=header, comments="")
    return table


def test_second_climatological_table(tmp_path):
    table = write(tmp_path, 981, 1991)
    X, y = load_climatological_ii(tmp_path)
    np.testing.assert_array_equal(X.to_numpy(), table[:, 2:])
    np.testing.assert_array_equal(y.to_numpy(), table[:, 1])
    assert (y.name, X.columns[0], X.columns[-1]) == ("target", "x0", "x1990")


@pytest.mark.parametrize("shape", [(981, 1990), (980, 1991), (4, 1)])
def test_second_climatological_table_of_another_shape(shape, tmp_path):
    table = write(tmp_path, *shape)
    message = f"981 × 1991, got {shape[0]} × {shape[1]} .only the shape is checked, no checksum is"
    assert_raises(message, load_climatological_ii, tmp_path)
    X, y = load_climatological_ii(tmp_path, verify=False)
    np.testing.assert_array_equal(X.to_numpy(), table[:, 2:])
    np.testing.assert_array_equal(y.to_numpy(), table[:, 1])


@pytest.mark.parametrize("verify", [True, False])
def test_second_climatological_table_without_features(verify, tmp_path):
    write(tmp_path, 3, 0)
    with pytest.raises(ValueError, match="must have an index column, the target and features, got"):
        load_climatological_ii(tmp_path, verify=verify)


def test_loaders_agree_in_their_signature_and_need_pandas(monkeypatch, tmp_path):
    assert len({str(inspect.signature(load)) for load in NAMES}) == 1
    monkeypatch.setitem(sys.modules, "pandas", None)
    for load in NAMES:
        with pytest.raises(ImportError, match=r"needs pandas: pip install 'lincfa\[tables\]'"):
            load(tmp_path)
