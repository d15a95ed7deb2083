"""Files that are damaged or no models at all: each is refused by name, and none is executed."""

import ast
import inspect
import json
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lincfa._model import _files, _loading
from lincfa._model._document import _read, _strict, _write, describe, envelope
from tampering import (
    FUZZ,
    assert_refused,
    content,
    enveloped,
    fitted,
    intact,
    load,
    loaded_or_refused,
    put,
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("damage") / "groups (1).json"


@pytest.mark.parametrize("strategy", ["sequential", "agglomerative"])
def test_the_files_to_be_damaged_are_good(file, strategy):
    model = load(file, intact(strategy))
    np.testing.assert_array_equal(model.labels_, fitted(strategy).labels_)
    assert len(model.evidence_) >= 2
    assert model.n_groups_ >= 2


def test_the_layout_does_not_matter(file):
    """Another program may sort names and add line breaks; the model is the same."""
    document = json.loads(intact())
    for text in (json.dumps(document, sort_keys=True), json.dumps(document, indent=4)):
        assert envelope(describe(load(file, text))) == intact()


# Damage


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"\n",
        b"\0" * 99,
        b"\xff\xfe\x00",
        b"\x1f\x8b\x08binary",
        b"PK\x03\x04",
        b"label,mean\n0,1.5\n",
        b"\xef\xbb\xbf{}",
        b'"\xed\xa0\x80"',
        b"{'format': 'lincfa-model'}",
        b"nonsense",
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"9" * 5000,
        b"null",
        b"[]",
        b"{}",
        b"3",
        b'"lincfa-model"',
    ],
    ids=lambda junk: repr(junk[:12]),
)
def test_what_is_no_model(file, junk):
    assert_refused(file, junk)


@pytest.mark.parametrize("strategy", ["sequential", "agglomerative"])
def test_truncated_anywhere(file, strategy):
    """Only the line break at the very end may be missing."""
    text = intact(strategy)
    for length in [*range(0, len(text) - 1, 11), *range(len(text) - 9, len(text) - 1)]:
        assert_refused(file, text[:length], "not a JSON file, or a damaged one")
    load(file, text[:-1])


def assert_refused_or_same(file, text):
    model = loaded_or_refused(file, text)
    assert model is None or envelope(describe(model)) == intact()


def test_any_digit_changed(file):
    """The last of 17 digits may be another and give the same number."""
    text = intact()
    start = text.index('"model"')
    places = [start + found.start() for found in re.finditer(r"\d", text[start:])]
    for place in places[::5]:
        other = str((int(text[place]) + 5) % 10)
        assert_refused_or_same(file, text[:place] + other + text[place + 1 :])


@settings(max_examples=150, **FUZZ)
@given(place=st.integers(0, len(intact()) - 1), byte=st.integers(0, 255))
def test_any_byte_changed(file, place, byte):
    text = bytearray(intact().encode())
    text[place] = byte
    assert_refused_or_same(file, bytes(text))


def test_changed_by_hand(file):
    text = intact()
    assert_refused(file, text.replace('"standardized"', '"original"'), "checksum")
    assert_refused(file, text.replace("sha256:", "sha256:0"), "checksum")
    for checksum in (None, 3, "", [], True):
        assert_refused(file, enveloped(checksum=checksum), "checksum")


# The envelope


@pytest.mark.parametrize("version", [0, 3, -1, "1", True, False, None, 1.5, [1], {}, 10**30])
def test_other_versions(file, version):
    assert_refused(file, enveloped(version=version), "version")


@pytest.mark.parametrize("name", ["lincfa-groups", "", "LINCFA-MODEL", None, 1, ["lincfa-model"]])
def test_other_formats(file, name):
    assert_refused(file, enveloped(format=name), "not a saved lincfa model")


def test_envelope_with_too_little_or_too_much(file):
    document = json.loads(intact())
    for name in document:
        assert_refused(file, json.dumps({k: v for k, v in document.items() if k != name}))
    assert_refused(file, enveloped(author="me"), "'author', which does not belong there")
    for model in (None, 3, "text", [], True):
        assert_refused(file, enveloped(model=model), "'model' is not an object")


NOT_NUMBERS = {
    **dict.fromkeys(["NaN", "Infinity", "-Infinity"], "is not JSON"),
    **dict.fromkeys(["1e999", "-1e999"], "checksum|version"),
    "9" * 5000: "digits",
}


@pytest.mark.parametrize("number", NOT_NUMBERS, ids=lambda number: number[:9])
def test_numbers_that_are_none(file, number):
    """In each place that holds a number."""
    places = [("n_samples",), ("features", "mean", 1), ("features", "label", 1)]
    for keys in [*places, ("parameters", "tolerance")]:
        text = envelope(put(content(), "HERE", *keys)).replace('"HERE"', number)
        assert_refused(file, text, NOT_NUMBERS[number])
    text = enveloped(version="HERE").replace('"HERE"', number)
    assert_refused(file, text, NOT_NUMBERS[number])


def test_names_that_occur_twice(file):
    text = intact()
    for line in re.findall(r'\n *"\w+": [^{\n]*[^{\n,]', text):
        assert_refused(file, text.replace(line, f"{line},{line}", 1), "twice in one object")


def test_nested_too_deeply(file):
    """Around the depth where reading succeeds and what follows may not."""
    for depth in (400, *range(900, 1000, 3), 100_000):
        deep = "[" * depth + "]" * depth
        text = enveloped(version="HERE").replace('"HERE"', deep)
        assert_refused(file, text, "version|nested|recursion")
        text = enveloped(model={"output": "HERE"}).replace('"HERE"', deep)
        assert_refused(file, text, "checksum|nested|recursion")


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("executed",)


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_a_pickle_is_not_opened(file, protocol):
    assert_refused(file, pickle.dumps(Bomb(), protocol), "not a JSON file")


@pytest.mark.parametrize("module", [_read, _strict, _write, _files, _loading])
def test_nothing_that_executes_is_used(module):
    """Neither by name nor by import."""
    forbidden = {"eval", "exec", "compile", "__import__", "getattr_static", "pickle", "marshal"}
    forbidden |= {
        "shelve",
        "importlib",
        "subprocess",
        "system",
        "popen",
        "yaml",
        "joblib",
        "ctypes",
    }
    used = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            used |= {part for alias in node.names for part in alias.name.split(".")}
            used |= set((getattr(node, "module", None) or "").split("."))
        used |= {getattr(node, "id", ""), getattr(node, "attr", "")}
    assert not used & forbidden
