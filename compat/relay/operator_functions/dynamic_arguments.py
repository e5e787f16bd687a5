"""Attributes given as expressions: a constant is replaced by its value; others make a `dyn` operator, as in Relay.

relay.reshape(x, relay.const(np.array([4, -1])))     is    relay.reshape(x, [4, -1])
relay.reshape(x, relay.shape_of(y))                  is    relay.dyn.reshape(x, relay.shape_of(y))

If there is no `dyn` operator for the attribute, elements that are known from types are values too:

relay.squeeze(x, relay.shape_of(y))                  is    relay.squeeze(x, [0, 3]), if y has shape 0 × 3

Other axes of `squeeze` and `expand_dims` make a reshape to a computed shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, cast

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.algorithm.select import DynStridedSliceOp
from xrelay.dialects.relay.ops.algorithm.sort import ArgsortOp, DynTopKOp, TopKOp
from xrelay.dialects.relay.ops.dyn.pad import DynPadOp
from xrelay.dialects.relay.ops.dyn.shapes import DynBroadcastToOp, DynFullOp, DynReshapeOp, DynTileOp
from xrelay.dialects.relay.ops.image.resize import RESIZES, DynResizeOp, ResizeOp
from xrelay.dialects.relay.ops.sparse import DynSparseToDenseOp, SparseToDenseOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.compare import EqualOp, LessEqualOp, LessOp, WhereOp
from xrelay.dialects.relay.ops.tensor.fill import ArangeOp, FullOp, OnesOp, ZerosOp
from xrelay.dialects.relay.ops.tensor.gather import OneHotOp, TakeOp
from xrelay.dialects.relay.ops.tensor.logic import AnyOp, LogicalAndOp
from xrelay.dialects.relay.ops.tensor.movement import INDEX_LIMIT, BroadcastToOp, StridedSliceOp, TileOp
from xrelay.dialects.relay.ops.tensor.reduce import SumOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp, ReshapeOp, ShapeOfOp, SqueezeOp
from xrelay.dialects.relay.ops.tensor.transform import PadOp
from xrelay.dialects.relay.structure.known_elements import KnownElements
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.errors import ConstraintError
from xrelay.passes.infra.digraph import post_order
from xrelay.relay.expr import Expr, ExprLike, as_value, call, const
from xrelay.relay.nodes import Constant

MAX_OPS = 64
"""The limit of ops to visit. Computations of shapes are short."""


def numbers_of(value: SSAValue) -> int | list[int] | None:
    """Returns the number or the list of numbers that `value` evaluates to; None if an element is not known."""
    if not isinstance(value, OpResult) or not is_complete(value.type):
        return None
    met = 0

    def makers(op: Operation) -> list[Operation]:
        nonlocal met
        met += 1
        return [each.op for each in op.operands if isinstance(each, OpResult)] if met <= MAX_OPS else []

    elements = KnownElements()
    for op in post_order([value.op], makers):
        if isinstance(op, RelayOp) and all(map(is_complete, op.operand_types)):
            elements.learn(op, op.operand_types)
    known = elements.of(value)
    numbers = [element for element in known or () if isinstance(element, int)]
    if known is None or len(numbers) < len(known):
        return None
    return numbers if shape_of(value.type) else numbers[0]


NO_EXTENT: Final = -2
"""An element that is neither an extent nor a code of a reshape."""


def squeeze_axes(operands: tuple[ExprLike, ...], attributes: Mapping[str, AttributeValue | Expr]) -> Expr:
    """Removes the axes that a vector names, each of extent 1. The length of the vector determines the rank."""
    data, axes = as_value(operands[0]), int64(cast("Expr", attributes["axis"]))
    rank, named = len(shape_of(data.type)), shape_of(axes.type)
    count = 1 if not named else named[0]
    if len(named) > 1 or not isinstance(count, int) or count > rank:
        raise ConstraintError(
            SqueezeOp.name, "C1", f"axes are a tensor of type {axes.type} for data of type {data.type}"
        )
    extents = call(ShapeOfOp, data, dtype="int64")
    positions = int64([[position] for position in range(rank)])
    is_named = call(
        AnyOp, call(EqualOp, positions, call(ReshapeOp, _wrapped(axes, rank), newshape=[1, count])), axis=[1]
    )
    is_removed = call(CastOp, call(LogicalAndOp, is_named, call(EqualOp, extents, int64(1))), dtype="int64")
    # The sort is stable, so the remaining axes come first, in their order.
    order = call(StridedSliceOp, call(ArgsortOp, is_removed, dtype="int64"), begin=[0], end=[rank - count], strides=[1])
    fits = call(EqualOp, call(SumOp, is_removed), int64(count))
    return _in_shape(data, call(TakeOp, extents, order), fits)


def expand_dims_at(operands: tuple[ExprLike, ...], attributes: Mapping[str, AttributeValue | Expr]) -> Expr:
    """Inserts `num_newaxis` axes of extent 1 at a position given by an expression."""
    data, count = as_value(operands[0]), attributes.get("num_newaxis", 1)
    rank = len(shape_of(data.type))
    if not isinstance(count, int) or count < 0:
        raise ConstraintError(ExpandDimsOp.name, "C2", f"num_newaxis must be a number from 0, found {count!r}")
    axis_value = int64(cast("Expr", attributes["axis"]))
    axis = _wrapped(call(ReshapeOp, axis_value, newshape=()), rank + 1)
    positions = range(rank + count)
    is_before = call(LessOp, int64(list(positions)), axis)
    is_new = call(LessOp, int64([position - count for position in positions]), axis)
    before = _extents_at(data, [min(position, rank - 1) for position in positions])
    after = _extents_at(data, [max(position - count, 0) for position in positions])
    shape = call(WhereOp, is_before, before, call(WhereOp, is_new, int64(1), after))
    in_range = [call(LessEqualOp, int64(0), axis), call(LessEqualOp, axis, int64(rank))]
    return _in_shape(data, shape, call(LogicalAndOp, *in_range))


def _wrapped(axes: ExprLike, rank: int) -> Expr:
    """Returns axes with negative ones counted from the front."""
    return call(WhereOp, call(LessOp, axes, int64(0)), call(AddOp, axes, int64(rank)), axes)


def _extents_at(data: ExprLike, positions: list[int]) -> Expr:
    """Returns the data's extents at some axes, or ones for a scalar."""
    if not shape_of(as_value(data).type):
        return int64([1] * len(positions))
    return call(TakeOp, call(ShapeOfOp, data, dtype="int64"), int64(positions))


