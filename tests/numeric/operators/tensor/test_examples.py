"""The example in each operator's documentation: native code computes the same as the interpreter.

Small examples also run at the intermediate levels, whose interpreters are slow.
"""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from support.levels import assert_same, check_levels, check_native, outputs
from support.relay_examples import example_inputs, example_module
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.dialects.relay.meaning.packed_numbers import unpack
from xrelay.dialects.relay.structure.composite import CompositeOp
from xrelay.dialects.shared.types import is_static, shape_of
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verify_module

OPERATORS = relay_ops()
COMPOSITES = [name for name, op in OPERATORS.items() if issubclass(op, CompositeOp)]


def elements(name: str) -> int | None:
    """The number of elements of the example's inputs; `None` if an extent is dynamic."""
    function = next(each for each in example_module(OPERATORS[name]).ops if isinstance(each, FuncOp))
    types = [*function.function_type.inputs, *function.function_type.outputs]
    if not all(map(is_static, types)):
        return None
    return sum(prod(shape_of(type)) for type in function.function_type.inputs)


ELEMENTS = {name: number for name in OPERATORS if (number := elements(name)) is not None}

SMALL = 512
"""The maximum number of input elements for the intermediate levels."""


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", ELEMENTS)
def test_native_code_of_the_example_computes_the_same(name: str) -> None:
    module = example_module(OPERATORS[name])
    check_native(module, example_inputs(module))


@pytest.mark.grid(16)
@pytest.mark.parametrize("name", [name for name, number in ELEMENTS.items() if number <= SMALL])
def test_the_example_computes_the_same_at_every_level(name: str) -> None:
    module = example_module(OPERATORS[name])
    check_levels(module, example_inputs(module), every=True)


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", COMPOSITES)
def test_the_parts_of_a_composite_compute_its_meaning(name: str) -> None:
    """The interpreter runs the op's own numpy definition, which its expansion must match."""
    expanded, whole = example_module(OPERATORS[name]), example_module(OPERATORS[name])
    op = next(each for each in expanded.walk() if isinstance(each, OPERATORS[name]))
    assert isinstance(op, CompositeOp)
    parts, value = op.decompose_on(op.operands)
    Rewriter.replace_op(op, parts, [value])
    verify_module(expanded)
    assert_same(outputs(expanded, example_inputs(expanded)), outputs(whole, example_inputs(whole)), "parts", 1e-6)


@pytest.mark.parametrize("name", ["nn.conv2d", "nn.contrib_conv2d_winograd_without_weight_transform"])
def test_an_example_without_images_has_an_empty_result(name: str) -> None:
    text = print_module(example_module(OPERATORS[name])).replace("tensor<1x", "tensor<0x")
    module = parse_module(full_context(), text, name)
    check_native(module, example_inputs(module))


def test_no_words_have_no_numbers() -> None:
    assert unpack(np.zeros((0, 3), np.int32), 4).shape == (0, 24)
