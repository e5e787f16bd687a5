"""What random programs over named dimensions are made of beside single ops: branches, loops, closures and functions.

Each part is text in two forms: with its branches, or with that of them alone which a run takes, where every shape rule
decides at once.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import f32

from xrelay.dialects.relay.core.types import tensor_type
from xrelay.index_algebra.dims import symbol

UNKNOWN = "!relay.incomplete"


@dataclass(frozen=True)
class Value:
    """A value of the program: its name in the text and how many axes it has."""

    name: str
    rank: int

    def type(self, prefix: str) -> str:
        """A type of its rank whose extents have names of their own."""
        return str(tensor_type([symbol(f"{prefix}_{axis}") for axis in range(self.rank)], f32))


class Part(ABC):
    """Some statements, of which others may use the last result."""

    result: str

    @abstractmethod
    def lines(self, branch: int | None) -> list[str]:
        """The statements, a text each that begins with its result; with one branch alone where it is given."""

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
    """The statements that `values` need."""
    names, kept = set(values), list[str | Part]()
    for each in reversed(body):
        result, *operands = names_in(each)
        if result in names:
            kept.append(each)
            names |= set(operands)
    return kept[::-1]


def statement(result: str, op: str, *operands: str, attributes: str = "", type: str = UNKNOWN) -> str:
    """An op on values of one type, mostly one that is to be inferred."""
    types = ", ".join([type] * len(operands))
    return f"{result} = relay.{op}({', '.join(operands)}) {attributes}: ({types}) -> {UNKNOWN}"


def yielded(value: str, type: str = UNKNOWN) -> str:
    """The end of a region."""
    return f"relay.yield {value} : {type}"


def text_of(lines: Sequence[str]) -> str:
    return "\n  ".join(lines)


@dataclass(frozen=True)
class Branches(Part):
    """An `if` whose branches compute a value of the same rank each."""

    result: str
    bodies: tuple[Body, Body]
    values: tuple[str, str]

    def lines(self, branch: int | None) -> list[str]:
        """The op with both branches, or one of them in the open."""
        if branch is not None:
            chosen = f'{self.result} = relay.let "b" = {self.values[branch]} : {UNKNOWN}'
            return [*flat(self.bodies[branch], branch), chosen]
        head = f"{self.result} = relay.if %cond : tensor<i1> -> {UNKNOWN} {{"
        pairs = zip(self.bodies, self.values, strict=True)
        first, second = ([*flat(body, None), yielded(value)] for body, value in pairs)
        return [text_of([head, *first, "} else {", *second, "}"])]

    def functions(self) -> list[str]:
        """Those of both branches."""
        return [text for body in self.bodies for text in functions_of(body)]


@dataclass(frozen=True)
class Called(Part):
    """A function of some values, each extent of which has a name of its own there, and its call."""

    result: str
    body: Sequence[str]
    value: str
    operands: Sequence[Value]

    def lines(self, branch: int | None) -> list[str]:
        """The call; or the body in the open, of the operands with the other sign, as the function takes them."""
        if branch is None:
            operands = ", ".join(operand.name for operand in self.operands)
            types = ", ".join([UNKNOWN] * len(self.operands))
            return [f"{self.result} = relay.call @{self._name}({operands}) : ({types}) -> {UNKNOWN}"]
        names = {operand.name: f"{operand.name}_{self._name}" for operand in self.operands}
        negated = [statement(new, "negative", old) for old, new in names.items()]
        body = [re.sub(r"%\w+", lambda found: names.get(found[0], found[0]), line) for line in self.body]
        value = names.get(self.value, self.value)
        return [*negated, *body, f'{self.result} = relay.let "c" = {value} : {UNKNOWN}']

    def functions(self) -> list[str]:
        """The function."""
        types = [operand.type(f"a{index}") for index, operand in enumerate(self.operands)]
        arguments = ", ".join(f"%q{index}: {type}" for index, type in enumerate(types))
        opened = [
            f"{operand.name} = relay.negative(%q{index}) : ({type}) -> {UNKNOWN}"
            for index, (operand, type) in enumerate(zip(self.operands, types, strict=True))
        ]
        body = text_of([*opened, *self.body, f"func.return {self.value} : {UNKNOWN}"])
        return [f"func.func private @{self._name}({arguments}) -> {UNKNOWN} {{\n  {body}\n}}\n"]

    @property
    def _name(self) -> str:
        return f"f{self.result.removeprefix('%')}"


@dataclass(frozen=True)
class Closure(Part):
    """A closure that sees what is around it, called with a value."""

    result: str
    body: Body
    value: str
    operand: Value

    def lines(self, branch: int | None) -> list[str]:
        """The closure and its call."""
        type, name = self.operand.type(f"c{self.result.removeprefix('%r')}"), self.result
        opened = f"{self.parameter(name)} = relay.negative({name}_q) : ({type}) -> {UNKNOWN}"
        head = f"{name}_f = relay.fn({name}_q : {type}) -> {UNKNOWN} {{"
        closure = text_of([head, opened, *flat(self.body, branch), yielded(self.value), "}"])
        called = f"{name} = relay.invoke {name}_f({self.operand.name}) : ({UNKNOWN}) -> {UNKNOWN}"
        return [closure, f"{called} of ({type}) -> {UNKNOWN}"]

    def functions(self) -> list[str]:
        """Those of the body."""
        return list(functions_of(self.body))

    @staticmethod
    def parameter(result: str) -> str:
        """What the body of the closure for `result` calls its parameter."""
        return f"{result}_p"


@dataclass(frozen=True)
class Steps:
    """What a loop or a recursion does to the value that it carries: the sum of what the body computes is added to it.

    The sum is cut to small numbers, so that many steps make none that floats do not have.
    """

    carried: Value
    body: Body
    value: str

    def lines(self, branch: int | None) -> list[str]:
        """The statements, of which the last makes the next value."""
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


@dataclass(frozen=True)
class Loop(Part):
    """A loop that carries a value and stacks sums, for a number of times or while a condition holds."""

    result: str
    steps: Steps
    initial: str
    times: str
    """The name of the trip count."""
    condition: str | None
    """The name of the first condition of a loop that ends early, where a sum is not positive."""
    stacked: bool
    """Whether the stack is the result, and not the value that was carried."""

    def lines(self, branch: int | None) -> list[str]:
        """The loop and its result."""
        name, carried = self.result, self.steps.carried.name
        ends = self.condition is not None
        going = [statement(f"{name}_go", "greater", f"{carried}_s", "%zero")] if ends else []
        values = [*([f"{name}_go"] if ends else []), self.steps.next, f"{carried}_s"]
        condition = f" while {self.condition} : tensor<i1>" if ends else ""
        head = (
            f"{name}_l = relay.loop({name}_i, {carried} : {UNKNOWN} = {self.initial} : {UNKNOWN})"
            f" to {self.times} : tensor<i64>{condition} -> {UNKNOWN} {{"
        )
        end = [statement(f"{name}_y", "tuple", *values), yielded(f"{name}_y"), "}"]
        taken = statement(name, "tuple_get_item", f"{name}_l", attributes=f"{{index = {int(self.stacked)}}} ")
        return [text_of([head, *self.steps.lines(branch), *going, *end]), taken]

    def functions(self) -> list[str]:
        """Those of the body."""
        return list(functions_of(self.steps.body))


@dataclass(frozen=True)
class Recursion(Part):
    """A function that calls itself as often as its fuel allows; with `adds` it works on the way back as well."""

    result: str
    steps: Steps
    initial: Value
    fuel: str
    adds: bool

    def lines(self, branch: int | None) -> list[str]:
        """The first call."""
        called = f"{self.result} = relay.call @{self._name}({self.fuel}, {self.initial.name})"
        return [f"{called} : (tensor<i64>, {UNKNOWN}) -> {UNKNOWN}"]

    def functions(self) -> list[str]:
        """The function."""
        name, carried = self._name, self.steps.carried.name
        type, number = self.steps.carried.type("s"), "tensor<i64>"
        again = f"%again = relay.call @{name}(%less, {self.steps.next}) : ({number}, {UNKNOWN}) -> {UNKNOWN}"
        body = [
            f"%one = relay.constant dense<1> : {number}",
            f"%none = relay.constant dense<0> : {number}",
            statement("%go", "greater", "%fuel", "%none", type=number),
            f"%r = relay.if %go : {UNKNOWN} -> {type} {{",
            statement(carried, "negative", "%q", type=type),
            *self.steps.lines(None),
            f"%less = relay.subtract(%fuel, %one) : ({number}, {number}) -> {number}",
            again,
            *([statement("%added", "add", "%again", carried)] if self.adds else []),
            yielded("%added" if self.adds else "%again"),
            "} else {",
            yielded("%q", type),
            "}",
            f"func.return %r : {type}",
        ]
        head = f"func.func private @{name}(%fuel: {number}, %q: {type}) -> {type} {{"
        return [f"{head}\n  {text_of(body)}\n}}\n", *functions_of(self.steps.body)]

    @property
    def _name(self) -> str:
        return f"again{self.result.removeprefix('%')}"
