"""The documentation: links lead somewhere, the reference has all public names, and versions agree.

``make docs`` checks that every page is in a table of contents, and that what docstrings refer to
exists; ``cli/test_pages.py`` runs the commands of the pages.
"""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import lincfa
from lincfa import LinCFA
from lincfa.datasets import load_financial, make_correlated

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
MADE = ROOT / "docs" / "gallery"  # by make docs
MODULES = ["lincfa", *(f"lincfa.{name}" for name in lincfa._MODULES)]


def text_of(page):
    """The text without blocks of code, whose brackets are no links and whose comments no titles."""
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def links(page):
    """Files that a page links to, and places in them."""
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if "://" not in target:
            name, _, anchor = target.partition("#")
            yield (page.parent / name).resolve() if name else page, anchor


def anchors(page):
    """What GitHub calls the titles of a page."""
    titles = re.findall(r"^#+ (.*)$", text_of(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target, anchor in links(page):
        if MADE not in target.parents:
            assert target.exists()
            assert not anchor or anchor in anchors(target)


def test_links_are_found():
    assert len(list(links(README))) > 5


def test_the_readme_fits_two_screens():
    assert len(README.read_text("utf-8").splitlines()) <= 100


@pytest.mark.parametrize("module", MODULES)
def test_reference_has_every_public_name_with_an_example(module):
    public = import_module(module)
    page = (ROOT / "docs" / "reference.md").read_text("utf-8")
    blocks = re.findall(rf"currentmodule:: {module}\n(.*?)```", page, flags=re.DOTALL)
    listed = set(re.findall(r"^   (\w+)$", "".join(blocks), flags=re.MULTILINE))
    assert listed == {name for name in public.__all__ if callable(getattr(public, name))}
    for name in listed:
        assert ">>> " in getattr(public, name).__doc__
    for name in set(public.__all__) - listed - {"theory"}:
        assert f"`{name}`" in page


def test_versions_and_requirements_agree():
    yaml = pytest.importorskip("yaml")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text("utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert recipe["context"]["version"] == citation["version"] == lincfa.__version__
    assert f"## {lincfa.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")

    def requirements(lines):
        found = (re.fullmatch(r"([\w-]+)(?:\[.*\])? ?>=([\d.]+)", line).groups() for line in lines)
        return {name.lower(): version for name, version in found}

    run = requirements(recipe["requirements"]["run"])
    assert run == requirements([*project["dependencies"], f"python{project['requires-python']}"])
    optional = requirements(recipe["requirements"]["run_constraints"])
    optional["matplotlib"] = optional.pop("matplotlib-base")
    extras = [
        line
        for name, lines in project["optional-dependencies"].items()
        if name != "all"
        for line in lines
    ]
    assert optional == requirements(extras) | {"distributed": optional["dask"]}


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of dask, with pandas 3.1
def test_the_program_for_a_cluster_runs(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    pd, zarr = pytest.importorskip("pandas"), pytest.importorskip("zarr")
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    X, y = make_correlated(n_samples=60, n_features=12, random_state=0)
    zarr.save("field.zarr", t2m=X.reshape(60, 3, 4), rain=y)
    (tmp_path / "sensors").mkdir()
    table = pd.DataFrame(X).add_prefix("x").assign(station="a", **{"yield": y})
    table.to_parquet("sensors/part.0.parquet")
    (block,) = re.findall(r"```py\n(.*?)```", (ROOT / "docs" / "dask.md").read_text("utf-8"), re.S)
    with distributed.LocalCluster(1, processes=False, dashboard_address=":0") as cluster:
        variables = {"LinCFA": LinCFA}
        exec(block.replace("tcp://scheduler:8786", cluster.scheduler_address), variables)
        variables["client"].close()
    written = pd.read_parquet("reduced")
    assert len(written) == 60
    assert len(written.columns) == variables["model"].n_groups_


@pytest.mark.parametrize("name", ["signs", "missing-values", "feature-weights"])
def test_tables_name_their_command(name):
    assert "`python -m benchmarks.real_tables`" in text_of(ROOT / "docs" / f"{name}.md")
    assert f'"docs/{name}.md' in (ROOT / "benchmarks" / "real_tables.py").read_text("utf-8")


def test_signed_groups_of_the_financial_data(load_or_skip):
    X, y = load_or_skip(load_financial)
    plain = LinCFA(min_correlation=0.5).fit(X, y)
    signed = LinCFA(min_correlation=0.5, signed=True).fit(X, y)
    page = text_of(ROOT / "docs" / "signs.md")
    assert f"{signed.n_groups_} groups instead of {plain.n_groups_}" in " ".join(page.split())
    (name,) = re.findall(r"^    (mean\(.*\))$", page, flags=re.MULTILINE)
    first, *flipped = signed.groups_[list(signed.get_feature_names_out()).index(name)]
    assert plain.labels_[first] not in plain.labels_[flipped]
