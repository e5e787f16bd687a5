"""`test-print-post-dominators`: writes the results of the fusion analyses into the IR as attributes.

Every op of every block gets the attributes

- `fusion.node`: its number in post-DFS order;
- `fusion.post_dominator`: the number of its immediate post-dominator, absent if it has none;
- `fusion.pattern`: the greatest pattern on the paths to it, by Relay's name;
- `fusion.group`: the number of its group, counted in the order of first nodes;
- `fusion.decision`: the reason why it was or was not fused into its post-dominator's group.

Attributes let tests check the results line by line next to the ops. No other pass reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block

from xrelay.passes.fusion.op_patterns import forward_graph
from xrelay.passes.fusion.partition import FusionOptions, partition
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass


@dataclass(frozen=True)
class TestPrintPostDominatorsPass(XRelayPass):
    """Writes the fusion analyses into the IR as attributes; see the module's docstring."""

    name = "test-print-post-dominators"
    numerics = EXACT

    max_depth: int = field(default=256, metadata={"help": "how many nodes a group may have"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Annotates every function, with the branches and closures in it."""
        options = FusionOptions(max_depth=self.max_depth)
        for function in op.walk():
            if isinstance(function, FuncOp):
                for block in function.body.blocks:
                    annotate(block, options)


def annotate(body: Block, options: FusionOptions) -> None:
    """Adds the results of the analyses of a function's `body` as attributes to its ops."""
    nodes = forward_graph(body)
    found = partition(nodes.graph, options)
    numbers = found.group_numbers()
    for node, decision in enumerate(found.decisions):
        op = nodes.ops[node]
        if op is None:
            continue
        parent = found.tree.parents[node]
        attributes: dict[str, Attribute] = {"fusion.node": IntegerAttr(node, i64)}
        if parent is not None:
            attributes["fusion.post_dominator"] = IntegerAttr(parent, i64)
            attributes["fusion.pattern"] = StringAttr(found.tree.patterns[node].relay_name)
        attributes["fusion.group"] = IntegerAttr(numbers[node], i64)
        attributes["fusion.decision"] = StringAttr(decision.explain(nodes.graph))
        op.attributes.update(attributes)
