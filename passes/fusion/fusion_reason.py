"""Records for each node why it was or was not fused into its post-dominator's group."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.passes.fusion.forward_graph import Edge, ForwardGraph


class FusionRule(Enum):
    """The rule that decided about a node; the value states the condition of the rule."""

    LEVEL = "fusion is on at optimisation level 1 and above"
    OPAQUE = "an opaque op is never fused"
    POST_DOMINATOR = "a value seen outside (returned, yielded, bound, a condition) must be computed by a kernel's root"
    DEPTH = "a group has at most max-depth nodes"
    ARGUMENTS = "a kernel has at most max-function-args arguments"
    ANCHOR = "a heavy op takes elementwise and broadcasting ops of its own shape behind it"
    BROADCAST = "an elementwise or broadcasting op joins injective ops, a reduction, or the tail of a heavy op"
    INJECTIVE = "an injective op or a tuple joins injective ops"
    REDUCTION = "a reduction is never fused forward"
    TUPLE = "a field joins a tuple only where the tuple was fused into an injective op and the field is of no heavy op"


class FusionDecision(NamedTuple):
    """The decision about `node`.

    `blocker` is the node whose group does not fit, or the edge whose pattern does not; `found` and `limit` are the
    numbers that the rules about depth and arguments compare.
    """

    node: int
    post_dominator: int | None
    rule: FusionRule
    fused: bool
    blocker: int | Edge | None = None
    found: int | None = None
    limit: int | None = None

    def explain(self, graph: ForwardGraph) -> str:
        """One line: the node, its post-dominator, the decision, the reason, and the condition to change."""
        node = graph.describe(self.node)
        if self.post_dominator is None:
            return f"{node}: not fused; {self.rule.value}"
        target = graph.describe(self.post_dominator)
        if self.fused:
            return f"{node}: fused into the group of {target}; {self.rule.value}"
        change = self.what_would_have_to_change(graph)
        return f"{node}: not fused into {target}; {self.rule.value}" + (f"; {change}" if change else "")

    def what_would_have_to_change(self, graph: ForwardGraph) -> str | None:
        """The condition that blocks fusion, as text; `None` if no change could help."""
        if self.found is not None and self.limit is not None:
            return f"it would have {self.found}, the limit is {self.limit}"
        if isinstance(self.blocker, Edge):
            producer, consumer, pattern = self.blocker
            names = f"{graph.describe(producer)} into {graph.describe(consumer)}"
            return f"the edge from {names} would have to be simpler than {pattern.relay_name}"
        if self.blocker is not None and self.rule is not FusionRule.TUPLE:
            pattern = graph.patterns[self.blocker]
            name = f"{graph.describe(self.blocker)} ({pattern.relay_name})"
            if pattern <= OpPatternKind.INJECTIVE:
                return f"{name} would have to be free: it belongs to another heavy op's or reduction's group"
            return f"{name} would have to be of a simpler pattern"
        return None
