"""Tables in files, read and written; the format is told by the suffix.

A table is read so that whatever is not reduced can be written again untouched.
"""

from ._chunked import left_out_of_chunks, open_chunked, write_chunked
from ._chunks import ChunkedGrid, ChunkedTable, Look, compute_all
from ._fields import block_of, check_same_field, field_of
from ._form import Form, form_of
from ._read import read_table
from ._table import Grid, Gridded, TableFile
from ._write import left_out, write_table

__all__ = [
    "ChunkedGrid",
    "ChunkedTable",
    "Form",
    "Grid",
    "Gridded",
    "Look",
    "TableFile",
    "block_of",
    "check_same_field",
    "compute_all",
    "field_of",
    "form_of",
    "left_out",
    "left_out_of_chunks",
    "open_chunked",
    "read_table",
    "write_chunked",
    "write_table",
]
