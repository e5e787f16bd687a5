"""Writes a function in continuation passing style, for `relay-to-cps`.

The ops of a block are copied in order. After a call, the remaining ops become the body of a continuation. After a
branch, they become a closure that both branches call. Blocks to be written are on a worklist instead of a recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from xrelay.dialects.relay.structure.call import is_call
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.attribute_names import FORM, VALUE_NAME
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.requirements import made_extents
from xrelay.dialects.shared.types import tuple_type
from xrelay.errors import PassError
from xrelay.passes.graph.dim_substitution import dim_names_in
from xrelay.passes.infra.verify import walk_ops
from xrelay.relay.passes.cps_types import continuation_type, cps_type, has_functions, passed_type

NAME = "relay-to-cps"


NamesOf = Callable[[CallOp], str | None]
"""A function that returns the name of the converted callee of a call, or None if the callee is not converted."""


@dataclass
class _PendingBlock:
    """Ops to be written to `block`; the results of the last op are passed to the continuation."""

    op: Operation | None
    block: Block
    continuation: SSAValue
    ops: list[Operation] = field(default_factory=list[Operation])
    """The written ops, which are added to the block at the end: for each added op, xDSL visits all blocks around it."""


class CpsWriter:
    """Writes one function, whose continuation returns `answer`."""

    def __init__(self, function: FuncOp, answer: Attribute, names_of: NamesOf):
        self._function, self._answer, self._names_of = function, answer, names_of
        self._values: dict[SSAValue, SSAValue] = {}
        """Maps values of `function` to their replacements."""
        self._pending: list[_PendingBlock] = []
        self._written: list[_PendingBlock] = []

    def write(self, name: str) -> FuncOp:
        """Returns the converted function under the name `name`; the original is not changed."""
        old = self._function
        _refuse(old)
        outputs = old.function_type.outputs.data
        block = self._block(old.body.block.args, continuation_type(passed_type(outputs), self._answer))
        self._pending.append(_PendingBlock(old.body.block.first_op, block, block.args[-1]))
        while self._pending:
            self._write(self._pending.pop())
        for pending in reversed(self._written):
            pending.block.add_ops(pending.ops)
        visibility = old.sym_visibility.data if old.sym_visibility is not None else None
        new = FuncOp(name, (list(block.arg_types), [self._answer]), Region(block), visibility)
        new.attributes.update({**old.attributes, FORM: StringAttr("bbnf")})
        if old.arg_attrs is not None:
            named = DictionaryAttr({VALUE_NAME: StringAttr("k")})
            new.arg_attrs = ArrayAttr([*old.arg_attrs.data, named])
        new.location = old.location
        return new

    def _write(self, pending: _PendingBlock) -> None:
        """Writes a block up to the first op after which a continuation follows."""
        self._written.append(pending)
        op = pending.op
        while op is not None:
            if op.has_trait(IsTerminator):
                self._return(pending, op)
                return
            callee = self._names_of(op) if isinstance(op, CallOp) else None
            if isinstance(op, IfOp):
                self._choose(pending, op)
                return
            if isinstance(op, InvokeOp) or (isinstance(op, CallOp) and callee is not None):
                self._call(pending, op, callee)
                return
            if isinstance(op, FnOp):
                self._closure(pending, op)
            else:
                self._copy(pending, op)
            op = op.next_op

    def _return(self, pending: _PendingBlock, end: Operation) -> None:
        """Calls the continuation with the results of a block."""
        values = [self._values.get(value, value) for value in end.operands]
        if len(values) == 1:
            value = values[0]
        else:
            made = TupleOp.create(operands=values, result_types=[tuple_type(value.type for value in values)])
            self._add(pending, made, end)
            value = made.results[0]
        call = InvokeOp(pending.continuation, [value], self._answer)
        self._add(pending, call, end)
        self._end(pending, call.result, end)

    def _end(self, pending: _PendingBlock, answer: SSAValue, at: Operation) -> None:
        """Ends a block with the result `answer`."""
        around = pending.block.parent_op()
        end = YieldOp(answer) if isinstance(around, FnOp | IfOp) else ReturnOp(answer)
        self._add(pending, end, at)

    def _call(self, pending: _PendingBlock, op: CallOp | InvokeOp, name: str | None) -> None:
        """Writes a call with the remaining ops as its continuation; a tail call gets the continuation of the block."""
        outputs = tuple(result.type for result in op.results)
        continuation = self._rest(pending, op, passed_type(outputs))
        if isinstance(op, InvokeOp):
            arguments = [self._values.get(value, value) for value in op.arguments]
            call = InvokeOp(self._values.get(op.callee, op.callee), [*arguments, continuation], self._answer)
        else:
            arguments = [self._values.get(value, value) for value in op.arguments]
            call = CallOp(str(name), [*arguments, continuation], [self._answer])
        self._add(pending, call, op)
        self._end(pending, call.results[0], op)

    def _take_apart(self, pending: _PendingBlock, op: Operation) -> None:
        """Replaces the results of `op` by the argument of a continuation."""
        argument = pending.block.args[0]
        if len(op.results) == 1:
            argument.name_hint = op.results[0].name_hint
            self._values[op.results[0]] = argument
            return
        for index, result in enumerate(op.results):
            field = TupleGetItemOp.call(argument, index=index)
            field.result.name_hint = result.name_hint
            self._add(pending, field, op)
            self._values[result] = field.result

    def _rest(self, pending: _PendingBlock, op: Operation, passed: Attribute) -> SSAValue:
        """Returns the continuation after `op`: a closure for the remaining ops, or that of the block if none remain."""
        following = op.next_op
        if following is not None and following.has_trait(IsTerminator) and list(following.operands) == list(op.results):
            return pending.continuation
        block = Block(arg_types=[cps_type(passed, self._answer)])
        closure = FnOp(continuation_type(passed, self._answer), Region(block))
        closure.result.name_hint = "k"
        self._add(pending, closure, op)
        rest = _PendingBlock(following, block, pending.continuation)
        self._take_apart(rest, op)
        self._pending.append(rest)
        return closure.result

    def _choose(self, pending: _PendingBlock, op: IfOp) -> None:
        """Writes a branch in which both regions call the continuation."""
        continuation = self._rest(pending, op, op.result.type)
        regions = [Region(Block()), Region(Block())]
        chosen = IfOp(self._values.get(op.condition, op.condition), self._answer, regions[0], regions[1])
        self._add(pending, chosen, op)
        for old, new in zip(op.regions, regions, strict=True):
            self._pending.append(_PendingBlock(old.block.first_op, new.block, continuation))
        self._end(pending, chosen.result, op)

    def _closure(self, pending: _PendingBlock, op: FnOp) -> None:
        """Writes a closure, and adds its body to the worklist."""
        type = cps_type(op.result.type, self._answer)
        assert isinstance(op.result.type, FunctionType), "types are complete"
        assert isinstance(type, FunctionType), "the converted type of a function is a function type"
        own = continuation_type(op.result.type.outputs.data[0], self._answer)
        block = self._block(op.body.block.args, own)
        made = FnOp(type, Region(block), recursive=op.is_recursive)
        made.attributes.update(op.attributes)
        made.result.name_hint = op.result.name_hint
        self._add(pending, made, op)
        self._values[op.result] = made.result
        self._pending.append(_PendingBlock(op.body.block.first_op, block, block.args[-1]))

    def _block(self, arguments: Sequence[BlockArgument], continuation: Attribute) -> Block:
        """Returns a block for these arguments and a continuation."""
        block = Block(arg_types=[*(cps_type(each.type, self._answer) for each in arguments), continuation])
        for old, new in zip(arguments, block.args, strict=False):
            new.name_hint = old.name_hint
            self._values[old] = new
        block.args[-1].name_hint = "k"
        return block

    def _copy(self, pending: _PendingBlock, op: Operation) -> None:
        """Copies an op that calls nothing."""
        operands = {value: self._values[value] for value in op.operands if value in self._values}
        if op.regions:
            inside = {value for inner in walk_ops(op) for value in inner.operands}
            operands |= {value: self._values[value] for value in inside if value in self._values}
        if not any(has_functions(result.type) for result in op.results):
            new = op.clone(operands)
        else:
            types = [cps_type(result.type, self._answer) for result in op.results]
            values = [operands.get(value, value) for value in op.operands]
            new = type(op).create(
                operands=values,
                result_types=types,
                properties=dict(op.properties),
                attributes=dict(op.attributes),
            )
        self._add(pending, new, op)
        for old, made in zip(op.results, new.results, strict=True):
            made.name_hint = old.name_hint
            self._values[old] = made

    def _add(self, pending: _PendingBlock, new: Operation, at: Operation) -> None:
        new.location = at.location
        pending.ops.append(new)


def _refuse(function: FuncOp) -> None:
    """Raises `PassError` for ops that cannot be converted to continuation passing style."""
    has_names, looped = bool(dim_names_in(function)), set[Operation]()
    for op in walk_ops(function):
        around = op.parent_op()
        if isinstance(around, LoopOp) or around in looped:
            looped.add(op)
        calls = is_call(op) or isinstance(op, FnOp | InvokeOp)
        if has_names and (calls or made_extents(op)):
            raise PassError(
                f"{NAME}: a call, closure or branch in a function with named dimensions",
                location=location_of(op),
                help="make the shapes static, or run relay-inline first",
            )
        if calls and op in looped:
            raise PassError(
                f"{NAME}: the body of a loop makes a call or a closure",
                location=location_of(op),
                help="run relay-inline first, or write the loop as a recursion",
            )
