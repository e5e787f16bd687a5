"""Applies the changes that an explanation proposes: each removes its obstacle, and in the end the node fuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.random_graphs import random_graphs

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.passes.fusion.explain import ChangeKind, ExplainedBlock, FusionChange, change_for, explain_fusion
from xrelay.passes.fusion.explain_text import suggest_change
from xrelay.passes.fusion.forward_graph import Edge, ForwardGraph, Use
from xrelay.passes.fusion.partition import FusionOptions, Partition, partition
from xrelay.passes.infra.source import full_context, parse_module

ELEM_WISE, _BROADCAST, _INJECTIVE, COMM_REDUCE, HEAVY, TUPLE, OPAQUE = OpPatternKind
MAX_CHANGES = 60

OPTIONS = st.builds(
    FusionOptions,
    opt_level=st.sampled_from([2, 2, 2, 0]),
    max_depth=st.sampled_from([256, 256, 1, 3, 6]),
    max_function_args=st.sampled_from([0, 0, 2, 4]),
)


@dataclass
class Program:
    """A graph and options, to which changes are applied."""

    graph: ForwardGraph
    options: FusionOptions = field(default_factory=FusionOptions)

    def partition(self) -> Partition:
        return partition(self.graph, self.options)

    def rebuild(self, edge: Callable[[Edge], OpPatternKind | None], *, elementwise: int | None = None) -> None:
        """Sets every edge's pattern to `edge(edge)`, removes edges for None, and makes one node elementwise."""
        old, new = self.graph, ForwardGraph()
        for node, name in enumerate(old.names):
            uses = [
                Use(use.producer, pattern)
                for operand in dict.fromkeys(old.operands[node])
                for use in old.outputs[operand]
                if use.consumer == node and (pattern := edge(use)) is not None
            ]
            pattern = ELEM_WISE if node == elementwise else old.patterns[node]
            new.add(name, pattern, uses, own_arguments=old.own_arguments[node])
            new.extern[node] = old.extern[node]
        new.hints = old.hints
        self.graph = new

    def apply(self, change: FusionChange, found: Partition) -> None:
        """Applies the change."""
        node, other, amount = change.node, change.other, change.amount
        match change.kind:
            case ChangeKind.RAISE_LEVEL:
                self.options = replace(self.options, opt_level=1)
            case ChangeKind.RAISE_DEPTH:
                assert amount is not None
                assert amount > self.options.max_depth
                self.options = replace(self.options, max_depth=amount)
            case ChangeKind.RAISE_ARGUMENTS:
                assert amount is not None
                assert amount > 0
                maximum = self.options.max_function_args + amount
                self.options = replace(self.options, max_function_args=maximum)
            case ChangeKind.KEEP_INSIDE:
                self.graph.extern[node] = False
            case ChangeKind.ONE_USER:
                kept = self.graph.outputs[node][0].consumer
                self.rebuild(lambda e: None if e.producer == node and e.consumer != kept else e.pattern)
                self.see_results()
            case ChangeKind.REMOVE:
                self.remove(node)
            case ChangeKind.SAME_SHAPE:
                self.rebuild(lambda e: ELEM_WISE if (e.producer, e.consumer) == (other, node) else e.pattern)
            case ChangeKind.SIMPLER:
                self.rebuild(lambda e: ELEM_WISE if e.consumer == node else e.pattern, elementwise=node)
            case ChangeKind.CHOOSE_FIRST:
                sink = found.decisions[node].post_dominator
                assert sink is not None
                self.graph.hints[node] = {sink}
            case ChangeKind.FREE:
                assert other is not None
                heavy = self.graph.patterns[other] is HEAVY
                self.rebuild(lambda e: OPAQUE if other == (e.producer if heavy else e.consumer) else e.pattern)
            case ChangeKind.FUSE_FIRST:
                further = change_for(found, found.decisions[node])
                if further is not None:
                    self.apply(further, found)

    def remove(self, stop: int) -> None:
        """Makes the users of `stop` use its operand; keeps `stop` without edges, to preserve node numbers."""
        (operand,) = self.graph.operands[stop]
        moved = [edge._replace(producer=operand) for edge in self.graph.outputs[stop]]
        seen = self.graph.extern[stop]
        self.graph.outputs[operand] = [edge for edge in self.graph.outputs[operand] if edge.consumer != stop] + moved
        self.graph.outputs[stop] = []
        for edge in moved:
            users = self.graph.operands[edge.consumer]
            self.graph.operands[edge.consumer] = tuple(operand if one == stop else one for one in users)
        self.graph.operands[stop] = ()
        self.graph.names[stop] = "gone"
        self.graph.extern[operand] |= seen
        self.graph.extern[stop] = True
        self.rebuild(lambda e: e.pattern)

    def see_results(self) -> None:
        """Makes unused values results."""
        for node in range(len(self.graph)):
            self.graph.extern[node] |= not self.graph.outputs[node]


