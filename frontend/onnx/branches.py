"""`relay.if` with branches converted from ONNX nodes: results of any rank, and branches that fail."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Region, SSAValue, TypeAttribute

from xrelay.dialects.relay.structure.containers import FailOp, OptionalConstructOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import OptionalType, joined_types
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.node import NodeView
from xrelay.index_algebra.dims import ANY

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Branch:
    """A branch of an If: the node as seen from the branch's block, and its results or the problem that prevents them.

    A branch with a problem ends in `relay.fail`.
    """

    name: str
    node: NodeView
    values: Sequence[SSAValue]
    problem: ModelImportError | None = None


def joined_type(types: Sequence[Attribute]) -> Attribute | None:
    """Returns the common type of values of `types`; `None` if they differ in more than extents."""
    return joined_types(types, lambda dims: dims[0] if len(set(dims)) == 1 else ANY)


def emit_if(node: NodeView, condition: SSAValue, branches: Sequence[Branch]) -> list[SSAValue]:
    """Returns the results of a `relay.if` at `node`; one of the two branches may have a problem.

    Raises `ModelImportError` if results of the branches differ in more than extents.
    """
    alive = [branch for branch in branches if branch.problem is None]
    types: list[Attribute] = []
    for given in zip(*(branch.values for branch in alive), strict=True):
        found = [value.type for value in given]
        joined = joined_type(found)
        if joined is None:
            raise node.error(f"the branches return {found[0]} and {found[-1]}: only extents and rank may differ")
        types.append(joined)
    regions = [_region(node, branch, types) for branch in branches]
    type = types[0] if len(types) == 1 else TupleType(tuple(cast(TypeAttribute, each) for each in types))
    op = node.graph.insert(IfOp(condition, type, *regions), node.name)
    return [op.result] if len(types) == 1 else [node.tuple_field(op.result, index) for index in range(len(types))]


def in_optional(node: NodeView, value: SSAValue) -> SSAValue:
    """Returns `value` as an optional, whose type covers tensors of any rank."""
    return value if isinstance(value.type, OptionalType) else node.emit(OptionalConstructOp, value)


def _region(node: NodeView, branch: Branch, types: Sequence[Attribute]) -> Region:
    inner, values = branch.node, branch.values
    if branch.problem is not None:
        _LOG.info("%s: %s fails if it is taken: %s", node.describe(), branch.name, branch.problem)
        values = [inner.emit(FailOp, message=str(branch.problem), of=type) for type in types]
    inner.graph.insert(YieldOp(values[0] if len(values) == 1 else inner.make_tuple(values)), inner.name)
    return Region(inner.graph.block)
