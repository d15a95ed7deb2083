"""Names of features and of reduced features."""

from itertools import chain

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lincfa import LinCFA
from lincfa._data._names import reduced_names, short_group_name, shown
from lincfa.report._spectra import read_wavelengths
from reference import assert_raises, draw

TRICKY = ["", ",", "a", "b", "mean(a, b)", "a #2", "mean(a, b) #2", "é", " a", "a, b", "\n", "x0"]
CALM = settings(max_examples=200, deadline=None, derandomize=True)


def split(labels):
    return [np.flatnonzero(labels == k) for k in np.unique(labels)]


@st.composite
def named_groups(draw, names):
    names = draw(st.lists(names, min_size=1, max_size=40))
    labels = draw(st.lists(st.integers(0, 6), min_size=len(names), max_size=len(names)))
    return names, split(np.array(labels))


@CALM
@given(case=named_groups(st.one_of(st.sampled_from(TRICKY), st.text(max_size=60))))
@example(case=(["a", "b", "mean(a, b)", "mean(a, b) #2"], split(np.array([0, 0, 1, 2]))))
def test_reduced_names_are_unique(case):
    names, groups = case
    result = reduced_names(names, groups).tolist()
    assert len(set(result)) == len(groups)
    for name, group in zip(result, groups, strict=True):
        if len(group) == 1 and names.count(names[group[0]]) == 1:
            assert name == names[group[0]]
        if len(group) > 1:
            assert name.startswith("mean(")
            assert name.isprintable()


@CALM
@given(case=named_groups(st.text(max_size=8)), seed=st.integers(0, 100))
def test_a_name_does_not_depend_on_the_order_of_other_groups(case, seed):
    """Where nothing collides: then each group's name is a matter of the group."""
    names, groups = case
    result = reduced_names(names, groups)
    if not any(" #" in name for name in result):
        order = np.random.default_rng(seed).permutation(len(groups))
        shuffled = reduced_names(names, [groups[k] for k in order])
        np.testing.assert_array_equal(shuffled, result[order])


def test_names_stay_short():
    """Whatever the features are called, and however many they are."""
    names = [f"{'very ' * 1000}long name {i}" for i in range(5000)]
    groups = [np.arange(2), np.arange(2, 5), np.arange(5, 5000)]
    result = reduced_names(names, groups)
    assert max(map(len, result)) < 150
    assert result[2].endswith(", … 4995 features)")
    assert "long name 1" in result[0]
    equal = reduced_names(["a, b", "c"] * 10_000, list(np.arange(20_000).reshape(-1, 2)))
    assert len(set(equal)) == 10_000  # that collide take one number each
    assert equal[-1] == "mean('a, b', c) #10000"


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (["a", "b"], "mean(a, b)"),
        (["a", "b", "c"], "mean(a, b, c)"),
        (["a", "b", "c", "d"], "mean(a, b, … 4 features)"),
        (["", "b"], "mean('', b)"),
        (["a, b", "c"], "mean('a, b', c)"),
        ([" a", "b\n"], r"mean(' a', 'b\n')"),
        (["T(2 m)", "Größe"], "mean(T(2 m), Größe)"),
    ],
)
def test_the_name_of_a_group(members, expected):
    groups = [np.arange(len(members)), np.array([len(members)])]
    assert reduced_names([*members, "z"], groups).tolist() == [expected, "z"]
    # It does not take the name of a feature.
    assert reduced_names([*members, expected], groups).tolist() == [f"{expected} #2", expected]


# In a model


def test_groups_by_name_holds_every_feature_once():
    X, y = draw(0)
    X[:, 4] = 1.0
    with pytest.warns(UserWarning, match="constant"):
        model = LinCFA().fit(pd.DataFrame(X, columns=list("abcdefghijklmno")), y)
    members = model.groups_by_name()
    assert list(members) == model.get_feature_names_out().tolist()
    assert sorted(chain(*members.values())) == sorted("abcdfghijklmno")
    for names, group in zip(members.values(), model.groups_, strict=True):
        assert names == ["abcdefghijklmno"[i] for i in group]


WAVELENGTHS = [1550.0 + 0.5 * i for i in range(15)]


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (WAVELENGTHS, [str(w) for w in WAVELENGTHS]),
        (range(15), [f"x{i}" for i in range(15)]),
        (range(100, 115), [str(i) for i in range(100, 115)]),
        (pd.date_range("2020-01-01", periods=15), None),
        (pd.MultiIndex.from_product([["t", "p", "q"], range(5)]), None),
    ],
)
def test_columns_that_are_not_named_by_strings(columns, shown):
    """A wavelength names a column as well as a word does; a mere count does not."""
    X, y = draw(0)
    frame = pd.DataFrame(X, columns=columns)
    model = LinCFA().fit(frame, y)
    shown = [str(name) for name in frame.columns] if shown is None else shown
    members = model.groups_by_name()
    assert sorted(chain(*members.values())) == sorted(shown)
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_allclose(model.transform(frame), model.transform(X), rtol=0, atol=1e-13)


def test_columns_in_another_order_are_refused_also_where_names_are_no_strings():
    X, y = draw(0)
    frame = pd.DataFrame(X, columns=WAVELENGTHS)
    model = LinCFA().fit(frame, y)
    swapped = frame[[*WAVELENGTHS[:3], WAVELENGTHS[4], WAVELENGTHS[3], *WAVELENGTHS[5:]]]
    assert_raises(r"column 3 is 1552.0 and was 1551.5", model.transform, swapped)
    streamed = LinCFA().partial_fit(frame[:30], y[:30])
    assert_raises(r"column 3 is 1552.0 and was 1551.5", streamed.partial_fit, swapped[30:], y[30:])
    streamed.partial_fit(frame[30:], y[30:])
    np.testing.assert_array_equal(streamed.labels_, model.labels_)
    assert model.fit(X, y).groups_by_name() == LinCFA().fit(X, y).groups_by_name()


