"""Moments and F with fifty digits, from the very numbers."""

import mpmath


def exact_moments(columns):
    """Means, scales and correlations with 50 digits from the very numbers."""
    with mpmath.workdps(50):
        exact = [[mpmath.mpf(float(value)) for value in column] for column in columns]
        means = [mpmath.fsum(column) / len(column) for column in exact]
        centred = [[v - m for v in column] for column, m in zip(exact, means, strict=True)]
        norms = [mpmath.sqrt(mpmath.fsum(v * v for v in column)) for column in centred]
        scales = [norm / mpmath.sqrt(len(columns[0]) - 1) for norm in norms]

        def correlation(i, j):
            dot = mpmath.fsum(a * b for a, b in zip(centred[i], centred[j], strict=True))
            return dot / (norms[i] * norms[j])

        return means, scales, correlation


def exact_pair(x1, x2, y):
    """F, 1 − ρ and |r₁ − r₂| with 50 digits, by (★) of the closed form."""
    with mpmath.workdps(50):
        _, _, correlation = exact_moments([x1, x2, y])
        rho, r1, r2 = correlation(0, 1), correlation(0, 2), correlation(1, 2)
        left = (len(y) - 3) * (r1 - r2) ** 2 * (1 + rho)
        right = 2 * (1 - rho**2 - r1**2 - r2**2 + 2 * rho * r1 * r2)
        return float(left / right), float(1 - rho), float(abs(r1 - r2))
