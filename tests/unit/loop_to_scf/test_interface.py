"""The interface of modules below the loop level: inputs, outputs and weights; a single kernel gets an entry."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelay.api.interface import tables_of
from xrelay.dialects.shared.attribute_names import INPUTS
from xrelay.errors import InputError, LoweringError
from xrelay.lowering.interface import has_interface
from xrelay.lowering.loop_to_scf.convert_loop_to_scf import ConvertLoopToScfPass
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.loop.entry import call_single_kernel

INTERFACE = "xrelay.inputs = {}, xrelay.outputs = [], xrelay.weights = [], xrelay.arena_size = 0 : i64"


def parsed(text: str) -> ModuleOp:
    return parse_module(full_context(), text, "module.mlir")


def test_a_module_without_interface_says_which_attribute_is_absent() -> None:
    with pytest.raises(LoweringError, match=r"the module attribute xrelay.arena_size is absent"):
        tables_of(parsed("builtin.module {}"))


@pytest.mark.parametrize("rows", ['"x"', "[1 : i64]", '[{name = "x"}]', "[{name = 1 : i64, type = tensor<4xf32>}]"])
def test_rows_that_are_not_as_written_are_refused(rows: str) -> None:
    module = parsed(f"builtin.module attributes {{{INTERFACE.format(rows)}}} {{}}")
    with pytest.raises(LoweringError, match=r"the module attribute xrelay.inputs is "):
        tables_of(module)


def test_an_input_of_open_shape_is_named() -> None:
    module = parsed(
        f"""builtin.module attributes {{{INTERFACE.format('[{name = "x", type = tensor<?xf32>}]')}}} {{}}"""
    )
    with pytest.raises(LoweringError, match=r"input 'x' is tensor<\?xf32>, whose shape is not known when compiling"):
        tables_of(module)


def test_a_main_that_does_not_count_its_outputs_has_no_interface() -> None:
    module = parsed("func.func @main(%x: memref<4xf32>) { func.return }")
    ConvertLoopToScfPass().apply(full_context(), module)
    assert INPUTS not in module.attributes
    assert not has_interface(module)


KERNEL = """
func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>, %t: memref<4xf32>)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.num_scratch = 1 : i64} {
  func.return
}"""


def test_the_entry_of_a_kernel_gives_it_its_scratch() -> None:
    module = parsed(KERNEL)
    call_single_kernel(module)
    ConvertLoopToScfPass().apply(full_context(), module)
    interface, _ = tables_of(module)
    assert [entry.name for entry in interface.inputs] == ["x"]
    assert [entry.name for entry in interface.outputs] == ["y"]
    assert "func.call @k(%x, %y, %0) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()" in str(module)


def test_a_module_with_an_entry_keeps_it() -> None:
    module = parsed(KERNEL + "func.func @main() { func.return }")
    before = str(module)
    call_single_kernel(module)
    assert str(module) == before


def test_several_kernels_need_an_entry() -> None:
    module = parsed(KERNEL + KERNEL.replace("@k", "@l"))
    with pytest.raises(InputError, match="no function @main and 2 kernels: @k, @l"):
        call_single_kernel(module)
