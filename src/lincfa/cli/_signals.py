"""What happens when a signal ends the program."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .._replacing import _journal, handling_signals


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let Ctrl-C end the program at once, as other signals do, also while it runs code in C."""
    # A handler in Python would wait for the end of that code, which in a damaged file never comes.
    with suppress(ImportError):
        import polars  # noqa: F401  # which installs a handler of its own
    with handling_signals(signal.SIG_DFL, ["SIGINT"]):
        yield


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt at a signal, where others that work for this process must end too."""

    def interrupt(number: int, _: object) -> None:
        raise KeyboardInterrupt(number)

    with handling_signals(interrupt):
        yield


@contextmanager
def cleaning_up(journal: Path) -> Iterator[None]:
    """Have another process remove what a journal lists, if a signal ends this one meanwhile."""
    # It waits for the end of its standard input. Who reads our standard error until its end will
    # find everything cleaned up, as the other process has it too.
    command = [sys.executable, "-IS", _journal.__file__, os.fspath(journal)]
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, stdin=pipe, stdout=null, start_new_session=True)
    except OSError:  # the next command will do it
        yield
        return
    with process:
        try:
            yield
        finally:
            process.kill()
