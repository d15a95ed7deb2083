"""Outcomes that several tests of the reproduction look at, each computed once."""

import pytest

from lincfa.paper import _methods

FEW = ("LinCFA, disjoint groups", "ridge")


@pytest.fixture(scope="module")
def few_methods():
    """Two of the methods beyond the paper instead of eight, which take most of the time."""
    methods = _methods.methods
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_methods, "methods", lambda *args: {k: methods(*args)[k] for k in FEW})
        yield FEW
