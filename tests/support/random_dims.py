"""Random relay programs over named dimensions, as text: with names, or at given sizes without names.

At given sizes each shape rule decides at once, and only the branch that is taken is present: its outcome is the
expected outcome of the program with names. Parts with bodies are in `random_dim_bodies`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from xdsl.dialects.builtin import f32

from support.choices import Choices
from support.random_dim_bodies import add_function, add_list, add_random, add_taker
from support.random_dim_builder import Builder
from support.random_dim_closures import taker_type
from support.random_dim_functions import Called
from support.random_dim_lists import tensor_of
from support.random_dim_parts import UNKNOWN, Body, Part, Value, flat, functions_of, needed, numbered, text_of
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import Dim, evaluate, symbol

NAMES = ("n", "m", "h")
SIZES = (2, 1, 3, 4, 0, 5, 7)
N, M, H = map(symbol, NAMES)
DIMS: tuple[Dim, ...] = (N, M, H, N, 2 * N, M + 1, 2, 1, 3, N)


@dataclass
class DimProgram:
    """A program: the shapes of its parameters, its ops and parts, and the values that it returns."""

    parameters: list[tuple[Dim, ...]]
    body: list[str | Part] = field(default_factory=list[str | Part])
    returned: list[str] = field(default_factory=list[str])
    lists: list[Value] = field(default_factory=list[Value])
    """The sequence and optional parameters, with the ranks of their elements; empty without them."""
    function: Value | None = None
    """The returned closure, after all other results, with the rank of its parameter."""
    taker: Value | None = None
    """The returned closure after that one, which takes a function like it."""

    def with_names(self) -> str:
        """The text with named dimensions."""
        return self._text(self.parameters, flat(self.body, None), self.body)

    @property
    def calls(self) -> bool:
        """Whether the program calls a function."""
        return any(True for _ in functions_of(self.body))

    def at(self, sizes: Mapping[str, int], branch: int, *, whole: bool = False) -> str:
        """The text at `sizes` with one of the branches; unless `whole`, without unused ops."""
        lines = flat(self.body, branch)
        kept = lines if whole else flat(needed(lines, self.returned), branch)
        recursions = [each for each in self.body if not isinstance(each, Called)]
        return self._text(self.extents(sizes), kept, recursions)

    def extents(self, sizes: Mapping[str, int]) -> list[tuple[int, ...]]:
        """The parameters' shapes at `sizes`."""
        return [tuple(evaluate(dim, sizes) for dim in shape) for shape in self.parameters]

    def inputs(self, sizes: Mapping[str, int], branch: int) -> list[Array]:
        """Arguments at `sizes`: small integers, not all 0."""
        return [np.array(branch == 0), *(small_numbers(shape) for shape in self.extents(sizes))]

    def lists_at(self, sizes: Mapping[str, int]) -> list[list[Array] | Array | None]:
        """With `lists`, returns a sequence with a length by size, and an optional that is empty at some sizes."""
        if not self.lists:
            return []
        extents = [(sizes["m"] + step) % 4 for step in range(6)]
        sequence, optional = self.lists
        held = [small_numbers(extents[at : at + sequence.rank]) for at in range(sizes["n"] % 4)]
        return [held, small_numbers(extents[: optional.rank]) if sizes["h"] % 3 else None]

    def _text(self, shapes: Sequence[Sequence[Dim]], lines: Sequence[str], body: Body) -> str:
        types = [str(tensor_type(shape, f32)) for shape in shapes]
        kinds = zip(("sequence", "optional"), self.lists, strict=bool(self.lists))
        lists = [f"{value.name}: !relay.{kind}<{tensor_of(value.rank)}>" for kind, value in kinds]
        tensors = [f"%p{index}: {type}" for index, type in enumerate(types)]
        arguments = ", ".join(["%cond: tensor<i1>", *tensors, *lists])
        opened = [f"%v{index} = relay.negative(%p{index}) : ({type}) -> {UNKNOWN}" for index, type in enumerate(types)]
        returned = [*self.returned, *(each.name for each in (self.function, self.taker) if each is not None)]
        unknown = [UNKNOWN] * (len(returned) - 1) + [UNKNOWN if self.taker is None else taker_type(self.taker)]
        results = ", ".join(unknown)
        end = f"func.return {', '.join(returned)} : {results}"
        main = text_of([*numbered([*opened, *lines], "%p0", types[0]), end])
        return "".join([f"func.func @main({arguments}) -> ({results}) {{{main}\n}}\n", *functions_of(body)])


def small_numbers(shape: Sequence[int]) -> Array:
    """An array of small integers, as floats."""
    return (np.arange(prod(shape), dtype=np.float32) % 5 - 2).reshape(tuple(shape))


def dim_program(
    choices: Choices, *, most: int = 5, returned: int = 0, free: bool = False, functions: bool = False
) -> DimProgram:
    """Returns a random program of 2 to 5 parameters and 1 to `most` steps that returns `returned` values, all for 0.

    The text of `at` is equivalent to the program, unless it is `free` to have bodies that run zero times. With
    `functions` it may also return closures.
    """
    shapes = [tuple(choices.pick(DIMS) for _ in range(1 + choices.below(3))) for _ in range(2 + choices.below(2))]
    if choices.chance(25):
        shapes += [(1, choices.pick(DIMS), choices.pick(DIMS), 4), (2, choices.pick(DIMS), choices.pick(DIMS), 3)]
    program = DimProgram(shapes)
    build = Builder(choices, free=free)
    build.values = [Value(f"%v{index}", len(shape)) for index, shape in enumerate(shapes)]
    if free and choices.chance(25):
        build.sequence, build.optional = Value("%ls", choices.below(3)), Value("%lo", choices.below(3))
        program.lists = [build.sequence, build.optional]
    for _ in range(1 + choices.below(most)):
        add_random(build, program.body)
    program.returned = [value.name for value in build.values if value.name not in build.used][-returned:]
    if program.lists and choices.chance(50):
        program.returned.append(add_list(build, program.body).name)
    if functions and choices.chance(20):
        program.function = add_function(build, program.body)
        program.taker = add_taker(build, program.body, program.function) if choices.chance(50) else None
    return program
