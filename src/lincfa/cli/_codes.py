"""Numbers that look like codes for missing values, such as −9999."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .._data._names import describe_columns
from ._files import DataFile
from ._terminal import Terminal

# Numbers that often stand for a missing value, of either sign, besides all that are very large.
_NINES = [float("9" * digits) for digits in range(2, 11)]
_FRACTIONS = [99.9, 999.9, 9999.9, 99.99, 999.99, 9999.99]
_INTEGERS = [2**bits - less for bits in (15, 31) for less in (0, 1)]
_CODES = np.array([*_NINES, *_FRACTIONS, *_INTEGERS, 7777, 8888], dtype=np.float32)
_LARGE = 1e15
_FEWEST_CODES, _SHARE_OF_CODES = 3, 0.01
_FAR = 5  # times the range of the other values
_CODES_NOTED = 5


def note_codes(data: DataFile, names: Sequence[str], terminal: Terminal) -> None:
    """Note values that look like codes for missing ones: repeated, and far from all others."""
    counts = data.count_values(names)
    known = [name for name in names if name in counts.lowest]
    ends = np.array([(counts.lowest[name], counts.highest[name]) for name in known]).reshape(-1, 2)
    codes = np.where(_looks_like_code(ends), ends, np.nan)
    suspects = {known[k]: codes[k] for k in np.flatnonzero(~np.isnan(codes).all(axis=1))}
    found: dict[float, list[str]] = {}
    for name, others in (data.other_values(suspects) if suspects else {}).items():
        n_values = data.n_rows - counts.missing[name]
        low, high = suspects[name]
        if others.low == others.high != 0:
            continue  # two or three values that stand for kinds, most likely
        # NaN, and so not near, in a column that is a code throughout.
        far = _FAR * (others.high - others.low)
        for code, count, gap in (
            (low, others.at_low, others.low - low),
            (high, others.at_high, high - others.high),
        ):
            if count >= max(_FEWEST_CODES, _SHARE_OF_CODES * n_values) and not gap <= far:
                found.setdefault(float(code), []).append(name)
    for code, columns in sorted(found.items(), key=lambda item: -len(item[1]))[:_CODES_NOTED]:
        where = describe_columns(list(dict.fromkeys(columns)), range(len(set(columns))), limit=5)
        text = number_text(code)
        terminal.note(
            f"{text} in {where} looks like a code for missing values; --missing-code {text} "
            "counts it as missing"
        )


def _looks_like_code(values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    sizes = np.abs(values)
    near = np.minimum(sizes, _LARGE).astype(np.float32)  # 999.9 may be in single precision
    return (np.isfinite(values) & (sizes >= _LARGE)) | np.isin(near, _CODES)


def number_text(value: float) -> str:
    """Write a number as short as it can be read back."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))
