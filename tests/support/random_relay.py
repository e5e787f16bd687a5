"""Random relay modules from a seed: every kind of op and every construct of the language in unusual combinations.

Made for passes that decide by structure alone (fusion, normal forms): nested tuples, closures, branches, bindings,
scalar and other constants of every element type, unused values and values returned twice. With `runnable` the
interpreter can also run the module: extents are known, and functions have matching arguments.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, TupleType, f32, i1
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay import relay as _relay
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import tensor_type
from xrelay.errors import ConstraintError
from xrelay.index_algebra.dims import ANY

assert _relay  # importing it registers the operators

MAIN = tensor_type((1, 8, 4, 4), f32)
CHANNELS = tensor_type((8, 1, 1), f32)
SCALAR = tensor_type((), f32)
CONDITION = tensor_type((), i1)

UNARY = ("nn.relu", "sigmoid", "tanh", "negative", "abs")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum")
REDUCTIONS = ("sum", "mean", "max", "min")
DTYPES = ("float32", "float64", "int32", "int64", "bool", "int8", "uint8", "float16")


def is_tensor(type: Attribute) -> bool:
    return isinstance(type, TensorType)


def is_anything(type: Attribute) -> bool:
    return True


def holds_function(type: Attribute) -> bool:
    """Whether a value of the type is a function, or a tuple that contains one."""
    pending = [type]
    while pending:
        part = pending.pop()
        if isinstance(part, FunctionType):
            return True
        if isinstance(part, TupleType):
            pending += part.types
    return False


class RandomModule:
    """Draws one module; `values` are the values in scope, outer before inner."""

    def __init__(self, seed: int, *, runnable: bool = True):
        self.rng = random.Random(seed)
        self.runnable = runnable
        self.main = MAIN if runnable or self.rng.random() < 0.7 else tensor_type((ANY, 8, 4, ANY), f32)
        self.steps: Sequence[Callable[[], object]] = [
            *[self.unary] * 6, *[self.binary] * 6, *[self.heavy] * 3, *[self.reshaped] * 3,
            self.reduction, self.split, self.tuple, self.tuple, self.field, self.field, self.concatenate,
            self.constant, self.mixed_constants, self.stop, self.softmax, self.batch_norm, self.let, self.branch,
            self.closure, self.call, self.dropout,
        ]  # fmt: skip
        self.weights = [self.rng.random() ** 2 for _ in self.steps]
        self.values: list[SSAValue] = []
        self.block = Block()
        self.nesting = 0

    def module(self, length: int) -> ModuleOp:
        """Returns a module whose `@main` is made in about `length` steps."""
        helper = Block(arg_types=[self.main])
        self.block, self.values = helper, list[SSAValue](helper.args)
        result = self.emit("nn.relu", helper.args[0])
        helper.add_op(ReturnOp(result))
        body = Block(arg_types=[self.main, self.main, CHANNELS, SCALAR, CONDITION])
        self.block, self.values = body, list[SSAValue](body.args)
        self.fill(length)
        results = [value for value in self.results() if not holds_function(value.type)] or [body.args[0]]
        body.add_op(ReturnOp(*results))
        main = FuncOp("main", FunctionType.from_lists(body.arg_types, [value.type for value in results]), Region(body))
        types = FunctionType.from_lists([self.main], [result.type])
        return ModuleOp([main, FuncOp("helper", types, Region(helper), visibility="private")])

    def results(self) -> list[SSAValue]:
        """Mostly all unused values, so that little of the module is dead; sometimes a few of the latest."""
        if self.rng.random() < 0.7:
            return [value for value in self.values if value.first_use is None]
        return [self.rng.choice(self.values[-3:]) for _ in range(self.rng.choice([1, 1, 2, 3]))]

    def fill(self, length: int) -> None:
        for _ in range(length):
            try:
                self.rng.choices(self.steps, self.weights)[0]()
            except (ConstraintError, IndexError):
                continue

    # --- choosing

    def pick(self, wanted: Callable[[Attribute], bool] | None = None) -> SSAValue:
        """Returns a value of a wanted type (default: a tensor), mostly late or unused; `IndexError` without one."""
        fitting = [value for value in self.values if (wanted or is_tensor)(value.type)]
        unused = [value for value in fitting if value.first_use is None]
        if unused and self.rng.random() < 0.6:
            return self.rng.choice(unused)
        return fitting[-1 - min(int(self.rng.expovariate(0.5)), len(fitting) - 1)]

    def plain(self) -> SSAValue:
        """Returns a value of the main type."""
        return self.pick(lambda type: type == self.main)

    def floats(self) -> SSAValue:
        return self.pick(lambda type: isinstance(type, TensorType) and type.element_type == f32)

    def put(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        self.values.append(op.results[0])
        return op.results[0]

    def emit(self, name: str, *operands: SSAValue, **attributes: object) -> SSAValue:
        op: type[RelayOp] = get_relay_op(name)
        return self.put(op.call(*operands, **attributes))  # pyright: ignore[reportArgumentType]

    # --- steps

    def unary(self) -> None:
        self.emit(self.rng.choice(UNARY), self.floats())

    def binary(self) -> None:
        lhs = self.floats()
        rhs = self.rng.choice([self.floats, self.scalar, lambda: self.pick(lambda type: type == lhs.type)])()
        self.emit(self.rng.choice(BINARY), *((lhs, rhs) if self.rng.random() < 0.7 else (rhs, lhs)))

    def scalar(self) -> SSAValue:
        return self.put(ConstantOp.of(np.float32(self.rng.choice([0.5, 2.0]))))

    def weight(self, *shape: int) -> SSAValue:
        values = np.random.default_rng(self.rng.randrange(1 << 30)).integers(-2, 3, shape)
        return self.put(ConstantOp.of(values.astype(np.float32) / 4, "w"))

    def heavy(self) -> None:
        data = self.plain()
        if self.rng.random() < 0.8:
            self.emit("nn.conv2d", data, self.weight(8, 8, 1, 1))
        else:
            self.emit("nn.max_pool2d", data, pool_size=(3, 3), padding=(1, 1))

    def softmax(self) -> None:
        self.emit("nn.softmax", self.floats(), axis=-1)

    def reduction(self) -> None:
        keeps = self.rng.random() < 0.7
        self.emit(self.rng.choice(REDUCTIONS), self.plain(), axis=self.rng.choice([[1], [2, 3]]), keepdims=keeps)

    def reshaped(self) -> None:
        data, kind = self.floats(), self.rng.randrange(5)
        if kind == 0:
            self.emit("nn.batch_flatten", data)
        elif kind == 1:
            self.emit("transpose", data, axes=[0, 1, 3, 2])
        elif kind == 2:
            self.emit("expand_dims", data, axis=0)
        elif kind == 3:
            self.emit("reshape", data, newshape=[1, 8, 4, 4])
        else:
            self.emit("squeeze", data)

    def split(self) -> None:
        whole = self.emit("split", self.plain(), indices_or_sections=2, axis=1)
        for index in range(2):
            self.put(TupleGetItemOp.call(whole, index=index))

    def batch_norm(self) -> None:
        parameters = [self.weight(8) for _ in range(4)]
        self.put(TupleGetItemOp.call(self.emit("nn.batch_norm", self.plain(), *parameters), index=0))

    def dropout(self) -> None:
        self.put(TupleGetItemOp.call(self.emit("nn.dropout", self.plain()), index=0))

    def tuple(self) -> None:
        wanted = is_anything if self.rng.random() < 0.3 else is_tensor
        self.put(TupleOp.call(*(self.pick(wanted) for _ in range(self.rng.randint(1, 3)))))

    def field(self) -> None:
        data = self.pick(lambda type: isinstance(type, TupleType))
        assert isinstance(data.type, TupleType)
        self.put(TupleGetItemOp.call(data, index=self.rng.randrange(len(data.type.types))))

    def concatenate(self) -> None:
        fields = [self.plain() for _ in range(self.rng.randint(1, 3))]
        joined = self.put(TupleOp.call(*fields))
        whole = self.emit("concatenate", joined, axis=1)
        if self.rng.random() < 0.7:
            self.put(TupleGetItemOp.call(self.emit("split", whole, indices_or_sections=len(fields), axis=1), index=0))

    def constant(self) -> None:
        shape = self.rng.choice([(), (), (1,), (8, 1, 1), (1, 8, 4, 4)])
        self.put(ConstantOp.of(np.ones(shape, self.rng.choice(DTYPES)), "k"))

    def mixed_constants(self) -> None:
        """An op on two scalars of some type, independent of all inputs."""
        dtype = self.rng.choice(("float32", "float64", "int32", "int64", "int8"))
        lhs, rhs = (self.put(ConstantOp.of(np.ones((), dtype))) for _ in range(2))
        self.put(get_relay_op("cast").call(self.emit("add", lhs, rhs), dtype="float32"))

    def stop(self) -> None:
        self.emit("annotation.stop_fusion", self.floats())

    def let(self) -> None:
        value = self.floats()
        self.put(
            LetOp.create(
                operands=[value], result_types=[value.type], properties=LetOp.properties_from({"variable": "v"})
            )
        )

    def call(self) -> None:
        self.put(CallOp("helper", [self.plain()], [self.main]))

    def branch(self) -> None:
        condition = self.pick(lambda type: type == CONDITION)
        self.put(IfOp(condition, self.main, Region(self.inside([])), Region(self.inside([]))))

    def closure(self) -> None:
        body = self.inside([self.main] * self.rng.randint(0, 2))
        closure = self.put(FnOp(FunctionType.from_lists(body.arg_types, [self.main]), Region(body)))
        for _ in range(self.rng.randint(0, 2)):
            self.put(InvokeOp(closure, [self.plain() for _ in body.args], self.main))

    def inside(self, parameters: Sequence[Attribute]) -> Block:
        """Builds the block of a region: it may use all values in scope; its own values leave the scope at its end."""
        if self.nesting > 1:
            raise IndexError("nested deeply enough")
        outer, known = self.block, len(self.values)
        self.block = block = Block(arg_types=parameters)
        self.values.extend(block.args)
        self.nesting += 1
        self.fill(self.rng.randint(0, 5))
        block.add_op(YieldOp(self.plain()))
        self.nesting -= 1
        del self.values[known:]
        self.block = outer
        return block


def random_module(seed: int, length: int = 20, *, runnable: bool = True) -> ModuleOp:
    """The module of a seed."""
    return RandomModule(seed, runnable=runnable).module(length)
