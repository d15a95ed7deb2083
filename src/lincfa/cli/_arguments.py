"""Options that several commands share, the values they take, and the data they name."""

import argparse
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn

from ._terminal import Terminal, print_error

if TYPE_CHECKING:
    from ._files import DataFile, Format

STRATEGIES = ("sequential", "centroid", "agglomerative", "joint")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and that takes an option of one value only once."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.register("action", None, _StoreOnce)
        self.register("action", "store", _StoreOnce)
        # As in Python from 3.14 on, so that -1e30 is a value and not an option.
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.given: set[str] = set()
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:  # of a command: here, so that the error names its help
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return options, unknown

    def error(self, message: str) -> NoReturn:
        print_error(f"{self.prog}: error: {message} ({self.prog} --help)")
        self.exit(2)


class _StoreOnce(argparse._StoreAction):
    """Stores a value; a second one is an error, and not what counts."""

    def __call__(
        self,
        parser: Any,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if option_string is not None and self.nargs in (None, "?") and self.dest in parser.given:
            parser.error(f"{self.option_strings[-1]} is given more than once, and takes one value")
        parser.given.add(self.dest)
        super().__call__(parser, namespace, values, option_string)


def add_command(
    commands: Any, name: str, run: Any, *, help: str, description: str, examples: str = ""
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=description,
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--debug", action="store_true", help="show where in the code an error arose"
    )
    parser.set_defaults(run=run, refuse=parser.error)
    return parser


def add_verbosity(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.add_argument(
        "--json", action="store_true", help="print the outcome as JSON, for other programs"
    )


def add_data(
    parser: argparse.ArgumentParser,
    *,
    missing: str,
    default_missing: str | None = "error",
    target: bool = True,
) -> None:
    parser.add_argument(
        "data",
        help="table with one row per sample, or field: .csv, .tsv or .txt (also .gz, .bz2, .xz, "
        ".zst), .xlsx (also .xls, .xlsb, .ods), .parquet, .feather, .nc, .cdf or .zarr; - reads "
        "CSV from standard input",
    )
    if target:
        parser.add_argument(
            "--target",
            action="append",
            required=True,
            metavar="COLUMN",
            help="what to predict: numbers, or labels of classes (text, categories or booleans); "
            "also a pattern such as 'y*', and the option may be repeated, for several targets with "
            "one set of groups",
        )
        parser.add_argument(
            "--target-file",
            metavar="FILE",
            help="take the target from this file, in any of these formats, matched by date "
            "(default: from the data)",
        )
        parser.add_argument(
            "--classes",
            action="store_true",
            help="the target holds labels of classes even if they are numbers",
        )
    parser.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="COLUMN",
        help="leave out this column; also a pattern such as 'id*', or the name of a gridded "
        "variable for all its cells, and the option may be repeated",
    )
    parser.add_argument(
        "--missing",
        choices=("error", "drop", "pairwise"),
        default=default_missing,
        help=missing,
    )
    parser.add_argument(
        "--missing-code",
        action="append",
        default=[],
        type=number("a number", isfinite),
        metavar="CODE",
        help="a number that means missing, such as -9999, in features and target; may be repeated",
    )
    parser.add_argument(
        "--separator",
        metavar="CHARACTER",
        type=character,
        help="separator of a CSV file (default: found in its first line)",
    )
    parser.add_argument(
        "--decimal",
        choices=(".", ","),
        help="decimal sign in a CSV file (default: a comma where that is clear, else a point)",
    )
    parser.add_argument(
        "--comment",
        type=comment,
        metavar="TEXT",
        help="skip the lines of a CSV file that begin with this, such as '#'",
    )
    parser.add_argument(
        "--sheet", metavar="NAME", help="sheet of an Excel file (default: the first)"
    )
    parser.add_argument(
        "--samples",
        metavar="DIMENSION",
        help="dimension of the samples in a NetCDF file or Zarr store (default: that of the "
        "target, or of time)",
    )
    parser.add_argument(
        "--dates",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="column of a table with the dates of its rows, or several such as year month "
        "(default: the only column of dates in order)",
    )


def add_dask(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dask",
        nargs="?",
        const="threads",
        type=place_to_compute,
        metavar="WHERE",
        help="read a .parquet file or .zarr store in chunks, by dask: in threads (default), in "
        "processes, or at the address of a scheduler such as tcp://host:8786; a folder of Parquet "
        "files is always read so",
    )


def add_output(parser: argparse._ActionsContainer, what: str, ending: str) -> None:
    parser.add_argument(
        "--output",
        metavar="FILE",
        help=f"{what}, in the format of the suffix; - for standard output (default: named after "
        f"the data, with -{ending}, in the current folder)",
    )
    parser.add_argument("--force", action="store_true", help="replace files that exist")


def check_files(options: argparse.Namespace, *names: str) -> None:
    """End with an error of usage if an output that must be a file is standard output."""
    for name in names:
        if getattr(options, name) == "-":
            options.refuse(f"--{name} takes the name of a file, not standard output")


def check_options(options: argparse.Namespace) -> None:
    """End with an error of usage if options do not fit each other or the format of the data."""
    from ._files import format_of

    format = format_of(options.data)
    output = getattr(options, "output", None)
    if options.json and output == "-":
        options.refuse("--json and --output - both print to standard output; give one of the two")
    if options.samples is not None and not format.is_grid:
        options.refuse("--samples is for NetCDF files and Zarr stores")
    if getattr(options, "area_weights", False) and not format.is_grid:
        options.refuse("--area-weights is for NetCDF files and Zarr stores, which have latitudes")
    target_file = getattr(options, "target_file", None)
    files = [format] if target_file is None else [format, format_of(target_file)]
    for name, kind in _OF_TABLES.items():
        if getattr(options, name) is not None and all(each.kind != kind for each in files):
            options.refuse(f"--{name} is for {'CSV' if kind == 'csv' else 'Excel'} files")
    if options.decimal == options.separator == ",":
        options.refuse("--decimal and --separator are both a comma; they must differ")
    if options.dates and all(each.is_grid for each in files):
        options.refuse("--dates is for tables; fields have a coordinate of time")
    if getattr(options, "groups", None) is not None:
        for option in ("folds", "gap"):
            if getattr(options, option) is not None:
                options.refuse(f"--groups holds out whole groups of rows; leave out --{option}")
        for option in ("lags", "lead"):
            if getattr(options, option):
                options.refuse(f"--{option} would reach from one group of rows into another")
    if getattr(options, "folds", None) == "shuffled" and options.gap is not None:
        options.refuse("--gap is for --folds blocks")
    lags = getattr(options, "lags", [])
    if len({*lags}) < len(lags):
        options.refuse("--lags must be different numbers")
    if getattr(options, "dask", None) is not None and format.kind not in ("parquet", "zarr"):
        name = "standard input" if options.data == "-" else options.data
        options.refuse(f"--dask reads Parquet files, folders of them and Zarr stores, not {name}")
    if scheduler_of(options) is None:
        return
    if output == "-":
        options.refuse("data read in chunks are written into a folder; name it with --output")
    for option in ("target_file", "lags", "lead"):
        if getattr(options, option, None):
            name = f"--{option.replace('_', '-')}"
            options.refuse(f"{name} is for data in memory, and these are read in chunks")


def scheduler_of(options: argparse.Namespace) -> str | None:
    """Return where dask computes; None where data are read into memory."""
    from ._files import format_of

    if not hasattr(options, "dask"):
        return None
    where: str | None = options.dask
    return "threads" if where is None and format_of(options.data).is_folder else where


_OF_TABLES = {"separator": "csv", "decimal": "csv", "comment": "csv", "sheet": "excel"}


def format_given(options: argparse.Namespace, path: str) -> "Format":
    """Return the format of the data, or of the file of the target, with what options say of it."""
    # What fits the data is theirs alone, but for comments.
    from ._files import format_of

    format, own = format_of(path), format_of(options.data)
    is_data = path == options.data
    given = {
        name: getattr(options, name)
        for name, kind in _OF_TABLES.items()
        if kind == format.kind and (is_data or own.kind != kind or name == "comment")
    }
    return replace(format, **{name: value for name, value in given.items() if value is not None})


def open_options(
    options: argparse.Namespace,
    terminal: "Terminal",
    *,
    targets: Sequence[str] = (),
    model: Any = None,
) -> "DataFile":
    from ._files import open_data

    where = scheduler_of(options)
    with terminal.warnings_as_notes():  # of libraries
        data = open_data(
            options.data,
            format_given(options, options.data),
            samples=options.samples,
            targets=targets,
            classes=getattr(options, "classes", False),
            model=model,
            in_chunks=where is not None,
            scheduler="://" in (where or ""),
            codes=options.missing_code,
            dates=() if getattr(options, "target_file", None) else options.dates,
        )
    terminal.note_all(data.notes)
    return data


def add_test(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--test",
        type=number("a share from 0 to below 1", lambda value: 0 <= value < 1),
        metavar="SHARE",
        help="share of the rows that the groups are not learned from but scored on (default: 0.3, "
        "or 0 with fewer than 20 rows); 0 learns from all and scores nothing",
    )
    parser.add_argument("--seed", type=natural, default=0, help="seed of the split (default: 0)")


def add_groups(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--groups",
        metavar="COLUMN",
        help="hold out whole groups of rows, such as batches or firms, which this column names by "
        "text or whole numbers; it is no feature (default: rows, or blocks where they have dates)",
    )


def add_time(parser: argparse.ArgumentParser, what: str) -> None:
    group = parser.add_argument_group("samples in time")
    group.add_argument(
        "--folds",
        choices=("blocks", "shuffled"),
        help=f"{what} (default: blocks where the rows have dates)",
    )
    group.add_argument(
        "--gap",
        type=natural,
        metavar="N",
        help="dates next to a block that are neither held out nor learned from (default: the lead "
        "and the largest lag together)",
    )
    group.add_argument(
        "--lags",
        nargs="+",
        type=lag,
        default=[],
        metavar="K",
        help="take features from this many steps before, such as 0 1 2; features of different "
        "lags never merge (default: 0, the date itself)",
    )
    group.add_argument(
        "--lead",
        type=natural,
        default=0,
        metavar="N",
        help="predict the target this many steps later (default: 0)",
    )


def add_merging(parser: argparse._ActionsContainer, *, search: bool = True) -> None:
    words = ["unbiased", "cv"] if search else ["unbiased"]
    expected = f"a positive number{', ' if search else ' or '}{' or '.join(map(repr, words))}"
    choose, default = "", "1, the paper's rule"
    if search:
        choose = ", or 'cv' to choose by cross-validation"
        default = "cv where that takes up to about a minute, else 1, the paper's rule"
    parser.add_argument(
        "--tolerance",
        type=number(expected, lambda value: value > 0, words),
        default=None if search else 1.0,
        metavar="C",
        help=f"merge where F is at most C: a number, 'unbiased' (2){choose} (default: {default})",
    )
    parser.add_argument(
        "--noise",
        type=number("'pair', 'full' or a positive number", lambda v: v > 0, ("pair", "full")),
        default="pair",
        metavar="V",
        help="variance of the noise in F: 'pair' from each pair's own regression (default), 'full' "
        "from one on all features, or the variance itself",
    )
    parser.add_argument(
        "--min-correlation",
        type=number("a correlation, from -1 to 1", lambda value: -1 <= value <= 1),
        metavar="R",
        help="never merge features that are correlated by less (default: the rule alone)",
    )
    add_signed(parser, "; best together with --min-correlation")


def add_neighbours(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--connectivity",
        choices=("grid", "chain", "stations"),
        help="merge neighbours only: adjacent cells of a NetCDF file or Zarr store, adjacent "
        "columns, as in a spectrum, or stations within --radius-km (default: any features may "
        "merge)",
    )
    parser.add_argument(
        "--stations",
        metavar="FILE",
        help="table with the name, latitude and longitude of each column, for --connectivity "
        "stations (default: coordinates of the field)",
    )
    parser.add_argument(
        "--radius-km",
        type=distance,
        metavar="R",
        help="stations at most this far apart are neighbours",
    )


def check_neighbours(options: argparse.Namespace) -> None:
    """End with an error of usage if options of neighbours do not fit each other or the format."""
    from ._files import format_of

    if options.connectivity == "grid" and not format_of(options.data).is_grid:
        options.refuse(
            "--connectivity grid is for NetCDF files and Zarr stores; for adjacent columns use "
            "--connectivity chain"
        )
    if options.connectivity == "stations" and options.radius_km is None:
        options.refuse("--connectivity stations needs --radius-km")
    if options.radius_km is not None and options.connectivity != "stations":
        options.refuse("--radius-km is for --connectivity stations")
    if options.stations is not None and options.connectivity != "stations":
        options.refuse("--stations is for --connectivity stations")


def add_area_weights(parser: argparse._ActionsContainer, effect: str = "") -> None:
    parser.add_argument(
        "--area-weights",
        action="store_true",
        help=f"let cells of a field count by their area, the cosine of the latitude{effect}",
    )


def add_signed(parser: argparse._ActionsContainer, advice: str = "") -> None:
    parser.add_argument(
        "--signed",
        action="store_true",
        help="merge also features that measure the same with opposite sign, one of them flipped"
        + advice,
    )


def natural(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 2147483647")
    return int(text)


def lag(text: str) -> int:
    try:
        return natural(text)
    except argparse.ArgumentTypeError as error:
        hint = "; separate lags by spaces" if "," in text else ""
        hint = "; the future is for --lead" if text.startswith("-") else hint
        raise argparse.ArgumentTypeError(f"{error}{hint}") from None


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def number(
    expected: str, valid: Callable[[float], bool], words: Sequence[str] = ()
) -> Callable[[str], float | str]:
    """Return a function that reads a finite number, or one of some words."""

    def read(text: str) -> float | str:
        if text in words:
            return text
        with suppress(ValueError):
            if isfinite(float(text)) and valid(float(text)):
                return float(text)
        raise argparse.ArgumentTypeError(f"{text!r} is not {expected}")

    return read


distance = number("a positive number of kilometres", lambda value: value > 0)


def place_to_compute(text: str) -> str:
    if text not in ("threads", "processes") and "://" not in text:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not threads, processes or the address of a scheduler such as "
            "tcp://host:8786; name the data before --dask"
        )
    return text


def comment(text: str) -> str:
    if not text.strip() or any(sign in text for sign in '"\r\n'):
        raise argparse.ArgumentTypeError(f"{text!r} is not the plain text that a line begins with")
    return text


def character(text: str) -> str:
    """Read one character; a tab may be written as such, or as a word."""
    text = {"\\t": "\t", "tab": "\t"}.get(text, text)
    if len(text.encode()) != 1 or text in '"\r\n':
        raise argparse.ArgumentTypeError(f"{text!r} is not a single plain character")
    return text
