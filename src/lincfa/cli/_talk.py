"""What a command says: results on standard output, everything else on standard error."""

import json
import sys
import warnings
from collections.abc import Iterator, Mapping
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
        self._aside = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._output = Console(stderr=aside, highlight=False, markup=False, emoji=False)

    def say(self, what: Any = "", *, prose: bool = False) -> None:
        """Print a result for a person; prose is wrapped at the width of a terminal."""
        if not (self.quiet or self.as_json):
            wrapped = self._output.is_terminal if prose else not isinstance(what, str)
            self._output.print(what, soft_wrap=not wrapped)

    def give(self, outcome: Mapping[str, Any]) -> None:
        """Print the outcome for a program, if it is one that asked."""
        if self.as_json:
            text = json.dumps(outcome, allow_nan=False, ensure_ascii=False, indent=1)
            sys.stdout.write(text + "\n")

    def note(self, text: str) -> None:
        """Tell what a person should know, now and in the outcome."""
        self.notes.append(text)
        if not self.quiet:
            self._aside.print(f"note: {text}", soft_wrap=True)

    @contextmanager
    def noting_warnings(self) -> Iterator[None]:
        """Turn warnings of the library into notes."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            yield
        for text in dict.fromkeys(str(warning.message) for warning in caught):
            self.note(text)

    @contextmanager
    def busy(self, what: str) -> Iterator[None]:
        """Show on a terminal what is being done."""
        if self.quiet or not self._aside.is_terminal:
            yield
            return
        with self._progress("{task.description} …") as bar:
            bar.add_task(what, total=None)
            yield

    @contextmanager
    def counting(self, what: str) -> Iterator[Any]:
        """Show on a terminal how much is done; gives a function of done and total."""
        if self.quiet or not self._aside.is_terminal:
            yield lambda done, total: None
            return
        with self._progress("{task.description}", counted=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)

    def _progress(self, text: str, counted: bool = False) -> Any:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns: tuple[Any, ...] = (SpinnerColumn(), TextColumn(text), TimeElapsedColumn())
        if counted:
            columns = (
                TextColumn(text),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
            )
        return Progress(*columns, console=self._aside, transient=True)
