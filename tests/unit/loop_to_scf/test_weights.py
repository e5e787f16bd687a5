"""The order of the list of weights is that of the conversion's arguments."""

from __future__ import annotations

from xdsl.dialects import func

from xrelay.lowering.loop_to_scf.weights import weights_of_main, weights_to_arguments
from xrelay.passes.infra.source import full_context, parse_module

TEXT = """
func.func @main(%x: memref<4xf32>, %arena: memref<0xi8> {loop.arena}) {
  %b = loop.weight "b" : memref<2xf32>
  %a = loop.weight "a" : memref<3xf32>
  %c = loop.weight "b" : memref<2xf32>
  func.return
}
"""


def test_weights_and_arguments_are_in_one_order():
    module = parse_module(full_context(), TEXT, "main.mlir")
    assert [str(weight) for weight, _ in weights_of_main(module)] == ['"b"', '"a"']
    main = next(op for op in module.ops if isinstance(op, func.FuncOp))
    weights_to_arguments(main)
    types = [str(type) for type in main.function_type.inputs]
    assert types == ["memref<4xf32>", "memref<2xf32>", "memref<3xf32>", "memref<0xi8>"]
    assert weights_of_main(module) == []
