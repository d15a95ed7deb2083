"""Saved models back into memory."""

import os

from .._lincfa import LinCFA
from ._document import opened, restore
from ._files import read_json


def load(path: str | os.PathLike[str]) -> LinCFA:
    """Load a model saved by :meth:`LinCFA.save`.

    The file is read as plain JSON and checked; nothing in it is executed.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    LinCFA
        Fitted: it transforms bit for bit as the model that was saved.

    Raises
    ------
    ValueError
        Where the file is no saved model, of an unknown version, damaged or changed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import lincfa
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=100, n_features=20, random_state=0)
    >>> model = lincfa.LinCFA().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "groups.json"
    ...     model.save(path)
    ...     bool((lincfa.load(path).transform(X) == model.transform(X)).all())
    True
    """
    document = read_json(path)
    try:
        parameters, attributes, output = restore(opened(document))
        model = LinCFA(**parameters)
        model._check_parameters()
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{os.fspath(path)} cannot be loaded: {error}") from None
    for name, value in attributes.items():
        setattr(model, name, value)
    if output is not None:
        model.set_output(transform=output)
    return model
