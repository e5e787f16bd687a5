"""Unique names: of functions among the symbols of a module, of loops in a kernel."""

from __future__ import annotations


def fresh_name(stem: str, taken: set[str], last: dict[str, int] | None = None) -> str:
    """Returns `stem`, or the first of `stem_1`, `stem_2`, … that is not in `taken`, and adds it to `taken`.

    `last` maps stems to their last number: with it, many names with one stem take linear time.
    """
    last = {} if last is None else last
    name, number = stem, last.get(stem, 0)
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    taken.add(name)
    last[stem] = number
    return name
