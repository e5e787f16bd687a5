"""`relay-simplify-loops`: replaces values that a loop carries without a change by values outside of the loop.

Exporters of recurrent networks pass the weights from one iteration to the next. Other passes then find no constants in
the body, and the layout of a weight is converted in each iteration.

Before:

    %l = relay.loop(%i, %w = %weight, %s = %x) to %n -> tuple<T, U> {
      %t = relay.nn.dense(%s, %w)
      relay.yield (%w, %t)
    }
    %r = %l.1

After:

    %l = relay.loop(%i, %s = %x) to %n -> tuple<U> {
      %t = relay.nn.dense(%s, %weight)
      relay.yield (%t)
    }
    %r = %l.0

A loop with no other results stays as it is, and so does a value whose type is another in the body, because the body
names its extents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import tuple_type
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter, owner_of, rewrite_once
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass


@dataclass(frozen=True)
class RelaySimplifyLoopsPass(XRelayPass):
    """Replaces values that loops carry without a change by outside values; see the module's docstring. Exact."""

    name = "relay-simplify-loops"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        report(simplify_loops(op))


def simplify_loops(module: ModuleOp) -> list[Remark]:
    """Rewrites the loops of `module`; returns remarks on rewritten loops."""
    remarks = Remarks(RelaySimplifyLoopsPass.name)
    rewrite_once(module, LoopOp, CarryOnlyChangedValues(remarks))
    return remarks.all


class CarryOnlyChangedValues(RewritePattern):
    """Removes carried values that the body yields as they are; see the module's docstring."""

    def __init__(self, remarks: Remarks):
        self._remarks = remarks

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoopOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if it carries such values, and has other results."""
        end = op.body.block.last_op
        fields = owner_of(end.value, TupleOp) if isinstance(end, YieldOp) else None
        if end is None or fields is None or not isinstance(op.result.type, TupleType):
            return
        same = _unchanged(op, fields.fields)
        if not same or len(same) == len(op.result.type.types):
            return
        self._remarks.applied(op, f"{len(same)} of {len(op.initial)} carried values are the same in all iterations")
        _carry_others(op, end, fields, same)
        _replace(op, same, Emitter(rewriter, op))


def _unchanged(op: LoopOp, fields: Sequence[SSAValue]) -> list[int]:
    """Returns the indices of the carried values that the body yields as they are."""
    carried = enumerate(zip(op.carried, op.initial, fields[_first(op) :], strict=False))
    return [index for index, (own, initial, field) in carried if field is own and own.type == initial.type]


def _first(op: LoopOp) -> int:
    """Returns the index of the first carried value among those that the body yields."""
    return 0 if op.condition is None else 1


def _carry_others(op: LoopOp, end: Operation, fields: TupleOp, same: Sequence[int]) -> None:
    """Makes the body of `op` use outside values for those with the indices `same`, and yield the others."""
    yielded = {index + _first(op) for index in same}
    others = TupleOp.call(*(field for index, field in enumerate(fields.fields) if index not in yielded))
    others.location = fields.location
    Rewriter.insert_op(others, InsertPoint.before(end))
    end.operands[0] = others.results[0]
    if fields.result.first_use is None:
        Rewriter.erase_op(fields)
    for argument, initial in [(op.carried[index], op.initial[index]) for index in same]:
        argument.replace_all_uses_with(initial)
        op.body.block.erase_arg(argument)


def _replace(op: LoopOp, same: Sequence[int], emit: Emitter) -> None:
    """Replaces `op` by a loop with its body, which does not carry the values with the indices `same`."""
    assert isinstance(op.result.type, TupleType), "see match_and_rewrite"
    kept = [index for index, _ in enumerate(op.result.type.types) if index not in same]
    initial = [value for index, value in enumerate(op.initial) if index not in same]
    type = tuple_type([op.result.type.types.data[index] for index in kept])
    loop = emit.insert(LoopOp(op.trip_count, op.condition, initial, type, op.detach_region(op.body)))
    loop.attributes.update(op.attributes)
    values = {index: op.initial[index] for index in same}
    values.update((index, emit.call(TupleGetItemOp, loop.result, index=place)) for place, index in enumerate(kept))
    for use in list(op.result.uses):
        if isinstance(use.operation, TupleGetItemOp):
            use.operation.result.replace_all_uses_with(values[use.operation.index.value.data])
            Rewriter.erase_op(use.operation)
    emit.replace(emit.call(TupleOp, *(values[index] for index in sorted(values))))
