"""Random relay programs over named dimensions, as text: with their names, or at given sizes with none.

At given sizes every shape rule decides at once, and of a branch only the one that runs is there: what then goes through
is what the program with names may do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import f32

from support.choices import Choices
from xrelay.dialects.relay.core.types import tensor_type
from xrelay.dialects.relay.structure.weights import Array
from xrelay.index_algebra.dims import Dim, evaluate, symbol

NAMES = ("n", "m", "h")
SIZES = (2, 1, 3, 4, 0, 5, 7)
UNKNOWN = "!relay.incomplete"

N, M, H = map(symbol, NAMES)
DIMS: tuple[Dim, ...] = (N, M, H, N, 2 * N, M + 1, 2, 1, 3, N)


@dataclass(frozen=True)
class Value:
    """A value of the program: its name in the text and how many axes it has."""

    name: str
    rank: int


@dataclass(frozen=True)
class Branches:
    """An `if` whose branches compute the value of the same rank each."""

    result: str
    lines: tuple[list[str], list[str]]
    values: tuple[str, str]

    def symbolic(self) -> list[str]:
        """The op with both branches."""
        head = f"{self.result} = relay.if %cond : tensor<i1> -> {UNKNOWN} {{"
        first, second = ([*lines, yielded(value)] for lines, value in zip(self.lines, self.values, strict=True))
        return [head, *first, "} else {", *second, "}"]

    def chosen(self, index: int) -> list[str]:
        """One branch, in the open."""
        return [*self.lines[index], f'{self.result} = relay.let "b" = {self.values[index]} : {UNKNOWN}']


@dataclass(frozen=True)
class Called:
    """A function of some values, each extent of which has a name of its own there, and its call."""

    result: str
    lines: list[str]
    value: str
    operands: list[Value]

    def symbolic(self) -> list[str]:
        """The call."""
        operands = ", ".join(operand.name for operand in self.operands)
        types = ", ".join([UNKNOWN] * len(self.operands))
        return [f"{self.result} = relay.call @{self._name}({operands}) : ({types}) -> {UNKNOWN}"]

    def function(self) -> str:
        """The text of the function."""
        types = [
            str(tensor_type([symbol(f"a{index}_{axis}") for axis in range(operand.rank)], f32))
            for index, operand in enumerate(self.operands)
        ]
        arguments = ", ".join(f"%q{index}: {type}" for index, type in enumerate(types))
        opened = [
            f"{operand.name} = relay.negative(%q{index}) : ({type}) -> {UNKNOWN}"
            for index, (operand, type) in enumerate(zip(self.operands, types, strict=True))
        ]
        body = "\n  ".join([*opened, *self.lines, f"func.return {self.value} : {UNKNOWN}"])
        return f"func.func private @{self._name}({arguments}) -> {UNKNOWN} {{\n  {body}\n}}\n"

    def chosen(self, index: int) -> list[str]:
        """The body, in the open: what the function computes of the operands with the other sign, as it does."""
        names = {operand.name: f"{operand.name}_{self._name}" for operand in self.operands}
        negated = [f"{new} = relay.negative({old}) : ({UNKNOWN}) -> {UNKNOWN}" for old, new in names.items()]
        lines = [re.sub(r"%\w+", lambda found: names.get(found[0], found[0]), line) for line in self.lines]
        return [*negated, *lines, f'{self.result} = relay.let "c" = {self.value} : {UNKNOWN}']

    @property
    def _name(self) -> str:
        return f"f{self.result.removeprefix('%')}"


def yielded(value: str) -> str:
    return f"relay.yield {value} : {UNKNOWN}"


@dataclass
class DimProgram:
    """Parameters by their shapes, lines of ops, branches and calls, and the values that are returned."""

    parameters: list[tuple[Dim, ...]]
    body: list[str | Branches | Called] = field(default_factory=list[str | Branches | Called])
    returned: list[str] = field(default_factory=list[str])

    def with_names(self) -> str:
        """The text with named dimensions."""
        lines = [line for each in self.body for line in ([each] if isinstance(each, str) else each.symbolic())]
        functions = [each.function() for each in self.body if isinstance(each, Called)]
        return "".join([self._text(self.parameters, lines), *functions])

    @property
    def calls(self) -> bool:
        """Whether the program calls a function."""
        return any(isinstance(each, Called) for each in self.body)

    def at(self, sizes: Mapping[str, int], branch: int, *, whole: bool = False) -> str:
        """The text at `sizes`, with one of the branches; unless `whole`, without the ops that nobody needs then."""
        lines = [line for each in self.body for line in ([each] if isinstance(each, str) else each.chosen(branch))]
        return self._text(self.extents(sizes), lines if whole else needed(lines, self.returned))

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

    def _text(self, shapes: Sequence[Sequence[Dim]], lines: Sequence[str]) -> str:
        types = [str(tensor_type(shape, f32)) for shape in shapes]
        arguments = ", ".join(["%cond: tensor<i1>", *(f"%p{index}: {type}" for index, type in enumerate(types))])
        opened = [f"%v{index} = relay.negative(%p{index}) : ({type}) -> {UNKNOWN}" for index, type in enumerate(types)]
        unknown = ", ".join([UNKNOWN] * len(self.returned))
        end = f"func.return {', '.join(self.returned)} : {unknown}"
        body = "\n  ".join([*opened, *lines, end])
        return f"func.func @main({arguments}) -> ({unknown}) {{\n  {body}\n}}\n"


class _Builder:
    def __init__(self, choices: Choices):
        self.choices = choices
        self.values: list[Value] = []
        self.used: set[str] = set()
        self._count = 0

    def fresh(self) -> str:
        self._count += 1
        return f"%r{self._count}"

    def op(self, lines: list[str], name: str, *operands: str, attributes: str = "") -> str:
        result = self.fresh()
        types = ", ".join([UNKNOWN] * len(operands))
        lines.append(f"{result} = relay.{name}({', '.join(operands)}) {attributes}: ({types}) -> {UNKNOWN}")
        self.used |= set(operands)
        return result

    def value(self, *ranks: int) -> Value | None:
        """One of the latest values of these ranks, all for none."""
        found = [value for value in reversed(self.values) if not ranks or value.rank in ranks]
        return self.choices.pick(found[:4]) if found else None

    def step(self, lines: list[str]) -> Value:
        """A random op on values that are there; its result."""
        data = self.value()
        assert data is not None
        kinds = [_elementwise, _binary, _concatenate, _axes, _reduce, _reshape, _expand, _squeeze, _split, _select]
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


def _one_or_two_steps(build: _Builder) -> tuple[list[str], Value]:
    """The lines of a body, and its last value; what it computes is not seen outside."""
    kept, lines = list(build.values), list[str]()
    last = build.step(lines)
    if build.choices.chance(50):
        build.values.append(last)
        last = build.step(lines)
    build.values = kept
    return lines, last


def _branches(build: _Builder) -> tuple[Branches, Value] | None:
    """An `if` of a branch with an op or two and one that passes a value of the same rank on."""
    lines, last = _one_or_two_steps(build)
    other = build.value(last.rank)
    if other is None:
        return None
    build.used.add(other.name)
    result = build.fresh()
    # Only what the last line needs runs.
    return Branches(result, (needed(lines, [last.name]), []), (last.name, other.name)), Value(result, last.rank)


def _call(build: _Builder) -> tuple[Called, Value] | None:
    """A function of an op or two on values that are there."""
    lines, last = _one_or_two_steps(build)
    body = needed(lines, [last.name])
    if any("2d" in line for line in body):
        # Windows want extents that are known.
        return None
    names = {name for line in body for name in re.findall(r"%\w+", line)}
    result = build.fresh()
    operands = [value for value in build.values if value.name in names]
    return Called(result, body, last.name, operands), Value(result, last.rank)


def needed(lines: Sequence[str], values: Sequence[str]) -> list[str]:
    """The lines that `values` need."""
    names, kept = set(values), list[str]()
    for line in reversed(lines):
        result, *operands = re.findall(r"%\w+", line)
        if result in names:
            kept.append(line)
            names |= set(operands)
    return kept[::-1]


def dim_program(choices: Choices) -> DimProgram:
    """A random program of two to four parameters and one to five ops."""
    shapes = [tuple(choices.pick(DIMS) for _ in range(1 + choices.below(3))) for _ in range(2 + choices.below(2))]
    if choices.chance(25):
        shapes += [(1, choices.pick(DIMS), choices.pick(DIMS), 4), (2, choices.pick(DIMS), choices.pick(DIMS), 3)]
    program = DimProgram(shapes)
    build = _Builder(choices)
    build.values = [Value(f"%v{index}", len(shape)) for index, shape in enumerate(shapes)]
    for _ in range(1 + choices.below(5)):
        made = _branches(build) if choices.chance(15) else _call(build) if choices.chance(25) else None
        if made is not None:
            program.body.append(made[0])
            build.values.append(made[1])
            continue
        lines: list[str] = []
        build.values.append(build.step(lines))
        program.body += lines
    program.returned = [value.name for value in build.values if value.name not in build.used]
    return program
