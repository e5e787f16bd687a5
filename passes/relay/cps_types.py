"""Types in continuation passing style, for `relay-to-cps` and `relay-un-cps`.

A function of A that gives B becomes one of A and a continuation, of B, and gives the answer: what the continuation
gives. Functions in its parameters and results become that too.
"""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, TupleType
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.types import tuple_type


def continuation_type(given: Attribute, answer: Attribute) -> FunctionType:
    """The type of what goes on with a value of type `given`, and gives the `answer`."""
    return FunctionType.from_lists([cps_type(given, answer)], [answer])


def cps_type(type: Attribute, answer: Attribute) -> Attribute:
    """`type`, in which each function takes a continuation and gives the `answer`."""
    if isinstance(type, FunctionType):
        inputs = [cps_type(each, answer) for each in type.inputs]
        return FunctionType.from_lists([*inputs, continuation_type(type.outputs.data[0], answer)], [answer])
    if isinstance(type, TupleType) and has_functions(type):
        return tuple_type(cps_type(field, answer) for field in type.types)
    return type


def has_functions(type: Attribute) -> bool:
    """Whether a value of `type` is, or holds, a function."""
    pending = [type]
    for each in pending:
        if isinstance(each, FunctionType):
            return True
        if isinstance(each, TupleType):
            pending += each.types.data
    return False


def given_type(outputs: tuple[Attribute, ...]) -> Attribute:
    """The type of what a function with these results gives its continuation: of several, a tuple."""
    return outputs[0] if len(outputs) == 1 else tuple_type(outputs)
