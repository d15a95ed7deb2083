"""What happens when a signal ends the program."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .._replacing import handling_signals


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
