"""`relay-fold-constant`: evaluates operators whose operands are constants.

The interpreter evaluates each operator whose operands are all constants, and its result becomes a constant. The
interpreter defines the semantics of the operators, so folding does not change values, and no code has to be generated
for a single run.

Chains are evaluated as a whole: only results that are used afterwards become constants of the program. Each is copied
once, to memory that native code can read. Unused constants are freed before the next copy, so that weights are in
memory only once. The elements of a result are freed after its last use is folded.

Before:

    %w = relay.constant #relay.weight<"conv1.w", …> : tensor<64x32x3x3xf32>
    %p = relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "OIHW16i16o"} …

After:

    %p = relay.constant #relay.weight<"conv1.w.OIHW16i16o", …> : tensor<4x2x3x3x16x16xf32>

Other rewrites:

- A tuple that is read as a whole becomes a `relay.tuple` of constants.
- A field of a `relay.tuple` is replaced by the tuple's operand, even if other fields are unknown.
- A `relay.let` of a constant is removed.
- A `relay.if` on a constant condition becomes the branch that runs.
- `relay.shape_of` and `relay.ndarray_size` of a static shape become constants, even if the elements are unknown.
- Named extents that a folded op introduces become numbers in the whole function.

The pass refuses, with a remark, results that are more than `max-growth` bytes larger than all operands together;
weights whose bytes are not loaded; and ops that the interpreter cannot evaluate, or whose operands are invalid.
Operators on quantised numbers are not folded, as in Relay, because other passes match them, unless `fold-qnn` is set;
the compiler lowers them to plain operators before. Fused groups and kernels are not changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.qnn.op_base import QnnOp
from xrelay.dialects.relay.ops.tensor.shape import ShapeValueOp
from xrelay.dialects.relay.ops.tensor.transform import LayoutTransformOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.extents import ExtentsOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.requirements import new_extents, requirements_of
from xrelay.dialects.shared.types import ClosureType, OptionalType, SequenceType, Value, is_static, shape_of, tuple_type
from xrelay.errors import InterpreterError, XRelayError
from xrelay.index_algebra.dims import Dim
from xrelay.interpreters.relay import can_evaluate, evaluate_op
from xrelay.passes.graph.dim_substitution import DimSubstitution
from xrelay.passes.graph.effects import is_pure
from xrelay.passes.graph.op_kinds import OpKind, is_computation, is_constant, kind_of
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.replacements import Replacements, erase_op
from xrelay.passes.graph.scopes import graph_functions
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.types.dim_names import single_name
from xrelay.passes.types.type_solver import function_around
from xrelay.passes.types.type_upkeep import update_signatures
from xrelay.runtime.arena import align

MAX_GROWTH = 1 << 20
"""The number of bytes by which a folded constant may be larger than its operands together."""


MAX_EXTENTS = 64
"""The greatest number of elements of a constant that type inference may use as a shape."""


@dataclass(frozen=True)
class RelayFoldConstantPass(XRelayPass):
    """Evaluates operators on constants with the interpreter. Exact."""

    name = "relay-fold-constant"
    numerics = EXACT
    per_function = True

    max_growth: int = field(
        default=MAX_GROWTH, metadata={"help": "bytes by which a result may be larger than its operands together"}
    )

    fold_qnn: bool = field(
        default=False, metadata={"help": "also evaluate operators on quantised numbers, which other passes match"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Folds the module in place."""
        report(fold_constants(op, max_growth=self.max_growth, fold_qnn=self.fold_qnn))


def fold_constants(module: ModuleOp, *, max_growth: int = MAX_GROWTH, fold_qnn: bool = False) -> list[Remark]:
    """Folds every function of `module` that is not a kernel; returns remarks on folded and refused ops.

    Operators on quantised numbers are folded only if `fold_qnn` is set.
    """
    folder = _Folder(max_growth, fold_qnn=fold_qnn)
    for function in graph_functions(module):
        folder.evaluate(function)
    folder.replace()
    update_signatures(module)
    return folder.remarks.all


