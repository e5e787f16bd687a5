"""Types in continuation passing style, for `relay-to-cps` and `relay-un-cps`.

A function from A to B becomes a function of A and a continuation, which takes B. Both return the answer type. The
functions in parameters and results change in the same way.
"""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, TupleType
from xdsl.ir import Attribute

from xrelay.dialects.shared.types import tuple_type


def continuation_type(passed: Attribute, answer: Attribute) -> FunctionType:
    """Returns the type of a continuation that takes a value of type `passed` and returns the `answer`."""
    return FunctionType.from_lists([cps_type(passed, answer)], [answer])


def cps_type(type: Attribute, answer: Attribute) -> Attribute:
    """Returns `type` in continuation passing style with this `answer` type; recursive to the depth of the type."""
    return _CpsTypes(answer).of(type)


class _CpsTypes:
    """Converts types to continuation passing style for one answer type; shared parts are converted once."""

    def __init__(self, answer: Attribute):
        self._answer = answer
        self._known: dict[int, tuple[Attribute, Attribute]] = {}

    def of(self, type: Attribute) -> Attribute:
        """Returns the converted type, or `type` itself if it has no functions."""
        known = self._known.get(id(type))
        if known is None:
            known = self._known[id(type)] = type, self._made(type)
        return known[1]

    def _made(self, type: Attribute) -> Attribute:
        if isinstance(type, FunctionType):
            continuation = FunctionType.from_lists([self.of(type.outputs.data[0])], [self._answer])
            return FunctionType.from_lists([*map(self.of, type.inputs), continuation], [self._answer])
        if isinstance(type, TupleType) and has_functions(type):
            return tuple_type(map(self.of, type.types))
        return type


def has_functions(type: Attribute) -> bool:
    """Whether a value of `type` is or contains a function."""
    pending, seen = [type], set[int]()
    for each in pending:
        if isinstance(each, FunctionType):
            return True
        if isinstance(each, TupleType) and id(each) not in seen:
            # A small type that shares parts can stand for millions of types.
            seen.add(id(each))
            pending += each.types.data
    return False


def passed_type(outputs: tuple[Attribute, ...]) -> Attribute:
    """Returns the type that a function with these results passes to its continuation: a tuple if there are several."""
    return outputs[0] if len(outputs) == 1 else tuple_type(outputs)
