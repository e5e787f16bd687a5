"""Broadcasting of shapes over Dims, and what it means for layouts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from xrelay.dialects.relay.dims import ANY, AnyDim, Dim, Shape, certainly_differ
from xrelay.dialects.relay.layout_behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layouts import Layout


def broadcast_dims(lhs: Dim, rhs: Dim) -> Dim | None:
    """The common extent of two broadcast dimensions; `None` where there is none.

    Two different named dimensions must be equal at run time, so the first stands for both; Any against 1 stays Any.
    """
    if lhs == 1:
        return rhs
    if rhs == 1 or lhs == rhs:
        return lhs
    if isinstance(lhs, AnyDim) or isinstance(rhs, AnyDim):
        known = rhs if isinstance(lhs, AnyDim) else lhs
        return known if isinstance(known, int) else ANY
    if certainly_differ(lhs, rhs):
        return None
    return rhs if isinstance(rhs, int) else lhs


def broadcast_shapes(lhs: Sequence[Dim], rhs: Sequence[Dim]) -> Shape | None:
    """The shape two shapes broadcast to, from the last dimension on; `None` where they do not."""
    result: list[Dim] = []
    for left, right in zip_longest(reversed(lhs), reversed(rhs), fillvalue=1):
        dim = broadcast_dims(left, right)
        if dim is None:
            return None
        result.append(dim)
    return tuple(reversed(result))


def broadcast_layouts(layouts: Sequence[Layout | None], shapes: Sequence[Shape]) -> LayoutDecision | LayoutRefusal:
    """The layouts of a broadcasting op whose operands have `shapes` (in the layouts the text says now).

    An operand of rank 0 fits every layout; otherwise all ranks must be equal, so that each can be transformed to the
    layout of the first operand that has one, and axes of extent 1 must stay whole.
    """
    target = next((layout for layout in layouts if layout is not None), None)
    if target is None:
        return LayoutRefusal("no operand comes in a layout of its own")
    rank = max(len(shape) for shape in shapes)
    wanted: list[Layout | None] = []
    for layout, shape in zip(layouts, shapes, strict=True):
        if not shape:
            wanted.append(None)
        elif layout is None and len(shape) != rank:
            return LayoutRefusal(f"an operand of rank {len(shape)} is broadcast to rank {rank}")
        elif layout is None and len(shape) != len(target.primal):
            return LayoutRefusal(f"an operand of rank {len(shape)} cannot take layout {target}")
        elif layout is None and _splits_unit_axis(target, shape, shapes):
            return LayoutRefusal(f"layout {target} splits an axis along which an operand is broadcast")
        else:
            wanted.append(target)
    return LayoutDecision(tuple(wanted), target)


def _splits_unit_axis(target: Layout, shape: Shape, shapes: Sequence[Shape]) -> bool:
    """Whether `shape` has extent 1 along an axis that `target` splits while another operand has more."""
    others = [other for other in shapes if len(other) == len(target.primal)]
    return any(
        extent == 1 and target.factor(letter) is not None and any(other[axis] != 1 for other in others)
        for axis, (letter, extent) in enumerate(zip(target.primal, shape, strict=True))
    )
