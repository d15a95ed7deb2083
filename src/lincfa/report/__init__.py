"""A report on a fitted model: one page of HTML that works offline, or JSON."""

from ._write import render, write_report

__all__ = ["render", "write_report"]
