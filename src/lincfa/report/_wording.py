"""The sentences of the page."""

from math import isnan

from .._model._display import decimals
from ._findings import Findings, Interval, Scores
from ._mapwords import map_alternatives, map_captions

_WORSE = "predict worse than the mean of the target would: R² is below 0"


def meaning(findings: Findings) -> str:
    """Say in plain words what the headline means."""
    varying = findings.n_features - findings.n_constant
    if findings.n_groups == varying:
        none = "There is one feature" if varying == 1 else "No two features merge"
        text = f"{none}: each reduced feature is one feature by itself"
        text += ", standardised." if findings.settings.get("units") == "standardized" else "."
    else:
        text = (
            f"Each group is replaced by one reduced feature, the plain mean of its members: "
            f"{findings.n_groups} in place of {_count(varying, 'feature')}."
        )
    if varying > 1:
        text += f" {_rule(findings)}"
    if findings.n_constant:
        text += (
            f" {_count(findings.n_constant, 'feature')} {_are(findings.n_constant)} constant in "
            "the data of the fit and in no group."
        )
    return text


def _rule(findings: Findings) -> str:
    """Say when features merge, with the settings of the model."""
    lowest, tolerance = findings.pairs.min_correlation, findings.pairs.tolerance
    if findings.settings.get("n_groups") is not None:
        text = (
            "The merges that add least bias for the variance they save are made first, until so "
            "many groups are left"
        )
    elif tolerance == 1:
        text = (
            "Features share a group where one common weight for them, in a linear regression on "
            "the target, saves at least as much variance as it adds squared bias"
        )
    else:
        text = (
            "Features share a group where one common weight for them, in a linear regression on "
            f"the target, adds at most {tolerance:g} times as much squared bias as it saves "
            "variance"
        )
    if lowest is not None:
        text += f", and where they are correlated by at least {lowest:g}"
    text += "."
    if findings.settings.get("connectivity") is not None:
        text += " Every group is connected: it grows through neighbours only."
    blocks = findings.settings.get("blocks")
    if blocks is not None:
        text += f" No group is of several blocks ({blocks})."
    return text


def verdict(scores: Scores) -> str:
    """Say whether the reduced features predict better, as far as the samples can tell."""
    difference = scores.r2_difference
    useless = all(row.r2.value < 0 for row in scores.rows)
    if difference is None:
        text = "All features were not at hand; the scores are those of the reduced ones."
        return f"{text} They {_WORSE}." if useless else text
    if useless:
        return f"Both {_WORSE}. {_less_far_off(difference)}".strip()
    if isnan(difference.low):
        return "The samples are too few to tell which predicts better."
    if difference.low == difference.high == 0:
        return "Both predict the same."
    if difference.low > 0:
        return "On these samples the reduced features predict better than all features."
    if difference.high < 0:
        return "On these samples the reduced features predict worse than all features."
    return (
        "The samples do not tell which predicts better: another set of them may well turn the sign "
        "of the difference."
    )


def _less_far_off(difference: Interval) -> str:
    """Say which of two that predict nothing is less far off; there is nothing to praise."""
    if difference.low > 0:
        return "On these samples the reduced features are less far off than all features."
    if difference.high < 0:
        return "On these samples all features are less far off than the reduced ones."
    return ""


def constant(findings: Findings) -> str:
    """Say how many constant features are not listed; nothing where all are."""
    more = findings.n_constant - len(findings.constant)
    return f"… and {more} more" if more else ""


def cuts(findings: Findings) -> list[str]:
    """Say what the table of groups leaves out; it may be nothing."""
    said = []
    listed = len(findings.groups)
    if listed < findings.n_groups:
        said.append(
            f"The table holds the {listed} largest of {findings.n_groups} groups, and the search "
            "knows these alone; model.groups_by_name() gives all."
        )
    others = sum(len(group.others) for group in findings.groups)
    unnamed = sum(group.n_unnamed for group in findings.groups)
    if others:
        said.append(
            f"{_count(others, 'feature')} of large groups {_are(others)} listed by name only; "
            "model.evidence_frame() has the evidence of all."
        )
    if unnamed:
        said.append(
            f"{_count(unnamed, 'feature')} of large groups {_are(unnamed)} not listed, and not "
            "found by the search; model.groups_by_name() gives all."
        )
    return said


def captions(findings: Findings) -> dict[str, str]:
    """Say of each picture how to read it, and what was cut."""
    said = {"thresholds": _of_thresholds(findings)}
    if findings.matrix is not None:
        said["correlations"] = _of_matrix(findings)
    if findings.path is not None:
        said["path"] = (
            f"Each point is a number of groups and the {findings.path.score_name} that it gives; "
            f"higher is better. {findings.path.how}"
        )
    if findings.coefficients is not None:
        said["coefficients"] = _of_coefficients(findings)
    return said | map_captions(findings)


def _of_matrix(findings: Findings) -> str:
    matrix = findings.matrix
    assert matrix is not None
    text = (
        "Each point is the correlation of two features; they are ordered by group, the largest "
        "first, so that groups are squares on the diagonal. Computed from "
        f"{findings.matrix_source}."
    )
    if len(matrix.names) < matrix.n_features:
        text += (
            f" Of {matrix.n_features} features {len(matrix.names)} are shown, evenly over that "
            "order."
        )
    return text


def _of_thresholds(findings: Findings) -> str:
    pairs = findings.pairs
    text = (
        "Each point is a decision on a pair: across, the correlation that it takes to merge; "
        "upwards, the correlation that there is. Pairs on or above the diagonal pass (F up to "
        f"{pairs.tolerance:g}), pairs below do not."
    )
    for table, kind in ((pairs.merged, "merged"), (pairs.near, "kept apart")):
        if table is not None and len(table.first) < table.total:
            text += f" Of {table.total} pairs {kind}, {len(table.first)} are shown."
    return f"{text} {pairs.note}".strip()


def _of_coefficients(findings: Findings) -> str:
    coefficients = findings.coefficients
    assert coefficients is not None
    text = (
        "The weights of the regression on the reduced features, spread back to the features in "
        "the order of their columns: how far a prediction rises with one standard deviation of "
        "each. The members of a group share one weight."
    )
    if len(coefficients.names) < coefficients.n_features:
        text += f" The first {len(coefficients.names)} of {coefficients.n_features} are shown."
    return text


def alternatives(findings: Findings) -> dict[str, str]:
    """Describe each picture to those who do not see it."""
    pairs = findings.pairs
    near = 0 if pairs.near is None else len(pairs.near.first)
    said = {
        "thresholds": f"Correlation against threshold: {len(pairs.merged.first)} merged pairs on "
        f"or above the diagonal, {near} pairs that stay apart below it."
    }
    if findings.matrix is not None:
        said["correlations"] = (
            f"Correlations of {len(findings.matrix.names)} features in the order of their groups."
        )
    if findings.path is not None:
        number, score = findings.path.chosen
        said["path"] = (
            f"{findings.path.score_name} against the number of groups; marked are {number:g} "
            f"groups with {decimals(score)} ({findings.path.chosen_name})."
        )
    if findings.coefficients is not None:
        values = findings.coefficients.values
        said["coefficients"] = (
            f"Weights of {values.size} features, from {values.min():.3g} to {values.max():.3g}."
        )
    return said | map_alternatives(findings)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
