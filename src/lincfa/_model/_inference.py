"""Weights of groups on samples that the fit has not seen, with standard errors.

There the means of the groups are ordinary regressors. The weights of least squares are sums over
samples, ``b = β + Σ aᵢ`` with ``aᵢ = (Z'Z)⁻¹ zᵢ eᵢ``, and their variances those of such a sum:

- of independent samples ``Σ aᵢ²``, where ``eᵢ`` is the residual in a fit without the sample (HC3;
  MacKinnon and White 1985, https://doi.org/10.1016/0304-4076(85)90158-7);
- of dependent ones T times the mean square of the ν slowest cosines of the sums by date (the
  equal-weighted cosine estimator; Lazarus, Lewis, Stock and Watson 2018,
  https://doi.org/10.1080/07350015.2018.1506926), with residuals in a fit without the date.
"""

from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import fft, stats

from .._data._frames import frame_of
from .._data._names import shown
from ..theory._arrays import FloatArray, divide
from ._display import Table, count, digits
from ._parameters import is_positive
from ._rows import check_held_out

if TYPE_CHECKING:
    from ._observations import Observations

_ROWS_PER_WEIGHT = 2
"""Rows for each weight and the intercept. With fewer HC3 has no theory, and intervals are wide."""
ENOUGH = (
    "Hold out more, or fit fewer groups, with a larger tolerance or, for LinCFACV, with "
    "rule='one_standard_error'."
)
_ROUNDING = 1e-9
_TOO_NARROW = (
    "Groups suit the errors of the rows they come from, so that intervals would be too narrow"
)
_FEWEST_COSINES = 2
_PLURALS = {"sample": "samples", "date": "dates", "group of samples": "groups of samples"}
_WIDTH = 88
_FIGURES = ("estimate", "standard_error", "low", "high", "p_value", "adjusted_p_value")


@dataclass(frozen=True, eq=False)
class Inference:
    """Weights of groups with their uncertainty, from samples that the fit has not seen.

    Arrays have the shape (n_groups,), or (n_targets, n_groups) of several targets. Weights are
    changes of the target per unit of the reduced feature, those of the others being equal. They are
    NaN for a group that these samples cannot tell apart from others, or in which it is constant.

    Attributes
    ----------
    names, targets : tuple of str
        Names of the reduced features and of the targets.
    estimate, standard_error : array
        Weights of least squares and their standard errors.
    low, high : array
        Ends of the interval of each weight.
    p_value : array
        For the hypothesis that the weight is 0.
    adjusted_p_value : array
        Adjusted for the number of weights by Holm's method: the chance that any of the weights that
        are 0 has one below 0.05 is at most 0.05.
    scale : array of shape (n_groups,)
        Standard deviation of each reduced feature in the training data.
    n_samples : int
    level : float
        How often such intervals cover the weight.
    how : str
        How the standard errors were made.

    Examples
    --------
    >>> from lincfa import LinCFA
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=400, n_features=20, random_state=0)
    >>> model = LinCFA(tolerance=10).fit(X[:200], y[:200])
    >>> found = model.inference(X[200:], y[200:])
    >>> found.estimate.round(1).tolist()
    [8.5, 3.2]
    >>> found.adjusted_p_value.round(3).tolist()
    [0.0, 0.023]
    """

    names: tuple[str, ...]
    targets: tuple[str, ...]
    estimate: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    adjusted_p_value: FloatArray
    scale: FloatArray
    n_samples: int
    level: float
    how: str

    def per_standard_deviation(self) -> "Inference":
        """Return the same per standard deviation of each reduced feature, whose scale is then 1."""
        scaled = {name: getattr(self, name) * self.scale for name in _FIGURES[:4]}
        return replace(self, **scaled, scale=np.ones_like(self.scale))

    def frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """Return a data frame, one row for each reduced feature.

        Of several targets there is a column for each, such as ``estimate[y0]``.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
        """
        columns: dict[str, Any] = {"name": list(self.names)}
        for name in _FIGURES:
            values = getattr(self, name)
            if values.ndim == 1:
                columns[name] = values
            else:
                each = zip(self.targets, values, strict=True)
                columns |= {f"{name}[{target}]": row for target, row in each}
        return frame_of({**columns, "scale": self.scale}, library)

    def table(self, limit: int = 20) -> Table:
        """Return the weights as a table, those with the smallest p-values first."""
        scaled = self.per_standard_deviation()
        estimate, low, high, p, adjusted = (
            np.atleast_2d(getattr(scaled, name))
            for name in ("estimate", "low", "high", "p_value", "adjusted_p_value")
        )
        size = np.abs(divide(estimate, np.atleast_2d(scaled.standard_error), zero_by_zero=0.0))
        order = np.argsort(-np.nan_to_num(size, nan=-1.0), axis=None, kind="stable")
        several = len(self.targets) > 1
        rows = []
        for index in zip(*np.unravel_index(order[:limit], p.shape), strict=True):
            cells = [shown(self.names[index[1]])] + [shown(self.targets[index[0]], 20)] * several
            if np.isnan(estimate[index]):
                rows.append([*cells, "unknown", "", "", "", ""])
                continue
            figures = [digits(float(each[index])) for each in (estimate, low, high)]
            rows.append([*cells, *figures, *(_probability(each[index]) for each in (p, adjusted))])
        more = estimate.size - limit
        notes = [f"… and {count(more, 'more weight')}, none of them clearer"] if more > 0 else []
        notes += ["weight: change of the target per standard deviation of the mean"]
        notes += wrap(self.how, _WIDTH)
        clear = int((adjusted < 1 - self.level).sum())
        sure = f"{clear} of {count(int((~np.isnan(p)).sum()), 'weight')} clearly not 0"
        caption = f"{count(self.n_samples, 'new sample')}: {sure}"
        ends = (f"{100 * self.level:g} % from", "to", "p", "adjusted p")
        titles = ("reduced feature", *["target"] * several, "weight", *ends)
        return Table(caption, titles, rows, "\n".join(notes))

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().html()


