"""Every op of the dialect: documented with an example that parses, typed, and with metadata for the compiler."""

from __future__ import annotations

import re
import textwrap
from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import is_side_effect_free

from xrelay.dialects import relay
from xrelay.dialects.relay.core.facts import Facts, Inference
from xrelay.dialects.relay.core.op_base import INCOMPLETE, RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.registry import relay_ops, relay_ops_of
from xrelay.dialects.relay.dialect import LANGUAGE, RELAY
from xrelay.dialects.relay.structure.composite import CompositeOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import is_complete
from xrelay.interpreters.relay.registry import can_evaluate
from xrelay.passes.infra.verify import verify_module

OPERATORS = relay_ops()


def example_of(op):
    found = re.search(r"```mlir\n(.*?)```", op.__doc__ or "", re.S)
    assert found is not None, f"{op.name} has no example"
    return textwrap.dedent(found.group(1))


def parse_example(context, text):
    """The example as a module: undefined values become arguments of a function.

    Functions of the example are siblings of that function.
    """
    parser = Parser(context, text + "\nfunc.return")
    ops = [parser.parse_op()]
    while not isinstance(ops[-1], ReturnOp):
        ops.append(parser.parse_op())
    free = [value for values in parser.forward_ssa_references.values() for value in values.values()]
    block = Block(arg_types=[value.type for value in free])
    for value, argument in zip(free, block.args, strict=True):
        value.replace_all_uses_with(argument)
    functions = [op for op in ops if isinstance(op, FuncOp)]
    block.add_ops([op for op in ops if not isinstance(op, FuncOp)])
    return ModuleOp([*functions, FuncOp("example", (list(block.arg_types), []), Region(block))])


@pytest.mark.parametrize("op", list(RELAY.operations), ids=lambda op: op.name)
def test_the_example_round_trips_and_the_shape_rule_looks_at_types_and_properties_alone(op):
    context = Context()
    for dialect in (Builtin, Func, RELAY):
        context.load_dialect(dialect)
    module = parse_example(context, example_of(op))
    verify_module(module)
    assert any(isinstance(found, op) for found in module.walk())
    for each in module.walk():
        if isinstance(each, RelayOp) and (each.INFERS_FROM_INCOMPLETE or all(map(is_complete, each.operand_types))):
            check_inference(each)
    generic = StringIO()
    Printer(generic, print_generic_format=True).print_op(module)
    assert str(Parser(context, str(module)).parse_module()) == str(module)
    assert str(Parser(context, generic.getvalue()).parse_module()) == str(module)


def check_inference(op):
    """Checks that an op without operands infers the same type from the types of the operands."""
    bare = type(op).create(result_types=[INCOMPLETE], properties=op.properties)
    facts = Facts(op.name, op.operand_types)
    assert Inference.of(bare.infer_type(facts), facts).anonymous_type == op.inferred_type(op.operand_types)


def test_constraints_are_in_order():
    numbers = {op.name: [*map(int, re.findall(r"- C(\d+):", op.__doc__ or ""))] for op in RELAY.operations}
    assert {name: sorted(found) for name, found in numbers.items()} == numbers


def test_operators_have_a_pattern_a_numpy_meaning_and_no_effects():
    made = {name: op.create(result_types=[]) for name, op in OPERATORS.items()}
    assert [name for name, op in made.items() if not isinstance(op.PATTERN, OpPatternKind)] == []
    assert [name for name, op in made.items() if not can_evaluate(op)] == []
    assert [name for name, op in made.items() if not is_side_effect_free(op)] == []


def test_every_op_belongs_to_a_family():
    assert set(RELAY.operations) == {*OPERATORS.values(), *LANGUAGE}
    assert YieldOp in LANGUAGE


def test_the_package_gives_the_whole_dialect() -> None:
    assert relay.RELAY is RELAY
    assert relay.LANGUAGE is LANGUAGE
    with pytest.raises(AttributeError, match="has no attribute 'REALY'"):
        _ = getattr(relay, "REALY")  # noqa: B009


def test_operands_of_the_base_come_first():
    """Keyword arguments are the same operands as positional ones."""
    for op in OPERATORS.values():
        operands = [operand for operand, _ in op.get_irdl_definition().operands]
        declared = dict.fromkeys(each for kind in reversed(op.__mro__) for each in vars(kind) if each in operands)
        assert operands == list(declared), op.name


def test_the_ops_of_a_class_are_those_derived_from_it():
    assert list(relay_ops_of(CompositeOp)) == [op for op in OPERATORS.values() if issubclass(op, CompositeOp)]
    assert relay_ops_of(OPERATORS["nn.relu"]) == (OPERATORS["nn.relu"],)
