"""A fitted model as plain data, and back: the content of a saved file.

``docs/evidence.md`` documents the schema. A reader trusts nothing: every value is checked before a
model is made of it, and a checksum tells a file that was changed.
"""

from ._read import opened, restore
from ._write import describe, envelope

__all__ = ["describe", "envelope", "opened", "restore"]
