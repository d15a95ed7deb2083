"""What the tests of the experiments share."""

from contextlib import contextmanager

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("rich")


@pytest.fixture(scope="session")
def only_methods():
    """A context with some of the methods beyond the paper, which take most of the time.

    In this process alone.
    """
    from experiments import methods

    regressors = methods.methods

    @contextmanager
    def patched(*names):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(methods, "methods", lambda *a: {k: regressors(*a)[k] for k in names})
            yield

    return patched
