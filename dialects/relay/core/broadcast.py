"""Broadcasting of shapes over Dims, and of layouts."""

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
    """The common extent of two broadcast dimensions; `None` where for no sizes there is one.

    Of two dimensions that need not be equal it is `broadcast(n, m)`, which is right only where they do broadcast: what
    must hold for that says `broadcast_requirements`. Any against an integer other than 1 is that integer, against
    anything else it stays Any.
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
    """Whether the two differ and neither is 1, whatever the sizes: `n` and `n + 1` are 1 and 2 for some."""
    return ShapeEnvironment().prove(Broadcasts(lhs, rhs)) is Verdict.REFUTED


def broadcast_shapes(lhs: Sequence[Dim], rhs: Sequence[Dim]) -> Shape | None:
    """The shape two shapes broadcast to, from the last dimension on; `None` where for no sizes they do."""
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
    """What must hold at run time for two shapes to broadcast: the pairs that are not decided, from the first on.

    Of Any nothing can be required.
    """
    found: list[Broadcasts] = []
    for left, right in zip_longest(reversed(lhs), reversed(rhs), fillvalue=1):
        decided = left == right or 1 in (left, right) or (isinstance(left, int) and isinstance(right, int))
        if not decided and not isinstance(left, AnyDim) and not isinstance(right, AnyDim):
            found.append(Broadcasts(left, right, constraint=constraint, about=about))
    return found[::-1]


def broadcast_layouts(layouts: Sequence[Layout | None], shapes: Sequence[Shape]) -> LayoutDecision | LayoutRefusal:
    """The layouts of a broadcasting op whose operands have `shapes` (in the layouts the text says now).

    All follow the largest operand that has a layout. An operand of one element fits every layout as it is; the others
    must have all axes, and where one has extent 1 along an axis that is split, it is split by 1 for it: NCHW1c goes
    with NCHW16c. An axis that the text splits is one axis: operands that differ along one part of it are refused.
    """
    return _broadcast_layouts(tuple(layouts), tuple(shapes))


@lru_cache(maxsize=4096)
def _broadcast_layouts(layouts: tuple[Layout | None, ...], shapes: tuple[Shape, ...]) -> LayoutDecision | LayoutRefusal:
    """What `broadcast_layouts` answers; most elementwise ops of a network ask the same."""
    rank = max(len(shape) for shape in shapes)
    stays = [layout is None and has_one_element(shape) for layout, shape in zip(layouts, shapes, strict=True)]
    low = next((len(shape) for shape, same in zip(shapes, stays, strict=True) if not same and len(shape) < rank), None)
    if low is not None:
        return LayoutRefusal(f"an operand of rank {low} is broadcast to rank {rank}")
    target = _largest(layouts, shapes)
    if target is None:
        return LayoutRefusal("no operand comes in a layout of its own")
    if rank != len(target.primal):
        return LayoutRefusal(f"an operand of rank {rank} cannot take layout {target}")
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
    """Whether every extent of `shape` is 1."""
    return all(extent == 1 for extent in shape)


def _largest(layouts: Sequence[Layout | None], shapes: Sequence[Shape]) -> Layout | None:
    """The layout of the operand with the most elements among those that have one."""
    found = [(layout, shape) for layout, shape in zip(layouts, shapes, strict=True) if layout is not None]
    if not found:
        return None
    # An operand of extent 1 along the channels says nothing about blocks of channels, however large it is.
    return max(found, key=lambda pair: (-len(_split_by_one(pair[0])), element_count(pair[1])))[0]


def _split_by_one(layout: Layout) -> list[str]:
    return [axis.letter for axis in layout.axes if axis.factor == 1]


def _units(layout: Layout, shape: Shape) -> list[str]:
    """The letters of the axes along which `shape`, of a value in the text, has extent 1: all parts of them."""
    return [letter for letter in layout.primal if letter.isupper() and has_one_element(_parts(layout, letter, shape))]


def _parts(layout: Layout, letter: str, shape: Shape) -> Shape:
    """The extents that `shape`, of a value in the text, has along `letter`: two where the text splits the axis."""
    return tuple(extent for axis, extent in zip(layout.text.axes, shape, strict=True) if axis.letter == letter)


def _kinds(layout: Layout, letter: str, shapes: Sequence[Shape]) -> set[Shape]:
    """The different extents along `letter`, those of one element aside."""
    found = {_parts(layout, letter, shape) for shape in shapes}
    return {parts for parts in found if not has_one_element(parts)}


def element_count(shape: Shape) -> int:
    """How many elements a tensor of `shape` has; extents that are not known count as 1."""
    return prod(extent for extent in shape if isinstance(extent, int))
