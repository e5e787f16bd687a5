"""`relay-alter-op-layout`: convolutions get the layouts the target likes, and the graph around them follows.

What: a hook of the target (`passes/relay/layout_hooks.py`) chooses blocked layouts for a convolution, so that one
vector holds one block of channels. The new result is then available in that layout, and every op behind it says by
`propagate_layouts` whether it can take it as it comes. Where one insists on the layout the text says, a
`relay.layout_transform` brings the value back, once. Why on the whole graph at once: a transform between two
convolutions costs as much as an elementwise op on the same tensor; most cancel before they are made.

Before:

    %a = relay.nn.conv2d(%x, %w) : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> …
    %r = relay.nn.relu(%a)
    %b = relay.nn.conv2d(%r, %v)

After:

    %X = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NCHW16c"}
    %W = relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "OIHW16i16o"}     folded later, as is %V
    %A = relay.nn.conv2d(%X, %W) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"}
    %R = relay.nn.relu(%A) : (tensor<1x4x56x56x16xf32>) -> …
    %B = relay.nn.conv2d(%R, %V) {…}
    %b = relay.layout_transform(%B) {src_layout = "NCHW16c", dst_layout = "NCHW"}

Operands of lower rank that broadcast against a blocked value get the missing axes in front first. The pass changes no
value; the order in which a convolution sums its channels may change. Run `relay-canonicalize-ops` before it, as a
`nn.bias_add` does not work in blocks. Refusals of hooks and of `propagate_layouts` are remarks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp, StringAttr, TupleType, UnknownLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from xrelay.dialects.relay.layout_behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layouts import Layout, LayoutError
from xrelay.dialects.relay.op_base import RelayOp
from xrelay.dialects.relay.tensor_elementwise import BinaryBroadcastOp
from xrelay.dialects.relay.tensor_shape import ExpandDimsOp
from xrelay.dialects.relay.tensor_transform import LayoutTransformOp
from xrelay.dialects.relay.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.types import is_complete, shape_of
from xrelay.errors import ConstraintError, PassError
from xrelay.passes.relay.fuse_ops import PRIMITIVE, fusable_blocks
from xrelay.passes.relay.layout_hooks import LayoutHook, LayoutHooks, Replacement, layout_hooks
from xrelay.passes.relay.remarks import Remark, Remarks

DEFAULT_LANES = 16


@dataclass(frozen=True)
class RelayAlterOpLayoutPass(ModulePass):
    """Give convolutions blocked layouts and propagate them; see the module's docstring."""

    name = "relay-alter-op-layout"

    vector_lanes: int = field(default=DEFAULT_LANES, metadata={"help": "how many f32 a vector of the target holds"})
    target: str = field(default="cpu", metadata={"help": "whose hooks choose the layouts"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Alter the module in place; `PassError` for a number of lanes that is not positive."""
        alter_layouts(op, vector_lanes=self.vector_lanes, target=self.target)


def alter_layouts(
    module: ModuleOp,
    *,
    vector_lanes: int = DEFAULT_LANES,
    target: str = "cpu",
    hooks: LayoutHooks | None = None,
) -> list[Remark]:
    """Alter every function of `module` that is not a kernel; `hooks` go before those of `target`.

    Says which ops changed, and which insisted on their layout and why. `PassError` where `vector_lanes` is less than 1.
    """
    if vector_lanes < 1:
        raise PassError(f"relay-alter-op-layout: vector-lanes is {vector_lanes}, it must be at least 1")
    chosen = dict(layout_hooks(target)) | dict(hooks if hooks is not None else {})
    remarks = Remarks("relay-alter-op-layout")
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and PRIMITIVE not in function.attributes:
            _Alterer(chosen, vector_lanes, remarks).run(fusable_blocks(function))
    return remarks.all


@dataclass(frozen=True)
class _Available:
    """A value that stands for another in a layout of its own."""

    value: SSAValue
    layout: Layout


class _Alterer:
    """Alters one function."""

    def __init__(self, hooks: LayoutHooks, lanes: int, remarks: Remarks):
        self.hooks, self.lanes, self.remarks = hooks, lanes, remarks
        self.available: dict[SSAValue, _Available] = {}
        """Values of the text → what computes them now, where that has another layout."""
        self.versions: dict[tuple[SSAValue, str], SSAValue] = {}
        """(value of the text, layout) → the value in that layout."""
        self.replaced: list[Operation] = []

    def run(self, blocks: Sequence[Block]) -> None:
        """Alter blocks, outer ones first, then erase what was replaced."""
        for block in blocks:
            for op in list(block.ops):
                if not isinstance(op, RelayOp) or not self._alter(op):
                    self._insist(op)
        for op in reversed(self.replaced):
            if not any(result.first_use for result in op.results):
                Rewriter.erase_op(op)
        for value in self.versions.values():
            _erase_unused(value.owner)

    # --- one op -----------------------------------------------------------------------------------------------------

    def _alter(self, op: RelayOp) -> bool:
        """Build `op` in other layouts, if it is asked for and agrees; whether it was."""
        hook = self.hooks.get(type(op))
        layouts = [self._layout_of(operand) for operand in op.operands]
        if hook is None and not any(layouts):
            return False
        if not all(is_complete(operand.type) for operand in op.operands):
            return False
        if self._cancel(op):
            return True
        if hook is None and isinstance(op, BinaryBroadcastOp):
            _give_equal_ranks(op)
        try:
            asked = self._ask(op, hook, layouts)
            if isinstance(asked, Replacement):
                self._rebuild(op, asked.op, asked.decision)
        except (LayoutError, ConstraintError) as error:
            asked = LayoutRefusal(error.message)
        if isinstance(asked, LayoutRefusal):
            self.remarks.refused(op, asked.reason)
            return False
        wanted = [layout for layout in (*asked.decision.operands, asked.decision.result) if layout is not None]
        if wanted:
            self.remarks.applied(op, f"works in {wanted[-1]}")
        return True

    def _ask(
        self, op: RelayOp, hook: LayoutHook | None, layouts: Sequence[Layout | None]
    ) -> Replacement | LayoutRefusal:
        """What is to stand for `op`, by its hook or by the op itself; the decision has all properties."""
        decision = op.propagate_layouts(layouts) if hook is None else hook(op, layouts, self.lanes)
        if isinstance(decision, Replacement):
            properties = decision.op.properties_from(decision.decision.properties)
            return Replacement(decision.op, replace(decision.decision, properties=properties))
        if isinstance(decision, LayoutDecision) and isinstance(op, TupleOp):
            decision = _whole_tuple(op, layouts, decision)
        if isinstance(decision, LayoutRefusal):
            return decision
        return Replacement(type(op), replace(decision, properties=op.properties | dict(decision.properties)))

    def _rebuild(self, op: RelayOp, kind: type[RelayOp], decision: LayoutDecision) -> None:
        """Put the op that `decision` describes, of class `kind`, behind `op`, and let it stand for `op`."""
        operands = [
            self._version(operand, wanted) for operand, wanted in zip(op.operands, decision.operands, strict=True)
        ]
        properties = dict(decision.properties)
        result_type = kind.create(properties=properties).infer_type([operand.type for operand in operands])
        new = kind.create(
            operands=operands, result_types=[result_type], properties=properties, attributes=dict(op.attributes)
        )
        new.location = op.location
        new.results[0].name_hint = op.results[0].name_hint
        Rewriter.insert_op(new, InsertPoint.after(op))
        self.replaced.append(op)
        if decision.result is None:
            op.results[0].replace_all_uses_with(new.results[0])
        else:
            self.available[op.results[0]] = _Available(new.results[0], decision.result)

    def _cancel(self, op: RelayOp) -> bool:
        """A transform to the layout in which the operand comes anyway: the operand as it comes."""
        if not isinstance(op, LayoutTransformOp):
            return False
        known = self.available.get(op.data)
        source, target = op.layouts
        if known is None or str(known.layout) != str(target) or str(source) != str(known.layout.text):
            return False
        op.result.replace_all_uses_with(known.value)
        self.replaced.append(op)
        return True

    def _insist(self, op: Operation) -> None:
        """Give `op` its operands in the layouts that the text says."""
        if any(operand in self.available for operand in op.operands):
            op.operands = [self._plain(operand) for operand in op.operands]

    # --- versions of values -----------------------------------------------------------------------------------------

    def _layout_of(self, value: SSAValue) -> Layout | None:
        known = self.available.get(value)
        return None if known is None else known.layout

    def _plain(self, value: SSAValue) -> SSAValue:
        known = self.available.get(value)
        return value if known is None else self._version(value, known.layout.text)

    def _version(self, value: SSAValue, layout: Layout | None) -> SSAValue:
        """`value` in `layout`; `None` is the layout that the text says."""
        known = self.available.get(value)
        if layout is None:
            return self._plain(value)
        if known is not None and known.layout == layout:
            return known.value
        key = (value, str(layout))
        if key not in self.versions:
            back = known is not None and str(layout) == str(known.layout.text)
            if not back and not _divisible(value, layout):
                # The last block would be padded, and what reads it would take the padding for elements.
                raise LayoutError(f"a value of type {value.type} does not come in whole blocks of {layout}")
            source = known.layout if known is not None else layout.text
            self.versions[key] = self._transform(value if known is None else known.value, source, layout)
        return self.versions[key]

    def _transform(self, value: SSAValue, source: Layout, target: Layout) -> SSAValue:
        """`value` from `source` to `target`, right behind where it is made, so that every block inside sees it."""
        if source == target:
            return value
        layouts = {"src_layout": StringAttr(str(source)), "dst_layout": StringAttr(str(target))}
        if not isinstance(value.type, TupleType):
            return self._insert(LayoutTransformOp.call(value, **layouts), value)
        fields, behind = list[SSAValue](), value
        for index in range(len(value.type.types)):
            item = self._insert(TupleGetItemOp.call(value, index=index), behind)
            behind = self._insert(LayoutTransformOp.call(item, **layouts), item)
            fields.append(behind)
        return self._insert(TupleOp.call(*fields), behind)

    def _insert(self, op: RelayOp, behind: SSAValue) -> SSAValue:
        """Insert `op` behind the definition of `behind`, with its name and location."""
        op.location = _location_of(behind)
        op.results[0].name_hint = behind.name_hint
        Rewriter.insert_op(op, _point_behind(behind))
        return op.results[0]


def _whole_tuple(
    op: TupleOp, layouts: Sequence[Layout | None], decision: LayoutDecision
) -> LayoutDecision | LayoutRefusal:
    """A tuple follows a layout only where every field comes in it, or can without padding."""
    if decision.result is None:
        return decision
    for field_, layout in zip(op.fields, layouts, strict=True):
        # A field in other blocks would be padded on the way from one to the other, and the joined extent be too large.
        if layout != decision.result and not _divisible(field_, decision.result):
            return LayoutRefusal(f"a field of type {field_.type} does not come in whole blocks of {decision.result}")
    return decision


def _divisible(value: SSAValue, layout: Layout) -> bool:
    types = value.type.types.data if isinstance(value.type, TupleType) else (value.type,)
    return all(_type_divisible(type, layout) for type in types)


def _type_divisible(type: Attribute, layout: Layout) -> bool:
    try:
        extents = layout.text.primal_extents(shape_of(type))
    except (ValueError, LayoutError):
        return False
    for axis in layout.axes:
        extent = extents[axis.letter]
        if axis.factor is not None and not (isinstance(extent, int) and extent % axis.factor == 0):
            return False
    return True


def _give_equal_ranks(op: BinaryBroadcastOp) -> None:
    """Put axes of extent 1 in front of the operand of lower rank, unless it has rank 0.

    Before:

        %y = relay.add(%x, %b) : (tensor<1x64x8x8xf32>, tensor<64x1x1xf32>) -> tensor<1x64x8x8xf32>

    After:

        %e = relay.expand_dims(%b) {axis = 0} : (tensor<64x1x1xf32>) -> tensor<1x64x1x1xf32>
        %y = relay.add(%x, %e) : (tensor<1x64x8x8xf32>, tensor<1x64x1x1xf32>) -> tensor<1x64x8x8xf32>
    """
    ranks = [len(shape_of(operand.type)) for operand in op.operands]
    for index, rank in enumerate(ranks):
        missing = max(ranks) - rank
        if missing and rank:
            operand = op.operands[index]
            expanded = ExpandDimsOp.call(operand, axis=0, num_newaxis=missing)
            expanded.location = op.location
            expanded.result.name_hint = operand.name_hint
            Rewriter.insert_op(expanded, InsertPoint.before(op))
            op.operands[index] = expanded.result


def _point_behind(value: SSAValue) -> InsertPoint:
    if isinstance(value, BlockArgument):
        return InsertPoint.at_start(value.block)
    owner = value.owner
    if isinstance(owner, Block):
        return InsertPoint.at_start(owner)
    return InsertPoint.after(owner)


def _location_of(value: SSAValue) -> LocationAttr:
    if isinstance(value, BlockArgument):
        return value.location
    owner = value.owner
    return owner.location if isinstance(owner, Operation) else UnknownLoc()


def _erase_unused(op: Operation | Block) -> None:
    """Erase a transform that nobody needs in the end, and what was made for it alone."""
    pending: list[Operation | Block] = [op]
    while pending:
        current = pending.pop()
        if not isinstance(current, RelayOp) or current.parent is None or not is_side_effect_free(current):
            continue
        if not any(result.first_use for result in current.results):
            owners = [operand.owner for operand in current.operands]
            Rewriter.erase_op(current)
            pending.extend(owners)
