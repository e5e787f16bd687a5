"""Ops belong to the level of their class: an op of relay or topi keeps it under another dialect's name."""

from __future__ import annotations

from typing import ClassVar

import pytest
from xdsl.dialects.arith import AddfOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.ops.nn.activation import ReluOp
from xrelay.dialects.shared.levels import level_of_class
from xrelay.dialects.topi.named.base import Expansion, NamedOp
from xrelay.errors import LoweringError
from xrelay.lowering.relay_to_topi.convert_relay_to_topi import ConvertRelayToTopiPass
from xrelay.passes.infra.conversion import legal_outside
from xrelay.passes.infra.module_level import module_level
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verify_module, walk_ops
from xrelay.passes.types.infer_type import RelayInferTypePass

TEXT = """
func.func private @kernel(%x: tensor<4xf32>) -> !relay.incomplete attributes {relay.primitive} {
  %y = acme.foo(%x) : (tensor<4xf32>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""


@irdl_op_definition
class FooOp(RelayOp):
    """An operator of another package."""

    name = "acme.foo"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.ELEM_WISE

    data = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def infer_type(self, facts: Facts) -> Attribute:
        """The operand's type."""
        return facts[0]


@irdl_op_definition
class BarOp(NamedOp):
    """A named op of another package."""

    name = "acme.bar"
    data = operand_def()
    result = result_def()

    def expand(self) -> Expansion:
        """Never called here."""
        raise NotImplementedError


@pytest.fixture
def module() -> ModuleOp:
    """A typed module with a kernel of one operator of another package."""
    context = full_context()
    context.register_dialect("acme", lambda: Dialect("acme", [FooOp, BarOp]))
    module = parse_module(context, TEXT, "acme.mlir")
    RelayInferTypePass().apply(context, module)
    verify_module(module)
    return module


def test_the_level_is_that_of_the_base_class() -> None:
    assert [level_of_class(op) for op in (FooOp, BarOp, ReluOp, AddfOp)] == ["relay", "topi", "relay", "arith"]


def test_an_op_of_relay_is_not_legal_outside_relay_under_any_name(module: ModuleOp) -> None:
    is_legal = legal_outside("relay")
    assert [op.name for op in walk_ops(module) if not is_legal(op)] == ["acme.foo"]


def test_a_module_of_such_ops_is_at_the_level_of_relay(module: ModuleOp) -> None:
    assert module_level(module) == "relay"
    (kernel,) = module.ops
    (foo, _) = kernel.regions[0].block.ops
    bar = BarOp.create(operands=foo.operands, result_types=foo.result_types)
    kernel.regions[0].block.insert_op_before(bar, foo)
    assert module_level(module) == "topi"


def test_a_lowering_that_does_not_know_the_op_says_so(module: ModuleOp) -> None:
    with pytest.raises(LoweringError, match=r"acme\.foo"):
        ConvertRelayToTopiPass().apply(full_context(), module)
