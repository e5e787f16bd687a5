"""When ops run: on demand and at most once in dataflow form, and no more often in basic block normal form.

Evaluations are counted in random programs of branches, loops, closures and calls; after the pass, they run in program
order, as code does. An op that may fail or not terminate runs exactly when the program needs it, any other op at most
once per run of the function, closure or loop that contains it.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.choices import Choices, Drawn
from support.evaluation_order import InOrder, number_ops, run_on_demand
from support.examples import examples
from support.random_control import Writer
from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp
from xrelay.errors import InterpreterError
from xrelay.passes.graph.effects import ops_run_on_demand
from xrelay.passes.infra.verify import verify_module
from xrelay.passes.relay.check_basic_block_normal_form import RelayCheckBasicBlockNormalFormPass
from xrelay.passes.relay.dead_code_elimination import eliminate_dead_code
from xrelay.passes.relay.to_a_normal_form import RelayToANormalFormPass
from xrelay.passes.relay.to_basic_block_normal_form import RelayToBasicBlockNormalFormPass


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
    eliminate_dead_code(module)  # as the normal form does; uses by dead ops must not count
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
        return  # The program divides by zero.
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
                # These ops are free; of an if, the ops in its branches count. The normal form adds projections for
                # those that a branch passes on.
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
