"""`relay-alter-op-layout`: converts operators to the layouts of the target and propagates them through the graph.

A hook of the target (`passes/layout/layout_hooks.py`) chooses blocked layouts for a convolution, so that one vector
holds one block of channels. The new result is then available in this layout, and for each following op
`propagate_layouts` decides whether the op can work in it. If an op needs the original layout, a
`relay.layout_transform` converts the value back, once. The pass works on the whole graph at once because a transform
between two convolutions costs as much as an elementwise op on the same tensor; most transforms cancel before they are
inserted.

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

Operands of lower rank that broadcast against a blocked value first get the missing leading axes. A `nn.bias_add` or
`nn.batch_norm` along a split axis becomes an addition, or a multiplication and an addition. A composite op that cannot
follow is expanded if all ops of its expansion can follow, for example `nn.prelu` along a split axis. Finally successive
transforms are merged, and ops between transforms change their layout if this moves less data (`layout_savings.py`). The
pass does not change values, except that a convolution or a reduction may sum in another order. docs/layouts.md lists
the behaviour of each op; refusals of hooks and of `propagate_layouts` are remarks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Block, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.core.axes import letter_of_axis
from xrelay.dialects.relay.core.broadcast import has_one_element
from xrelay.dialects.relay.core.compatible import compatible
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.layout.behaviour import LayoutAnswer, LayoutDecision, LayoutRefusal, LayoutRenaming
from xrelay.dialects.relay.layout.layout import Layout, LayoutError, transform_shape
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp
from xrelay.dialects.relay.ops.nn.norm import BatchNormOp
from xrelay.dialects.relay.ops.tensor.elementwise import BinaryBroadcastOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp
from xrelay.dialects.relay.structure.composite import CompositeOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of, tensor_type
from xrelay.errors import ConstraintError, PassError
from xrelay.passes.graph.composites import ExpandComposite
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.scopes import fusable_blocks, graph_functions
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.passes.layout.cpu_layout_hooks import with_tiles
from xrelay.passes.layout.layout_hooks import LayoutHook, LayoutHooks, call_hook, hook_error, layout_hooks, rebuild_op
from xrelay.passes.layout.layout_savings import save_transforms
from xrelay.passes.layout.layout_versions import LayoutVersions, crop, divisible, erase_unused
from xrelay.passes.relay.canonicalize_ops import AddInsteadOfBiasAdd
from xrelay.passes.relay.simplify_inference import SimplifyBatchNorm
from xrelay.target.instructions import find_tile_product
from xrelay.target.strategy import is_implemented

DEFAULT_LANES = 16


@dataclass(frozen=True)
class RelayAlterOpLayoutPass(XRelayPass):
    """Converts convolutions to blocked layouts and propagates them; see the module's docstring."""

    name = "relay-alter-op-layout"
    numerics = reassociates("sums over channels are taken block by block")
    per_function = True

    vector_lanes: int = field(default=DEFAULT_LANES, metadata={"help": "the number of f32 in a vector of the target"})
    target: str = field(default="cpu", metadata={"help": "the target whose hooks choose the layouts"})
    tiles: tuple[str, ...] = field(default=(), metadata={"help": "the target's instructions on tiles"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Alters the module in place; raises `PassError` for a number of lanes that is not positive."""
        report(alter_layouts(op, vector_lanes=self.vector_lanes, target=self.target, tiles=self.tiles))


def alter_layouts(
    module: ModuleOp,
    *,
    vector_lanes: int = DEFAULT_LANES,
    target: str = "cpu",
    tiles: Sequence[str] = (),
    hooks: LayoutHooks | None = None,
) -> list[Remark]:
    """Alters every function of `module` that is not a kernel; `hooks` take precedence over those of `target`.

    Returns remarks on the ops that changed, and on those that kept their layout, with the reason. Raises `PassError` if
    `vector_lanes` is less than 1.
    """
    if vector_lanes < 1:
        raise PassError(f"relay-alter-op-layout: vector-lanes is {vector_lanes}, it must be at least 1")
    chosen = dict(layout_hooks(target))
    products = [product for name in tiles if (product := find_tile_product(name)) is not None]
    if any(product.sum_type == "i32" and product.columns == vector_lanes for product in products):
        chosen = dict(with_tiles(chosen))
    chosen |= dict(hooks if hooks is not None else {})
    remarks = Remarks("relay-alter-op-layout")
    for function in graph_functions(module):
        blocks = fusable_blocks(function)
        _Alterer(chosen, vector_lanes, remarks).run(blocks)
        save_transforms(blocks, fixed=frozenset(chosen))
    return remarks.all


SIMPLER: dict[type[RelayOp], RewritePattern] = {BiasAddOp: AddInsteadOfBiasAdd(), BatchNormOp: SimplifyBatchNorm()}
"""Maps ops along one axis to patterns that make them elementwise, so that they work along a split axis."""

EXPAND = ExpandComposite(lambda _: True)
"""Expands a composite op."""


class _Alterer:
    """Alters one function."""

    def __init__(self, hooks: LayoutHooks, lanes: int, remarks: Remarks):
        self.hooks, self.lanes, self.remarks = hooks, lanes, remarks
        self.versions = LayoutVersions()
        self.replaced: list[Operation] = []
        self.computed: list[Operation] = []
        """Ops that were inserted to compute operands, by `_equalize_ranks` or by hooks.

        Some are unused, because the op was not rebuilt.
        """

    def run(self, blocks: Sequence[Block]) -> None:
        """Alters blocks, outer blocks first, then erases replaced ops."""
        for block in blocks:
            for op in list(block.ops):
                self._visit(op)
        for op in reversed(self.replaced):
            if not any(result.first_use for result in op.results):
                erase_op(op)
        self.versions.erase_unused()
        erase_unused(*reversed(self.computed))

    # --- one op -----------------------------------------------------------------------------------------------------

    def _visit(self, op: Operation) -> None:
        if not isinstance(op, RelayOp) or not self._alter(op):
            self._restore_layouts(op)

    def _alter(self, op: RelayOp) -> bool:
        """Rebuilds `op` in other layouts if a hook or an operand requires it and it can; returns whether it did."""
        hook = self.hooks.get(type(op))
        if hook is None and not any(self.versions.has(operand) for operand in op.operands):
            return False
        if not all(is_complete(operand.type) for operand in op.operands):
            return False
        if isinstance(op, TupleOp | TupleGetItemOp):
            return self._through_tuple(op)
        layouts = [self.versions.layout(operand) for operand in op.operands]
        if hook is None and not any(layouts):
            return False
        given = list(op.operands)
        try:
            done = self._follow(op, hook, layouts)
        except LayoutError as error:
            self.remarks.refused(op, error.message)
            done = False
        if not done and list(op.operands) != given:
            op.operands = given
        return done

    def _follow(self, op: RelayOp, hook: LayoutHook | None, layouts: list[Layout | None]) -> bool:
        """Applies the decision of the hook or of the op; returns whether it replaced `op`. May raise `LayoutError`."""
        answer: LayoutAnswer | None = self._call_hook(hook, op, layouts) if hook is not None else None
        used_hook = hook if answer is not None else None
        if answer is None:
            if not any(layouts):
                return False
            if isinstance(op, BinaryBroadcastOp):
                self.computed += _equalize_ranks(op)
            answer = op.propagate_layouts(layouts)
        if isinstance(answer, LayoutRefusal):
            simpler = self._simpler_form(op, layouts[0])
            if simpler is not None:
                self._simplify(op, simpler)
                return True
            self.remarks.refused(op, answer.reason)
            return False
        if isinstance(answer, LayoutRenaming):
            self.versions.set(op.results[0], self.versions.of(op.operands[0]).value, answer.result)
            self.replaced.append(op)
            return True
        self._rebuild(op, used_hook, answer)
        wanted = [layout for layout in (*answer.operands, answer.result) if isinstance(layout, Layout)]
        if wanted:
            reason = "the layout of its operands" if used_hook is None else "the layout of the target's kernels"
            self.remarks.applied(op, f"works in {{}}, {reason}", wanted[-1])
        return True

    def _call_hook(self, hook: LayoutHook, op: RelayOp, layouts: list[Layout | None]) -> LayoutAnswer | None:
        """Returns the decision of a hook.

        Ops that the hook inserts before `op` follow their operands; no hook is called for them.
        """
        before = op.prev_op
        answer = call_hook(hook, op, layouts, self.lanes)
        made: list[Operation] = []
        current = op.prev_op
        while current is not None and current is not before:
            made.append(current)
            current = current.prev_op
        for new in reversed(made):
            if type(new) in self.hooks:
                self._restore_layouts(new)
            else:
                self._visit(new)
        self.computed += made
        return answer

    def _rebuild(self, op: RelayOp, hook: LayoutHook | None, decision: LayoutDecision) -> None:
        """Inserts the op that `decision` describes after `op`, as its replacement."""
        operands = [
            self.versions.version(operand, wanted, pads=decision.pads)
            for operand, wanted in zip(op.operands, decision.operands, strict=True)
        ]
        try:
            new = rebuild_op(op, decision, operands)
        except ConstraintError as error:
            if hook is None:
                raise LayoutError(error.message) from error
            raise hook_error(hook, op, f"requests layouts that the op refuses: {error.message}") from error
        if hook is not None:
            _check_result(hook, op, new, decision)
        Rewriter.insert_op(new, InsertPoint.after(op))
        self.replaced.append(op)
        value, layout, type = new.results[0], decision.result, op.results[0].type
        if decision.pads and isinstance(layout, Layout) and not divisible(type, layout):
            value, layout = crop(value, layout, shape_of(type)), None
        self.versions.set(op.results[0], value, layout)

    def _through_tuple(self, op: TupleOp | TupleGetItemOp) -> bool:
        """Records the layouts of a tuple's fields, or replaces an access to a field; returns True."""
        versions = self.versions
        if isinstance(op, TupleOp):
            layouts = tuple(
                None if isinstance(field.type, TupleType) else versions.layout(field) for field in op.fields
            )
            versions.set(op.result, op.result, layouts)
            self.replaced.append(op)
            return True
        # If the operand is a field of another tuple, `versions` has replaced it by the inner `relay.tuple`.
        index, owner = op.index.value.data, versions.of(op.data).value.owner
        layout = versions.field_layout(op.data, index)
        if isinstance(owner, TupleOp):
            known = versions.of(owner.fields[index])
            versions.set(op.result, known.value, known.layout)
        else:
            new = rebuild_op(op, LayoutDecision((None,), None), [versions.of(op.data).value])
            Rewriter.insert_op(new, InsertPoint.after(op))
            versions.set(op.result, new.results[0], layout)
        self.replaced.append(op)
        return True

    def _simpler_form(self, op: RelayOp, layout: Layout | None) -> RewritePattern | None:
        """Returns the pattern that replaces the refusing `op` by ops that can follow, or None."""
        if _splits_axis(op, layout):
            return SIMPLER[type(op)]
        if isinstance(op, CompositeOp) and not is_implemented(type(op)) and self._expansion_follows(op):
            self.remarks.applied(op, "is expanded to ops that work in {}", layout)
            return EXPAND
        return None

    def _expansion_follows(self, op: CompositeOp) -> bool:
        """Whether all ops of the expansion of `op` can follow their operands, which is tried in a separate block.

        An op that cannot follow adds a remark. The ops are not inserted into the program.
        """
        trial = _Alterer(self.hooks, self.lanes, Remarks("relay-alter-op-layout"))
        block = Block(arg_types=op.operand_types)
        parts, result = op.decompose_on(block.args)
        block.add_ops(parts)
        for argument, operand in zip(list(block.args), op.operands, strict=True):
            known = self.versions.of(operand)
            if known.layout is not None:
                trial.versions.set(argument, block.insert_arg(known.value.type, len(block.args)), known.layout)
        trial.run([block])
        return trial.versions.layout(result) is not None and all(remark.applied for remark in trial.remarks.all)

    def _simplify(self, op: RelayOp, simpler: RewritePattern) -> None:
        """Replaces `op` by the ops of `simpler`, and visits them."""
        before, block, last = op.prev_op, op.parent, op.next_op
        simpler.match_and_rewrite(op, PatternRewriter(op))
        current = before.next_op if before is not None else block.first_op if block is not None else None
        while current is not None and current is not last:
            following = current.next_op
            self._visit(current)
            current = following

    def _restore_layouts(self, op: Operation) -> None:
        """Sets the operands of `op` to their values in the original layouts."""
        if any(self.versions.has(operand) for operand in op.operands):
            op.operands = [self.versions.plain_version(operand) for operand in op.operands]


def _splits_axis(op: RelayOp, layout: Layout | None) -> bool:
    """Whether `op` refuses only because `layout` splits the axis along which it works, and has a simpler form."""
    if not isinstance(op, BiasAddOp | BatchNormOp) or layout is None:
        return False
    return layout.factor(letter_of_axis(layout, op.axis.value.data)) is not None


def _check_result(hook: LayoutHook, op: RelayOp, new: RelayOp, decision: LayoutDecision) -> None:
    """Checks that `new` has the type of `op`'s result in the layout of the hook's decision."""
    old, found, layout = op.results[0].type, new.results[0].type, decision.result
    if not is_complete(old) or isinstance(old, TupleType):
        return
    expected = old
    if isinstance(layout, Layout):
        try:
            shape = transform_shape(shape_of(old), layout.text, Layout(layout.axes))
        except LayoutError as error:
            raise hook_error(hook, op, f"requests a layout that does not fit the result: {error.message}") from error
        expected = tensor_type(shape, element_type_of(old))
    if not compatible(expected, found):
        where = "in the original layout" if layout is None else f"in {layout}"
        raise hook_error(hook, op, f"returns a result of type {found}; {where} it would be {expected}")


def _equalize_ranks(op: BinaryBroadcastOp) -> list[ExpandDimsOp]:
    """Adds leading axes of extent 1 to the operand of lower rank, unless it has one element; returns the new ops.

    Before:

        %y = relay.add(%x, %b) : (tensor<1x64x8x8xf32>, tensor<64x1x1xf32>) -> tensor<1x64x8x8xf32>

    After:

        %e = relay.expand_dims(%b) {axis = 0} : (tensor<64x1x1xf32>) -> tensor<1x64x1x1xf32>
        %y = relay.add(%x, %e) : (tensor<1x64x8x8xf32>, tensor<1x64x1x1xf32>) -> tensor<1x64x8x8xf32>
    """
    made: list[ExpandDimsOp] = []
    shapes = [shape_of(operand.type) for operand in op.operands]
    rank = max(len(shape) for shape in shapes)
    for index, shape in enumerate(shapes):
        if len(shape) < rank and not has_one_element(shape):
            operand = op.operands[index]
            expanded = ExpandDimsOp.call(operand, axis=0, num_newaxis=rank - len(shape))
            expanded.location = op.location
            expanded.result.name_hint = operand.name_hint
            Rewriter.insert_op(expanded, InsertPoint.before(op))
            op.operands[index] = expanded.result
            made.append(expanded)
    return made
