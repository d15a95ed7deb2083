"""The rule F ≤ tolerance: F of a pair, its inverse (the threshold), noise and evidence."""

from ._evidence import EVIDENCE, EvidenceArray, complete
from ._rule import MARGIN, Rule, merge_threshold, pairs_from_correlations, tolerance_value

__all__ = [
    "EVIDENCE",
    "MARGIN",
    "EvidenceArray",
    "Rule",
    "complete",
    "merge_threshold",
    "pairs_from_correlations",
    "tolerance_value",
]
