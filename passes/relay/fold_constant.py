"""`relay-fold-constant`: evaluates operators whose operands are constants.

What: an operator all of whose operands are constants is evaluated by the interpreter, and its result becomes a
constant. Why the interpreter: one meaning for every op, so folding changes no value; and no code is generated to run
once. Chains are evaluated as a whole: only what is still used afterwards becomes a constant of the program. It is
copied once, to where native code reads it, and what nothing reads any more is let go of before the next is copied:
weights are in memory once. The elements of a result are dropped after its last use is folded.

Before:

    %w = relay.constant #relay.weight<"conv1.w", …> : tensor<64x32x3x3xf32>
    %p = relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "OIHW16i16o"} …

After:

    %p = relay.constant #relay.weight<"conv1.w.OIHW16i16o", …> : tensor<4x2x3x3x16x16xf32>

A tuple that is read as a whole becomes a `relay.tuple` of constants. A field of a `relay.tuple` becomes what was put
in, whatever the other fields are; a `relay.let` of a known value goes; a `relay.if` on a known condition becomes the
branch that it takes; `relay.shape_of` and `relay.ndarray_size` of extents that are all known become them, whatever the
elements are. What a folded op made extents of are numbers from then on, wherever their names stood.

Refuses, with a remark: a result more than `max-growth` bytes larger than its operands together; weights whose bytes
are not here; ops without a numpy meaning, or outside their domain. Operators on quantised numbers stay, as in Relay,
for passes that look for them, unless `fold-qnn` is set; the compiler has put plain ones in their places before. Fused
groups and what stands in kernels stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.qnn_op import QnnOp
from xrelay.dialects.relay.ops.shape_values import ShapeValueOp
from xrelay.dialects.relay.ops.tensor_transform import LayoutTransformOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.extents import ExtentsOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.dialects.shared.container_types import ClosureType, OptionalType, SequenceType
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.recorded_requirements import made_extents, requirements_of
from xrelay.dialects.shared.types import is_static, shape_of, tuple_type
from xrelay.errors import InterpreterError, XRelayError
from xrelay.index_algebra.dims import Dim
from xrelay.interpreters.relay import Value, can_evaluate, evaluate_op
from xrelay.passes.graph.dim_substitution import DimSubstitution
from xrelay.passes.graph.effects import is_pure
from xrelay.passes.graph.op_kinds import OpKind, is_computation, is_constant, kind_of
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.replacements import Replacements, erase_op
from xrelay.passes.relay.folded_extents import folded_extents
from xrelay.passes.types.type_solver import function_around
from xrelay.passes.types.type_upkeep import update_signatures
from xrelay.runtime.arena import aligned

MAX_GROWTH = 1 << 20
"""A folded constant may be this many bytes larger than what it was computed from."""
MOST_EXTENTS = 64
"""A vector of more numbers is no shape."""


@dataclass(frozen=True)
class RelayFoldConstantPass(ModulePass):
    """Evaluate operators on constants with the interpreter. Exact."""

    name = "relay-fold-constant"

    max_growth: int = field(
        default=MAX_GROWTH, metadata={"help": "bytes by which a result may be larger than its operands together"}
    )

    fold_qnn: bool = field(
        default=False, metadata={"help": "also evaluate operators on quantised numbers, which other passes look for"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fold the module in place."""
        report(fold_constants(op, max_growth=self.max_growth, fold_qnn=self.fold_qnn))


def fold_constants(module: ModuleOp, *, max_growth: int = MAX_GROWTH, fold_qnn: bool = False) -> list[Remark]:
    """Fold every function of `module` that is not a kernel; says what was folded and what was refused.

    Operators on quantised numbers stay, unless `fold_qnn` asks for them too.
    """
    folder = _Folder(max_growth, fold_qnn=fold_qnn)
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and PRIMITIVE not in function.attributes:
            folder.evaluate(function)
    folder.replace()
    update_signatures(module)
    return folder.remarks.all


