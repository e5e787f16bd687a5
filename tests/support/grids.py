"""Which cases of a grid `make test` runs: few, but of every kind."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence


def diagonal(cases: Sequence[Iterable[Hashable]], step: int, *, all_values: bool = False) -> list[int]:
    """The numbers of one in `step` cases, rounded up, which show as many values as that many can.

    A case is the values that it has. Of those that show equally many new ones comes first each `step`-th case from the
    first on, then the others in order, so that cases without a value in common are taken evenly. With `all_values` as
    many cases are taken as it needs to show every value.

    2 by 3 cases (a, x), (a, y), (a, z), (b, x), (b, y), (b, z) by 3: (a, x), (b, y).
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
        # What a case shows that is new only falls, so the gain of the last one bounds that of the next.
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
