"""Excel files: what is kept comes back as it was; bad sheets are named."""

import io
import subprocess
import sys
import zipfile
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("fastexcel")
xlsxwriter = pytest.importorskip("xlsxwriter")

from lincfa.cli._files import format_of, open_data
from lincfa.cli._files._excel import write_sheet


def book(path, **sheets):
    """Write rows of cells as sheets of a file."""
    with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd"}) as made:
        for name, rows in sheets.items():
            sheet = made.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return str(path)


def named(path, **given):
    return open_data(path, replace(format_of(path), **given))


def message_of(path, **given):
    with pytest.raises(ValueError, match=r".") as caught:
        named(str(path), **given)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(str(path))


def test_types_of_cells(tmp_path):
    rows = [
        ["day", "when", 900, 900.5, "text", "label", "mixed", "flag", "none", "code"],
        [date(2020, 1, 1), datetime(2020, 1, 1, 12), 1, 0.5, "1.10", "001", 1.5, True, None, 7],
        [date(2020, 1, 2), datetime(2020, 1, 2), 2, 1e-9, "2", "002", "NA", False, None, 8],
        [date(2020, 1, 3), datetime(2020, 1, 3), 3, None, "3", "003", 2.5, True, None, 9],
    ]
    data = open_data(book(tmp_path / "t.xlsx", Data=rows))
    types = [pl.Date, pl.Datetime("ms"), pl.Int64, pl.Float64, pl.Float64, pl.String, pl.Float64]
    assert data.frame.dtypes == [*types, pl.Boolean, pl.String, pl.Int64]
    assert data.names == [str(name) for name in rows[0]]
    assert data.numeric == ["900", "900.5", "text", "mixed", "code"]
    assert data.empty == ["none"]
    assert data.frame["900.5"].to_list() == [0.5, 1e-9, None]
    assert data.frame["mixed"].to_list() == [1.5, None, 2.5]
    assert data.notes == ()
    kept = data.kept_frame(["text", "label", "code"], np.arange(3), as_numbers=["code"])
    assert kept["text"].to_list() == ["1.10", "2", "3"]
    assert kept["code"].to_list() == [7, 8, 9]
    assert open_data(book(tmp_path / "d.xlsx", S=[row[:1] + row[2:4] for row in rows])).dates


def test_numbers_beside_text_keep_their_digits(tmp_path):
    rows = [["a", "b"], ["x", "007"], [1e-12 / 3, "8.50"], [123456.789012345, None], [2, "y"]]
    data = open_data(book(tmp_path / "t.xlsx", Data=rows))
    kept = data.kept_frame(["a", "b"], np.arange(4))
    assert kept["a"][0] == "x"
    assert [float(value) for value in kept["a"][1:]] == pytest.approx(
        [1e-12 / 3, 123456.789012345, 2]
    )
    assert kept["b"].to_list() == ["007", "8.50", None, "y"]


def test_what_is_mostly_numbers_is_noted(tmp_path):
    rows = [["a"], *[[0.5]] * 5, ["<0.1"], [2]]
    assert open_data(book(tmp_path / "t.xlsx", S=rows)).comments == {"a": "row 6: '<0.1'"}


def test_formats_around_a_table_are_not_part_of_it(tmp_path):
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as made:
        sheet, look = made.add_worksheet(), made.add_format({"bold": True})
        for number, row in enumerate([["a", "b"], [1, 2], [None, None], [3, 4]]):
            sheet.write_row(2 + number, 1, row)
        for row, column in ((2, 5), (9, 1), (9, 5)):
            sheet.write_blank(row, column, None, look)
    assert open_data(str(path)).frame.rows() == [(1, 2), (None, None), (3, 4)]


