"""Target values for measured ratios, and where the benchmarks write their results."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Bar:
    """A measured ratio and its target."""

    what: str
    wanted: str
    value: float
    met: bool

    @classmethod
    def at_least(cls, what: str, bound: float, value: float) -> "Bar":
        """Return a ratio that should be large."""
        return cls(what, f"≥ {bound:g}", value, value >= bound)

    @classmethod
    def at_most(cls, what: str, bound: float, value: float) -> "Bar":
        """Return a ratio that should be small."""
        return cls(what, f"≤ {bound:g}", value, value <= bound)

    @classmethod
    def holds(cls, what: str, true: bool) -> "Bar":
        """Return a condition that must hold at any size."""
        return cls(what, "yes", bool(true), bool(true))

    @property
    def measured(self) -> str:
        """The value as text."""
        if isinstance(self.value, bool):
            return "yes" if self.value else "NO"
        return f"{self.value:.3g}"


def table_of(bars: list[Bar], quick: bool) -> Table:
    """Return the table of ratios; quick runs are too small to compare with targets."""
    table = Table(title="Ratios (quick run, too small to judge)" if quick else "Ratios and targets")
    for title in ("what", "measured") if quick else ("what", "measured", "target", "met"):
        table.add_column(title, justify="left" if title == "what" else "right")
    for bar in bars:
        verdict = () if quick else (bar.wanted, "yes" if bar.met else "NO")
        table.add_row(bar.what, bar.measured, *verdict)
    return table


def new_console() -> Console:
    """Return a console that records its text, after printing what machine this is."""
    RESULTS.mkdir(exist_ok=True)
    console = Console(record=True, width=None if os.isatty(1) else 130)
    console.print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, NumPy {np.__version__}"
    )
    return console


def save(console: Console, name: str, quick: bool) -> None:
    """Save the recorded text."""
    path = RESULTS / f"{name}{'-quick' if quick else ''}.txt"
    path.write_text(console.export_text(), encoding="utf-8")
    console.print(f"saved {path}")
