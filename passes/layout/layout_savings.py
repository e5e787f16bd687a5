"""Removes layout transforms: merges successive transforms, and changes the layout of ops between transforms.

Two successive `relay.layout_transform`s become one, or none if the second inverts the first; equal transforms are
merged. Then ops that support any layout (elementwise ops, pools, concatenations, …) move to another layout together if
this moves less data, since the cost of a transform is the data that it moves.

Before:

    %a = relay.layout_transform(%x) {src_layout = "NHWC", dst_layout = "NCHW"}
    %b = relay.nn.relu(%a)
    %c = relay.layout_transform(%b) {src_layout = "NCHW", dst_layout = "NHWC"}

After:

    %c = relay.nn.relu(%x)

A region starts at a `relay.layout_transform` between the layouts S and T, unless it transforms a constant: the ops
after it may move to S, those before it to T. The region grows to all ops that share a value with it and can follow
(`propagate_layouts`); it ends at convolutions and at ops that cannot follow. The elements transformed at its borders
are counted before and after, and the region moves if the number decreases. Each op is tried once for each layout that
reaches it, so the cost for a function of n ops is n times the number of layouts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.core.attribute_values import string_attribute
from xrelay.dialects.relay.core.broadcast import element_count
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.layout.behaviour import LayoutDecision
from xrelay.dialects.relay.layout.layout import Layout, LayoutError, transform_shape
from xrelay.dialects.relay.layout.layout_permutation import LayoutPermutation
from xrelay.dialects.relay.ops.tensor.transform import LayoutTransformOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.errors import ConstraintError
from xrelay.passes.graph.op_kinds import is_constant, is_relay_op
from xrelay.passes.graph.replacements import Replacements
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.layout.layout_hooks import rebuild_op
from xrelay.passes.layout.layout_versions import divisible, erase_unused, transform


def save_transforms(blocks: Sequence[Block], *, fixed: frozenset[type[RelayOp]] = frozenset()) -> None:
    """Removes unnecessary transforms from these blocks; ops of the classes `fixed` keep their layouts.

    Values are unchanged, except that reductions may sum in another order.
    """
    for block in blocks:
        join_transforms(block)
    for block in blocks:
        if RegionMover(block, fixed).run():
            join_transforms(block)


def join_transforms(block: Block) -> None:
    """Merges successive transforms, removes pairs that cancel, and merges equal transforms."""
    transforms = transforms_of(block)
    known: dict[tuple[SSAValue, str, str], SSAValue] = {}
    results = Replacements()
    for op in transforms:
        data = results.of(op.data)
        _read_through(op, data)
        source, target = op.src_layout.data, op.dst_layout.data
        made = op.data if source == target else known.setdefault((op.data, source, target), op.result)
        if made is not op.result:
            results.add(op.result, made)
    results.apply()
    erase_unused(*reversed(transforms))


def _read_through(op: LayoutTransformOp, data: SSAValue) -> None:
    """Makes `op` transform the operand of the transform that defines `data`, if the result is the same."""
    before = data.owner
    op.operands = [data]
    if not isinstance(before, LayoutTransformOp) or str(before.layouts[1]) != str(op.layouts[0]):
        return
    source, target = before.layouts[0], op.layouts[1]
    try:
        shape = transform_shape(shape_of(before.data.type), source, target)
    except LayoutError:
        return
    # The shapes differ if the first transform pads blocks and the second keeps the padding.
    if shape == shape_of(op.result.type):
        op.operands = [before.data]
        op.properties["src_layout"] = string_attribute(str(source))


@dataclass
class _Region:
    """Connected ops that can follow, each with its decision, and the layouts of the values that they share."""

    layouts: dict[SSAValue, Layout | None] = field(default_factory=dict[SSAValue, Layout | None])
    """The layout of each shared value; None for the original layout."""
    decisions: dict[RelayOp, LayoutDecision] = field(default_factory=dict[RelayOp, LayoutDecision])
    has_siblings: bool = False
    """Whether a value at the border has users outside of the region."""


class RegionMover:
    """Moves the regions of one block."""

    def __init__(self, block: Block, fixed: frozenset[type[RelayOp]]):
        self.fixed = fixed
        self.order = {op: index for index, op in enumerate(block.ops)}
        self.transforms = transforms_of(block)
        self.constant = _constant_values(block)
        self.known = {(op.data, op.src_layout.data, op.dst_layout.data): op for op in self.transforms}
        """Maps (value, its layout, another layout) to the transform between these layouts."""
        self.tried: set[tuple[RelayOp, Layout, bool]] = set()
        self.moved = False

    def run(self) -> bool:
        """Moves regions with a gain; returns whether any moved."""
        for op in self.transforms:
            # Transforms of constants are free, and a network transforms every weight.
            if op.data in self.constant:
                continue
            if op.parent is not None:
                self._try_after(op)
            if op.parent is not None:
                self._try_before(op)
        return self.moved

    def _try_after(self, op: LayoutTransformOp) -> None:
        source, target = op.layouts
        self._try(op.result, LayoutPermutation.of(source, target))

    def _try_before(self, op: LayoutTransformOp) -> None:
        source, target = op.layouts
        self._try(op.data, LayoutPermutation.of(target, source))

    def _try(self, seed: SSAValue, layout: Layout) -> None:
        """Moves the region around `seed`, without or with its other users, if there is a gain."""
        for with_siblings in (False, True):
            region = self._grow(seed, layout, with_siblings)
            if region.decisions and self._gain(region) > 0:
                _Mover(self, region).move()
                self.moved = True
                return
            if not region.has_siblings:
                return

    # --- growing ----------------------------------------------------------------------------------------------------

    def _grow(self, seed: SSAValue, layout: Layout, with_siblings: bool) -> _Region:
        """Returns the ops that follow `seed` to `layout`; with `with_siblings`, also other users of outside values."""
        region = _Region({seed: layout})
        pending, seen = [seed], set[tuple[SSAValue, bool]]()
        while pending:
            value = pending.pop()
            at = region.layouts[value]
            # The other users of an outside value are siblings.
            around = with_siblings or value is seed or value.owner in region.decisions
            if at is None or (value, around) in seen:
                continue
            seen.add((value, around))
            region.has_siblings |= not around and not value.has_one_use()
            for op in _neighbours(value, users=around):
                if op not in region.decisions and self._follows(region, op, at, with_siblings):
                    pending.extend(self._shared(op))
        return region

    def _follows(self, region: _Region, op: RelayOp, layout: Layout, with_siblings: bool) -> bool:
        """Adds `op` to the region if it can follow a value in `layout`; returns whether it did."""
        stays = op.CHOOSES_LAYOUT or type(op) in self.fixed or isinstance(op, LayoutTransformOp)
        if stays or op not in self.order or op.results[0] in self.constant:
            return False
        key = (op, layout, with_siblings)
        if key in self.tried or not all(is_complete(operand.type) for operand in op.operands):
            return False
        self.tried.add(key)
        decision = self._decide(region, op, layout)
        if decision is None:
            return False
        region.decisions[op] = decision
        return True

    def _decide(self, region: _Region, op: RelayOp, layout: Layout) -> LayoutDecision | None:
        """Returns the decision of `op`, with `layout` for operands outside of the region; None if they do not fit."""
        given = [region.layouts.get(operand, self._assumed(operand, layout)) for operand in op.operands]
        try:
            answer = _layout_decision(op, given)
        except (LayoutError, ConstraintError):
            return None
        if not isinstance(answer, LayoutDecision) or not isinstance(answer.result, Layout) or answer.op is not None:
            return None
        wanted = [*zip(op.operands, answer.operands, strict=True), (op.results[0], answer.result)]
        for value, one in wanted:
            if region.layouts.get(value, one) != one or not _has_rank(value.type, one):
                return None
        region.layouts.update(wanted)
        return answer

    def _assumed(self, operand: SSAValue, layout: Layout) -> Layout | None:
        """Returns `layout` for an operand that is not in the region yet; None for a constant or another rank."""
        return None if operand in self.constant or not _has_rank(operand.type, layout) else layout

    def _shared(self, op: RelayOp) -> Iterator[SSAValue]:
        """Yields the values through which the region may grow from `op`."""
        for value in (*op.operands, op.results[0]):
            if value not in self.constant and not isinstance(value.owner, LayoutTransformOp):
                yield value

    # --- counting ---------------------------------------------------------------------------------------------------

    def _gain(self, region: _Region) -> int:
        """Returns the decrease of transformed elements if the region moves; negative if it cannot move."""
        gain = 0
        for value, layout in region.layouts.items():
            owner = value.owner
            inside = owner in region.decisions
            if layout is None:
                continue
            if isinstance(value.type, TupleType):
                if not inside or not all(use.operation in region.decisions for use in value.uses):
                    return -1
            elif inside:
                gain += _gain_of_result(region, value, layout)
            elif not divisible(value.type, layout):
                return -1
            elif value in self.constant:
                continue
            elif isinstance(owner, LayoutTransformOp) and _same_letters(owner.layouts[1], layout):
                gain += _gain_of_transformed(region, owner, layout)
            elif not self._is_known(value, layout):
                gain -= _size(value)
        return gain

    def _is_known(self, value: SSAValue, layout: Layout) -> bool:
        made = self.known.get((value, str(layout.text), str(layout)))
        return made is not None and made.parent is not None


class _Mover:
    """Moves one region to its layouts."""

    def __init__(self, mover: RegionMover, region: _Region):
        self.order, self.region = mover.order, region
        self.new: dict[SSAValue, SSAValue] = {}
        self.made: dict[SSAValue, SSAValue] = {}
        """Maps outside values to their versions in the layout of the region."""
        self.results = Replacements()
        self.transforms: list[Operation] = []

    def move(self) -> None:
        """Rebuilds every op after the old op, and replaces the old ops."""
        ops = sorted(self.region.decisions, key=lambda op: self.order[op])
        for op in ops:
            decision = self.region.decisions[op]
            operands = [self._version(value, one) for value, one in zip(op.operands, decision.operands, strict=True)]
            new = rebuild_op(op, decision, operands)
            Rewriter.insert_op(new, InsertPoint.after(op))
            self.new[op.results[0]] = new.results[0]
        for op in ops:
            self._replace_outside_uses(op.results[0])
        self.results.apply()
        erase_unused(*self.transforms, *reversed(ops))

    def _version(self, value: SSAValue, layout: Layout | None) -> SSAValue:
        if layout is None or value in self.new:
            return self.new.get(value, value)
        owner = value.owner
        if isinstance(owner, LayoutTransformOp) and _same_letters(owner.layouts[1], layout):
            self.transforms.append(owner)
            return transform(owner.data, owner.layouts[0], layout)
        if value not in self.made:
            # An equal transform may exist further down; equal transforms are merged later.
            self.made[value] = transform(value, layout.text, layout)
        return self.made[value]

    def _replace_outside_uses(self, old: SSAValue) -> None:
        """Replaces `old` for users outside of the region by the new value, transformed."""
        new, layout, back = self.new[old], self.region.layouts[old], False
        if layout is None:
            return
        for use in list(old.uses):
            user = use.operation
            if isinstance(user, LayoutTransformOp) and _same_letters(user.layouts[0], layout):
                self.results.add(user.result, transform(new, layout, user.layouts[1]))
                self.transforms.append(user)
            elif user not in self.region.decisions:
                back = True
        if back:
            self.results.add(old, transform(new, layout, layout.text))


def transforms_of(block: Block) -> list[LayoutTransformOp]:
    """Returns the layout transforms of `block` whose operands have known types, in order."""
    return [op for op in block.ops if type(op) is LayoutTransformOp and is_complete(op.data.type)]


def _layout_decision(op: RelayOp, layouts: list[Layout | None]) -> object:
    """Returns the decision of `op` for operands in `layouts`; all fields of a tuple get the same layout."""
    if isinstance(op, TupleOp):
        layout = next((one for one in layouts if one is not None), None)
        return LayoutDecision((layout,) * len(layouts), layout)
    if isinstance(op, TupleGetItemOp):
        return LayoutDecision((layouts[0],), layouts[0])
    return op.propagate_layouts(layouts)


def _has_rank(type: Attribute, layout: Layout | None) -> bool:
    """Whether a value, or every field of a tuple, has an axis for each letter of the layout; ranks may differ."""
    if layout is None:
        return True
    rank = len(layout.text.axes)
    if isinstance(type, TensorType):
        return len(type.shape) == rank
    return all(isinstance(leaf, TensorType) and len(shape_of(leaf)) == rank for leaf in leaf_types([type]))


def _constant_values(block: Block) -> set[SSAValue]:
    """Values known at compile time: constants and values computed only from them. Their transforms are free."""
    found: set[SSAValue] = set()
    for op in block.ops:
        operands = op.operands
        if is_constant(op) or (is_relay_op(op) and operands and all(operand in found for operand in operands)):
            found.update(op.results)
    return found


def _neighbours(value: SSAValue, *, users: bool) -> Iterator[RelayOp]:
    """Yields the op that defines `value` and, if `users` is set, the ops that use it."""
    around = [value.owner, *([use.operation for use in value.uses] if users else [])]
    return (op for op in around if isinstance(op, RelayOp))


def _gain_of_result(region: _Region, value: SSAValue, layout: Layout) -> int:
    users = [use.operation for use in value.uses]
    transforms = [user for user in users if isinstance(user, LayoutTransformOp)]
    following = [user for user in transforms if _same_letters(user.layouts[0], layout)]
    needs_plain = any(user not in region.decisions and user not in following for user in users)
    return _size(value) * (any(user.dst_layout.data == str(layout) for user in following) - needs_plain)


def _gain_of_transformed(region: _Region, owner: LayoutTransformOp, layout: Layout) -> int:
    """Returns the gain of reading the operand of a transform instead of its result."""
    needed = str(owner.layouts[0]) != str(layout)
    is_unused = all(use.operation in region.decisions for use in owner.result.uses)
    return _size(owner.result) * (is_unused - needed)


def _same_letters(text: Layout, layout: Layout) -> bool:
    """Whether the layout `text` of a transform has the letters of the unblocked `layout`, in the same order.

    If it does not, the axes of one value have different letters, for example after a convolution in NHWC and before one
    in HWCN.
    """
    return str(text) == str(layout.text)


def _size(value: SSAValue) -> int:
    return element_count(shape_of(value.type))
