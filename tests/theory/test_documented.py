"""Every function carries an example, and docs/theory.md accounts for every label of the paper."""

import inspect
import re
from pathlib import Path

import pytest

from lincfa import theory

PAGE = Path(__file__).parents[2] / "docs" / "theory.md"

# All \label{eq:…}, \label{thm:…}, \label{lemma:…} and \label{prop:…} of the paper's source.
LABELS = re.findall(
    r"\S+",
    """
eq:BiasVarDec eq:VarEst eq:varEst1d eq:varEst2d eq:modelVar eq:variance1D eq:variance2D
eq:asymDiffVar eq:sameVar eq:finDiffVar eq:modelBias eq:asymDiffBias eq:finDiffBias
eq:2DasymBound eq:2DasymBuondRed eq:2DfinBound eq:2DfinBuondRed eq:var3D1 eq:var3D2 eq:bound3D
eq:general3D eq:ExpvalEst eq:expvalEst1d eq:expvalEst2d eq:modelBias2 eq:bias1D eq:bias2D
eq:unitVar eq:general2Dvar eq:asympBound2Dteo eq:asympBound2Demp eq:finBound2Demp eq:covUpper
eq:covLower eq:finBound2Dteo thm:variance2D thm:asymVar2D thm:diffFinite thm:asym2dBias
thm:diffFiniteBias thm:asympBound2D thm:finiteBound2D thm:3var thm:bias3dDiff thm:3Dbound
thm:bias2D thm:asymptTeoEmp thm:finBound2Demp thm:finBound2Dteo lemma:varianceEstimator
lemma:expvalEstimator prop:covIneq
    """,
)


@pytest.mark.parametrize("name", theory.__all__)
def test_every_function_has_an_example_and_a_line_on_the_page(name):
    assert "Examples\n--------\n>>> " in inspect.getdoc(getattr(theory, name))
    assert f"`{name}`" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("label", LABELS)
def test_every_label_is_on_the_page(label):
    assert f"`{label}`" in PAGE.read_text(encoding="utf-8")


def test_names_are_sorted_unique_and_all_public_functions():
    assert theory.__all__ == sorted(set(theory.__all__))
    functions = inspect.getmembers(theory, inspect.isfunction)
    own = {name for name, value in functions if value.__module__ == theory.__name__}
    assert {name for name in own if not name.startswith("_")} == set(theory.__all__)


def test_labels_in_docstrings_exist():
    """A docstring that names a label names one of the paper's."""
    short = {label.split(":")[1] for label in LABELS} | {"var3D", "sameCorr", "gen3D"}
    for name in theory.__all__:
        docstring = getattr(theory, name).__doc__
        for label in re.findall(r"``(eq:\w+)``", docstring):
            assert label in LABELS, (name, label)
        for label in re.findall(r"(?:Theorem|Lemma|Proposition|Remark) ``(\w+)``", docstring):
            assert label in short, (name, label)
