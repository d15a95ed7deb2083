"""Files that are damaged, edited or not models: each raises an error that names it."""

import ast
import contextlib
import inspect
import json
import pickle
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lincfa import LinCFA
from lincfa._model import _document, _files, _loading
from lincfa.structure import chain_connectivity
from reference import many_factors
from tampering import (
    FUZZ,
    X,
    assert_refused,
    at,
    content,
    content_of,
    enveloped,
    fitted,
    load,
    loaded_or_refused,
    nodes,
    put,
    sealed,
)

INTACT = sealed(content())


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("damage") / "groups (1).json"


@pytest.mark.parametrize("strategy", ["sequential", "agglomerative"])
def test_the_files_to_be_damaged_are_good(file, strategy):
    model = load(file, sealed(content(strategy)))
    np.testing.assert_array_equal(model.labels_, fitted(strategy).labels_)
    assert len(model.evidence_) >= 2
    assert model.n_groups_ >= 2


def test_the_layout_does_not_matter(file):
    """Another program may sort names and add line breaks; the model is the same."""
    document = json.loads(sealed(content()))
    for text in (json.dumps(document, sort_keys=True), json.dumps(document, indent=4)):
        assert content_of(load(file, text)) == content()


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
    text = sealed(content(strategy)) + "\n"
    for length in [*range(0, len(text) - 1, 11), *range(len(text) - 9, len(text) - 1)]:
        assert_refused(file, text[:length], "damaged or not a JSON file")
    load(file, text[:-1])


def assert_refused_or_same(file, text):
    model = loaded_or_refused(file, text)
    assert model is None or content_of(model) == content()


def test_any_digit_changed(file):
    """The last of 17 digits may be another and give the same number."""
    text = sealed(content())
    start = text.index('"model"')
    places = [start + found.start() for found in re.finditer(r"\d", text[start:])]
    for place in places[::5]:
        other = str((int(text[place]) + 5) % 10)
        assert_refused_or_same(file, text[:place] + other + text[place + 1 :])


@settings(max_examples=150, **FUZZ)
@given(place=st.integers(0, len(INTACT) - 1), byte=st.integers(0, 255))
def test_any_byte_changed(file, place, byte):
    text = bytearray(INTACT.encode())
    text[place] = byte
    assert_refused_or_same(file, bytes(text))


def test_changed_by_hand(file):
    text = sealed(content())
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
    document = json.loads(sealed(content()))
    for name in document:
        assert_refused(file, json.dumps({k: v for k, v in document.items() if k != name}))
    assert_refused(file, enveloped(author="me"), "unexpected key 'author'")
    for model in (None, 3, "text", [], True):
        assert_refused(file, enveloped(model=model), "model is not an object|checksum")


NOT_NUMBERS = {
    **dict.fromkeys(["NaN", "Infinity", "-Infinity"], "is not valid JSON"),
    **dict.fromkeys(["1e999", "-1e999"], "checksum|version"),
    "9" * 5000: "digits",
}


@pytest.mark.parametrize("number", NOT_NUMBERS, ids=lambda number: number[:9])
def test_numbers_that_are_none(file, number):
    """In each place that holds a number."""
    places = [("n_samples",), ("features", "mean", 1), ("features", "label", 1)]
    for keys in [*places, ("parameters", "tolerance")]:
        text = sealed(put(content(), "HERE", *keys)).replace('"HERE"', number)
        assert_refused(file, text, NOT_NUMBERS[number])
    text = enveloped(version="HERE").replace('"HERE"', number)
    assert_refused(file, text, NOT_NUMBERS[number])


def test_keys_that_occur_twice(file):
    text = json.dumps(json.loads(sealed(content())), indent=1)
    for line in re.findall(r'\n *"\w+": [^{\[\n]*[^{\[\n,]', text):
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


