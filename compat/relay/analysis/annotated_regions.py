"""`relay.analysis.AnnotatedRegionSet`: the regions that annotations enclose in an expression.

    regions = relay.analysis.AnnotatedRegionSet(func)
    regions.get_region(call).target, .args, .nodes, .rets

A begin annotation opens a region. An expression joins the region of its operands; operands of several regions merge
these into one. An end annotation closes the region: expressions computed from it are outside. `passes/byoc` has the
same analysis for functions of modules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xrelay.errors import InputError
from xrelay.passes.infra.digraph import DisjointSets
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function
from xrelay.relay.nodes import Call, Op, parts, post_order_visit

BEGIN, END = "annotation.compiler_begin", "annotation.compiler_end"


@dataclass(eq=False)
class AnnotatedRegion:
    """The expressions between connected begin and end annotations, in post-order."""

    target: str
    """The compiler that the begins name."""
    id: int
    """The number of the region, from 0, in the order of the first begins."""
    args: list[Expr] = field(default_factory=list[Expr])
    """The begins."""
    nodes: list[Expr] = field(default_factory=list[Expr])
    """All expressions in the region, including begins and ends."""
    rets: list[Expr] = field(default_factory=list[Expr])
    """The ends."""


class AnnotatedRegionSet:
    """The regions of `expr` between calls of the operators `region_begin_op` and `region_end_op`.

    Raises `InputError` if an end closes no region, or if regions for different compilers meet without a border.
    """

    def __init__(self, expr: Expr, region_begin_op: Op | None = None, region_end_op: Op | None = None):
        self._begin = BEGIN if region_begin_op is None else region_begin_op.name
        self._end = END if region_end_op is None else region_end_op.name
        self._numbers: dict[Expr, int] = {}
        """Expression → the number of a begin of its region."""
        self._joined = DisjointSets[int]()
        """The begins, joined if they are of one region; the root is the first of them."""
        self._targets: list[str] = []
        post_order_visit(expr, self._visit)
        roots = dict.fromkeys(self._joined.root(number) for number in self._numbers.values())
        found = {root: AnnotatedRegion(self._targets[root], id) for id, root in enumerate(sorted(roots))}
        self._regions = list(found.values())
        self._of = {node: found[self._joined.root(number)] for node, number in self._numbers.items()}
        for node, region in self._of.items():
            region.nodes.append(node)
            name = _name(node)
            if name in (self._begin, self._end):
                (region.args if name == self._begin else region.rets).append(node)

    def __len__(self) -> int:
        return len(self._regions)

    def __iter__(self) -> Iterator[AnnotatedRegion]:
        return iter(self._regions)

    def get_region(self, expr: Expr) -> AnnotatedRegion | None:
        """Returns the region that contains `expr`, or None."""
        return self._of.get(expr)

    def _visit(self, node: Expr) -> None:
        """Opens a region at `node`, adds `node` to the open region, or merges several open regions."""
        if isinstance(node, Function):
            return
        name = _name(node)
        if name == self._begin:
            self._numbers[node] = len(self._targets)
            self._targets.append(_target(node))
            return
        inside = (part for part in parts(node) if _name(part) != self._end)
        opened = [self._joined.root(number) for part in inside if (number := self._numbers.get(part)) is not None]
        if name == self._end and not opened:
            raise InputError("this annotation ends no open region", help="begin one with compiler_begin")
        if opened:
            targets = [self._targets[root] for root in opened] + ([_target(node)] if name == self._end else [])
            _require_one(targets)
            first = min(opened)
            for root in opened:
                self._joined.merge(root, first)
            self._numbers[node] = first


def _name(node: Expr) -> str:
    """Returns the operator that `node` calls, or "" for other expressions."""
    return node.op.name if isinstance(node, Call) and isinstance(node.op, Op) else ""


def _target(annotation: Expr) -> str:
    """Returns the compiler that an annotation names, or "" if it names none."""
    attrs = annotation.attrs if isinstance(annotation, Call) else None
    return "" if attrs is None else str(attrs.get("compiler", ""))


def _require_one(targets: list[str]) -> None:
    for target in targets:
        if target != targets[0]:
            raise InputError(
                f"regions for {targets[0]!r} and {target!r} meet", help="end the one with compiler_end, begin the other"
            )
