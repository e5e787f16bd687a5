"""Random relay programs over named dimensions, as text: with their names, or at given sizes with none.

At given sizes every shape rule decides at once, and of a branch only the one that runs is there: what then goes through
is what the program with names may do. What is more than an op stands in `random_dim_parts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import f32

from support.choices import Choices
from support.random_dim_parts import (
    UNKNOWN,
    Body,
    Branches,
    Called,
    Closure,
    Loop,
    Part,
    Recursion,
    Steps,
    Value,
    flat,
    functions_of,
    names_in,
    needed,
    statement,
    text_of,
)
from xrelay.dialects.relay.core.types import tensor_type
from xrelay.dialects.relay.structure.weights import Array
from xrelay.index_algebra.dims import Dim, evaluate, symbol

NAMES = ("n", "m", "h")
SIZES = (2, 1, 3, 4, 0, 5, 7)
N, M, H = map(symbol, NAMES)
DIMS: tuple[Dim, ...] = (N, M, H, N, 2 * N, M + 1, 2, 1, 3, N)


PREAMBLE = """
  %z = relay.constant dense<0.0> : tensor<f32>
  %zero = relay.negative(%z) : (tensor<f32>) -> !relay.incomplete
  %true = relay.constant dense<true> : tensor<i1>
  %one = relay.constant dense<1> : tensor<i64>
  %two = relay.constant dense<2> : tensor<i64>
  %three = relay.constant dense<3> : tensor<i64>
  %which = relay.cast(%cond) {dtype = i64} : (tensor<i1>) -> tensor<i64>
  %some = relay.add(%which, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
"""
"""What programs count with; `%some` is 1 or 2, `%which` 0 or 1."""


@dataclass
class DimProgram:
    """Parameters by their shapes, ops and other parts, and the values that are returned."""

    parameters: list[tuple[Dim, ...]]
    body: list[str | Part] = field(default_factory=list[str | Part])
    returned: list[str] = field(default_factory=list[str])

    def with_names(self) -> str:
        """The text with named dimensions."""
        return self._text(self.parameters, flat(self.body, None), self.body)

    @property
    def calls(self) -> bool:
        """Whether the program calls a function."""
        return any(True for _ in functions_of(self.body))

    def at(self, sizes: Mapping[str, int], branch: int, *, whole: bool = False) -> str:
        """The text at `sizes`, with one of the branches; unless `whole`, without the ops that nobody needs then."""
        lines = flat(self.body, branch)
        kept = lines if whole else flat(needed(lines, self.returned), branch)
        recursions = [each for each in self.body if not isinstance(each, Called)]
        return self._text(self.extents(sizes), kept, recursions)

    def extents(self, sizes: Mapping[str, int]) -> list[tuple[int, ...]]:
        """The parameters' shapes at `sizes`."""
        return [tuple(evaluate(dim, sizes) for dim in shape) for shape in self.parameters]

    def inputs(self, sizes: Mapping[str, int], branch: int) -> list[Array]:
        """Arguments at `sizes`: small whole numbers, none 0 throughout."""
        arrays = [
            (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 5 - 2).astype(np.float32)
            for shape in self.extents(sizes)
        ]
        return [np.array(branch == 0), *arrays]

    def _text(self, shapes: Sequence[Sequence[Dim]], lines: Sequence[str], body: Body) -> str:
        types = [str(tensor_type(shape, f32)) for shape in shapes]
        arguments = ", ".join(["%cond: tensor<i1>", *(f"%p{index}: {type}" for index, type in enumerate(types))])
        opened = [f"%v{index} = relay.negative(%p{index}) : ({type}) -> {UNKNOWN}" for index, type in enumerate(types)]
        unknown = ", ".join([UNKNOWN] * len(self.returned))
        end = f"func.return {', '.join(self.returned)} : {unknown}"
        main = text_of([PREAMBLE, *opened, *lines, end])
        return "".join([f"func.func @main({arguments}) -> ({unknown}) {{{main}\n}}\n", *functions_of(body)])


class _Builder:
    def __init__(self, choices: Choices, *, free: bool):
        self.choices, self.free = choices, free
        self.values: list[Value] = []
        self.used: set[str] = set()
        self.depth = 0
        self._count = 0

    def fresh(self) -> str:
        self._count += 1
        return f"%r{self._count}"

    def op(self, lines: list[str], name: str, *operands: str, attributes: str = "") -> str:
        result = self.fresh()
        lines.append(statement(result, name, *operands, attributes=attributes))
        self.used |= set(operands)
        return result

    def value(self, *ranks: int) -> Value | None:
        """One of the latest values of these ranks, all for none."""
        found = [value for value in reversed(self.values) if not ranks or value.rank in ranks]
        return self.choices.pick(found[:4]) if found else None

    def part(self) -> tuple[Part, Value] | None:
        """A random part that is more than an op, in one of three cases and no more than two in each other."""
        if self.depth > 1 or not self.choices.chance(35):
            return None
        return self.choices.pick([_branches, _call, _loop, _closure, _recursion])(self)

    def step(self, lines: list[str]) -> Value:
        """A random op on values that are there; its result."""
        data = self.value()
        assert data is not None
        kinds = [_elementwise, _binary, _concatenate, _axes, _reduce, _reshape, _expand, _squeeze, _split, _select]
        kinds += [_let]
        kinds += [_dense] * (data.rank == 2) + [_windows] * 2 * (data.rank == 4)
        return self.choices.pick(kinds)(self, lines, data)


def _elementwise(build: _Builder, lines: list[str], data: Value) -> Value:
    return Value(build.op(lines, build.choices.pick(["nn.relu", "negative"]), data.name), data.rank)


def _binary(build: _Builder, lines: list[str], data: Value) -> Value:
    other = build.value() or data
    name = build.choices.pick(["add", "multiply", "maximum"])
    return Value(build.op(lines, name, data.name, other.name), max(data.rank, other.rank))


def _dense(build: _Builder, lines: list[str], data: Value) -> Value:
    other = build.value(2) or data
    return Value(build.op(lines, "nn.dense", data.name, other.name), 2)


def _concatenate(build: _Builder, lines: list[str], data: Value) -> Value:
    if data.rank == 0:
        return _elementwise(build, lines, data)
    fields = [data.name, (build.value(data.rank) or data).name]
    joined = build.op(lines, "tuple", *fields)
    axis = build.choices.below(data.rank)
    return Value(build.op(lines, "concatenate", joined, attributes=f"{{axis = {axis}}} "), data.rank)


def _axes(build: _Builder, lines: list[str], data: Value) -> Value:
    return Value(build.op(lines, "transpose", data.name), data.rank)


def _reduce(build: _Builder, lines: list[str], data: Value) -> Value:
    if data.rank == 0:
        return _elementwise(build, lines, data)
    keeps = build.choices.chance(50)
    name = build.choices.pick(["sum", "mean"])
    attributes = f"{{axis = [{build.choices.below(data.rank)}], keepdims = {str(keeps).lower()}}} "
    return Value(build.op(lines, name, data.name, attributes=attributes), data.rank if keeps else data.rank - 1)


def _reshape(build: _Builder, lines: list[str], data: Value) -> Value:
    codes = [([-1], 1), ([2, -1], 2), ([-1, 3], 2)]
    if data.rank >= 1:
        codes += [([0, -1], 2), ([-4, 2, -1, -2], data.rank + 1)]
    if data.rank >= 2:
        codes += [([-3, -2], data.rank - 1), ([0, 0, -1], 3)]
    chosen, rank = build.choices.pick(codes)
    text = ", ".join(map(str, chosen))
    return Value(build.op(lines, "reshape", data.name, attributes=f"{{newshape = [{text}]}} "), rank)


def _expand(build: _Builder, lines: list[str], data: Value) -> Value:
    axis = build.choices.below(data.rank + 1)
    return Value(build.op(lines, "expand_dims", data.name, attributes=f"{{axis = {axis}}} "), data.rank + 1)


def _squeeze(build: _Builder, lines: list[str], data: Value) -> Value:
    if data.rank == 0:
        return _elementwise(build, lines, data)
    axis = build.choices.below(data.rank)
    return Value(build.op(lines, "squeeze", data.name, attributes=f"{{axis = [{axis}]}} "), data.rank - 1)


def _split(build: _Builder, lines: list[str], data: Value) -> Value:
    if data.rank == 0:
        return _elementwise(build, lines, data)
    cut = build.choices.pick(["2", "[1]", "[1, 2]"])
    attributes = f"{{indices_or_sections = {cut}, axis = {build.choices.below(data.rank)}}} "
    parts = build.op(lines, "split", data.name, attributes=attributes)
    index = build.choices.below(2)
    return Value(build.op(lines, "tuple_get_item", parts, attributes=f"{{index = {index}}} "), data.rank)


def _select(build: _Builder, lines: list[str], data: Value) -> Value:
    kind = build.choices.pick(["topk", "argmax", "argwhere", "pad"])
    if data.rank == 0:
        return _elementwise(build, lines, data)
    if kind == "topk":
        k = build.choices.pick([1, 2, 3])
        return Value(build.op(lines, "topk", data.name, attributes=f'{{k = {k}, ret_type = "values"}} '), data.rank)
    if kind == "pad":
        widths = ", ".join(["1"] * 2 * data.rank)
        zero = build.op(lines, "sum", data.name)
        attributes = f'{{pad_width = [{widths}], pad_mode = "reflect"}} '
        return Value(build.op(lines, "nn.pad", data.name, zero, attributes=attributes), data.rank)
    axis = f"{{axis = [{build.choices.below(data.rank)}]}} " if kind == "argmax" else ""
    places = build.op(lines, kind, data.name, attributes=axis)
    rank = data.rank - 1 if kind == "argmax" else 2
    return Value(build.op(lines, "cast", places, attributes="{dtype = f32} "), rank)


def _windows(build: _Builder, lines: list[str], data: Value) -> Value:
    if build.choices.chance(30):
        return Value(build.op(lines, "nn.max_pool2d", data.name, attributes="{pool_size = [2, 2]} "), 4)
    weight = build.value(4) or data
    return Value(build.op(lines, "nn.conv2d", data.name, weight.name), 4)


def _let(build: _Builder, lines: list[str], data: Value) -> Value:
    result = build.fresh()
    lines.append(f'{result} = relay.let "v" = {data.name} : {UNKNOWN}')
    build.used.add(data.name)
    return Value(result, data.rank)


def _inside(build: _Builder, *more: Value, alone: bool = False) -> tuple[list[str | Part], Value]:
    """The statements of a body that may use `more`, and its last value; what it computes is not seen outside.

    It has one or two steps, of which with `alone`, where nothing is seen from outside, all are ops.
    """
    kept, around = list(build.values), build.depth
    build.values = [*([] if alone else kept), *more]
    build.depth += 1
    body: list[str | Part] = []
    for _ in range(1 + build.choices.below(2)):
        part = None if alone else build.part()
        if part is None:
            lines: list[str] = []
            build.values.append(build.step(lines))
            body += lines
        else:
            body.append(part[0])
            build.values.append(part[1])
    last = build.values[-1]
    build.values, build.depth = kept, around
    return needed(body, [last.name]), last


def _branches(build: _Builder) -> tuple[Part, Value] | None:
    """An `if` of a branch with an op or two and one that passes a value of the same rank on."""
    body, last = _inside(build)
    other = build.value(last.rank)
    if other is None:
        return None
    build.used.add(other.name)
    result = build.fresh()
    return Branches(result, (body, []), (last.name, other.name)), Value(result, last.rank)


def _call(build: _Builder) -> tuple[Part, Value] | None:
    """A function of an op or two on values that are there."""
    kept = list(build.values)
    body, last = _inside(build, *kept, alone=True)
    lines = [each for each in body if isinstance(each, str)]
    if any("2d" in line for line in lines):
        # Windows want extents that are known.
        return None
    names = {name for line in lines for name in names_in(line)} | {last.name}
    result = build.fresh()
    operands = [value for value in build.values if value.name in names]
    return Called(result, lines, last.name, operands), Value(result, last.rank)


def _closure(build: _Builder) -> tuple[Part, Value] | None:
    """A closure of one value, which it takes with the other sign."""
    operand = build.value()
    assert operand is not None
    result = build.fresh()
    body, last = _inside(build, Value(Closure.parameter(result), operand.rank))
    build.used.add(operand.name)
    return Closure(result, body, last.name, operand), Value(result, last.rank)


def _loop(build: _Builder) -> tuple[Part, Value] | None:
    """A loop of one to three iterations, or where sizes are not asked for as well, of none."""
    initial = build.value()
    assert initial is not None
    result = build.fresh()
    carried = Value(f"{result}_c", initial.rank)
    body, last = _inside(build, carried)
    build.used.add(initial.name)
    times = build.choices.pick(["%two", "%one", "%three", "%some", *(["%which"] if build.free else [])])
    condition = build.choices.pick([None, None, "%cond" if build.free else "%true"])
    stacked = build.choices.chance(30)
    steps = Steps(carried, body, last.name)
    return Loop(result, steps, initial.name, times, condition, stacked), Value(result, 1 if stacked else carried.rank)


def _recursion(build: _Builder) -> tuple[Part, Value] | None:
    """A function that calls itself up to three times."""
    initial = build.value()
    assert initial is not None
    result = build.fresh()
    carried = Value(f"{result}_c", initial.rank)
    body, last = _inside(build, carried, alone=True)
    if any("2d" in line for line in flat(body, None)):
        return None
    build.used.add(initial.name)
    fuel = build.choices.pick(["%two", "%one", "%three", "%some", *(["%which"] if build.free else [])])
    made = Recursion(result, Steps(carried, body, last.name), initial, fuel, build.choices.chance(50))
    return made, Value(result, carried.rank)


def dim_program(choices: Choices, *, most: int = 5, returned: int = 0, free: bool = False) -> DimProgram:
    """A random program of two to four parameters and one to `most` steps; `returned` is how many values, 0 for all.

    What `at` gives does the same at all sizes, unless the program is `free` to have bodies that never run.
    """
    shapes = [tuple(choices.pick(DIMS) for _ in range(1 + choices.below(3))) for _ in range(2 + choices.below(2))]
    if choices.chance(25):
        shapes += [(1, choices.pick(DIMS), choices.pick(DIMS), 4), (2, choices.pick(DIMS), choices.pick(DIMS), 3)]
    program = DimProgram(shapes)
    build = _Builder(choices, free=free)
    build.values = [Value(f"%v{index}", len(shape)) for index, shape in enumerate(shapes)]
    for _ in range(1 + choices.below(most)):
        made = build.part()
        if made is not None:
            program.body.append(made[0])
            build.values.append(made[1])
            continue
        lines: list[str] = []
        build.values.append(build.step(lines))
        program.body += lines
    program.returned = [value.name for value in build.values if value.name not in build.used][-returned:]
    return program
