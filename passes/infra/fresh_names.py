"""Names that nothing has yet: of functions among the symbols of a module, of loops in a kernel."""

from __future__ import annotations


def fresh_name(stem: str, taken: set[str]) -> str:
    """`stem`, or the first of `stem_1`, `stem_2`, … that is not in `taken`, to which it is added."""
    name, number = stem, 0
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    taken.add(name)
    return name
