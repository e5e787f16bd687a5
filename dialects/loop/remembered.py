"""Caches values derived from an op as long as the parts of the op that determine them are the same objects."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import TypeVar

from xdsl.ir import Operation

AnswerT = TypeVar("AnswerT")
OpT = TypeVar("OpT", bound=Operation)


def remembered(op: OpT, parts: tuple[object, ...], answer: Callable[[OpT], AnswerT]) -> AnswerT:
    """Returns `answer(op)`, recomputed only if one of `parts` is another object than at the last call.

    `parts` are immutable: attributes of the op, and the tuple of its operands, which xDSL replaces at each change.
    """
    answers = vars(op)
    known = answers.get(answer.__name__)
    if known is not None and len(known[0]) == len(parts) and all(map(is_, known[0], parts)):
        return known[1]
    found = answer(op)
    answers[answer.__name__] = parts, found
    return found
