"""The sentences of the page."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import floor, isnan, log10
from pathlib import PurePath

import numpy as np

from .._data._names import shown
from .._model._display import capitalized, count, decimals, digits, distinguishable
from .._model._summary import LARGEST_WEIGHT
from ._classes import MOST_FREQUENT, ClassScores
from ._findings import Findings
from ._groups import LONGEST_NAME, Group, PairTable
from ._intervals import LEVEL, Interval, verdict_on
from ._maps import CONSTANT, LEFT_OUT, Map
from ._scores import (
    EFFECTS_SHOWN,
    PANELS,
    HeldOutScores,
    RegressionScores,
    name_of_prediction,
)

GROUPS_NUMBERED = 9  # on a map, the most important
_NEAREST_SHOWN = 10
_LARGEST_LISTED = 5  # effects beside a spectrum
_NAMED = 3  # targets in one sentence
_LINCFACV = "LinCFACV, on the command line --tolerance cv"
_SEARCH = "Try {}: it chooses how much to merge and a{} penalty by cross-validation."
_MORE_DATA = (
    "Cross-validation has already chosen how to merge, so more samples or other features are "
    "needed, or the held-out samples differ from the others."
)
_WHEN = "when the mean of the group rises by one standard deviation and no other mean changes"
_TRUNCATED = " Errors of more than three standard deviations of the target count as three."
_UNRELATED = "members hardly related to each other"
_FLAGS = {"opposite": "some members go opposite ways", "hardly related": _UNRELATED}


# The answer


@dataclass(frozen=True)
class Tile:
    """One of the numbers that a page begins with."""

    value: str
    title: str
    note: str


def state_answer(findings: Findings) -> str:
    """Say in a sentence how well how many reduced features predict."""
    varying = findings.n_features - findings.n_constant
    one = findings.n_groups == 1
    who = f"{count(findings.n_groups, 'average')} of {count(varying, 'feature')}"
    if findings.n_groups == varying:
        who = count(varying, "feature")
    scores = findings.scores
    if scores is None:
        return (
            f"{count(findings.n_features, 'feature')} became {count(findings.n_groups, 'group')}. "
            "How well these predict new samples is not known yet."
        )
    what = f"{findings.target_name} in new samples" if findings.target_name else "new samples"
    if findings.classes:
        what = "the classes of new samples"
    elif len(findings.targets) > 1:
        what = f"{len(findings.targets)} targets in new samples"
    verb = "predicts" if one else "predict"
    if isinstance(scores, ClassScores):
        if scores.no_better_than_most_frequent:
            return f"{who} {verb} {what} no better than a guess of the {MOST_FREQUENT}."
    elif scores.rows[-1].r2.value < 0:
        fail = "does" if one else "do"
        return f"{who} {fail} not predict {what}: their mean alone would come closer."
    rival = scores.best_rival
    if rival is None:
        return f"{who} {verb} {what}; nothing was compared with {'it' if one else 'them'}."
    best = "the best rival, " if len(scores.rows) > 2 + bool(findings.classes) else ""
    best += f"{rival.method} on all features"
    verdicts = {"better": "better than", "worse": "less well than"}
    verdicts["about equal"] = "about as well as"
    verdict = verdict_on(rival.difference)
    if verdict in verdicts:
        return f"{who} {verb} {what} {verdicts[verdict]} {best}."
    return f"{who} {verb} {what}. It is not clear whether better or worse than {best}."


def list_tiles(findings: Findings) -> list[Tile]:
    """Return the numbers that back the answer: score, best rival, number of features."""
    tiles, scores = [], findings.scores
    if scores is not None:
        title, name, words = _main_score(scores)
        own, rival = getattr(scores.rows[-1], name), scores.best_rival
        tiles.append(
            Tile(
                decimals(own.value),
                f"{title} on {count(scores.n_test, 'new sample')}{_whole_groups(findings)}",
                f"{interval_in_words(own)}{words}",
            )
        )
        if rival is not None:
            verdict = verdict_on(rival.difference)
            told = {"better": "this model is better", "worse": "the rival is better"}
            places = places_of_difference(own, getattr(rival, name), rival.difference)
            tiles.append(
                Tile(
                    decimals(getattr(rival, name).value),
                    f"{title} of the best rival, {rival.method}",
                    f"{interval_in_words(getattr(rival, name))}Difference "
                    f"{with_brackets(rival.difference, places)}: {told.get(verdict, verdict)}.",
                )
            )
    varying = findings.n_features - findings.n_constant
    constant = (
        f" {count(findings.n_constant, 'more')} never changed." if findings.n_constant else ""
    )
    note = f"Each is the {kind_of_mean(findings)} of a group of features.{constant}"
    title = f"{'input' if findings.n_groups == 1 else 'inputs'} instead of {varying}"
    return [*tiles, Tile(str(findings.n_groups), title, note)]


def _whole_groups(findings: Findings) -> str:
    """Say of which groups the new samples are, where whole ones were held out."""
    n_groups = findings.n_test_groups
    return "" if n_groups is None else f" from {count(n_groups, 'group')} held out whole"


def _main_score(scores: HeldOutScores) -> tuple[str, str, str]:
    """Return name, attribute and meaning of the score by which methods are compared."""
    if isinstance(scores, ClassScores):
        guess = decimals(scores.rows[0].accuracy.value)
        return "accuracy", "accuracy", f"Always guessing “{scores.most_frequent}”: {guess}."
    name = "mean R²" if scores.targets else "R²"
    return name, "r2", "1 is perfect, 0 is no better than the mean."


def interval_in_words(figure: Interval) -> str:
    """Write an interval as a sentence; nothing if it is unknown."""
    if isnan(figure.low):
        return ""
    return f"{LEVEL} % interval: {decimals(figure.low)} to {decimals(figure.high)}. "


def with_brackets(figure: Interval | None, places: int) -> str:
    """Write a figure with its interval in brackets."""
    if figure is None:
        return "–"
    value, low, high = (decimals(each, places) for each in (figure.value, figure.low, figure.high))
    return value if isnan(figure.low) else f"{value} [{low}, {high}]"


def places_of_difference(own: Interval, other: Interval, difference: Interval | None) -> int:
    """Return how many decimals a difference needs beside two scores of three decimals."""
    if difference is None:
        return 3
    gap = round(own.value, 3) - round(other.value, 3)
    return 3 if round(gap, 3) == round(difference.value, 3) else 4


def list_warnings(
    scores: HeldOutScores | None,
    n_cancelling: int,
    n_coefficients: int,
    searched: bool,
) -> list[str]:
    """State what a reader must know first, and what to try; usually nothing."""
    warnings = []
    if isinstance(scores, ClassScores):
        if scores.no_better_than_most_frequent:
            advice = _MORE_DATA if searched else _SEARCH.format("LinCFAClassifierCV", "")
            warnings.append(f"{_no_better(scores)} {advice}")
    elif scores is not None and scores.worse_than_mean:
        advice = _MORE_DATA if searched else _SEARCH.format(_LINCFACV, " ridge")
        warnings.append(f"{_worse(scores)} {advice}")
    rival = None if scores is None else scores.best_rival
    if scores is not None and rival is not None and verdict_on(rival.difference) == "worse":
        title, name, _ = _main_score(scores)
        advice = "" if searched else " LinCFACV, which chooses how far to merge, may come closer."
        warnings.append(
            f"{capitalized(rival.method)} on all {rival.n_features} features "
            f"predicts clearly better: {title} {decimals(getattr(rival, name).value)} instead of "
            f"{decimals(getattr(scores.rows[-1], name).value)} on the same held-out samples."
            f"{advice}"
        )
    if n_cancelling:
        warnings.append(
            f"{n_cancelling} of {n_coefficients} effects are too large to interpret, beyond "
            f"{LARGEST_WEIGHT:g} standard deviations of the target: effects of opposite sign "
            "that nearly cancel. Predictions may be good, but single effects say nothing."
        )
    return warnings


def _worse(scores: RegressionScores) -> str:
    """State that the mean predicts better, for one target or for some of several."""
    end = f"on {scores.n_test} held-out samples."
    if not scores.worse_targets:
        r2 = _about(scores.rows[-1].r2.value)
        return f"The reduced features predict worse than the mean of the target: R² is {r2} {end}"
    worst = sorted(scores.worse_targets, key=lambda each: each.rows[-1].r2.value)
    listed = [
        f"{_about(each.rows[-1].r2.value)} for {shown(each.target, LONGEST_NAME)}"
        for each in worst[:_NAMED]
    ]
    listed += [f"below 0 for {len(worst) - _NAMED} more"] if len(worst) > _NAMED else []
    return (
        f"The reduced features predict {len(worst)} of {len(scores.targets)} targets worse than "
        f"{'its mean' if len(worst) == 1 else 'their means'}: R² is {', '.join(listed)}, {end}"
    )


def _no_better(scores: ClassScores) -> str:
    """State that the most frequent class is right as often."""
    guess, reduced = scores.rows[0], scores.rows[-1]
    text = (
        f"The reduced features predict no better than the {MOST_FREQUENT}: they are right in "
        f"{_percent(reduced.accuracy.value)} of {scores.n_test} held-out samples, and "
        f"{_percent(guess.accuracy.value)} of these are of the class {scores.most_frequent}."
    )
    own, shares = reduced.log_loss, guess.log_loss
    if own is not None and shares is not None and own.value < shares.value:
        text += (
            " Their probabilities say more than the share of each class: log loss "
            f"{digits(own.value)} instead of {digits(shares.value)}."
        )
    return text


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _about(r2: float) -> str:
    return "about 0" if r2 > -0.0005 else decimals(r2)


def describe_reduction(findings: Findings) -> str:
    """Explain the headline in plain words."""
    varying = findings.n_features - findings.n_constant
    standardized = findings.settings.get("units") == "standardized"
    if findings.n_groups < varying:
        text = (
            f"Each group is replaced by one reduced feature, the {kind_of_mean(findings)} of its "
            f"members: {findings.n_groups} instead of {count(varying, 'feature')}."
        )
        if findings.n_flipped:
            text += (
                f" {count(findings.n_flipped, 'feature')} {_are(findings.n_flipped)} averaged "
                "with the sign flipped, shown as −name."
            )
    elif varying == 1:
        text = "There is only one feature, so nothing can merge."
    else:
        text = "No features merged: each reduced feature is a single feature"
        text += ", standardized." if standardized else "."
    if varying > 1:
        text += f" {_describe_rule(findings)}"
    if findings.missing != 0:
        share = "Values of the training data may be missing"
        if findings.missing is not None:
            share = f"{digits(100 * findings.missing)} % of the training values are missing"
        text += (
            f" {share}: two features were compared on the samples where both are present, and "
            "means are of the members present."
        )
    if findings.n_constant:
        text += (
            f" {count(findings.n_constant, 'feature')} {_are(findings.n_constant)} constant in "
            f"the training data and {'belongs' if findings.n_constant == 1 else 'belong'} to no "
            "group."
        )
    return text


def kind_of_mean(findings: Findings) -> str:
    """Name what a reduced feature is."""
    return "weighted mean" if findings.weighted else "plain mean"


def write_effect(value: float, largest: float | None) -> str:
    """Write an effect with three digits, but none beyond a thousandth of the largest."""
    if isnan(value):
        return "–"
    if not value or not largest or not 1e-3 <= largest < 1e6:
        return digits(value)
    most = 3 - floor(log10(largest))
    if round(value, most) == 0:
        return "≈ 0"
    places = max(0, min(most, 2 - floor(log10(abs(value)))))
    return f"{value:.{places}f}".replace("-", "−")


def largest_effects(findings: Findings) -> dict[str, float]:
    """Return the size of the largest effect on each target, by its name."""
    largest: dict[str, float] = {}
    for group in findings.groups:
        for each in group.effects:
            size = abs(each.weight)
            if size > largest.get(each.target, 0.0):  # not NaN
                largest[each.target] = size
    return largest


def describe_trust(findings: Findings) -> str:
    """Say how many effects the held-out samples confirm, or why none could be checked."""
    verdicts = [each.check.verdict for g in findings.groups for each in g.effects if each.check]
    if not verdicts:
        return findings.inference_note
    n, total = verdicts.count("confirmed"), len(verdicts)
    if n == total:
        return f"The held-out samples confirm {'all ' * (n > 1)}{count(n, 'effect')}."
    text = f"{n} of {count(total, 'effect')} {_are(n)} confirmed by the held-out samples"
    if opposite := verdicts.count("opposite sign"):
        text += f"; {opposite} {'has' if opposite == 1 else 'have'} the opposite sign there"
    if rest := total - n - opposite:
        text += (
            f"; for the other{'s' * (rest > 1)} these samples are too few to tell an effect "
            "from none, as where groups move together; that does not make the predictions worse"
        )
    return f"{text}."


def describe_use(findings: Findings) -> tuple[str, str]:
    """Return a line that predicts new samples, and how far off predictions are, if known."""
    half = findings.half_width
    words = shlex.split(findings.recipe) if findings.recipe.startswith("lincfa reduce ") else []
    if words:
        model = next((b for a, b in pairwise(words) if a == "--model"), "model.json")
        model = next((w[8:] for w in words if w.startswith("--model=")), model)
        suffix = PurePath(str(findings.data.get("file", ""))).suffix or ".csv"
        line = f"lincfa predict {shlex.quote(model)} new{suffix}"
        line += f" --interval {LEVEL / 100:g}" if half else ""
    elif half:
        line = f"low, high = model.predict_interval(X_new, level={LEVEL / 100:g})"
    else:
        line = f"model.{'predict' if findings.predicts else 'transform'}(X_new)"
    if not half:
        return line, ""
    names = findings.targets if len(half) > 1 else [""]
    widths = [f"± {digits(w)}{f' for {n}' * bool(n)}" for n, w in zip(names, half, strict=True)]
    more = f" and {len(widths) - _NAMED} more" if len(widths) > _NAMED else ""
    return line, (
        f"The {LEVEL} % interval of a prediction is {', '.join(widths[:_NAMED])}{more}: at "
        f"least {LEVEL} % of the errors on held-out samples are no larger."
    )


def describe_tolerance(findings: Findings, group: Group) -> str:
    """Explain why members merged although that raises an error; usually nothing."""
    if not any("; raises " in member.words for member in group.members):
        return ""
    allowed = "the settings allowed"
    why = ""
    if findings.searched:
        allowed, why = "cross-validation allowed", ", as samples left out of the fit were then "
        why += "predicted best, or nearly so"
    alone = "Errors are those of a regression on the two alone, without the other features: "
    if findings.settings.get("chosen strategy", findings.settings.get("strategy")) == "joint":
        alone = ""  # which decides by a regression on all groups
    return capitalized(f"{alone}{allowed} F up to {findings.pairs.tolerance:g}{why}.")


def list_remarks(findings: Findings, group: Group) -> list[str]:
    """Say what a reader should know of a group before trusting its numbers; usually nothing."""
    remarks = [_FLAGS[group.flag]] if group.flag else []
    if group.cancels:
        remarks.append("effect too large to interpret: others nearly cancel it")
    if group.opposes is not None:
        remarks.append("opposite to r")
    return remarks


def list_largest(findings: Findings) -> list[str]:
    """Name the groups that change the prediction most, and whether new samples confirm it."""
    lines, largest = [], largest_effects(findings)
    for group in findings.groups[:_LARGEST_LISTED]:
        of = f" on {group.weight_target}" if group.weight_target else ""
        check = "" if group.check is None else f"; {group.check.verdict} on new samples"
        effect = write_effect(group.weight, largest.get(group.weight_target))
        lines.append(f"{group.title}: effect {effect}{of}{check}")
    return lines


def explain_oppositions(
    findings: Findings, group: Group, largest: Mapping[str, float]
) -> list[str]:
    """Explain effects of a group whose sign is opposite to that of a correlation."""
    lines = []
    for effect in group.effects:
        found = effect.opposes
        if found is None:
            continue
        mainly = ""
        if found.name:
            mainly = f", mainly through {found.name} (their correlation: "
            mainly += f"{decimals(found.correlation)})"
        lines.append(
            f"Correlated with {effect.target or the_target(findings)} by "
            f"{decimals(effect.target_correlation)}{mainly}; given the others, its effect is "
            f"{write_effect(effect.weight, largest.get(effect.target))}."
        )
    return lines


def noun_of_target(findings: Findings) -> str:
    """Name what is predicted: a target, or a class."""
    return "class" if findings.classes else "target"


def the_target(findings: Findings) -> str:
    """Name the only target; of two classes the second."""
    return f"the class {shown(findings.targets[0])}" if findings.classes else "the target"


def describe_effect(findings: Findings) -> str:
    """Explain the effects of the groups."""
    if not findings.classes:
        unit = "its unit" if len(findings.targets) == 1 else "the unit of the target"
        return f"how much the prediction changes, in {unit}, {_WHEN}"
    if len(findings.targets) == 1:
        return f"how much the log odds of {the_target(findings)} change {_WHEN}"
    return (
        f"how much the score of a class changes {_WHEN}. Scores are log odds up to a number that "
        "all classes share"
    )


def _describe_rule(findings: Findings) -> str:
    """Explain when features merge, with the settings of the model."""
    settings, pairs = findings.settings, findings.pairs
    what = "the target"
    if findings.classes:
        what = "the classes, as numbers that are 1 for a class and 0 for others,"
    elif len(findings.targets) > 1:
        what = "the targets, summed over these,"
    rule = f"Features merge if sharing one coefficient in a linear regression of {what}"
    n_groups = settings.get("n_groups", settings.get("chosen n_groups"))
    if n_groups is not None:
        text = (
            "Merges that add the least bias for the variance they save come first, until "
            f"{count(n_groups, 'group')} {_are(n_groups)} left."
        )
    elif pairs.tolerance == 1:
        text = f"{rule} saves at least as much variance as it adds squared bias."
    else:
        text = f"{rule} adds at most {pairs.tolerance:g} times as much squared bias as it saves "
        text += "variance."
    if findings.searched:
        text += " Cross-validation chose how far to merge."
    if findings.effective_samples != findings.n_samples:
        text += (
            f" The {findings.n_samples:g} samples count as {findings.effective_samples:.4g}, their "
            "effective number."
        )
    if pairs.min_correlation is not None:
        text += (
            f" Features and groups with a correlation below {pairs.min_correlation:g} are not "
            "merged; members of a group that were not compared may be less correlated."
        )
    if settings.get("connectivity") is not None:
        text += " Groups are connected: only neighbours merge."
    if settings.get("blocks") is not None:
        text += f" No group spans several blocks ({settings['blocks']})."
    return text


def describe_omissions(findings: Findings) -> list[str]:
    """State what the table of groups leaves out; usually nothing."""
    notes = []
    listed = len(findings.groups)
    if listed < findings.n_groups:
        notes.append(
            f"The table lists the first {listed} of {findings.n_groups} groups, and the search "
            "covers only these; model.groups_by_name() returns all."
        )
    others = sum(len(group.others) for group in findings.groups)
    unnamed = sum(group.n_unnamed for group in findings.groups)
    if others:
        notes.append(
            f"{count(others, 'feature')} of large groups {_are(others)} listed by name only; "
            "model.evidence_frame() has the evidence for all."
        )
    if unnamed:
        notes.append(
            f"{count(unnamed, 'feature')} of large groups {_are(unnamed)} not listed and not "
            "searchable; model.groups_by_name() returns all."
        )
    return notes


def list_nearest(table: PairTable, tolerance: float) -> list[tuple[str, str, str]]:
    """Return the pairs that came closest to merging: two names, and why they did not merge."""
    rows = zip(table.first, table.second, table.correlation, table.threshold, table.f, strict=True)
    result = []
    for first, second, rho, threshold, f in list(rows)[:_NEAREST_SHOWN]:
        ours, needed = distinguishable(decimals, float(rho), float(threshold))
        if rho >= threshold:
            written, limit = distinguishable(digits, float(f), tolerance)
            words = f"correlation {ours}; as a pair they would pass (F = {written} ≤ {limit})"
        else:
            words = f"correlation {ours}, required {needed} (F = {digits(float(f))})"
        result.append((shown(first, LONGEST_NAME), shown(second, LONGEST_NAME), words))
    return result


def captions(findings: Findings) -> dict[str, str]:
    """Explain how to read each figure, and what it leaves out."""
    pairs, matrix, coefficients = findings.pairs, findings.matrix, findings.coefficients
    text = (
        "Each point is a pair. x: correlation required to merge, y: actual correlation. Pairs on "
        f"or above the diagonal pass (F ≤ {pairs.tolerance:g}); pairs below it do not."
    )
    for table, kind in ((pairs.merged, "merged"), (pairs.near, "unmerged")):
        if table is not None and len(table.first) < table.total:
            text += f" {len(table.first)} of {table.total} {kind} pairs are shown."
    result = {"thresholds": f"{text} {pairs.note}"}
    if matrix is not None:
        text = (
            "Correlations of all pairs of features, ordered by group, largest group first: groups "
            f"are squares along the diagonal. Computed from {findings.matrix_source}"
        )
        text += ", with the signs of flipped features (−) flipped." if findings.n_flipped else "."
        if len(matrix.names) < matrix.n_features:
            text += (
                f" {len(matrix.names)} of {matrix.n_features} features are shown, evenly spaced in "
                "that order."
            )
        result["correlations"] = text
    if findings.path is not None:
        name = findings.path.score_name
        result["path"] = (
            f"{capitalized(name)} against the number of groups; higher is better. "
            f"{findings.path.how}{_TRUNCATED * name.endswith('(errors truncated)')}"
        )
    for k, panel in enumerate(() if coefficients is None else coefficients.panels):
        text = (
            f"What each group does: how much the {panel.changed} rises (red) or falls (blue) "
            f"{_WHEN}."
        )
        sizes = np.sort(np.abs(panel.values))[::-1]
        if panel.n_groups > EFFECTS_SHOWN:
            text += (
                f" The {EFFECTS_SHOWN} largest of {panel.n_groups} effects; the others are at "
                f"most {digits(float(sizes[EFFECTS_SHOWN]))}, up or down."
            )
        result[coefficient_picture(k)] = text
    left_out = ""
    if len(findings.targets) > PANELS and coefficients is not None:
        more = len(findings.targets) - PANELS
        noun = noun_of_target(findings) if more == 1 else _plural(findings)
        left_out = f" Those of {more} more {noun} are not shown."
        result[coefficient_picture(PANELS - 1)] += left_out
    if isinstance(findings.scores, ClassScores):
        result |= _captions_of_classes(findings.scores)
    elif findings.scores is not None and findings.scores.predictions is not None:
        drawn = findings.scores.predictions
        text = (
            "Predictions from the reduced features against what was observed, of samples that the "
            "regression has not seen; on the line both are equal."
        )
        if len(drawn.measured) < drawn.n_samples:
            text += f" {len(drawn.measured)} of {drawn.n_samples} samples are shown."
        if len(drawn.targets) < drawn.n_targets:
            more = drawn.n_targets - len(drawn.targets)
            text += f" {count(more, 'more target')} {_are(more)} not shown."
        result["predictions"] = text
    elsewhere = "The same colour elsewhere may be a different group."
    for k, map in enumerate(findings.maps):
        title = f"{map.title}: " if map.title else ""
        changed = name_of_prediction(map.target, bool(findings.classes))
        cut = _describe_thinning(findings, map, last=k == len(findings.maps) - 1)
        flipped = ", dotted cells enter with their sign flipped" if map.flipped.any() else ""
        result[f"map-{k}"] = (
            f"{title}Each colour is a group of cells; neighbouring groups have different colours. "
            f"{elsewhere} Single cells are grey{flipped}.{_describe_numbers(findings)}{cut}"
        )
        result[f"effects-{k}"] = (
            f"{title}What each group does: how much the {changed} rises (red) or falls (blue) "
            f"{_WHEN}{flipped}.{_describe_numbers(findings, 'Dark lines and numbers')}{cut}"
        )
    if findings.spectrum is not None:
        result["spectrum"] = (
            "The line shows the mean of each feature, the bands show the groups; adjacent groups "
            f"have different colours. {elsewhere} Single features are grey."
        )
        if coefficients is not None:
            changed = coefficients.panels[0].changed
            if len(findings.targets) > 1:
                changed = f"{'score' if findings.classes else 'prediction'} of each "
                changed += noun_of_target(findings)
            result["spectrum"] += (
                f" Below, in the same colours, how much the {changed} changes {_WHEN}.{left_out}"
            )
    return result


def coefficient_picture(number: int) -> str:
    """Return the name of the picture of a target's coefficients."""
    return f"coefficients-{number}" if number else "coefficients"


