"""Reshape, Flatten, Transpose, Squeeze and Unsqueeze."""

from __future__ import annotations

from math import prod

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts
from xrelay.index_algebra.dims import Shape, shape_text


@converts("Reshape", since=1, until=4, attributes=("shape", "consumed_inputs"))
def convert_reshape_attribute(node: NodeView) -> SSAValue:
    """`reshape` with its shape as an attribute."""
    return _reshape(node, node.attribute_ints("shape", ()) or ())


@converts("Reshape", since=5, attributes=("allowzero",), limits="native code: constant shape")
def convert_reshape_input(node: NodeView) -> SSAValue:
    """`reshape` where the shape is known, else `dyn.reshape`; -1 is what is left, and 0 copies unless `allowzero`."""
    allowzero = bool(node.attribute_int("allowzero", 0, check=lambda value: value in (0, 1)))
    if node.constant(1) is None:
        return node.emit("dyn.reshape", node.input(0), node.input(1), allowzero=allowzero)
    return _reshape(node, node.required_ints(1, "shape"), allowzero)


def _reshape(node: NodeView, shape: tuple[int, ...], allowzero: bool = False) -> SSAValue:
    if any(extent < -1 for extent in shape) or shape.count(-1) > 1:
        raise node.error(f"the shape {list(shape)} is illegal", help="extents are positive, 0, or at most one -1")
    return node.emit("reshape", node.input(0), newshape=shape, allowzero=allowzero)


@converts("Flatten", attributes=("axis",))
def convert_flatten(node: NodeView) -> SSAValue:
    """`nn.batch_flatten` for axis 1, a reshape to two dimensions for others."""
    shape = node.shape(0)
    rank = len(shape)
    axis = node.attribute_int("axis", 1, check=lambda value: -rank <= value <= rank)
    if axis == 1 and rank >= 2:
        return node.emit("nn.batch_flatten", node.input(0))
    split = axis if axis >= 0 else axis + rank
    rows, columns = _known_product(shape[:split]), _known_product(shape[split:])
    if rows is None:
        raise node.error(f"Flatten at axis {axis} of shape {shape_text(shape)} needs known extents")
    return node.reshape(node.input(0), (rows, -1 if columns is None else columns))


def _known_product(extents: Shape) -> int | None:
    known = [extent for extent in extents if isinstance(extent, int)]
    return prod(known) if len(known) == len(extents) else None


@converts("Transpose", attributes=("perm",))
def convert_transpose(node: NodeView) -> SSAValue:
    """`transpose`; without `perm` the axes are reversed."""
    rank = len(node.shape(0))
    axes = node.attribute_ints("perm") or tuple(reversed(range(rank)))
    if sorted(axes) != list(range(rank)):
        raise node.illegal("perm", list(axes), f"a permutation of 0…{rank - 1} is expected")
    return node.emit("transpose", node.input(0), axes=axes)


@converts("Squeeze", since=1, until=12, attributes=("axes",))
def convert_squeeze_attribute(node: NodeView) -> SSAValue:
    """`squeeze` with its axes as an attribute."""
    return node.emit("squeeze", node.input(0), axis=node.attribute_ints("axes"))


@converts("Squeeze", since=13, limits="constant axes")
def convert_squeeze_input(node: NodeView) -> SSAValue:
    """`squeeze` with its axes as a constant input; all axes of extent 1 without."""
    axes = None
    if node.optional_input(1) is not None:
        axes = node.required_ints(1, "axes")
    return node.emit("squeeze", node.input(0), axis=axes)


@converts("Unsqueeze", since=1, until=12, attributes=("axes",))
def convert_unsqueeze_attribute(node: NodeView) -> SSAValue:
    """`expand_dims` at each axis named by the attribute."""
    return _unsqueeze(node, node.attribute_ints("axes", ()) or ())


@converts("Unsqueeze", since=13, limits="constant axes")
def convert_unsqueeze_input(node: NodeView) -> SSAValue:
    """`expand_dims` at each axis named by the constant input."""
    return _unsqueeze(node, node.required_ints(1, "axes"))


def _unsqueeze(node: NodeView, axes: tuple[int, ...]) -> SSAValue:
    rank = len(node.shape(0)) + len(axes)
    if any(not -rank <= axis < rank for axis in axes) or len({axis % rank for axis in axes}) != len(axes):
        raise node.illegal("axes", list(axes), f"distinct axes of the result, of rank {rank}, are expected")
    value = node.input(0)
    for axis in sorted(axis % rank for axis in axes):
        value = node.emit("expand_dims", value, axis=axis)
    return value
