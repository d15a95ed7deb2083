"""What every generator asks of its parameters."""


def check_counts(*, n_samples: int, **counts: int) -> None:
    """Refuse sizes of which no data can be made."""
    if n_samples < 2:
        raise ValueError(f"n_samples must be at least 2, got {n_samples}")
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name} must be at least 1, got {count}")
