"""Files that are damaged, edited or not models: each raises an error that names it."""

import ast
import contextlib
import copy
import functools
import inspect
import json
import pickle
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lincfa import LinCFA, LinCFACV, _load, _replacing
from lincfa._model import _document
from lincfa._replacing import _journal
from lincfa.structure import chain_connectivity
from reference import QUICK, many_factors
from tampering import (
    FUZZ,
    VALUES,
    X,
    Y,
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


JUNK = [b"", b"\n", b"\0" * 99, b"\xff\xfe\x00", b"\x1f\x8b\x08binary", b"PK\x03\x04", b"nonsense"]
JUNK += [
    b"label,mean\n0,1.5\n",
    b"\xef\xbb\xbf{}",
    b'"\xed\xa0\x80"',
    b"{'format': 'lincfa-model'}",
]
JUNK += [
    b"[" * 100_000,
    b"[" * 100_000 + b"]" * 100_000,
    b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
]
JUNK += [b"9" * 5000, b"null", b"[]", b"{}", b"3", b'"lincfa-model"']


@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk[:12]))
def test_what_is_no_model(file, junk):
    assert_refused(file, junk)


@pytest.mark.parametrize("strategy", ["sequential", "agglomerative"])
def test_truncated_anywhere(file, strategy):
    """Only the line break at the very end may be missing."""
    text = sealed(content(strategy)) + "\n"
    for length in [*range(0, len(text) - 1, 11), *range(len(text) - 9, len(text) - 1)]:
        assert_refused(file, text[:length], "is damaged|not a saved model")
    load(file, text[:-1])


def assert_refused_or_same(file, text):
    model = loaded_or_refused(file, text)
    assert model is None or content_of(model) == content()


def test_any_digit_changed_and_words(file):
    """The last of 17 digits may be another and give the same number."""
    text = sealed(content())
    start = text.index('"model"')
    places = [start + found.start() for found in re.finditer(r"\d", text[start:])]
    for place in places[::5]:
        other = str((int(text[place]) + 5) % 10)
        assert_refused_or_same(file, text[:place] + other + text[place + 1 :])
    assert_refused(file, text.replace('"standardized"', '"original"'), "checksum")
    assert_refused(file, text.replace("sha256:", "sha256:0"), "checksum")


@settings(max_examples=150, **FUZZ)
@given(place=st.integers(0, len(INTACT) - 1), byte=st.integers(0, 255))
def test_any_byte_changed(file, place, byte):
    text = bytearray(INTACT.encode())
    text[place] = byte
    assert_refused_or_same(file, bytes(text))


# The envelope

ENVELOPES = {
    "checksum": ([None, 3, "", [], True], "checksum"),
    "version": ([0, 8, -1, "1", True, False, None, 1.5, [1], {}, 10**30], "version"),
    "format": (
        ["lincfa-groups", "", "LINCFA-MODEL", None, 1, ["lincfa-model"]],
        "not a saved lincfa",
    ),
    "model": ([None, 3, "text", [], True], "model is not an object|checksum"),
    "author": (["me"], "unexpected key 'author'"),
}


@pytest.mark.parametrize("key", ENVELOPES)
def test_envelopes(file, key):
    wrong, message = ENVELOPES[key]
    for value in wrong:
        assert_refused(file, enveloped(**{key: value}), message)
    document = json.loads(INTACT)
    if document.pop(key, None):
        assert_refused(file, json.dumps(document))


@pytest.mark.parametrize("model", [None, 3, "text", [], True])
def test_models_that_are_not_objects(file, model):
    assert_refused(file, sealed(model), "model is not an object")


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
        assert_refused(file, text, "version|nested too deeply")
        text = enveloped(model={"output": "HERE"}).replace('"HERE"', deep)
        assert_refused(file, text, "checksum|nested too deeply")


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("executed",)


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_a_pickle_is_not_opened(file, protocol):
    assert_refused(file, pickle.dumps(Bomb(), protocol), "not JSON")