class _Known(NamedTuple):
    """The value of an SSA value, and the name its constant would have."""

    value: Value
    name: str
    bytes: int
    """Of all its arrays together."""

    @staticmethod
    def of(value: Value, name: str) -> _Known:
        """`value`, called `name`, measured."""
        return _Known(value, name, size_of(value))


class _Folder:
    def __init__(self, max_growth: int, *, fold_qnn: bool):
        self.max_growth, self.fold_qnn = max_growth, fold_qnn
        self.remarks = Remarks("relay-fold-constant")
        self.known: dict[SSAValue, _Known] = {}
        self.folded: dict[Operation, None] = {}
        """Ops that were evaluated, in order."""
        self.awaited: dict[SSAValue, int] = {}
        """For each tensor that such an op gave the uses that may still need its elements."""
        self.passed_on = Replacements()
        """Fields of tuples, lets and chosen branches → the values that they are."""
        self.gone: dict[Operation, None] = {}
        """The ops that made those, in order."""
        self.extents: dict[FuncOp, dict[str, Dim]] = {}
        """The names of extents that folded ops made, and what they are."""
        self.read_through: dict[Operation, None] = {}
        """Tuples and lets that may have no use in the end, a let before what it binds."""

    def evaluate(self, function: FuncOp) -> None:
        """Find the values of the ops of `function` that are known, in the order of the program."""
        places = [block.first_op for block in reversed(function.body.blocks)]
        while places:
            op = places.pop()
            if op is None:
                continue
            if isinstance(op, IfOp) and (chosen := self._chosen(op)) is not None:
                # The walk comes to `op` again behind them.
                places.append(self._take(op, chosen))
                continue
            places.append(op.next_op)
            if op in self.gone:
                continue
            if op.regions and not isinstance(op, FusedOp):
                places += [block.first_op for region in reversed(op.regions) for block in reversed(region.blocks)]
            else:
                self._visit(op)

    def _visit(self, op: Operation) -> None:
        if is_constant(op):
            self._know(op)
        elif isinstance(op, TupleGetItemOp) and (field := self._field(op)) is not None:
            self._pass_on(op, field)
        elif isinstance(op, LetOp) and self.passed_on.of(op.value) in self.known:
            self._pass_on(op, self.passed_on.of(op.value))
        elif isinstance(op, ShapeValueOp) and is_static(op.data.type):
            self._know_shape(op)
        elif self._may_fold(op) and all(self.passed_on.of(operand) in self.known for operand in op.operands):
            self._evaluate(op)

    def _may_fold(self, op: Operation) -> bool:
        return may_fold(op) and (self.fold_qnn or not isinstance(op, QnnOp))

    def _field(self, op: TupleGetItemOp) -> SSAValue | None:
        """The value that was put into the tuple, where it is seen being made."""
        owner = self.passed_on.of(op.data).owner
        while isinstance(owner, LetOp):
            self.read_through[owner] = None
            owner = self.passed_on.of(owner.value).owner
        if not isinstance(owner, TupleOp):
            return None
        self.read_through[owner] = None
        return self.passed_on.of(owner.fields[op.index.value.data])

    def _pass_on(self, op: Operation, value: SSAValue) -> None:
        """Let `value` stand for the result of `op`."""
        if value.name_hint is None:
            value.name_hint = op.results[0].name_hint
        self.passed_on.add(op.results[0], value)
        self.gone[op] = None

    def _chosen(self, op: IfOp) -> Block | None:
        """The branch that a known condition takes."""
        known = self.known.get(self.passed_on.of(op.condition))
        if known is None or op in self.gone or isinstance(known.value, tuple):
            return None
        return (op.true_region if known.value.item() else op.false_region).block

    def _take(self, op: IfOp, branch: Block) -> Operation | None:
        """Put the ops of `branch` in front of `op`; gives the first, with which the walk goes on."""
        *body, last = branch.ops
        for inner in body:
            inner.detach()
        Rewriter.insert_op(body, InsertPoint.before(op))
        self.remarks.applied(op, "its condition is known: it becomes the branch that it takes")
        self._pass_on(op, last.operands[0])
        return body[0] if body else op

    def _know(self, op: ConstantOp) -> None:
        if not isinstance(op.value, WeightAttr):
            self.known[op.result] = _Known.of(op.array, op.result.name_hint if op.result.name_hint is not None else "")
        elif op.value.data.is_resolved:
            self.known[op.result] = _Known.of(op.array, op.value.data.name)
        else:
            self.remarks.refused(op, f"the bytes of weight {op.value.data.name!r} are not here")

    def _know_shape(self, op: ShapeValueOp) -> None:
        """Note what the extents of the operand say."""
        numbers = [number % (1 << 64) for number in op.values(shape_of(op.data.type)) if isinstance(number, int)]
        rank = len(shape_of(op.results[0].type))
        value = np.array(numbers, np.uint64).astype(numpy_dtype(op.dtype)).reshape([-1] * rank)
        self.known[op.results[0]] = _Known.of(value, _derived_name(op, []))
        self.folded[op] = None

    def _evaluate(self, op: Operation) -> None:
        operands = [self.known[self.passed_on.of(operand)] for operand in op.operands]
        result = op.results[0]
        growth = bytes_of(_known_type(op, operands)) - sum(operand.bytes for operand in operands)
        if growth > self.max_growth:
            allowed = f"{self.max_growth} are allowed"
            self.remarks.refused(op, f"the result is {growth} bytes larger than the operands, {allowed}")
            return
        try:
            value = evaluate_op(op, [operand.value for operand in operands])
        except InterpreterError as error:
            self.remarks.refused(op, error.message)
            return
        if isinstance(value, tuple) and not isinstance(result.type, TupleType):
            return  # a sequence, or a tuple whose type is not known yet: neither is an array
        extents = folded_extents(op, value)
        if extents is None:
            self.remarks.refused(op, "its value does not tell all extents that it makes")
            return
        if extents:
            self.extents.setdefault(function_around(op), {}).update(extents)
        self.known[result] = _Known.of(value, _derived_name(op, operands))
        self.folded[op] = None
        if isinstance(result.type, TensorType):
            self.awaited[result] = sum(1 for _ in result.uses)
        if not isinstance(op, TupleOp):  # whose fields are read through it
            self._forget(op.operands)

    def _forget(self, operands: Sequence[SSAValue]) -> None:
        """Drop the elements of folded results whose last use is one of `operands`."""
        for operand in operands:
            if operand in self.awaited:
                self.awaited[operand] -= 1
                if not self.awaited[operand]:
                    del self.known[operand]

    def replace(self) -> None:
        """Replace what was folded by constants where it is still used."""
        self.passed_on.apply()
        for op in reversed(self.gone):
            erase_op(op)
        for op in self.read_through:
            if op.results[0].first_use is None:
                erase_op(op)
        for op in self.folded:
            if isinstance(op.results[0].type, TupleType) and not self._is_read_whole(op):
                del self.known[op.results[0]]  # which is no constant, and would keep its fields
        self._release(list(self.known))
        for op in reversed(self.folded):
            result = op.results[0]
            if result.first_use is None:
                self._erase(op)
            elif result in self.known:
                self._replace_by_constants(op)
        for function, extents in self.extents.items():
            # Of these nothing makes the names any more.
            DimSubstitution(extents).apply([function])

    def _is_read_whole(self, op: Operation) -> bool:
        """Whether something that stays reads the tuple of tensors that `op` computes."""
        (result,) = op.results
        if isinstance(op, TupleOp) or not isinstance(result.type, TupleType):
            return False
        reads = any(use.operation not in self.folded for use in result.uses)
        return reads and all(isinstance(field, TensorType) for field in result.type.types)

    def _erase(self, op: Operation) -> None:
        """Erase an op that was folded, and the constants that nothing else reads."""
        operands = list(op.operands)
        erase_op(op)
        self.known.pop(op.results[0], None)
        self._release(operands)

    def _release(self, values: Sequence[SSAValue]) -> None:
        """Erase constants without a use, and forget their arrays."""
        for value in values:
            if isinstance(value.owner, ConstantOp) and value.first_use is None and value in self.known:
                self.known.pop(value)
                erase_op(value.owner)

    def _replace_by_constants(self, op: Operation) -> None:
        """Put a constant in the place of `op`, or a tuple of constants."""
        result = op.results[0]
        value, name, _ = self.known[result]
        if isinstance(value, tuple):
            fields = [_constant(field, f"{name}.{index}", op) for index, field in enumerate(value)]
            type = tuple_type([each.result.type for each in fields])
            made: list[Operation] = [*fields, TupleOp(operands=[fields], result_types=[type])]
        else:
            made = [_constant(value, name, op)]
        made[-1].location = op.location
        replacement = made[-1].results[0]
        replacement.name_hint = result.name_hint
        self.remarks.applied(op, "folded to {}", replacement.type)
        Rewriter.insert_op(made, InsertPoint.before(op))
        result.replace_all_uses_with(replacement)
        self._erase(op)