class _NamedValue(NamedTuple):
    """The array, or tuple of arrays, of an SSA value, with the name that its constant gets."""

    value: Value
    name: str


class _Folder:
    def __init__(self, max_growth: int, *, fold_qnn: bool):
        self.max_growth, self.fold_qnn = max_growth, fold_qnn
        self.remarks = Remarks("relay-fold-constant")
        self.known: dict[SSAValue, _NamedValue] = {}
        self.folded: dict[Operation, None] = {}
        """The evaluated ops, in program order."""
        self.pending_uses: dict[SSAValue, int] = {}
        """Tensor result of an evaluated op → the number of uses that may still need its elements."""
        self.replacements = Replacements()
        """Result of a tuple access, a let or an if → the value that replaces it."""
        self.replaced_ops: dict[Operation, None] = {}
        """The ops whose results are replaced, in program order."""
        self.extents: dict[FuncOp, dict[str, Dim]] = {}
        """The named extents that folded ops introduce, with their values."""
        self.read_through: dict[Operation, None] = {}
        """Tuples and lets that may become unused; a let precedes the tuple that it binds."""

    def evaluate(self, function: FuncOp) -> None:
        """Evaluates the ops of `function` with known operands, in program order."""
        pending = [block.first_op for block in reversed(function.body.blocks)]
        while pending:
            op = pending.pop()
            if op is None:
                continue
            if isinstance(op, IfOp) and (chosen := self._taken_branch(op)) is not None:
                # The walk visits the inlined ops, then `op` again.
                pending.append(self._inline_branch(op, chosen))
                continue
            pending.append(op.next_op)
            if op in self.replaced_ops:
                continue
            if op.regions and not isinstance(op, FusedOp):
                pending += [block.first_op for region in reversed(op.regions) for block in reversed(region.blocks)]
            else:
                self._visit(op)

    def _visit(self, op: Operation) -> None:
        if is_constant(op):
            self._record_constant(op)
        elif isinstance(op, TupleGetItemOp) and (field := self._field(op)) is not None:
            self._replace_result(op, field)
        elif isinstance(op, LetOp) and self.replacements.of(op.value) in self.known:
            self._replace_result(op, self.replacements.of(op.value))
        elif isinstance(op, ShapeValueOp) and is_static(op.data.type):
            self._record_shape(op)
        elif isinstance(op, QnnOp) and not self.fold_qnn:
            return
        elif all(self.replacements.of(operand) in self.known for operand in op.operands) and may_fold(op):
            self._evaluate(op)

    def _field(self, op: TupleGetItemOp) -> SSAValue | None:
        """The operand for this field of the `relay.tuple` that made the tuple; `None` if another op made it."""
        owner = self.replacements.of(op.data).owner
        while isinstance(owner, LetOp):
            self.read_through[owner] = None
            owner = self.replacements.of(owner.value).owner
        if not isinstance(owner, TupleOp):
            return None
        self.read_through[owner] = None
        return self.replacements.of(owner.fields[op.index.value.data])

    def _replace_result(self, op: Operation, value: SSAValue) -> None:
        """Replaces the result of `op` by `value`."""
        if value.name_hint is None:
            value.name_hint = op.results[0].name_hint
        self.replacements.add(op.results[0], value)
        self.replaced_ops[op] = None

    def _taken_branch(self, op: IfOp) -> Block | None:
        """The branch that runs, if the condition is known."""
        known = self.known.get(self.replacements.of(op.condition))
        if known is None or op in self.replaced_ops or isinstance(known.value, tuple):
            return None
        return (op.true_region if known.value.item() else op.false_region).block

    def _inline_branch(self, op: IfOp, branch: Block) -> Operation | None:
        """Moves the ops of `branch` before `op`; returns the first of them, from which the walk continues."""
        *body, last = branch.ops
        for inner in body:
            inner.detach()
        Rewriter.insert_op(body, InsertPoint.before(op))
        self.remarks.applied(op, "its condition is constant: replaced by the branch that runs")
        self._replace_result(op, last.operands[0])
        return body[0] if body else op

    def _record_constant(self, op: ConstantOp) -> None:
        if not isinstance(op.value, WeightAttr):
            self.known[op.result] = _NamedValue(
                op.array, op.result.name_hint if op.result.name_hint is not None else ""
            )
        elif op.value.data.is_resolved:
            self.known[op.result] = _NamedValue(op.array, op.value.data.name)
        else:
            self.remarks.refused(op, f"the bytes of weight {op.value.data.name!r} are not loaded")

    def _record_shape(self, op: ShapeValueOp) -> None:
        """Records the result of a shape op, which follows from the static shape of the operand."""
        numbers = [number % (1 << 64) for number in op.values(shape_of(op.data.type)) if isinstance(number, int)]
        rank = len(shape_of(op.results[0].type))
        value = np.array(numbers, np.uint64).astype(numpy_dtype(op.dtype)).reshape([-1] * rank)
        self.known[op.results[0]] = _NamedValue(value, _derived_name(op, []))
        self.folded[op] = None

    def _evaluate(self, op: Operation) -> None:
        operands = [self.known[self.replacements.of(operand)] for operand in op.operands]
        result = op.results[0]
        growth = bytes_of(_known_type(op, operands)) - sum(size_of(operand.value) for operand in operands)
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
            return  # a sequence, or a tuple whose type is not inferred yet; neither can be a constant
        extents = _folded_extents(op, value)
        if extents is None:
            self.remarks.refused(op, "the value does not determine all extents that the op introduces")
            return
        if extents:
            self.extents.setdefault(function_around(op), {}).update(extents)
        self.known[result] = _NamedValue(value, _derived_name(op, operands))
        self.folded[op] = None
        if isinstance(result.type, TensorType):
            self.pending_uses[result] = sum(1 for _ in result.uses)
        if not isinstance(op, TupleOp):  # later accesses of its fields still need the operands
            self._forget(op.operands)

    def _forget(self, operands: Sequence[SSAValue]) -> None:
        """Frees the elements of folded results that have no further use after `operands`."""
        for operand in operands:
            if operand in self.pending_uses:
                self.pending_uses[operand] -= 1
                if not self.pending_uses[operand]:
                    del self.known[operand]

    def replace(self) -> None:
        """Replaces folded results that are still used by constants, and erases the folded ops."""
        self.replacements.apply()
        for op in reversed(self.replaced_ops):
            erase_op(op)
        for op in self.read_through:
            if op.results[0].first_use is None:
                erase_op(op)
        for op in self.folded:
            if isinstance(op.results[0].type, TupleType) and not self._is_read_whole(op):
                del self.known[op.results[0]]  # it does not become a constant, and would keep its fields in memory
        self._release(list(self.known))
        for op in reversed(self.folded):
            result = op.results[0]
            if result.first_use is None:
                self._erase(op)
            elif result in self.known:
                self._replace_by_constants(op)
        for function, extents in self.extents.items():
            # The ops that introduced these names are erased.
            DimSubstitution(extents).apply([function])

    def _is_read_whole(self, op: Operation) -> bool:
        """Whether an op that is not folded reads the tuple of tensors that `op` computes."""
        (result,) = op.results
        if isinstance(op, TupleOp) or not isinstance(result.type, TupleType):
            return False
        reads = any(use.operation not in self.folded for use in result.uses)
        return reads and all(isinstance(field, TensorType) for field in result.type.types)

    def _erase(self, op: Operation) -> None:
        """Erases a folded op, and constants that only it used."""
        operands = list(op.operands)
        erase_op(op)
        self.known.pop(op.results[0], None)
        self._release(operands)

    def _release(self, values: Sequence[SSAValue]) -> None:
        """Erases the unused constants among `values`, and frees their arrays."""
        for value in values:
            if isinstance(value.owner, ConstantOp) and value.first_use is None and value in self.known:
                self.known.pop(value)
                erase_op(value.owner)

    def _replace_by_constants(self, op: Operation) -> None:
        """Replaces `op` by a constant or a tuple of constants."""
        result = op.results[0]
        value, name = self.known[result]
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


