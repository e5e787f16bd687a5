"""`PartialEvaluate` under Relay's name, and programs that are deep, wide, or endless."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from xrelay import relay, transform
from xrelay.dialects.relay.ops.tensor.unary import NegativeOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.shared.types import tensor_type
from xrelay.passes.infra.verify import verify_module, walk_ops
from xrelay.relay.passes.partial_eval import partially_evaluate
from xrelay.relay.passes.to_cps import to_cps
from xrelay.relay.passes.un_cps import un_cps

TYPE = tensor_type((), i32)


def evaluated(expr: relay.Expr | relay.Function) -> str:
    """The partially evaluated and cleaned program of an expression."""
    passes = [transform.PartialEvaluate(), transform.InferType(), transform.DeadCodeElimination(True, True)]
    with transform.PassContext(opt_level=3):
        module = transform.Sequential(passes)(relay.IRModule.from_expr(expr))
    return str(relay.IRModule.of(module)["main"].body)


def test_the_pass_has_relays_name() -> None:
    assert transform.PartialEvaluate().info == transform.PassInfo(1, "PartialEval")
    assert transform.create_pass("PartialEval").info.name == "PartialEval"


def test_what_is_known_is_computed() -> None:
    d = relay.var("d", shape=())
    double = relay.Function([d], d + d)
    assert "dense<8.000000e+00>" in evaluated(double(relay.const(4.0)))
    x, f = relay.var("x", shape=(), dtype="int32"), relay.var("f")
    rest = x + f(x - relay.const(1))
    triangle = relay.Function([x], relay.If(relay.equal(x, relay.const(0)), relay.const(0), rest), TYPE)
    assert "dense<55>" in evaluated(relay.Let(f, triangle, f(relay.const(10))))


def test_fields_of_tuples_are_what_was_put_in() -> None:
    x = relay.var("x", shape=(4,))
    body = relay.TupleGetItem(relay.Tuple([relay.const(4.0), x]), 1)
    assert evaluated(relay.Function([x], body)) == "x : tensor<4xf32>"


def module_of(*functions: FuncOp) -> ModuleOp:
    module = ModuleOp(list(functions))
    verify_module(module)
    return module


def chain(count: int, *, calls: bool) -> FuncOp:
    """A function of many lets, or of many calls of `f`."""
    block = Block(arg_types=[TYPE])
    value: SSAValue = block.args[0]
    for _ in range(count):
        op = CallOp("f", [value], [TYPE]) if calls else LetOp.call(value, variable="v")
        block.add_op(op)
        value = op.results[0]
    block.add_op(ReturnOp(value))
    return FuncOp("main", ([TYPE], [TYPE]), Region(block))


def negation() -> FuncOp:
    block = Block(arg_types=[TYPE])
    op = NegativeOp.call(block.args[0])
    block.add_ops([op, ReturnOp(op.result)])
    return FuncOp("f", ([TYPE], [TYPE]), Region(block), "private")


def test_a_program_may_be_deep() -> None:
    lets = module_of(chain(1_500, calls=False))
    partially_evaluate(lets)
    assert sum(1 for _ in walk_ops(lets)) == 3
    nested = module_of(chain(500, calls=True), negation())
    to_cps(nested)
    un_cps(next(op for op in nested.ops if isinstance(op, FuncOp)))
    partially_evaluate(nested)
    verify_module(nested)
    functions = [negation()]
    for number in range(500):
        functions.append(calling(functions[-1], f"f{number}", 1))
    main = calling(functions[-1], "main", 1)
    partially_evaluate(module_of(*functions, main), max_ops=2_000)
    assert [type(op) for op in main.body.block.ops] == [NegativeOp, ReturnOp]


def calling(callee: FuncOp, name: str, times: int) -> FuncOp:
    """A function that calls another `times` times, each on the previous result."""
    block = Block(arg_types=[TYPE])
    value: SSAValue = block.args[0]
    for _ in range(times):
        call = CallOp(callee.sym_name.data, [value], [TYPE])
        block.add_op(call)
        value = call.results[0]
    block.add_op(ReturnOp(value))
    return FuncOp(name, ([TYPE], [TYPE]), Region(block), None if name == "main" else "private")


@pytest.mark.parametrize("most", [10, 1_000])
def test_calls_are_followed_so_often_and_no_more(most: int) -> None:
    """Each function calls the next twice: 2^30 calls in total."""
    functions = [negation()]
    for number in range(30):
        functions.append(calling(functions[-1], f"f{number}", 2))
    module = module_of(calling(functions[-1], "main", 2), *functions)
    partially_evaluate(module, max_ops=most)
    verify_module(module)
    assert sum(1 for _ in walk_ops(module)) < most + 40 * 30
