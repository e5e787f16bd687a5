"""At which level a module is, and what it computes there: relay, topi and loop have interpreters."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.attribute_names import NUM_OUTPUTS
from xrelay.dialects.levels import level_of as level_of_op
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InputError
from xrelay.interpreters.loop import run_loop_module
from xrelay.interpreters.relay import run_relay
from xrelay.interpreters.topi import run_topi_module
from xrelay.passes.infra.verify import walk_ops

_LOWER_DIALECTS = frozenset({"scf", "memref", "vector", "llvm", "cf"})


def level_of(module: ModuleOp) -> str:
    """`relay`, `topi` or `loop`: the lowest whose ops occur. `InputError` for what has no interpreter."""
    found = {level_of_op(op) for op in walk_ops(module)}
    for level in ("loop", "topi", "relay"):
        if level in found:
            return level
    lower = sorted(found & _LOWER_DIALECTS)
    if lower or any(NUM_OUTPUTS in op.attributes for op in module.ops):
        raise InputError(
            f"a module below the loop level ({', '.join(lower)}) has no interpreter",
            help="compare the module before convert-loop-to-scf, or the compiled model",
        )
    return "relay"


def run_at_level(level: str, module: ModuleOp, function: str, inputs: Sequence[Array]) -> list[Array]:
    """What the interpreter of `level` gives for `function`; raises what that interpreter raises."""
    match level:
        case "loop":
            return run_loop_module(module, function, inputs)
        case "topi":
            return run_topi_module(module, function, inputs)
        case _:
            return run_relay(module, inputs, function)
