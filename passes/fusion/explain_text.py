"""Writes the explanation of fusion: as text, as JSON, or as a Graphviz graph with a cluster for each kernel."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from xrelay.errors import did_you_mean
from xrelay.passes.fusion.explain import (
    ChangeKind,
    ExplainedBlock,
    ExplainedGroup,
    ExplainedOp,
    FusionChange,
    blocking_anchor,
    change_for,
)
from xrelay.passes.fusion.forward_graph import Edge
from xrelay.passes.fusion.partition import FusionDecision

MAX_USERS = 4
"""The number of users of an op that the text names at most."""


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
        yield f"  composite of: {', '.join(op.composite.parts)}; expanded {op.composite.expansion}"
    yield f"  kernel: {_kernel(block, op.node)}"
    yield f"  post-dominator: {_post_dominator(block, decision)}"
    yield (
        f"  decision: {'fused' if decision.fused else 'not fused'} into it"
        if decision.post_dominator is not None
        else ("  decision: it is the last op of its kernel")
    )
    yield f"  rule: {decision.rule.value}"
    blocker = blocked_by(block, decision)
    if blocker is not None:
        yield f"  blocked by: {blocker}"
    change = suggest_change(block, decision)
    if change is not None:
        yield f"  to change it: {change}"
    hint = hint_effect(block, op)
    if hint is not None:
        yield f"  hint: {hint}"


def _kernel(block: ExplainedBlock, node: int) -> str:
    group = block.group_of.get(node)
    if group is None:
        return "none: it computes no elements"
    others = [block.name(member) for member in group.nodes if member != node and member in block.ops]
    return f"{group.name}, " + (f"with {', '.join(others)}" if others else "alone")


def _post_dominator(block: ExplainedBlock, decision: FusionDecision) -> str:
    """The post-dominator of the node and the greatest pattern on the paths to it, as text."""
    if decision.post_dominator is None:
        return "none; " + (
            "its value is used outside (returned, yielded, let-bound, or a condition)"
            if block.graph.extern[decision.node]
            else "it is unused, or its users have no common post-dominator"
        )
    pattern = block.partition.tree.patterns[decision.node].relay_name
    return f"{block.name(decision.post_dominator)}, worst pattern on the paths: {pattern}"


def blocked_by(block: ExplainedBlock, decision: FusionDecision) -> str | None:
    """The node, edge or limit that blocked fusion, as text; `None` if nothing did."""
    if decision.fused or decision.post_dominator is None:
        return None
    if isinstance(decision.blocker, Edge):
        producer, consumer, pattern = decision.blocker
        return f"the edge from {block.name(producer)} into {block.name(consumer)}, which is {pattern.relay_name}"
    anchor = blocking_anchor(block.partition, decision)
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
        return f" ({own.relay_name}), in the group of {block.name(anchor)}"
    if block.partition.patterns[root] != own:
        return f" ({own.relay_name}), in a kernel of pattern {block.partition.patterns[root].relay_name}"
    return f", which is {own.relay_name}"


def suggest_change(block: ExplainedBlock, decision: FusionDecision) -> str | None:
    """The change that would let the node be fused; `None` if it is fused already or can never be."""
    change = change_for(block.partition, decision)
    if change is None:
        return None
    itself, sink = change.kind is ChangeKind.FREE and change.node == decision.node, decision.post_dominator
    return change.kind.value.format(
        node="it" if itself else block.name(change.node),
        other="" if change.other is None else block.name(change.other),
        amount=change.amount,
        users=_users(block, change.node),
        sink="" if sink is None else block.name(sink),
        operator="" if sink is None else block.graph.names[sink],
    )


def _users(block: ExplainedBlock, node: int) -> str:
    """The names of the consumers of `node`, at most `MAX_USERS`."""
    users = list(dict.fromkeys(edge.consumer for edge in block.graph.outputs[node]))
    names = [block.name(user) for user in users[:MAX_USERS]]
    return ", ".join(names) + (f" and {len(users) - MAX_USERS} more" if len(users) > MAX_USERS else "")


def hint_effect(block: ExplainedBlock, op: ExplainedOp) -> str | None:
    """The effect of the op's `relay.fuse_with`; `None` if the op has no such attribute."""
    if op.hint is None:
        return None
    wanted = block.graph.hints.get(op.node, frozenset())
    decision = block.decision(op.node)
    target = decision.post_dominator
    if target is not None and target in wanted:
        return f'"{op.hint}": visited first, ' + ("and fused" if decision.fused else "but the fusion is not legal")
    if len(wanted) == 1:
        return f'"{op.hint}" is {block.name(next(iter(wanted)))}, not the post-dominator; without effect'
    if wanted:
        return f'"{op.hint}" is the name of {len(wanted)} ops, but not of the post-dominator; no effect'
    names = sorted(block.ops[target].names) if target in block.ops else []
    close = did_you_mean(op.hint, names, "")
    return f'"{op.hint}" names no op of this function; without effect' + (f", {close}" if close else "")


Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"

