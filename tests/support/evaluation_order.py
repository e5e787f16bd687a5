"""Counts how often each op of a relay program runs: on demand, as in dataflow form, or in program order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast
from unittest.mock import patch

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
def counted_on_demand() -> Iterator[tuple[Counter[Key], Counter[Block]]]:
    """Counts the ops that the interpreter evaluates, and the runs of each block."""
    ops, blocks = Counter[Key](), Counter[Block]()
    opened, iterated = Machine._open, Machine._iterate

    def evaluate(op: Operation, operands: Sequence[Any]) -> Any:
        ops[key_of(op)] += 1
        return evaluate_op(op, operands)

    def open_region(self: Machine, op: Any, environment: Any) -> Any:
        ops[key_of(op)] += 1
        inner, targets = opened(self, op, environment)
        blocks[inner.block] += 1
        return inner, targets

    def iterate(self: Machine, task: Any, loop: Any) -> bool:
        ops[key_of(loop.op)] += loop.number == 0
        done = iterated(self, task, loop)
        blocks[loop.op.body.block] += not done
        return done

    with (
        patch("xrelay.interpreters.relay.machine.evaluate_op", evaluate),
        patch.object(Machine, "_open", open_region),
        patch.object(Machine, "_iterate", iterate),
    ):
        yield ops, blocks


def run_on_demand(module: ModuleOp, inputs: Sequence[Any]) -> tuple[Sequence[Any], Counter[Key], Counter[Block]]:
    """Returns the results of `@main`, and how often each op and each block ran."""
    with counted_on_demand() as (ops, blocks):
        results = run_relay(module, inputs)
    blocks[next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main").body.block] += 1
    return results, ops, blocks


class InOrder:
    """An interpreter that runs every op of a block in program order, as code does."""

    def __init__(self, module: ModuleOp):
        self.functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
        self.counts = Counter[Key]()

    def call(self, name: str, arguments: Sequence[Any]) -> list[Any]:
        return self._run(self.functions[name].body.block, arguments, {})

    def _run(self, block: Block, arguments: Sequence[Any], around: dict[SSAValue, Any]) -> list[Any]:
        values = {**around, **dict(zip(block.args, arguments, strict=True))}
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
