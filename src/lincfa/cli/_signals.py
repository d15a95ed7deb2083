"""What happens when a signal ends the program."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .._model import _files

_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let Ctrl-C end the program at once, as other signals do, also while it runs code in C."""
    # A handler in Python would wait for the end of that code, which in a damaged file never comes.
    with suppress(ImportError):
        import polars  # noqa: F401  # which installs a handler of its own
    yield from _handling(["SIGINT"], signal.SIG_DFL)


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt at a signal, where others that work for this process must end too."""

    def interrupt(number: int, _: object) -> None:
        raise KeyboardInterrupt(number)

    yield from _handling(_ENDING, interrupt)


def _handling(names: Iterable[str], handler: "signal._HANDLER") -> Iterator[None]:
    """Have another handler of signals for a while, unless they are ignored, as with nohup."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name) for name in names if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


@contextmanager
def cleaning_up(journal: Path) -> Iterator[None]:
    """Have another process remove what a journal lists, if a signal ends this one meanwhile."""
    # It waits for the end of its standard input. Who reads our standard error until its end will
    # find everything cleaned up, as the other process has it too.
    command = [sys.executable, "-IS", _files.__file__, os.fspath(journal)]
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
