"""Whether samples were among those of a fit, of which a model keeps fingerprints but no data."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..theory._arrays import FloatArray

ROWS_KEPT = 1000
_FEATURES = 64
_DISTINCT = 0.99
"""Share of rows that must be distinct: of others, as of few counts, new rows may be the same."""
_TOLERATED = 0.1  # share of rows that may be those of the fit; a few are so by chance
BITS, _BITS_OF_FEATURES = 53, 27  # all together as many as every reader of JSON keeps
SAME_MEAN = 1e-6  # relative to a feature's scale: how much the mean of the same data may differ

Fingerprints = npt.NDArray[np.int64]


def fingerprints(
    values: npt.NDArray[Any],
    y: npt.NDArray[Any],
    labels: npt.NDArray[np.intp],
    largest: int | None = None,
) -> Fingerprints:
    """Return a number for each row: first bits of its targets, then of some features that vary.

    ``largest`` leaves out larger ones, and with the first bits all work on the features of most
    rows. Without it, it is such that at least a thousand stay.
    """
    first = _hashed(y.reshape(len(y), -1)) >> np.uint64(64 - BITS + _BITS_OF_FEATURES)
    if largest is None:
        place = min(ROWS_KEPT, len(first)) - 1
        limit = np.partition(first, place)[place]
    else:
        limit = np.uint64(largest >> _BITS_OF_FEATURES)
    rows, varying = np.flatnonzero(first <= limit), np.flatnonzero(labels >= 0)
    some = varying[np.linspace(0, varying.size - 1, min(_FEATURES, varying.size)).astype(np.intp)]
    rest = _hashed(values[np.ix_(rows, some)]) >> np.uint64(64 - _BITS_OF_FEATURES)
    return (first[rows] << np.uint64(_BITS_OF_FEATURES) | rest).astype(np.int64)


def _hashed(table: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Mix the numbers of each row, in single precision: digits differ between file formats."""
    hashed = np.zeros(len(table), dtype=np.uint64)
    for column in table.T:
        with np.errstate(over="ignore"):
            numbers = column.astype(np.float32).astype(np.float64) + 0.0  # no −0.0
        numbers[np.isnan(numbers)] = np.nan  # of one kind
        hashed += numbers.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)  # as SplitMix64 does
        hashed = (hashed ^ hashed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        hashed = (hashed ^ hashed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        hashed ^= hashed >> np.uint64(31)
    return hashed


def kept_fingerprints(
    values: npt.NDArray[Any], y: npt.NDArray[Any], labels: npt.NDArray[np.intp]
) -> Fingerprints | None:
    """Return the smallest fingerprints of a fit, in order; None if many rows are the same."""
    # The smallest are a random sample, and of new rows the same part can be compared.
    found = fingerprints(values, y, labels)
    distinct = np.unique(found)
    return distinct[:ROWS_KEPT].copy() if distinct.size >= _DISTINCT * found.size else None


def rows_of_fit(model: Any, values: npt.NDArray[Any], y: npt.NDArray[Any]) -> int:
    """Count rows that were in the fit, as far as can be told.

    Of a fit to more than a thousand rows it is estimated from a sample of them. Of a fit in chunks
    only the numbers of samples and the means of the features are compared.

    Parameters
    ----------
    model : LinCFA, LinCFACV or LinCFAClassifierCV
        Fitted.
    values : array of shape (n_samples, n_features_in_)
        Features in the order of the fit.
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Their targets as numbers.
    """
    reducer = getattr(model, "reducer_", model)
    known: Fingerprints | None = getattr(reducer, "_rows", None)
    if known is None:
        same = len(y) == reducer.n_samples_ and not other_means(reducer, values).any()
        return len(y) if same else 0
    # Of a fit to many rows there may be more, beyond the last.
    last = int(known[-1]) if known.size == ROWS_KEPT else 2**BITS - 1
    found = fingerprints(values, y, reducer.labels_, last)
    found = found[found <= last]
    return round(len(y) * float(np.isin(found, known).mean())) if found.size else 0


def check_held_out(
    model: Any, values: npt.NDArray[Any], y: npt.NDArray[Any], consequence: str
) -> None:
    """Raise if new rows were in the fit, as far as can be told, and say what follows from it."""
    known = rows_of_fit(model, values, y)
    if known > _TOLERATED * len(y):
        which = "The" if known == len(y) else f"About {known} of the"
        raise ValueError(
            f"{which} {len(y)} rows were used in the fit. {consequence}: pass rows that were held "
            "out."
        )


def other_means(
    reducer: Any, X: npt.NDArray[Any], weights: FloatArray | None = None
) -> npt.NDArray[np.bool_]:
    """Return which features have not the means of the fit."""
    if reducer.missing == "pairwise":
        present = ~np.isnan(X)
        counts = present.sum(axis=0) if weights is None else weights @ present
        mean = np.nansum(X if weights is None else weights[:, None] * X, axis=0, dtype=np.float64)
        mean = mean / np.maximum(counts, np.finfo(np.float64).tiny)  # 0 of a column without values
    elif weights is None:
        mean = X.mean(axis=0, dtype=np.float64)
    else:
        mean = weights @ X / weights.sum()
    allowed = SAME_MEAN * (reducer.scale_ + np.abs(reducer.mean_))
    return np.asarray(np.abs(mean - reducer.mean_) > allowed)