def test_sheets(tmp_path):
    path = book(
        tmp_path / "t.xlsx", One=[["a"], [1]], Two=[["b"], [2]], Cover=[["Title"]], Blank=[]
    )
    first = open_data(path)
    assert first.names == ["a"]
    assert first.notes == (
        f"{path}: read sheet 'One', the first; --sheet takes another one: 'Two', 'Cover', 'Blank'",
    )
    second = named(path, sheet="Two")
    assert (second.names, second.notes) == (["b"], ())
    others = "; --sheet takes another one: 'One', 'Two', "
    assert message_of(path, sheet="two") == (
        " has no sheet 'two'; it has 'One', 'Two', 'Cover', 'Blank'"
    )
    assert message_of(path, sheet="Cover") == (
        f", sheet 'Cover' has columns but no rows{others}'Blank'"
    )
    assert message_of(path, sheet="Blank") == f", sheet 'Blank' is empty{others}'Cover'"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], " is empty"),
        ([["a", "b"]], " has columns but no rows"),
        ([["a", "b", "a"], [1, 2, 3]], ": columns 1 and 3 are both named 'a'."),
        (
            [["a", None, "c", ""], [1, 2, 3, 4]],
            ": columns 2 and 4 have no name in the header (row 1).",
        ),
        ([[" ", " "], [1, 2]], ": row 1 is empty; it should hold the column names."),
    ],
)
def test_bad_sheets(tmp_path, rows, expected):
    assert message_of(book(tmp_path / "t.xlsx", S=rows)) == f", sheet 'S'{expected}"


def test_one_column_without_a_name(tmp_path):
    """Row labels, as pandas writes them."""
    data = open_data(book(tmp_path / "t.xlsx", S=[[None, "a"], ["r1", 1.5], ["r2", 2.5]]))
    assert data.names == ["", "a"]


def test_damaged_and_protected(tmp_path):
    path = tmp_path / "t.xlsx"
    whole = Path(book(path, S=[["a"], [1]])).read_bytes()
    for content in (b"", whole[:50], whole[:-30]):
        path.write_bytes(content)
        assert message_of(path) == " is not an Excel file, or it is damaged."
    with zipfile.ZipFile(io.BytesIO(whole)) as packed:
        part = packed.getinfo("xl/worksheets/sheet1.xml")
    place = part.header_offset + 30 + len(part.filename)
    path.write_bytes(whole[:place] + b"\xff" * 50 + whole[place + 50 :])
    assert message_of(path) == " is not an Excel file, or it is damaged."
    # What Excel writes with a password: another container, with the file inside.
    inside = "EncryptedPackage".encode("utf-16-le")
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + inside + bytes(600))
    assert message_of(path) == " is protected by a password; save it without one"


def test_open_document(tmp_path):
    cells = "".join(
        f"<table:table-row>{row}</table:table-row>"
        for row in (
            "<table:table-cell office:value-type='string'><text:p>a</text:p></table:table-cell>",
            "<table:table-cell office:value-type='float' office:value='1.5'/>",
        )
    )
    of = "urn:oasis:names:tc:opendocument:xmlns:"
    space = " ".join(f"xmlns:{name}='{of}{name}:1.0'" for name in ("office", "table", "text"))
    table = f"<office:spreadsheet><table:table table:name='S'>{cells}</table:table>"
    body = f"<office:body>{table}</office:spreadsheet></office:body>"
    path = tmp_path / "t.ods"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        made.writestr("META-INF/manifest.xml", "<manifest/>")
        made.writestr(
            "content.xml", f"<office:document-content {space}>{body}</office:document-content>"
        )
    assert open_data(str(path)).frame.rows() == [(1.5,)]


def sheet_of(path, frame):
    with open(path, "wb") as file:
        write_sheet(file, frame)
    return str(path)


