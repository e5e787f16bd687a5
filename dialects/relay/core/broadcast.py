"""Broadcasting of shapes with symbolic extents, and of layouts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest
from math import prod

from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.layout.rank_changes import with_unit_axes
from xrelay.index_algebra.dims import ANY, AnyDim, Dim, Shape, broadcast
from xrelay.index_algebra.requirement import Broadcasts
from xrelay.index_algebra.shape_environment import ShapeEnvironment, Verdict


@lru_cache(maxsize=4096)
def broadcast_dims(lhs: Dim, rhs: Dim) -> Dim | None:
    """Returns the common extent of two broadcast dimensions, or None if they do not broadcast for any sizes.

    For two dimensions that may differ it is `broadcast(n, m)`, which is valid only if they do broadcast; this is
    required by `broadcast_requirements`. Any with an integer other than 1 is that integer, with anything else Any.
    """
    if lhs == 1:
        return rhs
    if rhs == 1 or lhs == rhs:
        return lhs
    if isinstance(lhs, AnyDim) or isinstance(rhs, AnyDim):
        known = rhs if isinstance(lhs, AnyDim) else lhs
        return known if isinstance(known, int) else ANY
    return None if _certainly_do_not_broadcast(lhs, rhs) else broadcast(lhs, rhs)


def _certainly_do_not_broadcast(lhs: Dim, rhs: Dim) -> bool:
    """Returns whether the two differ and neither is 1 for all sizes; `n` and `n + 1` may be 1 and 2."""
    return ShapeEnvironment().prove(Broadcasts(lhs, rhs)) is Verdict.REFUTED


def broadcast_shapes(lhs: Sequence[Dim], rhs: Sequence[Dim]) -> Shape | None:
    """Returns the shape to which two shapes broadcast, or None if they do not broadcast for any sizes."""
    result: list[Dim] = []
    for left, right in zip_longest(reversed(lhs), reversed(rhs), fillvalue=1):
        dim = broadcast_dims(left, right)
        if dim is None:
            return None
        result.append(dim)
    return tuple(reversed(result))


def broadcast_requirements(
    lhs: Sequence[Dim], rhs: Sequence[Dim], constraint: str = "", about: str = ""
) -> list[Broadcasts]:
    """Returns the undecided requirements for two shapes to broadcast, in order of axes.

    Any has no requirements.
    """
    found: list[Broadcasts] = []
    for left, right in zip_longest(reversed(lhs), reversed(rhs), fillvalue=1):
        decided = left == right or 1 in (left, right) or (isinstance(left, int) and isinstance(right, int))
        if not decided and not isinstance(left, AnyDim) and not isinstance(right, AnyDim):
            found.append(Broadcasts(left, right, constraint=constraint, about=about))
    return found[::-1]


def broadcast_layouts(layouts: Sequence[Layout | None], shapes: Sequence[Shape]) -> LayoutDecision | LayoutRefusal:
    """Decides the layouts of a broadcasting op whose operands have `shapes` in their original layouts.

    All operands follow the largest operand with a layout. An operand with one element fits every layout. The others
    must have all axes; if one has extent 1 along a split axis, its split has the factor 1: NCHW1c matches NCHW16c. An
    axis that the original layout splits is one axis: operands that differ along one part of it are refused.
    """
    return _broadcast_layouts(tuple(layouts), tuple(shapes))


@lru_cache(maxsize=4096)
def _broadcast_layouts(layouts: tuple[Layout | None, ...], shapes: tuple[Shape, ...]) -> LayoutDecision | LayoutRefusal:
    """The cached implementation of `broadcast_layouts`."""
    rank = max(len(shape) for shape in shapes)
    stays = [layout is None and has_one_element(shape) for layout, shape in zip(layouts, shapes, strict=True)]
    low = next((len(shape) for shape, same in zip(shapes, stays, strict=True) if not same and len(shape) < rank), None)
    if low is not None:
        return LayoutRefusal(f"an operand of rank {low} is broadcast to rank {rank}")
    target = _largest(layouts, shapes)
    if target is None:
        return LayoutRefusal("no operand has another layout")
    if rank != len(target.primal):
        return LayoutRefusal(f"an operand of rank {rank} cannot have layout {target}")
    if all(shape == shapes[0] for shape in shapes):
        return LayoutDecision((target,) * len(shapes), target)
    common: Shape = ()
    for shape in shapes:
        wider = broadcast_shapes(common, shape)
        if wider is None:
            return LayoutRefusal("the operands do not broadcast")
        common = wider
    followers = [shape for shape, same in zip(shapes, stays, strict=True) if not same]
    for letter in target.primal:
        kinds = _kinds(target, letter, followers)
        if target.text.factor(letter) is not None and len(kinds) > 1:
            return LayoutRefusal(f"an operand is broadcast along a part of the axis {letter}")
        if target.factor(letter) is not None and len(kinds) > 1:
            return LayoutRefusal(f"extents of the split axis {letter} may differ")
    wanted = tuple(
        None if same else with_unit_axes(target, _units(target, shape))
        for shape, same in zip(shapes, stays, strict=True)
    )
    return LayoutDecision(wanted, with_unit_axes(target, _units(target, common)))


def has_one_element(shape: Shape) -> bool:
    """Returns whether each extent of `shape` is 1."""
    return all(extent == 1 for extent in shape)


def _largest(layouts: Sequence[Layout | None], shapes: Sequence[Shape]) -> Layout | None:
    """Returns the layout of the largest operand that has one."""
    found = [(layout, shape) for layout, shape in zip(layouts, shapes, strict=True) if layout is not None]
    if not found:
        return None
    # An operand of extent 1 along the channels does not determine channel blocks, even if it is large.
    return max(found, key=lambda pair: (-len(_split_by_one(pair[0])), element_count(pair[1])))[0]


def _split_by_one(layout: Layout) -> list[str]:
    return [axis.letter for axis in layout.axes if axis.factor == 1]


def _units(layout: Layout, shape: Shape) -> list[str]:
    """Returns the letters of the axes along which a value of original `shape` has extent 1, in all parts."""
    return [letter for letter in layout.primal if letter.isupper() and has_one_element(_extents(layout, letter, shape))]


def _extents(layout: Layout, letter: str, shape: Shape) -> Shape:
    """Returns the extents of a value of original `shape` along `letter`: two if the original layout splits the axis."""
    return tuple(extent for axis, extent in zip(layout.text.axes, shape, strict=True) if axis.letter == letter)


def _kinds(layout: Layout, letter: str, shapes: Sequence[Shape]) -> set[Shape]:
    """Returns the distinct extents along `letter` other than 1."""
    found = {_extents(layout, letter, shape) for shape in shapes}
    return {parts for parts in found if not has_one_element(parts)}


def element_count(shape: Shape) -> int:
    """Returns the number of elements of a tensor of `shape`. Dynamic extents count as 1."""
    return prod(extent for extent in shape if isinstance(extent, int))
