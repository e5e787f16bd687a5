"""Graph passes on random programs with branches, closures, bindings and calls: the interpreter sees no difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, f32, i1
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.relay.constant import ConstantOp
from xrelay.dialects.relay.function import FnOp, InvokeOp
from xrelay.dialects.relay.scope import IfOp, LetOp, YieldOp
from xrelay.dialects.relay.tensor_compare import LessOp
from xrelay.dialects.relay.tensor_elementwise import AddOp, MultiplyOp
from xrelay.dialects.relay.tensor_reduce import SumOp
from xrelay.dialects.relay.tensor_unary import AbsOp, NegativeOp, TanhOp
from xrelay.interpreters.relay import run_relay
from xrelay.lowering.registry import load_pass

T = TypeVar("T")
VECTOR = TensorType(f32, [4])
PASSES = [
    ["relay-inline"],
    ["relay-to-basic-block-normal-form"],
    ["relay-dead-code-elimination"],
    ["relay-eliminate-common-subexpr"],
    ["relay-fold-constant"],
    ["relay-fuse-ops"],
    ["relay-fuse-ops", "relay-defuse-ops"],
    [
        "relay-inline",
        "relay-to-basic-block-normal-form",
        "relay-eliminate-common-subexpr",
        "relay-fold-constant",
        "relay-dead-code-elimination",
        "relay-fuse-ops",
    ],
]


class Writer:
    """Writes random blocks; every op may use what stands before it in its own block and in those around."""

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)

    def pick(self, choices: Sequence[T]) -> T:
        return choices[int(self.random.integers(len(choices)))]

    def fill(self, block: Block, visible: list[SSAValue], depth: int) -> SSAValue:
        """Add a few ops to `block`; gives its value."""
        values = list(visible)
        for _ in range(self.pick(range(1, 6))):
            values.append(self.add(block, values, depth))
        return values[-1]

    def add(self, block: Block, values: list[SSAValue], depth: int) -> SSAValue:
        x, y = self.pick(values[-4:]), self.pick(values)
        kinds = ["unary", "unary", "binary", "constant", "let"] + ["if", "if", "fn", "call"] * (depth < 3)
        match self.pick(kinds):
            case "unary":
                return self.insert(block, self.pick([AbsOp, NegativeOp, TanhOp]).call(x))
            case "binary":
                return self.insert(block, self.pick([AddOp, MultiplyOp]).call(x, y))
            case "constant":
                return self.insert(block, ConstantOp.of(self.random.standard_normal(4).astype(np.float32)))
            case "let":
                return self.insert(block, LetOp.call(x, variable="v"))
            case "call":
                return self.insert(block, CallOp("helper", [x], [VECTOR]))
            case "if":
                total = self.insert(block, SumOp.call(x))
                limit = self.insert(block, ConstantOp.of(np.float32(0.0)))
                condition = self.insert(block, LessOp.call(limit, total))
                assert condition.type == TensorType(i1, [])
                branches = [self.region(values, depth + 1) for _ in range(2)]
                return self.insert(block, IfOp(condition, VECTOR, *branches))
            case _:
                body = Block(arg_types=[VECTOR])
                result = self.fill(body, [*values, body.args[0]], depth + 1)
                body.add_op(YieldOp(result))
                closure = self.insert(block, FnOp(FunctionType.from_lists([VECTOR], [VECTOR]), Region(body)))
                return self.insert(block, InvokeOp(closure, [x], VECTOR))

    def region(self, values: list[SSAValue], depth: int) -> Region:
        block = Block()
        block.add_op(YieldOp(self.fill(block, values, depth)))
        return Region(block)

    def insert(self, block: Block, op: Operation) -> SSAValue:
        block.add_op(op)
        return op.results[0]


def random_program(seed: int) -> ModuleOp:
    writer = Writer(seed)
    functions: list[FuncOp] = []
    for name, depth in (("main", 0), ("helper", 3)):
        block = Block(arg_types=[VECTOR])
        result = writer.fill(block, [block.args[0]], depth)
        block.add_op(ReturnOp(result))
        functions.append(FuncOp(name, ([VECTOR], [VECTOR]), Region(block)))
    return ModuleOp(functions)


@pytest.mark.parametrize("names", PASSES, ids=lambda names: names[0] if len(names) == 1 else f"{len(names)} passes")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**6))
def test_control_flow_keeps_its_meaning(names: list[str], seed: int):
    module = random_program(seed)
    module.verify()
    changed = module.clone()
    for name in names:
        load_pass(name)().apply(Context(), changed)
        changed.verify()
    for sign in (1.0, -1.0):
        data = [np.array([0.5, -0.25, 1.5, -1.0], np.float32) * np.float32(sign)]
        np.testing.assert_array_equal(run_relay(changed, data)[0], run_relay(module, data)[0])
