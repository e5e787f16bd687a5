"""The example in each operator's documentation runs: native code computes what the interpreter does.

Small ones run at the levels between as well, whose interpreters take their time.
"""

from __future__ import annotations

import pytest
from support.levels import assert_same, check_levels, check_native, outputs
from support.relay_examples import example_inputs, example_module
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.dialects.relay.core.types import is_static
from xrelay.dialects.relay.structure.composite import CompositeOp
from xrelay.passes.infra.verify import verify_module

OPERATORS = relay_ops()
COMPOSITES = [name for name, op in OPERATORS.items() if issubclass(op, CompositeOp)]


def static(name: str) -> bool:
    function = next(each for each in example_module(OPERATORS[name]).ops if isinstance(each, FuncOp))
    return all(map(is_static, (*function.function_type.inputs, *function.function_type.outputs)))


SMALL = 512
"""How many elements the inputs may have for the levels between."""


@pytest.mark.parametrize("name", [name for name in OPERATORS if static(name)])
def test_the_example_computes_the_same_at_every_level(name: str) -> None:
    module = example_module(OPERATORS[name])
    inputs = example_inputs(module)
    check_native(module.clone(), inputs)
    if sum(array.size for array in inputs) <= SMALL:
        check_levels(module, inputs)


@pytest.mark.parametrize("name", COMPOSITES)
def test_the_parts_of_a_composite_compute_its_meaning(name: str) -> None:
    """The numpy meaning of the op is its own; the interpreter of its parts has to agree with it."""
    expanded, whole = example_module(OPERATORS[name]), example_module(OPERATORS[name])
    op = next(each for each in expanded.walk() if isinstance(each, OPERATORS[name]))
    assert isinstance(op, CompositeOp)
    parts, value = op.parts_on(op.operands)
    Rewriter.replace_op(op, parts, [value])
    verify_module(expanded)
    assert_same(outputs(expanded, example_inputs(expanded)), outputs(whole, example_inputs(whole)), "parts", 1e-6)
