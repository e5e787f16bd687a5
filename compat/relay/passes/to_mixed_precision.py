"""`relay-to-mixed-precision`: computes in floats of fewer bits if that is profitable and safe.

Narrower floats halve the bytes to load and to store; the weights of a network dominate its memory and, for small
batches, its time. f32 values become values of the mixed type, by default `float16`, depending on the category of each
operator (`RelayOp.MIXED_PRECISION`):

- ALWAYS, as for convolutions and matrix products: all f32 operands are cast to the mixed type.
- FOLLOW: the operator uses the mixed type if every float operand has it already, or is a parameter, a constant or a
  variable bound by a let, which are cast.
- NEVER, as for a softmax or a mean: operands are cast back to f32, or are the f32 values from which they were cast.

Sums are still added in f32, whatever the type (`docs/topi.md`).

Before:

    func.func @main(%x: tensor<1x8xf32>, %w: tensor<4x8xf32>) -> tensor<1x4xf32> {
      %a = relay.nn.dense(%x, %w)
      %b = relay.nn.relu(%a)
      %c = relay.nn.softmax(%b)

After:

      %0 = relay.cast(%x) {dtype = f16}
      %1 = relay.cast(%w) {dtype = f16}
      %a = relay.nn.dense(%0, %1)                   of f16
      %b = relay.nn.relu(%a)                        of f16
      %2 = relay.cast(%b) {dtype = f32}
      %c = relay.nn.softmax(%2)                     of f32

A value is cast once for all users in the same block or nested blocks; a cast back to the original type is the original
value. `relay-fold-constant` evaluates casts of constants. Parameters keep their types. Results of a function without
callers have the type in which they are computed, unless `keep-orig-output-dtype` is set.

A hook overrides the category of an operator for a specific model or machine, and may select another element type of
sums (`accumulation`) or of the result (`output`):

    @sets_precision("nn.dense")
    def hook(op: DenseOp, mixed: Attribute) -> Precision:
        return Precision(MixedPrecision.ALWAYS, accumulation=f32, output=mixed)

An operator without a category FOLLOWs; `missing-op-mode` 0 raises an error for it, 1 reports a remark, 2 does neither.

Not changed: floats of other types than f32, and integers; operands and results of functions, closures, branches and
loops; fused groups and kernels; ops whose types are not inferred. An op that does not support the mixed type remains in
f32, with a remark, and so does a clip with a finite bound that the mixed type cannot represent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp, TensorType, TupleType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.unary import ClipOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import is_complete, shape_of, tensor_type, tuple_type
from xrelay.errors import ConstraintError, PassError, TypeInferenceError
from xrelay.passes.graph.calls import mentioned_symbols
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.graph.scopes import graph_functions
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import XRelayPass, quantises
from xrelay.passes.types.type_upkeep import update_signatures
from xrelay.raised import combine_classes, raised
from xrelay.registrations import registering

NAME = "relay-to-mixed-precision"
FORBIDDEN, REMARKED, ALLOWED = MODES = (0, 1, 2)
"""The values of `missing-op-mode`: error, remark or neither for operators without a category."""


@dataclass(frozen=True)
class RelayToMixedPrecisionPass(XRelayPass):
    """Computes in floats of fewer bits if that is profitable and safe; see the module's docstring."""

    name = NAME
    numerics = quantises("floats have fewer bits, and results may have another float type")

    mixed_precision_type: str = field(
        default="float16", metadata={"help": "the type to compute in: float16, bfloat16 or float64"}
    )
    missing_op_mode: int = field(
        default=REMARKED,
        metadata={"help": "for an operator without a category: 0 is an error, 1 a remark, 2 neither"},
    )
    keep_orig_output_dtype: bool = field(
        default=False, metadata={"help": "cast the results of functions back to their original types"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        mixed = self._mixed_type()
        remarks = Remarks(NAME)
        used = set(mentioned_symbols(op))
        for function in graph_functions(op):
            if not function.is_declaration:
                keeps_results = self.keep_orig_output_dtype or function.sym_name.data in used
                rewriter = _Rewriter(mixed, remarks)
                rewriter.run(function, keeps_results=keeps_results)
                self._report_missing(rewriter, remarks)
        update_signatures(op)
        report(remarks.all)

    def _mixed_type(self) -> Attribute:
        """The mixed type; raises `PassError` if it is not a float type, or if `missing-op-mode` is invalid."""
        try:
            mixed = element_type(self.mixed_precision_type)
        except TypeInferenceError:
            mixed = None
        if not isinstance(mixed, AnyFloat):
            raise PassError(
                f"{NAME}: mixed-precision-type {self.mixed_precision_type!r} is not a float type",
                help="write float16 or bfloat16",
            )
        if self.missing_op_mode not in MODES:
            raise PassError(f"{NAME}: missing-op-mode must be 0, 1 or 2, found {self.missing_op_mode}")
        return mixed

    def _report_missing(self, rewriter: _Rewriter, remarks: Remarks) -> None:
        """Raises `PassError`, or adds a remark, for each operator without a category."""
        for ops in rewriter.missing.values():
            text = f"has no category for mixed precision and occurs {len(ops)} times"
            if self.missing_op_mode == FORBIDDEN:
                raise PassError(
                    f"{NAME}: {ops[0].name} {text}",
                    location=describe_location(ops[0]),
                    help="declare MIXED_PRECISION in its class, or let it follow with missing-op-mode=1",
                )
            if self.missing_op_mode == REMARKED:
                remarks.refused(ops[0], f"{text}; it follows its operands")


class _Rewriter:
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
        for op in list(walk_ops(function, closed=lambda op: isinstance(op, FusedOp))):
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
        precision = _precision_of(op, self._mixed)
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


# --- hooks ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Precision:
    """The way in which an op is computed in mixed precision."""

    category: MixedPrecision
    accumulation: Attribute
    """The element type of the result, for an op that has a property for it."""
    output: Attribute
    """The element type to which the result is cast for its users."""


PrecisionHook: TypeAlias = Callable[[RelayOp, Attribute], object]
"""`hook(op, mixed)` returns the `Precision` of `op`, with `mixed` as the element type of lower precision."""

HookT = TypeVar("HookT", bound=PrecisionHook)

_HOOKS: dict[type[RelayOp], PrecisionHook] = {}


def sets_precision(op: type[RelayOp] | str) -> Callable[[HookT], HookT]:
    """Returns a decorator that registers a function as precision hook for `op`, a class or Relay's name.

    It replaces an earlier hook permanently. Raises `UnknownOpError` if no op has this name.
    """
    kind = get_relay_op(op) if isinstance(op, str) else op

    return registering(_HOOKS, kind)


def registered_precision_hook(op: type[RelayOp]) -> PrecisionHook | None:
    """The registered hook for `op`, or `None`."""
    return _HOOKS.get(op)


def forget_precision_hook(op: type[RelayOp]) -> None:
    """Removes the hook for `op`, so that the declaration of its class applies again."""
    _HOOKS.pop(op, None)


def _precision_of(op: RelayOp, mixed: Attribute) -> Precision | None:
    """The precision of `op` for the element type `mixed`; `None` without declaration and hook.

    Raises `PassError` with hook and op if the hook raises or does not return a `Precision`.
    """
    hook = _HOOKS.get(type(op))
    if hook is None:
        return None if op.MIXED_PRECISION is None else Precision(op.MIXED_PRECISION, mixed, mixed)
    try:
        answer = hook(op, mixed)
    except Exception as error:
        raise combine_classes(_hook_error(hook, op, raised(error)), error) from error
    if not isinstance(answer, Precision):
        raise _hook_error(hook, op, f"returned {answer!r}, not a Precision")
    return answer


def _hook_error(hook: PrecisionHook, op: RelayOp, message: str) -> PassError:
    name = getattr(hook, "__qualname__", type(hook).__name__)
    return PassError(
        f"relay-to-mixed-precision: the hook {name} of {op.relay_name()} {message}", location=describe_location(op)
    )