def _known_type(op: Operation, operands: Sequence[_NamedValue]) -> Attribute:
    """The result type of `op`; extents that depend on elements of small operands are inferred from their values."""
    if not new_extents(op) or not isinstance(op, RelayOp):
        return op.results[0].type
    try:
        return op.inference(op.operand_types, [_elements(operand.value) for operand in operands]).type
    except XRelayError:  # evaluation fails on these operands, too
        return op.results[0].type


def _elements(value: Value) -> tuple[int, ...] | None:
    """The elements of a small array of integers, which may be a shape or an extent; `None` for other values."""
    if isinstance(value, tuple) or value.dtype.kind not in "iu" or value.size > MAX_EXTENTS:
        return None
    return tuple(int(element) for element in value.reshape(-1))


def _constant(value: Value, name: str, folded: Operation) -> ConstantOp:
    """The constant for an array that `folded` computes."""
    # Native code needs contiguous and aligned elements; a strided view is copied.
    constant = ConstantOp.of(align(np.asarray(value)), name if name else "constant")
    constant.location = folded.location
    return constant


def may_fold(op: Operation) -> bool:
    """Whether `op` may be evaluated if its operands are known."""
    if (
        not is_computation(op)
        or not is_pure(op)
        or requirements_of(op)
        # Its names may be used by other ops, and would have no definition if it were folded.
        or isinstance(op, ExtentsOp)
        or type(op.results[0].type) in (SequenceType, OptionalType, ClosureType)
    ):
        return False
    return kind_of(op) in (OpKind.TUPLE, OpKind.FIELD) or can_evaluate(op)


