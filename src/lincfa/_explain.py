"""Why two features merge, or why they do not."""

from dataclasses import dataclass
from html import escape
from math import floor, log10
from typing import Any, Literal

import numpy as np

from ._criterion import Criterion
from ._estimator import LinCFA
from ._evidence import complete
from ._html import html_table
from ._input import (
    check_total_weight,
    column_label,
    locate_column,
    take_columns_of,
    validate_training,
    validate_weights,
)
from ._statistics import ArrayStatistics


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
        pair = f"{self.names[0]!r} and {self.names[1]!r}"
        rho, needed = _decimals(self.correlation), _decimals(self.threshold)
        if self.merges and self.f == 0 and self.correlation == 1:
            return f"{pair} merge: they coincide, up to their unit and the rounding of the data."
        if self.merges and self.threshold <= -1:
            return (
                f"{pair} merge: their effects on the target are so alike that any correlation would"
                f" do; theirs is {rho}."
            )
        if self.merges:
            return (
                f"{pair} merge: they are correlated by {rho}, and for effects on the target that "
                f"differ as theirs do, {needed} is enough."
            )
        if self.f <= self.tolerance:
            return (
                f"{pair} stay apart: they are correlated by {rho}, and the smallest correlation "
                f"allowed is {_decimals(self.min_correlation)}."
            )
        if self.threshold >= 1:
            return f"{pair} stay apart: between them they leave nothing of the target unexplained."
        return (
            f"{pair} stay apart: they are correlated by {rho}, but for effects on the target that "
            f"differ as theirs do, it takes {needed}."
        )

    def _consequence(self) -> str:
        lower = self.gain_share >= 0
        mood = "lowers" if lower else "raises"
        if not self.merges:
            mood = "would lower" if lower else "would raise"
        return (
            f"Their mean in place of both {mood} the mean squared error by an estimated "
            f"{_three(abs(self.gain))}, {_percent(abs(self.gain_share))} of the target's variance: "
            f"{_three(self.variance_drop)} less because one weight is estimated instead of two, "
            f"{_three(self.bias_growth)} more because both get the same weight (F = "
            f"{_three(self.f)}; up to {self.tolerance:g} merges)."
        )

    def _repr_html_(self) -> str:
        decision = "merge" if self.merges else "stay apart"
        first, second = self.names
        rows = [
            ["correlation of the two", _decimals(self.correlation)],
            ["correlation needed", _decimals(self.threshold)],
            [f"correlation of {first} with the target", _decimals(self.target_correlations[0])],
            [f"correlation of {second} with the target", _decimals(self.target_correlations[1])],
            [f"F (merges up to {self.tolerance:g})", _three(self.f)],
        ]
        for label, value, share in (
            ("drop of variance", self.variance_drop, self.variance_drop_share),
            ("growth of bias", self.bias_growth, self.bias_growth_share),
            ("net gain in mean squared error", self.gain, self.gain_share),
        ):
            rows.append([label, f"{_three(value)} ({_percent(share)} of the target's variance)"])
        table = html_table(f"{first} and {second} {decision}", ("figure", "value"), rows)
        return f"<p>{escape(str(self))}</p>{table}"


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
) -> PairExplanation:
    """Explain why two features merge, or why they do not.

    This is the decision of the ``"sequential"`` strategy for a seed and a candidate. Only these two
    columns are looked at, except with ``noise="full"``.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features)
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

    Returns
    -------
    PairExplanation

    Examples
    --------
    >>> import numpy as np
    >>> from lincfa import explain_pair
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 1)) + 0.3 * rng.normal(size=(100, 2))
    >>> y = X @ [1.0, 0.9] + rng.normal(size=100)
    >>> print(explain_pair(X, y, 0, 1))  # doctest: +ELLIPSIS
    'x0' and 'x1' merge: they are correlated by 0.9..., and for effects on the target that differ as
    theirs do, 0... is enough. Their mean in place of both lowers the mean squared error by ...
    """
    model = LinCFA(tolerance=tolerance, noise=noise, min_correlation=min_correlation)
    model._check_parameters()
    places = [locate_column(X, a), locate_column(X, b)]
    if places[0] == places[1]:
        raise ValueError(f"a and b are the same column, {a!r}; give two different ones.")
    labels = [column_label(X, place) for place in places]
    if noise != "full":
        X = take_columns_of(X, places)
    values, y, names = validate_training(model, X, y)
    weights = validate_weights(sample_weight, len(y))
    check_total_weight(weights)
    if names is None and noise != "full":
        names = places  # by which messages name the columns
    statistics = ArrayStatistics.from_data(values, y, names, weights)
    first, second = np.array([[0], [1]]) if noise != "full" else np.array(places)[:, None]
    for place, label in zip((*first, *second), labels, strict=True):
        if not statistics.varying[place]:
            raise ValueError(
                f"Column {label!r} is constant, up to the rounding of its type: it belongs to no "
                "group and merges with none."
            )
    criterion = Criterion.of(statistics, tolerance, noise, min_correlation)
    rho = statistics.square(np.concatenate([first, second]))[:1, 1]
    pairs = statistics.pairs(first, second, rho)
    (row,) = complete(criterion.evidence(first, second, pairs), statistics.target_scale)
    r = statistics.target_correlation
    figures = {
        name: float(row[name])
        for name in row.dtype.names
        if name not in ("group", "feature", "partner")
    }
    return PairExplanation(
        names=(labels[0], labels[1]),
        merges=bool(criterion.passes(pairs)[0]),
        n_samples=statistics.n_samples,
        target_correlations=(float(r[first[0]]), float(r[second[0]])),
        min_correlation=criterion.min_correlation,
        **figures,
    )


def _three(value: float) -> str:
    """Three digits, as a person would write them."""
    if value == 0:
        return "0"
    text = f"{value:#.3g}" if 1e-3 <= abs(value) < 1e3 else f"{value:.3g}"
    return text.rstrip(".").replace("-", "−") if "e" not in text else text


def _decimals(correlation: float) -> str:
    """Three decimals of a correlation, and more where it is nearly 1 or −1."""
    if not -1 < correlation < 1:
        return _three(correlation)
    digits = max(3, 1 - floor(log10(1 - abs(correlation))))
    return f"{correlation:.{digits}f}".replace("-", "−")


def _percent(share: float) -> str:
    return f"{_three(100 * share)} %"
