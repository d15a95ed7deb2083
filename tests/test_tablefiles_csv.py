"""CSV files of other habits: decimal commas, comments, another separator, another suffix."""

import gzip
import io
import re
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reference import saved

pl = pytest.importorskip("polars")
pytest.importorskip("rich")

from lincfa.cli._files import format_of, open_data
from lincfa.cli._files._csv import write_csv


def read(path, **given):
    return open_data(path, replace(format_of(path), **given))


def message_of(path, **given):
    with pytest.raises(ValueError, match=r".") as caught:
        read(path, **given)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(path)


# Decimal commas


COMMAS = (
    "a;b;word;day;n\n1,5;-2e3;x, y;2020-01-01;1\n,5;NA;z;2020-01-02;2\n1e-3;0,25;;2020-01-03;\n"
)


@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("given", [None, ","])
def test_decimal_commas(tmp_path, separator, given):
    path = saved(tmp_path, COMMAS.replace(";", separator))
    data = read(path, decimal=given)
    assert data.frame["a"].to_list() == [1.5, 0.5, 0.001]
    assert data.frame["b"].to_list() == [-2000, None, 0.25]
    assert data.numeric == ["a", "b", "n"]
    assert data.format.decimal == ","
    note = f"{path} has decimal commas, such as '1,5' in column 'a' (--decimal . for text)"
    assert data.notes == (() if given else (note,))
    assert data.kept_frame(["b"], np.arange(3))["b"].to_list() == ["-2e3", "NA", "0,25"]


def test_decimal_points_on_request(tmp_path):
    data = read(saved(tmp_path, COMMAS), decimal=".")
    assert data.numeric == ["n"]
    assert data.notes == ()


def test_decimal_commas_beyond_the_first_rows(tmp_path):
    data = read(saved(tmp_path, "a;b\n" + "0;1\n" * 500 + "0,5;NA\n"))
    assert data.frame.row(500) == (0.5, None)


@pytest.mark.parametrize(
    ("text", "numeric"),
    [
        ("a;b\n1,234;1\n2,345;2\n", ["b"]),  # or thousands
        ("a;b\n1,5;1.5\n2,5;2.5\n", ["b"]),  # both signs
        ("a;b\n1,5;1.0\n2,5;2.0\n", ["b"]),
        ("a;b\n1,5;7\n2,5;7.5\n", ["b"]),
    ],
)
def test_commas_that_are_not_clear_are_text(tmp_path, text, numeric):
    path = saved(tmp_path, text)
    data = read(path)
    assert (data.numeric, data.format.decimal) == (numeric, ".")
    (note,) = data.notes
    assert note.startswith(
        f"{path}: {text[4:].split(';')[0]!r} in column 'a' is text, as its comma"
    )
    assert note.endswith("--decimal , takes it as a number")
    assert "a" in read(path, decimal=",").numeric


@pytest.mark.parametrize(
    "text",
    [
        'a,b\n"1,5",1\n"2,5",2\n',  # never where commas separate
        "a;b\n1.234,5;1\n2.345,5;2\n",  # thousands are no numbers
        "a;b\n1,234,567;1\n2,345,678;2\n",
        "a;b\nx, y;1\nz;2\n",
    ],
)
def test_commas_in_text(tmp_path, text):
    data = read(saved(tmp_path, text))
    assert (data.numeric, data.format.decimal, data.notes) == (["b"], ".", ())


def test_one_clear_column_explains_another(tmp_path):
    data = read(saved(tmp_path, "a;b\n1,234;0,5\n2,345;1,5\n"))
    assert data.frame["a"].to_list() == [1.234, 2.345]


def test_text_under_decimal_commas_is_commented(tmp_path):
    data = read(saved(tmp_path, "a\tb\n" + "0,5\t1\n" * 9 + "1.5\t2\n"), decimal=",")
    assert data.comments == {"a": "row 10: '1.5'"}
    with pytest.raises(ValueError, match=r"column 'a' is not numeric \(row 10: '1\.5'\)"):
        data.target("a")


def test_names_with_decimal_commas(tmp_path):
    """A spectrum: more commas than separators in the header."""
    data = read(saved(tmp_path, "900,5;901,5;902,5\n1,5;2,5;3,5\n"))
    assert data.names == ["900,5", "901,5", "902,5"]
    assert data.numeric == data.names


@pytest.mark.parametrize(
    ("name", "separator"), [("o.csv", ";"), ("o.tsv", "\t"), ("o.txt.gz", ";"), ("-", ";")]
)
def test_decimal_commas_are_written(tmp_path, name, separator):
    """With a separator that is no comma, whatever the suffix."""
    data = read(saved(tmp_path, "a;b\n1,5;1\n2,5;2\n"))
    values = np.random.default_rng(0).standard_normal(50) * 10.0 ** np.arange(-25, 25)
    frame = pl.DataFrame({"v": values, "k": ["x;y"] * 50, "w": values.astype(np.float32)})
    format = format_of(name, data.format)
    assert (format.separator, format.decimal) == (separator, ",")
    path = str(tmp_path / ("o.csv" if name == "-" else name))
    write_csv(path, frame, format)
    again = read(path)
    assert again.format.decimal == ","
    assert np.array_equal(again.target("v"), values)
    assert np.array_equal(again.target("w").astype(np.float32), values.astype(np.float32))
    assert again.frame["k"].unique().to_list() == ["x;y"]