def strings(frame):
    return pl.DataFrame({str(name): frame[name].to_numpy() for name in frame.columns})


def assert_close(one, other):
    """But for the order of sums, which follows the memory of the container."""
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)


def test_numbers_and_their_text_name_the_same_columns():
    """A table read back from a file has text for names; no warning, and no mix-up."""
    X, y = draw(0)
    frame = pd.DataFrame(X, columns=WAVELENGTHS)
    model, text = LinCFA().fit(frame, y), strings(frame)
    assert_close(model.transform(text), model.transform(frame))
    whole = pd.DataFrame(X, columns=range(900, 915))
    assert_close(LinCFA().fit(whole, y).transform(whole.rename(columns=float)), model.transform(X))
    sorted_as_text = text[sorted(text.columns, key=lambda name: name[::-1])]
    assert sorted_as_text.columns != text.columns
    assert_raises(r"column 1 is 1551.0 and was 1550.5", model.transform, sorted_as_text)
    named = LinCFA().fit(text, y)
    assert_close(named.transform(frame), model.transform(frame))
    assert_raises(r"column 0 is 1557.0 and was 1550.0", named.transform, frame[WAVELENGTHS[::-1]])
    # Arrays, and frames whose columns are merely counted, have no names to compare.
    model = LinCFA().fit(pd.DataFrame(X, columns=WAVELENGTHS), y)
    expected = model.transform(X)
    assert_close(model.transform(pd.DataFrame(X)), expected)


def test_names_in_tables():
    assert shown("a") == "a"
    assert shown("") == "''"
    assert shown("temperature", limit=8) == "tempera…"


def test_names_of_groups():
    groups = [np.array([0]), np.array([1, 2]), np.array([3, 4, 5, 6])]
    names = reduced_names(list("abcdefg"), groups).tolist()
    assert names == ["a", "mean(b, c)", "mean(d, e, … 4 features)"]


def test_a_minus_sign_before_members_that_are_flipped():
    groups = [np.array([0, 1]), np.array([2, 3, 4, 5]), np.array([6])]
    names = ["a", "b", "c", "d, e", "f", "g", "\u2212b"]
    signs = np.array([1, -1, 1, -1, -1, 1, 1])
    expected = ["mean(a, \u2212b)", "mean(c, \u2212'd, e', … 4 features)", "\u2212b"]
    assert reduced_names(names, groups, signs).tolist() == expected
    same = [np.array([0, 1]), np.array([2, 3])]
    found = reduced_names(["a", "b", "a", "\u2212b"], same, np.array([1, -1, 1, 1])).tolist()
    assert found == ["mean(a, \u2212b)", "mean(a, \u2212b) #2"]


FORMS = {
    "{}": ("", ""),
    "{} nm": ("wavelength", "nm"),
    "{}nm": ("wavelength", "nm"),
    "{}.5": ("", ""),
    "X{}": ("", ""),
    "w{}": ("", ""),
    "R.{}": ("", ""),
    "nm_{}": ("wavelength", "nm"),
    "nm{}": ("wavelength", "nm"),
    "wl_{}": ("wavelength", ""),
    "{} cm-1": ("wavenumber", "cm⁻¹"),
    "{} cm^-1": ("wavenumber", "cm⁻¹"),
    "X{}.cm.1": ("wavenumber", "cm⁻¹"),
    "{} 1/cm": ("wavenumber", "cm⁻¹"),
    "wavenumber {}": ("wavenumber", ""),
    "{} µm": ("wavelength", "µm"),
    "absorbance at {} nm": ("wavelength", "nm"),
    "refl_{}": ("", ""),
    "{} GHz": ("frequency", "GHz"),
}


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("form", FORMS)
def test_wavelengths_in_names(form, turn):
    """Evenly spaced or not, over a change in the number of digits, ascending or descending."""
    numbers = np.r_[np.arange(980, 1000, 2), np.arange(1000, 1100, 7)][::turn]
    found = read_wavelengths([form.format(number) for number in numbers])
    np.testing.assert_array_equal(found.values, numbers + 0.5 * form.endswith(".5"))
    assert (found.quantity, found.unit) == FORMS[form]


@pytest.mark.parametrize(
    "names",
    [
        [f"x{k}" for k in range(50)],
        [f"V{k}" for k in range(1, 51)],
        [f"nm{k}" for k in range(50)],
        [str(k) for k in range(50)],
        ["x3", "x5", "x9"],  # columns that were kept
        [f"feature_{k}" for k in range(12, 60)],
        [f"gene{k}" for k in range(900, 1000)],
        ["900", "800", "900"],
        ["900 nm", "910"],
        ["900 nm", "910 cm-1"],
        ["nan", "1"],
        ["1e900", "1e901"],
        ["", ""],
        ["a", "b"],
        ["900"],
        [],
    ],
)
def test_names_that_are_no_wavelengths(names):
    assert read_wavelengths(names) is None


def test_short_names_of_groups():
    names, signs = list("abcde"), np.array([1, -1, 1, 1, 1])
    for group, expected in (([0], "a"), ([0, 1], "a, −b"), ([0, 1, 2, 4], "a, −b + 2 more")):
        assert short_group_name(names, np.array(group), signs) == expected
