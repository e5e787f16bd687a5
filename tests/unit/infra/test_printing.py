"""Printed programs: text that is printed as a whole, or copied, equals the output of xDSL's printer.

It differs for zeros of both signs, which xDSL prints as one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO

import pytest
from xdsl.dialects import arith, test
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    VectorType,
    f32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.printer import Printer

from xrelay.passes.infra.module_digest import module_digest_text
from xrelay.passes.infra.printing import print_module

STRINGS = ["", "plain", 'a "quote"', "a\\b", "line\nend", "\t", "tilde~", "\x7f", "Größe", "\0"]


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("debuginfo", [False, True])
def test_text_is_that_of_xdsl(generic: bool, debuginfo: bool) -> None:
    shared, equal = TensorType(f32, [2, 3]), TensorType(f32, [2, 3])
    attributes: list[Attribute] = [*map(StringAttr, STRINGS), UnitAttr(), DenseArrayBase.from_list(i64, [1]), shared]
    named = {f"a{number}": attribute for number, attribute in enumerate(attributes)}
    first = test.TestOp(result_types=[shared, equal, shared], attributes=named)
    second = test.TestOp(operands=first.results, result_types=[shared], attributes={'no "name"': shared})
    module = ModuleOp([first, second])
    expected = StringIO()
    Printer(stream=expected, print_generic_format=generic, print_debuginfo=debuginfo).print_op(module)
    assert print_module(module, generic=generic, debuginfo=debuginfo) == expected.getvalue()


@pytest.mark.parametrize("text", [print_module, module_digest_text])
def test_text_has_the_sign_of_each_zero(text: Callable[[ModuleOp], str]) -> None:
    vector = VectorType(f32, [2])
    values = [DenseIntOrFPElementsAttr.from_list(vector, pair) for pair in ([0.0, -0.0], [-0.0, 0.0], [0.0, 0.0])]
    assert len({text(ModuleOp([arith.ConstantOp(value)])) for value in values}) == 3
