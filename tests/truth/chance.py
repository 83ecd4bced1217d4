"""What chance allows: how far measured shares may lie from true ones."""

import math
from dataclasses import dataclass

LEAST = 5  # samples that a category must have by expectation; below, chi-squared says too much


def survival(chi2, freedom):
    """The probability that chance alone gives at least this chi-squared: the regularised upper incomplete gamma
    function Q(freedom / 2, chi2 / 2), by its series below the mean and its continued fraction (Lentz) above."""
    a, x = freedom / 2, chi2 / 2
    if x <= 0 or freedom <= 0:
        return 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while term > total * 1e-16:
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1 - front * total)
    tiny = 1e-300
    b = x + 1 - a
    c, d = 1 / tiny, 1 / b
    h = d
    for i in range(1, 10000):
        b += 2
        d = 1 / (b - i * (i - a) * d or tiny)
        c = b - i * (i - a) / c or tiny
        h *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * h


@dataclass
class Chance:
    """Chi-squared of measured shares against true ones, and its degrees of freedom. Several can be added."""

    chi2: float = 0.0
    freedom: int = 0

    def __add__(self, other):
        return Chance(self.chi2 + other.chi2, self.freedom + other.freedom)

    @property
    def probability(self):
        return survival(self.chi2, self.freedom)

    @property
    def z(self):
        """Root mean square of the z values: 1 is what chance gives; with two functions it is |z| itself."""
        return math.sqrt(self.chi2 / self.freedom) if self.freedom else 0.0


def compare(true, measured, samples):
    """true, measured: function -> share; samples: interrupts that the measured shares come from.

    Each function is one category, (observed - expected)^2 / expected; who expects too few samples is put together with
    others. With two functions this is the square of z = (observed - true) / sqrt(p (1 - p) / samples)."""
    parts, rest = [], [0.0, 0.0]
    for name in sorted(true, key=true.get):
        pair = [true[name], measured.get(name, 0.0)]
        if rest[0]:
            pair = [pair[0] + rest[0], pair[1] + rest[1]]
        if pair[0] * samples < LEAST:
            rest = pair
        else:
            parts.append(pair)
            rest = [0.0, 0.0]
    if rest[0] and parts:
        parts[-1] = [parts[-1][0] + rest[0], parts[-1][1] + rest[1]]
    if len(parts) < 2:
        return Chance()
    return Chance(sum(samples * (m - t) ** 2 / t for t, m in parts), len(parts) - 1)
