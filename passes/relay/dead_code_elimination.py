"""`relay-dead-code-elimination`: what nobody needs goes.

What: every op without side effects whose results have no use is erased, closures and branches included; one reverse
walk, since a user always stands behind what it uses. Why not xDSL's `dce`: it walks again until nothing changes, and
knows nothing of calls. A call of a function of the module is pure, like everything in relay; a private function that
nobody calls any more goes too.

Before:

    %a = relay.exp(%x)
    %b = relay.sigmoid(%a)          no use
    func.return %x

After:

    func.return %x

Left alone: calls of functions without a body, which may do anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, Region
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from xrelay.passes.graph.effects import is_pure
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.infra.verify import walk_ops

PRIVATE = StringAttr("private")


@dataclass(frozen=True)
class RelayDeadCodeEliminationPass(ModulePass):
    """Erase ops and private functions that nobody needs. Exact."""

    name = "relay-dead-code-elimination"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Clean the module in place."""
        eliminate_dead_code(op)


def eliminate_dead_code(module: ModuleOp) -> int:
    """Erase what nobody needs; gives the number of ops erased, functions included."""
    functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)}
    pure_calls = {name for name, function in functions.items() if not function.is_declaration}
    erased = sum(_clean(function.body, pure_calls) for function in functions.values())
    return erased + _erase_uncalled(functions)


def _clean(region: Region, pure_calls: set[str]) -> int:
    erased = 0
    # Where to go on in each block being walked, innermost last: an op's regions are settled before the ops above it.
    places: list[Operation | None] = [block.last_op for block in region.blocks]
    while places:
        op = places.pop()
        if op is None:
            continue
        places.append(op.prev_op)
        if _is_dead(op, pure_calls):
            erase_op(op)
            erased += 1
        else:
            places.extend(block.last_op for nested in op.regions for block in nested.blocks)
    return erased


def _is_dead(op: Operation, pure_calls: set[str]) -> bool:
    if op.has_trait(IsTerminator) or any(result.first_use for result in op.results):
        return False
    if isinstance(op, CallOp):
        return op.callee.string_value() in pure_calls
    return is_pure(op)


def _erase_uncalled(functions: dict[str, FuncOp]) -> int:
    """Erase private functions that no function reached from a public one calls."""
    callees = {
        name: {op.callee.string_value() for op in walk_ops(function) if isinstance(op, CallOp)}
        for name, function in functions.items()
    }
    pending = [name for name, function in functions.items() if function.sym_visibility != PRIVATE]
    reached = set(pending)
    while pending:
        for callee in callees[pending.pop()]:
            if callee in functions and callee not in reached:
                reached.add(callee)
                pending.append(callee)
    for name in functions.keys() - reached:
        erase_op(functions[name])
    return len(functions) - len(reached)
