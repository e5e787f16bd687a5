"""The parts of random programs over named dimensions, besides single ops: branches, loops, closures and functions.

Each part has two text forms: with both branches, or with only the branch that is taken, for which each shape rule
decides at once.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import f32

from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import Dim, symbol

UNKNOWN = "!relay.incomplete"
NUMBER, TRUTH, SCALAR = "tensor<i64>", "tensor<i1>", "tensor<f32>"
ONE = f"relay.constant dense<1> : {NUMBER}"


@dataclass(frozen=True)
class Value:
    """A value of the program: its name in the text and its rank."""

    name: str
    rank: int

    def type(self, prefix: str, *, even: bool = False) -> str:
        """A type of its rank with a new name for each extent; if `even`, the first extent is twice its name."""
        names: list[Dim] = [symbol(f"{prefix}_{axis}") for axis in range(self.rank)]
        return str(tensor_type([(1 + even) * names[0], *names[1:]] if names else [], f32))


class Part(ABC):
    """Some statements; others may use the last result."""

    result: str

    @abstractmethod
    def lines(self, branch: int | None) -> list[str]:
        """The statements, each as text that begins with its result; with `branch`, of that branch only."""

    def functions(self) -> list[str]:
        """The texts of the functions that the part calls."""
        return []


Body = Sequence[str | Part]
"""Statements in order."""


def flat(body: Body, branch: int | None) -> list[str]:
    """The statements as text."""
    return [line for each in body for line in ([each] if isinstance(each, str) else each.lines(branch))]


def functions_of(body: Body) -> Iterator[str]:
    """The texts of all functions that statements call."""
    for each in body:
        if isinstance(each, Part):
            yield from each.functions()


def names_in(each: str | Part) -> list[str]:
    """The names in a statement, its result first."""
    found = re.findall(r"%\w+", each if isinstance(each, str) else "\n".join(each.lines(None)))
    return found if isinstance(each, str) else [each.result, *found]


def needed(body: Body, values: Sequence[str]) -> list[str | Part]:
    """The statements on which `values` depend."""
    names, kept = set(values), list[str | Part]()
    for each in reversed(body):
        result, *operands = names_in(each)
        if result in names:
            kept.append(each)
            names |= set(operands)
    return kept[::-1]


def statement(result: str, op: str, *operands: str, attributes: str = "", type: str = UNKNOWN) -> str:
    """An op on values of one type, by default an inferred one."""
    types = ", ".join([type] * len(operands))
    return f"{result} = relay.{op}({', '.join(operands)}) {attributes}: ({types}) -> {UNKNOWN}"


def yielded(value: str, type: str = UNKNOWN) -> str:
    """The terminator of a region."""
    return f"relay.yield {value} : {type}"


def text_of(lines: Sequence[str]) -> str:
    return "\n  ".join(lines)


def numbered(body: Sequence[str], data: str, type: str, *, asks: bool = False) -> list[str]:
    """The statements of a function, after the definitions of its counts.

    `%some` is 1 or 2 and `%which` 0 or 1, by the condition `%cond`. `%rows` is the least extent of `data`, whose type
    is `type`, or 1 for a scalar. If the function `asks`, the condition is whether the data have a positive sum.
    """
    asked = [
        f"%cond_s = relay.sum({data}) : ({type}) -> {UNKNOWN}",
        f"%cond = relay.greater(%cond_s, %zero) : ({UNKNOWN}, {UNKNOWN}) -> {TRUTH}",
    ]
    least = f"relay.min(%sizes) : ({UNKNOWN}) -> {NUMBER}"
    counts = [
        "%z = relay.constant dense<0.0> : tensor<f32>",
        f"%zero = relay.negative(%z) : (tensor<f32>) -> {UNKNOWN}",
        f"%true = relay.constant dense<true> : {TRUTH}",
        *(asked if asks else []),
        *(f"%{name} = relay.constant dense<{value}> : {NUMBER}" for name, value in _NUMBERS.items()),
        f"%which = relay.cast(%cond) {{dtype = i64}} : ({TRUTH}) -> {NUMBER}",
        f"%some = relay.add(%which, %one) : ({NUMBER}, {NUMBER}) -> {NUMBER}",
        f"%sizes = relay.shape_of({data}) : ({type}) -> {UNKNOWN}",
        f"%rows = {ONE if type == SCALAR else least}",
    ]
    return [*flat(needed(counts, [name for each in body for name in names_in(each)]), None), *body]


_NUMBERS = {"one": 1, "two": 2, "three": 3, "none": 0, "last": -1}


@dataclass(frozen=True)
class Branches(Part):
    """An `if` whose branches yield values of the same rank."""

    result: str
    bodies: tuple[Body, Body]
    values: tuple[str, str]

    def lines(self, branch: int | None) -> list[str]:
        """The op with both branches, or the inlined statements of one."""
        if branch is not None:
            chosen = f'{self.result} = relay.let "b" = {self.values[branch]} : {UNKNOWN}'
            return [*flat(self.bodies[branch], branch), chosen]
        head = f"{self.result} = relay.if %cond : tensor<i1> -> {UNKNOWN} {{"
        pairs = zip(self.bodies, self.values, strict=True)
        first, second = ([*flat(body, None), yielded(value)] for body, value in pairs)
        return [text_of([head, *first, "} else {", *second, "}"])]

    def functions(self) -> list[str]:
        """The functions that both branches call."""
        return [text for body in self.bodies for text in functions_of(body)]


@dataclass(frozen=True)
class Steps:
    """The body of a loop or recursion: it adds the sum of the value it computes to the value it carries.

    The sum is clipped to small numbers, so that many steps do not overflow.
    """

    carried: Value
    body: Body
    value: str

    def lines(self, branch: int | None) -> list[str]:
        """The statements; the last computes the next value."""
        name = self.carried.name
        return [
            *flat(self.body, branch),
            statement(f"{name}_s", "sum", self.value),
            statement(f"{name}_t", "clip", f"{name}_s", attributes="{a_min = -3.0, a_max = 3.0} "),
            statement(self.next, "add", name, f"{name}_t"),
        ]

    @property
    def next(self) -> str:
        """The name of the next value."""
        return f"{self.carried.name}_n"
