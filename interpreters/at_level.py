"""Runs a function in the interpreter of its level."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.loop import run_loop_module
from xrelay.interpreters.relay import run_relay
from xrelay.interpreters.topi import run_topi_module


def run_at_level(level: str, module: ModuleOp, function: str, inputs: Sequence[Array]) -> list[Array]:
    """What the interpreter of `level` gives for `function`; raises what that interpreter raises."""
    match level:
        case "loop":
            return run_loop_module(module, function, inputs)
        case "topi":
            return run_topi_module(module, function, inputs)
        case _:
            return run_relay(module, inputs, function)