@pytest.mark.parametrize("module", [_document, _load, _replacing, _journal])
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

WHOLE = {"label", "feature", "partner", "first", "second", "size", "sign"}  # columns of integers
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
        return [None, 3, True, "", "nan", {}, {"0": 1}, [], value[1:], [*value, value[0]], [value]]
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


WRONG_PARAMETERS = {
    "strategy": [None, True, 3, "", "Joint", "kmeans"],
    "tolerance": [None, True, 0, -1.0, "full", "1.0", "inf", 10**400],
    "n_groups": [True, 0, -1, 2.0, 2.5, "2"],
    "noise": [None, True, 0, -1.0, "unbiased", "nan", 10**400],
    "min_correlation": [True, 1.5, -1.01, "0.5", "nan"],
    "units": [None, True, 1, "kelvin"],
    "missing": [None, True, 1, "drop"],
}


@pytest.mark.parametrize("name", WRONG_PARAMETERS)
def test_parameters_that_lincfa_refuses(file, name):
    for wrong in WRONG_PARAMETERS[name]:
        assert_refused(file, sealed(put(content(), wrong, "parameters", name)), "cannot be load")
    for wrong in ([], {}, ["pair"], {"__reduce__": 1}):
        text = sealed(put(content(), wrong, "parameters", name))
        assert_refused(file, text, f"parameters.{name} is not text or a number")
    assert_refused(file, sealed(put(content("sequential"), 2, "parameters", "n_groups")), "n_gro")


def two_groups(model):
    """Features 1 and 5 together too, with evidence before that of the first group."""
    put(model, [0, 1, 0, 0, -1, 1, 0], "features", "label")
    for column in model["groups"].values():
        column.pop()
    for name, column in model["evidence"].items():
        column.insert(0, {"feature": 5, "partner": 1}.get(name, column[0]))


def each_column(branch, step):
    def act(model):
        for column in model[branch].values():
            step(column)

    return act


def turn_round(model):
    """The later group of a merge as its first."""
    columns = model["merge_path"]
    columns["first"][0], columns["second"][0] = columns["second"][0], columns["first"][0]


def repeat_last(column):
    column.append(column[-1])


NAN = ["nan", "inf", "-inf"]
NO_NUMBERS = [0, -1.0, *NAN, "text", None, True, [], [3.0], {}, 10**400]
NO_EVIDENCE, NO_GROUPS = "one row for each merged feature", "groups that do not exist"
NO_PAIR, NO_PAIRS = "features that do not exist", "connectivity is not pairs of features"
CHAIN = {"size": 12, "first": list(range(11)), "second": list(range(1, 12))}
EVERY_SECOND = {"size": 12, "first": list(range(10)), "second": list(range(2, 12))}

