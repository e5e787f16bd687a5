"""Replaces calls of closures that are known when compiling by their bodies, for `relay-inline`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.locations import location_of
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.errors import PassError
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.infra.verify import walk_ops


def known_closure(value: SSAValue) -> FnOp | None:
    """The closure that `value` is, through lets and fields of tuples; `None` where a run decides."""
    path: list[int] = []
    """The fields to take from what comes, the last first."""
    while isinstance(value, OpResult):
        op = value.op
        if isinstance(op, FnOp) and not path:
            return op
        if isinstance(op, LetOp):
            value = op.value
        elif isinstance(op, TupleGetItemOp):
            path.append(op.index.value.data)
            value = op.data
        elif isinstance(op, TupleOp) and path:
            value = op.fields[path.pop()]
        else:
            return None
    return None


@dataclass
class ClosureInliner:
    """Replaces calls of known closures; a recursive closure keeps its calls."""

    max_ops: int
    """How many ops it may add."""
    added: int = 0
    inlined: int = 0

    def expand(self, function: FuncOp) -> None:
        """Inline the calls in `function`, and those in what comes in their places."""
        places = [block.first_op for block in function.body.blocks]
        while places:
            op = places.pop()
            if op is None:
                continue
            closure = known_closure(op.callee) if isinstance(op, InvokeOp) else None
            if isinstance(op, InvokeOp) and closure is not None and not closure.is_recursive:
                places.append(self._inline(op, closure))
                continue
            places.append(op.next_op)
            places.extend(block.first_op for region in op.regions for block in region.blocks)

    def _inline(self, call: InvokeOp, closure: FnOp) -> Operation | None:
        """Replace `call` by the body of `closure`; gives the first op of that, or what comes behind it."""
        self.inlined += 1
        behind = call.next_op
        arguments, callee = list(call.arguments), call.callee
        if closure.result.has_one_use() and callee is closure.result and closure.parent is call.parent:
            for parameter, argument in zip(closure.parameters, arguments, strict=True):
                parameter.replace_all_uses_with(argument)
            ops = list(closure.body.block.ops)
            for op in ops:
                op.detach()
        else:
            self.added += sum(1 for _ in walk_ops(closure)) - 2
            if self.added > self.max_ops:
                raise PassError(
                    f"relay-inline: inlining adds more than {self.max_ops} ops",
                    location=location_of(call),
                    help="raise max-ops",
                )
            values: dict[SSAValue, SSAValue] = dict(zip(closure.parameters, arguments, strict=True))
            ops = [op.clone(values) for op in closure.body.block.ops]
        *body, last = ops
        if not isinstance(last, YieldOp):
            raise PassError("relay-inline: a closure does not end in relay.yield", location=location_of(closure))
        result = last.value
        if call.result.name_hint is not None and isinstance(result.owner, Operation) and result.owner in body[-1:]:
            result.name_hint = call.result.name_hint
        erase_op(last)
        Rewriter.insert_op(body, InsertPoint.before(call))
        Rewriter.replace_op(call, [], [result])
        _erase_unused(callee)
        return body[0] if body else behind


def _erase_unused(value: SSAValue) -> None:
    """Erase the closure that nothing calls any more, and the lets and tuples that it went through."""
    pending = [value]
    while pending:
        current = pending.pop()
        if current.first_use is not None or not isinstance(current, OpResult):
            continue
        op = current.op
        if isinstance(op, FnOp | LetOp | TupleOp | TupleGetItemOp) and op.parent is not None:
            pending += op.operands
            erase_op(op)