def _plural(findings: Findings) -> str:
    return "classes" if findings.classes else "targets"


def _captions_of_classes(scores: ClassScores) -> dict[str, str]:
    text = (
        "Share of a class that is found against the share of the others that are taken for it, as "
        "the probability required for the class falls. The area under a curve is the "
        "probability that a sample of the class is rated higher for it than one of another; 0.5 is "
        "chance."
    )
    more = scores.roc.n_curves - len(scores.roc.curves)
    if more:
        text += f" The most frequent classes; {more} more {_are(more)} not shown."
    return {
        "confusion": "Test samples by their class and the class predicted from the reduced "
        "features. Those on the diagonal are right; shades are shares of a class.",
        "roc": text,
    }


def _describe_numbers(findings: Findings, what: str = "Numbers") -> str:
    kind = "largest" if findings.coefficients is None else "most important"
    which = f"the {GROUPS_NUMBERED} {kind} ones"
    which = "the groups" if findings.n_groups <= GROUPS_NUMBERED else which
    return f" {what} mark {which}, as in the table, where there is room."


def _describe_thinning(findings: Findings, map: Map, last: bool) -> str:
    text = ""
    if map.every > 1:
        part = "points" if map.places.kind == "points" else "rows and columns"
        text = f" Only one in {map.every} {part} is shown; plot_map draws all."
    more = findings.n_maps - len(findings.maps)
    if last and more:
        text += f" {count(more, 'more map')} {_are(more)} not shown."
    return text


