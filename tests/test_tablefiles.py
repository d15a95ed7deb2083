"""Data in files: what is kept comes back as it was, in every format; bad files are named."""

import bz2
import gzip
import io
import lzma
import subprocess
import sys
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from reference import assert_raises, saved

pl = pytest.importorskip("polars")
pytest.importorskip("rich")

from lincfa.cli._files import format_of, open_data
from lincfa.cli._terminal import Terminal
from lincfa.cli._write import ReducedFeatures, write_reduced


def rewritten(folder, data, keep, name="out.csv", rows=None, **reduced):
    """Write columns of a file and reduced features; give the path and the notes."""
    rows = np.arange(data.n_rows) if rows is None else np.flatnonzero(rows)
    values = np.column_stack([*reduced.values()]) if reduced else np.empty((rows.size, 0))
    groups = {member: [member] for member in reduced}
    model = SimpleNamespace(groups_by_name=lambda: groups, groups_=[[0]] * len(groups))
    terminal, path = Terminal(quiet=True), folder / name
    write_reduced(path, str(path), data, list(keep), rows, values, ReducedFeatures(model), terminal)
    return str(path), terminal.notes


def message_of(path, **options):
    with pytest.raises(ValueError, match=r".") as caught:
        open_data(str(path), **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


UNTOUCHED = """id,code,word,flag,day,"na, me",y
00123,1.10,NA,True,2020-01-01,=1+1,1
00124,1.20,"a, ""b""\nc",FALSE,2020-01-02, spaced ,2
,NA,,true,,None,3
"""


def test_text_is_written_back_as_it_was(tmp_path):
    data = open_data(saved(tmp_path, UNTOUCHED))
    assert data.numeric == ["id", "code", "y"]
    keep = ["id", "code", "word", "flag", "day", "na, me"]
    path, _ = rewritten(tmp_path, data, keep, y=np.array([1.0, 2.0, 3.0]))
    expected = UNTOUCHED.replace(",1\n", ",1.0\n").replace(",2\n", ",2.0\n")
    assert Path(path).read_bytes().decode() == expected.replace(",3\n", ",3.0\n")


def test_columns_keep_their_order_and_rows(tmp_path):
    data = open_data(saved(tmp_path, "b,a,c\n1,x,1.5\n2,y,\n3,z,0.1\n"))
    rows = np.array([True, False, True])
    path, _ = rewritten(tmp_path, data, data.names, rows=rows, **{"mean(q, r)": [0.1, 1 / 3]})
    assert Path(path).read_text() == (
        'b,a,c,"mean(q, r)"\n1,x,1.5,0.1\n3,z,0.1,0.3333333333333333\n'
    )


def test_numbers_come_back_to_the_last_bit(tmp_path):
    values = np.random.default_rng(0).standard_normal(500) * 10.0 ** np.arange(-250, 250)
    singles = values.clip(-1e30, 1e30).astype(np.float32)
    data = open_data(saved(tmp_path, "k\n" + "1\n" * 500))
    for column in (values, singles):
        path, _ = rewritten(tmp_path, data, ["k"], a=column)
        assert np.array_equal(open_data(path).target("a").astype(column.dtype), column)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt"])
@pytest.mark.parametrize("compression", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_every_compression(tmp_path, suffix, compression):
    if compression == ".zst" and sys.version_info < (3, 14):
        pytest.importorskip("pyarrow")
    data = open_data(saved(tmp_path, "a;b\n1;x,\t\n2;y\n", "in.txt"))
    name = f"out{suffix}{compression}"
    path, _ = rewritten(tmp_path, data, ["a", "b"], name, m=[0.5, 1.5])
    raw = Path(path).read_bytes()
    opener = {".gz": gzip, ".bz2": bz2, ".xz": lzma}.get(compression)
    text = opener.decompress(raw) if opener else raw
    separator = {".csv": b",", ".tsv": b"\t", ".txt": b";"}[suffix]
    if compression != ".zst":
        assert text.splitlines()[0] == b"a" + separator + b"b" + separator + b"m"
    again = open_data(path)
    assert again.frame.rows() == [(1, "x,\t", 0.5), (2, "y", 1.5)]
    assert again.format == format_of(name, data.format)


@pytest.mark.parametrize(
    ("header", "expected"),
    [("a;b", ";"), ("a\tb", "\t"), ("a|b", "|"), ("a,b", ","), ('"a;;;b",c', ","), ("a", ",")],
)
def test_separator_is_found_in_the_header(tmp_path, header, expected):
    values = expected.join("12") if header != "a" else "1"
    data = open_data(saved(tmp_path, f"{header}\n{values}\n"))
    assert data.format.separator == expected
    again = open_data(rewritten(tmp_path, data, data.names)[0])
    assert again.frame.equals(data.frame)
    assert again.format.separator == expected


def test_separator_given_and_that_of_tsv(tmp_path):
    path = saved(tmp_path, "a,b;c\n1,2;3\n")
    data = open_data(path, replace(format_of(path), separator=";"))
    assert data.names == ["a,b", "c"]
    assert open_data(saved(tmp_path, "a,b,c\td\n1\t3\n", "t.tsv")).names == ["a,b,c", "d"]


def test_text_of_numbers_is_numbers(tmp_path):
    words = ["NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A", ""]
    lines = "\n".join(f"{word}, 1 , {word} ,{word},true" for word in words)
    text = f"a,b,c,d,e\n1,2,3.5,x,true\n2,3,inf,-1,false\n{lines}\n"
    data = open_data(saved(tmp_path, text))
    assert data.numeric == ["a", "b", "c"]
    assert data.frame["a"].to_list() == [1, 2, *[None] * 9]
    assert data.frame["e"].to_list()[:2] == ["true", "false"]
    assert data.frame["d"].to_list() == ["x", "-1", *words[:-1], None]
    counts = data.count_values(["a", "c"])
    assert (counts.missing, counts.infinite) == ({"a": 9, "c": 9}, {"c": 1})
    assert data.complete_rows(["a", "b", "c"]).tolist() == [True, True, *[False] * 9]
    features = data.features(["c", "b"], np.array([0, 1])).to_numpy()
    assert features.flags.f_contiguous
    np.testing.assert_array_equal(features, [[3.5, 2], [np.inf, 3]])


def test_codes_are_missing_in_numbers_of_any_type(tmp_path):
    """A code is compared in the type of the column; columns are kept as they are."""
    frame = pl.DataFrame(
        {
            "small": pl.Series([1, -9999, None], dtype=pl.Int16),
            "unsigned": pl.Series([241, 99, 2], dtype=pl.UInt8),  # -9999 is 241 modulo 256
            "single": pl.Series([1e20, 1.0, np.inf], dtype=pl.Float32),
            "double": [1e20, np.nan, -9999.0],
            "decimal": pl.Series([Decimal("1.5"), Decimal("-9999"), None]),
            "whole": [9, 10, 99],  # 9.5 is none of them
            "text": ["-9999", "b", None],
        }
    )
    frame.write_parquet(tmp_path / "t.parquet")
    codes = (-9999.0, 1e20, 99.0, 9.5, 1e300)
    data = open_data(str(tmp_path / "t.parquet"), codes=codes)
    names = frame.columns[:-1]
    counts = data.count_values(names)
    assert list(counts.missing.values()) == [2, 1, 1, 3, 2, 1]
    assert counts.infinite == {"single": 2}
    assert "double" not in counts.lowest
    assert (counts.lowest["small"], counts.highest["whole"]) == (1, 10)
    values = data.features(names, np.arange(3)).to_numpy()
    expected = [[1, np.nan, np.nan], [241, np.nan, 2], [np.nan, 1, np.inf], [np.nan] * 3]
    expected += [[1.5, np.nan, np.nan], [9, 10, np.nan]]
    np.testing.assert_array_equal(values.T, expected)
    assert data.with_values(names, np.array([1, 2])) == ["unsigned", "single", "whole"]
    assert data.kept_frame(frame.columns, np.arange(3)).equals(frame)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_a_reduced_feature_without_a_value_is_no_value(tmp_path, suffix):
    data = open_data(saved(tmp_path, "a,y\n1,2\n3,4\n"))
    path, _ = rewritten(tmp_path, data, ["y"], f"out.{suffix}", g=[np.nan, 1.5])
    if suffix == "csv":
        assert Path(path).read_text() == "y,g\n2,\n4,1.5\n"
    else:
        read = pl.read_parquet if suffix == "parquet" else pl.read_ipc
        assert read(path)["g"].to_list() == [None, 1.5]


def test_types_beyond_the_first_hundred_rows(tmp_path):
    late = {"int": ("1", "1.5"), "na": ("1", "NA"), "word": ("1", "x"), "flag": ("true", "2")}
    late |= {"big": ("1", "9" * 50), "empty": ("", "7")}
    first, last = zip(*late.values(), strict=True)
    text = "\n".join([",".join(late), *[",".join(first)] * 150, ",".join(last)])
    data = open_data(saved(tmp_path, text))
    assert data.numeric == ["int", "na", "big", "empty"]
    assert data.frame.row(150) == (1.5, None, "x", "2", 1e50, 7)
    assert data.comments == {"word": "row 151: 'x'"}


def test_comment_on_what_is_mostly_numbers(tmp_path):
    data = open_data(saved(tmp_path, "y,z,w\n" + "1,a,0\n" * 12 + '"1,5",1,1\n?,2,2\n'))
    assert data.comments == {"y": "row 13: '1,5'; 1 more"}
    assert data.numeric == ["w"]
    assert_raises(r"t.csv: column 'z' is not numeric \(row 1: 'a'; 11 more", data.target, "z")


def test_empty_columns(tmp_path):
    data = open_data(saved(tmp_path, "a,b,c,d\n1,,NA,NaN\n2,,,NaN\n"))
    assert data.empty == ["b", "c", "d"]
    assert data.numeric == ["a"]
    assert np.isnan(data.target("c")).all()
    path, _ = rewritten(tmp_path, data, ["a", "b", "c"])
    assert Path(path).read_text() == "a,b,c\n1,,NA\n2,,\n"


def test_marks_and_line_ends_of_windows(tmp_path):
    text = b'\xef\xbb\xbf"a ""q""","b\r\nc"\r\n1,x\r\n2,y\r\n\r\n\r\n'
    data = open_data(saved(tmp_path, text))
    assert data.names == ['a "q"', "b\r\nc"]
    assert data.frame.rows() == [(1, "x"), (2, "y")]
    assert open_data(rewritten(tmp_path, data, data.names)[0]).frame.equals(data.frame)


def test_blank_lines_are_rows_only_between_rows(tmp_path):
    data = open_data(saved(tmp_path, "a\n1\n\n3\n\n"))
    assert data.frame["a"].to_list() == [1, None, 3]
    rows = np.array([True, True, False])
    assert open_data(rewritten(tmp_path, data, ["a"], rows=rows)[0]).frame["a"].to_list() == [
        1,
        None,
    ]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_standard_input(monkeypatch, pack):
    stream = io.TextIOWrapper(io.BytesIO(pack("a;ü\n1;x\n".encode())))
    monkeypatch.setattr(sys, "stdin", stream)
    data = open_data("-")
    assert (data.source, data.format.separator) == ("standard input", ";")
    assert data.frame.rows() == [(1, "x")]
    assert format_of("-", data.format) == data.format


def test_names_with_wildcards(tmp_path):
    saved(tmp_path, "a\n2\n", "t1.csv")
    data = open_data(saved(tmp_path, "a\n1\n", "in.csv"))
    for name in ("t[1].csv", "t[1].parquet", "t[1].feather"):
        again = open_data(rewritten(tmp_path, data, ["a"], name)[0], targets=["a"])
        assert again.target("a") == [1]


KINDS = {
    "whole": pl.Series([1, None, 3], dtype=pl.Int16),
    "single": pl.Series([0.1, None, 3], dtype=pl.Float32),
    "money": pl.Series([Decimal("1.10"), None, Decimal("3.30")], dtype=pl.Decimal(10, 2)),
    "flag": pl.Series([True, None, False]),
    "day": pl.Series([date(2020, 1, 1), None, date(2020, 1, 3)]),
    "when": pl.Series([datetime(2020, 1, 1, 12), None, datetime(2020, 1, 3)]),
    "span": pl.Series([timedelta(hours=1), None, timedelta(days=2)]),
    "kind": pl.Series(["a", None, "b"], dtype=pl.Categorical),
    "word": pl.Series(["1", "NA", None]),
    "list": pl.Series([[1, 2], None, []], dtype=pl.List(pl.Int64)),
    "pair": pl.Series([{"p": 1, "q": "x"}, {"p": 2, "q": None}, {"p": 3, "q": "z"}]),
    "none": pl.Series([None, None, None]),
    "raw": pl.Series([b"\0", None, b"x"]),
}


@pytest.mark.parametrize("suffix", [".parquet", ".pq", ".feather", ".arrow", ".ipc"])
def test_types_are_kept(tmp_path, suffix):
    frame = pl.DataFrame(KINDS)
    path = str(tmp_path / f"in{suffix}")
    (frame.write_parquet if suffix in (".parquet", ".pq") else frame.write_ipc)(path)
    data = open_data(path)
    assert data.numeric == ["whole", "single", "money"]
    assert data.empty == ["none"]
    path, notes = rewritten(tmp_path, data, frame.columns, f"out{suffix}", m=[1.0, 2.0, 3.0])
    again = open_data(path).frame
    assert again.drop("m").schema == frame.schema
    assert again.drop("m").equals(frame)
    assert notes == []
    rows = np.array([0, 2])
    assert data.features(["single"], rows).to_numpy().dtype == np.float32
    wide = data.features(["single", "whole", "money"], rows).to_numpy()
    np.testing.assert_array_equal(wide[0], [np.float32(0.1), 1, 1.1])
    assert_raises(r"column 'flag' is not numeric \(row 1: True, boolean\)", data.target, "flag")


def test_csv_cannot_hold_everything(tmp_path):
    pl.DataFrame(KINDS).write_parquet(tmp_path / "in.parquet")
    data = open_data(str(tmp_path / "in.parquet"))
    path, (note,) = rewritten(tmp_path, data, KINDS)
    assert "cannot hold columns 'list', 'pair', 'raw'; the format of" in note
    again = pl.read_csv(path, infer_schema=False)
    assert again.columns == [name for name in KINDS if name not in ("list", "pair", "raw")]
    assert again["money"].to_list() == ["1.10", None, "3.30"]
    assert again["span"].to_list() == ["PT1H", None, "P2D"]
    assert again["day"].to_list() == ["2020-01-01", None, "2020-01-03"]


def test_arrow_stream(tmp_path):
    frame = pl.DataFrame({"a": [1.5, 2.5]})
    frame.write_ipc_stream(tmp_path / "s.arrow")
    assert open_data(str(tmp_path / "s.arrow")).frame.equals(frame)


@pytest.mark.parametrize(
    ("package", "name", "extra"), [("polars", "x.csv", "cli"), ("xarray", "x.nc", "xarray")]
)
def test_what_to_install(package, name, extra):
    code = f"import sys; sys.modules[{package!r}] = None\n"
    code += f"from lincfa.cli._files import open_data\nopen_data({name!r})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"{package}: pip install 'lincfa[{extra}]'" in run.stderr
    assert run.stderr.strip().splitlines()[-1].startswith("ImportError: ")


LONG = "a,b\n" + "1,x\n" * 500


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", " is empty."),
        (b"\n\n", ": line 1 is empty; it should hold the column names."),
        (b",\n1,2\n", ": line 1 is empty; it should hold the column names."),
        (b"a,b,a\n1,2,3\n", ": columns 1 and 3 are both named 'a'."),
        (b'a,"b\nc","b\nc"\n1,2,3\n', ": columns 2 and 3 are both named 'b\\nc'."),
        (b"a,,c,\n1,2,3,4\n", ": columns 2 and 4 have no name in the header (line 1)."),
        (b"a,b\n", " has columns but no rows."),
        (b"a,b", " has columns but no rows."),
        (b"a,b\n\n\n", " has columns but no rows."),
        (b"a,b\n1,2\n1,2,3\n", ": line 3 has 3 fields, but the header has 2."),
        (b"a,b\n1,2,\n", ": line 2 has 3 fields, but the header has 2."),
        (f"{LONG}1,2,3,4\n{LONG}", ": line 502 has 4 fields, but the header has 2."),
        (b'a,b\n1,"x\ny"\n1,2,3\n', ": line 4 has 3 fields, but the header has 2."),
        (b'a,b\n1,x\n2,"y\n3,z\n', ": the quotes opened in line 3 do not match."),
        (f'{LONG}1,"x\n{LONG}', ": the quotes opened in line 502 do not match."),
        (b'a,b\n1,"x"y\n2,z\n', ": the quotes opened in line 2 do not match."),
        (b"a,b\r1,2\r", ": line 1 has a carriage return; lines must end with a line feed."),
        (b'a,"b\n1,2\n', ": the quotes in the header (line 1) do not match."),
        ("a,b\n1,ü\n2,é\n".encode("latin-1"), " is not UTF-8 text (byte 0xfc, line 2). "),
        (f"{LONG}2,é\n".encode("latin-1"), " is not UTF-8 text (byte 0xe9, line 502). "),
        ("a,b\n1,ü\n".encode("utf-16"), " is UTF-16 text. Save it as UTF-8."),
        (bytes(range(1, 256)) * 20, " is not UTF-8 text (byte 0x80, line 2)"),
        (bytes(range(256)) * 20, " is not a text file (zero byte, line 1)"),
    ],
)
def test_bad_csv(tmp_path, content, expected):
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert message_of(path).startswith(expected)