def _probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def infer_weights(model: Any, samples: "Observations", level: float, ordered: bool) -> Inference:
    """Estimate the weights of a model's groups from new samples, ``ordered`` if in time order."""
    if not (is_positive(level) and level < 1):
        raise ValueError(f"level must be between 0 and 1, for instance 0.95, got {level!r}.")
    if samples.targets.classes is not None:
        raise ValueError(
            "inference is for numeric targets; this model was fitted to classes, whose weights "
            "are of log odds."
        )
    y = samples.numbers
    check_held_out(model, samples.X, y, _TOO_NARROW)
    unit = np.abs(y - y.mean(axis=0)).max(axis=0)  # squares of extreme numbers are 0 or infinite
    together, noun = np.arange(len(y)), "sample"
    if samples.groups is not None:
        together, noun, ordered = samples.groups, "group of samples", False
    elif ordered and samples.dates is not None:
        together, noun = samples.dates.ranks, "date"
    sums = int(together[-1]) + 1
    _check_enough(model.n_groups_, sums, noun)
    fit = LeastSquares.of(samples.reduced(model), y / unit, samples.precision)
    error, freedom = fit.errors(together, ordered)
    estimate, error = (
        np.where(np.isnan(error), np.nan, fit.coef) * unit[:, None],
        error * unit[:, None],
    )
    half = stats.t.ppf((1 + level) / 2, freedom) * error
    p = 2 * stats.t.sf(np.abs(divide(estimate, error, zero_by_zero=0.0)), freedom)
    one = samples.targets.size == 1
    arrays = (estimate, error, estimate - half, estimate + half, p, holm(p))
    return Inference(
        names=tuple(model.get_feature_names_out().tolist()),
        targets=tuple(model._targets.titles),
        **{name: each[0] if one else each for name, each in zip(_FIGURES, arrays, strict=True)},
        scale=model._scale_of_means(),
        n_samples=len(y),
        level=float(level),
        how=_how(sums, noun, freedom if ordered else 0, np.isnan(error[0])),
    )


def _check_enough(n_groups: int, n_sums: int, noun: str) -> None:
    needed = _ROWS_PER_WEIGHT * (n_groups + 1)
    if n_sums >= needed:
        return
    raise ValueError(
        f"{n_sums} {_PLURALS[noun]} are too few for the weights of {n_groups} groups, which need "
        f"{needed}. {ENOUGH}"
    )


def _how(sums: int, noun: str, cosines: int, lost: npt.NDArray[np.bool_]) -> str:
    words = "Least squares on the means of the groups. Errors may differ in variance"
    several = _PLURALS[noun]
    if cosines:
        words += f", and depend on those of nearby {several}"
        words += f" ({cosines} cosines over {sums} {several})."
    elif noun == "sample":
        words += " (HC3), and are independent."
    else:
        words += f", and depend on each other within {sums} {several}."
    if lost.any():
        groups = count(int(lost.sum()), "group")
        words += f" {groups} without a weight: at most one {noun} tells such a group from others."
    return f"{words} p-values are adjusted by Holm's method."