@pytest.mark.parametrize("module", [_document, _files, _loading])
def test_nothing_that_executes_is_used(module):
    """Neither by name nor by import."""
    forbidden = "eval exec compile __import__ getattr_static pickle marshal shelve importlib"
    forbidden += " subprocess system popen yaml joblib ctypes"
    used = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            used |= {part for alias in node.names for part in alias.name.split(".")}
            used |= set((getattr(node, "module", None) or "").split("."))
        used |= {getattr(node, "id", ""), getattr(node, "attr", "")}
    assert not used & set(forbidden.split())


# Files whose checksum is right and whose content is not that of any model

WHOLE = {"label", "feature", "partner", "first", "second", "size"}  # columns of integers
BRANCHES = ("parameters", "features", "groups", "evidence", "merge_path")


@pytest.mark.parametrize("branch", [None, *BRANCHES])
def test_objects_with_too_little_or_too_much(file, branch):
    keys = () if branch is None else (branch,)
    for name in at(content(), keys):
        model = content()
        del at(model, keys)[name]
        assert_refused(file, sealed(model), f"lacks '{name}'")
    for name in ("__reduce__", "__class__", "py/object", "", "Label"):
        model = put(content(), ["os.system", ["false"]], *keys, name)
        assert_refused(file, sealed(model), f"unexpected key {name!r}")
    if branch is not None:
        for wrong in (3, "text", [], [[]], True) + ((None,) if branch != "merge_path" else ()):
            assert_refused(file, sealed(put(content(), wrong, branch)), "is not an object")


def wrong_values(keys, value):
    """What may not stand at a place, by the type that may."""
    if isinstance(value, list) and keys[-1] in ("feature_names", "column_names"):
        return [3, 0.5, "text", True, {}, [], value[1:], [*value, "more"], [value]]
    if isinstance(value, list):
        return [True, [], value[1:], [*value, value[0]], [value]]
    if isinstance(value, bool):
        return [None, 0, 1, 1.0, "true", [], {}, [value]]
    if isinstance(value, str) and keys[0] == "feature_names":
        return [None, 3, 0.5, True, [], {}, [value]]
    if keys[-2] in WHOLE:
        return [None, 0.5, float(value), True, "1", "nan", [], {}, [value], 2**63, -(10**30)]
    return [None, True, False, "text", "NaN", "Infinity", "1.0", [], {}, [value], 10**400]


@pytest.mark.parametrize("branch", [*BRANCHES[1:], "feature_names"])
def test_wrong_types_everywhere(file, branch):
    for keys in nodes(content()[branch], (branch,)):
        value = at(content(), keys)
        if isinstance(value, dict) or (isinstance(keys[-1], int) and keys[-1] != 1):
            continue
        for wrong in wrong_values(keys, value):
            assert_refused(file, sealed(put(content(), wrong, *keys)), "cannot be loaded")


@pytest.mark.parametrize("branch", BRANCHES[1:])
def test_columns_that_are_no_lists(file, branch):
    for name in content()[branch]:
        for wrong in (None, 3, "", "nan", {}, {"0": 1}):
            text = sealed(put(content(), wrong, branch, name))
            assert_refused(file, text, f"{branch}.{name} is not a list")


WRONG_PARAMETERS = {
    "strategy": [None, True, 3, "", "Joint", "kmeans"],
    "tolerance": [None, True, 0, -1.0, "full", "1.0", "inf", 10**400],
    "n_groups": [True, 0, -1, 2.0, 2.5, "2"],
    "noise": [None, True, 0, -1.0, "unbiased", "nan", 10**400],
    "min_correlation": [True, 1.5, -1.01, "0.5", "nan"],
    "units": [None, True, 1, "kelvin"],
}


@pytest.mark.parametrize("name", WRONG_PARAMETERS)
def test_parameters_that_lincfa_refuses(file, name):
    for wrong in WRONG_PARAMETERS[name]:
        assert_refused(file, sealed(put(content(), wrong, "parameters", name)), "cannot be load")
    for wrong in ([], {}, ["pair"], {"__reduce__": 1}):
        text = sealed(put(content(), wrong, "parameters", name))
        assert_refused(file, text, f"parameters.{name} is not text or a number")
    assert_refused(file, sealed(put(content("sequential"), 2, "parameters", "n_groups")), "n_gro")


