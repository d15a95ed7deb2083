"""The command ``lincfa``: its subcommands, and its errors."""

import argparse
import errno
import io
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from .. import __version__
from .._replacing import handling_signals
from . import _apply, _compare, _demo, _explain, _predict, _reduce
from ._arguments import Parser
from ._terminal import print_error, print_warning

_EXAMPLES = """\
examples:
  lincfa reduce data.csv --target y           reduced data, model.json and report.html
  lincfa predict model.json new.csv           the target of new samples
  lincfa apply model.json new.csv             the same groups for new samples
  lincfa explain data.csv --target y A B      why A and B merge, or why they do not
  lincfa compare data.csv --target y          against ridge, PCA, PLS, ...
  lincfa COMMAND --help                       more on a command

exit codes: 0 done, 1 the job failed, 2 wrong usage, 128 + N ended by signal N"""

_FULL = (errno.ENOSPC, errno.EDQUOT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command ``lincfa``; returns its exit code."""
    options = _parser().parse_args(arguments)
    options.arguments = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show R² shows R?
            stream.reconfigure(errors="replace")
    # Who calls this as a function is not ended by a signal.
    ending = _ended_by_signals() if arguments is None else nullcontext()
    try:
        with ending, warnings.catch_warnings():
            warnings.showwarning = print_warning
            code = int(options.run(options))
            if sys.stdout is not None:  # it is None where standard output is closed
                sys.stdout.flush()
            return code
    except BrokenPipeError:  # the reader of the output has stopped
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt as error:
        return _fail("interrupted", 128 + next(iter(error.args), signal.SIGINT))
    except Exception as error:
        if options.debug:
            print_error(traceback.format_exc().rstrip(), "\n")
            return 1
        return _fail(_message(error))


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let Ctrl-C end the program at once, as other signals do, also while it runs code in C."""
    # A handler in Python would wait for the end of that code, which in a damaged file never comes.
    with suppress(ImportError):
        import polars  # noqa: F401  # which installs a handler of its own
    with handling_signals(signal.SIG_DFL, ["SIGINT"]):
        yield


def _message(error: Exception) -> str:
    """Return what went wrong in a line or two."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == "rich":
        return "this needs rich; install it with: pip install 'lincfa[cli]'"
    if isinstance(error, OSError) and error.errno is not None:
        said = error.strerror or str(error)
        if error.filename is None:
            return said
        advice = "; free some space there, or write elsewhere" if error.errno in _FULL else ""
        return f"{error.filename}: {said}{advice}"
    if isinstance(error, ValueError | ImportError | OSError):  # ours, which are explained
        return str(error)
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}".removesuffix(": ")
    return f"unexpected {type(error).__name__}: {error} (--debug shows where)"


def _fail(message: str, code: int = 1) -> int:
    print_error(f"lincfa: {message}")
    return code


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="lincfa",
        description="Reduce many correlated features to few plain means, supervised by a target.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"lincfa {__version__}")
    commands: Any = parser.add_subparsers(title="commands", required=True, metavar="command")
    for command in (_reduce, _predict, _apply, _explain, _compare, _demo):
        command.add(commands)
    return parser
