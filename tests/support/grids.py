"""Chooses the few cases of a grid that `make test` runs, so that they cover many parameter values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence


def diagonal(cases: Sequence[Iterable[Hashable]], step: int, *, all_values: bool = False) -> list[int]:
    """Returns the sorted indices of one in `step` cases, rounded up, that together have many different values.

    Each element of `cases` has the values of a case. The choice is greedy: it repeatedly takes a case with the most
    values that no chosen case has. Between equals it prefers the cases at multiples of `step`, then the first, so that
    cases without common values are chosen at even distances. With `all_values`, it continues until each value occurs.

    Example: of the cases (a, x), (a, y), (a, z), (b, x), (b, y), (b, z), a `step` of 3 chooses (a, x) and (b, y).
    """
    missing = [set(case) for case in cases]
    left = sorted(range(len(cases)), key=lambda number: (number % step != 0, number))
    gain = max(map(len, missing), default=0)
    cases_of: dict[Hashable, list[int]] = {}
    for number, values in enumerate(missing):
        for value in values:
            cases_of.setdefault(value, []).append(number)
    chosen: list[int] = []
    while left and (len(chosen) * step < len(cases) or (all_values and gain)):
        # The number of new values in a case never grows, so `gain` bounds it for all later choices.
        best = next((number for number in left if len(missing[number]) == gain), None)
        if best is None:
            gain -= 1
            continue
        left.remove(best)
        chosen.append(best)
        for value in list(missing[best]):
            for number in cases_of[value]:
                missing[number].discard(value)
    return sorted(chosen)
