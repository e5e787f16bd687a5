"""Matches patterns with values of the IR and operators."""

from __future__ import annotations

from typing import cast

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.operator_value import Op
from xrelay.passes.patterns.graph import NodeGraph
from xrelay.passes.patterns.ir_terms import IrNode, IrTerms
from xrelay.passes.patterns.matcher import Matcher
from xrelay.passes.patterns.nodes import DFPattern, NodeKind, add_node_kind


def matches(pattern: DFPattern, node: object) -> bool:
    """Returns whether `pattern` matches a value or an operator; ignores users outside of the value's graph."""
    found = cast(IrNode, node)
    return Matcher(NodeGraph[IrNode](IrTerms(), [found])).match(pattern, found)


for _kind in (SSAValue, Op):
    add_node_kind(_kind, NodeKind(matches, None))
