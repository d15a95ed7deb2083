"""Which rows are the same samples in X, y and weights, and which samples belong together."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ._checks import is_pandas
from ._compute import computed
from ._dates import dates_of_index
from ._targets import are_missing


def check_same_rows(X: Any, values: Any, what: str) -> None:
    """Raise if a target, weights or groups of pandas have other row labels than a frame X.

    An index that only counts the rows is no label, unless the other one has these numbers in
    another order. Dates may be written in different ways.
    """
    if not is_pandas(X, "DataFrame", "Series") or not is_pandas(values, "DataFrame", "Series"):
        return
    ours, theirs = X.index, values.index
    if len(ours) != len(theirs) or ours.equals(theirs):
        return
    one, other = dates_of_index(ours), dates_of_index(theirs)
    if one is not None and other is not None and np.array_equal(one.values, other.values):
        return
    labels, others = _labels(ours), _labels(theirs)
    if labels == others:  # of different types
        return
    reordered = set(labels) == set(others) and len(set(labels)) == len(labels)
    if not reordered and (_only_counts(labels) or _only_counts(others)):
        return
    row = next(row for row in range(len(labels)) if labels[row] != others[row])
    here, there = (_shown(index[row]) for index in (ours, theirs))
    name = what.removeprefix("the target ")
    how, remedy = "other labels", f"select the same rows of X and {name} first"
    if reordered:
        how, remedy = "the same labels in another order", f"{name}.loc[X.index] has the order of X"
    raise ValueError(
        f"The rows of {what} have {how} than those of X: row {row} is {there} in {name} and {here} "
        f"in X. To align them, {remedy}; if they belong together as they are, pass "
        f"{name}.to_numpy()."
    )


def _labels(index: Any) -> list[Any]:
    """Return labels that can be compared: missing ones, of which there are many kinds, as None."""
    labels = list(index.tolist())
    if index.nlevels > 1:
        return labels
    return [None if lacks else label for label, lacks in zip(labels, index.isna(), strict=True)]


def _only_counts(labels: list[Any]) -> bool:
    return labels == [*range(len(labels))]


def _shown(label: Any) -> str:
    return repr(label) if isinstance(label, str) else str(label)


def group_labels(groups: Any, n_samples: int) -> npt.NDArray[Any]:
    """Return the label of the group that each sample belongs to; it may be a date."""
    labels = np.asarray(computed(groups, "groups"))
    if labels.shape != (n_samples,):
        what = f"{len(labels)}" if labels.ndim == 1 else f"an array of shape {labels.shape}"
        raise ValueError(f"groups must have one label for each of {n_samples} samples, got {what}.")
    missing = are_missing(labels)
    if missing.any():
        raise ValueError(
            f"groups lacks the label of {missing.sum()} of {n_samples} samples, first at row "
            f"{missing.argmax()}: drop such samples, or give them a group."
        )
    try:
        np.unique(labels)
    except TypeError:
        raise ValueError("groups must be labels of one type, text or whole numbers.") from None
    return labels
