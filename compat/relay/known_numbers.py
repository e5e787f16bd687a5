"""Elements of an expression that are known from types and constants, without computing it."""

from __future__ import annotations

from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.known_elements import KnownElements
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.passes.infra.digraph import post_order

MOST_OPS = 64
"""The limit of ops to visit. Computations of shapes are short."""


def numbers_of(value: SSAValue) -> int | list[int] | None:
    """Returns the number or the list of numbers that `value` evaluates to; None if an element is not known."""
    if not isinstance(value, OpResult) or not is_complete(value.type):
        return None
    met = 0

    def makers(op: Operation) -> list[Operation]:
        nonlocal met
        met += 1
        return [each.op for each in op.operands if isinstance(each, OpResult)] if met <= MOST_OPS else []

    elements = KnownElements()
    for op in post_order([value.op], makers):
        if isinstance(op, RelayOp) and all(map(is_complete, op.operand_types)):
            elements.learn(op, op.operand_types)
    known = elements.of(value)
    numbers = [element for element in known or () if isinstance(element, int)]
    if known is None or len(numbers) < len(known):
        return None
    return numbers if shape_of(value.type) else numbers[0]