def test_damaged_compression(tmp_path):
    path = tmp_path / "t.csv.gz"
    whole = gzip.compress(b"a,b\n1,2\n" * 100)
    for content in (whole[:-10], whole[:20] + b"xxxx" + whole[24:], whole[:2]):
        path.write_bytes(content)
        assert message_of(path).startswith(" is a damaged compressed file: ")


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_damaged_columns(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    frame = pl.DataFrame({"a": np.arange(2000.0), "b": ["word"] * 2000})
    (frame.write_parquet if suffix == ".parquet" else frame.write_ipc)(path)
    whole = path.read_bytes()
    middle = len(whole) // 2
    damaged = [b"", b"PAR1", b"ARROW1", b"x" * 500, whole[:middle], whole[:-1], whole[:8]]
    damaged += [whole[:8] + whole[-8:], whole[:-60] + b"\xff" * 50 + whole[-10:]]
    # A byte over which polars 2.1 (Feather) and 1.20 (Parquet) panic.
    place = len(whole) - {".parquet": 329, ".feather": 148}[suffix]
    panic = whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :]
    for content in damaged + [panic] * (suffix == ".feather"):
        path.write_bytes(content)
        assert message_of(path).startswith(" is not a ")


def test_no_columns_and_no_rows(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": pl.Series([], dtype=pl.Float64)}).write_parquet(path)
    assert message_of(path) == " has columns but no rows."
    path = tmp_path / "t.feather"
    pl.DataFrame().write_ipc(path)
    assert message_of(path) == " has no columns."


@pytest.mark.parametrize("name", ["t.docx", "t", "t.gz", "t.parquet.gz", "csv", ".csv"])
def test_unknown_suffix(name):
    message = message_of(name)
    assert all(suffix in message for suffix in (".csv", ".pq", ".ipc", ".nc4", ".zarr", ".zst"))


def test_suffix_in_capitals_and_folders():
    assert format_of("DATA.CSV.GZ") == format_of("x.csv.gz")
    assert format_of("data.tsv.gz").separator == "\t"
    assert format_of("folder.csv/data.zarr/").is_grid


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather"])
def test_no_file_and_a_folder(tmp_path, name):
    with pytest.raises(FileNotFoundError):
        open_data(str(tmp_path / name))
    (tmp_path / name).mkdir()
    with pytest.raises(OSError, match=r".") as caught:
        open_data(str(tmp_path / name))
    assert caught.value.filename == str(tmp_path / name)
