"""Answers about an op that are remembered as long as the parts of it that they follow from are the same objects."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import TypeVar

from xdsl.ir import Operation

AnswerT = TypeVar("AnswerT")
OpT = TypeVar("OpT", bound=Operation)


def remembered(op: OpT, parts: tuple[object, ...], answer: Callable[[OpT], AnswerT]) -> AnswerT:
    """Returns `answer(op)`, found anew only where one of `parts` is another object than when it was last asked.

    `parts` are immutable: attributes of the op, and its operands as the tuple that xDSL replaces whole at each change.
    """
    answers = vars(op)
    known = answers.get(answer.__name__)
    if known is not None and len(known[0]) == len(parts) and all(map(is_, known[0], parts)):
        return known[1]
    found = answer(op)
    answers[answer.__name__] = parts, found
    return found
