"""What a report tells, as plain data: a summary first, for a page, a picture or a program."""

from ._coefficients import Coefficients, spread_back
from ._groups import LONGEST_NAME
from ._matrix import CorrelationMatrix, correlate_by_group
from ._pairs import Pairs, PairTable, decide_pairs
from ._path import Curve, ScorePath, score_path
from ._reduced import find_reduced, find_reduced_scores, fit_to_reduced
from ._regression import linear_weights
from ._samples import Samples
from ._scores import Scores
from ._setting import settings_of, versions
from ._whole import Findings, find, find_scores, plain

__all__ = [
    "LONGEST_NAME",
    "Coefficients",
    "CorrelationMatrix",
    "Curve",
    "Findings",
    "PairTable",
    "Pairs",
    "Samples",
    "ScorePath",
    "Scores",
    "correlate_by_group",
    "decide_pairs",
    "find",
    "find_reduced",
    "find_reduced_scores",
    "find_scores",
    "fit_to_reduced",
    "linear_weights",
    "plain",
    "score_path",
    "settings_of",
    "spread_back",
    "versions",
]
