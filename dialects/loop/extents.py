"""Extents that are values, and ranges of index values in a kernel.

Extents are `index` arguments of kernels, sizes of buffers, and expressions of these. Ranges are the intervals of loop
indices and block variables, from which the bounds of accesses follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import Final

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, IntegerAttr, IntegerType, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.loop.base import cached_on_op, memref_type
from xrelay.dialects.loop.block_op import DYNAMIC, BlockOp, Extent
from xrelay.dialects.loop.for_op import ForOp
from xrelay.dialects.shared.attribute_names import EXTENTS, LOOP_KERNEL
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.index_algebra.affine_bounds import Box, Interval, bounds, simplify
from xrelay.index_algebra.dims import MAX_EXTENT
from xrelay.index_algebra.value_map import Space, ValueMap


def index_arguments(function: FuncOp) -> tuple[BlockArgument, ...]:
    """The arguments of a function that are `index` values; in a kernel these are its extents, its last arguments."""
    return tuple(argument for argument in function.body.block.args if isinstance(argument.type, IndexType))


def is_index_argument(value: SSAValue) -> bool:
    """Whether a value is an extent argument of a kernel, and therefore in `[0, MAX_EXTENT]`."""
    if not isinstance(value, BlockArgument) or not isinstance(value.type, IndexType):
        return False
    function = value.block.parent_op()
    return isinstance(function, FuncOp) and LOOP_KERNEL in function.attributes


def extents_of(buffer: SSAValue) -> tuple[int | SSAValue | None, ...]:
    """The size of each dimension of a buffer: a number, an `index` value, or `None` if unknown.

    The sizes of an argument are given by its `loop.extents`, those of an allocation by its operands.
    """
    shape = memref_type(buffer).get_shape()
    if DYNAMIC_INDEX not in shape:
        return shape
    values = _dynamic_sizes(buffer)
    return tuple(next(values, None) if size == DYNAMIC_INDEX else size for size in shape)


def _dynamic_sizes(buffer: SSAValue) -> Iterator[SSAValue | None]:
    """Yields the values of a buffer's dynamic sizes, in order; `None` for an argument number out of range."""
    if isinstance(buffer, OpResult) and isinstance(buffer.op, memref.AllocOp):
        yield from buffer.op.dynamic_sizes
    function = buffer.block.parent_op() if isinstance(buffer, BlockArgument) else None
    if isinstance(buffer, BlockArgument) and isinstance(function, FuncOp) and function.arg_attrs is not None:
        own = function.arg_attrs.data[buffer.index : buffer.index + 1]
        numbers = own[0].data.get(EXTENTS) if own else None
        arguments = index_arguments(function)
        if is_attribute(numbers, DenseArrayBase[IntegerType]):
            known = range(len(arguments))
            yield from (arguments[number] if number in known else None for number in numbers.get_values())


def verify_extents(function: FuncOp) -> None:
    """Raises `VerifyException` for a `loop.extents` that does not have one `index` argument for each `?`."""
    count = len(index_arguments(function))
    for position, attributes in enumerate(function.arg_attrs.data if function.arg_attrs is not None else ()):
        numbers = attributes.data.get(EXTENTS)
        if numbers is None:
            continue
        type = function.function_type.inputs.data[position]
        subject = f"{EXTENTS} of argument {position} of @{function.sym_name.data}"
        if not is_attribute(numbers, DenseArrayBase[IntegerType]) or not isinstance(type, MemRefType):
            raise VerifyException(
                f"[loop.for C7] {subject} must be an integer array on a buffer, found {numbers} on {type}"
            )
        wanted = sum(size == DYNAMIC_INDEX for size in type.get_shape())
        values = numbers.get_values()
        if len(values) != wanted:
            raise VerifyException(
                f"[loop.for C7] {subject} has {len(values)} entries, {type} has {wanted} dynamic extents"
            )
        if any(not 0 <= value < count for value in values):
            raise VerifyException(f"[loop.for C7] {subject} is {list(values)}, there are {count} index arguments")


# --- expressions of extents

_QUOTIENTS: Final[dict[type[Operation | Block], AffineBinaryOpKind]] = {
    arith.DivUIOp: AffineBinaryOpKind.FloorDiv,
    arith.RemUIOp: AffineBinaryOpKind.Mod,
    arith.CeilDivUIOp: AffineBinaryOpKind.CeilDiv,
}
_ARITHMETIC: Final = frozenset({arith.AddiOp, arith.SubiOp, arith.MuliOp, *_QUOTIENTS})