def has_no_change(graph: ForwardGraph, found: Partition, node: int) -> bool:
    """Whether no change can fuse `node`: opaque, a reduction, a result, or a heavy op in a tuple."""
    if graph.patterns[node] in (OPAQUE, COMM_REDUCE) or not graph.outputs[node]:
        return True
    sink = found.decisions[node].post_dominator
    return graph.patterns[node] is HEAVY and sink is not None and graph.patterns[sink] is TUPLE


def is_stuck(program: Program, found: Partition, node: int) -> bool:
    """Whether the node waits for a tuple that cannot be fused."""
    change = change_for(found, found.decisions[node])
    while change is not None and change.kind is ChangeKind.FUSE_FIRST:
        change = change_for(found, found.decisions[change.node])
    return change is None


@given(random_graphs(), OPTIONS, st.data())
@settings(max_examples=examples(50, more=2), deadline=None)
def test_whoever_follows_the_explanations_ends_with_the_op_fused(
    graph: ForwardGraph, options: FusionOptions, data: st.DataObject
) -> None:
    graph.hints.clear()
    program = Program(graph, options)
    node = data.draw(st.integers(0, len(graph) - 1))
    after = program.partition()
    for _ in range(MAX_CHANGES):
        found = after
        decision = found.decisions[node]
        change = change_for(found, decision)
        if change is None:
            assert decision.fused or has_no_change(program.graph, found, node), decision.explain(program.graph)
            return
        if is_stuck(program, found, node):
            return
        limits = program.options
        program.apply(change, found)
        after = program.partition()
        same = after.decisions[node] == decision and change_for(after, decision) == change
        assert not same or program.options != limits or change.kind is ChangeKind.FUSE_FIRST, change
        if program.graph.names[node] == "gone":
            return
    pytest.fail(f"{MAX_CHANGES} changes and still not fused: {after.decisions[node].explain(program.graph)}")


# --- in a program


def explained(*lines: str, results: str = "%r") -> ExplainedBlock:
    """The program of these lines, without their types, which are all equal."""
    tensor = "tensor<1x8x6x6xf32>"
    count = results.count("%")
    ops = [f"{line} : ({', '.join([tensor] * line.partition('(')[2].count('%'))}) -> {tensor}" for line in lines]
    types = ", ".join([tensor] * count)
    text = "\n".join([f"func.func @main(%x: {tensor}) -> ({types}) {{", *ops, f"func.return {results} : {types}", "}"])
    (block,) = explain_fusion(parse_module(full_context(), text, "changes.mlir"), FusionOptions())
    return block


EXP, STOP, TANH = "%e = relay.exp(%x)", "%s = relay.annotation.stop_fusion(%e)", "%r = relay.tanh(%s)"
SOFTMAX, MOVED = "%h = relay.nn.softmax(%x)", "%e = relay.transpose(%x) {axes = [0, 1, 2, 3]}"


@pytest.mark.parametrize(
    ("before", "advice", "after"),
    [
        (explained(EXP, STOP, TANH), "remove %s annotation.stop_fusion", explained(EXP, "%r = relay.tanh(%e)")),
        (
            explained(EXP, "%r = relay.tanh(%e)", results="%r, %e"),
            "its value must be used by ops only, not returned, yielded, let-bound or a condition",
            explained(EXP, "%r = relay.tanh(%e)"),
        ),
        (
            explained(EXP, "%r = relay.tanh(%e)", "%t = relay.nn.relu(%e)", results="%r, %t"),
            "its users (%r tanh, %t nn.relu) must have a common post-dominator, or only one may remain",
            explained(EXP, "%r = relay.tanh(%e)"),
        ),
        (
            explained(SOFTMAX, MOVED, "%r = relay.add(%h, %e)"),
            "%r add must not be in the group of %h nn.softmax: insert relay.annotation.stop_fusion between them",
            explained(SOFTMAX, MOVED, "%s = relay.annotation.stop_fusion(%h)", "%r = relay.add(%s, %e)"),
        ),
        (
            explained("%t = relay.nn.softmax(%x)", "%e = relay.nn.softmax(%x)", "%r = relay.add(%t, %e)"),
            '%r add must not be in the group of %t nn.softmax: relay.fuse_with = "add" on this op lets it fuse first',
            explained(
                "%t = relay.nn.softmax(%x)",
                '%e = relay.nn.softmax(%x) {relay.fuse_with = "add"}',
                "%r = relay.add(%t, %e)",
            ),
        ),
    ],
    ids=["stop_fusion", "used outside", "other user", "heavy kernel", "hint"],
)
def test_the_program_changed_as_the_story_says_is_fused(
    before: ExplainedBlock, advice: str, after: ExplainedBlock
) -> None:
    (old,), (new,) = before.matching("e"), after.matching("e")
    assert suggest_change(before, before.decision(old.node)) == advice
    assert after.decision(new.node).fused
