"""Range."""

from __future__ import annotations

from math import ceil, isfinite, nan

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.weights import Array
from xrelay.frontend.onnx.converters.shared.numbers import scalar_input
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import MICROSOFT, converts
from xrelay.frontend.onnx.tensors import MAX_COMPUTED_BYTES


@converts("Range", since=11)
def convert_range(node: NodeView) -> SSAValue:
    """`arange`; for constant floats the numbers themselves, whose count no shape rule computes."""
    for index in range(3):
        if node.shape(index) not in ((), (1,)):
            raise node.error(f"a bound of Range must be one number, found {node.input(index).type}")
        if node.element_type(index) != node.element_type(0):
            raise node.error(f"the bounds of Range are {node.input(0).type} and {node.input(index).type}")
    known = [bound for index in range(3) if (bound := node.constant(index)) is not None]
    if len(known) == 3:
        start, limit, delta = (bound.reshape(()) for bound in known)
        if known[0].dtype.kind not in "iu":
            return _range_of_floats(node, start, limit, delta)
        count = max(-((int(start) - int(limit)) // int(delta)), 0) if delta else 0
        node.require_size((count,), start.itemsize)
    return node.emit("arange", *(scalar_input(node, index) for index in range(3)))


@converts("Range", domain=MICROSOFT)
def convert_range_by_default(node: NodeView) -> SSAValue:
    """Range with a default delta of 1."""
    delta = node.optional_input(2)
    given = node.scalar_like(1, 0) if delta is None else delta
    return convert_range(node.with_inputs([node.input(0), node.input(1), given]))


def _range_of_floats(node: NodeView, start: Array, limit: Array, delta: Array) -> SSAValue:
    """The numbers `start + i * delta` for `i` below `max(ceil((limit - start) / delta), 0)`."""
    first, last, by = (float(bound) for bound in (start, limit, delta))
    steps = (last - first) / by if by else nan
    # The difference of two numbers, and its quotient, may overflow.
    if not all(isfinite(number) for number in (first, last, by, steps)):
        raise node.error(f"Range from {first} to {last} by {by} has no defined length")
    count = max(ceil(steps), 0)
    node.require_size((count,), np.dtype(np.int64).itemsize, MAX_COMPUTED_BYTES)
    return node.emit_constant(np.asarray(start + np.arange(count).astype(start.dtype) * delta, start.dtype), "range")
