"""Delta debugging: a short list of numbers for which a predicate holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def minimize(items: Sequence[int], holds: Callable[[Sequence[int]], bool]) -> list[int]:
    """Returns a part of `items`, in order, for which `holds`, and from which no single item can be removed.

    `holds` must be true for all items. First large ranges are kept alone or removed, then smaller ones, as in ddmin by
    Zeller. If k of n items suffice and are needed, the number of calls grows as k log n.
    """
    kept = list(items)
    parts = 2
    while len(kept) > 1:
        parts = min(parts, len(kept))
        ranges = [(len(kept) * k // parts, len(kept) * (k + 1) // parts) for k in range(parts)]
        alone = next((each for each in ranges if holds(kept[slice(*each)])), None)
        if alone is not None:
            kept, parts = kept[slice(*alone)], 2
            continue
        rest = _without_ranges(kept, ranges, holds)
        if len(rest) < len(kept):
            kept, parts = rest, max(2, parts - 1)
        elif parts == len(kept):
            break
        else:
            parts *= 2
    return kept


def _without_ranges(
    items: Sequence[int], ranges: Sequence[tuple[int, int]], holds: Callable[[Sequence[int]], bool]
) -> list[int]:
    """Returns the items without each range, last first, that can be removed."""
    kept = list(items)
    for begin, end in reversed(ranges):
        rest = kept[:begin] + kept[end:]
        if rest and holds(rest):
            kept = rest
    return kept
