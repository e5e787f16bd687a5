"""Expand, Tile, Trilu and ReverseSequence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import is_static, shape_of
from xrelay.frontend.onnx.converters.shared.extents import known_axis, static_shape
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import MICROSOFT, converts
from xrelay.frontend.onnx.tensors import check_size


@converts("Expand", since=8, limits="shape of known length")
def convert_expand(node: NodeView) -> SSAValue:
    """Bidirectional broadcast to a shape; `dyn.broadcast_to` if one of the shapes is not known."""
    if node.constant(1) is None or not is_static(node.input(0).type):
        return node.emit("dyn.broadcast_to", node.input(0), node.input(1))
    wanted = node.required_ints(1, "shape")
    shape = (1,) * (len(wanted) - len(static_shape(node, node.input(0)))) + static_shape(node, node.input(0))
    wanted = (1,) * (len(shape) - len(wanted)) + wanted
    if any(new < 0 or (old != 1 and new not in (1, old)) for old, new in zip(shape, wanted, strict=True)):
        raise node.error(f"shapes {shape} and {wanted} do not broadcast")
    target = tuple(new if old == 1 else old for old, new in zip(shape, wanted, strict=True))
    _check_size(node, target)
    return node.emit("broadcast_to", node.input(0), shape=target)


@converts("Tile", since=6, limits="repeats of known length")
def convert_tile(node: NodeView) -> SSAValue:
    """`tile`; `dyn.tile` if the repeats or the shape are not known."""
    if node.constant(1) is None or not is_static(node.input(0).type):
        repeats = node.input(1)
        if shape_of(repeats.type) != (len(node.shape(0)),):
            raise node.error(f"repeats {repeats.type} do not suit rank {len(node.shape(0))}")
        return node.emit("dyn.tile", node.input(0), repeats)
    counts, shape = node.required_ints(1, "repeats"), static_shape(node, node.input(0))
    if len(counts) != len(shape) or any(count < 0 for count in counts):
        raise node.error(f"repeats {list(counts)} do not suit rank {len(shape)}")
    _check_size(node, [count * extent for count, extent in zip(counts, shape, strict=True)])
    return node.emit("tile", node.input(0), reps=counts) if any(count != 1 for count in counts) else node.input(0)


def _check_size(node: NodeView, shape: Sequence[int]) -> None:
    """Raise an error for a result that exceeds the limit of constants: a few bytes of a model may ask for gigabytes."""
    problem = check_size(tuple(shape), numpy_dtype(node.element_type(0)).itemsize)
    if problem is not None:
        raise node.error(problem)


@converts("Trilu", since=14, attributes=("upper",))
@converts("Trilu", domain=MICROSOFT, attributes=("upper",))
def convert_trilu(node: NodeView) -> SSAValue:
    """`trilu`, at the main diagonal by default."""
    k = node.emit_constant(np.zeros((), np.int64), "k")
    if (given := node.optional_input(1)) is not None:
        k = node.reshape(given, [])
    upper = node.attribute_int("upper", 1, check=lambda value: value in (0, 1))
    return node.emit("trilu", node.input(0), k, upper=bool(upper))


@converts("ReverseSequence", since=10, attributes=("batch_axis", "time_axis"))
def convert_reverse_sequence(node: NodeView) -> SSAValue:
    """`reverse_sequence`; batch and time are the first two axes."""
    rank = len(node.shape(0))
    time = known_axis(node, node.attribute_int("time_axis", 0), rank)
    batch = known_axis(node, node.attribute_int("batch_axis", 1), rank)
    return node.emit("reverse_sequence", node.input(0), node.input(1), seq_axis=time, batch_axis=batch)
