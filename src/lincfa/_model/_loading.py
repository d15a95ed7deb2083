"""Loading saved models."""

import os

from .._lincfa import LinCFA
from ._document import read_model
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
        The fitted model, which transforms exactly as the one that was saved.

    Raises
    ------
    ValueError
        If the file is not a saved model, has an unknown version, or was damaged or edited.

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
        values = read_model(document)
        model = LinCFA(**{name: values.pop(name) for name in LinCFA._get_param_names()})
        model._check_parameters()
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{os.fspath(path)} cannot be loaded: {error}") from None
    output = values.pop("output")
    for name, value in values.items():
        setattr(model, name, value)
    return model if output is None else model.set_output(transform=output)
