"""Random relay programs over the whole language, for tests of properties that hold for every program.

`random_module` makes a module from a stream of choices: hypothesis', which shrinks a failing program, or a seed's. A
`Profile` limits the contents of a program; `random_steps` chooses the ops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from support.choices import Choices, Seeded
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.dialects.shared.types import shape_of, tensor_type

T = TypeVar("T")
Array = NDArray[Any]
F16, F32, F64 = (np.dtype(name) for name in ("float16", "float32", "float64"))
BF16 = np.dtype(ml_dtypes.bfloat16)
HALVES = (F16, BF16)
I8, I32, I64, U8, BOOL = (np.dtype(name) for name in ("int8", "int32", "int64", "uint8", "bool"))
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0)


@dataclass(frozen=True)
class Profile:
    """The constructs that a program may contain."""

    dtypes: tuple[np.dtype, ...]
    """A program mostly uses a single dtype of these."""
    steps: int = 8
    """The maximum number of steps of `@main`."""
    exact: bool = False
    """Whether results are compared bit by bit.

    If so, constants and inputs may include special values, functions may be discontinuous, and dtypes are mixed freely.
    Otherwise a small error in a value stays small.
    """
    control: bool = True
    """Whether there are branches, closures, bindings and functions."""
    most_elements: int = 2000
    """The maximum size of a tensor that further steps use."""


EXACT = Profile((F32, F32, F64, F16, BF16), exact=True)
SMOOTH = Profile((F64, F32, F32))
NATIVE = Profile((F32,), steps=14, control=False)


@dataclass
class Scope:
    """A block being filled, and the values that may be used in it and in nested blocks."""

    block: Block
    tensors: list[SSAValue] = field(default_factory=list[SSAValue])
    tuples: list[SSAValue] = field(default_factory=list[SSAValue])


class Program:
    """A module being written; all decisions come from `choices`."""

    def __init__(self, choices: Choices, profile: Profile):
        self.choices, self.profile = choices, profile
        self.dtype = choices.pick(profile.dtypes)
        self.wild = profile.exact and choices.chance(30)
        self.control = profile.control and choices.chance(60)
        self.scopes: list[Scope] = []
        self.functions: list[FuncOp] = []
        self.inputs: list[SSAValue] = []
        """The parameters of `@main`: values without rounding error."""

    # --- choosing ---------------------------------------------------------------------------------------------------

    def pick(self, items: Sequence[T]) -> T:
        return self.choices.pick(items)

    def chance(self, percent: int) -> bool:
        return self.choices.chance(percent)

    def below(self, limit: int) -> int:
        return self.choices.below(limit)

    def recent(self) -> SSAValue:
        """Returns a tensor for the next step: mostly one of the latest, so that programs are deep."""
        visible = self.tensors()
        last = len(visible) - 1
        return visible[last - self.below(min(2, last + 1))] if self.chance(70) else visible[self.below(last + 1)]

    def tensors(self) -> list[SSAValue]:
        return [value for scope in self.scopes for value in scope.tensors]

    def like(self, x: SSAValue) -> SSAValue:
        """Returns a tensor of the type of `x`, which may be `x`; sometimes a constant."""
        if self.chance(20):
            return self.constant(extents(x), dtype_of(x))
        return self.pick([value for value in reversed(self.tensors()) if value.type == x.type] or [x])

    # --- writing ----------------------------------------------------------------------------------------------------

    def insert(self, op: Operation) -> SSAValue:
        """Appends an op to the innermost block; returns its first result."""
        self.scopes[-1].block.add_op(op)
        return op.results[0]

    def call(self, op: type[RelayOp], *operands: SSAValue, **attributes: Any) -> SSAValue:
        return self.insert(op.call(*operands, **attributes))

    def note(self, value: SSAValue) -> SSAValue:
        """Makes `value` available to further steps, unless it is too large."""
        if not isinstance(value.type, TensorType):
            self.scopes[-1].tuples.append(value)
        elif 0 < int(np.prod(extents(value))) <= self.profile.most_elements:
            self.scopes[-1].tensors.append(value)
        return value

    def constant(self, shape: Sequence[int], dtype: np.dtype | None = None, *, positive: bool = False) -> SSAValue:
        """Adds a constant; seeds are few, so that equal constants occur."""
        seed = self.below(30)
        array = self.array(np.random.default_rng(seed), shape, dtype or self.dtype, positive=positive)
        return self.insert(ConstantOp.of(array, f"w{seed}"))

    def scalar(self, value: float, dtype: np.dtype | None = None) -> SSAValue:
        return self.insert(ConstantOp.of(np.array(value, dtype or self.dtype)))

    def array(
        self, rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype, *, positive: bool = False
    ) -> Array:
        values = random_array(rng, shape, dtype, wild=self.wild and not positive)
        return np.abs(values) + np.array(0.25, dtype) if positive else values

    @contextmanager
    def scope(self, *types: Attribute, alone: bool = False) -> Iterator[Scope]:
        """Opens a new block with arguments of `types`; with `alone`, outer values may not be used."""
        around = self.scopes
        inner = Scope(Block(arg_types=types))
        inner.tensors.extend(inner.block.args)
        self.scopes = [inner] if alone else [*around, inner]
        yield inner
        self.scopes = around

    def function(self, name: str, types: Sequence[Attribute], results: Sequence[SSAValue], block: Block) -> FuncOp:
        """Ends `block` as the body of a new function."""
        block.add_op(ReturnOp(*results))
        function = FuncOp(name, (list(types), [value.type for value in results]), Region(block))
        self.functions.append(function)
        return function


def extents(value: SSAValue) -> tuple[int, ...]:
    return tuple(dim for dim in shape_of(value.type) if isinstance(dim, int))


def dtype_of(value: SSAValue) -> np.dtype:
    assert isinstance(value.type, TensorType)
    return numpy_dtype(value.type.element_type)


def is_float(value: SSAValue) -> bool:
    return dtype_of(value).kind not in "iub"


def random_array(rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype, *, wild: bool = False) -> Array:
    """Floats around zero, small integers; if `wild`, floats include infinities, NaNs and zeros of either sign."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        return rng.integers(-4 if dtype.kind == "i" else 0, 5, shape).astype(dtype)
    values = np.asarray(rng.standard_normal(shape) * 0.7)
    if wild:
        values = np.where(rng.random(shape) < 0.15, rng.choice(SPECIAL, shape), values)
    return values.astype(dtype)


