"""Divisors of positive numbers, such as extents."""

from __future__ import annotations


def divisors(number: int) -> list[int]:
    """Returns the divisors of a positive number in ascending order."""
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


def largest_divisor(number: int, limit: int) -> int:
    """Returns the largest divisor of a positive number that is at most `limit`; 1 for a limit below 1."""
    return next((divisor for divisor in range(min(number, limit), 0, -1) if number % divisor == 0), 1)
