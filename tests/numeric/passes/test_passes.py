"""Every pass of the relay level preserves the results of random programs: bit by bit, or up to rounding.

The passes and their exactness come from the project's own tables, so that a new pass is tested without a change here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st
from support.choices import Choices, Drawn
from support.examples import examples
from support.pass_checks import IDEMPOTENT, Before, apply, check_close, check_exact, check_text
from support.pass_pipelines import (
    COMPILER_PIPELINES,
    EXACT_OPTIONS,
    EXACT_PIPELINES,
    OUTLINED,
    ROUNDED_OPTIONS,
    ROUNDED_PIPELINES,
)
from support.random_programs import EXACT, SMOOTH, Profile, random_module
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp

from xrelay import relay, transform
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.interpreters.relay import run_relay

PARTS = range(4)
"""The programs of a property are distributed over several tests, which run in parallel."""
MANY = settings(max_examples=examples(7, more=8), deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def programs(draw: st.DrawFn, profile: Profile) -> tuple[ModuleOp, Choices]:
    """A program, and further choices about it."""
    choices = Drawn(draw)
    return random_module(choices, profile), choices


@contextmanager
def blamed(module: ModuleOp, pipeline: str) -> Iterator[None]:
    """Shows the program and the passes if a check of them fails."""
    try:
        yield
    except Exception:
        note(f"{pipeline}\n{module}")
        raise


def is_straight_line(module: ModuleOp) -> bool:
    return not any(isinstance(op, IfOp | LoopOp | FnOp | InvokeOp) for op in module.walk())


def check_form(module: ModuleOp, pipeline: str) -> None:
    """Checks that the result prints and parses, and that idempotent passes do not change it again."""
    with blamed(module, pipeline):
        changed, last = apply(module, pipeline), pipeline.rpartition(",")[2]
        if last in IDEMPOTENT:
            assert apply(changed, last).is_structurally_equivalent(changed), f"{last} again changes something"
        if not changed.is_structurally_equivalent(module):
            check_text(changed)


@pytest.mark.parametrize("part", PARTS)
@MANY
@given(made=programs(EXACT))
def test_exact_passes_change_no_bit(part: int, made: tuple[ModuleOp, Choices]):
    module, choices = made
    before = Before.of(module, wild=True)
    outlined = [OUTLINED] if is_straight_line(module) else []
    for pipeline in [*EXACT_PIPELINES, choices.pick(EXACT_OPTIONS), *outlined]:
        with blamed(module, pipeline):
            check_exact(before, before.after(apply(module, pipeline)))
    if choices.chance(50):
        check_form(module, choices.pick([*EXACT_PIPELINES, *EXACT_OPTIONS]))


@pytest.mark.parametrize("part", PARTS)
@MANY
@given(made=programs(SMOOTH))
def test_other_passes_change_values_within_rounding(part: int, made: tuple[ModuleOp, Choices]):
    module, choices = made
    before = Before.of(module)
    chosen = [choices.pick(ROUNDED_OPTIONS), choices.pick(COMPILER_PIPELINES)]
    for pipeline in [*ROUNDED_PIPELINES, *chosen]:
        with blamed(module, pipeline):
            event(
                "compared" if check_close(before, before.after(apply(module, pipeline))) else "too sensitive to compare"
            )
    if choices.chance(50):
        check_form(module, choices.pick([*ROUNDED_PIPELINES, *ROUNDED_OPTIONS]))


@pytest.mark.parametrize("part", range(1))
@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(made=programs(EXACT))
def test_outlined_main_holds_constants_calls_and_a_return(part: int, made: tuple[ModuleOp, Choices]):
    module, _ = made
    if not is_straight_line(module):
        return
    outlined = apply(module, OUTLINED)
    functions = [op for op in outlined.ops if isinstance(op, FuncOp)]
    main = next(function for function in functions if function.sym_name.data == "main")
    assert all(isinstance(op, ConstantOp | CallOp | ReturnOp) for op in main.body.block.ops)
    end = main.body.block.last_op
    assert end is not None
    # Each output is the result of a different call.
    assert len(set(end.operands)) == len(end.operands)
    assert all(isinstance(value.owner, CallOp) for value in end.operands)


def weight(*shape: int) -> relay.Expr:
    return relay.const(np.random.default_rng(shape).standard_normal(shape).astype(np.float32))


def dense_of_transposed(x: relay.Expr) -> relay.Expr:
    return relay.nn.dense(x, relay.transpose(weight(64, 33)))


def dense_of_split(x: relay.Expr) -> relay.Expr:
    return relay.nn.dense(x, relay.split(weight(33, 128), indices_or_sections=2, axis=1)[1])


def sum_of_transposed(x: relay.Expr) -> relay.Expr:
    return relay.sum(relay.multiply(relay.transpose(weight(64, 5)), x), axis=(0,))


@pytest.mark.parametrize("build", [dense_of_transposed, dense_of_split, sum_of_transposed])
def test_what_an_operator_gives_does_not_depend_on_where_its_operand_lies_in_memory(build):
    x = relay.var("x", shape=(5, 64))
    module = transform.InferType()(relay.Module.from_expr(relay.Function([x], build(x))))
    inputs = [np.random.default_rng(3).standard_normal((5, 64)).astype(np.float32)]
    before, after = run_relay(module, inputs), run_relay(transform.FoldConstant()(module), inputs)
    assert before[0].tobytes() == after[0].tobytes()
