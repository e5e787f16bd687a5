"""`relay.fuse_with`: an attribute that names the consumer into whose kernel an op should go.

    %l = relay.nn.conv2d(%x, %v)
    %r = relay.nn.conv2d(%x, %w) {relay.fuse_with = "add"}
    %y = relay.add(%l, %r)                                  fused with %r, not with %l

Within each phase of the partition, hinted ops are visited before all others, in post-DFS order. If several producers
may fuse into one consumer and the operand order would choose another of them, the hinted producer is chosen. A hint
changes no rule, phase or limit. It has no effect if the fusion is not legal, or if it names another op than the op's
post-dominator, because fusion is decided between these two alone; `explain` reports this. Like every discardable
attribute it may be dropped, which changes kernels but never results.

The name is the consumer's operator (`add`, `nn.relu`), the name of its result (`%y` or `y`), or its source location.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.shared.attribute_names import FUSE_WITH
from xrelay.dialects.shared.locations import format_location
from xrelay.passes.fusion.function_graph import FunctionGraph


def resolve_hints(nodes: FunctionGraph) -> None:
    """Adds the hints of the function's ops to its graph, each as the set of nodes with that name; linear time."""
    asking = ((node, op) for node, op in enumerate(nodes.ops) if op is not None and FUSE_WITH in op.attributes)
    hints = {node: hint.data for node, op in asking if (hint := hint_of(op)) is not None}
    if not hints:
        return
    called: dict[str, set[int]] = {name: set() for name in hints.values()}
    for node, ref in enumerate(nodes.refs):
        for name in names_of(ref):
            if name in called:
                called[name].add(node)
    nodes.graph.hints.update((node, called[name]) for node, name in hints.items())


def hint_of(op: Operation) -> StringAttr | None:
    """The hint on an op; `None` if it has none or the attribute is not a string."""
    hint = op.attributes.get(FUSE_WITH)
    return hint if isinstance(hint, StringAttr) else None


def names_of(ref: Operation | SSAValue) -> Mapping[str, str]:
    """The names by which a user can refer to an op or a value, each with its kind."""
    names: dict[str, str] = {}
    if isinstance(ref, Operation):
        names[ref.name] = names[ref.name.removeprefix("relay.")] = "operator"
        location = format_location(ref.location)
        if location is not None:
            names[location] = "location"
    for value in ref.results if isinstance(ref, Operation) else (ref,):
        if value.name_hint is not None:
            names[value.name_hint] = names[f"%{value.name_hint}"] = "value"
    return names
