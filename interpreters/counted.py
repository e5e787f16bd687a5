"""Buffers cut to the number of elements that they hold."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.dialects.counted import Counts, counts_of, without_counts
from xrelay.dialects.loop.signature import input_arguments
from xrelay.dialects.relay.structure.weights import Array


def cut_to_counts(results: Sequence[Array], counts: Counts) -> list[Array]:
    """The results of a function without those that count; what they count is cut."""
    cut = list(results)
    for number, (axis, count) in counts.items():
        index = (slice(None),) * axis + (slice(int(results[count])),)
        cut[number] = results[number][index].copy()
    return without_counts(cut, counts)


def counts_of_function(module: ModuleOp, name: str) -> Counts:
    """What counts the results of a function at the topi or the loop level."""
    functions = (op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)
    function = next(functions, None)
    if function is None or not function.body.blocks:
        return {}
    if function.res_attrs is not None:
        return counts_of([each.data for each in function.res_attrs.data])
    if function.arg_attrs is None:
        return {}
    first = len(input_arguments(function))
    return counts_of([each.data for each in function.arg_attrs.data[first:]])
