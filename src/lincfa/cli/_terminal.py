"""What a command prints: results on standard output, everything else on standard error.

Text may hold names of files and columns, which must not command the terminal: all of it is escaped
here, or in the one that prints errors and warnings, ``print_error``.
"""

import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TextIO

from .._model._display import json_text, visible

TARGETS_SHOWN = 20  # of several, those whose scores are printed


class Terminal:
    """The output of one command.

    ``aside`` moves results to standard error, where standard output is for a table.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False, aside: bool = False) -> None:
        from rich.console import Console

        class Steady(Console):
            def show_cursor(self, show: bool = True) -> bool:
                return False  # a signal that ends the program would leave it hidden

        self.quiet = quiet
        self.as_json = as_json
        self.notes: list[str] = []
        self._errors = Steady(stderr=True, highlight=False, markup=False, emoji=False)
        self._output = Console(stderr=aside, highlight=False, markup=False, emoji=False)

    def print(self, what: Any = "", *, prose: bool = False, lines: bool = False) -> None:
        """Print a result for a person: a line, prose to be wrapped, or several lines."""
        if not (self.quiet or self.as_json):
            what = visible(what, "\n" if lines else "") if isinstance(what, str) else what
            wrapped = _is_terminal(sys.stdout) if prose else not isinstance(what, str)
            self._output.print(what, soft_wrap=not wrapped)

    def print_json(self, outcome: Mapping[str, Any]) -> None:
        """Print the outcome for a program, with --json."""
        if self.as_json and sys.stdout is not None:
            sys.stdout.write(json_text(outcome) + "\n")

    def note(self, text: str) -> None:
        """Print a note, which the outcome for programs has too."""
        self.notes.append(text)
        if not self.quiet:
            self._errors.print(f"note: {visible(text, '')}", soft_wrap=True)

    def note_all(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.note(text)

    @contextmanager
    def warnings_as_notes(self, *without: type[Warning]) -> Iterator[None]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            for category in without:
                warnings.simplefilter("ignore", category)
            yield
        messages = (re.sub(r"\s*\n\s*", " ", str(warning.message)) for warning in caught)
        self.note_all(dict.fromkeys(messages))

    def busy(self, what: str) -> AbstractContextManager[Any]:
        return self._progress(f"{what} …")

    @contextmanager
    def counting(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """Show a bar on a terminal; yields a function of how much is done and the total."""
        with self._progress(what, counted=True) as update:
            yield lambda done, total: update(completed=done, total=total)

    @property
    def shows_progress(self) -> bool:
        return not self.quiet and _is_terminal(sys.stderr)

    @contextmanager
    def _progress(self, what: str, counted: bool = False) -> Iterator[Callable[..., None]]:
        if not self.shows_progress:
            yield lambda **_: None
            return
        from rich import progress

        # No markup: a file name may have brackets.
        text = progress.TextColumn("{task.description}", markup=False)
        columns: list[Any] = [progress.SpinnerColumn(), text, progress.TimeElapsedColumn()]
        if counted:
            counter, left = progress.MofNCompleteColumn(), progress.TimeRemainingColumn()
            columns = [text, progress.BarColumn(), counter, progress.TimeElapsedColumn(), left]
        with progress.Progress(*columns, console=self._errors, transient=True) as bar:
            task = bar.add_task(visible(what, ""), total=None)
            yield lambda **changes: bar.update(task, **changes)


def print_error(text: str, keep: str = "") -> None:
    """Print a line on standard error, or several; nothing where it is closed."""
    if sys.stderr is not None:
        sys.stderr.write(f"{visible(text, keep)}\n")


def print_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as Python does, in place of ``warnings.showwarning``."""
    print_error(warnings.formatwarning(message, category, filename, lineno, line).rstrip(), "\n")


def _is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal, and not merely to be coloured like one (FORCE_COLOR)."""
    return stream is not None and stream.isatty()
