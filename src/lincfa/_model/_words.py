"""Numbers as a person would write them."""

from collections.abc import Callable
from math import floor, log10


def digits(value: float, count: int = 3) -> str:
    """Give a number with so many digits."""
    if value == 0:
        return "0"
    sign, size = "−" if value < 0 else "", abs(value)
    if not 1e-3 <= size < 1e6:
        return f"{sign}{size:.{count}g}"
    places = max(0, count - 1 - floor(log10(size)))
    return f"{sign}{size:.{places}f}"


def decimals(correlation: float, count: int = 3) -> str:
    """Give a correlation with so many decimals, and more where it is nearly 1 or −1."""
    if not -1 < correlation < 1:
        return digits(correlation, count)
    count = max(count, count - 2 - floor(log10(1 - abs(correlation))))
    rounded = round(correlation, count) + 0.0  # of −0.0 no sign is left
    return f"{rounded:.{count}f}".replace("-", "−")


def apart(written: Callable[[float, int], str], one: float, other: float) -> tuple[str, str]:
    """Write two numbers with as many digits as it takes to tell them apart."""
    for count in range(3, 17):
        pair = written(one, count), written(other, count)
        if pair[0] != pair[1] or one == other:
            break
    return pair