@pytest.mark.parametrize("name", ["n_samples", "target_scale"])
def test_figures_that_are_not_positive(file, name):
    for wrong in (0, -1.0, "nan", "inf", "-inf", "text", None, True, [], [3.0], {}, 10**400):
        assert_refused(file, sealed(put(content(), wrong, name)), f"model.{name} ")


@pytest.mark.parametrize("output", ["numpy", "", 0, True, False, [], ["pandas"], {}])
def test_unknown_output(file, output):
    assert_refused(file, sealed(put(content(), output, "output")), "model.output is")


def swap(column, first, second):
    column[first], column[second] = column[second], column[first]


def relabel(*labels):
    return lambda model: put(model, list(labels), "features", "label")


def turn_round(model):
    """The later group of a merge as its first."""
    columns = model["merge_path"]
    columns["first"][0], columns["second"][0] = columns["second"][0], columns["first"][0]


def change(value, *keys):
    return lambda model: put(model, value, *keys)


def ask_for_two_groups(model):
    model["parameters"].update(n_groups=2, tolerance=1.0)


def two_groups(model):
    """Features 1 and 5 together too, with evidence before that of the first group."""
    relabel(0, 1, 0, 0, -1, 1, 0)(model)
    each_column("groups", list.pop)(model)
    for name, column in model["evidence"].items():
        column.insert(0, {"feature": 5, "partner": 1}.get(name, column[0]))


def each_column(branch, step):
    def act(model):
        for column in model[branch].values():
            step(column)

    return act


