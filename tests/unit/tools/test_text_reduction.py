"""Parts of texts have the chosen ops, with parameters and results for the values of the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xrelay
from xrelay import relay
from xrelay.api.sources import save_module
from xrelay.errors import ParseError
from xrelay.passes.infra.printing import print_module
from xrelay.tools.reduction.text_parts import TextParts

NETWORK = """
func.func @main(%x: tensor<1x3x8x8xf32> {a.name = "x"}, %w: !relay.incomplete {a.name = "w"}) -> !relay.incomplete {
  %c = relay.nn.conv2d(%x, %w) {channels = 4, kernel_size = [3, 3]}
    : (tensor<1x3x8x8xf32>, !relay.incomplete) -> !relay.incomplete
  %r = relay.nn.relu(%c) : (!relay.incomplete) -> !relay.incomplete
  %e = relay.exp(%r) : (!relay.incomplete) -> !relay.incomplete
  func.return %e : !relay.incomplete
}
"""
KERNEL = """
func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {loop.num_outputs = 1 : i64, loop.kernel} {
  %one = arith.constant 1.0 : f32
  loop.for "i" %i to 4 {
    loop.store %one, %y[%i] : memref<4xf32>
  }
  func.return
}
"""


def parts_of(text: str, folder: Path) -> TextParts:
    (folder / "net.mlir").write_text(text)
    return TextParts(folder / "net.mlir")


def lines_of(parts: TextParts, ops: list[int]) -> list[str]:
    part = parts.part(ops)
    assert part is not None
    return [line.strip() for line in print_module(part).splitlines()[1:-2]]


def test_a_value_of_a_removed_op_becomes_a_parameter_of_its_inferred_type(tmp_path: Path):
    assert lines_of(parts_of(NETWORK, tmp_path), [0, 3]) == [
        "func.func @main(%r: tensor<1x4x6x6xf32>) -> !relay.incomplete {",
        "%e = relay.exp(%r) : (tensor<1x4x6x6xf32>) -> !relay.incomplete",
        "func.return %e : !relay.incomplete",
    ]


def test_a_value_whose_users_are_removed_is_returned(tmp_path: Path):
    parts = parts_of(NETWORK, tmp_path)
    lines = lines_of(parts, [0, 2])
    assert lines[0] == "func.func @main(%c: tensor<1x4x6x6xf32>) -> !relay.incomplete {"
    assert lines[2:] == ["func.return %r : !relay.incomplete"]
    assert 'a.name = "w"' in lines_of(parts, [0, 1])[0]


def test_outputs_of_a_kernel_stay_its_last_parameters(tmp_path: Path):
    header = lines_of(parts_of(KERNEL, tmp_path), [0, 2, 3])[0]
    assert header.startswith("func.func private @k(%one: f32, %x: memref<4xf32>, %y: memref<4xf32>) attributes")


def test_ops_inside_of_a_removed_op_are_removed(tmp_path: Path):
    parts = parts_of(KERNEL, tmp_path)
    assert parts.count == 4
    assert len(lines_of(parts, [0, 1, 3])) == 3
    assert lines_of(parts, [1, 3]) == []


def test_a_value_outside_of_functions_cannot_become_a_parameter(tmp_path: Path):
    parts = parts_of("%a = arith.constant 1 : index\n%b = arith.addi %a, %a : index", tmp_path)
    assert parts.part([1]) is None
    assert parts.part([0]) is not None


def test_a_text_keeps_the_weights_that_it_uses(tmp_path: Path):
    weight = np.arange(512, dtype=np.float32)
    x = relay.var("x", shape=(512,))
    body = relay.exp(x + relay.const(weight))
    module = relay.Module.from_expr(relay.Function([x], body))
    save_module(module, tmp_path / "net.mlir")
    parts = TextParts(tmp_path / "net.mlir")
    (tmp_path / "small").mkdir()
    small = tmp_path / "small" / "net.mlir"
    assert parts.write_part([0, 1, 2], small)
    (y,) = xrelay.interpret(str(small), [np.zeros(512, np.float32)])
    np.testing.assert_array_equal(y, weight)
    assert parts.write_part([0, 3], small)
    assert "relay.weights" not in small.read_text()


def test_a_text_with_invalid_syntax_is_refused(tmp_path: Path):
    with pytest.raises(ParseError):
        parts_of("func.func @main(", tmp_path)
