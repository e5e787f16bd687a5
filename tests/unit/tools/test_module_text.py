"""The text of a module is printed again after every change that the text shows, and only then."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr, f64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.tools.explore import module_text
from xrelay.tools.explore.module_text import ModuleText

TEXT = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = relay.exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
func.func @empty() {
  func.return
}
"""


def parsed() -> ModuleOp:
    return parse_module(full_context(), TEXT, "test.mlir")


def functions(module: ModuleOp) -> list[FuncOp]:
    return [op for op in module.ops if isinstance(op, FuncOp)]


def body(module: ModuleOp) -> list[Operation]:
    return list(functions(module)[0].body.block.ops)


def swap_operands(module: ModuleOp) -> None:
    add = body(module)[0]
    add.operands = tuple(reversed(add.operands))


def set_attribute(module: ModuleOp) -> None:
    body(module)[0].attributes["test.new"] = UnitAttr()


def set_property(module: ModuleOp) -> None:
    functions(module)[1].properties["sym_name"] = StringAttr("renamed")


def set_type_of_a_result(module: ModuleOp) -> None:
    Rewriter.replace_value_with_new_type(body(module)[1].results[0], f64)


def name_a_result(module: ModuleOp) -> None:
    body(module)[0].results[0].name_hint = "sum"


def name_an_argument(module: ModuleOp) -> None:
    functions(module)[0].args[0].name_hint = "data"


def move_an_op(module: ModuleOp) -> None:
    last = functions(module)[1]
    last.detach()
    module.body.block.insert_op_before(last, functions(module)[0])


def move_an_op_into_another_block(module: ModuleOp) -> None:
    exp, target = body(module)[1], functions(module)[1].body.block
    exp.detach()
    target.insert_op_before(exp, next(iter(target.ops)))


def erase_an_op(module: ModuleOp) -> None:
    functions(module)[1].detach()


@pytest.mark.parametrize(
    "change",
    [
        swap_operands,
        set_attribute,
        set_property,
        set_type_of_a_result,
        name_a_result,
        name_an_argument,
        move_an_op,
        move_an_op_into_another_block,
        erase_an_op,
    ],
)
def test_the_text_shows_every_change(change: Callable[[ModuleOp], None]) -> None:
    module, texts = parsed(), ModuleText()
    before = texts.of(module)
    assert before == print_module(module)
    change(module)
    assert texts.of(module) == print_module(module) != before


def test_another_module_has_its_own_text() -> None:
    module, texts = parsed(), ModuleText()
    texts.of(module)
    other = module.clone()
    set_attribute(other)
    assert texts.of(other) == print_module(other)


def test_an_unchanged_module_is_printed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[ModuleOp] = []

    def counted(module: ModuleOp) -> str:
        printed.append(module)
        return print_module(module)

    monkeypatch.setattr(module_text, "print_module", counted)
    module, texts = parsed(), ModuleText()
    assert texts.of(module) == texts.of(module)
    assert len(printed) == 1
