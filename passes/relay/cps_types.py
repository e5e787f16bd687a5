"""Types in continuation passing style, for `relay-to-cps` and `relay-un-cps`.

A function of A that gives B becomes one of A and a continuation, of B, and gives the answer: what the continuation
gives. Functions in its parameters and results become that too.
"""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, TupleType
from xdsl.ir import Attribute

from xrelay.dialects.shared.types import tuple_type


def continuation_type(given: Attribute, answer: Attribute) -> FunctionType:
    """The type of what goes on with a value of type `given`, and gives the `answer`."""
    return FunctionType.from_lists([cps_type(given, answer)], [answer])


def cps_type(type: Attribute, answer: Attribute) -> Attribute:
    """`type`, in which each function takes a continuation and gives the `answer`; as deep as the type."""
    return _CpsTypes(answer).of(type)


class _CpsTypes:
    """Types in continuation passing style for one answer; of parts that are there twice, once."""

    def __init__(self, answer: Attribute):
        self._answer = answer
        self._known: dict[int, tuple[Attribute, Attribute]] = {}

    def of(self, type: Attribute) -> Attribute:
        """`type` in that style, itself where it has no functions."""
        known = self._known.get(id(type))
        if known is None:
            known = self._known[id(type)] = type, self._made(type)
        return known[1]

    def _made(self, type: Attribute) -> Attribute:
        if isinstance(type, FunctionType):
            given = FunctionType.from_lists([self.of(type.outputs.data[0])], [self._answer])
            return FunctionType.from_lists([*map(self.of, type.inputs), given], [self._answer])
        if isinstance(type, TupleType) and has_functions(type):
            return tuple_type(map(self.of, type.types))
        return type


def has_functions(type: Attribute) -> bool:
    """Whether a value of `type` is, or holds, a function."""
    pending, seen = [type], set[int]()
    for each in pending:
        if isinstance(each, FunctionType):
            return True
        if isinstance(each, TupleType) and id(each) not in seen:
            # A few types that share parts may stand for millions.
            seen.add(id(each))
            pending += each.types.data
    return False


def given_type(outputs: tuple[Attribute, ...]) -> Attribute:
    """The type of what a function with these results gives its continuation: of several, a tuple."""
    return outputs[0] if len(outputs) == 1 else tuple_type(outputs)
