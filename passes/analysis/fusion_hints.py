"""`relay.fuse_with`: a wish, on an op, for the consumer into whose kernel it should go.

    %l = relay.nn.conv2d(%x, %v)
    %r = relay.nn.conv2d(%x, %w) {relay.fuse_with = "add"}
    %y = relay.add(%l, %r)                                  goes with %r now, not with %l

What the hint can do: within each phase of the partition, hinted ops are asked before all others, in post-DFS order. So
where several producers may take a consumer and the order of the operands would give it to another, the hinted one gets
it. What it cannot do: change a rule, a phase or a limit. It is without effect where the fusion is not legal, and where
the name is not that of the op's post-dominator, since fusion is decided between these two alone; `explain` says so.
Like every discardable attribute it may be dropped, which changes kernels and never a result.

The name is the consumer's operator (`add`, `nn.relu`), the name of its result (`%y` or `y`), or its source location.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.locations import format_location

if TYPE_CHECKING:
    from xrelay.passes.analysis.op_patterns import FunctionGraph

FUSE_WITH = "relay.fuse_with"


def resolve_hints(nodes: FunctionGraph) -> None:
    """Enter the hints of the block's ops into its graph."""
    for op, node in nodes.numbers.items():
        hint = op.attributes.get(FUSE_WITH) if isinstance(op, Operation) else None
        if isinstance(hint, StringAttr):
            nodes.graph.hints[node] = _nearest_behind(nodes, node, hint.data)


def _nearest_behind(nodes: FunctionGraph, node: int, name: str) -> int | None:
    """The nearest consumer, direct or not, that is called `name`."""
    seen, level = {node}, [node]
    while level:
        reached: list[int] = []
        for current in level:
            for edge in nodes.graph.outputs[current]:
                if edge.consumer not in seen:
                    seen.add(edge.consumer)
                    reached.append(edge.consumer)
        found = [consumer for consumer in reached if name in names_of(nodes.refs[consumer])]
        if found:
            return min(found)
        level = reached
    return None


def names_of(ref: Operation | SSAValue) -> Mapping[str, str]:
    """What an op or a value can be called, and what kind of name each is; for a user who points at it."""
    names: dict[str, str] = {}
    if isinstance(ref, Operation):
        names[ref.name] = names[ref.name.removeprefix("relay.")] = "operator"
        place = format_location(ref.location)
        if place is not None:
            names[place] = "location"
    for value in ref.results if isinstance(ref, Operation) else (ref,):
        if value.name_hint is not None:
            names[value.name_hint] = names[f"%{value.name_hint}"] = "value"
    return names
