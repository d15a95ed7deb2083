"""Files whose checksum is right and whose content is not that of any model."""

import contextlib
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lincfa._model._document import envelope
from tampering import FUZZ, X, assert_refused, at, content, loaded_or_refused, nodes, put

WHOLE = {"label", "feature", "partner", "first", "second", "size"}  # columns of integers
BRANCHES = ("parameters", "features", "groups", "evidence", "merge_path")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("tampered") / "groups (1).json"


@pytest.mark.parametrize("branch", [None, *BRANCHES])
def test_objects_with_too_little_or_too_much(file, branch):
    keys = () if branch is None else (branch,)
    for name in at(content(), keys):
        model = content()
        del at(model, keys)[name]
        assert_refused(file, envelope(model), f"lacks '{name}'")
    for name in ("__reduce__", "__class__", "py/object", "", "Label"):
        model = put(content(), ["os.system", ["false"]], *keys, name)
        assert_refused(file, envelope(model), f"{name!r}, which does not belong there")
    if branch is not None:
        for wrong in (3, "text", [], [[]], True) + ((None,) if branch != "merge_path" else ()):
            assert_refused(file, envelope(put(content(), wrong, branch)), "is not an object")


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
            assert_refused(file, envelope(put(content(), wrong, *keys)), "cannot be loaded")


@pytest.mark.parametrize("branch", BRANCHES[1:])
def test_columns_that_are_no_lists(file, branch):
    for name in content()[branch]:
        for wrong in (None, 3, "", "nan", {}, {"0": 1}):
            text = envelope(put(content(), wrong, branch, name))
            assert_refused(file, text, f"'{name}' is not a list")


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
        assert_refused(file, envelope(put(content(), wrong, "parameters", name)), "cannot be load")
    for wrong in ([], {}, ["pair"], {"__reduce__": 1}):
        text = envelope(put(content(), wrong, "parameters", name))
        assert_refused(file, text, f"'{name}' is neither text nor a number")
    assert_refused(file, envelope(put(content("sequential"), 2, "parameters", "n_groups")), "n_gro")


@pytest.mark.parametrize("name", ["n_samples", "target_scale"])
def test_figures_that_are_not_positive(file, name):
    for wrong in (0, -1.0, "nan", "inf", "-inf", "text", None, True, [], [3.0], {}, 10**400):
        assert_refused(file, envelope(put(content(), wrong, name)), f"'{name}'")


