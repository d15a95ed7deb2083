"""What a report tells, as plain data: a summary first, for a page, a picture or a program."""

from ._coefficients import Coefficients, spread_back
from ._groups import Group, Member, describe_groups, merge_words
from ._matrix import CorrelationMatrix, correlate_by_group
from ._pairs import Pairs, PairTable, decide_pairs
from ._path import Curve, ScorePath, score_path
from ._samples import Samples
from ._scores import Interval, RegressionScore, Scores
from ._whole import Findings, find

__all__ = [
    "Coefficients",
    "CorrelationMatrix",
    "Curve",
    "Findings",
    "Group",
    "Interval",
    "Member",
    "PairTable",
    "Pairs",
    "RegressionScore",
    "Samples",
    "ScorePath",
    "Scores",
    "correlate_by_group",
    "decide_pairs",
    "describe_groups",
    "find",
    "merge_words",
    "score_path",
    "spread_back",
]
