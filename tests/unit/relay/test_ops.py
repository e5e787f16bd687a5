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
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.dialects.relay.dialect import LANGUAGE, RELAY
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import is_complete
from xrelay.interpreters.relay.registry import can_evaluate

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
def test_the_example_parses_and_round_trips(op):
    context = Context()
    for dialect in (Builtin, Func, RELAY):
        context.load_dialect(dialect)
    module = parse_example(context, example_of(op))
    module.verify()
    assert any(isinstance(found, op) for found in module.walk())
    generic = StringIO()
    Printer(generic, print_generic_format=True).print_op(module)
    assert str(Parser(context, str(module)).parse_module()) == str(module)
    assert str(Parser(context, generic.getvalue()).parse_module()) == str(module)


@pytest.mark.parametrize("name", OPERATORS)
def test_the_shape_rule_looks_at_types_and_properties_alone(name):
    context = Context()
    for dialect in (Builtin, Func, RELAY):
        context.load_dialect(dialect)
    for op in parse_example(context, example_of(OPERATORS[name])).walk():
        if isinstance(op, RelayOp) and (op.INFERS_FROM_INCOMPLETE or all(map(is_complete, op.operand_types))):
            bare = type(op).create(result_types=[INCOMPLETE], properties=op.properties)
            facts = Facts(op.name, op.operand_types)
            found = Inference.of(bare.infer_type(facts), facts).anonymous_type
            assert found == op.inferred_type(op.operand_types)


@pytest.mark.parametrize("op", list(RELAY.operations), ids=lambda op: op.name)
def test_constraints_are_documented(op):
    doc = op.__doc__ or ""
    assert [int(number) for number in re.findall(r"- C(\d+):", doc)] == sorted(
        int(number) for number in re.findall(r"- C(\d+):", doc)
    )


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_know_what_the_compiler_asks(name):
    op = OPERATORS[name]
    assert isinstance(op.PATTERN, OpPatternKind)
    assert can_evaluate(op.create(result_types=[])), "no numpy meaning"
    assert is_side_effect_free(op.create(result_types=[]))


def test_every_op_belongs_to_a_family():
    assert set(RELAY.operations) == {*OPERATORS.values(), *LANGUAGE}
    assert YieldOp in LANGUAGE


def test_the_package_gives_the_whole_dialect() -> None:
    assert relay.RELAY is RELAY
    assert relay.LANGUAGE is LANGUAGE
    with pytest.raises(AttributeError, match="has no attribute 'REALY'"):
        _ = getattr(relay, "REALY")  # noqa: B009


@pytest.mark.parametrize("name", OPERATORS)
def test_operands_of_the_base_come_first(name):
    """Keyword arguments are the same operands as positional ones."""
    op = OPERATORS[name]
    operands = [operand for operand, _ in op.get_irdl_definition().operands]
    declared = dict.fromkeys(each for kind in reversed(op.__mro__) for each in vars(kind) if each in operands)
    assert operands == list(declared)