def _in_shape(data: ExprLike, shape: Expr, fits: Expr) -> Expr:
    """Reshapes the data to `shape`, or to an invalid shape if `fits` is false."""
    shape_or_error = call(WhereOp, fits, shape, int64(NO_EXTENT))
    return call(DynReshapeOp, data, shape_or_error, allowzero=True)


def int64(value: ExprLike) -> Expr:
    """Returns numbers as a constant of 64-bit integers; an expression cast to them."""
    if isinstance(value, Expr | SSAValue | Operation):
        return call(CastOp, value, dtype="int64")
    return const(cast("int | list[int]", value), "int64")


Attributes: TypeAlias = "Mapping[str, AttributeValue | Expr]"


Make: TypeAlias = "Callable[[tuple[ExprLike, ...], Attributes], Expr]"


def apply_operator(op: type[RelayOp], operands: tuple[ExprLike, ...], attributes: Attributes) -> Expr:
    """Applies the operator to `operands`, with attributes that may be expressions.

    Raises `ConstraintError` if an attribute must be known and its expression is not constant.
    """
    known = {name: known_attribute(value) for name, value in attributes.items()}
    fixed = {name: value for name, value in known.items() if not isinstance(value, Expr)}
    open_names = [name for name in known if name not in fixed]
    if not open_names:
        return call(op, *operands, **fixed)
    row = _DYNAMIC.get(op)
    if row is None or not set(open_names) <= set(row[0]):
        return call(op, *operands, **fixed, **{name: _known_numbers(op, name, known[name]) for name in open_names})
    return row[1](operands, known)


def _known_numbers(op: type[RelayOp], name: str, value: AttributeValue | Expr) -> AttributeValue:
    """Returns the elements of an attribute known from types. Raises `ConstraintError` if one is unknown."""
    numbers = numbers_of(value.ssa_value) if isinstance(value, Expr) else None
    if numbers is None:
        raise ConstraintError(op.name, "C0", f"attribute {name!r} must be known", help="pass numbers, or a constant")
    return numbers


def known_attribute(value: AttributeValue | Expr) -> AttributeValue | Expr:
    """Returns the number or list that a constant holds; other values unchanged."""
    return value.data.tolist() if isinstance(value, Constant) else value