@dataclass(frozen=True)
class LeastSquares:
    """Least squares with an intercept, for several targets.

    With the centred features ``U diag(s) V'`` and y the weights are ``(U W)' y``, ``W = V / s``.
    """

    coef: FloatArray  # (K, d)
    basis: FloatArray  # (n, r): U, after a constant for the intercept
    weights: FloatArray  # (r, d): W, after zeros
    residuals: FloatArray  # (n, K)
    known: npt.NDArray[np.bool_]  # (d,): which weights the samples determine

    @classmethod
    def of(cls, Z: npt.NDArray[Any], y: FloatArray, precision: float) -> "LeastSquares":
        """Fit features with a relative ``precision``."""
        n, d = Z.shape
        low, high = Z.min(axis=0).astype(np.float64), Z.max(axis=0).astype(np.float64)
        varies = high - low > d * precision * np.maximum(np.abs(low), np.abs(high))
        scale = np.where(varies, high - low, 1.0)
        Z = np.where(varies, (Z - low) / scale, 0.0)
        U, s, Vt = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
        rank = int((s > s.max(initial=0.0) * d * precision).sum())
        Vt = Vt[:rank]
        basis = np.column_stack([np.full(n, n**-0.5), U[:, :rank]])
        weights = np.vstack([np.zeros(d), Vt / s[:rank, None] / scale])
        y = y - y.mean(axis=0)
        loadings = basis.T @ y
        # A weight is determined if its unit vector is in the space of the samples.
        known = np.square(Vt).sum(axis=0) > 1 - _ROUNDING
        return cls(loadings.T @ weights, basis, weights, y - basis @ loadings, known)

    def without_each(self, starts: npt.NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """Return the residuals of each date in a fit without it, and weights that rest on one date.

        ``starts`` are the first samples of the dates; the latter is the share of each weight, of
        shape (d,), in directions that no other date has: its error is unknown.
        """
        residuals, alone = self.residuals.copy(), np.zeros_like(self.weights[0])
        sizes = np.diff(starts, append=len(residuals))
        for size in np.unique(sizes):
            rows = starts[sizes == size][:, None] + np.arange(size)
            if size == 1:  # of which there may be many
                own = np.linalg.norm(self.basis[rows], axis=2)
                Q, V = np.ones((len(rows), 1, 1)), self.basis[rows] / own[:, :, None]
            else:
                Q, own, V = np.linalg.svd(self.basis[rows], full_matrices=False)
            left = 1 - own**2  # of each direction of these samples, to the others
            lost = left < _ROUNDING
            alone += np.square(V[lost] @ self.weights).sum(axis=0)
            factor = np.where(lost, 0.0, 1 / np.where(lost, 1.0, left)) - 1
            along = Q.transpose(0, 2, 1) @ residuals[rows]
            residuals[rows] += Q @ (factor[:, :, None] * along)
        total = np.square(self.weights).sum(axis=0)
        return residuals, np.divide(alone, total, out=alone, where=total > 0)

    def errors(self, together: npt.NDArray[np.intp], ordered: bool) -> tuple[FloatArray, int]:
        """Return standard errors of shape (K, d), NaN if unknown, and their degrees of freedom.

        Samples that belong ``together``, numbered 0, 0, 1, …, depend on each other; those of
        different numbers only if these are in time order.
        """
        starts = np.flatnonzero(np.diff(together, prepend=-1))
        residuals, alone = self.without_each(starts)
        solution, total = self.basis @ self.weights, starts.size
        if ordered:
            freedom = max(_FEWEST_COSINES, int(0.4 * total ** (2 / 3)))
        else:  # of groups of samples there are as many as differ
            freedom = total - (len(self.weights) if total == len(residuals) else 1)
        variance = np.empty_like(self.coef)
        for k, each in enumerate(residuals.T):
            sums = np.add.reduceat(solution * each[:, None], starts, axis=0)
            if ordered:
                waves = fft.dct(sums, axis=0, norm="ortho")[1 : freedom + 1]
                variance[k] = total * np.square(waves).mean(axis=0)
            else:
                variance[k] = np.square(sums).sum(axis=0)
        known = self.known & (alone < _ROUNDING)
        return np.where(known, np.sqrt(variance), np.nan), freedom


def holm(p: FloatArray) -> FloatArray:
    """Adjust p-values for their number by Holm's method; NaN are not counted."""
    adjusted = np.full(p.shape, np.nan)
    tested = ~np.isnan(p)
    values = p[tested]
    order = np.argsort(values)
    steps = np.maximum.accumulate(values[order] * np.arange(values.size, 0, -1))
    values[order] = np.minimum(steps, 1.0)
    adjusted[tested] = values
    return adjusted