# Labels are 0 1 0 0 -1 2 0; features 3, 6 and 2 were merged with 2, 0 and 0.
WRONG = [
    ("features label", [[-1] * 7], "label has no groups"),
    ("features label", [[0, 1, 0, 0, -2, 2, 0]], "label contains -2, which is not the number of a"),
    ("features label", [[0, 1, 0, 0, -1, 3, 0], [1, 2, 1, 1, -1, 3, 1]], "number the groups"),
    ("features label", [[0, 1, 0, 0, -1, 2**62, 0], [0, 2, 0, 0, -1, 1, 0]], "number the groups"),
    ("features label", [[0, 1, 0, 0, -1, 1, 0]], "model.groups does not have 2 rows"),
    ("features label", [[0, 1, 1, 0, -1, 2, 0]], "partner in another group"),
    ("features label", [[0, 1, -1, 0, -1, 2, 0]], NO_EVIDENCE),
    ("features sign 2", [0, 2, 127], "sign contains .*, which is not 1 or -1"),
    ("features sign 2", [-1], "sign is not relative to the first feature"),
    ("features weight 2", [0.0, -1.0, *NAN], "weight contains .*, which is not a positive number"),
    ("features weight 2", [2.0], "does not match the feature_weights None"),
    ("parameters feature_weights", ["area"], "does not match the feature_weights 'area'"),
    ("parameters feature_weights", ["", "mass", 1, True, [], {}], "feature_weights is "),
    ("parameters signed", [None, 0, 1, "true", []], "signed is not true or false"),
    ("evidence sign 0", [0, 3], "which is not 1 or -1"),
    ("evidence sign 0", [-1], "signs that do not lead to model.features.sign"),
    ("merge_path sign 0", [0], "which is not 1 or -1"),
    ("merge_path sign 0", [-1], "leads to other signs"),
    ("features mean 3", NAN, "mean contains .*, which is not a finite number"),
    ("features scale 1", [0.0, -0.0, -2.5, *NAN], "scale contains .* not a standard deviation"),
    ("features target_correlation 3", [-1.1, *NAN], "which is not a correlation"),
    ("groups mean_correlation 0", [-1.1, "inf"], "which is not a correlation"),
    ("groups target_correlation 0", [1.1], "which is not a correlation"),
    ("evidence correlation 0", [-1.1, "nan"], "which is not a correlation"),
    ("evidence feature 0", [6, 0, 4, 7, -1], NO_EVIDENCE),
    ("evidence partner 0", [7, -1, 4, 3], "partner that is not before its feature"),
    ("evidence partner 0", [1], "partner in another group"),
    ("evidence f 0", [8.1], "an F above its tolerance"),
    ("evidence f 0", ["nan", -1.0], "f contains .*, which is not a number of at least 0"),
    ("evidence variance_drop_share 1", [-0.1], "share contains -0.1, which is not"),
    ("evidence bias_growth_share 1", ["inf", -0.1], "which is not a finite number of at least 0"),
    ("merge_path correlation 0", [-1.1, "nan"], "which is not a correlation"),
    ("merge_path second 0", [2, 4, 7], NO_GROUPS),
    ("merge_path second 1", [3], NO_GROUPS),
    ("merge_path first 1", [-7, 3], NO_GROUPS),
    ("merge_path size 0", [3], "merge_path has a wrong size"),
    ("merge_path size 4", [7], "merge_path has a wrong size"),
    ("merge_path height 2", ["nan", -1.0], "height contains .*, which is not"),
    ("merge_path height 2", [1e300], "height that decreases"),
    ("merge_path", [None], "merge_path does not match the strategy"),
    ("parameters strategy", ["centroid"], "merge_path does not match the strategy 'centroid'"),
    ("feature_names 5", ["t0"], "feature_names repeats a name"),
    ("feature_names", [list("abcdef")], "not a list of 7 names"),
    ("column_names", [list("abcdefg")], "the features have names twice"),
    ("column_names", [list("abcdef")], "not a list of 7 names"),
    ("column_names", ["abcdefg", list(range(7))], "not a list of names"),
    ("effective_samples", [50.0, 3.9], "model.effective_samples (does not match|.* at least 4)"),
    ("rows", [[], [2, 1], [1, 1], list(range(1001))], "model.rows are not fingerprints in order"),
    ("rows", [[-1], [2**53]], "which is not a fingerprint"),
    ("rows", [7, "7", [1.0], ["1"], [None], [2**70], {}], "model.rows is not a list of int64"),
    ("n_samples", [3.9, *NO_NUMBERS], "model.n_samples (is not a number|.* at least 4 samples)"),
    ("target_scale", NO_NUMBERS, "model.target_scale (is not a|contains .* not a positive) number"),
    ("output", ["numpy", "", 0, True, False, [], ["pandas"], {}], "model.output is"),
]
ACTIONS = [
    (each_column("groups", list.pop), "does not have 3 rows"),
    (each_column("groups", repeat_last), "does not have 3 rows"),
    (each_column("features", list.clear), "names|no groups"),
    (each_column("evidence", list.pop), NO_EVIDENCE),
    (each_column("evidence", list.clear), NO_EVIDENCE),
    (each_column("evidence", repeat_last), NO_EVIDENCE),
    (two_groups, "evidence is not sorted by group"),
    (each_column("merge_path", list.clear), "leads to other groups"),
    (each_column("merge_path", repeat_last), NO_GROUPS),
    (each_column("merge_path", list.reverse), "size|not exist|decreases"),
    (turn_round, NO_GROUPS),
    (lambda m: m["evidence"]["f"].pop(), "the columns of model.evidence differ in length"),
    (lambda m: m["features"]["mean"].pop(), "the columns of model.features differ in length"),
    (lambda m: m["parameters"].update(n_groups=2, tolerance=1.0), "n_groups differs from the"),
]
REGRESSIONS = [
    ("regression", [3, [], "text", True], "regression is not an object"),
    ("regression", [{}], "lacks 'coef'"),
    ("regression coef", [None, 3, "text"], "is not a list of float64 values"),
    ("regression coef", [[], [1.0]], "does not have . weights"),
    ("regression coef 0", ["nan", "inf", None, 1, "x", True], "is not a (list|finite number)"),
    ("regression intercept", [None, "nan", 1, [], True], "is not a (finite )?number"),
    ("regression penalty", [-1.0, "nan", 1, [], True], "is not a (finite )?number"),
    ("regression rescaled", [0, "true", None, []], "is not true or false"),
    ("regression coef", [KeyError], "lacks 'coef'"),
    ("regression more", [1.0], "unexpected key"),
]


