"""Outlines matches in the IR: each group becomes a `relay.fn` and a call of it. Also tables of patterns by name.

    %c = relay.nn.conv2d(%x, %w)
    %r = relay.nn.relu(%c)

becomes

    %f = relay.fn(%p0 : T, %p1 : U) -> V attributes {Composite = "c", PartitionedFromPattern = "nn.conv2d_nn.relu_"} {
      %c = relay.nn.conv2d(%p0, %p1)
      %r = relay.nn.relu(%c)
      relay.yield %r : V
    }
    %r = relay.invoke %f(%x, %w)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.attribute_names import PARTITIONED_FROM
from xrelay.dialects.shared.requirements import new_extents
from xrelay.errors import PassError, did_you_mean
from xrelay.passes.graph.effects import is_pure
from xrelay.passes.graph.remarks import Remarks
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.patterns.graph import NodeGraph
from xrelay.passes.patterns.groups import Group, groups_of
from xrelay.passes.patterns.ir_terms import IrNode, IrTerms
from xrelay.passes.patterns.nodes import DFPattern, FunctionPattern
from xrelay.plugins import load_plugins

Check = Callable[[SSAValue], object]
"""A predicate on the root of a match: whether to outline it."""


def partition_function(
    function: FuncOp, pattern: DFPattern, attributes: Mapping[str, Attribute], check: Check, remarks: Remarks
) -> int:
    """Outlines the matches in `function` that `check` accepts, with `attributes`; returns their number.

    Two kinds of matches are refused with a remark: those with an op that introduces a named extent, because the name
    would be unknown outside; and those whose inputs are computed inside a branch or closure of the match.
    """
    end = function.body.block.last_op if len(function.body.blocks) == 1 else None
    if not isinstance(end, ReturnOp) or isinstance(pattern, FunctionPattern):
        return 0
    graph = NodeGraph[IrNode](IrTerms(), list(dict.fromkeys(end.operands)))
    groups = groups_of(pattern, graph)
    # All checks run before the first change.
    accepted = [groups[node] for node in graph.index if node in groups and check(cast(SSAValue, node))]
    outliner = _Outliner(attributes, remarks)
    for group in accepted:
        outliner.outline(group)
    return outliner.made


class _Outliner:
    """Outlines groups, producers first."""

    def __init__(self, attributes: Mapping[str, Attribute], remarks: Remarks):
        self._attributes, self._remarks = attributes, remarks
        self._calls: dict[IrNode, SSAValue] = {}
        """The calls that replace the roots of earlier groups."""
        self.made = 0

    def outline(self, group: Group[IrNode]) -> None:
        """Replaces the root of the group by a call of a new function, and erases unused ops."""
        root = group.root
        if not isinstance(root, OpResult):
            return
        ops, inputs = _ops_of(group.members), [self._current(value) for value in group.inputs]
        reason = _refusal(root.op, ops, inputs)
        if reason is not None:
            self._remarks.refused(root.op, reason)
            return
        function = _function_of(root, ops, inputs, {**self._attributes, PARTITIONED_FROM: StringAttr(group.name)})
        call = InvokeOp(function, inputs, root.type)
        function.location = call.location = root.op.location
        call.result.name_hint = root.name_hint
        Rewriter.insert_op([function, call], InsertPoint.before(root.op))
        root.replace_all_uses_with(call.result)
        self._calls[root] = call.result
        self._remarks.applied(root.op, "{} became a function", group.name)
        _erase_unused(ops)
        self.made += 1

    def _current(self, value: IrNode) -> SSAValue:
        return self._calls.get(value, cast(SSAValue, value))


def _ops_of(members: Iterable[IrNode]) -> list[Operation]:
    """Returns the ops that compute the members, except those inside of others, in a valid order."""
    ops = dict.fromkeys(member.op for member in members if isinstance(member, OpResult))
    return [op for op in ops if not any(around in ops for around in _enclosing_ops(op))]


def _enclosing_ops(op: Operation) -> Iterable[Operation]:
    """Yields the ops that enclose `op`, the innermost first."""
    current = op.parent_op()
    while current is not None:
        yield current
        current = current.parent_op()


def _refusal(root: Operation, ops: Iterable[Operation], inputs: Iterable[SSAValue]) -> str | None:
    """Returns the reason why the ops cannot be outlined to a function called at `root`, or None."""
    for op in ops:
        if new_extents(op):
            return f"{op.name} binds the extent {new_extents(op)[0].name}, which is unknown outside of the function"
    blocks = {root.parent, *(op.parent for op in _enclosing_ops(root))}
    for value in inputs:
        place = value.owner if isinstance(value.owner, Block) else value.owner.parent
        if place not in blocks:
            return "an input is computed inside of a branch or closure that belongs to the match"
    return None


def _function_of(
    root: OpResult, ops: Iterable[Operation], inputs: list[SSAValue], attributes: Mapping[str, Attribute]
) -> FnOp:
    """Returns the function that computes `root` by copies of `ops`."""
    block = Block(arg_types=[value.type for value in inputs])
    copies: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for number, argument in enumerate(block.args):
        argument.name_hint = f"p{number}"
    for op in ops:
        block.add_op(op.clone(copies))
    block.add_op(YieldOp(copies[root]))
    function = FnOp(FunctionType.from_lists(list(block.arg_types), [root.type]), Region(block))
    function.attributes.update(attributes)
    return function


def _erase_unused(ops: Iterable[Operation]) -> None:
    """Erases ops without uses, users first."""
    for op in reversed(list(ops)):
        if is_pure(op) and all(result.first_use is None for result in op.results):
            erase_op(op)


def _every(value: SSAValue) -> bool:
    return True


@dataclass(frozen=True)
class TableRow:
    """A composite: its name, its pattern, and a predicate on its matches."""

    name: str
    pattern: DFPattern
    check: Check = _every


_TABLES: dict[str, Callable[[], Sequence[TableRow]]] = {}


def add_table(name: str, rows: Callable[[], Sequence[TableRow]]) -> None:
    """Registers a table under a name, replacing an existing one. `rows` is called for each use."""
    _TABLES[name] = rows


def remove_table(name: str) -> None:
    """Removes a table if it exists."""
    _TABLES.pop(name, None)


def table(name: str) -> Sequence[TableRow]:
    """Returns the rows of a table in order. Raises `PassError` for an unknown name.

    Loads the installed plugins for targets and passes first if the name is unknown.
    """
    if name not in _TABLES:
        load_plugins("targets")
        load_plugins("passes")
    if name not in _TABLES:
        known = did_you_mean(name, _TABLES, f"registered are {', '.join(_TABLES) or 'none'}")
        raise PassError(f"there is no table of patterns {name!r}", help=known)
    return _TABLES[name]()