def test_a_comma_file_with_decimal_commas_says_so(tmp_path):
    message = message_of(saved(tmp_path, "a,b\n1,2\n"), decimal=",")
    assert message == (
        " has one column if its commas are decimal ones, and 2 if they are separators: leave out "
        "--decimal"
    )


# Comments


COMMENTED = "# made by, hand\n#\n\na,b\n1,x\n# between\n2,#y\n\n# after\n"


@pytest.mark.parametrize("begin", ["", "\ufeff"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_comments_are_skipped(tmp_path, begin, pack):
    path = saved(tmp_path, pack((begin + COMMENTED).encode()))
    data = read(path, comment="#")
    assert data.frame.rows() == [(1, "x"), (2, "#y")]
    assert data.kept_frame(["a"], np.arange(2))["a"].to_list() == ["1", "2"]


def test_text_of_several_lines_has_no_comments(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n1,"first\n# second\nthird"\n# not this\n2,"x"\n', encoding="utf-8")
    assert read(str(path), comment="#").frame["b"].to_list() == ["first\n# second\nthird", "x"]


def test_comments_of_standard_input(monkeypatch):
    text = COMMENTED.replace("#", "//").replace("\n\n", "\r\n\r\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    data = read("-", comment="//")
    assert data.frame.rows() == [(1, "x"), (2, "//y")]
    assert format_of("-", data.format).comment is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# c\na,b\n1,2\n# c\n3,4,5\n", ": line 5 has 3 fields, but the header has 2."),
        ('# c\na,b\n1,"x\ny"\n#\n3,4,5\n', ": line 6 has 3 fields, but the header has 2."),
        ('# c\na,b\n# c\n# c\n1,"x\n2,3\n', ": the quotes opened in line 5 do not match."),
        ("# c\na,a\n1,2\n", ": columns 1 and 2 are both named 'a'."),
        ("# c\n,\n1,2\n", ": line 2 is empty; it should hold the column names."),
        ('# c\na,"b\n1,2\n', ": the quotes in the header (line 2) do not match."),
        ("# c\n# d\n", " is empty."),
        (
            b"# c\na,b\n# \xe4\n1,\xfc\n",
            " is not UTF-8 text (byte 0xfc, line 4). Save it as UTF-8.",
        ),
    ],
)
def test_lines_are_those_of_the_file(tmp_path, text, expected):
    assert message_of(saved(tmp_path, text), comment="#") == expected


@pytest.mark.parametrize(
    "text",
    [
        "# made by hand\na,b,c\n1,2,3\n",
        "# made, by hand\na,b\n1,2\n",
        "# made, by hand\n# and more\na;b;c\n1;2;3\n",
        "# made by hand\n900,901\n1,2\n",
    ],
)
@pytest.mark.parametrize("given", [{}, {"comment": "%"}])
def test_comments_are_suggested(tmp_path, text, given):
    names = text.splitlines()[-2].replace(";", ",").split(",")
    listed = ", ".join(map(repr, names))
    assert message_of(saved(tmp_path, text), **given) == (
        ": the header begins with '#'; if it is a comment, skip it with --comment '#'. The columns "
        f"are then {listed}"
    )


def test_other_comments_below_names_that_begin_with_a_sign(tmp_path):
    assert read(saved(tmp_path, "#a,b\n% c, d\n1,2\n"), comment="%").names == ["#a", "b"]


@pytest.mark.parametrize(
    "text", ["#a,b\n1,x\n", "# a;b\n1,5;2,5\n", "#a,b\nNA,x\n", "#\n1\n", "a,b\n#1,2\n"]
)
def test_names_may_begin_with_a_sign(tmp_path, text):
    assert len(read(saved(tmp_path, text)).names) == text.splitlines()[0].count(",") + 1 + (
        ";" in text
    )


# Separators


@pytest.mark.parametrize(
    ("text", "name", "given", "expected"),
    [
        ("a,b,c\n1,2,3\n", "t.csv", ";", "';'; with ',' it has 3: --separator ','"),
        ("a,b,c\n1,2,3\n", "t.tsv", None, "'\\t'; with ',' it has 3: --separator ','"),
        ("a\tb\n1\t2\n", "t.csv", ",", "','; with '\\t' it has 2: --separator '\\t'"),
        ("a:b\n1:2\n", "t.csv", None, "','; with ':' it has 2: --separator ':'"),
        ("a b\n1 2\n", "t.txt", None, "','; with ' ' it has 2: --separator ' '"),
        ("a;b\n1,5;2,5\n", "t.csv", ",", "','; with ';' it has 2: --separator ';'"),
    ],
)
def test_a_separator_that_fits_is_named(tmp_path, text, name, given, expected):
    path = saved(tmp_path, text, name)
    message = message_of(path, **({"separator": given} if given else {}))
    assert message == f" has one column with the separator {expected}"


@pytest.mark.parametrize("text", ["a\n1\n", "a b\n1\n", '"a;b"\n1\n', "time\n12:30\n"])
def test_a_single_column(tmp_path, text):
    assert len(read(saved(tmp_path, text)).names) == 1


# Suffixes


def contents():
    frame = pl.DataFrame({"a": [1.5, 2.5], "b": [1, 2]})
    made = {name: io.BytesIO() for name in ("parquet", "feather", "arrow", "zip")}
    frame.write_parquet(made["parquet"])
    frame.write_ipc(made["feather"])
    frame.write_ipc_stream(made["arrow"])
    with zipfile.ZipFile(made["zip"], "w") as packed:
        packed.writestr("t.csv", "a,b\n1,2\n")
    return {name: file.getvalue() for name, file in made.items()} | {
        "csv": b"a,b\n1,2\n",
        "csv.gz": gzip.compress(b"a,b\n1,2\n"),
        "nc": b"CDF\x01" + bytes(50),
        "nc4": b"\x89HDF\r\n\x1a\n" + bytes(50),
        "xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(50),
    }


TITLES = {
    "csv": ("text", "csv"),
    "csv.gz": ("a compressed file", "csv.gz"),
    "parquet": ("a Parquet file", "parquet"),
    "feather": ("a Feather (Arrow) file", "feather"),
    "arrow": ("an Arrow stream", "arrow"),
    "nc": ("a NetCDF file", "nc"),
    "nc4": ("a NetCDF file", "nc"),
    "xls": ("an Excel file", "xls"),
    "zip": ("a ZIP archive", ""),
}
SAME = [{"csv", "csv.gz"}, {"feather", "arrow"}, {"nc", "nc4"}]
WRONG = [
    (suffix, content)
    for suffix in ("csv", "parquet", "feather", "xls", "nc", "zarr")
    for content in TITLES
    if suffix != content and {suffix, content} not in SAME
]
NEEDED = {"xls": ["fastexcel"], "nc": ["xarray", "netCDF4"], "zarr": ["xarray", "zarr"]}


@pytest.mark.parametrize(("suffix", "content"), WRONG)
def test_a_wrong_suffix(tmp_path, suffix, content):
    """Each format under the name of each other."""
    for package in NEEDED.get(suffix, []):
        pytest.importorskip(package)
    path = saved(tmp_path, contents()[content], f"t.{suffix}")
    title, right = TITLES[content]
    advice = f"rename it to t.{right}" if right else "unpack it first"
    table = "if it is a table, " * right.startswith("csv")
    assert message_of(path).endswith(f" but {title}; {table}{advice}")


def test_excel_called_csv(tmp_path):
    pytest.importorskip("xlsxwriter")
    path = tmp_path / "t.csv.gz"
    with path.open("wb") as file:
        pl.DataFrame({"a": [1]}).write_excel(file)
    assert message_of(str(path)) == " is not a CSV file but an Excel file; rename it to t.xlsx"


def test_a_store_of_another_name(tmp_path):
    for name in ("t.nc", "t.parquet", "t"):
        (tmp_path / name).mkdir()
        Path(tmp_path / name / ".zgroup").write_text("{}")
        with pytest.raises(IsADirectoryError, match=r"it is a Zarr store; rename it to t\.zarr"):
            read(str(tmp_path / name))


def test_standard_input_is_text(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(contents()["parquet"]))
    monkeypatch.setattr(sys, "stdin", stream)
    with pytest.raises(ValueError, match=r"^standard input is not a CSV file but a Parquet file; "):
        read("-")


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ("4", "row 2, the last, has 1 of 3 values and no line break"),
        ("4,", "row 2, the last, has 2 of 3 values and no line break"),
        ('"4,5",6', "row 2, the last, has 2 of 3 values and no line break"),
        ('"4\n5",6', "row 2, the last, has 2 of 3 values and no line break"),
        ('4,5,"6', "the quotes opened in line 3 do not match"),
        ('4,5,"', "the quotes opened in line 3 do not match"),
        ('4,5,"x\n7,8,9\n', "the quotes opened in line 3 do not match"),
        ('"4""\n7,8,9\n', "the quotes opened in line 3 do not match"),
    ],
)
@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz"])
def test_files_cut_off(tmp_path, end, message, name):
    text = f"a,b,y\n1,2,3\n{end}".encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    with pytest.raises(ValueError, match=re.escape(f"{name}: {message}")):
        open_data(str(tmp_path / name))


@pytest.mark.parametrize("end", ["4,5,6", "4,,", "4\n", '4,5,"6"', '4,"5\n",6', '4,5" pipe,6'])
def test_files_that_end_without_a_line_break(tmp_path, end):
    (tmp_path / "d.csv").write_text(f"a,b,y\n1,2,3\n{end}", newline="")
    data = open_data(str(tmp_path / "d.csv"))
    assert data.n_rows == 2
    assert data.frame["a"].to_list() == [1, 4]