def test_a_table_comes_back(tmp_path):
    """Also what Excel's own tables do not allow: equal names but for capitals, and none."""
    values = np.random.default_rng(0).standard_normal(3) * [1e-12, 1, 1e12]
    frame = pl.DataFrame(
        {
            "a": values,
            "A": [1, 2, 3],
            "": ["=1+1", "http://x.y", "0012"],
            "mean(a, −b)": [0.5, None, np.nan],
            "day": [date(2020, 1, 1), None, date(2020, 1, 3)],
            "when": [datetime(2020, 1, 1, 12), None, datetime(2020, 1, 3)],
            "flag": [True, None, False],
            "kind": pl.Series(["a", "b", None], dtype=pl.Categorical),
            "money": pl.Series([Decimal("1.10"), None, Decimal("3.30")]),
        }
    )
    again = open_data(sheet_of(tmp_path / "t.xlsx", frame)).frame
    assert again.columns == frame.columns
    # Excel files hold 16 digits.
    np.testing.assert_allclose(again["a"].to_numpy(), values, rtol=1e-15)
    assert again["mean(a, −b)"].to_list() == [0.5, None, None]
    for name in ("A", "", "day", "when", "flag", "kind"):
        assert again[name].to_list() == frame[name].to_list()
    assert again["money"].to_list() == [1.1, None, 3.3]


def test_what_excel_has_no_type_for_is_text(tmp_path):
    frame = pl.DataFrame(
        {
            "number": [2**60 + 1, None],
            "zone": [datetime(2020, 1, 1, tzinfo=UTC), None],
            "early": [date(1851, 1, 1), date(2000, 1, 1)],
            "span": [timedelta(hours=1), None],
            "time": pl.Series([3600 * 10**9, None], dtype=pl.Int64).cast(pl.Time),
        }
    )
    again = pl.read_excel(sheet_of(tmp_path / "t.xlsx", frame))
    assert again.dtypes == [pl.String] * 5
    assert again["number"][0] == str(2**60 + 1)
    assert again["early"].to_list() == ["1851-01-01", "2000-01-01"]
    assert again["span"][0] == "PT1H"
    assert again["time"][0].startswith("01:00:00")
    assert again["zone"][0].startswith("2020-01-01")


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int32, pl.UInt32, pl.Int64, pl.UInt64])
def test_whole_numbers_of_all_sizes_are_numbers(tmp_path, dtype):
    frame = pl.DataFrame({"a": pl.Series([1, 7, 120], dtype=dtype)})
    again = pl.read_excel(sheet_of(tmp_path / "t.xlsx", frame))
    assert again["a"].to_list() == [1, 7, 120]


def test_the_smallest_whole_number_is_text(tmp_path):
    frame = pl.DataFrame({"a": [-(2**63), 1]})
    again = pl.read_excel(sheet_of(tmp_path / "t.xlsx", frame))
    assert again["a"].to_list() == [str(-(2**63)), "1"]


def test_the_same_table_is_the_same_file(tmp_path):
    frame = pl.DataFrame({"a": [1.5]})
    one, other = (sheet_of(tmp_path / name, frame) for name in ("1.xlsx", "2.xlsx"))
    assert Path(one).read_bytes() == Path(other).read_bytes()


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (
            pl.DataFrame({"a": pl.Series([None]).new_from_index(0, 1_048_576)}),
            "1048576 rows and 1 columns are too many",
        ),
        (pl.DataFrame([[1]] * 16_385), "1 rows and 16385 columns are too many for an Excel sheet"),
        (pl.DataFrame({"a": ["x", "y" * 32_768]}), "the text in column 'a', row 2, is too long"),
    ],
)
def test_too_much_for_a_sheet(frame, expected):
    with pytest.raises(ValueError, match=rf"^{expected}.*\.parquet or \.csv"):
        write_sheet(io.BytesIO(), frame)


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("fastexcel", "from lincfa.cli._files import open_data; open_data('x.xlsx')"),
        (
            "xlsxwriter",
            "from lincfa.cli._write import write_table; write_table('x.xlsx', 'x.xlsx', None)",
        ),
    ],
)
def test_what_to_install(package, call):
    code = f"import sys; sys.modules[{package!r}] = None\n{call}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    message = f"ImportError: .xlsx files need {package}: pip install 'lincfa[cli]'"
    assert run.stderr.strip().splitlines()[-1] == message