@pytest.mark.parametrize("output", ["numpy", "", 0, True, False, [], ["pandas"], {}])
def test_unknown_output(file, output):
    assert_refused(file, envelope(put(content(), output, "output")), "'output' is")


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
    "no group": (relabel(*7 * [-1]), "'label' is not that of groups"),
    "label below -1": (relabel(0, 1, 0, 0, -2, 2, 0), "'label' is not that of groups"),
    "label skipped": (relabel(0, 1, 0, 0, -1, 3, 0), "does not number the groups"),
    "no first label": (relabel(1, 2, 1, 1, -1, 3, 1), "does not number the groups"),
    "label far out": (relabel(0, 1, 0, 0, -1, 2**62, 0), "does not number the groups"),
    "labels out of order": (relabel(0, 2, 0, 0, -1, 1, 0), "does not number the groups"),
    "groups of other labels": (relabel(0, 1, 0, 0, -1, 1, 0), "'groups' is of the wrong length"),
    "member moved": (relabel(0, 1, 1, 0, -1, 2, 0), "'evidence' has a partner of another group"),
    "member dropped": (relabel(0, 1, -1, 0, -1, 2, 0), "'evidence' does not cover"),
    "group too few": (each_column("groups", list.pop), "'groups' is of the wrong length"),
    "group too many": (each_column("groups", lambda c: c.append(c[0])), "'groups' is of the wrong"),
    "no features": (each_column("features", list.clear), "'label' is not that of groups"),
    "scale of zero": (change(0.0, "features", "scale", 1), "'scale' has an entry that is"),
    "scale of minus zero": (
        change(-0.0, "features", "scale", 4),
        "'scale' has an entry that is",
    ),
    "negative scale": (change(-2.5, "features", "scale", 6), "'scale' has an entry that is"),
    **{
        f"{value} as {name}": (change(value, "features", name, 3), f"'{name}' is not finite")
        for name in ("mean", "scale", "target_correlation")
        for value in ("nan", "inf", "-inf")
    },
    "evidence twice": (change(6, "evidence", "feature", 0), "'evidence' does not cover"),
    "evidence of a first": (change(0, "evidence", "feature", 0), "'evidence' does not cover"),
    "evidence of a constant": (change(4, "evidence", "feature", 0), "'evidence' does not cover"),
    "evidence of none": (change(7, "evidence", "feature", 0), "'evidence' does not cover"),
    "evidence from behind": (change(-1, "evidence", "feature", 1), "'evidence' does not cover"),
    "evidence missing": (each_column("evidence", list.pop), "'evidence' does not cover"),
    "no evidence": (each_column("evidence", list.clear), "'evidence' does not cover"),
    "evidence repeated": (each_column("evidence", lambda c: c.append(c[0])), "does not cover"),
    "partner outside": (change(7, "evidence", "partner", 0), "partner that is no feature"),
    "partner from behind": (change(-1, "evidence", "partner", 0), "partner that is no feature"),
    "partner elsewhere": (change(1, "evidence", "partner", 0), "partner of another group"),
    "partner behind": (change(4, "evidence", "partner", 0), "no feature before its own"),
    "partner of itself": (change(3, "evidence", "partner", 0), "no feature before its own"),
    "evidence out of order": (two_groups, "'evidence' is not sorted by group"),
    "F above its tolerance": (change(8.1, "evidence", "f", 0), "an F above its tolerance"),
    "F unknown": (change("nan", "evidence", "f", 0), "an F above its tolerance"),
    "negative drop": (change(-0.1, "evidence", "variance_drop_share", 1), "negative 'variance_dr"),
    "infinite growth": (change("inf", "evidence", "bias_growth_share", 1), "is not finite"),
    **{
        f"correlation of {branch}": (change(-1.1, branch, name, 0), "an entry that is no correl")
        for branch, name in [
            ("features", "target_correlation"),
            ("groups", "mean_correlation"),
            ("groups", "target_correlation"),
            ("evidence", "correlation"),
            ("merge_path", "correlation"),
        ]
    },
    "groups without a path": (each_column("merge_path", list.clear), "leads to other groups"),
    "another number asked for": (ask_for_two_groups, "'n_groups' is not the number of groups"),
    "too few samples": (change(0.5, "n_samples"), "'n_samples' is too small"),
    "named twice": (change(list("abcdefg"), "column_names"), "the features have names twice"),
    "merge of itself": (change(2, "merge_path", "second", 0), "groups that are none"),
    "merge the wrong way round": (turn_round, "groups that are none"),
    "merge of a constant": (change(4, "merge_path", "second", 0), "groups that are none"),
    "merge outside": (change(7, "merge_path", "second", 0), "groups that are none"),
    "merge from behind": (change(-7, "merge_path", "first", 1), "groups that are none"),
    "merge made before": (change(3, "merge_path", "second", 1), "groups that are none"),
    "merge into one made": (change(3, "merge_path", "first", 1), "groups that are none"),
    "one merge too many": (each_column("merge_path", lambda c: c.append(c[-1])), "that are none"),
    "merges in another order": (each_column("merge_path", list.reverse), "size|none|rise"),
    "wrong size": (change(3, "merge_path", "size", 0), "'merge_path' has a wrong size"),
    "wrong last size": (change(7, "merge_path", "size", 4), "'merge_path' has a wrong size"),
    "path that falls": (lambda m: swap(m["merge_path"]["height"], 2, 3), "does not rise"),
    "height unknown": (change("nan", "merge_path", "height", 2), "does not rise"),
    "no path": (change(None, "merge_path"), "'merge_path' is not an object"),
    "path of another strategy": (change("centroid", "parameters", "strategy"), "not belong to"),
    "name repeated": (change("t0", "feature_names", 5), "'feature_names' repeats a name"),
    "names too few": (change(list("abcdef"), "feature_names"), "not a list of 7 names"),
    "column names too few": (change(list("abcdef"), "column_names"), "not a list of 7 names"),
    "column names as one": (change("abcdefg", "column_names"), "not a list of 7 names"),
    "numbers as column names": (change(list(range(7)), "column_names"), "not a list of 7 names"),
}


@pytest.mark.parametrize("kind", CONTRADICTIONS)
def test_contradictions(file, kind):
    model = content()
    act, message = CONTRADICTIONS[kind]
    act(model)
    assert_refused(file, envelope(model), message)


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
    text = envelope(put(model, data.draw(VALUES), *keys))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        loaded = loaded_or_refused(file, text)
        if loaded is not None:
            with contextlib.suppress(ValueError):
                use(loaded)
