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


def exact_pair(x1, x2, y, sign=1, weights=(1, 1)):
    """F, 1 − ρ and |r₁ − r₂| with 50 digits, of x₁ with ±x₂ and their weights in the mean.

    With a column for each of several targets, their sums over these; r₁ and r₂ are vectors then.
    """
    with mpmath.workdps(50):
        targets = y.reshape(len(y), -1).T
        _, _, correlation = exact_moments([x1, x2, *targets])
        rho = sign * correlation(0, 1)
        a, b = (mpmath.mpf(float(weight)) for weight in weights)
        growth = left = distance = 0
        for k in range(2, 2 + len(targets)):
            r1, r2 = correlation(0, k), sign * correlation(1, k)
            # The growth of bias and 1 − R², both times (1 − ρ²).
            apart = ((b + a * rho) * r1 - (a + b * rho) * r2) ** 2
            growth += apart / (a**2 + b**2 + 2 * a * b * rho)
            left += 1 - rho**2 - r1**2 - r2**2 + 2 * rho * r1 * r2
            distance += (r1 - r2) ** 2
        f = (len(y) - 3) * growth / left
        return float(f), float(1 - rho), float(mpmath.sqrt(distance))