def expression_of(value: int | SSAValue) -> ValueMap:
    """A number or an index value as an expression of the values from which it is computed.

    `%m = arith.divui %n, %c16` is `%n floordiv 16`. A value that is not affine, such as a quotient by a value, is an
    operand of the expression.
    """
    if isinstance(value, int):
        return ValueMap.constant(value)
    operands = _operands_of(value)
    if not operands:
        return _leaf_expression(value)
    known: dict[SSAValue, ValueMap] = {}
    pending = [(value, operands)]
    while pending:
        last, operands = pending[-1]
        missing: list[tuple[SSAValue, tuple[SSAValue, ...]]] = []
        for operand in operands:
            if operand not in known and (below := _operands_of(operand)):
                missing.append((operand, below))
            elif operand not in known:
                known[operand] = _leaf_expression(operand)
        if missing:
            pending += missing
        else:
            pending.pop()
            known[last] = _expression(last, operands, [known[operand] for operand in operands])
    return known[value]


def _leaf_expression(value: SSAValue) -> ValueMap:
    """A number for a constant; the identity of any other value."""
    op = value.owner
    if type(op) is arith.ConstantOp and isinstance(op.value, IntegerAttr):
        return ValueMap.constant(op.value.value.data)
    return ValueMap.identity((value,))


def _expression(value: SSAValue, operands: tuple[SSAValue, ...], expressions: Sequence[ValueMap]) -> ValueMap:
    """The expression of `value` from those of its `operands`, cached until these change."""

    def expression(_: Operation) -> ValueMap:
        return _combine(value, expressions)

    op = value.owner
    assert isinstance(op, Operation), "arithmetic makes it"
    # Maps of block arguments are made for each query; they depend only on the arguments.
    made = [each for operand, each in zip(operands, expressions, strict=True) if type(operand.owner) in _ARITHMETIC]
    are_extents = [is_index_argument(operand) for each in expressions for operand in each.operands]
    return cached_on_op(op, (*operands, *_contents(operands), *made, *are_extents), expression)


def _contents(operands: tuple[SSAValue, ...]) -> list[Attribute]:
    """The values of the constants among `operands`, which may be changed in place."""
    return [
        operand.op.properties["value"]
        for operand in operands
        if type(operand) is OpResult and type(operand.op) is arith.ConstantOp
    ]


def _operands_of(value: SSAValue) -> tuple[SSAValue, ...]:
    """The operands of the arithmetic op that defines a value."""
    # Exact types: this runs for every index, and `isinstance` of abstract classes is ten times slower.
    if type(value) is OpResult and type(op := value.op) in _ARITHMETIC:
        return tuple(op.operands)
    return ()


def _combine(value: SSAValue, operands: Sequence[ValueMap]) -> ValueMap:
    """The expression of `value` from those of its operands."""
    space = Space()
    (left,), (right,) = [space.lift(operand) for operand in operands]
    box = [(0, MAX_EXTENT) if is_index_argument(operand) else None for operand in space.values]
    expr = _apply(type(value.owner), left, right, box)
    return ValueMap.identity([value]) if expr is None else ValueMap.make([simplify(expr, box)], space.values)


def _apply(kind: type[Operation | Block], left: AffineExpr, right: AffineExpr, box: Box) -> AffineExpr | None:
    """The result of an arithmetic op as an affine expression, or `None`."""
    if kind is arith.AddiOp:
        return left + right
    if kind is arith.SubiOp:
        return left - right
    if type(left) is not AffineConstantExpr and type(right) is not AffineConstantExpr:
        return None
    if kind is arith.MuliOp:
        return AffineBinaryOpExpr(AffineBinaryOpKind.Mul, left, right)
    known = bounds(left, box)
    if known is None or known[0] < 0 or type(right) is not AffineConstantExpr or right.value <= 0:
        return None
    return AffineBinaryOpExpr(_QUOTIENTS[kind], left, right)


MAX_CHOICES = 6
"""Indices with up to this many variables are bounded by all combinations of domains and bindings."""


def loop_of_index(value: SSAValue) -> ForOp | None:
    """The loop with index `value`, or `None`."""
    if isinstance(value, BlockArgument) and isinstance(owner := value.block.parent_op(), ForOp):
        return owner
    return None


def interval_of(value: SSAValue) -> Interval | None:
    """An interval that contains an index: like `exact_interval_of`, but with bounds for extents that are values.

    An `index` argument of a kernel is in `[0, MAX_EXTENT]`. `None` if nothing is known.
    """
    exact = exact_interval_of(value)
    if exact is not None or type(value) is not BlockArgument:
        return exact
    if is_index_argument(value):
        return 0, MAX_EXTENT
    extent = _extent_of(value)
    if not isinstance(extent, SSAValue):
        return None
    if is_index_argument(extent):
        return 0, MAX_EXTENT - 1
    known = range_of(expression_of(extent))
    return None if known is None else (0, max(known[1], 1) - 1)