# Labels are 0 1 0 0 -1 2 0; features 3, 6 and 2 were merged with 2, 0 and 0.
CONTRADICTIONS = {
    "no group": (relabel(*7 * [-1]), "label has no groups"),
    "label below -1": (relabel(0, 1, 0, 0, -2, 2, 0), "label contains -2, which is not"),
    "label skipped": (relabel(0, 1, 0, 0, -1, 3, 0), "does not number the groups"),
    "no first label": (relabel(1, 2, 1, 1, -1, 3, 1), "does not number the groups"),
    "label far out": (relabel(0, 1, 0, 0, -1, 2**62, 0), "does not number the groups"),
    "labels out of order": (relabel(0, 2, 0, 0, -1, 1, 0), "does not number the groups"),
    "groups of other labels": (relabel(0, 1, 0, 0, -1, 1, 0), "model.groups does not have . rows"),
    "member moved": (relabel(0, 1, 1, 0, -1, 2, 0), "partner in another group"),
    "member dropped": (relabel(0, 1, -1, 0, -1, 2, 0), "one row for each merged"),
    "group too few": (each_column("groups", list.pop), "model.groups does not have . rows"),
    "group too many": (each_column("groups", lambda c: c.append(c[0])), "does not have 3 rows"),
    "no features": (each_column("features", list.clear), "names|no groups"),
    "scale of zero": (
        change(0.0, "features", "scale", 1),
        "contains .*, which is not a standard deviation",
    ),
    "scale of minus zero": (
        change(-0.0, "features", "scale", 4),
        "contains .*, which is not a standard deviation",
    ),
    "negative scale": (
        change(-2.5, "features", "scale", 6),
        "contains .*, which is not a standard deviation",
    ),
    **{
        f"{value} as {name}": (
            change(value, "features", name, 3),
            f"{name} contains {value}, which is not",
        )
        for name in ("mean", "scale", "target_correlation")
        for value in ("nan", "inf", "-inf")
    },
    "evidence twice": (change(6, "evidence", "feature", 0), "one row for each merged"),
    "evidence of a first": (change(0, "evidence", "feature", 0), "one row for each merged"),
    "evidence of a constant": (change(4, "evidence", "feature", 0), "one row for each merged"),
    "evidence of none": (change(7, "evidence", "feature", 0), "one row for each merged"),
    "evidence from behind": (change(-1, "evidence", "feature", 1), "one row for each merged"),
    "evidence missing": (each_column("evidence", list.pop), "one row for each merged"),
    "no evidence": (each_column("evidence", list.clear), "one row for each merged"),
    "evidence repeated": (
        each_column("evidence", lambda c: c.append(c[0])),
        "one row for each merged",
    ),
    "partner outside": (
        change(7, "evidence", "partner", 0),
        "partner that is not before its feature",
    ),
    "partner from behind": (
        change(-1, "evidence", "partner", 0),
        "partner that is not before its feature",
    ),
    "partner elsewhere": (change(1, "evidence", "partner", 0), "partner in another group"),
    "partner behind": (
        change(4, "evidence", "partner", 0),
        "partner that is not before its feature",
    ),
    "partner of itself": (
        change(3, "evidence", "partner", 0),
        "partner that is not before its feature",
    ),
    "evidence out of order": (two_groups, "evidence is not sorted by group"),
    "F above its tolerance": (change(8.1, "evidence", "f", 0), "an F above its tolerance"),
    "F unknown": (change("nan", "evidence", "f", 0), "f contains nan"),
    "negative drop": (
        change(-0.1, "evidence", "variance_drop_share", 1),
        "variance_drop_share contains -0.1",
    ),
    "infinite growth": (change("inf", "evidence", "bias_growth_share", 1), "not a finite"),
    **{
        f"correlation of {branch}": (
            change(-1.1, branch, name, 0),
            "contains -1.1, which is not a correlation",
        )
        for branch, name in [
            ("features", "target_correlation"),
            ("groups", "mean_correlation"),
            ("groups", "target_correlation"),
            ("evidence", "correlation"),
            ("merge_path", "correlation"),
        ]
    },
    "groups without a path": (each_column("merge_path", list.clear), "leads to other groups"),
    "another number asked for": (ask_for_two_groups, "n_groups differs from the number"),
    "too few samples": (change(0.5, "n_samples"), "not at least 4 samples"),
    "named twice": (change(list("abcdefg"), "column_names"), "the features have names twice"),
    "merge of itself": (change(2, "merge_path", "second", 0), "groups that do not exist"),
    "merge the wrong way round": (turn_round, "groups that do not exist"),
    "merge of a constant": (change(4, "merge_path", "second", 0), "groups that do not exist"),
    "merge outside": (change(7, "merge_path", "second", 0), "groups that do not exist"),
    "merge from behind": (change(-7, "merge_path", "first", 1), "groups that do not exist"),
    "merge made before": (change(3, "merge_path", "second", 1), "groups that do not exist"),
    "merge into one made": (change(3, "merge_path", "first", 1), "groups that do not exist"),
    "one merge too many": (
        each_column("merge_path", lambda c: c.append(c[-1])),
        "that do not exist",
    ),
    "merges in another order": (
        each_column("merge_path", list.reverse),
        "size|not exist|decreases",
    ),
    "wrong size": (change(3, "merge_path", "size", 0), "merge_path has a wrong size"),
    "wrong last size": (change(7, "merge_path", "size", 4), "merge_path has a wrong size"),
    "path that falls": (lambda m: swap(m["merge_path"]["height"], 2, 3), "height that decreases"),
    "height unknown": (change("nan", "merge_path", "height", 2), "height contains nan"),
    "no path": (change(None, "merge_path"), "merge_path does not match the strategy"),
    "path of another strategy": (
        change("centroid", "parameters", "strategy"),
        "does not match the strategy",
    ),
    "name repeated": (change("t0", "feature_names", 5), "feature_names repeats a name"),
    "names too few": (change(list("abcdef"), "feature_names"), "not a list of 7 names"),
    "column names too few": (change(list("abcdef"), "column_names"), "not a list of 7 names"),
    "column names as one": (change("abcdefg", "column_names"), "not a list of names"),
    "numbers as column names": (change(list(range(7)), "column_names"), "not a list of names"),
}