def _static_attributes(attributes: Attributes, besides: str = "") -> dict[str, AttributeValue]:
    """Returns the attributes that are not expressions, without that called `besides`."""
    return {name: value for name, value in attributes.items() if name != besides and not isinstance(value, Expr)}


def _operand(value: AttributeValue | Expr) -> ExprLike:
    """Returns an attribute as an operand. A list of numbers becomes a constant of 64-bit integers."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, int | list | tuple):
        return int64(value)
    raise ConstraintError("relay.dyn", "C0", f"{value!r} is neither an expression nor a list of integers")


def _with_operand(op: type[RelayOp], name: str) -> Make:
    """Returns a function that calls `op` with the attribute `name` as its last operand."""

    def make(operands: tuple[ExprLike, ...], attributes: Attributes) -> Expr:
        return call(op, *operands, _operand(attributes[name]), **_static_attributes(attributes, besides=name))

    return make


def _full_of(number: float) -> Make:
    """Returns a function that makes a tensor filled with a number of type `dtype`."""

    def make(operands: tuple[ExprLike, ...], attributes: Attributes) -> Expr:
        dtype = attributes.get("dtype")
        fill = const(number, dtype if isinstance(dtype, str) else "float32")
        return call(DynFullOp, fill, _operand(attributes["shape"]))

    return make


def _full(operands: tuple[ExprLike, ...], attributes: Attributes) -> Expr:
    """Makes a tensor filled with an operand, cast to `dtype` if given."""
    dtype = attributes.get("dtype")
    fill = operands[0] if dtype is None or isinstance(dtype, Expr) else call(CastOp, operands[0], dtype=dtype)
    return call(DynFullOp, fill, _operand(attributes["shape"]))


def _strided_slice(operands: tuple[ExprLike, ...], attributes: Attributes) -> Expr:
    """Makes a slice with begin, end and strides as operands, along the first axes. Sizes become ends."""
    begin, end = (as_value(_operand(attributes[name])) for name in ("begin", "end"))
    if attributes.get("axes") is not None:
        raise ConstraintError(
            StridedSliceOp.name, "C0", "axes are not supported if begin, end or strides are expressions"
        )
    strides, by_size = attributes.get("strides"), attributes.get("slice_mode") == "size"
    if strides is None or by_size:
        strides = [1 for extent in shape_of(begin.type) if isinstance(extent, int) for _ in range(extent)]
    stop = _stop_of_size(begin, end) if by_size else end
    return call(DynStridedSliceOp, *operands, begin, stop, _operand(strides))


def _stop_of_size(begin: ExprLike, size: ExprLike) -> Expr:
    """Returns the exclusive ends of `size` elements from `begin`. A size below 0 extends to the end of the axis."""
    first, count = (int64(value) for value in (begin, size))
    zero, far = int64(0), int64(INDEX_LIMIT)
    stop = call(AddOp, first, count)
    # A negative stop counts from the end of the axis; there a stop of 0 would be the begin of the axis.
    negative_stop = call(WhereOp, call(LessOp, stop, zero), stop, far)
    reached = call(WhereOp, call(LessOp, first, zero), negative_stop, stop)
    return call(WhereOp, call(LessOp, count, zero), far, reached)


def _topk(operands: tuple[ExprLike, ...], attributes: Attributes) -> Expr:
    """Makes a top-k with k as the last operand. If k is below 1, it is the extent of the axis, as in Relay."""
    data, k = as_value(operands[0]), int64(_operand(attributes["k"]))
    others = _static_attributes(attributes)
    axis = others.get("axis", -1)
    extents = call(ShapeOfOp, data, dtype="int64")
    whole = call(TakeOp, extents, int64(axis if isinstance(axis, int) else -1), mode="wrap")
    return call(DynTopKOp, data, call(WhereOp, call(LessOp, k, int64(1)), whole, k), **others)


def _pad(operands: tuple[ExprLike, ...], attributes: Attributes) -> Expr:
    """Makes a pad with the widths as the second operand."""
    mode = {name: value for name, value in attributes.items() if name == "pad_mode" and not isinstance(value, Expr)}
    data, value = operands
    return call(DynPadOp, data, _operand(attributes["pad_width"]), value, **mode)


def _resize(kind: type[ResizeOp]) -> Make:
    """Returns a function that makes a resize with integer sizes, no scales, and the given region as operands."""

    def make(operands: tuple[ExprLike, ...], attributes: Attributes) -> Expr:
        fixed = _static_attributes(attributes)
        size, image = _operand(attributes["size"]), f"NC{kind.AXES}"
        if not isinstance(element_type_of(as_value(size).type), IntegerType):
            size = int64(size)
        layout, roi = fixed.pop("layout", None) or image, fixed.pop("roi", None)
        if sorted(str(layout)) != sorted(image):
            raise ConstraintError(
                kind.name, "C1", f"a size that is an expression requires the layout {image}, found {layout}"
            )
        count = len(kind.AXES)
        region = roi if isinstance(roi, list | tuple) and roi else [0.0] * (2 * count)
        axes = [str(layout).index(letter) for letter in kind.AXES]
        numbers = const([0.0] * count, "float32"), const(region, "float32")
        return call(DynResizeOp, *operands, size, *numbers, axes=axes, **fixed)

    return make


def _one_hot(operands: tuple[ExprLike, ...], attributes: Attributes) -> Expr:
    """Makes a one-hot encoding whose number of classes is an expression.

    Before:

        %y = relay.one_hot(%indices, %on, %off) {depth = %depth, axis = 1} : (tensor<2x3xi32>, …) -> tensor<2x?x3xf32>

    After:

        %c = relay.reshape(relay.arange(%zero, %depth, %one)) {newshape = [-1, 1]}
        %y = relay.where(relay.equal(relay.expand_dims(%indices) {axis = 1}, %c), %on, %off)
    """
    indices, *values = (as_value(operand) for operand in operands)
    rank, axis, dtype = len(shape_of(indices.type)), attributes.get("axis", -1), attributes.get("dtype")
    if not isinstance(axis, int) or not -rank <= axis + 1 <= rank + 1:
        raise ConstraintError(OneHotOp.name, "C4", f"axis {axis} is out of range for rank {rank + 1}")
    position = axis + rank + 1 if axis < 0 else axis
    depth = call(ReshapeOp, int64(_operand(attributes["depth"])), newshape=())
    classes = call(ArangeOp, int64(0), depth, int64(1))
    column = call(ReshapeOp, classes, newshape=[-1] + [1] * (rank - position))
    if dtype is not None and not isinstance(dtype, Expr):
        values = [call(CastOp, value, dtype=dtype).ssa_value for value in values]
    wide = call(ExpandDimsOp, int64(indices), axis=position)
    return call(WhereOp, call(EqualOp, wide, column), *values)


def _static_if_known(op: type[RelayOp], name: str, make: Make) -> Make:
    """Returns a function that calls `op` if the attribute `name` is known from types, else `make`."""

    def apply(operands: tuple[ExprLike, ...], attributes: Attributes) -> Expr:
        value = attributes[name]
        numbers = numbers_of(value.ssa_value) if isinstance(value, Expr) else None
        if numbers is None:
            return make(operands, attributes)
        return call(op, *operands, **_static_attributes(attributes, besides=name), **{name: numbers})

    return apply


def _sparse_to_dense(operands: tuple[ExprLike, ...], attributes: Attributes) -> Expr:
    """Makes a dense tensor with the shape as the second operand."""
    indices, *others = operands
    return call(DynSparseToDenseOp, indices, _operand(attributes["output_shape"]), *others)


_DYNAMIC: Mapping[type[RelayOp], tuple[tuple[str, ...], Make]] = {
    ReshapeOp: (("newshape",), _with_operand(DynReshapeOp, "newshape")),
    BroadcastToOp: (("shape",), _with_operand(DynBroadcastToOp, "shape")),
    TileOp: (("reps",), _with_operand(DynTileOp, "reps")),
    TopKOp: (("k",), _topk),
    ZerosOp: (("shape",), _full_of(0)),
    OnesOp: (("shape",), _full_of(1)),
    FullOp: (("shape",), _full),
    StridedSliceOp: (("begin", "end", "strides"), _strided_slice),
    PadOp: (("pad_width",), _pad),
    SqueezeOp: (("axis",), _static_if_known(SqueezeOp, "axis", squeeze_axes)),
    ExpandDimsOp: (("axis",), _static_if_known(ExpandDimsOp, "axis", expand_dims_at)),
    **{kind: (("size",), _resize(kind)) for kind in RESIZES},
    OneHotOp: (("depth",), _one_hot),
    SparseToDenseOp: (("output_shape",), _sparse_to_dense),
}
"""Operators with a dynamic form → the attributes that may be expressions, and the function that makes the form."""
