"""Why two features merge, or why they do not."""

from collections.abc import Hashable
from dataclasses import dataclass
from html import escape
from math import inf
from typing import Any, Literal

import numpy as np

from .._data._input import refuse_lazy
from .._data._names import shown
from .._data._tables import column_label, locate_column, take_columns_of
from .._data._weights import validate_weighted
from .._lincfa import LinCFA
from .._model._display import Table
from .._model._words import apart, decimals, digits
from .._rule import Rule, complete
from .._statistics import ArrayStatistics


@dataclass(frozen=True)
class PairExplanation:
    """The evidence for two features, merged or not; print it to read it.

    Attributes
    ----------
    names : tuple of str
        The two features.
    merges : bool
        Whether the rule merges them.
    n_samples : float
        Number of samples; with weights, their sum.
    correlation : float
        Correlation of the two features.
    target_correlations : tuple of float
        Correlation of each with the target.
    threshold : float
        Correlation from which on features with such weights merge. Below −1 any correlation does.
    f, tolerance : float
        They merge where F is at most the tolerance.
    noise : "pair", "full" or float
        What the variance of the noise in F is; see :class:`LinCFA`.
    min_correlation : float
        They do not merge below this correlation, whatever F is; −1 where none was asked for.
    variance_drop_share, bias_growth_share, gain_share : float
        Estimates of what their mean, in place of both, does to the mean squared error of the
        regression, as shares of the target's variance: the drop of variance, the growth of bias,
        and the difference of the two.
    variance_drop, bias_growth, gain : float
        The same in the square of the target's unit.
    """

    names: tuple[str, str]
    merges: bool
    n_samples: float
    correlation: float
    target_correlations: tuple[float, float]
    threshold: float
    f: float
    tolerance: float
    noise: str | float
    min_correlation: float
    variance_drop_share: float
    bias_growth_share: float
    gain_share: float
    variance_drop: float
    bias_growth: float
    gain: float

    def __str__(self) -> str:
        """Say it in words."""
        return f"{self._decision()} {self._consequence()}"

    def _decision(self) -> str:
        pair = f"As a pair, {self.names[0]!r} and {self.names[1]!r}"
        if self.merges and self.f == 0 and self.correlation == 1:
            return f"{pair} merge: they coincide, up to their unit and the rounding of the data."
        if self.merges and self.threshold <= -1:
            return (
                f"{pair} merge: their effects on the target are so alike that any correlation would"
                f" do; theirs is {decimals(self.correlation)}."
            )
        if self.f <= self.tolerance and not self.merges:
            rho, needed = apart(decimals, self.correlation, self.min_correlation)
            return (
                f"{pair} stay apart: they are correlated by {rho}, and the smallest correlation "
                f"allowed is {needed}."
            )
        if self.f == inf:
            return f"{pair} stay apart: between them they leave nothing of the target unexplained."
        limit = max(self.threshold, self.min_correlation)
        rho, needed = apart(decimals, self.correlation, limit)
        if self.merges:
            return (
                f"{pair} merge: they are correlated by {rho}, and for effects on the target that "
                f"differ as theirs do, {needed} is enough."
            )
        return (
            f"{pair} stay apart: they are correlated by {rho}, but for effects on the target that "
            f"differ as theirs do, it takes {needed}."
        )

    def _consequence(self) -> str:
        lower = self.gain_share >= 0
        mood = "lowers" if lower else "raises"
        if not self.merges:
            mood = "would lower" if lower else "would raise"
        less, more = apart(digits, self.variance_drop, self.bias_growth)
        f, _ = apart(digits, self.f, self.tolerance)
        noise = {"pair": "", "full": "; noise from the regression on all features"}.get(
            str(self.noise), "; noise as given"
        )
        allowed = ""
        if self.merges and not lower:
            allowed = f", which a tolerance of {self.tolerance:g} allows"
        return (
            f"Their mean in place of both {mood} the mean squared error by an estimated "
            f"{digits(abs(self.gain))}, {digits(100 * abs(self.gain_share))} % of the target's "
            f"variance{allowed}: {less} less because one weight is estimated instead of two, "
            f"{more} more because both get the same weight (F = {f}; up to {self.tolerance:g} "
            f"merges{noise})."
        )

    def _repr_html_(self) -> str:
        decision = "merge" if self.merges else "stay apart"
        first, second = (shown(name, 30) for name in self.names)
        needed = max(self.threshold, self.min_correlation)
        rows = [
            ["correlation of the two", decimals(self.correlation)],
            ["correlation needed", "any" if needed <= -1 else decimals(needed)],
            [f"correlation of {first} with the target", decimals(self.target_correlations[0])],
            [f"correlation of {second} with the target", decimals(self.target_correlations[1])],
            [f"F (merges up to {self.tolerance:g})", digits(self.f)],
        ]
        for label, value, share in (
            ("drop of variance", self.variance_drop, self.variance_drop_share),
            ("growth of bias", self.bias_growth, self.bias_growth_share),
            ("net gain in mean squared error", self.gain, self.gain_share),
        ):
            shares = f"{digits(100 * share)} % of the target's variance"
            rows.append([label, f"{digits(value)} ({shares})"])
        table = Table(f"{first} and {second} {decision}", ("figure", "value"), rows)
        return f"<p>{escape(str(self))}</p>{table.html()}"


