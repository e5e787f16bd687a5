"""Functions and closures of random programs over named dimensions: calls, recursions, chosen closures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from support.random_dim_parts import (
    NUMBER,
    TRUTH,
    UNKNOWN,
    Body,
    Part,
    Steps,
    Value,
    flat,
    functions_of,
    numbered,
    statement,
    text_of,
    yielded,
)


@dataclass(frozen=True)
class Called(Part):
    """A call of a function of some values, in which each extent has a new name."""

    result: str
    body: Body
    value: str
    operands: Sequence[Value]
    even: bool = False
    """Whether the function requires an even first extent of its last operand."""

    def lines(self, branch: int | None) -> list[str]:
        """The call; with `branch` the inlined body, with operands negated as in the function."""
        if branch is None:
            operands = ", ".join(operand.name for operand in self.operands)
            types = ", ".join([UNKNOWN] * len(self.operands))
            return [f"{self.result} = relay.call @{self._name}({operands}) : ({types}) -> {UNKNOWN}"]
        names = {operand.name: f"{operand.name}_{self._name}" for operand in self.operands}
        negated = [statement(new, "negative", old) for old, new in names.items()]
        lines = flat(self.body, branch)
        body = [re.sub(r"%\w+", lambda found: names.get(found[0], found[0]), line) for line in lines]
        value = names.get(self.value, self.value)
        return [*negated, *body, f'{self.result} = relay.let "c" = {value} : {UNKNOWN}']

    def functions(self) -> list[str]:
        """The function."""
        last = len(self.operands) - 1
        types = [
            operand.type(f"a{index}", even=self.even and index == last) for index, operand in enumerate(self.operands)
        ]
        arguments = ", ".join(f"%q{index}: {type}" for index, type in enumerate(types))
        opened = [
            f"{operand.name} = relay.negative(%q{index}) : ({type}) -> {UNKNOWN}"
            for index, (operand, type) in enumerate(zip(self.operands, types, strict=True))
        ]
        lines = numbered([*opened, *flat(self.body, None)], "%q0", types[0], asks=True)
        body = text_of([*lines, f"func.return {self.value} : {UNKNOWN}"])
        head = f"func.func private @{self._name}({arguments}) -> {UNKNOWN} {{"
        return [f"{head}\n  {body}\n}}\n", *functions_of(self.body)]

    @property
    def _name(self) -> str:
        return f"f{self.result.removeprefix('%')}"


@dataclass(frozen=True)
class Closure(Part):
    """A closure that uses outer values, and its call."""

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
        """The functions that the body calls."""
        return list(functions_of(self.body))

    @staticmethod
    def parameter(result: str) -> str:
        """The name of the parameter in the body of the closure for `result`."""
        return f"{result}_p"


@dataclass(frozen=True)
class Recursion(Part):
    """A function that calls itself until its fuel is 0; with `adds` it also computes after the recursive call."""

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
        type = self.steps.carried.type("s")
        again = f"%again = relay.call @{name}(%less, {self.steps.next}) : ({NUMBER}, {UNKNOWN}) -> {UNKNOWN}"
        body = [
            f"%unit = relay.constant dense<1> : {NUMBER}",
            f"%empty = relay.constant dense<0> : {NUMBER}",
            statement("%go", "greater", "%fuel", "%empty", type=NUMBER),
            f"%r = relay.if %go : {UNKNOWN} -> {type} {{",
            statement(carried, "negative", "%q", type=type),
            *self.steps.lines(None),
            f"%less = relay.subtract(%fuel, %unit) : ({NUMBER}, {NUMBER}) -> {NUMBER}",
            again,
            *([statement("%added", "add", "%again", carried)] if self.adds else []),
            yielded("%added" if self.adds else "%again"),
            "} else {",
            yielded("%q", type),
            "}",
            f"func.return %r : {type}",
        ]
        head = f"func.func private @{name}(%fuel: {NUMBER}, %q: {type}) -> {type} {{"
        lines = text_of(numbered(body, "%q", type, asks=True))
        return [f"{head}\n  {lines}\n}}\n", *functions_of(self.steps.body)]

    @property
    def _name(self) -> str:
        return f"again{self.result.removeprefix('%')}"


MAX_TURNS = 4
"""The maximum recursion depth of functions that call themselves twice."""


@dataclass(frozen=True)
class Member:
    """A function of a family: its body, and the value that it passes on."""

    carried: Value
    body: Body
    next: str

    def lines(self, branch: int | None) -> list[str]:
        """The statements."""
        return flat(self.body, branch)


@dataclass(frozen=True)
class Family(Part):
    """Functions that call each other in a cycle until their fuel is 0; a single one calls itself."""

    result: str
    members: Sequence[Member]
    initial: Value
    fuel: str
    join: str
    """The op that combines the result of a member's call with its own value, or with the result of its self-call."""
    twice: bool
    """Whether each member also calls itself."""
    varies: bool
    """Whether the extents of results differ from those of parameters."""

    def lines(self, branch: int | None) -> list[str]:
        """The first call; fuel is bounded if each member makes two calls, which are 2^fuel in total."""
        bound, fuel = [], self.fuel
        if self.twice:
            most, fuel = f"{self.result}_most", f"{self.result}_fuel"
            bound = [
                f"{most} = relay.constant dense<{MAX_TURNS}> : {NUMBER}",
                f"{fuel} = relay.minimum({self.fuel}, {most}) : ({NUMBER}, {NUMBER}) -> {NUMBER}",
            ]
        called = f"{self.result} = relay.call @{self._name(0)}({fuel}, {self.initial.name})"
        return [*bound, f"{called} : ({NUMBER}, {UNKNOWN}) -> {UNKNOWN}"]

    def functions(self) -> list[str]:
        """The members, and the functions that they call."""
        texts = [self._function(number, member) for number, member in enumerate(self.members)]
        return [*texts, *(text for member in self.members for text in functions_of(member.body))]

    def _function(self, number: int, member: Member) -> str:
        type = member.carried.type("s")
        result = member.carried.type("o") if self.varies else type
        body = [
            f"%unit = relay.constant dense<1> : {NUMBER}",
            f"%empty = relay.constant dense<0> : {NUMBER}",
            statement("%go", "greater", "%fuel", "%empty", type=NUMBER),
            f"%r = relay.if %go : {UNKNOWN} -> {result} {{",
            statement(member.carried.name, "negative", "%q", type=type),
            *flat(member.body, None),
            f"%less = relay.subtract(%fuel, %unit) : ({NUMBER}, {NUMBER}) -> {NUMBER}",
            self._called("%back", (number + 1) % len(self.members), member.next),
            *([self._called("%mine", number, member.carried.name)] if self.twice else []),
            *self._joined("%back", "%mine" if self.twice else member.carried.name),
            yielded("%joined"),
            "} else {",
            yielded("%q", type),
            "}",
            f"func.return %r : {result}",
        ]
        lines = text_of(numbered(body, "%q", type, asks=True))
        return f"func.func private @{self._name(number)}(%fuel: {NUMBER}, %q: {type}) -> {result} {{\n  {lines}\n}}\n"

    def _called(self, result: str, number: int, value: str) -> str:
        return f"{result} = relay.call @{self._name(number)}(%less, {value}) : ({NUMBER}, {UNKNOWN}) -> {UNKNOWN}"

    def _joined(self, first: str, second: str) -> list[str]:
        if self.join != "concatenate":
            return [statement("%joined", self.join, first, second)]
        return [statement("%both", "tuple", first, second), statement("%joined", "concatenate", "%both")]

    def _name(self, number: int) -> str:
        return f"family{self.result.removeprefix('%')}_{number}"


