"""Campaigns that try to break the library: ``python -m fuzz --help``."""

import sys
from pathlib import Path

# The literal strategies, by which groups are judged, are those of the tests.
sys.path.append(str(Path(__file__).parents[1] / "tests"))