def alternatives(findings: Findings) -> dict[str, str]:
    """Describe each figure to readers who cannot see it."""
    pairs = findings.pairs
    near = 0 if pairs.near is None else len(pairs.near.first)
    result = {
        "thresholds": "Actual against required correlation: "
        f"{count(len(pairs.merged.first), 'merged pair')} on or above the diagonal, "
        f"{count(near, 'unmerged pair')}."
    }
    if findings.matrix is not None:
        result["correlations"] = (
            f"Correlation matrix of {count(len(findings.matrix.names), 'feature')}, by group."
        )
    if findings.path is not None:
        result["path"] = (
            f"{findings.path.score_name} against the {findings.path.x_name}; marked with "
            f"{decimals(findings.path.chosen[1])}: {findings.path.chosen_name}."
        )
    coefficients = findings.coefficients
    for k, panel in enumerate(() if coefficients is None else coefficients.panels):
        values, of = panel.values, f" for {panel.targets[0]}" if panel.targets else ""
        result[coefficient_picture(k)] = (
            f"Effects of {count(values.size, 'group')}{of}, from {values.min():.3g} to "
            f"{values.max():.3g}."
        )
    if isinstance(findings.scores, ClassScores):
        right, total = np.trace(findings.scores.confusion.counts), findings.scores.n_test
        areas = [f"{decimals(c.area)} for {c.label}" for c in findings.scores.roc.curves]
        result["confusion"] = f"Confusion matrix: {right} of {total} samples are right."
        result["roc"] = f"Curves of classes found; areas below: {', '.join(areas)}."
    elif findings.scores is not None and findings.scores.predictions is not None:
        names = ", ".join(filter(None, findings.scores.predictions.targets))
        result["predictions"] = f"Predicted against observed{f', for {names}' * bool(names)}."
    for k, map in enumerate(findings.maps):
        name = f"Map of {map.title}" if map.title else "Map"
        counts = {
            "group{} of several cells": np.unique(map.groups[map.groups >= 0]).size
            - map.single.size,
            "single cell{}": int(np.isin(map.groups, map.single).sum()),
            "constant cell{}": int((map.groups == CONSTANT).sum()),
            "cell{} left out": int((map.groups == LEFT_OUT).sum()),
        }
        parts = [f"{n} {noun.format('s' * (n != 1))}" for noun, n in counts.items() if n]
        result[f"map-{k}"] = f"{name}: {', '.join(parts) or 'no cells'}."
        if map.values is not None:
            known = map.values[(map.groups >= 0) & np.isfinite(map.values)]
            ends = f", from {known.min():.3g} to {known.max():.3g}" if known.size else ""
            groups = np.unique(map.groups[map.groups >= 0]).size
            result[f"effects-{k}"] = f"{name}: effects of {count(groups, 'group')}{ends}."
    spectrum = findings.spectrum
    if spectrum is not None:
        _, sizes = np.unique(spectrum.groups[spectrum.groups >= 0], return_counts=True)
        single = int((sizes == 1).sum())
        result["spectrum"] = (
            f"Means of {spectrum.x.size} features from {spectrum.x.min():g} to "
            f"{spectrum.x.max():g}, with bands for {count(sizes.size - single, 'group')} and "
            f"{count(single, 'single feature')}."
        )
    return result


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
