"""Tables in files, read and written; the format is told by the suffix.

A table is read so that whatever is not reduced can be written again untouched.
"""

from ._form import Form, form_of
from ._read import read_table
from ._table import Grid, Gridded, TableFile
from ._write import left_out, write_table

__all__ = [
    "Form",
    "Grid",
    "Gridded",
    "TableFile",
    "form_of",
    "left_out",
    "read_table",
    "write_table",
]