FORMAT_VERSION = 1


def to_json(blocks: Iterable[ExplainedBlock], chosen: Sequence[ExplainedOp] | None = None) -> str:
    """The blocks with their kernels and ops, as JSON; `chosen` restricts the ops."""
    document: Json = {"version": FORMAT_VERSION, "blocks": [_block(block, chosen) for block in blocks]}
    return json.dumps(document, indent=2)


def _block(block: ExplainedBlock, chosen: Sequence[ExplainedOp] | None) -> Json:
    ops = block.ops.values()
    shown = ops if chosen is None else [op for op in ops if any(op is one for one in chosen)]
    return {
        "function": block.function,
        "kernels": [_group(block, group) for group in block.groups],
        "ops": [_op(block, op) for op in shown],
    }


def _group(block: ExplainedBlock, group: ExplainedGroup) -> Json:
    return {
        "name": group.name,
        "anchor": group.anchor,
        "pattern": group.pattern,
        "nodes": [node for node in group.nodes if node in block.ops],
        "locations": list(group.locations),
    }


def _op(block: ExplainedBlock, op: ExplainedOp) -> Json:
    group = block.group_of.get(op.node)
    return {
        "node": op.node,
        "op": op.operator,
        "value": op.value,
        "locations": list(op.locations),
        "pattern": block.graph.patterns[op.node].relay_name,
        "composite": None
        if op.composite is None
        else {"parts": list(op.composite.parts), "expands": op.composite.expansion},
        "kernel": None if group is None else group.name,
        "decision": _decision(block, block.decision(op.node)),
        "hint": hint_effect(block, op),
    }


def _decision(block: ExplainedBlock, decision: FusionDecision) -> Json:
    blocker = decision.blocker
    edge = isinstance(blocker, Edge)
    return {
        "post_dominator": decision.post_dominator,
        "fused": decision.fused,
        "rule": decision.rule.name.lower(),
        "rule_text": decision.rule.value,
        "blocked_by": blocked_by(block, decision),
        "blocking_node": None if edge else blocker,
        "blocking_edge": {"from": blocker.producer, "to": blocker.consumer, "pattern": blocker.pattern.relay_name}
        if isinstance(blocker, Edge)
        else None,
        "found": decision.found,
        "limit": decision.limit,
        "advice": suggest_change(block, decision),
        "change": _change(change_for(block.partition, decision)),
    }


def _change(change: FusionChange | None) -> Json:
    if change is None:
        return None
    return {"kind": change.kind.name.lower(), "node": change.node, "other": change.other, "amount": change.amount}


def dot_lines(blocks: Iterable[ExplainedBlock]) -> Iterator[str]:
    """Yields a digraph: clusters for kernels, edges with patterns, dashed edges to post-dominators without fusion."""
    yield "digraph fusion {"
    yield '  node [shape=box, fontname="monospace"];'
    for number, block in enumerate(blocks):
        prefix = f"b{number}_"
        for index, group in enumerate(block.groups):
            yield f"  subgraph cluster_{number}_{index} {{"
            yield f"    label={_quoted(group.name)};"
            for node in group.nodes:
                if node in block.ops:
                    yield f"    {prefix}{node} [label={_quoted(block.ops[node].label)}];"
            yield "  }"
        inside = {node for group in block.groups for node in group.nodes}
        for node, op in block.ops.items():
            if node not in inside:
                yield f"  {prefix}{node} [label={_quoted(op.label)}, style=rounded];"
        yield from (f"  {line}" for line in _edges(block, prefix))
    yield "}"


def _edges(block: ExplainedBlock, prefix: str) -> Iterator[str]:
    for node in block.ops:
        for edge in block.graph.outputs[node]:
            yield f"{prefix}{node} -> {prefix}{edge.consumer} [label={_quoted(edge.pattern.relay_name)}];"
        decision = block.decision(node)
        if decision.post_dominator is not None and not decision.fused:
            ends = f"{prefix}{node} -> {prefix}{decision.post_dominator}"
            yield f"{ends} [style=dashed, constraint=false, label={_quoted(decision.rule.name.lower())}];"


def _quoted(text: str) -> str:
    """`text` as a quoted string of the DOT language, whose escapes equal JSON's for the characters of names."""
    return json.dumps(text, ensure_ascii=False)
