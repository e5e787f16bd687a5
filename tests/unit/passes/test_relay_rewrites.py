"""The Python API of graph passes: remarks, hooks, names, the pipeline table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from support.frames import frames_left
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, FileLineColLoc, FusedLoc, IntAttr, ModuleOp, StringAttr, TensorType, f32
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.parser import Parser

from xrelay.dialects.relay.dialect import RELAY
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn.activation import ReluOp
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.tensor.arithmetic import MultiplyOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.errors import PassError
from xrelay.lowering.registry import ALL_PASSES, load_pass
from xrelay.passes.catalogue.default_pipeline import DEFAULT_PIPELINE, chosen_passes
from xrelay.passes.fusion.fuse_ops import MAX_LENGTH, RelayFuseOpsPass, fuse_module, kernel_name
from xrelay.passes.fusion.partition import FusionOptions
from xrelay.passes.layout.alter_op_layout import alter_layouts
from xrelay.passes.layout.cpu_layout_hooks import vector_block
from xrelay.passes.relay.eliminate_common_subexpr import eliminate_common_subexpressions
from xrelay.passes.relay.fold_constant import fold_constants
from xrelay.passes.relay.fold_scale_axis import fold_scale_axis

CONV_RELU = """
func.func @main(%x: tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32> {
  %w = relay.constant dense<1.0> : tensor<16x16x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32>
  %r = relay.nn.relu(%c) : (tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
  func.return %r : tensor<1x16x4x4xf32>
}
"""


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, RELAY):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


# --- remarks and hooks


def test_every_layout_decision_is_a_remark():
    remarks = alter_layouts(parse(CONV_RELU))
    assert [(remark.op_name, remark.applied) for remark in remarks] == [
        ("relay.nn.conv2d", True),
        ("relay.nn.relu", True),
    ]
    assert remarks[0].message.startswith("works in NCHW16c, ")


def test_a_user_hook_goes_before_the_target():
    def eight(op: Conv2DOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
        blocked = Layout.parse("NCHW8c")
        return op.with_layouts(blocked, Layout.parse("OIHW8i8o"), blocked)

    module = parse(CONV_RELU)
    alter_layouts(module, hooks={Conv2DOp: eight})
    conv = next(op for op in module.walk() if isinstance(op, Conv2DOp))
    assert conv.data_layout.data == "NCHW8c"
    module.verify()


def test_a_hook_that_refuses_leaves_the_op_alone():
    module = parse(CONV_RELU)
    before = str(module)
    remarks = alter_layouts(module, hooks={Conv2DOp: lambda op, available, lanes: LayoutRefusal("not today")})
    assert str(module) == before
    assert [remark.message for remark in remarks] == ["not today"]


def test_a_target_without_hooks_changes_nothing():
    module = parse(CONV_RELU)
    before = str(module)
    assert alter_layouts(module, target="abacus") == []
    assert str(module) == before


def test_a_hook_that_asks_for_the_impossible_is_a_refusal():
    def seven(op: Conv2DOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
        layouts = (Layout.parse("NCHW7c"), Layout.parse("OIHW"))
        return LayoutDecision(layouts, layouts[0], {"data_layout": StringAttr("NCHW7c")})

    module = parse(CONV_RELU)
    remarks = alter_layouts(module, hooks={Conv2DOp: seven})
    assert [remark.applied for remark in remarks] == [False]
    module.verify()


def test_lanes_must_be_positive():
    with pytest.raises(PassError, match="vector-lanes is 0"):
        alter_layouts(parse(CONV_RELU), vector_lanes=0)


@pytest.mark.parametrize(("extent", "block"), [(64, 16), (40, 8), (20, 4), (6, None), (1000, 8), (16, 16)])
def test_vector_blocks(extent: int, block: int | None):
    assert vector_block(extent, 16) == block


def test_folding_says_what_it_refuses():
    module = parse("""
func.func @main() -> tensor<32xf32> {
  %w = relay.constant #relay.weight<"far", "00"> : tensor<32xf32>
  %e = relay.exp(%w) : (tensor<32xf32>) -> tensor<32xf32>
  func.return %e : tensor<32xf32>
}
""")
    (remark,) = fold_constants(module)
    assert not remark.applied
    assert "'far' are not loaded" in str(remark)


def test_scales_say_where_they_went():
    module = parse("""
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = relay.constant dense<1.0> : tensor<2x2xf32>
  %s = relay.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %c = relay.nn.dense(%x, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %y = relay.multiply(%c, %s) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}
""")
    assert [remark.message for remark in fold_scale_axis(module)] == ["moved into a constant of relay.nn.dense"]


FACTORS = """
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = relay.constant dense<1.0> : tensor<2x2xf32>
  %s = relay.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %a = relay.multiply(%x, %s) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %c = relay.nn.dense(%a, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %y = relay.multiply(%c, %s) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}
"""


@pytest.mark.parametrize(("direction", "left"), [("both", 0), ("backward", 1), ("forward", 1)])
def test_scales_go_the_way_they_are_told(direction: str, left: int):
    module = parse(FACTORS)
    fold_scale_axis(module, direction=direction)
    assert sum(isinstance(op, MultiplyOp) for op in module.walk()) == left


def test_an_unknown_direction_is_refused():
    with pytest.raises(PassError, match="direction is 'sideways'"):
        fold_scale_axis(parse(FACTORS), direction="sideways")


def test_common_ops_can_be_skipped():
    text = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}
"""
    assert eliminate_common_subexpressions(parse(text)) == 1
    assert eliminate_common_subexpressions(parse(text), skip=lambda op: op.name == "relay.exp") == 0


def test_a_folded_weight_does_not_keep_its_operand_alive():
    block = Block(arg_types=[])
    array = np.arange(64, dtype=np.float32).reshape(8, 8)
    big = ConstantOp.of(array, "w")
    block.add_op(big)
    from xrelay.dialects.relay.ops.tensor.transform import TransposeOp

    moved = TransposeOp.call(big.result, axes=[1, 0])
    block.add_ops([moved, ReturnOp(moved.result)])
    module = ModuleOp([FuncOp("main", ([], [moved.result.type]), Region(block))])
    fold_constants(module)
    (constant,) = (op for op in module.walk() if isinstance(op, ConstantOp))
    assert constant.array.flags.c_contiguous
    assert not np.shares_memory(constant.array, array)
    assert isinstance(constant.value, WeightAttr)
    assert constant.value.data.name == "w.transpose"


# --- fusion


def test_a_group_is_located_where_its_ops_are():
    module = parse(CONV_RELU)
    relevant = [op for op in module.walk() if isinstance(op, Conv2DOp | ReluOp)]
    for line, op in enumerate(relevant, start=1):
        op.location = FileLineColLoc(StringAttr("net.py"), IntAttr(line), IntAttr(1))
    fuse_module(module, FusionOptions())
    group = next(op for op in module.walk() if isinstance(op, FusedOp))
    assert isinstance(group.location, FusedLoc)
    assert [op.location for op in group.body.block.ops][:2] == [op.location for op in relevant]


def test_names_are_abbreviated_at_the_limit():
    assert kernel_name(["nn_conv2d", "add"]) == "fused_nn_conv2d_add"
    assert kernel_name(["exp"] * 256) == "fused_expx256"
    long = kernel_name([f"operator_{number}" for number in range(200)])
    assert len(long) <= MAX_LENGTH
    assert long.endswith("_more")


def test_level_minus_one_is_the_default():
    assert RelayFuseOpsPass().options == FusionOptions()
    assert RelayFuseOpsPass(fuse_opt_level=0).options.opt_level == 0


def test_fusing_leaves_no_use_of_what_it_moved_behind():
    module = parse(CONV_RELU)
    fuse_module(module, FusionOptions())
    load_pass("relay-defuse-ops")().apply(Context(), module)
    uses: list[SSAValue] = [operand for op in module.walk() for operand in op.operands]
    for op in module.walk():
        for result in op.results:
            assert len(list(result.uses)) == uses.count(result)


# --- the pipeline


def test_the_pipeline_names_registered_passes_with_reasons():
    assert all(row.spec.split("{")[0] in ALL_PASSES for row in DEFAULT_PIPELINE)
    assert all(row.why for row in DEFAULT_PIPELINE)


def test_levels_include_one_another():
    lists = [chosen_passes(DEFAULT_PIPELINE, level, vector_lanes=8) for level in range(4)]
    for lower, upper in pairwise(lists):
        rest = iter(upper)
        assert all(name in rest for name in lower)
    assert "relay-alter-op-layout{vector-lanes=8}" in lists[3]


# --- depth


FRAMES = 200
"""The number of Python frames that a pass may use."""
DEEP = 2 * FRAMES
"""The number of ops of a chain."""


@pytest.mark.parametrize("name", [name for name in ALL_PASSES if name.startswith("relay-") and "check" not in name])
def test_a_deep_chain_is_no_recursion(name: str):
    type = TensorType(f32, [4])
    block = Block(arg_types=[type])
    value: SSAValue = block.args[0]
    for _ in range(DEEP):
        op = ReluOp.create(operands=[value], result_types=[type])
        block.add_op(op)
        value = op.result
    block.add_op(ReturnOp(value))
    module = ModuleOp([FuncOp("main", ([type], [type]), Region(block))])
    required = ["relay-to-a-normal-form"] if name == "relay-annotate-used-memory" else []
    passes = [load_pass(each)() for each in [*required, name]]
    with frames_left(FRAMES):
        for each in passes:
            each.apply(Context(), module)
    module.verify()
