"""Rewrites a function for `relay-to-mixed-precision`: op by op in program order, in place, with casts of operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from xdsl.dialects.builtin import AnyFloat, TensorType, TupleType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.unary import ClipOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import is_complete, shape_of, tensor_type, tuple_type
from xrelay.errors import ConstraintError
from xrelay.passes.graph.remarks import Remarks
from xrelay.passes.infra.verify import walk_ops
from xrelay.relay.passes.precision_hooks import Precision, precision_of


class PrecisionRewriter:
    """Changes f32 values of a function to the element type `mixed` if their ops allow it."""

    def __init__(self, mixed: Attribute, remarks: Remarks):
        self._mixed, self._remarks = mixed, remarks
        self._before: dict[SSAValue, Attribute] = {}
        """Value with a changed type → its original type."""
        self._cast: dict[SSAValue, SSAValue] = {}
        """Result of an inserted cast → its operand."""
        self._made: dict[tuple[SSAValue, Attribute, Block], SSAValue] = {}
        """Value, type and block → the cast to the type that is available in the block."""
        self.missing: dict[type[RelayOp], list[RelayOp]] = {}
        """The ops without a declared precision, by class."""

    def run(self, function: FuncOp, *, keeps_results: bool) -> None:
        """Rewrites `function`; its results keep their types if `keeps_results` is set."""
        for op in _ops_of_graph(function):
            if isinstance(op, TupleOp | TupleGetItemOp | LetOp):
                self._set_type(op.result, op.inferred_type(op.operand_types))
            elif isinstance(op, RelayOp):
                if not (all(map(is_complete, (*op.operand_types, *op.result_types))) and self._lower(op)):
                    self._restore(op)
            elif keeps_results or not isinstance(op, ReturnOp):
                self._restore(op)
        if not keeps_results:
            function.update_function_type()

    # --- one op ----------------------------------------------------------------------------------------------------

    def _lower(self, op: RelayOp) -> bool:
        """Changes `op` to the mixed type; returns False if its precision or its rules forbid it."""
        precision = precision_of(op, self._mixed)
        if precision is None:
            self.missing.setdefault(type(op), []).append(op)
            precision = Precision(MixedPrecision.FOLLOW, self._mixed, self._mixed)
        if precision.category is MixedPrecision.NEVER:
            return False
        if precision.category is MixedPrecision.FOLLOW and not all(map(self._may_follow, op.operands)):
            return False
        if isinstance(op, ClipOp) and self._loses_a_bound(op):
            self._remarks.refused(op, f"it stays in f32: {self._mixed} does not hold its bounds")
            return False
        types = [_with_elements(type, self._lowered) for type in op.operand_types]
        result = self._result_type(op, types, precision)
        if result is None:
            return False
        for index, (operand, wanted) in enumerate(zip(tuple(op.operands), types, strict=True)):
            op.operands[index] = self._as(operand, wanted, op)
        self._set_type(op.results[0], result)
        self._cast_result(op, precision)
        self._remarks.applied(op, "done in {}", self._mixed)
        return True

    def _loses_a_bound(self, op: ClipOp) -> bool:
        """Whether a finite bound of a clip is infinite in the mixed type."""
        bounds = np.array([op.a_min.value.data, op.a_max.value.data])
        with np.errstate(over="ignore"):
            rounded = bounds.astype(numpy_dtype(self._mixed)).astype(np.float64)
        return bool((np.isfinite(bounds) & ~np.isfinite(rounded)).any())

    def _result_type(self, op: RelayOp, types: Sequence[Attribute], precision: Precision) -> Attribute | None:
        """Sets the result element type of `op`; returns its result type on operands of `types`, or `None` on errors."""
        before, name = dict(op.properties), op.RESULT_ELEMENT
        takes_floats = not types or self._mixed in [element for type in types for element in _elements(type)]
        if name is not None and takes_floats and before.get(name, f32) == f32:
            op.properties[name] = precision.accumulation
        try:
            inferred = op.inferred_type(types)
        except ConstraintError as error:
            op.properties = before
            self._remarks.refused(op, f"it stays in f32: {error.message}")
            return None
        return _retyped(op.results[0].type, inferred)

    def _cast_result(self, op: RelayOp, precision: Precision) -> None:
        """Casts the result of `op` from the accumulation type to the output type, if they differ."""
        result = op.results[0]
        if not isinstance(result.type, TensorType) or result.type.element_type != precision.accumulation:
            return
        if precision.accumulation == precision.output or not isinstance(precision.accumulation, AnyFloat):
            return
        cast = self._insert(CastOp.call(result, dtype=precision.output), op, after=True)
        result.replace_uses_with_if(cast, lambda use: use.operation is not cast.owner)
        self._before[cast] = self._before.get(result, result.type)
        self._cast[cast] = result

    def _restore(self, op: Operation) -> None:
        """Casts the operands of `op` back to their original types."""
        for index, operand in enumerate(tuple(op.operands)):
            op.operands[index] = self._as(operand, self._before.get(operand, operand.type), op)

    def _set_type(self, result: OpResult, type: Attribute) -> None:
        if result.type != type:
            before = self._before.get(result, result.type)
            self._before[Rewriter.replace_value_with_new_type(result, type)] = before

    # --- values ----------------------------------------------------------------------------------------------------

    def _lowered(self, element: Attribute) -> Attribute:
        return self._mixed if element == f32 else element

    def _may_follow(self, value: SSAValue) -> bool:
        """Whether every float in `value` has the mixed type or may be cast to it."""
        pending = [value]
        while pending:
            current = pending.pop()
            if isinstance(current, OpResult) and isinstance(current.op, TupleOp):
                pending.extend(current.op.operands)
            elif not all(
                element == self._mixed or (element == f32 and _is_input(current)) or not isinstance(element, AnyFloat)
                for element in _elements(current.type)
            ):
                return False
        return True

    def _as(self, value: SSAValue, type: Attribute, user: Operation) -> SSAValue:
        """`value` cast to `type`, which differs only in element types, for `user`."""
        source = self._cast.get(value)
        if value.type == type or source is None or source.type != type:
            source = value
        if source.type == type:
            return source
        block = user.parent
        while block is not None:
            known = self._made.get((source, type, block))
            if known is not None:
                return known
            block = block.parent_block()
        made = self._make(source, type, user)
        if user.parent is not None:
            self._made[source, type, user.parent] = made
        return made

    def _make(self, value: SSAValue, type: Attribute, user: Operation) -> SSAValue:
        """Inserts a cast of `value`, or a tuple of casts, before `user`."""
        if isinstance(value.type, TupleType) and isinstance(type, TupleType):
            if isinstance(value, OpResult) and isinstance(value.op, TupleOp):
                fields = list(value.op.operands)
            else:
                count = len(value.type.types)
                fields = [self._insert(TupleGetItemOp.call(value, index=index), user) for index in range(count)]
            cast = [self._as(field, wanted, user) for field, wanted in zip(fields, type.types, strict=True)]
            return self._insert(TupleOp.call(*cast), user)
        if not isinstance(type, TensorType):
            return value
        cast = self._insert(CastOp.call(value, dtype=type.element_type), user)
        self._before[cast] = self._before.get(value, value.type)
        self._cast[cast] = value
        return cast

    def _insert(self, op: RelayOp, user: Operation, *, after: bool = False) -> SSAValue:
        """Inserts `op` before or after `user`; returns its result."""
        block = user.parent
        if block is None:
            raise ValueError(f"{user.name} is not in a block")
        (block.insert_op_after if after else block.insert_op_before)(op, user)
        op.location = user.location
        op.results[0].name_hint = op.operands[0].name_hint if op.operands else None
        return op.results[0]


def _ops_of_graph(function: FuncOp) -> Iterator[Operation]:
    """Yields the ops of `function` in program order, without those in fused groups."""
    inside = set[Operation]()
    for op in walk_ops(function):
        around = op.parent_op()
        if isinstance(around, FusedOp) or around in inside:
            inside.add(op)
        elif op is not function:
            yield op


def _is_input(value: SSAValue) -> bool:
    """Whether `value` is a parameter, a constant or bound by a let, so that no op determines its precision."""
    return isinstance(value, BlockArgument) or isinstance(value.owner, ConstantOp | LetOp)


def _elements(type: Attribute) -> Iterator[Attribute]:
    """Yields the element types of the tensors in `type`, the last first; other types, as sequences, as they are."""
    pending = [type]
    while pending:
        current = pending.pop()
        if isinstance(current, TupleType):
            pending.extend(current.types)
        else:
            yield current.element_type if isinstance(current, TensorType) else current


def _with_elements(type: Attribute, change: Callable[[Attribute], Attribute]) -> Attribute:
    """`type` with `change` applied to its element types, also in tuples."""
    if isinstance(type, TupleType):
        return tuple_type(_with_elements(field, change) for field in type.types)
    return tensor_type(shape_of(type), change(type.element_type)) if isinstance(type, TensorType) else type


def _retyped(type: Attribute, like: Attribute) -> Attribute:
    """`type`, including its named extents, with the element types of `like`."""
    elements = list(_elements(like))
    return _with_elements(type, lambda _: elements.pop())
