"""The command line; the only part that prints."""

from ._main import main

__all__ = ["main"]
