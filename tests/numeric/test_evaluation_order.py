"""When ops run: on demand and at most once in dataflow form, and no more often after basic block normal form.

Random programs of branches, loops, closures and calls count evaluations; the text after the pass runs in its order, as
code does. An op that may fail or not end runs exactly where the program needs it, any other at most once for each run
of the function, closure or loop that it stands in.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.choices import Choices, Drawn
from support.evaluation_order import InOrder, number_ops, run_on_demand
from support.examples import examples
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, f32, i32
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.relay.core.types import tensor_type
from xrelay.dialects.relay.ops.tensor_compare import LessOp
from xrelay.dialects.relay.ops.tensor_elementwise import AddOp, DivideOp
from xrelay.dialects.relay.ops.tensor_reduce import MaxOp
from xrelay.dialects.relay.ops.tensor_unary import AbsOp, NegativeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import COUNT, LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.errors import InterpreterError
from xrelay.passes.graph.effects import ops_run_on_demand
from xrelay.passes.infra.verify import verify_module
from xrelay.passes.relay.check_basic_block_normal_form import RelayCheckBasicBlockNormalFormPass
from xrelay.passes.relay.dead_code_elimination import eliminate_dead_code
from xrelay.passes.relay.to_a_normal_form import RelayToANormalFormPass
from xrelay.passes.relay.to_basic_block_normal_form import RelayToBasicBlockNormalFormPass


class Writer:
    """Writes a program whose values all have one type."""

    def __init__(self, choices: Choices):
        self.choices = choices
        self.type = tensor_type(choices.pick([(), (20,)]), choices.pick([i32, f32]))
        self.dtype = np.dtype(np.int32 if choices.pick([0]) == 0 and "i32" in str(self.type) else np.float32)
        self.blocks: list[tuple[Block, dict[int, list[SSAValue]]]] = []
        """The blocks around the next op, each with its tensors (1) and closures (2)."""

    def visible(self, kind: int = 1) -> list[SSAValue]:
        return [value for _, values in self.blocks for value in values[kind]]

    def pick(self, kind: int = 1) -> SSAValue:
        values = self.visible(kind)
        return values[-1 - self.choices.below(min(6, len(values)))]

    def add(self, op: Operation, kind: int | None = 1) -> SSAValue:
        block, values = self.blocks[-1]
        block.add_op(op)
        if kind is not None:
            values[kind].extend(op.results)
        return op.results[0]

    def inside(self, end: Callable[[SSAValue], Operation], *types: Attribute, steps: int) -> Block:
        block = Block(arg_types=types)
        self.blocks.append((block, {1: [arg for arg in block.args if arg.type == self.type], 2: []}))
        for _ in range(self.choices.below(steps + 1)):
            self.step(steps)
        block.add_op(end(self.pick()))
        self.blocks.pop()
        return block

    def step(self, steps: int) -> None:
        kind = self.choices.below(11 if steps > 1 else 6)
        if kind == 0:
            self.add(NegativeOp.call(self.pick()))
        elif kind == 1:
            self.add(AddOp.call(self.pick(), self.pick()))
        elif kind == 2:
            self.add(DivideOp.call(self.pick(), self.pick()))
        elif kind == 3:
            self.add(CallOp("pair", [self.pick()], [self.type, self.type]))
        elif kind == 4:
            self.add(CallOp("one", [self.pick()], [self.type]))
        elif kind == 5:
            if not self.visible(2):
                self.add(LetOp.call(self.pick(), variable="v"))
            else:
                self.add(InvokeOp(self.pick(2), [self.pick()], self.type))
        elif kind == 6:
            body = Region(self.inside(YieldOp, self.type, steps=steps // 2))
            self.add(FnOp(FunctionType.from_lists([self.type], [self.type]), body), 2)
        elif kind == 7:
            self.loop(steps)
        else:
            limit = self.add(ConstantOp.of(np.array(self.choices.below(5) - 2, self.dtype)), None)
            reduced = self.add(MaxOp.call(self.pick()), None)
            flag = self.add(LessOp.call(limit, reduced), None)
            self.add(IfOp(flag, self.type, *(Region(self.inside(YieldOp, steps=steps // 2)) for _ in range(2))))

    def loop(self, steps: int) -> None:
        """A loop of up to two iterations that carries a value."""
        count = self.add(ConstantOp.of(np.array(self.choices.below(3), np.int64)), None)
        body = self.inside(YieldOp, COUNT, self.type, steps=steps // 2)
        end = body.last_op
        assert end is not None
        packed = TupleOp.call(end.operands[0])
        body.insert_op_before(packed, end)
        end.operands = [packed.result]
        carried = self.add(LoopOp(count, None, [self.pick()], packed.result.type, Region(body)), None)
        self.add(TupleGetItemOp.call(carried, index=0))

    def module(self) -> ModuleOp:
        main = self.inside(ReturnOp, self.type, self.type, steps=9)
        functions = [FuncOp("main", ([self.type] * 2, [self.type]), Region(main))]
        for name, results in (("one", 1), ("pair", 2)):
            block = Block(arg_types=[self.type])
            found = [AbsOp.call(block.args[0]) for _ in range(results)]
            block.add_ops([*found, ReturnOp(*found)])
            functions.append(FuncOp(name, ([self.type], [self.type] * results), Region(block), "private"))
        return ModuleOp(functions)


def body_of(op: Operation) -> Block:
    """The body of the function, closure or loop around `op`."""
    around = op.parent_op()
    while around is not None and not isinstance(around, FuncOp | FnOp | LoopOp):
        around = around.parent_op()
    assert around is not None
    return around.regions[0].block


def check_order(choices: Choices) -> None:
    writer = Writer(choices)
    module = writer.module()
    verify_module(module)
    eliminate_dead_code(module)  # It goes in the normal form, and what it needs must not count.
    original = number_ops(module)
    delayed = set[Operation]()
    for function in module.ops:
        assert isinstance(function, FuncOp)
        delayed |= ops_run_on_demand(function)
    rng = np.random.default_rng(choices.below(4))
    shape = writer.type.get_shape()
    inputs = [rng.integers(1, 4, shape).astype(writer.dtype) * rng.choice([-1, 1]) for _ in range(2)]
    inputs = [np.asarray(array, writer.dtype) for array in inputs]
    try:
        expected, needed, runs = run_on_demand(module, inputs)
    except InterpreterError:
        return  # It divides by zero.
    for key, op in original.items():
        assert needed[key] <= runs[op.parent] if op.parent is not None else not needed[key]
    for form in (RelayToBasicBlockNormalFormPass(), RelayToANormalFormPass()):
        changed = module.clone()
        form.apply(Context(), changed)
        verify_module(changed)
        RelayCheckBasicBlockNormalFormPass().apply(Context(), changed)
        machine = InOrder(changed)
        with np.errstate(all="ignore"):
            found = machine.call("main", inputs)
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_array_equal(one, other)
        for key, count in machine.counts.items():
            op = original.get(key)
            if op is None or isinstance(op, ConstantOp | LetOp | FnOp | IfOp | TupleGetItemOp):
                # They cost nothing where they stand; of branches, what is in them counts. The normal form makes
                # projections of its own at the place of those that a branch hands on.
                continue
            if op in delayed:
                assert count <= needed[key], f"{op} runs {count} times, needed {needed[key]} times\n{module}{changed}"
            else:
                most = runs[body_of(op)]
                assert count <= most, f"{op} runs {count} times in {most} runs of its function\n{module}\n{changed}"


@pytest.mark.parametrize("part", range(2))
@settings(
    max_examples=examples(70), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(data=st.data())
def test_an_op_runs_at_most_once_and_only_where_it_is_needed(part: int, data: st.DataObject):
    check_order(Drawn(data.draw))