@pytest.mark.parametrize(("where", "values", "message"), REGRESSIONS)
def test_damaged_regressions(file, where, values, message):
    model = LinCFACV(**QUICK).fit(X[:, :4], Y)
    for value in values:
        changed, keys = content_of(model), where.split()
        keys = [int(key) if key.isdigit() else key for key in keys]
        if value is KeyError:
            del at(changed, keys[:-1])[keys[-1]]
        else:
            at(changed, keys[:-1])[keys[-1]] = value
        assert_refused(file, sealed(changed), message)


STRUCTURES = [
    ("structure blocks", [[0, 1] * 6], "does not allow"),
    ("structure blocks", [[None] * 12], "not a list of labels"),
    ("structure blocks", [[1]], "one label per feature"),
    ("structure blocks", [KeyError], "structure lacks 'blocks'"),
    ("structure connectivity", [EVERY_SECOND], "does not allow"),
    ("structure connectivity", ["lattice"], "connectivity is 'lattice'"),
    ("structure connectivity", [3, [], {}, EVERY_SECOND | {"more": 1}], NO_PAIRS),
    ("structure connectivity second 0", [99, -1, 0], NO_PAIR),
    ("structure connectivity first", [[], CHAIN["first"] * 2], NO_PAIR),
    ("structure connectivity size", [12.5, "12", None], NO_PAIRS),
    ("structure connectivity size", [20], "there are 12 features"),
    ("structure connectivity size", [2**40], "has size 1099511627776"),
]


@functools.cache
def chained():
    """What the file of a model of neighbours holds."""
    X, y = many_factors(np.random.default_rng(4), 50, 12)
    model = content_of(LinCFA(tolerance=1e9, connectivity=chain_connectivity(12)).fit(X, y))
    assert model["structure"]["connectivity"] == CHAIN
    return model


@pytest.mark.parametrize(("place", "values", "message"), WRONG + STRUCTURES)
def test_contradictions(file, place, values, message):
    keys = [int(key) if key.isdigit() else key for key in place.split()]
    for value in values:
        model = copy.deepcopy(chained()) if keys[0] == "structure" else content()
        assert_refused(file, sealed(put(model, value, *keys)), message)


@pytest.mark.parametrize(("act", "message"), ACTIONS)
def test_contradictions_in_several_places(file, act, message):
    model = content()
    act(model)
    assert_refused(file, sealed(model), message)


# Anything at all


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
