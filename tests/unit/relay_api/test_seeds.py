"""The examples of Relay's pass documentation, with the same results in xrelay's syntax."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

import pytest
from support.seed_example import body, module
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay import instrument, relay, transform
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.transform import PassContext, PassInfo, Sequential

FOLDED = """\
%0 = relay.nn.conv2d(%x, %weight)
%1 = relay.constant c
%2 = relay.constant c.add.multiply
%3 = relay.add(%0, %2)
%4 = relay.add(%3, %1)
%5 = relay.add(%3, %1)
%6 = relay.add(%4, %5)
func.return %6"""

WITHOUT_COMMON = """\
%0 = relay.nn.conv2d(%x, %weight)
%1 = relay.constant c
%2 = relay.constant c.add.multiply
%3 = relay.add(%0, %2)
%4 = relay.add(%3, %1)
%5 = relay.add(%4, %4)
func.return %5"""

ONE_GROUP_EACH = """\
%0 = relay.fused @fused_nn_conv2d(%p0 = %x, %p1 = %weight)
%1 = relay.nn.conv2d(%p0, %p1)
relay.yield %1
%1 = relay.constant c
%2 = relay.constant c.add.multiply
%3 = relay.fused @fused_add(%p0 = %0, %p1 = %2)
%4 = relay.add(%p0, %p1)
relay.yield %4
%4 = relay.fused @fused_add_1(%p0 = %3, %p1 = %1)
%5 = relay.add(%p0, %p1)
relay.yield %5
%5 = relay.fused @fused_add_2(%p0 = %4)
%6 = relay.add(%p0, %p0)
relay.yield %6
func.return %5"""

FUSED_AT_2 = """\
%0 = relay.constant c
%1 = relay.constant c.add.multiply
%2 = relay.fused @fused_nn_conv2d_add_add_add_add(%p0 = %x, %p1 = %weight, %p2 = %1, %p3 = %0)
%3 = relay.nn.conv2d(%p0, %p1)
%4 = relay.add(%3, %p2)
%5 = relay.add(%4, %p3)
%6 = relay.add(%4, %p3)
%7 = relay.add(%5, %6)
relay.yield %7
func.return %2"""

FUSED_AT_3 = """\
%0 = relay.constant c
%1 = relay.constant c.add.multiply
%2 = relay.fused @fused_nn_conv2d_add_add_add(%p0 = %x, %p1 = %weight, %p2 = %1, %p3 = %0)
%3 = relay.nn.conv2d(%p0, %p1)
%4 = relay.add(%3, %p2)
%5 = relay.add(%4, %p3)
%6 = relay.add(%5, %5)
relay.yield %6
func.return %2"""

IN_BLOCKS = """\
%x_1 = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NCHW16c"}
%0 = relay.nn.conv2d(%x_1, %weight) {data_layout = "NCHW16c"}
%1 = relay.constant c
%2 = relay.layout_transform(%1) {src_layout = "NCHW", dst_layout = "NCHW16c"}
%3 = relay.add(%1, %1)
%4 = relay.constant dense<2.000000e+00>
%5 = relay.multiply(%3, %4)
%6 = relay.layout_transform(%5) {src_layout = "NCHW", dst_layout = "NCHW16c"}
%7 = relay.add(%0, %6)
%8 = relay.add(%7, %2)
%9 = relay.add(%7, %2)
%10 = relay.add(%8, %9)
%11 = relay.layout_transform(%10) {src_layout = "NCHW16c", dst_layout = "NCHW"}
func.return %11"""

MULTIPLIED = """\
%0 = relay.nn.conv2d(%x, %weight)
%1 = relay.constant c
%2 = relay.constant dense<3.000000e+00>
%3 = relay.multiply(%2, %1)
%4 = relay.add(%3, %3)
%5 = relay.constant dense<2.000000e+00>
%6 = relay.constant dense<3.000000e+00>
%7 = relay.multiply(%6, %5)
%8 = relay.multiply(%4, %7)
%9 = relay.add(%0, %8)
%10 = relay.add(%9, %3)
%11 = relay.add(%9, %3)
%12 = relay.add(%10, %11)
func.return %12"""


def sequential() -> Sequential:
    members = [transform.FoldConstant(), transform.EliminateCommonSubexpr(), transform.FuseOps(fuse_opt_level=2)]
    return Sequential(members)


def test_passes_applied_by_hand() -> None:
    folded = transform.FoldConstant()(module())
    assert body(folded) == FOLDED
    unique = transform.EliminateCommonSubexpr()(folded)
    assert body(unique) == WITHOUT_COMMON
    assert body(transform.FuseOps(fuse_opt_level=0)(unique)) == ONE_GROUP_EACH
    assert body(folded) == FOLDED


def test_sequential_at_the_default_level_skips_what_needs_level_3() -> None:
    assert body(sequential()(module())) == FUSED_AT_2


def test_sequential_at_level_3() -> None:
    with PassContext(opt_level=3):
        assert body(sequential()(module())) == FUSED_AT_3


@pytest.mark.parametrize("name", ["EliminateCommonSubexpr", "relay-eliminate-common-subexpr"])
def test_disabled_pass(name: str) -> None:
    with PassContext(opt_level=3, disabled_pass=[name]):
        assert body(sequential()(module())) == FUSED_AT_2


def test_required_pass() -> None:
    with PassContext(required_pass=["EliminateCommonSubexpr"]):
        assert body(sequential()(module())) == FUSED_AT_3


@transform.alters_layout(Conv2DOp, target="seed")
def alter_conv2d(op: Conv2DOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
    blocked = Layout.parse("NCHW16c")
    return op.with_layouts(blocked, Layout.parse("OIHW"), blocked)


def test_alter_op_layout_with_a_hook_of_ones_own() -> None:
    with PassContext(opt_level=3):
        assert body(Sequential([transform.AlterOpLayout(target="seed")])(module())) == IN_BLOCKS
    with PassContext(opt_level=3, config={"relay.AlterOpLayout.target": "seed"}):
        assert body(Sequential([transform.AlterOpLayout()])(module())) == IN_BLOCKS


def test_alter_op_layout_with_hooks_given_to_the_pass() -> None:
    assert body(transform.AlterOpLayout(hooks={Conv2DOp: alter_conv2d})(module())) == IN_BLOCKS


@transform.function_pass(opt_level=1)
class CustomPipeline:
    """Multiplies every constant."""

    def __init__(self, multiplier: relay.Expr):
        self.multiplier = multiplier

    def transform_function(self, func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        return transform.replace_each(func, ConstantOp, lambda c: relay.multiply(self.multiplier, c))


def test_custom_pipeline_multiplies_every_constant_once() -> None:
    custom = CustomPipeline(multiplier=relay.const(3, "float32"))
    assert custom.info.name == "CustomPipeline"
    assert body(custom(module())) == MULTIPLIED


def test_print_ir_inside_a_sequential() -> None:
    stream = StringIO()
    names = ["EliminateCommonSubexpr", "FuseOps", "AlterOpLayout"]
    members = [transform.FoldConstant(), transform.PrintIR(stream=stream), *names]
    with PassContext(opt_level=3):
        result = Sequential(members)(module())
    assert stream.getvalue().startswith("// -----// IR PrintIR //----- //\nbuiltin.module {")
    text = stream.getvalue().partition("\n")[2]
    assert text.strip() == str(transform.FoldConstant()(module()))
    assert body(result) == FUSED_AT_3


def test_an_instrument_that_runs_before_every_pass() -> None:
    seen: list[tuple[str, bool]] = []

    @instrument.pass_instrument
    class PrintIR:
        """An instrument that runs only before passes."""

        def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
            seen.append((info.name, "relay.fused" in str(mod)))

    members = ["FoldConstant", transform.PrintIR(stream=StringIO()), "EliminateCommonSubexpr", "FuseOps"]
    with PassContext(opt_level=3, instruments=[PrintIR()]):
        Sequential([*members, "AlterOpLayout"])(module())
    assert seen == [
        ("sequential", False),
        ("FoldConstant", False),
        ("PrintIR", False),
        ("InferType", False),
        ("EliminateCommonSubexpr", False),
        ("InferType", False),
        ("FuseOps", False),
        ("InferType", True),
        ("AlterOpLayout", True),
    ]
