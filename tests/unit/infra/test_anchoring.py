"""`func.func(…)`: pipelines on one function at a time, and the merged module."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.transforms import get_all_passes
from xdsl.utils.exceptions import PassFailedException

from xrelay import relay
from xrelay.errors import PassError
from xrelay.lowering.pipelines import all_passes, compile_stages
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.infra.pipeline import run_on_functions, run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verify_module
from xrelay.passes.infra.xrelay_pass import is_per_function

TEXT = """
builtin.module attributes {known = "yes"} {
  func.func private @outside(tensor<4xf32>) -> tensor<4xf32>
  func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
    func.return %x : tensor<4xf32>
  }
  func.func @second(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = func.call @first(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %z = func.call @outside(%y) : (tensor<4xf32>) -> tensor<4xf32>
    %a = func.call @first(%z) : (tensor<4xf32>) -> tensor<4xf32>
    func.return %a : tensor<4xf32>
  }
}
"""


@dataclass(frozen=True)
class MarkPass(ModulePass):
    """Records the module's functions, and adds a function after each that has a body."""

    name = "test-mark"
    seen: list[list[str]]
    fails_on: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        assert op.attributes["known"] == StringAttr("yes")
        verify_module(op)
        functions = [function for function in op.ops if isinstance(function, FuncOp)]
        self.seen.append([f"{f.sym_name.data}{'' if f.is_declaration else '{}'}" for f in functions])
        for function in [function for function in functions if not function.is_declaration]:
            function.attributes["marked"] = UnitAttr()
            if function.sym_name.data == self.fails_on:
                raise PassFailedException("no more")
            extra = FuncOp.external(f"{function.sym_name.data}_extra", [], [])
            op.body.block.insert_op_after(extra, function)


@pytest.fixture
def module() -> ModuleOp:
    return parse_module(full_context(), TEXT, "anchored.mlir")


def names(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)]


def test_a_pass_meets_one_body_and_the_declarations_that_it_names(module: ModuleOp) -> None:
    current = MarkPass([])
    run_on_functions(module, [current], context=full_context())
    assert current.seen == [["first{}"], ["first", "outside", "second{}"]]
    assert names(module) == ["outside", "first", "first_extra", "second", "second_extra"]
    verify_module(module)


def test_all_passes_run_on_a_function_before_the_next_one_is_begun(module: ModuleOp) -> None:
    seen: list[list[str]] = []
    run_on_functions(module, [MarkPass(seen, fails_on=" "), MarkPass(seen)], context=full_context())
    assert [one[-1] for one in seen[:2]] == ["first{}", "first_extra"]


def test_what_a_failing_pass_left_is_back_in_the_module(module: ModuleOp) -> None:
    before = print_module(module)
    with pytest.raises(PassError, match=r"\[test-mark\] no more"):
        run_on_functions(module, [MarkPass([], fails_on="second")], context=full_context())
    assert names(module) == ["outside", "first", "first_extra", "second"]
    assert print_module(module).count("func.func") == before.count("func.func") + 1
    verify_module(module)


def net() -> ModuleOp:
    x, w = relay.var("x", shape=(1, 4, 6, 6)), relay.const(np.ones((4, 4, 3, 3), np.float32))
    conv = relay.nn.relu(relay.nn.conv2d(x, w, padding=(1, 1)))
    return relay.Module.from_expr(relay.Function([x], relay.nn.softmax(relay.add(conv, relay.const(1.0)))))


def test_function_passes_do_the_same_on_each_function_alone() -> None:
    module, context, table = net(), full_context(), {**get_all_passes(), **pass_thunks()}
    compared: list[str] = []
    for current in parse_passes(",".join(all_passes(compile_stages())), table):
        # Clones have no block names, so the pass runs on two clones.
        alone, module = module.clone(), module.clone()
        run_pipeline(module, [current], context=context)
        if is_per_function(type(current)):
            run_on_functions(alone, [current], context=context)
            assert print_module(alone) == print_module(module), current.name
            compared.append(current.name)
    expected = {"relay-fold-constant", "relay-fuse-ops", "topi-inline-injective", "loop-lower-blocks", "scf-simplify"}
    assert expected <= set(compared)