@dataclass(frozen=True)
class Chosen(Part):
    """One of two closures, chosen at run time and called with a value: once, or in a loop on its own result."""

    result: str
    branches: Sequence[Steps] | Sequence[Member]
    """The closures' bodies: the result has the operand's extents for `Steps`, and any extents for `Member`."""
    operand: Value
    times: str | None
    """The trip count of the loop."""
    is_called: bool = True
    """Whether the result is that of a call; otherwise it is the closure."""

    def lines(self, branch: int | None) -> list[str]:
        """The choice and the calls."""
        name = self.result
        chosen = f"{name}_g" if self.is_called else name
        given = [yielded(f"{name}_f{number}", f"({self._type}) -> {self._gives}") for number in range(2)]
        first, second = ([*self._closure(number), given[number]] for number in range(2))
        head = f"{chosen} = relay.if %cond : {TRUTH} -> {UNKNOWN} {{"
        chosen = text_of([head, *first, "} else {", *second, "}"])
        if not self.is_called:
            return [chosen]
        if self.times is None:
            return [chosen, self._call(name, self.operand.name)]
        loop = (
            f"{name}_l = relay.loop({name}_i, {name}_c : {UNKNOWN} = {self.operand.name} : {UNKNOWN})"
            f" to {self.times} : {NUMBER} -> {UNKNOWN} {{"
        )
        body = [self._call(f"{name}_n", f"{name}_c"), statement(f"{name}_y", "tuple", f"{name}_n")]
        taken = statement(name, "tuple_get_item", f"{name}_l", attributes="{index = 0} ")
        return [chosen, text_of([loop, *body, yielded(f"{name}_y"), "}"]), taken]

    def functions(self) -> list[str]:
        """The functions that both bodies call."""
        return [text for steps in self.branches for text in functions_of(steps.body)]

    @property
    def _type(self) -> str:
        return self.operand.type(f"c{self.result.removeprefix('%r')}")

    @property
    def _gives(self) -> str:
        return UNKNOWN if isinstance(self.branches[0], Member) else self._type

    def _closure(self, number: int) -> list[str]:
        steps = self.branches[number]
        head = f"{self.result}_f{number} = relay.fn({steps.carried.name}_q : {self._type}) -> {self._gives} {{"
        opened = statement(steps.carried.name, "negative", f"{steps.carried.name}_q", type=self._type)
        return [text_of([head, opened, *steps.lines(None), yielded(steps.next), "}"])]

    def _call(self, result: str, operand: str) -> str:
        called = f"{result} = relay.invoke {self.result}_g({operand}) : ({UNKNOWN}) -> {UNKNOWN}"
        return f"{called} of {UNKNOWN}"
