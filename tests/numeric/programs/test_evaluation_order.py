"""How often ops run after basic block normal form: at most once for each run of the body that they are in.

Random programs of branches, loops, closures and calls count evaluations. Each op runs at least as often as the
interpreter evaluates it on demand, and at most once for each run of its function, closure or loop.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.choices import Choices, Drawn
from support.evaluation_order import InOrder, key_of, number_ops, run_on_demand
from support.examples import examples
from support.random_control import Writer
from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.traits import IsTerminator

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp
from xrelay.errors import InterpreterError
from xrelay.passes.infra.verify import verify_module
from xrelay.passes.relay.dead_code_elimination import eliminate_dead_code
from xrelay.passes.relay.to_a_normal_form import RelayToANormalFormPass
from xrelay.passes.relay.to_basic_block_normal_form import RelayToBasicBlockNormalFormPass
from xrelay.relay.passes.check_basic_block_normal_form import RelayCheckBasicBlockNormalFormPass


def body_of(op: Operation) -> Operation:
    """The function, closure or loop around `op`."""
    around = op.parent_op()
    while around is not None and not isinstance(around, FuncOp | FnOp | LoopOp):
        around = around.parent_op()
    assert around is not None
    return around


def check_order(choices: Choices) -> None:
    writer = Writer(choices)
    module = writer.module()
    verify_module(module)
    eliminate_dead_code(module)  # as the normal form does; uses by dead ops must not count
    original = number_ops(module)
    rng = np.random.default_rng(choices.below(4))
    shape = writer.type.get_shape()
    inputs = [rng.integers(1, 4, shape).astype(writer.dtype) * rng.choice([-1, 1]) for _ in range(2)]
    inputs = [np.asarray(array, writer.dtype) for array in inputs]
    try:
        expected, needed = run_on_demand(module, inputs)
    except InterpreterError:
        return  # It divides by zero.
    for form in (RelayToBasicBlockNormalFormPass(), RelayToANormalFormPass()):
        changed = module.clone()
        form.apply(Context(), changed)
        verify_module(changed)
        RelayCheckBasicBlockNormalFormPass().apply(Context(), changed)
        machine = InOrder(changed)
        try:
            with np.errstate(all="ignore"):
                found = machine.call("main", inputs)
        except InterpreterError:
            return  # A division outside of the branch that needs it divides by zero.
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_array_equal(one, other)
        for key, op in original.items():
            if isinstance(op, ConstantOp | LetOp | FnOp | IfOp | TupleGetItemOp) or op.parent_op() is None:
                continue
            if isinstance(op, FuncOp) or op.has_trait(IsTerminator):
                continue
            count, most = machine.counts[key], machine.runs[key_of(body_of(op))]
            assert needed[key] <= count <= most, f"{op} runs {count} times in {most} runs\n{module}\n{changed}"


@pytest.mark.parametrize("part", range(2))
@settings(
    max_examples=examples(20, more=4),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_an_op_runs_at_most_once_in_its_body(part: int, data: st.DataObject):
    check_order(Drawn(data.draw))
