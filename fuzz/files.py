"""Damaged and odd files of every format, given to the command line in a process of its own.

Whatever the file: the command ends in time and within memory, with an exit code that is documented.
If it fails, it says why in a line that names the file, and leaves nothing; if not, its output can
be read and has as many rows as the input. Inputs stay as they are, and nothing that a terminal
would obey is printed.
"""

import csv
import functools
import io
import json
import os
import re
import tempfile
import unicodedata
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from . import formats, mutate
from .case import Case, Tried
from .child import STATM, Ended, execute
from .mutate import ODD_NAMES, Rng, one

SHARE = 1.0
LIMIT = 600.0  # its process has limits of its own
NEEDS = (
    "polars", "pandas", "pyarrow", "dask", "fastexcel", "xlsxwriter", "xarray", "netCDF4", "zarr",
    "rich", STATM,
)  # fmt: skip
_STEM = "quokka"  # a word that no message has unless it names the file
_ODD_STEMS = (
    "\x1b[31m",
    "\u202e",
    "\u009b2J",
    "\n",
    "\r",
    " ",
    "é",
    "\udcff",
    "%s",
    "[b]",
    "'",
    "{}",
)
_CHUNKED = ("parquet", "parts", "zarr 2", "zarr 3")
_FEATURES = [f"a{k}" for k in range(6)]
_BIDI = {*"\u200e\u200f\u061c", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
_WRITTEN = (".csv", ".parquet", ".feather", ".xlsx", ".nc", ".zarr", ".tsv", ".csv.gz")
_OPTIONS = {
    "--missing pairwise": "", "--missing drop": "", "--missing-code -9999": "", "--keep word": "",
    "--units original": "", "--drop a*": "", "--folds shuffled": "", "--connectivity chain": "",
    "--classes": "", "--comment #": "csv", "--decimal ,": "csv",
    "--dates day": ("csv", "parq", "x", "fea"), "--area-weights": ("net", "zarr"),
    "--connectivity grid": ("net", "zarr"), "--groups word": "",
}  # fmt: skip
"""Options of ``reduce``, and how the kinds of files begin that may have them."""


def draw(rng: Rng) -> Case:
    kind = one(rng, list(formats.MAKERS))
    suffix, make = formats.MAKERS[kind]
    columns = _columns(rng)
    model = rng.random() < 0.1 and "netcdf" not in kind and "zarr" not in kind
    if not model and rng.random() < 0.15:
        columns = _with_odd_names(columns, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = _made(make, columns, rng)
        other = _made(formats.MAKERS[one(rng, list(formats.MAKERS))][1], _columns(rng), rng)
    if isinstance(made, bytes):
        made = {"": made}
    spliced = other if isinstance(other, bytes) else next(iter(other.values()))
    changed, names = (made, ["none"])
    if rng.random() < 0.95:
        changed, names = _changed(kind, made, rng, spliced)
    stem = _STEM + (one(rng, _ODD_STEMS) if rng.random() < 0.1 else "")
    path = stem + suffix
    files = {f"{path}/{inner}" if inner else path: content for inner, content in changed.items()}
    if model:
        files["model.json"] = _model()
    arguments, output = _arguments(kind, path, columns, rng, model)
    return Case(
        "files",
        {
            "kind": kind,
            "changes": names,
            "data": path,
            "arguments": arguments,
            "output": output,
            "files": list(files),
        },
        {str(k): np.frombuffer(each, np.uint8) for k, each in enumerate(files.values())},
    )


def _columns(rng: Rng) -> formats.Columns:
    """Return a small table of correlated features, and columns that are none."""
    n_rows, n_features = int(rng.integers(8, 30)), int(rng.integers(2, 7))
    factors = rng.normal(size=(n_rows, 2))
    features = factors[:, rng.integers(2, size=n_features)]
    features = np.round(features + 0.3 * rng.normal(size=features.shape), int(rng.choice([2, 12])))
    target = np.round(factors @ [1.0, -2.0] + rng.normal(size=n_rows), 6)
    columns: formats.Columns = {"y": target.tolist()}
    columns |= dict(zip(_FEATURES, features.T.tolist(), strict=False))
    if rng.random() < 0.5:
        columns["word"] = [("é", "b c", "", "NA")[row % 4] for row in range(n_rows)]
    if rng.random() < 0.3:
        columns["day"] = [f"2020-01-{1 + row % 28:02d}" for row in range(n_rows)]
    if rng.random() < 0.2:
        columns["a0"] = [float(round(value)) for value in columns["a0"]]
    order = rng.permutation(len(columns))
    return {list(columns)[place]: list(columns.values())[place] for place in order}


def _with_odd_names(columns: formats.Columns, rng: Rng) -> formats.Columns:
    renamed = {name: name for name in columns}
    for name in columns:
        if name != "y" and rng.random() < 0.4:
            renamed[name] = one(rng, ODD_NAMES)
    return {renamed[name]: values for name, values in columns.items()}


def _made(make: Any, columns: formats.Columns, rng: Rng) -> Any:
    try:
        return make(columns, rng)
    except Exception:  # a name that the format cannot have
        plain = {f"x{k}" if name in ODD_NAMES else name: values
                 for k, (name, values) in enumerate(columns.items())}  # fmt: skip
        return make(plain, rng)


def _changed(
    kind: str, files: formats.Files, rng: Rng, other: bytes
) -> tuple[formats.Files, list[str]]:
    """Damage one of the files, or what is packed inside."""
    names = sorted(files)
    if len(names) > 1 and rng.random() < 0.1:
        return _changed_names(files, rng)
    documents = [name for name in names if os.path.basename(name)[:2] in (".z", "za")]
    if documents and rng.random() < 0.6:
        name = one(rng, documents)
        content, how = mutate.change_json(files[name], rng)
        return files | {name: content}, [f"{name}: {each}" for each in how]
    name = one(rng, names)
    content, how = _changed_content(kind, files[name], rng, other)
    return files | {name: content}, [f"{name}: {each}" if name else each for each in how]


def _changed_content(kind: str, content: bytes, rng: Rng, other: bytes) -> tuple[bytes, list[str]]:
    is_text = kind == "tsv" or kind.startswith("csv")
    if is_text:
        suffix = formats.MAKERS[kind][0].removeprefix(".csv")
        separator = {"tsv": "\t", "csv with semicolons": ";"}.get(kind, ",")
        packed = suffix if kind != "tsv" else ""
        if rng.random() < (0.5 if packed else 0.85):
            plain = formats.text_of(_columns(rng), separator)
            plain, how = mutate.change_text(plain, rng, separator)
            return formats.compressed(plain, packed) if packed else plain, how
    elif kind in ("xlsx", "ods") and rng.random() < 0.6:
        members = formats.unzipped(content)
        inner = one(rng, sorted(members))
        changed, how = mutate.change_bytes(members[inner], rng, other)
        return formats.zipped(members | {inner: changed}), [f"{inner}: {each}" for each in how]
    elif rng.random() < 0.15:
        return mutate.rename_inside(
            content, rng, ["a0", "y", "word", "t2m", "lat", "time", "units"]
        )
    return mutate.change_bytes(content, rng, other)


def _changed_names(files: formats.Files, rng: Rng) -> tuple[formats.Files, list[str]]:
    """Remove a file of a folder, rename it, or add one."""
    name = one(rng, sorted(files))
    how = one(rng, ["remove", "rename", "add"])
    changed = dict(files)
    odd = one(rng, [each for each in ODD_NAMES if each.strip(". /") and "\0" not in each])[:99]
    place, base = os.path.split(name)
    if how == "add":
        changed[os.path.join(place, odd.replace("/", "_") + ".parquet")] = rng.bytes(20)
    else:
        content = changed.pop(name)
        if how == "rename":
            changed[os.path.join(place, odd.replace("/", "_") + base)] = content
    return changed, [f"{how} {name}"]


@functools.cache
def _model() -> bytes:
    """Return a saved model of the features that most tables have."""
    import pandas as pd

    from lincfa import LinCFACV

    rng = np.random.default_rng(0)
    factors = rng.normal(size=(40, 2))
    X = pd.DataFrame(np.repeat(factors, 2, axis=1) + 0.1 * rng.normal(size=(40, 4)))
    X.columns = _FEATURES[:4]
    model = LinCFACV().fit(X, factors @ [1.0, -2.0])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        return path.read_bytes()


def _arguments(
    kind: str, path: str, columns: formats.Columns, rng: Rng, model: bool
) -> tuple[list[str], str | None]:
    """Return a command, and what it writes, if it does."""
    command, chance = "reduce", rng.random()
    if model:
        command = one(rng, ["apply", "predict"])
    elif chance < 0.1 and kind != "parts":
        command = "explain" if chance < 0.085 else "compare"
    arguments = [command, *(["model.json"] if model else []), path]
    if command in ("reduce", "explain", "compare"):
        arguments += ["--target", "y"]
    features = [name for name in columns if name not in ("y", "word", "day")]
    if command == "explain" and len(features) > 1:
        pair = rng.choice(len(features), 2, replace=False)
        return [*arguments, "--", *(features[place] for place in pair)], None
    if rng.random() < 0.1:
        arguments += one(rng, [["--json"], ["--quiet"]])
    if command in ("compare", "explain"):
        return arguments, None
    chunked = kind == "parts" or (kind in _CHUNKED and rng.random() < 0.5)
    if chunked:
        arguments += ["--dask", "threads"] if kind != "parts" or rng.random() < 0.5 else []
        output = one(rng, ["out", "out", "out.zarr"])
    else:
        output = "out" + one(rng, _WRITTEN)
    arguments += ["--output", output]
    if command != "reduce":
        return arguments, output
    if rng.random() < 0.85:
        arguments += ["--no-report"]
    if rng.random() < 0.9:
        arguments += ["--test", "0"]
    if rng.random() < 0.9:
        arguments += ["--tolerance", "1"]
    for option, kinds in _OPTIONS.items():
        refused = "--folds" in arguments and option == "--groups word"
        taken = refused or option.split()[0] in arguments
        if rng.random() < 0.04 and kind.startswith(kinds) and not taken:
            arguments += option.split()
    return arguments, output


def check(case: Case) -> Tried:
    options = case.options
    arrays = case.arrays.values()
    files = {name: array.tobytes() for name, array in zip(options["files"], arrays, strict=True)}
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "work"
        folder.mkdir()
        formats.write_folder(folder, files)
        ended = execute(folder, options["arguments"], after=_rows, given=options)
        after = formats.read_folder(folder)
    if ended.code is None:
        return _did_not_return(ended)
    panicked = b"panicked at" in ended.err and ended.code == 1  # which Rust prints by itself
    problems = [] if panicked else _problems_of_text(ended, options)
    problems += _problems_of_files(ended, options, files, after)
    if problems:
        said = ended.err.decode(errors="replace")[-300:]
        raise AssertionError(f"{'; '.join(problems)} | exit {ended.code} | {said!r}")
    return Tried(fault=f"a panic: {_words(ended.err)}" if panicked else "")


def _did_not_return(ended: Ended) -> Tried:
    """Judge a process that was ended: by a library, or by ours."""
    how = f"time is over, ended by {ended.stopped}" if ended.stopped else f"exit {ended.exit}"
    text = f"{how} in {ended.place or '?'} {_words(ended.err)!r}"
    ours = "src/lincfa" in ended.place or b"Traceback" in ended.err  # of what was not caught
    if ours or ended.exit == 0 or ended.stopped == "SIGKILL":
        raise AssertionError(text)
    return Tried(fault=text)


def _words(printed: bytes) -> str:
    return " ".join(printed.decode(errors="replace").split())[:200]


def _problems_of_text(ended: Ended, options: dict[str, Any]) -> list[str]:
    found = []
    try:
        out, err = ended.out.decode(), ended.err.decode()
    except UnicodeDecodeError:
        return ["printed what is not UTF-8"]
    if "Traceback" in err:
        found.append("a traceback")
    raw = sorted({sign for sign in out + err if _is_raw(sign)})
    if raw:
        found.append(f"printed {raw} raw")
    lines = err.splitlines()
    errors = [line for line in lines if line.startswith("lincfa: ")]
    others = [line for line in lines if not line.startswith(("lincfa: ", "note: "))]
    if ended.code not in (0, 1):
        found.append(f"exit code {ended.code}")
    if ended.code == 0 and errors:
        found.append("an error, but exit code 0")
    if ended.code == 1:
        if len(errors) != 1 or lines[-1] != errors[0]:
            found.append(f"{len(errors)} messages")
        elif "unexpected " in errors[0]:
            found.append("an unexpected error")
        elif _STEM not in errors[0] and "not enough memory" not in errors[0]:
            found.append("no name of the file")
        if out:
            found.append("a result, but exit code 1")
    if others:
        found.append(f"other lines, such as {others[0][:80]!r}")
    if ended.code == 0 and "--json" in options["arguments"]:
        json.loads(out)
    return found


def _is_raw(sign: str) -> bool:
    return (
        unicodedata.category(sign) in ("Cc", "Zl", "Zp", "Cs") and sign != "\n"
    ) or sign in _BIDI


def _problems_of_files(
    ended: Ended, options: dict[str, Any], before: formats.Files, after: formats.Files
) -> list[str]:
    found = [f"{name!r} has changed" for name in before if after.get(name) != before[name]]
    new = {name.split("/")[0] for name in after if name not in before}
    expected = {options["output"]} if options["output"] else set()
    if options["arguments"][0] == "reduce":
        expected.add("model.json")
        expected |= set() if "--no-report" in options["arguments"] else {"report.html"}
    if ended.code:
        return [*found, f"left {sorted(new)}"] if new else found
    if new != expected:
        return [*found, f"wrote {sorted(new)} and not {sorted(expected)}"]
    if ended.after is None:
        return [*found, f"the rows cannot be counted: exit {ended.exit} in {ended.place}"]
    rows, problem = ended.after["rows"], ended.after["problem"]
    if problem:
        return [*found, f"the output cannot be read: {problem}"]
    if None in rows or b"left out" in ended.err or "--quiet" in options["arguments"]:
        return found
    return [*found, f"{rows[0]} rows became {rows[1]}"] if rows[0] != rows[1] else found


def _rows(options: dict[str, Any]) -> dict[str, Any]:
    """Count the rows of input and output by libraries that the command does not read them by."""
    output, problem = options["output"], ""
    rows: list[int | None] = [None, None]
    if output and os.path.exists(output):
        try:
            rows[0] = _count(options["data"], "#" if "--comment" in options["arguments"] else None)
        except Exception:  # the command is more lenient
            rows[0] = None
        try:
            rows[1] = _count(output)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
    return {"rows": rows, "problem": problem}


def _count(path: str, comment: str | None = None) -> int | None:
    import netCDF4
    import pyarrow.feather as pf
    import pyarrow.parquet as pq
    import zarr

    if path.endswith(".zarr"):
        return int(zarr.open_group(path, mode="r")["y"].shape[0])
    if os.path.isdir(path):
        found = Path(path).rglob("*.parquet")
        return sum(_count(str(each)) or 0 for each in found if each.name[0] not in "._")
    if path.endswith(".parquet"):
        return int(pq.read_metadata(path).num_rows)
    if path.endswith(".feather"):
        return int(pf.read_table(path).num_rows)
    if path.endswith(".nc"):
        with netCDF4.Dataset(path) as data:
            return int(data["y"].shape[0])
    if path.endswith((".xlsx", ".ods")):
        return None if path.startswith(_STEM) else _count_sheet(path)
    return _count_text(path, comment)


def _count_sheet(path: str) -> int:
    import fastexcel

    return int(fastexcel.read_excel(path).load_sheet(0).height)


def _count_text(path: str, comment: str | None) -> int | None:
    import polars as pl

    content = Path(path).read_bytes()
    if not path.endswith((".csv", ".tsv")):
        options = {"has_header": False, "separator": "\x01", "quote_char": None}
        packed = pl.read_csv(path, infer_schema=False, **options)  # of one column
        content = "\n".join(packed.to_series().fill_null("")).encode()
    text = content.decode("utf-8-sig")
    bare = re.sub('"[^"]*"', "", text).split("\n")[0]
    separator = "\t" if path == "out.tsv" else max(",;\t|", key=bare.count)
    if comment is not None:
        text = "\n".join(line for line in text.split("\n") if not line.startswith(comment))
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    while rows and not any(rows[-1]):
        rows.pop()
    return len(rows) - 1 if all(rows) else None  # a blank line may be a row of one column