def _derived_name(op: Operation, operands: Sequence[_NamedValue]) -> str:
    """The name of the largest operand and of the operation, as `conv1.w.OIHW16i16o` and `conv1.w.multiply`."""
    largest = max(operands, key=lambda known: size_of(known.value), default=None)
    base = largest.name if largest is not None else ""
    if isinstance(op, LayoutTransformOp):
        step = op.dst_layout.data
    elif isinstance(op, RelayOp) and not op.RESHAPE_ONLY:
        step = op.relay_name().rpartition(".")[2]
    else:
        return base
    return f"{base}.{step}" if base else step


def size_of(value: Value) -> int:
    """The size of all arrays of a value together, in bytes."""
    if isinstance(value, tuple):
        return sum(size_of(field) for field in value)
    return value.nbytes


def bytes_of(type: Attribute) -> int:
    """The size of a value of this type, in bytes; tensors that are not static count as 0."""
    if isinstance(type, TupleType):
        return sum(bytes_of(field) for field in type.types)
    if not isinstance(type, TensorType):
        return 0
    total = numpy_dtype(type.element_type).itemsize
    for dim in shape_of(type):
        total *= dim if isinstance(dim, int) else 0
    return total


def _folded_extents(op: Operation, value: Value) -> Mapping[str, int] | None:
    """The named extents that `op` introduces, with their values in the result `value`; `None` if one has no value."""
    made = {extent.name for extent in new_extents(op)}
    type = op.results[0].type
    types = type.types.data if isinstance(type, TupleType) else (type,)
    found: dict[str, int] = {}
    for each, array in zip(types, value if isinstance(value, tuple) else (value,), strict=True):
        if made and isinstance(each, TensorType) and not isinstance(array, tuple):
            names = zip(map(single_name, shape_of(each)), array.shape, strict=True)
            found |= {name: extent for name, extent in names if name in made}
    return found if len(found) == len(made) else None