def random_inputs(module: ModuleOp, seed: int = 0, *, wild: bool = False) -> list[Array]:
    """Arguments for `@main`."""
    rng = np.random.default_rng(seed)
    main = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    return [random_array(rng, extents(argument), dtype_of(argument), wild=wild) for argument in main.args]


def random_module(choices: Choices, profile: Profile) -> ModuleOp:
    """Returns a valid module with a function `@main` and perhaps others."""
    from support.random_steps import add_results, add_steps

    p = Program(choices, profile)
    types = [_input_type(p) for _ in range(1 + p.below(3))]
    with p.scope(*types) as scope:
        p.inputs = list(scope.block.args)
        add_steps(p, 1 + p.below(profile.steps))
        p.function("main", types, add_results(p), scope.block)
    module = ModuleOp(p.functions)
    module.verify()
    return module


def random_forest(choices: Choices, profile: Profile, count: int) -> ModuleOp:
    """Returns a valid module whose `@main` consists of `count` independent graphs.

    One large module is faster to transform and compile than several; the index of a result identifies its graph.
    """
    from support.random_steps import add_results, add_steps

    p, block, results = Program(choices, profile), Block(), list[SSAValue]()
    for _ in range(count):
        tree = Scope(block)
        tree.tensors.extend(block.insert_arg(_input_type(p), len(block.args)) for _ in range(1 + p.below(3)))
        p.inputs, p.scopes = list(tree.tensors), [tree]
        add_steps(p, 1 + p.below(profile.steps))
        results += add_results(p)
    p.function("main", list(block.arg_types), results, block)
    module = ModuleOp(p.functions)
    module.verify()
    return module


def seeded_module(seed: int, profile: Profile) -> ModuleOp:
    return random_module(Seeded(seed), profile)


def _input_type(p: Program) -> TensorType[Any]:
    shape = p.pick([_image, _image, _image, _rows, _cube, _short])(p)
    dtype = p.dtype if p.chance(85) else p.pick((I32, I64, I8, U8, BOOL) if p.profile.exact else (I32,))
    return tensor_type(shape, element_type(dtype))


def _image(p: Program) -> tuple[int, ...]:
    return (p.pick([1, 1, 2]), p.pick([3, 4, 2, 6, 8, 16]), p.pick([4, 3, 5, 6]), p.pick([4, 3, 5, 7]))


def _rows(p: Program) -> tuple[int, ...]:
    return (p.pick([2, 1, 3]), p.pick([4, 3, 8, 16, 17]))


def _cube(p: Program) -> tuple[int, ...]:
    return (p.pick([2, 3]), p.pick([3, 4, 1]), p.pick([4, 5, 3]))


def _short(p: Program) -> tuple[int, ...]:
    return () if p.chance(40) else (p.pick([3, 1, 4]),)
