"""`relay-eliminate-common-subexpr`: merges equal ops on equal operands.

Merges ops without side effects of the same kind, attributes and operands, including tuples, fields and constants.
xDSL's `cse` handles single blocks; here ops in a branch are also merged with equal ops before the branch. Commutative
ops with operands in another order are not equal. Exact.

Before:

    %a = relay.add(%y, %c)
    %b = relay.add(%y, %c)
    %r = relay.multiply(%a, %b)

After:

    %a = relay.add(%y, %c)
    %r = relay.multiply(%a, %a)

First, ops move to the innermost blocks that contain all their uses, so that equal ops of two branches are not merged.

Left alone: bindings, ops with regions, `relay.annotation.stop_fusion`, kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from xrelay.passes.graph.effects import is_pure
from xrelay.passes.graph.op_keys import OpKeys
from xrelay.passes.graph.op_kinds import is_computation, is_constant
from xrelay.passes.graph.replacements import Replacements, erase_op
from xrelay.passes.graph.scopes import graph_functions
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.to_basic_block_normal_form import place_ops


@dataclass(frozen=True)
class RelayEliminateCommonSubexprPass(XRelayPass):
    """Merges equal ops. Exact."""

    name = "relay-eliminate-common-subexpr"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        eliminate_common_subexpressions(op)


def eliminate_common_subexpressions(module: ModuleOp, *, skip: Callable[[Operation], bool] | None = None) -> int:
    """Merges equal ops of every function except kernels; returns the number of erased ops.

    Ops for which `skip` holds are neither erased nor replace other ops.
    """
    place_ops(module)
    blocks = [block for function in graph_functions(module) for block in function.body.blocks]
    keys = OpKeys()
    return sum(_Merger(skip, keys).run(block) for block in blocks)


@dataclass
class _Scope:
    """The next op of a block in the traversal, and the keys of its visited ops."""

    next_op: Operation | None
    keys: list[Hashable]


class _Merger:
    """Merges equal ops of one block and of the blocks nested in it."""

    def __init__(self, skip: Callable[[Operation], bool] | None, keys: OpKeys):
        self._skip = skip
        self._keys = keys
        self._seen: dict[Hashable, Operation] = {}
        """Maps keys of computations to the ops that are visible at the current position."""
        self._merged = Replacements()
        self._superfluous: list[Operation] = []

    def run(self, block: Block) -> int:
        """Merges the ops of `block`; returns the number of erased ops."""
        scopes = [_Scope(block.first_op, [])]
        while scopes:
            op = scopes[-1].next_op
            if op is None:
                for key in scopes.pop().keys:
                    del self._seen[key]
                continue
            scopes[-1].next_op = op.next_op
            if op.regions:
                scopes.extend(_Scope(inner.first_op, []) for region in op.regions for inner in region.blocks)
            elif _may_merge(op) and not (self._skip is not None and self._skip(op)):
                self._merge(op, scopes[-1])
        self._merged.apply()
        for op in reversed(self._superfluous):
            erase_op(op)
        return len(self._superfluous)

    def _merge(self, op: Operation, scope: _Scope) -> None:
        """Replaces `op` by a visible equal op, or records `op`."""
        key = (self._keys.of(op), *map(self._merged.of, op.operands))
        equal = self._seen.setdefault(key, op)
        if equal is op:
            scope.keys.append(key)
            return
        for old, new in zip(op.results, equal.results, strict=True):
            new.name_hint = old.name_hint if new.name_hint is None else new.name_hint
            self._merged.add(old, new)
        self._superfluous.append(op)


def _may_merge(op: Operation) -> bool:
    return (is_computation(op) or is_constant(op)) and is_pure(op)
