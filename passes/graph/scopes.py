"""Functions of the graph, their blocks as a tree, and the uses of values and names in them.

A function of the graph contains ops that passes may rewrite and fuse. Kernels, marked `relay.primitive`, and functions
at lower levels, with or without the mark, are finished and stay as they are.

A branch runs at most once for each run of the block around it; a closure may be called many times, and the body of a
loop runs many times. So an op may move into a branch and never into a closure or loop: a use inside of one counts as a
use by the closure or loop. The depth of a block is not stored, because an op that moves takes its blocks along.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.scope import outside_closures
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.dialects.shared.levels import level_of
from xrelay.dialects.shared.op_lists import block_of
from xrelay.dialects.shared.requirements import new_extents
from xrelay.passes.graph.dim_substitution import DimNamesOfOps
from xrelay.passes.graph.effects import is_pure
from xrelay.passes.infra.verify import walk_ops


def graph_functions(module: ModuleOp) -> list[FuncOp]:
    """Returns the functions of `module` that are not kernels."""
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    return [function for function in functions if PRIMITIVE not in function.attributes]


def is_graph(function: FuncOp) -> bool:
    """Whether the body of a function is an expression: one block of ops that only values put in order.

    At lower levels it is not an expression: ops write to buffers, or have regions of another meaning.
    """
    return len(function.body.blocks) == 1 and all(op is function or _is_expression(op) for op in walk_ops(function))


def _is_expression(op: Operation) -> bool:
    return level_of(op) in ("relay", "func") or (not op.regions and is_pure(op))


def fusable_blocks(function: FuncOp) -> list[Block]:
    """Returns the blocks of a function whose ops may be fused: its body and regions, except regions of groups."""
    blocks: list[Block] = []
    pending = list(function.body.blocks)
    while pending:
        block = pending.pop()
        blocks.append(block)
        for op in block.ops:
            if op.regions and not isinstance(op, FusedOp):
                pending.extend(inner for region in op.regions for inner in region.blocks)
    return blocks


class NameUses:
    """The ops of `function` that name extents which its ops introduce.

    The requirements of a `relay.require`, the type of a value and the bindings of a call may name `e`, while a
    `relay.closure_captured`, `relay.extents` or call introduces `e`. At lower levels `e` is defined after the op that
    introduces it, in its block and in blocks nested there. So naming an extent is a use of that op.
    """

    def __init__(self, function: FuncOp):
        ops = list(walk_ops(function))
        names = DimNamesOfOps()
        self._users: dict[str, dict[Operation, None]] = {extent.name: {} for op in ops for extent in new_extents(op)}
        for op in ops if self._users else ():
            for name in names.of(op):
                if name in self._users:
                    self._users[name][op] = None

    def of(self, op: Operation) -> list[Operation]:
        """Returns the ops outside of `op` that name an extent of `op`, in its block or in nested blocks.

        In other blocks another op may introduce an extent of the same name, as copies of an op in several branches do.
        """
        users = dict.fromkeys(user for extent in new_extents(op) for user in self._users.get(extent.name, ()))
        scope = op.parent
        around = {user: enclosing_op(user, scope) for user in users}
        return [user for user, found in around.items() if found.parent is scope and found is not op]


class Scopes:
    """The blocks of `function` in which ops are placed: its body, branches and closures, without bodies of groups."""

    def __init__(self, function: FuncOp):
        self.blocks = dict.fromkeys(fusable_blocks(function))
        """An ordered set, outer blocks first."""
        self._names = NameUses(function)

    def where_uses_meet(self, op: Operation) -> Block | None:
        """Returns the innermost block that contains all uses of `op` and of its extents, or None without uses."""
        target: Block | None = None
        users = [use.operation for result in op.results for use in result.uses]
        for user in (*users, *self._names.of(op)):
            block = outside_closures(user, op.parent).parent
            if block is not None:
                target = block if target is None else self.common(target, block)
            if target is op.parent:
                return target
        return target

    def common(self, left: Block, right: Block) -> Block:
        """Returns the innermost block that is or contains both blocks; `ValueError` for blocks of different functions.

        Climbs from both in turn until one reaches a block that the other has passed.
        """
        if left is right:
            return left
        ends: list[Block | None] = [left, right]
        passed: tuple[set[Block], set[Block]] = (set(), set())
        while any(ends):
            for side, end in enumerate(ends):
                if end is None:
                    continue
                if end in passed[1 - side]:
                    return end
                passed[side].add(end)
                ends[side] = end.parent_block()
        raise ValueError("blocks of different functions")


def enclosing_op(op: Operation, block: Block | None) -> Operation:
    """Returns the op of `block` that is or contains `op`, or the outermost op around `op` if not in `block`."""
    while op.parent is not block:
        around = op.parent_op()
        if around is None:
            return op
        op = around
    return op


class ValueUses:
    """The values that each op of `function` uses: its operands, and values from outside that its regions use."""

    def __init__(self, function: FuncOp):
        self._captured: dict[Operation, dict[SSAValue, None]] = {}
        for op in walk_ops(function):
            for value in op.operands:
                block = block_of(value)
                if block is not op.parent:
                    self._captured.setdefault(enclosing_op(op, block), {})[value] = None

    def of(self, op: Operation) -> list[SSAValue]:
        """Returns the operands, then the captured values of the regions."""
        return [*op.operands, *self._captured.get(op, ())]

    def needed_ops(self, op: Operation) -> list[Operation]:
        """Returns the ops of the block of `op` whose results `op` uses."""
        owners = (value.owner for value in self.of(op))
        return [owner for owner in owners if isinstance(owner, Operation) and owner.parent is op.parent]
