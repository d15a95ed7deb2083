"""The evidence of merges: the figures behind each decision."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..theory._arrays import FloatArray

EvidenceArray: TypeAlias = npt.NDArray[np.void]

EVIDENCE = np.dtype(
    [
        ("group", np.intp),
        ("feature", np.intp),
        ("partner", np.intp),
        ("correlation", np.float64),
        ("threshold", np.float64),
        ("f", np.float64),
        ("tolerance", np.float64),
        ("variance_drop_share", np.float64),
        ("bias_growth_share", np.float64),
    ]
)
"""What a strategy records of each merged feature: what it was compared with, and the figures of the
decision. Shares are of the target's variance."""

COMPLETE_EVIDENCE = np.dtype(
    [
        *((name, EVIDENCE[name]) for name in EVIDENCE.names or ()),
        ("gain_share", np.float64),
        ("variance_drop", np.float64),
        ("bias_growth", np.float64),
        ("gain", np.float64),
    ]
)
"""The same with the net gain, and with all three in the square of the target's unit."""


def complete(evidence: EvidenceArray, target_scale: float) -> EvidenceArray:
    """Add what follows from the recorded figures."""
    result = np.empty(evidence.size, dtype=COMPLETE_EVIDENCE)
    for name in EVIDENCE.names or ():
        result[name] = evidence[name]
    result["gain_share"] = result["variance_drop_share"] - result["bias_growth_share"]
    for name in ("variance_drop", "bias_growth", "gain"):
        result[name] = in_target_units(result[f"{name}_share"], target_scale)
    return result


def in_target_units(share: npt.ArrayLike, target_scale: float) -> FloatArray:
    """Convert shares of the target's variance to the square of the target's unit."""
    share = np.asarray(share, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):  # units may be extreme: 0 and inf are limits
        return np.asarray(np.sign(share) * (np.sqrt(np.abs(share)) * target_scale) ** 2)
