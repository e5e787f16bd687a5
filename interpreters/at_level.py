"""Runs a function in the interpreter of its level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.attribute_names import CONTAINER, OUTPUT_PLACE
from xrelay.interpreters.call_progress import Progress
from xrelay.interpreters.loop import run_loop_module
from xrelay.interpreters.loop.host_ops import value_of_list
from xrelay.interpreters.relay import run_relay
from xrelay.interpreters.relay.run import HostValue, host_value, run_relay_values
from xrelay.interpreters.topi import run_topi_module


def run_at_level(
    level: str, module: ModuleOp, function: str, inputs: Sequence[Array], progress: Progress | None = None
) -> list[Array]:
    """Returns the results of `function` from the interpreter of `level`; raises its errors.

    At the topi and loop levels, `progress` is called before each call in the function.
    """
    match level:
        case "loop":
            return run_loop_module(module, function, inputs, progress=progress)
        case "topi":
            return run_topi_module(module, function, inputs, progress)
        case _:
            return run_relay(module, inputs, function)


def values_at_level(
    level: str, module: ModuleOp, function: str, inputs: Sequence[HostValue], progress: Progress | None = None
) -> list[HostValue]:
    """Like `run_at_level`, but returns sequences as lists, and optionals as their value or None."""
    if level not in ("loop", "topi"):
        return run_relay_values(module, inputs, function)
    values = run_at_level(level, module, function, cast("Sequence[Array]", inputs), progress)
    if level == "topi":
        return [host_value(value) for value in values]
    containers = _containers(module, function)
    return [value_of_list(value, containers.get(number)) for number, value in enumerate(values)]


def _containers(module: ModuleOp, name: str) -> dict[int, Attribute]:
    """Returns the types of sequences and optionals among the outputs of a loop function, by index."""
    found: dict[int, Attribute] = {}
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == name and op.res_attrs is not None:
            for row in op.res_attrs.data:
                place, container = row.data.get(OUTPUT_PLACE), row.data.get(CONTAINER)
                if isinstance(place, IntegerAttr) and container is not None:
                    found[place.value.data] = container
    return found
