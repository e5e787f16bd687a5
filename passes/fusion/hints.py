"""`relay.fuse_with`: an attribute that names the consumer into whose kernel an op should go.

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

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.shared.attribute_names import FUSE_WITH
from xrelay.dialects.shared.locations import format_location
from xrelay.passes.fusion.function_graph import FunctionGraph


def resolve_hints(nodes: FunctionGraph) -> None:
    """Enter the hints of the function's ops into its graph, each as the nodes that have the name; linear."""
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
    """The hint on an op; an attribute of the name that is no string is none."""
    hint = op.attributes.get(FUSE_WITH)
    return hint if isinstance(hint, StringAttr) else None


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
