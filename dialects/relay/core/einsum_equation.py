"""The parsed equation of an einsum, such as `"...ij,...jk->...ik"`, for operands of known rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

ELLIPSIS = "..."


@dataclass(frozen=True)
class Equation:
    """The labels of the axes of each operand and of the result.

    The label of an axis in an ellipsis is its number, counted from the last axis of the ellipsis.
    """

    operands: tuple[tuple[str, ...], ...]
    result: tuple[str, ...]

    @property
    def summed(self) -> tuple[str, ...]:
        """The labels that occur only in operands, in order of occurrence."""
        met = dict.fromkeys(label for labels in self.operands for label in labels)
        return tuple(label for label in met if label not in self.result)

    @staticmethod
    def of(text: str, ranks: Sequence[int]) -> Equation | str:
        """Returns the equation `text` for operands of these ranks, or an error message.

        Without an arrow the result has the axes of ellipses, followed by the labels that occur once, in alphabetical
        order.
        """
        plain = text.replace(" ", "")
        given, arrow, wanted = plain.partition("->")
        terms = given.split(",")
        if len(terms) != len(ranks):
            return f"the equation {text!r} has {len(terms)} operands, got {len(ranks)}"
        operands: list[tuple[str, ...]] = []
        for index, (term, rank) in enumerate(zip(terms, ranks, strict=True)):
            labels = _labels(term, rank)
            if labels is None:
                return f"{term!r} of the equation {text!r} does not name the axes of operand {index}, of rank {rank}"
            operands.append(labels)
        counts = Counter(label for labels in operands for label in labels)
        open_axes = sorted((label for label in counts if label.isdigit()), key=int, reverse=True)
        if not arrow:
            once = sorted(label for label, count in counts.items() if count == 1 and not label.isdigit())
            return Equation(tuple(operands), (*open_axes, *once))
        before, dots, after = wanted.partition(ELLIPSIS)
        result = (*before, *(open_axes if dots else ()), *after)
        if (open_axes and not dots) or len(set(result)) < len(result) or not set(result) <= set(counts):
            return f"the result of the equation {text!r} must name each axis of the operands at most once"
        return Equation(tuple(operands), result)


def _labels(term: str, rank: int) -> tuple[str, ...] | None:
    before, dots, after = term.partition(ELLIPSIS)
    hidden = rank - len(before) - len(after)
    letters = before + after
    if hidden < 0 or (hidden and not dots) or not (letters == "" or (letters.isascii() and letters.isalpha())):
        return None
    return (*before, *(str(number) for number in reversed(range(hidden))), *after)
