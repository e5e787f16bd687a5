"""Writes the explanation of fusion as JSON with every decision, or as a Graphviz graph with a cluster per kernel."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from xrelay.passes.fusion.explain import ExplainedBlock, ExplainedGroup, ExplainedOp
from xrelay.passes.fusion.explain_story import blocked_by, hint_effect, what_would_help
from xrelay.passes.fusion.forward_graph import Edge
from xrelay.passes.fusion.fusion_counterfactual import FusionChange, change_for
from xrelay.passes.fusion.fusion_reason import FusionDecision

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
        "asks": decision.rule.value,
        "blocked_by": blocked_by(block, decision),
        "blocking_node": None if edge else blocker,
        "blocking_edge": {"from": blocker.producer, "to": blocker.consumer, "pattern": blocker.pattern.relay_name}
        if isinstance(blocker, Edge)
        else None,
        "found": decision.found,
        "limit": decision.limit,
        "to_change_it": what_would_help(block, decision),
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
