"""Runs a function in the interpreter of its level."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.counted import counts_of_function, cut_to_counts
from xrelay.interpreters.loop import run_loop_module
from xrelay.interpreters.relay import run_relay
from xrelay.interpreters.topi import run_topi_module


def run_at_level(level: str, module: ModuleOp, function: str, inputs: Sequence[Array]) -> list[Array]:
    """What the interpreter of `level` gives for `function`; raises what that interpreter raises.

    Results whose length the data decide are as long as they are, also where the level has buffers and counts for them.
    """
    match level:
        case "loop":
            return cut_to_counts(run_loop_module(module, function, inputs), counts_of_function(module, function))
        case "topi":
            return cut_to_counts(run_topi_module(module, function, inputs), counts_of_function(module, function))
        case _:
            return run_relay(module, inputs, function)
