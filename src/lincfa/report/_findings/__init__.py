"""What a report tells, as plain data: a summary first, for a page, a picture or a program."""

from ._coefficients import Coefficients, effect_of_features, spread_back
from ._groups import LONGEST_NAME
from ._intervals import Interval
from ._maps import CONSTANT, LEFT_OUT, Map, map_of, map_on
from ._matrix import CorrelationMatrix, correlate_by_group
from ._pairs import Pairs, PairTable, decide_pairs
from ._path import Curve, ScorePath, score_path
from ._places import Places
from ._reduced import find_reduced, find_reduced_scores, fit_to_reduced
from ._regression import linear_weights
from ._row import Row, row_of
from ._samples import Samples
from ._scores import Scores
from ._setting import settings_of, versions
from ._whole import Findings, find, find_scores, plain

__all__ = [
    "CONSTANT",
    "LEFT_OUT",
    "LONGEST_NAME",
    "Coefficients",
    "CorrelationMatrix",
    "Curve",
    "Findings",
    "Interval",
    "Map",
    "PairTable",
    "Pairs",
    "Places",
    "Row",
    "Samples",
    "ScorePath",
    "Scores",
    "correlate_by_group",
    "decide_pairs",
    "effect_of_features",
    "find",
    "find_reduced",
    "find_reduced_scores",
    "find_scores",
    "fit_to_reduced",
    "linear_weights",
    "map_of",
    "map_on",
    "plain",
    "row_of",
    "score_path",
    "settings_of",
    "spread_back",
    "versions",
]