@pytest.mark.parametrize("kind", CONTRADICTIONS)
def test_contradictions(file, kind):
    model = content()
    act, message = CONTRADICTIONS[kind]
    act(model)
    assert_refused(file, sealed(model), message)


# Which features may merge

CHAIN = {"size": 12, "first": list(range(11)), "second": list(range(1, 12))}
EVERY_SECOND = {"size": 12, "first": list(range(10)), "second": list(range(2, 12))}
STRUCTURES = {
    "blocks of others": (change([0, 1] * 6, "blocks"), "does not allow"),
    "groups in pieces": (change(EVERY_SECOND, "connectivity"), "does not allow"),
    "pair outside": (change(99, "connectivity", "second", 0), "features that do not exist"),
    "pair from behind": (change(-1, "connectivity", "first", 0), "features that do not exist"),
    "pair twice": (change(CHAIN["first"] * 2, "connectivity", "first"), "do not exist"),
    "pair of itself": (change(0, "connectivity", "second", 0), "features that do not exist"),
    "half a pair": (change([], "connectivity", "first"), "features that do not exist"),
    "half a feature": (change(12.5, "connectivity", "size"), "not pairs of features"),
    "a matrix of others": (change(20, "connectivity", "size"), "there are 12 features"),
    "a matrix too large": (change(2**40, "connectivity", "size"), "has size 1099511627776"),
    "an unknown word": (change("lattice", "connectivity"), "connectivity is 'lattice'"),
    "a number": (change(3, "connectivity"), "not pairs of features"),
    "no labels": (change([None] * 12, "blocks"), "not a list of labels"),
    "one label": (change([1], "blocks"), "one label per feature"),
    "no blocks": (change(KeyError, "blocks"), "structure lacks 'blocks'"),
    "an endless list of pairs": (change(EVERY_SECOND | {"more": 1}, "connectivity"), "not pairs"),
}


@pytest.mark.parametrize("kind", STRUCTURES)
def test_structures(file, kind):
    model = LinCFA(tolerance=1e9, connectivity=chain_connectivity(12))
    model = content_of(model.fit(*many_factors(np.random.default_rng(4), 50, 12)))
    assert model["structure"]["connectivity"] == CHAIN
    act, message = STRUCTURES[kind]
    act(model["structure"])
    assert_refused(file, sealed(model), message)


# Anything at all

NUMBERS = st.integers() | st.integers(-2, 9) | st.just(10**400)
NUMBERS |= st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.sampled_from(["nan", "inf", "-inf", "joint", "full", "pandas", "", "t0"]) | st.text()
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


def use(model):
    """All that a model does; values that no data have may overflow."""
    reduced = model.set_output(transform="default").transform(X)
    assert reduced.shape == (len(X), model.n_groups_)
    coef, _ = model.expand_coefficients(np.ones(model.n_groups_))
    assert coef.shape == (7,)
    assert len(model.groups_by_name()) == model.n_groups_
    str(model.summary())
    model.evidence_frame()
    model.evidence_frame("polars")
    if hasattr(model, "merge_path_"):
        model.cut(tolerance=3.0).transform(X)
        model.to_linkage()
    model.inverse_transform(reduced)


@pytest.mark.parametrize("strategy", ["sequential", "agglomerative"])
@settings(max_examples=100, **FUZZ)
@given(data=st.data())
def test_any_part_replaced(file, strategy, data):
    """The model refuses, or it works: no other exception, whatever stands in the file."""
    model = content(strategy)
    keys = data.draw(st.sampled_from(list(nodes(model))[1:]))
    text = sealed(put(model, data.draw(VALUES), *keys))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        loaded = loaded_or_refused(file, text)
        if loaded is not None:
            with contextlib.suppress(ValueError):
                use(loaded)
