"""Hand-written forward graphs: the fixture `g` has one method per op pattern."""

import pytest

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.passes.fusion.forward_graph import ForwardGraph, Use

ELEM_WISE, BROADCAST, INJECTIVE, COMM_REDUCE, HEAVY, TUPLE, OPAQUE = OpPatternKind


class GraphBuilder:
    """A method per op pattern; each takes node numbers and returns the new node's number."""

    def __init__(self) -> None:
        self.graph = ForwardGraph()

    def node(self, name: str, pattern: OpPatternKind, operands: tuple[int, ...], edge: OpPatternKind | None) -> int:
        own = sum(self.graph.is_variable[operand] for operand in operands)
        return self.graph.add(name, pattern, [Use(operand, edge) for operand in operands], own_arguments=own)

    def var(self, name: str = "x") -> int:
        node = self.graph.add(name, OPAQUE, is_variable=True, own_arguments=1)
        self.graph.extern[node] = True
        return node

    def weight(self) -> int:
        return self.node("weight", OPAQUE, (), None)

    def scalar(self) -> int:
        return self.node("scalar", ELEM_WISE, (), None)

    def elemwise(self, *operands: int, name: str = "relu") -> int:
        return self.node(name, ELEM_WISE, operands, ELEM_WISE)

    def add(self, lhs: int, rhs: int, *, grows: bool = False, name: str = "add") -> int:
        """A broadcasting op; the edge from the first operand is elementwise unless the result is larger."""
        uses = [Use(lhs, BROADCAST if grows else ELEM_WISE), Use(rhs, BROADCAST)]
        own = sum(self.graph.is_variable[operand] for operand in (lhs, rhs))
        return self.graph.add(name, BROADCAST, uses, own_arguments=own)

    def sum_of(self, lhs: int, rhs: int) -> int:
        """An addition of equal shapes: both edges are elementwise."""
        return self.node("add", BROADCAST, (lhs, rhs), ELEM_WISE)

    def conv(self, data: int, weight: int | None = None) -> int:
        weight = self.weight() if weight is None else weight
        return self.node("conv", HEAVY, (data, weight), HEAVY)

    def heavy(self, data: int, name: str) -> int:
        return self.node(name, HEAVY, (data,), HEAVY)

    def injective(self, *operands: int, name: str = "reshape") -> int:
        return self.node(name, INJECTIVE, operands, INJECTIVE)

    def reduce(self, data: int) -> int:
        return self.node("sum", COMM_REDUCE, (data,), COMM_REDUCE)

    def tuple(self, *fields: int) -> int:
        return self.node("tuple", TUPLE, fields, INJECTIVE)

    def concat(self, *fields: int) -> int:
        return self.injective(self.tuple(*fields), name="concatenate")

    def opaque(self, *operands: int) -> int:
        return self.node("sort", OPAQUE, operands, OPAQUE)

    def extern_user(self, *operands: int) -> int:
        return self.node("let", OPAQUE, operands, None)

    def returns(self, *nodes: int) -> ForwardGraph:
        for node in nodes:
            self.graph.extern[node] = True
        return self.graph


@pytest.fixture
def g() -> GraphBuilder:
    return GraphBuilder()
