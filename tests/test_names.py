"""Names of reduced features."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lincfa._names import describe_columns, reduced_names


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    names=st.lists(st.sampled_from(["", ",", "a", "b", "mean(a, b)", "a #2", "é"]), min_size=1),
    data=st.data(),
)
def test_reduced_names_are_unique(names, data):
    labels = np.array([data.draw(st.integers(0, 3)) for _ in names])
    groups = [np.flatnonzero(labels == k) for k in np.unique(labels)]
    result = reduced_names(names, groups)
    assert len(set(result)) == len(groups)


def test_a_group_does_not_take_the_name_of_a_feature():
    groups = [np.array([0, 1]), np.array([2])]
    assert reduced_names(["a", "b", "mean(a, b)"], groups).tolist() == [
        "mean(a, b) #2",
        "mean(a, b)",
    ]


def test_describe_columns():
    assert describe_columns(None, [3]) == "column 3"
    assert describe_columns(["a", "b"], [0, 1]) == "columns 'a', 'b'"
    assert describe_columns(None, list(range(12)), limit=2) == "columns 0, 1 and 10 more"
