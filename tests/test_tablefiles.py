"""Tables in files: what is kept comes back as it was, in every format."""

import bz2
import gzip
import io
import lzma
import subprocess
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

pl = pytest.importorskip("polars")

from lincfa.cli._files import form_of, left_out, read_table, write_table


def saved(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def rewritten(folder, table, keep, name="out.csv", rows=None, **reduced):
    """Write a table to a name without suffix, and give its path under the right one."""
    height = table.frame.height if rows is None else int(rows.sum())
    values = np.column_stack([*reduced.values()]) if reduced else np.empty((height, 0))
    part = folder / ".lincfa-00.part"
    form = form_of(name, table.form)
    write_table(part, table, keep, rows, values, [*reduced], form=form)
    return str(part.rename(folder / name))


UNTOUCHED = """id,code,word,flag,day,"na, me",y
00123,1.10,NA,True,2020-01-01,=1+1,1
00124,1.20,"a, ""b""\nc",FALSE,2020-01-02, spaced ,2
,NA,,true,,None,3
"""


def test_text_is_written_back_as_it_was(tmp_path):
    table = read_table(saved(tmp_path, UNTOUCHED), as_text=["id", "code"])
    assert table.numeric() == ["y"]
    keep = ["id", "code", "word", "flag", "day", "na, me"]
    path = rewritten(tmp_path, table, keep, y=np.array([1.0, 2.0, 3.0]))
    expected = UNTOUCHED.replace(",1\n", ",1.0\n").replace(",2\n", ",2.0\n")
    assert Path(path).read_bytes().decode() == expected.replace(",3\n", ",3.0\n")


def test_columns_of_all_kinds_keep_their_order_and_rows(tmp_path):
    table = read_table(saved(tmp_path, "b,a,c\n1,x,1.5\n2,y,\n3,z,0.1\n"))
    assert table.frame.columns == ["b", "a", "c"]
    rows = np.array([True, False, True])
    path = rewritten(tmp_path, table, ["b", "a", "c"], rows=rows, **{"mean(q, r)": [0.1, 1 / 3]})
    assert Path(path).read_text() == (
        'b,a,c,"mean(q, r)"\n1,x,1.5,0.1\n3,z,0.1,0.3333333333333333\n'
    )


def test_numbers_come_back_to_the_last_bit(tmp_path):
    values = np.random.default_rng(0).standard_normal(500) * 10.0 ** np.arange(-250, 250)
    singles = values.clip(-1e30, 1e30).astype(np.float32)
    table = read_table(saved(tmp_path, "k\n" + "1\n" * 500))
    path = rewritten(tmp_path, table, ["k"], a=values)
    assert np.array_equal(read_table(path).numbers(["a"])[:, 0], values)
    path = rewritten(tmp_path, table, ["k"], a=singles)
    assert np.array_equal(read_table(path).numbers(["a"])[:, 0].astype(np.float32), singles)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt"])
@pytest.mark.parametrize("compression", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_every_compression(tmp_path, suffix, compression):
    if compression == ".zst" and sys.version_info < (3, 14):
        pytest.importorskip("pyarrow")
    table = read_table(saved(tmp_path, "a;b\n1;x,\t\n2;y\n", "in.txt"))
    name = f"out{suffix}{compression}"
    path = rewritten(tmp_path, table, ["a", "b"], name, m=[0.5, 1.5])
    raw = Path(path).read_bytes()
    opener = {".gz": gzip, ".bz2": bz2, ".xz": lzma}.get(compression)
    text = opener.decompress(raw) if opener else raw
    separator = {".csv": b",", ".tsv": b"\t", ".txt": b";"}[suffix]
    if compression != ".zst":
        assert text.splitlines()[0] == b"a" + separator + b"b" + separator + b"m"
    again = read_table(path)
    assert again.frame.rows() == [(1, "x,\t", 0.5), (2, "y", 1.5)]
    assert again.form == form_of(name, table.form)


@pytest.mark.parametrize(
    ("header", "expected"),
    [("a;b", ";"), ("a\tb", "\t"), ("a|b", "|"), ("a,b", ","), ('"a;;;b",c', ","), ("a", ",")],
)
def test_separator_is_found_in_the_header(tmp_path, header, expected):
    table = read_table(
        saved(tmp_path, f"{header}\n{expected.join('12')}\n".replace("a\n1,2", "a\n1"))
    )
    assert table.form.separator == expected
    again = read_table(rewritten(tmp_path, table, table.frame.columns))
    assert again.frame.equals(table.frame)
    assert again.form.separator == expected


def test_separator_given_and_that_of_tsv(tmp_path):
    assert read_table(saved(tmp_path, "a,b;c\n1,2;3\n"), separator=";").frame.columns == [
        "a,b",
        "c",
    ]
    assert read_table(saved(tmp_path, "a,b,c\td\n1\t3\n", "t.tsv")).frame.columns == ["a,b,c", "d"]
    with pytest.raises(ValueError, match="one plain character, not ';;'"):
        read_table(saved(tmp_path, "a\n1\n"), separator=";;")


def test_text_of_numbers_is_numbers(tmp_path):
    words = ["NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A", ""]
    lines = "\n".join(f"{word}, 1 , {word} ,{word},true" for word in words)
    text = f"a,b,c,d,e\n1,2,3.5,x,true\n2,3,inf,-1,false\n{lines}\n"
    table = read_table(saved(tmp_path, text))
    assert table.numeric() == ["a", "b", "c"]
    assert table.frame["a"].to_list() == [1, 2, *[None] * 9]
    assert table.frame["c"][1] == np.inf
    assert table.frame["e"].to_list()[:2] == ["true", "false"]
    assert table.frame["d"].to_list() == ["x", "-1", *words[:-1], None]
    numbers = table.numbers(["c", "a"])
    assert numbers.dtype == np.float64
    assert numbers.flags.f_contiguous
    np.testing.assert_array_equal(numbers[:3], [[3.5, 1], [np.inf, 2], [np.nan, np.nan]])


def test_types_beyond_the_first_hundred_rows(tmp_path):
    late = {"int": ("1", "1.5"), "na": ("1", "NA"), "word": ("1", "x"), "flag": ("true", "2")}
    late |= {"big": ("1", "9" * 50), "empty": ("", "7")}
    first, last = zip(*late.values(), strict=True)
    text = "\n".join([",".join(late), *[",".join(first)] * 150, ",".join(last)])
    table = read_table(saved(tmp_path, text))
    assert table.numeric() == ["int", "na", "big", "empty"]
    assert table.frame.row(150) == (1.5, None, "x", "2", 1e50, 7)
    assert table.frame["flag"][0] == "true"
    assert table.remarks == {"word": "row 151 is 'x'"}


def test_remark_on_what_is_mostly_numbers(tmp_path):
    text = "y,z,w\n" + "1,a,0\n" * 12 + '"1,5",1,1\n?,2,2\n'
    table = read_table(saved(tmp_path, text))
    assert table.remarks == {"y": "row 13 is '1,5', and 1 more"}
    assert table.numeric() == ["w"]


def test_target_read_as_text_is_numbers(tmp_path):
    path = saved(tmp_path, "y,z\n007,1\n NA ,2\n1e1,x\n")
    table = read_table(path, as_text=["y", "z"])
    assert table.frame["y"].to_list() == ["007", " NA ", "1e1"]
    np.testing.assert_array_equal(table.numbers(["y"])[:, 0], [7, np.nan, 10])
    with pytest.raises(ValueError, match=r"t.csv: column 'z' is not of numbers: row 3 is 'x'\.$"):
        table.numbers(["y", "z"])


def test_empty_columns(tmp_path):
    table = read_table(saved(tmp_path, "a,b,c,d\n1,,NA,NaN\n2,,,NaN\n"))
    assert table.empty() == ["b", "c", "d"]
    assert table.numeric() == ["a"]
    path = rewritten(tmp_path, table, ["a", "b", "c"])
    assert Path(path).read_text() == "a,b,c\n1,,NA\n2,,\n"


def test_marks_and_line_ends_of_windows(tmp_path):
    table = read_table(saved(tmp_path, b'\xef\xbb\xbf"a ""q""","b\r\nc"\r\n1,x\r\n2,y\r\n\r\n\r\n'))
    assert table.frame.columns == ['a "q"', "b\r\nc"]
    assert table.frame.rows() == [(1, "x"), (2, "y")]
    again = read_table(rewritten(tmp_path, table, table.frame.columns))
    assert again.frame.equals(table.frame)


def test_blank_lines_are_rows_only_between_rows(tmp_path):
    table = read_table(saved(tmp_path, "a\n1\n\n3\n\n"))
    assert table.frame["a"].to_list() == [1, None, 3]
    rows = np.array([True, True, False])
    again = read_table(rewritten(tmp_path, table, ["a"], rows=rows))
    assert again.frame["a"].to_list() == [1, None]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_standard_input(monkeypatch, pack):
    stream = io.TextIOWrapper(io.BytesIO(pack("a;ü\n1;x\n".encode())))
    monkeypatch.setattr(sys, "stdin", stream)
    table = read_table("-")
    assert (table.source, table.form.separator) == ("standard input", ";")
    assert table.frame.rows() == [(1, "x")]
    assert form_of("-", table.form) == table.form


def test_names_with_wildcards(tmp_path):
    saved(tmp_path, "a\n2\n", "t1.csv")
    for name in ("t[1].csv", "t[1].parquet", "t[1].feather"):
        table = read_table(saved(tmp_path, "a\n1\n", "in.csv"))
        assert read_table(rewritten(tmp_path, table, ["a"], name)).frame.rows() == [(1,)]


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
    table = read_table(path)
    assert table.numeric() == ["whole", "single", "money"]
    assert table.empty() == ["none"]
    assert left_out(table, frame.columns, table.form) == []
    path = rewritten(tmp_path, table, frame.columns, f"out{suffix}", m=[1.0, 2.0, 3.0])
    again = read_table(path)
    assert again.frame.drop("m").schema == frame.schema
    assert again.frame.drop("m").equals(frame)
    assert table.numbers(["single"]).dtype == np.float32
    wide = table.numbers(["single", "whole", "money", "none"])
    np.testing.assert_array_equal(wide[0], [np.float32(0.1), 1, 1.1, np.nan])
    assert np.isnan(wide[1]).all()
    with pytest.raises(ValueError, match="column 'flag' is not of numbers: row 1 is True"):
        table.numbers(["flag"])


def test_csv_says_what_it_cannot_hold(tmp_path):
    pl.DataFrame(KINDS).write_parquet(tmp_path / "in.parquet")
    table = read_table(tmp_path / "in.parquet")
    keep = [*KINDS]
    assert left_out(table, keep, form_of("x.csv")) == ["list", "pair", "raw"]
    again = read_table(rewritten(tmp_path, table, keep), as_text=["money"])
    assert again.frame.columns == [name for name in keep if name not in ("list", "pair", "raw")]
    assert again.frame["money"].to_list() == ["1.10", None, "3.30"]
    assert again.frame["span"].to_list() == ["PT1H", None, "P2D"]
    assert again.frame["day"].to_list() == ["2020-01-01", None, "2020-01-03"]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather"])
def test_a_table_stays_when_its_file_is_overwritten(tmp_path, name):
    table = read_table(saved(tmp_path, "a,b\n" + "1.5,some longer text\n" * 5000, "in.csv"))
    path = Path(rewritten(tmp_path, table, ["a", "b"], name))
    if name == "t.feather":
        table.frame.write_ipc(path, compression="uncompressed")  # which could be mapped
    again = read_table(path)
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
    assert again.frame.equals(table.frame)


def test_arrow_stream(tmp_path):
    frame = pl.DataFrame({"a": [1.5, 2.5]})
    frame.write_ipc_stream(tmp_path / "s.arrow")
    assert read_table(tmp_path / "s.arrow").frame.equals(frame)


def test_a_name_is_written_once(tmp_path):
    table = read_table(saved(tmp_path, "a\n1\n"))
    with pytest.raises(ValueError, match="written twice: 'a'"):
        rewritten(tmp_path, table, ["a"], a=[1.0])
    with pytest.raises(ValueError, match="another shape"):
        write_table("x", table, ["a"], None, np.ones((2, 1)), ["m"], form=table.form)


@pytest.mark.parametrize(
    ("package", "name", "extra"), [("polars", "x.csv", "cli"), ("xarray", "x.nc", "xarray")]
)
def test_what_to_install(package, name, extra):
    code = f"import sys; sys.modules[{package!r}] = None\n"
    code += f"from lincfa.cli._files import read_table\nread_table({name!r})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"{package}: pip install 'lincfa[{extra}]'" in run.stderr
    assert run.stderr.strip().splitlines()[-1].startswith("ImportError: ")
