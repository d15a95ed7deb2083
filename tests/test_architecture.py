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
from lincfa import baselines, datasets, plotting, structure, theory, timeseries

PACKAGE = Path(lincfa.__file__).parent

# From the data at the top to those who use the models: a module imports from its own room and from
# the layers before its own, never from a later one.
LAYERS = [
    {"theory", "structure", "timeseries", "_data", "_replacing"},
    {"_statistics"},
    {"_rule"},
    {"_grouping"},
    {"_lincfa", "_lincfa_cv", "_lincfa_classifier_cv", "_load", "_model", "_search"},
    {"baselines", "cli", "datasets", "diagnostics", "plotting", "report", "__init__"},
]
LATE = {("_model._base", "report._findings"), ("_model._base", "report._page")}
"""Methods of convenience, which import from a later layer when they are called."""

OPTIONAL = {"pandas", "polars", "pyarrow", "matplotlib", "dask", "xarray", "jinja2", "rich"}
OPTIONAL |= {"onnx", "numba"}


def module_name(path):
    """Give the name of a module within the package, as in ``_statistics._array``."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    inner = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(inner) or "__init__"


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def layer(module):
    """Give the number of the layer to which a module belongs."""
    room = module.split(".")[0]
    (number,) = (k for k, rooms in enumerate(LAYERS) if room in rooms)
    return number


def imports(module, text=None):
    """Give the modules of the package that one imports, at any depth and in any way.

    Also by ``from . import name`` and by a string, as ``import_module`` takes them.
    """
    path = MODULES[module]
    package = () if module == "__init__" else tuple(module.split("."))
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(path.read_text() if text is None else text)):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            inner = tuple(node.module.split(".")) if node.module else ()
            if not node.level:
                if inner[0] != "lincfa":
                    continue
                inner = inner[1:]
            source = ".".join([*base, *inner])
            for alias in node.names:
                named = ".".join(filter(None, [source, alias.name]))
                yield named if named in MODULES else source or "__init__"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                first, _, inner = alias.name.partition(".")
                if first == "lincfa":
                    yield inner or "__init__"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.removeprefix("lincfa.")
            if name in MODULES and name != node.value:
                yield name


def test_imports_of_every_kind_are_seen():
    text = """
from ..theory import f_statistic
from . import _array
def later():
    import lincfa.report
    from lincfa import _data, LinCFA
    import_module("lincfa.cli._main")
"""
    assert list(imports("_statistics._tiles", text)) == [
        "theory",
        "_statistics._array",
        "report",
        "_data",
        "__init__",
        "cli._main",
    ]


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module):
    room = module.split(".")[0]
    for imported in imports(module):
        if imported.split(".")[0] != room and (module, imported) not in LATE:
            assert layer(imported) <= layer(module), f"{module} imports {imported}"


def test_no_modules_import_each_other():
    """At no distance, late imports within functions included."""
    graph = {
        module: {one for one in imports(module) if one != module and (module, one) not in LATE}
        for module in MODULES
        if module != "__init__"
    }
    # A package that gathers names stands after its modules, which import from each other.
    for module, imported in graph.items():
        graph[module] = {one for one in imported if not module.startswith(f"{one}.")}
    assert list(graphlib.TopologicalSorter(graph).static_order())


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
    for module in MODULES:
        if module.split(".")[0] == "theory":
            assert {one.split(".")[0] for one in imports(module)} <= {"theory"}


def test_the_house_stays_small():
    assert len(list(PACKAGE.glob("*.py"))) <= 8
    assert len(MODULES) <= 133


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
    code = "import sys, lincfa.cli._select, lincfa.cli._write; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"sklearn", "scipy", *OPTIONAL} & set(modules)


def public_callables():
    yield from (lincfa.LinCFA, lincfa.LinCFACV, lincfa.order_sensitivity, lincfa.compare)
    yield from (baselines.SupervisedPCA, baselines.ScreenedPCA, timeseries.BlockKFold)
    yield from (lincfa.stability, lincfa.explain_pair, lincfa.LinCFA.fit, lincfa.LinCFA.partial_fit)
    for module in (theory, datasets, baselines, plotting, structure, timeseries):
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
