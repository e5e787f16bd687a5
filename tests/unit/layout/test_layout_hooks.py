"""Layout hooks: their registration, their results, and the errors for invalid results."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr

from xrelay import relay
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import UnknownOpError
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn.activation import ReluOp
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.errors import PassError
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.layout.alter_op_layout import alter_layouts
from xrelay.passes.layout.convert_layout import convert_layouts
from xrelay.passes.layout.layout_hooks import alters_layout, layout_hook_scope, layout_hooks

Available = Sequence[Layout | None]
NCHW8C = Layout.parse("NCHW8c")


def module() -> ModuleOp:
    x = relay.var("x", shape=(1, 16, 4, 4))
    y = relay.nn.relu(relay.nn.conv2d(x, np.ones((16, 16, 1, 1), np.float32)))
    return relay.Module.from_expr(relay.Function([x], y))


def eight(op: Conv2DOp, available: Available, lanes: int) -> LayoutDecision | LayoutRefusal:
    return op.with_layouts(NCHW8C, Layout.parse("OIHW8i8o"), NCHW8C)


def layout_of_conv(mod: ModuleOp) -> str:
    return next(op.data_layout.data for op in mod.walk() if isinstance(op, Conv2DOp))


@pytest.mark.parametrize("op", [Conv2DOp, "nn.conv2d", "relay.nn.conv2d"])
def test_a_scope_ends_what_is_registered_in_it(op: type[RelayOp] | str) -> None:
    before = layout_hooks("cpu")
    assert before == layout_hooks("llvm") == layout_hooks("llvm -mcpu=haswell") != {}
    with layout_hook_scope({op: eight}):
        changed = module()
        alter_layouts(changed)
        with layout_hook_scope({"nn.relu": eight}), layout_hook_scope({"nn.conv2d": eight}, target="scoped"):
            assert layout_hooks("scoped") == {Conv2DOp: eight}
            assert set(layout_hooks("cpu")) == {*before, ReluOp}
        assert layout_hooks("scoped") == {}
    assert layout_of_conv(changed) == "NCHW8c"
    assert layout_hooks("cpu") == before


def test_a_scope_ends_under_errors_too() -> None:
    before = layout_hooks("cpu")
    with pytest.raises(RuntimeError), layout_hook_scope({"nn.conv2d": eight}):
        raise RuntimeError
    assert layout_hooks("cpu") == before


def test_a_hook_for_no_op() -> None:
    with pytest.raises(UnknownOpError, match=r"did you mean 'nn.conv2d'"):
        alters_layout("nn.conv2", target="scoped")


@pytest.mark.parametrize("answer", [lambda op: op, lambda op: None, lambda op: LayoutRefusal("no")])
def test_answers_that_leave_the_op_alone(answer: Callable[[RelayOp], object]) -> None:
    changed = module()
    text = str(changed)
    alter_layouts(changed, hooks={Conv2DOp: lambda op, available, lanes: answer(op)})
    assert str(changed) == text


@pytest.mark.parametrize(("data", "weight", "result"), [("f32", "f32", "f32"), ("ui8", "i8", "i32")])
def test_no_channels_come_in_no_blocks(data: str, weight: str, result: str) -> None:
    types = f"(tensor<1x0x4x4x{data}>, tensor<16x0x1x1x{weight}>) -> tensor<1x16x4x4x{result}>"
    text = f"""
        func.func @main(%x: tensor<1x0x4x4x{data}>, %w: tensor<16x0x1x1x{weight}>) -> tensor<1x16x4x4x{result}> {{
          %y = relay.nn.conv2d(%x, %w) {{out_dtype = {result}}} : {types}
          func.return %y : tensor<1x16x4x4x{result}>
        }}
    """
    changed = parse_module(full_context(), text, "no_channels.mlir")
    (remark,) = alter_layouts(changed)
    assert "it has no in-channels" in str(remark)
    assert layout_of_conv(changed) == "NCHW"


def test_none_lets_the_op_follow_its_operand() -> None:
    changed = module()
    alter_layouts(changed, target="", hooks={Conv2DOp: eight, ReluOp: lambda op, available, lanes: None})
    relu = next(op for op in changed.walk() if isinstance(op, ReluOp))
    assert "1x2x4x4x8" in str(relu.result.type)


def decision(layout: str, **properties: str) -> LayoutDecision:
    texts = {name: StringAttr(text) for name, text in properties.items()}
    return LayoutDecision((Layout.parse(layout), None), Layout.parse(layout), texts)


def test_ill_formed_answers_name_hook_and_op() -> None:
    relu = ReluOp.create(operands=[], result_types=[])
    cases: list[tuple[object, str]] = [
        ("NCHW8c", "returned 'NCHW8c'; help: return a LayoutDecision, a LayoutRefusal, the op itself or None"),
        (relu, "returned the op relay.nn.relu; help: return a LayoutDecision"),
        (LayoutDecision((NCHW8C,), None), "returned 1 layouts for 2 operands"),
        (decision("NCHW8c", data_layuot="NCHW8c"), "sets 'data_layuot', which nn.conv2d does not have; help: did you "),
        (decision("NCHW8c"), "requests layouts that the op refuses: [relay.nn.conv2d C2] layout NCHW has 4 axes"),
        (
            decision("NCHW8c", data_layout="NCHW8c", out_layout="NHWC"),
            "returns a result of type tensor<1x4x4x16xf32>; in",
        ),
        (LayoutDecision((None, None), Layout.parse("NCD")), "requests a layout that does not fit the result"),
    ]
    for answer, message in cases:

        def hook(op: Conv2DOp, available: Available, lanes: int, answer: object = answer) -> object:
            return answer

        expected = f"@main: relay-alter-op-layout: the layout hook {hook.__qualname__} of nn.conv2d {message}"
        with pytest.raises(PassError, match=re.escape(expected)) as caught:
            alter_layouts(module(), hooks={Conv2DOp: hook})
        assert "\n" not in str(caught.value)


def test_a_hook_that_raises_is_named() -> None:
    def broken(op: Conv2DOp, available: Available, lanes: int) -> LayoutDecision:
        raise KeyError("blocks")

    with pytest.raises(PassError, match=r"broken of nn.conv2d raised KeyError: 'blocks'"):
        alter_layouts(module(), hooks={Conv2DOp: broken})


@pytest.mark.parametrize(
    ("desired", "message"),
    [
        ({"nn.conv2": ["NHWC"]}, "desired-layouts[0] 'nn.conv2:NHWC': unknown relay op 'nn.conv2'; help: did you"),
        ({"nn.conv2d": ["NHWC"], "image.grid_sample": ["NHWC"]}, "'image.grid_sample' has no layout"),
        ({"nn.conv2d": []}, "'nn.conv2d': expected 1 to 2 layouts, found 0"),
        ({"nn.conv2d": ["NHWC", "HWIO", "NHWC"]}, "expected 1 to 2 layouts, found 3"),
        ({"nn.max_pool2d": ["NHWC", "HWIO"]}, "'nn.max_pool2d:NHWC:HWIO': expected 1 layout, found 2"),
        ({"nn.conv2d": ["NCHWx"]}, "'NCHWx' is not a layout; help: write e.g. NCHW"),
        ({"nn.conv2d": ["default"]}, "'default' is not a layout"),
        ({"nn.conv2d": ["NCHWN"]}, "has the axis N twice"),
        ({"nn.conv2d": ["NCW"]}, "layout NCW does not have the axes NCHW"),
        ({"nn.conv2d": ["NCHW2h"]}, "layout NCHW2h splits H; only C may be split"),
        ({"nn.conv2d": ["NCHW", "OIHW2w"]}, "layout OIHW2w splits W; only O and I may be split"),
        ({"nn.conv2d": ["NCHW", "NCHW"]}, "layout NCHW does not have the axes OIHW"),
        ({"nn.conv2d": ["NCHW0c"]}, "splits the axis C by 0"),
        ({"nn.conv2d": ["N8cCHW"]}, "splits the axis C before naming it"),
    ],
)
def test_desired_layouts_that_make_no_sense(desired: dict[str, list[str]], message: str) -> None:
    with pytest.raises(PassError, match=re.escape(message)) as caught:
        convert_layouts(module(), desired)
    assert str(caught.value).startswith("relay-convert-layout: desired-layouts[")


def test_blocks_that_do_not_divide_are_a_remark() -> None:
    (remark,) = [one for one in convert_layouts(module(), {"nn.conv2d": ["NCHW5c"]}) if "conv2d" in one.op_name]
    assert (remark.applied, remark.message) == (False, "blocks of 5 do not divide the 16 in-channels")


def test_a_hook_for_the_cpu_replaces_the_cpus_own_however_early_it_is_registered() -> None:
    script = """
import numpy as np
from xrelay import relay, transform

@REGISTER
def keep(*_):
    return None

x = relay.var("x", shape=(1, 16, 8, 8))
module = relay.IRModule.from_expr(relay.nn.conv2d(x, relay.const(np.ones((16, 16, 3, 3), np.float32))))
print("NCHW16c" in str(transform.AlterOpLayout()(module)))
"""
    for register in (
        'transform.alters_layout("nn.conv2d", target="cpu")',
        'relay.op.register_alter_op_layout("nn.conv2d")',
    ):
        text = script.replace("REGISTER", register)
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
        assert done.stdout == "False\n"