def explain_pair(
    X: Any,
    y: Any,
    a: Any,
    b: Any,
    *,
    tolerance: float | Literal["unbiased"] = 1.0,
    noise: Literal["pair", "full"] | float = "pair",
    min_correlation: float | None = None,
    sample_weight: Any = None,
    sample_dim: Hashable | None = None,
) -> PairExplanation:
    """Explain why two features merge, or why they do not.

    This is the rule for the two as a pair, by which the ``"sequential"`` strategy tests a candidate
    against the first feature of a group. Two features may pass it and not be together, because one
    had joined another group; and they may not pass it and be together, because both passed with
    the first feature of their group, or with its mean. Only these two columns are looked at, except
    with ``noise="full"``.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features), or field
        A field in memory.
    y : array of shape (n_samples,)
    a, b : str or int
        The two columns: their names, or positions counted from 0. A name goes first.
    tolerance : float or "unbiased", default=1.0
        As for :class:`LinCFA`.
    noise : "pair", "full" or float, default="pair"
        As for :class:`LinCFA`.
    min_correlation : float, default=None
        As for :class:`LinCFA`.
    sample_weight : array of shape (n_samples,), default=None
        As for :meth:`LinCFA.fit`.
    sample_dim : hashable, default=None
        As for :class:`LinCFA`, where X is a field.

    Returns
    -------
    PairExplanation

    Examples
    --------
    >>> from lincfa import explain_pair
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
    >>> print(explain_pair(X, y, 0, 4))
    As a pair, 'x0' and 'x4' merge: they are correlated by 0.923, and for effects on the target that
    differ as theirs do, 0.727 is enough. Their mean in place of both lowers the mean squared error
    by an estimated 0.412, 0.173 % of the target's variance: 0.574 less because one weight is
    estimated instead of two, 0.162 more because both get the same weight (F = 0.282; up to 1
    merges).
    """
    model = LinCFA(
        tolerance=tolerance, noise=noise, min_correlation=min_correlation, sample_dim=sample_dim
    )
    model._check_parameters()
    with model._opened(X, y, sample_weight) as (X, y, sample_weight):
        refuse_lazy(X)
    field = model.__dict__.pop("field_", None)  # two columns are no table of its cells
    known = None if field is None else field.names
    places = [locate_column(X, a, known), locate_column(X, b, known)]
    if places[0] == places[1]:
        raise ValueError(f"a and b are the same column, {a!r}; give two different ones.")
    labels = [column_label(X, place, known) for place in places]
    if noise != "full":
        X = take_columns_of(X, places)
    values, y, weights, names = validate_weighted(model, X, y, sample_weight)
    if names is None:  # by which messages name the columns
        names = known if noise == "full" else places if field is None else labels
    statistics = ArrayStatistics.from_data(values, y, names, weights)
    first, second = np.array([[0], [1]]) if noise != "full" else np.array(places)[:, None]
    for place, label in zip((*first, *second), labels, strict=True):
        if not statistics.varying[place]:
            raise ValueError(
                f"Column {label!r} is constant, up to the rounding of its type: it belongs to no "
                "group and merges with none."
            )
    rule = Rule.of(statistics, tolerance, noise, min_correlation)
    rho = statistics.square(np.concatenate([first, second]))[:1, 1]
    pairs = statistics.pairs(first, second, rho)
    (row,) = complete(rule.evidence(first, second, pairs), statistics.target_scale)
    r = statistics.target_correlation
    figures = {
        name: float(row[name])
        for name in row.dtype.names
        if name not in ("group", "feature", "partner")
    }
    return PairExplanation(
        names=(labels[0], labels[1]),
        merges=bool(rule.passes(pairs)[0]),
        n_samples=statistics.n_samples,
        target_correlations=(float(r[first[0]]), float(r[second[0]])),
        noise=noise if isinstance(noise, str) else float(noise),
        min_correlation=rule.min_correlation,
        **figures,
    )
