"""Random programs of branches, loops, closures and calls, whose values all have one type; integers are also divided."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp, f32, i32
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from support.choices import Choices
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp
from xrelay.dialects.relay.ops.tensor.compare import LessOp
from xrelay.dialects.relay.ops.tensor.reduce import MaxOp
from xrelay.dialects.relay.ops.tensor.unary import AbsOp, NegativeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import COUNT, LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import tensor_type


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
