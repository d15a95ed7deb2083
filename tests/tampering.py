"""A valid saved model, to be changed, and what has to happen then."""

import copy
import functools
import json
import re
import warnings

import pytest

import lincfa
from lincfa import LinCFA
from lincfa._model._document import describe, envelope
from reference import draw, table

X, Y = draw(1, D=7)
X[:, 4] = 5.0
FUZZ = {"derandomize": True, "deadline": None}


@functools.cache
def fitted(strategy="agglomerative"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the constant column
        return LinCFA(strategy=strategy, tolerance=8.0).fit(table(X), Y)


def content(strategy="agglomerative"):
    """What a valid file holds, to be changed."""
    return copy.deepcopy(describe(fitted(strategy)))


def intact(strategy="agglomerative"):
    return envelope(content(strategy))


def enveloped(**changed):
    """A valid file with changes around the model."""
    return json.dumps({**json.loads(intact()), **changed})


def load(file, text):
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return lincfa.load(file)


def assert_refused(file, text, message=""):
    """By a ValueError that names the file, and no relative of it that says something else."""
    with pytest.raises(ValueError, match=f"(?s){re.escape(str(file))}.*{message}") as caught:
        load(file, text)
    assert type(caught.value) is ValueError


def loaded_or_refused(file, text):
    """The model, or None where it is refused as it has to be."""
    try:
        return load(file, text)
    except ValueError as error:
        message = str(error)
    assert str(file) in message
    return None


def at(model, keys):
    return functools.reduce(lambda node, key: node[key], keys, model)


def put(model, value, *keys):
    """Replace a part of a document."""
    at(model, keys[:-1])[keys[-1]] = value
    return model


def nodes(value, keys=()):
    """Keys that lead to each part of a document."""
    yield keys
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from nodes(value[key], (*keys, key))
