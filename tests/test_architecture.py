"""The structure: one direction of imports, light imports, documentation that tells the truth."""

import ast
import graphlib
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lincfa
from lincfa import baselines, datasets, plotting, structure, theory

PACKAGE = Path(lincfa.__file__).parent

# Each module imports only from those before it. ``theory`` and ``_names`` stand at the very left.
ORDER = [
    "theory",
    "_names",
    "_words",
    "_cells",
    "structure",
    "_input",
    "_tables",
    "_weights",
    "_blocks",
    "_means",
    "_gram",
    "_statistics",
    "_dask",
    "_field",
    "_noise",
    "_evidence",
    "_criterion",
    "_constraint",
    "_grouping",
    "_cohesion",
    "_display",
    "_summary",
    "_reader",
    "_reducer",
    "_cutting",
    "_parameters",
    "_streaming",
    "_files",
    "_document",
    "_estimator",
    "_explain",
    "_loading",
    "_samples",
    "_folds",
    "_choice",
    "_search",
    "_order",
    "_progress",
    "_stability",
    "_findings",
    "_tablefiles",
    "plotting",
    "_kernels",
    "baselines",
    "_comparison",
    "datasets",
    "_demo",
    "report",
    "__init__",
    "cli",
]
OPTIONAL = {"pandas", "polars", "pyarrow", "matplotlib", "dask", "xarray", "jinja2", "rich"}


def room(path):
    """The module of the list above to which a file belongs."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def own_imports(path):
    """Modules of the package that a file imports, at any depth, relative or absolute."""
    here = ("lincfa", *path.relative_to(PACKAGE).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = list(here[: -node.level]) if node.level else []
            full = base + (node.module.split(".") if node.module else [])
            if full[:1] != ["lincfa"]:
                continue
            for alias in node.names:
                name = full[1] if len(full) > 1 else alias.name
                yield name if name in ORDER else "__init__"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "lincfa":
                    yield [*alias.name.split("."), "__init__"][1]


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    assert room(path) in ORDER, "give a new module its place in ORDER"
    for imported in own_imports(path):
        if imported != room(path) or path.parent == PACKAGE:  # within a package, see below
            assert ORDER.index(imported) < ORDER.index(room(path)), f"{room(path)} → {imported}"


def test_packages_import_one_way_within():
    """The modules of a package too have an order: no two import each other, at any distance."""
    for package in (path.parent for path in PACKAGE.glob("*/__init__.py")):
        imports = {}
        for path in package.glob("[!_]*.py"):
            pytest.fail(f"{path.name}: modules within a package are private")
        for path in package.glob("_[!_]*.py"):
            tree = ast.walk(ast.parse(path.read_text()))
            imports[path.stem] = {
                node.module
                for node in tree
                if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
            }
        assert list(graphlib.TopologicalSorter(imports).static_order())


def test_experiments_use_public_names_only():
    """The experiments of the paper use the library as its users do."""
    used = set()
    for path in (PACKAGE.parents[1] / "experiments").glob("*.py"):
        tree = ast.parse(path.read_text())
        names = set()  # of the library, by which modules of it are known in this file
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert all(name.name.split(".")[0] != "lincfa" for name in node.names), path.name
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lincfa"):
                names |= {name.name for name in node.names}
                used |= {(node.module, name.name) for name in node.names}
        modules = names & {"theory", "datasets", "baselines", "plotting"}
        used |= {
            (f"lincfa.{node.value.id}", node.attr)
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in modules
        }
    assert ("lincfa.theory", "interval_3d") in used
    for module, name in used:
        public = [*importlib.import_module(module).__all__]
        assert name in public or (module == "lincfa" and name in ("datasets", "baselines")), name


def test_theory_imports_nothing_of_ours():
    for path in (PACKAGE / "theory").glob("*.py"):
        assert set(own_imports(path)) <= {"theory"}


def test_imports_are_seen():
    """The walk above finds what it is meant to find."""
    assert set(own_imports(PACKAGE / "_criterion.py")) == {
        "theory",
        "_statistics",
        "_noise",
        "_evidence",
    }
    assert "_estimator" in own_imports(PACKAGE / "__init__.py")
    assert "_demo" in own_imports(PACKAGE / "cli" / "_demo.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_stay_readable(path):
    assert len(path.read_text().splitlines()) <= 350


def test_import_is_light():
    """``import lincfa`` loads none of the optional packages."""
    code = "import sys, lincfa, lincfa.datasets; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    plain = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, scipy.stats, sklearn.base, sklearn.utils.validation; print(*sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    # scikit-learn itself may look for pandas; we must not add to what it loads.
    assert OPTIONAL & set(modules) <= OPTIONAL & set(plain)


def test_tables_are_opened_quickly():
    """What refuses a table or an option does not wait for scikit-learn."""
    code = "import sys, lincfa.cli._reading, lincfa.cli._outputs; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"sklearn", "scipy", *OPTIONAL} & set(modules)


def public_callables():
    yield from (lincfa.LinCFA, lincfa.LinCFACV, lincfa.order_sensitivity, lincfa.compare)
    yield from (baselines.SupervisedPCA, baselines.ScreenedPCA)
    yield from (lincfa.stability, lincfa.explain_pair, lincfa.LinCFA.fit, lincfa.LinCFA.partial_fit)
    for module in (theory, datasets, baselines, plotting, structure):
        for name in getattr(module, "__all__", None) or vars(module):
            item = getattr(module, name)
            if inspect.isfunction(item) and item.__module__.startswith("lincfa"):
                yield item


@pytest.mark.parametrize("item", list(public_callables()), ids=lambda item: item.__name__)
def test_documented_defaults_are_those_of_the_signature(item):
    documented = {
        name.strip(): value
        for names, value in re.findall(
            r"^\s*([\w, ]+) : .*default=([^\n]+)$", inspect.getdoc(item), flags=re.MULTILINE
        )
        for name in names.split(",")
    }
    defaults = {
        name: repr(parameter.default).replace("'", '"')
        for name, parameter in inspect.signature(item).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }
    if "Parameters\n" in inspect.getdoc(item) and not item.__module__.startswith("lincfa.theory"):
        assert documented == defaults
    else:  # the theory documents by formula; what it states must still be true
        assert documented.items() <= defaults.items()


def test_version_is_in_the_changelog():
    changelog = (PACKAGE.parents[1] / "CHANGELOG.md").read_text()
    assert f"## {lincfa.__version__}" in changelog
