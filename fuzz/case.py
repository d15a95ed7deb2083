"""A case: what one attempt was made of, as values that a file can hold and a test can replay."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

_HEADER = "case"


@dataclass(frozen=True)
class Case:
    """One attempt."""

    campaign: str
    options: dict[str, Any]  # as JSON has them
    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)  # bytes of a file as uint8

    def save(self, path: Path) -> None:
        """Write the case as one .npz file, without pickles."""
        header = json.dumps({"campaign": self.campaign, "options": self.options})
        with path.open("wb") as file:
            np.savez_compressed(file, **{_HEADER: np.array(header)}, **self.arrays)

    @classmethod
    def load(cls, path: Path) -> "Case":
        """Read what :meth:`save` wrote."""
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        return cls(**json.loads(str(arrays.pop(_HEADER))), arrays=arrays)


@dataclass(frozen=True)
class Tried:
    """What came of a case that did not fail: how much was compared, and what rounding decides."""

    cases: int = 1
    unclear: int = 0  # too near a tie or the tolerance to be judged
    fault: str = ""  # where another library crashed or did not end, which is not our failure


class Campaign(Protocol):
    """What a module in this folder has to be a campaign."""

    SHARE: float  # of the time, relative to those of the others
    LIMIT: float  # seconds after which a case counts as one that does not end
    NEEDS: tuple[str, ...]  # packages and files without which it is left out

    def draw(self, rng: np.random.Generator) -> Case:
        """Make a case; the same for the same generator."""

    def check(self, case: Case) -> Tried:
        """Try it; raise if the library fails."""