def range_of(index: ValueMap) -> Interval | None:
    """An interval that contains the one expression of `index`; `None` if unknown."""
    return bounds(index.exprs[0], [interval_of(value) for value in index.operands])


def exact_interval_of(value: SSAValue) -> Interval | None:
    """The exact range of a loop index, a block variable or a constant; `None` if an extent is not a number."""
    # Exact types, here and below: this runs for every index, and `isinstance` of an abstract class is ten times slower.
    if type(value) is OpResult:
        if type(value.op) is arith.ConstantOp and isinstance(value.op.value, IntegerAttr):
            return value.op.value.value.data, value.op.value.value.data
        return None
    extent = _extent_of(value) if type(value) is BlockArgument else None
    return (0, extent - 1) if isinstance(extent, int) and extent != DYNAMIC else None


def _extent_of(value: BlockArgument) -> Extent | None:
    """The extent of a loop index or a block variable."""
    owner = value.block.parent_op()
    if type(owner) is ForOp:
        return owner.dynamic_extent if owner.extent is None else owner.extent
    position = _position(value, owner) if type(owner) is BlockOp else None
    return owner.extents[position] if type(owner) is BlockOp and position is not None else None


def _position(value: BlockArgument, block: BlockOp) -> int | None:
    """The variable of the block for an argument; `None` if the block is malformed, which its verifier reports."""
    if not block.is_consistent:
        return None
    positions = range(len(block.kinds)) if value.block is block.body.first_block else block.spatial
    return positions[value.index] if value.index < len(positions) else None


def binding_of(value: SSAValue) -> ValueMap | None:
    """The binding of a block variable, or `None` for other values."""
    if not isinstance(value, BlockArgument) or not isinstance(owner := value.block.parent_op(), BlockOp):
        return None
    position = _position(value, owner)
    return None if position is None else owner.bindings[position]


def in_loop_indices(index: ValueMap) -> ValueMap:
    """`index` with block variables replaced by their bindings."""
    bindings = {value: binding for value in index.operands if (binding := binding_of(value)) is not None}
    return index.substitute(bindings).simplified()


def out_of_range(index: ValueMap, shape: Sequence[int]) -> Iterator[tuple[int, Interval]]:
    """Yields the positions at which `index` exceeds a buffer of this shape, with the interval of the index.

    Intervals follow from the domains of the block's variables and from their bindings: `%v - %io * 16` with `%v = %io *
    16 + %ii` needs the binding; `%v + %w - %io * 16` with `%w` limited by its domain needs the binding of the one and
    the domain of the other. Combinations are tried until one proves that the index is in bounds. Dimensions and indices
    known only at run time, and code that never runs, are not reported.
    """
    for position, size in enumerate(shape):
        interval = _interval_in(index[position], size) if size >= 0 else None
        if interval is not None and interval[0] <= interval[1] and not _is_inside(interval, size):
            yield position, interval


def _interval_in(expression: ValueMap, size: int) -> Interval | None:
    """The range of one expression: the first interval found that is in `[0, size)`, else the tightest."""
    bindings = [(value, binding) for value in expression.operands if (binding := binding_of(value)) is not None]
    result: Interval | None = None
    for chosen in _choices(bindings):
        candidate = expression.substitute(dict(chosen)).simplified() if chosen else expression
        box = [exact_interval_of(value) for value in candidate.operands]
        result = _tighter(result, bounds(candidate.exprs[0], box))
        if result is not None and _is_inside(result, size):
            break
    return result


def _is_inside(interval: Interval, size: int) -> bool:
    return interval[0] >= 0 and interval[1] < size


def _choices(bindings: Sequence[tuple[SSAValue, ValueMap]]) -> Iterator[tuple[tuple[SSAValue, ValueMap], ...]]:
    """All subsets of a few bindings; of many bindings only the empty one, those without one binding, and all."""
    count = len(bindings)
    sizes = range(count + 1) if count <= MAX_CHOICES else sorted({0, count - 1, count})
    return chain.from_iterable(combinations(bindings, size) for size in sizes)


def _tighter(left: Interval | None, right: Interval | None) -> Interval | None:
    if left is None or right is None:
        return right if left is None else left
    return max(left[0], right[0]), min(left[1], right[1])
