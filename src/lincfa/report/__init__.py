"""A report on a fitted model: one page of HTML that works offline, or JSON."""

from ._write import render, report_text, write_report

__all__ = ["render", "report_text", "write_report"]
