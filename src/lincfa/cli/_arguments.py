"""Options that several commands share, and the values they take."""

import argparse
from typing import Any, NoReturn

STRATEGIES = ("sequential", "centroid", "agglomerative", "joint")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are a line that says where to read more, not all options."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end with the code for wrong usage."""
        self.exit(2, f"{self.prog}: error: {message} ({self.prog} --help)\n")


def add_command(
    commands: Any, name: str, run: Any, *, help: str, description: str, examples: str = ""
) -> argparse.ArgumentParser:
    """Add a command with what every command has."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=description,
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--debug", action="store_true", help="show where an error arose")
    parser.set_defaults(run=run, refuse=parser.error)
    return parser


def add_talk(parser: argparse.ArgumentParser) -> None:
    """Add how much a command says, and in which language."""
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")
    parser.add_argument(
        "--json", action="store_true", help="print the outcome as JSON, for other programs"
    )


def add_data(parser: argparse.ArgumentParser, *, target: bool = True) -> None:
    """Add the table to read."""
    parser.add_argument(
        "data",
        help="table with one row per sample: .csv, .tsv or .txt (also .gz, .bz2, .xz, .zst), "
        ".parquet, .feather, .nc or .zarr; - reads CSV from standard input",
    )
    if target:
        parser.add_argument("--target", required=True, metavar="COLUMN", help="what to predict")
    parser.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="COLUMN",
        help="leave this column out; a pattern such as 'id*', or the name of a gridded variable, "
        "means several, and the option may be repeated",
    )
    parser.add_argument(
        "--missing",
        choices=("error", "drop"),
        default="error",
        help="rows with missing values: stop with an error (default), or leave them out",
    )
    parser.add_argument(
        "--separator",
        metavar="CHARACTER",
        type=character,
        help="what separates the columns of a CSV (default: found out from its first line)",
    )
    parser.add_argument(
        "--samples",
        metavar="DIMENSION",
        help="dimension of the samples in a NetCDF file or Zarr store (default: time)",
    )


def add_dask(parser: argparse.ArgumentParser) -> None:
    """Add that a table is read in chunks, and where."""
    parser.add_argument(
        "--dask",
        nargs="?",
        const="threads",
        type=place_to_compute,
        metavar="WHERE",
        help="read a .parquet or .zarr table in chunks, by dask: in threads (if nothing else is "
        "said), in processes, or at the address of a scheduler such as tcp://host:8786; a folder "
        "of Parquet files is read so in any case",
    )


def add_output(parser: argparse._ActionsContainer) -> None:
    """Add where the reduced table goes."""
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="reduced table, its format chosen by its suffix; - for standard output (default: "
        "named after the data, with -reduced, in this folder)",
    )
    parser.add_argument("--force", action="store_true", help="replace files that exist")


def refuse_mixed_output(options: argparse.Namespace) -> None:
    """Refuse to print a table and the outcome as JSON one behind the other."""
    if options.json and options.output == "-":
        options.refuse("--json and --output - both print to standard output; give one of the two")


def add_split(parser: argparse._ActionsContainer) -> None:
    """Add which rows are learned from."""
    parser.add_argument(
        "--test",
        type=share,
        metavar="SHARE",
        help="share of the rows that the groups are not learned from but scored on (default: 0.3, "
        "or 0 with fewer than 20 rows); 0 learns from all and scores nothing",
    )
    parser.add_argument(
        "--split",
        choices=("random", "time"),
        default="random",
        help="hold out rows at random (default), or the last ones, for rows in the order of time",
    )
    parser.add_argument("--seed", type=natural, default=0, help="seed of the split (default: 0)")


def add_merging(parser: argparse._ActionsContainer, *, search: bool = True) -> None:
    """Add the rule by which features merge."""
    words = "'unbiased' (2)" + (", or 'cv' to choose by cross-validation" if search else "")
    parser.add_argument(
        "--tolerance",
        type=tolerance if search else plain_tolerance,
        default=1.0,
        metavar="C",
        help=f"merge where F is at most C: a number, {words} (default: 1, the paper's rule)",
    )
    parser.add_argument(
        "--noise",
        type=noise,
        default="pair",
        metavar="V",
        help="variance of the noise in F: 'pair' from each pair's own regression (default), 'full' "
        "from one on all features, or the variance itself",
    )
    parser.add_argument(
        "--min-correlation",
        type=correlation,
        metavar="R",
        help="never merge features that are correlated by less (default: the rule alone)",
    )


def natural(text: str) -> int:
    """Read a seed."""
    if not text.isdecimal() or int(text) >= 2**31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 2147483647")
    return int(text)


def positive(text: str) -> int:
    """Read a count."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def share(text: str) -> float:
    """Read a share of the rows, below 1."""
    value = _number(text)
    if value is None or not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share from 0 to below 1")
    return value


def correlation(text: str) -> float:
    """Read a correlation."""
    value = _number(text)
    if value is None or not -1 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a correlation, from -1 to 1")
    return value


def plain_tolerance(text: str) -> float | str:
    """Read a tolerance: a number or its word."""
    value = _number(text)
    if text == "unbiased":
        return text
    if value is None or value <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a positive number nor 'unbiased'")
    return value


def tolerance(text: str) -> float | str:
    """Read a tolerance, or that it is to be chosen."""
    if text == "cv":
        return text
    try:
        return plain_tolerance(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a positive number, nor 'unbiased', nor 'cv'"
        ) from error


def noise(text: str) -> float | str:
    """Read a variance of the noise."""
    value = _number(text)
    if text in ("pair", "full"):
        return text
    if value is None or value <= 0:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither 'pair', nor 'full', nor a positive number"
        )
    return value


def place_to_compute(text: str) -> str:
    """Read where dask computes."""
    if text not in ("threads", "processes") and "://" not in text:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither threads, nor processes, nor the address of a scheduler such as "
            "tcp://host:8786; name the table before --dask"
        )
    return text


def character(text: str) -> str:
    """Read one character; a tab may be written as such, or as a word."""
    text = {"\\t": "\t", "tab": "\t"}.get(text, text)
    if len(text.encode()) != 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a single character")
    return text


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None
