"""Files that hold no table: one line that names the file and the place."""

import gzip
import os
from contextlib import suppress

import numpy as np
import pytest

pl = pytest.importorskip("polars")

from lincfa.cli._files import form_of, read_table

FRAME = pl.DataFrame({"a": np.arange(2000.0), "b": ["word"] * 2000})


def said(path, **options):
    with pytest.raises(ValueError, match=r".") as caught:
        read_table(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


LONG = "a,b\n" + "1,x\n" * 500


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", " is empty."),
        (b"\n\n", ": line 1 is empty; it should name the columns."),
        (b",\n1,2\n", ": line 1 is empty; it should name the columns."),
        (b"a,b,a\n1,2,3\n", ": columns 1 and 3 are both named 'a'."),
        (b'a,"b\nc","b\nc"\n1,2,3\n', ": columns 2 and 3 are both named 'b\\nc'."),
        (b"a,,c,\n1,2,3,4\n", ": columns 2 and 4 have no name in the header, line 1."),
        (b"a,b\n", " has columns but no rows."),
        (b"a,b", " has columns but no rows."),
        (b"a,b\n\n\n", " has columns but no rows."),
        (b"a,b\n1,2\n1,2,3\n", ": line 3 has 3 fields, but the header 2."),
        (b"a,b\n1,2,\n", ": line 2 has 3 fields, but the header 2."),
        (f"{LONG}1,2,3,4\n{LONG}", ": line 502 has 4 fields, but the header 2."),
        (b'a,b\n1,"x\ny"\n1,2,3\n', ": line 4 has 3 fields, but the header 2."),
        (b'a,b\n1,x\n2,"y\n3,z\n', ": the quotes that open in line 3 do not match."),
        (f'{LONG}1,"x\n{LONG}', ": the quotes that open in line 502 do not match."),
        (b'a,b\n1,"x"y\n2,z\n', ": the quotes that open in line 2 do not match."),
        (b"a,b\r1,2\r", ": line 1 holds a carriage return; lines must end with a line feed."),
        (b'a,"b\n1,2\n', ": the quotes of the header, line 1, do not match."),
        ("a,b\n1,ü\n2,é\n".encode("latin-1"), " is not text in UTF-8: byte 0xfc in line 2; "),
        ("a,b\n1,ü\n".encode("utf-16"), " is text in UTF-16; save it as UTF-8."),
        (b"a,b\n1,x\0y\n", " is not a text file: a zero byte in line 2."),
        (bytes(range(1, 256)) * 20, " is not text in UTF-8: byte 0x80 in line 2"),
        (bytes(range(256)) * 20, " is not a text file: a zero byte in line 1."),
    ],
)
def test_csv(tmp_path, content, expected):
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert said(path).startswith(expected)


@pytest.mark.parametrize("block", range(3, 12))
def test_place_of_a_byte_beyond_the_first_block(tmp_path, monkeypatch, block):
    monkeypatch.setattr("lincfa.cli._files._csv_checks._BLOCK", block)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,äöü\n2,ßßßßß\n", encoding="utf-8")
    assert read_table(path).frame["b"].to_list() == ["äöü", "ßßßßß"]
    path.write_bytes("a,b\n1,äöü\n2,ßßßß\n".encode() + b"3,\xc3\n")
    assert said(path).startswith(" is not text in UTF-8: byte 0xc3 in line 4")
    path.write_bytes("a,b\n1,äöü\n2,ßßßß".encode() + b"\xc3")
    assert said(path).startswith(" is not text in UTF-8: byte 0xc3 in line 3")


def test_damaged_compression(tmp_path):
    path = tmp_path / "t.csv.gz"
    whole = gzip.compress(b"a,b\n1,2\n" * 100)
    for content in (whole[:-10], whole[:20] + b"xxxx" + whole[24:], whole[:2]):
        path.write_bytes(content)
        assert said(path).startswith(" is a damaged compressed file: ")


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_damaged_columns(tmp_path, suffix, capfd):
    path = tmp_path / f"t{suffix}"
    (FRAME.write_parquet if suffix == ".parquet" else FRAME.write_ipc)(path)
    whole = path.read_bytes()
    middle = len(whole) // 2
    damaged = [b"", b"PAR1", b"ARROW1", b"x" * 500, whole[:middle], whole[:-1], whole[:8]]
    damaged += [whole[:8] + whole[-8:], whole[:-60] + b"\xff" * 50 + whole[-10:]]
    for content in damaged:
        path.write_bytes(content)
        assert said(path).startswith(" is not a ")
    # A byte over which polars 2.1 (Feather) and 1.20 (Parquet) panic, with pages of text.
    place = len(whole) - {".parquet": 329, ".feather": 148}[suffix]
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
    with suppress(ValueError):
        read_table(path)
    assert capfd.readouterr().err == ""


def test_no_columns_and_no_rows(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": pl.Series([], dtype=pl.Float64)}).write_parquet(path)
    assert said(path) == " has columns but no rows."
    path = tmp_path / "t.feather"
    pl.DataFrame().write_ipc(path)
    assert said(path) == " has no columns."


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.gz", "t.parquet.gz", "csv", ".csv"])
def test_unknown_suffix(name):
    message = said(name)
    assert all(suffix in message for suffix in (".csv", ".pq", ".ipc", ".nc4", ".zarr", ".zst"))


def test_suffix_in_capitals_and_folders():
    assert form_of("DATA.CSV.GZ") == form_of("x.csv.gz")
    assert form_of("folder.csv/data.zarr/").folder
    assert not form_of("a.nc").flat


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather"])
def test_no_file_and_a_folder(tmp_path, name):
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(OSError, match=r".") as caught:
        read_table(tmp_path / name)
    assert caught.value.filename == os.fspath(tmp_path / name)
