"""Spins while it is imported."""

from work import N

x = 0
for i in range(N):
    x += i * i
