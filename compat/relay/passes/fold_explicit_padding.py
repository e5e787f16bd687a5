"""`relay-fold-explicit-padding`: folds padding before a convolution or a pool into the `padding` of the op.

A `relay.nn.pad` of the spatial axes becomes part of the `padding` of the convolution, max pool or average pool that
reads it. Importers produce separate padding, which costs a copy of the image. Exact.

Before:

    %p = relay.nn.pad(%x, %zero) {pad_width = [0, 0, 0, 0, 1, 1, 1, 1]}
    %y = relay.nn.conv2d(%p, %w)

After:

    %y = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1]}

The padding value must be the value with which the op pads: 0 for a convolution, the zero point for a quantised
convolution, and the least number of the type for a max pool. For floats the least number is minus infinity; the least
finite number is accepted too if every window contains data. Then the results are equal unless all data in a window are
minus infinity. An average pool counts the explicit padding, so `count_include_pad` is set; an average pool that has
padding of its own and does not count it is not changed.

Not changed: other padding values, values that are not constant, and padding that repeats the data; padding of the batch
or channel axis; blocked layouts; average pools in ceil mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, ModuleOp, i64
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.nn.conv import Conv1DOp, Conv2DOp, Conv3DOp, ConvOp
from xrelay.dialects.relay.ops.nn.pool import AVG_POOLS, MAX_POOLS, AvgPoolOp, WindowPoolOp
from xrelay.dialects.relay.ops.qnn.conv import QnnConv2DOp
from xrelay.dialects.relay.ops.tensor.transform import PadOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.index_algebra.dims import Shape
from xrelay.index_algebra.windows import each
from xrelay.passes.graph.rewriting import constant_of, plain_owner_of, replace_by_variant, rewrite
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

_KINDS: tuple[type[ConvOp | WindowPoolOp], ...] = (
    Conv1DOp,
    Conv2DOp,
    Conv3DOp,
    QnnConv2DOp,
    *MAX_POOLS,
    *AVG_POOLS,
)


@dataclass(frozen=True)
class RelayFoldExplicitPaddingPass(XRelayPass):
    """Folds explicit padding into convolutions and pools; see the module's docstring."""

    name = "relay-fold-explicit-padding"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        rewrite(op, dict.fromkeys(_KINDS, FoldPadding()))


class FoldPadding(RewritePattern):
    """Folds a `relay.nn.pad` into the op that reads it. Exact.

    Before:

        %p = relay.nn.pad(%x, %least) {pad_width = [0, 0, 0, 0, 0, 1, 0, 1]}
        %y = relay.nn.max_pool2d(%p) {pool_size = [3, 3], padding = [1, 1, 0, 0]}

    After:

        %y = relay.nn.max_pool2d(%x) {pool_size = [3, 3], padding = [1, 1, 1, 1]}
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if its data is padded with the value with which `op` pads."""
        if not isinstance(op, ConvOp | WindowPoolOp) or not all(map(is_complete, op.operand_types)):
            return
        pad = plain_owner_of(op.operands[0], PadOp)
        added = None if pad is None else _spatial_padding(op, pad)
        if pad is None or added is None or not _pads_with(op, pad, added):
            return
        changes = _padded(op, added)
        if changes is None:
            return
        replace_by_variant(rewriter, op, op, [pad.data, *op.operands[1:]], changes)


def _spatial_padding(op: ConvOp | WindowPoolOp, pad: PadOp) -> list[int] | None:
    """The padding before each spatial axis, then after each; `None` if `pad` pads other axes too."""
    layout = op.layouts[0]
    if pad.pad_mode.data != "constant" or any(layout.factor(axis) is not None for axis in layout.primal):
        return None
    pairs = list(pad.pad_pairs)
    spatial = [layout.index(axis) for axis in op.AXES]
    if any(any(pair) for axis, pair in enumerate(pairs) if axis not in spatial):
        return None
    return [pairs[axis][side] for side in (0, 1) for axis in spatial]


def _pads_with(op: ConvOp | WindowPoolOp, pad: PadOp, added: Sequence[int]) -> bool:
    """Whether `pad` pads with a value that has the same effect as padding of `op`."""
    number = constant_of(pad.pad_value)
    if number is None:
        return False
    if isinstance(op, QnnConv2DOp):
        zero_point = constant_of(op.operands[2])
        return zero_point is not None and zero_point.size == 1 and int(number) == int(zero_point.reshape(()))
    if isinstance(op, ConvOp | AvgPoolOp):
        return float(number) == 0
    dtype = numpy_dtype(element_type_of(pad.pad_value.type))
    if dtype.kind in "iu":
        return int(number) == np.iinfo(dtype).min
    is_least = dtype.kind == "f" and bool(number == np.finfo(dtype).min)
    return bool(number == -np.inf) or (is_least and _meets_data(op, shape_of(pad.data.type), added))


def _meets_data(op: WindowPoolOp, shape: Shape, added: Sequence[int]) -> bool:
    """Whether every window of the pool contains data if its padding grows by `added`."""
    own, axes, layout = ints(op.padding), len(op.AXES), op.layouts[0]
    if len(own) != len(added) or op.ceil_mode.value.data:
        return False
    steps = each(ints(op.dilation), axes)
    extents = [shape[layout.index(axis)] for axis in op.AXES]
    # A window that begins before the data must end in the data, and its step must not skip the data.
    reach = [(size - 1) * step for size, step in zip(op.sizes, steps, strict=True)] * 2
    long_enough = all(isinstance(n, int) and n >= max(step, 1) for n, step in zip(extents, steps, strict=True))
    return long_enough and all(old + new <= most for old, new, most in zip(own, added, reach, strict=True))


def _padded(op: ConvOp | WindowPoolOp, added: Sequence[int]) -> dict[str, Attribute] | None:
    """The changed properties of `op`; `None` if it cannot pad by `added`."""
    own = ints(op.padding)
    if len(own) != len(added):
        return None
    changes: dict[str, Attribute] = {
        "padding": DenseArrayBase.from_list(i64, [old + new for old, new in zip(own, added, strict=True)])
    }
    if isinstance(op, AvgPoolOp):
        if op.ceil_mode.value.data or (any(own) and not op.count_include_pad.value.data):
            return None
        changes["count_include_pad"] = BoolAttr.from_bool(True)
    return changes
