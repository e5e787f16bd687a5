"""Writes the explanation of fusion as text: the list of kernels, and the decisions about one op."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xrelay.errors import did_you_mean
from xrelay.passes.fusion.explain import ExplainedBlock, ExplainedGroup, ExplainedOp
from xrelay.passes.fusion.forward_graph import Edge
from xrelay.passes.fusion.fusion_counterfactual import ChangeKind, FusionChange, change_for, heavy_in_own_kernel
from xrelay.passes.fusion.fusion_reason import FusionDecision

MOST_USERS = 4
"""The largest number of users of an op that the text names."""


def group_lines(blocks: Iterable[ExplainedBlock]) -> Iterator[str]:
    """Yields a line for every block, its kernels and their ops, then the ops outside of kernels."""
    for block in blocks:
        work = sum(node in block.ops for group in block.groups for node in group.nodes)
        yield f"@{block.function}: {_count(work, 'op')} in {_count(len(block.groups), 'kernel')}"
        for group in block.groups:
            yield f"  {group.name}{_kind(group)}"
            for node in group.nodes:
                if node in block.ops:
                    yield f"    {_with_expansion(block.ops[node])}"
        if block.alone:
            yield "  in no kernel"
            yield from (f"    {_with_locations(block.ops[node])}" for node in block.alone)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _kind(group: ExplainedGroup) -> str:
    parts = [part for part in (group.anchor and f"anchor {group.anchor}", group.pattern) if part]
    return f" ({', '.join(parts)})" if parts else ""


def _with_locations(op: ExplainedOp) -> str:
    return f"{op.label} [{', '.join(op.locations)}]" if op.locations else op.label


def _with_expansion(op: ExplainedOp) -> str:
    """The op as a line in the list of kernels; a composite with the ops that it expands to."""
    parts = f" = {', '.join(op.composite.parts)}" if op.composite is not None else ""
    return f"{_with_locations(op)}{parts}"


def story_lines(block: ExplainedBlock, op: ExplainedOp) -> Iterator[str]:
    """Yields the explanation of `op`: its kernel, its post-dominator, the rule, the blocker, and a remedy."""
    decision = block.decision(op.node)
    yield f"{_with_locations(op)}, node #{op.node} of @{block.function}"
    yield f"  pattern: {block.graph.patterns[op.node].relay_name}"
    if op.composite is not None:
        yield f"  composite of: {', '.join(op.composite.parts)}; it becomes them {op.composite.expansion}"
    yield f"  kernel: {_kernel(block, op.node)}"
    yield f"  post-dominator: {_post_dominator(block, decision)}"
    yield (
        f"  decision: {'fused' if decision.fused else 'not fused'} into it"
        if decision.post_dominator is not None
        else ("  decision: it is the last of its kernel")
    )
    yield f"  rule: {decision.rule.value}"
    blocker = blocked_by(block, decision)
    if blocker is not None:
        yield f"  blocked by: {blocker}"
    change = what_would_help(block, decision)
    if change is not None:
        yield f"  to change it: {change}"
    hint = hint_effect(block, op)
    if hint is not None:
        yield f"  hint: {hint}"


def _kernel(block: ExplainedBlock, node: int) -> str:
    group = block.group_of.get(node)
    if group is None:
        return "none, it is no work by itself"
    others = [block.name(member) for member in group.nodes if member != node and member in block.ops]
    return f"{group.name}, " + (f"with {', '.join(others)}" if others else "alone")


def _post_dominator(block: ExplainedBlock, decision: FusionDecision) -> str:
    """The post-dominator of the node and the greatest pattern on the paths to it, as text."""
    if decision.post_dominator is None:
        return "none; " + (
            "its value is seen outside (returned, yielded, let-bound, or a condition)"
            if block.graph.extern[decision.node]
            else "nothing uses it, or its uses do not meet before the outside"
        )
    pattern = block.partition.tree.patterns[decision.node].relay_name
    return f"{block.name(decision.post_dominator)}, on the way there {pattern}"


def blocked_by(block: ExplainedBlock, decision: FusionDecision) -> str | None:
    """The node, edge or limit that blocked fusion, as text; `None` if nothing did."""
    if decision.fused or decision.post_dominator is None:
        return None
    if isinstance(decision.blocker, Edge):
        producer, consumer, pattern = decision.blocker
        return f"the edge from {block.name(producer)} into {block.name(consumer)}, which is {pattern.relay_name}"
    anchor = heavy_in_own_kernel(block.partition, decision)
    if anchor is not None:
        return "its own pattern" if anchor == decision.node else f"its kernel, that of {block.name(anchor)}"
    if decision.blocker is not None:
        return f"the node {block.name(decision.blocker)}{_why_not_free(block, decision.blocker)}"
    if decision.found is not None:
        return f"the limit: {decision.found} found, {decision.limit} allowed"
    return None


def _why_not_free(block: ExplainedBlock, node: int) -> str:
    """The reason why `node` blocks: its own pattern, or the anchor or pattern of its group."""
    root = block.partition.roots[node]
    anchor = block.partition.anchors[root]
    own = block.graph.patterns[node]
    if anchor is not None and anchor != node:
        return f" ({own.relay_name}), taken by {block.name(anchor)}"
    if block.partition.patterns[root] != own:
        return f" ({own.relay_name}), in a kernel that is {block.partition.patterns[root].relay_name}"
    return f", which is {own.relay_name}"


def what_would_help(block: ExplainedBlock, decision: FusionDecision) -> str | None:
    """The change that would let the node be fused; `None` if it is fused already or can never be."""
    change = change_for(block.partition, decision)
    return None if change is None else _change_text(block, change, decision)


def _change_text(block: ExplainedBlock, change: FusionChange, decision: FusionDecision) -> str:
    name = block.name(change.node)
    other = "" if change.other is None else block.name(change.other)
    match change.kind:
        case ChangeKind.RAISE_LEVEL:
            return "raise the optimisation level to 1 or more"
        case ChangeKind.RAISE_DEPTH:
            return f"raise max-depth to {change.amount} or more; the number is counted as far as the limit"
        case ChangeKind.RAISE_ARGUMENTS:
            return f"raise max-function-args by {change.amount} or more"
        case ChangeKind.KEEP_INSIDE:
            return "its value would have to be seen by ops alone, not outside"
        case ChangeKind.ONE_USER:
            return f"its users ({_users(block, change.node)}) would have to meet, or all but one of them go"
        case ChangeKind.REMOVE:
            return f"remove {name}"
        case ChangeKind.SAME_SHAPE:
            return f"{name} would have to keep the shape of {other}"
        case ChangeKind.SIMPLER:
            return f"{name} would have to be a simpler op, best an elementwise one"
        case ChangeKind.CHOOSE_FIRST:
            sink = decision.post_dominator
            operator = "" if sink is None else block.graph.names[sink]
            taken = "" if sink is None else f"{block.name(sink)} would have to be free of {other}: "
            return f'{taken}relay.fuse_with = "{operator}" on this op lets it choose first'
        case ChangeKind.FREE:
            free = "it" if change.node == decision.node else name
            return (
                f"{free} would have to be free of {other}: relay.annotation.stop_fusion between them keeps them apart"
            )
        case ChangeKind.FUSE_FIRST:
            return f"{name} would have to be fused into an injective op first"


def _users(block: ExplainedBlock, node: int) -> str:
    """The names of the consumers of `node`, at most `MOST_USERS`."""
    users = list(dict.fromkeys(edge.consumer for edge in block.graph.outputs[node]))
    names = [block.name(user) for user in users[:MOST_USERS]]
    return ", ".join(names) + (f" and {len(users) - MOST_USERS} more" if len(users) > MOST_USERS else "")


def hint_effect(block: ExplainedBlock, op: ExplainedOp) -> str | None:
    """The effect of the op's `relay.fuse_with`; `None` if the op has no such attribute."""
    if op.hint is None:
        return None
    wanted = block.graph.hints.get(op.node, frozenset())
    decision = block.decision(op.node)
    target = decision.post_dominator
    if target is not None and target in wanted:
        return f'"{op.hint}": asked first, ' + ("and fused" if decision.fused else "but the fusion is not legal")
    if len(wanted) == 1:
        return f'"{op.hint}" is {block.name(next(iter(wanted)))}, not the post-dominator; without effect'
    if wanted:
        return f'"{op.hint}" is the name of {len(wanted)} ops, none of them the post-dominator; without effect'
    names = sorted(block.ops[target].names) if target in block.ops else []
    close = did_you_mean(op.hint, names, "")
    return f'"{op.hint}" names no op of this function; without effect' + (f", {close}" if close else "")
