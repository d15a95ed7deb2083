"""What several tests of the experiments share."""

from contextlib import contextmanager

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("rich")

FEW = ("LinCFA, disjoint groups", "ridge")


@pytest.fixture(scope="session")
def few_methods():
    """A context with two of the methods beyond the paper, which take most of the time."""
    from experiments import methods

    regressors = methods.methods

    @contextmanager
    def patched():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(methods, "methods", lambda *args: {k: regressors(*args)[k] for k in FEW})
            yield

    return patched
