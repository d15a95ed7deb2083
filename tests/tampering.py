"""Saved models, to be changed, and what has to happen then."""

import copy
import functools
import hashlib
import json
import re
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import strategies as st

import lincfa
from lincfa import LinCFA
from reference import draw, table

X, Y = draw(1, D=7)
X[:, 4] = 5.0
FUZZ = {"derandomize": True, "deadline": None}

NUMBERS = st.integers() | st.integers(-2, 9) | st.just(10**400)
NUMBERS |= st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.sampled_from(["nan", "inf", "-inf", "joint", "full", "pandas", "", "t0"]) | st.text()
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
"""Anything that may stand in a file."""


def content_of(model):
    """What the file of a model holds, to be changed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        model.save(file)
        return json.loads(file.read_text())["model"]


def sealed(model, version=7):
    """A file of this content, with the checksum that docs/saved-files.md defines."""
    text = json.dumps(model, sort_keys=True, separators=(",", ":"))
    checksum = "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()
    document = {"format": "lincfa-model", "version": version, "checksum": checksum, "model": model}
    return json.dumps(document)


@functools.cache
def fitted(strategy="agglomerative"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the constant column
        return LinCFA(strategy=strategy, tolerance=8.0).fit(table(X), Y)


@functools.cache
def _content(strategy):
    return content_of(fitted(strategy))


def content(strategy="agglomerative"):
    return copy.deepcopy(_content(strategy))


def enveloped(**changed):
    """A valid file with changes around the model."""
    return json.dumps({**json.loads(sealed(content())), **changed})


def load(file, text):
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return lincfa.load(file)


def assert_refused(file, text, message=""):
    """By a ValueError that names the file, and no subclass of it that means something else."""
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
    """Replace a part of a document; KeyError removes it."""
    if value is KeyError:
        del at(model, keys[:-1])[keys[-1]]
    else:
        at(model, keys[:-1])[keys[-1]] = value
    return model


def nodes(value, keys=()):
    """Keys that lead to each part of a document."""
    yield keys
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from nodes(value[key], (*keys, key))
