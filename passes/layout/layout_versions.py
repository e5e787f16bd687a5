"""Records the layouts in which each value is available, and creates each `relay.layout_transform` once."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import LocationAttr, TupleType, UnknownLoc
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.core.attribute_values import int_array, string_attribute
from xrelay.dialects.relay.core.broadcast import element_count
from xrelay.dialects.relay.core.op_base import RelayOp, known_shape
from xrelay.dialects.relay.layout.behaviour import ResultLayout
from xrelay.dialects.relay.layout.layout import Layout, LayoutError
from xrelay.dialects.relay.ops.tensor.movement import StridedSliceOp
from xrelay.dialects.relay.ops.tensor.transform import LayoutTransformOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import Shape
from xrelay.passes.graph.effects import is_pure
from xrelay.passes.graph.replacements import erase_op


@dataclass(frozen=True)
class Available:
    """A value that replaces another one, and its layout; for a tuple, a layout for each field.

    For a `relay.tuple` it is the old tuple until an op uses the new tuple as a whole.
    """

    value: SSAValue
    layout: ResultLayout


class LayoutVersions:
    """The replacements of the original values: in the layout of their definition, and in layouts requested later."""

    def __init__(self) -> None:
        self._available: dict[SSAValue, Available] = {}
        self._versions: dict[tuple[SSAValue, ResultLayout], SSAValue] = {}

    def set(self, value: SSAValue, new: SSAValue, layout: ResultLayout) -> None:
        """Records that `new`, in `layout`, replaces `value`."""
        if isinstance(layout, Layout) and isinstance(value.type, TupleType):
            layout = (layout,) * len(value.type.types)
        self._available[value] = Available(new, layout)

    def has(self, value: SSAValue) -> bool:
        """Whether `value` has a replacement."""
        return value in self._available

    def of(self, value: SSAValue) -> Available:
        """Returns the replacement of `value`, or `value` itself."""
        return self._available.get(value) or Available(value, None)

    def layout(self, value: SSAValue) -> Layout | None:
        """Returns the layout in which `value` is available; for a tuple, that of most of its elements."""
        layout = self.of(value).layout
        if not isinstance(layout, tuple) or not isinstance(value.type, TupleType):
            return layout if isinstance(layout, Layout) else None
        weights: dict[Layout, int] = {}
        for one, type in zip(layout, value.type.types, strict=True):
            if one is not None:
                weights[one] = weights.get(one, 0) + element_count(known_shape(type) or ())
        return max(weights, key=lambda one: weights[one], default=None)

    def field_layout(self, value: SSAValue, index: int) -> Layout | None:
        """Returns the layout of field `index` of a tuple."""
        layout = self.of(value).layout
        return layout[index] if isinstance(layout, tuple) else None

    def plain_version(self, value: SSAValue) -> SSAValue:
        """Returns `value` in the original layout."""
        known = self.of(value)
        if isinstance(known.layout, tuple):
            return self._tuple(value, (None,) * len(known.layout))
        if known.layout is None:
            return known.value
        key = (value, None)
        if key not in self._versions:
            self._versions[key] = transform(known.value, known.layout, known.layout.text)
        return self._versions[key]

    def version(self, value: SSAValue, layout: Layout | None, *, pads: bool = False) -> SSAValue:
        """Returns `value` in `layout`; None is the original layout.

        Raises `LayoutError` if the last block would not be full, unless `pads` is set: most users would treat the
        padding as elements.
        """
        if layout is None:
            return self.plain_version(value)
        if isinstance(value.type, TupleType):
            return self._tuple(value, (layout,) * len(value.type.types))
        known = self.of(value)
        if known.layout == layout:
            return known.value
        if layout.axes == layout.text.axes:
            return self.plain_version(value)
        key = (value, layout)
        if not pads and not divisible(value.type, layout):
            raise LayoutError(f"a value of type {value.type} has no whole number of blocks in {layout}")
        if key not in self._versions:
            self._versions[key] = self._transformed(value, known, layout)
        return self._versions[key]

    def _transformed(self, value: SSAValue, known: Available, layout: Layout) -> SSAValue:
        source = known.layout
        if isinstance(source, Layout) and str(source.text) == str(layout.text):
            return transform(known.value, source, layout)
        # The letters for the axes differ between the op that defines the value and the op that reads it.
        return transform(self.plain_version(value), layout.text, layout)

    def _tuple(self, value: SSAValue, wanted: tuple[Layout | None, ...]) -> SSAValue:
        """Returns the tuple `value` with its fields in these layouts."""
        known, key = self.of(value), (value, wanted)
        owner = known.value.owner
        if known.layout is None and not any(wanted):
            return known.value
        if key in self._versions:
            return self._versions[key]
        if isinstance(owner, TupleOp):
            fields = [self.version(field, layout) for field, layout in zip(owner.fields, wanted, strict=True)]
            self._versions[key] = insert_after(TupleOp.call(*fields), value)
        elif known.layout == wanted:
            return known.value
        else:
            self._versions[key] = self._rebuilt_tuple(known, wanted)
        return self._versions[key]

    def _rebuilt_tuple(self, known: Available, wanted: tuple[Layout | None, ...]) -> SSAValue:
        """Returns the tuple `known`, rebuilt from its fields in the layouts `wanted`."""
        fields, last = list[SSAValue](), known.value
        for index, layout in enumerate(wanted):
            last = insert_after(TupleGetItemOp.call(known.value, index=index), last)
            source = known.layout[index] if isinstance(known.layout, tuple) else None
            text = next((one.text for one in (source, layout) if one is not None), None)
            if text is not None:
                if layout is not None and source is None and not divisible(last.type, layout):
                    raise LayoutError(f"a field of type {last.type} has no whole number of blocks in {layout}")
                last = transform(last, source or text, layout or text)
            fields.append(last)
        return insert_after(TupleOp.call(*fields), last)

    def erase_unused(self) -> None:
        """Erases the unused versions, and ops that only they use."""
        for value in self._versions.values():
            erase_unused(value.owner)


def transform(value: SSAValue, source: Layout, target: Layout) -> SSAValue:
    """Transforms `value` from `source` to `target` right after its definition, so that all nested blocks can use it."""
    if source.axes == target.axes:
        return value
    layouts = {"src_layout": string_attribute(str(source)), "dst_layout": string_attribute(str(target))}
    return insert_after(LayoutTransformOp.typed([value], layouts), value)


def crop(value: SSAValue, layout: Layout, shape: Shape) -> SSAValue:
    """Returns `value`, whose last blocks in `layout` are filled up, in the original layout with its `shape`."""
    plain = transform(value, layout, layout.text)
    pairs = enumerate(zip(shape_of(plain.type), shape, strict=True))
    axes = [axis for axis, (padded, extent) in pairs if padded != extent]
    ends = int_array([extent for axis in axes if isinstance(extent := shape[axis], int)])
    bounds = {"begin": int_array([0] * len(axes)), "end": ends, "axes": int_array(axes)}
    return insert_after(StridedSliceOp.typed([plain], bounds), plain)


def insert_after(op: RelayOp, value: SSAValue) -> SSAValue:
    """Inserts `op` after the definition of `value`, with its name and location; returns the result."""
    op.location = _location_of(value)
    op.results[0].name_hint = value.name_hint
    owner = value.owner
    point = InsertPoint.at_start(owner) if isinstance(owner, Block) else InsertPoint.after(owner)
    Rewriter.insert_op(op, point)
    return op.results[0]


def divisible(type: Attribute, layout: Layout) -> bool:
    """Whether a tensor of `type`, in the original layout, consists of whole blocks of `layout`."""
    try:
        extents = layout.text.primal_extents(shape_of(type))
    except (ValueError, LayoutError):
        return False
    split = [(extents[axis.letter], axis.factor) for axis in layout.axes if axis.factor is not None]
    return all(isinstance(extent, int) and extent % factor == 0 for extent, factor in split)


def erase_unused(*ops: Operation | Block) -> None:
    """Erases those of `ops` that are unused, and ops that only they use."""
    pending: list[Operation | Block] = list(ops)
    while pending:
        current = pending.pop()
        if not isinstance(current, RelayOp) or current.parent is None or not is_pure(current):
            continue
        if not any(result.first_use for result in current.results):
            owners = [operand.owner for operand in current.operands]
            erase_op(current)
            pending.extend(owners)


def _location_of(value: SSAValue) -> LocationAttr:
    if isinstance(value, BlockArgument):
        return value.location
    owner = value.owner
    return owner.location if isinstance(owner, Operation) else UnknownLoc()