def _known_type(op: Operation, operands: Sequence[_Known]) -> Attribute:
    """The type of the result, whose extents the elements of small operands may say that were not known before."""
    if not made_extents(op) or not isinstance(op, RelayOp):
        return op.results[0].type
    try:
        return op.inference(op.operand_types, [_elements(operand.value) for operand in operands]).type
    except XRelayError:  # it does not run with these either
        return op.results[0].type


def _elements(value: Value) -> tuple[int, ...] | None:
    """The elements of a value that may be a shape or a number of such."""
    if isinstance(value, tuple) or value.dtype.kind not in "iu" or value.size > MOST_EXTENTS:
        return None
    return tuple(int(element) for element in value.reshape(-1))


def _constant(value: Value, name: str, folded: Operation) -> ConstantOp:
    """The constant of an array that `folded` gives."""
    # A view of its operand would keep the whole operand alive, and native code reads plain memory.
    constant = ConstantOp.of(aligned(np.asarray(value)), name if name else "constant")
    constant.location = folded.location
    return constant


def may_fold(op: Operation) -> bool:
    """Whether `op` may be evaluated where its operands are known."""
    if (
        not is_computation(op)
        or not is_pure(op)
        or requirements_of(op)
        # Whose names others use, as numbers that nothing would bind then.
        or isinstance(op, ExtentsOp)
        or isinstance(op.results[0].type, SequenceType | OptionalType | ClosureType)
    ):
        return False
    return kind_of(op) in (OpKind.TUPLE, OpKind.FIELD) or can_evaluate(op)


def _derived_name(op: Operation, operands: Sequence[_Known]) -> str:
    """The name of the largest operand with what was done to it: `conv1.w.OIHW16i16o`, `conv1.w.multiply`."""
    largest = max(operands, key=attrgetter("bytes"), default=None)
    base = largest.name if largest is not None else ""
    if isinstance(op, LayoutTransformOp):
        step = op.dst_layout.data
    elif isinstance(op, RelayOp) and not op.RESHAPE_ONLY:
        step = op.relay_name().rpartition(".")[2]
    else:
        return base
    return f"{base}.{step}" if base else step


def size_of(value: Value) -> int:
    """Bytes of a value, all its arrays together."""
    if isinstance(value, tuple):
        return sum(size_of(field) for field in value)
    return value.nbytes


def bytes_of(type: Attribute) -> int:
    """Bytes of a value of static type; 0 for what is not known."""
    if isinstance(type, TupleType):
        return sum(bytes_of(field) for field in type.types)
    if not isinstance(type, TensorType):
        return 0
    total = numpy_dtype(type.element_type).itemsize
    for dim in shape_of(type):
        total *= dim if isinstance(dim, int) else 0
    return total
