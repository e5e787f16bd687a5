"""How often each op of a relay program runs: on demand, as the interpreter does, or in the order of the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast
from unittest.mock import patch

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.interpreters.relay import evaluate_op, run_relay
from xrelay.interpreters.relay.loop_run import LoopRun
from xrelay.interpreters.relay.machine import Machine
from xrelay.passes.relay.to_basic_block_normal_form import RelayToBasicBlockNormalFormPass

Key = tuple[int, str]
"""The number of an op, which its copies share, and its name."""


def number_ops(module: ModuleOp) -> dict[Key, Operation]:
    """Gives each op a unique location, which passes preserve."""
    found: dict[Key, Operation] = {}
    for number, op in enumerate(module.walk()):
        op.location = FileLineColLoc(StringAttr("op"), IntAttr(number), IntAttr(0))
        found[number, op.name] = op
    return found


def key_of(op: Operation) -> Key:
    assert isinstance(op.location, FileLineColLoc), op
    return op.location.line.data, op.name


@contextmanager
def counted_on_demand() -> Iterator[Counter[Key]]:
    """Counts the ops that the interpreter evaluates."""
    ops = Counter[Key]()
    opened, looped = Machine._open, Machine._loop

    def evaluate(op: Operation, operands: Sequence[Any]) -> Any:
        ops[key_of(op)] += 1
        return evaluate_op(op, operands)

    def open_region(self: Machine, op: Any, environment: Any) -> Any:
        ops[key_of(op)] += 1
        return opened(self, op, environment)

    def loop(self: Machine, op: LoopOp, environment: Any) -> Any:
        ops[key_of(op)] += 1
        return looped(self, op, environment)

    with (
        patch("xrelay.interpreters.relay.machine.evaluate_op", evaluate),
        patch.object(Machine, "_open", open_region),
        patch.object(Machine, "_loop", loop),
    ):
        yield ops


def run_on_demand(module: ModuleOp, inputs: Sequence[Any]) -> tuple[Sequence[Any], Counter[Key]]:
    """The results of `@main`, and the number of runs of each op."""
    with counted_on_demand() as ops:
        results = run_relay(module, inputs)
    return results, ops


def run_in_order(module: ModuleOp, inputs: Sequence[Any]) -> list[Any]:
    """The results of `@main` if each op runs in the block that is the least common ancestor of its uses."""
    placed = module.clone()
    RelayToBasicBlockNormalFormPass().apply(Context(), placed)
    number_ops(placed)
    with np.errstate(all="ignore"):
        return InOrder(placed).call("main", inputs)


class InOrder:
    """An interpreter that runs every op of a block in program order, as code does."""

    def __init__(self, module: ModuleOp):
        self.functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
        self.counts = Counter[Key]()
        self.runs = Counter[Key]()
        """The runs of each body, by the key of its function, closure or loop."""

    def call(self, name: str, arguments: Sequence[Any]) -> list[Any]:
        return self._run(self.functions[name].body.block, arguments, {})

    def _run(self, block: Block, arguments: Sequence[Any], around: dict[SSAValue, Any]) -> list[Any]:
        values = {**around, **dict(zip(block.args, arguments, strict=True))}
        holder = block.parent_op()
        assert holder is not None
        self.runs[key_of(holder)] += 1
        for op in block.ops:
            operands = [values[operand] for operand in op.operands]
            if op.has_trait(IsTerminator):
                return operands
            self.counts[key_of(op)] += 1
            values.update(zip(op.results, self._results(op, operands, values), strict=True))
        raise AssertionError("a block without an end")

    def _results(self, op: Operation, operands: list[Any], values: dict[SSAValue, Any]) -> list[Any]:
        if isinstance(op, FnOp):
            return [(op, values)]
        if isinstance(op, InvokeOp):
            function, around = cast("tuple[FnOp, dict[SSAValue, Any]]", operands[0])
            itself = [operands[0]] if function.is_recursive else []
            return self._run(function.body.block, [*itself, *operands[1:]], around)
        if isinstance(op, IfOp):
            return self._run((op.true_region if operands[0] else op.false_region).block, [], values)
        if isinstance(op, LoopOp):
            run = LoopRun.start(op, operands)
            while (arguments := run.arguments) is not None:
                run.take(self._run(op.body.block, arguments, values)[0])
            return [run.result({})]
        if isinstance(op, CallOp):
            return self.call(op.callee.string_value(), operands)
        return [evaluate_op(op, operands)]
