"""What a command says: results on standard output, everything else on standard error."""

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


class Talk:
    """The voice of one command.

    ``aside`` moves what is said to standard error, where standard output is for a table.

    Attributes
    ----------
    notes : list of str
        What was noted so far.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False, aside: bool = False) -> None:
        from rich.console import Console

        self.quiet = quiet
        self.as_json = as_json
        self.notes: list[str] = []
        self._terminal: Console | None = None
        self._aside = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._output = Console(stderr=aside, highlight=False, markup=False, emoji=False)

    def say(self, what: Any = "", *, prose: bool = False) -> None:
        """Print a result for a person; prose is wrapped at the width of a terminal."""
        if not (self.quiet or self.as_json):
            wrapped = _is_terminal(sys.stdout) if prose else not isinstance(what, str)
            self._output.print(what, soft_wrap=not wrapped)

    def give(self, outcome: Mapping[str, Any]) -> None:
        """Print the outcome for a program, if it is one that asked."""
        if self.as_json and sys.stdout is not None:
            text = json.dumps(outcome, allow_nan=False, ensure_ascii=False, indent=1)
            sys.stdout.write(text + "\n")

    def note(self, text: str) -> None:
        """Tell what a person should know, now and in the outcome."""
        self.notes.append(text)
        if not self.quiet:
            # While a bar is shown, above it.
            console = self._aside if self._terminal is None else self._terminal
            console.print(f"note: {text}", soft_wrap=True)

    @contextmanager
    def noting_warnings(self, but: str | None = None) -> Iterator[None]:
        """Turn warnings of the library into notes, but those that begin in some way."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            yield
        for text in dict.fromkeys(str(warning.message) for warning in caught):
            if but is None or not text.startswith(but):
                self.note(text)

    @contextmanager
    def busy(self, what: str) -> Iterator[None]:
        """Show on a terminal what is being done."""
        with self._progress(f"{what} …"):
            yield

    @contextmanager
    def counting(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """Show on a terminal how much is done; gives a function of done and total."""
        with self._progress(what, counted=True) as update:
            yield lambda done, total: update(completed=done, total=total)

    @property
    def shows_progress(self) -> bool:
        """Whether anyone looks on."""
        return not self.quiet and _is_terminal(sys.stderr)

    @contextmanager
    def _progress(self, what: str, counted: bool = False) -> Iterator[Callable[..., None]]:
        if not self.shows_progress:
            yield lambda **_: None
            return
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns: tuple[Any, ...] = (SpinnerColumn(), _text(TextColumn), TimeElapsedColumn())
        if counted:
            columns = (
                _text(TextColumn),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
            )
        # By a way of its own to the terminal: readers of tables may keep the usual one quiet.
        with open(os.dup(sys.stderr.fileno()), "w", encoding=sys.stderr.encoding) as terminal:
            self._terminal = Console(file=terminal, highlight=False, markup=False, emoji=False)
            try:
                with Progress(*columns, console=self._terminal, transient=True) as bar:
                    task = bar.add_task(what, total=None)
                    yield lambda **changes: bar.update(task, **changes)
            finally:
                self._terminal = None


def _text(column: Any) -> Any:
    """Show a description as it is: brackets in the name of a file are no markup."""
    return column("{task.description}", markup=False)


def _is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal, and not merely to be coloured like one (FORCE_COLOR)."""
    return stream is not None and stream.isatty()
