"""`relay-inline`: calls of functions of the graph are replaced by their bodies.

What: every `func.call` of a function with a body becomes the ops of that body, callees before their callers. Why: the
passes behind it look at one function at a time, and native code knows kernels and `@main` only. Recursive functions
keep their calls; kernels (`relay.primitive`) and functions without a body are never inlined.

Before:

    %y = func.call @square(%x) : (T) -> T
    …
    func.func private @square(%a: T) -> T {
      %m = relay.multiply(%a, %a) : (T, T) -> T
      func.return %m : T
    }

After:

    %y = relay.multiply(%x, %x) : (T, T) -> T

With `marked`, as in Relay: only functions with the attribute `relay.inline` are inlined.

Refuses (`PassError`) to let the module grow beyond `max-ops` ops: functions that call one another twice double at every
level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.errors import PassError
from xrelay.passes.relay.fuse_ops import PRIMITIVE

MAX_OPS = 1_000_000
INLINE = "relay.inline"
"""Marks functions that are to be inlined (Relay's attribute Inline); it counts where `marked` is set."""


@dataclass(frozen=True)
class RelayInlinePass(ModulePass):
    """Replace calls of the graph's functions by their bodies; see the module's docstring. Exact."""

    name = "relay-inline"

    max_ops: int = field(default=MAX_OPS, metadata={"help": "how many ops inlining may add"})
    marked: bool = field(default=False, metadata={"help": "inline the functions with the attribute relay.inline alone"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Inline in place."""
        inline_calls(op, max_ops=self.max_ops, marked=self.marked)


def inline_calls(module: ModuleOp, *, max_ops: int = MAX_OPS, marked: bool = False) -> int:
    """Inline every call that is not recursive, with `marked` of functions marked by `relay.inline` alone.

    Gives the number of calls inlined.
    """
    functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp) and _is_inlinable(op)}
    wanted = {name for name, function in functions.items() if not marked or INLINE in function.attributes}
    calls = {name: _calls_in(function, functions) for name, function in functions.items()}
    ordered = _callees_first({name: {callee for _, callee in found} for name, found in calls.items()})
    sizes = {name: sum(1 for _ in function.walk()) for name, function in functions.items()}
    inlined = added = 0
    for name in ordered:
        for call, callee in calls[name]:
            if callee not in ordered or callee not in wanted:
                continue
            added += sizes[callee]
            sizes[name] += sizes[callee]
            if added > max_ops:
                raise PassError(f"relay-inline: inlining adds more than {max_ops} ops", help="raise max-ops")
            _inline(call, functions[callee])
            inlined += 1
    return inlined


def _is_inlinable(function: FuncOp) -> bool:
    return len(function.body.blocks) == 1 and PRIMITIVE not in function.attributes


def _calls_in(function: FuncOp, functions: Mapping[str, FuncOp]) -> list[tuple[CallOp, str]]:
    """The calls in `function` of functions with a body, with their callees."""
    calls = [op for op in function.walk() if isinstance(op, CallOp)]
    return [(op, name) for op in calls if (name := op.callee.string_value()) in functions]


def _callees_first(callees: Mapping[str, set[str]]) -> list[str]:
    """The functions in an order in which callees stand before callers; those that may call themselves are left out."""
    waiting = {name: set(names) for name, names in callees.items()}
    callers: dict[str, list[str]] = {name: [] for name in callees}
    for name, names in callees.items():
        for callee in names:
            callers[callee].append(name)
    ready = [name for name, names in waiting.items() if not names]
    ordered: list[str] = []
    while ready:
        name = ready.pop()
        ordered.append(name)
        for caller in callers[name]:
            waiting[caller].discard(name)
            if not waiting[caller]:
                ready.append(caller)
    return ordered


def _inline(call: CallOp, callee: FuncOp) -> None:
    """Replace `call` by a copy of the body of `callee`."""
    values: dict[SSAValue, SSAValue] = dict(zip(callee.args, call.arguments, strict=True))
    copies: list[Operation] = []
    results: list[SSAValue] = []
    for op in callee.body.block.ops:
        if isinstance(op, ReturnOp):
            results = [values.get(operand, operand) for operand in op.operands]
        else:
            copies.append(op.clone(values))
    Rewriter.insert_op(copies, InsertPoint.before(call))
    for old, new in zip(call.results, results, strict=True):
        if old.name_hint is not None and isinstance(new.owner, Operation) and new.owner in copies[-1:]:
            new.name_hint = old.name_hint
    Rewriter.replace_op(call, [], results)
