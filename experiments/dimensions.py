"""D features: Table ``NdimSyn``."""

from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import delayed

from lincfa.datasets import make_correlated

from . import published
from .estimates import Floats, over_draws
from .methods import gather, score_methods
from .outcomes import Outcome, fill
from .pseudocode import Groups, form_groups, known_decisions, pair_decisions, reduce
from .simulation import SAMPLES, Settings, least_squares, random_state, score
from .tables import Table, claim

D, NOISE = 100, 10.0

Values = dict[str, npt.NDArray[np.float64]]

_NOTES = [
    "The setting behind the table: the tree of features is drawn anew for every repetition and for "
    "the test set, groups overlap, and the theoretical threshold has σ = 10 where the formula has "
    "σ² = 100. As printed: one tree for training and test, disjoint groups, σ² = 100.",
    "The paper draws weights and test set once. Ours are means over draws of both; the column "
    "“another run” is about the figure of a single draw.",
    "Whether groups overlap or not, their number d is the same: both forms have the same first "
    "features of groups.",
]


def jobs(settings: Settings) -> list[Any]:
    """One task a draw of weights and test set, in the setting behind the table and as printed."""
    return [
        delayed(simulate)(draw, as_printed, settings, compared=settings.compared)
        for as_printed in (False, True)
        for draw in range(settings.draws)
    ]


def simulate(
    draw: int,
    as_printed: bool,
    settings: Settings,
    *,
    n: int = SAMPLES,
    repetitions: int | None = None,
    compared: int = 0,
) -> Values:
    """Draw weights and a test set, and repeat on training sets of n samples.

    Gives one value a repetition of each quantity; of the methods beyond the paper, only of the
    first ``compared`` ones.
    """
    random = random_state(settings.seed, "dimensions", draw, as_printed, n)
    weights = random.uniform(size=D)
    tree = None
    if as_printed:
        tree = np.array([-1, *(random.randint(i) for i in range(1, D))])

    def make(samples: int) -> tuple[Floats, Floats]:
        return make_correlated(
            samples, D, noise=NOISE, weights=weights, tree=tree, random_state=random
        )

    test = make(SAMPLES)
    variance = NOISE**2 if as_printed else NOISE
    scores, beyond = [], []
    for repetition in range(repetitions or settings.per_draw):
        X, y = make(n)
        single = [np.array([i]) for i in range(D)]
        found = {"full": single}
        for name, merge in (
            ("merged (theoretical)", known_decisions(X, weights, variance)),
            ("merged (empirical)", pair_decisions(X, y)),
        ):
            found[name] = form_groups(merge, overlapping=not as_printed)
        scores.append(_score(X, y, *test, found))
        if repetition < compared:
            beyond.append(score_methods(X, y, *test))
    return {**gather(scores), **(gather(beyond) if beyond else {})}


def _score(
    X: Floats, y: Floats, X_test: Floats, y_test: Floats, found: dict[str, Groups]
) -> dict[str, float]:
    """Number of groups, R² and error of least squares on the means of groups."""
    scores = {}
    for name, groups in found.items():
        fit = least_squares(reduce(X, groups)[None], y[None])
        result = score(fit, reduce(X_test, groups)[None], y_test[None])
        scores[f"R² {name}"] = float(result.r2[0, 0])
        scores[f"MSE {name}"] = float(result.mse[0, 0])
        if name != "full":
            which = name.removeprefix("merged ")
            scores[f"d {which}"] = len(groups)
            scores[f"MSE merged / full {which}"] = scores[f"MSE {name}"] / scores["MSE full"]
    return scores


def summarize(values: list[Values]) -> Outcome:
    """Means over draws, of every quantity."""
    return Outcome(
        {name: over_draws(np.stack([part[name] for part in values])) for name in values[0]}
    )


def ordered(values: list[Values]) -> npt.NDArray[np.bool_]:
    """Whether, in each draw, d and error are ordered as the paper says."""
    return np.array(
        [
            part["d (theoretical)"].mean() < part["d (empirical)"].mean() < 0.5 * D
            and part["MSE merged (theoretical)"].mean() <= part["MSE merged (empirical)"].mean()
            and part["MSE merged (empirical)"].mean() < part["MSE full"].mean()
            for part in values
        ]
    )


def tables(settings: Settings, outcomes: list[Values]) -> list[Table]:
    """Set the paper's table beside the outcomes of :func:`jobs`."""
    behind, printed = outcomes[: settings.draws], outcomes[settings.draws :]
    rows = fill("D = 100", published.DIMENSIONS, summarize(behind), summarize(printed))
    statement = claim(
        "d (theoretical) < d (empirical), far below D; and error (theoretical) ≤ error (empirical) "
        "< error (full), in every draw of weights and test set",
        *(
            (bool(holds.all()), f"in {holds.sum()} of {holds.size} draws")
            for holds in (ordered(behind), ordered(printed))
        ),
    )
    amount = (
        f"{settings.draws} draws of weights and test set with {settings.per_draw} repetitions "
        f"each; the methods beyond the paper in the first {settings.compared} of every draw."
    )
    return [Table("NdimSyn", "A hundred features", rows, [amount, *_NOTES], [statement])]
